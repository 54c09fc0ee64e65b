"""Losses against sums written out symbol by symbol, and against PyTorch."""

import pytest
import torch
import torch.nn.functional as F

from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.training import label_smoothing_loss, target_symbols, teacher_forced_loss


def by_definition(logits, target, smoothing, pad_id):
    """Cross-entropy with the smoothed distribution written out, symbol by symbol."""
    size = logits.shape[-1]
    losses = []
    for scores, right in zip(logits.reshape(-1, size), target.flatten(), strict=True):
        if right == pad_id:
            continue
        wanted = torch.full((size,), smoothing / (size - 2))
        wanted[right], wanted[pad_id] = 1 - smoothing, 0.0
        assert wanted.sum() == pytest.approx(1)
        losses.append(-(wanted * torch.log(torch.softmax(scores, -1))).sum())
    return torch.stack(losses).mean()


@pytest.mark.parametrize("pad_id", [0, 3])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
def test_label_smoothing_by_definition(smoothing, pad_id):
    torch.manual_seed(0)
    logits = torch.randn(2, 5, 7)
    target = torch.tensor([[3, 1, 6, 0, 0], [2, 0, 5, 4, 3]])
    found = label_smoothing_loss(logits, target, smoothing=smoothing, pad_id=pad_id)
    torch.testing.assert_close(found, by_definition(logits, target, smoothing, pad_id))
    if smoothing == 0.0:
        theirs = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id)
        torch.testing.assert_close(found, theirs)


def test_loss_of_padding_alone_is_zero_and_harmless():
    logits = torch.randn(2, 3, 5, requires_grad=True)
    loss = label_smoothing_loss(logits, torch.zeros(2, 3, dtype=torch.long))
    loss.backward()
    assert loss.item() == 0 and (logits.grad == 0).all()


def test_loss_is_of_the_next_symbol_and_padding_does_not_count():
    torch.manual_seed(0)
    model = RecurrentSeq2Seq(len(SPELLING), len(SOUNDS), attention=True, d_embed=5, d_hidden=7)
    source, target = torch.tensor([[3, 4, 5], [6, 0, 0]]), torch.tensor([[1, 9, 8, 7, 2], [1, 5, 2, 0, 0]])
    losses = []
    for row, (s, t) in enumerate(((3, 5), (1, 3))):
        log_probs = model(source[row : row + 1, :s], target[row : row + 1, : t - 1]).log_softmax(-1)[0]
        losses += [-log_probs[i, target[row, i + 1]] for i in range(t - 1)]
    torch.testing.assert_close(teacher_forced_loss(model, (source, target)), torch.stack(losses).mean())


def test_symbols_of_a_batch_are_those_that_are_predicted():
    target = SOUNDS.batch([["K"], ["K", "AE", "T"]], start=True, end=True)
    assert target_symbols((SPELLING.batch(["c", "cat"]), target)) == 2 + 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: label_smoothing_loss(torch.zeros(2, 5), torch.ones(2).long(), smoothing=1.0), "smoothing .1.0."),
        (lambda: label_smoothing_loss(torch.zeros(2, 5), torch.ones(3).long()), r"\(2, 5\), target \(3,\)"),
        (lambda: label_smoothing_loss(torch.zeros(2, 2), torch.ones(2).long()), "2 symbols"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()

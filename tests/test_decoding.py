"""Greedy decoding: on a model whose every step is known, and on a recurrent one."""

import math

import pytest
import torch

from course_utils.decoding import greedy_decode
from course_utils.recurrent import RecurrentSeq2Seq


class Script:
    """Row b says the symbols of ``lines[b]`` one after the other, each with probability 0.6."""

    def __init__(self, lines, vocab=9):
        self.lines, self.vocab, self.fed = lines, vocab, []

    def start_decoding(self, source, *, max_len):
        assert source.shape[0] == len(self.lines) and max_len > 0
        return 0

    def decode_step(self, step, tokens):
        self.fed.append(tokens.tolist())
        probs = torch.full((len(self.lines), self.vocab), 0.4 / (self.vocab - 1))
        for row, line in enumerate(self.lines):
            probs[row, line[min(step, len(line) - 1)]] = 0.6
        return probs.log(), step + 1


def test_each_sequence_ends_by_itself():
    model = Script([[5, 6, 2], [2], [7, 8, 7, 8, 2]])
    tokens, log_probs = greedy_decode(model, torch.zeros(3, 4, dtype=torch.long), max_len=10)
    assert tokens.tolist() == [[5, 6, 2, 0, 0], [2, 0, 0, 0, 0], [7, 8, 7, 8, 2]]  # and no longer than the longest
    torch.testing.assert_close(log_probs, torch.tensor([3.0, 1.0, 5.0]) * math.log(0.6))
    assert model.fed[0] == [1, 1, 1] and model.fed[1] == [5, 2, 7]  # the start symbol, then what was said


def test_the_length_is_limited():
    tokens, log_probs = greedy_decode(Script([[5], [6, 2]]), torch.zeros(2, 3, dtype=torch.long), max_len=4)
    assert tokens.tolist() == [[5, 5, 5, 5], [6, 2, 0, 0]]
    torch.testing.assert_close(log_probs, torch.tensor([4.0, 2.0]) * math.log(0.6))


def test_other_special_ids():
    tokens, _ = greedy_decode(
        Script([[1, 2, 7], [7]]), torch.zeros(2, 3, dtype=torch.long), max_len=5, start_id=3, end_id=7, pad_id=8
    )
    assert tokens.tolist() == [[1, 2, 7], [7, 8, 8]]


def trained_a_little():
    """A model far enough from random that its sequences end."""
    torch.manual_seed(0)
    net = RecurrentSeq2Seq(9, 9, attention=True, d_embed=8, d_hidden=12)
    torch.nn.init.normal_(net.output.bias, std=0.5)
    net.output.bias.data[2] += 1.0
    return net.eval()


def test_a_batch_gives_what_each_alone_gives():
    net = trained_a_little()
    source = torch.tensor([[5, 3, 4, 6, 0], [4, 0, 0, 0, 0], [8, 7, 7, 3, 5]])
    together, log_probs = greedy_decode(net, source, max_len=12)
    for row, length in enumerate((4, 1, 5)):
        alone, log_prob = greedy_decode(net, source[row : row + 1, :length], max_len=12)
        kept = alone.shape[1]
        assert together[row, :kept].tolist() == alone[0].tolist() and (together[row, kept:] == 0).all()
        torch.testing.assert_close(log_probs[row], log_prob[0])


def test_log_probability_is_that_of_teacher_forcing():
    net = trained_a_little()
    source = torch.tensor([[5, 3, 4, 6], [4, 4, 8, 3]])
    tokens, log_probs = greedy_decode(net, source, max_len=12)
    fed = torch.cat((torch.ones(2, 1, dtype=torch.long), tokens[:, :-1]), dim=1)
    forced = net(source, fed).log_softmax(-1).gather(-1, tokens[..., None])[..., 0].masked_fill(tokens == 0, 0.0)
    torch.testing.assert_close(log_probs, forced.sum(1))
    assert not log_probs.requires_grad


@pytest.mark.parametrize(
    ("source", "max_len", "words"),
    [
        (torch.zeros(2, 3, dtype=torch.long), 0, "max_len .0."),
        (torch.zeros(3, dtype=torch.long), 5, r"source has shape \(3,\)"),
        (torch.zeros(0, 3, dtype=torch.long), 5, "at least one sequence"),
    ],
)
def test_bad_input_is_named(as_a_user, source, max_len, words):
    with pytest.raises(ValueError, match=words):
        greedy_decode(Script([[5], [6]]), source, max_len=max_len)

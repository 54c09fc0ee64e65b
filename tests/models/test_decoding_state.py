"""One target token at a time: the same log-probabilities as all at once, in any order of the rows."""

import pytest
import torch

from course_utils.models import Transformer, TransformerConfig
from course_utils.recording import record_attention

SOURCE = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7], [4, 4, 0, 0, 0, 0, 0]])
TARGET = torch.tensor([[1, 2, 3, 12, 5], [1, 4, 2, 0, 6], [3, 3, 3, 1, 2]])  # one holds padding in its middle
B, L_S, L_T, N, H, TGT = 3, 7, 5, 2, 4, 13
POSITIONS = pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "none"])


def model(**changes):
    torch.manual_seed(0)
    return Transformer(TransformerConfig(11, TGT, N, 24, 40, H, max_len=9, **changes)).eval()


def run(net, state, target):
    return torch.stack([net.decode_step(state, tokens)[0] for tokens in target.T], dim=1)  # (B, L_t, tgt_vocab)


@pytest.mark.parametrize("source", [SOURCE, SOURCE[:, :2]], ids=["padded", "not padded"])
@pytest.mark.parametrize("pre_norm", [True, False])
@POSITIONS
def test_step_by_step_equals_all_at_once(positions, pre_norm, source):
    net = model(positions=positions, pre_norm=pre_norm)
    whole = net(source, TARGET).log_softmax(-1)
    state = net.start_decoding(source, max_len=L_T)
    torch.testing.assert_close(run(net, state, TARGET), whole, atol=1e-5, rtol=1e-5)
    assert state.length == L_T and torch.equal(state.tokens, TARGET)


def test_the_source_is_projected_once_and_earlier_tokens_never_again():
    net, calls = model(), []
    cross, own = net.decoder_layers[0].cross_attention, net.decoder_layers[0].self_attention
    for name, module in (("cross", cross.k_proj), ("own", own.k_proj)):
        module.register_forward_hook(lambda m, i, out, name=name: calls.append((name, out.shape[1])))
    run(net, net.start_decoding(SOURCE, max_len=L_T), TARGET)
    assert calls == [("cross", L_S)] + [("own", 1)] * L_T
    log_probs, _ = net.decode_step(net.start_decoding(SOURCE, max_len=L_T), TARGET[:, 0])
    assert not log_probs.requires_grad


@pytest.mark.parametrize(
    "indices", [[0, 1, 2], [2, 0, 1], [1, 1, 1], [0, 0, 1, 1, 2, 2], [2], [1, 0]], ids=lambda i: "".join(map(str, i))
)
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_reordered_rows_go_on_as_if_they_had_always_stood_there(positions, indices):
    net = model(positions=positions)
    indices = torch.tensor(indices)
    state = net.start_decoding(SOURCE, max_len=L_T).reorder(torch.tensor([2, 1, 0])).reorder(torch.tensor([2, 1, 0]))
    run(net, state, TARGET[:, :2])
    state.reorder(indices)
    target = TARGET[indices]
    target[:, 2:] = torch.randint(1, TGT, (len(indices), 3), generator=torch.Generator().manual_seed(1))
    with record_attention(net) as stepwise:
        rest = run(net, state, target[:, 2:])
    with record_attention(net) as at_once:
        logits = net(SOURCE[indices], target)
    torch.testing.assert_close(rest, logits.log_softmax(-1)[:, 2:], atol=1e-5, rtol=1e-5)
    assert torch.equal(state.tokens, target)
    for name in (f"decoder_layers.{layer}.cross_attention" for layer in range(N)):
        weights = torch.cat(stepwise.calls(name), dim=2)  # (B_new, H, 3, L_s), of the last three steps
        torch.testing.assert_close(weights, at_once[name][:, :, 2:], atol=1e-5, rtol=1e-5)


def test_beams_of_one_sentence_share_their_memory():
    """Grown once from B to B * beams, the rows change places within their sentence: its keys and values stay put."""
    net = model()
    state = net.start_decoding(SOURCE, max_len=L_T)
    state.reorder(torch.tensor([0, 0, 1, 1, 2, 2]))
    tokens = torch.tensor([1, 2, 3, 4, 5, 6])
    net.decode_step(state, tokens)
    before = state.memory_kv
    state.reorder(torch.tensor([1, 0, 3, 3, 4, 4]))
    assert state.memory_kv is before
    assert state.tokens[:, 0].tolist() == [2, 1, 4, 4, 5, 5]
    assert state.rows.tolist() == [0, 0, 1, 1, 2, 2]
    log_probs, _ = net.decode_step(state, tokens)
    target = torch.stack((torch.tensor([2, 1, 4, 4, 5, 5]), tokens), dim=1)
    expected = net(SOURCE.repeat_interleave(2, 0), target).log_softmax(-1)[:, -1]
    torch.testing.assert_close(log_probs, expected, atol=1e-5, rtol=1e-5)


def full():
    net = model()
    state = net.start_decoding(SOURCE, max_len=2)
    run(net, state, TARGET[:, :2])
    return net, state


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: model().start_decoding(SOURCE, max_len=0), r"max_len \(0\)"),
        (lambda: model().start_decoding(SOURCE, max_len=10), r"max_len \(10\).*\(9\)"),
        (lambda: model().train().start_decoding(SOURCE, max_len=2), r"model\.eval\(\)"),
        (lambda: (lambda f, s: f.decode_step(s, TARGET[:, 2]))(*full()), "2 steps.*larger max_len"),
        (lambda: (lambda f, s: f.decode_step(s, TARGET[:2, 2]))(*full()), r"tokens.*\(2,\).*\(3,\)"),
        (lambda: (lambda f, s: f.decode_step(s, TARGET))(*full()), r"tokens.*\(3, 5\).*\(3,\)"),
        (lambda: full()[1].reorder(torch.tensor([0, 3])), r"rows \(\[0, 3\]\).*0 to 2"),
        (lambda: full()[1].reorder(torch.tensor([-1])), r"rows \(\[-1\]\)"),
        (lambda: full()[1].reorder(torch.tensor([], dtype=torch.long)), r"rows \(\[\]\)"),
        (lambda: full()[1].reorder(torch.tensor([[0]])), r"rows \(\[\[0\]\]\)"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_refused_token_leaves_the_state_as_it_was():
    net = model(dropout=0.0).train()  # without dropout the training mode is fine
    state = net.start_decoding(SOURCE, max_len=L_T)
    with pytest.raises(ValueError, match="ids from 1 to 99"):
        net.decode_step(state, torch.tensor([1, 99, 2]))
    torch.testing.assert_close(run(net, state, TARGET), net(SOURCE, TARGET).log_softmax(-1), atol=1e-5, rtol=1e-5)

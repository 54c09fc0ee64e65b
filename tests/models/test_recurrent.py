"""The recurrent encoder-decoder, held to the papers' equations written out, and to properties."""

import pytest
import torch

from course_utils.models.recurrent import RecurrentEncoder, RecurrentSeq2Seq
from course_utils.recording import record_attention

SOURCE = torch.tensor([[5, 3, 4, 6, 3, 0, 0], [4, 4, 5, 0, 0, 0, 0], [3, 5, 6, 4, 3, 5, 7]])  # (3, 7)
TARGET = torch.tensor([[1, 4, 5, 3, 0], [1, 3, 3, 4, 5], [1, 5, 2, 0, 0]])  # (3, 5)


def model(attention=True, **changes):
    torch.manual_seed(0)
    sizes = {"d_embed": 6, "d_hidden": 10, **changes}
    return RecurrentSeq2Seq(8, 9, attention=attention, **sizes).eval()


def test_encoder_reads_each_source_as_if_it_were_alone():
    torch.manual_seed(0)
    encoder = RecurrentEncoder(8, 6, 10)
    encoded = encoder(SOURCE)
    assert encoded.states.shape == (3, 7, 20) and encoded.mask.shape == (3, 1, 7)
    for row, length in enumerate((5, 3, 7)):
        states, last = encoder.gru(encoder.embedding(SOURCE[row : row + 1, :length]))  # no padding at all
        torch.testing.assert_close(encoded.states[row, :length], states[0])
        torch.testing.assert_close(encoded.summary[row], last[:, 0].flatten())
        assert (encoded.states[row, length:] == 0).all()


def by_equations(net, source, target):
    """Bahdanau et al. 2015, appendix A, one word at a time: returns logits (L_t, V) and weights (L_t, L_s)."""
    states, last = net.encoder.gru(net.encoder.embedding(source[None]))
    states, hidden = states[0], torch.tanh(net.first_state(last.flatten()))
    logits, all_weights = [], []
    for symbol in target:
        attention = net.attention
        energies = torch.stack(
            [attention.v_proj(torch.tanh(attention.q_proj(hidden) + attention.k_proj(h))) for h in states]
        )
        weights = torch.softmax(energies.flatten(), 0)
        context = sum(w * h for w, h in zip(weights, states, strict=True))
        embedded = net.embedding(symbol)
        hidden = net.cell(torch.cat((embedded, context))[None], hidden[None])[0]
        logits.append(net.output(torch.cat((hidden, context, embedded))))
        all_weights.append(weights)
    return torch.stack(logits), torch.stack(all_weights)


def test_with_attention_equals_the_equations():
    net = model()
    with record_attention(net) as seen:
        logits = net(SOURCE, TARGET)
    weights = torch.cat(seen.calls("attention"), dim=1)
    assert logits.shape == (3, 5, 9) and weights.shape == (3, 5, 7)
    for row, length in enumerate((5, 3, 7)):
        expected, alignment = by_equations(net, SOURCE[row, :length], TARGET[row])
        torch.testing.assert_close(logits[row], expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(weights[row, :, :length], alignment, atol=1e-5, rtol=1e-5)
        assert (weights[row, :, length:] == 0).all()


@pytest.mark.parametrize("attention", [True, False])
def test_without_attention_only_the_summary_reaches_the_decoder(attention):
    net = model(attention)
    state = net.start_decoding(SOURCE)
    log_probs, _ = net.decode_step(state, TARGET[:, 0])
    changed = state.encoded._replace(states=torch.randn_like(state.encoded.states))
    changed_log_probs, _ = net.decode_step(type(state)(state.hidden, changed), TARGET[:, 0])
    difference = (log_probs - changed_log_probs).abs().max()
    assert difference > 1e-3 if attention else difference == 0


@pytest.mark.parametrize("attention", [True, False])
def test_step_by_step_equals_teacher_forcing(attention):
    net = model(attention)
    logits = net(SOURCE, TARGET)
    state = net.start_decoding(SOURCE, max_len=5)
    for step in range(5):
        log_probs, state = net.decode_step(state, TARGET[:, step])
        torch.testing.assert_close(log_probs, logits[:, step].log_softmax(-1), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("attention", [True, False])
def test_no_later_target_symbol_reaches_an_earlier_output(attention):
    net = model(attention)
    before = net(SOURCE, TARGET)
    later = TARGET.clone()
    later[:, 3:] = 7
    after = net(SOURCE, later)
    assert torch.equal(before[:, :3], after[:, :3]) and not torch.equal(before[:, 3:], after[:, 3:])


def test_reordered_state_goes_on_as_its_rows_would():
    net = model()
    _, state = net.decode_step(net.start_decoding(SOURCE), TARGET[:, 0])
    rows = torch.tensor([2, 2, 0, 1])
    expected, _ = net.decode_step(state, TARGET[:, 1])
    found, after = net.decode_step(state.reorder(rows), TARGET[rows, 1])
    torch.testing.assert_close(found, expected[rows], atol=1e-6, rtol=1e-6)
    assert after.weights.shape == (4, 7)
    assert model(attention=False).start_decoding(SOURCE).reorder(rows).weights is None


def test_parameters_by_hand():
    count = sum(p.numel() for p in model().parameters())
    encoder = 8 * 6 + 2 * (3 * 10 * (6 + 10) + 2 * 3 * 10)  # embedding; both directions: weights and two biases
    decoder = 9 * 6 + (20 + 1) * 10 + 3 * 10 * (6 + 20 + 10) + 2 * 3 * 10 + (6 + 30 + 1) * 9
    attention = 10 * 10 + 20 * 10 + 10
    assert count == encoder + decoder + attention
    assert sum(p.numel() for p in model(False).parameters()) == encoder + decoder


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: RecurrentEncoder(0, 6, 10), "vocab_size .0."),
        (lambda: RecurrentSeq2Seq(8, 0, attention=True), "tgt_vocab .0."),
        (lambda: RecurrentSeq2Seq(8, 9, attention=True, d_hidden=-1), "d_hidden .-1."),
        (lambda: RecurrentSeq2Seq(8, 9, attention=True, dropout=1.0), "dropout .1.0."),
        (lambda: model()(torch.tensor([[3, 4], [0, 0]]), TARGET[:2]), "source is empty"),
        (lambda: model()(torch.tensor([[0, 4]]), TARGET[:1]), "padding before a symbol"),
        (lambda: model()(SOURCE, TARGET[:2]), "3 sources but 2 targets"),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()

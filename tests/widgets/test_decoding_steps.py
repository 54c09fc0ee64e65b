"""The decoding stepper: what it records is what each step saw and said, and what it refuses."""

import pytest
import torch

from course_utils.models import Transformer, TransformerConfig
from course_utils.recording import record_attention
from course_utils.tokenizers import START_ID
from course_utils.widgets import decoding_steps
from course_utils.widgets.decoding_steps import record_decoding

SYMBOLS = ["pad", "start", "end", "a", "b", "c", "d", "e"]
SOURCE = torch.tensor([5, 3, 7, 4, 6])


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(8, 8, num_layers=3, d_model=8, d_ff=12, num_heads=2, max_len=12)).eval()
    model.generator.bias.data[2] = -9.0  # it never ends
    return model


def step_by_step(model, steps):
    state, tokens, said, rows = model.start_decoding(SOURCE[None], max_len=steps), START_ID, [], []
    with record_attention(model) as seen:
        for _ in range(steps):
            log_probs, state = model.decode_step(state, torch.tensor([tokens]))
            tokens = log_probs.argmax(-1).item()
            said.append(tokens)
            rows.append(log_probs[0].exp())
    cross = [torch.cat(seen.calls(f"decoder_layers.{i}.cross_attention"), dim=2)[0] for i in range(3)]
    return said, torch.stack(rows), torch.stack(cross)  # (layers, H, steps, L_s)


def test_the_record_is_what_single_steps_say(model):
    record = record_decoding(model, SOURCE, 6)
    said, probabilities, cross = step_by_step(model, 6)
    assert record.outputs.tolist() == said and record.inputs.tolist() == [START_ID, *said[:-1]]
    torch.testing.assert_close(record.probabilities, probabilities)
    torch.testing.assert_close(torch.stack(record.weights.matching("decoder_layers.*.cross_attention"))[:, 0], cross)


def shown(widget):
    return torch.tensor(widget.figure.axes[0].images[0].get_array().filled()).float()


def test_each_control_shows_its_own_part(model):
    widget = decoding_steps(model, SOURCE, SYMBOLS, max_len=6)
    record = record_decoding(model, SOURCE, 6)
    for step, layer, head in ((0, 0, 0), (3, 2, 1), (5, 1, 0)):
        for name, value in (("step", step), ("layer", layer), ("head", head)):
            widget.controls[name].value = value
        widget.controls["looks_at"].value = "source (cross)"
        torch.testing.assert_close(
            shown(widget), record.weights.matching("decoder_layers.*.cross_attention")[layer][0, head, : step + 1]
        )
        bars = [bar.get_height() for bar in widget.figure.axes[1].patches]
        torch.testing.assert_close(torch.tensor(bars, dtype=torch.float32), record.probabilities[step])
        assert widget.figure.axes[1].get_title() == f"step {step}: says {SYMBOLS[record.outputs[step]]}"
        widget.controls["looks_at"].value = "target so far (self)"
        expected = record.weights.matching("decoder_layers.*.self_attention")[layer][0, head, : step + 1, : step + 1]
        torch.testing.assert_close(shown(widget), expected)
        assert widget.figure.axes[0].get_title() == f"layer {layer} of 3, head {head} of 2"
        assert not widget.problem.value
    ticks = [tick.get_text() for tick in widget.figure.axes[0].get_xticklabels()]
    assert ticks == [SYMBOLS[i] for i in record.inputs.tolist()]


def test_the_text_says_what_was_said_so_far(model):
    widget = decoding_steps(model, SOURCE, SYMBOLS, max_len=4)
    widget.controls["step"].value = 2
    said = " ".join(SYMBOLS[i] for i in record_decoding(model, SOURCE, 4).outputs.tolist()[:3])
    text = widget.figure.texts[0].get_text()
    assert "c a e b d" in text and text.endswith(f"said so far   {said}")


def test_what_does_not_fit_is_refused(model, as_a_user):
    with pytest.raises(ValueError, match=r"7 symbols for 8 ids"):
        decoding_steps(model, SOURCE, SYMBOLS[:-1], max_len=4)
    with pytest.raises(ValueError, match=r"source has shape \(1, 5\); expected the ids of one sequence"):
        decoding_steps(model, SOURCE[None], SYMBOLS, max_len=4)
    with pytest.raises(ValueError, match="max_len"):
        decoding_steps(model, SOURCE, SYMBOLS, max_len=0)

"""Decoding step by step, and sampling: what is shown is what each step saw and said, as the library decodes."""

import pytest
import torch
from controls import bars, heatmap, move, texts

from course_utils.datasets.text_windows import TEXT, decode_text, encode_text
from course_utils.decoding import generate, sampling_distribution
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig
from course_utils.recording import record_attention
from course_utils.tokenizers import START_ID
from course_utils.widgets import decoding_steps, sampling_playground
from course_utils.widgets.decoding_steps import record_decoding
from course_utils.widgets.sampling_playground import NEW, SHOWN, next_symbol_bars

SYMBOLS = ["pad", "start", "end", "a", "b", "c", "d", "e"]
SOURCE = torch.tensor([5, 3, 7, 4, 6])
PROMPTS = ["The class ", "def f(x):"]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(8, 8, num_layers=3, d_model=8, d_ff=12, num_heads=2, max_len=12)).eval()
    model.generator.bias.data[2] = -9.0  # it never ends
    return model


def test_the_record_is_what_single_steps_say(model):
    state, token, ids, rows = model.start_decoding(SOURCE[None], max_len=6), START_ID, [], []
    with record_attention(model) as seen:
        for _ in range(6):
            log_probs, state = model.decode_step(state, torch.tensor([token]))
            token = log_probs.argmax(-1).item()
            ids.append(token)
            rows.append(log_probs[0].exp())
    cross = [torch.cat(seen.calls(f"decoder_layers.{i}.cross_attention"), dim=2)[0] for i in range(3)]
    record = record_decoding(model, SOURCE, 6)
    assert record.outputs.tolist() == ids and record.inputs.tolist() == [START_ID, *ids[:-1]]
    torch.testing.assert_close(record.probabilities, torch.stack(rows))
    weights = torch.stack(record.weights.matching("decoder_layers.*.cross_attention"))[:, 0]  # (layers, H, steps, L_s)
    torch.testing.assert_close(weights, torch.stack(cross))


def test_each_control_shows_its_own_part(model):
    widget = decoding_steps(model, SOURCE, SYMBOLS, max_len=6)
    record = record_decoding(model, SOURCE, 6)
    outputs = [SYMBOLS[i] for i in record.outputs.tolist()]
    cross, self_attention = (
        record.weights.matching(f"decoder_layers.*.{kind}_attention") for kind in ("cross", "self")
    )
    for step, layer, head in ((0, 0, 0), (3, 2, 1), (5, 1, 0)):
        move(widget, step=step, layer=layer, head=head, looks_at="source (cross)")
        torch.testing.assert_close(heatmap(widget), cross[layer][0, head, : step + 1])
        torch.testing.assert_close(torch.tensor(bars(widget, 1), dtype=torch.float32), record.probabilities[step])
        assert widget.figure.axes[1].get_title() == f"step {step}: says {outputs[step]}"
        assert "c a e b d" in texts(widget) and texts(widget).endswith(f"said so far   {' '.join(outputs[: step + 1])}")
        move(widget, looks_at="target so far (self)")
        torch.testing.assert_close(heatmap(widget), self_attention[layer][0, head, : step + 1, : step + 1])
        assert widget.figure.axes[0].get_title() == f"layer {layer} of 3, head {head} of 2"
    ticks = [tick.get_text() for tick in widget.figure.axes[0].get_xticklabels()]
    assert ticks == [SYMBOLS[i] for i in record.inputs.tolist()]


# ---------------------------------------------------------------- sampling


@pytest.fixture(scope="module")
def language_model():
    torch.manual_seed(0)
    sizes = {"num_layers": 2, "d_model": 8, "d_ff": 12, "num_heads": 2, "num_kv_heads": 1, "max_len": 400}
    model = DecoderLM(DecoderConfig(len(TEXT), **sizes)).eval()
    torch.nn.init.normal_(model.embedding.weight, std=0.7)
    return model


def continuation(widget):
    text = texts(widget)
    return text[text.index("[") + 1 : text.rindex("]")].replace("\u21b5", "\n")


def heights(widget, which):
    return torch.tensor([float(bar.get_height()) for bar in widget.figure.axes[0].containers[which]]).float()


@torch.no_grad()
def expected(model, prompt, **settings):
    ids = encode_text(prompt)[None]
    rng = torch.Generator().manual_seed(0)
    text = decode_text(generate(model, ids, max_new_tokens=NEW, generator=rng, **settings)[0, ids.shape[1] :])
    return model(ids)[0, -1], text


def test_the_text_is_what_generate_says_and_the_bars_what_it_draws_from(language_model):
    widget = sampling_playground(language_model, PROMPTS)
    for settings in (
        {"temperature": 1.0},
        {"temperature": 0.5, "top_k": 4},
        {"temperature": 1.5, "top_k": 9, "top_p": 0.6},
    ):
        move(widget, **settings)
        logits, text = expected(language_model, PROMPTS[0], **settings)
        assert continuation(widget) == text
        order = logits.argsort(descending=True)[:SHOWN]
        after = sampling_distribution(logits, **settings)
        before = sampling_distribution(logits, temperature=settings["temperature"])
        torch.testing.assert_close(heights(widget, 0), after[order], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(heights(widget, 1), before[order], atol=1e-5, rtol=1e-4)
        assert f"{int((after > 0).sum())} of {len(TEXT)}" in widget.figure.axes[0].get_title()


def test_temperature_0_is_greedy_and_another_prompt_may_be_typed(language_model):
    widget = sampling_playground(language_model, PROMPTS)
    move(widget, temperature=0.0, prompt="typed by hand $x$ ")
    assert continuation(widget) == expected(language_model, "typed by hand $x$ ", temperature=0.0)[1]
    assert heights(widget, 0).max() == 1.0
    move(widget, prompt=500 * "long ")
    assert len(continuation(widget)) <= NEW
    widget.controls["prompt"].value = ""
    assert "text is empty" in widget.problem.value


def test_moving_a_slider_back_shows_the_same_picture(language_model):
    widget = sampling_playground(language_model, PROMPTS)
    first = widget.image.value
    move(widget, top_p=0.3)
    assert widget.image.value != first
    move(widget, top_p=1.0)
    assert widget.image.value == first


def test_bars_carry_the_names_as_they_are():
    kept, named = torch.tensor([1.0, 0.0, 0.0]), {"title": "t", "outlined": "T = 1"}
    ax = next_symbol_bars(["$", "_", "\u2423"], torch.tensor([0.5, 0.3, 0.2]), kept, **named)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["can be drawn", "T = 1"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["$", "_", "\u2423"]
    assert ax.get_ylim()[1] > 1.0 and ax.get_title() == "t"


@pytest.mark.usefixtures("as_a_user")
def test_what_does_not_fit_is_refused(model, language_model):
    with pytest.raises(ValueError, match=r"7 symbols for 8 ids"):
        decoding_steps(model, SOURCE, SYMBOLS[:-1], max_len=4)
    with pytest.raises(ValueError, match=r"source has shape \(1, 5\); expected the ids of one sequence"):
        decoding_steps(model, SOURCE[None], SYMBOLS, max_len=4)
    with pytest.raises(ValueError, match="max_len"):
        decoding_steps(model, SOURCE, SYMBOLS, max_len=0)
    with pytest.raises(ValueError, match="prompts is empty"):
        sampling_playground(language_model, [])
    with pytest.raises(ValueError, match=r"7 symbols; expected the 99"):
        sampling_playground(DecoderLM(DecoderConfig(7, d_model=8, num_heads=2)), PROMPTS)

"""The sampling playground: bars and continuation are those of the library, and follow every control."""

import pytest
import torch

from course_utils.datasets.text_windows import TEXT, decode_text, encode_text
from course_utils.decoding import generate, sampling_distribution
from course_utils.models import DecoderConfig, DecoderLM
from course_utils.widgets import sampling_playground
from course_utils.widgets.sampling_playground import NEW, SHOWN, next_symbol_bars

PROMPTS = ["The class ", "def f(x):"]


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = {"num_layers": 2, "d_model": 8, "d_ff": 12, "num_heads": 2, "num_kv_heads": 1, "max_len": 400}
    net = DecoderLM(DecoderConfig(len(TEXT), **sizes)).eval()
    torch.nn.init.normal_(net.embedding.weight, std=0.7)
    return net


def said(widget):
    text = widget.figure.texts[0].get_text()
    return text[text.index("[") + 1 : text.rindex("]")].replace("\u21b5", "\n")


def heights(widget, which):
    return torch.tensor([float(bar.get_height()) for bar in widget.figure.axes[0].containers[which]]).float()


@torch.no_grad()
def expected(model, prompt, **settings):
    ids = encode_text(prompt)[None]
    rng = torch.Generator().manual_seed(0)
    text = decode_text(generate(model, ids, max_new_tokens=NEW, generator=rng, **settings)[0, ids.shape[1] :])
    return model(ids)[0, -1], text


def test_the_text_is_what_generate_says_and_the_bars_what_it_draws_from(model):
    widget = sampling_playground(model, PROMPTS)
    for settings in (
        {"temperature": 1.0},
        {"temperature": 0.5, "top_k": 4},
        {"temperature": 1.5, "top_k": 9, "top_p": 0.6},
    ):
        for name, value in settings.items():
            widget.controls[name].value = value
        assert not widget.problem.value
        logits, text = expected(model, PROMPTS[0], **settings)
        assert said(widget) == text
        order = logits.argsort(descending=True)[:SHOWN]
        after = sampling_distribution(logits, **settings)
        before = sampling_distribution(logits, temperature=settings["temperature"])
        torch.testing.assert_close(heights(widget, 0), after[order], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(heights(widget, 1), before[order], atol=1e-5, rtol=1e-4)
        assert f"{int((after > 0).sum())} of {len(TEXT)}" in widget.figure.axes[0].get_title()


def test_temperature_0_is_greedy_and_another_prompt_may_be_typed(model):
    widget = sampling_playground(model, PROMPTS)
    widget.controls["temperature"].value = 0.0
    widget.controls["prompt"].value = "typed by hand $x$ "
    assert said(widget) == expected(model, "typed by hand $x$ ", temperature=0.0)[1]
    assert heights(widget, 0).max() == 1.0
    widget.controls["prompt"].value = 500 * "long "
    assert not widget.problem.value and len(said(widget)) <= NEW


def test_moving_a_slider_back_shows_the_same_picture(model):
    widget = sampling_playground(model, PROMPTS)
    first = widget.image.value
    widget.controls["top_p"].value = 0.3
    assert widget.image.value != first
    widget.controls["top_p"].value = 1.0
    assert widget.image.value == first


def test_an_empty_prompt_is_named_in_the_widget(model):
    widget = sampling_playground(model, PROMPTS)
    widget.controls["prompt"].value = ""
    assert "text is empty" in widget.problem.value


def test_bars_carry_the_names_as_they_are():
    ax = next_symbol_bars(["$", "_", "\u2423"], torch.tensor([0.5, 0.3, 0.2]), torch.tensor([1.0, 0.0, 0.0]), title="t")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["$", "_", "\u2423"]
    assert ax.get_ylim()[1] > 1.0 and ax.get_title() == "t"


def test_bad_input_is_named(as_a_user, model):
    with pytest.raises(ValueError, match="prompts is empty"):
        sampling_playground(model, [])
    with pytest.raises(ValueError, match=r"7 symbols; expected the 99"):
        sampling_playground(DecoderLM(DecoderConfig(7, d_model=8, num_heads=2)), PROMPTS)

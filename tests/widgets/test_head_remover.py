"""The widget that takes heads out: what is drawn is what the model does without them, worked out here by other ways."""

import math

import pytest
import torch
import torch.nn.functional as F
from controls import heatmap, move, texts
from matplotlib.patches import StepPatch

from course_utils import pretrained
from course_utils.models import DecoderConfig, DecoderLM
from course_utils.recording import record_attention
from course_utils.small_models import induction
from course_utils.widgets import head_remover
from course_utils.widgets.head_remover import counted_guesses

HEADS = [(layer, head) for layer in range(2) for head in range(4)]


@pytest.fixture(scope="module")
def model():
    return pretrained.load("induction")


@pytest.fixture(scope="module")
def ids():
    return induction.twice(1, 8, torch.Generator().manual_seed(3))[0]  # (16,)


@pytest.fixture
def widget(model, ids):
    """With nothing in a removed head's place, as ``without`` has it."""
    widget = head_remover(model, ids, induction.spelled(ids), vocabulary=induction.LETTERS)
    move(widget, instead=0.0)
    return widget


@torch.no_grad()
def without(model, ids, *heads):
    """Logits and weights of a model in which the columns of some heads in ``o_proj`` are 0."""
    copy = DecoderLM(model.config).eval()
    copy.load_state_dict(model.state_dict())
    for layer, head in heads:
        copy.layers[layer].self_attention.o_proj.weight[:, 16 * head : 16 * (head + 1)] = 0
    with record_attention(copy) as seen:
        logits = copy(ids[None])[0]  # (L, V)
    return logits, seen


def bits(logits, ids):
    """Of the second half but its first letter."""
    half = len(ids) // 2
    return F.cross_entropy(logits[half:-1], ids[half + 1 :]).item() / math.log(2)


def bars(widget):
    """What is left, and the whole model."""
    steps = [patch for patch in widget.figure.axes[1].get_children() if isinstance(patch, StepPatch)]
    return [torch.tensor(patch.get_data().values).float() for patch in steps]


def probabilities(logits, ids):
    return logits[:-1].softmax(-1).gather(1, ids[1:, None])[:, 0]


def test_at_first_nothing_is_out(widget, model, ids):
    logits, seen = without(model, ids)
    assert torch.allclose(heatmap(widget), seen["layers.0.self_attention"][0, 0], atol=1e-5)
    left, whole = bars(widget)
    assert torch.allclose(left, whole) and torch.allclose(whole, probabilities(logits, ids), atol=1e-4)
    assert texts(widget) == f"whole model: {bits(logits, ids):.2f} bits for a letter of the second half"
    assert marked(widget) == []


def marked(widget):
    (line,) = [line for line in widget.figure.axes[1].lines if line.get_label() == "another guess"]
    return list(line.get_ydata())


@pytest.mark.parametrize("head", HEADS)
def test_a_click_takes_a_head_out(widget, model, ids, head):
    logits, _ = without(model, ids, head)
    before, _ = without(model, ids)
    move(widget, **{f"layer_{head[0]}_head_{head[1]}": True})
    left, whole = bars(widget)
    assert torch.allclose(left, probabilities(logits, ids), atol=1e-4)
    assert torch.allclose(whole, probabilities(before, ids), atol=1e-4)
    said = f"without layer {head[0]} head {head[1]}: {bits(logits, ids):.2f} bits for a letter of the second half"
    assert texts(widget) == f"{said} (whole model: {bits(before, ids):.2f})"


def test_later_heads_are_shown_as_they_look_without_the_earlier_ones(widget, model, ids):
    out = [(0, head) for head in range(4)]
    move(widget, shown=("layers.1.self_attention", 2))
    undisturbed = heatmap(widget)
    move(widget, **{f"layer_{layer}_head_{head}": True for layer, head in out})
    logits, seen = without(model, ids, *out)
    assert torch.allclose(heatmap(widget), seen["layers.1.self_attention"][0, 2], atol=1e-4)
    assert not torch.allclose(heatmap(widget), undisturbed, atol=0.1)
    assert bits(logits, ids) > 3 and f"{bits(logits, ids):.2f} bits" in texts(widget)


def test_every_guess_that_changed_is_marked_with_what_is_guessed_now(widget, model, ids):
    out = [(0, 0), (0, 2)]
    move(widget, **{f"layer_{layer}_head_{head}": True for layer, head in out})
    before, after = (without(model, ids, *heads)[0][:-1].argmax(-1) for heads in ([], out))
    changed = (before != after).nonzero()[:, 0].tolist()
    assert changed and marked(widget) == changed
    ax = widget.figure.axes[1]
    written = [text.get_text() for text in ax.texts if text.get_position()[0] > 1]
    assert written == [induction.LETTERS[i] for i in after[changed].tolist()]


def test_the_mean_is_put_in_its_place(widget, model, ids):
    """By shifting: the mean of what a head hands on is the same vector at every position."""
    added = {}
    attention = model.layers[0].self_attention
    hook = attention.o_proj.register_forward_pre_hook(lambda _m, given: added.update(merged=given[0]))
    with torch.no_grad():
        model(ids[None])
    hook.remove()

    def shift(_module, _given, output):
        merged, weight = added["merged"][..., 32:48], attention.o_proj.weight[:, 32:48]
        return output + (merged.mean(dim=1, keepdim=True) - merged) @ weight.T

    hook = attention.o_proj.register_forward_hook(shift)
    with torch.no_grad():
        logits = model(ids[None])[0]
    hook.remove()
    move(widget, layer_0_head_2=True)
    removed = bars(widget)[0]
    move(widget, instead="mean")
    assert torch.allclose(bars(widget)[0], probabilities(logits, ids), atol=2e-5)
    assert not torch.allclose(removed, bars(widget)[0], atol=2e-4)
    assert texts(widget).startswith("with the mean for layer 0 head 2: ")


def test_heads_may_be_out_at_first_and_say_so(model, ids):
    out = ("layers.0.self_attention", 2)
    widget = head_remover(model, ids, induction.spelled(ids), removed=[out])
    button = widget.controls["layer_0_head_2"]
    assert button.value and button.icon == "times"  # seen without colors
    assert widget.figure.axes[0].get_title() == "layer 0 head 2, replaced by its mean: where it looks"
    assert texts(widget).startswith("with the mean for layer 0 head 2: ")
    move(widget, layer_0_head_2=False)
    assert button.icon == "" and texts(widget).startswith("whole model")
    assert widget.figure.axes[0].get_title() == "layer 0 head 2: where it looks"
    move(widget, **{name: True for name in widget.controls if name.startswith("layer")})
    assert texts(widget).startswith("with the mean for 8 heads: ")
    move(widget, instead=0.0)
    assert texts(widget).startswith("without 8 heads: ")


def test_the_longest_sentence_fits(widget):
    move(widget, instead="mean", layer_0_head_0=True, layer_1_head_3=True)
    (text,) = widget.figure.texts
    assert text.get_text().startswith("with the mean for layer 0 head 0 and layer 1 head 3: ")
    assert text.get_window_extent().x1 < widget.figure.bbox.x1
    move(widget, layer_0_head_2=True)
    assert text is not widget.figure.texts[0] and texts(widget).startswith("with the mean for 3 heads: ")


def test_which_guesses_are_averaged():
    counted, of_what = counted_guesses(torch.tensor([4, 5, 6, 4, 5, 6]))
    assert counted.tolist() == [False, False, False, True, True] and "second half" in of_what
    for other in ([4, 5, 6, 4, 5, 7], [4, 5, 4, 5, 4], [4, 4]):
        counted, of_what = counted_guesses(torch.tensor(other))
        assert counted.all() and len(counted) == len(other) - 1 and of_what == "the next letter"


def test_a_text_of_any_names_and_grouped_heads_can_be_drawn():
    torch.manual_seed(0)
    model = DecoderLM(DecoderConfig(30, num_layers=3, d_model=16, d_ff=16, num_heads=4, num_kv_heads=2)).eval()
    for length in (2, 64):
        widget = head_remover(model, torch.arange(length) % 30, [f"$word {n}" for n in range(length)])
        assert not widget.problem.value
        move(widget, layer_2_head_3=True)
        assert "for the next letter" in texts(widget)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("error", "message", "change"),
    [
        (TypeError, "model is a Linear; expected a DecoderLM", {"model": torch.nn.Linear(2, 2)}),
        (ValueError, r"ids has shape \(1, 4\); expected \(L,\): one text", {"ids": torch.zeros(1, 4).long()}),
        (ValueError, "ids has 1 positions; expected 2 to 64", {"ids": torch.tensor([3]), "names": "a"}),
        (ValueError, "ids has 65 positions", {"ids": torch.zeros(65).long(), "names": "a" * 65}),
        (ValueError, r"names \(3\) must be one text for each of the 4 positions", {"names": "abc"}),
        (ValueError, r"removed \(\('layers.2.self_attention', 0\)\) must be", {"removed": [("layers.2.self_attention", 0)]}),
        (ValueError, r"shown \(\('layers.0.self_attention', 4\)\) must be", {"shown": ("layers.0.self_attention", 4)}),
    ],
)  # fmt: skip
def test_what_does_not_fit(model, error, message, change):
    given = {"model": model, "ids": torch.tensor([1, 2, 1, 2]), "names": "bcbc"} | change
    with pytest.raises(error, match=message):
        head_remover(given.pop("model"), given.pop("ids"), given.pop("names"), **given)


def test_a_model_that_drops_out_is_refused(ids):
    with pytest.raises(ValueError, match="training mode"):
        head_remover(induction.small_model().train(), ids, induction.spelled(ids))

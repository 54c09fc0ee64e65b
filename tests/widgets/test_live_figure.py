"""Widgets of ipywidgets: every control changes the picture, errors are seen, and the numbers are those of the library."""

import pytest
import torch
from controls import bars, move, texts
from ipywidgets import FloatSlider
from matplotlib.figure import Figure

from course_utils import masks, widgets
from course_utils.distributed.layouts import layout
from course_utils.distributed.ring_attention import Ring
from course_utils.distributed.simulation import work_table
from course_utils.kv_cache import KVCache
from course_utils.models import Transformer, TransformerConfig
from course_utils.small_models import induction
from course_utils.widgets import shapes
from course_utils.widgets.cache_calculator import MODELS
from course_utils.widgets.live_figure import LiveFigure
from course_utils.widgets.mask_composer import compose_mask
from course_utils.widgets.ring_steps import HIDDEN, LATER, colors_of_pairs
from course_utils.widgets.slider_names import SliderNames

X = torch.linspace(0, 5, 21)


def decoding_steps():
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(5, 5, num_layers=2, d_model=4, d_ff=6, num_heads=2)).eval()
    model.generator.bias.data[2] = -9.0  # the end symbol: it never ends
    return widgets.decoding_steps(model, torch.tensor([3, 4, 4]), ["pad", "start", "end", "a", "b"], max_len=4)


def head_remover():
    torch.manual_seed(0)
    model = induction.small_model().eval()
    for parameter in model.parameters():
        parameter.data.mul_(8)  # large enough for every head to matter
    return widgets.head_remover(model, torch.tensor([3, 4, 3, 4]), "dede")


MAKERS = {
    "two_vectors": widgets.two_vectors,
    "kernel_regression": lambda: widgets.kernel_regression(X, X.sin()),
    "shape_viewer": widgets.shape_viewer,
    "mask_composer": widgets.mask_composer,
    "cache_calculator": widgets.cache_calculator,
    "decoding_steps": decoding_steps,
    "position_viewer": widgets.position_viewer,
    "head_remover": head_remover,
    "ring_steps": widgets.ring_steps,
    "cache_and_state": lambda: widgets.cache_and_state(torch.eye(12)[:, :5] + 0.1, torch.eye(12)),
}
SOME_MATTER_ONLY_WITH_OTHERS = {"mask_composer", "position_viewer", "head_remover", "cache_and_state", "ring_steps"}


def ends(control):
    """The values worth trying: every option, both states of a box, both ends of a slider."""
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    return [False, True] if isinstance(control.value, bool) else [control.min, control.max]


@pytest.mark.parametrize("name", MAKERS)
def test_every_control_redraws_and_every_end_of_it_can_be_drawn(name):
    widget = MAKERS[name]()
    assert b"<svg" in bytes(widget.image.value)[:400] and not widget.problem.value
    for control in widget.controls.values():
        before = bytes(widget.image.value)
        control.value = next(end for end in reversed(ends(control)) if end != control.value)
        assert bytes(widget.image.value) != before or name in SOME_MATTER_ONLY_WITH_OTHERS
    for control in widget.controls.values():
        for end in ends(control):
            control.value = end
            assert not widget.problem.value


def test_text_where_no_widget_can_be_shown():
    assert repr(widgets.two_vectors()).startswith("[interactive: two vectors")


def test_an_error_in_a_callback_is_shown_and_goes_away():
    def draw(figure: Figure, x: float) -> None:
        if x > 1:
            raise ValueError("x is <too> large")
        figure.add_axes((0, 0, 1, 1))

    widget = LiveFigure("test", draw, {"x": FloatSlider(0, min=0, max=3)}, (1, 1))
    before = bytes(widget.image.value)
    widget.controls["x"].value = 2
    assert "ValueError: x is &lt;too&gt; large" in widget.problem.value and "Traceback" not in widget.problem.value
    assert bytes(widget.image.value) == before
    move(widget, x=1)


def test_two_vectors_have_the_dot_product_and_the_cosine_of_the_library():
    widget = widgets.two_vectors()
    assert "cosine =  0.71" in texts(widget) and "a · b  =  2.12" in texts(widget)
    assert "shadow of b = 1.06" in texts(widget)
    (shadow,) = [line for line in widget.figure.axes[0].lines if line.get_label() == "shadow"]
    assert shadow.get_xdata()[-1] == pytest.approx(1.5 * 0.5**0.5, abs=1e-4)
    move(widget, angle=180)
    assert "cosine = -1.00" in texts(widget) and "a · b  = -3.00" in texts(widget)
    move(widget, length_a=0)
    assert "cosine =  0.00" in texts(widget)


def test_kernel_regression_says_temperature_and_how_many_keys_count():
    widget = widgets.kernel_regression(X, X.sin())
    assert "bandwidth 0.32: temperature 0.1" in widget.figure.axes[0].get_title()
    assert sum(bars(widget, 1)) == pytest.approx(1, abs=1e-5)
    move(widget, log_bandwidth=1)
    assert "21.0 keys count" in widget.figure.axes[1].get_title()


# ---------------------------------------------------------------- shapes


def test_shape_viewer_marks_the_sources_of_an_entry():
    x, y = torch.arange(12).view(3, 4), torch.arange(12, 20).view(2, 4)
    used_x, used_y = shapes._sources("torch.einsum('id,jd->ij', x, y)", x, y, entry=3)  # row 1, column 1 of (3, 2)
    assert used_x.nonzero()[:, 0].unique().tolist() == [1] and used_y.nonzero()[:, 0].unique().tolist() == [1]
    used_x, _ = shapes._sources("x.transpose(0, 1)", x, y, entry=1)  # [0, 1] of (4, 3) is [1, 0] of x
    assert used_x.nonzero().tolist() == [[1, 0]]


def test_only_listed_operations_are_evaluated():
    with pytest.raises(ValueError, match="not one of"):
        shapes._evaluate("__import__('os')", torch.ones(1), torch.ones(1))


# ---------------------------------------------------------------- the size of a cache


def test_sizes_of_caches_worked_by_hand_follow_the_controls():
    widget = widgets.cache_calculator()
    # 2 x 32 layers x 8 sequences x 8192 tokens x 128 numbers x 2 bytes is 1 GiB for each key/value head
    assert bars(widget) == [32.0, 8.0, 1.0]
    move(widget, batch_size=4, bytes_per_number=1)
    assert bars(widget) == [8.0, 2.0, 0.25]
    move(widget, length=16384)
    assert bars(widget) == [16.0, 4.0, 0.5]
    move(widget, model="Falcon 7B")
    full, published, single = bars(widget)
    assert published == single and full == pytest.approx(71 * single)
    assert "71 heads of size 64" in texts(widget)


@pytest.mark.parametrize("shape", MODELS, ids=lambda shape: shape.name)
def test_sizes_agree_with_an_allocated_cache(shape):
    one_layer = KVCache(2, shape.num_kv_heads, 3, shape.d_head).num_bytes  # float32
    assert shape.cache_bytes(2, 3, 4) == shape.num_layers * one_layer
    assert shape.num_heads % shape.num_kv_heads == 0 and shape.source


# ---------------------------------------------------------------- masks


@pytest.mark.parametrize(("L_q", "L_k"), [(5, 5), (3, 7), (1, 6)])
def test_the_masks_are_those_of_the_library(L_q, L_k):
    causal = masks.causal_mask(L_q, L_k)
    assert torch.equal(compose_mask(L_q, L_k, True, 0, 0, True), causal[0, 0])
    window = masks.sliding_window_mask(L_q, L_k, window=2)[0, 0]
    assert torch.equal(compose_mask(L_q, L_k, True, 0, 2, True), window)
    tokens = torch.ones(1, L_k, dtype=torch.int64)
    tokens[:, -2:] = 0
    padded = masks.combine_masks(causal, masks.padding_mask(tokens, 0))[0, 0]
    assert torch.equal(compose_mask(L_q, L_k, True, 2, 0, True), padded)


def test_the_composed_mask_is_shown_and_rows_that_see_nothing_are_named():
    widget = widgets.mask_composer()
    cells = [patch for patch in widget.figure.axes[0].patches if patch.get_width() == 1]
    assert [not cell.get_hatch() for cell in cells] == compose_mask(5, 7, True, 2, 0, True).flatten().tolist()
    assert texts(widget).endswith("sees nothing: no query")
    for change, blind in (({"window": 2}, "q4"), ({"padding": 3}, "q3, q4"), ({"padding": 7}, "q0, q1, q2, q3, q4")):
        move(widget, **change)
        assert texts(widget).endswith(f"sees nothing: {blind}")
        framed = [patch for patch in widget.figure.axes[0].patches if patch.get_width() > 1]
        assert [f"q{patch.get_y()}" for patch in framed] == blind.split(", ")


def test_alignment_and_fewer_keys_than_queries():
    widget = widgets.mask_composer()
    move(widget, padding=0)
    assert "the last query sees 7 keys" in texts(widget)
    move(widget, bottom_right="top-left")
    assert "the last query sees 5 keys" in texts(widget)
    move(widget, bottom_right="bottom-right", L_k=3)
    assert "sees nothing: q0, q1" in texts(widget)


# ---------------------------------------------------------------- cache, window and state


def kept(widget):
    """What is drawn of each position: cache, window, state."""
    return [torch.tensor([bar.get_height() for bar in ax.patches]) for ax in widget.figure.axes[:3]]


def test_a_state_blurs_what_a_cache_keeps_and_a_window_drops():
    rng = torch.Generator().manual_seed(0)
    keys, values = torch.randn(20, 6, generator=rng), torch.randn(20, 9, generator=rng)
    widget = widgets.cache_and_state(keys, values)
    move(widget, position=12, window=3, sinks=2)
    cache, window, state = kept(widget)
    assert cache.tolist() == [1.0] * 12 and window.nonzero()[:, 0].tolist() == [0, 1, 9, 10, 11]
    unit = torch.nn.functional.normalize(keys[:12], dim=-1)
    read = unit @ (unit.T @ values[:12])
    expected = torch.nn.functional.cosine_similarity(read, values[:12], dim=-1)
    assert torch.allclose(state, expected.to(state.dtype), atol=1e-5) and state.max() < 0.99
    titles = [ax.get_title(loc="left") for ax in widget.figure.axes[:3]]
    assert "180 numbers" in titles[0] and "75 numbers" in titles[1] and "54 numbers" in titles[2]
    move(widget, rule="replace (delta rule)")
    assert kept(widget)[2][-1] == pytest.approx(1, abs=1e-4)


def test_with_decay_the_old_ones_go_first():
    rng = torch.Generator().manual_seed(0)
    widget = widgets.cache_and_state(torch.randn(60, 8, generator=rng), torch.randn(60, 16, generator=rng))
    move(widget, position=60, decay=0.8)
    state = kept(widget)[2]
    assert state[:30].abs().mean() < 0.3 and state[-5:].mean() > 0.6


@pytest.mark.parametrize(
    ("shapes", "said"),
    [(((1, 4), (1, 4)), "1 positions; expected 2 to 200"), (((5, 4), (6, 4)), "5 keys but 6 values")],
)
def test_cache_and_state_name_what_does_not_fit(shapes, said, as_a_user):
    with pytest.raises(ValueError, match=said):
        widgets.cache_and_state(*(torch.ones(shape) for shape in shapes))


# ---------------------------------------------------------------- a ring of ranks


def work_of(widget):
    """What each rank has computed so far, and what is said of the time."""
    ax = widget.figure.axes[2]
    count = len(ax.get_yticks())
    widths = [bar.get_width() for bar in ax.patches]
    return [widths[2 * rank] + widths[2 * rank + 1] for rank in range(count)], widget.figure.texts[0].get_text()


def test_a_causal_ring_in_rows_lets_early_ranks_wait_and_a_zigzag_does_not():
    widget = widgets.ring_steps()
    move(widget, ranks=4, step=3, causal=True)
    work, said = work_of(widget)
    block, limits = 12 * 12, widget.figure.axes[2].get_xlim()
    assert work == [block, 2 * block, 3 * block, 4 * block] and f"done in the time of {4 * block} pairs" in said
    move(widget, order="zigzag")
    work, said = work_of(widget)
    assert len(set(work)) == 1 and f"done in the time of {work[0]} pairs" in said
    assert widget.figure.axes[2].get_xlim() == limits  # so that the shorter bars are seen to be shorter
    move(widget, causal=False, step=0, order="contiguous")
    work, said = work_of(widget)
    assert work == [block] * 4 and f"time so far: {block} pairs" in said


@pytest.mark.parametrize("ranks", [2, 8, 3])
def test_the_ring_has_as_many_steps_as_ranks(ranks):
    widget = widgets.ring_steps()
    move(widget, ranks=8, step=7)
    move(widget, ranks=ranks)
    assert widget.controls["step"].max == widget.controls["step"].value == ranks - 1
    assert widget.figure.axes[0].get_title() == f"step {ranks - 1}, the last is step {ranks - 1}"


def test_after_the_last_step_every_pair_that_may_be_seen_has_a_rank_and_no_other():
    for name in ("contiguous", "zigzag", "striped"):
        ring = Ring(layout(name, 48, 4), causal=True)
        colors, computed = colors_of_pairs(ring, 3)
        white, gray = ((colors == torch.tensor(color)).all(dim=-1) for color in (LATER, HIDDEN))
        seen = torch.ones(48, 48).tril().bool()
        assert not white.any() and computed[seen].all() and computed.sum() == work_table(ring).sum()
        assert torch.equal(computed, ~gray)
        assert (colors_of_pairs(ring, 0)[0] == torch.tensor(LATER)).all(dim=-1).any()


@pytest.mark.parametrize("name", MAKERS)
def test_every_slider_has_a_name_of_its_own(name):
    widget = MAKERS[name]()
    sliders = [control.description for control in widget.controls.values() if "Slider" in type(control).__name__]
    names = [child.names for child in widget.children if isinstance(child, SliderNames)]
    assert names == ([sliders] if sliders else []) and len(set(sliders)) == len(sliders)

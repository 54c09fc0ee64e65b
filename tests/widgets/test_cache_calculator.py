"""The cache calculator: its sizes are those of published models and of tensors really allocated."""

import pytest

from course_utils.kv_cache import KVCache
from course_utils.widgets import cache_calculator
from course_utils.widgets.cache_calculator import GIB, MODELS


def _bars(widget):
    return [bar.get_width() for bar in widget.figure.axes[0].patches]


def test_first_state_is_llama_3_8b_worked_by_hand():
    # 2 x 32 layers x 8 sequences x 8192 tokens x 128 numbers x 2 bytes is 1 GiB for each key/value head
    assert _bars(cache_calculator()) == [32.0, 8.0, 1.0]


def test_bars_follow_the_controls():
    widget = cache_calculator()
    widget.controls["batch_size"].value = 4
    widget.controls["bytes_per_number"].value = 1
    assert _bars(widget) == [8.0, 2.0, 0.25]
    widget.controls["length"].value = 16384
    assert _bars(widget) == [16.0, 4.0, 0.5]
    widget.controls["model"].value = "Falcon 7B"
    full, published, single = _bars(widget)
    assert published == single and full == pytest.approx(71 * single)
    assert "71 heads of size 64" in widget.figure.texts[0].get_text()


@pytest.mark.parametrize("shape", MODELS, ids=lambda shape: shape.name)
def test_sizes_agree_with_an_allocated_cache(shape):
    one_layer = KVCache(2, shape.num_kv_heads, 3, shape.d_head).num_bytes  # float32
    assert shape.cache_bytes(2, 3, 4) == shape.num_layers * one_layer
    assert shape.num_heads % shape.num_kv_heads == 0 and shape.source


def test_every_end_of_every_control_can_be_drawn():
    widget = cache_calculator()
    for control in widget.controls.values():
        options = getattr(control, "options", None) or (control.min, control.max)
        for value in (option[1] if isinstance(option, tuple) else option for option in options):
            control.value = value
            assert not widget.problem.value
            assert max(_bars(widget)) > 0 and max(_bars(widget)) == _bars(widget)[0]
    assert GIB == 2**30

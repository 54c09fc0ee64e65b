import pytest

from course_utils.diagrams import cache_strip, head_wiring


@pytest.mark.parametrize(
    ("heads", "kv", "kind"), [(4, None, "Multi-head"), (8, 2, "Grouped-query"), (6, 1, "Multi-query")]
)
def test_each_query_head_has_one_line(heads, kv, kind):
    ax = head_wiring(heads, kv)
    assert ax.get_label().startswith(kind) and len(ax.lines) == heads
    ends = {line.get_xdata()[1] for line in ax.lines}
    assert len(ends) == (kv or heads)


def test_what_is_computed_is_counted():
    words = ["a", "b", "c", "d", "e"]
    assert "keys and values of 4 positions" in cache_strip(words, 2).get_label()  # 2 + 1 + 1
    assert "keys and values of 9 positions" in cache_strip(words, 2, cached=False).get_label()  # 2 + 3 + 4


def test_what_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match=r"num_kv_heads \(3\) must divide num_heads \(8\)"):
        head_wiring(8, 3)
    with pytest.raises(ValueError, match=r"prompt \(2\)"):
        cache_strip(["a", "b"], 2)

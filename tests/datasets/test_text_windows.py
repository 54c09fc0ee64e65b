"""Text as ids, and windows that overlap by one."""

import pytest
import torch

from course_utils.datasets.text_windows import TEXT, decode_text, encode_text, seen_before, windows


def test_text_to_ids_and_back():
    assert decode_text(encode_text("def f(x):\n\treturn \u201cx\u201d \u00df")) == 'def f(x):\n    return "x" ?'
    assert len(TEXT) == 3 + 96


def test_windows_in_order_predict_every_symbol_once():
    ids = torch.arange(3, 3 + 23)
    found = torch.cat(windows(ids, 5, 3))
    assert found.tolist() == [list(range(first, first + 6)) for first in (3, 8, 13, 18)]  # 24 and 25 are left over
    assert [len(batch) for batch in windows(ids, 5, 3)] == [3, 1]


def test_windows_of_another_seed_are_cut_and_ordered_otherwise():
    ids = torch.arange(200)
    epochs = [torch.cat(windows(ids, 8, 4, seed=seed)) for seed in range(6)]
    for epoch in epochs:
        first = epoch[:, 0].sort().values
        assert (first.diff() == 8).all() and first[0] < 8 and len(first) >= 23
        assert (epoch.diff() == 1).all()
    assert len({tuple(epoch[:, 0].tolist()) for epoch in epochs}) == 6
    assert len({int(epoch[:, 0].min()) for epoch in epochs}) > 1
    assert torch.equal(epochs[0], torch.cat(windows(ids, 8, 4, seed=0)))


def test_bad_input_is_named(as_a_user):
    with pytest.raises(ValueError, match="text is empty"):
        encode_text("")
    with pytest.raises(ValueError, match=r"length \(0\)"):
        windows(torch.arange(30), 0, 2)
    with pytest.raises(ValueError, match="30 characters; expected at least two windows of length .20."):
        windows(torch.arange(30), 20, 2)


def test_windows_that_overlap():
    found = torch.cat(windows(torch.arange(12), 4, 2, stride=3))
    assert found[:, 0].tolist() == [0, 3, 6] and found[-1].tolist() == [6, 7, 8, 9, 10]


def test_seen_before():
    assert seen_before("abcdef", "xbcdxcdefx", 3).tolist() == [0, 1, 1, 1, 0, 1, 1, 1, 1, 0]
    assert not seen_before("ab", "abab", 3).any() and seen_before("abc", "a", 2).tolist() == [False]

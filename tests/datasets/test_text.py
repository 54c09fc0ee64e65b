"""The documentation, as words, as docstrings, and as ids in windows that overlap by one."""

import sysconfig

import pytest
import torch

from course_utils.datasets.documentation import (
    docstrings,
    documentation_split,
    plain_text,
    python_documentation,
    split_words,
)
from course_utils.datasets.text_windows import TEXT, decode_text, encode_text, seen_before, windows


def test_it_is_that_of_one_release_whatever_python_runs():
    """The figures of the language model's card hold for these parts."""
    parts = documentation_split()
    assert [len(part) for part in parts] == [395392, 23259, 46517]
    assert "".join(parts) == plain_text(python_documentation()) and "while_stmt" in parts.test


def test_split_words():
    assert split_words("Call float('nan') or __init__! 3.14 _ x1") == ["call", "float", "nan", "or", "__init__", "x"]


def test_docstrings_of_modules_classes_and_functions(tmp_path, monkeypatch):
    says = {
        name: f"{name} says what it does, in more than eighty characters, so that it is worth being read by a model."
        for name in "MCFA"
    }
    source = f'"""{says["M"]}"""\nclass C:\n    """{says["C"]}"""\n'
    source += f'    def f(self):\n        """{says["F"]}"""\n        "no docstring"\n'
    (tmp_path / "b.py").write_text(source)
    (tmp_path / "a.py").write_text(f'async def g():\n    """{says["A"]}"""\nraise SystemExit("this is not run")\n')
    (tmp_path / "again.py").write_text(source + 'def short():\n    """Too short to count."""\n')
    (tmp_path / "broken.py").write_text("def (")
    (tmp_path / "latin.py").write_bytes(b"# \xe9")
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "t.py").write_text(source.replace("says", "tests"))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert docstrings().split("\n\n") == [says[name] for name in "AMCF"]


def test_text_to_ids_and_back():
    assert decode_text(encode_text("def f(x):\n\treturn \u201cx\u201d \u00df")) == 'def f(x):\n    return "x" ?'
    assert len(TEXT) == 3 + 96


def test_windows_in_order_predict_every_symbol_once():
    ids = torch.arange(3, 3 + 23)
    cut = torch.cat(windows(ids, 5, 3))
    assert cut.tolist() == [list(range(first, first + 6)) for first in (3, 8, 13, 18)]  # 24 and 25 are left over
    assert [len(batch) for batch in windows(ids, 5, 3)] == [3, 1]
    overlapping = torch.cat(windows(torch.arange(12), 4, 2, stride=3))
    assert overlapping[:, 0].tolist() == [0, 3, 6] and overlapping[-1].tolist() == [6, 7, 8, 9, 10]


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


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: encode_text(""), "text is empty"),
        (lambda: windows(torch.arange(30), 0, 2), r"length \(0\)"),
        (lambda: windows(torch.arange(30), 20, 2), "30 characters; expected at least two windows of length .20."),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_seen_before():
    assert seen_before("abcdef", "xbcdxcdefx", 3).tolist() == [0, 1, 1, 1, 0, 1, 1, 1, 1, 0]
    assert not seen_before("ab", "abab", 3).any() and seen_before("abc", "a", 2).tolist() == [False]

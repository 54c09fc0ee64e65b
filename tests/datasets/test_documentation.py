"""The documentation text."""

import sysconfig

from course_utils.datasets.documentation import (
    docstrings,
    documentation_split,
    plain_text,
    python_documentation,
    split_words,
)


def test_the_text_is_the_language_reference():
    text = python_documentation()
    assert len(text) > 300_000 and "while_stmt" in text


def test_it_is_that_of_one_release_whatever_python_runs():
    """The figures of the language model's card hold for these parts."""
    assert [len(part) for part in documentation_split()] == [395392, 23259, 46517]


def test_split_words():
    assert split_words("Call float('nan') or __init__! 3.14 _ x1") == ["call", "float", "nan", "or", "__init__", "x"]


def test_the_three_parts_are_the_whole_text():
    parts = documentation_split()
    assert "".join(parts) == plain_text(python_documentation())
    assert len(parts.train) > 16 * len(parts.valid) > 7 * len(parts.test) > 0


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

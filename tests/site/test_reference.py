"""The reference: every public name with its signature as it stands in the source."""

import pytest
from needs import install_command

pytestmark = pytest.mark.needs("site")
if not install_command("site"):  # else the mark skips these tests
    from course_site import reference

SOURCE = '''"""About vectors.

More of it.
"""

def norm(x: Float[Tensor, "*B d"], *, eps: float = 1e-5) -> Float[Tensor, "*B"]:
    """Length of each vector.

    Args:
        eps: Added.

    Raises:
        ValueError: It is empty, or
            something else.

    Source:
        Somebody, 2020.
    """

def _hidden(): ...

def main(): ...

class Scale(nn.Module):
    """Multiplies."""

    def __init__(self, factor: float) -> None: ...

    @property
    def twice(self) -> float:
        """Double."""

    def forward(self, x: Tensor) -> Tensor:
        """Do it."""

class Pair(NamedTuple):
    """Two."""
    a: int
    b: int = 2
'''


@pytest.fixture
def page(tmp_path):
    (tmp_path / "vectors.py").write_text(SOURCE, encoding="utf-8")
    return reference.page(tmp_path, "vectors")


def test_signatures_stand_as_in_the_source(page):
    for line in (
        ".. py:function:: norm(x: Float[Tensor, '*B d'], *, eps: float=1e-05) -> Float[Tensor, '*B']",
        ".. py:class:: Scale(factor: float)",
        "   .. py:property:: twice",
        "   .. py:method:: forward(x: Tensor) -> Tensor",
        ".. py:class:: Pair(a: int, b: int = 2)",
    ):
        assert line in page.splitlines()
    assert "_hidden" not in page and "main" not in page


def test_docstrings_become_fields(page):
    assert ":param eps: Added." in page
    assert ":raises ValueError: It is empty, or something else." in page
    assert ".. rubric:: Source" in page


def test_a_name_stands_under_the_module_it_is_imported_from(tmp_path):
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Both."""\nfrom .one import run\n', encoding="utf-8")
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(f'"""{name}."""\ndef run():\n    """It."""\n', encoding="utf-8")
    page = reference.page(tmp_path, "pack").split(".. py:currentmodule:: ")
    assert [part.splitlines()[0] for part in page[1:]] == ["course_utils.pack", "course_utils.pack.two"]


def test_every_concept_of_the_library_has_a_page(root, tmp_path):
    reference.write_reference(root / "course_utils", tmp_path)
    assert {path.stem for path in tmp_path.glob("*.rst")} == {"index", *reference.CONCEPTS}
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.rst"))
    for name in ("MultiHeadAttention", "masked_softmax", "beam_search", "KVCache", "attention_viewer"):
        assert f":: {name}(" in text


def test_no_public_concept_is_forgotten(root):
    paths = [
        path for path in (root / "course_utils").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    ]
    no_notebook_imports = {"files", "own_copy", "arguments", "progress_log", "__init__"}
    assert {path.stem for path in paths} - no_notebook_imports == set(reference.CONCEPTS)

"""Formulas as MathML: the structure, what is refused, and every formula of every lesson."""

import xml.etree.ElementTree as ElementTree

import nbformat
import pytest
from needs import install_command

pytestmark = pytest.mark.needs("site")
if not install_command("site"):
    from course_site.formulas import mathml
    from course_site.prose import to_html


def drawn(tex):
    return ElementTree.fromstring(mathml(tex).replace("&nbsp;", "\N{NO-BREAK SPACE}"))


def words(element):
    return "".join(element.itertext())


@pytest.mark.parametrize(
    ("tex", "tag", "parts"),
    [
        (r"\frac{QK^\top}{\sqrt{d_k}}", "mfrac", ["QK⊤", "dk"]),
        (r"\tfrac12", "mfrac", ["1", "2"]),
        ("x_{ij}^2", "msubsup", ["x", "ij", "2"]),
        (r"\sum_{j=1}^n", "munderover", ["∑", "j=1", "n"]),
        ("d_{head}", "msub", ["d", "head"]),
        (r"\begin{cases} a & b \\ c & d \end{cases}", "mtr", ["a", "b"]),
    ],
)
def test_each_part_stands_where_it_belongs(tex, tag, parts):
    assert [words(part) for part in drawn(tex).find(f".//{tag}")] == parts


def test_signs_of_html_are_escaped_and_minus_is_a_minus():
    assert (
        words(drawn(r"a < b - \text{x \& y}".replace(r"\&", "and"))) == "a<b−x\N{NO-BREAK SPACE}and\N{NO-BREAK SPACE}y"
    )


@pytest.mark.parametrize(
    ("tex", "says"),
    [(r"\oint x", r"\\oint is not known"), ("{x", "ends too early"), ("x}", "ends what was never begun")],
)
def test_what_is_not_known_is_named(tex, says):
    with pytest.raises(ValueError, match=says):
        mathml(tex)


def test_every_formula_of_the_course_can_be_drawn(root):
    count = 0
    for path in [*(root / "notebooks").glob("*.ipynb"), *(root / "exercises").glob("*.ipynb")]:
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "markdown":
                count += to_html(cell.source).count("<math")
    assert count > 1000

"""What is equal to the course's solution, and what is not: names and words aside, and nothing else."""

import handed_in
import pytest
from sandboxed import make_settings

from course_checks.deciding.solution import carried
from course_grader.grade import take_in
from course_grader.submissions.normal_form import compared, normal_form

SOLUTION = carried("1.2")["text"]
STUB = "def cosine(a, b):\n    raise NotImplementedError\n"
ONE = "def f(x, size=2):\n    total = x.sum(dim=-1, keepdim=True)\n    return total / size  # mean\n"
ALIKE = {
    "names": ONE.replace("x", "values").replace("total", "s").replace("size", "n").replace("f(", "mean("),
    "words": '"""Mine."""\nimport torch\n' + ONE.replace("total =", '"""Add."""\n    pass\n    total   = ').replace("# mean", ""),
    "annotations": ONE.replace("x,", "x: Tensor,").replace("):", ") -> Tensor:").replace("total =", "total: Tensor ="),
    "keywords": ONE.replace("dim=-1, keepdim=True", "keepdim=True, dim=-1"),
    "tries": f"{ONE}\nprint(f(1))\n",
    "magic": f"%matplotlib inline\n{ONE}",
}  # fmt: skip


@pytest.mark.parametrize("way", ALIKE)
def test_names_and_words_do_not_matter(way):
    assert normal_form(ALIKE[way], "f") == normal_form(ONE, "f") is not None


@pytest.mark.parametrize(
    ("old", "new"), [("-1", "-2"), ("sum", "mean"), ("total / size", "size / total"), ("=2", "=3")]
)
def test_all_else_matters(old, new):
    assert normal_form(ONE.replace(old, new), "f") != normal_form(ONE, "f")


def test_attributes_that_a_class_gives_itself_are_names_too():
    text = "class A:\n    def __init__(self):\n        self.a = B()\n\n    def forward(self, x):\n        return self.a(x)\n"
    assert normal_form(text, "A") == normal_form(text.replace(".a", ".layer"), "A")
    assert normal_form(text, "A") != normal_form(text.replace("B()", "C()"), "A")


@pytest.mark.parametrize("code", ["", "# nothing", "def f(:", "f = " + "-" * 20_000 + "1", "(" * 300 + ")" * 300])
def test_what_has_no_form(code):
    assert normal_form(code, "f") is None
    assert compared("1.2", "cosine", code, STUB) == {"form": "", "own_nodes": 0, "equal_to_solution": None}


@pytest.mark.parametrize(
    ("number", "answer", "equal"),
    [
        ("1.2", SOLUTION.replace("(a, b)", "(left, right)").replace("a *", "left *"), False),
        ("1.2", f"# my own\n{SOLUTION}\nprint(1)", True),
        ("1.2", STUB, None),
        ("1.1", carried("1.1")["text"], None),  # everybody writes it so
        ("1.7", 'quiz_1_7 = "b"', None),
        ("1.9", "reach_results = {'a': 1}", None),  # an experiment
    ],
)
def test_equal_to_the_solution(number, answer, equal):
    assert compared(number, "cosine", answer, STUB)["equal_to_solution"] is equal


def test_a_copied_notebook_is_equal_wherever_that_says_something():
    forms = take_in(handed_in.as_bytes(handed_in.solved()), "x.ipynb", make_settings())[3]
    assert {number: form["equal_to_solution"] for number, form in forms.items() if form["equal_to_solution"] is not None} == {
        "1.2": True, "1.3": True, "1.5": True, "1.6": True, "1.8": True,
    }  # fmt: skip

"""Plain nbval and the class grader say the same about honest submissions."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import handed_in
import pytest
from sandboxed import linux, make_settings, outcomes

from course_grader.grade import grade_one

MIXED = {
    "answer_1_1": "def dot(a, b):\n    return (a * b).mean()",
    "answer_1_4": "def all_pairs_einsum(queries, keys):\n    return queries @ keys.mT",
    "answer_1_5": "def nearest(query, keys, k):\n    return keys[k, 0, 0, 0]",
    "quiz_1_7": 'quiz_1_7 = "x"',
}


def by_nbval(notebook, folder):
    """Exercise -> whether its check cell passed."""
    path, report = folder / "handed_in.ipynb", folder / "report.xml"
    path.write_bytes(handed_in.as_bytes(notebook))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval-lax",
        "--nbval-current-env",
        str(path),
        "-p",
        "no:cacheprovider",
    ]
    subprocess.run([*command, f"--junitxml={report}"], cwd=folder, capture_output=True, check=False)
    passed = [case.find("failure") is None for case in ElementTree.parse(report).iter("testcase")]
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    checks = [(cell["id"], ok) for cell, ok in zip(cells, passed, strict=True) if cell["id"].startswith("check-")]
    return {name.removeprefix("check-").replace("-", "."): ok for name, ok in checks}


@linux
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(handed_in.solved, marks=pytest.mark.slow),
        pytest.param(handed_in.blank, marks=pytest.mark.slow),
        lambda: handed_in.solved(**MIXED),
    ],
    ids=["solved", "blank", "mixed"],
)
def test_both_say_the_same(made, tmp_path):
    notebook = made()
    found = outcomes(grade_one(handed_in.as_bytes(notebook), "x.ipynb", make_settings()))
    assert {number: outcome == "right" for number, outcome in found.items()} == by_nbval(notebook, tmp_path)

"""What names tell."""

import pytest

from course_grader.submissions.file_names import looks_handed_in, parts_of, student_of_file, student_of_folder

STEMS = ("01_dot_product_similarity", "05_masking")


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("ann_05_masking (1).ipynb", "ann"),
        ("05_masking.ipynb", "05_masking"),
        ("ann.ipynb.json", "ann"),
        ("ann.tar.gz", "ann"),
        ("doe_1234_567890_05_masking-1.ipynb", "doe_1234"),
        ("doe_LATE_1234_567891_Untitled.ipynb", "doe_1234"),
    ],
)
def test_who_handed_in_a_file(name, student):
    assert student_of_file(name, STEMS) == student


def test_who_handed_in_a_folder():
    assert student_of_folder("Ann Lee_77_assignsubmission_file_") == "Ann Lee_77"


def test_no_part_of_a_name_leads_out():
    assert parts_of("./../a\\b//c.ipynb") == ("a", "b", "c.ipynb")
    assert parts_of("./") == ()


def test_what_looks_handed_in():
    names = ["05_masking.py", "doe_1_12345_x.pdf", "readme.txt", "05_masking.png"]
    assert [looks_handed_in(name, STEMS) for name in names] == [True, True, False, False]

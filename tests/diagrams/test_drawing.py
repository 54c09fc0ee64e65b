import pytest

from course_utils.diagrams.drawing import Sheet


def test_the_figure_is_cut_to_what_was_drawn():
    sheet = Sheet()
    sheet.box(-2.0, -1.0, 3.0, 2.0)
    ax = sheet.done("a box")
    assert ax.figure.get_size_inches() == pytest.approx([3.24, 2.2], abs=0.1) and ax.get_label() == "a box"


def test_words_are_measured():
    sheet = Sheet()
    assert 0 < sheet.width_of("i") < sheet.width_of("mmm")


def test_a_dollar_sign_begins_no_formula():
    sheet = Sheet()
    sheet.text(0, 0, "$x^2$ and $broken")
    assert sheet.done("words").texts[0].get_text() == "$x^2$ and $broken"

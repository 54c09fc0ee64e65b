"""What diagrams are made of: drawings, grids of cells, numbers and words in few letters."""

import pytest
import torch

from course_utils.diagrams.drawing import Drawing
from course_utils.diagrams.formatting import cell_number, number, number_sum, shortened, shown_indices
from course_utils.diagrams.grids import Grid, GridDrawing


def test_numbers_are_short():
    assert [number(x) for x in (7.0, 0.75, -0.5, 12.34, -1234.5, 0.0, 0.004)] == [
        "7",
        "0.75",
        "−0.5",
        "12",
        "−1e3",
        "0",
        "4e−3",
    ]
    assert [cell_number(x) for x in (0.75, -0.75, -1.31, 2.0, 0.0)] == [".75", "−.75", "−1.3", "2", "0"]


def test_a_sum_is_written_out():
    assert number_sum([(0.75, 8.0), (0.25, 4.0)]) == "0.75 · 8 + 0.25 · 4 = 7"
    assert number_sum([(1.0, -2.0)]) == "1 · (−2) = −2"
    assert number_sum([(0.959, 8.0)]) == "0.96 · 8 ≈ 7.67"  # 0.96 · 8 would be 7.68
    assert number_sum([(1.0, float(n)) for n in range(9)]) == "1 · 0 + 1 · 1 + 1 · 2 + … + 1 · 8 = 36"


def test_tokens_on_one_line():
    assert shortened("a\nb") == "a↵b" and shortened("") == "" and shortened(" ") == "␣"
    assert shortened("x" * 30) == "x" * 11 + "…" and shortened("\x00") == "□" and shortened("苹") == "□"


def test_parts():
    assert shown_indices(3) == (0, 1, 2) and shown_indices(100, 4) == (0, 1, None, 99)


def drawn(values, **how):
    drawing = GridDrawing()
    grid = drawing.grid(torch.tensor(values), 0.0, 0.0, **how)
    return drawing, grid


def faces(drawing):
    return [patch for patch in drawing.ax.patches if patch.get_zorder() == 4]


def test_cells_are_where_the_card_says():
    grid = Grid(1.0, 2.0, (0, 1), (0, 1, 2), cell=0.5)
    assert grid.box(0, 0) == (1.0, 2.5, 0.5, 0.5) and grid.box(row=1) == (1.0, 2.0, 1.5, 0.5)
    assert grid.box(column=2) == (2.0, 2.0, 0.5, 1.0) and grid.box(5, 0) is None


def test_zero_is_white_hidden_is_hatched_and_small_is_neither():
    drawing, _ = drawn([[0.0, 0.001, 1.0]], hidden=torch.tensor([[False, False, True]]))
    zero, small, hidden = faces(drawing)
    assert zero.get_facecolor() == (1, 1, 1, 1) != small.get_facecolor() and not small.get_hatch()
    assert hidden.get_hatch()


def test_of_many_rows_the_first_and_the_last_are_shown():
    _, grid = drawn([[float(n)] for n in range(40)], most=5)
    assert grid.rows == (0, 1, 2, None, 39) and grid.height == pytest.approx(5 * grid.cell)


def test_a_stack_shows_that_there_are_more():
    assert len(drawn([[1.0]], stack=3)[0].ax.patches) == len(drawn([[1.0]])[0].ax.patches) + 2


def test_nan_is_written():
    drawing, _ = drawn([[float("nan"), float("-inf")]])
    assert [text.get_text() for text in drawing.ax.texts] == ["NAN", "−∞"]


def test_the_figure_is_cut_to_what_was_drawn():
    drawing = Drawing()
    drawing.box(-2.0, -1.0, 3.0, 2.0)
    ax = drawing.finish("a box")
    assert ax.figure.get_size_inches() == pytest.approx([3.24, 2.2], abs=0.1) and ax.get_label() == "a box"


def test_words_are_measured():
    drawing = Drawing()
    assert 0 < drawing.width_of("i") < drawing.width_of("mmm")


def test_a_dollar_sign_begins_no_formula():
    drawing = Drawing()
    drawing.text(0, 0, "$x^2$ and $broken")
    assert drawing.finish("words").texts[0].get_text() == "$x^2$ and $broken"

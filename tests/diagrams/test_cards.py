import pytest
import torch

from course_utils.diagrams.cards import Card, Table


def drawn(values, **how):
    table = Table()
    card = table.card(torch.tensor(values), 0.0, 0.0, **how)
    return table, card


def faces(table):
    return [patch for patch in table.ax.patches if patch.get_zorder() == 4]


def test_cells_are_where_the_card_says():
    card = Card(1.0, 2.0, (0, 1), (0, 1, 2), cell=0.5)
    assert card.box(0, 0) == (1.0, 2.5, 0.5, 0.5) and card.box(row=1) == (1.0, 2.0, 1.5, 0.5)
    assert card.box(column=2) == (2.0, 2.0, 0.5, 1.0) and card.box(5, 0) is None


def test_zero_is_white_hidden_is_hatched_and_small_is_neither():
    table, _ = drawn([[0.0, 0.001, 1.0]], hidden=torch.tensor([[False, False, True]]))
    zero, small, hidden = faces(table)
    assert zero.get_facecolor() == (1, 1, 1, 1) != small.get_facecolor() and not small.get_hatch()
    assert hidden.get_hatch()


def test_of_many_rows_the_first_and_the_last_are_shown():
    _, card = drawn([[float(n)] for n in range(40)], most=5)
    assert card.rows == (0, 1, 2, None, 39) and card.height == pytest.approx(5 * card.cell)


def test_a_stack_shows_that_there_are_more():
    assert len(drawn([[1.0]], stack=3)[0].ax.patches) == len(drawn([[1.0]])[0].ax.patches) + 2


def test_nan_is_written():
    table, _ = drawn([[float("nan"), float("-inf")]])
    assert [text.get_text() for text in table.ax.texts] == ["NAN", "−∞"]

import pytest
import torch

from course_utils.diagrams import lookup, matmul, reshape, split_merge
from course_utils.multi_head import split_heads


def written(ax):
    return [text.get_text() for text in ax.texts]


def test_a_cell_of_a_product_is_worked_out():
    ax = matmul(
        torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[4.0, 0.0, 1.0], [1.0, -1.0, 2.0]]), follow=(1, 1)
    )
    assert "row 1 with column 1:  0 · 0 + 3 · (−1) = −3" in written(ax)


def test_reshape_keeps_the_order():
    numbers = [text for text in written(reshape(torch.arange(1.0, 7).view(2, 3), 3, 2)) if text.isdigit()]
    assert numbers == [str(n) for n in range(1, 7)] * 2


def test_the_heads_get_what_the_library_gives_them():
    x = torch.arange(1.0, 13).view(2, 6)
    numbers = [int(text) for text in written(split_merge(x, 3)) if text.isdigit()]
    heads = split_heads(x[None], 3)[0].flatten().int().tolist()
    assert numbers[12:-12] == heads and numbers[:12] == numbers[-12:] == x.flatten().int().tolist()


def test_every_token_gets_its_row():
    table, ids = torch.tensor([[1.0, 2], [3, 4], [5, 6]]), torch.tensor([[2, 1], [1, 0]])
    ax = lookup(table, ids, ["<pad>", "sing", "birds"], follow=(0, 1))
    numbers = [text for text in written(ax) if text.isdigit()]
    assert numbers == "1 2 3 4 5 6 2 1 5 6 3 4 1 0 3 4 1 2".split()
    assert "'sing', id 1, picks row 1" in ax.get_label()


def test_what_does_not_fit(as_a_user):
    with pytest.raises(ValueError, match="at most 3 sentences"):
        lookup(torch.ones(3, 2), torch.zeros(4, 2, dtype=torch.long), ["a", "b", "c"])
    with pytest.raises(ValueError, match="as many columns"):
        matmul(torch.ones(2, 3), torch.ones(2, 3))
    with pytest.raises(ValueError, match="must be a cell"):
        matmul(torch.ones(2, 3), torch.ones(3, 2), follow=(0, 2))
    with pytest.raises(ValueError, match="one or two axes"):
        reshape(torch.ones(2, 3, 4), 24)
    with pytest.raises(ValueError, match=r"num_heads \(4\) must divide d_model \(6\)"):
        split_merge(torch.ones(2, 6), 4)

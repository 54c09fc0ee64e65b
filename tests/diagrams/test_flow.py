import math

import pytest
import torch
import torch.nn.functional as F

from course_utils.diagrams import attention_flow

Q, K, V = (
    torch.tensor([[8.0, 0.0], [0.0, 1.0]]),
    torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.5, 0.5]]),
    torch.tensor([[8.0], [4.0], [1.0]]),
)


def written(ax):
    return [text.get_text() for text in ax.texts]


def test_the_numbers_are_those_of_pytorch():
    mask = torch.tensor([[True, True, False], [True, True, True]])
    ax = attention_flow(Q, K, V, mask, follow=(1, 0))
    weights = torch.softmax((Q @ K.T / math.sqrt(2)).masked_fill(~mask, -torch.inf), dim=-1)
    output = F.scaled_dot_product_attention(Q[None], K[None], V[None], attn_mask=mask)[0]
    last = written(ax)[-1]
    assert last.startswith("output of query 1, feature 0:") and last.endswith(f"= {output[1, 0]:.2f}")
    assert all(f"{w:.2f}".lstrip("0").rstrip("0") in "".join(written(ax)) for w in weights[1].tolist())
    assert "1 of them are masked" in ax.get_label()


def test_a_row_in_which_everything_is_hidden():
    ax = attention_flow(Q, K, V, torch.zeros(2, 3, dtype=torch.bool))
    assert written(ax)[-1].endswith("nothing may be looked at: 0")


def test_batch_and_heads_are_a_stack_of_which_the_first_is_drawn():
    many = [torch.stack([x, x + 1]).expand(3, -1, -1, -1) for x in (Q, K, V)]
    assert written(attention_flow(*many))[-1] == written(attention_flow(Q, K, V))[-1]
    assert any("(3, 2, 2, 3)" in text for text in written(attention_flow(*many)))


def test_nan_and_infinity_are_written_as_such():
    ax = attention_flow(Q.where(Q != 8, torch.nan), K, V)
    assert "NAN" in written(ax)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"key": K[:, :1]}, "equally many features"),
        ({"value": V[:2]}, "equally many rows"),
        ({"queries": ["one"]}, r"queries \(1\)"),
        ({"follow": (2, 0)}, r"follow \(2, 0\)"),
        ({"query": Q[0]}, r"query has shape \(2,\)"),
    ],
)
def test_what_does_not_fit(as_a_user, changed, said):
    with pytest.raises(ValueError, match=said):
        attention_flow(**({"query": Q, "key": K, "value": V} | changed))


def test_a_mask_of_numbers(as_a_user):
    with pytest.raises(TypeError, match=r"mask has dtype torch.float32; expected torch.bool"):
        attention_flow(Q, K, V, torch.ones(2, 3))

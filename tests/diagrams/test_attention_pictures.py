"""Attention drawn: its flow, roles, heads, masks and cache show the numbers of PyTorch and of the library."""

import math

import pytest
import torch
import torch.nn.functional as F
from matplotlib.patches import Rectangle

from course_utils.diagrams import (
    attention_flow,
    attention_lines,
    cache_strip,
    cache_strips,
    head_maps,
    head_wiring,
    head_wirings,
    mask_gallery,
    masked_weights,
    running_softmax,
    shifted_targets,
    three_roles,
)
from course_utils.diagrams.formatting import number
from course_utils.masks import causal_mask, padding_mask


def written(ax):
    return [text.get_text() for text in ax.texts]


Q, K, V = (
    torch.tensor([[8.0, 0.0], [0.0, 1.0]]),
    torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.5, 0.5]]),
    torch.tensor([[8.0], [4.0], [1.0]]),
)


def test_the_numbers_are_those_of_pytorch():
    mask = torch.tensor([[True, True, False], [True, True, True]])
    ax = attention_flow(Q, K, V, mask, follow=(1, 0))
    weights = torch.softmax((Q @ K.T / math.sqrt(2)).masked_fill(~mask, -torch.inf), dim=-1)
    output = F.scaled_dot_product_attention(Q[None], K[None], V[None], attn_mask=mask)[0]
    last = written(ax)[-1]
    assert last.startswith("output of query 1, feature 0:") and last.endswith(f"≈ {output[1, 0]:.2f}")
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


def test_a_token_in_its_three_roles():
    ax = three_roles(
        torch.tensor([[0.0, 1.0], [1.0, 2.0]]),
        torch.eye(2),
        torch.tensor([[0.0, 1], [1, 0]]),
        torch.tensor([[3.0], [1.0]]),
        tokens=["a", "b"],
        follow=1,
    )
    assert "“b” asks with (1, 2), is found by (2, 1) and hands over 5" in written(ax)


def test_it_ends_with_the_softmax_over_all_keys():
    scores, values = torch.randn(7, generator=torch.Generator().manual_seed(0)), torch.arange(7.0)
    expected = float(torch.softmax(scores, 0) @ values)
    for block in (1, 2, 3, 7):
        texts = written(running_softmax(scores, values, block))
        assert f"o / s = {number(expected)}" in texts and f"block {-(-7 // block)}" in texts


def test_the_old_sums_shrink_when_the_maximum_rises():
    ax = running_softmax(torch.tensor([1.0, 3, 12, 4]).log(), torch.tensor([4.0, 8, 16, 0]), 2)
    assert "shrink\n× 0.25" in written(ax) and {"9.3", "2.3", "18"} <= set(written(ax))  # o before, shrunk, at the end
    assert "after block 1: m = 1.1, s = 1.33, o = 9.33; after block 2: m = 2.48, s = 1.67, o = 18.3" in ax.get_label()


def face(ax, text):
    """The colors of the cells in which a text is written."""
    places = [t.get_position() for t in ax.texts if t.get_text() == text]
    cells = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_facecolor()[3] and p.get_zorder() == 4]
    return {c.get_facecolor() for c in cells for x, y in places if c.get_x() < x < c.get_x() + c.get_width()
            and c.get_y() < y < c.get_y() + c.get_height()}  # fmt: skip


def darkness(ax, text):
    return min(3 - sum(color[:3]) for color in face(ax, text))


def test_numbers_of_one_unit_have_one_scale_of_shades():
    ax = running_softmax(torch.tensor([1.0, 3, 12, 4]).log(), torch.tensor([4.0, 8, 16, 0]), 2)
    assert darkness(ax, "0") < darkness(ax, "1.1") < darkness(ax, "1.4") < darkness(ax, "2.5")  # scores of both blocks
    assert darkness(ax, "8") < darkness(ax, "16")  # values of both
    assert darkness(ax, "2.3") < darkness(ax, "9.3") < darkness(ax, "18")  # what is kept of o
    ax = attention_flow(torch.eye(2), torch.eye(2), torch.tensor([[6.0], [3.5]]))
    assert darkness(ax, "3.5") < darkness(ax, "5.2") < darkness(ax, "6")  # 5.2 and 4.3 are outputs
    ax = three_roles(torch.tensor([[1.0, 2.0]]), torch.eye(2)[:1].T, torch.eye(2)[1:].T, torch.tensor([[2.5], [4.0]]))
    assert darkness(ax, "2") < darkness(ax, "10")  # a key of 2 beside a value of 10


def test_a_line_for_each_weight_that_can_be_seen():
    weights = torch.tensor([[[0.99, 0.01, 0.0], [0.3, 0.3, 0.4]], [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]])  # (H, L_q, L_k)
    ax = attention_lines(weights, ["x", "y"], ["a", "b", "c"])
    assert len(ax.lines) == 4 + 3
    assert max(line.get_linewidth() for line in ax.lines) == ax.lines[4].get_linewidth()
    assert "head 1 most of all from 'x' to 'b'" in ax.get_label()


@pytest.mark.parametrize(
    ("heads", "kv", "kind"), [(4, None, "Multi-head"), (8, 2, "Grouped-query"), (6, 1, "Multi-query")]
)
def test_each_query_head_has_one_line(heads, kv, kind):
    ax = head_wiring(heads, kv)
    assert ax.get_label().startswith(kind) and len(ax.lines) == heads
    ends = {line.get_xdata()[1] for line in ax.lines}
    assert len(ends) == (kv or heads)


def test_what_is_computed_is_counted():
    words = ["a", "b", "c", "d", "e"]
    assert "keys and values of 4 positions" in cache_strip(words, 2).get_label()  # 2 + 1 + 1
    assert "keys and values of 9 positions" in cache_strip(words, 2, cached=False).get_label()  # 2 + 3 + 4


def test_both_strips_begin_with_the_same_prompt():
    label = cache_strips(["a", "b", "c", "d", "e"], 2).get_label()
    assert "Without a cache keys and values of 9 positions" in label and "With a cache keys and values of 4" in label


def test_three_layers_side_by_side_have_their_own_keys_and_values():
    ax = head_wirings(6, [6, 2, 1])
    assert len(ax.lines) == 3 * 6 and len({line.get_xdata()[1] for line in ax.lines}) == 6 + 2 + 1
    for kind in ("multi-head attention, 1 query", "grouped-query attention, 3 query", "multi-query attention, 6 query"):
        assert kind in ax.get_label()


def test_pairs_are_counted_and_batch_and_heads_give_their_first():
    mask = padding_mask(torch.tensor([[5, 6, 0], [5, 0, 0]]), 0)
    alt = mask_gallery(["a", "b", "<pad>"], {"padding": mask, "causal": causal_mask(3)}).get_label()
    assert "padding: 6 of 9 pairs; causal: 6 of 9 pairs" in alt


def hatched(ax):
    return sum(bool(patch.get_hatch()) for patch in ax.patches)


def test_what_a_mask_hides_is_hatched_in_scores_keys_and_values():
    some, none = torch.tensor([[True, True, False], [True, True, True]]), torch.tensor([[True, True, False]] * 2)
    assert hatched(attention_flow(Q, K, V)) == 0
    assert hatched(attention_flow(Q, K, V, some)) == 1 + 1  # a score and a weight; one query sees the key
    assert hatched(attention_flow(Q, K, V, none)) == 2 + 2 + K.shape[1] + V.shape[1]


def test_values_and_the_output_share_one_scale_and_hidden_values_have_no_say():
    values = torch.tensor([[10.0], [30.0], [80.0]])
    for mask in (None, torch.tensor([[True, True, False]])):
        ax = attention_flow(torch.ones(1, 1), torch.zeros(3, 1), values, mask)
        at = {text.get_text(): text for text in ax.texts}
        boxes = {tuple(p.get_xy()): p for p in ax.patches if p.get_zorder() == 4}

        def shade(number, at=at, boxes=boxes):
            x, y = at[number].get_position()
            near = min(boxes, key=lambda xy: abs(xy[0] + 0.17 - x) + abs(xy[1] + 0.17 - y))
            return sum(boxes[near].get_facecolor()[:3])

        assert shade("10") > shade("40" if mask is None else "20") > shade("80" if mask is None else "30")


WORDS = "the cat sat on the mat".split()


@pytest.mark.parametrize(("diagonal", "seen"), [(0, "no row sees"), (1, "4 of 5 rows see their"), (-1, "no row sees")])
def test_rows_that_see_their_own_answer_are_counted_and_red(diagonal, seen):
    mask = torch.ones(5, 5).tril(diagonal).bool()
    ax = shifted_targets(WORDS, {"mask": mask}, row=2)
    assert f"{seen} {'its' if seen.startswith('no') else ''}".strip() in ax.get_label()
    marks = [text for text in ax.texts if text.get_text() == "!"]
    assert len(marks) == max(diagonal, 0) * 4
    bold = [text.get_text() for text in ax.texts if text.get_weight() == "bold" and text.get_text() in WORDS]
    assert bold == (WORDS[1:5] if diagonal == 1 else [])


def test_the_framed_row_says_what_it_sees_and_is_asked_for():
    texts = written(shifted_targets(WORDS, {"causal": torch.ones(5, 5).tril().bool()}, row=2))
    assert "“sat” sees 3: the, cat, sat" in texts and "and is asked for “on”" in texts


def test_weights_under_a_mask_are_hatched_where_it_hides_and_say_what_lies_ahead():
    masks = {"causal": causal_mask(3), "open": torch.ones(3, 3).bool()}
    weights = {name: (mask.reshape(3, 3) / mask.reshape(3, 3).sum(-1, keepdim=True)) for name, mask in masks.items()}
    ax = masked_weights(["a", "b", "c"], weights, masks)
    assert hatched(ax) == 3 and "causal: 3 of 9 pairs are hidden, 0% of the weight lies ahead" in ax.get_label()
    assert "open: 0 of 9 pairs are hidden, 33% of the weight lies ahead" in ax.get_label()
    with pytest.raises(ValueError, match="the same names"):
        masked_weights(["a", "b", "c"], weights, {"causal": masks["causal"]})


def test_maps_of_heads_share_one_scale_and_frame_what_is_asked_for():
    weights, framed = torch.tensor([[[0.5, 0.5], [0.0, 1.0]], [[0.25, 0.75], [0.5, 0.5]]]), torch.eye(2).bool()
    ax = head_maps(weights, ["a", "b"], ["x", "y"], framed)
    assert "head 0 most of all from 'b' to 'y', 75% inside the frames" in ax.get_label()
    assert "head 1 most of all from 'a' to 'y', 38% inside the frames" in ax.get_label()
    cells = [patch for patch in ax.patches if patch.get_zorder() == 4]
    frames = [patch for patch in ax.patches if patch.get_zorder() == 6]
    assert len(cells) == 8 and len(frames) == 4
    faces = [cell.get_facecolor() for cell in cells]
    assert (
        faces[0] == faces[1] == faces[6] and faces[2] == (1, 1, 1, 1) and sum(faces[3]) < sum(faces[5]) < sum(faces[4])
    )
    with pytest.raises(ValueError, match="at most 8 heads of 12 tokens"):
        head_maps(torch.ones(1, 13, 2), list("abcdefghijklm"), ["x", "y"])

"""Every diagram at every size: nothing overlaps, nothing is too small to be read, nothing lies outside, and it has a text."""

import functools
import itertools

import pytest
import torch
from gallery import PICTURES, SIZES
from matplotlib.colors import to_rgb
from torch import nn

from course_utils import diagrams
from course_utils.diagrams.__main__ import readme_picture
from course_utils.diagrams.palette import COLORS, PAGE
from course_utils.masks import causal_mask

LEAST_POINTS = 8.0
TOUCHING = 0.012  # inches by which two boxes of letters may overlap: their boxes are larger than they are
drawn = functools.cache(lambda name, size: PICTURES[name](size))
cases = pytest.mark.parametrize(("name", "size"), list(itertools.product(PICTURES, SIZES)))


@cases
def test_letters_can_be_read(name, size):
    ax = drawn(name, size)
    figure = ax.figure
    renderer, width = figure.canvas.get_renderer(), figure.get_size_inches()[0]
    texts = [text for text in ax.texts if text.get_text().strip()]
    assert texts
    for text in texts:
        shrunk = text.get_fontsize() * min(1.0, PAGE / width)
        assert shrunk >= LEAST_POINTS - 0.05, (
            f"{text.get_text()!r}: {shrunk:.1f} points on a page ({width:.1f} inches wide)"
        )
    boxes = [(text, text.get_window_extent(renderer)) for text in texts]
    for text, box in boxes:
        assert figure.bbox.x0 - 2 <= box.x0 and box.x1 <= figure.bbox.x1 + 2, f"{text.get_text()!r} is cut"
        assert figure.bbox.y0 - 2 <= box.y0 and box.y1 <= figure.bbox.y1 + 2, f"{text.get_text()!r} is cut"
    slack = TOUCHING * figure.dpi
    for (first, a), (second, b) in itertools.combinations(boxes, 2):
        wide, tall = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if first.get_rotation() or second.get_rotation():
            continue  # the boxes of slanted words overlap where the words do not
        assert wide <= slack or tall <= slack, f"{first.get_text()!r} over {second.get_text()!r}"


@cases
def test_it_says_in_words_what_it_shows(name, size):
    alt = drawn(name, size).get_label()
    assert len(alt.split()) >= 10 and "None" not in alt and "tensor(" not in alt


@pytest.mark.parametrize("name", PICTURES)
def test_it_is_drawn_twice_alike(name):
    first, second = drawn(name, "middle"), PICTURES[name]("middle")
    assert [text.get_text() for text in first.texts] == [text.get_text() for text in second.texts]


def test_query_key_and_value_are_told_apart_without_green_or_red():
    """In the colors that are left to readers who cannot tell red from green: blue-yellow and lightness."""
    seen = {}
    for role in ("query", "key", "value"):
        red, green, blue = to_rgb(COLORS[role])
        yellow = (red + green) / 2
        seen[role] = (yellow - blue, 0.3 * red + 0.6 * green + 0.1 * blue)
    for a, b in itertools.combinations(seen.values(), 2):
        assert max(abs(x - y) for x, y in zip(a, b, strict=True)) > 0.1, seen


def test_every_role_has_its_color_and_its_word():
    alt = diagrams.legend().get_label()
    assert all(role in alt for role in COLORS if role not in ("plain", "mask")) and "hidden by a mask" in alt


def test_the_road_map_has_every_lesson_and_says_where_you_are(root):
    lessons = sorted((root / "sources" / "lessons").glob("[0-9][0-9]_*.py"))
    road_map = diagrams.road_map(7)
    headings = [text.get_text() for text in road_map.texts if text.get_text()[:2].isdigit()]
    assert [heading[:2] for heading in headings] == [path.name[:2] for path in lessons]
    assert "You are in lesson 07" in road_map.get_label()


def test_the_picture_of_the_readme_is_the_one_that_is_drawn(root):
    assert "“apple” looks most at “red”, weight 0.96" in readme_picture().get_label()
    assert "0.96" in (root / "README.md").read_text(encoding="utf-8")
    assert 0 < (root / "docs" / "attention_flow.png").stat().st_size < 300_000


Q, K, V = torch.eye(2), torch.ones(3, 2), torch.ones(3, 1)
WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.05, 0.85]])


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("draw", "arguments", "message"),
    [
        ("attention_flow", (Q, K[:, :1], V), "equally many features"),
        ("attention_flow", (Q, K, V[:2]), "equally many rows"),
        ("attention_flow", (Q[0], K, V), r"query has shape \(2,\)"),
        ("attention_flow", (torch.zeros(0, 2), K, V), "at least one of each"),
        ("attention_lines", (torch.ones(9, 1, 1), ["a"], ["a"]), "at most 8 heads"),
        ("attention_lines", (torch.ones(2, 2, 1), ["a"], ["a"]), r"queries \(1\) must be one for each of the 2"),
        ("attention_lines", (torch.ones(2, 1, 1), ["a"], ["a"], ["one"]), r"names \(1\)"),
        ("beam_tree", ([],), "steps is empty"),
        ("chunked_forms", (25,), r"length \(25\) must be at most 24"),
        ("chunked_forms", (4, 0), r"chunk_size \(0\)"),
        ("state_write", (torch.zeros(2, 3), torch.zeros(3), torch.zeros(3)), r"key has shape \(3,\).*must be \(2,\)"),
        ("state_write", (torch.zeros(5, 3), torch.zeros(5), torch.zeros(3)), "at most 3 rows and columns"),
        ("recomputed_block", (4, 1, 2), r"row \(1\) and column \(2\)"),
        ("recomputed_block", (7, 0, 0), r"blocks \(7\) at most 6"),
        ("tensor_parallel", (10, 5, 5), r"num_heads \(10\) must be at most 4"),
        ("tensor_parallel", (4, 2, 1), r"P \(1\) at least 2"),
        ("tensor_parallel", (4, 2, 3), r"P \(3\)"),
        ("window_places", (["a"] * 13, [(1, 0), (2, 0)]), r"tokens \(13\) times caches \(2\)"),
        ("window_places", (["a", "b"], [(2, 1)]), r"window \(2\).*sinks \(1\).*at most 2"),
        ("areas", (torch.ones(2), {"b": torch.zeros(2)}), r"others \(b\) must hold vectors that are not zero"),
        ("cache_strip", (["a", "b"], 2), r"prompt \(2\)"),
        ("clock_hands", ([1], 3), r"d \(3\) must be even"),
        ("induction", (list("qfwa"),), "letters must end with one that came before; 'a' did not"),
        ("induction", (list("abcdefgha"),), r"letters \(9\) must be 2 to 8"),
        ("growing_paths", ({}, 3), "panels is empty"),
        ("growing_paths", ({"a": (lambda node: set(), [(0, 0), (1, 1)])}, 2), "way of 'a' must follow the arrows"),
        ("cache_strips", (["a", "b"], 2), r"prompt \(2\)"),
        ("head_wirings", (7, [1]), "at most 3 layers of 6 heads"),
        ("head_wiring", (8, 3), r"num_kv_heads \(3\) must divide num_heads \(8\)"),
        ("lookup", (Q, torch.zeros(4, 2).long(), ["a", "b"]), "at most 3 sentences"),
        (
            "mask_gallery",
            (["a", "b", "c"], {"m": torch.ones(2, 2).bool()}),
            r"masks\['m'\] has shape \(2, 2\); it must broadcast to \(3, 3\)",
        ),
        ("mask_gallery", (["a"] * 17, {"m": causal_mask(17)}), r"tokens \(17\)"),
        ("mask_gallery", (["a"], {}), "masks is empty"),
        ("matmul", (K, K), "as many columns"),
        ("shifted_targets", (["a", "b"], {"m": causal_mask(1)[0, 0]}, 1), r"row \(1\)"),
        ("shifted_targets", (["a"], {}, 0), r"tokens \(1\) must be 2 to 11"),
        ("shifted_targets", (["a", "b"], {"m": causal_mask(2)[0, 0]}, 0), r"masks\['m'\] has shape \(2, 2\)"),
        ("projection", (torch.ones(2), torch.zeros(2)), "b is zero"),
        ("projection", (torch.ones(3), torch.ones(2)), r"a has shape \(3,\)"),
        ("reshape", (torch.ones(2, 3, 4), 24), "one or two axes"),
        ("residual_stream", (nn.Sequential(nn.Linear(3, 3)), (K.T,)), "no layers with an attention"),
        ("road_map", (16,), "0 to 15"),
        ("rotation", (torch.ones(2), torch.ones(2), []), "places is empty"),
        ("rotation", (torch.zeros(2), torch.ones(2), [(0, 0)]), "not both zero"),
        ("running_softmax", (torch.ones(3), torch.ones(2), 1), "equal length"),
        ("running_softmax", (torch.ones(3), torch.ones(3), 4), r"block \(4\) must be at least 1"),
        ("split_merge", (torch.ones(2, 6), 4), r"num_heads \(4\) must divide d_model \(6\)"),
        ("three_roles", (Q, Q, torch.ones(3, 2), Q), "the matrix of the key"),
        ("unrolled", ("ab", "XY", WEIGHTS), r"weights has shape \(2, 3\); expected \(L_t, L_s\) = \(2, 2\)"),
        ("unrolled", ("a" * 11, "X"), r"source \(11\)"),
        ("word_map", (torch.ones(1, 3), ["a"]), r"words \(1\)"),
    ],
)
def test_what_does_not_fit(draw, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(diagrams, draw)(*arguments)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: diagrams.attention_flow(Q, K, V, queries=["one"]), ValueError, r"queries \(1\)"),
        (lambda: diagrams.attention_flow(Q, K, V, follow=(2, 0)), ValueError, r"follow \(2, 0\)"),
        (lambda: diagrams.attention_flow([1], K, V), TypeError, r"query \(list\) must be a tensor"),
        (
            lambda: diagrams.attention_flow(Q, K, V, K.T),
            TypeError,
            r"mask has dtype torch.float32; expected torch.bool",
        ),
        (lambda: diagrams.induction("qfq", before=Q), ValueError, r"before has shape \(2, 2\); expected \(L=3, L=3\)"),
        (lambda: diagrams.induction("qfq", copying=Q), ValueError, r"copying has shape \(2, 2\)"),
        (lambda: diagrams.matmul(Q, Q, follow=(0, 2)), ValueError, "must be a cell"),
        (lambda: diagrams.unrolled("abc", "XY", WEIGHTS, at=2), ValueError, r"at \(2\)"),
        (lambda: diagrams.unrolled("abc", "XY", WEIGHTS, phase="sing"), ValueError, "phase"),
        (lambda: diagrams.word_map(Q, ["a", "b"], near=[("a", "x")]), ValueError, r"near \('a', 'x'\)"),
    ],
)
def test_options_that_do_not_fit(draw, error, message):
    with pytest.raises(error, match=message):
        draw()

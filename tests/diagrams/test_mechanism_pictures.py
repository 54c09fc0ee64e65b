"""Operations, vectors, beams and recurrence drawn: the numbers in them are those of the library."""

import math
from dataclasses import replace

import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Polygon

from course_utils import diagrams
from course_utils.diagrams import Beam
from course_utils.diagrams.palette import COLORS
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.multi_head import MultiHeadAttention, split_heads
from course_utils.positions import RotaryPositions, SinusoidalPositions


def written(ax):
    return [text.get_text() for text in ax.texts]


def test_a_cell_of_a_product_is_worked_out():
    a, b = torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[4.0, 0.0, 1.0], [1.0, -1.0, 2.0]])
    assert "row 1 with column 1:  0 · 0 + 3 · (−1) = −3" in written(diagrams.matmul(a, b, follow=(1, 1)))


def test_the_two_sides_of_a_product_share_one_color_scale():
    ax = diagrams.matmul(torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[2.0, 1.0], [1.0, -2.0]]))
    cells = [patch for patch in ax.patches if patch.get_linewidth() == 0.6]
    (_, two, _, _), (same, _, _, _) = ([cell.get_facecolor() for cell in cells[at : at + 4]] for at in (0, 8))
    assert two == same  # the 2 of the left matrix and that of the matrix above


def test_reshape_keeps_the_order_and_the_colors_of_the_rows():
    ax = diagrams.reshape(torch.arange(1.0, 7).view(2, 3), 3, 2)
    assert [text for text in written(ax) if text.isdigit()] == [str(n) for n in range(1, 7)] * 2
    colors = [patch.get_facecolor() for patch in ax.patches if patch.get_linewidth() == 0.8]
    assert colors[:6] == colors[6:] and [colors.index(color) for color in colors[:6]] == [0, 0, 0, 3, 3, 3]


def test_the_heads_get_what_the_library_gives_them():
    x = torch.arange(1.0, 13).view(2, 6)
    numbers = [int(text) for text in written(diagrams.split_merge(x, 3)) if text.isdigit()]
    heads = split_heads(x[None], 3)[0].flatten().int().tolist()
    assert numbers[12:-12] == heads and numbers[:12] == numbers[-12:] == x.flatten().int().tolist()


def test_multi_head_attention_whole_is_what_the_layer_does():
    torch.manual_seed(0)
    layer, x, memory = MultiHeadAttention(12, 3), torch.randn(4, 12), torch.randn(5, 12)
    ax = diagrams.multi_head(layer, x, memory, list("abcd"), list("vwxyz"))
    output, weights = (t[0].detach() for t in layer(x[None], memory[None], memory[None], return_weights=True))
    shown = [torch.tensor(image.get_array().tolist()) for image in ax.images]
    q, k = (split_heads(made[None], 3)[0].detach() for made in (layer.q_proj(x), layer.k_proj(memory)))
    assert torch.allclose(shown[0], x) and torch.allclose(shown[1], memory)
    assert torch.allclose(torch.stack(shown[2:5]), q) and torch.allclose(torch.stack(shown[5:8]), k)
    assert torch.allclose(sum(shown[-4:-1]) + layer.o_proj.bias, output, atol=1e-6)
    assert torch.allclose(shown[-1], output, atol=1e-6)
    assert ax.images[-1].get_clim() == ax.images[-2].get_clim()
    strongest = ", ".join(f"{'abcd'[i]} at {'vwxyz'[int(weights[2, i].argmax())]}" for i in range(4))
    assert f"head 2 looks most {strongest}." in ax.get_label()


@pytest.mark.parametrize(
    ("options", "length", "message"),
    [({"num_kv_heads": 1}, 3, "keys and values of its own"), ({}, 7, "query and memory have 7 and 7 tokens")],
)
def test_what_does_not_fit_on_the_picture_of_heads_is_refused(options, length, message):
    x = torch.zeros(length, 8)
    with pytest.raises(ValueError, match=message):
        diagrams.multi_head(MultiHeadAttention(8, 2, **options), x, x)


def test_every_token_gets_its_row():
    table, ids = torch.tensor([[1.0, 2], [3, 4], [5, 6]]), torch.tensor([[2, 1], [1, 0]])
    ax = diagrams.lookup(table, ids, ["<pad>", "sing", "birds"], follow=(0, 1))
    numbers = [text for text in written(ax) if text.isdigit()]
    assert numbers == "1 2 3 4 5 6 2 1 5 6 3 4 1 0 3 4 1 2".split()
    assert "'sing', id 1, picks row 1" in ax.get_label()


def test_the_rows_of_a_table_have_their_ids():
    ax = diagrams.lookup(torch.eye(3), torch.tensor([[2, 1]]), ["<pad>", "sing", "birds"])
    assert {"<pad> 0", "sing 1", "birds 2"} <= set(written(ax))


def test_a_way_is_drawn_and_its_arrows_are_counted():
    def chain(node):
        return {(1, node[0] + node[1])} if node[0] + node[1] < 4 else set()

    def star(node):
        return {(node[0] + 1, i) for i in range(4)}

    chained = [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)]
    ax = diagrams.growing_paths({"chain": (chain, chained), "star": (star, [(0, 0), (1, 3)])}, 4)
    assert {"4 arrows", "1 arrow"} <= set(written(ax)) and "chain by 4 arrows; star by 1 arrow" in ax.get_label()
    filled = [patch for patch in ax.patches if isinstance(patch, Circle) and patch.get_facecolor() != (1, 1, 1, 1)]
    assert len(filled) == 5 + 5 and len(ax.lines) == 3  # of the star three arrows lead elsewhere


def test_what_cannot_be_seen_stays_white_and_all_maps_have_one_scale():
    shares = {"itself": torch.eye(4), "all": torch.full((4, 4), 0.25)}
    ax = diagrams.influence_maps(shares)
    maps = [one.images[0] for one in ax.figure.axes if one.images]
    assert [int(image.get_array().mask.sum()) for image in maps] == [12, 0]
    assert {image.get_clim() for image in maps} == {(0.0, 1.0)}
    assert "itself, 12 of 16 cells exactly 0; all, 0 of 16" in ax.get_label()


def test_what_rises_is_told_from_what_is_level():
    ax = diagrams.cost_lines([1, 10, 20], {"GRU": [6.0, 6.0, 6.0], "attention": [4.0, 6.0, 8.0]})
    level, rising = ax.lines
    assert level.get_color() != rising.get_color() and rising.get_label() == "attention"
    assert written(ax) == ["GRU"] and "GRU 6 to 6; attention 4 to 8" in ax.get_label()


def test_shadow_times_length_is_the_dot_product():
    alt = diagrams.projection(torch.tensor([3.0, 4.0]), torch.tensor([2.0, 0.0])).get_label()
    assert "a · b = 6" in alt and "shadow of a 3 × length of b 2" in alt and "angle 53°, cosine 0.6" in alt
    assert "a · b = 0" in diagrams.projection(torch.zeros(2), torch.tensor([2.0, 0.0])).get_label()


@pytest.mark.parametrize("a", [(2.0, 3.0), (-2.0, -3.5), (3.0, -1.0)])
def test_the_area_is_the_dot_product_and_the_angle_is_right(a):
    a, b = torch.tensor(a), torch.tensor([1.0, 4.0])
    ax = diagrams.projection(a, b)
    (rectangle,) = [patch for patch in ax.patches if isinstance(patch, Polygon)]
    start, foot, _, last = rectangle.get_xy()[:4]
    unit = math.dist(start, last) / float(b.norm())  # inches
    area = math.dist(start, foot) * math.dist(start, last) / unit**2
    assert math.isclose(area, abs(float(a @ b)), rel_tol=1e-4)
    tip = [s + unit * float(x) for s, x in zip(start, a, strict=True)]
    falls, along = [[p - f for p, f in zip(point, foot, strict=True)] for point in (tip, start)]
    assert abs(sum(x * y for x, y in zip(falls, along, strict=True))) < 1e-4
    assert bool(rectangle.get_hatch()) == (float(a @ b) < 0)


def test_areas_are_on_one_scale():
    ax = diagrams.areas(torch.tensor([2.0, 3.0]), {"b": torch.tensor([1.0, 4.0]), "long": torch.tensor([40.0, 0.0])})
    boxes = [patch.get_extents().size for patch in ax.patches]
    assert math.isclose(boxes[1].prod() / boxes[0].prod(), 80 / 14, rel_tol=1e-4)
    assert "with long 2 × 40 = 80" in ax.get_label()


def test_the_dot_product_follows_from_the_distance_as_in_the_library():
    query, key, places = torch.tensor([1.0, 0.4]), torch.tensor([0.8, 0.9]), [(3, 1), (9, 7), (5, 0)]
    # a head of two features turns by one radian a position
    alt = diagrams.rotation(query, key, places, frequency=1.0).get_label()
    rotary = RotaryPositions(2)
    for m, n in places:
        score = float(rotary(query.view(1, 1, 1, 2), m) @ rotary(key.view(1, 1, 1, 2), n).mT)
        assert f"query at {m}, key at {n}: {score:.2f}".rstrip("0").replace("-", "−") in alt
    assert alt.count(": 0.82") == 2 or len(set(alt.split("; ")[1:3])) == 2


def test_a_map_shows_the_directions_in_which_words_differ():
    vectors = torch.zeros(4, 9)
    vectors[:, 3] = torch.tensor([-1.0, 1.0, -1.0, 1.0])
    vectors[:, 7] = torch.tensor([-0.5, -0.5, 0.5, 0.5])
    ax = diagrams.word_map(vectors, ["a", "b", "c", "d"], near=[("a", "b")])
    assert "(100% of the variance)" in ax.get_label() and "Joined: a and b" in ax.get_label()
    centers = [patch.center for patch in ax.patches]
    assert math.isclose(math.dist(centers[0], centers[1]), math.dist(centers[2], centers[3]))


def test_no_word_of_a_map_lies_on_another_or_on_a_dot():
    vectors = torch.tensor([[0.0, 0.0], [0.06, 0.0], [0.0, 0.08], [4.0, 0.0], [4.05, 0.05], [0.0, 2.0]])
    ax = diagrams.word_map(vectors, ["tuple", "set", "nan", "finally", "raise", "int"], near=[("tuple", "finally")])
    renderer = ax.figure.canvas.get_renderer()
    words = [text.get_window_extent(renderer) for text in ax.texts if text.get_text().isalpha()]
    dots = [patch.get_window_extent(renderer) for patch in ax.patches]
    assert len(words) == 6
    assert not any(one.overlaps(other) for i, one in enumerate(words) for other in words[i + 1 :])
    assert not any(one.overlaps(dot) for one in words for dot in dots)


def test_a_word_far_from_its_dot_is_tied_to_it_by_a_line():
    spots = {"middle": (0.0, 0.0), "right": (0.3, 0.0), "left": (-0.3, 0.0), "up": (0.0, 1.9), "down": (0.0, -1.9)}
    spots |= {"a": (-3.3, 0.15), "b": (3.3, 0.15), "c": (-3.3, -0.15), "d": (3.3, -0.15)}  # inches: two lines close by
    ax = diagrams.word_map(torch.tensor(list(spots.values())), list(spots), near=[("a", "b"), ("c", "d")])
    assert "middle" in [text.get_text() for text in ax.texts]
    dot = ax.patches[0].center
    assert any(abs(line.get_xdata()[0] - dot[0]) < 1e-6 and len(ax.lines) == 3 for line in ax.lines)


def test_hands_point_where_the_library_says():
    ax = diagrams.clock_hands([0, 3], 4)
    x = torch.zeros(1, 4, 4)
    sine, cosine = SinusoidalPositions(4, 4)(x)[0, 3, 2:]  # pair 1 at position 3: the last hand drawn
    hand = ax.patches[-1]
    start, end = hand._posA_posB
    turned = math.atan2(end[0] - start[0], end[1] - start[1])
    assert math.isclose(turned, math.atan2(sine, cosine), abs_tol=1e-5)
    assert "turned by 172, 2 degrees" in ax.get_label()


STEPS = [
    [
        Beam(("K",), math.log(0.5), True),
        Beam(("S",), math.log(0.25), True),
        Beam(("T",), math.log(0.1), False),
    ],
    [
        Beam(("K", "AE"), math.log(0.2), True),
        Beam(("S", "end"), math.log(0.24), True, ended=True),
        Beam(("K", "EY"), math.log(0.01), False),
    ],
]


def test_each_hypothesis_is_joined_with_what_it_came_from():
    ax = diagrams.beam_tree(STEPS)
    assert len(ax.lines) == 6
    assert "best that ended: S end   p = 0.24" in ax.get_label()


def test_the_most_probable_stands_on_top():
    ax = diagrams.beam_tree(STEPS)
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert heights["end  0.24"] > heights["AE  0.2"] > heights["EY  0.01"]


def test_all_that_were_kept_are_drawn_and_few_others():
    many = [[Beam((str(n),), -float(n), n == 19) for n in range(20)]]
    assert sum(text.get_text().startswith("19") for text in diagrams.beam_tree(many, most=2).texts) == 1
    assert len(diagrams.beam_tree(many, most=2).lines) == 3
    assert [t.get_text() for t in diagrams.beam_tree(many, most=2).texts if "more" in t.get_text()] == [
        "and 17 more, dropped"
    ]
    assert not any("more" in t.get_text() for t in diagrams.beam_tree(many, most=20).texts)


def test_a_search_of_two_misses_what_three_find():
    after = {(): {"X": 0.4, "Y": 0.35, "Z": 0.25}, ("Z",): {"end": 0.95, "X": 0.05}}

    def log_probs(tokens):
        shares = after.get(tokens, {"end": 0.5 if tokens == ("Y",) else 0.4, "X": 0.2})
        return {token: math.log(share) for token, share in shares.items()}

    found = {}
    for size in (1, 2, 3):
        steps = diagrams.looked_at(log_probs, size, max_len=2)
        found[size] = [beam.tokens for beam in steps[-1] if beam.kept and beam.ended]
        assert all(sum(beam.kept for beam in step) <= 2 * size for step in steps)
    assert ("Z", "end") in found[3] and ("Z", "end") not in found[2]
    assert len(diagrams.looked_at(lambda tokens: {"a": -1.0}, 1, max_len=3)) == 3


def test_a_hasty_search_gives_up_what_still_grows():
    after = {(): {"a": 0.55, "b": 0.2, "end": 0.25}, ("a",): {"c": 0.9, "end": 0.1}, ("b",): {"end": 0.9, "c": 0.1}}

    def log_probs(tokens):
        return {token: math.log(p) for token, p in after.get(tokens, {"end": 0.9, "c": 0.1}).items()}

    def ended(steps):
        return [beam.tokens for step in steps for beam in step if beam.ended and beam.kept]

    hasty, patient = diagrams.looked_at(log_probs, 2, hasty=True), diagrams.looked_at(log_probs, 2)
    assert ended(hasty) == [("end",), ("b", "end")] and not hasty[-1][0].kept and hasty[-1][0].log_prob > math.log(0.4)
    assert ended(patient) == [*ended(hasty), ("a", "c", "end")] and len(patient) == 3
    assert hasty[-1][0].growing and not any(beam.growing for step in hasty[:-1] for beam in step)
    ax = diagrams.beam_tree(hasty, most=1)  # what still grew is drawn like nothing that was dropped
    assert "Still growing when the search stopped: a c p = 0.495" in ax.get_label()
    assert any("still growing" in text.get_text() for text in ax.texts)
    solid = [
        patch.get_linestyle() in ("-", "solid") for patch in ax.patches if type(patch).__name__ == "FancyBboxPatch"
    ]
    assert sum(solid) == 1 + sum(beam.kept or beam.growing for step in hasty for beam in step)


WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.05, 0.85]])


def test_look_step_speak():
    pictures = [diagrams.unrolled("abc", "XY", WEIGHTS, at=1, phase=phase) for phase in ("look", "step", "speak")]
    assert [ax.get_label().endswith("Said so far: X Y.") for ax in pictures] == [False, False, True]
    assert all("step 2 looks most at “c” (0.85)" in ax.get_label() for ax in pictures)
    assert len(pictures[0].texts) < len(pictures[2].texts)


def test_a_line_is_as_thick_as_its_weight():
    lines = sorted(line.get_linewidth() for line in diagrams.unrolled("abc", "XY", WEIGHTS, at=0, phase="look").lines)
    assert lines == pytest.approx([0.6 + 5 * w for w in (0.1, 0.2, 0.7)])


def test_the_context_lies_between_and_reaches_the_new_state_after_the_look():
    looks, steps = (diagrams.unrolled("abc", "XY", WEIGHTS, at=1, phase=phase) for phase in ("look", "step"))
    assert "c2" in written(looks) and "s2" not in written(looks)
    arrows = [sum(type(patch).__name__ == "FancyArrowPatch" for patch in ax.patches) for ax in (looks, steps)]
    assert arrows[1] == arrows[0] + 1


def test_without_attention_one_vector_is_handed_on():
    ax = diagrams.unrolled("abc", "XY", at=1)
    assert "one vector, the last state of each direction" in ax.get_label()
    assert {"summary", "s0", "s1", "s2"} <= set(written(ax))
    from_summary = [patch for patch in ax.patches if to_hex(patch.get_edgecolor()) == COLORS["key"].lower()]
    arrows = [patch for patch in from_summary if type(patch).__name__ == "FancyArrowPatch"]
    assert len(arrows) == 3  # the first state and every step read it


def test_three_panels_show_one_step():
    ax = diagrams.look_step_speak("abc", "XY", WEIGHTS, at=1)
    words = written(ax)
    assert [words.count(word) for word in ("1  look", "2  step", "3  speak")] == [1, 1, 1]
    assert words.count("h1") == 3 and words.count("s2") == 2 and words.count("Y") == 1  # the new state, then the symbol
    assert "s1 asks" in ax.get_label() and "looks most at “c” (0.85)" in ax.get_label()


def test_the_step_of_a_recurrent_model_has_the_shapes_of_the_run_and_the_state_as_query():
    model = RecurrentSeq2Seq(9, 10, attention=True, d_embed=4, d_hidden=5)
    batch = torch.tensor([[3, 4, 5], [3, 4, 0]]), torch.tensor([[1, 2, 3, 4], [1, 2, 3, 0]])
    ax = diagrams.decoder_step(model, batch)
    words = " ".join(written(ax))
    for shape in ("all states (2, 3, 10)", "summary\n(2, 10)", "(2, 14)", "(2, 19)", "(2, 4, 19)", "logits (2, 4, 10)"):
        assert shape in words
    assert "run 4 times" in words and "next step" in words and "query" in words
    with pytest.raises(ValueError, match="no attention"):
        diagrams.decoder_step(RecurrentSeq2Seq(9, 10, attention=False, d_embed=4, d_hidden=5), batch)


def test_a_model_that_asks_with_another_vector_is_not_drawn_as_if_it_asked_with_its_state():
    class Other(RecurrentSeq2Seq):
        def _step(self, state, embedded):
            joined, after = super()._step(replace(state, hidden=state.hidden + 1), embedded)
            context, _ = self.attention(
                embedded[:, None] @ torch.ones(4, 5), *[state.encoded.states] * 2, state.encoded.mask
            )
            hidden = self.cell(torch.cat((embedded, context[:, 0]), -1), state.hidden)
            return joined, replace(after, hidden=hidden)

    torch.manual_seed(0)
    with pytest.raises(ValueError, match="query is not the state"):
        diagrams.decoder_step(Other(9, 10, attention=True, d_embed=4, d_hidden=5), (torch.ones(1, 2).long(),) * 2)

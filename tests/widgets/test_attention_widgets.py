"""The two widgets that run in the browser: what they refuse and send, and their arithmetic in Node held to PyTorch's."""

import base64
import itertools
import json
import math
import re

import pytest
import torch
import torch.nn.functional as F
from in_node import in_node

from course_utils import attention, widgets
from course_utils.widgets.attention_viewer import Attentions

WORDS = ["the", "red", "apple", "fell"]
ON = {"scaling": True, "masking": True, "softmax": True}


def some(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def weights_of(*shape, seed=0):
    return torch.softmax(2 * some(*shape, seed=seed), dim=-1)


# ---------------------------------------------------------------- what it refuses


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"query": some(2, 2, 4, 3)}, ValueError, r"query has shape \(2, 2, 4, 3\); expected .*query\[0\]"),
        ({"key": some(5)}, ValueError, r"key has shape \(5,\); expected \(L, d\)"),
        ({"value": some(0, 2)}, ValueError, r"value has shape \(0, 2\); expected .* no size 0"),
        ({"value": torch.ones(5, 2).long()}, TypeError, r"value \(torch.int64\) must be .* value.float\(\)"),
        ({"query": [[1.0]]}, TypeError, r"query \(list\) must be a tensor"),
        ({"key": some(5, 2)}, ValueError, r"must agree: query \(4, 3\), key \(5, 2\), value \(5, 2\)"),
        ({"value": some(4, 2)}, ValueError, r"must agree: .*value \(4, 2\)"),
        ({"query": some(2, 4, 3)}, ValueError, r"heads.* must agree: query \(2, 4, 3\)"),
        ({"query": some(65, 3)}, ValueError, r"query has shape \(65, 3\).*at most 48 heads of 64 tokens"),
        ({"value": some(5, 65)}, ValueError, r"value \(5, 65\); at most .*64 features"),
        ({"mask": torch.ones(4, 5)}, TypeError, r"mask has dtype torch.float32; expected torch.bool, True where"),
        ({"mask": torch.ones(5, 4).bool()}, ValueError, r"mask has shape \(5, 4\); .* \(H, L_q, L_k\) = \(1, 4, 5\)"),
        ({"mask": torch.ones(2, 1, 4, 5).bool()}, ValueError, r"mask has shape \(2, 1, 4, 5\); it must broadcast"),
        ({"queries": WORDS[:3]}, ValueError, "queries has 3 texts; expected one for each of the 4 tokens"),
        ({"keys": WORDS}, ValueError, "keys has 4 texts; expected one for each of the 5 tokens"),
    ],
)
def test_errors_name_the_argument_its_value_and_what_is_expected(change, error, words):
    given = {"query": some(4, 3), "key": some(5, 3), "value": some(5, 2)} | change
    with pytest.raises(error, match=words):
        widgets.see_through(**given)


# ---------------------------------------------------------------- what it sends


def test_numbers_that_json_cannot_say_are_sent_as_texts():
    query = torch.tensor([[math.nan, math.inf], [-math.inf, 0.5]])
    data = widgets.see_through(query, some(3, 2), some(3, 1)).data
    assert data["q"] == [[["NaN", "Infinity"], ["-Infinity", 0.5]]]
    json.dumps(data, allow_nan=False)


def test_scores_that_are_not_scaled_at_first():
    query, key, value = some(2, 4), some(3, 4), some(3, 1)
    assert "scaling" not in widgets.see_through(query, key, value).data
    unscaled = widgets.see_through(query, key, value, scaling=False)
    assert unscaled.data["scaling"] is False
    scaled = widgets.see_through(query, key, value)
    assert "× 1 ≈" in unscaled._picture.get_label() and "× 0.5 ≈" in scaled._picture.get_label()


@pytest.mark.parametrize(
    ("mask", "shape"),
    [
        (torch.ones(4, 5), (1, 4, 5)),
        (torch.ones(5), (1, 4, 5)),
        (torch.ones(1, 1, 1, 5), (1, 4, 5)),
        (torch.ones(2, 4, 1), (2, 4, 5)),
        (torch.ones(1, 2, 4, 5), (2, 4, 5)),
    ],
)
def test_a_mask_is_sent_once_or_once_a_head(mask, shape):
    sent = widgets.see_through(some(2, 4, 3), some(2, 5, 3), some(2, 5, 2), mask.bool()).data["mask"]
    assert torch.tensor(sent).shape == shape and torch.tensor(sent).all()


@pytest.mark.usefixtures("as_a_user")
def test_tokens_are_texts_and_places_where_none_are_given():
    data = widgets.see_through(some(2, 3), some(3, 3), some(3, 2), queries=["<b>", 7]).data
    assert data["queries"] == ["<b>", "7"] and data["keys"] == ["0", "1", "2"]


def test_any_floating_point_tensor_will_do_and_stays_as_it_was():
    query = some(2, 3).half().requires_grad_()
    sent = widgets.see_through(query, some(3, 3), some(3, 2)).data["q"]
    torch.testing.assert_close(torch.tensor(sent[0]), query.detach().float())
    assert query.requires_grad and query.dtype == torch.float16


@pytest.mark.parametrize("name", ["see_through", "attention_viewer"])
def test_first_state_is_a_picture_with_words(monkeypatch, name):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **how: shown.append((data, how["metadata"])))
    if name == "see_through":
        widget = widgets.see_through(some(4, 3), some(4, 3), some(4, 2), queries=WORDS, keys=WORDS)
        widget.show_first_state()
        words = ("Q", "K", "(4, 3)", "softmax")
    else:
        widget = widgets.attention_viewer({"self": (weights_of(4, 4), WORDS, WORDS)})
        widget.show_first_state("Four words look at one another.")
        words = ("Four words look at one another.",)
    [(data, metadata)] = shown
    assert data["image/png"].startswith(b"\x89PNG")
    assert all(word in metadata["image/png"]["alt"] for word in words)
    assert repr(widget).startswith("[interactive: ") and "Run this cell" in repr(widget) and len(repr(widget)) < 110


# ---------------------------------------------------------------- the browser's arithmetic


def cases():
    """Random attentions: (query, key, value, mask)."""
    sizes = itertools.product((1, 3), (1, 4, 7), (1, 5), (1, 2))  # L_q, L_k, d_k, d_v
    for seed, (rows, columns, d_k, d_v) in enumerate(sizes):
        q, k, v = some(rows, d_k, seed=seed), some(columns, d_k, seed=seed + 100), some(columns, d_v, seed=seed + 200)
        yield q * 3, k, v, None
        yield q, k, v, some(rows, columns, seed=seed + 300) > 0  # now and then a whole row is masked
    yield 300 * some(3, 5), 300 * some(4, 5), some(4, 2), None  # e to these scores would be infinite
    yield some(3, 5), some(4, 5), some(4, 2), torch.zeros(3, 4).bool()


def computed(found, options=ON):
    given = [[t if t is None else t.tolist() for t in case] for case in found]
    return in_node(
        "see_through.js",
        "given.map(([q, k, v, mask]) => attention(q, k, v, mask, options))",
        given=given,
        options=options,
    )


@pytest.mark.needs("node")
def test_the_output_is_that_of_pytorch():
    given = list(cases())
    assert any(mask is not None and not mask.any(dim=1).all() and mask.any() for *_, mask in given)
    for (q, k, v, mask), found in zip(given, computed(given), strict=True):
        expected = F.scaled_dot_product_attention(q.double()[None], k.double()[None], v.double()[None], mask)[0]
        if mask is not None:
            expected[~mask.any(dim=1)] = 0.0  # the course's rule: who may look at nothing gets nothing
        torch.testing.assert_close(torch.tensor(found["output"]).double(), expected, atol=1e-6, rtol=1e-6)
        weights = attention.masked_softmax(torch.tensor(found["scores"]).double(), mask)
        torch.testing.assert_close(torch.tensor(found["weights"]).double(), weights, atol=1e-6, rtol=1e-6)


@pytest.mark.needs("node")
@pytest.mark.parametrize("off", ["scaling", "masking", "softmax"])
def test_each_switch_takes_out_its_own_step_alone(off):
    q, k, v, mask = some(3, 4), some(5, 4), some(5, 2), some(3, 5) > 0
    [found] = computed([(q, k, v, mask)], ON | {off: False})
    scores = q @ k.T / (1 if off == "scaling" else 2)
    hides = None if off == "masking" else mask
    weights = scores * mask if off == "softmax" else attention.masked_softmax(scores, hides)
    for name, expected in {"scores": scores, "weights": weights, "output": weights @ v}.items():
        torch.testing.assert_close(torch.tensor(found[name]), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.needs("node")
@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("tensor", range(3))
def test_what_is_not_finite_spreads_as_in_pytorch(tensor, bad):
    """A masked key's NaN does not reach the weights, but a masked value's reaches the output: 0 times NaN is NaN."""
    given = [some(3, 4).abs(), some(5, 4).abs(), some(5, 2).abs()]
    given[tensor][1, 0] = bad
    mask = torch.ones(3, 5).bool()
    mask[0, 1] = False
    [found] = computed([(*given, mask)])
    output, weights = attention.scaled_dot_product_attention(*given, mask)
    for name, expected in {"weights": weights, "output": output}.items():
        torch.testing.assert_close(torch.tensor(found[name]), expected, atol=1e-6, rtol=1e-5, equal_nan=True)
    assert not torch.tensor(found["output"]).isfinite().all()


def explained(q, k, v, mask=None, options=ON):
    """For each cell of scores, weights and output: its card, the sentence, its number in words, its sources."""
    data = {"q": q.tolist(), "k": k.tolist(), "v": v.tolist(), "mask": None if mask is None else mask.tolist()}
    data |= {"queries": WORDS[: len(q)], "keys": ["der", "rote", "apfel", "fiel", "herab", "und", "lag"][: len(k)]}
    walk = """((found) => Object.entries({ s: found.scores, w: found.weights, o: found.output }).flatMap(([card, rows]) =>
        rows.flatMap((row, i) => row.map((x, j) => [card, explain(card, i, j, data, found, options), short(x)]))
    ))(attention(data.q, data.k, data.v, data.mask, options))"""
    cells = in_node("see_through.js", walk, data=data, options=options)
    return [(card, cell["sentence"], number, cell["from"]) for card, cell, number in cells]


def as_number(text):
    return float(text.strip("() ").replace("−", "-"))


@pytest.mark.needs("node")
@pytest.mark.parametrize("options", [ON, ON | {"scaling": False}, ON | {"softmax": False}])
@pytest.mark.parametrize("features", [4, 12])
def test_the_written_arithmetic_ends_with_the_number_of_the_cell(options, features):
    cells = explained(some(3, features), some(4, features), some(4, 2), options=options)
    assert len(cells) == 12 + 12 + 6
    for card, sentence, number, _ in cells:
        if card == "w" and not options["softmax"]:
            assert sentence.endswith(f": {number}")
            continue
        assert re.search(rf" [=≈] {number}$", sentence), sentence
        if "…" in sentence:
            continue
        *left, right = re.split(" [=≈] ", sentence.split(": ", 1)[1])
        if card == "w":  # e^0.4 / (e^0.4 + e^1)
            above, below = (
                sum(math.exp(as_number(x)) for x in re.findall(r"e\^(−?[\d.]+)", part)) for part in left[0].split("/")
            )
            assert above / below == pytest.approx(as_number(right), abs=0.02)
        else:
            total = sum(math.prod(map(as_number, term.split(" · "))) for term in left[0].split(" + "))
            if len(left) == 2:  # ..., times 0.5 = ...
                total *= as_number(left[1].split("times")[1])
            assert total == pytest.approx(as_number(right), abs=0.05)


@pytest.mark.needs("node")
def test_a_sum_worked_by_hand():
    assert in_node("see_through.js", "sum([[0.75, 8], [0.25, 4]])") == "0.75 · 8 + 0.25 · 4 = 7"
    assert in_node("see_through.js", "sum([[2, -3], [0.5, 1]])") == "2 · (−3) + 0.5 · 1 = −5.5"
    assert (
        in_node("see_through.js", "sum([[0.959, 8], [0.5, 1]])") == "0.96 · 8 + 0.5 · 1 ≈ 8.17"
    )  # 0.96 · 8 would be 7.68


@pytest.mark.needs("node")
def test_a_cell_names_the_row_and_the_column_that_it_comes_from():
    cells = explained(some(2, 3), some(3, 3), some(3, 2))
    sources = {"s": lambda i, j: [["q", i, None], ["k", None, j]], "w": lambda i, j: [["s", i, None]]}
    sources["o"] = lambda i, j: [["w", i, None], ["v", None, j]]
    places = [(i, j) for width in (3, 3, 2) for i in range(2) for j in range(width)]
    assert [origin for *_, origin in cells] == [sources[cell[0]](*p) for cell, p in zip(cells, places, strict=True)]
    assert cells[0][1].startswith("score of “the” with “der”: ")


@pytest.mark.needs("node")
def test_hidden_cells_say_so():
    cells = explained(some(2, 3), some(3, 3), some(3, 1), torch.tensor([[True, False, True], [False] * 3]))
    sentences = [sentence for _, sentence, *_ in cells]
    assert sentences[1].endswith("The mask hides it.") and sentences[7].endswith("hidden by the mask, so 0")
    assert sentences[-1] == "output of “red”, feature 0: every weight is 0, so it is 0"
    assert "rote" not in sentences[6] and sentences[6].count("e^") == 3  # the weight of "der": two of three are seen


@pytest.mark.needs("node")
def test_numbers_in_few_letters():
    numbers = [0, -0.0, 0.5, -0.25, 0.004, -0.00012, 9.996, 12.3, 52.4999999999, -150.0, 12345.0]
    numbers += [math.nan, math.inf, -math.inf, 1e-30]
    shown = ["0", "0", "0.5", "−0.25", "4e−3", "−1e−4", "10", "12.3", "52.5", "−150", "1e4"]
    shown += ["NaN", "∞", "−∞", "1e−30"]
    assert in_node("see_through.js", "given.map((x) => short(x))", given=numbers) == shown
    in_cells = ["0", "0", ".5", "−.25", "4e−3", "−1e−4", "10", "12", "53", "−150", "1e4", "NaN", "∞", "−∞", "1e−30"]
    assert in_node("see_through.js", "given.map((x) => short(x, true))", given=numbers) == in_cells
    assert in_node("see_through.js", "[0.008, -0.008, 1.25].map((x) => short(x, true))", given=[]) == [
        ".01",
        "−.01",
        "1.3",
    ]


@pytest.mark.needs("node")
def test_tokens_are_on_one_line_and_short():
    words = ["apple", "\n", " ", "", "a\tb", "x" * 40, "👩" * 20]
    shown = ["apple", "↵", "␣", "∅", "a⇥b", "x" * 11 + "…", "👩" * 11 + "…"]
    assert in_node("see_through.js", "given.map((word) => visible(word, 12))", given=words) == shown
    assert in_node("attention_viewer.js", "given.map((word) => visible(word, 12))", given=words) == shown


@pytest.mark.needs("node")
def test_each_step_and_each_switch_has_its_own_sentence():
    data = {"q": [[1.0, 2.0]], "mask": [[True]]}
    names = [f"step {n}" for n in range(4)] + ["scaling", "masking", "softmax", "reset"]
    given = {"names": names, "data": data, "on": ON, "off": dict.fromkeys(ON, False)}
    on, off = in_node(
        "see_through.js",
        "[on, off].map((options) => names.map((name) => describe(name, data, options, 0.71)))",
        **given,
    )
    assert len(set(on)) == 8 and all(text[-1] == "." for text in on + off)
    assert "1/√2 = 0.71" in on[1] and "1/√2" not in off[1]
    assert all(a != b for a, b in zip(on[4:7], off[4:7], strict=True))


# ---------------------------------------------------------------- the viewer of all heads


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("attentions", "error", "words"),
    [
        ({}, ValueError, "attentions is empty: give at least one"),
        (
            {"self": weights_of(4, 4)},
            TypeError,
            r"attentions\['self'\] \(Tensor\) must be a tuple of weights, queries and keys",
        ),
        ({"self": (weights_of(4, 4), WORDS)}, TypeError, r"attentions\['self'\] \(tuple\) must be a tuple of weights"),
        ({"self": ([[1.0]], ["a"], ["a"])}, TypeError, r"weights of attentions\['self'\] \(list\) must be a tensor"),
        (
            {"self": (weights_of(2, 2, 2, 4, 4), WORDS, WORDS)},
            ValueError,
            r"\(2, 2, 2, 4, 4\); expected .*weights\[:, 0\]",
        ),
        ({"self": (torch.ones(0, 4), [], WORDS)}, ValueError, r"shape \(0, 4\); expected \(layers, H, L_q, L_k\)"),
        (
            {"x": (weights_of(4, 5), WORDS, WORDS)},
            ValueError,
            r"attentions\['x'\] has 4 queries and 4 keys; .* need 4 and 5",
        ),
        (
            {"x": (weights_of(4, 4) * 9 - 1, WORDS, WORDS)},
            ValueError,
            r"weights from -.* to .*; expected 0 to 1: .*not scores",
        ),
        ({"x": (torch.zeros(62, 64, 32, 32), range(32), range(32))}, ValueError, r"4,063,232 weights are too many"),
    ],
)
def test_errors_of_the_viewer_name_the_argument_its_value_and_what_is_expected(attentions, error, words):
    with pytest.raises(error, match=words):
        widgets.attention_viewer(attentions)


def test_groups_follow_one_another():
    widget = widgets.attention_viewer(
        {"self": Attentions(weights_of(2, 3, 4, 4), WORDS, WORDS), "cross": (weights_of(3, 4, 5), WORDS, range(5))}
    )
    first, second = widget.groups
    assert (first["layers"], first["heads"], first["offset"]) == (2, 3, 0)
    assert (second["layers"], second["heads"], second["offset"]) == (1, 3, 2 * 3 * 4 * 4)
    assert second["keys"] == ["0", "1", "2", "3", "4"] and second["queries"] == WORDS
    assert len(widget.weights) == 2 * (2 * 3 * 4 * 4 + 3 * 4 * 5)


READ = """((bytes) => groups.map((group) => Array.from({ length: group.layers }, (_, layer) =>
    Array.from({ length: group.heads }, (_, index) => head(bytes, group, layer, index))))
)(new DataView(Uint8Array.from(atob(sent), (letter) => letter.charCodeAt(0)).buffer))"""


def read(widget):
    sent = base64.b64encode(widget.weights).decode()
    return [torch.tensor(rows) for rows in in_node("attention_viewer.js", READ, groups=widget.groups, sent=sent)]


@pytest.mark.needs("node")
def test_the_browser_reads_the_weights_of_every_head():
    given = [weights_of(2, 3, 4, 4), weights_of(1, 2, 4, 5, seed=1), torch.eye(4).expand(1, 1, 4, 4)]
    names = [(WORDS, WORDS), (WORDS, range(5)), (WORDS, WORDS)]
    found = read(widgets.attention_viewer({str(n): (w, *names[n]) for n, w in enumerate(given)}))
    for weights, rows in zip(given, found, strict=True):
        assert rows.shape == weights.shape
        assert (rows - weights).abs().max() <= 1 / 65535
    assert (found[2] == given[2]).all()  # 0 and 1 exactly


@pytest.mark.needs("node")
def test_a_weight_that_is_nan_stays_nan():
    weights = weights_of(3, 3)
    weights[1] = math.nan
    [rows] = read(widgets.attention_viewer({"self": (weights, WORDS[:3], WORDS[:3])}))
    assert rows[0, 0, 1].isnan().all() and not rows[0, 0, [0, 2]].isnan().any()


GROUP = {"queries": ["a", "b"], "keys": ["x", "y", "z"]}
ROWS = [[0.25, 0.75, 0.0], [0.0, 0.001, 0.999]]


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("side", "place", "sentence"),
    [
        ("query", 0, "“a” looks at “y” 0.75, “x” 0.25"),
        ("query", 1, "“b” looks at “z” 1.00"),
        ("key", 0, "“x” is looked at by “a” 0.25"),
        ("key", 2, "“z” is looked at by “b” 1.00"),
    ],
)
def test_a_sentence_about_a_token(side, place, sentence):
    assert (
        in_node("attention_viewer.js", f"describe(rows, '{side}', {place}, group)", rows=ROWS, group=GROUP) == sentence
    )


@pytest.mark.needs("node")
def test_a_sentence_about_nothing_and_about_nan():
    given = {"rows": [[0.0, 0.0, 0.0], [math.nan] * 3], "group": GROUP}
    assert in_node("attention_viewer.js", "describe(rows, 'query', 0, group)", **given) == "“a” looks at nothing"
    assert in_node("attention_viewer.js", "describe(rows, 'query', 1, group)", **given).endswith("weights that are NaN")
    shown = in_node(
        "attention_viewer.js", "describe(rows, 'key', 2, group, 1)", **given
    )  # the second query is not yet seen
    assert shown == "“z” is looked at by nobody"

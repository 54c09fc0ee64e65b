"""The attention viewer: what it refuses and sends, and what its browser's functions read of it."""

import base64
import math

import pytest
import torch
from in_node import in_node

from course_utils import widgets
from course_utils.widgets.attention_viewer import Attentions

WORDS = ["the", "red", "apple", "fell"]


def some(*shape, seed=0):
    return torch.softmax(2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("attentions", "error", "words"),
    [
        ({}, ValueError, "attentions is empty: give at least one"),
        (
            {"self": some(4, 4)},
            TypeError,
            r"attentions\['self'\] \(Tensor\) must be a tuple of weights, queries and keys",
        ),
        ({"self": (some(4, 4), WORDS)}, TypeError, r"attentions\['self'\] \(tuple\) must be a tuple of weights"),
        ({"self": ([[1.0]], ["a"], ["a"])}, TypeError, r"weights of attentions\['self'\] \(list\) must be a tensor"),
        ({"self": (some(2, 2, 2, 4, 4), WORDS, WORDS)}, ValueError, r"\(2, 2, 2, 4, 4\); expected .*weights\[:, 0\]"),
        ({"self": (torch.ones(0, 4), [], WORDS)}, ValueError, r"shape \(0, 4\); expected \(layers, H, L_q, L_k\)"),
        ({"x": (some(4, 5), WORDS, WORDS)}, ValueError, r"attentions\['x'\] has 4 queries and 4 keys; .* need 4 and 5"),
        (
            {"x": (some(4, 4) * 9 - 1, WORDS, WORDS)},
            ValueError,
            r"weights from -.* to .*; expected 0 to 1: .*not scores",
        ),
        ({"x": (torch.zeros(62, 64, 32, 32), range(32), range(32))}, ValueError, r"4,063,232 weights are too many"),
    ],
)
def test_errors_name_the_argument_its_value_and_what_is_expected(attentions, error, words):
    with pytest.raises(error, match=words):
        widgets.attention_viewer(attentions)


def test_groups_follow_one_another():
    widget = widgets.attention_viewer(
        {"self": Attentions(some(2, 3, 4, 4), WORDS, WORDS), "cross": (some(3, 4, 5), WORDS, range(5))}
    )
    first, second = widget.groups
    assert (first["layers"], first["heads"], first["offset"]) == (2, 3, 0)
    assert (second["layers"], second["heads"], second["offset"]) == (1, 3, 2 * 3 * 4 * 4)
    assert second["keys"] == ["0", "1", "2", "3", "4"] and second["queries"] == WORDS
    assert len(widget.weights) == 2 * (2 * 3 * 4 * 4 + 3 * 4 * 5)


def test_first_state_is_a_picture_with_words(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **how: shown.append((data, how["metadata"])))
    widget = widgets.attention_viewer({"self": (some(4, 4), WORDS, WORDS)})
    widget.show_first_state("Four words look at one another.")
    [(data, metadata)] = shown
    assert data["image/png"].startswith(b"\x89PNG")
    assert metadata["image/png"]["alt"] == "Four words look at one another."
    assert repr(widget).startswith("[interactive: attention of every layer and head") and len(repr(widget)) < 110


# ---------------------------------------------------------------- what the browser reads

READ = """((bytes) => groups.map((group) => Array.from({ length: group.layers }, (_, layer) =>
    Array.from({ length: group.heads }, (_, index) => head(bytes, group, layer, index))))
)(new DataView(Uint8Array.from(atob(sent), (letter) => letter.charCodeAt(0)).buffer))"""


def read(widget):
    sent = base64.b64encode(widget.weights).decode()
    return [torch.tensor(rows) for rows in in_node("attention_viewer.js", READ, groups=widget.groups, sent=sent)]


@pytest.mark.needs("node")
def test_the_browser_reads_the_weights_of_every_head():
    given = [some(2, 3, 4, 4), some(1, 2, 4, 5, seed=1), torch.eye(4).expand(1, 1, 4, 4)]
    names = [(WORDS, WORDS), (WORDS, range(5)), (WORDS, WORDS)]
    found = read(widgets.attention_viewer({str(n): (w, *names[n]) for n, w in enumerate(given)}))
    for weights, rows in zip(given, found, strict=True):
        assert rows.shape == weights.shape
        assert (rows - weights).abs().max() <= 1 / 65535
    assert (found[2] == given[2]).all()  # 0 and 1 exactly


@pytest.mark.needs("node")
def test_a_weight_that_is_nan_stays_nan():
    weights = some(3, 3)
    weights[1] = math.nan
    [rows] = read(widgets.attention_viewer({"self": (weights, WORDS[:3], WORDS[:3])}))
    assert rows[0, 0, 1].isnan().all() and not rows[0, 0, [0, 2]].isnan().any()


GROUP = {"queries": ["a", "b"], "keys": ["x", "y", "z"]}
ROWS = [[0.25, 0.75, 0.0], [0.0, 0.001, 0.999]]


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("side", "place", "said"),
    [
        ("query", 0, "“a” looks at “y” 0.75, “x” 0.25"),
        ("query", 1, "“b” looks at “z” 1.00"),
        ("key", 0, "“x” is looked at by “a” 0.25"),
        ("key", 2, "“z” is looked at by “b” 1.00"),
    ],
)
def test_a_sentence_about_a_token(side, place, said):
    assert in_node("attention_viewer.js", f"tell(rows, '{side}', {place}, group)", rows=ROWS, group=GROUP) == said


@pytest.mark.needs("node")
def test_a_sentence_about_nothing_and_about_nan():
    given = {"rows": [[0.0, 0.0, 0.0], [math.nan] * 3], "group": GROUP}
    assert in_node("attention_viewer.js", "tell(rows, 'query', 0, group)", **given) == "“a” looks at nothing"
    assert in_node("attention_viewer.js", "tell(rows, 'query', 1, group)", **given).endswith("weights that are NaN")
    shown = in_node(
        "attention_viewer.js", "tell(rows, 'key', 2, group, 1)", **given
    )  # the second query is not yet seen
    assert shown == "“z” is looked at by nobody"

"""The picture of induction: arrows lead where the heads look, and the note that is found is the right one."""

import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch

from course_utils import diagrams, pretrained
from course_utils.diagrams.palette import COLORS
from course_utils.recording import record_attention
from course_utils.small_models import induction


def arrows(ax, role):
    """Ends of the arrows of one color, in columns: whose letter lies nearest."""
    letters = [
        (patch.get_x() + patch.get_width() / 2) for patch in ax.patches if patch.__class__.__name__ == "FancyBboxPatch"
    ]
    found = []
    for patch in ax.patches:
        if isinstance(patch, FancyArrowPatch) and to_hex(patch.get_edgecolor()).upper() == COLORS[role]:
            ends = patch._posA_posB
            found.append(tuple(min(range(COUNT), key=lambda n, x=x: abs(letters[n] - x)) for x, _ in ends))
    return found


COUNT = 5


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_on_a_given_string_each_head_does_what_it_should():
    ax = diagrams.induction("q f w a q".split())
    assert arrows(ax, "query") == [(1, 0), (2, 1), (3, 2), (4, 3), (4, 1)]
    assert arrows(ax, "value") == [(1, 4)]
    assert {"after q", "after f", "after w", "after a", "after q?", "hands over f", "says f"} <= set(words(ax))
    assert words(ax)[:5] == ["q", "f", "w", "a", "q"]
    assert not any("." in word for word in words(ax))  # no weights were given
    assert "most at f at position 1, whose note says “after q”" in ax.get_label()
    assert ax.get_label().endswith("It hands over f; the model says f.")


def test_of_several_earlier_places_the_latest_is_taken():
    assert "says w" in words(diagrams.induction("q f q w q".split()))


def test_with_weights_the_arrows_lead_where_the_heads_look_and_a_note_needs_the_place_before():
    before = torch.eye(5).roll(-1, dims=1)  # each at the one before ...
    before[2], before[3] = torch.tensor([[0.6, 0.3, 0.1, 0, 0], [0, 0, 0.2, 0.8, 0]])  # ... but not these two
    copying = torch.eye(5)
    copying[4] = torch.tensor([0, 0.1, 0.75, 0.1, 0.05])
    before[0] = copying[0]
    ax = diagrams.induction("q f w a q".split(), before=before, copying=copying, says="b")
    assert arrows(ax, "query") == [(1, 0), (2, 0), (4, 3), (4, 2)]
    assert {"1.00", "0.60", "0.75", "hands over w", "says b"} <= set(words(ax)) and "0.80" not in words(ax)
    assert "after w" not in words(ax) and "after f" not in words(ax)
    assert "which has no note (weight 0.75)" in ax.get_label() and "says b" in ax.get_label()


def test_the_course_s_own_model_does_it():
    ids = torch.tensor([[induction.LETTERS.index(letter) for letter in "qfwaq"]])
    model = pretrained.load("induction")
    with torch.no_grad(), record_attention(model) as seen:
        guess = model(ids)[0, -1].argmax()
    first, second = seen["layers.0.self_attention"][0, 2], seen["layers.1.self_attention"][0, 1]
    ax = diagrams.induction("qfwaq", before=first, copying=second, says=induction.spelled(guess[None]))
    assert arrows(ax, "query") == [(1, 0), (2, 1), (3, 2), (4, 3), (4, 1)] and "says f" in words(ax)
    assert float(next(word for word in words(ax) if word.startswith("0."))) == pytest.approx(
        first[1, 0].item(), abs=0.005
    )

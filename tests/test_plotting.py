"""Figures: what they contain, that they repeat byte for byte, that they refuse what they cannot draw."""

import pytest
import torch

from course_utils import plotting

WEIGHTS = torch.tensor([[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]])


def test_attention_heatmap_has_labels_scale_and_numbers():
    ax = plotting.attention_heatmap(WEIGHTS, ["a", "b"], ["x", "y", "z"], title="t")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y", "z"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("key", "query", "t")
    assert ax.images[0].get_clim() == (0.0, 1.0)
    assert {text.get_text() for text in ax.texts} == {"0.20", "0.80", "0.50", "0.25"}
    assert ax.figure.axes[1].get_ylabel() == "weight"


def test_without_labels_the_axes_say_position():
    ax = plotting.attention_heatmap(torch.rand(30, 40, generator=torch.Generator().manual_seed(0)))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key position", "query position")
    assert not ax.texts  # too many to be read


def test_similarity_heatmap_is_centered_on_zero():
    ax = plotting.similarity_heatmap(torch.tensor([[3.0, -1.0]]))
    assert ax.images[0].get_clim() == (-3.0, 3.0)
    assert [text.get_text() for text in ax.texts] == ["3", "-1"]


def test_bar_panels_share_one_scale_and_show_every_height():
    rows = {
        "small": {"a": torch.tensor([0.2, 0.8]), "b": torch.tensor([0.5, 0.5])},
        "large": {"a": torch.tensor([1.0, 0.0])},
    }
    ax = plotting.bar_panels(rows, xlabel="key", ylabel="weight")
    panels = ax.figure.axes
    assert [panel.get_title() for panel in panels] == ["small", "large"]
    assert {panel.get_ylim() for panel in panels} == {(0.0, 1.0)}
    heights = [[round(bar.get_height(), 3) for bar in panel.patches] for panel in panels]
    assert heights == [[0.2, 0.8, 0.5, 0.5], [1.0, 0.0]]
    assert len({bar.get_x() for bar in panels[0].patches}) == 4  # none hides another
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


def test_arrows_and_curves_label_what_they_draw():
    ax = plotting.arrows(torch.tensor([[1.0, 2.0], [-3.0, 0.5]]), ["a", "b"])
    assert {"a", "b"} <= {text.get_text() for text in ax.texts}
    x = torch.linspace(0, 1, 5)
    ax = plotting.curves(x, {"up": x, "down": -x}, points=(x, x), xlabel="time (s)", ylabel="y")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["data", "up", "down"]
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 3
    assert ax.get_xlabel() == "time (s)"


def test_number_grid_draws_every_entry():
    ax = plotting.number_grid(torch.arange(12).view(2, 3, 2))
    assert [text.get_text() for text in ax.texts] == [str(i) for i in range(12)]


def test_ordered_shades_grow_darker():
    numbers = torch.tensor([[0, 1, 9]])
    light = [
        sum(box.get_facecolor()[:3]) for box in plotting.number_grid(numbers, shades=numbers, ordered=True).patches
    ]
    assert light[0] > light[1] > light[2]


def test_same_figure_same_bytes():
    first, second = (plotting.png(plotting.attention_heatmap(WEIGHTS).figure) for _ in range(2))
    assert first == second and first.startswith(b"\x89PNG")


def test_show_displays_picture_and_text(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **rest: shown.append((data, rest["metadata"])))
    plotting.show(plotting.attention_heatmap(WEIGHTS), "two queries")
    ((data, metadata),) = shown
    assert data["text/plain"] == "[figure: two queries]" and data["image/png"].startswith(b"\x89PNG")
    assert metadata["image/png"]["alt"] == "two queries"


@pytest.mark.parametrize(
    "call",
    [
        lambda: plotting.attention_heatmap(WEIGHTS, ["only one"], None),
        lambda: plotting.arrows(torch.ones(2, 2), ["a"]),
        lambda: plotting.number_grid(torch.ones(1, 1, 1, 1)),
        lambda: plotting.show(plotting.new_axes(), " "),
    ],
)
def test_what_cannot_be_drawn_is_refused(call):
    with pytest.raises(ValueError, match="labels|dimensions|alt"):
        call()


def test_nothing_touches_pyplot_state():
    import matplotlib

    before = dict(matplotlib.rcParams)
    plotting.png(plotting.attention_heatmap(WEIGHTS).figure)
    assert dict(matplotlib.rcParams) == before

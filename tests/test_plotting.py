"""Figures: what they contain, that they repeat byte for byte, that they refuse what they cannot draw."""

import math

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


def test_compared_heatmaps_can_share_a_scale():
    axes = [plotting.similarity_heatmap(torch.tensor([[x]]), bound=2.0) for x in (0.5, -1.5)]
    assert {ax.images[0].get_clim() for ax in axes} == {(-2.0, 2.0)}


def test_every_run_is_a_dot_beside_the_mean():
    x, y = torch.tensor([1, 2]), torch.tensor([[0.0, 1.0, 2.0], [3.0, 3.0, 6.0]])
    ax = plotting.runs(x, {"ours": y}, levels={"all": torch.tensor([1.0, 2.0])}, xlabel="r", ylabel="share")
    mean, *dots = ax.lines
    assert list(mean.get_ydata()) == [1.0, 4.0] and [list(dot.get_ydata()) for dot in dots] == y.T.tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all", "ours"]


def test_histograms_have_the_same_edges_and_area():
    ax = plotting.histograms({"a": torch.arange(10.0), "b": torch.ones(7)}, xlabel="cosine")
    outlines = [patch.get_data() for patch in ax.patches]
    assert len(outlines) == 2 and list(outlines[0].edges) == list(outlines[1].edges)
    for outline in outlines:
        width = outline.edges[1] - outline.edges[0]
        assert abs(sum(outline.values) * width - 1) < 1e-3


def test_bands_reach_from_the_lowest_run_to_the_highest():
    x, runs = torch.tensor([0.0, 1.0]), torch.tensor([[1.0, 4.0], [3.0, 8.0]])
    ax = plotting.bands(x, {"a": runs, "b": runs + 10}, xlabel="T", ylabel="error")
    assert [list(line.get_ydata()) for line in ax.lines] == [[2.0, 6.0], [12.0, 16.0]]
    corners = {tuple(corner) for corner in ax.collections[0].get_paths()[0].vertices.tolist()}
    assert {(0.0, 1.0), (0.0, 3.0), (1.0, 4.0), (1.0, 8.0)} <= corners
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    ax = plotting.bands(["hard", "soft"], {"a": runs}, xlabel="T", ylabel="error")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["hard", "soft"]


def test_weight_maps_share_one_scale_and_lie_where_keys_and_queries_lie():
    x = torch.tensor([0.0, 1.0, 4.0])
    axes = plotting.weight_maps(x[:2], x, {"wide": WEIGHTS, "narrow": WEIGHTS.round()})
    meshes = [ax.collections[0] for ax in axes]
    assert [ax.get_title() for ax in axes] == ["wide", "narrow"]
    assert meshes[0].norm is meshes[1].norm and meshes[0].get_clim() == (0.0, 1.0)
    assert meshes[1].get_array().tolist() == WEIGHTS.round().tolist()
    assert meshes[0].get_coordinates()[0, :, 0].tolist() == [0.0, 0.5, 2.5, 4.0]
    assert len(axes[0].figure.axes) == 3  # one color bar for both
    assert len(plotting.weight_maps(x[:2], x, {"one": WEIGHTS})) == 1


def test_rows_of_dots_and_scattered_groups_hold_every_measurement():
    ax = plotting.dot_rows(
        {"one": torch.tensor([0.5, 0.25]), "two": torch.tensor([1.0])}, xlabel="error", landmark=0.75
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one", "two"]
    assert [line.get_xdata().tolist() if hasattr(line.get_xdata(), "tolist") else list(line.get_xdata())
            for line in ax.lines] == [[0.5, 0.25], [1.0], [0.75, 0.75]]  # fmt: skip
    top, bottom = ax.get_ylim()
    assert top > bottom and ax.get_xlabel() == "error"  # the first row stands on top
    x = torch.tensor([1.0, 2.0])
    ax = plotting.scatter({"a": (x, 2 * x), "b": (x, 3 * x)}, xlabel="x", ylabel="y")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert [list(line.get_ydata()) for line in ax.lines] == [[2.0, 4.0], [3.0, 6.0]]
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 2


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


def test_panels_of_bands_share_one_legend_and_name_their_levels_once():
    lines = {"one": torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "two": torch.ones(2, 2)}
    panels = {"left": lines, "right": lines}
    ax = plotting.band_panels(torch.arange(2.0), panels, xlabel="step", log=["right"], top=None, levels={"mark": 2.5})
    left, right = ax.figure.axes
    assert (left.get_yscale(), right.get_yscale()) == ("linear", "log")
    assert list(left.lines[0].get_ydata()) == [2.0, 3.0]
    assert [text.get_text() for text in right.texts] == ["mark"] and not left.texts
    assert right.get_ylim() == (1.0, 10.0)
    assert left.get_legend() is None and len(ax.figure.legends) == 1
    assert [text.get_text() for text in ax.figure.legends[0].texts] == ["one", "two"]
    fixed = plotting.band_panels(torch.arange(2.0), panels, xlabel="step", top=5.0)
    assert fixed.get_ylim() == (0.0, 5.0)


def test_panels_of_seeds_show_two_measures_of_the_same_runs_in_one_color():
    above, below = torch.tensor([[3.0, 1.0], [2.0, 0.5]]), torch.tensor([[0.9, 0.1], [0.8, 0.2]])
    ax = plotting.seed_panels(
        torch.arange(2.0), {"a": (above, below), "b": (above, below)}, ("loss", "c"), xlabel="step"
    )
    upper, _, lower, _ = ax.figure.axes
    assert (upper.get_ylabel(), lower.get_ylabel(), lower.get_xlabel()) == ("loss", "c", "step")
    for row, values in ((upper, above), (lower, below)):
        assert [list(line.get_ydata()) for line in row.lines] == values.tolist()
    assert [line.get_color() for line in upper.lines] == [line.get_color() for line in lower.lines]


def test_landmarks_are_drawn_where_they_are_and_named():
    heights = torch.tensor([0.5, 0.25])
    ax = plotting.named_bars(["a", "$"], heights, xlabel="letter", ylabel="weight")
    plotting.mark_levels(ax, {"even share": 0.1, "a perfect copier": 1.0})
    plotting.mark_places(ax, {"trained to here": 0.5})
    assert [bar.get_height() for bar in ax.patches] == heights.tolist()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "$"]
    level, perfect, place = ax.lines
    assert (level.get_ydata()[0], perfect.get_ydata()[0], place.get_xdata()[0]) == (0.1, 1.0, 0.5)
    assert [text.get_text() for text in ax.texts] == ["even share", "a perfect copier", "trained to here"]
    assert ax.get_ylim()[1] > 1.0


def test_spans_reach_from_end_to_end_with_a_dot_between():
    ends = {"one": [1.0, 2.0], "all": [8.0, 32.0]}
    ax = plotting.named_spans(["A", "B\n7"], ends, ("own", [4.0, 2.0]), ylabel="GiB")
    high, low, own = (line.get_ydata() for line in ax.lines)
    assert (list(high), list(low), list(own)) == ([8.0, 32.0], [1.0, 2.0], [4.0, 2.0])
    assert ax.get_yscale() == "log" and [text.get_text() for text in ax.get_xticklabels()] == ["A", "B\n7"]


def test_named_dots_has_every_run_of_every_name():
    runs = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    ax = plotting.named_dots(["x", "y", "z"], {"ours": runs, "theirs": runs + 1}, xlabel="head", ylabel="w", log=True)
    ours, theirs = ax.lines
    assert list(ours.get_xdata()) == [0, 1, 2, 0, 1, 2] and ours.get_ydata() == pytest.approx(runs.flatten().tolist())
    assert theirs.get_marker() != ours.get_marker() and ax.get_yscale() == "log"
    with pytest.raises(ValueError, match="2 names for 3 entries"):
        plotting.named_dots(["x", "y"], {"ours": runs}, xlabel="", ylabel="")


def test_errors_along_a_text_mark_where_training_ended_and_turn_the_weights_by_distance():
    weights = torch.eye(6).roll(-2, dims=1).tril()  # each query looks two places back
    runs = {"a": torch.rand(3, 6), "b": torch.rand(2, 6)}
    axes = plotting.errors_along(runs, torch.ones(6), trained=2, weights=dict.fromkeys(runs, weights), back=2)
    assert [ax.get_title() for ax in axes] == ["a", "b", "", ""]
    assert all(any(list(line.get_xdata()) == [1.5, 1.5] for line in ax.lines) for ax in axes)
    drawn = torch.tensor(axes[2].images[0].get_array().filled(0.0))  # (distance, position)
    assert drawn[2, 2:].eq(1).all() and drawn.sum() == 4
    assert len(plotting.errors_along(runs, torch.ones(6), trained=2)) == 2


def test_every_slope_has_a_curve_and_its_name_beside_it():
    ax = plotting.kept_weights(torch.tensor([0.5, 0.25, 1 / 256]), 32)
    assert [text.get_text() for text in ax.texts] == ["1/2", "1/4", "1/256"]
    for line, slope in zip(ax.lines, (0.5, 0.25, 1 / 256), strict=True):
        assert line.get_ydata()[-1] == pytest.approx(math.exp(-32 * slope), abs=1e-6)
    xs = [text.get_position()[0] for text in ax.texts]
    assert xs == sorted(xs)
    (first, y), (second, _) = (text.get_position() for text in ax.texts[:2])
    assert first + 1.5 < math.log(1 / y) / 0.25 < second  # the first name ends before the second curve at its height

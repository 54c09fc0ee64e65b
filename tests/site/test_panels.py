"""Where figures are cut for a phone."""

import base64
import io

import matplotlib.pyplot as plt
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from needs import install_command

pytestmark = pytest.mark.needs("site")
if not install_command("site"):
    from docutils import nodes

    from course_site.extension import with_panels
    from course_site.panels import cuts, panels_of


def picture(columns, *, bars=False, name=None, over=None):
    figure, axes = plt.subplots(1, columns, figsize=(9.6, 3.4), layout="constrained", squeeze=False, dpi=110)
    for ax in axes[0]:
        if bars:
            figure.colorbar(ax.imshow([[0, 1], [1, 0]]), ax=ax, label="weight")
        else:
            ax.plot([0, 1], [0, 1])
        ax.set_ylabel(name)
    if over:
        figure.suptitle(over)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    return buffer.getvalue()


@pytest.mark.parametrize("options", [{}, {"name": "bits"}, {"bars": True}, {"bars": True, "name": "query"}])
def test_two_panels_are_cut_between_them(options):
    (place,) = cuts(picture(2, **options))
    assert place == pytest.approx(0.5, abs=0.02)


def test_the_name_of_an_axis_stays_with_its_panel():
    place, pixels = cuts(picture(2, name="bits"))[0], plt.imread(io.BytesIO(picture(2, name="bits")))
    right = pixels[:, round(place * pixels.shape[1]) :, :3].min(axis=(0, 2)) < 0.9
    gaps = [x for x in range(1, len(right)) if right[x] != right[x - 1]]
    assert gaps[1] - gaps[0] < 20  # what comes first is the name, narrow


def test_three_panels_are_cut_twice_and_one_is_not():
    assert cuts(picture(3)) == [pytest.approx(1 / 3, abs=0.03), pytest.approx(2 / 3, abs=0.03)]
    assert cuts(picture(1)) == []
    assert cuts(picture(2, over="a title above both panels, from one into the other")) == []


def page(text, alt="", source="show()"):
    png = base64.b64encode(picture(2)).decode()
    figure = new_output("display_data", data={"image/png": png}, metadata={"image/png": {"alt": alt}})
    return new_notebook(cells=[new_code_cell(source, outputs=[figure]), new_markdown_cell(text)])


def test_only_figures_with_sides():
    assert not panels_of(page("Two lines."))
    assert panels_of(page("With a mask (right) it falls.")) and panels_of(page("", alt="Left, the loss."))
    assert panels_of(page("", source="axes = plotting.new_axes(9, 3, columns=2)"))


def test_the_page_holds_where():
    doctree = nodes.document(None, None)
    doctree += nodes.image(uri="a/b/abc.png", panels=[0.5])
    doctree += nodes.image(uri="a/b/def.png")
    html = '<img src="../_images/abc.png" /><img src="../_images/def.png" />'
    assert with_panels(html, doctree) == html.replace('abc.png"', 'abc.png" data-panels="0.5"')

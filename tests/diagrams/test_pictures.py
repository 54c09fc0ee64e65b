"""Every diagram at every size: nothing overlaps, nothing is too small to be read, nothing lies outside, and it has a text."""

import functools
import itertools

import pytest
from gallery import PICTURES, SIZES

from course_utils.diagrams.palette import PAGE

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
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        wide, tall = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if one.get_rotation() or other.get_rotation():
            continue  # the boxes of slanted words overlap where the words do not
        assert wide <= slack or tall <= slack, f"{one.get_text()!r} over {other.get_text()!r}"


@cases
def test_it_says_in_words_what_it_shows(name, size):
    said = drawn(name, size).get_label()
    assert len(said.split()) >= 10 and "None" not in said and "tensor(" not in said


@pytest.mark.parametrize("name", PICTURES)
def test_it_is_drawn_twice_alike(name):
    first, second = drawn(name, "middle"), PICTURES[name]("middle")
    assert [text.get_text() for text in first.texts] == [text.get_text() for text in second.texts]

"""The site on a phone, under a finger."""

import pytest

pytestmark = [pytest.mark.needs("browser"), pytest.mark.needs("site")]
LESSON = "notebooks/04_scaled_dot_product_attention.html"


def test_the_code_of_a_picture_is_folded_on_a_phone_alone(visitor):
    page = visitor.phone(LESSON)
    drawing, computing = page.locator(".cell.tag_drawing"), page.locator(".cell_input", has_text="outputs.append")
    assert drawing.count() == page.locator(".code-of-picture").count() > 3
    code = drawing.first.locator(".cell_input")
    assert not code.is_visible() and computing.is_visible()
    drawing.first.get_by_text("Show the code of this picture").tap()
    code.wait_for()
    assert drawing.first.locator(".code-of-picture > summary").inner_text() == "Hide the code of this picture"
    assert visitor.visit(LESSON).locator(".code-of-picture").count() == 0


def test_what_only_asks_is_folded_everywhere(visitor):
    page = visitor.visit(LESSON)
    asks = page.locator(".cell.tag_hide-input", has_text="widgets.predict(")
    assert asks.count() > 3 and not asks.first.locator(".cell_input").is_visible()
    assert asks.first.locator("[data-predict] button").is_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_panels_stand_one_below_the_other(visitor, dark):
    page = visitor.phone(LESSON, dark=dark)
    whole = page.locator(".whole-picture:has(.panel)").first
    whole.scroll_into_view_if_needed()
    upper, lower = (panel.bounding_box() for panel in whole.locator(".panel").all())
    assert lower["y"] > upper["y"] + upper["height"] and max(upper["width"], lower["width"]) <= 358
    assert whole.locator(".panel-name").all_inner_texts() == ["left", "right"]
    texts = [image.get_attribute("alt") for image in whole.locator("img").all()]
    assert texts[0] and texts[1] == ""
    placed = whole.evaluate(
        """(whole) => [...whole.querySelectorAll("img")].map((image) => {
          const [outer, inner] = [image.parentElement.getBoundingClientRect(), image.getBoundingClientRect()];
          return [(outer.left - inner.left) / inner.width, (outer.right - inner.left) / inner.width, inner.height / outer.height];
        })"""
    )
    (start, cut, height), (again, end, _) = placed
    assert (start, end, height) == pytest.approx((0, 1, 1), abs=0.01) and cut == pytest.approx(again, abs=0.01)
    assert visitor.visit(LESSON).locator(".panel").count() == 0

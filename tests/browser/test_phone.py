"""The site on a phone, under a finger."""

import pytest
from visiting import serious

pytestmark = [pytest.mark.needs("browser"), pytest.mark.needs("site")]
LESSON = "notebooks/04_scaled_dot_product_attention.html"
PANELS = "notebooks/06_multi_head_attention.html"  # its short path has a figure of two panels


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
    page = visitor.phone(PANELS, dark=dark)
    whole = page.locator(".whole-picture:has(.panel):visible").first
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
    assert visitor.visit(PANELS).locator(".panel").count() == 0


def on_live_page(visitor, **options):
    page = visitor.phone("live/index.html", **options)
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector(".head")
    return page


def in_sight(locator):
    box = locator.bounding_box()
    return box["y"] >= 0 and box["y"] + box["height"] <= 844


def test_what_the_switches_change_is_in_sight(visitor):
    page = on_live_page(visitor)
    page.locator("#head-switches").evaluate("(root) => scrollTo(0, root.getBoundingClientRect().top + scrollY - 80)")
    page.locator("#head-switches .layer").nth(1).tap()
    message = page.locator("#head-switches .message")
    page.wait_for_function("document.querySelector('#head-switches .message').textContent.includes('heads off')")
    assert in_sight(message) and in_sight(page.locator("#head-switches .layer").nth(1))


def test_what_is_touched_is_large_enough(visitor):
    page = on_live_page(visitor)
    page.fill("#length", "20")
    page.locator(".go-on > button").tap()
    page.wait_for_selector(".written .looked", state="attached")
    for selector in (".head", "#text-section .stepper button", ".top button", "#text-section .stepper input"):
        for box in (one.bounding_box() for one in page.locator(selector).all()):
            assert box["height"] >= 32 and box["width"] >= 32, selector
    end = int(page.locator("#text-section .stepper input").input_value())
    page.get_by_label("one character back").tap()
    assert page.locator(f".written span:nth-child({end - 1}).looked").count() == 1
    height = "(text) => text.getBoundingClientRect().height"  # a line of letters, without what is above and below them
    assert min(text.evaluate(height) for text in page.locator(".learning text").all()) >= 11
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_empty_text_leaves_nothing_of_the_one_before(visitor):
    page = on_live_page(visitor)
    page.fill("#length", "20")
    page.locator(".go-on > button").tap()
    page.wait_for_selector(".written .looked", state="attached")
    page.fill("#prompt", "")
    page.locator(".go-on > button").tap()
    page.wait_for_function("document.querySelector('#text-section .problem').textContent.includes('at least one')")
    assert page.locator(".written span").count() == 0 and not page.locator("#text-section .next").is_visible()


def test_the_texts_speak_of_fingers(visitor):
    page = on_live_page(visitor)
    page.locator("#viewer").scroll_into_view_if_needed()
    assert page.locator("#viewer .sentence").inner_text().startswith("Tap a token")
    text = page.locator("section[aria-labelledby=every-head] > p").inner_text()
    assert "then tap a letter" in text and "point at" not in text
    front = visitor.phone("index.html")
    assert "arrow keys" not in front.locator(".see > p").inner_text()
    assert "arrow keys" in visitor.visit("index.html").locator(".see > p").inner_text()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["index.html", "live/index.html", LESSON])
def test_nothing_keeps_people_out(visitor, name, dark):
    page = visitor.phone(name, dark=dark)
    page.wait_for_timeout(600)
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_two_kinds_of_pages_look_alike(visitor):
    look = """() => {
      const style = getComputedStyle(document.body);
      const top = document.querySelector(".top, .bd-header-article").getBoundingClientRect();
      return [style.backgroundColor, style.color, style.fontFamily.split(",")[0], top.height];
    }"""
    for dark in (False, True):
        assert visitor.phone("index.html", dark=dark).evaluate(look) == visitor.phone(LESSON, dark=dark).evaluate(look)


def test_what_does_not_move_here_says_so_before_the_picture(visitor):
    page = visitor.phone("notebooks/14_long_contexts.html")
    notice = page.locator(".needs-kernel").first
    picture = page.locator(".cell_output:has(.needs-kernel) img").first
    assert notice.bounding_box()["y"] < picture.bounding_box()["y"] < notice.bounding_box()["y"] + 844
    assert "its first state, below" in notice.inner_text()


def test_what_is_optional_is_folded_on_a_phone_and_opens_for_a_link_into_it(visitor):
    lesson = "notebooks/14_long_contexts.html"
    page = visitor.phone(lesson)
    heading = page.get_by_role("heading", name="As far apart as possible")
    section = page.locator("#as-far-apart-as-possible")
    inside = section.get_by_text("How far apart can keys be?")
    assert heading.is_visible() and section.get_by_text("More · ").is_visible() and not inside.is_visible()
    section.get_by_text("Show this section").tap()
    inside.wait_for()
    assert section.locator(".optional-section > summary").inner_text() == "Hide this section"
    assert page.locator("#references").get_by_role("list").is_visible()
    page.evaluate("location.hash = 'one-decay-for-all'")
    page.locator("#one-decay-for-all > .optional-section[open]").wait_for()
    assert page.get_by_text("Now do the exercises").is_visible()  # at the end of the last optional section
    assert visitor.visit(lesson).locator(".optional-section").count() == 0


def test_a_search_finds_parts_of_words_and_opens_at_the_place(visitor):
    page = visitor.phone("search.html?q=flash")
    results = page.locator("ul.search > li > a")
    results.get_by_text("Scaled dot-product attention").wait_for()  # it speaks of FlashAttention
    results.get_by_text("Across machines").tap()
    mark = page.locator(".bd-article .highlighted").first
    mark.wait_for()
    page.wait_for_function("scrollY > 844")
    assert in_sight(mark)


def test_a_wide_picture_says_that_it_goes_on(visitor):
    page = visitor.phone("notebooks/05_masking.html")
    hint = page.locator(".swipe-hint").first
    hint.wait_for()
    assert hint.evaluate("(hint) => hint.nextElementSibling.scrollWidth > hint.nextElementSibling.clientWidth")
    assert visitor.visit("notebooks/05_masking.html").locator(".swipe-hint").count() == 0


def test_slides_turn_under_a_finger(visitor):
    page = visitor.phone("slides/05_masking.html")
    page.locator("body[data-ready]").wait_for()
    for x, place in ((1000, "#2"), (200, "#1")):  # the page is 1280 pixels wide
        page.touchscreen.tap(x, 1300)
        page.wait_for_function("(place) => location.hash === place", arg=place)
    finger = page.context.new_cdp_session(page)
    for start, end, place in ((300, 60, "#2"), (60, 300, "#1")):
        finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": start, "y": 420}]})
        for part in range(1, 11):
            x = start + (end - start) * part / 10
            finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": 420}]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_function("(place) => location.hash === place", arg=place)


def test_on_a_small_phone_see_through_has_the_width_its_numbers_need_and_nothing_moves_sideways(visitor):
    page = visitor.phone(LESSON)
    page.set_viewport_size({"width": 360, "height": 740})
    page.reload()
    widget = page.locator(".course-widget").first
    widget.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.course-widget').clientWidth === 376")
    assert page.evaluate("document.documentElement.scrollWidth") == 360

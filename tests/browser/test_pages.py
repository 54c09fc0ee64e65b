"""Every page of the site in a real browser: nothing from elsewhere, nothing missing, nothing wider than a phone."""

import base64
import json

import pytest
import torch
from visiting import PICTURES, serious

from course_site.notebooks import widget_place
from course_utils import widgets

pytestmark = [pytest.mark.needs("browser"), pytest.mark.needs("site")]
# One of each kind; the live page has tests of its own.
KINDS = (
    "index.html",
    "notebooks/04_scaled_dot_product_attention.html",
    "notebooks/11_learning_to_pronounce.html",
    "exercises/05_masking.html",
    "exercises/index.html",
    "docs/checks.html",
    "docs/glossary.html",
    "docs/teaching.html",
    "models/pronounce.html",
    "reference/attention.html",
    "search.html",
)


def pages(site):
    paths = (path for path in site.rglob("*.html") if "_static" not in path.parts)
    return sorted(path.relative_to(site).as_posix() for path in paths)


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_is_whole(site, visitor, width):
    tab, wrong = visitor.tab(width=width), []
    for name in pages(site):
        tab.goto(visitor.url + name)
        tab.wait_for_load_state("load")
        seen = tab.evaluate(
            """() => ({
              wide: document.documentElement.scrollWidth,
              headings: document.querySelectorAll("h1").length,
              broken: [...document.images].filter((i) => i.loading !== "lazy" && i.complete && !i.naturalWidth).length,
              silent: [...document.querySelectorAll(".cell_output img:not([alt])")].length,
              cut: [...document.querySelectorAll(".cell_input pre")]
                .filter((pre) => pre.scrollWidth > pre.clientWidth + 1)
                .map((pre) => pre.innerText.slice(0, 40)),
            })"""
        )
        if width < 1280:
            seen["cut"] = []  # code may be moved sideways on a phone
        if seen["wide"] > width or seen["broken"] or seen["silent"] or seen["cut"] or not seen["headings"]:
            wrong.append((name, seen))
    assert wrong == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", KINDS)
def test_nothing_keeps_people_out(visitor, name, dark):
    page = visitor.visit(name, dark=dark)
    page.wait_for_timeout(300)
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name.replace('/', '-')}-{'dark' if dark else 'light'}.png")
    assert serious(page) == []


def test_formulas_are_drawn(visitor):
    page = visitor.visit("notebooks/04_scaled_dot_product_attention.html")
    page.wait_for_selector("mjx-container svg", state="attached")
    assert page.locator("mjx-container svg").count() > 5
    assert page.locator("mjx-merror").count() == 0


def test_the_search_finds_a_lesson(visitor):
    page = visitor.visit("search.html?q=padding+mask")
    page.wait_for_selector("#search-results li a")
    assert any("05_masking" in link.get_attribute("href") for link in page.locator("#search-results li a").all())


def test_moving_pictures_of_the_lessons_are_alive(site, visitor):
    tab = visitor.tab()
    for path in sorted((site / "notebooks").glob("*.html")):
        if 'class="course-widget"' not in path.read_text(encoding="utf-8"):
            continue
        tab.goto(f"{visitor.url}notebooks/{path.name}")
        for place in tab.locator(".course-widget").all():
            place.scroll_into_view_if_needed()
            place.locator("xpath=self::*[@data-alive]").wait_for()


@pytest.fixture
def placed(site, visitor):
    """A page that holds the moving pictures as a notebook's page does."""
    q = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    weights = torch.softmax(torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(1)), -1)
    examples = [
        ("see_through", widgets.see_through(q, q, q), ("data",)),
        (
            "attention_viewer",
            widgets.attention_viewer({"self": (weights, list("abcd"), list("abcd"))}),
            ("groups", "weights"),
        ),
    ]

    def state(module, widget, names):
        values = {name: getattr(widget, name) for name in names}
        sent = {name: base64.b64encode(v).decode() for name, v in values.items() if isinstance(v, bytes)}
        return {"module": module, "state": {n: v for n, v in values.items() if n not in sent}, "bytes": sent}

    body = "".join(widget_place(json.loads(json.dumps(state(*example)))) for example in examples)
    script = '<script type="module" src="_static/course_widgets.js"></script>'
    head = '<!doctype html><html lang="en"><title>t</title><link rel="icon" href="data:,">'
    text = f"{head}<body>{body}{script}"
    page = visitor.tab()
    page.route("**/moving.html", lambda route: route.fulfill(body=text, content_type="text/html; charset=utf-8"))
    page.goto(visitor.url + "moving.html")
    return page


@pytest.mark.parametrize("module", ["see_through", "attention_viewer"])
def test_a_moving_picture_answers_the_mouse_and_the_keyboard(placed, module):
    place = placed.locator(f".course-widget[data-alive={module}]")
    place.wait_for()
    box = place.locator(".box").first
    before = box.inner_text()
    box.locator("[tabindex='0']").last.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):
        placed.keyboard.press(key)
    placed.wait_for_timeout(200)
    assert box.inner_text() != before
    text = box.inner_text()
    bounds = box.bounding_box()
    for share in (0.2, 0.4, 0.5, 0.6, 0.8):
        placed.mouse.move(bounds["x"] + 0.3 * bounds["width"], bounds["y"] + share * bounds["height"])
        placed.mouse.down()
        placed.mouse.up()
        placed.wait_for_timeout(60)
        if box.inner_text() != text:
            break
    assert box.inner_text() != text


def test_light_and_dark_are_one_choice_for_all_pages(visitor):
    page = visitor.visit("index.html")
    page.locator("button.theme-switch-button").first.click()
    page.locator("button.theme-change-button[data-mode=dark]").first.click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto(visitor.url + "live/index.html")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"

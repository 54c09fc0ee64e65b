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
        if seen["wide"] > width or seen["broken"] or seen["silent"] or seen["cut"] or seen["headings"] != 1:
            wrong.append((name, seen))
    assert wrong == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["laptop", "dark phone"])
@pytest.mark.parametrize("name", KINDS)
def test_nothing_keeps_people_out(visitor, name, dark, width):
    page = visitor.visit(name, dark=dark, width=width)
    page.wait_for_timeout(300)
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name.replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png")
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
    page.wait_for_selector("#search-results li:nth-child(4) p.context")
    for result in page.locator("#search-results li p.context").all()[:4]:  # sentences, and not the tops of pages
        text = result.inner_text().lower()
        assert "mask" in text and "import" not in text, text


def test_moving_pictures_of_the_lessons_are_alive(site, visitor):
    tab = visitor.tab()
    for path in sorted((site / "notebooks").glob("*.html")):
        if 'class="course-widget"' not in path.read_text(encoding="utf-8"):
            continue
        tab.goto(f"{visitor.url}notebooks/{path.name}")
        for place in tab.locator(".course-widget").all():
            place.evaluate("node => node.closest('details')?.setAttribute('open', '')")  # what comes out may be folded
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


def theme_of(page):
    return page.evaluate("document.documentElement.dataset.theme")


def test_light_and_dark_are_one_choice_for_all_pages(visitor):
    page = visitor.visit("docs/glossary.html")
    page.locator("button.theme-switch-button").first.click()
    page.locator("button.theme-change-button[data-mode=dark]").first.click()
    for name in ("index.html", "live/index.html"):
        page.goto(visitor.url + name)
        assert theme_of(page) == "dark"
    page.locator(".top .mode").click()
    assert theme_of(page) == "light" and page.get_attribute(".top .mode", "aria-pressed") == "false"
    page.goto(visitor.url + "docs/glossary.html")
    assert theme_of(page) == "light"


def test_the_front_page_is_light(visitor):
    page, sizes = visitor.tab(), {}
    page.on("response", lambda answer: sizes.update({answer.url: len(answer.body())}))
    page.goto(visitor.url + "index.html")
    page.wait_for_selector("#live-word[data-word]")
    page.locator(".course-widget").scroll_into_view_if_needed()
    page.wait_for_selector(".course-widget[data-alive=see_through]")
    page.wait_for_load_state("networkidle")
    print(f"\nthe front page loads {sum(sizes.values()):,} bytes in {len(sizes)} files")
    assert any("see_through" in name for name in sizes) and sum(sizes.values()) < 300_000, sizes


@pytest.mark.parametrize("name", ["index.html", "notebooks/04_scaled_dot_product_attention.html"])
def test_see_through_shows_its_numbers_on_a_phone(visitor, name):
    page = visitor.tab(width=390)
    page.add_init_script(
        """window.written = new Set();
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
          window.written.add(`${text} ${place}`);
          return write.call(this, text, ...place);
        };"""
    )
    page.goto(visitor.url + name)
    picture = page.locator(".course-widget").first
    picture.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.course-widget').dataset.alive")
    page.wait_for_timeout(200)
    digits = [text for text in page.evaluate("[...window.written]") if text[0] in "0123456789.−"]
    assert (
        len(digits) >= 40
    )  # of 4 + 4 + 4 + 4 rows of 4, and two cards of 2 columns, the same number at one place once
    box, shown = picture.bounding_box(), page.locator(".course-widget .cards").first
    for x in (box["x"] + 3, box["x"] + box["width"] - 3):  # nothing around it cuts it off
        place = [x, box["y"] + 120]
        assert picture.evaluate("(node, place) => node.contains(document.elementFromPoint(...place))", place)
    assert shown.evaluate("node => node.scrollWidth <= node.clientWidth + 1")


def test_a_figure_opens_in_its_own_size(visitor):
    page = visitor.visit("notebooks/14_long_contexts.html", width=390)
    figure = page.locator(".cell_output a.whole-picture").first
    assert figure.locator("img").get_attribute("alt") and figure.get_attribute("href").endswith(".png")
    assert page.locator(".cell_output img:not(a img)").count() == 0


def test_on_a_phone_figures_and_code_are_moved_sideways_and_not_made_tiny(visitor):
    page = visitor.visit("notebooks/04_scaled_dot_product_attention.html", width=390, height=844)
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    sizes = "[...document.querySelectorAll('.whole-picture img')].map((image) => [image.width, image.naturalWidth])"
    shown = [(width, own) for width, own in page.evaluate(sizes) if width]  # not folded
    assert max(own for _, own in shown) > 800
    assert all(width >= 0.63 * own for width, own in shown), shown
    code = page.locator(".cell_input pre", has_text="outputs.append")
    lines = code.evaluate(
        "(pre) => [pre.textContent.trimEnd().split('\\n').length, pre.clientHeight, pre.scrollWidth > pre.clientWidth]"
    )
    height = code.evaluate("(pre) => parseFloat(getComputedStyle(pre).lineHeight)")
    assert lines[2] and lines[1] < (lines[0] + 3) * height  # no line is broken


def test_what_is_too_wide_fades_until_it_has_been_moved_to_its_end(visitor):
    page = visitor.visit("notebooks/04_scaled_dot_product_attention.html", width=390, height=844)
    code = page.locator(".cell_input pre", has_text="outputs.append")
    for place, fades in ((0, True), (9999, False)):
        code.evaluate("(pre, place) => { pre.scrollLeft = place; }", place)
        page.wait_for_function(
            "([pre, fades]) => pre.classList.contains('goes-on') === fades", arg=[code.element_handle(), fades]
        )
    assert page.locator(".cell_input pre.goes-on").count() < page.locator(".cell_input pre").count()


def test_the_list_of_sections_closes_once_one_is_chosen(visitor):
    page = visitor.visit("notebooks/04_scaled_dot_product_attention.html", width=390, height=844)
    page.locator("button.secondary-toggle").first.click()
    page.locator("dialog[open] a[href*='#']").nth(2).click()
    page.wait_for_function("!document.querySelector('dialog[open]') && scrollY > 0")


def test_on_a_laptop_a_lesson_opens_with_title_and_search_in_sight(visitor):
    page = visitor.visit("notebooks/04_scaled_dot_product_attention.html", width=1366, height=800)
    page.wait_for_load_state("load")
    assert page.evaluate("document.querySelector('.bd-sidebar-primary').scrollTop") == 0


def test_code_is_copied_by_a_button(visitor):
    page = visitor.visit("notebooks/04_scaled_dot_product_attention.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    blocks = page.locator(".cell_input div.highlight")
    assert blocks.locator(".copy-code").count() == blocks.count() > 10
    assert page.locator(".cell_output .copy-code").count() == 0
    block = page.locator(
        ".cell:not(.tag_hide-input) .cell_input div.highlight"
    ).first  # what is folded cannot be reached
    button = block.locator(".copy-code")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.textContent === 'copied'")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() and copied == block.locator("pre").evaluate("node => node.textContent")


@pytest.mark.parametrize("name", ["index.html", "live/index.html"])
def test_from_the_front_and_the_live_page_every_page_can_be_reached_by_keyboard(visitor, name):
    page = visitor.visit(name, width=390)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to main content"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    lesson = page.locator("#pages").get_by_text("05 · Masking", exact=True)
    assert lesson.is_visible() and page.get_attribute(".top .menu", "aria-expanded") == "true"
    page.keyboard.press("Escape")
    assert not lesson.is_visible() and page.evaluate("document.activeElement.className") == "menu"
    page.locator(".turn a[rel=next]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: not url.endswith(name))
    page.goto(visitor.url + name)
    page.fill(".find input", "softmax")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")

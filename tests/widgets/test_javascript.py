"""The widgets' JavaScript modules: what they are made of, and how they behave in a real browser."""

import re

import pytest
import torch
from browser_page import showing
from in_node import MODULES

from course_utils import widgets

WORDS = ["the", "red", "apple", "fell"]
LONG = ["Donaudampfschifffahrtsgesellschaft" * 4, "<b>x</b><img src=x onerror=document.body.remove()>", "\n", ""]
needs_browser = pytest.mark.needs("browser")


def some(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def see_through(rows=4, columns=4, features=3, heads=1, words=WORDS, mask=None, spoil=None):
    q = some(heads, rows, features)
    k, v = (some(heads, columns, features, seed=seed) for seed in (1, 2))
    if spoil is not None:
        q[0, 0, 0], v[0, -1, 0] = spoil, spoil
    names = {"queries": words, "keys": words} if len(words) == rows == columns else {}
    return widgets.see_through(q, k, v, mask, **names)


def attention_viewer(layers=2, heads=3, words=WORDS, kinds=("self",), spoil=None):
    weights = torch.softmax(3 * some(layers, heads, len(words), len(words)), dim=-1)
    if spoil is not None:
        weights[0, 0, 0] = spoil
    return widgets.attention_viewer(dict.fromkeys(kinds, (weights, words, words)))


# ---------------------------------------------------------------- the files


@pytest.mark.parametrize("module", sorted(MODULES.glob("*.js")), ids=lambda path: path.name)
def test_a_module_is_one_small_file_that_needs_nothing_else(module):
    text = module.read_text(encoding="utf-8")
    assert len(text.encode()) < 60_000 and len(text.splitlines()) < 500
    forbidden = r"\bimport\b|\brequire\s*\(|https?:|//cdn|\beval\b|new Function|innerHTML|outerHTML|insertAdjacent"
    assert not re.search(forbidden, text)
    exported = re.findall(r"^export (.*?)[\s{(]", text, flags=re.MULTILINE)
    assert set(exported) <= {"default", "function"} and exported.count("default") == 1


# ---------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def browser():
    with showing() as found:
        yield found


@pytest.fixture
def show(browser):
    """Opens a page; at the end of the test nothing may have gone wrong on it."""
    browser.problems.clear()
    pages = []

    def open_page(*widgets, **options):
        pages.append(browser.page(*widgets, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is scrolled sideways"
        page.close()
    assert browser.problems == []


def canvas(page, name, n=0):
    return page.locator(f"canvas[aria-label^='{name}']").nth(n)


def sentence(page, n=0):
    """The sentence, once what was asked for is drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.locator(".sentence").nth(n).inner_text()


def picture(page, name, n=0):
    sentence(page)
    return canvas(page, name, n).evaluate("(canvas) => canvas.toDataURL()")


def pointed_at(page, name, i, j, *, rows, columns, n=0):
    """The middle of a cell, on the page; the last row and column end 4 and a few pixels before the canvas does."""
    spot = canvas(page, name, n)
    spot.scroll_into_view_if_needed()
    box = spot.bounding_box()
    cell = (box["height"] - 7) / rows
    return box["x"] + 3 + (j + 0.5) * cell, box["y"] + box["height"] - 4 - (rows - i - 0.5) * cell


SEE = {
    "usual": see_through,
    "one token": lambda: see_through(1, 1),
    "64 tokens": lambda: see_through(64, 64, mask=torch.ones(64, 64).tril().bool()),
    "20 tokens": lambda: see_through(20, 20),
    "masked row": lambda: see_through(mask=torch.tensor([[True] * 4, [False] * 4, [True] * 4, [False] * 4])),
    "NaN": lambda: see_through(spoil=float("nan")),
    "infinite": lambda: see_through(spoil=float("-inf")),
    "long and HTML": lambda: see_through(words=LONG),
    "48 heads": lambda: see_through(heads=48),
    "64 features": lambda: see_through(64, 64, features=64),
}
VIEW = {
    "usual": attention_viewer,
    "one token": lambda: attention_viewer(words=["a"]),
    "64 tokens": lambda: attention_viewer(6, 8, [f"word {n}" for n in range(64)]),
    "masked row": lambda: attention_viewer(spoil=0.0),
    "NaN": lambda: attention_viewer(spoil=float("nan")),
    "long and HTML": lambda: attention_viewer(words=LONG),
    "48 heads": lambda: attention_viewer(heads=48),
    "three kinds": lambda: attention_viewer(kinds=("encoder", "decoder", "cross")),
}


PHONE = ["usual", "64 tokens", "long and HTML", "48 heads"]
LARGE = {"64 tokens", "64 features", "long and HTML", "48 heads"}  # these take seconds each: in `make test-slow`
SIZES = [
    pytest.param(case, width, marks=pytest.mark.slow) if case in LARGE else (case, width)
    for width, cases in ((900, SEE), (390, PHONE))
    for case in cases
]


@needs_browser
@pytest.mark.parametrize(("case", "width"), SIZES)
def test_every_attention_can_be_seen_through(show, case, width):
    """Every control is used, every card is walked over; what goes wrong on the page is seen by ``show``."""
    page = show(SEE[case](), width=width)
    for box in page.locator("input[type=checkbox]").all():
        box.click()
        box.click()
    for step in range(4):
        page.locator(".steps button").nth(step).click()
        assert sentence(page).endswith(".")
    for select in page.locator("select").all():
        select.select_option(index=47)
    page.locator("summary").click()
    for name in ("Q", "K", "scores", "weights", "V", "output"):
        canvas(page, name).focus()
        words = sentence(page)
        for key in ("ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft", "+"):
            page.keyboard.press(key)
        assert sentence(page) and (": " in words)
    assert page.locator("td").count() > 0
    assert page.locator("img, b").count() == 0  # a token's HTML is text


@needs_browser
@pytest.mark.parametrize(("case", "width"), [(case, 900) for case in VIEW] + [(case, 390) for case in PHONE])
def test_every_model_can_be_viewed(show, case, width):
    page = show(VIEW[case](), width=width)
    for name in ("heatmap", "lines"):
        page.get_by_role("button", name=name).click()
        for spot in page.locator("canvas").all():
            spot.focus()
            for key in ("ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft", "Escape", "ArrowUp"):
                page.keyboard.press(key)
            assert sentence(page)
    for slider in page.locator("input[type=range]").all():
        slider.focus()
        page.keyboard.press("Home")
        assert "looks at" in sentence(page)
    for select in page.locator("select").all():
        select.select_option(index=1)
    page.locator("summary").click()
    page.locator("td").last.wait_for()
    assert page.locator("img").count() == 0


@needs_browser
def test_a_cell_that_is_pointed_at_says_what_it_was_computed_from(show):
    page = show(widgets.see_through(torch.eye(2), torch.tensor([[100.0, 0], [0, 100]]), torch.tensor([[8.0], [4]])))
    before = {name: picture(page, name) for name in ("weights", "V", "Q")}
    page.mouse.move(*pointed_at(page, "output", 1, 0, rows=2, columns=1))
    assert sentence(page) == "output of “1”, feature 0: 1 · 4 = 4"
    assert picture(page, "weights") != before["weights"] and picture(page, "V") != before["V"]
    assert picture(page, "Q") == before["Q"]  # the output comes from the weights and V alone


@needs_browser
def test_scaling_is_off_at_first_where_that_is_asked_for(show):
    page = show(widgets.see_through(torch.eye(4), torch.eye(4), torch.ones(4, 1), scaling=False))
    assert not page.get_by_label("scaling").is_checked()
    page.mouse.move(*pointed_at(page, "scores", 1, 1, rows=4, columns=4))
    assert "1 · 1" in sentence(page) and "times" not in sentence(page)
    page.get_by_label("scaling").check()
    page.mouse.move(*pointed_at(page, "scores", 2, 2, rows=4, columns=4))
    assert "times 0.5" in sentence(page)


@needs_browser
def test_a_query_is_dragged_and_put_back(show):
    page = show(see_through())
    x, y = pointed_at(page, "Q", 1, 2, rows=4, columns=3)
    width, height = canvas(page, "Q").evaluate("(canvas) => [canvas.clientWidth, canvas.clientHeight]")
    x += width - 3 * (height - 7) / 4 - 7  # words stand to the left of the cells
    before = {name: picture(page, name) for name in ("Q", "K", "scores", "weights", "V", "output")}
    page.mouse.move(x, y)
    pointed = sentence(page)
    assert pointed.startswith("query of “red”, feature 2: ")
    page.mouse.down()
    page.mouse.up()
    assert sentence(page) == pointed, "a click alone changes nothing"
    page.mouse.down()
    for step in range(1, 31):
        page.mouse.move(x, y - 2 * step)
    after = {name: picture(page, name) for name in before}
    assert {name for name in before if before[name] != after[name]} >= {"Q", "scores", "weights", "output"}
    old, new = re.findall(r"(−?[\d.]+)(?=\. Drag|\))", sentence(page))[::-1]
    assert float(new.replace("−", "-")) - float(old.replace("−", "-")) == pytest.approx(2.0, abs=0.02)  # 60 pixels
    page.mouse.move(x, y)
    page.mouse.up()
    assert "at first" not in sentence(page), "back at its place it is as at first"
    page.mouse.down()
    page.mouse.move(x + 5, y + 400)
    page.mouse.up()
    page.mouse.move(x + 5, y - 400)  # released: no longer dragged
    assert picture(page, "scores") != before["scores"]
    page.get_by_role("button", name="Q as at first").click()
    assert sentence(page) == "The queries are as at first."
    page.evaluate("document.activeElement.blur()")
    assert all(picture(page, name) == before[name] for name in ("scores", "weights", "output"))


@needs_browser
def test_cells_that_changed_are_marked_and_no_others(show):
    """Of one query only its own row changes."""
    page = show(see_through())
    canvas(page, "Q").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("+")
    assert re.search(r"feature 0: .* \(at first .*\)$", sentence(page))
    for name in ("scores", "weights", "output"):
        canvas(page, name).focus()
        assert "at first" not in sentence(page)
        page.keyboard.press("ArrowDown")
        assert "at first" in sentence(page)
        page.keyboard.press("ArrowDown")
        assert "at first" not in sentence(page)
    page.keyboard.press("Shift+Tab")
    canvas(page, "Q").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("-")
    assert "at first" not in sentence(page)


@needs_browser
def test_all_can_be_reached_and_done_by_keyboard_and_heads_differ(show):
    page = show(see_through(mask=torch.ones(4, 4).tril().bool(), heads=2))
    reached = []
    for _ in range(16):
        page.keyboard.press("Tab")
        inside = "document.activeElement.shadowRoot.activeElement"
        reached.append(page.evaluate(f"({inside}.ariaLabel ?? {inside}.innerText).split(/[,\\n]/)[0] || {inside}.type"))
        assert page.evaluate(f"getComputedStyle({inside}).outlineStyle") != "none", "focus is seen"
    assert reached[:9] == ["1 Q", "2 scores", "3 weights", "4 output", *["checkbox"] * 3, "0", "Q as at first"]
    assert set(reached[9:15]) == {"Q", "K turned", "scores", "weights", "V", "output"}
    assert reached[15] == "The weights as a table"
    first = picture(page, "weights")
    page.locator("select").select_option("1")
    assert picture(page, "weights") != first
    page.locator("select").select_option("0")
    assert picture(page, "weights") == first
    canvas(page, "Q").focus()
    assert sentence(page).startswith("query of “the”, feature 0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert sentence(page).startswith("query of “red”, feature 1")
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    assert sentence(page).startswith("query of “red”, feature 2"), "the walk ends at the edge"


@needs_browser
def test_what_a_step_has_not_reached_is_not_seen(show):
    page = show(see_through())
    page.locator(".steps button").first.click()
    assert "a query" in sentence(page)
    assert canvas(page, "Q").is_visible() and not canvas(page, "scores").is_visible()
    assert not page.locator("summary").is_visible()
    page.locator(".steps button").nth(2).click()
    assert "become weights" in sentence(page)
    assert canvas(page, "weights").is_visible() and not canvas(page, "output").is_visible()


@needs_browser
def test_a_screen_reader_hears_the_end_of_a_drag_not_each_pixel(show):
    page = show(see_through())
    page.evaluate("""window.heard = [];
        const live = document.querySelector("body > div > div").shadowRoot.querySelector("[role=status]");
        new MutationObserver(() => heard.push(live.textContent)).observe(live, { childList: true });""")
    x, y = pointed_at(page, "scores", 0, 0, rows=4, columns=4)
    page.mouse.move(x + 39, y + 39, steps=40)
    words = sentence(page)
    page.wait_for_function("heard.length > 0")
    page.wait_for_timeout(700)
    assert page.evaluate("heard") == [words]
    assert page.locator("[role=status]").count() == 1 and page.locator("[aria-live]").count() == 0


@needs_browser
def test_a_dragged_query_is_seen_in_the_table(show):
    page = show(see_through())
    page.locator("summary").click()
    table = page.locator("table")
    before = table.inner_text()
    canvas(page, "Q").focus()
    page.keyboard.press("+")
    sentence(page)
    assert table.inner_text() != before
    assert table.locator("th[scope=col]").all_inner_texts() == table.locator("th[scope=row]").all_inner_texts() == WORDS


@needs_browser
def test_a_head_is_chosen_in_the_grid_or_by_its_number(show):
    page = show(attention_viewer())
    large = "self, layer"
    spot = canvas(page, "self: ").bounding_box()
    side = (spot["width"] - 24) / 3  # of one head in small; 20 pixels of numbers stand beside them, 18 above
    page.mouse.click(spot["x"] + 20 + 1.9 * side, spot["y"] + 18 + 0.9 * side)
    sentence(page)
    assert canvas(page, large).get_attribute("aria-label").startswith("self, layer 0, head 1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    sentence(page)
    assert canvas(page, large).get_attribute("aria-label").startswith("self, layer 1, head 2")
    page.locator("select").nth(1).select_option("0")
    page.locator("select").first.select_option("1")
    sentence(page)
    assert canvas(page, large).get_attribute("aria-label").startswith("self, layer 1, head 0")


@needs_browser
def test_a_token_is_pointed_at_kept_and_let_go(show):
    page = show(widgets.attention_viewer({"self": (torch.eye(4).roll(1, 0), WORDS, WORDS)}))
    hint = sentence(page)
    spot = canvas(page, "self, layer").bounding_box()
    place = (spot["x"] + 20, spot["y"] + 22 + 1.5 * 24)
    page.mouse.move(*place)
    assert sentence(page) == "“red” looks at “the” 1.00"
    page.mouse.move(spot["x"] + spot["width"] - 20, place[1])
    assert sentence(page) == "“red” is looked at by “apple” 1.00"
    page.mouse.move(5, 5)
    assert sentence(page) == hint
    page.mouse.click(*place)
    for x, y in ((place[0], place[1] + 24), (5, 5)):  # over another token, and away
        page.mouse.move(x, y)
        assert sentence(page) == "“red” looks at “the” 1.00", "a click keeps it"
    page.mouse.click(*place)
    page.mouse.move(5, 5)
    assert sentence(page) == hint


@needs_browser
def test_kinds_of_attention_with_the_same_queries_step_together(show):
    eye = torch.eye(4)
    kinds = {"encoder": (torch.eye(3), ["x", "y", "z"], ["x", "y", "z"]), "decoder": (eye, WORDS, WORDS)}
    page = show(widgets.attention_viewer(kinds | {"cross": (eye[:, :3] + 0, WORDS, ["x", "y", "z"])}))
    sliders = page.locator("input[type=range]")
    sliders.nth(1).focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert sentence(page) == "decoder: “red” looks at “red” 1.00. cross: “red” looks at “y” 1.00"
    assert [slider.input_value() for slider in sliders.all()] == ["3", "2", "2"]


@needs_browser
def test_eight_on_one_page_do_not_disturb_one_another(show):
    page = show(*[make() for _ in range(4) for make in (see_through, attention_viewer)])
    assert page.locator(".box").count() == 8
    canvas(page, "Q", 3).focus()
    page.keyboard.press("+")
    assert sentence(page, 6).startswith("query of “the”")
    assert {sentence(page, n) for n in range(0, 8, 2) if n != 6} == {sentence(page, 0)}
    page.evaluate("ends.forEach((end) => end())")  # as a notebook does when an output goes


@needs_browser
def test_a_phone_drags_with_a_finger(show):
    page = show(see_through(), width=390, has_touch=True, device_scale_factor=3)
    page.evaluate("document.body.style.paddingBottom = '2000px'")
    spot = canvas(page, "Q").bounding_box()
    before = picture(page, "scores")
    touch = page.context.new_cdp_session(page)
    x, y = spot["x"] + spot["width"] - 12, spot["y"] + spot["height"] - 12
    for kind, moved in (("touchStart", [0]), ("touchMove", [30]), ("touchMove", [60]), ("touchEnd", [])):
        points = [{"x": x, "y": y - by} for by in moved]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert sentence(page).startswith("query of “fell”, feature 2") and "at first" in sentence(page)
    assert page.evaluate("scrollY") == 0, "the page stays where it is"
    assert picture(page, "scores") != before

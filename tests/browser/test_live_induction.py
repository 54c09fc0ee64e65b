"""The string that is written twice, on the live page in a real browser, beside Python."""

import pytest
import torch
from visiting import PICTURES, serious

from course_utils import pretrained
from course_utils.circuits import replaced_heads
from course_utils.datasets.written_twice import LETTERS, second_half_bits

pytestmark = [pytest.mark.needs("browser"), pytest.mark.needs("site")]
SECTION = "#induction-section"


def ready(visitor, **options):
    page = visitor.visit("live/index.html#written-twice", **options)
    page.wait_for_selector(f"{SECTION}[data-shown]")
    return page


@torch.no_grad()
def bits(text, out=()):
    ids = torch.tensor([[LETTERS.index(letter) for letter in 2 * text]])
    model = pretrained.load("induction")
    with replaced_heads(model, {(f"layers.{name[0]}.self_attention", int(name[2])): "mean" for name in out}):
        return second_half_bits(model, ids)


def shown(page):
    return float(page.get_attribute(SECTION, "data-bits"))


def test_a_string_is_typed_and_a_head_taken_out_by_keyboard(visitor):
    page = ready(visitor)
    page.fill("#twice", "jumpvexdq")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{SECTION}[data-shown={2 * 'jumpvexdq'}]")
    assert shown(page) == pytest.approx(bits("jumpvexdq"), abs=2e-3)
    page.locator("[data-head='1.1']").last.focus()
    page.keyboard.press("Space")
    page.locator("[data-head='1.3']").last.focus()
    page.keyboard.press("Space")
    page.wait_for_selector(f"{SECTION}[data-out='1.1, 1.3']")
    assert shown(page) == pytest.approx(bits("jumpvexdq", ["1.1", "1.3"]), abs=2e-3)
    assert "Without heads 1.1, 1.3" in page.locator(f"{SECTION} .message").inner_text()


def test_what_the_page_says_of_head_0_2_is_so(visitor):
    page = ready(visitor)
    before = shown(page)
    page.locator("[data-head='0.2']").click()
    page.wait_for_selector(f"{SECTION}[data-out='0.2']")
    assert shown(page) > before + 1
    assert page.locator(f"{SECTION} .twice td.bad").count() == 1
    page.get_by_text("qmzarwbk", exact=True).click()
    page.wait_for_selector(f"{SECTION}[data-shown={2 * 'qmzarwbk'}]")
    assert page.locator(f"{SECTION} .twice td.bad").count() == 0
    assert all(bits("qmzarwbk", [f"{layer}.{head}"]) < 0.2 for layer in (0, 1) for head in range(4))


def test_what_it_cannot_read_is_said_and_what_stood_there_goes_until_a_string_can_be_read(visitor):
    page = ready(visitor)
    before = page.get_attribute(SECTION, "data-shown")
    page.fill("#twice", "abc4")
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelector('{SECTION} .problem').textContent.includes('“4”')")
    assert page.get_attribute(SECTION, "data-shown") == before
    assert page.locator(f"{SECTION} .twice").is_hidden()
    page.fill("#twice", "abcd")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{SECTION} .twice")


def test_what_is_read_in_place_of_what_was_typed_is_said(visitor):
    page = ready(visitor)
    for typed, letters in (("über", "uber"), ("it’s", "its")):
        page.fill("#twice", typed)
        page.keyboard.press("Enter")
        page.wait_for_selector(f"{SECTION}[data-shown={2 * letters}]")
        assert f"Read as “{letters}”" in page.locator(f"{SECTION} .read-as").inner_text()
    page.fill("#twice", "abcd")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{SECTION}[data-shown=abcdabcd]")
    assert page.locator(f"{SECTION} .read-as").inner_text() == ""


def test_a_string_longer_than_any_in_training_is_said_to_be(visitor):
    page = ready(visitor)
    page.get_by_text("zyxwvutsrqponmlkjihgfedcba", exact=True).click()
    page.wait_for_function(f"document.querySelector('{SECTION} .message').textContent.includes('this one has 26')")
    assert shown(page) == pytest.approx(bits(LETTERS[::-1]), abs=2e-2)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, False), (390, True)])
def test_it_fits_and_keeps_nobody_out(visitor, width, dark):
    page = ready(visitor, width=width, dark=dark)
    page.locator("[data-head='0.2']").click()
    page.wait_for_selector(f"{SECTION}[data-out='0.2']")
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.locator("section[aria-labelledby=written-twice]").screenshot(
        path=PICTURES / f"live-twice-{width}-{'dark' if dark else 'light'}.png"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []

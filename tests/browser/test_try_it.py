"""Exercises answered on the site's pages, in a real browser, by keyboard."""

import json
import re

import pytest
from visiting import PICTURES, serious

from course_site.one_case import ONE_CASE
from course_site.try_it import judged

pytestmark = [pytest.mark.needs("browser"), pytest.mark.needs("site")]


def page_of(site, number):
    (path,) = (site / "exercises").glob(f"{int(number.split('.')[0]):02d}_*.html")
    return f"exercises/{path.name}"


def right_of(number):
    page = judged(number)
    if page["kind"] == "number":
        return str(round(page["right"], page["decimals"]))
    return next(key for key, place in page["answers"].items() if page["verdicts"][place]["passed"])


def answer(tab, block, kind, key):
    """Give an answer with keys alone, from the controls as they are."""
    keys = tab.keyboard
    if kind == "letter":
        block.locator("input[type=radio]").nth("abcde".index(key)).focus()
        keys.press("Space")
    elif kind == "cells":
        for place, button in enumerate(block.locator(".try-cell").all()):
            button.focus()
            if (button.get_attribute("aria-pressed") == "true") != (key[place] == "1"):
                keys.press("Space")
    elif kind == "order":
        for place, item in enumerate(key):
            while (at := [row.get_attribute("data-place") for row in block.locator("li").all()].index(item)) > place:
                block.locator("li").nth(at).locator("button").first.focus()
                keys.press("Enter")
    else:
        for box, text in zip(block.locator("input").all(), key if kind == "counts" else [key], strict=True):
            box.fill(text)
    block.locator(".try-check").focus()
    keys.press("Enter")


WRONG = {"4.7": "b", "1.5": "2013", "3.5": "312", "5.2": "1000011000", "10.3": "0.7278", "15.8": "10000011"}


def first_wrong(number, kind):
    if kind == "number":
        return f"{judged(number)['known'][0][0]:.4f}"
    return WRONG[number]


@pytest.mark.parametrize("number", WRONG)
def test_a_wrong_answer_is_explained_and_the_right_one_accepted(site, visitor, number):
    tab = visitor.visit(page_of(site, number))
    block = tab.locator(f"[data-try='{number}'][data-alive]")
    block.wait_for()
    page, said = judged(number), block.locator(".try-said")
    assert said.inner_text() == ""
    wrong = first_wrong(number, page["kind"])
    answer(tab, block, page["kind"], wrong)
    place = page["known"][0][1] if page["kind"] == "number" else page["answers"][wrong]
    verdict = page["verdicts"][place]
    shown = said.locator("p").all_inner_texts()
    assert "not yet" in shown[0]
    assert shown[-1] == verdict["lines"][-1] and (number == "4.7" or shown[-1].startswith("It looks like: "))
    if verdict["remedy"]:  # what to try comes with the second failure
        answer(tab, block, page["kind"], wrong)
        assert said.locator("p").last.inner_text() == verdict["remedy"]
    answer(tab, block, page["kind"], right_of(number))
    assert said.locator("p").first.inner_text().startswith(f"✓ {number} right")
    tab.reload()
    tab.locator(f"[data-try='{number}'] .try-right").wait_for()


@pytest.mark.parametrize("number", WRONG)
def test_what_was_said_goes_with_the_first_change(site, visitor, number):
    tab = visitor.visit(page_of(site, number))
    block = tab.locator(f"[data-try='{number}'][data-alive]")
    kind = judged(number)["kind"]
    answer(tab, block, kind, first_wrong(number, kind))
    assert "not yet" in block.locator(".try-said").inner_text()
    if kind == "letter":
        block.locator("input").first.click()
    elif kind in ("cells", "order"):
        block.locator(".try-cell, .try-move:last-of-type").first.click()
    else:
        block.locator("input").first.fill("1")
    assert block.locator(".try-said").inner_text() == ""


def test_nothing_is_judged_before_there_is_an_answer(site, visitor):
    for number, text in (
        ("4.7", "Choose one first."),
        ("10.3", "Type a number with 4 decimals."),
        ("3.5", "Each is a whole"),
        ("5.2", "Press the cells"),
    ):
        tab = visitor.visit(page_of(site, number))
        block = tab.locator(f"[data-try='{number}'][data-alive]")
        block.locator(".try-check").click()
        assert block.locator(".try-said").inner_text().startswith(text)


def test_the_lesson_leads_to_it(visitor):
    tab = visitor.visit("notebooks/05_masking.html")
    tab.get_by_role("link", name=re.compile("Try exercise 5.2")).click()
    tab.wait_for_selector("[data-try='5.2'][data-alive]")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, False), (390, True)])
def test_it_fits_and_keeps_nobody_out(site, visitor, width, dark):
    PICTURES.mkdir(parents=True, exist_ok=True)
    for number in ("4.7", *ONE_CASE):
        tab = visitor.visit(page_of(site, number), width=width, dark=dark)
        block = tab.locator(f"[data-try='{number}'][data-alive]")
        block.wait_for()
        kind = judged(number)["kind"]
        answer(tab, block, kind, first_wrong(number, kind))
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert [found for found in serious(tab) if "try-" in json.dumps(found)] == []
        block.screenshot(path=PICTURES / f"try-{number}-{width}-{'dark' if dark else 'light'}.png")
        tab.close()

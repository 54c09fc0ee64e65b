"""The cheat sheet: its numbers are the library's and PyTorch's, it fits on two pages, and its letters can be read."""

import math
import re

import pytest
import torch
from needs import browser, install_command
from torch import nn

from course_utils.models import count_parameters

pytestmark = pytest.mark.needs("site")
if not install_command("site"):
    from course_site import sheet, sheet_numbers


def number(text):
    return float(text.replace(",", "").split()[0])


def test_parameters_are_those_of_pytorchs_layers_and_of_the_formulas_beside_them():
    counted = sheet_numbers.layers()
    sizes = {"d_model": 512, "nhead": 8, "dim_feedforward": 2048}
    assert number(counted["encoder"]) == count_parameters(nn.TransformerEncoderLayer(**sizes))
    assert number(counted["decoder"]) == count_parameters(nn.TransformerDecoderLayer(**sizes))
    assert number(counted["attention"]) == count_parameters(nn.MultiheadAttention(512, 8)) == 4 * 512**2 + 4 * 512
    assert number(counted["feed_forward"]) == 2 * 512 * 2048 + 2048 + 512
    d, G, d_ff = 4096, 4, 14336  # noqa: N806
    assert number(counted["llama"]) == 2 * d**2 * (1 + 1 / G) + 3 * d * d_ff + 2 * d


def test_the_cache_is_that_of_the_published_model():
    shown, shape = sheet_numbers.caches(), sheet_numbers.LLAMA
    assert number(shown["token"]) * 2**10 == shape.cache_bytes(1, 1, 2)
    assert number(shown["all"]) * 2**30 == shape.cache_bytes(1, 8192, 2)
    assert number(shown["unshared"]) * 2**30 == shape.cache_bytes(1, 8192, 2, shape.num_heads)


def test_numbers_follow_the_library(monkeypatch):
    monkeypatch.setattr(sheet_numbers, "causal_mask", lambda *_: torch.ones(1, 1, 6, 6, dtype=torch.bool))
    monkeypatch.setattr(sheet_numbers, "alibi_slopes", lambda H: torch.full((H,), 0.2))
    assert sheet_numbers.masks()["causal_pairs"] == 36
    assert sheet_numbers.positions()["last_slope"] == "1/5"


def test_what_can_be_worked_out_by_hand():
    n = sheet_numbers.all_numbers()
    assert (n["masks"]["causal_pairs"], n["masks"]["window_pairs"], n["masks"]["both"]) == (21, 15, "(2, 1, 6, 6)")
    assert n["scaling"]["masked"] == "0.25, 0.75, 0.00"
    assert n["positions"]["row"] == ", ".join(
        f"{x:.2f}" for x in (math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01))
    )
    assert n["positions"]["near"] == n["positions"]["far"] != n["positions"]["other"]
    assert (n["losses"]["nats"], n["losses"]["bits"]) == (f"{math.log(26):.2f}", f"{math.log2(26):.2f}")
    entropy = -0.9 * math.log(0.9) - 0.1 * math.log(0.1 / 48)
    assert n["losses"]["floor"] == f"{entropy:.2f}"
    assert (n["states"]["added"], n["states"]["replaced"], n["states"]["positions"]) == ("7", "5", 64)
    assert (n["ranks"]["there"], n["ranks"]["back"]) == (3, 7)


def test_no_number_is_left_out_and_nothing_is_loaded():
    page = sheet.sheet_html()
    for subject in sheet_numbers.all_numbers().values():
        for name, value in subject.items():
            assert str(value) in page, name
    assert page.count('class="page"') == 2
    assert not re.search(r"""(?:src|href)=["'](?!data:)""", page)


@pytest.mark.needs("browser")
def test_on_a_phone_it_is_one_column_of_letters_that_can_be_read(tmp_path):
    (tmp_path / "index.html").write_text(sheet.sheet_html(back="../index.html"), encoding="utf-8")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark", is_mobile=True)
        page.goto((tmp_path / "index.html").as_uri())
        sizes = """[...document.querySelectorAll("p, li, td, th, h2, h2 b, code, header span, math")]
          .map((part) => parseFloat(getComputedStyle(part).fontSize))"""
        wider = "[...document.querySelectorAll('.column > div, .wide > div')].filter((b) => b.scrollWidth > b.clientWidth).length"
        assert page.evaluate(wider) == 0  # nothing need be moved sideways
        background = "getComputedStyle(document.body).backgroundColor"
        assert min(page.evaluate(sizes)) >= 14 and page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.evaluate(background) == "rgb(20, 24, 30)"
        assert page.get_by_text("Back to the course").get_attribute("href") == "../index.html"
        again = page.locator(".again").bounding_box()
        assert page.locator("header span").nth(1).bounding_box()["y"] >= again["y"] + again["height"]
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(background) == "rgb(255, 255, 255)" and not page.locator(".back").is_visible()
        chromium.close()


@pytest.mark.needs("browser")
def test_two_pages_that_can_be_read(tmp_path, capsys):
    assert sheet.write_sheet(tmp_path, back="../index.html")
    pdf = (tmp_path / "cheat-sheet.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 2
    boxes = re.findall(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", pdf)
    assert boxes and all((round(float(w)), round(float(h))) in {(595, 842), (596, 842)} for w, h in boxes)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1000, "height": 1200})
        page.goto((tmp_path / "index.html").as_uri())
        seen = page.evaluate(
            """() => ({
              cut: [...document.querySelectorAll(".page, .column")].filter((part) => part.scrollHeight > part.clientHeight + 1
                || part.scrollWidth > part.clientWidth + 3).map((part) => part.innerText.slice(0, 30)),
              small: [...document.querySelectorAll("p, li, td, th, h2, h2 b, code, header span")]
                .filter((part) => parseFloat(getComputedStyle(part).fontSize) < 7.5 * 96 / 72 - 0.01)
                .map((part) => part.innerText.slice(0, 30)),
              widths: [...document.images].map((image) => image.getBoundingClientRect().width * 25.4 / 96),
            })"""
        )
        chromium.close()
    assert (seen["cut"], seen["small"]) == ([], [])
    drawings = sorted(sheet.drawings().values(), key=lambda one: one.width)
    assert sorted(seen["widths"]) == pytest.approx([one.width for one in drawings], abs=0.2)  # none made smaller to fit
    assert all(one.smallest >= sheet.SMALLEST_PT - 0.01 and one.alt for one in drawings)


def test_without_a_browser_it_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sheet.shutil, "which", lambda name: None)
    assert not sheet.write_sheet(tmp_path)
    assert "Chromium" in capsys.readouterr().out
    assert "PDF" not in sheet.sheet_page(False) and "cheat-sheet.pdf" in sheet.sheet_page(True)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]

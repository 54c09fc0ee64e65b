"""Six slides a lesson: what is on them stands in the notebooks, and nothing is asked of anybody."""

import html
import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from needs import browser, install_command

pytestmark = pytest.mark.needs("site")
if not install_command("site"):
    from course_site import decks, prose, slides


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    slides.write_slides(folder)
    return folder


def words(text):
    """The plain words of HTML or Markdown, formulas and signs left out."""
    text = re.sub(r"<(math|style|script)\b.*?</\1>|\$[^$]*\$|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    return re.findall(r"[^\W_]+", html.unescape(re.sub(r"<[^>]*>", " ", text)))


def test_each_lesson_has_six_slides_that_stand_in_its_notebooks(root, folder):
    lessons = sorted((root / "notebooks").glob("[0-9]*.ipynb"))
    assert [path.stem for path in sorted(folder.iterdir())] == [path.stem for path in lessons]
    for path in lessons:
        page = (folder / f"{path.stem}.html").read_text(encoding="utf-8")
        parts = re.findall(r"<section class.*?</section>", page, re.DOTALL)
        assert len(parts) == 6, path.stem
        said = []
        for kind in ("notebooks", "exercises"):
            for cell in nbformat.read(root / kind / path.name, 4).cells:
                said += words(cell.source)
                for output in cell.get("outputs", ()):
                    said += words(output.get("data", {}).get("text/plain", ""))
        for part in parts:
            body = re.search(r'<div class="body">(.*)</div>', part, re.DOTALL)[1]
            shown = [word for word in words(body) if word not in {"It", "came", "out"}]
            missing = [word for word in shown if word not in set(said)]
            assert len(shown) > 10, part[:200]
            assert not missing, (path.stem, missing)


def test_nothing_is_loaded_and_no_file_is_large(folder):
    for path in folder.iterdir():
        page = path.read_text(encoding="utf-8")
        assert path.stat().st_size < slides.MOST_BYTES
        assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", page), path.name
        assert "default-src 'none'" in page


def test_figures_are_whole_and_have_alternative_texts(folder):
    for path in folder.iterdir():
        images = re.findall(r'<img src="data:image/png;base64,(\S+)" alt="([^"]*)"', path.read_text(encoding="utf-8"))
        assert len(images) >= 2, path.name
        assert all(len(png) > 5000 and alt.strip() for png, alt in images), path.name


def lesson(caption="*Dark is much.*", lead="Here is one."):
    figure = new_output("display_data", data={"image/png": "AAAA"}, metadata={"image/png": {"alt": "A heatmap."}})
    cells = []
    for number in (1, 2):
        cells.append(new_markdown_cell(f"## 1.{number} Part {number}\n\n*Core · 2 minutes*\n\n{lead}"))
        cells.append(new_code_cell("diagrams.x()", outputs=[figure]))
        cells.append(new_markdown_cell(caption))
    return new_notebook(cells=cells)


def test_a_caption_keeps_what_stands_alone():
    found = decks.pictures(lesson("*Dark is much.* It grows. Switch the mask off. Here are the weights:"))
    assert [picture.caption for picture in found] == ["*Dark is much.* It grows."] * 2
    assert [picture.lead for picture in found] == ["Here is one."] * 2


def test_without_a_caption_the_alternative_text_stands_in():
    assert decks.pictures(lesson("Now to something else."))[0].caption == "A heatmap."


def test_the_sections_asked_for_come_and_others_are_missed():
    assert [p.section for p in decks.pictures(lesson(), ("1.2", "1.1"))] == ["1.1 Part 1", "1.2 Part 2"]
    assert decks.pictures(lesson(), ("1.1", "1.7")) == ()


def test_a_lesson_that_lacks_something_is_named():
    with pytest.raises(ValueError, match='07_x: no slides, for the notebook lacks "You will learn to"'):
        decks.deck(lesson(), new_notebook(), "07_x")


def test_sentences_leave_brackets_and_emphasis_whole():
    text = "**Embedding.** An id (a number. A name.) is *no. quantity* here. So? Yes."
    assert prose.sentences(text) == [
        "**Embedding.**",
        "An id (a number. A name.) is *no. quantity* here.",
        "So?",
        "Yes.",
    ]


@pytest.mark.needs("browser")
def test_no_slide_is_cut_and_the_answer_waits(folder):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        page, errors, asked = chromium.new_page(viewport={"width": 1280, "height": 720}), [], []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        for path in sorted(folder.iterdir()):
            page.goto(path.as_uri())
            page.wait_for_selector("body[data-ready]", state="attached")
            seen = page.evaluate(
                """() => slides.map((slide) => {
                  const answer = slide.querySelector("details"), body = slide.querySelector(".body");
                  if (answer) answer.open = true;
                  const found = { high: body.scrollHeight - body.clientHeight, wide: body.scrollWidth - body.clientWidth,
                    size: parseFloat(body.style.getPropertyValue("--size")) };
                  if (answer) answer.open = false;
                  return found;
                })"""
            )
            assert all(one["high"] <= 1 and one["wide"] <= 1 and one["size"] >= 15 for one in seen), (path.name, seen)
            page.keyboard.press("ArrowRight")
            assert page.evaluate("[at, slides[1].querySelector('details').open]") == [1, False]
            page.keyboard.press("ArrowRight")  # shows the answer first
            assert page.evaluate("[at, slides[1].querySelector('details').open]") == [1, True]
            page.keyboard.press("ArrowRight")
            assert page.evaluate("at") == 2
        assert (errors, [url for url in asked if not url.startswith(("file:", "data:"))]) == ([], [])
        chromium.close()

"""The live page in a real browser, beside Python."""

import re
import statistics

import pytest
import torch
from by_python import probability
from some_words import some_words
from visiting import PICTURES, serious

from course_utils import pretrained
from course_utils.datasets.pronunciations import pronunciations, split
from course_utils.datasets.text_windows import TEXT, decode_text
from course_utils.decoding import beam_search, generate
from course_utils.pretrained.pronunciation import MAX_PHONEMES, SOUNDS, SPELLING

pytestmark = [pytest.mark.needs("browser"), pytest.mark.needs("site")]
WEIGHTS = "**/*.safetensors"


def ready(visitor, path="live/index.html", **options):
    page = visitor.visit(path, **options)
    page.wait_for_selector("body[data-ready]")
    return page


def ask(page, word):
    page.fill("#word", word)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"[data-word='{word.lower()}']")


@torch.no_grad()
def said_by_python(word):
    beams = beam_search(pretrained.load("transformer"), SPELLING.batch([word]), max_len=MAX_PHONEMES, beam_size=5)
    return [" ".join(SOUNDS.decode(row)) for row in beams.tokens[0]]


def test_twenty_words_are_pronounced_as_python_pronounces_them(visitor):
    page, times = ready(visitor), []
    for word in some_words(20):
        ask(page, word)
        found = page.locator(".beams td.sounds").all_inner_texts()
        assert found == said_by_python(word), word
        times.append(int(page.get_attribute("#word-section", "data-milliseconds")))
    print(f"\na word takes {statistics.median(times)} ms (median of {len(times)}; slowest {max(times)})")


def test_five_words_are_alive_before_the_weights_are_there(visitor):
    page = visitor.tab()
    page.route(WEIGHTS, lambda route: route.abort())
    page.goto(visitor.url + "live/index.html")
    page.wait_for_selector("body[data-ready]")
    for chip in page.locator("#word-section .chips button:not(.other)").all():
        chip.click()
        word = chip.inner_text()
        page.wait_for_selector(f"[data-word={word}]")
        assert page.locator(".spoken .sounds").inner_text() == said_by_python(word)[0]
        assert page.locator("#viewer").locator("canvas").count() == 6
    page.fill("#word", "zebra")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "document.querySelector('#word-section .problem').textContent.includes('worked out beforehand')"
    )
    visitor.problems[:] = [
        line for line in visitor.problems if "ERR_FAILED" not in line
    ]  # what this test itself cut off


def test_a_bar_is_shown_while_the_weights_load(visitor):
    page, waiting = visitor.tab(), []
    page.route(WEIGHTS, lambda route: waiting.append(route))
    page.goto(visitor.url + "live/index.html")
    page.wait_for_selector("#word-section progress")
    page.wait_for_timeout(200)
    for route in waiting:
        route.continue_()
    page.wait_for_selector("#word-section progress", state="hidden")
    page.wait_for_selector(".head")


def test_what_it_cannot_do_is_said(visitor):
    page = ready(visitor)
    for typed, part in (("c3po", "“3”"), ("", "Type a word"), ("日本", "“日”"), ("a " * 9, "9 words; 8")):
        ask(page, "phoenix")
        page.fill("#word", typed)
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector('#word-section .problem').textContent")
        assert part in page.locator("#word-section .problem").inner_text()
        assert page.locator("#word-section .result").inner_text() == ""  # nothing of the word before stays below it
        assert "no word" in page.locator("#viewer").inner_text()
        assert "no word" in page.locator("#head-switches .message").inner_text()


def test_marks_apostrophes_and_spaces_are_read_as_far_as_they_can_be(visitor):
    page = ready(visitor)
    for typed, word in (("Zürich", "zurich"), ("don’t", "dont"), ("Straße", "strasse")):
        page.fill("#word", typed)
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#word-section[data-word='{word}']")
        assert f"“{word}”" in page.locator("#word-section .read-as").inner_text()
        assert page.locator(".spoken .sounds").inner_text() == said_by_python(word)[0]
    page.fill("#word", "New York")
    page.keyboard.press("Enter")
    page.wait_for_selector("#word-section[data-word='new']")
    said = page.locator(".spoken .sounds").all_inner_texts()
    assert said == [said_by_python("new")[0], said_by_python("york")[0]]
    page.locator(".which button").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#word-section[data-word='york']")
    assert page.locator(".beams td.sounds").first.inner_text() == said[1]
    assert page.evaluate("document.activeElement.textContent") == "york"


def test_one_can_listen_to_what_it_says(visitor):
    page = visitor.tab()
    page.add_init_script(
        """window.played = [];
        const start = AudioBufferSourceNode.prototype.start;
        AudioBufferSourceNode.prototype.start = function () {
          const samples = this.buffer.getChannelData(0);
          window.played.push([this.buffer.duration, samples.reduce((most, x) => Math.max(most, Math.abs(x)), 0)]);
          return start.call(this);
        };"""
    )
    page.goto(visitor.url + "live/index.html")
    page.wait_for_selector(".head")
    page.locator("#word-section .listen").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("window.played.length === 1")
    page.locator(".layer").nth(1).click()
    page.locator("#head-switches .listen").click()
    page.wait_for_function("window.played.length === 2")
    for seconds, loudest in page.evaluate("window.played"):
        assert 0.3 < seconds < 5 and 0.05 < loudest <= 1


def test_a_link_carries_the_word(visitor):
    page = ready(visitor)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.fill("#word", "São Paulo")
    page.keyboard.press("Enter")
    page.wait_for_selector("#word-section[data-word='sao']")
    page.get_by_text("Copy a link to this").click()
    page.locator(".copied", has_text="copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url and link.endswith("live/index.html#word=S%C3%A3o%20Paulo")
    other = visitor.tab()
    other.goto(link)
    other.wait_for_selector("#word-section[data-word='sao']")
    assert other.input_value("#word") == "São Paulo"
    other.evaluate("location.hash = 'word=knight'")
    other.wait_for_selector("#word-section[data-word='knight']")
    front = visitor.visit("index.html")
    ask(front, "queue")
    front.get_by_text("Look into every layer and head").click()
    front.wait_for_selector("#word-section[data-word='queue']")


def test_the_longest_word_and_steps_through_it(visitor):
    page = ready(visitor, width=390)
    word = max(split("test"), key=len)
    ask(page, word)
    total = page.locator(".alignment tr").count() - 1
    for _ in range(total + 1):
        page.locator("#word-section .stepper button").last.click()
    assert f"Step {total} of {total}" in page.locator(".explanation p").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_heads_are_switched_off_and_on(visitor):
    page = ready(visitor)
    ask(page, "phoenix")
    message = page.locator("#head-switches .message")
    page.locator(".layer").nth(1).click()  # all cross-attention heads of one layer
    page.wait_for_function("document.querySelector('#head-switches .message').textContent.includes('heads off')")
    words = message.inner_text()
    before = max(probability("phoenix", sounds) for sounds in pronunciations()["phoenix"])
    found = re.search(r"the dictionary's\) fell from ([0-9.]+) %", words)
    assert found and float(found[1]) == pytest.approx(100 * before, abs=0.5 if before >= 0.995 else 0.06), words
    page.get_by_text("all on", exact=True).click()
    page.wait_for_function(
        "document.querySelector('#head-switches .message').textContent.startsWith('All heads are on')"
    )
    assert page.locator(".head[aria-pressed=false]").count() == 0
    for layer in range(3):
        page.locator(".layer").nth(layer).click()
    page.wait_for_function("document.querySelector('#head-switches .message').textContent.includes('one in')")
    assert re.search(r"less than one in a million|about one in [\d,]+", message.inner_text())


def ids_of(text):
    return torch.tensor([TEXT.encode(text)])


@torch.no_grad()
def test_a_text_goes_on_as_in_python(visitor):
    page = ready(visitor)
    page.fill("#prompt", "The following ")
    page.locator("#temperature").fill("0")
    page.locator("#length").fill("40")
    page.locator(".go-on > button").click()
    page.wait_for_selector(".written .looked", state="attached")  # it may be the end of a line, which has no width
    ids = generate(pretrained.load("language_model"), ids_of("The following "), max_new_tokens=40, temperature=0.0)
    assert page.locator(".written").inner_text().strip() == decode_text(ids[0]).strip()
    page.locator(".written span").nth(5).click()
    assert page.locator(".written .looked").inner_text() == "o"
    page.locator(".written").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".written span").nth(6).get_attribute("class").endswith("looked")
    assert page.locator("#text-section canvas").count() == 2


def test_characters_that_the_language_model_does_not_know(visitor):
    page = ready(visitor)
    page.fill("#prompt", "Über “quotes”")
    page.locator("#length").fill("20")
    page.locator(".go-on > button").click()
    page.wait_for_selector(".written .looked", state="attached")  # it may be the end of a line, which has no width
    assert "“Ü”" in page.locator("#text-section .problem").inner_text()
    assert page.locator(".written").inner_text().startswith('?ber "quotes"')


def test_the_front_page_loads_the_weights_for_a_new_word_only(visitor):
    page, asked = visitor.tab(), []
    page.on("request", lambda request: request.url.endswith(".safetensors") and asked.append(request.url))
    page.goto(visitor.url + "index.html")
    page.wait_for_selector("#live-word[data-word=attention]")
    page.get_by_text("knights", exact=True).click()
    page.wait_for_selector("#live-word[data-word=knights]")
    assert asked == []
    ask(page, "giraffe")
    assert page.locator(".spoken .sounds").inner_text() == said_by_python("giraffe")[0]
    assert len(asked) == 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_keeps_people_out_of_the_live_page(visitor, dark, width):
    page = ready(visitor, dark=dark, width=width)
    page.wait_for_selector(".head")
    page.locator(".head").first.click()
    page.locator("#length").fill("20")
    page.locator(".go-on > button").click()
    page.wait_for_selector(".written .looked", state="attached")  # it may be the end of a line, which has no width
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"live-{width}-{'dark' if dark else 'light'}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []

"""Predictions are kept, compared with what came out, and listed; nothing kept is said so."""

import html
import json
import re

import pytest
import torch

from course_utils import widgets
from course_utils.widgets import prediction


@pytest.fixture(autouse=True)
def none_asked(monkeypatch):
    monkeypatch.setattr(prediction, "_PREDICTIONS", {})


def test_a_choice():
    asked = widgets.predict("4.3", "Which curve stays flat?", choices=["none", "root", "<d>"])
    asked.button.click()
    assert "Choose first" in asked.message.value and asked.guess is None
    asked.inputs[0].value = "<d>"
    asked.button.click()
    assert "&lt;d&gt;" in asked.message.value
    shown = widgets.came_out("4.3", "root")
    assert repr(shown) == "Prediction 4.3. You predicted: <d>. It came out: root."
    assert "<d>" not in shown._repr_html_()


def test_a_number():
    asked = widgets.predict("4.2", "How large?", between=(0, 100), step=1)
    asked.inputs[0].value = 32
    asked.button.click()
    assert "You predicted: 32. It came out: 22.6." in repr(widgets.came_out("4.2", torch.tensor(22.627)))


def test_guess_and_outcome_are_bars_on_the_scale_of_the_slider():
    asked = widgets.predict("4.2", "How large?", between=(10, 20))
    asked.inputs[0].value = 18
    asked.button.click()
    for outcome, filled in ((12, "20.0"), (40, "100.0"), (-3, "0.0")):
        assert re.findall(r"width:([\d.]+)%", widgets.came_out("4.2", outcome)._repr_html_()) == ["80.0", filled]


def test_shares_sum_to_one():
    asked = widgets.predict("4.1", "How much?", shares=["the", "apple", "fell"])
    for control, value in zip(asked.inputs, (0.2, 0.6, 0.0), strict=True):
        control.value = value
    assert "apple 0.75" in asked.message.value
    asked.button.click()
    assert sum(asked.guess) == pytest.approx(1)
    shown = widgets.came_out("4.1", torch.tensor([0.1, 0.8, 0.1]))
    assert "apple 0.75, fell 0.00. It came out: the 0.10" in repr(shown)
    assert re.findall(r"width:([\d.]+)%", shown._repr_html_()) == ["25.0", "10.0", "75.0", "80.0", "0.0", "10.0"]
    for control in asked.inputs:
        control.value = 0.0
    asked.button.click()
    assert "Choose first" in asked.message.value and sum(asked.guess) == pytest.approx(1)


def test_without_a_click_it_says_so_and_a_later_one_is_compared_at_once():
    asked = widgets.predict("4.2", "How large?", between=(0, 1))
    assert repr(widgets.came_out("4.2", 0.25)) == "Prediction 4.2. It came out: 0.25. (No prediction was kept.)"
    asked.button.click()
    assert "You predicted: 0.5. It came out: 0.25." in asked.message.value


def test_a_count_has_no_decimals_and_starts_at_one_of_its_steps():
    count = widgets.predict("4.3", "How many?", between=(0, 25), step=1).inputs[0]
    share = widgets.predict("4.4", "How large?", between=(0, 1), step=0.01).inputs[0]
    assert (count.value, count.readout_format, share.readout_format) == (12, ".0f", ".2f")


def test_without_a_guess_what_came_out_is_behind_a_fold():
    asked = widgets.predict("4.2", "How large?", between=(0, 1))
    page = widgets.came_out("4.2", 0.25)._repr_html_()
    before, fold, inside = page.partition("</summary>")
    assert page.startswith("<details") and fold and "0.25" in inside and "0.25" not in before
    asked.button.click()
    page = widgets.came_out("4.2", 0.25)._repr_html_()
    assert "details" not in page and "You predicted: 0.5. It came out: 0.25." in page


def test_a_page_without_a_kernel_has_the_question_and_its_controls():
    def asked(**kind):
        page = widgets.predict("4.2", "A < B?", **kind)._repr_mimebundle_()["text/html"]
        assert "A &lt; B?" in page and "Run this cell" in page
        return page, json.loads(html.unescape(re.search('data-predict="(.*?)"', page).group(1)))

    page, asks = asked(choices=["<a>", "b"])
    assert "<li>&lt;a&gt;</li><li>b</li>" in page
    assert asks == {"name": "4.2", "kind": "choice", "labels": ["<a>", "b"]}
    assert asked(between=(0, 100), step=5)[1] == {
        "name": "4.2",
        "kind": "number",
        "labels": [],
        "low": 0.0,
        "high": 100.0,
        "step": 5.0,
    }
    assert asked(shares=["a", "b"])[1] == {"name": "4.2", "kind": "shares", "labels": ["a", "b"]}


def test_what_was_kept_is_noted_and_again_when_it_comes_out(monkeypatch):
    noted = []
    monkeypatch.setattr(prediction.progress_log, "predicted", lambda *entry: noted.append(entry))
    asked = widgets.predict("4.2", "How large?", between=(0, 1))
    widgets.predict("4.1", "Which?", choices=["a", "b"])
    asked.button.click()
    widgets.came_out("4.2", 0.25)
    widgets.came_out("4.1", "a")
    assert noted == [
        ("4.2", "How large?", "0.5", "not there yet"),
        ("4.2", "How large?", "0.5", "0.25"),
    ]


def test_the_table_of_all():
    assert repr(widgets.predictions()) == "No predictions yet."
    widgets.predict("4.1", "A < B?", choices=["yes", "no"]).inputs[0].value = "no"
    prediction._PREDICTIONS["4.1"].button.click()
    widgets.came_out("4.1", "yes")
    widgets.predict("4.2", "How large?", between=(0, 1))
    assert repr(widgets.predictions()).split("\n") == [
        "4.1 A < B? You: no. It came out: yes.",
        "4.2 How large? You: no prediction was kept. It came out: not there yet.",
    ]
    page = widgets.predictions()._repr_html_()
    assert "A &lt; B?" in page and page.count("<tr>") == 4
    kept, fold, rest = page.partition("<details><summary>1 without a prediction of yours</summary>")
    assert "it came out" in kept and "How large?" in rest and "How large?" not in kept


def test_the_same_question_asked_again_still_has_what_was_kept():
    asked = widgets.predict("4.1", "Which?", choices=["a", "b"])
    asked.inputs[0].value = "b"
    asked.button.click()
    again = widgets.predict("4.1", "Which?", choices=["a", "b"])
    assert again is not asked and again.inputs[0].value == "b" and "Kept: b." in again.message.value
    assert "You predicted: b. It came out: a." in repr(widgets.came_out("4.1", "a"))


def test_another_question_of_the_same_name_starts_anew():
    widgets.predict("4.1", "Old?", between=(0, 1)).button.click()
    widgets.predict("4.1", "New?", between=(0, 1))
    assert "no prediction was kept" in repr(widgets.predictions()) and "Old" not in repr(widgets.predictions())


def test_without_a_browser_the_question_and_its_choices_can_be_read():
    asked = widgets.predict("4.1", "Which?", choices=["this", "that"])
    assert repr(asked) == "[predict 4.1: Which? One of: this; that. Run this cell to keep your prediction.]"
    asked = widgets.predict("4.2", "Which of these is it, do you say?", choices=["word " * 20, "that"])
    assert asked._repr_mimebundle_()["text/plain"] == repr(asked)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "0 were given"),
        ({"choices": ["a", "b"], "between": (0, 1)}, "2 were given"),
        ({"choices": ["a"]}, "at least two texts"),
        ({"shares": ["a", "a"]}, "all different"),
        ({"between": (1, 0)}, "low < high"),
    ],
)
def test_what_leaves_nothing_to_predict(given, words):
    with pytest.raises(ValueError, match=words):
        widgets.predict("4.1", "What?", **given)


def test_an_outcome_of_another_form():
    widgets.predict("4.1", "Which?", choices=["a", "b"])
    widgets.predict("4.2", "How much?", between=(0, 1))
    widgets.predict("4.3", "How?", shares=["a", "b"])
    for name, value, words in (("4.1", "c", "one of a, b"), ("4.2", "c", "one number"), ("4.3", [1.0], "2 shares")):
        with pytest.raises(ValueError, match=words):
            widgets.came_out(name, value)
    with pytest.raises(ValueError, match=r"no prediction '4\.9' was asked"):
        widgets.came_out("4.9", 1.0)

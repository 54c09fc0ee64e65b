"""The half of a check that runs in the kernel: the same as the notebook's, on the cases it is given."""

import base64

import IPython.display
import pytest

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.running import observe_answer
from course_checks.running.encode import encode, pack
from course_grader.in_sandbox.kernel_side import MIME, observe
from course_grader.judging.observations import decode_observations


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: messages.append(data[MIME]))
    return messages


def probe(number, answer, guarded=True, seed=3):
    entry = find(number)
    cases = cases_of(entry, seed)
    text, data = pack(encode({"call": entry.call.sent(), "cases": [case.sent() for case in cases]}))
    observe(answer, guarded, "nonce", text, base64.b64encode(data).decode())
    return cases


@pytest.mark.parametrize("number", ["1.1", "1.4", "1.5", "2.5", "5.3", "5.4"])
def test_the_judge_says_what_it_says_in_the_notebook(sent, number):
    entry = find(number)
    for answer in (entry.right, entry.wrong(entry.known_mistakes[0])):
        cases = probe(number, lambda answer=answer: answer, guarded=False)
        judge = decider(entry, cases)
        there = judge(decode_observations(sent.pop()))
        here = judge(observe_answer(answer, entry.call, cases, guarded=False))
        assert there == here and there.passed == (answer is entry.right)


def test_a_quiz(sent):
    cases = probe("1.7", lambda: find("1.7").right)
    assert decider(find("1.7"), cases)(decode_observations(sent[0])).passed


def test_what_is_off_limits_raises_unless_it_is_allowed(sent):
    for guarded in (True, False):
        probe("1.4", lambda: lambda q, k: q @ k.mT, guarded)
    outcomes = [decode_observations(message)["cases"][0]["outcome"] for message in sent]
    assert outcomes == ["off limits", "returned"]


def test_a_name_that_is_not_there(sent):
    probe("1.1", lambda: dot)  # noqa: F821
    assert sent == [{"nonce": "nonce", "undefined": "name 'dot' is not defined", "hidden": []}]


def test_an_interrupt_goes_through(sent):
    def stopped(a, b):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probe("1.1", lambda: stopped)
    assert not sent

"""The half of a check that runs in the kernel: the same as the notebook's, on the cases it is given."""

import base64

import pytest

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.exercise import Quiz
from course_checks.deciding.find import find
from course_checks.running import observe_answer
from course_checks.running.encode import encode, pack
from course_grader.in_sandbox import kernel_side
from course_grader.judging.observations import decode_observations


@pytest.fixture
def messages(monkeypatch):
    sent = []
    monkeypatch.setattr(kernel_side, "say", sent.append)
    return sent


def probe(number, answer, guarded=True):
    entry = find(number)
    cases = cases_of(entry, 3)
    text, data = pack(encode({"call": entry.call.sent(), "cases": [case.sent() for case in cases]}))
    kernel_side.observe(answer, guarded, "nonce", text, base64.b64encode(data).decode())
    return cases


@pytest.mark.parametrize("number", ["1.1", "1.4", "1.5", "1.7", "2.5", "5.3", "5.4"])
def test_the_verdict_is_that_of_the_notebook(messages, number):
    entry = find(number)
    wrong = "no letter" if isinstance(entry, Quiz) else entry.wrong(entry.known_mistakes[0])
    for answer in (entry.right, wrong):
        cases = probe(number, lambda answer=answer: answer, guarded=False)
        decide = decider(entry, cases)
        there = decide(decode_observations(messages.pop()))
        here = decide(observe_answer(answer, entry.call, cases, guarded=False))
        assert there == here and there.passed == (answer is entry.right)


def test_what_is_off_limits_raises_unless_it_is_allowed(messages):
    for guarded in (True, False):
        probe("1.4", lambda: lambda q, k: q @ k.mT, guarded)
    outcomes = [decode_observations(message)["cases"][0]["outcome"] for message in messages]
    assert outcomes == ["off limits", "returned"]


def test_a_name_that_is_not_there(messages):
    probe("1.1", lambda: dot)  # noqa: F821
    assert messages == [{"nonce": "nonce", "undefined": "name 'dot' is not defined", "hidden": []}]


def test_an_interrupt_goes_through(messages):
    def stopped(a, b):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probe("1.1", lambda: stopped)
    assert not messages

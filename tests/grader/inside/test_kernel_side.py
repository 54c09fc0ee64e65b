"""The half of a check that runs in the kernel: the same probe as the notebook's, on the inputs it is given."""

import base64

import IPython.display
import pytest

from course_grader.inside.kernel_side import MIME, observe
from course_grader.judging.observations import take_apart
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of, judge_for
from course_utils.checks.probes import observe_answer
from course_utils.checks.probes.codec import encode, pack


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: messages.append(data[MIME]))
    return messages


def probe(number, answer, guarded=True, seed=3):
    inputs = cases_of(find(number), seed)
    text, data = pack(encode(inputs))
    observe(number, answer, guarded, "nonce", text, base64.b64encode(data).decode())
    return inputs


@pytest.mark.parametrize("number", ["1.1", "1.4", "1.5", "2.5", "5.3", "5.4"])
def test_the_judge_says_what_it_says_in_the_notebook(sent, number):
    entry = find(number)
    for answer in (entry.reference, entry.with_faults(entry.faults[0])):
        inputs = probe(number, lambda answer=answer: answer, guarded=False)
        judge = judge_for(entry, inputs)
        there = judge(take_apart(sent.pop()))
        here = judge(observe_answer(number, answer, inputs, guarded=False))
        assert there == here and there.passed == (answer is entry.reference)


def test_a_quiz(sent):
    inputs = probe("1.7", lambda: find("1.7").right)
    assert judge_for(find("1.7"), inputs)(take_apart(sent[0])).passed


def test_what_is_off_limits_raises_unless_it_is_allowed(sent):
    for guarded in (True, False):
        probe("1.4", lambda: lambda q, k: q @ k.mT, guarded)
    outcomes = [take_apart(message)["cases"][0]["outcome"] for message in sent]
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

"""The half of a check that runs in the kernel: the same as the notebook's, on the cases it is given."""

import base64

import pytest

from course_checks.deciding.decide import cases_of
from course_checks.deciding.find import find
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

"""How an answer is called: cases and calls as they reach a student's kernel, and what a student is shown of them."""

import copy

import torch

from course_checks.running.call import Call, Case
from course_checks.running.encode import decode, encode, pack, unpack

CASE = Case("ties", values_only=True, driver={"seed": 7}, deciding={"right": 3}, x=torch.ones(2), k=1)


def carried(plain):
    return decode(unpack(*pack(encode(plain))))


def test_arguments_go_by_position_and_nothing_else_does():
    assert Call().on(lambda first, second: (second, len(first)), CASE) == (1, 2)


def test_a_case_is_its_arguments_and_keeps_the_rest_when_copied():
    assert list(CASE) == ["x", "k"]
    again = copy.deepcopy(CASE)
    assert (again.labels, again.values_only, again.driver, again.deciding) == (
        ("ties",),
        True,
        {"seed": 7},
        {"right": 3},
    )
    assert again["x"] is not CASE["x"]


def test_a_case_arrives_without_what_says_what_is_right():
    received = Case.received(carried(CASE.sent()))
    assert list(received) == ["x", "k"] and torch.equal(received["x"], CASE["x"]) and received["k"] == 1
    assert (received.values_only, received.driver) == (True, {"seed": 7})
    assert received.labels == () and received.deciding == {}


def test_a_call_arrives_as_it_was_sent():
    for call in (Call(), Call("class", "lesson_05.detector", ("torch.softmax",), True, False, 9, "too many")):
        assert Call.received(carried(call.sent())) == call


def test_a_driver_calls_in_a_way_of_its_own_and_shows_what_it_hands_over():
    call, case = Call(driver="lesson_05.detector"), Case(attend="running mean", x=torch.arange(4.0).view(1, 2, 2))
    running_mean = call.on(lambda attend, x: attend(x), case)
    assert running_mean.tolist() == [[[0, 1], [1, 2]]]
    shown = call.shown(case)
    assert list(shown) == ["attend", "x"] and torch.equal(shown["attend"](shown["x"]), running_mean)


def test_without_a_driver_the_arguments_are_shown_as_they_are():
    shown = Call().shown(CASE)
    assert type(shown) is dict and shown == dict(CASE)

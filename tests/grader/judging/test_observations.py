"""Only what a probe makes gets through; whatever else a judge makes of it costs one exercise (``test_score``)."""

import base64
import json
import pickle

import pytest
import torch

from course_checks.deciding.decide import cases_of
from course_checks.deciding.exercise import Quiz
from course_checks.deciding.find import find
from course_checks.running import observe_answer
from course_checks.running.encode import pack
from course_grader.judging.observations import Malformed, decode_observations


def payload(tree):
    text, data = pack(tree)
    return {"text": text, "data": base64.b64encode(data).decode()}


def case(**changes):
    return {"outcome": "returned", "changed": [], "value": {"kind": "none"}} | changes


def called(*cases):
    return {"answer": "called", "type": "function", "cases": list(cases)}


TENSOR = {"kind": "tensor", "dtype": "float32", "shape": [2], "device": "cpu", "value": torch.zeros(2)}


@pytest.mark.parametrize(
    "tree",
    [
        called(case(value=TENSOR | {"dtype": "int64"})),
        called(case(value=TENSOR | {"dtype": "complex64", "value": torch.zeros(2, dtype=torch.complex64)})),
        called(case(value={name: TENSOR[name] for name in ("kind", "dtype", "shape", "device")})),
        called(case(value=TENSOR | {"shape": torch.zeros(2, 2)})),
        called(case(value={"kind": "float", "value": "1_0"})),
        called(case(value={"kind": "int", "value": "9" * 4000})),
        called(case(value={"kind": "list", "value": {"kind": "none"}})),
        called(case(value={"kind": "strange"})),
        called(case(outcome="right")),
        called(case(changed="a")),
        called(case(gradients={"kind": "dict", "value": [[{"kind": "none"}, {"kind": "none"}]]})),
        called(case(again={"type": "E", "message": 7})),
        called({"outcome": "raised", "changed": [], "type": "E", "message": "", "function": 7}),
        called(case(value=torch.zeros(2, 2))),
        called(*[case()] * 1_001),
        {"answer": torch.zeros(1), "type": "x", "cases": []},
        [],
    ],
)
def test_everything_else_does_not(tree):
    with pytest.raises(Malformed):
        decode_observations(payload(tree))


def test_depth_ends():
    value = {"kind": "none"}
    for _ in range(50):
        value = {"kind": "list", "value": [value]}
    with pytest.raises(Malformed):
        decode_observations(payload(called(case(value=value))))


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"text": "{}", "data": 7},
        {"text": "{}", "data": "not base64!"},
        {"text": "{}", "data": base64.b64encode(pickle.dumps(print)).decode()},
        {"text": "[" * 100_000, "data": payload({})["data"]},
        {"text": '{"tensor": ["t9"]}', "data": payload({})["data"]},
        {"text": '{"answer": [' + "0," * 300_000 + "0]}", "data": payload({})["data"]},
        {"text": '{"tensor": "t9"}', "data": payload({})["data"]},
        {"text": json.dumps({"answer": "called"})[:-1], "data": payload({})["data"]},
    ],
)
def test_what_is_no_json_or_safetensors(sent):
    with pytest.raises(Malformed):
        decode_observations(sent)


@pytest.mark.parametrize("number", ["0.2", "1.1", "1.4", "1.7", "2.5", "3.2", "5.4", "6.1", "7.2", "8.1", "12.1"])
def test_what_real_answers_send_comes_through_as_it_was(number):
    entry = find(number)
    cases = cases_of(entry, 3)
    for answer in ["a"] if isinstance(entry, Quiz) else [entry.right, entry.wrong(entry.known_mistakes[0])]:
        text, data = pack(observe_answer(answer, entry.call, cases, guarded=False))
        assert pack(decode_observations({"text": text, "data": base64.b64encode(data).decode()})) == (text, data)

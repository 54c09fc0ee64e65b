"""Only what a probe makes gets through: hand-made exceptions, and observations mutated at random."""

import base64
import copy
import json
import pickle
import random
import time

import pytest
import safetensors.torch
import torch

from course_checks.deciding.decide import cases_of, decider
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


SOON_S = 30.0  # of this process's own time, on any machine: what is quadratic takes minutes
EXERCISES = ["0.2", "1.1", "1.4", "1.7", "2.5", "3.2", "5.4", "6.1", "7.2", "8.1", "12.1"]
TIMES = 60
KEYS = "kind value shape dtype device outcome cases changed type message tensor again".split()
KINDS = ("none", "bool", "int", "float", "str", "tensor", "array", "list", "tuple", "dict", "other")
DTYPES = "float64 float16 bfloat16 int64 int8 uint8 bool uint16 uint64 complex64 float8_e4m3fn float8_e5m2".split()
ODD_DTYPES = [getattr(torch, name) for name in DTYPES if hasattr(torch, name)]
SHAPES = ((), (0,), (1,), (0, 2**40), (3, 0, 5), (100_000,), (1,) * 60)
NUMBERS = (0, -1, 2**63, 1e308, "nan", "inf", "-inf", "1e9999", "9" * 3000)
WORDS = ("", "x", "\ud800", "\x00", "t0", "t1")
TREES = ([], {}, {"kind": "none"}, {"tensor": "t0"}, {"kind": "float", "value": "nan"}, [0], [2**62, 2])
LEAVES = (None, True, False, *NUMBERS, *WORDS, *TREES, {"kind": "other", "type": "x" * 100_000})


def paths_in(tree, path=()):
    """The path of every node."""
    yield path
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, item in inside:
        yield from paths_in(item, (*path, key))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def mutate_tree(tree, chance):
    """Change one node of a JSON tree."""
    paths = [path for path in paths_in(tree) if path]
    path = chance.choice(paths)
    parent, key, node = at(tree, path[:-1]), path[-1], at(tree, path)
    how = chance.randrange(7)
    if how == 0:
        parent[key] = copy.deepcopy(chance.choice(LEAVES))
    elif how == 1:
        del parent[key]
    elif how == 2:
        parent[key] = copy.deepcopy(at(tree, chance.choice(paths)))
    elif how == 3:
        parent[key] = node * chance.choice((2, 100)) if isinstance(node, (list, str)) else [node] * 3
    elif how == 4:
        parent[key] = {"kind": chance.choice(KINDS), "value": node}
    elif how == 5 and isinstance(node, dict):
        node[chance.choice(KEYS)] = copy.deepcopy(chance.choice(LEAVES + KINDS))
    else:
        for _ in range(chance.choice((1, 7, 9, 20))):
            node = [node]
        parent[key] = node


def mutate_tensors(tree, tensors, chance):
    """Change a tensor, and most often what is said about it."""
    name = chance.choice(sorted(tensors))
    old = tensors[name]
    wide = old.dtype in (torch.float32, torch.float64)
    new = chance.choice(
        [
            lambda: old.to(chance.choice(ODD_DTYPES)),
            lambda: torch.full_like(old, chance.choice((float("nan"), float("inf"), 1e38)) if wide else 1),
            lambda: torch.zeros(chance.choice(SHAPES), dtype=old.dtype),
            lambda: old.expand(2, *old.shape).contiguous(),
            lambda: torch.zeros(800_000, dtype=old.dtype),
        ]
    )()
    tensors[name] = new
    for path in paths_in(tree):
        node = at(tree, path)
        if isinstance(node, dict) and node.get("value") == {"tensor": name} and chance.random() < 0.9:
            node |= {"dtype": str(new.dtype).removeprefix("torch."), "shape": list(new.shape)}


def mutated(text, data, chance):
    """A payload like this one, but for some things."""
    tree, tensors = json.loads(text), safetensors.torch.load(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if tensors and chance.random() < 0.4:
            mutate_tensors(tree, tensors, chance)
        elif isinstance(tree, dict) and tree:
            mutate_tree(tree, chance)
    text, data = json.dumps(tree), bytearray(safetensors.torch.save(tensors))
    if chance.random() < 0.1:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    if chance.random() < 0.03:
        del data[chance.randrange(len(data)) :]
    if chance.random() < 0.03:
        text = text[: chance.randrange(len(text))]
    return {"text": text, "data": base64.b64encode(data).decode()}


@pytest.mark.parametrize("number", EXERCISES)
def test_whatever_is_sent_is_refused_or_judged_and_soon(number):
    """What real answers sent comes through as it was; mutated at random, it is malformed or can be judged."""
    entry, chance = find(number), random.Random(f"bend {number}")
    cases = cases_of(entry, 3)
    judge = decider(entry, cases)
    answers = ["a"] if isinstance(entry, Quiz) else [entry.right, entry.wrong(entry.known_mistakes[0])]
    sent = [pack(observe_answer(answer, entry.call, cases, guarded=False)) for answer in answers]
    for text, data in sent:
        assert pack(decode_observations({"text": text, "data": base64.b64encode(data).decode()})) == (text, data), (
            number
        )
    judged = 0
    for turn in range(TIMES):
        payload, started = mutated(*chance.choice(sent), chance), time.process_time()
        try:
            judge(decode_observations(payload)).text(show_expected=False)
            judged += 1
        except Malformed:
            pass
        took = time.process_time() - started
        assert took < SOON_S, f"turn {turn} of {number}: {took:.1f} s"
    assert judged > TIMES / 20, "hardly anything gets through: the mutations are too coarse to try the judge"

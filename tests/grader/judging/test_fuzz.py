"""Observations bent at random from what real answers sent: they are refused as malformed, or judged, and soon."""

import base64
import copy
import json
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

SOON_S = 30.0  # of this process's own time, on any machine: what is quadratic takes minutes
EXERCISES = ["0.2", "1.1", "1.4", "1.7", "2.5", "3.2", "5.4", "6.1", "7.2", "8.1", "12.1"]
TIMES = 60
NAMES = (
    "kind",
    "value",
    "shape",
    "dtype",
    "device",
    "outcome",
    "cases",
    "changed",
    "type",
    "message",
    "tensor",
    "again",
)
KINDS = ("none", "bool", "int", "float", "str", "tensor", "array", "list", "tuple", "dict", "other")
ODD_DTYPES = [
    getattr(torch, name)
    for name in "float64 float16 bfloat16 int64 int8 uint8 bool uint16 uint64 complex64 float8_e4m3fn float8_e5m2".split()
    if hasattr(torch, name)
]
WIDE, NOT_FINITE = (torch.float32, torch.float64), (float("nan"), float("inf"), 1e38)
NUMBERS = (0, -1, 2**63, 1e308, "nan", "inf", "-inf", "1e9999", "9" * 3000)
WORDS = ("", "x", "\ud800", "\x00", "t0", "t1")
TREES = ([], {}, {"kind": "none"}, {"tensor": "t0"}, {"kind": "float", "value": "nan"}, [0], [2**62, 2])
LEAVES = (None, True, False, *NUMBERS, *WORDS, *TREES, {"kind": "other", "type": "x" * 100_000})


def places(tree, path=()):
    """The path of every node."""
    yield path
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, item in inside:
        yield from places(item, (*path, key))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def bend_tree(tree, chance):
    """Change one node of a JSON tree."""
    paths = [path for path in places(tree) if path]
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
        node[chance.choice(NAMES)] = copy.deepcopy(chance.choice(LEAVES + KINDS))
    else:
        for _ in range(chance.choice((1, 7, 9, 20))):
            node = [node]
        parent[key] = node


def bend_tensors(tree, tensors, chance):
    """Change a tensor, and most often what is said about it."""
    name = chance.choice(sorted(tensors))
    old = tensors[name]
    how = chance.randrange(5)
    if how == 0:
        new = old.to(chance.choice(ODD_DTYPES))
    elif how == 1:
        new = torch.full_like(old, chance.choice(NOT_FINITE) if old.dtype in WIDE else 1)
    elif how == 2:
        new = torch.zeros(
            chance.choice(((), (0,), (1,), (0, 2**40), (3, 0, 5), (100_000,), (1,) * 60)), dtype=old.dtype
        )
    elif how == 3:
        new = old.expand(2, *old.shape).contiguous()
    else:
        new = torch.zeros(800_000, dtype=old.dtype)
    tensors[name] = new
    for path in places(tree):
        node = at(tree, path)
        if isinstance(node, dict) and node.get("value") == {"tensor": name} and chance.random() < 0.9:
            node |= {"dtype": str(new.dtype).removeprefix("torch."), "shape": list(new.shape)}


def bent(text, data, chance):
    """A payload like the given one, but for some things."""
    tree, tensors = json.loads(text), safetensors.torch.load(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        if tensors and chance.random() < 0.4:
            bend_tensors(tree, tensors, chance)
        elif isinstance(tree, dict) and tree:
            bend_tree(tree, chance)
    text, data = json.dumps(tree), bytearray(safetensors.torch.save(tensors))
    if chance.random() < 0.1:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    if chance.random() < 0.03:
        del data[chance.randrange(len(data)) :]
    if chance.random() < 0.03:
        text = text[: chance.randrange(len(text))]
    return {"text": text, "data": base64.b64encode(data).decode()}


@pytest.mark.parametrize("number", EXERCISES)
def test_what_is_bent_is_refused_or_judged(number):
    entry, chance = find(number), random.Random(f"bend {number}")
    inputs = cases_of(entry, 3)
    judge = decider(entry, inputs)
    answers = ["a"] if isinstance(entry, Quiz) else [entry.right, entry.wrong(entry.known_mistakes[0])]
    seen = [pack(observe_answer(answer, entry.call, inputs, guarded=False)) for answer in answers]
    judged = 0
    for turn in range(TIMES):
        payload, started = bent(*chance.choice(seen), chance), time.process_time()
        try:
            verdict = judge(decode_observations(payload))
            verdict.text(show_expected=False)
            judged += 1
        except Malformed:
            pass
        took = time.process_time() - started
        assert took < SOON_S, f"turn {turn} of {number}: {took:.1f} s"
    assert judged > TIMES / 20, "hardly anything gets through: the bending is too coarse to try the judge"

"""The probe: survives any answer, leaves no trace, writes down what happened."""

import random

import numpy as np
import pytest
import torch

from course_utils.checks.probes.observe import observe, observe_value
from course_utils.checks.probes.probe import Probe
from course_utils.checks.probes.state import neutral_state

CASE = {"x": torch.arange(3.0)}


def observed(answer, expects="function", off_limits=(), case=CASE):
    return observe(answer, [case], Probe(expects=expects, off_limits=off_limits))


def global_state():
    return (
        torch.get_rng_state().tolist(),
        random.getstate(),
        [part.tolist() if isinstance(part, np.ndarray) else part for part in np.random.get_state()],
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.is_grad_enabled(),
    )


def vandal(x):
    torch.manual_seed(1)
    random.seed(1)
    np.random.seed(1)
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    return x


def test_global_state_is_left_alone():
    before = global_state()
    observed(vandal)
    assert global_state() == before
    assert torch.empty(0).device == torch.device("cpu")


def test_answers_start_from_one_state_whatever_the_notebook_did():
    torch.set_default_dtype(torch.float64)
    try:
        tree = observed(lambda x: torch.ones(2))["cases"][0]["value"]
    finally:
        torch.set_default_dtype(torch.float32)
    assert tree["dtype"] == "float32"


def test_two_runs_of_a_random_answer_agree():
    with neutral_state():
        first = torch.rand(3)
    with neutral_state():
        assert torch.equal(torch.rand(3), first)


def test_mutation_is_noticed_and_the_inputs_are_kept():
    def mutates(x):
        x += 1
        return x

    case = {"x": torch.arange(3.0), "y": [1, 2]}
    assert observed(lambda x, y: mutates(x), case=case)["cases"][0]["changed"] == ["x"]
    assert observed(lambda x, y: y.append(3), case=case)["cases"][0]["changed"] == ["y"]
    assert observed(lambda x, y: x.resize_(1), case=case)["cases"][0]["changed"] == ["x"]
    assert case["x"].tolist() == [0, 1, 2] and case["y"] == [1, 2]


def test_nan_in_the_input_is_not_a_mutation():
    assert observed(lambda x: x, case={"x": torch.tensor([float("nan")])})["cases"][0]["changed"] == []


def raising(error):
    def answer(x):
        raise error

    return answer


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


class Exiting(Exception):
    def __str__(self):
        raise SystemExit


class Text(str):
    def __getitem__(self, index):
        raise SystemExit


class Texting(Exception):
    def __str__(self):
        return Text("no")


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (ValueError("no"), "ValueError"),
        (SystemExit(0), "SystemExit"),
        (RecursionError(), "RecursionError"),
        (GeneratorExit(), "GeneratorExit"),
        (Unprintable(), "Unprintable"),
        (Exiting(), "Exiting"),
        (Texting(), "Texting"),
        (NotImplementedError(), "NotImplementedError"),
    ],
)
def test_what_the_answer_raises_is_written_down(error, name):
    case = observed(raising(error))["cases"][0]
    assert (case["outcome"], case["type"]) == ("raised", name)


def test_a_keyboard_interrupt_is_the_users_own():
    with pytest.raises(KeyboardInterrupt):
        observed(raising(KeyboardInterrupt()))


def test_the_students_own_line_is_named():
    namespace = {}
    exec(
        compile("def answer(x):\n    y = x + 1\n    return y @ torch.ones(9)\n", "student.py", "exec"),
        {"torch": torch},
        namespace,
    )
    assert observed(namespace["answer"])["cases"][0]["line"].startswith("line 3")


def test_lines_inside_pytorch_are_not_the_students():
    namespace = {}
    text = "class Net(nn.Module):\n    def forward(self, x):\n        return self.weight @ x\n"
    text += "def answer(x):\n    return Net()(x)\n"
    exec(compile(text, "student.py", "exec"), {"nn": torch.nn}, namespace)
    namespace["answer"].__globals__.update(namespace)
    assert observed(namespace["answer"])["cases"][0]["line"].startswith("line 3")  # not the line of Module.__getattr__


class Liar:
    @property
    def __class__(self):
        raise RuntimeError

    def __call__(self, x):
        return x


def test_an_answer_is_what_its_type_says():
    assert observed(Liar())["answer"] == "called"
    assert observed(Liar(), expects="class")["type"] == "Liar"
    assert observed(Liar)["type"] == "class"


@pytest.mark.parametrize("answer", [None, ...])
def test_a_missing_answer(answer):
    assert observed(answer)["answer"] == "missing"
    assert observe_value(answer)["answer"] == "missing"


@pytest.mark.parametrize(
    ("answer", "expects"),
    [(3, "function"), (torch.ones(1), "function"), (int, "function"), (len, "class"), ([], "class")],
)
def test_the_wrong_kind_of_answer(answer, expects):
    assert observed(answer, expects)["answer"] == "wrong kind"


def gradients(answer, **case):
    return observe(answer, [case], Probe(gradients=True))["cases"][0].get("gradients")


X, Y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
WEIGHTS = torch.tensor([1.0, 2.0]).cos()  # of the sum whose gradients are noted


def test_gradients_reach_every_floating_point_argument():
    found = {key["value"]: value["value"] for key, value in gradients(lambda x, y, k: x * y, x=X, y=Y, k=2)["value"]}
    assert found.keys() == {"x", "y"}
    torch.testing.assert_close(found["x"], WEIGHTS * Y)
    torch.testing.assert_close(found["y"], WEIGHTS * X)


def test_gradients_are_seen_where_the_notebook_has_switched_them_off():
    with torch.no_grad():
        found = gradients(lambda x: 2 * x, x=X)
    assert found["kind"] == "dict" and found["value"][0][1]["value"].any()


def test_gradients_through_several_parts_and_from_none():
    found = dict(gradients(lambda x, y: (x, {"twice": 2 * x}), x=X, y=Y)["value"] and [
        (key["value"], value) for key, value in gradients(lambda x, y: (x, {"twice": 2 * x}), x=X, y=Y)["value"]
    ])  # fmt: skip
    torch.testing.assert_close(found["x"]["value"], 3 * WEIGHTS)
    assert found["y"]["kind"] == "none"


@pytest.mark.parametrize(
    "answer",
    [lambda x: x.detach(), lambda x: torch.tensor(x.tolist()), lambda x: float(x.sum()), lambda x: x.sum().long()],
)
def test_no_gradient_is_said(answer):
    assert gradients(answer, x=X) == {"kind": "str", "value": "none"}


def test_an_answer_that_stops_where_gradients_are_asked_for():
    assert gradients(lambda x: torch.from_numpy(x.numpy() + 1), x=X)["value"].startswith(
        "RuntimeError: Can't call numpy"
    )


def test_a_case_of_values_only_is_not_asked_for_gradients_and_hides_its_own_names():
    assert gradients(lambda x: x, x=X, _values_only=True) is None
    assert observe(lambda x: x, [{"x": X, "_seed": 3}], Probe())["cases"][0]["outcome"] == "returned"


def test_every_case_is_called_again_from_the_last_to_the_first():
    order = []

    def answer(x):
        order.append(int(x))
        return x

    cases = [{"x": torch.tensor(float(i))} for i in range(3)]
    assert not any("again" in case for case in observe(answer, cases, Probe())["cases"])
    assert order == [0, 1, 2, 2, 1, 0]
    observe(answer, cases, Probe(again=False))
    assert len(order) == 9


def test_what_a_second_call_gives_is_noted_where_it_differs():
    kept = {}

    def remembers(x):
        return kept.setdefault("mask", x)

    def stops(x):
        kept["calls"] = kept.get("calls", 0) + 1
        if kept["calls"] > 2:
            raise ValueError("full")
        return x

    cases = [{"x": torch.zeros(2)}, {"x": torch.ones(3)}]
    first, second = observe(remembers, cases, Probe())["cases"]
    assert "again" not in first and "again" not in second and second["value"]["shape"] == [2]
    again = [case["again"] for case in observe(stops, cases, Probe())["cases"]]
    assert again == [{"type": "ValueError", "message": "full"}] * 2


def test_drawn_random_numbers_are_noted():
    assert observed(lambda x: torch.rand(2))["cases"][0]["drew"]
    assert not observed(lambda x: x + 1)["cases"][0]["drew"]


def test_a_trusted_answer_is_called_once_and_not_guarded():
    calls = []
    observe(lambda x: calls.append(x.softmax(0)), [CASE], Probe(off_limits=("torch.Tensor.softmax",)), trusted=True)
    assert len(calls) == 1


def test_the_function_that_stopped_is_named():
    def helper(x):
        raise NotImplementedError

    tree = observed(lambda x: helper(x))
    assert (tree["name"], tree["cases"][0]["function"]) == ("<lambda>", "helper")

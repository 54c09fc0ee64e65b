"""An answer is called and noted: whatever it does, nothing breaks, no trace is left, what happened is written down."""

import contextlib
import copy
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from course_checks.running.call import Call, Case
from course_checks.running.counting import Counting, counted
from course_checks.running.encode import decode, encode, pack, unpack
from course_checks.running.observe import observe, observe_answer, observe_value

X, Y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
WEIGHTS = torch.tensor([1.0, 2.0]).cos()  # of the sum whose gradients are noted


def observed(answer, expects="function", **arguments):
    return observe(answer, [Case(**(arguments or {"x": X}))], Call(expects=expects))


def one_case(answer, **arguments):
    return observed(answer, **arguments)["cases"][0]


def defined(text):
    space = {"torch": torch, "nn": torch.nn}
    exec(compile(text, "student.py", "exec"), space)
    return space["answer"]


def test_answers_start_from_one_state_whatever_the_notebook_did():
    torch.set_default_dtype(torch.float64)
    try:
        tree = one_case(lambda x: torch.ones(2))["value"]
    finally:
        torch.set_default_dtype(torch.float32)
    assert tree["dtype"] == "float32"


def test_changed_arguments_are_noted_and_the_cases_own_are_kept():
    arguments = {"x": X.clone(), "y": [1, 2], "z": torch.tensor([torch.nan])}
    assert one_case(lambda x, y, z: x.add_(1), **arguments)["changed"] == ["x"]
    assert one_case(lambda x, y, z: x.resize_(1), **arguments)["changed"] == ["x"]
    assert one_case(lambda x, y, z: y.append(3), **arguments)["changed"] == ["y"]
    assert one_case(lambda x, y, z: z, **arguments)["changed"] == []
    assert torch.equal(arguments["x"], X) and arguments["y"] == [1, 2]


class Exiting(Exception):
    def __str__(self):
        raise SystemExit


class Text(str):
    def __getitem__(self, index):
        raise SystemExit


class Texting(Exception):
    def __str__(self):
        return Text("no")


def raising(error):
    def answer(x):
        raise error

    return answer


ERRORS = (
    ValueError("no"),
    SystemExit(0),
    RecursionError(),
    GeneratorExit(),
    Exiting(),
    Texting(),
    NotImplementedError(),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_what_the_answer_raises_is_written_down(error):
    case = one_case(raising(error))
    assert (case["outcome"], case["type"]) == ("raised", type(error).__name__)


def test_a_long_message_is_cut_and_a_keyboard_interrupt_is_the_users_own():
    assert len(one_case(raising(ValueError("x" * 9999)))["message"]) == 400
    with pytest.raises(KeyboardInterrupt):
        observed(raising(KeyboardInterrupt()))


def test_the_students_own_line_is_named_and_none_inside_pytorch():
    plain = defined("def answer(x):\n    y = x + 1\n    return y @ torch.ones(9)\n")
    assert one_case(plain)["line"].startswith("line 3")
    layer = "class Net(nn.Module):\n    def forward(self, x):\n        return self.weight @ x\n"
    assert one_case(defined(f"{layer}def answer(x):\n    return Net()(x)\n"))["line"].startswith("line 3")


def test_the_function_that_stopped_is_named():
    def helper(x):
        raise NotImplementedError

    tree = observed(lambda x: helper(x))
    assert (tree["name"], tree["cases"][0]["function"]) == ("<lambda>", "helper")


class Liar:
    @property
    def __class__(self):
        raise RuntimeError

    def __call__(self, x):
        return x


def test_an_answer_is_what_its_type_says():
    assert observed(Liar())["answer"] == "called"
    assert observed(Liar(), expects="class")["type"] == "Liar"
    for answer, expects in ((3, "function"), (X, "function"), (Liar, "function"), (len, "class"), ([], "class")):
        assert observed(answer, expects)["answer"] == "wrong kind"
    for answer in (None, ...):
        assert observed(answer)["answer"] == observe_value(answer)["answer"] == "missing"


def test_a_letter_or_a_table_is_noted_and_not_called():
    assert observe_answer("b", Call(expects="value"), []) == {"answer": "value", "value": {"kind": "str", "value": "b"}}


def gradients(answer, values_only=False, **arguments):
    case = Case(values_only=values_only, **arguments)
    return observe(answer, [case], Call(gradients=True))["cases"][0].get("gradients")


def test_gradients_reach_every_floating_point_argument():
    noted = {key["value"]: value["value"] for key, value in gradients(lambda x, y, k: x * y, x=X, y=Y, k=2)["value"]}
    assert noted.keys() == {"x", "y"}
    torch.testing.assert_close(noted["x"], WEIGHTS * Y)
    torch.testing.assert_close(noted["y"], WEIGHTS * X)


def test_gradients_through_several_parts_and_from_none():
    (_, to_x), (_, to_y) = gradients(lambda x, y: (x, {"twice": 2 * x}), x=X, y=Y)["value"]
    torch.testing.assert_close(to_x["value"], 3 * WEIGHTS)
    assert to_y["kind"] == "none"


def test_gradients_reach_the_entries_of_a_dict_also_where_the_notebook_has_switched_them_off():
    with torch.no_grad():
        [[name, gradient]] = gradients(lambda weights: weights["W"] * 2, weights={"W": X, "heads": 2})["value"]
    assert name["value"] == "weights['W']"
    torch.testing.assert_close(gradient["value"], 2 * WEIGHTS)


@pytest.mark.parametrize("answer", [torch.detach, lambda x: torch.tensor(x.tolist()), lambda x: x.sum().long()])
def test_no_gradient(answer):
    assert gradients(answer, x=X) == {"kind": "str", "value": "none"}


def test_where_gradients_are_not_possible_or_not_asked_for():
    numpy = gradients(lambda x: torch.from_numpy(x.numpy() + 1), x=X)
    assert numpy["value"].startswith("RuntimeError: Can't call numpy")
    assert gradients(lambda x: x, values_only=True, x=X) is None


def test_every_case_is_called_again_from_the_last_to_the_first():
    order, cases = [], [Case(x=torch.tensor(float(i))) for i in range(3)]
    noted = observe(lambda x: order.append(int(x)), cases, Call())["cases"]
    assert order == [0, 1, 2, 2, 1, 0] and not any("again" in case for case in noted)
    observe(lambda x: order.append(int(x)), cases, Call(twice=False))
    assert len(order) == 9


def test_what_a_second_call_gives_is_noted_where_it_differs():
    calls = []

    def answer(x):
        calls.append(x)
        if len(calls) == 4:
            raise ValueError("full")
        return x + (len(calls) > 2)

    first, second = observe(answer, [Case(x=X), Case(x=Y)], Call())["cases"]
    assert first["again"] == {"type": "ValueError", "message": "full"}
    assert torch.equal(second["again"]["value"], Y + 1)


def test_drawn_random_numbers_are_noted():
    assert one_case(lambda x: torch.rand(2))["drew"] and not one_case(lambda x: x + 1)["drew"]


def test_what_is_off_limits_is_noted_unless_the_guard_is_down():
    calls, call = [], Call(off_limits=("torch.Tensor.softmax",))

    def softmax(x):
        calls.append(x)
        return x.softmax(0)

    assert observe(softmax, [Case(x=X)], call)["cases"][0]["outcome"] == "off limits"
    assert observe(softmax, [Case(x=X)], call, guarded=False)["cases"][0]["outcome"] == "returned"
    calls.clear()
    assert observe(softmax, [Case(x=X)], call, trusted=True)["cases"][0]["outcome"] == "returned"
    assert len(calls) == 1  # the check's own answers need no second call


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


CALL = Call(most_operations=10, too_many="it loops")
LONG = torch.ones(30, 2)


def once(x):
    return x * 2


def each(x):
    return torch.stack([row * 2 for row in x])


def test_what_is_one_operation_is_called_whatever_the_size():
    assert torch.equal(CALL.on(once, Case(x=LONG)), 2 * LONG)


def test_a_loop_is_stopped_where_it_takes_more_operations_than_allowed():
    assert torch.equal(CALL.on(each, Case(x=LONG[:3])), 2 * LONG[:3])
    with pytest.raises(RuntimeError, match="^it loops$"):
        CALL.on(each, Case(x=LONG))


def in_numpy(x):
    return torch.from_numpy(np.stack([row * 2 for row in x.numpy()]))


def in_lists(x):
    return torch.tensor([[2 * number for number in row] for row in x.tolist()])


def in_a_library(x):
    return torch.from_numpy(np.apply_along_axis(np.copy, 1, x.numpy()))


def in_a_thread(x):
    rows = []
    thread = threading.Thread(target=lambda: rows.extend(row * 2 for row in x))
    thread.start(), thread.join()
    return torch.stack(rows)


def in_threads(x):
    with ThreadPoolExecutor(2) as pool:
        return torch.stack(list(pool.map(torch.neg, x)))


def not_listening(x):
    rows = []
    for row in x.numpy():
        with contextlib.suppress(RuntimeError):
            rows.append(row * 2)
    return rows


@pytest.mark.parametrize("answer", [in_numpy, in_lists, in_a_library, in_a_thread, in_threads, not_listening])
def test_loops_beside_pytorch_are_stopped_as_well(answer):
    CALL.on(answer, Case(x=LONG[:1]))
    with pytest.raises(RuntimeError, match="^it loops$"):
        CALL.on(answer, Case(x=torch.ones(200, 2)))


def test_what_an_answer_imports_is_not_counted(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text("for i in range(1000):\n    int(i)\n")
    monkeypatch.syspath_prepend(tmp_path)
    CALL.on(lambda x: __import__("imported_late"), Case(x=X))


def test_a_tracer_that_was_there_is_there_again():
    def tracer(frame, event, argument):
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        CALL.on(once, Case(x=LONG))
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert after is tracer and threading.gettrace() is None


def test_a_case_may_have_a_number_and_a_sentence_of_its_own():
    assert torch.equal(CALL.on(each, Case(x=LONG, driver={"most_operations": 100})), 2 * LONG)
    with pytest.raises(RuntimeError, match="^too much$"):
        CALL.on(once, Case(x=LONG, driver={"most_operations": 0, "too_many": "too much"}))


def test_nothing_is_counted_without_a_number_or_afterwards():
    with pytest.raises(RuntimeError), Counting(3, "it loops"):
        each(LONG)
    assert Call().on(each, Case(x=LONG)).shape == (30, 2)


def test_a_function_that_an_answer_calls_too_often():
    step = counted(lambda x: x + 1, 2, "step")
    assert (step(1), step(x=5)) == (2, 6)
    with pytest.raises(RuntimeError, match="step was called more than 2 times"):
        step(1)


WATCHED = """
import sys
import torch
from course_checks.running.call import Call, Case
from course_checks.running.dispatch import DispatchWatch

class Names(DispatchWatch):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func.overloadpacket)
        return func(*args, **(kwargs or {}))

case = Case(a=torch.ones(2, 3), b=torch.ones(4, 3))
with Names():
    case["a"] @ case["b"].mT
Call(off_limits=("torch.softmax",), most_operations=9).on(lambda a, b: a @ b.mT, case)
print([name for name in sys.modules if name.startswith(("torch._dynamo", "torch._inductor"))])
"""


def test_operations_are_seen_and_the_compiler_sleeps(tmp_path, root):
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], capture_output=True, text=True, env=env, cwd=root, check=True
    )
    *operations, compiler = done.stdout.splitlines()
    assert "aten.mm" in operations and compiler == "[]"
    assert not list(tmp_path.iterdir())

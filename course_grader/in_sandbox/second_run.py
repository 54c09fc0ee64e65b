"""The second run of a right answer: a process forked from a fresh kernel runs what the answer reaches, and nothing else."""

import __future__

import ast
import asyncio
import contextlib
import functools
import gc
import inspect
import itertools
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterable

from .kernel_side import observation, received, say
from .watch import ANSWER, watch

MAX_EVENTS = 10
FUTURE = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})  # each another bit


def prepare(imports: str) -> None:
    """Import what the page imports, and use PyTorch once as a check does: what that loads is loaded for all answers."""
    import torch

    from course_checks.running import Call, Case, guard, observe_answer

    for line in imports.splitlines():
        with contextlib.suppress(Exception):
            exec(line, {})
    call = Call(off_limits=("torch.softmax",), gradients=True)
    observe_answer(lambda x: (x * 2 + 1).exp().sum(-1), call, [Case(x=torch.ones(2, 3))])
    guard.known_by_pytorch()
    gc.freeze()  # shared by all answers; a collection would copy it


def observe_again(expression: str, statements: str, known: str, nonce: str, text: str, data: str) -> None:
    """Run an answer by itself and send what was observed, with the events that ``watch`` saw.

    ``statements`` is what the answer's ``expression`` reaches, as JSON: a list of (text, whether the student wrote it). It
    may import the modules that are ``known``, with blanks between them. The rest is as for ``kernel_side.observe``.
    """
    call, cases = received(text, data)
    call.prepare()
    own = _of_checks(sys.modules)  # before the fork: to look at each name there would copy their memory
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            reached = json.loads(statements)
            message = _observed(expression, reached, frozenset(known.split()), writing, call, cases, own)
            data = f"\n{json.dumps({'nonce': nonce} | message)}\n".encode()
            while data:
                data = data[os.write(writing, data) :]
        finally:
            os._exit(0)
    os.close(writing)
    events: dict[str, None] = {}
    try:
        with open(reading) as file:
            while event := file.readline().strip():
                events[event] = None
            line = file.readline()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    say({"events": list(events)[:MAX_EVENTS]} | json.loads(line))


def _of_checks(modules: Iterable[str]) -> list[str]:
    return [name for name in modules if name.partition(".")[0] in ("course_checks", "course_grader")]


def _observed(
    expression: str,
    statements: list[tuple[str, bool]],
    known: frozenset[str],
    pipe: int,
    call,
    cases: list,
    own: list[str],
) -> dict:
    """The page's own statements run first, without a guard; those that need the student's, again in their places.

    From the student's first statement on, what is off limits is refused for good, and what observes is out of reach: who
    imports it gets a copy that nobody uses.
    """
    from IPython import get_ipython

    from course_checks.running import guard, observe, observe_answer
    from course_checks.running.encode import pack

    observe.SameNames = contextlib.nullcontext  # takes 8 ms; what an answer renames ends with this process
    observe._same = lambda *_: True  # whether it changes its arguments is known from the first run
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    frame_summary = traceback.FrameSummary.__init__  # what functions that are handed over hold is nobody's to read
    traceback.FrameSummary.__init__ = lambda *given, locals=None, **more: frame_summary(*given, **more)
    space, future, before = get_ipython().user_ns, 0, len(sys.modules)
    given = {place for place, (_, by_student) in enumerate(statements) if not by_student}
    done = {place for place in given if _run(statements[place][0], space, 0) is not None}
    with guard.off_limits(call.off_limits, None, kernels=False):
        guard.refuse_for_good(call.off_limits)
        for name in [*own, *_of_checks(itertools.islice(reversed(sys.modules), len(sys.modules) - before))]:
            del sys.modules[name]
        watch(pipe, known, call.in_pytorch)
        for place, (text, _) in enumerate(statements):
            future |= 0 if place in done else _run(text, space, future) or 0
        is_guarded = False  # for each call: it is, for all of them
        return observation(lambda: _value(expression, space), is_guarded, call, cases, observe_answer, pack)


def _value(expression: str, space: dict) -> object:
    """The answer: a name, or an attribute of one."""
    name, *attributes = expression.split(".")
    if name not in space:
        raise NameError(f"name {name!r} is not defined")
    return functools.reduce(getattr, attributes, space[name])


def _run(text: str, space: dict, future: int) -> int | None:
    """Run one statement; an error ends it alone. What it imports from ``__future__``, as flags; None after an error."""
    with contextlib.suppress(Exception):
        code = compile(text, ANSWER, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | future, dont_inherit=True)
        value = eval(code, space)
        if inspect.iscoroutine(value):
            asyncio.run(value)
        return code.co_flags & FUTURE
    return None

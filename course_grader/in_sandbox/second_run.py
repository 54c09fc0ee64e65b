"""The second run of a right answer: a process forked from a fresh kernel runs what the answer reaches, and nothing else."""

import __future__

import ast
import asyncio
import contextlib
import functools
import inspect
import json
import operator
import os
import signal

from .kernel_side import observation, received, say

FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


def prepare(imports: str) -> None:
    """Import what the page imports, and use PyTorch once as a check does: what that loads is loaded for all answers."""
    import torch

    from course_checks.running import Call, Case, observe_answer

    for line in imports.splitlines():
        with contextlib.suppress(Exception):
            exec(line, {})
    call = Call(off_limits=("torch.softmax",), gradients=True)
    observe_answer(lambda x: (x * 2 + 1).exp().sum(-1), call, [Case(x=torch.ones(2, 3))])


def observe_again(expression: str, statements: str, nonce: str, text: str, data: str) -> None:
    """Run an answer by itself and send what was observed.

    What is off limits raises from the first statement of the student's on, in every thread.

    Args:
        expression: The answer.
        statements: What it reaches, as JSON: a list of (text, whether the student wrote it).
        nonce: As for ``kernel_side.observe``.
        text: As there.
        data: As there.
    """
    from course_checks.running import guard

    call, cases = received(text, data)
    call.prepare()
    with guard.off_limits(call.off_limits, None):
        pass  # what that loads is loaded once
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            message = {"nonce": nonce} | _observed(expression, json.loads(statements), call, cases)
            with open(writing, "w") as file:
                file.write(json.dumps(message) + "\n")
        finally:
            os._exit(0)
    os.close(writing)
    try:
        with open(reading) as file:
            line = file.readline()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    say(json.loads(line))


def _observed(expression: str, statements: list, call, cases: list) -> dict:
    from IPython import get_ipython

    from course_checks.running import guard

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    shell = get_ipython()
    with guard.in_new_threads(guard.loaded(call.off_limits)):
        future = 0
        for text, by_student in statements:
            with guard.off_limits(call.off_limits, None) if by_student else contextlib.nullcontext():
                future |= _run(text, shell.user_ns, future)
        return observation(lambda: eval(expression, shell.user_ns), True, call, cases)


def _run(text: str, namespace: dict, future: int) -> int:
    """Run one statement; an error ends it alone. Returns what it imports from ``__future__``, as the compiler's flags."""
    with contextlib.suppress(Exception):
        code = compile(text, "<answer>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | future, dont_inherit=True)
        value = eval(code, namespace)
        if inspect.iscoroutine(value):
            asyncio.run(value)
        return code.co_flags & FUTURE
    return 0

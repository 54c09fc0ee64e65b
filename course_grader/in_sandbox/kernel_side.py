"""What runs inside the student's kernel: the first half of a check, and the kernel itself. It decides nothing.

The kernel is IPython's shell without Jupyter's protocol: cells come in through one pipe, a line of JSON each, and after each
one line goes out through another. What a cell shows goes nowhere. Whatever this module says when it runs there is what a
student's kernel says, and is treated so.
"""

import ast
import asyncio
import base64
import builtins
import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable

SCRATCH = "/tmp/work"
SECOND_RUN = f'__import__("{__package__}.second_run", fromlist=["x"])'  # how a cell of the second run begins
MAX_MESSAGE = 2_000
ENVIRONMENT = {
    "HOME": "/tmp", "TMPDIR": "/tmp", "IPYTHONDIR": "/tmp/ipython", "MPLCONFIGDIR": "/tmp/matplotlib",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip
reply: dict = {}  # to the cell that runs


def observe(answer: Callable, guarded: bool, nonce: str, text: str, data: str) -> None:
    """Call one answer on the given cases and say what was observed, with the reply to this cell.

    ``answer`` is a function that returns the student's answer (it may not be defined). Where it is ``guarded``, what is off
    limits raises. ``nonce`` ties the message to this one probe. How the answer is called, and on which cases, say ``text``,
    as JSON (``encode.pack``), and ``data``, the cases' tensors in base64.
    """
    from course_checks.running import guard, observe_answer
    from course_checks.running.encode import pack

    seen = observation(answer, guarded, *received(text, data), observe_answer, pack)
    say({"nonce": nonce} | seen | {"hidden": sorted(guard.hidden_called)})


def say(payload: dict) -> None:
    """Send ``payload`` with the reply to the cell that runs."""
    reply["payload"] = payload


def received(text: str, data: str) -> tuple:
    """How an answer is called and on which cases, from what ``observe`` takes."""
    from course_checks.running import Call, Case
    from course_checks.running.encode import decode, unpack

    sent = decode(unpack(text, base64.b64decode(data)))
    return Call.received(sent["call"]), [Case.received(case) for case in sent["cases"]]


def observation(
    answer: Callable, guarded: bool, call, cases: list, observe_answer: Callable, pack: Callable
) -> dict[str, str]:
    """What was observed of one answer, as JSON; by these functions of ``course_checks.running``."""
    try:
        value = answer()
    except NameError as problem:
        return {"undefined": str(problem)[:200]}
    text, data = pack(observe_answer(value, call, cases, guarded=guarded))
    return {"text": text, "data": base64.b64encode(data).decode()}


def run_rest_of_cell(text: str) -> None:
    """Run what stands below the statement at which a cell stopped, each statement by itself.

    In a notebook a cell may compare an answer with the course's own, and define it below; here the course's own is not
    there, and the comparison stops the cell.
    """
    from IPython import get_ipython

    shell, step = get_ipython(), sys.last_traceback
    text = shell.transform_cell(text)
    while step.tb_frame.f_globals is not shell.user_ns:  # IPython's own frames come first
        step = step.tb_next
    for statement in ast.parse(text).body:
        if statement.lineno > step.tb_lineno:
            shell.run_cell(ast.unparse(statement), store_history=False)


def serve(requests: int, replies: int) -> None:
    """Run the cells that come in until nobody is left to send one.

    A line of ``requests`` is [number, text], or null, which interrupts the cell that runs. One of ``replies`` is
    {"cell": number, "name": ..., "message": ...} with name and message of the error, and maybe a payload.
    """
    import course_checks.running  # noqa: F401 - while nobody waits for it

    shell, cells, loop = _shell(), queue.SimpleQueue(), asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def listen() -> None:
        with open(requests, encoding="utf-8") as lines:
            for line in lines:
                if (request := json.loads(line)) is None:
                    os.kill(os.getpid(), signal.SIGINT)
                else:
                    cells.put(request)
        os._exit(0)

    def answer(number: int, error: BaseException | None) -> None:
        reply.update(cell=number, name="" if error is None else type(error).__name__, message="")
        with contextlib.suppress(Exception):
            reply["message"] = "" if error is None else str(error)[:MAX_MESSAGE]
        with open(replies, "w", closefd=False) as file:
            file.write(json.dumps(reply) + "\n")
        reply.clear()

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=listen, daemon=True).start()
    answer(0, None)
    while True:
        number, text = cells.get()
        error = None
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            error = _run(shell, loop, text)
        except BaseException as problem:  # an interrupt, or what a student's own hook raises
            error = problem
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        answer(number, error)


def _shell():
    """IPython, with all that a notebook expects of its kernel."""
    from IPython.core import page
    from IPython.core.interactiveshell import InteractiveShell
    from matplotlib_inline.config import InlineBackend
    from traitlets.config import Config

    class Shell(InteractiveShell):
        def enable_gui(self, gui: str | None = None) -> None:
            """There is no window to open."""

        def ask_exit(self) -> None:
            """``exit()`` in a cell would end the kernel some cells later."""

    def no_input(prompt: str = "") -> str:
        raise RuntimeError("input() has nobody to ask here: write the value into the cell")

    sys.stdin, sys.stdout, sys.stderr = (open(os.devnull, mode) for mode in ("r", "w", "w"))  # noqa: SIM115
    config = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
    shell = Shell.instance(config=config)
    shell.configurables.append(InlineBackend.instance(parent=shell))
    shell.set_hook("show_in_pager", page.as_hook(page.display_page), 99)
    builtins.input = no_input
    return shell


def _run(shell, loop: asyncio.AbstractEventLoop, text: str) -> BaseException | None:
    """Run one cell as Jupyter does, inside a running event loop; the error that stopped it, if one did.

    What the second run sends is plain Python and of nobody else: it needs none of that.
    """
    if text.startswith(SECOND_RUN):
        exec(text, shell.user_ns)
        return None
    try:
        transformed, problem = shell.transform_cell(text), None
    except Exception:
        transformed, problem = text, sys.exc_info()
    cell = shell.run_cell_async(text, store_history=True, transformed_cell=transformed, preprocessing_exc_tuple=problem)
    result = loop.run_until_complete(cell)
    shell.events.trigger("post_execute")
    shell.events.trigger("post_run_cell", result)
    return result.error_before_exec or result.error_in_exec


def serve_without_sandbox() -> None:
    """Be a kernel through this process's own input and output."""
    own = [os.dup(descriptor) for descriptor in (0, 1)]
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    os.environ["MPLBACKEND"] = ENVIRONMENT["MPLBACKEND"]
    serve(*own)

"""What runs inside the student's kernel: the first half of a check, and the kernel itself. It decides nothing.

Whatever this module says when it runs there is what a student's kernel says, and is treated so.
"""

import ast
import base64
import json
import os
import sys
from collections.abc import Callable

MIME = "application/vnd.attention-course.observations+json"
SOCKETS = "/run/kernel"  # in the sandbox; the grader reaches in for the sockets
SCRATCH = "/tmp/work"
ENVIRONMENT = {
    "HOME": "/tmp", "TMPDIR": "/tmp", "IPYTHONDIR": "/tmp/ipython", "MPLCONFIGDIR": "/tmp/matplotlib",
    "JUPYTER_RUNTIME_DIR": "/tmp/jupyter", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}  # fmt: skip


def observe(answer: Callable, guarded: bool, nonce: str, text: str, data: str) -> None:
    """Call one answer on the given cases and send what was observed.

    Args:
        answer: A function without arguments that returns the student's answer (it may not be defined).
        guarded: Whether what is off limits raises.
        nonce: Ties the message to this one probe.
        text: How it is called and on which cases, as JSON (``encode.pack``).
        data: The cases' tensors, base64.
    """
    from IPython.display import display

    display({MIME: {"nonce": nonce} | observation(answer, guarded, *received(text, data))}, raw=True)


def received(text: str, data: str) -> tuple:
    """How an answer is called and on which cases, from what ``observe`` takes."""
    from course_checks.running import Call, Case
    from course_checks.running.encode import decode, unpack

    sent = decode(unpack(text, base64.b64decode(data)))
    return Call.received(sent["call"]), [Case.received(case) for case in sent["cases"]]


def observation(answer: Callable, guarded: bool, call, cases: list) -> dict:
    """What was observed of one answer, as JSON."""
    from course_checks.running import guard, observe_answer
    from course_checks.running.encode import pack

    try:
        value = answer()
    except NameError as problem:
        message = {"undefined": str(problem)[:200]}
    else:
        text, data = pack(observe_answer(value, call, cases, guarded=guarded))
        message = {"text": text, "data": base64.b64encode(data).decode()}
    return message | {"hidden": sorted(guard.hidden_called)}


def run_rest_of_cell(text: str) -> None:
    """Run what stands below the statement at which a cell stopped, each statement by itself.

    In a notebook a cell may compare an answer with the course's own, and define it below; here the course's own is not
    there, and the comparison stops the cell.

    Args:
        text: The cell that has just stopped.
    """
    from IPython import get_ipython

    shell, step = get_ipython(), sys.last_traceback
    text = shell.transform_cell(text)
    while step.tb_frame.f_globals is not shell.user_ns:  # Jupyter's own frames come first
        step = step.tb_next
    for statement in ast.parse(text).body:
        if statement.lineno > step.tb_lineno:
            shell.run_cell(ast.unparse(statement), store_history=False)


def serve(connection: dict) -> None:
    """Be a Jupyter kernel until it is killed.

    Args:
        connection: A connection file's content.
    """
    from ipykernel.kernelapp import IPKernelApp

    import course_checks.running  # noqa: F401 - while nobody waits for it

    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    os.makedirs(SCRATCH, exist_ok=True)
    os.chdir(SCRATCH)
    path = f"{SOCKETS}/connection.json"
    with open(path, "w") as file:
        json.dump(connection, file)
    app = IPKernelApp.instance()
    app.initialize(["-f", path, "--HistoryManager.enabled=False", "--IPKernelApp.log_level=50"])
    app.shell.ask_exit = lambda: None  # exit() in a cell would end the kernel some cells later
    app.start()

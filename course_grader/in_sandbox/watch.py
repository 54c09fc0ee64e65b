"""What an answer does that a person should look at, as Python itself reports it: an audit hook cannot be taken off.

Each event is written to a pipe before it happens, so that nothing that comes after can take it back.
"""

import os
import sys
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import torch

LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ALWAYS, BY_CALLER, TAKING_OUT = (tuple(LISTS[name]) for name in ("always", "by_caller", "taking_out"))
LIBRARIES, PACKAGES, NOT_OF_TORCH = (tuple(LISTS[name]) for name in ("libraries", "packages", "not_of_torch"))
ATTRIBUTES = (("object.__getattr__", "tb_frame"), ("object.__setattr__", "__code__"))
WRITING = os.O_WRONLY | os.O_RDWR
ANSWER = "<answer>"  # the file that its code says it is from
CHECKS = "/course_checks/"  # their drivers ask the garbage collector


def watch(pipe: int, known: frozenset[str], in_pytorch: bool) -> None:
    """From here on, write the name of each event of this process that a person should look at into ``pipe``, a line each.

    ``known`` are the modules that an answer may import; ``in_pytorch``: what it does elsewhere or in a thread is reported.
    """
    busy = []
    if in_pytorch:
        _report_calls(pipe, torch.Tensor, TAKING_OUT)
        _report_calls(pipe, threading.Thread, ("start",))

    def hook(event: str, arguments: tuple) -> None:
        if event.startswith("object."):  # first, since counting the steps of an answer asks for thousands of them
            asked = (event, arguments[1]) in ATTRIBUTES
        else:
            asked = event in BY_CALLER or event.startswith(ALWAYS)
        if busy or not asked:
            return
        busy.append(event)
        try:
            if _is_odd(event, arguments, sys._getframe(1), known):
                os.write(pipe, f"{event}\n".encode())
        finally:
            busy.pop()

    sys.addaudithook(hook)


def _is_odd(event: str, arguments: tuple, frame: FrameType | None, known: frozenset[str]) -> bool:
    """Whether an event is not a library's own business."""
    caller = frame
    while caller is not None and _is_import(caller):
        caller = caller.f_back
    name = caller.f_code.co_filename if caller is not None else ""
    if event == "import":
        return name == ANSWER and str(arguments[0]).partition(".")[0] not in known
    imported, outer = caller is not frame, caller
    while not imported and outer is not None:
        imported, outer = _is_import(outer), outer.f_back
    if imported:
        return False  # what a module does when it is imported; which ones may be is asked above
    if event == "open":
        mode, flags = str(arguments[1] or ""), arguments[2] or 0
        if arguments[0] == os.devnull or not (set(mode) & set("wax+") or flags & WRITING):
            return False
    is_library = name.endswith(LIBRARIES) or any(package in name for package in PACKAGES)
    if event.startswith(ALWAYS):
        return CHECKS not in name
    return not is_library or any(part in name for part in NOT_OF_TORCH)


def _is_import(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    return name.startswith("<frozen importlib") or name.endswith("/importlib/__init__.py")


def _report_calls(pipe: int, owner: type, names: tuple[str, ...]) -> None:
    """From here on, report each call of these methods that the answer's own code makes or brings about."""

    def reporting(name: str) -> Callable:
        original = getattr(owner, name)

        def call(*args, **kwargs):
            caller = frame = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename != ANSWER:
                frame = frame.f_back
            if frame is not None and CHECKS not in caller.f_code.co_filename:
                os.write(pipe, f"{owner.__module__}.{owner.__name__}.{name}\n".encode())
            return original(*args, **kwargs)

        return call

    for name in names:
        setattr(owner, name, reporting(name))

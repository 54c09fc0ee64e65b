"""Answers that raise an error of Python's or PyTorch's in a case where a value is right."""

import re

from .view import Told, View

SHAPES = re.compile(
    r"must match the size|shapes cannot be multiplied|Expected size for|shape '.*' is invalid|expand|size mismatch"
    r"|Sizes of tensors must match|einsum|[dD]imension out of range|not broadcastable|unequal lengths|does not broadcast"
    r"|Expected (target size|input batch_size)"
)


def calls_an_empty_helper(view: View) -> Told | None:
    """A function of an earlier exercise that the answer calls is still a stub."""
    seen = _stopped(view)
    if seen is None or seen["type"] != "NotImplementedError" or seen["message"] or not seen.get("function"):
        return None
    name = seen["function"]
    return Told(
        "symptom",
        "calls an empty function",
        f"your code stops inside {name}, whose body is still empty.",
        f"write {name} first, run its cell, and run this check again.",
    )


def other_signature(view: View) -> Told | None:
    """It cannot be called with the arguments of the statement."""
    seen = _stopped(view)
    if seen is None or seen["type"] != "TypeError" or seen.get("line"):
        return None
    match = re.search(r"(takes|missing) .*(positional|argument)|unexpected keyword", seen["message"])
    if not match:
        return None
    names = ", ".join(name for name in view.inputs[view.first] if not name.startswith("_"))
    return Told(
        "symptom",
        "other parameters",
        "it cannot be called the way the task says: its parameters are not those of the task.",
        f"compare your first line with the task's, parameter by parameter (the check has: {names}).",
    )


def only_some_cases_stop(view: View) -> Told | None:
    """Shapes that do not fit, in general words."""
    seen = _stopped(view)
    if seen is None:
        return None
    right = len(view.cases) - len(view.wrong)
    some = f" The other {right} case{'s' if right != 1 else ''} of the check came out right." if right else ""
    if seen["type"] in ("RuntimeError", "ValueError", "IndexError") and SHAPES.search(seen["message"]):
        return Told(
            "symptom",
            "shapes do not fit",
            f"two shapes that do not fit each other meet there.{some}",
            "print the shapes right before that line; failing_case() hands you the arguments that stop it.",
        )
    if "view size is not compatible" in seen["message"]:
        return Told(
            "symptom",
            "view of a transposed tensor",
            f"view cannot join axes of a tensor that comes from a transpose: its numbers lie in another order in memory.{some}",
            "use reshape, which copies where it must; if there is no view in that line, give it x.contiguous().",
        )
    if (
        "a leaf Variable that requires grad" in seen["message"]
        or "numpy() on Tensor that requires grad" in seen["message"]
    ):
        return Told(
            "symptom",
            "does not work with gradients",
            "your code cannot work on tensors that require gradients.",
            "use torch operations from first to last, none of them in place, without .numpy() or .detach().",
        )
    if seen["type"] == "IndexError" and "out of" in seen["message"]:
        said = f"an index is larger than what it counts along.{some}"
        return Told("symptom", "index out of range", said, "print the index and the shape right before that line.")
    told = _BY_TYPE.get(seen["type"])
    if told is None and not right:
        return None
    looks_like, advice = told or ("your code does not work for every input that the task allows.", "")
    advice = advice or "take the arguments that stop it, failing_case(), and go through your code with them."
    return Told("symptom", f"stops with {seen['type']}", looks_like + some, advice)


_BY_TYPE = {
    "NameError": (
        "a name is used that stands nowhere.",
        "look for a misspelled name, or run the cell that defines it.",
    ),
    "UnboundLocalError": (
        "a variable is read before anything was put into it, in some path through your code.",
        "give it a value before the loop or the if.",
    ),
    "AttributeError": (
        "an object is asked for something that it has not.",
        "print type(...) of what stands left of the dot.",
    ),
    "RecursionError": ("your function calls itself without an end.", "call another function there, or a loop."),
    "ZeroDivisionError": (
        "something is divided by zero.",
        "ask what may be 0 there, an empty list perhaps, and what the task says of it.",
    ),
    "KeyError": ("a dict is asked for a key that it has not.", "print the dict's keys right before that line."),
}


def _stopped(view: View) -> dict | None:
    """The first wrong case, if the answer raised there and should not have."""
    seen = view.cases[view.first]
    return seen if seen["outcome"] == "raised" else None


STOPS = (calls_an_empty_helper, other_signature, only_some_cases_stop)

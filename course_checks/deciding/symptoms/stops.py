"""Answers that raise an error of Python's or PyTorch's in a case where a value is right."""

import re

import torch

from ..wrong_answer import Diagnosis, WrongAnswer, symptom

SHAPES = re.compile(
    r"must match the size|shapes cannot be multiplied|Expected size for|shape '.*' is invalid|expand|size mismatch"
    r"|Sizes of tensors must match|[dD]imension out of range|not broadcastable|unequal lengths|does not broadcast"
    r"|Expected (target size|input batch_size)"
)

ONE_LETTER = re.compile(
    r"subscript (\w) has size (\d+) for operand \d which does not broadcast with previously seen size (\d+)"
)
TOO_OFTEN = re.compile(r"\w+ was called more than \d+ times")
NEEDS_GRADIENTS = ("a leaf Variable that requires grad", "numpy() on Tensor that requires grad")
NOT_TAKEN = re.compile(
    r"^(softmax|transpose|max|min|sum|mean|amax|amin|argmax|cat|stack|sort|flip|permute|diagonal)\(\) "
)
ALL_AXES = re.compile(r"\.T\b")
LETTERS = re.compile(r"einsum\(\).*(does not appear|is repeated|more than once|is not a valid|subscript|number of)")


def calls_an_empty_helper(answer: WrongAnswer) -> Diagnosis | None:
    """A function of an earlier exercise that the answer calls is still a stub."""
    seen = _stopped(answer)
    if seen is None or seen["type"] != "NotImplementedError" or seen["message"] or not seen.get("function"):
        return None
    name = seen["function"]
    return symptom(
        f"your code stops inside {name}, whose body is still empty.",
        f"write {name} first, run its cell, and run this check again.",
        "calls an empty function",
    )


def other_signature(answer: WrongAnswer) -> Diagnosis | None:
    """It cannot be called with the arguments of the statement."""
    seen = _stopped(answer)
    if seen is None or seen["type"] != "TypeError" or seen.get("line"):
        return None
    match = re.search(r"(takes|missing) .*(positional|argument)|unexpected keyword", seen["message"])
    if not match:
        return None
    names = ", ".join(answer.cases[answer.first])
    return symptom(
        "it cannot be called the way the task says: its parameters are not those of the task.",
        f"compare your first line with the task's, parameter by parameter (the check has: {names}).",
        "other parameters",
    )


def called_as_in_numpy(answer: WrongAnswer) -> Diagnosis | None:
    """A function or method of PyTorch's was given other arguments than it takes."""
    seen = _stopped(answer)
    if seen is None or seen["type"] != "TypeError" or not seen.get("line"):
        return None
    match = NOT_TAKEN.search(seen["message"])
    if not match:
        return None
    return symptom(
        f"{match[1]}() of PyTorch takes other arguments than it was given there.",
        "what NumPy calls axis and keepdims is dim and keepdim here; .mT exchanges the last two axes, permute moves any; "
        "softmax wants its dim. help(...) says the rest.",
        "arguments of another library",
    )


def one_letter_for_two_axes(answer: WrongAnswer) -> Diagnosis | None:
    """An einsum was told that two axes are one, and they differ in size."""
    seen = _stopped(answer)
    match = seen and ONE_LETTER.search(seen["message"])
    if not match:
        return None
    letter, size, earlier_size = match.groups()
    sentence = f"in your einsum the letter {letter} stands for two axes that differ in size, {earlier_size} and {size}."
    return symptom(
        sentence, "name every axis: only those that belong together share a letter.", "one letter for two axes"
    )


def einsum_text(answer: WrongAnswer) -> Diagnosis | None:
    """What stands in an einsum's text is no einsum."""
    seen = _stopped(answer)
    if seen is None or not LETTERS.search(seen["message"]):
        return None
    sentence = "the letters of your einsum don't fit: those before the arrow, those after it, or how many there are."
    advice = "give each axis of each input one letter; after the arrow, name once each axis that stays."
    return symptom(sentence, advice, "letters of an einsum")


def calls_without_an_end(answer: WrongAnswer) -> Diagnosis | None:
    """A function that it was given was called more often than anybody needs (``running.counting``)."""
    seen = _stopped(answer)
    match = seen and TOO_OFTEN.search(seen["message"])
    if not match:
        return None
    sentence = f"a loop goes on without an end, or asks far too often: {match[0]}."
    return symptom(sentence, "ask of each loop when it stops, and whether that always comes.", "a loop without an end")


def size_with_a_fraction(answer: WrongAnswer) -> Diagnosis | None:
    """``view``, ``reshape`` and their kin stop at a size such as ``d_model / num_heads``, each in words of its own."""
    seen = _stopped(answer)
    if seen is None or seen["type"] != "TypeError" or "float" not in seen["message"]:
        return None
    sentence = "a number with a fraction stands where a whole one is needed, such as the size of an axis or an index."
    return symptom(sentence, "one of Python's two divisions gives whole numbers.", "a size with a fraction")


def values_with_their_places(answer: WrongAnswer) -> Diagnosis | None:
    """``max`` along an axis gives values and places, where NumPy gives values."""
    seen = _stopped(answer)
    match = seen and re.search(r"torch\.return_types\.(\w+)", seen["message"])
    if not match:
        return None
    sentence = (
        f"{match[1]} along an axis gives two things, the values and their places, and you go on with both as one."
    )
    advice = f"take the values alone: {match[1]}(...).values (for max and min also amax and amin)."
    return symptom(sentence, advice, "values with their places")


def turns_all_axes(answer: WrongAnswer) -> Diagnosis | None:
    """``.T`` of a tensor that has more than two axes."""
    seen = _stopped(answer)
    if seen is None or not SHAPES.search(seen["message"]) or not ALL_AXES.search(seen.get("line", "")):
        return None
    sizes = [value.dim() for value in answer.cases[answer.first].values() if isinstance(value, torch.Tensor)]
    if not sizes or min(sizes) < 3:
        return None
    sentence = ".T turns all axes of a tensor around, that of the batch too, and then the shapes no longer fit."
    return symptom(sentence, ".mT exchanges the last two axes and leaves the others in place.", "turns all axes")


def only_some_cases_stop(answer: WrongAnswer) -> Diagnosis | None:
    """Shapes that do not fit, in general words."""
    seen = _stopped(answer)
    if seen is None:
        return None
    right = len(answer.observed) - len(answer.wrong)
    some = f" In {right} other case{'s' if right != 1 else ''} of the check it came out right." if right else ""
    if seen["type"] in ("RuntimeError", "ValueError", "IndexError") and SHAPES.search(seen["message"]):
        return symptom(
            f"two shapes that do not fit each other meet there.{some}",
            "print the shapes right before that line (a sum over an axis loses it without keepdim=True; .T turns all axes "
            "around, .mT the last two alone); failing_case() hands you the arguments that stop it.",
            "shapes do not fit",
        )
    if "view size is not compatible" in seen["message"]:
        return symptom(
            f"view cannot join these axes: after a transpose or an expand, memory holds them in another order.{some}",
            "use reshape, which copies where it must; if there is no view in that line, give it x.contiguous().",
            "view of a transposed tensor",
        )
    if any(words in seen["message"] for words in NEEDS_GRADIENTS):
        return symptom(
            "your code cannot work on tensors that require gradients.",
            "use torch operations from first to last, none of them in place, without .numpy() or .detach().",
            "does not work with gradients",
        )
    if seen["type"] == "IndexError" and "out of" in seen["message"]:
        sentence = f"an index is larger than what it counts along.{some}"
        return symptom(sentence, "print the index and the shape right before that line.", "index out of range")
    diagnosis = _BY_TYPE.get(seen["type"])
    if diagnosis is None and not right:
        return None
    looks_like, advice = diagnosis or ("your code does not work for every input that the task allows.", "")
    advice = advice or "take the arguments that stop it, failing_case(), and go through your code with them."
    return symptom(looks_like + some, advice, f"stops with {seen['type']}")


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


def _stopped(answer: WrongAnswer) -> dict | None:
    """The first wrong case, if the answer raised there and should not have."""
    seen = answer.observed[answer.first]
    return seen if seen["outcome"] == "raised" else None


STOPS = (
    calls_an_empty_helper,
    other_signature,
    called_as_in_numpy,
    one_letter_for_two_axes,
    einsum_text,
    calls_without_an_end,
    size_with_a_fraction,
    values_with_their_places,
    turns_all_axes,
    only_some_cases_stop,
)

"""Lists and strings that differ: their order, their ends."""

from collections.abc import Callable
from typing import Any

from ...running.encode import Tree, decode
from ..wrong_answer import Diagnosis, Part, WrongAnswer, symptom

MOVES: tuple[tuple[str, Callable[[Any], Any], str, str], ...] = (
    (
        "reversed",
        lambda v: v[::-1],
        "{} is right but in reversed order.",
        "turn the order round: the first item first.",
    ),
    ("sorted", lambda v: type(v)(sorted(v)), "{} holds the right items, but sorted.", "keep the order asked for."),
    ("shifted", lambda v: v[1:] + v[:1], "{} is right but shifted by one.", "check where you begin to count."),
)


def moved(answer: WrongAnswer) -> Diagnosis | None:
    """A list or string is the right one after one simple operation."""
    for part in answer.parts():
        for name, move, sentence, advice in MOVES:
            if all(_is_moved(pair, move) for pair in part.pairs) and _tells(part):
                return symptom(sentence.format(f"`{part.name}`"), advice, name)
    return None


def other_ends(answer: WrongAnswer) -> Diagnosis | None:
    """The right list or string with something more or less at one end."""
    for part in answer.parts():
        wrong = [(decode(pair.want), decode(pair.have)) for pair in part.pairs if pair.wrong]
        if not all(type(want) is type(have) and isinstance(want, list | str) for want, have in wrong):
            continue
        for sentence, test in (
            (
                "goes on after the right end: what comes first is right",
                lambda w, h: len(h) > len(w) and h[: len(w)] == w,
            ),
            ("stops too early: what is there is right", lambda w, h: len(h) < len(w) and w[: len(h)] == h),
            (
                "begins too early: it ends with what is right",
                lambda w, h: len(h) > len(w) and h[-len(w) or len(h) :] == w,
            ),
            ("lacks its beginning: what is there is right", lambda w, h: len(h) < len(w) and w[len(w) - len(h) :] == h),
        ):
            if all(_holds(test, want, have) for want, have in wrong):
                advice = "check the condition that begins or ends your loop or slice."
                return symptom(f"`{part.name}` {sentence}.", advice, sentence.split(":")[0])
    return None


def _is_moved(pair: Any, move: Callable[[Any], Any]) -> bool:
    want, have = decode(pair.want), decode(pair.have)
    try:
        return type(want) is type(have) and isinstance(want, list | str) and move(want) == have
    except (TypeError, AttributeError, RuntimeError):  # items that have no order, or are tensors
        return False


def _holds(test: Callable[[Any, Any], bool], want: Any, have: Any) -> bool:
    try:
        return bool(test(want, have))
    except RuntimeError:  # tensors in it
        return False


def _tells(part: Part) -> bool:
    wrong = [pair for pair in part.pairs if pair.wrong]
    return len(wrong) > 1 or any(_length(pair.want) > 2 for pair in wrong)


def _length(tree: Tree) -> int:
    value = decode(tree)
    return len(value) if isinstance(value, list | str) else 0


SEQUENCES = (moved, other_ends)

"""Lists, strings and dicts that differ: order, ends, single items."""

from collections.abc import Callable
from typing import Any

from ...running.encode import Tree, decode
from ..wrong_answer import Diagnosis, Part, WrongAnswer

MOVES: tuple[tuple[str, Callable[[Any], Any], str, str], ...] = (
    (
        "reversed",
        lambda v: v[::-1],
        "{} is right but in reversed order.",
        "turn the order round: the first item first.",
    ),
    ("sorted", lambda v: type(v)(sorted(v)), "{} holds the right items, but sorted.", "keep the order asked for."),
    (
        "without the first",
        lambda v: v[1:],
        "in {} the first item is missing; the rest is right.",
        "begin one item earlier.",
    ),
    (
        "without the last",
        lambda v: v[:-1],
        "in {} the last item is missing; the rest is right.",
        "go on for one item more.",
    ),
    ("only the first", lambda v: v[:1], "{} holds the first item alone.", "is a return inside the loop?"),
    ("shifted", lambda v: v[1:] + v[:1], "{} is right but shifted by one.", "check where you begin to count."),
    (
        "each once",
        lambda v: list(dict.fromkeys(v)),
        "{} holds every item once, where some come again.",
        "keep repetitions.",
    ),
    ("lower case", lambda v: v.lower(), "{} is right but in lower case.", "keep the letters as they are."),
    ("upper case", lambda v: v.upper(), "{} is right but in upper case.", "keep the letters as they are."),
    ("stripped", lambda v: v.strip(), "{} lacks the blanks at its ends.", "leave out strip."),
)


def moved(answer: WrongAnswer) -> Diagnosis | None:
    """A list or string is the right one after one simple operation."""
    for part in answer.parts():
        for name, move, sentence, advice in MOVES:
            if all(_is_moved(pair, move) for pair in part.pairs) and _tells(part):
                return Diagnosis("symptom", name, sentence.format(f"`{part.name}`"), advice)
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
                return Diagnosis("symptom", sentence.split(":")[0], f"`{part.name}` {sentence}.", advice)
    return None


def other_items(answer: WrongAnswer) -> Diagnosis | None:
    """The right items in another order."""
    for part in answer.parts():
        wrong = [(decode(pair.want), decode(pair.have)) for pair in part.pairs if pair.wrong]
        if all(isinstance(want, list) and isinstance(have, list) and _same_items(want, have) for want, have in wrong):
            advice = "compare the order with the smallest failing case: what should come first?"
            return Diagnosis(
                "symptom", "another order", f"`{part.name}` holds the right items in another order.", advice
            )
    return None


def other_keys(answer: WrongAnswer) -> Diagnosis | None:
    """A dict with keys too many or too few."""
    for part in answer.parts():
        wrong = [(decode(pair.want), decode(pair.have)) for pair in part.pairs if pair.wrong]
        if not all(isinstance(want, dict) and isinstance(have, dict) for want, have in wrong):
            continue
        want, have = wrong[0]
        missing, extra = [key for key in want if key not in have], [key for key in have if key not in want]
        if not missing and not extra:
            continue
        sentence = [
            f"{len(keys)} {word} ({_some(keys)})" for keys, word in ((missing, "missing"), (extra, "too many")) if keys
        ]
        return Diagnosis("symptom", "other keys", f"the keys of `{part.name}` differ: {', '.join(sentence)}.", "")
    return None


def _some(keys: list) -> str:
    return ", ".join(repr(key) for key in keys[:3]) + (", ..." if len(keys) > 3 else "")


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


def _same_items(want: list, have: list) -> bool:
    try:
        return want != have and sorted(map(repr, want)) == sorted(map(repr, have))
    except RuntimeError:  # tensors in it
        return False


SEQUENCES = (moved, other_ends, other_items, other_keys)

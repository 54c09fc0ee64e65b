"""Boolean tensors that differ: inverted, or with places too many and too few."""

import torch
from torch import Tensor

from ..wrong_answer import Diagnosis, WrongAnswer, symptom


def inverted(answer: WrongAnswer) -> Diagnosis | None:
    """True where False is right, everywhere."""
    for name, sides in _boolean_parts(answer):
        if all(
            torch.equal(actual, ~expected) for expected, actual in sides if expected.shape == actual.shape
        ) and _same_shapes(sides):
            return symptom(
                f"`{name}` is the opposite of what is right: True where False should stand, and the other way round.",
                "read once more what True means here, and put ~ before it, or turn the comparison.",
                "inverted",
            )
    return None


def turned(answer: WrongAnswer) -> Diagnosis | None:
    """The right mask with two axes exchanged, reversed or shifted."""
    for name, sides in _boolean_parts(answer):
        most = max(expected.dim() for expected, _ in sides)
        if most < 2:
            continue
        moves = {
            "with its last two axes exchanged": lambda t: t.mT,
            "with its last two axes exchanged and inverted": lambda t: ~t.mT,
            "reversed along its last axis": lambda t: t.flip(-1),
            "reversed along axis -2": lambda t: t.flip(-2),
        }
        for sentence, move in moves.items():
            if all(expected.dim() > 1 and torch.equal(move(expected), actual) for expected, actual in sides):
                advice = "rows are queries, columns are keys: write both numbers beside a small case and compare."
                return symptom(f"`{name}` is the right one {sentence}.", advice, "mask turned")
    return None


def one_sided(answer: WrongAnswer) -> Diagnosis | None:
    """True in places too many only, or too few only, and where these lie."""
    for name, sides in _boolean_parts(answer):
        if not _same_shapes(sides):
            continue
        too_many = [actual & ~expected for expected, actual in sides]
        too_few = [expected & ~actual for expected, actual in sides]
        if any(m.any() for m in too_many) and any(m.any() for m in too_few):
            continue
        extra = any(m.any() for m in too_many)
        where = _where(too_many if extra else too_few)
        where = f"all of them {where}" if where else "and nowhere the other way round"
        yours, right = ("True", "False") if extra else ("False", "True")
        sentence = f"`{name}` is {yours} in places that should be {right}, {where}."
        advice = "write down the smallest failing case as 0 and 1, and look at just these places."
        return symptom(sentence, advice, f"{yours}, {where}")
    return None


def _boolean_parts(answer: WrongAnswer) -> list[tuple[str, list[tuple[Tensor, Tensor]]]]:
    parts = []
    for part in answer.parts():
        wrong = [pair for pair in part.pairs if pair.wrong]
        trees = [tree for pair in wrong for tree in (pair.expected, pair.actual)]
        if all(tree["kind"] == "tensor" and tree["dtype"] == "bool" and tree["value"] is not None for tree in trees):
            parts.append((part.name, [(pair.expected["value"], pair.actual["value"]) for pair in wrong]))
    return parts


def _same_shapes(sides: list[tuple[Tensor, Tensor]]) -> bool:
    return all(expected.shape == actual.shape for expected, actual in sides)


def _where(places: list[Tensor]) -> str | None:
    """Where the places of all cases lie, as few words as are true of every one; None if nothing is."""
    wrong_places = [place for place in places if place.any() and place.dim()]
    if not wrong_places or len(wrong_places) < len([place for place in places if place.any()]):
        return None
    if all(place.dim() > 1 for place in wrong_places):
        indices = [place.nonzero() for place in wrong_places]
        apart = torch.cat([index[:, -1] - index[:, -2] for index in indices])  # key position - query position
        if (apart == 0).all():
            return "on the diagonal"
        if (apart > 0).all():
            return "right of the diagonal"
        if (apart < 0).all():
            return "left of the diagonal"
    for axis in (-1, -2):
        if all(place.dim() >= -axis and place.shape[axis] > 1 for place in wrong_places):
            at = [(place.nonzero()[:, axis], place.shape[axis]) for place in wrong_places]
            for sentence, test in (("first", lambda i, n: (i == 0).all()), ("last", lambda i, n: (i == n - 1).all())):
                if all(test(index, size) for index, size in at):
                    return f"in the {sentence} {'column' if axis == -1 else 'row'}"
    return None


MASKS = (inverted, turned, one_sided)

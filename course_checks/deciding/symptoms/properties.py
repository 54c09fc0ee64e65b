"""What is true of every right result of an exercise, and not of this answer; and where the wrong values lie."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..wrong_answer import Diagnosis, Part, WrongAnswer, symptom
from .scales import factor_by_case, factor_by_row

MOST_LISTED = 3  # right parts that are named one by one


def undefined(answer: WrongAnswer) -> Diagnosis | None:
    """NaN or infinity where a number is right, in the case that the message shows."""
    return _undefined(answer, lambda places: places[0].any())


def undefined_elsewhere(answer: WrongAnswer) -> Diagnosis | None:
    """NaN or infinity where a number is right, in another case than the one that the message shows."""
    return _undefined(answer, lambda places: any(place.any() for place in places), " in other cases of the check")


def _undefined(answer: WrongAnswer, shows: Callable[[list[Tensor]], bool], cases: str = "") -> Diagnosis | None:
    for part, sides in _numeric(answer):
        wrong = [
            (expected, actual) for expected, actual, pair in sides if pair.wrong and expected.shape == actual.shape
        ]
        for what, test in (("NaN", torch.isnan), ("infinity", torch.isinf)):
            bad = [test(actual) & ~test(expected) for expected, actual in wrong]
            if not bad or not shows(bad):
                continue
            rows = all((expected[places] == 0).all() for places, (expected, _) in zip(bad, wrong, strict=True))
            where = ", in places where 0 is right" if rows else ""
            sentence = f"`{part.name}` holds {what} where an ordinary number is right{cases}{where}."
            advice = (
                "a row without any allowed place, 0 / 0, or a number too large for exp makes NaN: treat that case by itself."
                if what == "NaN"
                else "something is divided by 0, or too large for exp; or -inf is left where a number should be."
            )
            return symptom(sentence, advice, what)
    return None


def another_number_of_axes(answer: WrongAnswer) -> Diagnosis | None:
    """In every wrong case, whatever the values are."""
    for part in answer.parts():
        sides = [(pair.expected, pair.actual) for pair in part.pairs if pair.wrong]
        if any(expected["kind"] != "tensor" or actual["kind"] != "tensor" for expected, actual in sides):
            continue
        axes = {(len(expected["shape"]), len(actual["shape"])) for expected, actual in sides}
        if len(axes) == 1 and len(set(*axes)) == 2:
            right, yours = axes.pop()
            sentence = (
                f"`{part.name}` has {_axes(yours)}; {_axes(right)} {'is' if right == 1 else 'are'} asked for. "
                "What it holds is compared after that."
            )
            advice = "write the shape behind each line of your code, and find the line where an axis comes or goes."
            return symptom(sentence, advice, "another number of axes")
    return None


def _axes(count: int) -> str:
    return f"{count or 'no'} ax{'i' if count == 1 else 'e'}s"


def rows_do_not_sum_to_one(answer: WrongAnswer) -> Diagnosis | None:
    """Shares that do not sum to one along the axis where they should; a row in which all is 0 may stay so."""
    for part, sides in _numeric(answer):
        wrong = [
            (expected, actual)
            for expected, actual, pair in sides
            if pair.wrong and expected.shape == actual.shape and expected.dim()
        ]
        if (
            not wrong
            or not all(_are_shares(expected) for expected, _ in wrong)
            or max(w.shape[-1] for w, _ in wrong) < 2
        ):
            continue
        broken = [actual for expected, actual in wrong if not _sums_to_one(actual[_rows(expected)], -1)]
        expected, actual = wrong[0]  # of the case that the message shows
        if not broken or _sums_to_one(actual[_rows(expected)], -1):
            continue
        sums = actual[_rows(expected)].sum(-1)
        low, high = f"{sums.min():.3g}", f"{sums.max():.3g}"
        numbers = low if low == high else f"numbers from {low} to {high}"
        which, each = ("", "each") if _rows(expected).all() else (" that aren't to be 0", "each of them")
        sentence = f"the rows of `{part.name}`{which} sum to {numbers}; {each} should sum to 1."
        advice = "divide each row by its own sum, as the last thing that changes its entries."
        if low == high:
            advice = "what multiplies or divides the weights belongs before the softmax, or nowhere."
        if any((actual < 0).any() for actual in broken):
            sentence = (
                f"`{part.name}` has negative entries, and its rows don't sum to 1: these look like scores, not weights."
            )
            advice = "a softmax over the last axis makes weights of scores: positive, and a sum of 1 in each row."
        return symptom(sentence, advice, "rows do not sum to one")
    return None


def zeros_are_missing(answer: WrongAnswer) -> Diagnosis | None:
    """Places that must be exactly 0 and are not, or the other way round."""
    for part, sides in _numeric(answer):
        if any(pair.wrong and expected.shape != actual.shape for expected, actual, pair in sides):
            continue
        fractions = all("float" in pair.expected.get("dtype", "") for _, _, pair in sides)
        wrong = [
            (expected, actual)
            for expected, actual, pair in sides
            if pair.wrong and expected.shape == actual.shape and expected.dim()
        ]
        if not wrong or not fractions or any(expected.unique().numel() < 3 for expected, _ in wrong):
            continue
        share = [
            ((expected == 0).any(), (expected == 0) & (actual != 0) & ~actual.isnan()) for expected, actual in wrong
        ]
        if all(any_zero for any_zero, _ in share) and any(places.any() for _, places in share):
            places = [p for _, p in share]
            wrong_places = [p for p in places if p.any()]
            ahead = _over_positions(places) and all(
                (p.nonzero()[:, -1] > p.nonzero()[:, -2]).all() for p in wrong_places
            )
            closed = all((_rest(expected)[p] == 0).all() for (expected, _), p in zip(wrong, places, strict=True))
            where = ", all of them later than their row: the future is seen" if ahead and closed else ""
            count = sum(int(p.sum()) for p in places)
            entries = "entry of `{}`" if count == 1 else "entries of `{}`, over all cases,"
            sentence = f"{count} {entries.format(part.name)} should be exactly 0 and {'is' if count == 1 else 'are'} not{where}."
            advice = "take one of these places and ask which step should make it 0."
            return symptom(sentence, advice, "zeros are missing")
        gone = [(expected != 0) & ~expected.isnan() & (actual == 0) for expected, actual in wrong]
        if all(places.any() for places in gone):
            count = sum(int(p.sum()) for p in gone)
            entries = "entry of `{}` is" if count == 1 else "entries of `{}` are"
            sentence = f"{count} {entries.format(part.name)} 0 where another number is right."
            return symptom(
                sentence, "find out what makes them 0: left out, never filled, or too small for exp.", "zeros too many"
            )
    return None


def other_parts_are_right(answer: WrongAnswer) -> Diagnosis | None:
    """Of several returned parts only some are wrong."""
    names = answer.exercise.returns
    parts = [part.name for part in answer.parts()]
    if len(names) < 2 or not parts or len(parts) == len(names) or not answer.returned_everywhere():
        return None
    right = [name for name in names if name not in parts]
    others = (
        f"{_listed(right)} {'is' if len(right) == 1 else 'are'}" if len(right) <= MOST_LISTED else "everything else is"
    )
    sentence = f"{others} right in every case; what is wrong is {_listed(parts)}."
    return symptom(sentence, "", f"only {', '.join(parts)} wrong")


def _over_positions(places: list[Tensor]) -> bool:
    """Whether the last two axes can be rows of queries and columns of keys: a plain ``(B, V)`` has no diagonal."""
    return all(p.dim() > 2 or (p.dim() == 2 and p.shape[-1] == p.shape[-2]) for p in places)


def _numeric(answer: WrongAnswer) -> list[tuple[Part, list]]:
    return [(part, sides) for part in answer.parts() if (sides := part.numbers()) is not None]


def _are_shares(expected: Tensor) -> bool:
    return bool(_rows(expected).any()) and _sums_to_one(expected[_rows(expected)], -1)


def _rows(expected: Tensor) -> Tensor:
    """The rows that hold something, and no NaN."""
    return expected.any(-1) & ~expected.isnan().any(-1)


def _sums_to_one(values: Tensor, axis: int) -> bool:
    sums = values.sum(axis)
    return bool(torch.allclose(sums, torch.ones_like(sums), atol=1e-3)) and bool((values >= -1e-6).all())


def _rest(values: Tensor) -> Tensor:
    """What each place and all behind it in its row sum to, by size."""
    return values.abs().flip(-1).cumsum(-1).flip(-1)


def _listed(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


PROPERTIES = (
    another_number_of_axes,
    undefined,
    factor_by_case,
    rows_do_not_sum_to_one,
    factor_by_row,
    zeros_are_missing,
    undefined_elsewhere,
)

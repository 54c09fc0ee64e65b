"""A factor too much: what the ratio of answer and right value equals."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from ..wrong_answer import Diagnosis, Pair, WrongAnswer, apart, is_varied, symptom

CONSTANTS = {"2": 2.0, "1/2": 0.5, "100": 100.0, "1/100": 0.01, "log 2": math.log(2), "1 / log 2": 1 / math.log(2)}


def constant_factor(answer: WrongAnswer) -> Diagnosis | None:
    """Every entry of a part is the right one times one number."""
    for part in answer.parts():
        sides = part.numbers()
        if sides is None:
            continue
        factors = [(_ratio(answer, expected, actual), pair) for expected, actual, pair in sides]
        if any(factor is None for factor, _ in factors) or not apart(answer, [side for side in sides if side[2].wrong]):
            continue
        wrong = [(factor, pair) for factor, pair in factors if pair.wrong]
        if not _is_no_chance(sides):
            continue
        if any(_near(factor, 1.0) for factor, _ in wrong):  # nearly right, which is another thing
            continue
        name = _named(answer, factors)
        values = sorted({f"{factor:.4g}" for factor, _ in wrong})
        if name is None and len(values) > 1:
            continue
        sentence = f"`{part.name}` is the right one times {name or values[0]}."
        return symptom(sentence, _FACTOR, "constant factor")
    return None


def factor_by_case(answer: WrongAnswer) -> Diagnosis | None:
    """In each case a factor, and no telling which."""
    for part in answer.parts():
        sides = [side for side in part.numbers() or () if side[2].wrong]
        factors = [_ratio(answer, expected, actual) for expected, actual, _ in sides]
        if (
            factors
            and None not in factors
            and apart(answer, sides)
            and all(expected.numel() > 1 for expected, _, _ in sides)
        ):
            values = sorted({f"{factor:.4g}" for factor in factors})
            sentence = f"`{part.name}` is right but for a factor, in each case another one: {' and '.join(values[:3])}."
            return symptom(sentence, _FACTOR, "factor by case")
    return None


def factor_by_row(answer: WrongAnswer) -> Diagnosis | None:
    """Each row is right but for a factor of its own."""
    for part in answer.parts():
        sides = part.numbers()
        if sides is None or not any(
            expected.dim() and expected.shape[-1] > 1 for expected, _, pair in sides if pair.wrong
        ):
            continue
        wrong = [side for side in sides if side[2].wrong]
        if apart(answer, wrong) and all(_rows_scaled(answer, expected, actual) for expected, actual, _ in wrong):
            return symptom(
                f"each row of `{part.name}` is right but for a factor of its own.",
                "look at what each row is divided by or multiplied with: too much, too little, or the wrong axis.",
                "factor by row",
            )
    return None


def _is_no_chance(sides: list[tuple[Tensor, Tensor, Pair]]) -> bool:
    """Whether there is enough to tell from: two wrong cases, or one whose right numbers are three different ones at least."""
    wrong = [expected for expected, _, pair in sides if pair.wrong]
    return len(wrong) > 1 or any(map(is_varied, wrong))


def _ratio(answer: WrongAnswer, expected: Tensor, actual: Tensor) -> float | None:
    if (
        expected.shape != actual.shape
        or not expected.numel()
        or not (expected.isfinite().all() and actual.isfinite().all())
    ):
        return None
    norm = expected.square().sum()
    if expected.abs().max() <= answer.exercise.atol:
        return None if actual.abs().max() > answer.exercise.atol else 1.0
    factor = float((expected * actual).sum() / norm)
    exercise = answer.exercise
    fits = abs(factor) > 1e-6 and torch.allclose(
        actual, expected * factor, rtol=exercise.rtol, atol=exercise.atol * min(1, abs(factor))
    )
    return factor if fits else None


def _rows_scaled(answer: WrongAnswer, expected: Tensor, actual: Tensor) -> bool:
    if (
        expected.shape != actual.shape
        or not expected.dim()
        or not (expected.isfinite().all() and actual.isfinite().all())
    ):
        return False
    norm = expected.square().sum(-1, keepdim=True)
    factor = (expected * actual).sum(-1, keepdim=True) / norm.clamp(min=1e-12)
    fits = torch.allclose(actual, expected * factor, rtol=answer.exercise.rtol, atol=answer.exercise.atol)
    return fits and bool((factor.abs() > 1e-6).all())


def _named(answer: WrongAnswer, factors: list[tuple[float, Pair]]) -> str | None:
    """What the factor equals in every case: a constant, or a size or number among the arguments."""
    for name, value in CONSTANTS.items():
        if all(_near(factor, value if pair.wrong else 1.0) for factor, pair in factors):
            return name
    quantities = [dict(_quantities(answer.cases[pair.index])) for _, pair in factors]
    for name in quantities[0]:
        if not all(name in known and known[name] > 0 for known in quantities):
            continue
        values = [known[name] for known in quantities]
        if len(set(values)) == 1 and values[0] == 1:
            continue
        for form, power in (("{}", 1), ("1 / {}", -1), ("the root of {}", 0.5), ("1 / the root of {}", -0.5)):
            if all(_near(factor, value**power) for (factor, _), value in zip(factors, values, strict=True)):
                return form.format(name)
    return None


def _near(factor: float, value: float) -> bool:
    return abs(factor - value) <= 1e-3 * abs(value)


def _quantities(case: dict) -> Iterator[tuple[str, float]]:
    for name, value in case.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name, float(value)
        elif isinstance(value, Tensor):
            for axis in range(value.dim()):
                yield f"{name}.shape[{axis - value.dim()}]", float(value.shape[axis])
        elif isinstance(value, list | str):
            yield f"len({name})", float(len(value))


_FACTOR = "look for a multiplication or division that is missing, is done twice, or has another number in it."

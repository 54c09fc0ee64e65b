"""What is wrong beside the values: arguments changed in place, memory of earlier calls, gradients, dtype."""

import torch

from ..wrong_answer import Diagnosis, WrongAnswer, close, symptom


def changes_its_input(answer: WrongAnswer) -> Diagnosis | None:
    """Arguments are changed in place."""
    names = sorted({name for index in answer.wrong for name in answer.observed[index]["changed"]})
    if not names:
        return None
    sentence = " and ".join(f"`{name}`" for name in names)
    return symptom(
        f"your code changes {sentence} in place: whoever called it finds other values there afterwards.",
        "leave out +=, *=, x[...] =, methods that end in _, and .append(), .pop() and .sort() on an argument; make a new "
        "tensor, list or dict.",
        "changes its input",
    )


def remembers(answer: WrongAnswer) -> Diagnosis | None:
    """A second call with the same arguments gives something else."""
    if not any("again" in answer.observed[index] for index in answer.wrong):
        return None
    return symptom(
        "the same arguments give another result the second time: something is kept from one call to the next.",
        "keep nothing outside the call: no global, no attribute of the function, no list or dict as a default value.",
        "remembers an earlier call",
    )


def cuts_gradients(answer: WrongAnswer) -> Diagnosis | None:
    """No gradient, or beside right values another one."""
    right = "the values are right, but " if answer.values_are_right() else ""
    for index in answer.wrong:
        expected, actual = answer.expected[index].get("gradients"), answer.observed[index].get("gradients")
        if not expected or expected["kind"] != "dict" or not actual:
            continue
        if actual["kind"] != "dict":
            if actual["value"] == "none":
                sentence = "gradients cannot flow back through the result: nothing could be learned."
                return symptom(right + sentence, _CUT, "no gradient")
            sentence = "your code stops when its inputs require gradients."
            return symptom(right + sentence, _NO_NUMPY, "does not work with gradients")
        kinds = {key["value"]: value["kind"] for key, value in actual["value"]}
        cut = [
            key["value"]
            for key, value in expected["value"]
            if value["kind"] != "none" and kinds.get(key["value"]) == "none"
        ]
        if cut:
            sentence = f"no gradient reaches {' and '.join(f'`{name}`' for name in cut)}."
            return symptom(right + sentence, _ON_THE_WAY, "gradient cut")
        nan = [f"`{key['value']}`" for key, value in actual["value"] if _holds_nan(value)]
        if right and nan and not any(_holds_nan(value) for _, value in expected["value"]):
            sentence = f"the gradient of {' and '.join(nan)} holds NaN: on the way back NaN or infinity meets a 0."
            return symptom(right + sentence, _FINITE, "NaN in the gradient")
        if right:
            sentence = "the gradients are not those of the formula."
            return symptom(right + sentence, _ANOTHER, "another gradient")
    return None


_CUT = "leave out detach, torch.no_grad, .item(), .tolist(), .data, math.sqrt and torch.tensor(...) around computed values."
_NO_NUMPY = "use torch operations from first to last, none of them in place, without .numpy()."
_ON_THE_WAY = (
    "look for detach, .data, no_grad, .item(), math.sqrt, nn.Parameter or torch.tensor(...) on the way to the result."
)
_ANOTHER = (
    f"{_ON_THE_WAY.removesuffix('.')}, for a value put in the place of a computed one (torch.where, masked_fill), and for a "
    "small number that is added."
)
_FINITE = "what is hidden afterwards still has a gradient: keep what overflows, or divides by 0, from being computed."
_BOOLEAN = "combine booleans with &, | and ~ (not *, + or 1 -), and make new ones with dtype=torch.bool."


def _holds_nan(value: dict) -> bool:
    tensor = value["value"] if value["kind"] == "tensor" else None
    return tensor is not None and tensor.is_floating_point() and bool(tensor.isnan().any())


def other_dtype(answer: WrongAnswer) -> Diagnosis | None:
    """The right values in another dtype, or as another kind of number."""
    for part in answer.parts():
        wrong = [pair for pair in part.pairs if pair.wrong]
        kinds = {(pair.expected.get("dtype"), pair.actual.get("dtype")) for pair in wrong}
        if any(pair.expected["kind"] != "tensor" or pair.actual["kind"] != "tensor" for pair in wrong):
            continue
        if all(expected != actual for expected, actual in kinds) and _same_but_for_dtype(answer, wrong):
            expected, actual = wrong[0].expected["dtype"], wrong[0].actual["dtype"]
            return symptom(
                f"`{part.name}` has the right values in another dtype: {actual}, where {expected} is right.",
                _BOOLEAN if expected == "bool" else _dtype_advice(answer, wrong[0].index, expected),
                "another dtype",
            )
    return None


def _dtype_advice(answer: WrongAnswer, index: int, expected: str) -> str:
    if any(getattr(value, "dtype", None) == getattr(torch, expected) for value in answer.cases[index].values()):
        return "give new tensors the input's dtype, dtype=x.dtype, or bring them to it: tensor.to(x.dtype)."
    return f"make them {expected}: dtype=torch.{expected}, or .to(torch.{expected}) at the end."


def less_exact(answer: WrongAnswer) -> Diagnosis | None:
    """float64 that went through a narrower dtype: right to the digits of that one only."""
    for part in answer.parts():
        sides = [side for side in part.numbers() or () if side[2].wrong]
        in_float64 = sides and all(pair.expected.get("dtype") == "float64" for _, _, pair in sides)
        if in_float64 and all(close(answer, actual, expected) for expected, actual, _ in sides):
            return symptom(
                f"`{part.name}` is right to a few digits only: float64 numbers go through a narrower dtype, or something "
                "small is added or rounded.",
                "keep the input's dtype throughout, new tensors with dtype=x.dtype; round nothing, and add no small number but "
                "one that the task names.",
                "less exact",
            )
    return None


def _same_but_for_dtype(answer: WrongAnswer, pairs: list) -> bool:
    for pair in pairs:
        expected, actual = pair.expected["value"], pair.actual["value"]
        if expected is None or actual is None or expected.shape != actual.shape:
            return False
        if (
            not expected.double()
            .isclose(actual.double(), rtol=max(answer.exercise.rtol, 1e-2), atol=1e-2, equal_nan=True)
            .all()
        ):
            return False
    return True


SIDE_EFFECTS = (changes_its_input, remembers, other_dtype, cuts_gradients)

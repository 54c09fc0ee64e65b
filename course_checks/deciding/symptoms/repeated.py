"""Results that do not follow the arguments: one number for all cases, or what was right for a case before."""

import torch

from ..wrong_answer import Diagnosis, WrongAnswer
from .exact import is_telling


def result_of_an_earlier_case(answer: WrongAnswer) -> Diagnosis | None:
    """Every wrong result, of two at least, is what was right for a case before it, with other arguments."""
    for part in answer.parts():
        pairs = sorted(part.pairs, key=lambda pair: pair.index)
        wrong = [pair for pair in pairs if pair.wrong]
        sizes = any(pair.have.get("shape") != pair.want.get("shape") for pair in wrong)
        if not (sizes or any(is_telling(*side[:2]) for side in part.numbers() or () if side[2].wrong)):
            continue  # few different numbers match by chance
        earlier = ((pair, [before.want for before in pairs if before.index < pair.index]) for pair in wrong)
        if (
            len(pairs) > 2
            and len(wrong) > 1
            and all(any(answer.same_part(want, pair.have) for want in wants) for pair, wants in earlier)
        ):
            sentence = f"`{part.name}` is what was right for an earlier call, with other arguments."
            advice = "keep nothing from one call to the next, or know it by all the arguments that it depends on."
            return Diagnosis("symptom", "result of an earlier call", sentence, advice)
    return None


def one_value_for_all(answer: WrongAnswer) -> Diagnosis | None:
    """The same single number in every entry of every case, where right ones differ: nothing was worked out."""
    parts = answer.parts()
    sides = parts[0].numbers() if len(parts) == 1 else None
    if sides is None or len(sides) < 3 or len(sides) < len(answer.observed):
        return None
    found, right = (torch.cat([side[i].flatten() for side in sides]) for i in (1, 0))
    if found.is_meta or right.is_meta:  # no numbers to look at
        return None
    found, right = found.unique(), right.unique()
    if len(found) != 1 or not found.isfinite().all() or len(right) == 1:
        return None
    value = bool(found) if parts[0].pairs[0].want.get("dtype") == "bool" else f"{found.item():g}"
    sentence = f"every entry of `{parts[0].name}` is {value}, in every case of the check."
    return Diagnosis(
        "symptom",
        "one value for all",
        sentence,
        "find out why the arguments change nothing: a condition that always holds, a step that is not used.",
    )

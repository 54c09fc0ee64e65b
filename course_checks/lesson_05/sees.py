"""5.7 · Who sees whom: a leak detector."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import Diagnosis, WrongAnswer, stops_with, symptom

NAMES = (
    *("causal", "no mask", "one step ahead", "window of 2", "two layers with windows of 2", "running mean"),
    *("only the first query sees the future", "future zeroed after the softmax", "sees ahead in the second item only"),
    *("one query sees the next key", "each token by itself", "mean of the past without itself", "faint", "fainter"),
    *("three steps ahead only", "one entry of each token moves back", "opposite changes in two entries"),
    *("tokens turned, their lengths kept", "running mean, its last digits from all tokens"),
    "running mean, divided by common sizes and multiplied by them again",
    *("normalized first", "normalized first, causal", "normalized last"),
)  # a name says what the function does; the driver makes it


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for name in NAMES:
        x = torch.randn({"causal": (1, 3, 2)}.get(name, (2, 6, 4)), generator=rng)
        made.append(Case(attend=name, x=x.double() if name == "normalized first, causal" else x))
    return [*made, Case("all of x is 0", attend="running mean", x=torch.zeros(2, 4, 3))]


def missed_or_invented(answer: WrongAnswer) -> Diagnosis | None:
    """Which functions it is wrong about, and in which way."""
    missed, invented = [], []
    for index in answer.wrong:
        table = answer.observed[index].get("value", {}).get("value")
        right = answer.expected[index]["value"]["value"]
        if not isinstance(table, torch.Tensor) or table.shape != right.shape or table.dtype != torch.bool:
            return None
        name = f"'{answer.cases[index]['attend']}'"
        missed += [name] * bool((right & ~table).any())
        invented += [name] * bool((table & ~right).any())
    if bool(missed) == bool(invented):
        return None
    names = missed or invented
    named = ", ".join(names[:3]) + f" and {len(names) - 3} more" * (len(names) > 3)
    if invented:
        advice = "let rounding pass (changes below a millionth, gradients below 1e-9), and change one input at a time."
        return symptom(f"it reports pairs that don't see each other, in {named}.", advice, "sees too much")
    advice = (
        "let only rounding pass, use random factors, take sizes (abs) before you reduce, look at every item and entry."
    )
    return symptom(f"it misses pairs that do see each other, in {named}.", advice, "misses pairs")


EXERCISE = Exercise(
    cases,
    returns=("table",),
    driver="detector",
    symptoms=(
        stops_with(
            "x itself asks for gradients",
            "your function calls requires_grad_() on `x` itself, so `x` asks for gradients after the call.",
            "ask on a copy: x.detach().clone().requires_grad_().",
            "asks for gradients",
        ),
        missed_or_invented,
    ),
    advice="print the gradient of one output at all inputs, gradient.abs().amax((0, 2)), beside the row you report.",
)

"""Who sees whom: the table of dependences of a function that one cannot look into."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told, View


def _factors(out):
    return torch.randn(out.shape[-1], generator=torch.Generator().manual_seed(1), dtype=out.dtype)


def sees(
    attend, x, *, number=lambda out: (out @ _factors(out)).sum(), size=lambda gradient: gradient.abs().amax((0, 2)),
    there=lambda sizes: sizes > 1e-7, form=lambda table: table,
):  # fmt: skip
    """Row i, column j: whether output i depends on input j; each keyword is one step."""
    x = x.clone().requires_grad_()
    out = attend(x)
    rows = (torch.autograd.grad(number(out[:, i]), x, retain_graph=True)[0] for i in range(x.shape[1]))
    return form(there(torch.stack([size(gradient) for gradient in rows])))


NAMES = (
    *("causal", "no mask", "one step ahead", "window of 2", "two layers with windows of 2", "running mean"),
    *("only the first query sees the future", "future zeroed after the softmax", "sees ahead in the second item only"),
    *("one query sees the next key", "each token by itself", "mean of the past without itself", "faint"),
    *("three steps ahead only", "one entry of each token moves back", "opposite changes in two entries"),
    *("tokens turned, their lengths kept", "running mean, its last digits from all tokens"),
    "running mean, divided by common sizes and multiplied by them again",
    *("normalized first", "normalized first, causal", "normalized last"),
)  # a name says what the function does; the probe makes it


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for name in NAMES:
        x = torch.randn({"causal": (1, 3, 2)}.get(name, (2, 6, 4)), generator=rng)
        cases.append(Case(attend=name, x=x.double() if name == "normalized first, causal" else x))
    return [*cases, Case("all of x is 0", attend="running mean", x=torch.zeros(2, 4, 3))]


def asks_for_gradients(view: View) -> Told | None:
    """The answer asked for gradients on the x that it was given."""
    case = view.cases[view.first]
    if case["outcome"] != "raised" or not case["message"].startswith("x itself asks for gradients"):
        return None
    said = "your function calls requires_grad_() on `x` itself, so `x` asks for gradients after the call."
    return Told("symptom", "asks for gradients", said, "ask on a copy: x.detach().clone().requires_grad_().")


def changes_x(view: View) -> Told | None:
    """Numbers of the x that it was given are changed."""
    if not any("x" in view.cases[index].get("changed", ()) for index in view.wrong):
        return None
    said = "it changes `x` itself, so a change made for one input is still there when the next one is tried."
    return Told(
        "symptom",
        "changes x",
        said,
        "make a new copy for each input, x.clone(), and change that (z = x copies nothing).",
    )


def pairs(view: View) -> Told | None:
    """Which functions it is wrong about, and in which way."""
    missed, invented = [], []
    for index in view.wrong:
        said = view.cases[index].get("value", {}).get("value")
        right = view.expected[index]["value"]["value"]
        if not isinstance(said, torch.Tensor) or said.shape != right.shape or said.dtype != torch.bool:
            return None
        name = f"'{view.inputs[index]['attend']}'"
        missed += [name] * bool((right & ~said).any())
        invented += [name] * bool((said & ~right).any())
    if bool(missed) == bool(invented):
        return None
    names = missed or invented
    named = ", ".join(names[:3]) + f" and {len(names) - 3} more" * (len(names) > 3)
    if invented:
        advice = "let rounding pass (changes below a millionth, gradients below 1e-9), and change one input at a time."
        return Told("symptom", "sees too much", f"it reports pairs that don't see each other, in {named}.", advice)
    advice = "let only rounding pass, use random factors, take sizes (abs) before you reduce, and look at every item and entry."
    return Told("symptom", "misses pairs", f"it misses pairs that do see each other, in {named}.", advice)


_CANCELS = "multiply the entries by random factors before you add them up, or compare each by itself."
_ABOVE_ROUNDING = torch.tensor(1e-5).lt
_SIZES = "take the size of each entry (abs), then the largest over items and entries."

EXERCISE = Exercise(
    answer="sees", cases=_cases, reference=sees, returns=("table",), faults=(
        Fault("entries added up", "the entries of an output, or of its change, were added up before anything was compared: "
            "opposite ones cancel.", _CANCELS, number=torch.Tensor.sum, there=_ABOVE_ROUNDING),
        Fault("squares added up", "the squares of an output's entries were added up (or its length was taken): behind a "
            "normalization that hardly changes.", _CANCELS, number=lambda o: o.square().sum(), there=_ABOVE_ROUNDING),
        *faults_of("number", _CANCELS,
            ("first item only", "only the first item of the batch was asked.", lambda o: (o[:1] @ _factors(o)).sum(),
             "ask all items: (out[:, i] * factors).sum() takes them together.")),
        *faults_of("size", _SIZES,
            ("gradient added up", "a normalization at the beginning hides everything from it: the entries of a gradient were "
             "added up, or all entries of a token were moved by one number, or multiplied by one.", lambda g: g.sum((0, 2)).abs(),
             "take sizes (abs) before you reduce, or change each entry by a number of its own."),
            ("every item", "a pair counts only if it is seen in every item of the batch.", lambda g: g.abs().amax(2).amin(0),
             "any item is enough: amax over the batch.")),
        *faults_of("there", "what is seen has gradients of about 0.0001, what isn't below 1e-9: take a number between.",
            ("rounding counted", "whatever isn't exactly 0 counts as seen, rounding too.", lambda s: s != 0),
            ("too generous", "what is faint passes for nothing.", lambda s: s > 5e-4),
            ("turned around", "the table is the wrong way round: True where nothing is seen.", lambda s: s <= 1e-7)),
        *faults_of("form", "rows are outputs, columns inputs, all L times L of them.",
            ("transposed", "rows and columns are exchanged: row i must say what output i sees.", lambda t: t.mT),
            ("from j on", "column j says whether anything from j on is seen: all of it was changed at once.",
             lambda t: t.int().flip(1).cummax(1).values.flip(1).bool(), "change input j alone."),
            ("up to j", "column j says whether anything up to j is seen: all of it was changed at once.",
             lambda t: t.int().cummax(1).values.bool(), "change input j alone."),
            ("gradients piled up", "row i also holds what the rows above it see: each backward() adds to the gradients that are "
             "there already.", lambda t: t.int().cummax(0).values.bool(),
             "set grad to None before each backward(), or use torch.autograd.grad, which adds nothing up."),
            ("leaks only", "only what lies above the diagonal is reported; asked for is the whole table.", lambda t: t.triu(1)),
            ("diagonal alone", "your table holds the diagonal alone, whatever `attend` does.", lambda t: torch.eye(len(t)).bool(),
             "ask for the gradient of attend's outputs, not of x itself."),
            ("causal mask", "your table is the causal mask, whatever `attend` does.",
             lambda t: torch.ones_like(t).tril(), "find out what this function sees; not all of them are causal."),
            ("diagonal missing", "the diagonal is missing: a token may see itself.", lambda t: t & ~torch.eye(len(t)).bool()),
            ("one answer", "one answer for the whole; asked for is the table of all pairs.", lambda t: t.triu(1).any()),
            ("numbers", "a table of the numbers 0 and 1.", lambda t: t.float(), "return booleans: a comparison is one.")),
    ),
    symptoms=(asks_for_gradients, changes_x, pairs),
    advice="print the gradient of one output at all inputs, gradient.abs().amax((0, 2)), beside the row you report.",
)  # fmt: skip

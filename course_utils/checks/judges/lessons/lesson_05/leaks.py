"""Write the leak detector."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told, View


def _future(other):
    """What stands from t on, put through ``other``."""
    return lambda x, t: torch.cat([x[:, :t], other(x[:, t:])], dim=1)


def _noise(x):
    return torch.randn(x.shape, generator=torch.Generator().manual_seed(x.shape[1]))


_NOISE = _future(_noise)


def leaks(
    attend, x, *, splits=lambda length: range(1, length), change=_NOISE, past=lambda t: slice(t), items=lambda outputs: outputs,
    differ=lambda before, after: not torch.allclose(after, before, atol=1e-6), answer=lambda found: found,
):  # fmt: skip
    """Whether an output changes where only what comes later was changed; each keyword is one step."""
    before = attend(x)
    for t in splits(x.shape[1]):
        after = attend(change(x, t))
        if differ(items(before)[:, past(t)], items(after)[:, past(t)]):
            return answer(True)
    return answer(False)


FEW = "faint, in three entries alone"
NAMES = (
    *("no mask", "causal", "one step ahead", "window of 2", "only the first query sees the future"),
    *("only the last key leaks", "running mean", "future zeroed after the softmax", "leaks in the second item only"),
    *("one query sees the next key", "each token by itself", "mean of the past without itself"),
    *("three steps ahead only", "faint", "one entry of each token moves back", "opposite changes in two entries"),
    *("tokens turned, their lengths kept", "running mean, rounded another way each time"),
    *("normalized first", "normalized first, causal", FEW),
)  # a name says what the function does; the probe makes it


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = {"no mask": (1, 3, 2), "causal": (2, 4, 3), FEW: (2, 16, 8)}  # the smallest first
    cases = []
    for name in NAMES:
        x = torch.randn(sizes.get(name, (2, 6, 4)), generator=rng)
        far_from_zero = x + x.sign() / 2  # so that a small share of an output is no less than the faint leak
        cases.append(Case(attend=name, x=far_from_zero))
    return cases


def misses(view: View) -> Told | None:
    """Which functions it is wrong about: leaks that it does not find, or sound ones that it calls leaky."""
    said = {view.inputs[index]["attend"]: view.cases[index].get("value", {}).get("value") for index in view.wrong}
    if not all(isinstance(value, bool) for value in said.values()) or len(set(said.values())) != 1:
        return None
    names = [f"'{name}'" for name in said]
    named = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    if any(said.values()):
        advice = "compare outputs before t only, and let rounding pass: differences below a millionth."
        return Told("symptom", "finds leaks that are none", f"it says that these leak, which do not: {named}.", advice)
    advice = "for every t change all entries of x from t on, each by another number, and compare every entry before t."
    return Told("symptom", "misses leaks", f"it does not find the leak of {named}; it finds all others.", advice)


_PAST = "change from t on, and compare [:, :t]."
_MILLIONTH = "compare with a tolerance near 1e-6: torch.allclose(after, before, atol=1e-6)."

EXERCISE = Exercise(
    answer="leaks", cases=_cases, reference=leaks, returns=("leaks",), faults=(
        Fault("everything compared", "it says that everything leaks: comparing the changed positions too does that.",
            "compare the outputs before position t only.", differ=lambda b, a: True),
        Fault("one too many", "position t, which was changed, is compared too: the slice is one too long.", _PAST,
            past=lambda t: slice(t + 1)),
        Fault("past changed", "the past is changed and the future compared; the future may depend on the past.",
            "change the positions from t on, compare those before t.",
            change=lambda x, t: torch.cat([x[:, :t] + 1, x[:, t:]], 1), past=lambda t: slice(t, None)),
        Fault("answer turned around", "the answers are the wrong way round: True for what does not leak.",
            "return True if a past output has changed.", answer=lambda f: not f),
        *faults_of("splits", "try every split t from 1 to L - 1.",
            ("last position only", "only the last position is changed; a leak among earlier positions goes unnoticed.",
             lambda n: [n - 1]),
            ("first output only", "only the first output is compared; a leak into later outputs goes unnoticed.", lambda n: [1]),
            ("one split", "one split in the middle; a leak between two positions on the same side of it goes unnoticed.",
             lambda n: [n // 2]),
            ("last split forgotten", "a leak from the last position alone goes unnoticed: the last split seems to be missing.",
             lambda n: range(1, n - 1), "range(1, L) ends at L - 1."),
            ("first split forgotten", "a leak into the first output alone goes unnoticed: the first split seems to be missing.",
             lambda n: range(2, n), "start at t = 1.")),
        Fault("neighbors left out",
            "an output is never compared while its next position changes: a slice is off by one.",
            "change from t on, changed[:, t:], and compare what is before t, [:, :t].", past=lambda t: slice(t - 1)),
        Fault("first item only", "only the first item of the batch is compared.",
            "compare the whole batch: out[:, :t].", items=lambda o: o[:1]),
        *faults_of("change", "put other numbers there, a different one for each entry: torch.randn_like.",
            ("future reordered", "the future is only reordered. Attention does not notice the order of its keys, so the "
             "leak stays hidden.", _future(lambda x: x.flip(1)), "put other numbers there: add something, or draw new ones."),
            ("one number for all", "all entries of a token are moved, or stretched, by one number; normalizing the token "
             "takes that out again.", _future(lambda x: x + 1)),
            ("one entry changed", "only the first entry of each token is changed; a leak through the others goes unnoticed.",
             _future(lambda x: x + torch.eye(x.shape[-1])[0]), "change all entries of the positions from t on."),
            ("NaN in the future", "NaN in the future reaches every output: a weight of 0 times NaN is NaN, and a sound mask "
             "looks leaky.", _future(lambda x: x * torch.nan), "change the future to other ordinary numbers.")),
        Fault("too generous", "a difference that is too large passes for rounding, so that a faint leak goes unnoticed.",
            _MILLIONTH, differ=lambda b, a: not torch.allclose(a, b, atol=1e-3)),
        Fault("exact", "it takes rounding for a leak: outputs that agree to a millionth are called different.",
            _MILLIONTH, differ=lambda b, a: not torch.equal(a, b)),
        *faults_of("differ", "compare entry by entry: (after - before).abs().max(), or torch.allclose.",
            ("averaged", "the mean change over all past entries is compared: a faint leak into a few is averaged away.",
             lambda b, a: (a - b).abs().mean() > 1e-5),
            ("added up, then compared", "outputs are added up before they are compared: opposite changes cancel.",
             lambda b, a: abs((a.double() - b.double()).sum()) > 1e-5),
            ("means compared", "the means of the outputs are compared: opposite changes cancel, faint ones are averaged away.",
             lambda b, a: abs((a.double() - b.double()).mean()) > 1e-5),
            ("x never changed", "it never says that anything leaks: the past is compared with itself, or too generously.",
             lambda b, a: False, "call attend on a changed copy, and compare with a tolerance near 1e-6.")),
    ),
    symptoms=(misses,),
    advice="print which splits t find a change, and where: (after - before).abs().amax(-1).",
)  # fmt: skip

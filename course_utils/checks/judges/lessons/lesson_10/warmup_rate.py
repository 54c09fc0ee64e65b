"""The warm-up schedule."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    done = int(torch.randint(52, 90, (), generator=rng))
    numbers = [(0, 4, 4), (3, 4, 4), (15, 4, 4), (0, 512, 4000), (1, 64, 100), (99, 64, 100), (100, 64, 100)]
    numbers += [(done, 128, 50), (5 * done, 256, 30), (4, 9, 4), (done % 7 + 1, 1, 20), (0, 16, 1), (5, 8, 1)]
    labels = ("the warm-up is not over", "the warm-up is over")
    return [Case(labels[done >= warmup], done=done, d_model=d, warmup=warmup) for done, d, warmup in numbers]


def _rate(
    done, d_model, warmup, *,
    step=lambda done: done + 1, rise=lambda s, w: s * w**-1.5, fall=lambda s, w: s**-0.5,
    join=lambda fall, rise, s, w: min(fall, rise),
):  # fmt: skip
    """The rate of the next update (Vaswani et al. 2017, equation 3)."""
    s = step(done)
    return d_model**-0.5 * join(fall(s, warmup), rise(s, warmup), s, warmup)


def _by_step(fall, rise, s, w):
    return rise if s <= w else fall


_ONCE = "add 1 once, before either part: s = done + 1, also for done = 0."
_STEP_0 = "0 was put into the formula: 0 to the power -0.5 is a division by zero."
_FALL = "the falling part is s ** -0.5, s the number of the step from the very start."

_FAULTS = (
    Fault("factor in the fall alone", "only the falling part is multiplied by d_model ** -0.5: the factor stands inside min.",
        "multiply the smaller part: d_model ** -0.5 * min(...).",
        whole=lambda done, d_model, warmup: min((d_model * (done + 1)) ** -0.5, (done + 1) * warmup**-1.5)),
    *faults_of("step", _ONCE,
        ("step 0", _STEP_0, lambda done: done),
        ("step 0 taken for 1", "0 is replaced by 1: the first two updates have one rate, and all others come one too late.",
         lambda done: max(done, 1)),
        ("step counted from 2", "done + 2 stands for the number of the next update: every rate comes one too early.",
         lambda done: done + 2)),
    Fault("step 0, divided", _STEP_0, _ONCE, step=lambda done: done, fall=lambda s, w: 1 / s**0.5),
    Fault("rate 0 at first", "the first update has the rate 0 (it does nothing), and all others come one too late.", _ONCE,
        step=lambda done: done, fall=lambda s, w: s**-0.5 if s else 1.0),
    *faults_of("fall", _FALL,
        ("counted from 0 in the fall", "1 was added in the rising part only; the fall still counts from 0.",
         lambda s, w: max(s - 1, 1) ** -0.5, _ONCE),
        ("constant after the warm-up", "a rise, and then a constant rate.", lambda s, w: w**-0.5),
        ("falls with the step", "a fall with the step itself, not with its square root.", lambda s, w: 1 / s)),
    Fault("falls from the end of the warm-up", "the fall counts its steps from the end of the warm-up.", _FALL,
        fall=lambda s, w: max(s - w, 1) ** -0.5, join=_by_step),
    Fault("falls from the peak", "the fall begins at the peak, but counts its steps from the end of the warm-up.", _FALL,
        fall=lambda s, w: (w * max(s + 1 - w, 1)) ** -0.5, join=_by_step),
    *faults_of("rise", "the rising part is s * w ** -1.5.",
        ("counted from 0 in the rise", "1 was added in the falling part only; the rise still begins at 0.",
         lambda s, w: (s - 1) * w**-1.5, _ONCE),
        ("warm-up power -1", "the rise divides by w, not by w to the power 1.5: the parts do not meet at s = w.",
         lambda s, w: s / w),
        ("warm-up power -0.5", "the rise divides by the root of w: the parts do not meet at s = w.", lambda s, w: s * w**-0.5)),
    *faults_of("join", "take the smaller of the falling and the rising part: min.",
        ("rises one step too long", "the rise goes on for one step too many: done is compared with w.",
         lambda fall, rise, s, w: rise if s - 1 <= w else fall, "compare s = done + 1 with w, or take the smaller part, min."),
        ("max for min", "the larger of the two parts: the rate is very high at the start.",
         lambda fall, rise, s, w: max(fall, rise)),
        ("no rise", "the falling part alone: there is no warm-up, and the first step has the largest rate.",
         lambda fall, rise, s, w: fall),
        ("no fall", "the rising part alone: the rate grows without end.", lambda fall, rise, s, w: rise)),
)  # fmt: skip

EXERCISE = Exercise(
    answer="warmup_rate", cases=_cases, reference=_rate, returns=("rate",), faults=_FAULTS,
    advice="for d_model = 4 and warmup = 4 the steps 1, 4 and 16 have the rates 1/16, 1/4 and 1/8.",
    atol=1e-12,
)  # fmt: skip

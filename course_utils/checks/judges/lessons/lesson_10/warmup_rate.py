"""The warm-up schedule."""

import torch

from ...exercise import Case, Exercise, Fault


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    done = int(torch.randint(52, 90, (), generator=rng))
    numbers = [(0, 4, 4), (3, 4, 4), (15, 4, 4), (0, 512, 4000), (1, 64, 100), (99, 64, 100), (100, 64, 100)]
    numbers += [(done, 128, 50), (5 * done, 256, 30), (4, 9, 4), (done % 7 + 1, 1, 20), (0, 16, 1), (5, 8, 1)]
    labels = ("the warm-up is not over", "the warm-up is over")
    return [Case(labels[done >= warmup], done=done, d_model=d, warmup=warmup) for done, d, warmup in numbers]


def _rate(
    done, d_model, warmup, *,
    step=lambda done: done + 1,
    size=lambda d_model: d_model**-0.5,
    rise=lambda s, w: s * w**-1.5,
    fall=lambda s, w: s**-0.5,
    join=lambda fall, rise, s, w: min(fall, rise),
):  # fmt: skip
    """The rate of the next update (Vaswani et al. 2017, equation 3)."""
    s = step(done)
    return size(d_model) * join(fall(s, warmup), rise(s, warmup), s, warmup)


_ONCE = "add 1 once, before either part: s = done + 1, also for done = 0."
_MIN = "take the smaller of the falling and the rising part: min."
_FALL = "the falling part is s ** -0.5, s the number of the step from the very start."
_RISE = "the rising part is s * w ** -1.5."
_SIZE = "multiply by d_model ** -0.5: wider models get smaller rates."
_STEP_0 = ("0 was put into the formula: 0 to the power -0.5 is a division by zero.", _ONCE)

_FAULTS = (
    Fault("step 0", *_STEP_0, step=lambda done: done),
    Fault("step 0, divided", *_STEP_0, step=lambda done: done, fall=lambda s, w: 1 / s**0.5),
    Fault("step 0 taken for 1", "0 is replaced by 1: the first two updates have one rate, and all others come one too late.",
          _ONCE, step=lambda done: max(done, 1)),
    Fault("rate 0 at first", "the first update has the rate 0 (it does nothing), and all others come one too late.", _ONCE,
          step=lambda done: done, fall=lambda s, w: s**-0.5 if s else 1.0),
    Fault("step counted from 2", "done + 2 stands for the number of the next update: every rate comes one too early.",
          _ONCE, step=lambda done: done + 2),
    Fault("counted from 0 in the rise", "1 was added in the falling part only; the rise still begins at 0.", _ONCE,
          rise=lambda s, w: (s - 1) * w**-1.5),
    Fault("counted from 0 in the fall", "1 was added in the rising part only; the fall still counts from 0.", _ONCE,
          fall=lambda s, w: max(s - 1, 1) ** -0.5),
    Fault("rises one step too long", "the rise goes on for one step too many: done is compared with w.", _ONCE,
          join=lambda fall, rise, s, w: rise if s - 1 <= w else fall),
    Fault("max for min", "the larger of the two parts: the rate is very high at the start.", _MIN,
          join=lambda fall, rise, s, w: max(fall, rise)),
    Fault("no rise", "the falling part alone: there is no warm-up, and the first step has the largest rate.", _MIN,
          join=lambda fall, rise, s, w: fall),
    Fault("no fall", "the rising part alone: the rate grows without end.", _MIN, join=lambda fall, rise, s, w: rise),
    Fault("constant after the warm-up", "a rise, and then a constant rate.", _FALL, fall=lambda s, w: w**-0.5),
    Fault("falls with the step", "a fall with the step itself, not with its square root.", _FALL, fall=lambda s, w: 1 / s),
    Fault("falls from the end of the warm-up", "the fall counts its steps from the end of the warm-up.", _FALL,
          fall=lambda s, w: max(s - w, 1) ** -0.5, join=lambda fall, rise, s, w: rise if s <= w else fall),
    Fault("falls from the peak", "the fall begins at the peak, but counts its steps from the end of the warm-up.", _FALL,
          fall=lambda s, w: (w * max(s + 1 - w, 1)) ** -0.5, join=lambda fall, rise, s, w: rise if s <= w else fall),
    Fault("warm-up power -1", "the rise divides by w, not by w to the power 1.5: the parts do not meet at s = w.", _RISE,
          rise=lambda s, w: s / w),
    Fault("warm-up power -0.5", "the rise divides by the root of w: the parts do not meet at s = w.", _RISE,
          rise=lambda s, w: s * w**-0.5),
    Fault("size forgotten", "d_model plays no part.", _SIZE, size=lambda d_model: 1.0),
    Fault("root of the size", "multiplied by the root of d_model; wider models would get larger rates.", _SIZE,
          size=lambda d_model: d_model**0.5),
    Fault("size itself", "divided by d_model instead of its square root.", _SIZE, size=lambda d_model: 1 / d_model),
)  # fmt: skip

EXERCISE = Exercise(
    answer="warmup_rate",
    cases=_cases,
    reference=_rate,
    returns=("rate",),
    faults=_FAULTS,
    advice="for d_model = 4 and warmup = 4 the steps 1, 4 and 16 have the rates 1/16, 1/4 and 1/8.",
    atol=1e-12,
)

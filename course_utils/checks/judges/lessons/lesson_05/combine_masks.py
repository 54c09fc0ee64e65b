"""Combine masks."""

import functools
import operator

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def combine_masks(
    *masks, given=lambda masks: [mask for mask in masks if mask is not None], read=lambda mask: mask,
    join=lambda masks: functools.reduce(operator.and_, masks), form=lambda mask: mask, none=lambda: None,
):  # fmt: skip
    """What all masks allow, None if there is none; each keyword is one step."""
    left = given(masks)
    return form(join([read(mask) for mask in left])) if left else none()


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    pad, causal = torch.rand(2, 1, 1, 7, generator=rng) > 0.3, torch.ones(5, 7, dtype=torch.bool).tril(2)[None, None]
    heads, free = torch.rand(1, 3, 1, 1, generator=rng) > 0.3, torch.rand(2, 3, 5, 7, generator=rng) > 0.4
    pad[:, ..., 0], pad[0, ..., 1], pad[1, ..., 2] = True, False, False
    heads[:, 0], heads[:, 1] = True, False
    free[0, 0, 1, 0], free[0, 0, 1, 2] = False, True
    return [
        Case("two masks are given", masks=[torch.tensor([[True, True, False]]), torch.tensor([[True], [False]])]),
        Case("two masks are given", masks=[torch.tensor([[True, False, False]]), torch.tensor([[True, True, False]])]),
        Case("two masks are given", masks=[pad, causal]),
        Case("None stands among the masks", masks=[None, pad, None, causal]),
        Case("None stands among the masks", masks=[pad, None, causal]),
        Case("more than two masks are given", masks=[causal, pad, free, heads]),
        Case("no mask is left", masks=[None, None]),
        Case("no mask is left", masks=[]),
        Case("None stands among the masks", masks=[None, pad]),
        Case("one mask is given alone", masks=[free]),
    ]


def _reduced(join):
    return lambda masks: functools.reduce(join, masks)


_TRUTH = "asks a whole tensor for one truth value, which it has not."

EXERCISE = Exercise(
    answer="combine_masks", cases=_cases, reference=combine_masks, returns=("combined mask",), faults=(
        *faults_of("join", "a key must be allowed by ALL masks: join them by and, &.",
            ("joined by or", "masks joined by or (a sum of booleans is one too): what ANY mask allows is seen.",
             _reduced(operator.or_)),
            ("exclusive or", "masks joined by exclusive or: what an odd number of masks allows.", _reduced(operator.xor)),
            ("equal", "True where the masks agree, also where both hide.", _reduced(operator.eq), "use &, not ==."),
            ("Python's and", f"the word `and` {_TRUTH}", _reduced(lambda a, b: a and b), "use &, which works entry by entry.")),
        Fault("in place", "the first mask is changed in place (&=): its owner loses it, and it cannot grow in shape.",
            "write result = result & mask.", join=_reduced(operator.iand)),
        Fault("stacked", "the masks were stacked as they are, which needs equal shapes; these only broadcast.",
            "join them two by two with &, or use torch.broadcast_tensors first.",
            join=lambda masks: torch.stack(masks).all(0)),
        Fault("first only", "the first mask alone; the others are not used.", "go on through all masks.",
            given=lambda masks: [mask for mask in masks if mask is not None][:1]),
        Fault("last wins", "the last mask alone: each mask replaced the one before.",
            "join each mask to what you have so far.", given=lambda masks: [m for m in masks if m is not None][-1:]),
        Fault("two masks only", "the first two masks are joined; what comes after them is not used.",
            "go on through all masks.", given=lambda masks: [mask for mask in masks if mask is not None][:2]),
        Fault("None not skipped", "None was joined like a mask.",
            "leave the entries out that are None before you join the rest.", given=list),
        Fault("truth of a tensor", f"`if mask` {_TRUTH}", "ask whether it is None: `if mask is not None`.",
            given=lambda masks: [mask for mask in masks if mask]),
        Fault("one None, no mask", "one None made the whole result None, so that the other masks are lost.",
            "None means no mask from this side; the others still count.",
            given=lambda masks: [] if any(mask is None for mask in masks) else list(masks)),
        Fault("stops at None", "what comes after the first None is not used.",
            "leave out the entry that is None and go on: continue, not break or return.",
            given=lambda masks: list(masks[: next((i for i, m in enumerate(masks) if m is None), len(masks))])),
        Fault("one alone lost", "with a single mask the result is None, so that this mask is lost.",
            "a mask that stands alone is the result; None is it only where no mask is left.",
            given=lambda masks: left if len(left := [mask for mask in masks if mask is not None]) > 1 else []),
        Fault("None hides", "an entry that is None hides everything.",
            "None means no mask from this side: leave it out, also where masks are counted.",
            given=lambda masks: [torch.tensor(False) if m is None else m for m in masks if any(n is not None for n in masks)]),
        Fault("all True instead of None", "without any mask you return a tensor of True; asked for is None.",
            "return None where no mask is left.", none=lambda: torch.tensor(True)),
        Fault("empty not provided for", "the masks are joined well, but where none is left your code stops.",
            "return None if nothing is left to join.", none=lambda: functools.reduce(operator.and_, [])),
        Fault("read as hidden", "the masks were inverted first, as if True meant hidden.",
            "True means may attend; join the masks as they are.", read=lambda m: ~m),
        Fault("numbers", "the product of zeros and ones: right in value, but no longer boolean.",
            "use & on the booleans.", form=lambda m: m.float()),
    ),
    advice="join a padding mask (2, 1, 1, 7) with a causal mask (1, 1, 5, 7): the result has shape (2, 1, 5, 7).",
)  # fmt: skip

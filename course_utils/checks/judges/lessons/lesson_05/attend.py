"""Find the bug: the padding mask that hides rows."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.masked import COMMON_FAULTS, HIDING_FAULTS, attend_masked, filled, low_scores


def attend(query, key, value, keep, *, place=lambda keep: keep[:, None, None, :], **steps):
    """Attention that hides padding; ``place`` puts ``keep`` among the axes, the other steps are those of ``attend_masked``."""
    return attend_masked(query, key, value, place(keep), **steps)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, H, L_q, L_k, d_k, d_v, dtype in (
        (1, 2, 3, 3, 4, 2, torch.float32),
        (2, 4, 6, 6, 3, 5, torch.float32),
        (3, 2, 5, 7, 4, 3, torch.float64),
        (3, 2, 5, 7, 4, 3, torch.float64),  # sizes seen before, other numbers
    ):
        keep = torch.arange(L_k) < torch.tensor([L_k - 1, 2, L_k - 3])[:B, None]
        keep = keep.flip(-1) if len(cases) == 3 else keep
        query, key, value = (
            torch.randn(B, H, *rest, generator=rng, dtype=dtype) for rest in ((L_q, d_k), (L_k, d_k), (L_k, d_v))
        )
        cases.append(Case(query=query, key=key, value=value + 9.0 * ~keep[:, None, :, None], keep=keep))
    query, key, value = torch.randn(3, 2, 2, 4, 3, generator=rng)
    keep = torch.tensor([[True, True, True, False], [False, True, True, True]])
    cases.append(Case("B equals H and L_q equals L_k", query=query, key=key, value=value, keep=keep))
    high = torch.where(keep[:, None, :, None], key, 100.0)
    cases.append(
        Case("hidden scores are far higher", values_only=True, query=query.abs(), key=high, value=value, keep=keep)
    )
    query, key = low_scores((2, 3), 5, 4, rng)
    value = torch.randn(2, 3, 4, 2, generator=rng)
    cases.append(Case("all scores are near -100000", values_only=True, query=query, key=key, value=value, keep=keep))
    return cases


_LAST = "padding is to be hidden as a key: the tokens belong in the last axis."

EXERCISE = Exercise(
    answer="attend", cases=_cases, reference=attend, returns=("output", "weights"), faults=(
        Fault("still rows", "the bug is still there: the mask has shape (B, 1, L, 1) and hides rows, the queries of "
            "the padding.", _LAST, place=lambda k: k[:, None, :, None], hide=filled(-1e9)),
        Fault("still rows, -inf", "the fill value is changed and the axis is not: the mask hides rows, now as NaN.",
            _LAST, place=lambda k: k[:, None, :, None]),
        Fault("rows too, NaN", "padding is hidden on both axes: the row of a padded query is -inf throughout, and becomes NaN.",
            _LAST, place=lambda k: k[:, None, None, :] & k[:, None, :, None], hide=filled(-torch.inf)),
        Fault("rows too", "padding is hidden on both axes; a padded query then sees nothing, and L_q may differ from "
            "L_k.", "hide the keys alone: the tokens belong in the last axis, nowhere else.",
            place=lambda k: k[:, None, None, :] & k[:, None, :, None], hide=filled(-1e9)),
        Fault("along the heads", "a mask of shape (B, 1, L_k): against four axes it lines up the batch with the heads.",
            "add an axis of size 1 for the heads and one for the queries.", place=lambda k: k[:, None]),
        Fault("as it comes", "a mask of shape (B, L_k) or (1, 1, B, L_k): it lines up the batch with the queries.",
            "add two axes of size 1 between the batch and the keys.", place=lambda k: k),
        Fault("tokens as heads", "a mask of shape (B, L, 1, 1): the tokens stand where the heads belong.",
            "the keys are the last axis of (B, H, L_q, L_k).", place=lambda k: k[:, :, None, None]),
        Fault("from the lengths", "as many keys from the left are seen as there are real tokens; padding may stand there.",
            "use keep itself, wherever its padding stands.",
            place=lambda k: (torch.arange(k.shape[1]) < k.sum(1, keepdim=True))[:, None, None]),
        Fault("any item's padding", "a key is seen by all items if it is real in any of them.", "keep the batch axis.",
            place=lambda k: k.any(0)),
        Fault("values zeroed", "the values of the padding are set to 0, but it keeps its share of the weights.",
            "hide the scores before the softmax, as the given code did.", hide=lambda s, m: s,
            values=lambda v, m: v * m.mT),
        *HIDING_FAULTS, *COMMON_FAULTS,
    ),
    advice="print mask.shape and the row of weights of a real token: where keep is False it must be 0.",
)  # fmt: skip

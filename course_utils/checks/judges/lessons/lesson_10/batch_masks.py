"""Masks for a batch of pairs."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.padded import keys, padded, past
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    small = Case(source=torch.tensor([[3, 4, 5], [6, 0, 0]]), target=torch.tensor([[1, 7], [1, 0]]), pad_id=0)
    right = Case(source=padded(rng, (7, 4, 6), 7, 12, 0, 3), target=padded(rng, (3, 5, 4), 5, 12, 0, 3), pad_id=0)
    left = {"source": padded(rng, (3, 2), 4, 9, 5).flip(1), "target": padded(rng, (5, 2), 6, 9, 5).flip(1), "pad_id": 5}
    left["source"][:, -1] = left["target"][:, -1] = 0  # real, as padding is another id
    cases = [small, right, Case("padding stands on the left", **left)]
    for pad_id, lengths in ((2, (4, 3)), (7, (3, 5))):  # the same sizes twice
        inside = {"source": padded(rng, lengths, 5, 9, pad_id), "target": padded(rng, lengths[::-1], 5, 9, pad_id)}
        for ids in inside.values():
            ids[:, 1], ids[0, 0] = pad_id, 0
        cases.append(Case("padding stands between real symbols", **inside, pad_id=pad_id))
    return cases


def _masks(
    source, target, pad_id, *,
    given=lambda target: target, real=lambda ids, pad_id: ids != pad_id,
    source_keys=lambda s, t: keys(s), target_keys=lambda t, s: keys(t),
    behind=past, join=lambda seen, behind: seen & behind, finish=lambda mask: mask,
):  # fmt: skip
    """Both masks (Vaswani et al. 2017, section 3.2.3)."""
    target = given(target)
    s, t = real(source, pad_id), real(target, pad_id)
    return finish(source_keys(s, t)), finish(join(target_keys(t, s), behind(target.shape[1])))


def _between_ends(ids, pad_id):
    real = (ids != pad_id).long()
    return (real.cumsum(1) > 0) & (real.flip(1).cumsum(1).flip(1) > 0)


_TRIL = "a position may see itself and the past: rows are queries, columns keys; keep the diagonal, as tril() does."
_EACH = "compare each id with pad_id, wherever it stands."
_LAST = "the tokens belong in the last axis, where the keys are: (B, 1, 1, L), before you join."
_JOIN = "each pair has its own padding: join (&) the padding mask (B, 1, 1, L_t) with a lower triangle (L_t, L_t)."

_FAULTS = (
    *faults_of("behind", _TRIL,
        ("no causal mask", "the target mask does not hide the future.", lambda n: past(n, n)),
        ("the future instead of the past", "the upper triangle: each position sees itself and the future.", lambda n: past(n).T),
        ("one step ahead", "every position sees one step ahead, and there stands its label.", lambda n: past(n, 1))),
    *faults_of("join", _JOIN,
        ("padding mask alone", "a target mask of shape (B, 1, 1, L_t): the future is not hidden.", lambda seen, behind: seen),
        ("causal mask alone", "one causal mask for all pairs: the target's padding is seen.",
         lambda seen, behind: behind[None, None]),
        ("joined by or", "the two conditions are joined by or: a key is seen if one of them allows it.",
         lambda seen, behind: seen | behind, "a key must be real AND not in the future: use &.")),
    *faults_of("target_keys", "the keys are the target: hide the columns of target that hold pad_id, and nothing else.",
        ("target padding seen", "the target mask does not hide the target's padding.", lambda t, s: keys(torch.ones_like(t))),
        ("target padding in the rows", "the target's padding is hidden as a row (query), and seen as a column (key).",
         lambda t, s: t[:, None, :, None], _LAST),
        ("padding rows closed", "the rows of the target's padding are closed as well, so that they see nothing at all.",
         lambda t, s: keys(t) & t[:, None, :, None]),
        ("no head axis", "the target mask has the shape (B, L_t, L_t): the axis for the heads is missing.",
         lambda t, s: t[:, None, :], "before you join, put two axes between the batch and the keys: [:, None, None, :]."),
        ("source padding in the target mask", "a target mask made from the padding of the source.", lambda t, s: keys(s))),
    *faults_of("source_keys", "the keys are the source: hide the columns of source that hold pad_id, and nothing else.",
        ("no axes for heads and queries", "the source mask is (B, L_s): the axes for heads and queries are missing.",
         lambda s, t: s, "put two axes of size 1 between the batch and the keys: [:, None, None, :]."),
        ("one axis between", "the source mask is (B, 1, L_s): only one axis stands between batch and keys.",
         lambda s, t: s[:, None], "put two axes of size 1 there, for heads and queries: [:, None, None, :]."),
        ("source mask causal too", "a causal source mask. The source is known as a whole; nothing of it is future.",
         lambda s, t: keys(s) & past(s.shape[1])),
        ("target padding in the source mask", "a source mask made from the padding of the target.", lambda s, t: keys(t))),
    Fault("no axes for heads", "the axes for the heads (and in the source mask those for the queries) are missing.",
        "put two axes of size 1 between the batch and the keys, in both: [:, None, None, :].",
        source_keys=lambda s, t: s, target_keys=lambda t, s: t[:, None, :]),
    *faults_of("real", _EACH,
        ("ids above pad_id", "ids below pad_id are taken for padding.", lambda ids, pad_id: ids > pad_id),
        ("first pair for all", "the padding of the first pair is used for every pair.",
         lambda ids, pad_id: (ids[:1] != pad_id).expand_as(ids)),
        ("padding by its number", "as many places on the right are hidden as the row has padding, wherever that stands.",
         lambda ids, pad_id: torch.arange(ids.shape[1]) < (ids != pad_id).sum(1, keepdim=True)),
        ("everything after padding", "everything from the first padding on is hidden, real symbols too.",
         lambda ids, pad_id: (ids == pad_id).cumsum(1) == 0),
        ("padding at the ends only", "padding at the ends is hidden, but seen where it stands between real symbols.",
         _between_ends)),
    *faults_of("finish", "return booleans, True where the query may attend: leave the comparisons as they are.",
        ("rows that see nothing opened", "rows of a mask that see nothing were opened: they see what is hidden.",
         lambda mask: mask | ~mask.any(-1, keepdim=True), "leave them closed; the loss leaves them out."),
        ("head axis missing", "masks of three axes: against scores (B, H, L_q, L_k) the batch would meet the heads.",
         lambda mask: mask[:, 0], "keep an axis of size 1 for the heads, right after the batch."),
        ("additive", "additive masks, 0 and minus infinity.", lambda mask: torch.where(mask, 0.0, -torch.inf))),
    Fault("last symbol cut off", "the target mask is one position too short: the last symbol was cut off.",
        "target is already what the decoder is given; use all of it.", given=lambda target: target[:, :-1]),
)  # fmt: skip

EXERCISE = Exercise(
    answer="batch_masks", cases=_cases, reference=_masks, returns=("source_mask", "target_mask"), faults=_FAULTS,
    advice="write both masks down for a source of 3 and a target of 2 symbols; rows are queries, columns keys.",
)  # fmt: skip

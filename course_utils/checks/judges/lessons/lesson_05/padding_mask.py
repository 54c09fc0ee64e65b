"""A padding mask."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.masks import FORM_FAULTS
from ...kit.parts import faults_of


def padding_mask(
    tokens, pad_id, *, real=lambda tokens, pad_id: tokens != pad_id, place=lambda real: real[:, None, None, :],
    form=lambda mask: mask,
):  # fmt: skip
    """True where a key is no padding, ``(B, 1, 1, L_k)``; each keyword is one step."""
    return form(place(real(tokens, pad_id)))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    right = torch.randint(1, 9, (2, 7), generator=rng)
    right[0, 4:], right[1, 6:] = 0, 0
    left = torch.randint(0, 7, (3, 5), generator=rng)
    left[0, :2], left[2, :3], left[1, 2] = 9, 9, 0
    between = torch.tensor([[0, 3, 1, 2], [3, 0, 2, 1], [2, 2, 2, 2]])
    return [
        Case(tokens=torch.tensor([[5, 7, 0], [4, 0, 0]]), pad_id=0),
        Case(tokens=torch.tensor([[5, 0, 7], [0, 0, 4]]), pad_id=5),
        Case(tokens=right, pad_id=0),
        Case(tokens=torch.tensor([[6, 2, 4, 4]]), pad_id=4),
        Case("padding stands on the left", tokens=left, pad_id=9),
        Case("padding stands between real tokens", tokens=between, pad_id=2),
    ]


_EACH = "ask each token by itself whether it is padding."
_AXES = "the order is (B, H, L_q, L_k); the tokens are the keys, the last of the four."

EXERCISE = Exercise(
    answer="padding_mask", cases=_cases, reference=padding_mask, returns=("mask",), faults=(
        *faults_of("place", _AXES,
            ("rows", "a mask of shape (B, 1, L, 1): it hides rows, the queries; padding is to be hidden as a key.",
             lambda r: r[:, None, :, None]),
            ("tokens in front", "a mask of shape (B, L, 1, 1): the tokens stand where the heads belong.",
             lambda r: r[:, :, None, None]),
            ("two axes only", "a mask of shape (B, L_k): against four axes it would line up the batch with the queries.",
             lambda r: r, "add two axes of size 1 between the batch and the keys."),
            ("one axis missing", "a mask of shape (B, 1, L_k): against four axes it would line up the batch with the heads.",
             lambda r: r[:, None], "add one more axis of size 1: one for the heads, one for the queries."),
            ("batch as queries", "a mask of shape (1, 1, B, L_k): the batch stands where the queries belong.",
             lambda r: r[None, None], "add the two axes between the batch and the keys."),
            ("queries hidden too", "a mask of shape (B, 1, L_k, L_k): the padding is hidden among the queries as well.",
             lambda r: r[:, None, :, None] & r[:, None, None], "hide it as a key alone, (B, 1, 1, L_k).")),
        Fault("pad id 0 assumed", "a mask that looks for 0, whatever pad_id says.",
            "compare with pad_id; in some vocabularies 0 is a real token.", real=lambda t, p: t != 0),
        Fault("positive is real", "every token whose id is below pad_id was hidden as well.",
            "ask whether a token differs from pad_id, not whether it is larger.", real=lambda t, p: t > p),
        Fault("from the lengths", "a mask that puts all real tokens first, but padding may stand on the left or in "
            "between.", _EACH, real=lambda t, p: torch.arange(t.shape[1]) < (t != p).sum(-1, keepdim=True)),
        Fault("hidden from padding on", "everything behind the first padding is hidden, real tokens too.", _EACH,
            real=lambda t, p: (t == p).cumsum(-1) == 0),
        Fault("hidden behind the last token", "only padding behind the last real token is hidden.", _EACH,
            real=lambda t, p: (t != p).flip(-1).cumsum(-1).flip(-1) > 0),
        Fault("0 hidden as well", "the token 0 is hidden as well, also where it is no padding.", "compare with pad_id "
            "alone; in some vocabularies 0 is a real token.", real=lambda t, p: (t != p) & (t != 0)),
        *FORM_FAULTS,
    ),
    advice="print mask.shape, and mask[0, 0, 0] next to tokens[0].",
)  # fmt: skip

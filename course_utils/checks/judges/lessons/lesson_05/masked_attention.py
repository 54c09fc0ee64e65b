"""Masked attention."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.masked import COMMON_FAULTS, HIDING_FAULTS, attend_masked, low_scores


def random_mask(shape, rng):
    """Random booleans in which every row allows something and hides something."""
    keep = torch.rand(shape, generator=rng) > 0.4
    one = torch.randint(shape[-1], shape[:-1], generator=rng)
    keep |= F.one_hot(one, shape[-1]).bool()
    return keep & ~F.one_hot((one + 1) % shape[-1], shape[-1]).bool()


def one_key_mask(shape, rng):
    """One True in every row: its weight is exactly 1, however low the scores and however the softmax is written."""
    return F.one_hot(torch.randint(shape[-1], shape[:-1], generator=rng), shape[-1]).bool()


def _half(rng):
    """Built so that every right way gives the same bits: equal scores, 1, 2 or 4 keys, whole numbers."""
    mask = torch.tensor([[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 0, 1, 1, 1, 0]]).bool()
    key, value = torch.randn(1, 6, 4, generator=rng).half(), torch.randint(-8, 9, (1, 6, 2), generator=rng).half()
    query = torch.zeros(1, 3, 4, dtype=torch.float16)
    return Case("the numbers are float16", values_only=True, query=query, key=key, value=value, mask=mask)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    value, mask = torch.tensor([[[10.0], [20.0], [90.0]]]), torch.tensor([[True, True, False]])
    cases = [Case(query=torch.zeros(1, 1, 2), key=torch.randn(1, 3, 2, generator=rng), value=value, mask=mask)]
    sizes = (
        (1, 2, 3, 2, 1, (2, 3), torch.float32),
        (2, 5, 7, 4, 3, (2, 5, 7), torch.float32),
        (3, 4, 6, 8, 5, (3, 1, 6), torch.float64),
        (2, 5, 7, 4, 3, (2, 5, 7), torch.float32),  # sizes seen before, other numbers
        (2, 3, 5, 2, 4, (3, 5), torch.float32),
    )
    for B, L_q, L_k, d_k, d_v, shape, dtype in sizes:
        query, key, value = (
            torch.randn(B, *rest, generator=rng, dtype=dtype) for rest in ((L_q, d_k), (L_k, d_k), (L_k, d_v))
        )
        if dtype == torch.float64:  # a common 318 in every score: worked out in float32 the weights would be off
            query[..., 0], key[..., 0] = 30.0, 30.0
        cases.append(Case(query=query, key=key, value=value, mask=random_mask(shape, rng)))
    query, key = low_scores((2,), 3, 5, rng)
    value, mask = torch.randn(2, 5, 4, generator=rng), one_key_mask((2, 3, 5), rng)
    low = Case("all scores are near -100000", values_only=True, query=query, key=key, value=value, mask=mask)
    query, key, value = (torch.randn(2, length, 4, generator=rng) for length in (3, 5, 5))
    mask = random_mask((2, 1, 5), rng)
    query[..., 0], key[..., 0] = 8.0, 1e6 * ~mask[:, 0]  # 4 000 000: further above than what some take off
    far = Case("hidden scores lie far above the others", values_only=True, query=query, key=key, value=value, mask=mask)
    return [*cases, _half(rng), low, far]


EXERCISE = Exercise(
    answer="masked_attention", cases=_cases, reference=attend_masked, returns=("output", "weights"), faults=(
        *HIDING_FAULTS, *COMMON_FAULTS,
        Fault("a little below the lowest",
            "hidden scores lie a little below the lowest score, and e to the minus 10 is not 0: hidden keys keep weight.",
            "fill with float('-inf'), below which there is nothing.", hide=lambda s, m: s.masked_fill(~m, s.min().item() - 10)),
        Fault("added, too little", "a number such as -1e4 was added to the hidden scores: one that lies further above than "
            "that still wins.", "replace the score, masked_fill(~mask, float('-inf')).", hide=lambda s, m: s + (~m).to(s) * -1e4),
        Fault("too large for half", "a fill value such as -1e9 or -1e20: no float16 number is that large.",
            "fill with float('-inf'), which every floating-point type has.", hide=lambda s, m: s.masked_fill(~m, -1e9)),
        Fault("added, too large for half",
            "a fill value such as -1e9 was added: float16 cannot hold it, so the scores became float32.",
            "use masked_fill with float('-inf'); it keeps the dtype.", hide=lambda s, m: s + (~m) * -1e9),
        Fault("0 times infinity, float32", "the inverted mask times minus infinity is added: 0 times infinity is NaN, "
            "and in half precision it is float32.", "fill instead of multiplying: masked_fill(~mask, minus infinity).",
            hide=lambda s, m: s + (~m) * -torch.inf),
        Fault("first query's mask", "the mask of the first query was used for every query.",
            "keep all rows of the mask.", read=lambda m: m[..., :1, :]),
        Fault("first item's mask", "the mask of the first batch item was used for every item.",
            "keep the batch axis of the mask: use mask, not mask[0].", read=lambda m: m[:1] if m.dim() == 3 else m),
        Fault("over the queries, no NaN", "a softmax over the queries (dim=-2): your columns sum to 1, your rows "
            "should.", "normalize over the keys, dim=-1.", weigh=lambda s: s.softmax(-2).nan_to_num()),
    ),
    advice="print the weights where the mask is False (all must be 0) and the sum of each row (all must be 1).",
)  # fmt: skip

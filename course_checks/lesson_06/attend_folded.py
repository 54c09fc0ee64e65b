"""6.5 · Find the bug: it strikes only batches."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import ATTENTION

EXAMPLE = {
    "q": torch.zeros(4, 1, 1),
    "k": torch.zeros(4, 2, 1),
    "v": torch.tensor([[4.0], [8.0]]).repeat(4, 1, 1),
    "mask": torch.tensor([[[True, False]], [[True, True]]]),
}


def cases(seed):
    rng, made = torch.Generator().manual_seed(seed), [Case(**EXAMPLE)]
    for B, H, L_q, L_k, d_head in ((2, 3, 4, 5, 6), (3, 2, 2, 6, 5), (1, 4, 3, 5, 2), (4, 4, 5, 3, 7), (5, 1, 2, 4, 3)):
        dtype = torch.float64 if B == 3 else torch.float32
        q, k, v = (1.5 * torch.randn(B * H, n, d_head, generator=rng, dtype=dtype) for n in (L_q, L_k, L_k))
        mask = torch.rand(B, L_q, L_k, generator=rng) < 0.6
        # An item's own key is seen by all its queries, and the next one by none: no two masks are alike.
        for item in range(B):
            mask[item, :, item % L_k], mask[item, 0, (item + 1) % L_k] = True, False
        label = ("there is one sequence",) if B == 1 else ("there is one head",) if H == 1 else ()
        made.append(Case(*label, q=q, k=k, v=v, mask=mask))
    return made


EXERCISE = Exercise(
    cases,
    returns=("output", "misled"),
    off_limits=ATTENTION,
    gradients=True,
    advice="for B = 2 and H = 3, write down which sequence each of the six rows belongs to, and which mask repeat puts there.",
)

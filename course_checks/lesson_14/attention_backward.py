"""14.2 · Back through attention, in blocks."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import ATTENTION
from .common import GRADIENTS, WATCHED, table, too_much

READY_MADE = (*ATTENTION, *GRADIENTS, "course_utils.blockwise_attention.attention_in_blocks")
LARGE, LATER = "the scores are large", "later keys fit far better"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, d_k, d_v, block_size, *labels, size=1.5, dtype=torch.float32, **driver):
        query, key = (size * torch.randn(batch, length, d_k, generator=rng, dtype=dtype) for _ in range(2))
        value, d_output = (torch.randn(batch, length, d_v, generator=rng, dtype=dtype) for _ in range(2))
        if LARGE in labels:
            query[..., 0], key[..., 0] = 64.0, 40.0
        if LATER in labels:
            query[..., 0], key[..., 0] = 64.0, torch.linspace(0, 250, length, dtype=dtype)
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        scores = (query @ key.mT / d_k**0.5).masked_fill(later, float("-inf"))
        kept = {"output": scores.softmax(dim=-1) @ value, "log_sums": scores.logsumexp(dim=-1)}
        tensors = {"query": query, "key": key, "value": value, **kept, "d_output": d_output}
        return Case(*labels, **tensors, block_size=block_size, driver=driver)

    tiny = [[[1.0], [1.0]]], [[[0.0], [1.0986]]], [[[4.0], [8.0]]], [[[4.0], [7.0]]], [[0.0, 1.3863]], [[[1.0], [2.0]]]
    names = ("query", "key", "value", "output", "log_sums", "d_output")
    return [
        Case(**{name: torch.tensor(rows) for name, rows in zip(names, tiny, strict=True)}, block_size=2),
        case(1, 4, 2, 3, 4, "one block holds everything"),
        case(2, 6, 3, 4, 2),
        case(3, 7, 5, 2, 3, "the last block is smaller"),
        case(2, 5, 4, 4, 1),
        case(2, 9, 3, 5, 4, "the last block is smaller", dtype=torch.float64),
        case(2, 6, 3, 4, 2),
        case(2, 6, 4, 3, 3, LARGE, dtype=torch.float64),
        case(2, 6, 4, 3, 3, LATER, dtype=torch.float64),
        case(1, 1024, 4, 3, 64, WATCHED, **table(1024)),
    ]


EXERCISE = Exercise(
    cases,
    returns=("derivative by query", "derivative by key", "derivative by value"),
    driver="within_memory",
    off_limits=READY_MADE,
    symptoms=(too_much,),
    rtol=1e-3,
    atol=1e-4,
    pairs=150,
    advice="take block_size = L first, so that there is one block, and compare with the steps of hint 1; then two blocks.",
)

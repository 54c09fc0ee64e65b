"""What several exercises of lesson 01 share: what is off limits, queries and keys, loops."""

import torch

from ..deciding.exercise import Case
from ..deciding.wrong_answer import symptom

COSINES = (
    *("torch.cosine_similarity", "torch.nn.functional.cosine_similarity"),
    *("course_utils.similarity.cosine_similarity", "course_utils.similarity.nearest_neighbors"),
)


def pair_cases(seed):
    """Queries and keys of several sizes, unequal and all alike."""
    rng = torch.Generator().manual_seed(seed)
    made = [Case(queries=torch.tensor([[[1.0, 2.0]], [[0.0, 1.0]]]), keys=torch.tensor([[[3.0, 1.0]], [[5.0, 7.0]]]))]
    for B, L_q, L_k, d in ((2, 5, 7, 3), (4, 3, 2, 6), (3, 3, 3, 3), (2, 5, 7, 3)):
        queries, keys = torch.randn(B, L_q, d, generator=rng), torch.randn(B, L_k, d, generator=rng)
        made.append(Case(queries=queries, keys=keys))
    return made


def many_items(seed):
    """More items, and more pairs, than an answer may have operations."""
    rng = torch.Generator().manual_seed(seed)
    queries, keys = torch.randn(120, 5, 3, generator=rng), torch.randn(120, 4, 3, generator=rng)
    return Case("there are many items", queries=queries, keys=keys)


TOO_MANY = "it loops: more than 100 operations"


def loops(answer):
    """Stopped for the number of its operations, in the first case that is wrong."""
    stopped = [answer.observed[index].get("message") == TOO_MANY for index in answer.wrong]
    if not stopped[0]:
        return None
    right = "right in the other cases, but " if all(stopped) else ""
    sentence = f"{right}it loops over the items or the pairs, with an operation for each."
    return symptom(sentence, "let one operation do all items at once: keep the batch axis in it.", "loops")

"""What several exercises of lesson 01 share: what is off limits, queries and keys, loops."""

import torch

from ..deciding.exercise import Case
from ..deciding.wrong_answer import symptom

COSINES = (
    *("torch.cosine_similarity", "torch.nn.functional.cosine_similarity"),
    *("course_utils.similarity.cosine_similarity", "course_utils.similarity.nearest_neighbors"),
    *("torch.cosine_embedding_loss", "torch.nn.functional.cosine_embedding_loss"),
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
    """2,400 pairs: along each axis more than an answer may take operations and steps of Python."""
    rng, made = torch.Generator().manual_seed(seed), []
    for axis, (B, L_q, L_k) in {"items": (1200, 2, 1), "queries": (1, 1200, 2), "keys": (1, 2, 1200)}.items():
        queries, keys = torch.randn(B, L_q, 3, generator=rng), torch.randn(B, L_k, 3, generator=rng)
        made.append(Case(f"there are many {axis}", queries=queries, keys=keys))
    return made


TOO_MANY = "it loops: more than 100 operations, or 500 steps of Python"


def loops(answer):
    """Stopped for the number of its operations, in the first case that is wrong."""
    stopped = [answer.observed[index].get("message") == TOO_MANY for index in answer.wrong]
    if not stopped[0]:
        return None
    right = "right in the other cases, but " if all(stopped) else ""
    sentence = f"{right}it loops over items, queries or keys, with operations or steps of Python for each."
    return symptom(sentence, "let one operation do all items at once: keep the batch axis in it.", "loops")

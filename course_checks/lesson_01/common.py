"""What several exercises of lesson 01 share: what is off limits, queries and keys, mistakes with a transpose, loops."""

import torch

from ..deciding.exercise import Case, mistake
from ..deciding.wrong_answer import Diagnosis

COSINES = (
    *("torch.cosine_similarity", "torch.nn.functional.cosine_similarity"),
    *("course_utils.similarity.cosine_similarity", "course_utils.similarity.nearest_neighbors"),
)
PRODUCTS = ("course_utils.similarity.dot_product", "course_utils.similarity.similarity_matrix")


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
    return Diagnosis("symptom", "loops", sentence, "let one operation do all items at once: keep the batch axis in it.")


KEYS, PRODUCT = "keys.transpose(-2, -1)", "queries @ keys.transpose(-2, -1)"
TWO_AXES = "two axes of the keys trade places, and the batch stays in front: which two?"
SAME_ITEM = "item b of the queries meets item b of the keys, and no other."

PAIR_MISTAKES = [
    mistake(
        "the first and the last axis of the keys are exchanged, as .T or transpose(0, 2) does: the batch axis moves.",
        TWO_AXES,
        {KEYS: "keys.permute(2, 1, 0)"},
    ),
    mistake(
        "batch and positions of the keys are exchanged: transpose(0, 1).", TWO_AXES, {KEYS: "keys.transpose(0, 1)"}
    ),
    mistake("the keys are multiplied as they are: their last two axes were not exchanged.", TWO_AXES, {KEYS: "keys"}),
    mistake(
        "the keys were brought into the right shape by reshape or view, which scrambles their numbers.",
        "reshape moves no axis, transpose does.",
        {KEYS: "keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1])"},
    ),
    mistake(
        "keys times queries: your rows are keys, your columns queries.",
        "put the queries first: entry [b, i, j] is query i with key j.",
        then=lambda similarities: similarities.mT,
    ),
    mistake("every item meets the keys of item 0.", SAME_ITEM, {KEYS: "keys[0].T"}),
    mistake("the keys of all items are added up.", SAME_ITEM, {KEYS: "keys.sum(0).T"}),
    mistake(
        "every item against every item: two batch axes in the result.",
        SAME_ITEM,
        {PRODUCT: "queries[:, None] @ keys.mT"},
    ),
    mistake(
        "query i meets key i only; every query should meet every key.",
        "the positions of the queries and those of the keys are two axes of the result.",
        {PRODUCT: "(queries * keys).sum(-1)"},
    ),
    mistake(
        "the products are divided by the root of d. That comes in lesson 04; it is not asked for here.",
        "leave the division out.",
        {KEYS: KEYS + " / keys.shape[-1] ** 0.5"},
    ),
]

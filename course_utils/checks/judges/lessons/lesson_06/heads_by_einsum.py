"""The same by einsum: the heads stay where the cut puts them."""

import re

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.heads import FACTOR_FAULTS, MERGE_FAULTS, SPLIT_FAULTS, WEIGHING_FAULTS, merge, split, untransposed
from ...kit.parts import faults_of
from ...symptoms.view import Told, View


def heads_by_einsum(
    query, memory, W_q, W_k, W_v, num_heads, *, sources=("query", "memory", "memory"), project=lambda x, W: x @ W.T,
    split=split, met=lambda k: k, factor=lambda q, k, query: q.shape[-1] ** -0.5, by_value=lambda v: 1.0,
    weigh=lambda scores: scores.softmax(-1), merge=merge, place=lambda weights: weights.permute(0, 2, 3, 1),
):  # fmt: skip
    """Attention with heads, worked out as in 6.3 and handed back in the layout of 6.4; each keyword is one step."""
    given = {"query": query, "memory": memory}
    pairs = zip(sources, (W_q, W_k, W_v), strict=True)
    q, k, v = (split(project(given[source], W), num_heads) for source, W in pairs)
    weights = weigh(q @ met(k).mT * factor(q, k, query) * by_value(v))
    return merge(weights @ v), place(weights)


def _cases(seed):
    rng, cases = torch.Generator().manual_seed(seed), []
    plan = ((1, 2, 4, 3, 5, 6, 7), (2, 5, 7, 10, 4, 3, 6), (3, 6, 4, 5, 2, 8, 7), (2, 4, 6, 9, 3, 5, 8))
    for B, L_q, L_k, d_in, H, d_head, d_v in (*plan, plan[1]):  # the last: sizes seen before, other numbers
        dtype = torch.float64 if B == 3 else torch.float32
        query, memory = (torch.randn(B, L, d_in, generator=rng, dtype=dtype) for L in (L_q, L_k))
        W_q, W_k, W_v = (
            1.2 * torch.randn(H * size, d_in, generator=rng, dtype=dtype) / d_in**0.5 for size in (d_head, d_head, d_v)
        )
        cases.append(Case(query=query, memory=memory, W_q=W_q, W_k=W_k, W_v=W_v, num_heads=H))
        if B == 3:
            large = Case("the scores are very large", values_only=True, **(cases[-1] | {"query": 2000 * query}))
    return [*cases, large]


def one_letter(view: View) -> Told | None:
    """An einsum in which one letter stands for two axes of different size."""
    found = _LETTER.search(view.cases[view.first].get("message", ""))
    if found is None:
        return None
    case = view.inputs[view.first]
    H = case["num_heads"]
    sizes = {"B": case["query"].shape[0], "L_q": case["query"].shape[1], "L_k": case["memory"].shape[1], "H": H}
    sizes |= {"d_in": case["query"].shape[2], "d_head": len(case["W_q"]) // H, "d_v": len(case["W_v"]) // H}
    names = {size: name for name, size in sizes.items()} | {len(case["W_q"]): "H * d_head", len(case["W_v"]): "H * d_v"}
    two = [f"{size} ({names[size]})" if (size := int(text)) in names else text for text in reversed(found.groups()[1:])]
    said = f"in an einsum the letter {found[1]} stands for two axes of different size: {two[0]} and {two[1]}."
    return Told("symptom", "one letter for two axes", said, "write the shape of each tensor beside its letters.")


_LETTER = re.compile(r"subscript (\w) has size (\d+) for operand .* not broadcast with previously seen size (\d+)")
_MERGES = ("no transpose back", "merged interleaved", "heads averaged", "heads added", "first head only")

EXERCISE = Exercise(
    answer="heads_by_einsum", cases=_cases, reference=heads_by_einsum, returns=("output", "weights"),
    faults=(
        *(fault for fault in SPLIT_FAULTS if fault.name in ("straight view", "interleaved")),
        *(fault for fault in MERGE_FAULTS if fault.name in _MERGES),
        Fault("not joined", "the heads were not joined: they still have an axis of their own, in the right place.",
            "join the last two axes, (H, d_v), to one: .flatten(2).", merge=lambda x: x.transpose(1, 2)),
        *FACTOR_FAULTS,
        *WEIGHING_FAULTS,
        Fault("root of d_v", "the scores are divided by the root of d_v, the size of a value.",
            "divide by the root of the size of a query within one head, q.shape[-1].", factor=lambda q, k, query: 1.0,
            by_value=lambda v: v.shape[-1] ** -0.5),
        Fault("one head", "the scores are summed over the heads too: that is one head of full width.",
            "keep the letter of the heads in the result of the scores.", split=lambda x, n: x[:, None],
            place=lambda w: w[:, 0]),
        Fault("keys of all heads", "each query head meets the sum of all key heads, as where the heads have two letters.",
            "in the scores give the heads of queries and keys one letter.", met=lambda k: k.sum(1, keepdim=True)),
        *faults_of("place", "the heads come last, (B, L_q, L_k, H): exchange axes by permute(0, 2, 3, 1).",
            ("weights reshaped", "the weights were brought to (B, L_q, L_k, H) by reshape, which scrambles them.",
             lambda w: w.reshape(w.shape[0], *w.shape[2:], w.shape[1])),
            ("weights with heads second", "the right weights in the layout (B, H, L_q, L_k).", lambda w: w)),
        Fault("memory not used", "self-attention: keys and values are made from query, memory plays no part.",
            "project keys and values from memory.", sources=("query", "query", "query")),
    ),
    symptoms=(untransposed, one_letter),
    advice="name each axis by a letter, write the shape of each tensor beside its line, and sum the weights over L_k.",
)  # fmt: skip

"""Query, key and value from one fused projection."""

import torch

from ...exercise import Case, Exercise, Fault


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x = torch.tensor([[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]])
    cases = [Case(x=x, W_qkv=torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0] * 6]))]
    for place, (B, L, d) in enumerate(((2, 5, 4), (3, 6, 4), (2, 3, 6), (2, 5, 4))):
        dtype = torch.float64 if place == 2 else torch.float32
        x, W_qkv = (torch.randn(size, generator=rng, dtype=dtype) for size in ((B, L, d), (d, 3 * d)))
        cases.append(Case(x=x, W_qkv=W_qkv))
    return cases


def _project(
    x, W_qkv, *, cut=lambda x, W: (x @ W).chunk(3, dim=-1), finish=lambda query, key, value: (query, key, value),
):  # fmt: skip
    query, key, value = cut(x, W_qkv)
    return finish(query, key, value)


def _by_length(x, W):
    L = x.shape[1]
    return ((x @ W)[..., start : start + L] for start in (0, L, 2 * L))


_SPLIT = ("split(3) cuts into parts of size 3, not into 3 parts.", "use chunk(3, dim=-1), or split with the size d.")
_LAST = "the parts lie side by side on the last axis: dim=-1."
_CUT = "cut the last axis with chunk or split."

FAULTS = (
    Fault("key twice", "the values are the keys once more: the last d columns are never used.",
          "take the third part for the values.", finish=lambda query, key, value: (query, key, key)),
    Fault("interleaved", "every third column is taken: query, key and value interleaved.", "each part is a block of d "
          "columns that stand side by side.", cut=lambda x, W: (x @ W).view(*x.shape[:2], -1, 3).unbind(-1)),
    Fault("matrix reshaped", "the matrix was reshaped to (3, d, d): the shape is right, but its rows are scrambled.",
          "cut along the columns: chunk(3, dim=1), or project first and cut the last axis.",
          cut=lambda x, W: (x @ part for part in W.reshape(3, x.shape[-1], x.shape[-1]))),
    Fault("product reshaped", "the product was reshaped to (3, B, L, d): the shape is right, the content scrambled.",
          _CUT, cut=lambda x, W: (x @ W).reshape(3, *x.shape)),
    Fault("product of each item reshaped", "the product was reshaped to (B, 3, L, d): the shape is right, the content "
          "scrambled.", _CUT, cut=lambda x, W: (x @ W).reshape(x.shape[0], 3, *x.shape[1:]).unbind(1)),
    Fault("cut along the length", "the product was cut along the length (dim=1).", _LAST,
          cut=lambda x, W: (x @ W).chunk(3, dim=1)),
    Fault("cut along the batch", "the product was cut along the batch (dim=0, the default).", _LAST,
          cut=lambda x, W: (x @ W).chunk(3)),
    Fault("parts of size 3", *_SPLIT, cut=lambda x, W: (x @ W).split(3, dim=-1)),
    Fault("parts of size 3, as they come", *_SPLIT, whole=lambda x, W_qkv: (x @ W_qkv).split(3, dim=-1)),
    Fault("parts as wide as the length", "each part has L columns, as many as there are tokens, where it should have "
          "d.", "the size of a part is x.shape[-1].", cut=_by_length),
    Fault("matrix alone cut", "the three matrices; they were not yet applied to x.",
          "multiply: x @ W_qkv, then cut the last axis.", cut=lambda x, W: W.chunk(3, dim=1)),
    Fault("not cut", "the product in one piece, (B, L, 3 d).", "cut its last axis in three and return the three parts.",
          finish=lambda *parts: torch.cat(parts, dim=-1)),
    Fault("stacked", "the three parts stacked to one tensor, (3, B, L, d).", "return query, key, value.",
          finish=lambda *parts: torch.stack(parts)),
    Fault("squeezed", "squeeze() takes away every axis of size 1: a batch of one, or the axis of a single token, is "
          "lost.", "name the axis, squeeze(2), or leave squeeze out.",
          finish=lambda *parts: tuple(part.squeeze() for part in parts)),
    Fault("query scaled", "the queries are divided by the root of d already. Here only the projection is asked for.",
          "leave the scale to attention.",
          finish=lambda query, key, value: (query / query.shape[-1] ** 0.5, key, value)),
)  # fmt: skip

EXERCISE = Exercise(
    answer="project_qkv", cases=_cases, reference=_project, returns=("query", "key", "value"), faults=FAULTS,
    advice="print (x @ W_qkv).shape: the last axis holds query, key and value side by side, d entries each.",
)  # fmt: skip

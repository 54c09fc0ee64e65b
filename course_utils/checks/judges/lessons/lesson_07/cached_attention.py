"""Causal grouped-query attention that is fed piece by piece."""

import re

import torch

from course_utils.masks import causal_mask

from ...exercise import Case, Exercise, Fault
from ...kit.grouped import SHARING_FAULTS, WEIGHT_FAULTS, grouped
from ...kit.parts import faults_of
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, pieces, heads, kv_heads, d_head, *labels, beside=False, counted=False):
        d_model = heads * d_head
        rows = {"W_q": d_model, "W_k": kv_heads * d_head, "W_v": kv_heads * d_head, "W_o": d_model}
        weights = {name: 1.4 * torch.randn(n, d_model, generator=rng) / d_model**0.5 for name, n in rows.items()}
        x = torch.randn(batch, sum(pieces), d_model, generator=rng)
        return Case(
            *labels, **weights, num_heads=heads, num_kv_heads=kv_heads, x=x, pieces=pieces, _beside=beside, _counted=counted,
        )  # fmt: skip

    several = "a later piece has several positions"
    return [
        case(1, [2, 1, 1], 2, 1, 2),
        case(2, [5, 1, 1, 1], 6, 2, 3),
        case(2, [1, 4, 3], 4, 2, 3, several),
        case(3, [2, 3, 1, 4], 6, 3, 2, several),  # in float32 all: the Cache of 7.2, which may be used, holds no other
        case(2, [7], 4, 2, 3, "all positions in one piece"),
        case(2, [1, 2, 2], 3, 3, 2, several),
        case(2, [3, 2, 1], 4, 1, 3, several, "another layer is in use beside it", beside=True),
        case(
            1, [1] * 16, 4, 4, 32, "the text comes in 16 pieces", counted=True
        ),  # wide: the projections are most of the work
    ]


class _Cached:
    """The layer; a fault changes a method."""

    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W_q, self.W_k, self.W_v, self.W_o = W_q, W_k, W_v, W_o
        self.heads, self.kv_heads = num_heads, num_kv_heads
        self.store().kept = None

    def step(self, x):
        new, x = x.shape[1], self.look_at(x)
        q = self.split(x @ self.W_q.T, self.heads)
        k, v = (self.split(x @ W.T, self.kv_heads) for W in (self.W_k, self.W_v))
        kept = self.store().kept
        if kept is not None:
            k, v = self.join(kept[0], k), self.join_values(kept[1], v)
        self.store().kept = self.keep(kept, k, v, q.shape[2])
        output = grouped(q, k, v, self.mask(q.shape[2], k.shape[2]), **self.steps)
        return self.hand_back(self.finish(output.transpose(1, 2).flatten(2)), new)

    steps = {}
    store = lambda self: self  # noqa: E731
    split = lambda self, x, heads: x.unflatten(-1, (heads, -1)).transpose(1, 2)  # noqa: E731
    join = lambda self, old, new: torch.cat([old, new], dim=2)  # noqa: E731
    join_values = lambda self, old, new: self.join(old, new)  # noqa: E731
    keep = lambda self, kept, k, v, new: (k, v)  # noqa: E731
    mask = lambda self, L_q, L_k: causal_mask(L_q, L_k)  # noqa: E731
    finish = lambda self, merged: merged @ self.W_o.T  # noqa: E731
    look_at = lambda self, x: x  # noqa: E731
    hand_back = lambda self, output, new: output  # noqa: E731


def _all_so_far(self, x):
    self.text = torch.cat([self.text, x], dim=1) if hasattr(self, "text") else x
    self.store().kept = None
    return self.text


def _square_mask(view):
    """It stops just where a later piece has several positions: there L_new by L_new meets L_new by L_all."""
    for index in view.wrong:
        found = _SIZES.search(view.cases[index].get("message", ""))
        pieces = view.inputs[index]["pieces"]
        met = {(new, sum(pieces[: place + 1])) for place, new in enumerate(pieces) if place and new > 1}
        if found is None or not any({int(size) for size in found.groups()} == {*sizes} for sizes in met):
            return None
    said = "the mask has only the positions of the new piece, L_new by L_new: too few columns where there were earlier ones."
    return Told("symptom", "square mask", said, _BOTTOM)


def _remembers(view):
    seen = view.cases[view.first]
    if "again" not in seen or seen.get("drew"):
        return None
    said = "a new layer begins with what an earlier one kept: the class, or a global, holds it."
    return Told("symptom", "remembers an earlier layer", said, _IN_SELF)


_SIZES = re.compile(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")


_BOTTOM = "the mask has a row for each new position and a column for each one so far: causal_mask(L_new, L_all)."
_IN_SELF = "keep the tensors in self, made in __init__; not on the class, in a global or in a default argument."
_BEHIND = "join along the positions, axis 2 of (B, H_kv, L, d_head), the old ones first, and keep the result."

EXERCISE = Exercise(
    answer="CachedAttention", cases=_cases, reference=lambda **parts: type("CachedAttention", (_Cached,), parts),
    returns=("outputs of all steps, joined", "work for earlier positions"), faults=(
        *(Fault(fault.name, fault.looks_like, fault.advice, steps=fault.parts)
          for fault in (*SHARING_FAULTS, *WEIGHT_FAULTS)),
        *faults_of("mask", _BOTTOM,
            ("no mask", "nothing is hidden: a position sees those after it in its own piece.",
             lambda self, L_q, L_k: torch.ones(1, 1, L_q, L_k, dtype=torch.bool)),
            ("mask aligned top-left", "the first new position sees only the first key: the mask is aligned top-left.",
             lambda self, L_q, L_k: torch.ones(1, 1, L_q, L_k, dtype=torch.bool).tril()),
            ("own place hidden", "a new position does not see itself.",
             lambda self, L_q, L_k: torch.ones(1, 1, L_q, L_k).tril(max(L_k - L_q - 1, 0)).bool())),
        Fault("nothing kept", "each step looks at its own piece only: what came before is forgotten.", _BEHIND,
              keep=lambda self, kept, k, v, new: None),
        Fault("the first piece kept only", "the first piece is kept, and nothing that came after it.", _BEHIND,
              keep=lambda self, kept, k, v, new: (k, v) if kept is None else kept),
        Fault("the latest piece kept only", "only the piece before is remembered; what came before that is forgotten.",
              _BEHIND, keep=lambda self, kept, k, v, new: (k[:, :, -new:], v[:, :, -new:])),
        Fault("new before old", "the new keys and values stand before the old ones.", _BEHIND,
              join=lambda self, old, new: torch.cat([new, old], dim=2)),
        Fault("new values before old", "the new values stand before the old ones, the keys behind them: weights meet other "
              "values.", _BEHIND, join_values=lambda self, old, new: torch.cat([new, old], dim=2)),
        Fault("one store for all layers", "all layers share one store: a second one reads and writes it too.",
              _IN_SELF, store=lambda self: type(self)),
        Fault("all outputs so far", "the outputs of the earlier positions come back again, before the new ones.",
              "return as many positions as x_new has.", look_at=_all_so_far),
        Fault("projected again", "every step projects the earlier positions once more: their keys and values were not kept.",
              "project x_new alone; join its keys and values to those that you kept.", look_at=_all_so_far,
              hand_back=lambda self, output, new: output[:, -new:]),
        *(Fault(f"root of {size}", f"the scores are divided by the root of {size}.",
                "a head has d_model // num_heads numbers: divide by the root of that.", steps={"divisor": divisor})
          for size, divisor in (
              ("d_model", lambda q, k, v: (q.shape[1] * q.shape[-1]) ** 0.5),
              ("d_model / num_kv_heads", lambda q, k, v: (q.shape[1] * q.shape[-1] // k.shape[1]) ** 0.5))),
        Fault("no output projection", "the merged heads, before the output projection.", "multiply by W_o.T at the end.",
              finish=lambda self, merged: merged),
        Fault("split without a transpose", "the heads are split by a view to (B, H, L, d_head): positions and heads are "
              "mixed.", "view as (B, L, H, d_head), then transpose(1, 2).",
              split=lambda self, x, heads: x.reshape(len(x), heads, x.shape[1], -1)),
    ), symptoms=(_square_mask, _remembers),
    advice="feed a text of three positions at once, then one by one: the first row in which the outputs differ tells "
    "what is missing.",
)  # fmt: skip

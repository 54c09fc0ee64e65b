"""A decoder layer in the pre-norm order."""

import itertools

import torch

from .....masks import causal_mask
from ...exercise import Case, Exercise, Fault
from ...kit.connections import connection_faults, connections
from ...kit.layers import Given, layer_arguments, padding, returns_more


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L_t, L_s, H, d_head, training, dtype in (
        (2, 3, 4, 2, 2, False, torch.float32),
        (2, 3, 4, 2, 2, True, torch.float32),
        (2, 4, 4, 2, 3, False, torch.float32),
        (3, 5, 4, 4, 2, False, torch.float64),
        (2, 4, 4, 2, 3, False, torch.float32),
    ):
        given = layer_arguments(rng, B, L_t, H, d_head, 3, training, dtype)
        memory = 1.5 * torch.randn(B, L_s, H * d_head, generator=rng) + torch.randn(B, L_s, 1, generator=rng)
        masks = {"target_mask": padding(rng, B, L_t) & causal_mask(L_t), "memory_mask": padding(rng, B, L_s)}
        cases.append(Case(values_only=training, x=given.pop("x"), memory=memory.to(dtype), **masks, **given))
    return cases


def _decoder(
    *,
    back=lambda a, y, t, m: a(y, mask=t),
    across=lambda a, y, memory, t, m: a(y, memory, memory, mask=m),
    asked=lambda layer: layer.cross_attention,
    keep=lambda layer, memory: memory,
    pre=lambda number: True,
    norms=(1, 2, 3),
    flow=lambda x, a, b, c: c(b(a(x))),  # the three connections
    **steps,
):
    def forward(self, x, memory, target_mask, memory_mask):
        kept, masks = keep(self, memory), (target_mask, memory_mask)
        sublayers = (
            lambda y, x: back(self.self_attention, y, *masks),
            lambda y, x: across(asked(self), y, kept, *masks),
            lambda y, x: self.feed_forward(y),
        )
        return flow(x, *connections(self, sublayers, pre, norms, steps))

    return type("DecoderLayer", (Given,), {"forward": forward})


def _asked_by_memory(mask):
    return lambda a, y, memory, t, m: a(memory, y, y, mask={"target_mask": t, "memory_mask": m}.get(mask))


_THREE = "three connections: self-attention, then cross-attention, then the feed-forward network."
_MASKS = "target_mask for self-attention, memory_mask for cross-attention."
_EACH = "each connection starts from the result of the one before."
_ASKS = "queries come from the target, keys and values both from memory."
_NO_PART = "{} plays no part: it is never called, or what it found is lost."

EXERCISE = Exercise(
    answer="DecoderLayer",
    cases=_cases,
    reference=_decoder,
    returns=("output",),
    faults=(
        Fault("target's mask for the memory", "cross-attention was given the target's mask: it runs only where both "
            "sequences have the same length.", "the keys of cross-attention are the source's: mask=memory_mask.",
            across=lambda a, y, memory, t, m: a(y, memory, memory, mask=t)),
        Fault("no mask for the memory", "cross-attention got no mask: the padding of the source is seen.",
            "hand it memory_mask.", across=lambda a, y, memory, t, m: a(y, memory, memory)),
        Fault("memory's mask for the target", "self-attention was given the memory's mask: it runs only where both "
            "sequences have the same length.", "the keys of self-attention are the target's: mask=target_mask.",
            back=lambda a, y, t, m: a(y, mask=m)),
        Fault("no mask for the target", "self-attention got no mask: the target sees its own future.",
            "hand it target_mask.", back=lambda a, y, t, m: a(y)),
        Fault("masks exchanged", "the two masks are exchanged.", _MASKS, back=lambda a, y, t, m: a(y, mask=m),
            across=lambda a, y, memory, t, m: a(y, memory, memory, mask=t)),
        Fault("self-attention twice", "the second attention looks at the target again: the memory plays no part.",
            "give it memory as key and as value.", across=lambda a, y, memory, t, m: a(y, mask=t)),
        Fault("one attention for both", "self.self_attention was used for both; self.cross_attention never learns.",
            "call self.cross_attention for the memory.", asked=lambda layer: layer.self_attention),
        *(
            Fault(f"memory asks, {mask}", "the memory asks and the target is asked.", _ASKS,
                across=_asked_by_memory(mask))
            for mask in ("no mask", "target_mask", "memory_mask")
        ),
        Fault("values from the target", "cross-attention's keys come from memory, its values from the target.", _ASKS,
            across=lambda a, y, memory, t, m: a(y, memory, y, mask=m)),
        Fault("memory normalized", "the memory was normalized by norm_2 as well.",
            "use the memory as it is: the encoder's final norm has normalized it already.",
            keep=lambda layer, memory: layer.norm_2(memory)),
        Fault("post-norm", "post-norm: each sum was normalized.", "this exercise asks for pre-norm: the norm before "
            "each sublayer, on what goes into it.", pre=lambda number: False),
        Fault("cross-attention first", "cross-attention comes before self-attention.", _THREE,
            flow=lambda x, a, b, c: c(a(b(x))), norms=(2, 1, 3)),
        Fault("cross-attention first, norms moved along", "cross-attention comes before self-attention, each with its "
            "own norm.", _THREE, flow=lambda x, a, b, c: c(a(b(x)))),
        Fault("network before cross-attention", "the feed-forward network comes before cross-attention.", _THREE,
            flow=lambda x, a, b, c: b(c(a(x))), norms=(1, 3, 2)),
        Fault("network before cross-attention, norms moved along", "the feed-forward network comes before "
            "cross-attention, each with its own norm.", _THREE, flow=lambda x, a, b, c: b(c(a(x)))),
        Fault("no cross-attention", _NO_PART.format("cross-attention"), _THREE, flow=lambda x, a, b, c: c(a(x))),
        Fault("no self-attention", _NO_PART.format("self-attention"), _THREE, flow=lambda x, a, b, c: c(b(x))),
        Fault("no feed-forward network", _NO_PART.format("the feed-forward network"), _THREE,
            flow=lambda x, a, b, c: b(a(x))),
        Fault("self-attention's result lost", "cross-attention's result was added to the layer's input: what "
            "self-attention found enters the queries only.", _EACH,
            flow=lambda x, a, b, c: c(b.close(x, b.branch(a(x))))),
        Fault("queries from the input", "cross-attention's queries come from the layer's input, not from "
            "self-attention's result.", _EACH, flow=lambda x, a, b, c: c(b.close(a(x), b.branch(x)))),
        Fault("attentions side by side", "both attentions got the layer's input, side by side.", _EACH,
            flow=lambda x, a, b, c: c(x + a.branch(x) + b.branch(x))),
        *connection_faults(
            {0: "", 1: "around self-attention, ", 2: "around cross-attention, ", 3: "around the feed-forward network, "}, ("pre",)
        ),
        *(
            Fault(f"norms {a}, {b}, {c}",
                f"self-attention uses norm_{a}, cross-attention norm_{b}, the network norm_{c}.",
                "norm_1 belongs to self-attention, norm_2 to cross-attention, norm_3 to the feed-forward network.",
                norms=(a, b, c))
            for a, b, c in itertools.product((1, 2, 3), repeat=3)
            if (a, b, c) != (1, 2, 3)
        ),
    ),
    symptoms=(returns_more,),
    advice="for each attention ask two things: where do keys and values come from, and whose mask hides some of them?",
    atol=2e-5,
)  # fmt: skip

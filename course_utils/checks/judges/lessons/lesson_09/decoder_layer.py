"""A decoder layer in the pre-norm order."""

import itertools

import torch

from .....masks import causal_mask
from ...exercise import Case, Exercise, Fault
from ...kit.connections import connection_faults, connections
from ...kit.layers import Given, layer_arguments, padding, returns_more
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L_t, L_s, H, d_head, training=False, dtype=torch.float32):
        given, seen = layer_arguments(rng, B, L_t, H, d_head, 3, training, dtype), padding(rng, B, L_s)
        seen = seen.flip(-1) if L_s == L_t else seen  # where one mask could stand for the other, they hide other places
        memory = 1.5 * torch.randn(B, L_s, H * d_head, generator=rng) + torch.randn(B, L_s, 1, generator=rng)
        masks = {"target_mask": padding(rng, B, L_t) & causal_mask(L_t), "memory_mask": seen}
        return Case(values_only=training, x=given.pop("x"), memory=memory.to(dtype), **masks, **given)

    first = [case(2, 3, 4, 2, 2), case(2, 3, 4, 2, 2, training=True), case(2, 4, 4, 2, 3)]
    return [*first, case(3, 5, 4, 4, 2, dtype=torch.float64), case(2, 4, 4, 2, 3)]


def _decoder(
    *, back=lambda a, y, x, t, m: a(y, mask=t), across=lambda a, y, memory, t, m: a(y, memory, memory, mask=m),
    keep=lambda layer, memory, m: memory, pre=lambda number: True, norms=(1, 2, 3),
    flow=lambda x, a, b, c: c(b(a(x))), **steps,  # a, b, c: the three connections
):  # fmt: skip
    def forward(self, x, memory, target_mask, memory_mask):
        kept, masks = keep(self, memory, memory_mask), (target_mask, memory_mask)
        sublayers = (
            lambda y, x: back(self.self_attention, y, x, *masks),
            lambda y, x: across(self.cross_attention, y, kept, *masks),
            lambda y, x: self.feed_forward(y),
        )
        return flow(x, *connections(self, sublayers, pre, norms, steps))

    return type("DecoderLayer", (Given,), {"forward": forward})


_THREE = "three connections: self-attention, then cross-attention, then the feed-forward network."
_EACH = "each connection starts from the result of the one before."
_ASKS = "queries come from the target, keys and values both from memory."
_OTHER_MASK = "{} was given the {}'s mask: it runs only where both sequences have the same length."
_NO_PART = "{} plays no part: it is never called, or what it found is lost."
_PLACES = {1: "around self-attention, ", 2: "around cross-attention, ", 3: "around the feed-forward network, "}
_MOVED = {  # what comes too early, the flow, and the norms by what comes first
    "cross-attention comes before self-attention": (lambda x, a, b, c: c(a(b(x))), (2, 1, 3)),
    "the feed-forward network comes before cross-attention": (lambda x, a, b, c: b(c(a(x))), (1, 3, 2)),
}

EXERCISE = Exercise(
    answer="DecoderLayer", cases=_cases, reference=_decoder, returns=("output",), faults=(
        *faults_of("back", "the keys of self-attention are the target's: mask=target_mask.",
            ("memory's mask for the target", _OTHER_MASK.format("self-attention", "memory"),
             lambda a, y, x, t, m: a(y, mask=m)),
            ("both masks for the target", "where both sequences have the same length, self-attention got the memory's mask too.",
             lambda a, y, x, t, m: a(y, mask=t & m if t.shape[-1] == m.shape[-1] else t)),
            ("no mask for the target", "self-attention got no mask: the target sees its own future.",
             lambda a, y, x, t, m: a(y)),
            ("keys and values not normalized", "in self-attention only the queries were normalized; keys and values were "
             "made from x as it is.", lambda a, y, x, t, m: a(y, x, x, mask=t), "normalize once, and use that for all three.")),
        *faults_of("across", "the keys of cross-attention are the memory's: mask=memory_mask.",
            ("target's mask for the memory", _OTHER_MASK.format("cross-attention", "target"),
             lambda a, y, memory, t, m: a(y, memory, memory, mask=t)),
            ("no mask for the memory", "cross-attention got no mask: the padding of the source is seen.",
             lambda a, y, memory, t, m: a(y, memory, memory)),
            ("self-attention twice", "the second attention looks at the target again: the memory plays no part.",
             lambda a, y, memory, t, m: a(y, mask=t), "give it memory as key and as value."),
            ("memory asks", "the memory asks and the target is asked, without a mask.",
             lambda a, y, memory, t, m: a(memory, y, y), _ASKS),
            ("memory asks, memory_mask", "the memory asks and the target is asked, with memory_mask.",
             lambda a, y, memory, t, m: a(memory, y, y, mask=m), _ASKS),
            ("values from the target", "cross-attention's keys come from memory, its values from the target.",
             lambda a, y, memory, t, m: a(y, memory, y, mask=m), _ASKS)),
        Fault("memory normalized", "the memory was normalized by norm_2 as well.", "use the memory as it is: the encoder's "
            "final norm has normalized it already.", keep=lambda layer, memory, m: layer.norm_2(memory)),
        Fault("memory set to 0", "the memory is 0 at the padding, but not masked: padding still takes its share of the "
            "attention.", "a key of zeros has a score too: hide it with mask=memory_mask.",
            keep=lambda layer, memory, m: memory * m[:, 0, 0, :, None],
            across=lambda a, y, memory, t, m: a(y, memory, memory)),
        Fault("post-norm", "post-norm: each sum was normalized.", "this exercise asks for pre-norm: the norm before "
            "each sublayer, on what goes into it.", pre=lambda number: False),
        *(Fault(f"{said}{more}", f"{said}{more}.", _THREE, flow=flow, norms=norms) for said, (flow, moved) in _MOVED.items()
          for more, norms in (("", moved), (", each with its own norm", (1, 2, 3)))),
        *faults_of("flow", _THREE,
            ("no cross-attention", _NO_PART.format("cross-attention"), lambda x, a, b, c: c(a(x))),
            ("no self-attention", _NO_PART.format("self-attention"), lambda x, a, b, c: c(b(x))),
            ("no feed-forward network", _NO_PART.format("the feed-forward network"), lambda x, a, b, c: b(a(x))),
            ("no feed-forward network, norm_3 at the end", "the feed-forward network plays no part: norm_3 stands at the end "
             "instead.", lambda x, a, b, c: c.norm(b(a(x))))),
        *faults_of("flow", _EACH,
            ("self-attention's result lost", "cross-attention's result was added to the layer's input: what "
             "self-attention found enters the queries only.", lambda x, a, b, c: c(b.close(x, b.branch(a(x))))),
            ("queries from the input", "cross-attention's queries come from the layer's input, not from "
             "self-attention's result.", lambda x, a, b, c: c(b.close(a(x), b.branch(x)))),
            ("attentions side by side", "both attentions got the layer's input, side by side.",
             lambda x, a, b, c: c(x + a.branch(x) + b.branch(x)))),
        *connection_faults({0: "", **_PLACES}, ("pre",)),
        *faults_of("norms", "norm_1 belongs to self-attention, norm_2 to cross-attention, norm_3 to the network.", *(
            (f"norms {a}, {b}, {c}", f"self-attention uses norm_{a}, cross-attention norm_{b}, the network norm_{c}.",
             (a, b, c)) for a, b, c in itertools.product((1, 2, 3), repeat=3) if (a, b, c) != (1, 2, 3))),
    ), symptoms=(returns_more,),
    advice="for each attention ask two things: where do keys and values come from, and whose mask hides some of them?",
    atol=2e-5,
)  # fmt: skip

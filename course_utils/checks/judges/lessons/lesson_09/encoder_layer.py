"""An encoder layer in both orders."""

import functools

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.connections import ORDER_FAULTS, connection_faults, connections
from ...kit.layers import Given, layer_arguments, padding, returns_more
from ...kit.parts import faults_of
from .residual import ORDERS


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, H, d_head, pre_norm, training=False, dtype=torch.float32):
        given = layer_arguments(rng, B, L, H, d_head, 2, training, dtype)
        mask = padding(rng, B, L)
        if H == 3:  # another mask for every head and query; each query sees itself
            mask = (torch.rand(B, H, L, L, generator=rng) < 0.5) | torch.eye(L, dtype=torch.bool)
        labels = ["the mask differs from head to head"] if H == 3 else []
        return Case(*labels, values_only=training, **given, pre_norm=pre_norm, mask=mask)

    modes = ((True, False), (False, False), (True, True), (False, True))  # pre_norm, training
    small = [case(2, 3, 2, 2, *mode) for mode in modes]
    return [*small, case(2, 5, 4, 3, True, dtype=torch.float64), case(3, 4, 1, 5, False), case(2, 4, 3, 2, True)]


def _encoder(
    *, attend=lambda a, y, x, mask: a(y, mask=mask), network=lambda network, y: network(y),
    order=lambda pre, number: pre, norms=(1, 2), flow=lambda x, a, b: b(a(x)), **steps,  # a, b: the two connections
):  # fmt: skip
    def forward(self, x, mask):
        sublayers = (lambda y, x: attend(self.self_attention, y, x, mask), lambda y, x: network(self.feed_forward, y))
        return flow(x, *connections(self, sublayers, functools.partial(order, self.pre_norm), norms, steps))

    return type("EncoderLayer", (Given,), {"forward": forward})


def _side_by_side(x, a, b):
    total = x + a.branch(x) + b.branch(x)
    return total if a.pre else b.norm(a.norm(total))


_MASK = "hand it to the attention as it is: mask=mask, True where a token may be seen."
_NETWORK = "the second connection goes around self.feed_forward."

EXERCISE = Exercise(
    answer="EncoderLayer", cases=_cases, reference=_encoder, returns=("output",), faults=(
        *faults_of("attend", _MASK,
            ("mask not used", "the mask is accepted and never used: the padding is seen.", lambda a, y, x, mask: a(y)),
            ("mask inverted", "the mask was turned around, as PyTorch's layers want it; here True means may attend.",
             lambda a, y, x, mask: a(y, mask=~mask)),
            ("keys and values not normalized", "in the pre-norm order only the queries were normalized; keys and values "
             "were made from x as it is.", lambda a, y, x, mask: a(y, x, x, mask=mask),
             "normalize once, and give the attention that result for all three.")),
        *(Fault(fault.name, fault.looks_like, ORDERS, **fault.parts) for fault in ORDER_FAULTS),
        *faults_of("order", "use the same order around both sublayers.",
            ("orders mixed", "the attention has the order that pre_norm asks for, the feed-forward network the other one.",
             lambda pre, number: pre if number == 1 else not pre),
            ("orders mixed in the attention", "the feed-forward network has the order that pre_norm asks for, the "
             "attention the other one.", lambda pre, number: pre if number == 2 else not pre)),
        *faults_of("norms", "norm_1 belongs to the attention, norm_2 to the feed-forward network.",
            ("first norm twice", "norm_1 was used for both sublayers; norm_2 never learns.", (1, 1)),
            ("second norm twice", "norm_2 was used for both sublayers; norm_1 never learns.", (2, 2)),
            ("norms exchanged", "the two norms are exchanged.", (2, 1))),
        Fault("network first", "the feed-forward network comes before the attention.",
            "first the attention, then the network on its sum.", flow=lambda x, a, b: a(b(x)), norms=(2, 1)),
        *faults_of("flow", "first the attention, then the network on its sum.",
            ("network first, norms moved along", "the feed-forward network comes before the attention, each with its own "
             "norm.", lambda x, a, b: a(b(x))),
            ("added to the start", "the feed-forward network's result was added to the layer's input: what the attention "
             "found goes through the network alone.", lambda x, a, b: b.close(x, b.branch(a(x))),
             "add it to the result of the first connection."),
            ("side by side", "both sublayers got the layer's input, side by side.", _side_by_side),
            ("side by side with pre_norm=True", "with pre_norm=True, both sublayers got the layer's input, side by side.",
             lambda x, a, b: _side_by_side(x, a, b) if a.pre else b(a(x))),
            ("added to the start with pre_norm=True", "with pre_norm=True, the feed-forward network's result was added to the "
             "layer's input: what the attention found goes through the network alone.",
             lambda x, a, b: b.close(x, b.branch(a(x))) if a.pre else b(a(x)), "add it to the result of the first connection."),
            ("no attention", "the attention plays no part: it is never called, or what it found is lost.",
             lambda x, a, b: b(x)),
            ("only the attention", "the layer ends after the attention: the feed-forward network is missing.",
             lambda x, a, b: a(x), _NETWORK)),
        Fault("no feed-forward network", "the feed-forward network is never called.", _NETWORK,
            network=lambda network, y: y),
        *connection_faults({0: "", 1: "around the attention, ", 2: "around the feed-forward network, "}),
    ), symptoms=(returns_more,),
    advice="two connections of 9.4, one after the other: attention with norm_1, then the network with norm_2.",
    atol=2e-5, tries=120,
)  # fmt: skip

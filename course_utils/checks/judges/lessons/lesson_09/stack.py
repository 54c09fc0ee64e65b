"""A stack of layers with a norm at the end."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from ...exercise import Case, Exercise, Fault
from ...kit.layers import padding


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, d, N in ((2, 4, 3, 2), (2, 5, 4, 3), (3, 4, 6, 5), (2, 6, 3, 1), (2, 5, 4, 3)):
        x = torch.randn(B, L, d, generator=rng) + torch.randn(B, L, 1, generator=rng)
        matrices = torch.randn(N + 3, d, d, generator=rng) / d**0.5
        cases.append(Case(x=x, mask=padding(rng, B, L), num_layers=N, _matrices=matrices))
    return cases


class _Late:
    """Layers that are made whenever they are run through."""

    def __init__(self, make, count):
        self.make, self.count = make, count

    def __iter__(self):
        return (self.make() for _ in range(self.count))


def _stack(
    *,
    count=lambda n: n,
    build=lambda make, n: nn.ModuleList(make() for _ in range(n)),
    norm=lambda d, n: nn.LayerNorm(d),
    enter=lambda stack, x: x,
    order=lambda layers: layers,
    mask_of=lambda mask, number: mask,
    given=lambda y, x: y,
    step=lambda s, i, layer, y, mask: layer(y, mask),
    leave=lambda stack, y: stack.norm(y),
    finish=lambda output: output,
):
    def construct(self, make_layer, num_layers, d_model):
        nn.Module.__init__(self)
        self.layers = build(make_layer, count(num_layers))
        self.norm = norm(d_model, num_layers)

    def forward(self, x, mask):
        y = x = enter(self, x)
        for number, layer in enumerate(order(self.layers)):
            y = step(self, number, layer, given(y, x), mask_of(mask, number))
        return finish(leave(self, y))

    return type("Stack", (nn.Module,), {"__init__": construct, "forward": forward})


def _unused(stack, y):
    return y


def _plain(stack, y):
    return F.layer_norm(y, y.shape[-1:])


def _no_norm(d, n):
    return nn.Identity()


_EACH = "call make_layer() once for each place: [make_layer() for _ in range(num_layers)]."
_LAST = "it belongs after the last layer, and nowhere else."

EXERCISE = Exercise(
    answer="Stack",
    cases=_cases,
    reference=_stack,
    returns=("output", "number of parameters", "gradients of the layers", "gradients of the norm"),
    faults=(
        Fault("one layer many times", "the same layer num_layers times: one set of parameters, which every place in "
            "the stack shares.", _EACH, build=lambda make, n: nn.ModuleList([make()] * n)),
        Fault("first layer many times, others made in vain", "num_layers layers were made, but only the first is used, "
            "num_layers times.", "give each place of the stack a layer of its own.",
            build=lambda make, n: nn.ModuleList([make() for _ in range(n)][:1] * n)),
        Fault("deep copies", "copies of one layer: each has parameters of its own, but all start from the same "
            "numbers.", "call make_layer() once for each place, so that each starts from random numbers of its own.",
            build=lambda make, n: nn.ModuleList(copy.deepcopy(layer) for layer in [make()] * n)),
        Fault("plain list", "the layers are kept in a plain Python list: their parameters are missing in parameters(), "
            "so an optimizer would never train them.", "put the list into nn.ModuleList.",
            build=lambda make, n: [make() for _ in range(n)]),
        Fault("layers made in forward", "make_layer is called in forward: each call of the stack works with new "
            "layers, which no optimizer ever finds.", "make all layers in the constructor and keep them in an "
            "nn.ModuleList.", build=_Late),
        Fault("one too many", "one layer too many.", "count from 0, as range(num_layers) does.", count=lambda n: n + 1),
        Fault("one too few", "one layer too few.", "use range(num_layers), whole.", count=lambda n: n - 1),
        Fault("no final norm", "the final norm is missing.", "a pre-norm stack ends in one more LayerNorm, with "
            "parameters of its own.", norm=_no_norm, leave=_unused),
        Fault("final norm not used", "the final norm is made but never used.",
            "apply it to what the last layer gives.", leave=_unused),
        Fault("final norm without parameters", "the output is normalized, but the norm has no parameters to learn.",
            "make an nn.LayerNorm(d_model) in the constructor, and use it at the end.", norm=_no_norm, leave=_plain),
        Fault("parameters of the final norm not used", "the output is normalized, but not by the norm that was made: "
            "its parameters never learn.", "call the nn.LayerNorm of the constructor on what the last layer gives.",
            leave=_plain),
        Fault("one norm after each layer", "the norm stands after every layer, the same one each time.", _LAST,
            step=lambda s, i, layer, y, mask: s.norm(layer(y, mask)), leave=_unused),
        Fault("a norm after each layer", "every layer has a norm of its own after it.",
            "one norm, after the last layer only.", norm=lambda d, n: nn.ModuleList(nn.LayerNorm(d) for _ in range(n)),
            leave=_unused, step=lambda s, i, layer, y, mask: s.norm[i](layer(y, mask))),
        Fault("norm before each layer", "the norm stands before every layer.", _LAST, leave=_unused,
            step=lambda s, i, layer, y, mask: layer(s.norm(y), mask)),
        Fault("norm before the first layer", "the norm stands before the first layer.", _LAST,
            enter=lambda stack, x: stack.norm(x), leave=_unused),
        Fault("norm at both ends", "the norm stands before the first layer as well as after the last.", _LAST,
            enter=lambda stack, x: stack.norm(x)),
        Fault("mask not used", "the mask does not reach the layers.", "hand it to each of them: layer(x, mask).",
            mask_of=lambda mask, number: None),
        Fault("mask for the first layer only", "the mask reaches the first layer only.",
            "every layer needs it: the padding is there in all of them.",
            mask_of=lambda mask, number: None if number else mask),
        Fault("each layer on the input", "every layer got the input of the stack; only the last one's output counts.",
            "hand on: x = layer(x, mask).", given=lambda y, x: x),
        Fault("residual around the layers", "x was added once more around each layer: the layers have their "
            "connections inside.", "hand on what the layer gives: x = layer(x, mask).",
            step=lambda s, i, layer, y, mask: y + layer(y, mask)),
        Fault("only the first layer", "only the first layer is run.", "is a return inside the loop?",
            order=lambda layers: list(layers)[:1]),
        Fault("backwards", "the layers are run from the last to the first.", "begin with the first.",
            order=lambda layers: reversed(list(layers))),
        Fault("each layer detached", "the gradient is cut between the layers: only the last one, and the norm, would "
            "learn.", "hand on x as it is, without .detach(), .data or torch.no_grad().",
            given=lambda y, x: y.detach()),
        Fault("layers cut off", "no gradient passes through the norm to the layers: they would never learn.",
            "give the norm what the last layer gives, without .detach(), .data or torch.no_grad().",
            leave=lambda stack, y: stack.norm(y.detach())),
        Fault("gradient cut", "the numbers are right, but no gradient reaches the layers and the norm.",
            "leave .detach(), .data and torch.no_grad() out.", finish=lambda output: output.detach()),
    ),
    advice="count the parameters of your stack: num_layers times a layer's, and 2 * d_model for the norm.",
)  # fmt: skip

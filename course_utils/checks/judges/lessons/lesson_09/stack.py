"""A stack of layers with a norm at the end."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from ...exercise import Case, Exercise, Fault
from ...kit.layers import padding
from ...kit.parts import faults_of


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
    *, count=lambda n: n, build=lambda make, n: nn.ModuleList(make() for _ in range(n)),
    norm=lambda d, n: nn.LayerNorm(d), enter=lambda stack, x: x, order=lambda layers: layers,
    mask_of=lambda mask, number: mask, given=lambda y, x: y, step=lambda s, i, layer, y, mask: layer(y, mask),
    leave=lambda stack, y: stack.norm(y), finish=lambda output: output,
):  # fmt: skip
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


_OWN = "call make_layer() once for each place: nn.ModuleList([make_layer() for _ in range(num_layers)])."
_NORM = "an nn.LayerNorm(d_model), made in the constructor, stands after the last layer."
_LAST = "one norm: it belongs after the last layer, and nowhere else."
_ON = "hand on what each layer gives, and nothing else: x = layer(x, mask)."
_CUT = "leave .detach(), .data and torch.no_grad() out."

EXERCISE = Exercise(
    answer="Stack", cases=_cases, reference=_stack,
    returns=("output", "number of parameters", "gradients of the layers", "gradients of the norm"), faults=(
        *faults_of("build", _OWN,
            ("one layer many times", "the same layer num_layers times: one set of parameters, which every place in the "
             "stack shares.", lambda make, n: nn.ModuleList([make()] * n)),
            ("first layer many times, others made in vain", "num_layers layers were made, but only the first is used, "
             "num_layers times.", lambda make, n: nn.ModuleList([make() for _ in range(n)][:1] * n)),
            ("deep copies", "copies of one layer: each has parameters of its own, but all start from the same numbers.",
             lambda make, n: nn.ModuleList(copy.deepcopy(layer) for layer in [make()] * n)),
            ("plain list", "the layers are kept in a plain Python list: their parameters are missing in parameters(), so "
             "an optimizer would never train them.", lambda make, n: [make() for _ in range(n)],
             "put the list into nn.ModuleList."),
            ("layers made in forward", "make_layer is called in forward: each call of the stack works with new layers, "
             "which no optimizer ever finds.", _Late, "make all layers in the constructor, in an nn.ModuleList.")),
        *faults_of("count", "count as range(num_layers) does, from 0, and use it whole.",
            ("one too many", "one layer too many.", lambda n: n + 1), ("one too few", "one layer too few.", lambda n: n - 1)),
        Fault("no final norm", "the final norm is missing.", _NORM, norm=_no_norm, leave=_unused),
        Fault("final norm not used", "the final norm is made but never used.", _NORM, leave=_unused),
        Fault("final norm without parameters", "the output is normalized, but the norm has no parameters to learn.",
            _NORM, norm=_no_norm, leave=_plain),
        Fault("parameters of the final norm not used", "the output is normalized, but not by the norm that was made: "
            "its parameters never learn.", _NORM, leave=_plain),
        Fault("one norm after each layer", "the norm stands after every layer, the same one each time.", _LAST,
            step=lambda s, i, layer, y, mask: s.norm(layer(y, mask)), leave=_unused),
        Fault("a norm after each layer", "every layer has a norm of its own after it.", _LAST, leave=_unused,
            norm=lambda d, n: nn.ModuleList(nn.LayerNorm(d) for _ in range(n)),
            step=lambda s, i, layer, y, mask: s.norm[i](layer(y, mask))),
        Fault("norm before the first layer", "the norm stands before the first layer.", _LAST,
            enter=lambda stack, x: stack.norm(x), leave=_unused),
        *faults_of("mask_of", "hand it to every layer, layer(x, mask): the padding is there in all of them.",
            ("mask not used", "the mask does not reach the layers.", lambda mask, number: None),
            ("mask for the first layer only", "the mask reaches the first layer only.",
             lambda mask, number: None if number else mask)),
        Fault("each layer on the input", "every layer got the input of the stack; only the last one's output counts.",
            _ON, given=lambda y, x: x),
        Fault("residual around the layers", "x was added once more around each layer: the layers have their "
            "connections inside.", _ON, step=lambda s, i, layer, y, mask: y + layer(y, mask)),
        Fault("backwards", "the layers are run from the last to the first.", "begin with the first.",
            order=lambda layers: reversed(list(layers))),
        Fault("each layer detached", "the gradient is cut between the layers: only the last one, and the norm, would "
            "learn.", _CUT, given=lambda y, x: y.detach()),
        Fault("gradient cut", "the numbers are right, but no gradient reaches the layers and the norm.", _CUT,
            finish=lambda output: output.detach()),
    ), advice="count the parameters of your stack: num_layers times a layer's, and 2 * d_model for the norm.",
)  # fmt: skip

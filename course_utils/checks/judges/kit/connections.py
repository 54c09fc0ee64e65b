"""A residual connection made of steps, and what goes wrong in each: a connection alone, or those of a whole layer."""

from dataclasses import dataclass
from typing import Any

import torch.nn.functional as F

from ..exercise import Fault
from .parts import faults_of

ORDER_FAULTS = faults_of(
    "order", "with pre_norm=True x + dropout(sublayer(norm(x))), with pre_norm=False norm(x + dropout(sublayer(x))).",
    ("always pre-norm", "pre-norm in both cases: pre_norm=False still normalizes before the sublayer.",
     lambda pre, number: True),
    ("always post-norm", "post-norm in both cases: pre_norm=True still normalizes the sum.", lambda pre, number: False),
    ("orders exchanged", "the two orders are exchanged: pre_norm=True normalizes the sum, pre_norm=False before the "
     "sublayer.", lambda pre, number: not pre),
)  # fmt: skip


@dataclass(frozen=True)
class Connection:
    """One residual connection of a layer: ``STEPS``, some of them replaced by ``steps``."""

    sublayer: Any  # called with what it is fed and with x
    norm: Any
    drop: Any
    pre: bool  # whether the norm stands before the sublayer
    number: int  # from 1
    steps: dict

    def _step(self, name, *given):
        default = self.steps.get(name, STEPS[name])
        return self.steps.get(f"{name} {'pre' if self.pre else 'post'}", default)(*given, self)

    def __call__(self, x):
        """The whole connection."""
        return self.close(x, self.branch(x))

    def branch(self, x):
        """What is added to x."""
        return self._step("change", self.sublayer(self._step("feed", x), x))

    def close(self, x, change):
        """What is made of x and of what is added to it."""
        return self._step("end", self._step("add", x, change))


STEPS = {
    "feed": lambda x, at: at.norm(x) if at.pre else x,
    "change": lambda y, at: at.drop(y),
    "add": lambda x, change, at: x + change,
    "end": lambda total, at: total if at.pre else at.norm(total),
}


def _same(value, at):
    return value


def _norm(value, at):
    return at.norm(value)


_SUM = "add first, then normalize the sum."
_DROP = "drop only what the sublayer gives, after the sublayer and before it is added to x."
_PRE = (
    Fault("normalized x added", "the normalized x is added, not x itself: the direct path passes through the norm.",
        "keep x as it came: x + dropout(sublayer(norm(x))); a line x = norm(x) overwrites it.",
        add=lambda x, change, at: at.norm(x) + change),
    Fault("no norm before", "what goes into the sublayer is not normalized.", "the norm stands before the sublayer.",
        feed=_same),
    Fault("the sum normalized too", "the sum is normalized as well.",
        "in this order the norm stands before the sublayer only.", end=_norm),
)  # fmt: skip
_POST = (
    Fault("norm of the change only", "only what the sublayer gives is normalized, not the sum.", _SUM,
        change=lambda y, at: at.norm(at.drop(y)), end=_same),
    Fault("norm of the change before dropout", "only what the sublayer gives is normalized, before dropout, not the sum.",
        _SUM, change=lambda y, at: at.drop(at.norm(y)), end=_same),
    Fault("no norm after", "the sum is not normalized.", "the norm comes last, after the sum.", end=_same),
    Fault("normalized before too", "what goes into the sublayer is normalized as well.",
        "in this order only the sum is normalized.", feed=_norm),
)  # fmt: skip
_BOTH = (
    Fault("no norm", "neither what goes into the sublayer nor the sum is normalized.",
        "pre-norm: norm before the sublayer; post-norm: norm of the sum.", feed=_same, end=_same),
    Fault("normalized twice", "normalized before the sublayer and after the sum, whatever pre_norm says.",
        "one norm for each order: before the sublayer, or after the sum.", feed=_norm, end=_norm),
)  # fmt: skip
_ANY = (
    Fault("dropout missing", "what the sublayer gives does not pass through dropout, which shows in training only.",
        "use self.dropout on what the sublayer gives, before it is added to x.", change=_same),
    Fault("nothing added", "x is not added: what the sublayer gives stands alone.", "add x to what the sublayer gives.",
        add=lambda x, change, at: change),
    Fault("dropout on the sum", "dropout acts on the sum: that cuts the direct path as well.", _DROP,
        change=_same, add=lambda x, change, at: at.drop(x + change)),
    Fault("dropout on x", "dropout acts on x: that cuts the direct path.", _DROP,
        change=_same, add=lambda x, change, at: at.drop(x) + change),
    Fault("dropout before the sublayer", "dropout acts on what goes into the sublayer.", _DROP,
        change=_same, feed=lambda x, at: at.drop(STEPS["feed"](x, at))),
    Fault("dropout on the result", "dropout acts on the result: that cuts the direct path as well.", _DROP,
        change=_same, end=lambda total, at: at.drop(STEPS["end"](total, at))),
    Fault("always dropped", "dropout acts outside of training too, as F.dropout(y, p) does unless told self.training.",
        "use self.dropout, which knows whether the module is in training.", change=lambda y, at: F.dropout(y, at.drop.p)),
    Fault("x added twice", "x is added twice.", "add it once.", add=lambda x, change, at: 2 * x + change),
    Fault("direct path cut", "no gradient passes along the direct path.", "add x itself: no .detach(), .data or "
        "torch.no_grad().", add=lambda x, change, at: x.detach() + change),
)  # fmt: skip
_MISTAKES = {"pre": (*_PRE, *_ANY), "post": (*_POST, *_ANY), "both": (*_BOTH, *_ANY)}
_WORDS = {"pre": "with pre_norm=True, ", "post": "with pre_norm=False, ", "both": ""}
_NOT_IN_ONE_PLACE = (  # told of all connections of a layer only
    "no norm", "normalized twice", "norm of the change before dropout", "dropout on x", "dropout on the result",
    "always dropped", "x added twice", "direct path cut",
)  # fmt: skip


def connections(layer, sublayers, pre, norms, steps):
    """The connections of a layer that keeps norms by number: norm_1, norm_2, ..."""
    return [
        Connection(sublayer, getattr(layer, f"norm_{norm}"), layer.dropout, pre(number), number, steps)
        for number, (sublayer, norm) in enumerate(zip(sublayers, norms, strict=True), start=1)
    ]


def connection_faults(places, orders=("pre", "post", "both")):
    """Everything that goes wrong in a connection: everywhere, in one of the orders only, in one of the places only.

    Args:
        places: Number of a connection -> how a sentence names it ("around the attention, "); 0: all of them.
        orders: Orders to tell apart: ``("pre",)`` where an exercise has one only.
    """
    for order, fault in [(which, fault) for which in orders for fault in _MISTAKES[which]]:
        words = _WORDS[order] if len(orders) > 1 else ""
        for number, place in places.items():
            if not number or fault.name not in _NOT_IN_ONE_PLACE:
                label = " ".join(filter(None, [fault.name, words.strip(", "), place.strip(", ")]))
                own = "" if order == "both" else f" {order}"  # a part for each order: faults of both can come together
                steps = {name + own: _only(name, step, order, number) for name, step in fault.parts.items()}
                yield Fault(label, f"{words}{place}{fault.looks_like}", fault.advice, **steps)


def _only(name, step, order, number):
    """A step that is replaced in one order and one connection, and right elsewhere."""

    def chosen(*given):
        at = given[-1]
        here = order in ("both", "pre" if at.pre else "post") and number in (0, at.number)
        return (step if here else STEPS[name])(*given)

    return chosen

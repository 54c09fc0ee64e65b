"""A residual connection made of steps, and what goes wrong in each: a connection alone, or those of a whole layer."""

from dataclasses import dataclass
from typing import Any

import torch.nn.functional as F

from ..exercise import Fault

ORDER_FAULTS = (
    Fault("always pre-norm", "pre-norm in both cases: pre_norm=False still normalizes before the sublayer.",
        "for pre_norm=False the norm comes last: norm(x + dropout(sublayer(x))).", order=lambda pre, number: True),
    Fault("always post-norm", "post-norm in both cases: pre_norm=True still normalizes the sum.",
        "for pre_norm=True the norm stands before the sublayer: x + dropout(sublayer(norm(x))).",
        order=lambda pre, number: False),
    Fault("orders exchanged", "the two orders are exchanged: pre_norm=True normalizes the sum, pre_norm=False before the "
        "sublayer.", "pre means: the norm comes before the sublayer.", order=lambda pre, number: not pre),
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
        return self.steps.get(name, STEPS[name])(*given, self)

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
BEFORE, AFTER = "with pre_norm=True, ", "with pre_norm=False, "
NEITHER = {"change": lambda y, at: y}

_DIRECT = "keep x as it came: x + dropout(sublayer(norm(x))); a line x = norm(x) overwrites it."
_SUM = "add first, then normalize the sum."
_DROP = "drop only what the sublayer gives, after the sublayer and before it is added to x."

# what is told of one connection of a layer too; the others of a whole layer only
IN_ONE_PLACE = (
    "dropout missing", "nothing added", "normalized x added", "norm of the change only", "no norm before", "no norm after",
    "the sum normalized too", "normalized before too", "dropout on the sum", "dropout before the sublayer",
)  # fmt: skip

# name, what the answer did, what to try, the orders it happens in (both: also in one alone; always: in both only), the steps
_MISTAKES = (
    ("dropout missing", "what the sublayer gives does not pass through dropout, which shows in training only.",
        "use self.dropout on what the sublayer gives, before it is added to x.", "both", NEITHER),
    ("nothing added", "x is not added: what the sublayer gives stands alone.", "add x to what the sublayer gives.",
        "both", {"add": lambda x, change, at: change}),
    ("normalized x added", "the normalized x is added, not x itself: the direct path passes through the norm.",
        _DIRECT, "pre", {"add": lambda x, change, at: at.norm(x) + change}),
    ("norm of the change only", "only what the sublayer gives is normalized, not the sum.", _SUM, "post",
        {"change": lambda y, at: at.norm(at.drop(y)), "end": lambda total, at: total}),
    ("no norm", "neither what goes into the sublayer nor the sum is normalized.",
        "pre-norm: norm before the sublayer; post-norm: norm of the sum.", "always",
        {"feed": lambda x, at: x, "end": lambda total, at: total}),
    ("normalized twice", "normalized before the sublayer and after the sum, whatever pre_norm says.",
        "one norm for each order: before the sublayer, or after the sum.", "always",
        {"feed": lambda x, at: at.norm(x), "end": lambda total, at: at.norm(total)}),
    ("norm on the direct path", "the norm stands on the direct path, and the sublayer gets x as it is.",
        "the sublayer gets norm(x); what is added to is x itself.", "pre",
        {"feed": lambda x, at: x, "add": lambda x, change, at: at.norm(x) + change}),
    ("no norm before", "what goes into the sublayer is not normalized.", "the norm stands before the sublayer.", "pre",
        {"feed": lambda x, at: x}),
    ("no norm after", "the sum is not normalized.", "the norm comes last, after the sum.", "post",
        {"end": lambda total, at: total}),
    ("the sum normalized too", "the sum is normalized as well.", "in this order the norm stands before the sublayer "
        "only.", "pre", {"end": lambda total, at: at.norm(total)}),
    ("normalized before too", "what goes into the sublayer is normalized as well.",
        "in this order only the sum is normalized.", "post", {"feed": lambda x, at: at.norm(x)}),
    ("dropout on the sum", "dropout acts on the sum: that cuts the direct path as well.", _DROP, "both",
        {**NEITHER, "add": lambda x, change, at: at.drop(x + change)}),
    ("dropout on x", "dropout acts on x: that cuts the direct path.", _DROP, "both",
        {**NEITHER, "add": lambda x, change, at: at.drop(x) + change}),
    ("dropout before the sublayer", "dropout acts on what goes into the sublayer.", _DROP, "both",
        {**NEITHER, "feed": lambda x, at: at.drop(STEPS["feed"](x, at))}),
    ("norm of the change before dropout", "only what the sublayer gives is normalized, before dropout, not the sum.",
        _SUM, "post", {"change": lambda y, at: at.drop(at.norm(y)), "end": lambda total, at: total}),
    ("dropout on the result", "dropout acts on the result: that cuts the direct path as well.", _DROP, "both",
        {**NEITHER, "end": lambda total, at: at.drop(STEPS["end"](total, at))}),
    ("always dropped", "dropout acts outside of training too: F.dropout(y, p) drops always, unless told "
        "self.training.", "use self.dropout, which knows whether the module is in training.", "both",
        {"change": lambda y, at: F.dropout(y, at.drop.p)}),
    ("x added twice", "x is added twice.", "add it once.", "both", {"add": lambda x, change, at: 2 * x + change}),
    ("direct path cut", "no gradient passes along the direct path.", "add x itself: no .detach(), .data or "
        "torch.no_grad().", "both", {"add": lambda x, change, at: x.detach() + change}),
)  # fmt: skip


def connections(layer, sublayers, pre=lambda number: True, norms=(1, 2, 3), steps=None):
    """The connections of a layer that keeps norms by number: norm_1, norm_2, ..."""
    return [
        Connection(sublayer, getattr(layer, f"norm_{norm}"), layer.dropout, pre(number), number, steps or {})
        for number, (sublayer, norm) in enumerate(zip(sublayers, norms, strict=False), start=1)
    ]


def connection_faults(places, orders=("both", "pre", "post"), whole=None):
    """Everything that goes wrong in a connection: everywhere, in one of the orders only, in one of the places only.

    Args:
        places: Number of a connection -> how a sentence names it ("around the attention, "); 0: all of them.
        orders: Orders to tell apart: ``("pre",)`` where an exercise has one only.
        whole: Steps -> the answer, for the rarer mistakes, which are not tried in pairs; None: all are tried.
    """
    for name, said, advice, kind, steps in _MISTAKES:
        for order in orders:
            if order not in {"both": ("both", "pre", "post"), "always": ("both",)}.get(kind, (kind,)):
                continue
            words = {"both": "", "pre": BEFORE, "post": AFTER}[order] if len(orders) > 1 else ""
            for number, place in places.items():
                if number and name not in IN_ONE_PLACE:
                    continue
                only = {step: _only(step, replaced, order, number) for step, replaced in steps.items()}
                label = " ".join(filter(None, [name, words.strip(", "), place.strip(", ")]))
                rare = whole is not None and order != "both" and kind == "both" and number
                made = {"whole": whole(**only)} if rare else only
                yield Fault(label, f"{words}{place}{said}", advice, **made)


def _only(step, replaced, order, number):
    """A step that is replaced in one order and one connection, and right elsewhere."""

    def chosen(*given):
        at = given[-1]
        here = order in ("both", "pre" if at.pre else "post") and number in (0, at.number)
        return (replaced if here else STEPS[step])(*given)

    return chosen

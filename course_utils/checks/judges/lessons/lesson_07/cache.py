"""A key/value cache."""

import re

import torch

from ....probes.codec import decode
from ...contrast import only_in_its_case
from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch_size, num_kv_heads, max_len, d_head, new_positions, full, *labels, beside=False, overwrite=False):
        shape = (batch_size, num_kv_heads, sum(new_positions), d_head)
        keys, values = (torch.randn(shape, generator=rng) for _ in ("keys", "values"))
        if labels == ("all numbers of a position are 0",):
            keys[:, :, 1:3], values[:, :, 1:3] = 0.0, 0.0
        return Case(
            *labels, batch_size=batch_size, num_kv_heads=num_kv_heads, max_len=max_len, d_head=d_head,
            new_positions=new_positions, keys=keys, values=values, _full=full, _beside=beside, _overwrite=overwrite,
        )  # fmt: skip

    return [
        case(1, 1, 4, 2, [1, 1, 5, 1], 2, "an update has no room"),
        case(2, 3, 9, 4, [5, 1, 1, 2, 1], 4, "an update has no room"),  # filled to the last position before
        case(3, 2, 12, 5, [1, 4, 3, 5, 2, 2], 3, "an update has no room"),
        case(2, 2, 7, 3, [2, 1, 3], 3, "all numbers of a position are 0"),
        case(2, 3, 8, 4, [3, 1, 2], 3, "another cache is in use beside it", beside=True),
        case(2, 3, 8, 4, [2, 3, 1], 3, "the tensors handed to update are changed after the call", overwrite=True),
    ]


class _Cache:
    """A cache in the plainest form; a fault changes a method."""

    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.length, self.max_len = 0, max_len
        self.store().kept = self.make(batch_size, num_kv_heads, max_len, d_head)

    def update(self, key, value):
        new = self.count(key)
        if self.no_room(new):
            raise self.error
        start = self.start(new)
        both = zip(self.store().kept, self.incoming(key, value), strict=True)
        self.store().kept = [self.put(kept, start, more) for kept, more in both]
        self.length += self.grow(new)
        return self.read(key, value)

    def put(self, kept, start, more):
        kept[:, :, start : start + self.count(more)] = more
        return kept

    def read(self, key, value):
        return tuple(kept[:, :, : self.length] for kept in self.store().kept)

    error = ValueError("no room")
    store = lambda self: self  # noqa: E731
    make = lambda self, *shape: [torch.zeros(shape), torch.zeros(shape)]  # noqa: E731
    count = lambda self, key: key.shape[2]  # noqa: E731
    no_room = lambda self, new: self.length + new > self.max_len  # noqa: E731
    start = lambda self, new: self.length  # noqa: E731
    incoming = lambda self, key, value: (key, value)  # noqa: E731
    grow = lambda self, new: new  # noqa: E731


def _count_first(self, new):
    self.length += new
    return self.length > self.max_len


def _stopped(view):
    """What an error says of the cache: an attribute that is not set, an update that should not have been refused."""
    message = view.cases[view.first].get("message", "")
    if found := re.fullmatch(r"'\w+' object has no attribute '(\w+)'", message):
        said, advice = "self.{} is read, and nothing was put into it before.", "set self.{} in __init__."
        return Told("symptom", "attribute missing", said.format(found[1]), advice.format(found[1]))
    if message.endswith("after an update that had no room"):
        said = "an update without room leaves something behind: the cache is not as it was before."
        return Told("symptom", "changed by a refused update", said, _FIRST)
    said = "a new cache begins with what an earlier one was given: the class, or a global, holds it."
    return Told("symptom", "remembers an earlier call", said, _IN_SELF) if "again" in view.cases[view.first] else None


def _refused_too_late(view):
    """Right as long as there is room; an update without room is refused by the write itself, or after it."""
    refused = [index for index, case in enumerate(view.inputs) if case["_full"] < len(case["new_positions"])]
    if not set(view.wrong) <= set(refused) or not view.returned_everywhere():
        return None
    pairs = [
        (decode(view.cases[i]["value"]), decode(view.expected[i]["value"]), view.inputs[i]["_full"]) for i in view.wrong
    ]
    if any(have[3] == "RuntimeError, not ValueError" for have, _, _ in pairs):
        said = "an update without room ends in PyTorch's RuntimeError, not in a ValueError of yours."
        return Told("symptom", "refused by the write", said, _FIRST)
    if any(have[2:] != want[2:] for have, want, _ in pairs):
        return None
    before = ((have[k][:full], want[k][:full]) for have, want, full in pairs for k in (0, 1))
    if not all(len(have) == len(want) and all(map(torch.equal, have, want)) for have, want in before):
        return None
    said = "an update that is refused leaves its keys or values behind: what comes back later is no longer right."
    return Told("symptom", "written, then refused", said, _FIRST)


_SO_FAR = "return all positions so far, 0 to length - 1: slice with [:, :, :self.length]."
_COUNT = "positions stand on axis 2 of (B, H_kv, L_new, d_head): add key.shape[2] in every update."
_FIRST = "check before you write: compare length + L_new with max_len, and raise ValueError with a sentence."
_IN_SELF = "keep the tensors in self, made in __init__; not on the class, in a global or in a default argument."

EXERCISE = Exercise(
    answer="Cache", cases=_cases, reference=lambda **parts: type("Cache", (_Cache,), parts),
    returns=("keys", "values", "length", "what the update without room raised"), faults=(
        Fault("unwritten tail", "the whole room came back, its unwritten tail included: those zeros would get weight.",
              _SO_FAR, read=lambda self, key, value: tuple(self.kept)),
        Fault("unwritten tail of the values", "the keys are cut to the length, the values are not.", _SO_FAR,
              read=lambda self, key, value: (self.kept[0][:, :, : self.length], self.kept[1])),
        Fault("only the new ones", "only the new keys and values came back; the earlier ones are what a cache is for.",
              _SO_FAR, read=lambda self, key, value: (key, value)),
        Fault("all but the new ones", "the positions before this update came back; the new ones are missing.",
              "slice with the length after the update.",
              read=lambda self, key, value: tuple(kept[:, :, : self.length - key.shape[2]] for kept in self.kept)),
        Fault("swapped", "values and keys came back in this order.", "return the keys first.",
              read=lambda self, key, value: _Cache.read(self, key, value)[::-1]),
        Fault("nothing returned", "update returns nothing.", "end update with a return of keys and values so far.",
              read=lambda self, key, value: None),
        Fault("length never raised, the new ones handed back", "self.length stays 0, so that each update overwrites "
              "the one before.", _COUNT, grow=lambda self, new: 0, read=lambda self, key, value: (key, value)),
        *faults_of("grow", _COUNT,
            ("length never raised", "self.length stays 0, so nothing is handed back.", lambda self, new: 0),
            ("length counts the updates", "the length grows by 1 at each update, however many positions came.",
             lambda self, new: 1),
            ("length counts the heads", "the length grows by the number of heads, key.shape[1].",
             lambda self, new: self.kept[0].shape[1])),
        Fault("length counts the updates, slices right", "the length grows by 1 at each update, however many positions came.",
              _COUNT, grow=lambda self, new: 1,
              read=lambda self, key, value: tuple(kept[:, :, : self.length - 1 + key.shape[2]] for kept in self.kept)),
        Fault("heads for positions", "the number of new positions is taken from key.shape[1], the axis of the heads.",
              "positions stand on axis 2 of (B, H_kv, L_new, d_head).", count=lambda self, key: key.shape[1]),
        *faults_of("start", "write to positions self.length to self.length + L_new - 1: self.length is the next free one.",
            ("always at the start", "every update is written to position 0, over the oldest.", lambda self, new: 0),
            ("one too far", "the cache is written one position too far, so that position 0 stays empty.",
             lambda self, new: min(self.length + 1, self.max_len - new)),
            ("at the end of the room", "each update goes to the last positions of the room.",
             lambda self, new: self.max_len - new),
            ("length raised first", "the length is raised before the new keys are written: they land behind their place.",
             lambda self, new: self.length + new, "write first, at the old length; raise the length afterwards.")),
        Fault("keys in both", "the keys are written into both tensors: your values are keys.",
              "write `value` into the tensor of the values.", incoming=lambda self, key, value: (key, key)),
        Fault("one tensor for both", "keys and values share one tensor: the values are written over the keys.",
              "make two tensors; `self.keys = self.values = torch.zeros(...)` makes one with two names.",
              make=lambda self, *shape: [torch.zeros(shape)] * 2),
        Fault("one store for all caches", "all caches share one store: a second one writes over the first.",
              _IN_SELF, store=lambda self: type(self)),
        *(Fault(f"not its own{more}", "the tensors that were handed over are kept: whoever changes them afterward changes the "
                "cache.", "keep a copy: key.clone(), value.clone().", put=put, read=read) for more, put, read in (
              ("", lambda self, kept, start, more: torch.cat([kept[:, :, :start], more], 2) if start else more, _Cache.read),
              (", in a list", lambda self, kept, start, more: [*(kept if start else ()), more],
               lambda self, key, value: tuple(torch.cat(kept, 2) for kept in self.kept)))),
        Fault("first of several", "of several new positions only the first is written; the others stay empty.",
              "write a slice of L_new positions: [:, :, start:end] = key.",
              put=lambda self, kept, start, more: _Cache.put(self, kept, start, more[:, :, :1])),
        Fault("newest first", "the new positions stand before the old ones.",
              "keep them in the order in which they came: a causal mask counts on it.",
              put=lambda self, kept, start, more: torch.cat([more, kept[:, :, : -more.shape[2]]], dim=2)),
        Fault("a full cache refused", "an update that fills the room exactly is refused.", "refuse only if length + "
              "L_new is greater than max_len.", no_room=lambda self, new: self.length + new >= self.max_len),
        Fault("overflow left to PyTorch", "an update without room ends in PyTorch's RuntimeError, which says nothing "
              "of a cache.", _FIRST, no_room=lambda self, new: False),
        Fault("looked at alone", "an update is refused only if it is larger than the whole room, whatever is written.",
              _FIRST, no_room=lambda self, new: new > self.max_len),
        Fault("left to the slice", "a slice that fails is taken for a full cache: one position still gets into it, as the "
              "empty slice takes that without an error.", _FIRST,
              no_room=lambda self, new: new > max(1, self.max_len - self.length)),
        Fault("overflow accepted", "an update beyond max_len raised no error: the cache grew past its room.", _FIRST,
              no_room=lambda self, new: False,
              put=lambda self, kept, start, more: torch.cat([kept[:, :, :start], more], dim=2)),
        Fault("counted, then refused", "the refused positions were counted: the length is too large after the error.",
              _FIRST, no_room=_count_first, start=lambda self, new: self.length - new, grow=lambda self, new: 0),
        Fault("assert", "an assert stopped the update that does not fit: an AssertionError, and gone under python -O.",
              "write `if ...: raise ValueError(...)`.", error=AssertionError()),
        Fault("no sentence", "the ValueError says nothing.", "hand it a sentence: raise ValueError('...').",
              error=ValueError()),
    ), symptoms=(_stopped, _refused_too_late, only_in_its_case),
    advice="after every update, print cache.length and the two shapes: their axis 2 must be the length.",
)  # fmt: skip

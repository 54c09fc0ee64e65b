"""A cache that keeps the first and the latest positions."""

import torch

from ....probes.codec import decode
from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(first, latest, new_positions, *labels, shape=(2, 3, 4), overwrite=False):
        batch, heads, d_head = shape
        keys, values = torch.randn(2, batch, heads, sum(new_positions), d_head, generator=rng)
        return Case(
            *labels, num_first=first, num_latest=latest, new_positions=new_positions, keys=keys, values=values,
            _overwrite=overwrite,
        )  # fmt: skip

    return [
        case(1, 2, [2, 1, 3], shape=(1, 1, 2)),
        case(2, 3, [1] * 8),
        case(0, 3, [2, 1, 1, 2], "num_first is 0"),
        case(2, 3, [9, 1, 2], "the first piece is larger than the room"),
        case(3, 1, [2, 2, 1, 5], "the first positions come in two pieces"),
        case(4, 4, [2, 3, 2], "everything fits"),
        case(1, 3, [2, 1, 2, 1], "the tensors handed to update are changed after the call", overwrite=True),
    ]


class _Forgetful:
    """What it keeps, as one tensor of keys and one of values; a fault changes a method."""

    def __init__(self, num_first, num_latest):
        self.first, self.latest, self.seen = num_first, num_latest, 0
        self.store().kept = None

    def update(self, key, value):
        kept = self.store().kept
        both = [key, value] if kept is None else [self.join(*pair) for pair in zip(kept, (key, value), strict=True)]
        self.seen += key.shape[2]
        self.store().kept = [self.own(self.forget(one, key.shape[2])) for one in both]
        return self.hand_back([one.clone() for one in self.store().kept])

    store = lambda self: self  # noqa: E731
    join = lambda self, old, new: torch.cat([old, new], dim=2)  # noqa: E731
    own = lambda self, one: one.clone()  # noqa: E731
    hand_back = lambda self, kept: tuple(kept)  # noqa: E731

    def forget(self, one, new):
        if one.shape[2] <= self.first + self.latest:
            return one
        return torch.cat([one[:, :, : self.first], one[:, :, one.shape[2] - self.latest :]], dim=2)


def _overlapping(self, one, new):
    return torch.cat([one[:, :, : self.first], one[:, :, -self.latest :]], dim=2)


def _in_chunks(self, one, new):
    room = self.first + self.latest
    return one if one.shape[2] <= room else torch.cat([one[:, :, : self.first], one[:, :, self.first + new :]], dim=2)


def _how_many(view):
    """More or fewer positions than there should be, in the first update where that is so."""
    case, given = decode(view.cases[view.first].get("value", {"kind": "none"})), view.inputs[view.first]
    if not isinstance(case, tuple) or not all(isinstance(one, torch.Tensor) and one.dim() == 4 for one in case[0]):
        return None
    room, seen = given["num_first"] + given["num_latest"], 0
    for update, (keys, new) in enumerate(zip(case[0], given["new_positions"], strict=False), start=1):
        seen += new
        if keys.shape[2] != min(room, seen):
            said = (
                f"after update {update}, with {seen} seen, {keys.shape[2]} positions came back, not {min(room, seen)}."
            )
            return Told("symptom", "another number kept", said, "join first, then forget: min(seen, room) are left.")
    return None


_FIRST = "keep the first num_first of the whole text: as long as they are kept, they are the first of what is kept."
_LATEST = "of everything joined, the last num_latest positions stay."

EXERCISE = Exercise(
    answer="ForgetfulCache", cases=_cases, reference=lambda **parts: type("ForgetfulCache", (_Forgetful,), parts),
    returns=("keys", "values"), faults=(
        *faults_of("forget", _FIRST,
            ("only the latest", "only the latest positions are kept; the first ones of the text are lost.",
             lambda self, one, new: one[:, :, -self.latest :]),
            ("latest fill the room", "the latest num_first + num_latest are kept; the first ones of the text are lost.",
             lambda self, one, new: one[:, :, -(self.first + self.latest) :])),
        *faults_of("forget", _LATEST,
            ("only the first", "only the first positions are kept, and none of the latest.",
             lambda self, one, new: one[:, :, : self.first]),
            ("first fill the room", "the first num_first + num_latest are kept: once full, nothing new gets in.",
             lambda self, one, new: one[:, :, : self.first + self.latest]),
            ("nothing forgotten", "nothing is forgotten: the cache grows with the text.", lambda self, one, new: one),
            ("one too few", "one position too few is kept of the latest.",
             lambda self, one, new: one if one.shape[2] < self.first + self.latest
             else torch.cat([one[:, :, : self.first], one[:, :, one.shape[2] - self.latest + 1 :]], dim=2)),
            ("as many forgotten as came", "as many are forgotten as came, also where there was still room.", _in_chunks)),
        Fault("kept twice", "while the text is short, positions are among the first and among the latest, and come back "
              "twice.", "where everything fits, return everything.", forget=_overlapping),
        Fault("newest first", "the new positions stand before the old ones.", "join the old ones first: oldest first.",
              join=lambda self, old, new: torch.cat([new, old], dim=2)),
        Fault("only the new ones", "only the new positions are looked at; what was kept is lost.",
              "join what is kept and what is new first.", join=lambda self, old, new: new),
        Fault("not its own", "the tensors that were handed over are kept: who changes them afterwards changes the cache.",
              "keep a copy: key.clone().", own=lambda self, one: one),
        Fault("swapped", "values and keys came back in this order.", "return the keys first.",
              hand_back=lambda self, kept: tuple(kept[::-1])),
        Fault("nothing returned", "update returns nothing.", "end update with a return of keys and values.",
              hand_back=lambda self, kept: None),
        Fault("keys in both", "keys came back twice, in the place of the values too.", "keep the values beside the keys.",
              hand_back=lambda self, kept: (kept[0], kept[0])),
    ), symptoms=(_how_many,),
    advice="feed the positions 1, 2, 3 ... one by one with num_first=1 and num_latest=2, and print what comes back.",
)  # fmt: skip

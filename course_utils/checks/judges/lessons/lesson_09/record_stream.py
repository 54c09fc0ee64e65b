"""Find the bug: a record of the stream whose entries are one tensor."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d, count, back=None, dtype=torch.float32, moody=-1, size=1.0):
        number = int(torch.randint(10**6, (), generator=rng))
        labels = ["a sublayer hands its argument back"] if back is not None else []
        labels += ["a sublayer returns something else at each call, as with dropout"] if moody >= 0 else []
        labels += ["the stream is far larger than what is added"] if size > 1 else []
        x = size * torch.randn(B, L, d, generator=rng).to(dtype)
        return Case(*labels, x=x, _count=count, _back=-1 if back is None else back, _moody=moody, _seed=number)

    return [
        case(1, 1, 2, 2), case(2, 3, 4, 3), case(2, 3, 4, 3, back=1), case(1, 4, 3, 1), case(3, 2, 5, 4, dtype=torch.float64),
        case(2, 3, 4, 3), case(2, 2, 3, 2, back=0),
        case(2, 3, 4, 3, moody=1), case(2, 3, 4, 3, size=1e6),
    ]  # fmt: skip


def record_stream(
    x, sublayers, *, begin=lambda x: x, reads=lambda x, first: x, on=lambda x, change: x + change, kept=lambda x: x,
    note=lambda change, before, after, first: change, early=False, head=True, finish=lambda streams, added: (streams, added),
):  # fmt: skip
    """The stream before and after each sublayer, and what each added; each keyword is one step."""
    x = first = begin(x)
    streams, added = [kept(x)] if head else [], []
    for sublayer in sublayers:
        change, before = sublayer(reads(x, first)), x
        x = on(x, change)
        streams.append(kept(before if early else x))
        added.append(note(change, before, x, first))
    return finish(streams, added)


def _in_place(x, change):
    with torch.no_grad():
        x += change
    return x


def _in_place_of_a_copy(x, change):
    x += change  # with its gradient
    return x


_NEW = "make a new tensor each time: x = x + change; x += change writes into the old one, wherever it is kept."
_ADDED = "append what the sublayer returned, as it is."

EXERCISE = Exercise(
    answer="record_stream", cases=_cases, reference=record_stream, returns=("streams", "added"), faults=(
        Fault("as it was", "the function as it was: all entries of the stream are one tensor, the last one.", _NEW,
            on=_in_place),
        Fault("copies of what is appended", "copies are kept, but x += still writes into the caller's x.", _NEW,
            on=_in_place, kept=lambda x: x.clone()),
        *(Fault(f"argument handed back{more}", "a sublayer may return the very tensor that it was given; then x += changes "
            "what stands in `added` too.", "make a new tensor each time, x = x + change, in place of x += change.",
            begin=lambda x: x.clone(), on=_in_place_of_a_copy, kept=lambda x: x.clone(), note=note)
          for more, note in (("", lambda change, before, after, first: change),
                             (", copied too late", lambda change, before, after, first: change.clone()))),
        Fault("entries after the first copied", "what is appended later is copied, but the first entry is still the tensor "
            "that x += writes into.", _NEW, whole=lambda x, sublayers: _later_copied(x, sublayers)),
        Fault("one copy at the start", "x was copied once: the caller's is safe, but all entries are still one tensor.", _NEW,
            begin=lambda x: x.clone(), on=_in_place),
        *faults_of("kept", "keep the tensors themselves: no .detach(), .data, torch.no_grad() or copy from numbers.",
            ("entries detached", "the numbers are right, but no gradient passes through the entries of the stream.",
             lambda x: x.detach().clone())),
        *faults_of("reads", "each sublayer reads the stream as it is by then.",
            ("each reads the start", "every sublayer read the first entry of the stream.", lambda x, first: first)),
        *faults_of("on", "add what the sublayer returned to the stream: x + change.",
            ("nothing added", "the stream was replaced by what the sublayer returned.", lambda x, change: change),
            ("subtracted", "what the sublayer returned was subtracted.", lambda x, change: x - change),
            ("added twice", "what the sublayer returned was added twice.", lambda x, change: x + 2 * change)),
        *faults_of("note", _ADDED,
            ("sums since the start", "added holds the difference from the first entry, not what this sublayer added.",
             lambda change, before, after, first: after - first),
            ("streams for added", "added holds the stream after the sublayer, not what was added to it.",
             lambda change, before, after, first: after),
            ("differences noted", "added holds differences of the stream: where that is large, they are rounded.",
             lambda change, before, after, first: after - before),
            ("added detached", "the numbers are right, but no gradient passes through what was added.",
             lambda change, before, after, first: change.detach())),
        Fault("nothing added, differences noted", "the stream was replaced by what the sublayer returned.",
            "add what the sublayer returned to the stream: x + change.", on=lambda x, change: change,
            note=lambda change, before, after, first: after - before),
        Fault("asked twice", "a sublayer was called a second time: with dropout it returns something else then, and what is "
            "noted is not what was added.", "call each sublayer once, and keep what it returns: change = sublayer(x).",
            whole=lambda x, sublayers: _asked_twice(x, sublayers)),
        Fault("no entry for the start", "streams lacks its first entry, the stream before the first sublayer.",
            "begin with [x].", head=False),
        Fault("entries before the sum", "each entry was kept before the sublayer's result was added.",
            "append after adding.", early=True),
        *faults_of("finish", "return two lists: streams, then added.",
            ("exchanged", "the two lists are exchanged.", lambda streams, added: (added, streams)),
            ("last entry missing", "streams lacks its last entry, the stream after the last sublayer.",
             lambda streams, added: (streams[:-1], added)),
            ("stacked", "the lists were stacked into tensors.", lambda s, a: (torch.stack(s), torch.stack(a)))),
    ), advice="check the property: streams[n] + added[n] is streams[n + 1], for every n, and x is what it was.",
)  # fmt: skip


def _asked_twice(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        streams.append(streams[-1] + sublayer(streams[-1]))
        added.append(sublayer(streams[-2]))
    return streams, added


def _later_copied(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        added.append(sublayer(x))
        x = _in_place(x, added[-1])
        streams.append(x.clone())
    return streams, added

"""Batches by length: judged by what each batch holds, whatever their order and whatever the random numbers."""

import operator
import random

from ....probes.lessons.lesson_11 import padded, padding
from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told


def _shuffle(items, rng):
    rng.shuffle(items)


def _leave(items, rng):
    pass


def _turned(items, rng):
    items[:] = items[len(items) // 2 :] + items[: len(items) // 2]


def _batches(
    lengths, limit, seed, *, generator=random.Random, first=_shuffle, key=lambda pair: pair,
    symbols=lambda group, top, lengths: padded(group), too_many=operator.gt, may_join=lambda group, pair: True,
    overflow=lambda group, place: [place], keep=lambda groups: groups, last=_shuffle,
):  # fmt: skip
    rng, order = generator(seed), list(range(len(lengths)))
    first(order, rng)
    if key:
        order.sort(key=lambda place: key(lengths[place]))
    groups, group, top = [], [], (0, 0)
    for place in order:
        top = tuple(map(max, top, lengths[place]))  # of all so far
        with_it = [lengths[i] for i in (*group, place)]
        if group and (too_many(symbols(with_it, top, lengths), limit) or not may_join(with_it[:-1], with_it[-1])):
            groups.append(group)
            group = overflow(group, place)
        else:
            group.append(place)
    groups = keep([*groups, group])
    last(groups, rng)
    return groups


def _contents(lengths, limit, key):
    groups = _batches(lengths, limit, 0, key=key)
    return sorted(sorted(lengths[place] for place in group) for group in groups)


def _certain(*labels, lengths, limit, seed, again=()):
    """A case whose lengths come in the same order, up or down, whatever they are sorted by: what batches hold is certain."""
    holds = [_contents(lengths, limit, key) for key in (lambda pair: pair, lambda pair: (-pair[0], -pair[1]))]
    most = len(lengths)
    return Case(
        *labels, lengths=lengths, limit=limit, seed=seed, _again=again, _alike="neighbors", _holds=holds, _most=most
    )


def _cases(seed):
    rng = random.Random(seed)
    kinds = {(1, 2): 24, (2, 4): 12, (3, 5): 9, (4, 8): 6, (10, 14): 3}  # three full batches of each, with limit 24
    many = [pair for pair, count in kinds.items() for _ in range(count)]
    fewer = [pair for pair in many if sum(pair) < 24]
    rng.shuffle(many)
    growing = [(n, 2 * n - 1) for n in range(1, 10) for _ in range(rng.randint(1, 4))]
    rng.shuffle(growing)
    mixed = [(s := rng.randint(1, 9), max(2, s + rng.randint(-3, 4))) for _ in range(80)]
    best, loose = (
        [[mixed[place] for place in group] for group in _batches(mixed, 110, seed, key=key)]
        for key in (lambda pair: pair, None)
    )
    two = [(8, 3)] * 4 + [(3, 9)] * 4
    rng.shuffle(two)
    n = rng.randint(0, 1000)
    return [
        Case(
            "the longer source has the shorter target", lengths=two, limit=24, seed=n,
            _again=(), _alike=1.0, _holds=None, _most=4,
        ),
        _certain("every batch can be filled exactly", lengths=many, limit=24, seed=n, again=(n, n + 1, n + 2, n + 3)),
        _certain("the pairs are in order already", lengths=fewer, limit=23, seed=n),
        _certain("a batch holds pairs of several lengths", lengths=growing, limit=60, seed=n),
        Case(
            "a batch holds pairs of several lengths", lengths=mixed, limit=110, seed=n,
            _again=(), _alike=(padding(best) + padding(loose)) / 2, _holds=None, _most=int(1.35 * len(best)) + 1,
        ),
    ]  # fmt: skip


def _short_only(lengths, limit, seed):
    short = [place for place, pair in enumerate(lengths) if 2 * sum(pair) <= limit]
    return [[short[i] for i in group] for group in _batches([lengths[place] for place in short], limit, seed)]


def _no_places(view):
    text = view.cases[view.first].get("value", {}).get("value", [{}])[0].get("value", "lists of places")
    advice = "return a list of batches, each a list of places, whole numbers from 0 on: [[0, 2], [1]]."
    return Told("symptom", "no places", f"{text}.", advice) if text != "lists of places" else None


EXERCISE = Exercise(
    answer="batches_by_length",
    cases=_cases,
    reference=_batches,
    returns=(
        "batches", "pairs in no batch", "pairs that are in a batch once too often", "empty batches",
        "batches over the limit", "lengths in a batch", "what the batches hold", "number of batches",
        "order of the batches", "called again with the same seed", "called with other seeds",
    ),
    symptoms=(_no_places,),
    faults=(
        *faults_of("last", "shuffle the list of batches at the end.",
            ("batches in order of length", "the batches come in order of length: short words first, or long ones.", _leave),
            ("long stretches in order", "batches of nearly the same length stand side by side, in long stretches.", _turned)),
        *faults_of("first", "shuffle the places before you sort: sorting keeps the shuffled order among equal lengths.",
            ("the same pairs together", "each batch holds the same pairs with every seed.", _leave)),
        *faults_of("generator", "make a generator of your own from the seed: random.Random(seed).",
            ("seed not used", "the seed plays no part: every epoch has the same batches.", lambda seed: random.Random(0)),
            ("random without the seed", "the same seed gave other batches the second time.", lambda seed: random)),
        *faults_of("keep", "after the loop, keep the last batch too, if something is in it.",
            ("last batch dropped", "the batch that is open when the loop ends is lost.", lambda groups: groups[:-1]),
            ("empty batch", "an empty batch is among them.", lambda groups: [[], *groups])),
        *faults_of("overflow", "ask whether a pair fits before you put it anywhere; if not, it is the first of the next batch.",
            ("pair that does not fit is lost", "the pair that does not fit is put nowhere.", lambda group, place: []),
            ("pair put twice", "the pair that does not fit is put into the old batch and into the new one.",
                lambda group, place: [group.append(place) or place])),
        *faults_of("symbols", "a padded batch of n pairs has n * (longest source + longest target) symbols, with the new pair.",
            ("limit without padding", "the limit is held to the symbols without padding.", lambda g, top, all_: sum(map(sum, g))),
            ("source only", "the limit is held to the source alone.", lambda g, top, all_: len(g) * max(s for s, _ in g)),
            ("target only", "the limit is held to the target alone.", lambda g, top, all_: len(g) * max(t for _, t in g)),
            ("size of one pair", "a batch passes the limit if its longest source and its longest target are of two pairs.",
                lambda g, top, all_: len(g) * max(map(sum, g))),
            ("twice the longer side", "the size is reckoned as twice the longest of all sides.",
                lambda g, top, all_: 2 * len(g) * max(map(max, g))),
            ("size without the new pair", "the size is reckoned without the new pair.", lambda g, top, all_: padded(g[:-1])),
            ("maxima of earlier batches", "the maxima of earlier batches still count.", lambda g, top, all_: len(g) * sum(top)),
            ("limit as a number of pairs", "the limit is read as a number of pairs.", lambda g, top, all_: len(g)),
            ("room for the longest pair", "every batch has the number of pairs that fits for the longest pair of all.",
                lambda g, top, all_: len(g) * max(map(sum, all_)))),
        Fault("closed when full", "a batch is closed only after a pair has filled it or made it pass the limit.",
            "work out the size with the new pair in it, before you put it in.",
            symbols=lambda g, top, all_: padded(g[:-1]), too_many=operator.ge),
        Fault("maxima of earlier batches, long pairs first", "the maxima of earlier batches still count.",
            "set the longest source and target back as a batch opens.",
            symbols=lambda g, top, all_: len(g) * sum(top), key=lambda pair: (-pair[0], -pair[1])),
        Fault("long pairs dropped", "pairs that take more than half the limit are in no batch.",
            "every pair alone fits: it is a batch by itself if no other one fits beside it.", whole=_short_only),
        *faults_of("too_many", "open a new batch only if the size with the next pair is above the limit: size > limit.",
            ("limit itself refused", "a batch is closed although the next pair would just fill it.", operator.ge),
            ("one symbol too many", "a batch may have a symbol more than the limit.", lambda size, limit: size > limit + 1),
            ("one pair a batch", "there is one pair in each batch: no use of a batch at all.", lambda size, limit: True)),
        *faults_of("may_join", "close a batch only where the next pair would make it pass the limit.",
            ("equal pairs only", "only pairs of just the same lengths share a batch.", lambda group, pair: group[-1] == pair)),
        *faults_of("key", "sort the shuffled places by length before you cut.",
            ("not sorted", "the pairs are not in order of length: short and long ones share a batch.", None)),
        Fault("places in the sorted list", "the numbers are places in the sorted list, not in the list that you were given.",
            "sort the places, not the lengths: sorted(places, key=lambda place: lengths[place]).",
            whole=lambda lengths, limit, seed: _batches(sorted(lengths), limit, seed)),
    ),
    advice="print for every batch its number of pairs, its longest source and its longest target.",
)  # fmt: skip

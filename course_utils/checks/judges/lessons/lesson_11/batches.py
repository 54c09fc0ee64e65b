"""Batches by length: judged by what each batch holds, whatever their order and whatever the random numbers."""

import operator
import random
from collections import Counter

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told


def _batches(
    lengths, limit, seed, *, generator=random.Random, first=lambda order, rng: rng.shuffle(order), key=lambda pair: pair,
    symbols=lambda group, lengths, top: padded(group), too_many=operator.gt, overflow=lambda group, place: [place],
    keep=lambda groups: groups, last=lambda groups, rng: rng.sample(groups, len(groups)),
):  # fmt: skip
    rng, order = generator(seed), list(range(len(lengths)))
    first(order, rng)
    if key:
        order.sort(key=lambda place: key(lengths[place]))
    groups, group, top = [], [], (0, 0)
    for place in order:
        top = tuple(map(max, top, lengths[place]))  # of all so far
        if group and too_many(symbols([lengths[i] for i in (*group, place)], lengths, top), limit):
            groups.append(group)
            group = overflow(group, place)
        else:
            group.append(place)
    return last(keep([*groups, group]), rng)


def _contents(lengths, limit, key):
    return [[lengths[place] for place in group] for group in _batches(lengths, limit, 0, key=key)]


def _case(label, lengths, limit, seed, again=(), most_padding=None, most=999):
    """Without ``most_padding`` the order is the same whatever the pairs are sorted by: what batches hold is certain."""
    orders = (lambda pair: pair, lambda pair: (-pair[0], -pair[1]))
    holds = None if most_padding else [sorted(map(sorted, _contents(lengths, limit, key))) for key in orders]
    checked = {"_again": again, "__padding": most_padding, "__holds": holds, "__most": most}
    return Case(label, lengths=lengths, limit=limit, seed=seed, **checked)


def _cases(seed):
    rng = random.Random(seed)
    kinds = {(1, 2): 24, (2, 4): 12, (3, 5): 9, (4, 8): 6, (10, 14): 3}  # three full batches of each, with limit 24
    many = [pair for pair, count in kinds.items() for _ in range(count)]
    fewer = [pair for pair in many if sum(pair) < 24]
    rng.shuffle(many)
    growing = [(n, 2 * n - 1) for n in range(1, 10) for _ in range(rng.randint(1, 4))]
    rng.shuffle(growing)
    mixed = [(s := rng.randint(1, 9), max(2, s + rng.randint(-3, 4))) for _ in range(80)]
    best, loose = (_contents(mixed, 110, key) for key in (lambda pair: pair, None))
    between = (padding(best) + padding(loose)) / 2
    two = [(8, 3)] * 4 + [(3, 9)] * 4
    rng.shuffle(two)
    n = rng.randint(0, 1000)
    return [
        _case("the longer source has the shorter target", two, 24, n, most_padding=1.0, most=4),
        _case("every batch can be filled exactly", many, 24, n, again=(n, n + 1, n + 2, n + 3)),
        _case("the pairs are in order already", fewer, 23, n),
        _case("a batch holds pairs of several lengths", growing, 60, n),
        _case(
            "a batch holds pairs of several lengths",
            mixed,
            110,
            n,
            most_padding=between,
            most=int(1.35 * len(best)) + 1,
        ),
    ]


def _looked_at(case, calls):
    """What can be said of the batches whatever their order: see ``returns`` below."""
    lengths, limit = list(case["lengths"]), case["limit"]
    if problem := next((call for call in calls if isinstance(call, str)), None):
        return (problem, *[None] * 10)
    one, *others = calls
    counts = Counter(place for group in one for place in group)
    groups = sorted(sorted(lengths[place] for place in group) for group in one if group)
    holds, neighbors = case["__holds"], zip(groups, groups[1:], strict=False)
    alike = all(a[-1] <= b[0] for a, b in neighbors) if holds else padding(groups) <= case["__padding"]
    return (
        "lists of places",
        _some(len(lengths) > len(counts)),
        _some(sum(counts.values()) > len(counts)),
        _some(not all(one)),
        _some(any(padded(group) > limit for group in groups)),
        "alike" if alike else "far apart",
        (holds[0] if groups in holds else groups) if alike and holds else "not asked",
        "about as few as fit" if len(groups) <= case["__most"] else "more than are needed",
        _order([[lengths[group[0]] for group in call if group] for call in calls]) if others else "mixed",
        "other batches" if others and others[0] != one else "the same batches",
        _with_other_seeds(one, others[1:]) if others else "other pairs together",
    )


def _some(there_are):
    return "some" if there_are else "none"


def padding(groups):
    """The share of padding in all batches together."""
    return 1 - sum(map(sum, sum(groups, []))) / (sum(map(padded, groups)) or 1)


def padded(group):
    """Symbols of a batch, padding included."""
    return len(group) * (max(s for s, _ in group) + max(t for _, t in group)) if group else 0


def _order(calls):
    """Whether the batches of any call come by length, up or down, or all calls' in long stretches of such an order."""
    steps = []
    for pairs in calls:  # the first pair of each batch
        sums = [sum(pair) for pair in pairs]
        if sums in (sorted(sums), sorted(sums, reverse=True)):
            return "by length"
        rank = sorted(range(len(sums)), key=lambda i: sums[i]).index
        steps += [abs(rank(i) - rank(i + 1)) / (len(sums) + 1) for i in range(len(sums) - 1)]  # 1/3 if mixed
    return "in long stretches" if sum(steps) / len(steps) < 0.16 else "mixed"


def _with_other_seeds(one, others):
    if all(other == one for other in others):
        return "the very same batches"
    same = all({*map(frozenset, one)} == {*map(frozenset, other)} for other in others)
    return "the same pairs together" if same else "other pairs together"


def _short_only(lengths, limit, seed):
    short = [place for place, pair in enumerate(lengths) if 2 * sum(pair) <= limit]
    return [[short[i] for i in group] for group in _batches([lengths[place] for place in short], limit, seed)]


def _no_places(view):
    text = view.cases[view.first].get("value", {}).get("value", [{}])[0].get("value", "lists of places")
    advice = "return a list of batches, each a list of places, whole numbers from 0 on: [[0, 2], [1]]."
    return Told("symptom", "no places", f"{text}.", advice) if text != "lists of places" else None


EXERCISE = Exercise(
    answer="batches_by_length", cases=_cases, reference=_batches, notes=_looked_at,
    returns=(
        "batches", "pairs in no batch", "pairs that are in a batch once too often", "empty batches",
        "batches over the limit", "lengths in a batch", "what the batches hold", "number of batches",
        "order of the batches", "called again with the same seed", "called with other seeds",
    ),
    symptoms=(_no_places,),
    faults=(
        *faults_of("last", "shuffle the list of batches at the end.",
            ("batches in order of length", "the batches come in order of length: short words first, or long ones.",
                lambda groups, rng: groups),
            ("long stretches in order", "batches of nearly the same length stand side by side, in long stretches.",
                lambda groups, rng: groups[len(groups) // 2 :] + groups[: len(groups) // 2])),
        Fault("the same pairs together", "each batch holds the same pairs with every seed.",
            "shuffle the places, then sort by length alone: sorting keeps the shuffled order among equal lengths.",
            first=lambda order, rng: None),
        *faults_of("generator", "make a generator of your own from the seed, random.Random(seed), and draw everything from it.",
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
            ("limit without padding", "the limit is held to the symbols without padding.", lambda g, all_, top: sum(map(sum, g))),
            ("source only", "the limit is held to the source alone.", lambda g, all_, top: len(g) * max(s for s, _ in g)),
            ("target only", "the limit is held to one side alone: the target, or the longer one.",
                lambda g, all_, top: len(g) * max(t for _, t in g)),
            ("size of one pair", "a batch passes the limit if its longest source and its longest target are of two pairs.",
                lambda g, all_, top: len(g) * max(map(sum, g))),
            ("size without the new pair", "the size is reckoned without the new pair.", lambda g, all_, top: padded(g[:-1])),
            ("twice the longer side", "it is reckoned as twice the longest side.",
                lambda g, all_, top: 2 * len(g) * max(map(max, g))),
            ("limit as a number of pairs", "the limit is read as a number of pairs.", lambda g, all_, top: len(g)),
            ("room for the longest pair", "every batch has the number of pairs that fits for the longest pair of all.",
                lambda g, all_, top: len(g) * max(map(sum, all_)))),
        Fault("closed when full", "a batch is closed only after a pair has filled it or made it pass the limit.",
            "work out the size with the new pair in it, before you put it in.",
            symbols=lambda g, all_, top: padded(g[:-1]), too_many=operator.ge),
        Fault("maxima of earlier batches", "the maxima of earlier batches still count.",
            "set the longest source and target back as a batch opens.", symbols=lambda g, all_, top: len(g) * sum(top)),
        Fault("maxima of earlier batches, long pairs first", "the maxima of earlier batches still count.",
            "set the longest source and target back as a batch opens.",
            symbols=lambda g, all_, top: len(g) * sum(top), key=lambda pair: (-pair[0], -pair[1])),
        Fault("long pairs dropped", "pairs that take more than half the limit are in no batch.",
            "every pair alone fits: it is a batch by itself if no other one fits beside it.", whole=_short_only),
        *faults_of("too_many", "open a new batch only if the size with the next pair is above the limit: size > limit.",
            ("one symbol too many", "a batch may have a symbol more than the limit.", lambda size, limit: size > limit + 1),
            ("limit itself refused", "a batch is closed although the next pair would just fill it.", operator.ge),
            ("one pair a batch", "there is one pair in each batch: no use of a batch at all.", lambda size, limit: True)),
        Fault("not sorted", "the pairs are not in order of length: short and long ones share a batch.",
            "sort the shuffled places by length before you cut.", key=None),
        Fault("places in the sorted list", "the numbers are places in the sorted list, not in the list that you were given.",
            "sort the places, not the lengths: sorted(places, key=lambda place: lengths[place]).",
            whole=lambda lengths, limit, seed: _batches(sorted(lengths), limit, seed)),
    ),
    advice="print for every batch its number of pairs, its longest source and its longest target.",
)  # fmt: skip

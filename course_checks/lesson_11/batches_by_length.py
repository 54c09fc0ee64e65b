"""11.1 · Batches by length."""

import random
from collections import Counter

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom
from .common import two_at_most


def padded(pairs):  # symbols of a batch, padding included
    return len(pairs) * (max(s for s, _ in pairs) + max(t for _, t in pairs)) if pairs else 0


def cut(pairs, limit):  # the batches that pairs in this order make
    batches = [[]]
    for pair in pairs:
        if padded([*batches[-1], pair]) > limit:
            batches.append([])
        batches[-1].append(pair)
    return batches


def cases(seed):
    rng = random.Random(seed)
    kinds = {(1, 2): 24, (2, 4): 12, (3, 5): 9, (4, 8): 6, (10, 14): 3}  # three full batches of each, with limit 24
    many = [pair for pair, count in kinds.items() for _ in range(count)]
    fewer = [pair for pair in many if sum(pair) < 24]
    growing = [(n, 2 * n - 1) for n in range(1, 10) for _ in range(rng.randint(1, 4))]
    mixed = [(s := rng.randint(1, 9), max(2, s + rng.randint(-3, 4))) for _ in range(80)]
    two = [(8, 3)] * 4 + [(3, 9)] * 4
    for pairs in (many, growing, two):
        rng.shuffle(pairs)
    n = rng.randint(0, 1000)

    def case(label, lengths, limit, again=(), most=None):
        orders = [] if most else [sorted(lengths), sorted(lengths, reverse=True)]  # whatever they are sorted by
        known = {"holds": [grouped(cut(order, limit)) for order in orders], "most": most}
        return Case(label, lengths=lengths, limit=limit, seed=n, driver={"again": again}, deciding=known)

    most = int(1.35 * len(cut(sorted(mixed), 110)))  # unsorted they are 1.4 times as many
    return [
        case("the longer source has the shorter target", two, 24),
        case("every batch can be filled exactly", many, 24, again=(n, n + 1, n + 2, n + 3)),
        case("the pairs are in order already", fewer, 23),
        case("a batch holds pairs of several lengths", growing, 60),
        case("a batch holds pairs of several lengths", mixed, 110, most=most),
    ]


def grouped(batches):
    return sorted(sorted(group) for group in batches)


OPEN = "the batch that is open when the loop ends counts too; a pair that does not fit is the first of the next batch."
SIZE_WITH = "before a pair goes in, work out n * (longest source + longest target) of the batch with the pair in it."
FITS = "open a new batch only if its size with the next pair is above the limit; its maxima are those of its own pairs."
MIX = "shuffle the list of batches at the end."
SEED = "make a generator of your own from the seed, random.Random(seed), and draw everything from it."
EQUALS = "shuffle the places, then sort by length alone: sorting keeps the shuffled order among equal lengths."
RULES = {  # what is looked at -> what was done if it is not so, what to try
    "a list of lists of places": ("", "return a list of batches, each a list of places: [[0, 2], [1]]."),
    "every pair is in a batch": ("some pairs are in no batch.", OPEN),
    "no pair is there twice": ("some pairs are in two batches, or twice in one.", "put each pair into one batch."),
    "no batch is empty": ("an empty batch is among them.", "a batch begins with the pair that did not fit."),
    "no batch passes the limit": ("a batch has more than `limit` symbols, padding included.", SIZE_WITH),
    "similar lengths": ("short and long pairs share a batch.", "sort the shuffled places by length, then cut."),
    "each batch is filled": ("some batches are closed although the next pair in order of length would fit.", FITS),
    "the batches are mixed": ("the batches come in order of length, or in long stretches of it.", MIX),
    "the same seed gives the same": ("the same seed gave other batches the second time.", SEED),
    "another seed puts others together": ("with every seed the same pairs share a batch.", EQUALS),
}


def compared(case, calls):
    """For each rule whether it is kept, whatever the order of the batches and whatever the random numbers."""
    if problem := next((call for call in calls if isinstance(call, str)), None):
        return (problem, *["yes"] * 9)
    lengths, limit, holds = case["lengths"], case["limit"], case.deciding["holds"]
    first, *others = calls
    counts = Counter(place for group in first for place in group)
    groups = grouped([lengths[place] for place in group] for group in first if group)
    above = [group for group in groups if padded(group) > limit]
    two_pairs = all(len(group) * max(map(sum, group)) <= limit for group in above)
    # where the order is certain, each batch ends where the next begins
    alike = not holds or all(before[-1] <= after[0] for before, after in zip(groups, groups[1:], strict=False))
    filled = not alike or (groups in holds if holds else len(groups) <= case.deciding["most"])
    another = len({frozenset(map(frozenset, call)) for call in (first, *others[1:])}) > 1
    starts = [[lengths[group[0]] for group in call if group] for call in calls]
    return (
        "yes",
        word(len(counts) == len(lengths)),
        word(max(counts.values(), default=1) == 1),
        word(all(first)),
        word(not above, ", where longest source and longest target are of two pairs" * two_pairs),
        word(alike),
        word(filled, early_end(groups) * bool(holds)),
        word(not others or mixed_up(starts)),
        word(not others or others[0] == first),
        word(not others or another or max(map(len, first), default=1) == 1),
    )


def early_end(groups):
    """So much of the batches that one early end is told from another."""
    return f", {len(groups)} batches, the fullest of {max(map(padded, groups), default=0)} symbols"


def word(kept, how=""):
    return "yes" if kept else f"no{how}"


def mixed_up(calls):
    """Whether the batches of no call come by length, and those of all calls not in long stretches of such an order."""
    steps = []
    for pairs in calls:  # the first pair of each batch
        sums = [sum(pair) for pair in pairs]
        if sums in (sorted(sums), sorted(sums, reverse=True)):
            return False
        rank = sorted(range(len(sums)), key=lambda i: sums[i]).index
        steps += [abs(rank(i) - rank(i + 1)) / (len(sums) + 1) for i in range(len(sums) - 1)]  # 1/3 if mixed
    return sum(steps) / len(steps) >= 0.16


def broken_rules(answer):
    """The first rules that are not kept, two at most; unfilled batches are told where nothing explains them."""
    broken = {part.name: part.pairs[0].actual.get("value") for part in answer.parts()}
    if [*RULES].index(next(iter(broken), "each batch is filled")) < 6:
        broken.pop("each batch is filled", None)
    rules = {name: (RULES[name][0] or f"{value}.", RULES[name][1]) for name, value in broken.items()}
    return two_at_most([symptom(*rule) for rule in rules.values()])


EXERCISE = Exercise(
    cases,
    returns=tuple(RULES),
    driver="drive_batches",
    off_limits=("course_utils.datasets.batches.batches_by_length",),
    compared=compared,
    symptoms=(broken_rules,),
    pairs=0,  # what is compared is coarse: two mistakes would fit by chance
    advice="print for every batch its number of pairs, its longest source and its longest target.",
)

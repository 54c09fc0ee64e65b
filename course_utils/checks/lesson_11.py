"""Lesson 11, learning to pronounce: what is right, what is wrong, and how it is told."""

import math
import operator
import random
from collections import Counter

import torch

from course_utils import metrics
from course_utils.datasets.pronunciations import pronunciations
from course_utils.tokenizers import LETTERS, PHONEMES

from .exercise import Alternative, Exercise, Mistake, Option, Quiz
from .probes.codec import type_name

# 11.1 -----------------------------------------------------------------------------------------------------------------


def _batch_inputs(seed):
    rng = random.Random(seed)
    cases = []
    for count, longest, limit in ((7, 6, 40), (120, 9, 110), (310, 16, 200)):
        lengths = []
        for _ in range(count):
            source = rng.randint(1, longest)
            lengths.append((source, max(2, source + rng.randint(-3, 4))))
        cases.append({"lengths": lengths, "limit": limit, "seed": rng.randint(0, 1000)})
    source, together = rng.randint(2, 5), rng.randint(3, 5)  # all alike, and the limit is met exactly
    alike = [(source, source + 1)] * (3 * together)
    cases.insert(1, {"lengths": alike, "limit": together * (2 * source + 1), "seed": rng.randint(0, 1000)})
    return cases


def _padded(group):
    return len(group) * (max(s for s, _ in group) + max(t for _, t in group)) if group else 0


def _exact(group):
    return sum(s + t for s, t in group)


def _batches(
    key=lambda pair: pair,
    symbols=_padded,
    first=lambda order, rng: rng.shuffle(order),
    last=lambda groups, rng: rng.shuffle(groups),
    generator=random.Random,
    keep=lambda groups: groups,
    overflow=lambda group, place: [place],
):
    """Batches as lists of places, with one of the parts exchanged."""

    def answer(lengths, limit, seed):
        rng = generator(seed)
        order = list(range(len(lengths)))
        first(order, rng)
        if key:
            order.sort(key=lambda place: key(lengths[place]))
        groups, group = [], []
        for place in order:
            if group and symbols([lengths[i] for i in (*group, place)]) > limit:
                groups.append(group)
                group = overflow(group, place)
            else:
                group.append(place)
        groups = keep([*groups, group])
        last(groups, rng)
        return groups

    return answer


def _call_batches(answer, case):
    """What can be said of the batches, whatever their order: two calls with one seed, four with others."""
    lengths, limit, seed = list(case["lengths"]), case["limit"], case["seed"]
    found = [_as_places(answer(case["lengths"], limit, s), len(lengths)) for s in (seed, *range(seed, seed + 5))]
    if problem := next((batches for batches in found if isinstance(batches, str)), None):
        return (problem, *["not looked at"] * 10)
    one, again, *others = found
    counts = Counter(place for group in one for place in group)
    pairs = [[lengths[place] for place in group] for group in one if group]
    best, loose = (
        [[lengths[place] for place in group] for group in _batches(key)(lengths, limit, 0)]
        for key in (lambda pair: pair, None)
    )
    large = len(lengths) >= 50
    room = 1.35 * len(best) + 1 if len({*lengths}) > 1 else len(best)  # all alike: the number is certain
    return (
        "lists of places",
        len(lengths) - len(counts),
        sum(counts.values()) - len(counts),
        sum(_padded(group) > limit for group in pairs),
        sum(not group for group in one),
        "high" if large and _share(pairs) > (_share(best) + _share(loose)) / 2 else "low",
        "one a pair" if len(pairs) == len(lengths) else "many" if len(pairs) > room else "few",
        not large or one == again,  # few pairs come out alike by chance, and then the mistake would have no name
        not large or one not in others,
        # Two seeds may put the same pairs together by chance, where few pairs are alike; four do not.
        not large or any({*map(frozenset, one)} != {*map(frozenset, other)} for other in others),
        "by length" if large and _in_order(pairs) else "mixed",
    )


def _as_places(batches, count):
    """Batches as lists of whole numbers, or what else they are, in words."""
    if isinstance(batches, (str, bytes, dict)) or not hasattr(batches, "__iter__"):
        return f"no list but an object of type {type_name(batches)}"
    found = []
    for group in batches:
        if isinstance(group, (str, bytes, dict)) or not hasattr(group, "__iter__") or getattr(group, "ndim", 1) == 0:
            return f"one of them is no list but an object of type {type_name(group)}"
        found.append([])
        for place in group:
            try:
                found[-1].append(operator.index(place))
            except TypeError:
                return f"a place is no whole number but an object of type {type_name(place)}"
            if not 0 <= found[-1][-1] < count:
                return f"a place is {found[-1][-1]}, for {count} pairs"
    return found


def _in_order(pairs):
    """Whether batches come by length, up or down, or in long stretches of such an order (then neighbors are alike)."""
    means = [_exact(group) / len(group) for group in pairs]
    ranked = sorted(range(len(pairs)), key=lambda i: means[i])
    rank = dict(zip(ranked, range(len(pairs)), strict=True))
    steps = [abs(rank[i] - rank[i + 1]) for i in range(len(pairs) - 1)]
    orders = [means, [sum(s for s, _ in g) / len(g) for g in pairs], [sum(t for _, t in g) / len(g) for g in pairs]]
    if any(sizes in (sorted(sizes), sorted(sizes, reverse=True)) for sizes in orders):
        return True
    return len(pairs) >= 24 and sum(steps) / len(steps) < 0.4 * (len(pairs) + 1) / 3  # by chance: (n + 1) / 3


def _share(groups):
    total = sum(map(_padded, groups))
    return 1 - sum(map(_exact, groups)) / total if total else 0.0


def _places_in_the_sorted_list(lengths, limit, seed):
    return _batches()(sorted(lengths), limit, seed)


def _batches_by_torch(lengths, limit, seed):
    rng = torch.Generator().manual_seed(seed)
    order = sorted(torch.randperm(len(lengths), generator=rng).tolist(), key=lambda i: sum(lengths[i]))
    groups = [[]]
    for i in order:
        s = max(lengths[j][0] for j in [*groups[-1], i])
        t = max(lengths[j][1] for j in [*groups[-1], i])
        if (s + t) * (len(groups[-1]) + 1) > limit:
            groups.append([])
        groups[-1].append(i)
    return [groups[i] for i in torch.randperm(len(groups), generator=rng).tolist()]


def _batches_generated(lengths, limit, seed):
    rng = random.Random(seed)
    tagged = [(s, t, rng.random(), place) for place, (s, t) in enumerate(lengths)]
    tagged.sort(reverse=True)
    group, batches = [], []
    for _, t, _, place in tagged:
        top = max([t, *(lengths[i][1] for i in group)])
        if group and (lengths[group[0]][0] + top) * (len(group) + 1) > limit:
            batches.append(group)
            group, top = [], t
        group.append(place)
    batches.append(group)
    rng.shuffle(batches)
    yield from batches


def _nothing(items, rng):
    pass


BATCHES = Exercise(
    number="11.1",
    title="Batches by length",
    points=5,
    inputs=_batch_inputs,
    reference=_batches(),
    returns=(
        "batches",
        "pairs that are in no batch",
        "pairs that are in a batch once too often",
        "batches over the limit",
        "empty batches",
        "share of padding",
        "number of batches",
        "same seed, same batches",
        "another seed, another order",
        "another seed, other pairs together",
        "order of the batches",
    ),
    off_limits=("course_utils.datasets.batches.batches_by_length",),
    call=_call_batches,
    alternatives=(
        Alternative("PyTorch's random numbers, sorted by the sum", _batches_by_torch),
        Alternative("longest first, as a generator", _batches_generated),
        Alternative("sorted by target, then source", _batches(key=lambda pair: pair[::-1])),
        Alternative("sorted by the longer side", _batches(key=lambda pair: (max(pair), sum(pair)))),
    ),
    mistakes=(
        Mistake(
            "batches in order of length",
            _batches(last=_nothing),
            "the batches come in order of length: the model would see all short words first, then all long ones.",
            "shuffle the list of batches at the end.",
        ),
        Mistake(
            "the same pairs together",
            _batches(first=_nothing),
            "the batches come in another order, but each holds the same pairs in every epoch.",
            "shuffle the places before you sort: sorting keeps the shuffled order among equal lengths.",
        ),
        Mistake(
            "never shuffled",
            _batches(first=_nothing, last=_nothing),
            "nothing is shuffled: every epoch has the same batches, the shortest words first.",
            "shuffle the places before sorting, and the batches after cutting.",
        ),
        Mistake(
            "seed not used",
            _batches(generator=lambda seed: random.Random(0)),
            "the seed plays no part: every epoch has the same batches in the same order.",
            "make the generator from it: random.Random(seed).",
        ),
        Mistake(
            "random without the seed",
            _batches(generator=lambda seed: random),
            "the same seed gave other batches the second time: nobody could repeat this training.",
            "use a generator of your own, random.Random(seed), instead of the global one.",
        ),
        Mistake(
            "last batch dropped",
            _batches(keep=lambda groups: groups[:-1]),
            "the batch that is open when the loop ends is lost: the longest words would never be trained on.",
            "after the loop, keep the last batch too.",
        ),
        Mistake(
            "pair that does not fit is lost",
            _batches(overflow=lambda group, place: []),
            "when a batch is full, the pair that did not fit is put nowhere.",
            "the pair that does not fit is the first of the next batch.",
        ),
        Mistake(
            "pair put twice",
            _batches(overflow=lambda group, place: (group.append(place), [place])[1]),
            "when a batch is full, the pair that did not fit is put into the old batch and into the new one.",
            "ask whether it fits before you put it anywhere.",
        ),
        Mistake(
            "limit without padding",
            _batches(symbols=_exact),
            "the limit was held to the symbols without padding; the padded batch is larger.",
            "a padded batch of n pairs has n * (longest source + longest target) symbols.",
        ),
        Mistake(
            "source only",
            _batches(symbols=lambda group: len(group) * max(s for s, _ in group)),
            "the limit was held to the source alone; the targets are in the batch too.",
            "a padded batch of n pairs has n * (longest source + longest target) symbols.",
        ),
        Mistake(
            "target only",
            _batches(symbols=lambda group: len(group) * max(t for _, t in group)),
            "the limit was held to the target alone; the sources are in the batch too.",
            "a padded batch of n pairs has n * (longest source + longest target) symbols.",
        ),
        Mistake(
            "lengths of the newest pair",
            _batches(symbols=lambda group: len(group) * sum(group[-1])),
            "the size of a batch was worked out from the pair put last; an earlier one may have a longer target.",
            "take the maximum over the whole batch, of the sources and of the targets separately.",
        ),
        Mistake(
            "limit itself refused",
            _batches(symbols=lambda group: _padded(group) + 1),
            "a batch was closed although the next pair still fitted: it would have been exactly as large as the limit.",
            "open a new batch only if pairs * (longest source + longest target) is above the limit, not if it is equal.",
        ),
        Mistake(
            "long stretches in order",
            _batches(
                last=lambda groups, rng: (
                    groups.extend(groups[: (k := len(groups) // 2)]) or groups.__delitem__(slice(k))
                )
            ),
            "batches of nearly the same length stand side by side: long stretches come in order of length.",
            "shuffle the list of batches at the end.",
        ),
        Mistake(
            "largest pair",
            _batches(symbols=lambda group: len(group) * max(map(sum, group))),
            "the size was worked out from the longest pair; longest source and longest target may be of two pairs.",
            "take the maximum of the sources and that of the targets separately, then add.",
        ),
        Mistake(
            "one pair too many",
            _batches(symbols=lambda group: _padded(group[:-1])),
            "each batch has one pair too many: it was closed after it had passed the limit.",
            "work out the size with the new pair in it, and close the batch before that passes the limit.",
        ),
        Mistake(
            "limit read as a number of pairs",
            _batches(symbols=len),
            "the limit was read as a number of pairs.",
            "it is a number of symbols: pairs times (longest source + longest target).",
        ),
        Mistake(
            "not sorted",
            _batches(key=None),
            "the pairs are not sorted: short and long ones share a batch, and much of it is padding.",
            "sort the shuffled places by length before you cut.",
        ),
        Mistake(
            "one pair a batch",
            _batches(symbols=lambda group: math.inf),
            "one pair in each batch: no padding, and no use of a batch at all.",
            "go on filling a batch until the next pair would pass the limit.",
        ),
        Mistake(
            "batches of a fixed number",
            lambda lengths, limit, seed: _batches(symbols=lambda group: len(group) * max(map(sum, lengths)))(
                lengths, limit, seed
            ),
            "every batch has the number of pairs that fits for the longest pair: batches of short words stay half empty.",
            "let the number of pairs grow until the limit is reached, batch by batch.",
        ),
        Mistake(
            "places in the sorted list",
            _places_in_the_sorted_list,
            "the numbers are places in the sorted list, not in the list that you were given.",
            "sort the places, not the lengths: sorted(places, key=lambda place: lengths[place]).",
        ),
        Mistake(
            "empty batch at the start",
            _batches(keep=lambda groups: [[], *groups]),
            "an empty batch is among them.",
            "close a batch only if something is in it.",
        ),
        Mistake(
            "lengths returned",
            lambda lengths, limit, seed: [
                [lengths[place] for place in group] for group in _batches()(lengths, limit, seed)
            ],
            "the lengths themselves were returned.",
            "return places: which pairs, as numbers from 0 on.",
        ),
        Mistake(
            "one flat list",
            lambda lengths, limit, seed: sum(_batches()(lengths, limit, seed), []),
            "one flat list of places.",
            "return a list of batches, each a list of places.",
        ),
    ),
    advice="print for every batch its number of pairs, its longest source and its longest target.",
)

# 11.2 -----------------------------------------------------------------------------------------------------------------


def _beam_tables(rng):
    """Trees drawn by hand, a little blurred, for two beams; symbol 3 ends.

    1. Two beams end in the same step, one having ended before: three are finished at once.
    2. The two beams to follow both grow from one beam, whose second best continuation ends.
    3. At the last step one of the two best ends, and makes two that have ended; the other, which has not, is better.
    4. One beam ends at the first step; of the two that go on later, the second is the better one.
    """
    ends, even = [0.01, 0.01, 0.01, 0.97], [0.25, 0.25, 0.25, 0.25]
    trees = (  # most symbols; at the start; after the symbols 0, 1, 2
        (9, [0.3, 0.15, 0.05, 0.5], [0.02, 0.02, 0.08, 0.88], [0.02, 0.02, 0.08, 0.88], [0.01, 0.01, 0.97, 0.01]),
        (9, [0.75, 0.16, 0.06, 0.03], [0.5, 0.04, 0.2, 0.26], [0.05, 0.05, 0.85, 0.05], ends),
        (2, [0.55, 0.11, 0.09, 0.25], [0.6, 0.05, 0.05, 0.3], even, even),
        (9, [0.6, 0.06, 0.04, 0.3], [0.55, 0.05, 0.35, 0.05], even, ends),
    )
    for max_len, first, *after in trees:
        rows = torch.tensor([*after, even, first])  # (V + 1, V): after each symbol, and at the start
        logits = rows.log() + 0.01 * torch.randn(3, 5, 5, 4, generator=rng)
        yield {"log_probs": logits.log_softmax(-1), "num_beams": 2, "max_len": max_len, "end_id": 3, "alpha": 1.0}


def _beam_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for V, num_beams, max_len, end_id, alpha, shift in (
        (3, 2, 3, 0, 1.0, 0.0),
        (4, 2, 6, 3, 1.0, 0.0),
        (5, 3, 9, 2, 0.7, 0.0),
        (6, 4, 5, 1, 1.0, 0.0),
        (5, 3, 9, 4, 1.3, 0.0),
        (4, 2, 110, 1, 1.0, -9.0),  # every listed symbol is rare: a product of 110 of them is 0 in floating point
        (5, 1, 7, 0, 1.0, 0.0),
        (3, 5, 4, 1, 0.8, 0.0),  # more beams than symbols
    ):
        logits = 1.5 * torch.randn(3, V + 1, V + 1, V, generator=rng)
        logits[..., end_id] += -60.0 if shift else 0.4
        cases.append(
            {
                "log_probs": logits.log_softmax(-1) + shift,
                "num_beams": num_beams,
                "max_len": max_len,
                "end_id": end_id,
                "alpha": alpha,
            }
        )
    return [*cases, *_beam_tables(rng)]


def _call_beam(answer, case):
    table = case["log_probs"]
    none = table.shape[-1]  # stands for what is before the first symbol

    def step(prefix):
        past = [none, none, *(int(symbol) for symbol in prefix)]
        return table[(len(past) - 2) % len(table), past[-2], past[-1]].clone()  # (V,)

    found = answer(step, *(case[name] for name in ("num_beams", "max_len", "end_id", "alpha")))
    try:
        sequences, scores = found
        if any(isinstance(part, str) for part in (*sequences, *scores)):
            return found
        return [[*map(operator.index, sequence)] for sequence in sequences], [*map(float, scores)]
    except (TypeError, ValueError):
        return found


def _overall(candidates, num_beams):
    return sorted(candidates, reverse=True)


def _per_beam(candidates, num_beams):
    """The best continuation of each beam (of the first one: its best K), one after another."""
    beams = sorted({beam for _, beam, _ in candidates})
    if len(beams) == 1:
        return _overall(candidates, num_beams)
    own = [_overall([c for c in candidates if c[1] == beam], num_beams) for beam in beams]
    return sorted((found[0] for found in own), reverse=True) + sorted((c for f in own for c in f[1:]), reverse=True)


def _best_of_each(candidates, num_beams):
    """As many continuations of each beam as there are beams, then all in order: one that ends takes another's place."""
    own = ([c for c in candidates if c[1] == beam] for beam in {beam for _, beam, _ in candidates})
    return _overall([c for found in own for c in _overall(found, num_beams)[:num_beams]], num_beams)


def _normalized(total, sequence, alpha):
    return total / len(sequence) ** alpha


def _beam(
    choose=_overall,
    prefix=lambda beams, beam, rank: beams[beam][1],
    add=lambda total, log_prob: total + log_prob,
    asked=lambda sequence: sequence,
    copies=lambda num_beams: 1,
    finishes=lambda rank, num_beams: rank < num_beams,
    stays=lambda ended: not ended,
    follows=lambda rank, num_beams: True,
    width=lambda num_beams, finished: num_beams,
    enough=lambda finished, num_beams: len(finished) >= num_beams,
    leftovers=True,
    rank_by=_normalized,
    score_by=None,
    shown=lambda sequence, end_id: sequence,
    answers=lambda finished, beams: finished,
    zero=0.0,
    best=lambda num_beams: num_beams,
    give=lambda sequences, scores: (sequences, scores),
):
    """Beam search with one of its parts exchanged."""

    def answer(step, num_beams, max_len, end_id, alpha):
        beams, finished = [(zero, [])] * copies(num_beams), []
        for length in range(1, max_len + 1):
            candidates = [
                (add(total, log_prob), beam, symbol)
                for beam, (total, sequence) in enumerate(beams)
                for symbol, log_prob in enumerate(step(asked(sequence)).tolist())
            ]
            ordered = choose(candidates, num_beams)
            grown = []
            for rank, (total, beam, symbol) in enumerate(ordered):
                sequence, ended = [*prefix(beams, beam, rank), symbol], symbol == end_id
                over = leftovers and length == max_len and rank < num_beams
                if (ended and finishes(rank, num_beams)) or over:
                    finished.append((total, sequence))
                if stays(ended) and follows(rank, num_beams):
                    grown.append((total, sequence))
            beams = grown[: width(num_beams, finished)]
            if enough(finished, num_beams) or not beams:
                break
        found = sorted(answers(finished, beams), key=lambda f: -rank_by(f[0], f[1], alpha))[: best(num_beams)]
        return give(
            [shown(s, end_id) for _, s in found], [(score_by or rank_by)(total, s, alpha) for total, s in found]
        )

    return answer


def _by_products(step, num_beams, max_len, end_id, alpha):
    sequences, products = _beam(
        add=lambda total, log_prob: total * math.exp(log_prob),
        zero=1.0,
        rank_by=lambda total, s, a: _log(total) / len(s) ** a,
    )(step, num_beams, max_len, end_id, alpha)
    return sequences, products


def _log(x):
    return math.log(x) if x > 0 else -math.inf


def _beam_by_topk(step, num_beams, max_len, end_id, alpha):
    totals, sequences, finished = torch.zeros(1, dtype=torch.float64), [[]], []
    for length in range(1, max_len + 1):
        scores = totals[:, None] + torch.stack([step(sequence) for sequence in sequences]).double()  # (beams, V)
        best, places = scores.flatten().topk(min(2 * num_beams, scores.numel()))
        parents, symbols = places // scores.shape[1], places % scores.shape[1]
        grown = [sequences[p] + [s] for p, s in zip(parents.tolist(), symbols.tolist(), strict=True)]
        ended = (symbols == end_id).tolist()
        for rank in range(min(num_beams, len(grown))):
            if ended[rank] or length == max_len:
                finished.append((best[rank].item() / length**alpha, grown[rank]))
        going = [i for i in range(len(grown)) if not ended[i]][:num_beams]
        if len(finished) >= num_beams or not going:
            break
        totals, sequences = best[going], [grown[i] for i in going]
    finished.sort(key=lambda found: found[0], reverse=True)
    return [s for _, s in finished[:num_beams]], [x for x, _ in finished[:num_beams]]


def _beam_by_the_library(step, num_beams, max_len, end_id, alpha):
    from course_utils.decoding import beam_search

    class Rows(list):
        def reorder(self, rows):
            return Rows([self[row] for row in rows.tolist()])

    class Model:
        def start_decoding(self, source, *, max_len):
            return Rows([[]])

        def decode_step(self, state, tokens):
            state = Rows([row + [t] for row, t in zip(state, tokens.tolist(), strict=True)])
            return torch.stack([step(row[1:]) for row in state]), state

    found = beam_search(
        Model(), torch.zeros(1, 1, dtype=torch.long), max_len=max_len, beam_size=num_beams,
        length_penalty=alpha, start_id=98, end_id=end_id, pad_id=99,
    )  # fmt: skip
    rows = [[symbol for symbol in row if symbol != 99] for row in found.tokens[0].tolist()]
    return rows, found.scores[0].tolist()


_PREFIX_ADVICE = "a candidate carries the number of the beam it grew from; extend that beam's sequence."

BEAM = Exercise(
    number="11.2",
    title="Beam search",
    points=6,
    inputs=_beam_inputs,
    reference=_beam(),
    returns=("sequences", "scores"),
    off_limits=("course_utils.decoding.search.beam_search", "course_utils.decoding.search.greedy_decode"),
    call=_call_beam,
    alternatives=(
        Alternative("topk over one flat table", _beam_by_topk),
        Alternative("the course's own", _beam_by_the_library, off_limits=True),
        Alternative("candidates ranked by their mean", _beam(choose=lambda c, k: sorted(c, key=lambda x: -x[0]))),
        Alternative("pairs in a list", _beam(give=lambda sequences, scores: [sequences, scores])),
    ),
    mistakes=(
        Mistake(
            "probabilities multiplied",
            _by_products,
            "probabilities multiplied: after a hundred small factors the product is 0, and all beams look alike.",
            "add log-probabilities; never leave the logarithm.",
        ),
        Mistake(
            "no length normalization",
            _beam(rank_by=lambda total, s, alpha: total),
            "the finished sequences ranked by log-probability as it is: the short ones win, having lost less.",
            "divide by length ** alpha, the end symbol counted, before you rank.",
        ),
        Mistake(
            "ranked without normalization",
            _beam(rank_by=lambda total, s, alpha: total, score_by=_normalized),
            "the scores are normalized, but the ranking was made from the log-probabilities as they are.",
            "rank by the same number that you return.",
        ),
        Mistake(
            "scores without normalization",
            _beam(score_by=lambda total, s, alpha: total),
            "the ranking is right, but the scores returned are the log-probabilities, not yet divided.",
            "return log-probability / length ** alpha.",
        ),
        Mistake(
            "alpha not used",
            _beam(rank_by=lambda total, s, alpha: total / len(s)),
            "always divided by the length itself: alpha plays no part.",
            "divide by length ** alpha.",
        ),
        Mistake(
            "alpha as a factor",
            _beam(rank_by=lambda total, s, alpha: total / (len(s) * alpha)),
            "divided by length * alpha.",
            "alpha is an exponent: length ** alpha.",
        ),
        Mistake(
            "multiplied by the length",
            _beam(rank_by=lambda total, s, alpha: total * len(s) ** alpha),
            "multiplied by the length: long sequences are punished twice.",
            "divide.",
        ),
        Mistake(
            "length without the end symbol",
            _beam(rank_by=lambda total, s, alpha: total / max(len(s) - 1, 1) ** alpha),
            "the length counted without its last symbol.",
            "the end symbol has its log-probability in the sum, so it counts in the length too.",
        ),
        Mistake(
            "end symbol cut off",
            _beam(shown=lambda s, end_id: s[:-1] if s[-1] == end_id else s),
            "the end symbol was taken off the sequences.",
            "return each sequence with its end symbol.",
        ),
        Mistake(
            "finished beams extended",
            _beam(stays=lambda ended: True, finishes=lambda rank, k: False),
            "sequences go on after their end symbol: finished beams were extended like the others.",
            "a candidate that takes end_id is set aside and is no beam of the next step.",
        ),
        Mistake(
            "finished and extended",
            _beam(stays=lambda ended: True),
            "a sequence that has ended is set aside, but it stays among the beams too, and is extended.",
            "the beams of the next step are candidates that have not ended.",
        ),
        Mistake(
            "finished ones forgotten",
            _beam(answers=lambda finished, beams: beams or finished),
            "the sequences that had ended are not in the result; it holds the beams that were still unfinished.",
            "collect what ends in a list of its own, and rank that list.",
        ),
        Mistake(
            "best of each beam",
            _beam(choose=_per_beam),
            "each beam kept its own best continuation: these are greedy searches side by side.",
            "put the continuations of all beams into one list and take the best of that.",
        ),
        Mistake(
            "wrong prefix",
            _beam(prefix=lambda beams, beam, rank: beams[min(rank, len(beams) - 1)][1]),
            "symbols were put behind the wrong beam: candidate number i was taken to come from beam number i.",
            _PREFIX_ADVICE,
        ),
        Mistake(
            "prefix of the best beam",
            _beam(prefix=lambda beams, beam, rank: beams[0][1]),
            "every candidate was put behind the best beam.",
            _PREFIX_ADVICE,
        ),
        Mistake(
            "K copies at the start",
            _beam(copies=lambda num_beams: num_beams),
            "the search started with several copies of the empty sequence: all beams are then the same one.",
            "start with one empty sequence; the first step makes several of it.",
        ),
        Mistake(
            "one beam",
            lambda step, num_beams, *rest: _beam()(step, 1, *rest),
            "one beam only: that is greedy decoding.",
            "keep the num_beams best candidates at every step.",
        ),
        Mistake(
            "every end counts",
            _beam(finishes=lambda rank, k: True),
            "every candidate with an end symbol was set aside, however improbable.",
            "only those among the num_beams best candidates of the step are finished.",
        ),
        Mistake(
            "stops at the first end",
            _beam(enough=lambda finished, k: len(finished) >= 1),
            "the search stopped as soon as one sequence had ended.",
            "go on until num_beams sequences have ended.",
        ),
        Mistake(
            "never stops early",
            _beam(enough=lambda finished, k: False),
            "the search went on to max_len after num_beams sequences had ended.",
            "stop as soon as num_beams are finished.",
        ),
        Mistake(
            "fewer beams after each end",
            _beam(width=lambda k, finished: max(k - len(finished), 0)),
            "each finished sequence took a place away from the beams: fewer and fewer were followed.",
            "num_beams candidates that have not ended go on at every step.",
        ),
        Mistake(
            "ended ones leave a gap",
            _beam(follows=lambda rank, k: rank < k),
            "where one of the best candidates of a step ended, fewer beams went on.",
            "the next beams are the num_beams best of those that do not end; look further down the list.",
        ),
        Mistake(
            "num_beams continuations of each beam",
            _beam(choose=_best_of_each),
            "each beam was extended by its num_beams best symbols only; if one of them ends, a good candidate is lost.",
            "extend each beam by every symbol (or by num_beams + 1 of them), then choose.",
        ),
        Mistake(
            "stops at the exact number",
            _beam(enough=lambda finished, k: len(finished) == k),
            "the search stopped only when exactly num_beams were finished; two may end in one step and jump over it.",
            "compare with >=.",
        ),
        Mistake(
            "unfinished ones always added",
            _beam(leftovers=False, answers=lambda finished, beams: finished + beams),
            "the beams that had not ended were ranked too, although the search had stopped before max_len.",
            "take unfinished sequences at step number max_len only.",
        ),
        Mistake(
            "unfinished ones only where ends are few",
            _beam(
                leftovers=False,
                answers=lambda finished, beams: finished + beams if len(finished) < len(beams) else finished,
            ),
            "unfinished sequences were taken only if too few had ended.",
            "at step number max_len all of the num_beams best candidates are taken, ended or not.",
        ),
        Mistake(
            "all finished returned",
            _beam(best=lambda num_beams: None),
            "more than num_beams sequences were returned.",
            "cut the ranked list to num_beams.",
        ),
        Mistake(
            "unfinished ones dropped",
            _beam(leftovers=False),
            "what had not ended after max_len steps is missing.",
            "at the last step the num_beams best candidates are taken as they stand, ended or not.",
        ),
        Mistake(
            "last step only",
            _beam(add=lambda total, log_prob: log_prob),
            "the log-probability of the last symbol alone: what a beam had before was forgotten.",
            "add the new log-probability to the beam's own.",
        ),
        Mistake(
            "worst first",
            _beam(choose=lambda candidates, k: sorted(candidates)),
            "the least probable candidates were kept.",
            "sort from the highest log-probability down.",
        ),
        Mistake(
            "step given the last symbol",
            _beam(asked=lambda sequence: sequence[-1:]),
            "step was given the last symbol alone.",
            "give it the whole sequence so far.",
        ),
        Mistake(
            "scores first",
            _beam(give=lambda sequences, scores: (scores, sequences)),
            "the scores and the sequences in the other order.",
            "return sequences first, then scores.",
        ),
        Mistake(
            "the best only",
            _beam(give=lambda sequences, scores: (sequences[:1], scores[:1])),
            "the best sequence alone.",
            "return the num_beams best, best first.",
        ),
    ),
    advice="follow the tree of the task by hand: write down all candidates of a step, their sums, and the best ones.",
)

# 11.3 -----------------------------------------------------------------------------------------------------------------


def _rate_inputs(seed):
    rng = random.Random(seed)
    word = lambda n: [rng.choice(PHONEMES[:6]) for _ in range(n)]  # noqa: E731
    cases = [
        {"hypotheses": [["AA", "AE"]], "references": [[("AA", "AE"), ("AO",)]]},
        {
            "hypotheses": [["AA", "AE", "AH"], ["AY"]],
            "references": [[("AO", "AE", "AH", "AW"), ("AA", "AH", "AH")], [("AY",)]],
        },
    ]
    for words in (5, 9):
        hypotheses, references = [], []
        for _ in range(words):
            accepted = [word(rng.randint(2, 6)) for _ in range(rng.randint(1, 3))]
            said = list(rng.choice(accepted))
            for _ in range(rng.choice((0, 0, 1, 2))):  # none, one or two edits
                at, kind = rng.randrange(len(said) + 1), rng.choice("ids")
                said[at : at + (kind != "i")] = [] if kind == "d" else word(1)
            hypotheses.append(said)
            references.append([tuple(sounds) for sounds in accepted])
        cases.append({"hypotheses": hypotheses, "references": references})
    tail = cases[-1]  # nothing said; far too much said; the far one of two is the longer, or first
    tail["hypotheses"] += [[], word(9), ["AA", "AE"], ["AA", "AE", "AH"], ["AY", "AA"]]
    tail["references"] += [
        [("AA", "AE", "AH")],
        [("AY",)],
        [("AO", "AO", "AW", "AW", "AY"), ("AA", "AH")],
        [("AA", "AE"), ("AA", "AE", "AH", "AY", "AY")],
        [("AH", "AO"), ("AY", "AA")],
    ]
    tail["hypotheses"] += [["AA", "AE", "AH"], ["AW", "AO", "AA", "AE"], ["AE", "AA"]]
    tail[
        "references"
    ] += [  # two at the same distance, the longer first, then the shorter; and the right sounds swapped
        [("AA", "AE", "AH", "AY"), ("AA", "AE")],
        [("AW", "AO"), ("AW", "AO", "AA", "AE", "AH", "AH")],
        [("AA", "AE")],
    ]
    return cases


def _table(a, b, insert=1, delete=1, substitute=1):
    row = [j * insert for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        previous, row = row, [i * delete]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + delete, row[j - 1] + insert, previous[j - 1] + substitute * (x != y)))
    return row[-1]


def _recursive(a, b):
    if not a or not b:
        return len(a) + len(b)
    if a[-1] == b[-1]:
        return _recursive(a[:-1], b[:-1])
    return 1 + min(_recursive(a[:-1], b), _recursive(a, b[:-1]), _recursive(a[:-1], b[:-1]))


def _places(a, b):
    return sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))


def _closest(distance, hypothesis, accepted):
    return min(accepted, key=lambda reference: distance(hypothesis, reference))


def _with_swaps(a, b):
    D = [[i + j for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            D[i][j] = min(D[i - 1][j] + 1, D[i][j - 1] + 1, D[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if min(i, j) > 1 and (a[i - 1], a[i - 2]) == (b[j - 2], b[j - 1]):
                D[i][j] = min(D[i][j], D[i - 2][j - 2] + 1)
    return D[-1][-1]


def _rates(
    distance=_table,
    choose=_closest,
    length=lambda hypothesis, chosen, accepted: len(chosen),
    per=lambda edits, lengths: sum(edits) / sum(lengths),
    right=lambda hypothesis, accepted: tuple(hypothesis) in accepted,
    wer=lambda wrong, edits, references: sum(wrong) / len(wrong),
    give=lambda wer, per: (wer, per),
):
    """Both error rates, with one of the parts exchanged."""

    def answer(hypotheses, references):
        edits, lengths, wrong = [], [], []
        for hypothesis, accepted in zip(hypotheses, references, strict=True):
            chosen = choose(distance, hypothesis, accepted)
            edits.append(distance(hypothesis, chosen))
            lengths.append(length(hypothesis, chosen, accepted))
            wrong.append(not right(hypothesis, accepted))
        return give(wer(wrong, edits, references), per(edits, lengths))

    return answer


def _library_rates(hypotheses, references):
    return metrics.word_error_rate(hypotheses, references), metrics.phoneme_error_rate(hypotheses, references)


def _numpy_rates(hypotheses, references):
    edits = total = wrong = 0
    for hypothesis, accepted in zip(hypotheses, references, strict=True):
        options = []
        for reference in accepted:
            n, m = len(hypothesis), len(reference)
            D = torch.zeros(n + 1, m + 1)
            D[:, 0], D[0] = torch.arange(n + 1), torch.arange(m + 1)
            for i in range(n):
                for j in range(m):
                    best = torch.minimum(D[i, j + 1], D[i + 1, j]) + 1
                    D[i + 1, j + 1] = torch.minimum(best, D[i, j] + float(hypothesis[i] != reference[j]))
            options.append((int(D[n, m]), m))
        distance, m = min(options, key=lambda option: option[0])
        edits, total, wrong = edits + distance, total + m, wrong + (distance > 0)
    return wrong / len(hypotheses), edits / total


_NEAREST = "take the pronunciation with the fewest edits, and the length of that one."

RATES = Exercise(
    number="11.3",
    title="Word and phoneme error rate",
    points=4,
    inputs=_rate_inputs,
    reference=_rates(),
    returns=("word error rate", "phoneme error rate"),
    off_limits=(
        "course_utils.metrics.edit_distance",
        "course_utils.metrics.phoneme_error_rate",
        "course_utils.metrics.word_error_rate",
    ),
    alternatives=(
        Alternative("recursive", _rates(distance=_recursive)),
        Alternative("table in a tensor", _numpy_rates),
        Alternative(
            "wrong if edits are needed", _rates(wer=lambda w, edits, r: sum(e > 0 for e in edits) / len(edits))
        ),
        Alternative("the course's own", _library_rates, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "divided by the hypothesis",
            _rates(length=lambda h, chosen, accepted: len(h)),
            "the edits divided by what the model said: a model that talks too much gets a better rate.",
            "divide by the sounds of the references.",
        ),
        Mistake(
            "divided by the longer",
            _rates(length=lambda h, chosen, accepted: max(len(h), len(chosen))),
            "the edits divided by the longer of hypothesis and reference.",
            "divide by the sounds of the references.",
        ),
        Mistake(
            "averaged per word",
            _rates(per=lambda edits, lengths: sum(e / n for e, n in zip(edits, lengths, strict=True)) / len(edits)),
            "a rate for each word, then their mean: a sound of a short word counts more than one of a long word.",
            "two totals over all words, then one division.",
        ),
        Mistake(
            "first pronunciation only",
            _rates(choose=lambda d, h, accepted: accepted[0], right=lambda h, accepted: tuple(h) == accepted[0]),
            "only the first pronunciation of each word was looked at.",
            "a word is right if it meets any accepted one; edits count to the nearest.",
        ),
        Mistake(
            "PER from the first only",
            _rates(choose=lambda d, h, accepted: accepted[0]),
            "the word error rate is right, but edits were counted to the first pronunciation.",
            _NEAREST,
        ),
        Mistake(
            "WER from the first only",
            _rates(right=lambda h, accepted: tuple(h) == accepted[0]),
            "the phoneme error rate is right, but a word counts as right only if it meets the first pronunciation.",
            "a word is right if it meets any accepted one.",
        ),
        Mistake(
            "all pronunciations must be met",
            _rates(right=lambda h, accepted: all(tuple(h) == a for a in accepted)),
            "a word counts as right only if it meets all its pronunciations at once.",
            "one of them is enough: any, not all.",
        ),
        Mistake(
            "farthest pronunciation",
            _rates(choose=lambda d, h, accepted: max(accepted, key=lambda r: d(h, r))),
            "the edits to the farthest pronunciation.",
            _NEAREST,
        ),
        Mistake(
            "last of the nearest",
            _rates(choose=lambda d, h, accepted: min(reversed(accepted), key=lambda r: d(h, r))),
            "of several pronunciations with equally few edits the last was taken.",
            "of several such take the first: compare with <, not with <=.",
        ),
        Mistake(
            "shortest of the nearest",
            _rates(choose=lambda d, h, accepted: min(accepted, key=lambda r: (d(h, r), len(r)))),
            "of several pronunciations with equally few edits the shortest was taken.",
            "of several such take the first.",
        ),
        Mistake(
            "longest of the nearest",
            _rates(choose=lambda d, h, accepted: min(accepted, key=lambda r: (d(h, r), -len(r)))),
            "of several pronunciations with equally few edits the longest was taken.",
            "of several such take the first.",
        ),
        Mistake(
            "a swap is one edit",
            _rates(distance=_with_swaps),
            "two neighboring sounds in the other order count as one edit.",
            "there are insertions, deletions and substitutions only; that is two edits.",
        ),
        Mistake(
            "order does not matter",
            _rates(right=lambda h, accepted: sorted(h) in map(sorted, accepted)),
            "a word counts as right if it has the right sounds in any order.",
            "compare the sequences as they are: tuple(hypothesis) in accepted.",
        ),
        Mistake(
            "no substitution",
            _rates(distance=lambda a, b: _table(a, b, substitute=2)),
            "an edit distance without substitution: one wrong sound costs two edits, one out and one in.",
            "a third way into each box of the table: from the upper left, plus 1 if the symbols differ.",
        ),
        Mistake(
            "insertions free",
            _rates(distance=lambda a, b: _table(a, b, delete=0)),
            "sounds that were said too much cost nothing.",
            "each sound too much is an edit, like each that is missing.",
        ),
        Mistake(
            "missing sounds free",
            _rates(distance=lambda a, b: _table(a, b, insert=0)),
            "sounds that are missing cost nothing.",
            "each missing sound is an edit, like each that is too much.",
        ),
        Mistake(
            "position by position",
            _rates(distance=_places),
            "sounds compared position by position: one sound missing makes all that follow wrong.",
            "fill the table of the edit distance (lesson 03, section 3.8).",
        ),
        Mistake(
            "sounds as a set",
            _rates(distance=lambda a, b: len(set(a) ^ set(b))),
            "the sets of sounds compared; their order and number are lost.",
            "fill the table of the edit distance (lesson 03, section 3.8).",
        ),
        Mistake(
            "lists never equal tuples",
            _rates(right=lambda h, accepted: h in accepted),
            "every word counts as wrong: a list is never equal to a tuple, whatever is in it.",
            "make both the same kind first: tuple(hypothesis) in accepted.",
        ),
        Mistake(
            "length of the first",
            _rates(length=lambda h, chosen, accepted: len(accepted[0])),
            "the edits to the nearest, but the length of the first pronunciation.",
            _NEAREST,
        ),
        Mistake(
            "length of all",
            _rates(length=lambda h, chosen, accepted: sum(map(len, accepted))),
            "the edits to the nearest, but the lengths of all pronunciations together.",
            _NEAREST,
        ),
        Mistake(
            "nearest by share",
            _rates(choose=lambda d, h, accepted: min(accepted, key=lambda r: d(h, r) / len(r))),
            "the pronunciation with the lowest rate was taken; the task says: with the fewest edits.",
            _NEAREST,
        ),
        Mistake(
            "words divided by pronunciations",
            _rates(wer=lambda wrong, edits, references: sum(wrong) / sum(map(len, references))),
            "wrong words divided by the number of all pronunciations.",
            "divide by the number of words.",
        ),
        Mistake(
            "words divided by sounds",
            _rates(
                wer=lambda wrong, edits, references: sum(edits) / len(edits),
            ),
            "the word error rate holds the edits per word.",
            "count a word once, however many of its sounds are wrong.",
        ),
        Mistake(
            "share that is right",
            _rates(wer=lambda wrong, edits, references: 1 - sum(wrong) / len(wrong)),
            "the share of words that are right.",
            "return the share that is wrong.",
        ),
        Mistake(
            "percent",
            _rates(give=lambda wer, per: (100 * wer, 100 * per)),
            "both rates in percent.",
            "return fractions.",
        ),
        Mistake(
            "other order",
            _rates(give=lambda wer, per: (per, wer)),
            "the two rates in the other order.",
            "return the word error rate first.",
        ),
        Mistake(
            "cut at 1",
            _rates(per=lambda edits, lengths: sum(map(min, zip(edits, lengths, strict=True))) / sum(lengths)),
            "the edits of a word cut off at its length.",
            "a word may need more edits than it has sounds; count them all.",
        ),
        Mistake(
            "word error rate only",
            _rates(give=lambda wer, per: wer),
            "one number, the word error rate.",
            "return both.",
        ),
    ),
    advice="work the example of the task by hand: nearest pronunciation, its edits, its length; then two divisions.",
)

# 11.4 -----------------------------------------------------------------------------------------------------------------


def _weight_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((1, 2, 3, 4), (2, 3, 5, 7), (4, 2, 9, 6), (3, 4, 8, 11), (2, 5, 10, 12))
    return [{"weights": (1.7 * torch.randn(*size, generator=rng)).softmax(-1)} for size in sizes]


def _mean(weights):
    return weights.mean(dim=(0, 1))


def _letters(join=_mean, choose=lambda table: table.argmax(-1), rows=lambda table: table[:-1], finish=lambda x: x):
    """One letter a sound, with one of the parts exchanged."""
    return lambda weights: finish(choose(rows(join(weights))))


def _letters_loop(weights):
    layers, heads, sounds, letters = weights.shape
    found = []
    for t in range(sounds - 1):
        totals = [sum(weights[a, h, t, s].item() for a in range(layers) for h in range(heads)) for s in range(letters)]
        found.append(totals.index(max(totals)))
    return torch.tensor(found)


def _vote(weights):
    return weights.argmax(-1).flatten(0, 1).mode(dim=0).values[:-1]


ALIGNMENT = Exercise(
    number="11.4",
    title="One letter for each sound",
    points=3,
    inputs=_weight_inputs,
    reference=_letters(),
    returns=("letters",),
    off_limits=("course_utils.zoo.pronunciation.align",),
    alternatives=(
        Alternative("loop", _letters_loop),
        Alternative("flattened", _letters(lambda w: w.flatten(0, 1).mean(0))),
        Alternative("sum", _letters(lambda w: w.sum((0, 1)))),
        Alternative("einsum", _letters(lambda w: torch.einsum("lhts->ts", w))),
        Alternative("max with indices", _letters(choose=lambda table: table.max(dim=1).indices)),
        Alternative("end cut first", lambda w: w[:, :, :-1].mean(1).mean(0).argmax(-1)),
    ),
    mistakes=(
        Mistake(
            "best sound of each letter",
            _letters(choose=lambda table: table.argmax(0)),
            "the argmax over the sounds: it says for each letter which sound looks at it most.",
            "each row is a sound; take the argmax along the row, dim=-1.",
        ),
        Mistake(
            "best sound, end included",
            _letters(choose=lambda table: table.argmax(0), rows=lambda table: table),
            "the argmax over the sounds, the end symbol among them.",
            "leave out the last row, then take the argmax along each row, dim=-1.",
        ),
        Mistake(
            "end symbol kept",
            _letters(rows=lambda table: table),
            "the end symbol has a letter too.",
            "leave out the last row: it is no sound.",
        ),
        Mistake(
            "first sound left out",
            _letters(rows=lambda table: table[1:]),
            "the first row left out instead of the last.",
            "row 0 is the first sound; the end symbol is the last row.",
        ),
        Mistake(
            "first head only",
            _letters(lambda w: w[:, 0].mean(0)),
            "the first head of each layer only.",
            "take the mean over the heads and the layers.",
        ),
        Mistake(
            "first layer only",
            _letters(lambda w: w[0].mean(0)),
            "the first layer only.",
            "take the mean over the heads and the layers.",
        ),
        Mistake(
            "last layer only",
            _letters(lambda w: w[-1].mean(0)),
            "the last layer only.",
            "take the mean over the heads and the layers.",
        ),
        Mistake(
            "one head of one layer",
            _letters(lambda w: w[-1, 0]),
            "the first head of the last layer only.",
            "take the mean over the heads and the layers.",
        ),
        Mistake(
            "first head of the first layer",
            _letters(lambda w: w[0, 0]),
            "the first head of the first layer only.",
            "take the mean over the heads and the layers.",
        ),
        Mistake(
            "largest of all heads",
            _letters(lambda w: w.amax((0, 1))),
            "the largest weight that any head gives: one head that is sure overrules all the others.",
            "take the mean over the heads and the layers, then the argmax.",
        ),
        Mistake(
            "product of all heads",
            _letters(lambda w: w.log().sum((0, 1))),
            "the product of all heads: one head that does not look at a letter rules it out.",
            "take the mean over the heads and the layers.",
        ),
        Mistake(
            "vote of the heads",
            _vote,
            "the argmax of each head, then the most frequent: how sure a head is was lost.",
            "first the mean of the weights, then one argmax.",
        ),
        Mistake(
            "mean of the heads' choices",
            lambda w: w.argmax(-1).float().mean((0, 1)).round().long()[:-1],
            "the mean of the heads' choices: halfway between letter 1 and letter 5 stands a letter nobody looked at.",
            "first the mean of the weights, then one argmax.",
        ),
        Mistake(
            "mean place",
            _letters(choose=lambda table: (table * torch.arange(table.shape[1])).sum(-1).round().long()),
            "the average place of the weights, not the place of the largest.",
            "take the argmax along each row.",
        ),
        Mistake(
            "least weight",
            _letters(choose=lambda table: table.argmin(-1)),
            "the letter with the least weight.",
            "use argmax.",
        ),
        Mistake(
            "axes mixed up by reshape",
            _letters(lambda w: w.reshape(w.shape[2], w.shape[3], -1).mean(-1)),
            "a reshape that brings the sounds to the front: the shape is right, the numbers stand in other places.",
            "take the mean over the first two axes: mean(dim=(0, 1)).",
        ),
        Mistake(
            "weights of the letters",
            _letters(choose=lambda table: table.amax(-1)),
            "the largest weights themselves.",
            "argmax gives their places.",
        ),
        Mistake(
            "list",
            _letters(finish=lambda x: x.tolist()),
            "a Python list.",
            "return the tensor as argmax gives it.",
        ),
        Mistake(
            "layers left",
            lambda w: w.mean(1).argmax(-1)[:, :-1],
            "one row for each layer: the mean over the layers is missing.",
            "mean(dim=(0, 1)) takes the mean over both.",
        ),
    ),
    advice="print the shape after each step: (layers, heads, L_t, L_s), then (L_t, L_s), then (L_t - 1,).",
)

# 11.5 -----------------------------------------------------------------------------------------------------------------

VOWELS = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())
LEAST, NEW = 10, 5
LETTERS_OF = {sound: sound.lower() for sound in ("B", "D", "L", "M", "P", "R")} | {
    # a consonant sound, and the letters of which at least one stands in nearly every word that has it
    "CH": "ctj", "DH": "t", "F": "fpgv", "G": "gqx", "HH": "hwjx", "JH": "jgd", "K": "kcqx", "N": "nkg", "NG": "n",
    "S": "sczx", "SH": "sctxh", "T": "td", "TH": "t", "V": "vfw", "W": "wuoq", "Y": "yuijeo", "Z": "zsx", "ZH": "sgzj",
}  # fmt: skip
FITTING = 0.7  # ten random words of the dictionary have 0.85 or more, with each other's sounds 0.69 or less


def _call_own_words(answer, case):
    """What can be said of the student's words; each finding stands for itself."""
    words = answer()
    if not isinstance(words, dict) or not all(
        isinstance(word, str) and isinstance(sounds, (list, tuple)) and all(isinstance(s, str) for s in sounds)
        for word, sounds in words.items()
    ):
        return words
    sounds = [tuple(found) for found in words.values()]
    return (
        "enough" if len(words) >= LEAST else "too few",
        _named(word for word in words if not word or set(word) - set(LETTERS)),
        _named(sound for found in sounds for sound in found if sound not in PHONEMES),
        _named(word for word, found in words.items() if not VOWELS & set(found)),
        _named(w for w, found in words.items() if not len(w) / 4 <= len(found) <= 2 * len(w)),
        "enough" if sum(word not in pronunciations() for word in words) >= NEW else "too few",
        "differ" if len(set(sounds)) > len(sounds) / 2 else "alike",
        _fitting(words),
    )


def _fitting(words):
    """For how many of the consonant sounds the word has a letter."""
    found = [any(letter in word for letter in LETTERS_OF[s]) for word in words for s in words[word] if s in LETTERS_OF]
    return "no consonants" if not found else "most" if sum(found) / len(found) >= FITTING else "few"


def _named(found):
    first = next(iter(found), None)
    return "none" if first is None else f"{first[:20]!r}"


def _own(**changes):
    words = {
        "ranjitha": "R AA N JH IY T AH",
        "voxling": "V AA K S L IH NG",
        "blorptastic": "B L AO R P T AE S T IH K",
        "wikify": "W IH K AH F AY",
        "snozzle": "S N AA Z AH L",
        "gruntle": "G R AH N T AH L",
        "attention": "AH T EH N SH AH N",
        "knight": "N AY T",
        "phoenix": "F IY N IH K S",
        "through": "TH R UW",
    }
    words = {word: tuple(sounds.split()) for word, sounds in words.items()} | changes
    return {word: sounds for word, sounds in words.items() if sounds is not None}


def _in_the_dictionary():
    return dict.fromkeys(("ranjitha", "voxling", "blorptastic", "wikify")) | {
        word: pronunciations()[word][0] for word in ("nation", "thought", "box", "either")
    }


OWN_WORDS = Exercise(
    number="11.5",
    title="Your own words",
    points=3,
    inputs=lambda seed: [{}],
    reference=lambda: _own(),
    returns=(
        f"number of words (at least {LEAST})",
        "word with another character than a to z",
        "sound that is not among the 39",
        "word without a vowel sound",
        "word with far too few or too many sounds",
        f"words that the dictionary does not have (at least {NEW})",
        "pronunciations",
        "consonants that the letters of the word can stand for",
    ),
    call=_call_own_words,
    alternatives=(
        Alternative("lists", lambda: {word: list(sounds) for word, sounds in _own().items()}),
        Alternative("more words", lambda: _own(zyxel=("Z", "AY", "S", "EH", "L"), quux=("K", "W", "AH", "K", "S"))),
        Alternative("other words", lambda: _own(snozzle=None, snizzle=("S", "N", "IH", "Z", "AH", "L"))),
    ),
    mistakes=(
        Mistake(
            "too few words",
            lambda: _own(knight=None, phoenix=None),
            "fewer than ten words.",
            "add some more: your name, a town, a product, a word you made up.",
        ),
        Mistake(
            "capitals",
            lambda: _own(voxling=None, Voxling=_own()["voxling"]),
            "a capital letter in a word.",
            "write words in small letters.",
        ),
        Mistake(
            "small phonemes",
            lambda: {word: tuple(s.lower() for s in sounds) for word, sounds in _own().items()},
            "sounds in small letters.",
            "the sounds are written in capitals: SH, not sh.",
        ),
        Mistake(
            "stress marks",
            lambda: {w: tuple(s + "1" if s in VOWELS else s for s in sounds) for w, sounds in _own().items()},
            "stress marks behind the vowels, as in AH1.",
            "leave the digits out: AH.",
        ),
        Mistake(
            "one string",
            lambda: {word: " ".join(sounds) for word, sounds in _own().items()},
            "each pronunciation is one string.",
            "split it: tuple('N AY T'.split()).",
        ),
        Mistake(
            "accepted pronunciations",
            lambda: {word: (sounds,) for word, sounds in _own().items()},
            "each word has a tuple of pronunciations.",
            "one pronunciation a word: ('N', 'AY', 'T').",
        ),
        Mistake(
            "letters as sounds",
            lambda: {word: tuple(word.upper()) for word in _own()},
            "the letters were written in the place of the sounds.",
            "say the word aloud and write one of the 39 symbols for each sound.",
        ),
        Mistake(
            "all in the dictionary",
            lambda: _own(**_in_the_dictionary()),
            "nearly all words stand in the dictionary, and most of those were trained on.",
            "ask `word in pronunciations()`; at least five of yours should give False.",
        ),
        Mistake(
            "one sound each",
            lambda: dict.fromkeys(_own(), ("AH",)),
            "one and the same sound for every word.",
            "write down what you would say.",
        ),
        Mistake(
            "the same for all",
            lambda: dict.fromkeys(
                _own(knight=None, through=None, nightfall=("N",), throughout=("N",)), ("AH", "N", "T")
            ),
            "the same pronunciation for every word.",
            "write down what you would say.",
        ),
        Mistake(
            "each has the sounds of the next",
            lambda: dict(zip(_own(), [*_own().values()][1:] + [*_own().values()][:1], strict=True)),
            "sounds and words do not belong together: most consonants have no letter in their word.",
            "print each word beside its sounds: one list may be a place ahead of the other.",
        ),
        Mistake(
            "a row of one vowel",
            lambda: {
                word: ("AH",) * (2 + place) for place, word in enumerate(_own(blorptastic=None, bloomingtastic=()))
            },
            "a row of vowels in the place of each word.",
            "write down what you would say.",
        ),
        Mistake(
            "no vowel",
            lambda: _own(snozzle=("S", "N", "Z", "L")),
            "a word without a vowel sound.",
            "every English word has one; the schwa, as in the last syllable of 'snozzle', is AH.",
        ),
        Mistake(
            "pairs in a list",
            lambda: list(_own().items()),
            "a list of pairs.",
            "return a dictionary: word -> sounds.",
        ),
    ),
    advice="look at what the dictionary writes for words you know: pronunciations()['knight'].",
)

# 11.6 -----------------------------------------------------------------------------------------------------------------


def _evaluation_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for words, V, start_id, end_id, longest in ((2, 6, 1, 2, 3), (4, 8, 7, 0, 5), (6, 9, 2, 5, 6)):
        symbols = [s for s in range(V) if s not in (start_id, end_id)]
        table = torch.randn(words, longest + 4, V, V, generator=rng)
        table[..., start_id] -= 9.0
        references = []
        for w in range(words):
            length = int(torch.randint(2, longest + 1, (), generator=rng))
            sounds = [symbols[i] for i in torch.randint(len(symbols), (length,), generator=rng)]
            references.append(sounds)
            for t, (before, after) in enumerate(zip([start_id, *sounds], [*sounds, end_id], strict=True)):
                right = 5.0 if torch.rand((), generator=rng) < 0.75 else -5.0
                table[w, t, before, after] += right
            if w == 1 and words > 2:  # a model that is one sound ahead: few edits, though no place agrees
                sounds[:] = [symbols[t % 2] for t in range(longest)]
                for t, before in enumerate([start_id, *sounds]):
                    table[w, t, before, symbols[(t + 1) % 2]] += 30.0
            if w == 2:  # a model that ends too early
                table[w, 1, :, end_id] += 30.0
        cases.append(
            {
                "scores": table,
                "history": torch.randn(7, V, generator=rng),
                "references": references,
                "start_id": start_id,
                "end_id": end_id,
                "max_len": longest + 3,
            }
        )
    cases[-1]["scores"][0, ..., cases[-1]["end_id"]] -= 30.0  # this word never ends by itself
    return cases


def _call_evaluation(answer, case):
    table = case["scores"]

    def step(word, prefix):
        past = sum(place * int(symbol) for place, symbol in enumerate(prefix, 1))  # all that was said counts a little
        return table[word, (len(prefix) - 1) % table.shape[1], int(prefix[-1])] + case["history"][past % 7]  # (V,)

    found = answer(step, case["references"], case["start_id"], case["end_id"], case["max_len"])
    try:
        rate, said = found
        return rate if isinstance(rate, str) else float(rate), [[*map(operator.index, sounds)] for sounds in said]
    except (TypeError, ValueError):
        return found


def _evaluate(
    feed=lambda said, reference, t: said[-1],
    steps=lambda reference, max_len: max_len,
    ends=lambda symbol, end_id: symbol == end_id,
    keep_end=False,
    distance=_table,
    asked=lambda prefix: prefix,
    length=lambda said, reference: len(reference),
    rate=lambda edits, lengths: sum(edits) / sum(lengths),
    choose=lambda scores: int(scores.argmax()),
    shown=lambda said, start_id, end_id: said,
    give=lambda rate, said: (rate, said),
):
    """Evaluation by decoding, with one of its parts exchanged."""

    def answer(step, references, start_id, end_id, max_len):
        edits, lengths, all_said = [], [], []
        for word, reference in enumerate(references):
            prefix, said = [start_id], []
            for t in range(steps(reference, max_len)):
                symbol = choose(step(word, asked(prefix)))
                if ends(symbol, end_id):
                    if keep_end:
                        said.append(symbol)
                    break
                said.append(symbol)
                prefix.append(feed(said, reference, t))
            said = shown(said, start_id, end_id)
            edits.append(distance(said, reference))
            lengths.append(length(said, reference))
            all_said.append(said)
        return give(rate(edits, lengths), all_said)

    return answer


def _as_it_was(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix, said = [start_id], []
        for sound in reference:
            symbol = int(step(word, prefix).argmax())
            said.append(symbol)
            prefix.append(sound)
            wrong, total = wrong + (symbol != sound), total + 1
        all_said.append(said)
    return wrong / total, all_said


def _given_to_the_end(said, reference, t):
    return reference[t] if t < len(reference) else said[-1]


def _true_before_the_last(step, references, start_id, end_id, max_len):
    def own_last(word, prefix):
        true = [start_id, *references[word]][: len(prefix) - 1]
        return step(word, [*true, *prefix[len(true) :]])

    return _evaluate()(own_last, references, start_id, end_id, max_len)


def _evaluate_while(step, references, start_id, end_id, max_len):
    all_said = []
    for word in range(len(references)):
        said = [start_id]
        while len(said) <= max_len and (symbol := step(word, said).topk(1).indices.item()) != end_id:
            said = [*said, symbol]
        all_said.append(said[1:])
    edits = sum(map(_table, all_said, references))
    return edits / sum(map(len, references)), all_said


def _evaluate_by_metrics(step, references, start_id, end_id, max_len):
    _, all_said = _evaluate()(step, references, start_id, end_id, max_len)
    as_text = lambda rows: [[str(s) for s in row] for row in rows]  # noqa: E731
    return metrics.phoneme_error_rate(as_text(all_said), [[row] for row in as_text(references)]), all_said


def _before_the_end(said, start_id, end_id):
    return said[: said.index(end_id)] if end_id in said else said


BUG = Exercise(
    number="11.6",
    title="Find the bug",
    points=3,
    inputs=_evaluation_inputs,
    reference=_evaluate(),
    returns=("phoneme error rate", "what the model said"),
    call=_call_evaluation,
    alternatives=(
        Alternative("while loop", _evaluate_while),
        Alternative("the course's error rate", _evaluate_by_metrics),
        Alternative("cut at the end afterwards", _evaluate(ends=lambda s, e: False, shown=_before_the_end)),
    ),
    mistakes=(
        Mistake(
            "as it was",
            _as_it_was,
            "the function as it was: the model is given the true sound after each of its own, and told when to stop.",
            "put the model's own symbol into the prefix, and stop when it says end_id.",
        ),
        Mistake(
            "edit distance only",
            _evaluate(
                feed=lambda said, reference, t: reference[t],
                steps=lambda r, m: len(r),
                ends=lambda s, e: False,
            ),
            "the edits are counted right, but the model still reads the true sounds and is told when to stop.",
            "put the model's own symbol into the prefix, and stop when it says end_id.",
        ),
        Mistake(
            "true sounds, own end",
            _evaluate(feed=_given_to_the_end),
            "the model ends by itself now, but it still reads the true sounds, as long as there are any.",
            "append the model's own symbol to the prefix, not the reference's.",
        ),
        Mistake(
            "true sounds, end among them",
            _evaluate(feed=lambda said, reference, t: reference[t], steps=lambda r, m: len(r)),
            "the model may end early now, but it still reads the true sounds.",
            "append the model's own symbol to the prefix, not the reference's.",
        ),
        Mistake(
            "own sounds, length given",
            _evaluate(steps=lambda r, m: len(r), ends=lambda s, e: False),
            "the model reads its own sounds, but it is stopped after as many as the reference has.",
            "stop when the model says end_id, or after max_len symbols.",
        ),
        Mistake(
            "never longer than the truth",
            _evaluate(steps=lambda r, m: len(r)),
            "the model may end early but never late: it is stopped at the reference's length.",
            "make at most max_len steps, whatever the reference's length.",
        ),
        Mistake(
            "end symbol kept",
            _evaluate(keep_end=True),
            "the end symbol counts as a sound.",
            "stop before you keep it.",
        ),
        Mistake(
            "end symbol ignored",
            _evaluate(ends=lambda s, e: False),
            "decoding goes on after the end symbol, up to max_len.",
            "stop when the model says end_id.",
        ),
        Mistake(
            "end symbols dropped, decoding goes on",
            _evaluate(ends=lambda s, e: False, shown=lambda said, s, e: [x for x in said if x != e]),
            "end symbols are left out, but decoding goes on after the first.",
            "stop at the first end_id.",
        ),
        Mistake(
            "start symbol kept",
            _evaluate(shown=lambda said, start_id, end_id: [start_id, *said]),
            "the start symbol counts as a sound.",
            "it stands in the prefix only.",
        ),
        Mistake(
            "position by position",
            _evaluate(distance=_places),
            "what was said is compared position by position.",
            "use edit_distance: one sound missing is one edit.",
        ),
        Mistake(
            "cut to the shorter",
            _evaluate(distance=lambda a, b: sum(x != y for x, y in zip(a, b, strict=False))),
            "compared position by position up to the end of the shorter one: missing sounds cost nothing.",
            "use edit_distance.",
        ),
        Mistake(
            "divided by what was said",
            _evaluate(length=lambda said, reference: len(said)),
            "the edits divided by the number of sounds that the model said.",
            "divide by the number of sounds in the references.",
        ),
        Mistake(
            "averaged per word",
            _evaluate(
                rate=lambda edits, lengths: (
                    sum(map(float.__truediv__, map(float, edits), map(float, lengths))) / len(edits)
                )
            ),
            "a rate for each word, then their mean.",
            "two totals over all words, then one division.",
        ),
        Mistake(
            "last symbol alone",
            _evaluate(asked=lambda prefix: prefix[-1:]),
            "step is given the last symbol alone.",
            "give it the whole prefix, the start symbol first.",
        ),
        Mistake(
            "prefix does not grow",
            _evaluate(asked=lambda prefix: prefix[:1]),
            "the prefix does not grow: step is asked the same question every time.",
            "append each symbol to the prefix.",
        ),
        Mistake(
            "true sounds before the last",
            _true_before_the_last,
            "the last symbol of the prefix is the model's own, but those before it are the reference's.",
            "the prefix is start_id and all that the model has said, nothing else.",
        ),
        Mistake(
            "first sound given",
            _evaluate(feed=lambda said, reference, t: reference[0] if t == 0 else said[-1]),
            "the first sound in the prefix is the reference's.",
            "append the model's own symbol from the first one on.",
        ),
        Mistake(
            "words counted",
            _evaluate(rate=lambda edits, lengths: sum(e > 0 for e in edits) / len(edits)),
            "the share of wrong words.",
            "return edits per sound.",
        ),
        Mistake(
            "rate only",
            _evaluate(give=lambda rate, said: rate),
            "the rate alone.",
            "return two things: the rate, and what the model said.",
        ),
    ),
    advice="print the prefix that step is given, next to what the model has said so far: from start_id on they must agree.",
)

# 11.7, 11.8 -----------------------------------------------------------------------------------------------------------

NORMALIZATION = Quiz(
    number="11.7",
    title="Why short sequences win",
    points=1,
    right="b",
    options={
        "a": Option(
            "The end symbol is the most probable symbol of all.",
            "it may be improbable at every place; what counts is how many factors below 1 there are.",
        ),
        "b": Option(
            "Each further symbol multiplies the probability by a number below 1, so a longer sequence has lost more.",
            "a sum of negative logarithms only falls; dividing it by the length compares means instead of sums.",
        ),
        "c": Option(
            "Short sequences are more often right.",
            "the score knows nothing of right and wrong; a sequence that breaks off early can outscore the right one.",
        ),
        "d": Option(
            "The floating-point numbers of long sequences underflow.",
            "that happens to products. Sums of logarithms do not underflow, and the short ones still win.",
        ),
    },
)

COMPARISON = Quiz(
    number="11.8",
    title="Two published numbers",
    points=1,
    right="d",
    options={
        "a": Option(
            "B is better, since 29 is less than 32.",
            "only on the same words, scored by the same rule; here neither is so.",
        ),
        "b": Option(
            "A is better, since its test words are fewer.",
            "the number of words says how exact a rate is, not which model is better.",
        ),
        "c": Option(
            "They are equal: 3 points are always chance.",
            "with thousands of words on the same test, 3 points can be a real difference. Here it cannot be told.",
        ),
        "d": Option(
            "It cannot be told: other test words, and another rule for words with several pronunciations.",
            "run both on one test with one rule; until then the two numbers are answers to two questions.",
        ),
    },
)

EXERCISES = (BATCHES, BEAM, RATES, ALIGNMENT, OWN_WORDS, BUG, NORMALIZATION, COMPARISON)

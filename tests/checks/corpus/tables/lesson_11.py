"""Answers that the first tables of lesson 11 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import math
import random
import torch
from course_utils import metrics
from course_utils.datasets.pronunciations import pronunciations
from . import Answers, Right, Wrong


def _padded(group):
    return len(group) * (max((s for s, _ in group)) + max((t for _, t in group))) if group else 0


def _exact(group):
    return sum((s + t for s, t in group))


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
        groups, group = ([], [])
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


def _places_in_the_sorted_list(lengths, limit, seed):
    return _batches()(sorted(lengths), limit, seed)


def _batches_by_torch(lengths, limit, seed):
    rng = torch.Generator().manual_seed(seed)
    order = sorted(torch.randperm(len(lengths), generator=rng).tolist(), key=lambda i: sum(lengths[i]))
    groups = [[]]
    for i in order:
        s = max((lengths[j][0] for j in [*groups[-1], i]))
        t = max((lengths[j][1] for j in [*groups[-1], i]))
        if (s + t) * (len(groups[-1]) + 1) > limit:
            groups.append([])
        groups[-1].append(i)
    return [groups[i] for i in torch.randperm(len(groups), generator=rng).tolist()]


def _batches_generated(lengths, limit, seed):
    rng = random.Random(seed)
    tagged = [(s, t, rng.random(), place) for place, (s, t) in enumerate(lengths)]
    tagged.sort(reverse=True)
    group, batches = ([], [])
    for _, t, _, place in tagged:
        top = max([t, *(lengths[i][1] for i in group)])
        if group and (lengths[group[0]][0] + top) * (len(group) + 1) > limit:
            batches.append(group)
            group, top = ([], t)
        group.append(place)
    batches.append(group)
    rng.shuffle(batches)
    yield from batches


def _nothing(items, rng):
    pass


BATCHES = Answers(
    number="11.1",
    alternatives=(
        Right("PyTorch's random numbers, sorted by the sum", _batches_by_torch),
        Right("longest first, as a generator", _batches_generated),
        Right("sorted by target, then source", _batches(key=lambda pair: pair[::-1])),
        Right("sorted by the longer side", _batches(key=lambda pair: (max(pair), sum(pair)))),
    ),
    mistakes=(
        Wrong("batches in order of length", _batches(last=_nothing)),
        Wrong("the same pairs together", _batches(first=_nothing)),
        Wrong("never shuffled", _batches(first=_nothing, last=_nothing)),
        Wrong("seed not used", _batches(generator=lambda seed: random.Random(0))),
        Wrong("random without the seed", _batches(generator=lambda seed: random)),
        Wrong("last batch dropped", _batches(keep=lambda groups: groups[:-1])),
        Wrong("pair that does not fit is lost", _batches(overflow=lambda group, place: [])),
        Wrong("pair put twice", _batches(overflow=lambda group, place: (group.append(place), [place])[1])),
        Wrong("limit without padding", _batches(symbols=_exact)),
        Wrong("source only", _batches(symbols=lambda group: len(group) * max((s for s, _ in group)))),
        Wrong("target only", _batches(symbols=lambda group: len(group) * max((t for _, t in group)))),
        Wrong("lengths of the newest pair", _batches(symbols=lambda group: len(group) * sum(group[-1]))),
        Wrong("limit itself refused", _batches(symbols=lambda group: _padded(group) + 1)),
        Wrong(
            "long stretches in order",
            _batches(
                last=lambda groups, rng: (
                    groups.extend(groups[: (k := (len(groups) // 2))]) or groups.__delitem__(slice(k))
                )
            ),
        ),
        Wrong("largest pair", _batches(symbols=lambda group: len(group) * max(map(sum, group)))),
        Wrong("one pair too many", _batches(symbols=lambda group: _padded(group[:-1]))),
        Wrong("limit read as a number of pairs", _batches(symbols=len)),
        Wrong("not sorted", _batches(key=None)),
        Wrong("one pair a batch", _batches(symbols=lambda group: math.inf)),
        Wrong(
            "batches of a fixed number",
            lambda lengths, limit, seed: _batches(symbols=lambda group: len(group) * max(map(sum, lengths)))(
                lengths, limit, seed
            ),
        ),
        Wrong("places in the sorted list", _places_in_the_sorted_list),
        Wrong("empty batch at the start", _batches(keep=lambda groups: [[], *groups])),
        Wrong(
            "lengths returned",
            lambda lengths, limit, seed: [
                [lengths[place] for place in group] for group in _batches()(lengths, limit, seed)
            ],
        ),
        Wrong("one flat list", lambda lengths, limit, seed: sum(_batches()(lengths, limit, seed), [])),
    ),
)


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
        beams, finished = ([(zero, [])] * copies(num_beams), [])
        for length in range(1, max_len + 1):
            candidates = [
                (add(total, log_prob), beam, symbol)
                for beam, (total, sequence) in enumerate(beams)
                for symbol, log_prob in enumerate(step(asked(sequence)).tolist())
            ]
            ordered = choose(candidates, num_beams)
            grown = []
            for rank, (total, beam, symbol) in enumerate(ordered):
                sequence, ended = ([*prefix(beams, beam, rank), symbol], symbol == end_id)
                over = leftovers and length == max_len and (rank < num_beams)
                if ended and finishes(rank, num_beams) or over:
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
    return (sequences, products)


def _log(x):
    return math.log(x) if x > 0 else -math.inf


def _beam_by_topk(step, num_beams, max_len, end_id, alpha):
    totals, sequences, finished = (torch.zeros(1, dtype=torch.float64), [[]], [])
    for length in range(1, max_len + 1):
        scores = totals[:, None] + torch.stack([step(sequence) for sequence in sequences]).double()
        best, places = scores.flatten().topk(min(2 * num_beams, scores.numel()))
        parents, symbols = (places // scores.shape[1], places % scores.shape[1])
        grown = [sequences[p] + [s] for p, s in zip(parents.tolist(), symbols.tolist(), strict=True)]
        ended = (symbols == end_id).tolist()
        for rank in range(min(num_beams, len(grown))):
            if ended[rank] or length == max_len:
                finished.append((best[rank].item() / length**alpha, grown[rank]))
        going = [i for i in range(len(grown)) if not ended[i]][:num_beams]
        if len(finished) >= num_beams or not going:
            break
        totals, sequences = (best[going], [grown[i] for i in going])
    finished.sort(key=lambda found: found[0], reverse=True)
    return ([s for _, s in finished[:num_beams]], [x for x, _ in finished[:num_beams]])


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
            return (torch.stack([step(row[1:]) for row in state]), state)

    found = beam_search(
        Model(),
        torch.zeros(1, 1, dtype=torch.long),
        max_len=max_len,
        beam_size=num_beams,
        length_penalty=alpha,
        start_id=98,
        end_id=end_id,
        pad_id=99,
    )
    rows = [[symbol for symbol in row if symbol != 99] for row in found.tokens[0].tolist()]
    return (rows, found.scores[0].tolist())


BEAM = Answers(
    number="11.2",
    alternatives=(
        Right("topk over one flat table", _beam_by_topk),
        Right("the course's own", _beam_by_the_library, off_limits=True),
        Right("candidates ranked by their mean", _beam(choose=lambda c, k: sorted(c, key=lambda x: -x[0]))),
        Right("pairs in a list", _beam(give=lambda sequences, scores: [sequences, scores])),
    ),
    mistakes=(
        Wrong("probabilities multiplied", _by_products),
        Wrong("no length normalization", _beam(rank_by=lambda total, s, alpha: total)),
        Wrong("ranked without normalization", _beam(rank_by=lambda total, s, alpha: total, score_by=_normalized)),
        Wrong("scores without normalization", _beam(score_by=lambda total, s, alpha: total)),
        Wrong("alpha not used", _beam(rank_by=lambda total, s, alpha: total / len(s))),
        Wrong("alpha as a factor", _beam(rank_by=lambda total, s, alpha: total / (len(s) * alpha))),
        Wrong("multiplied by the length", _beam(rank_by=lambda total, s, alpha: total * len(s) ** alpha)),
        Wrong(
            "length without the end symbol", _beam(rank_by=lambda total, s, alpha: total / max(len(s) - 1, 1) ** alpha)
        ),
        Wrong("end symbol cut off", _beam(shown=lambda s, end_id: s[:-1] if s[-1] == end_id else s)),
        Wrong("finished beams extended", _beam(stays=lambda ended: True, finishes=lambda rank, k: False)),
        Wrong("finished and extended", _beam(stays=lambda ended: True)),
        Wrong("finished ones forgotten", _beam(answers=lambda finished, beams: beams or finished)),
        Wrong("best of each beam", _beam(choose=_per_beam)),
        Wrong("wrong prefix", _beam(prefix=lambda beams, beam, rank: beams[min(rank, len(beams) - 1)][1])),
        Wrong("prefix of the best beam", _beam(prefix=lambda beams, beam, rank: beams[0][1])),
        Wrong("K copies at the start", _beam(copies=lambda num_beams: num_beams)),
        Wrong("one beam", lambda step, num_beams, *rest: _beam()(step, 1, *rest)),
        Wrong("every end counts", _beam(finishes=lambda rank, k: True)),
        Wrong("stops at the first end", _beam(enough=lambda finished, k: len(finished) >= 1)),
        Wrong("never stops early", _beam(enough=lambda finished, k: False)),
        Wrong("fewer beams after each end", _beam(width=lambda k, finished: max(k - len(finished), 0))),
        Wrong("ended ones leave a gap", _beam(follows=lambda rank, k: rank < k)),
        Wrong("num_beams continuations of each beam", _beam(choose=_best_of_each)),
        Wrong("stops at the exact number", _beam(enough=lambda finished, k: len(finished) == k)),
        Wrong("unfinished ones always added", _beam(leftovers=False, answers=lambda finished, beams: finished + beams)),
        Wrong(
            "unfinished ones only where ends are few",
            _beam(
                leftovers=False,
                answers=lambda finished, beams: finished + beams if len(finished) < len(beams) else finished,
            ),
        ),
        Wrong("all finished returned", _beam(best=lambda num_beams: None)),
        Wrong("unfinished ones dropped", _beam(leftovers=False)),
        Wrong("last step only", _beam(add=lambda total, log_prob: log_prob)),
        Wrong("worst first", _beam(choose=lambda candidates, k: sorted(candidates))),
        Wrong("step given the last symbol", _beam(asked=lambda sequence: sequence[-1:])),
        Wrong("scores first", _beam(give=lambda sequences, scores: (scores, sequences))),
        Wrong("the best only", _beam(give=lambda sequences, scores: (sequences[:1], scores[:1]))),
    ),
)


def _table(a, b, insert=1, delete=1, substitute=1):
    row = [j * insert for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        previous, row = (row, [i * delete])
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + delete, row[j - 1] + insert, previous[j - 1] + substitute * (x != y)))
    return row[-1]


def _places(a, b):
    return sum((x != y for x, y in zip(a, b, strict=False))) + abs(len(a) - len(b))


def _with_swaps(a, b):
    D = [[i + j for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            D[i][j] = min(D[i - 1][j] + 1, D[i][j - 1] + 1, D[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if min(i, j) > 1 and (a[i - 1], a[i - 2]) == (b[j - 2], b[j - 1]):
                D[i][j] = min(D[i][j], D[i - 2][j - 2] + 1)
    return D[-1][-1]


def _step_by_loops(totals, log_probs):
    B, K = totals.shape
    new, symbols, rows = [], [], []
    for b in range(B):
        found = [
            (totals[b, k].item() + p, s, b * K + k)
            for k in range(K)
            for s, p in enumerate(log_probs[b * K + k].tolist())
        ]
        for total, symbol, row in sorted(found, reverse=True)[:K]:
            new, symbols, rows = [*new, total], [*symbols, symbol], [*rows, row]
    return torch.tensor(new, dtype=totals.dtype).view(B, K), torch.tensor(symbols).view(B, K), torch.tensor(rows)


def _step(
    cut=lambda table, B, K: table.view(B, K, -1),
    add=lambda totals, table: totals[..., None] + table,
    parts=lambda places, K, V: (places // V, places % V),
    offset=lambda B, K, V: torch.arange(0, B * K, K)[:, None],
    give=lambda new, symbols, rows: (new, symbols, rows.flatten()),
):
    """One step with one of the parts exchanged."""

    def answer(totals, log_probs):
        (B, K), V = totals.shape, log_probs.shape[-1]
        new, places = add(totals, cut(log_probs, B, K)).flatten(1).topk(K)
        beams, symbols = parts(places, K, V)
        return give(new, symbols, beams + offset(B, K, V))

    return answer


def _step_unraveled(totals, log_probs):
    (B, K), V = totals.shape, log_probs.shape[-1]
    table = (totals.reshape(-1, 1) + log_probs).reshape(B, K * V)
    order = table.argsort(1, descending=True)[:, :K]
    beams, symbols = torch.div(order, V, rounding_mode="floor"), order.remainder(V)
    return table.gather(1, order), symbols, torch.cat([row + b * K for b, row in enumerate(beams)])


def _greedy_side_by_side(totals, log_probs):
    best, symbols = log_probs.max(-1)
    new, order = (totals + best.view_as(totals)).sort(1, descending=True)
    rows = order + totals.shape[1] * torch.arange(len(totals))[:, None]
    return new, symbols.view_as(totals).gather(1, order), rows.flatten()


STEP = Answers(
    number="11.3",
    alternatives=(
        Right("loops", _step_by_loops),
        Right("argsort and remainder", _step_unraveled),
        Right("one flatten", _step()),
    ),
    mistakes=(
        Wrong("rows within the word", _step(offset=lambda B, K, V: 0)),
        Wrong("words counted by one", _step(offset=lambda B, K, V: torch.arange(B)[:, None])),
        Wrong("words counted by symbols", _step(offset=lambda B, K, V: V * torch.arange(B)[:, None])),
        Wrong("divided by K", _step(parts=lambda places, K, V: (places // K, places % K))),
        Wrong("beam and symbol exchanged", _step(parts=lambda places, K, V: (places % V, places // V))),
        Wrong("places for symbols", _step(parts=lambda places, K, V: (places // V, places))),
        Wrong("best of each beam", _greedy_side_by_side),
        Wrong("totals left out", _step(add=lambda totals, table: table)),
        Wrong("multiplied", _step(add=lambda totals, table: totals[..., None] * table)),
        Wrong("beams before words", _step(cut=lambda table, B, K: table.view(K, B, -1).transpose(0, 1))),
        Wrong("rows as a table", _step(give=lambda new, symbols, rows: (new, symbols, rows))),
        Wrong("rows before symbols", _step(give=lambda new, symbols, rows: (new, rows.flatten(), symbols))),
        Wrong("totals only", _step(give=lambda new, symbols, rows: new)),
    ),
)


def _mean(weights):
    return weights.mean(dim=(0, 1))


def _letters(join=_mean, choose=lambda table: table.argmax(-1), rows=lambda table: table[:-1], finish=lambda x: x):
    """One letter a sound, with one of the parts exchanged."""
    return lambda weights: finish(choose(rows(join(weights))))


def _letters_loop(weights):
    layers, heads, sounds, letters = weights.shape
    found = []
    for t in range(sounds - 1):
        totals = [
            sum((weights[a, h, t, s].item() for a in range(layers) for h in range(heads))) for s in range(letters)
        ]
        found.append(totals.index(max(totals)))
    return torch.tensor(found)


def _vote(weights):
    return weights.argmax(-1).flatten(0, 1).mode(dim=0).values[:-1]


ALIGNMENT = Answers(
    number="11.4",
    alternatives=(
        Right("loop", _letters_loop),
        Right("flattened", _letters(lambda w: w.flatten(0, 1).mean(0))),
        Right("sum", _letters(lambda w: w.sum((0, 1)))),
        Right("einsum", _letters(lambda w: torch.einsum("lhts->ts", w))),
        Right("max with indices", _letters(choose=lambda table: table.max(dim=1).indices)),
        Right("end cut first", lambda w: w[:, :, :-1].mean(1).mean(0).argmax(-1)),
    ),
    mistakes=(
        Wrong("best sound of each letter", _letters(choose=lambda table: table.argmax(0))),
        Wrong("best sound, end included", _letters(choose=lambda table: table.argmax(0), rows=lambda table: table)),
        Wrong("end symbol kept", _letters(rows=lambda table: table)),
        Wrong("first sound left out", _letters(rows=lambda table: table[1:])),
        Wrong("first head only", _letters(lambda w: w[:, 0].mean(0))),
        Wrong("first layer only", _letters(lambda w: w[0].mean(0))),
        Wrong("last layer only", _letters(lambda w: w[-1].mean(0))),
        Wrong("one head of one layer", _letters(lambda w: w[-1, 0])),
        Wrong("first head of the first layer", _letters(lambda w: w[0, 0])),
        Wrong("largest of all heads", _letters(lambda w: w.amax((0, 1)))),
        Wrong("product of all heads", _letters(lambda w: w.log().sum((0, 1)))),
        Wrong("vote of the heads", _vote),
        Wrong("mean of the heads' choices", lambda w: w.argmax(-1).float().mean((0, 1)).round().long()[:-1]),
        Wrong(
            "mean place", _letters(choose=lambda table: (table * torch.arange(table.shape[1])).sum(-1).round().long())
        ),
        Wrong("least weight", _letters(choose=lambda table: table.argmin(-1))),
        Wrong("axes mixed up by reshape", _letters(lambda w: w.reshape(w.shape[2], w.shape[3], -1).mean(-1))),
        Wrong("weights of the letters", _letters(choose=lambda table: table.amax(-1))),
        Wrong("list", _letters(finish=lambda x: x.tolist())),
        Wrong("layers left", lambda w: w.mean(1).argmax(-1)[:, :-1]),
    ),
)

VOWELS = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())


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


OWN_WORDS = Answers(
    number="11.5",
    alternatives=(
        Right("lists", lambda: {word: list(sounds) for word, sounds in _own().items()}),
        Right("more words", lambda: _own(zyxel=("Z", "AY", "S", "EH", "L"), quux=("K", "W", "AH", "K", "S"))),
        Right("other words", lambda: _own(snozzle=None, snizzle=("S", "N", "IH", "Z", "AH", "L"))),
    ),
    mistakes=(
        Wrong("too few words", lambda: _own(knight=None, phoenix=None)),
        Wrong("capitals", lambda: _own(voxling=None, Voxling=_own()["voxling"])),
        Wrong("small phonemes", lambda: {word: tuple((s.lower() for s in sounds)) for word, sounds in _own().items()}),
        Wrong(
            "stress marks",
            lambda: {w: tuple((s + "1" if s in VOWELS else s for s in sounds)) for w, sounds in _own().items()},
        ),
        Wrong("one string", lambda: {word: " ".join(sounds) for word, sounds in _own().items()}),
        Wrong("accepted pronunciations", lambda: {word: (sounds,) for word, sounds in _own().items()}),
        Wrong("letters as sounds", lambda: {word: tuple(word.upper()) for word in _own()}),
        Wrong("all in the dictionary", lambda: _own(**_in_the_dictionary())),
        Wrong("one sound each", lambda: dict.fromkeys(_own(), ("AH",))),
        Wrong(
            "the same for all",
            lambda: dict.fromkeys(
                _own(knight=None, through=None, nightfall=("N",), throughout=("N",)), ("AH", "N", "T")
            ),
        ),
        Wrong(
            "each has the sounds of the next",
            lambda: dict(zip(_own(), [*_own().values()][1:] + [*_own().values()][:1], strict=True)),
        ),
        Wrong(
            "a row of one vowel",
            lambda: {
                word: ("AH",) * (2 + place) for place, word in enumerate(_own(blorptastic=None, bloomingtastic=()))
            },
        ),
        Wrong("no vowel", lambda: _own(snozzle=("S", "N", "Z", "L"))),
        Wrong("pairs in a list", lambda: list(_own().items())),
    ),
)


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
        edits, lengths, all_said = ([], [], [])
        for word, reference in enumerate(references):
            prefix, said = ([start_id], [])
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
        prefix, said = ([start_id], [])
        for sound in reference:
            symbol = int(step(word, prefix).argmax())
            said.append(symbol)
            prefix.append(sound)
            wrong, total = (wrong + (symbol != sound), total + 1)
        all_said.append(said)
    return (wrong / total, all_said)


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
    return (edits / sum(map(len, references)), all_said)


def _evaluate_by_metrics(step, references, start_id, end_id, max_len):
    _, all_said = _evaluate()(step, references, start_id, end_id, max_len)
    as_text = lambda rows: [[str(s) for s in row] for row in rows]
    return (metrics.phoneme_error_rate(as_text(all_said), [[row] for row in as_text(references)]), all_said)


def _before_the_end(said, start_id, end_id):
    return said[: said.index(end_id)] if end_id in said else said


BUG = Answers(
    number="11.6",
    alternatives=(
        Right("while loop", _evaluate_while),
        Right("the course's error rate", _evaluate_by_metrics),
        Right("cut at the end afterwards", _evaluate(ends=lambda s, e: False, shown=_before_the_end)),
    ),
    mistakes=(
        Wrong("as it was", _as_it_was),
        Wrong(
            "edit distance only",
            _evaluate(feed=lambda said, reference, t: reference[t], steps=lambda r, m: len(r), ends=lambda s, e: False),
        ),
        Wrong("true sounds, own end", _evaluate(feed=_given_to_the_end)),
        Wrong(
            "true sounds, end among them",
            _evaluate(feed=lambda said, reference, t: reference[t], steps=lambda r, m: len(r)),
        ),
        Wrong("own sounds, length given", _evaluate(steps=lambda r, m: len(r), ends=lambda s, e: False)),
        Wrong("never longer than the truth", _evaluate(steps=lambda r, m: len(r))),
        Wrong("end symbol kept", _evaluate(keep_end=True)),
        Wrong("end symbol ignored", _evaluate(ends=lambda s, e: False)),
        Wrong(
            "end symbols dropped, decoding goes on",
            _evaluate(ends=lambda s, e: False, shown=lambda said, s, e: [x for x in said if x != e]),
        ),
        Wrong("start symbol kept", _evaluate(shown=lambda said, start_id, end_id: [start_id, *said])),
        Wrong("position by position", _evaluate(distance=_places)),
        Wrong("cut to the shorter", _evaluate(distance=lambda a, b: sum((x != y for x, y in zip(a, b, strict=False))))),
        Wrong("divided by what was said", _evaluate(length=lambda said, reference: len(said))),
        Wrong(
            "averaged per word",
            _evaluate(
                rate=lambda edits, lengths: (
                    sum(map(float.__truediv__, map(float, edits), map(float, lengths))) / len(edits)
                )
            ),
        ),
        Wrong("last symbol alone", _evaluate(asked=lambda prefix: prefix[-1:])),
        Wrong("prefix does not grow", _evaluate(asked=lambda prefix: prefix[:1])),
        Wrong("true sounds before the last", _true_before_the_last),
        Wrong("first sound given", _evaluate(feed=lambda said, reference, t: reference[0] if t == 0 else said[-1])),
        Wrong("words counted", _evaluate(rate=lambda edits, lengths: sum((e > 0 for e in edits)) / len(edits))),
        Wrong("rate only", _evaluate(give=lambda rate, said: rate)),
    ),
)

EXERCISES = (
    BATCHES,
    BEAM,
    STEP,
    ALIGNMENT,
    OWN_WORDS,
    BUG,
)

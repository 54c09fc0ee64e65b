"""The phoneme error rate of a model that decodes by itself."""

import itertools

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.edits import DISTANCE_FAULTS, edits
from ...kit.parts import faults_of


def _evaluate(
    step, references, start_id, end_id, max_len, *, feed=lambda said, reference: said[-1],
    asked=lambda prefix, reference: prefix, choose=lambda scores, said, end_id: scores,
    steps=lambda reference, max_len: range(max_len),
    ends=lambda symbol, said, start_id, end_id: symbol == end_id, keep=lambda said, symbol: said,
    shown=lambda said, start_id, end_id: said, counted=lambda said: said, distance=edits,
    length=lambda said, reference: len(reference), rate=lambda counts, lengths: sum(counts) / sum(lengths),
):  # fmt: skip
    counts, lengths, all_said = [], [], []
    for word, reference in enumerate(references):
        before, said = [start_id], []
        for _ in steps(reference, max_len):
            symbol = int(choose(step(word, asked(before, reference)), said, end_id).argmax())
            if ends(symbol, said, start_id, end_id):
                said = keep(said, symbol)
                break
            said.append(symbol)
            before.append(feed(said, reference))
        said = shown(said, start_id, end_id)
        counts.append(distance(counted(said), reference))
        lengths.append(length(said, reference))
        all_said.append(said)
    return rate(counts, lengths), all_said


ODD = {  # kind of word: at which step which symbol's scores are raised, and by how much
    "silent": [(1, "end", 40.0)],
    "early": [(1, "end", -40.0), (2, "end", 40.0)],
    "endless": [(slice(None), "end", -40.0)],
    "start again": [(1, "end", -40.0), (2, "start", 60.0)],
}


def _case(rng, *labels, V, start_id, end_id, kinds, max_len):
    """A model that is right most of the time, and odd in the words of some kinds."""
    table = torch.randn(len(kinds), max_len + 2, V + 1, V + 1, V, generator=rng)
    table[..., start_id] -= 9.0
    symbols = [s for s in range(V) if s not in (start_id, end_id)]
    references = []
    for word, kind in enumerate(kinds):
        length = int(torch.randint(2, max_len - 2, (), generator=rng))
        sounds = [symbols[i] for i in torch.randint(len(symbols), (length,), generator=rng)]
        if kind == "ahead":  # it leaves out the first sound: few edits, though no place agrees
            sounds = (symbols * 3)[: max_len - 2]
        for t, (before, after) in enumerate(itertools.pairwise([start_id, *sounds, end_id]), 1):
            table[word, t, :, before, after] += 5.0 if torch.rand((), generator=rng) < 0.75 else -5.0
            if kind == "ahead":
                table[word, t, ..., [*sounds[1:], end_id, end_id][t - 1]] += 40.0
        for t, symbol, more in ODD.get(kind, ()):
            table[word, t, ..., {"start": start_id, "end": end_id}[symbol]] += more
        references.append(sounds[:1] if kind == "endless" else sounds)
    return Case(*labels, _step=table, references=references, start_id=start_id, end_id=end_id, max_len=max_len)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        _case(rng, V=6, start_id=1, end_id=2, kinds=[None] * 2, max_len=6),
        _case(rng, "a word does not end by itself", V=6, start_id=1, end_id=2, kinds=["endless"], max_len=5),
        _case(rng, "the model says nothing of a word", V=7, start_id=0, end_id=6, kinds=["silent", None], max_len=7),
        _case(rng, "the model says the start symbol", V=7, start_id=3, end_id=0, kinds=["start again", None], max_len=7),
        _case(rng, "the model leaves out a sound", V=8, start_id=7, end_id=0, kinds=["ahead", None], max_len=8),
        _case(rng, "the model ends early", V=8, start_id=4, end_id=5, kinds=["early", "early", None], max_len=7),
        _case(rng, V=8, start_id=7, end_id=0, kinds=[None] * 4, max_len=8),
        _case(rng, V=9, start_id=2, end_id=5, kinds=["ahead", "endless", *[None] * 4], max_len=9),
    ]  # fmt: skip


def _as_it_was(step, references, start_id, end_id, max_len):
    said = [
        [int(step(word, [start_id, *reference[:t]]).argmax()) for t in range(len(reference))]
        for word, reference in enumerate(references)
    ]
    pairs = list(zip(sum(said, []), sum(references, []), strict=True))
    return sum(a != b for a, b in pairs) / len(pairs), said


_GIVEN = {"steps": lambda reference, max_len: reference, "ends": lambda *_: False}
_START_SHOWN = {"shown": lambda said, start, end: [start, *said]}
_READ = {"feed": lambda said, reference: reference[len(said) - 1]}
_OWN = "append the model's own symbol to the prefix, not the reference's, from the first one on."
_STOP = "stop when the model says end_id, or after max_len symbols, whatever the reference."
_BOTH = "put the model's own symbol into the prefix, and stop when it says end_id."
_DIVIDE = "two totals over all words, edits and lengths of the references; then one division, and nothing cut off."

EXERCISE = Exercise(
    answer="evaluate", cases=_cases, reference=_evaluate, returns=("phoneme error rate", "what was said"),
    faults=(
        Fault("as it was", "the function as it was: it gives the model the true sounds, and tells it when to stop.", _BOTH,
            whole=_as_it_was),
        Fault("edit distance only", "edits are counted, but the model still reads the true sounds and is told when to stop.",
            _BOTH, **_READ, **_GIVEN),
        Fault("true sounds, end among them", "the model may end early, but it still reads the true sounds.", _OWN,
            **_READ, steps=_GIVEN["steps"]),
        Fault("own sounds, length given", "the model reads its own sounds, but says as many as the reference has.", _STOP,
            **_GIVEN),
        *faults_of("feed", _OWN,
            ("true sounds, own end", "the model ends by itself, but it still reads the true sounds while there are any.",
                lambda said, reference: [*reference, *said[len(reference) :]][len(said) - 1]),
            ("first sound given", "the first sound in the prefix is the reference's.",
                lambda said, reference: reference[0] if len(said) == 1 else said[-1])),
        *faults_of("steps", _STOP,
            ("never longer than the truth", "the model may end early, but it is always stopped where the reference ends.",
                _GIVEN["steps"]),
            ("one step too few", "a word that does not end by itself has max_len - 1 symbols.", lambda _, most: range(most - 1),
                "all max_len symbols count: cut off nothing but an end symbol."),
            ("no limit", "a word that does not end by itself goes on for ever.", lambda *_: itertools.count())),
        *faults_of("asked", "give step the whole prefix: start_id, and all that the model has said, nothing else.",
            ("true sounds before the last", "the last symbol of the prefix is the model's own, those before it are not.",
                lambda prefix, reference: [prefix[0], *reference][: len(prefix) - 1] + prefix[-1:]
                if len(prefix) < len(reference) + 3 else [prefix[0], *reference, *prefix[len(reference) + 1 :]]),
            ("prefix does not grow", "step is asked the same question every time.", lambda prefix, reference: prefix[:1]),
            ("last symbol alone", "step is given the last symbol alone.", lambda prefix, reference: prefix[-1:]),
            ("prefix without the start symbol", "the prefix lacks the start symbol.", lambda prefix, reference: prefix[1:])),
        *faults_of("ends", "only end_id ends a word, and it may be the first thing that the model says.",
            ("end symbol ignored", "decoding goes on after the end symbol, up to max_len.", lambda *_: False),
            ("start symbol ends", "the start symbol ends a word as well.",
                lambda symbol, said, start_id, end_id: symbol in (start_id, end_id)),
            ("end not heard at once", "a word cannot end before it has a sound.",
                lambda symbol, said, start_id, end_id: symbol == end_id and said)),
        Fault("end left out at first", "the end symbol is left out of the choice of the first symbol.",
            "only end_id ends a word, and it may be the first thing that the model says.",
            choose=lambda scores, said, end_id: scores if said else scores.index_fill(0, torch.tensor(end_id), -torch.inf)),
        Fault("end symbols dropped", "end symbols are left out, but decoding goes on after the first.", _STOP,
            ends=_GIVEN["ends"], shown=lambda said, start, end: [x for x in said if x != end]),
        Fault("end symbol kept", "the end symbol counts as a sound.", "stop before you keep it.",
            keep=lambda said, symbol: [*said, symbol]),
        Fault("start symbol kept", "the start symbol counts as a sound.", "it stands in the prefix only.", **_START_SHOWN),
        Fault("start symbol shown", "the start symbol stands in what was said.", "it stands in the prefix only.",
            **_START_SHOWN, counted=lambda said: said[1:]),
        *DISTANCE_FAULTS,
        Fault("divided by what was said", "the edits are divided by the number of symbols that the model said.", _DIVIDE,
            length=lambda said, reference: len(said)),
        Fault("divided by the longer", "the edits are divided by the longer of what was said and the reference.", _DIVIDE,
            length=lambda said, reference: max(len(said), len(reference))),
        Fault("divided by both", "the edits are divided by the symbols of what was said and of the references together.", _DIVIDE,
            length=lambda said, reference: len(said) + len(reference)),
        *faults_of("rate", _DIVIDE,
            ("averaged per word", "a rate for each word, then their mean.",
                lambda counts, lengths: sum(a / b for a, b in zip(counts, lengths, strict=True)) / len(counts)),
            ("words counted", "the share of wrong words.", lambda counts, lengths: sum(map(bool, counts)) / len(counts)),
            ("word cut at its length", "the edits of a word are cut off at its length.",
                lambda counts, lengths: sum(map(min, counts, lengths)) / sum(lengths)),
            ("rate cut at 1", "the rate is cut off at 1.", lambda counts, lengths: min(1.0, sum(counts) / sum(lengths)))),
    ),
    advice="of one word print what step is given each time, what was said, its edits, and the length of its reference.",
)  # fmt: skip

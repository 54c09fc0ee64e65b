"""Lesson 11: the small models its searches run on, and what is noted of batches and of a student's own words."""

import itertools
import operator
from collections import Counter

from course_utils.datasets.pronunciations import pronunciations
from course_utils.tokenizers import LETTERS, PHONEMES

from ..codec import type_name
from ..probe import Probe, visible


class Model:
    """Scores of the next symbol, looked up: they depend on how many symbols there are and on the last two.

    Args:
        table: ``(..., T, V + 1, V + 1, V)``; what stands in front is the number of a word, where there are several.
    """

    def __init__(self, table):
        self.table = table

    def __call__(self, *asked):
        """The scores ``(V,)`` after a prefix, which comes last."""
        *word, prefix = asked
        V = self.table.shape[-1]
        last = [V, V, *prefix[-2:]][-2:] if hasattr(prefix, "__len__") else [prefix]
        if not all(hasattr(symbol, "__index__") for symbol in last) or not 0 <= min(last) <= max(last) <= V:
            raise ValueError(f"step takes the list of symbols so far, from 0 to {V - 1}; it was given {prefix!r:.50}")
        return self.table[(*word, len(prefix) % self.table.shape[-4], *map(operator.index, last))].clone()

    def __repr__(self):
        return "a small model"


def _with_model(case):
    """The arguments as a student's function gets them; the case holds the table of the model ``step``."""
    return {"step": Model(case["_step"])} | visible(case)


def _counted(step, most):
    """The same model, but it raises where nobody needs to ask any more."""
    calls = itertools.count(1)

    def counted(*asked):
        if next(calls) > most:
            raise RuntimeError(f"step was called more than {most} times: what stops your loop?")
        return step(*asked)

    return counted


def _plain(value):
    """Numbers in place of tensors, in lists of any depth."""
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value)) if type(value) in (list, tuple) else list(map(_plain, value))
    return value.tolist() if hasattr(value, "tolist") else value


def _call_decoding(answer, case):
    step, *rest = _with_model(case).values()  # a search may ask once for each symbol
    sequences = len(case["references"]) if "references" in case else case["num_beams"] * step.table.shape[-1]
    return _plain(answer(_counted(step, 4 * sequences * (case["max_len"] + 2)), *rest))


def _call_batches(answer, case):
    """What can be said of the batches whatever their order: see ``returns`` of the exercise."""
    lengths, limit, seed = list(case["lengths"]), case["limit"], case["seed"]
    calls = [_places(answer(case["lengths"], limit, s), len(lengths)) for s in (seed, *case["_again"])]
    if problem := next((call for call in calls if isinstance(call, str)), None):
        return (problem, *[None] * 10)
    one, *others = calls
    counts = Counter(place for group in one for place in group)
    groups = sorted(sorted(lengths[place] for place in group) for group in one if group)
    holds, neighbors = case["_holds"], zip(groups, groups[1:], strict=False)
    alike = all(a[-1] <= b[0] for a, b in neighbors) if holds else padding(groups) <= case["_padding"]
    return (
        "lists of places",
        _some(len(lengths) > len(counts)),
        _some(sum(counts.values()) > len(counts)),
        _some(not all(one)),
        _some(any(padded(group) > limit for group in groups)),
        "alike" if alike else "far apart",
        (holds[0] if groups in holds else groups) if alike and holds else "not asked",
        "about as few as fit" if len(groups) <= case["_most"] else "more than are needed",
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


def _places(batches, count):
    """Batches as lists of whole numbers, or what else they are, in words."""
    if isinstance(batches, str | bytes | dict) or not hasattr(batches, "__iter__"):
        return f"no list but an object of type {type_name(batches)}"
    found = []
    for group in batches:
        if isinstance(group, str | bytes | dict) or not hasattr(group, "__iter__") or getattr(group, "ndim", 1) == 0:
            return f"one of them is no list but an object of type {type_name(group)}"
        found.append([])
        for place in group:
            if not hasattr(place, "__index__"):
                return f"a place is no whole number but an object of type {type_name(place)}"
            found[-1].append(operator.index(place))
            if not 0 <= found[-1][-1] < count:
                return f"a place is {found[-1][-1]}, for {count} pairs"
    return found


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


VOWELS = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())
MAY_STAND_FOR = {sound: sound.lower() for sound in ("B", "D", "L", "M", "P", "R")} | {
    # a consonant sound, and the letters of which at least one stands in nearly every word that has it
    "CH": "ctj", "DH": "t", "F": "fpgv", "G": "gqx", "HH": "hwjx", "JH": "jgd", "K": "kcqx", "N": "nkg", "NG": "n",
    "S": "sczx", "SH": "sctxh", "T": "td", "TH": "t", "V": "vfw", "W": "wuoq", "Y": "yuijeo", "Z": "zsx", "ZH": "sgzj",
}  # fmt: skip
FITTING = 0.7  # ten random words of the dictionary have 0.85 or more, with each other's sounds 0.69 or less
RULES_KEPT = ("10 or more", *["all of them"] * 4, "5 or more", "differ", "most")


def _call_own_words(answer, case):
    """For each rule of the task whether it holds, and if not, a word that breaks it."""
    words = answer()
    if problem := _no_words(words):
        return (problem, *RULES_KEPT)
    heard = [(word, sound.upper()) for word in words for sound in words[word] if sound.upper() in MAY_STAND_FOR]
    fit = [any(letter in word for letter in MAY_STAND_FOR[sound]) for word, sound in heard]
    new = sum(word not in pronunciations() for word in words)
    kinds = {tuple(sounds) for sounds in words.values()}
    return (
        "words and their sounds",
        "10 or more" if len(words) >= 10 else f"only {len(words)}",
        _first(word + " (a capital)" * (word.lower() != word) for word in words if not word or {*word} - {*LETTERS}),
        _first(f"{s} in {word[:20]}{_kind(s)}" for word in words for s in words[word] if s not in PHONEMES),
        _first(word for word in words if set(words[word]) <= set(PHONEMES) - VOWELS),
        _first(word for word in words if not len(word) / 4 <= len(words[word]) <= 2 * len(word)),
        "5 or more" if new >= 5 else f"only {new}",
        "differ" if len(kinds) > len(words) / 2 else f"only {len(kinds)} for {len(words)} words",
        "most" if fit and sum(fit) >= FITTING * len(fit) else f"{sum(fit)} of {len(fit)}",
    )


def _no_words(words):
    """What else than words and their sounds it is; empty if it is these."""
    if not isinstance(words, dict):
        return f"no dictionary but an object of type {type_name(words)}"
    for word, sounds in words.items():
        if not isinstance(word, str):
            return f"one of the words is an object of type {type_name(word)}"
        if not isinstance(sounds, list | tuple):
            return f"the sounds of {word!r:.20} are an object of type {type_name(sounds)}"
        if other := [sound for sound in sounds if not isinstance(sound, str)]:
            return f"among the sounds of {word!r:.20} is an object of type {type_name(other[0])}"
    return ""


def _first(broken):
    found = next(broken, None)
    return "all of them" if found is None else f"not {found[:50]}"


def _kind(sound):
    if sound.upper() in PHONEMES:
        return " (small letters)"
    return " (a stress mark)" if sound.rstrip("012") in PHONEMES else " (a letter)" if len(sound) == 1 else ""


_SEARCHES = tuple(f"course_utils.decoding.search.{name}" for name in ("beam_search", "greedy_decode"))
_RATES = ("edit_distance", "phoneme_error_rate", "word_error_rate")
_METRICS = tuple(f"course_utils.metrics.{name}" for name in _RATES)
PROBES = {
    "batches_by_length": Probe(call=_call_batches, off_limits=("course_utils.datasets.batches.batches_by_length",)),
    "beam_search": Probe(call=_call_decoding, off_limits=_SEARCHES, hands_out=_with_model),
    "error_rates": Probe(off_limits=_METRICS),
    "letters_of": Probe(off_limits=("course_utils.zoo.pronunciation.align",)),
    "own_words": Probe(call=_call_own_words),
    "evaluate": Probe(call=_call_decoding, hands_out=_with_model),
}

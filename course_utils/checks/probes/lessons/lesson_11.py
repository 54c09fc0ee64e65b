"""Lesson 11: the small models its searches run on, and what is noted of batches and of a student's own words."""

import itertools
import operator

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
    """The batches of each call as lists of places, or in words what else they are."""
    count, seeds = len(case["lengths"]), (case["seed"], *case["_again"])
    return [_places(answer(case["lengths"], case["limit"], seed), count) for seed in seeds]


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


def _call_own_words(answer, case):
    """The words and their sounds, or in words what else they are."""
    words = answer()
    return _no_words(words) or {word: list(words[word]) for word in words}


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


_LIBRARY = tuple(f"course_utils.decoding.search.{name}" for name in ("beam_search", "greedy_decode"))
_SEARCHES = (*_LIBRARY, "course_utils.diagrams.beams.looked_at")
PROBES = {
    "batches_by_length": Probe(call=_call_batches, off_limits=("course_utils.datasets.batches.batches_by_length",)),
    "beam_search": Probe(call=_call_decoding, off_limits=_SEARCHES, hands_out=_with_model),
    "beam_step": Probe(off_limits=_SEARCHES),
    "letters_of": Probe(off_limits=("course_utils.zoo.pronunciation.align",)),
    "own_words": Probe(call=_call_own_words),
    "evaluate": Probe(call=_call_decoding, off_limits=_SEARCHES, hands_out=_with_model),
    "relatives_results": Probe(expects="value"),
}

"""Lesson 11: the small models that its searches run on, and what is noted of batches and of a student's own words."""

import operator

from ..counting import counted
from ..encode import type_name


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
    return {"step": Model(case.driver["step"])} | case


def drive_decoding(answer, case):
    """What a search or an evaluation returns, with plain numbers in place of tensors; ``step`` is a small model."""
    step, *rest = _with_model(case).values()  # a search may ask once for each symbol
    sequences = len(case["references"]) if "references" in case else case["num_beams"] * step.table.shape[-1]
    return _plain(answer(counted(step, 4 * sequences * (case["max_len"] + 2), "step"), *rest))


def _plain(value):
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value)) if type(value) in (list, tuple) else list(map(_plain, value))
    return value.tolist() if hasattr(value, "tolist") else value


def drive_batches(answer, case):
    """The batches of each call as lists of places, or in words what else they are; it is called with several seeds."""
    seeds = (case["seed"], *case.driver["again"])
    return [_places(answer(case["lengths"], case["limit"], seed), len(case["lengths"])) for seed in seeds]


def _places(batches, count):
    if isinstance(batches, str | bytes | dict) or not hasattr(batches, "__iter__"):
        return f"no list but an object of type {type_name(batches)}"
    lists = []
    for group in batches:
        if isinstance(group, str | bytes | dict) or not hasattr(group, "__iter__") or getattr(group, "ndim", 1) == 0:
            return f"one of them is no list but an object of type {type_name(group)}"
        lists.append([])
        for place in group:
            if not hasattr(place, "__index__"):
                return f"a place is no whole number but an object of type {type_name(place)}"
            lists[-1].append(operator.index(place))
            if not 0 <= lists[-1][-1] < count:
                return f"a place is {lists[-1][-1]}, for {count} pairs"
    return lists


def drive_own_words(answer, case):
    """The words and their sounds, or in words what else they are."""
    words = answer()
    return _no_words(words) or {word: list(words[word]) for word in words}


def _no_words(words):
    if not isinstance(words, dict):
        return f"no dictionary but an object of type {type_name(words)}"
    for word, sounds in words.items():
        if not isinstance(word, str):
            return f"one of the words is an object of type {type_name(word)}"
        if not isinstance(sounds, list | tuple):
            return f"the sounds of {word!r:.20} are an object of type {type_name(sounds)}"
        if others := [sound for sound in sounds if not isinstance(sound, str)]:
            return f"among the sounds of {word!r:.20} is an object of type {type_name(others[0])}"
    return ""


SHOWN = {"drive_decoding": _with_model}

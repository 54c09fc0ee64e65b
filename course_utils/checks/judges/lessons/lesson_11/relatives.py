"""Open experiment: the errors on held-out words with and without a relative in the training words."""

from bisect import bisect_left
from functools import cache

from course_utils.datasets.pronunciations import split

from ...experiment import Claim, Experiment
from ...kit.experiments import number, numbers

LENGTHS = {"6 to 7": (6, 7), "8 to 9": (8, 9), "10 or more": (10, 99)}
_KEYS = [(lengths, relative) for lengths in LENGTHS for relative in (True, False)]


@cache
def _words():
    """How many words each entry has: the dictionary decides, no model."""
    trained, found = sorted(split("train")), dict.fromkeys(_KEYS, 0)
    for word in split("valid"):
        at = bisect_left(trained, word[:-2])
        relative = at < len(trained) and trained[at].startswith(word[:-2])
        for lengths, (low, high) in LENGTHS.items():
            found[lengths, relative] += low <= len(word) <= high
    return found


def _pairs(results):
    for key in _KEYS:
        row = numbers(results[key])
        if len(row) != 2:
            return f"entry {key!r} holds {len(row)} numbers; a pair is asked for, words and wrong ones."
        if any(one != int(one) for one in row) or not 0 <= row[1] <= row[0]:
            return f"entry {key!r} is {tuple(row)}; of so many words so many can't be wrong."
    return None


def _counted(results):
    off = [(key, int(numbers(results[key])[0]), n) for key, n in _words().items() if numbers(results[key])[0] != n]
    return "entry {!r} has {} words, and there are {}.".format(*off[0]) if off else None


def _possible(results):
    share = sum(numbers(results[key])[1] for key in _KEYS) / sum(_words().values())
    said = f"of all words {100 * share:.0f} % are wrong by your table, which isn't so for this model."
    return None if 0.05 < share < 0.6 else said


def _both(results):
    """Error rate and number of words, with a relative and without."""
    rows = {r: [numbers(results[lengths, r]) for lengths in LENGTHS] for r in (True, False)}
    return [
        (sum(b for _, b in rows[r]) / sum(a for a, _ in rows[r]), sum(a for a, _ in rows[r])) for r in (True, False)
    ]


def _groups(results):
    rate = {key: numbers(results[key])[1] / numbers(results[key])[0] for key in _KEYS}
    lower = sum(rate[lengths, True] < rate[lengths, False] for lengths in LENGTHS)
    if (said := number(results["lower with a relative"])) != lower:
        return f"you count {said:g} groups; by your table words with a relative have the lower rate in {lower}."
    return None


def _difference(results):
    (p, _), (q, _) = _both(results)
    said, true = number(results["difference"]), 100 * (q - p)
    if abs(said - true) < 0.06:
        return None
    if abs(said + true) < 0.06:
        return f"your difference is {said:.2f}, with the sign turned round."
    if abs(100 * said - true) < 0.06:
        return f"your difference is {said:.4f}, a fraction and not in percentage points."
    means = [sum(b / a for a, b in (numbers(results[g, r]) for g in LENGTHS)) / 3 for r in (True, False)]
    if abs(said - 100 * (means[1] - means[0])) < 0.06:
        return f"your difference is {said:.2f}: that of the mean of three rates, in which small groups count as much."
    return f"your difference is {said:.2f}; by your table it is {true:.2f}."


def _spread(results):
    (p, n), (q, m) = _both(results)
    said, true = number(results["standard error"]), 100 * (p * (1 - p) / n + q * (1 - q) / m) ** 0.5
    return None if abs(said - true) < 0.06 else f"your standard error is {said:.2f}; by your table it is {true:.2f}."


def _chance(results):
    said, difference, error = (results[key] for key in ("may be chance", "difference", "standard error"))
    how = "less" if (chance := abs(number(difference)) < 2 * number(error)) else "more"
    found = f"you say {bool(said)}; {abs(number(difference)):.1f} is {how} than twice {number(error):.1f}."
    return None if bool(said) == chance else found


def _example():
    results = {key: (words, round(words * (0.2 if key[1] else 0.35))) for key, words in _words().items()}
    (p, n), (q, m) = _both(results)
    error = 100 * (p * (1 - p) / n + q * (1 - q) / m) ** 0.5
    results |= {"lower with a relative": 3, "difference": 100 * (q - p), "standard error": error}
    return results | {"may be chance": 100 * (q - p) < 2 * error}


_POOLED = "add up words and wrong ones over the three groups of lengths, divide, and take the rate with a relative off."
EXPERIMENT = Experiment(
    answer="relatives_results", example=_example, claims=(
        Claim("pairs", _pairs, "store (words, wrong) under (lengths, relative)."),
        Claim("counted", _counted, "a relative begins with word[:-2]; look among the words of train, and count all of `wrong`."),
        Claim("possible", _possible, "count the words for which wrong[word] is True."),
        Claim("groups", _groups, "divide wrong by words in each entry, and compare within each group of lengths."),
        Claim("difference", _difference, _POOLED),
        Claim("standard error", _spread, "two terms p (1 - p) / n, added; the root of it, times 100."),
        Claim("chance", _chance, "compare the difference without its sign with two standard errors."),
    ),
)  # fmt: skip

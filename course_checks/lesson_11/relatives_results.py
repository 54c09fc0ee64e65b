"""11.7 · Open experiment: reading or remembering?"""

from bisect import bisect_left
from functools import cache

from course_utils.datasets.pronunciations import split

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import number, numbers

LENGTHS = {"6 to 7": (6, 7), "8 to 9": (8, 9), "10 or more": (10, 99)}
KEYS = [(lengths, relative) for lengths in LENGTHS for relative in (True, False)]


@cache
def words():
    """How many words each entry has: the dictionary decides, no model."""
    trained, count = sorted(split("train")), dict.fromkeys(KEYS, 0)
    for word in split("valid"):
        place = bisect_left(trained, word[:-2])
        relative = place < len(trained) and trained[place].startswith(word[:-2])
        for lengths, (low, high) in LENGTHS.items():
            count[lengths, relative] += low <= len(word) <= high
    return count


def pairs(results):
    for key in KEYS:
        row = numbers(results[key])
        if len(row) != 2:
            return f"entry {key!r} holds {len(row)} numbers; a pair is asked for, words and wrong ones."
        if any(item != int(item) for item in row) or not 0 <= row[1] <= row[0]:
            return f"entry {key!r} is {tuple(row)}; of so many words so many can't be wrong."
    return None


def exchanged(results):
    if all(numbers(results[lengths, relative])[0] == words()[lengths, not relative] for lengths, relative in KEYS):
        return "each entry with True has the words that belong under False, and the other way round."
    return None


def counted(results):
    rows = ((key, int(numbers(results[key])[0]), count) for key, count in words().items())
    return next(
        (f"entry {key!r} has {n} words; there are {'more' if m > n else 'fewer'}." for key, n, m in rows if n != m),
        None,
    )


def possible(results):
    share = sum(numbers(results[key])[1] for key in KEYS) / sum(words().values())
    problem = f"of all words {100 * share:.0f} % are wrong by your table, which isn't so for this model."
    return None if 0.05 < share < 0.6 else problem


def both(results):
    """Error rate and number of words, with a relative and without."""
    rows = {relative: [numbers(results[lengths, relative]) for lengths in LENGTHS] for relative in (True, False)}
    return [(sum(b for _, b in part) / sum(a for a, _ in part), sum(a for a, _ in part)) for part in rows.values()]


def groups(results):
    rate = {key: numbers(results[key])[1] / numbers(results[key])[0] for key in KEYS}
    lower = sum(rate[lengths, True] < rate[lengths, False] for lengths in LENGTHS)
    yours = number(results["lower with a relative"])
    return None if yours == lower else f"you count {yours:g} groups; your table says something else."


def difference(results):
    (p, _), (q, _) = both(results)
    yours, right = number(results["difference"]), 100 * (q - p)
    means = [sum(b / a for a, b in (numbers(results[g, r]) for g in LENGTHS)) / 3 for r in (True, False)]
    for value, problem in (
        (right, None),
        (-right, f"your difference is {yours:.2f}, with the sign turned round."),
        (right / 100, f"your difference is {yours:.4f}, a fraction and not in percentage points."),
        (100 * (means[1] - means[0]), f"your difference is {yours:.2f}: that of the mean of three rates."),
    ):
        if abs(yours - value) < (0.0006 if value == right / 100 else 0.06):
            return problem
    return f"your difference is {yours:.2f}; by your table it is another one."


def spread(results):
    (p, n), (q, m) = both(results)
    yours, right = number(results["standard error"]), 100 * (p * (1 - p) / n + q * (1 - q) / m) ** 0.5
    return (
        None if abs(yours - right) < 0.06 else f"your standard error is {yours:.2f}; by your table it is another one."
    )


def chance(results):
    yours, size, error = results["may be chance"], *(abs(number(results[k])) for k in ("difference", "standard error"))
    how = "less" if size < 2 * error else "more"
    problem = f"you say {bool(yours)}; {size:.1f} is {how} than twice {error:.1f}."
    return None if bool(yours) == (size < 2 * error) else problem


POOLED = "add up words and wrong ones over the three groups of lengths, divide, take the rate with a relative off, times 100."
EXERCISE = Experiment(
    claims=(
        Claim("pairs", pairs, "store (words, wrong) under (lengths, relative)."),
        Claim("exchanged", exchanged, "True: some word of train begins with word[:-2]. False: none does."),
        Claim("counted", counted, "a relative begins with word[:-2]; look in train for it, and count all of `wrong`."),
        Claim("possible", possible, "count the words for which wrong[word] is True."),
        Claim("groups", groups, "divide wrong by words in each entry, and compare within each group of lengths."),
        Claim("difference", difference, POOLED),
        Claim("standard error", spread, "two terms p (1 - p) / n, added; the root of it, times 100."),
        Claim("chance", chance, "compare the difference without its sign with two standard errors."),
    )
)

"""13.8 · Experiment: how many lengths does it take?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, means_within, one_of, table_of

KINDS = ("only 16", "15 and 16", "12 to 16")
STEPS = (100, 200, 400)
KEYS = [(name, letters, step) for name in KINDS for letters in (16, 10) for step in STEPS]
SCORES = [("score", name) for name in KINDS]
# With room on both sides of what five seeds gave, each pair of them.
POSSIBLE = {
    ("only 16", 16, 100): (0.0, 0.6),
    ("only 16", 16, 400): (0.0, 0.3),
    ("only 16", 10, 400): (5.0, 40.0),
    ("15 and 16", 16, 100): (0.4, 4.2),
    ("15 and 16", 16, 400): (0.0, 0.6),
    ("12 to 16", 16, 100): (1.8, 4.7),
    ("12 to 16", 10, 100): (3.0, 9.0),
    ("12 to 16", 16, 400): (0.0, 0.8),
    ("12 to 16", 10, 400): (0.0, 1.6),
}


def _exchanged(results):
    """Strings of 10 letters were in nobody's training, those of 16 in everybody's."""
    for name in KINDS[:2]:
        if mean(results, (name, 16, 400)) > mean(results, (name, 10, 400)):
            return f"by your numbers {name!r} continues strings of 10 better than those of 16. Are the two exchanged?"
    if mean(results, ("12 to 16", 16, 100)) < mean(results, ("only 16", 16, 100)):
        return "after 100 updates 'only 16' should know its one length best. Are the names exchanged?"
    return None


def _possible_score(name, score):
    if name[1] == "12 to 16" or score > 0.96:
        return f"the scores of {name[1]!r} have the mean {score:.2f}, which such models don't have on strings of 16 letters."
    return f"the scores of {name[1]!r} have the mean {score:.2f}; its best head on strings of 16 letters has more."


def _listed(key, holds, told):
    """The claim that a list of names is the one that follows from the student's own table."""

    def problem(results):
        answer = results[key]
        if isinstance(answer, str) or not isinstance(answer, list | tuple | set | frozenset):
            return f"entry {key!r} is {answer!r}; it must be a list of names, also if it has one name or none."
        if unknown := [name for name in answer if name not in KINDS]:
            return f"entry {key!r} holds {unknown[0]!r}, which is none of the three names."
        for name in KINDS:
            if holds(results, name) != (name in answer):
                with_it = "isn't in" if holds(results, name) else "is in"
                return f"{name!r} {with_it} your list {key!r}, but {told(results, name)}."
        return None

    return problem


def _rule(results, name):
    return mean(results, (name, 10, 400)) < 1


def _fooled(results, name):
    return mean(results, ("score", name)) > 0.5 and mean(results, (name, 10, 400)) > 1


def _improving(results, name):
    return mean(results, (name, 10, 200)) - mean(results, (name, 10, 400)) >= 1


def _bits_of_ten(results, name):
    return f"on strings of 10 letters it needs {mean(results, (name, 10, 400)):.2f} bits after 400 updates"


def _score_and_bits(results, name):
    return f"it has a score of {mean(results, ('score', name)):.2f}, and {_bits_of_ten(results, name)}"


def _both_times(results, name):
    early, late = (mean(results, (name, 10, step)) for step in (200, 400))
    return f"on strings of 10 letters it needs {early:.2f} bits after 200 updates and {late:.2f} after 400"


def _first(results):
    if wrong := one_of(results, "first", KINDS):
        return wrong
    means = {name: mean(results, (name, 16, 100)) for name in KINDS}
    if means[results["first"]] == min(means.values()):
        return None
    listed = ", ".join(f"{name} {value:.2f}" for name, value in means.items())
    return f"after 100 updates the means on 16 letters are {listed}; {results['first']!r} isn't the smallest."


MEANS = "take the mean of the two seeds for each name, and compare."
EXERCISE = Experiment(
    claims=(
        Claim(
            "all runs",
            table_of(KEYS, 2, 0.0, 60.0),
            "two numbers for each key (name, letters, updates), one for each seed; `look` is called with the number of each "
            "update.",
        ),
        Claim(
            "all scores",
            table_of(SCORES, 2, 0.0, 1.0),
            'two numbers under ("score", name), one for each trained model.',
        ),
        Claim("exchanged", _exchanged, "the key is (name, letters, updates), letters being those of judged(letters)."),
        Claim(
            "possible",
            means_within(
                POSSIBLE,
                lambda key, bits: (
                    f"under {key!r} the mean is {bits:.2f} bits, which such models don't have after so many updates."
                ),
            ),
            "seed_everything(seed) and a new model for each run, and the lengths of the table; second_half_bits gives bits.",
        ),
        Claim(
            "possible scores",
            means_within(
                {
                    ("score", "only 16"): (0.6, 1.0),
                    ("score", "15 and 16"): (0.3, 1.0),
                    ("score", "12 to 16"): (0.5, 1.0),
                },
                _possible_score,
            ),
            "the largest of all eight heads' scores on judged(16), once the model is trained.",
        ),
        Claim("first", _first, MEANS),
        Claim("rule", _listed("rule", _rule, _bits_of_ten), MEANS),
        Claim(
            "fooled", _listed("fooled", _fooled, _score_and_bits), f"{MEANS} Both must hold, the score and the bits."
        ),
        Claim("improving", _listed("improving", _improving, _both_times), MEANS),
    )
)

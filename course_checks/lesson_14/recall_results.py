"""14.10 · Experiment: a larger state or a better rule?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, means_within, number, numbers, table_of

FORMS = [(kind, d_head) for kind in ("linear", "delta") for d_head in (4, 16)]
PAIRS = (8, 32, 64)
KEYS = [(*form, pairs) for form in FORMS for pairs in PAIRS]
NEAR_1 = ("delta", 16, 8)  # nearly all of 4,096 answers are right: two seeds may well have as many
# With room on both sides of what four seeds gave.
POSSIBLE = {
    ("linear", 4, 8): (0.38, 0.58),
    ("linear", 4, 32): (0.2, 0.37),
    ("linear", 4, 64): (0.1, 0.22),
    ("linear", 16, 8): (0.4, 0.62),
    ("linear", 16, 64): (0.36, 0.52),
    ("delta", 4, 8): (0.66, 0.92),
    ("delta", 4, 32): (0.17, 0.5),
    ("delta", 4, 64): (0.09, 0.31),
    ("delta", 16, 8): (0.95, 1.0),
    ("delta", 16, 32): (0.75, 0.96),
    ("delta", 16, 64): (0.45, 0.7),
}
LONGER = {
    ("linear", 4): (0.12, 0.26),
    ("linear", 16): (0.4, 0.6),
    ("delta", 4): (0.19, 0.4),
    ("delta", 16): (0.68, 0.92),
}


def _longer(results):
    for form in FORMS:
        share, (low, high) = number(results[*form, "longer"]), LONGER[form]
        if not low <= share <= high:
            return (
                f"under {(*form, 'longer')!r} the share is {share:.2f}, which such a layer doesn't have for 64 pairs after a "
                "training of 400 updates."
            )
    return None


def _more(what):
    """The claim which of two forms recalls more of so many pairs, or of 64 after the longer training."""
    options = [("linear", 16), ("delta", 4)]
    of = "64 pairs after the longer training" if what == "longer" else f"{what} pairs"

    def problem(results):
        answer = results["more", what]
        if not isinstance(answer, tuple | list) or tuple(answer) not in options:
            return f"entry {('more', what)!r} is {answer!r}; it must be one of {', '.join(map(str, options))}."
        shares = {
            form: number(results[*form, what]) if what == "longer" else mean(results, (*form, what)) for form in options
        }
        if shares[tuple(answer)] == max(shares.values()):
            return None
        listed = " and ".join(f"{form} {value:.2f}" for form, value in shares.items())
        return f"entry {('more', what)!r} is {tuple(answer)}, but by your numbers the shares for {of} are {listed}."

    return problem


def _listed(key, options, holds, told):
    """The claim that a list is the one that follows from the student's own table."""

    def problem(results):
        answer = results[key]
        if isinstance(answer, str) or not isinstance(answer, list | tuple | set | frozenset):
            return f"entry {key!r} is {answer!r}; it must be a list, also if it has one entry or none."
        given = [tuple(item) if isinstance(item, list) else item for item in answer]
        if unknown := [item for item in given if item not in options]:
            return f"entry {key!r} holds {unknown[0]!r}; it may hold some of {', '.join(map(repr, options))}."
        for option in options:
            if holds(results, option) != (option in given):
                with_it = "isn't in" if holds(results, option) else "is in"
                return f"{option!r} {with_it} your list {key!r}, but {told(results, option)}."
        return None

    return problem


def _both_trainings(results, form):
    return numbers(results[*form, 64])[0], number(results[*form, "longer"])


def _not_done(results, form):
    short, long = _both_trainings(results, form)
    return long >= 1.25 * short


def _told(results, form):
    return "with seed 0 its share for 64 pairs is {:.3f} after 200 updates and {:.3f} after 400".format(
        *_both_trainings(results, form)
    )


MEANS = "take the mean of the two seeds first, and compare."
EXERCISE = Experiment(
    claims=(
        Claim(
            "all runs",
            table_of(KEYS, 2, 0.0, 1.0, may_be_equal=(NEAR_1,)),
            "two shares for each key (kind, d_head, pairs), one for each seed.",
        ),
        Claim(
            "possible",
            means_within(
                POSSIBLE,
                lambda key, share: (
                    f"under {key!r} the mean share is {share:.2f}, which such layers don't have after so few updates."
                ),
            ),
            "the key is (kind, d_head, pairs); twice=True and steps=200 for each of the eight short trainings.",
        ),
        Claim(
            "longer",
            _longer,
            "a training of its own with steps=400 and seed 0, twice=True as in the others; one number under each key.",
        ),
        Claim("more at 8", _more(8), MEANS),
        Claim("more at 64", _more(64), MEANS),
        Claim(
            "not done",
            _listed("not done", FORMS, _not_done, _told),
            'compare (kind, d_head, "longer") with 1.25 times the share of the same seed, 0.',
        ),
        Claim("more after longer", _more("longer"), 'compare the two under (kind, d_head, "longer").'),
    )
)

"""8.4 · Relative or absolute?"""

from ..deciding.exercise import Exercise
from ..deciding.wrong_answer import Diagnosis
from .score_tables import cases


def asks_outside(answer):
    """``score`` was asked for a position that there is not (the driver's own words)."""
    if not answer.observed[answer.first].get("message", "").startswith("score("):
        return None
    sentence = "score is asked for a position that does not exist: positions run from 0 to length - 1."
    return Diagnosis("symptom", "outside", sentence, "look at the first and the last number of your ranges.")


def always_the_same(answer):
    """One verdict for everything."""
    values = [seen["value"].get("value") for seen in answer.observed if seen["outcome"] == "returned"]
    if not values or not isinstance(values[0], bool) or any(value is not values[0] for value in values):
        return None
    sentence = f"the test says {values[0]} of every score that was tried."
    return Diagnosis("symptom", "always the same", sentence, "True only after all pairs have been compared.")


EXERCISE = Exercise(
    cases,
    returns=("relative",),
    driver="with_a_score",
    symptoms=(asks_outside, always_the_same),
    advice="print score(m, n) - score(m - 1, n - 1) for all pairs, and look at its size.",
)

"""The outcomes of an exercise in plain words: for a table, for the student, and for the pictures."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """How an outcome is said."""

    status: str  # in a table
    heading: str  # on the student's page
    meaning: str  # one sentence for the student; empty where the heading says it all
    kind: str  # which of ``KINDS`` it is drawn as


KINDS = {
    "right": "right",
    "part": "right in part",
    "wrong": "not right yet",
    "limits": "uses what is off limits",
    "stopped": "did not run to its end, or could not be judged",
    "empty": "empty, missing or not handed in",
}
WORDS = {
    "right": Words("right", "right", "", "right"),
    "wrong": Words("wrong", "not right yet", "Your code ran, but what it returned is not right.", "wrong"),
    "in part": Words("in part", "right in part", "Right in ordinary cases, wrong in special ones: that earns a part.", "part"),
    "not attempted": Words("empty", "not attempted", "The place for your answer is as it was handed out.", "empty"),
    "missing": Words("missing", "missing", "Your notebook has nothing by the name that the check needs.", "empty"),
    "off limits": Words(
        "off limits",
        "uses what is off limits",
        "This exercise asks you to write the computation yourself, so the answer does not count, even where it is right.",
        "limits",
    ),
    "syntax error": Words(
        "syntax error",
        "Python cannot read it",
        "The cell is not Python as it stands, so nothing in it was run.",
        "stopped",
    ),
    "error": Words("error", "stopped with an error", "Your cell raised an error before it defined the answer.", "stopped"),
    "time limit": Words("time limit", "out of time", "Your code was ended since it ran too long.", "stopped"),
    "memory": Words("memory", "out of memory", "Your code was ended since it took more memory than it may.", "stopped"),
    "output limit": Words("output limit", "printed too much", "Your code was ended since it printed too much.", "stopped"),
    "not reached": Words(
        "not reached",
        "not reached",
        "The notebook ended before this exercise, because of another cell: nothing is said about this answer.",
        "stopped",
    ),
    "unreadable": Words(
        "unreadable", "could not be judged", "What came back from your code could not be read.", "stopped"
    ),
}  # fmt: skip
NOTHING = "nothing handed in"
UNREADABLE = WORDS["unreadable"].status


def words(outcome: str) -> Words:
    """How an outcome is said; one that nobody has listed is said as it is."""
    return WORDS.get(outcome) or Words(outcome, outcome, "", "stopped")

"""The outcomes of an exercise in plain words: for a table, for the student, and for the pictures."""

import csv
from dataclasses import dataclass
from pathlib import Path


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
with open(Path(__file__).with_suffix(".csv"), encoding="utf-8", newline="") as file:
    WORDS = {row.pop("outcome"): Words(**row) for row in csv.DictReader(file)}
NOTHING = "nothing handed in"


def words(outcome: str) -> Words:
    """How an outcome is said; one that nobody has listed is said as it is."""
    return WORDS.get(outcome) or Words(outcome, outcome, "", "stopped")

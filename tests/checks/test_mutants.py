"""Both corpora: every wrong answer refused and told what was told when it was last looked at, every right one accepted.

``make mutants`` prints the figures; ``python tests/checks/mutants.py --record`` notes what is told now (read the difference
before you commit it). A sample runs here in ``make test``, all of it in ``make test-all``.
"""

import dataclasses
import json

import pytest
from corpora import answers
from mutants import RECORD, recorded, table, told_of, trials

from course_utils.checks.engine import SEED
from course_utils.checks.judges.exercise import Exercise, Quiz
from course_utils.checks.judges.find import all_entries, find

EXERCISES = [number for number, entry in all_entries().items() if isinstance(entry, Exercise)]
NUMBERS = [number for number, entry in all_entries().items() if not isinstance(entry, Quiz)]  # with the experiments
SAMPLE = [n if n.endswith(".1") else pytest.param(n, marks=pytest.mark.slow) for n in NUMBERS]


@pytest.mark.parametrize("number", SAMPLE)
def test_answers_of_people_who_had_the_statement_alone(number):
    holds_and_is_told_as_recorded(number, "independent", SEED)


@pytest.mark.parametrize("number", SAMPLE)
def test_answers_that_the_first_tables_knew(number):
    holds_and_is_told_as_recorded(number, "tables", SEED)


def holds_and_is_told_as_recorded(number, corpus, seed):
    done = trials(find(number), seed, corpus)
    assert done or corpus == "tables" or number not in EXERCISES
    assert not [trial.text for trial in done if not trial.holds]
    told, known = told_of(done), recorded()
    assert {key: value for key, value in told.items() if known.get(key) != value} == {}


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_other_cases_of_the_grader(number):
    assert not [trial.text for trial in trials(find(number), 1) if not trial.holds]


def test_nearly_all_are_told_something_specific():
    of_wrong = [
        said for key, said in recorded().items() if " independent " in key and not key.split(": ")[0].endswith("right")
    ]
    general = [said for said in of_wrong if said.startswith("general")]
    assert len(of_wrong) > 500 and len(general) <= 0.05 * len(of_wrong)


def test_every_exercise_has_wrong_and_right_answers_in_the_corpora():
    for number in EXERCISES:
        kinds = [answer.kind for answer in answers(number, find(number).answer)]
        assert kinds.count("right") >= 2 and len(kinds) - kinds.count("right") >= 4, number


def test_the_record_is_of_answers_that_are_there():
    known = {
        f"{a.number} {a.corpus} {a.kind}: {a.about}" for number in NUMBERS for a in answers(number, find(number).answer)
    }
    assert set(json.loads(RECORD.read_text(encoding="utf-8"))) == known


def test_the_table_counts_and_would_notice():
    entry = find("1.1")
    text, whole = table(trials(entry))
    assert whole and "independent" in text and "tables" in text
    wrong = dataclasses.replace(entry, reference=entry.with_faults(entry.faults[0]), faults=())
    text, whole = table(trials(wrong))
    assert not whole and "1.1 right" in text

"""What the output folder knows of a class besides results and files: deadlines and the roster. It stays from run to run."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

from .lateness import Policy, parse_policy
from .roster import Person

FILE = "class.json"


@dataclass(frozen=True)
class Deadline:
    """When a lesson is due, and what is taken off after that."""

    due: datetime
    policy: Policy | None = None


@dataclass(frozen=True)
class Choices:
    """What this run was told about the class; None leaves what an earlier run was told.

    Args:
        due: Of the lessons that are graded in this run.
        no_due: Lift the deadline that an earlier run was told.
        policy: For what is late.
        roster: The class.
    """

    due: datetime | None = None
    no_due: bool = False
    policy: Policy | None = None
    roster: tuple[Person, ...] | None = None


@dataclass(frozen=True)
class ClassRecord:
    """The record.

    Args:
        deadlines: By lesson.
        roster: The class; None where no roster was given.
    """

    deadlines: dict[str, Deadline] = field(default_factory=dict)
    roster: tuple[Person, ...] | None = None

    def told(self, choices: Choices, lessons: Iterable[str]) -> "ClassRecord":
        """The record after a run that graded these lessons and was told this."""
        deadlines = dict(self.deadlines)
        for lesson in sorted(lessons):
            before = deadlines.get(lesson)
            due = choices.due or (before.due if before else None)
            if choices.no_due:
                deadlines.pop(lesson, None)
            elif due is not None:
                deadlines[lesson] = Deadline(due, choices.policy or (before.policy if before else None))
        return ClassRecord(deadlines, self.roster if choices.roster is None else choices.roster)

    def dumps(self) -> str:
        """As the file's text."""
        deadlines = {
            lesson: {"due": one.due.isoformat(), "late": str(one.policy) if one.policy else None}
            for lesson, one in self.deadlines.items()
        }
        roster = None if self.roster is None else [asdict(person) for person in self.roster]
        return json.dumps({"deadlines": deadlines, "roster": roster}, indent=1) + "\n"


def load(folder: Path) -> ClassRecord:
    """The record of an output folder; an empty one where there is none.

    Raises:
        ValueError: It is damaged.
    """
    path = folder / FILE
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        deadlines = {
            lesson: Deadline(datetime.fromisoformat(one["due"]), parse_policy(one["late"]) if one["late"] else None)
            for lesson, one in told["deadlines"].items()
        }
        return ClassRecord(
            deadlines, None if told["roster"] is None else tuple(Person(**one) for one in told["roster"])
        )
    except FileNotFoundError:
        return ClassRecord()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ValueError(
            f"output ({folder}): {FILE} is damaged ({type(problem).__name__}); expected what an earlier run wrote there. "
            "Delete it, and run the grader again with --due and --roster for each lesson: results are kept"
        ) from None

"""Deadlines and roster, ``class.json`` in the output folder: they stay from run to run."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

from .lateness import Policy, parse_policy
from .roster import Person

FILE = "class.json"
LIFTED = "none"  # in the place of a deadline or policy


@dataclass(frozen=True)
class Deadline:
    """When a lesson is due, and what is taken off after that."""

    due: datetime
    policy: Policy | None = None


@dataclass(frozen=True)
class ClassOptions:
    """What this run was told about the class; None leaves what an earlier run was told, ``LIFTED`` takes it away."""

    due: datetime | str | None = None  # of the lessons that are graded in this run
    policy: Policy | str | None = None  # for what is late
    roster: tuple[Person, ...] | None = None


@dataclass(frozen=True)
class ClassSettings:
    """The deadlines by lesson, and the class (None where no roster was given)."""

    deadlines: dict[str, Deadline] = field(default_factory=dict)
    roster: tuple[Person, ...] | None = None

    def updated(self, options: ClassOptions, lessons: Iterable[str]) -> "ClassSettings":
        """The settings after a run that graded these lessons with these options."""
        deadlines = dict(self.deadlines)
        for lesson in lessons:
            before = deadlines.pop(lesson, None)
            due = options.due or (before.due if before else LIFTED)
            policy = options.policy or (before.policy if before else None)
            if due != LIFTED:
                deadlines[lesson] = Deadline(due, None if policy == LIFTED else policy)
        roster = self.roster if options.roster is None else options.roster
        return ClassSettings(dict(sorted(deadlines.items())), roster)

    def dumps(self) -> str:
        """As the file's text."""
        return json.dumps(asdict(self), default=str, indent=1) + "\n"


def load_class_settings(folder: Path) -> ClassSettings:
    """The settings of an output folder; empty ones where there is no file."""
    try:
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        deadlines = {
            lesson: Deadline(datetime.fromisoformat(row["due"]), row["policy"] and parse_policy(row["policy"]["text"]))
            for lesson, row in stored["deadlines"].items()
        }
        roster = None if stored["roster"] is None else tuple(Person(**row) for row in stored["roster"])
        return ClassSettings(deadlines, roster)
    except FileNotFoundError:
        return ClassSettings()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ValueError(
            f"output ({folder}): {FILE} is damaged ({type(problem).__name__}); expected what an earlier run wrote there. "
            "Delete it, and run the grader again with --due and --roster for each lesson: results are kept"
        ) from None

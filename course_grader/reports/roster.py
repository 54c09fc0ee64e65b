"""The class's roster, and which student of it a folder belongs to. Never a guess between two."""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .csv_files import read

NAMES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))  # of columns, by field
FORM = "expected a header with at least one of: id, e-mail, name (or first name, last name), user name"
MOODLE = re.compile(r"(?P<name>.+?)_(?P<participant>\d+)(_(assignsubmission|onlinetext).*)?")
CANVAS = re.compile(r"(?P<name>[^_]+?)(_LATE)?_(?P<user>\d+)_(?P<submission>\d+)")


@dataclass(frozen=True)
class Person:
    """One student of the roster; empty where the roster does not say."""

    id: str = ""  # the platform's or the university's number
    email: str = ""  # E-mail address
    name: str = ""  # full name
    first: str = ""  # given name
    last: str = ""  # family name
    user: str = ""  # user name
    sis: str = ""  # "SIS User ID" of a gradebook from Canvas
    section: str = ""  # as in a gradebook from Canvas
    participant: str = ""  # the number in "Participant 12345" of a grading worksheet from Moodle
    group: str = ""  # one or several, between commas

    @property
    def groups(self) -> list[str]:
        """The groups that the student is in."""
        return [name for part in re.split("[,;]", self.group) if (name := part.strip())]

    def __str__(self) -> str:
        return " ".join(part for part in (self.name, self.id or self.email or self.user) if part)


def read_roster(path: Path) -> tuple[Person, ...]:
    """The students of a roster: one's own list, a gradebook from Canvas, participants or a worksheet from Moodle."""
    header, rows = read(path, "--roster")
    known = [name for name in ("id", "email", "name", "last", "user") if set(NAMES[name]) & set(header)]
    if not known:
        raise ValueError(f"--roster ({path}): its header is {', '.join(header) or 'empty'}; {FORM}")
    people, seen = [], {}
    for row in rows:
        fields = {field: next(filter(None, map(row.values.get, names)), "") for field, names in NAMES.items()}
        if fields["name"].lower() == "points possible":  # the second row of a gradebook from Canvas
            continue
        if "," in fields["name"] and not fields["last"]:
            fields["last"], fields["first"] = (part.strip() for part in fields["name"].split(",", 1))
        if fields["first"] or fields["last"]:
            fields["name"] = " ".join(part for part in (fields["first"], fields["last"]) if part)
        fields["participant"] = re.sub(r"\D", "", fields["participant"])
        person = Person(**fields)
        if not str(person):
            raise ValueError(f"--roster ({path}), line {row.line}: no id, e-mail, name or user name; fill one in")
        for value in {fields["id"], fields["email"].lower(), fields["user"].lower()} - {""}:
            if seen.setdefault(value, row.line) != row.line:
                raise ValueError(f"--roster ({path}), line {row.line}: {value} stands in line {seen[value]} too")
        people.append(person)
    if not people:
        raise ValueError(f"--roster ({path}): no student in it; expected a row for each")
    return tuple(people)


class Roster:
    """Finds the student of the roster to whom a folder belongs."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.people = list(people)
        self._exact, self._plain, self._ids, self._participants = (defaultdict(set) for _ in range(4))
        self._from_canvas = any(person.sis or person.section for person in self.people)
        for index, person in enumerate(self.people):
            marks = [mark for mark in (person.id, person.email, person.user, person.sis) if mark]
            for mark in (*marks, person.name):
                self._exact[mark].add(index)
                self._plain[_plain(mark)].add(index)
            for order in _orders(person.name):
                self._plain[order].add(index)
            self._ids[person.id].add(index)
            self._ids[person.sis].add(index)
            self._participants[person.participant].add(index)
        for index in (self._exact, self._plain, self._ids, self._participants):
            index.pop("", None)

    def find(self, student: str) -> tuple[Person | None, str]:
        """The student, or None and why not.

        Tried in turn: an id, address, user name or full name as it is; the same without regard to case, accents, blanks and
        the order of names; the names that Moodle and Canvas give to downloads.
        """
        named = [self._exact.get(student), self._plain.get(_plain(student)), self._of_download(student)]
        chosen = next((people for people in named if people is not None), set())
        if len(chosen) == 1:
            return self.people[next(iter(chosen))], ""
        if chosen:
            fitting = ", ".join(str(self.people[index]) for index in sorted(chosen))
            return None, f"not matched: the name fits {len(chosen)} students of the roster ({fitting})"
        return None, "not on the roster"

    def _of_download(self, student: str) -> set[int] | None:
        none: set[int] = set()
        if canvas := CANVAS.fullmatch(student):
            names = self._plain.get(_plain(canvas["name"]), none)
            number = self._ids.get(canvas["user"], none)
            sure, choosing = (number, none) if self._from_canvas else (none, number)
        elif moodle := MOODLE.fullmatch(student):
            names = self._plain.get(_plain(moodle["name"]), none)
            sure = self._participants.get(moodle["participant"], none)
            choosing = self._ids.get(moodle["participant"], none)
        else:
            return None
        return names & (sure | choosing) or names | sure or None


def _plain(text: str) -> str:
    """Without case, accents, blanks and signs."""
    letters = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in letters if letter.isalnum() and not unicodedata.combining(letter))


def _orders(name: str) -> set[str]:
    """A full name that begins with any of its parts: ``Ann Lee``, ``Lee Ann``."""
    parts = [part for part in re.split(r"[\s,]+", name) if part]
    return {_plain("".join(parts[turn:] + parts[:turn])) for turn in range(len(parts))}

"""Results as the grader leaves them, made for the tests of the reports."""

from dataclasses import dataclass, field

from course_checks.catalogue import catalogue_entry
from course_grader.reports.class_settings import ClassOptions
from course_grader.reports.results_folder import ResultsFolder
from course_grader.reports.write_reports import write_reports
from course_grader.submissions.submission_log import LogEntry, write_log


def exercise(number, outcome="right", /, **changes):
    """One exercise of a result."""
    points = catalogue_entry(number).points
    made = {"number": number, "points": points, "earned": points if outcome == "right" else 0, "outcome": outcome}
    made |= dict.fromkeys(("message", "found_by", "code", "form"), "")
    return made | {"mistake": None, "own_nodes": 0, "equal_to_solution": None} | changes


def result(*exercises, **changes):
    """A result of lesson 01."""
    made = {"lesson": "01", "problem": "", "exercises": list(exercises), "review": False, "seed": "s"}
    return made | {"restored": [], "noticed": [], "events": []} | changes


@dataclass
class AClass:
    """A class in an output folder."""

    results: ResultsFolder
    entries: list = field(default_factory=list)

    def add(self, student, *exercises, modified=0.0, label="x.ipynb", counts=True, note="", **changes):
        """One file of one student, with its result."""
        made = result(*exercises, **changes)
        lesson = made["lesson"]
        self.results.store(student, label, made, "", lesson)
        self.entries.append(LogEntry(student, label, lesson, counts, note, modified))
        return self

    def overrides(self, *rows):
        """Write the instructor's file."""
        text = "\n".join(["student,exercise,points,due,comment", *rows, ""])
        (self.results.folder / "overrides.csv").write_text(text, encoding="utf-8")
        return self

    def write_reports(self, **options):
        """Write the reports."""
        self.results.options = ClassOptions(**options)
        write_log(self.results.folder, self.entries)
        lessons = {entry.lesson for entry in self.entries if entry.lesson}
        return write_reports(self.results, self.entries, lessons)

    def read(self, name):
        """One of the reports."""
        return (self.results.folder / name).read_bytes().decode()

    def page(self, student, label="x.ipynb", lesson="01"):
        """A student's page."""
        return self.results.path("feedback", student, label, lesson).read_text(encoding="utf-8")

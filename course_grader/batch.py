"""Grading a class: what is there, what is missing still, on which machines; and the files that come of it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tqdm import tqdm

from .bounded import LimitExceeded, bounded
from .cluster import run_cluster
from .names import printable
from .pool import Task, run_local
from .released_notebook import ReleasedNotebook
from .reports import overrides
from .reports.gradebook import Gradebook
from .reports.pages import page
from .reports.results_folder import FOLDERS, ResultsFolder
from .reports.write_reports import check_instructor_files, write_reports
from .result import GradingSettings, failed, key, unreadable
from .submissions.find import find_submissions
from .submissions.notebook import Unreadable
from .submissions.select_files import FileDecision, select_files
from .submissions.submission import Submission, read
from .submissions.submission_log import LogEntry, merge_logs, read_log, write_log


@dataclass
class Summary:
    """What a run did."""

    students: set[str] = field(default_factory=set)  # who handed something in, or has a folder
    graded: int = 0  # submissions run in this run
    kept: int = 0  # results of an earlier run that still hold
    problems: dict[str, str] = field(default_factory=dict)  # file of a student -> why it could not be graded
    review: list[str] = field(default_factory=list)  # files in which something should be looked at
    left_out: list[str] = field(default_factory=list)  # what lies among the submissions and was not looked at
    unmatched: list[str] = field(default_factory=list)  # who is not on the roster, where there is one, and why
    by_hand_only: list[str] = field(default_factory=list)  # lessons of overrides that nobody handed in, in words
    absent: int = 0  # students of the roster who handed in nothing


def grade_class(
    root: Path,
    results: ResultsFolder,
    releases: dict[str, ReleasedNotebook],
    settings: GradingSettings,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: bool = True,
) -> Summary:
    """Grade what lies under ``root`` and is not in the results yet, and write the table.

    ``releases`` are all lessons of the course; those in ``settings`` are graded, so many ``jobs`` at a time on this machine,
    or on the workers of the ``scheduler`` at this address.
    """
    files = find_submissions(root, tuple(released.stem for released in releases.values()), results.folder)
    submissions = _unique(files.submissions)
    with tqdm(total=len(submissions), unit="file", desc="reading", disable=not progress) as bar:
        decisions = select_files(submissions, releases, settings.releases, settings.limits.submission_mb, bar.update)
    summary = Summary({decision.submission.student for decision in decisions}, left_out=files.left_out)
    run = _Run(results, settings, summary)
    entries = [decision.entry(settings.releases) for decision in decisions]
    check_instructor_files(results, merge_logs(read_log(results.folder), entries, settings.releases))
    for decision in decisions:
        if decision.problem:  # not graded, and the student must be told
            run.keep(decision, unreadable(decision.note, settings) | {"review": decision.review}, "")
    counting = [decision for decision in decisions if decision.counts]
    with tqdm(total=len(counting), unit="notebook", desc="grading", disable=not progress) as bar:
        tasks = run.tasks(counting, bar.update)
        graded = run_cluster(tasks, settings, scheduler) if scheduler else run_local(tasks, settings, jobs)
        for task, result in graded:
            summary.graded += 1
            run.keep(run.decisions[task.submission], result, task.key)
            bar.update()
    book = _write_down(results, entries, settings)
    handed_in = {file.lesson for student in book.students for file in student.files}
    rows = {row.lesson: row.line for row in reversed(overrides.read_overrides(results.folder))}
    summary.by_hand_only = [
        f"{overrides.FILE}, line {line}: nobody handed in lesson {lesson}, and its points count in `of` for everyone; "
        "if another lesson is meant, change the row and run again"
        for lesson, line in sorted(rows.items())
        if lesson not in handed_in
    ]
    if book.settings.roster is not None:
        unmatched = [student for student in book.students if student.person is None]
        summary.unmatched = [f"{printable(student.name)}: {student.notes[0]}" for student in unmatched]
        summary.absent = sum(not student.files for student in book.students)
    return summary


class _Run:
    def __init__(self, results: ResultsFolder, settings: GradingSettings, summary: Summary) -> None:
        self.results, self.settings, self.summary = results, settings, summary
        self.decisions: dict[Submission, FileDecision] = {}  # on those that are graded

    def keep(self, decision: FileDecision, result: dict, stored_key: str) -> None:
        """Write one result. A result of which no page can be made is one that could not be graded."""
        student, label = decision.submission.student, decision.submission.label
        try:
            feedback = page(student, label, result)
        except Exception as problem:
            result = failed(problem, self.settings)
            feedback = page(student, label, result)
        known = {"student": student, "file": label, "key": stored_key}
        known = {name: value.encode("utf-8", "replace").decode() for name, value in known.items()}
        known |= {"modified": decision.submission.modified, "entry": asdict(decision.entry(self.settings.releases))}
        self.results.store(student, label, known | result, feedback, decision.lesson)
        self.count(decision, result)

    def count(self, decision: FileDecision, result: dict) -> None:
        name = f"{decision.submission.student}/{decision.submission.label}"
        if result["problem"]:
            self.summary.problems[name] = result["problem"]
        if result["review"]:
            self.summary.review.append(name)

    def tasks(self, decisions: Iterable[FileDecision], skip: Callable[[], object]) -> Iterator[Task]:
        """What is left to run. Reads a file when its turn comes, so that a class need not fit into memory."""
        most = self.settings.limits.submission_mb
        for decision in decisions:
            file = decision.submission
            try:
                data = bounded(read, file, most) if file.place is not None else read(file, most)
                current_key = key(data, self.settings, decision.lesson)
                stored = self.results.result(file.student, file.label, decision.lesson)
                holds = stored is not None and stored.get("key") == current_key
                if holds:
                    self.count(decision, stored)
                    self.summary.kept += 1
            except (Unreadable, LimitExceeded) as problem:
                self.keep(decision, unreadable(str(problem), self.settings), "")
            except Exception as problem:
                self.keep(decision, failed(problem, self.settings), "")
            else:
                if not holds:
                    self.decisions[file] = decision
                    yield Task(file, data, current_key)
                    continue
            skip()


def _write_down(results: ResultsFolder, now: list[LogEntry], settings: GradingSettings) -> Gradebook:
    """Write the list of all that was handed in, and the table of it; take away what this run has put out of date."""
    earlier = read_log(results.folder)
    entries = merge_logs(earlier, now, settings.releases)
    write_log(results.folder, entries)
    for student, label, lesson in {entry.result for entry in earlier} - {entry.result for entry in entries}:
        for kind in FOLDERS:
            results.path(kind, student, label, lesson).unlink(missing_ok=True)
    return write_reports(results, entries, {entry.lesson for entry in now if entry.counts})


def _unique(files: Iterable[Submission]) -> list[Submission]:
    """Two files of one student with one label (in two archives, say) get different labels."""
    submissions, seen = [], set()
    for submission in files:
        label, count = submission.label, 1
        while (submission.student, label) in seen:
            count += 1
            label = f"{submission.label} ({count})"
        seen.add((submission.student, label))
        submissions.append(replace(submission, label=label))
    return submissions

"""Grading a class: what is there, what is missing still, on which machines; and the files that come of it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tqdm import tqdm

from .bounded import LimitExceeded, bounded
from .cluster import run_cluster
from .grade import Terms, failed, key, unreadable
from .master import Master
from .names import printable
from .pool import Task, run_local
from .reports.feedback import page
from .reports.gradebook import Gradebook
from .reports.publish import check, publish
from .reports.results_folder import ResultsFolder
from .submissions.choose import Choice, choose
from .submissions.find import find_submissions
from .submissions.notebook import Unreadable
from .submissions.record import Entry, merged, record, recorded
from .submissions.submission import Submission, read


@dataclass
class Summary:
    """What a run did.

    Args:
        students: Who handed something in, or has a folder.
        graded: Submissions run in this run.
        kept: Results of an earlier run that still hold.
        problems: File of a student -> why it could not be graded.
        review: Files in which something should be looked at.
        left_out: What lies among the submissions and was not looked at.
        unmatched: Who handed something in and is not on the roster, where there is one, and why.
        absent: Students of the roster who handed in nothing.
    """

    students: set[str] = field(default_factory=set)
    graded: int = 0
    kept: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    review: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    absent: int = 0


def grade_class(
    root: Path,
    results: ResultsFolder,
    masters: dict[str, Master],
    terms: Terms,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: bool = True,
) -> Summary:
    """Grade what lies under ``root`` and is not in the results yet, and write the table.

    Args:
        root: As ``find_submissions`` takes it.
        results: The output folder.
        masters: All lessons of the course; those in ``terms`` are graded.
        terms: As for the whole class.
        jobs: Submissions at a time on this machine.
        scheduler: A dask scheduler's address, instead of this machine.
        progress: Show a progress bar.

    Raises:
        ValueError: There is nothing at ``root``, or the output folder is the folder of the submissions.
    """
    found = find_submissions(root, tuple(master.stem for master in masters.values()), results.folder)
    submissions = _unique(found.submissions)
    with tqdm(total=len(submissions), unit="file", desc="reading", disable=not progress) as bar:
        choices = choose(submissions, masters, terms.masters, terms.limits.submission_mb, bar.update)
    summary = Summary({choice.submission.student for choice in choices}, left_out=found.left_out)
    run = _Run(results, terms, summary)
    entries = [run.entry(choice) for choice in choices]
    check(results, merged(recorded(results.folder), entries, terms.masters))
    counting = [choice for choice in choices if choice.counts]
    for choice in choices:
        if not choice.counts:
            run.leave(choice)
    with tqdm(total=len(counting), unit="notebook", desc="grading", disable=not progress) as bar:
        tasks = run.tasks(counting, bar.update)
        graded = run_cluster(tasks, terms, scheduler) if scheduler else run_local(tasks, terms, jobs)
        for task, result in graded:
            summary.graded += 1
            run.keep(run.of[task.submission], result, task.key)
            bar.update()
    book = _write_down(results, entries, terms, masters)
    if book.record.roster is not None:
        strangers = [student for student in book.students if student.person is None]
        summary.unmatched = [f"{printable(student.name)}: {student.notes[0]}" for student in strangers]
        summary.absent = sum(not student.handed_in for student in book.students)
    return summary


class _Run:
    """The results of one run, as they come."""

    def __init__(self, results: ResultsFolder, terms: Terms, summary: Summary) -> None:
        self.results, self.terms, self.summary = results, terms, summary
        self.of: dict[Submission, Choice] = {}  # those that are graded

    def entry(self, choice: Choice) -> Entry:
        """As it is written down."""
        one = choice.submission
        scope = tuple(sorted(self.terms.masters))
        return Entry(
            one.student, one.label, choice.lesson, choice.counts, choice.note, one.modified, choice.review, scope
        )

    def leave(self, choice: Choice) -> None:
        """Take down a file that is not graded; where the student must be told, with a page."""
        if choice.problem:
            self.keep(choice, unreadable(choice.note, self.terms) | {"review": choice.review}, "")

    def keep(self, choice: Choice, result: dict, stored_key: str) -> None:
        """Write one result. A result of which no page can be made is one that could not be graded."""
        student, label = choice.submission.student, choice.submission.label
        try:
            feedback = page(student, label, result)
        except Exception as problem:
            result = failed(problem, self.terms)
            feedback = page(student, label, result)
        known = {"student": student, "file": label, "key": stored_key}
        known = {name: value.encode("utf-8", "replace").decode() for name, value in known.items()}
        known |= {"modified": choice.submission.modified, "entry": asdict(self.entry(choice))}
        self.results.store(student, label, known | result, feedback, choice.lesson)
        self.note(choice, result)

    def note(self, choice: Choice, result: dict) -> None:
        """Count one result."""
        name = f"{choice.submission.student}/{choice.submission.label}"
        if result["problem"]:
            self.summary.problems[name] = result["problem"]
        if result["review"]:
            self.summary.review.append(name)

    def tasks(self, choices: Iterable[Choice], skip: Callable[[], object]) -> Iterator[Task]:
        """What is left to run. Reads a file when its turn comes, so that a class need not fit into memory."""
        for choice in choices:
            one = choice.submission
            try:
                data = self._read(one)
                wanted = key(data, self.terms, choice.lesson)
                stored = self.results.result(one.student, one.label, choice.lesson)
                holds = stored is not None and stored.get("key") == wanted
                if holds:
                    self.note(choice, stored)
                    self.summary.kept += 1
            except (Unreadable, LimitExceeded) as problem:
                self.keep(choice, unreadable(str(problem), self.terms), "")
            except Exception as problem:
                self.keep(choice, failed(problem, self.terms), "")
            else:
                if not holds:
                    self.of[one] = choice
                    yield Task(one, data, wanted)
                    continue
            skip()

    def _read(self, submission: Submission) -> bytes:
        most = self.terms.limits.submission_mb
        return bounded(read, submission, most) if submission.place else read(submission, most)


def _write_down(results: ResultsFolder, now: list[Entry], terms: Terms, masters: dict[str, Master]) -> Gradebook:
    """Write the list of all that was handed in, and the table of it; take away what this run has put out of date."""
    earlier = recorded(results.folder)
    entries = merged(earlier, now, terms.masters)
    record(results.folder, entries)
    for student, label, lesson in {entry.result for entry in earlier} - {entry.result for entry in entries}:
        results.result_path(student, label, lesson).unlink(missing_ok=True)
        results.feedback_path(student, label, lesson).unlink(missing_ok=True)
    return publish(results, entries, masters, {entry.lesson for entry in now if entry.counts})


def _unique(found: Iterable[Submission]) -> list[Submission]:
    """Two files of one student with one label (in two archives, say) get different labels."""
    submissions, seen = [], set()
    for submission in found:
        label, count = submission.label, 1
        while (submission.student, label) in seen:
            count += 1
            label = f"{submission.label} ({count})"
        seen.add((submission.student, label))
        submissions.append(replace(submission, label=label))
    return submissions

"""Grading a class: what is there, what is missing still, on which machines; and the files that come of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from course_utils.files import write_whole

from .cluster import run_cluster
from .grade import Terms, key, unreadable
from .master import Master
from .pool import Task, run_local
from .reports.feedback import page
from .reports.results_folder import ResultsFolder
from .reports.table import table
from .submissions.find import Submission, find_submissions, read
from .submissions.notebook import Unreadable


@dataclass
class Summary:
    """What a run did.

    Args:
        students: Rows of the table.
        graded: Submissions run in this run.
        kept: Results of an earlier run that still hold.
        problems: File of a student -> why it could not be graded.
        review: Files in which something should be looked at.
    """

    students: set[str] = field(default_factory=set)
    graded: int = 0
    kept: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    review: list[str] = field(default_factory=list)

    def note(self, submission: Submission, result: dict) -> None:
        """Count one result."""
        name = f"{submission.student}/{submission.label}"
        if result["problem"]:
            self.problems[name] = result["problem"]
        if result["review"]:
            self.review.append(name)


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
        masters: The lessons.
        terms: As for the whole class.
        jobs: Submissions at a time on this machine.
        scheduler: A dask scheduler's address, instead of this machine.
        progress: Show a progress bar.
    """
    stems = tuple(master.stem for master in masters.values())
    submissions = _unique(find_submissions(root, stems))
    summary = Summary(students={submission.student for submission in submissions})
    with tqdm(total=len(submissions), unit="notebook", desc="grading", disable=not progress) as bar:

        def keep(submission: Submission, result: dict, stored_key: str) -> None:
            known = {"student": submission.student, "file": submission.label, "key": stored_key}
            known = {name: value.encode("utf-8", "replace").decode() for name, value in known.items()}
            results.store(
                submission.student, submission.label, known | result, page(submission.student, submission.label, result)
            )
            summary.note(submission, result)
            bar.update()

        tasks = _tasks(submissions, results, terms, summary, keep, bar.update)
        run = run_cluster(tasks, terms, scheduler) if scheduler else run_local(tasks, terms, jobs)
        for task, result in run:
            summary.graded += 1
            keep(task.submission, result, task.key)
    write_whole(results.folder / "grades.csv", table(submissions, results, masters))
    return summary


def _tasks(
    submissions: list[Submission],
    results: ResultsFolder,
    terms: Terms,
    summary: Summary,
    keep: Callable[[Submission, dict, str], None],
    skip: Callable[[], object],
) -> Iterator[Task]:
    """What is left to run. Reads a file when its turn comes, so that a class need not fit into memory."""
    for submission in submissions:
        try:
            data = read(submission, terms.limits.submission_mb)
        except Unreadable as problem:
            keep(submission, unreadable(str(problem), terms), "")
            continue
        wanted = key(data, terms)
        stored = results.result(submission.student, submission.label)
        if stored is not None and stored.get("key") == wanted:
            summary.kept += 1
            summary.note(submission, stored)
            skip()
        else:
            yield Task(submission, data, wanted)


def _unique(found: Iterator[Submission]) -> list[Submission]:
    """Two files of one student with one label (in two archives, say) get different labels."""
    submissions, seen = [], set()
    for submission in found:
        label, count = submission.label, 1
        while (submission.student, label) in seen:
            count += 1
            label = f"{submission.label} ({count})"
        seen.add((submission.student, label))
        fields = {name: getattr(submission, name) for name in ("student", "path", "member", "problem", "modified")}
        submissions.append(Submission(label=label, **fields))
    return submissions

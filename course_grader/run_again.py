"""Right answers, run a second time by themselves: what was right only because of something beside it is found by that.

Each runs in a process forked from a fresh kernel, which holds the statements that the answer reaches and nothing else, with
what is off limits refused in every thread from the first of them on. The course's own functions have no body there either.
"""

import functools
from collections.abc import Callable, Collection

from course_checks.catalogue import catalogue_entry
from course_checks.deciding.find import find

from .judging.score import ExerciseScore
from .reading.answers import Findings, Reached
from .run_and_judge import LIBRARY, Runs
from .running.run import SECOND_RUN, Probe, RunLog
from .submissions.rebuild import NotebookStep

MAX_CELLS = 8  # tried one by one to name the one that makes a difference


def runs_again(number: str) -> bool:
    """Whether something beside a right answer could have made it right: a ready-made, or a false count."""
    if catalogue_entry(number).is_quiz:
        return False
    call = find(number).call
    return call.most_operations is not None or any(not name.startswith(LIBRARY) for name in call.off_limits)


def run_again(
    steps: tuple[NotebookStep, ...],
    scores: dict[str, ExerciseScore],
    without: dict[str, frozenset[str]],
    findings: Findings,
    probes: dict[str, Probe],
    runs: Runs,
    judge: Callable[[RunLog, Collection[str]], list[ExerciseScore]],
) -> tuple[dict[str, ExerciseScore], list[str]]:
    """Run the right answers of exercises that something is off limits in again.

    Args:
        steps: The rebuilt notebook.
        scores: What each exercise earned.
        without: As ``run_and_judge`` returns it.
        findings: What was read of the notebook.
        probes: As for ``run_and_judge``.
        runs: The submission's runs.
        judge: As for ``run_and_judge``.

    Returns:
        The scores, without points where an answer calls what is off limits after all; and lines for a person: what of the
        answers is to be looked at, and which of them are not right by themselves.
    """
    chosen = [n for n, score in scores.items() if score.outcome == "right" and probes[n].guarded and runs_again(n)]
    lines: list[str] = []
    for names in dict.fromkeys(without[number] for number in chosen):
        numbers = [number for number in chosen if without[number] == names]
        cells = {n: functools.partial(probes[n].again, findings.reached[n].statements) for n in numbers}
        run_log = runs.run(names, [_preparing(findings, numbers), *_checks(numbers)], cells)
        for score in judge(run_log, numbers):
            if score.outcome == "off limits":
                scores[score.number] = score
                continue
            lines += findings.reached[score.number].listed
            if score.outcome != "right":
                said = score.message.partition("\n")[0] or score.outcome
                reached = findings.reached[score.number]

                def is_right(more: Collection[int], number: str = score.number, reached: Reached = reached) -> bool:
                    kept = [step for i, step in enumerate(steps) if i not in reached.unused or i in more]
                    kept = [step for step in kept if step.role != "check" or step.number == number]
                    return judge(runs.run(names, kept, probes), [number])[0].outcome == "right"

                lines.append(f"answer {score.number}: by itself it is not right ({said}); {_cause(reached, is_right)}")
    return scores, lines


def _preparing(findings: Findings, numbers: Collection[str]) -> NotebookStep:
    """Imports what the page imports for these answers, once for all."""
    texts = (text for number in numbers for text, by_student in findings.reached[number].statements if not by_student)
    imports = "\n".join(dict.fromkeys(text for text in texts if text.startswith(("import ", "from "))))
    return NotebookStep("provided", f"{SECOND_RUN}.prepare({imports!r})")


def _checks(numbers: Collection[str]) -> list[NotebookStep]:
    return [NotebookStep("check", "", number) for number in numbers]


def _cause(reached: Reached, is_right: Callable[[Collection[int]], bool]) -> str:
    """What of the student's cells makes the difference: run in the notebook with one cell more at a time."""
    if is_right(()):
        places = " or ".join(reached.partly.values()) or "a cell of the page"
        return f"what else stands in {places} makes it right"
    for cell, place in list(reached.unused.items())[:MAX_CELLS]:
        if is_right((cell,)):
            return f"what stands in {place} makes it right"
    return "no cell alone makes it right"

"""Right answers, run a second time by themselves: what was right only because of something beside it is found by that.

Each runs in a process forked from a fresh kernel, which holds the statements that the answer reaches and nothing else, with
what is off limits refused in every thread from the first of them on. The course's own functions have no body there either.
"""

import functools
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from course_checks.deciding.find import find

from .in_sandbox.kernel_side import SECOND_RUN
from .judging.score import ExerciseScore
from .reading.answers import Reached
from .run_and_judge import Runs
from .running.run import LIBRARY, Probe, RunLog
from .submissions.rebuild import NotebookStep

MAX_CELLS = 8  # tried one by one to name the one that makes a difference


def runs_again(number: str) -> bool:
    """Whether something beside a right answer could have made it right: a ready-made, or what a driver or a count was told."""
    call = find(number).call
    watched = bool(call.driver) or call.most_operations is not None
    return watched or any(not name.startswith(LIBRARY) for name in call.off_limits)


@dataclass(frozen=True)
class SecondRun:
    """The second run of one submission's right answers; dicts are by exercise."""

    steps: tuple[NotebookStep, ...]
    reached: dict[str, Reached]
    probes: dict[str, Probe]
    runs: Runs
    judge: Callable[[RunLog, Collection[str]], list[ExerciseScore]]

    def of(self, scores: dict[str, ExerciseScore], without: dict[str, frozenset[str]]) -> list[str]:
        """Run answers that earned points again. One that calls what is off limits after all loses its points, in ``scores``.

        Returns lines for a person: what of these answers is to be looked at, and which are not right by themselves.
        """
        earned = [number for number, score in scores.items() if score.earned]
        chosen = [number for number in earned if self.probes[number].guarded and runs_again(number)]
        lines: list[str] = []
        if not hasattr(os, "fork"):  # Windows, without a sandbox
            return [line for number in chosen for line in self.reached[number].listed]
        for names in dict.fromkeys(without[number] for number in chosen):
            scored, audited = self._alone([number for number in chosen if without[number] == names], names)
            for score in scored:
                if score.outcome == "off limits":
                    scores[score.number] = score
                    continue
                lines += self.reached[score.number].listed
                if events := audited.get(score.number):
                    lines.append(f"answer {score.number}: while it ran, Python reported {', '.join(events)}")
                if score.earned < scores[score.number].earned:
                    lines.append(self._doubt(score, names))
        return list(dict.fromkeys(lines))

    def _alone(
        self, numbers: list[str], names: frozenset[str]
    ) -> tuple[list[ExerciseScore], dict[str, tuple[str, ...]]]:
        """What answers earn by themselves, and what Python reported; what the page imports for them is imported once."""
        statements = {number: self.reached[number].statements for number in numbers}
        given = [text for one in statements.values() for text, by_student in one if not by_student]
        imports = "\n".join(dict.fromkeys(text for text in given if text.startswith(("import ", "from "))))
        steps = [NotebookStep("provided", f"{SECOND_RUN}.prepare({imports!r})")]
        steps += [NotebookStep("check", "", number) for number in numbers]
        cells = {number: functools.partial(self.probes[number].again, statements[number]) for number in numbers}
        run_log = self.runs.run(names, steps, cells)
        return self.judge(run_log, numbers), run_log.audited

    def _doubt(self, score: ExerciseScore, names: frozenset[str]) -> str:
        """What to say of an answer that is not right by itself, with the cell that makes it right."""
        reached = self.reached[score.number]
        cause = "no cell alone makes it right"
        if self._right_beside((), score.number, names):
            places = " or ".join(reached.partly.values()) or "a cell of the page"
            cause = f"what else stands in {places} makes it right"
        else:
            for cell, place in list(reached.unused.items())[:MAX_CELLS]:
                if self._right_beside((cell,), score.number, names):
                    cause = f"what stands in {place} makes it right"
                    break
        said = score.message.partition("\n")[0] or score.outcome
        return f"answer {score.number}: by itself it is not right ({said}); {cause}"

    def _right_beside(self, cells: Iterable[int], number: str, names: frozenset[str]) -> bool:
        """Whether an answer earns points in the notebook without the student's unused cells but these."""
        unused = self.reached[number].unused.keys() - set(cells)
        steps = [step for index, step in enumerate(self.steps) if index not in unused]
        steps = [step for step in steps if step.role != "check" or step.number == number]
        return self.judge(self.runs.run(names, steps, self.probes), [number])[0].earned > 0

"""``make answers``: what the checks say of the recorded answers, as rates, and every message on one page for reading.

``tests/answers/lesson_05/masked_softmax.py`` holds wrong and right answers to one exercise by people who had its statement
and nothing else; its README.md says how a file reads.
"""

import argparse
import linecache
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

from course_checks.catalogue import catalogue  # noqa: E402
from course_checks.deciding.decide import cases_of, decider  # noqa: E402
from course_checks.deciding.find import find, module_name  # noqa: E402
from course_checks.engine import SEED  # noqa: E402
from course_checks.running import observe_answer  # noqa: E402
from course_checks.running.encode import pack, unpack  # noqa: E402
from course_checks.running.neutral_state import neutral_state  # noqa: E402

FOLDER = Path(__file__).parents[1] / "answers"
SECTION = re.compile(r"^# %% (setup|wrong|two mistakes|right)(?:: (.*))?$", re.MULTILINE)
WAYS = ("mistake", "symptom", "pair", "contrast", "off limits", "general")


class RecordedAnswer(NamedTuple):
    """One answer: its exercise, what it does wrong or in what way it is unusual, and its text with what it needs."""

    number: str
    kind: str  # "wrong", "two mistakes" or "right"
    about: str
    text: str

    @property
    def is_right(self) -> bool:
        """Whether it must be accepted."""
        return self.kind == "right"


class Trial(NamedTuple):
    """One answer and what was said of it."""

    answer: RecordedAnswer
    found_by: str  # "right", one of WAYS; "general" where nothing was found
    mistake: str
    message: str

    @property
    def holds(self) -> bool:
        """Whether it was accepted or refused as it should be."""
        return (self.found_by == "right") == self.answer.is_right


def recorded_answers(number: str, folder: Path = FOLDER) -> Iterator[RecordedAnswer]:
    """The answers to one exercise; a ``setup`` stands before those that need it, up to the next one."""
    entry = catalogue()[number]
    path = folder / f"{module_name(entry).replace('.', '/')}.py"
    if not path.is_file():
        path = path.with_name(f"{number.replace('.', '_')}.py")
    if not path.is_file():
        return
    text, setup = path.read_text(encoding="utf-8"), ""
    sections = list(SECTION.finditer(text))
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        body = text[section.end() : following.start() if following else len(text)].strip("\n") + "\n"
        if section.group(1) == "setup":
            setup = body
        else:
            yield RecordedAnswer(number, section.group(1), section.group(2) or "", f"{setup}\n{body}")


def trials(number: str, seed: int = SEED, folder: Path = FOLDER) -> list[Trial]:
    """Put every recorded answer to the check of one exercise."""
    entry = find(number)
    with neutral_state():
        cases = cases_of(entry, seed)
    decide = decider(entry, cases)
    return [_trial(answer, entry, cases, decide) for answer in recorded_answers(number, folder)]


def _trial(answer: RecordedAnswer, entry, cases, decide) -> Trial:
    file = f"<{answer.number}, {answer.about}>"
    linecache.cache[file] = (len(answer.text), None, answer.text.splitlines(keepends=True), file)
    space: dict = {"__name__": "__main__"}
    exec(compile(answer.text, file, "exec"), space)
    verdict = decide(unpack(*pack(observe_answer(space[entry.entry.answer], entry.call, cases))))
    found_by = "right" if verdict.passed else "off limits" if "off limits" in verdict.what else verdict.found_by
    return Trial(answer, found_by or "general", verdict.mistake or "", verdict.text())


def table(done: list[Trial]) -> str:
    """The figures of each lesson, and every answer that is not accepted or refused as it should be."""
    lines = [
        f"{'lesson':6} {'right accepted':>15} {'wrong refused':>15} {'specific':>9}  {' '.join(map('{:>10}'.format, WAYS))}"
    ]
    for lesson in (*sorted({trial.answer.number.split(".")[0] for trial in done}, key=int), "all"):
        some = [trial for trial in done if lesson in ("all", trial.answer.number.split(".")[0])]
        right = [trial for trial in some if trial.answer.is_right]
        wrong = [trial for trial in some if not trial.answer.is_right]
        ways = Counter(trial.found_by for trial in wrong)
        accepted, refused = (f"{sum(t.holds for t in group)} of {len(group)}" for group in (right, wrong))
        lines.append(
            f"{lesson:6} {accepted:>15} {refused:>15} {share_specific(some):9.1%}  {' '.join(f'{ways[way]:10}' for way in WAYS)}"
        )
    lines += [f"  {t.answer.number} {t.answer.kind} {t.answer.about!r}: {t.found_by}" for t in done if not t.holds]
    return "\n".join(lines)


def share_specific(done: list[Trial]) -> float:
    """Of the wrong answers that are refused, the share that is told something specific."""
    refused = [trial for trial in done if not trial.answer.is_right and trial.holds]
    return sum(trial.found_by != "general" for trial in refused) / max(1, len(refused))


def main() -> int:
    """Print the table; the exit status is 1 if any answer is accepted or refused as it should not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", help="exercises (4.2) or lessons (4); none: all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="answers that are kept elsewhere")
    parser.add_argument("--messages", type=Path, default=Path("build/answers.md"), help="the page of all messages")
    chosen = parser.parse_args()
    numbers = [
        number
        for number, entry in catalogue().items()
        if not entry.is_quiz and (not chosen.numbers or {number, number.split(".")[0]} & set(chosen.numbers))
    ]
    with ProcessPoolExecutor() as pool:
        waiting = [pool.submit(trials, number, chosen.seed, chosen.folder) for number in numbers]
        done = [trial for future in waiting for trial in future.result()]
    chosen.messages.parent.mkdir(parents=True, exist_ok=True)
    chosen.messages.write_text("\n\n".join(map(_report, done)) + "\n", encoding="utf-8")
    print(table(done), f"all messages: {chosen.messages}", sep="\n")
    return 0 if all(trial.holds for trial in done) else 1


def _report(trial: Trial) -> str:
    answer = trial.answer
    head = f"### {answer.number} {answer.kind}: {answer.about}\n\n[{trial.found_by}]"
    return head if answer.is_right and trial.holds else f"{head}\n\n    " + trial.message.replace("\n", "\n    ")


if __name__ == "__main__":
    sys.exit(main())

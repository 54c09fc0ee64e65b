"""``make mutants``: what the checks say of every answer of both corpora, counted by the layer that explained it."""

import argparse
import json
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

from corpora import Answer, answers  # noqa: E402

from course_utils.checks.catalogue import catalogue, listed  # noqa: E402
from course_utils.checks.engine import SEED  # noqa: E402
from course_utils.checks.judges.exercise import Exercise, Quiz  # noqa: E402
from course_utils.checks.judges.find import find  # noqa: E402
from course_utils.checks.judges.judge import cases_of, judge_for  # noqa: E402
from course_utils.checks.probes import observe_answer  # noqa: E402
from course_utils.checks.probes.codec import pack, unpack  # noqa: E402

RECORD = Path(__file__).with_name("corpus") / "told.json"
LAYERS = ("fault", "symptom", "pair", "contrast", "off limits", "general")


class Trial(NamedTuple):
    """One answer and what was said of it."""

    answer: Answer
    said: str  # "right", "off limits", a layer, or "general" where nothing was found
    name: str
    text: str

    @property
    def holds(self) -> bool:
        """Whether it was accepted or refused as it should be."""
        if self.answer.kind in ("right", "off limits"):
            return self.said == self.answer.kind
        return self.said != "right"


def trials(entry: Exercise, seed: int = SEED, only: str | None = None) -> list[Trial]:
    """Put every answer of the corpora (or of ``only`` one of them) to the check of one exercise."""
    inputs = cases_of(entry, seed)
    judge = judge_for(entry, inputs)
    found = []
    for answer in answers(entry.number, entry.answer):
        if only in (None, answer.corpus):
            # What the tables hold may call the library where a student may not.
            guarded = answer.corpus != "tables" or answer.is_right or answer.kind == "off limits"
            observed = observe_answer(entry.number, answer.answer, inputs, guarded=guarded)
            verdict = judge(unpack(*pack(observed)))
            said = "right" if verdict.passed else "off limits" if "off limits" in verdict.what else verdict.layer
            name = verdict.mistake or ""
            found.append(Trial(answer._replace(answer=None), said or "general", name, verdict.text()))
    return found


def quiz_holds(quiz: Quiz) -> bool:
    """Whether the right letter is accepted and every other refused with an explanation."""
    judge = judge_for(quiz, [])
    verdicts = {letter: judge(observe_answer(quiz.number, letter, [])) for letter in quiz.explanations}
    return [letter for letter, verdict in verdicts.items() if verdict.passed] == [quiz.right]


def recorded() -> dict[str, str]:
    """What was told of each answer when that was last looked at."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}


def told_of(done: list[Trial]) -> dict[str, str]:
    """``"4.2 tables wrong: no scaling"`` -> ``"fault: no scaling"``: what ``told.json`` holds."""
    return {
        f"{t.answer.number} {t.answer.corpus} {t.answer.kind}: {t.answer.about}": f"{t.said}: {t.name}" for t in done
    }


def table(done: list[Trial]) -> tuple[str, bool]:
    """The figures of each lesson and corpus as text, and whether every answer is accepted or refused as it should be."""
    lines = [
        f"{'lesson':6} {'corpus':12} {'right':>11} {'refused':>11}  " + " ".join(f"{layer:>10}" for layer in LAYERS)
    ]
    lessons = sorted({trial.answer.number.split(".")[0] for trial in done}, key=int)
    for corpus in sorted({trial.answer.corpus for trial in done}):
        of_corpus = [trial for trial in done if trial.answer.corpus == corpus]
        for lesson in (*lessons, "all"):
            some = [t for t in of_corpus if lesson in ("all", t.answer.number.split(".")[0])]
            if some:
                lines.append(f"{lesson:6} {corpus:12} {_figures(some)}")
    failures = [f"  {t.answer.number} {t.answer.kind} {t.answer.about!r}: {t.said}" for t in done if not t.holds]
    return "\n".join(lines + failures), not failures


def _figures(some: list[Trial]) -> str:
    right = [t for t in some if t.answer.kind in ("right", "off limits")]
    wrong = [t for t in some if t.answer.kind not in ("right", "off limits")]
    said = Counter(t.said for t in wrong if t.holds)
    counts = [(sum(t.holds for t in group), len(group)) for group in (right, wrong)]
    return " ".join(f"{a:>4} of {b:<4}" for a, b in counts) + "  " + " ".join(f"{said[layer]:10}" for layer in LAYERS)


def _of_number(number: str, seed: int, only: str | None) -> list[Trial]:
    return trials(find(number), seed, only)


def main() -> int:
    """Print the table; the exit status is 1 if any answer is judged as it should not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", help="exercises (4.2) or lessons (4); none: all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--corpus", choices=("tables", "independent"))
    parser.add_argument("--record", action="store_true", help=f"note what was told of every answer in {RECORD.name}")
    parser.add_argument("--messages", type=Path, help="write what was said of every answer to this file")
    chosen = parser.parse_args()
    numbers = [n for n in catalogue() if not chosen.numbers or {n, n.split(".")[0]} & set(chosen.numbers)]
    exercises = [number for number in numbers if not listed(number).is_quiz]
    with ProcessPoolExecutor() as pool:
        some = [pool.submit(_of_number, number, chosen.seed, chosen.corpus) for number in exercises]
        done = [trial for future in some for trial in future.result()]
    text, whole = table(done)
    broken = [number for number in numbers if listed(number).is_quiz and not quiz_holds(find(number))]
    print(text, *(f"  quiz {number} accepts another letter" for number in broken), sep="\n")
    if chosen.record:
        corpora = [chosen.corpus] if chosen.corpus else ["independent", "tables"]
        tried = {f"{number} {corpus}" for number in exercises for corpus in corpora}
        old = {key: said for key, said in recorded().items() if " ".join(key.split(" ")[:2]) not in tried}
        told = old | told_of(done)
        RECORD.write_text(json.dumps(told, indent=0, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    if chosen.messages:
        chosen.messages.write_text("\n\n".join(_report(trial) for trial in done), encoding="utf-8")
    return 0 if whole and not broken else 1


def _report(trial: Trial) -> str:
    answer = trial.answer
    head = f"### {answer.number} {answer.corpus} · {answer.kind}: {answer.about}\n[{trial.said}: {trial.name}]"
    return head if answer.is_right and trial.holds else f"{head}\n{trial.text}"


if __name__ == "__main__":
    sys.exit(main())

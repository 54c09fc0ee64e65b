"""How good the checks are: every known mistake refused and named, every right answer accepted."""

from dataclasses import dataclass

from .codec import pack, unpack
from .engine import SEED
from .exercise import Exercise, Quiz
from .verdict import Verdict


@dataclass(frozen=True)
class Trial:
    """One known answer, what should be said of it, and what was said."""

    number: str
    name: str
    wanted: str  # "right", "off limits", or the name of the mistake
    said: str

    @property
    def holds(self) -> bool:
        """Whether the check said what it should."""
        return self.wanted == self.said


def known_answers(entry: Exercise | Quiz) -> list[tuple[str, object, str]]:
    """(name, answer, what the check must say) for the reference, every alternative and every known mistake."""
    if isinstance(entry, Quiz):
        return [(f"option {letter}", letter, "right" if letter == entry.right else letter) for letter in entry.options]
    answers = [("reference", entry.reference, "right")]
    answers += [(a.name, a.implementation, "right") for a in entry.alternatives]
    answers += [(m.name, m.implementation, m.name) for m in entry.mistakes]
    return answers


def said(verdict: Verdict) -> str:
    """A verdict in the words of ``Trial.wanted``."""
    return "right" if verdict.passed else verdict.mistake or "refused without a name"


def trials(entry: Exercise | Quiz, seed: int = SEED) -> list[Trial]:
    """Put every known answer to the check."""
    inputs = entry.inputs(seed)
    judge = entry.judge_for(inputs)
    found = []
    for name, answer, wanted in known_answers(entry):
        # The library's own code is exempt from what is off limits to students.
        verdict = judge(unpack(*pack(entry.probe(answer, inputs, guarded=False))))
        found.append(Trial(entry.number, name, wanted, said(verdict)))
    if isinstance(entry, Exercise):
        for alternative in entry.alternatives:  # once more as a student's answer, with the guard up
            verdict = judge(entry.probe(alternative.implementation, inputs))
            refused = not verdict.passed and "off limits" in verdict.what
            wanted = "off limits" if alternative.off_limits else "right"
            name = f"{alternative.name} (as a student's)"
            found.append(Trial(entry.number, name, wanted, "off limits" if refused else said(verdict)))
    return found


def table(entries: list[Exercise | Quiz], seed: int = SEED) -> tuple[str, bool]:
    """The kill score of each exercise as text, and whether all hold."""
    lines = ["exercise  mistakes refused and named  right answers accepted"]
    totals = [0, 0, 0, 0]
    failures = []
    for entry in entries:
        done = trials(entry, seed)
        wrong = [t for t in done if t.wanted not in ("right", "off limits")]
        right = [t for t in done if t.wanted in ("right", "off limits")]
        counts = [sum(t.holds for t in wrong), len(wrong), sum(t.holds for t in right), len(right)]
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
        lines.append(f"{entry.number:8}  {counts[0]:3} of {counts[1]:3}                {counts[2]:3} of {counts[3]:3}")
        failures += [f"  {t.number} {t.name}: wanted {t.wanted!r}, said {t.said!r}" for t in done if not t.holds]
    percent = 100.0 * totals[0] / max(totals[1], 1)
    lines.append(f"all       {totals[0]:3} of {totals[1]:3} ({percent:.0f} %)        {totals[2]:3} of {totals[3]:3}")
    return "\n".join(lines + failures), not failures

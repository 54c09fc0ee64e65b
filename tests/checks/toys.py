"""Exercises of a few lines, to test on them what a judge tells."""

from course_utils.checks.catalogue import listed
from course_utils.checks.judges.exercise import Case, Exercise
from course_utils.checks.judges.judge import Judge
from course_utils.checks.judges.verdict import Verdict
from course_utils.checks.probes.observe import observe
from course_utils.checks.probes.probe import Probe


def exercise(
    reference, cases, returns=("result",), faults=(), symptoms=(), probe=None, advice="look again."
) -> Exercise:
    """An exercise that no notebook holds."""
    made = Exercise(
        answer="toy", cases=lambda seed: list(cases), reference=reference, returns=returns, faults=tuple(faults),
        symptoms=tuple(symptoms), advice=advice, listed=listed("1.1"),
    )  # fmt: skip
    made.__dict__["probe"] = probe or Probe()
    return made


def verdict(reference, answer, *cases, **options) -> Verdict:
    """What is said of an answer; ``cases`` are dicts of arguments, ``options`` those of ``exercise``."""
    made = exercise(reference, [case if isinstance(case, Case) else Case(**case) for case in cases], **options)
    inputs = made.cases(0)
    return Judge(made, inputs).verdict(observe(answer, inputs, made.probe))


def told(reference, answer, *cases, **options) -> tuple[str, str | None, str]:
    """Layer, name and sentence of what is told about an answer."""
    said = verdict(reference, answer, *cases, **options)
    assert not said.passed
    return said.layer, said.mistake, said.looks_like

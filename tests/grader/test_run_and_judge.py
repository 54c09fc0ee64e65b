"""What one exercise puts off limits another may use: each is judged where just its own names are taken out."""

import handed_in
import pytest
from sandboxed import EXERCISES, linux, outcomes

from course_grader import run_and_judge
from course_grader.grade import Terms, grade_one, masters_as_bytes
from course_grader.judging.score import ExerciseScore
from course_grader.limits import Limits
from course_grader.master import load_masters
from course_grader.running.run import Trace
from course_grader.submissions.rebuild import Step

ATTENTION, MASKING = "04_scaled_dot_product_attention", "05_masking"


@pytest.fixture(scope="module")
def lesson_05():
    return Terms(masters_as_bytes(EXERCISES, load_masters(EXERCISES, "05")), "a seed")


def opened(monkeypatch):
    """The names taken out of each room that is opened, in order."""
    found, made = [], run_and_judge.library_copy
    monkeypatch.setattr(run_and_judge, "library_copy", lambda names: found.append(names) or made(names))
    return found


@linux
def test_borrowing_earns_nothing_and_costs_the_neighbors_nothing(lesson_05):
    borrowed = "import functools, course_utils.masks\n\ndef causal_mask(*given):\n    return found(*given)\n\n"
    borrowed += "found = functools.reduce(getattr, ['masks', 'causal_mask'], course_utils)\n"
    data = handed_in.as_bytes(handed_in.solved(MASKING, answer_5_2=borrowed))
    result = grade_one(data, "x", lesson_05)
    assert outcomes(result).pop("5.2") == "off limits"
    assert {outcome for number, outcome in outcomes(result).items() if number != "5.2"} == {"right"}


@linux
def test_what_only_another_exercise_forbids_may_be_used(monkeypatch):
    """4.2 may use the course's attention, which 4.1 asks for."""
    folder = opened(monkeypatch)
    uses = "from course_utils import attention as course\n\n\ndef cross_attention(x, memory, W_q, W_k, W_v):\n"
    uses += "    return course.scaled_dot_product_attention(x @ W_q, memory @ W_k, memory @ W_v)\n"
    data = handed_in.as_bytes(handed_in.solved(ATTENTION, answer_4_2=uses))
    terms = Terms(masters_as_bytes(EXERCISES, load_masters(EXERCISES, "04")), "a seed")
    result = grade_one(data, "x", terms)
    assert set(outcomes(result).values()) == {"right"}
    assert len(folder) == 2 and run_and_judge.removed_names("4.2") == folder[1] != folder[0]


def in_fake_runs(seen, monkeypatch, limits=None, seconds=0.1):
    """Run two exercises in rooms whose kernels are not started: ``seen`` says what each room brings."""
    names = {"1.1": frozenset({"course_utils.a"}), "1.2": frozenset({"course_utils.b"}), "1.7": frozenset()}
    monkeypatch.setattr(run_and_judge, "removed_names", names.get)
    monkeypatch.setattr(run_and_judge, "library_copy", lambda hidden: hidden)
    asked = []

    async def run(steps, probes, limits, open_kernel):
        hidden = open_kernel(0.0)
        asked.append((hidden, [step.number for step in steps if step.role == "probe"]))
        return Trace(seconds=seconds, **seen(hidden))

    monkeypatch.setattr(run_and_judge, "run", run)
    steps = tuple(Step("probe", "", number) for number in names)

    def judge(trace, numbers):
        """What was seen stands for the outcome."""
        return [
            ExerciseScore(n, 1, 0, trace.observed.get(n) or f"lost: {trace.lost.get(n)}", "")
            for n in names
            if n in numbers
        ]

    probes = {number: ("", [], True) for number in names}
    trace, marked = run_and_judge.run_and_judge(steps, probes, limits or Limits(), lambda deadline, room: room, judge)
    return asked, [one.outcome for one in marked], trace


def test_an_exercise_is_tried_again_only_where_that_can_help(monkeypatch):
    def seen(hidden):
        first = len(hidden) == 2
        outcome = {"1.1": "wrong" if first else "right", "1.2": "wrong", "1.7": "wrong"}
        return {"observed": outcome, "removed_calls": {"course_utils.b"} if first else set()}

    asked, outcomes, trace = in_fake_runs(seen, monkeypatch)
    assert asked == [
        (frozenset({"course_utils.a", "course_utils.b"}), ["1.1", "1.2", "1.7"]),
        (frozenset({"course_utils.a"}), ["1.1"]),  # 1.2 may not use what was called; 1.7 is a quiz
    ]
    assert outcomes == ["right", "wrong", "wrong"] and trace.seconds == pytest.approx(0.2)


def test_nothing_is_tried_again_where_nothing_was_called(monkeypatch):
    asked, _, _ = in_fake_runs(lambda hidden: {"observed": dict.fromkeys(("1.1", "1.2", "1.7"), "wrong")}, monkeypatch)
    assert len(asked) == 1


def test_a_cell_that_a_hidden_name_stopped_is_tried_again(monkeypatch):
    def seen(hidden):
        if len(hidden) == 2:
            return {
                "lost": {"1.1": "memory"},
                "cell_errors": {"1.1": ("OffLimits", "")},
                "observed": {"1.2": "right", "1.7": "right"},
            }
        return {"observed": {"1.1": "right"}}

    asked, outcomes, trace = in_fake_runs(seen, monkeypatch)
    assert outcomes == ["right"] * 3 and not trace.lost and not trace.cell_errors and len(asked) == 2


def test_all_runs_together_have_the_time_of_one_notebook(monkeypatch):
    def seen(hidden):
        return {
            "observed": dict.fromkeys(("1.1", "1.2", "1.7"), "wrong"),
            "removed_calls": {"course_utils.a", "course_utils.b"},
        }

    asked, outcomes, _ = in_fake_runs(seen, monkeypatch, Limits(notebook_s=0.5), seconds=0.3)
    assert len(asked) == 1
    assert outcomes == ["lost: notebook time limit", "lost: notebook time limit", "wrong"]

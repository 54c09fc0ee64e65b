"""The solutions of lesson 11 against numbers worked by hand; its cases are what the task says."""

import math

import torch

from course_checks.deciding.decide import cases_of
from course_checks.deciding.find import find
from course_checks.engine import SEED
from course_checks.running import observe_answer
from course_checks.running.drivers.lesson_11 import Model


def test_batches_of_the_task():
    batches = find("11.1").right([(2, 3), (9, 9), (2, 2)], 20, 0)
    assert sorted(sorted(batch) for batch in batches) == [[0, 2], [1]]


def test_beam_search_of_the_task():
    table = {(): [0.6, 0.4, 1e-9], (0,): [0.3, 0.3, 0.4], (1,): [0.05, 0.05, 0.9]}

    def step(prefix):
        return torch.tensor(table[tuple(prefix)], dtype=torch.float64).log()

    for num_beams, best, probability in ((1, [0, 2], 0.24), (2, [1, 2], 0.36)):
        sequences, scores = find("11.2").right(step, num_beams, 2, 2, 0.0)
        assert sequences[0] == best
        assert math.isclose(math.exp(scores[0]), probability)


def test_no_two_candidates_are_equally_good():
    """As the task says, whatever the seed: or right answers would differ in which of two they keep."""
    entry = find("11.2")
    for seed in (SEED, 757097962, 1101929638, 1360457694, 2145153532, *range(4)):  # the large ones once had such pairs
        for case in entry.cases(seed):
            beams, step = [(0.0, [])], Model(case.driver["step"])
            for _ in range(case["max_len"]):
                totals = [(t + p, [*s, i]) for t, s in beams for i, p in enumerate(step(s).tolist())]
                totals.sort(reverse=True)
                best = [total for total, _ in totals[: 2 * case["num_beams"] + 1]]
                assert all(better - worse > 1e-9 for better, worse in zip(best, best[1:], strict=False))
                beams = [beam for beam in totals if beam[1][-1] != case["end_id"]][: case["num_beams"]]


def test_an_endless_search_is_stopped():
    def endless(step, num_beams, max_len, end_id, alpha):
        while True:
            step([])

    entry = find("11.2")
    (seen, *_) = observe_answer(endless, entry.call, cases_of(entry, SEED)[:1])["cases"]
    assert "step was called more than" in seen["message"]


def test_a_step_is_that_of_the_task():
    totals = torch.tensor([[-1.0, -2.0], [-1.0, -3.0]])
    rows = torch.tensor([[-1.0, -3.0, -9.0], [-0.5, -1.0, -9.0], [-4.0, -1.5, -0.5], [-1.0, -9.0, -9.0]])
    new, symbols, came_from = find("11.3").right(totals, rows)
    assert new.tolist() == [[-2.0, -2.5], [-1.5, -2.5]]
    assert symbols.tolist() == [[0, 0], [2, 1]] and came_from.tolist() == [0, 1, 2, 2]


def test_letters_of_the_task():
    assert find("11.4").right(torch.tensor([[[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]]])).tolist() == [0, 1]


def test_evaluation_by_hand():
    def one_too_high(word, prefix):
        following = {1: 4, 7: 2}.get(prefix[-1], prefix[-1] + 1)
        return torch.nn.functional.one_hot(torch.tensor(following), 9).float()

    assert find("11.6").right(one_too_high, [[3, 4, 5, 6]], 1, 2, 9) == (0.5, [[4, 5, 6, 7]])
    assert find("11.6").right(one_too_high, [[4]], 1, 2, 2) == (1.0, [[4, 5]])


def test_what_is_read_off_must_follow_from_the_table():
    from course_checks.lesson_11.relatives_results import words

    experiment = find("11.7")
    good = {key: (count, round(count * (0.2 if key[1] else 0.35))) for key, count in words().items()}
    totals = {r: [sum(row[i] for key, row in good.items() if key[1] == r) for i in (0, 1)] for r in (True, False)}
    (p, n), (q, m) = ((wrong / count, count) for count, wrong in (totals[True], totals[False]))
    error = 100 * math.sqrt(p * (1 - p) / n + q * (1 - q) / m)
    good |= {"lower with a relative": 3, "difference": 100 * (q - p), "standard error": error, "may be chance": False}

    def told(**changes):
        results = good | {key.replace("_", " "): value for key, value in changes.items()}
        return next((claim.name for claim in experiment.claims if claim.problem(results)), None)

    assert told() is None
    assert told(difference=-good["difference"]) == told(difference=good["difference"] / 100) == "difference"
    assert told(standard_error=error / 100) == "standard error"
    assert told(may_be_chance=True) == "chance"
    assert told(lower_with_a_relative=1) == "groups"
    for changed, name in (((3, 5), "pairs"), (good["6 to 7", False], "counted")):
        results = good | {("6 to 7", True): changed}
        assert next(claim.name for claim in experiment.claims if claim.problem(results)) == name
    results = good | {key: (row[0], row[0]) for key, row in good.items() if isinstance(row, tuple)}
    assert next(claim.name for claim in experiment.claims if claim.problem(results)) == "possible"

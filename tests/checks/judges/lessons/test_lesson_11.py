"""The references of lesson 11's checks against numbers worked by hand and against the library."""

import torch

from course_utils import metrics
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.judges.kit.edits import edits


def reference(number):
    return find(number).with_parts()


def test_batches_of_the_task():
    batches = reference("11.1")([(2, 3), (9, 9), (2, 2)], 20, 0)
    assert sorted(sorted(batch) for batch in batches) == [[0, 2], [1]]


def test_beam_search_of_the_task():
    table = {(): [0.6, 0.4, 1e-9], (0,): [0.3, 0.3, 0.4], (1,): [0.05, 0.05, 0.9]}

    def step(prefix):
        return torch.tensor(table[tuple(prefix)], dtype=torch.float64).log()

    for num_beams, best, probability in ((1, [0, 2], 0.24), (2, [1, 2], 0.36)):
        sequences, scores = reference("11.2")(step, num_beams, 2, 2, 0.0)
        assert sequences[0] == best
        assert torch.tensor(scores[0]).exp().isclose(torch.tensor(probability))


def test_a_step_is_that_of_the_task_and_of_the_library():
    totals = torch.tensor([[-1.0, -2.0], [-1.0, -3.0]])
    rows = torch.tensor([[-1.0, -3.0, -9.0], [-0.5, -1.0, -9.0], [-4.0, -1.5, -0.5], [-1.0, -9.0, -9.0]])
    new, symbols, came_from = reference("11.3")(totals, rows)
    assert new.tolist() == [[-2.0, -2.5], [-1.5, -2.5]]
    assert symbols.tolist() == [[0, 0], [2, 1]] and came_from.tolist() == [0, 1, 2, 2]


def test_what_is_read_off_must_follow_from_the_table():
    experiment = find("11.7")
    good = experiment.example()

    def told(**changes):
        results = good | {key.replace("_", " "): value for key, value in changes.items()}
        return next((c.name for c in experiment.claims if c.problem(results)), None)

    assert told() is None
    assert told(difference=-good["difference"]) == told(difference=good["difference"] / 100) == "difference"
    assert told(standard_error=good["standard error"] / 100) == "standard error"
    assert told(may_be_chance=not good["may be chance"]) == "chance"
    assert told(lower_with_a_relative=1) == "groups"
    key, other = ("6 to 7", True), ("6 to 7", False)
    for changed, name in (((3, 5), "pairs"), (good[other], "counted"), ((good[key][0], good[key][0]), "possible")):
        results = good | {key: changed}
        if name == "possible":
            results |= {one: (row[0], row[0]) for one, row in good.items() if isinstance(row, tuple)}
        assert next(c.name for c in experiment.claims if c.problem(results)) == name


def test_edits_are_the_librarys_and_a_swap_may_be_one():
    for a, b in (("kitten", "sitting"), ("", "abc"), ("abcd", "bd"), ("ab", "ba")):
        assert edits(a, b) == metrics.edit_distance(a, b)
    assert (edits("ab", "ba"), edits("ab", "ba", swap=True), edits("a", "b", substitute=2)) == (2, 1, 2)


def test_letters_of_the_task():
    assert reference("11.4")(torch.tensor([[[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]]])).tolist() == [0, 1]


def test_evaluation_by_hand():
    def one_too_high(word, prefix):
        following = {1: 4, 7: 2}.get(prefix[-1], prefix[-1] + 1)
        return torch.nn.functional.one_hot(torch.tensor(following), 9).float()

    assert reference("11.6")(one_too_high, [[3, 4, 5, 6]], 1, 2, 9) == (0.5, [[4, 5, 6, 7]])
    assert reference("11.6")(one_too_high, [[4]], 1, 2, 2) == (1.0, [[4, 5]])


def test_no_two_candidates_are_equally_good():
    """As the task says, whatever the seed: or right answers would differ in which of two they keep."""

    def distinct(candidates, num_beams):
        totals = sorted((total for total, *_ in candidates), reverse=True)[: 2 * num_beams + 1]
        assert all(better - worse > 1e-9 for better, worse in zip(totals, totals[1:], strict=False))
        return sorted(candidates, reverse=True)

    entry = find("11.2")
    for seed in (SEED, 757097962, 1101929638, 1360457694, 2145153532, *range(20)):  # the large ones once had such pairs
        for case in entry.cases(seed):
            step, *rest = entry.probe.hands_out(case).values()
            entry.reference(step, *rest, order=distinct)

"""Borders of the open experiments' claims that no recorded answer comes near; the numbers changed are recorded ones."""

import math

import pytest
import torch
from recorded_answers import recorded_answers

from course_checks.deciding.find import find
from course_checks.engine import run
from course_checks.lesson_01.found_shares import BOTH, MEASURE, POSSIBLE, START, TABLE
from course_checks.lesson_11.relatives_results import KEYS
from course_utils import similarity
from course_utils.datasets import word_vectors


def measured(number):
    """The numbers of the first recorded right answer."""
    answer = next(answer for answer in recorded_answers(number) if answer.is_right)
    space = {"__name__": "__main__"}
    exec(answer.text, space)
    return space[find(number).entry.answer]


def exchanged(*keys):
    return lambda good: good | dict(zip(keys, [good[key] for key in reversed(keys)], strict=True))


def every(change, *keys):
    """The same done to every number of some rows."""
    return lambda good: good | {key: [change(number) for number in good[key]] for key in keys}


CONTEXTS = "all", "layers 128", "layers 16", "model 16"
STACKS = (17, 1), (9, 2), (5, 4), (3, 8), (2, 16)


@pytest.mark.parametrize(
    ("number", "change", "claim"),
    [
        ("0.9", {"below equal": 5}, "below equal"),
        ("1.9", lambda good: {key[::-1]: row for key, row in good.items()}, "keys turned"),
        ("1.9", exchanged(START, MEASURE, BOTH, TABLE), "tables exchanged"),
        ("1.9", exchanged(START, TABLE, BOTH, MEASURE), "measures exchanged"),
        ("2.8", {"gain at 1.6": 100.0}, "gain at 1.6"),
        ("2.8", {"best at 10": 1.6}, "best at 10"),
        ("3.8", {1: [1.0] * 5}, "nothing left"),  # weights > the smallest that stays
        ("3.8", exchanged(1, "best hidden"), "exchanged"),
        ("3.8", {"all": [0.3, 0.31, 0.3, 0.3, 0.3]}, "usual"),
        ("3.8", {1: [0.0962, 0.0794, 0.0825, 0.0640, 0.0874]}, "usual"),  # one letter more was kept
        ("3.8", {"best hidden": [1.3472, 1.4086, 1.3481, 1.1835, 1.4741]}, "usual"),  # the second-best letter alone
        ("4.6", {(512, "root"): [0.6, 0.5, 0.6, 0.5, 0.6]}, "possible"),
        ("4.6", {(512, "d_k"): [1.0, 1.0, 1.0, 1.0, 0.99]}, "possible"),
        ("4.6", {(64, "none"): [1.0, 0.9, 0.97, 0.95, 1.0]}, "possible"),
        ("4.6", {(512, "none"): [1.0, 1.0, 1.0, 1.0, 1.0]}, "possible"),
        ("4.6", {"root fails at": "never"}, "root read off"),
        ("5.9", {(5, 4): [0.07] * 4}, "all runs"),
        ("5.9", every(lambda share: share / 20, *STACKS), "sizes"),
        ("5.9", {key: [1e-9 * key[0], -1e-9, 2e-9, 0.0, 1e-9] for key in STACKS}, "sizes"),
        ("5.9", {(2, 16): [0.0006, 0.0005, 0.0006, 0.0007, 0.0006]}, "possible"),  # 6 or more back
        ("5.9", {(3, 8): [0.063, 0.061, 0.064, 0.066, 0.062]}, "possible"),  # 4 or more back
        ("5.9", {"least": [17, 1]}, "least"),
        ("6.8", {(2, 1): [0.001, 0.002, 0.001, 0.001, 0.001]}, "possible"),
        ("6.8", {(4, 1): [0.697, 0.739, 0.709, 0.703, 0.702]}, "possible"),  # these are of 100 updates
        ("6.8", exchanged((2, 1), (4, 2)), "possible"),
        ("6.8", {"enough for 2 marks": "2"}, "enough"),
        ("6.8", {"law": "heads"}, "law"),
        ("7.9", exchanged("key", "value"), "possible"),
        ("7.9", {"above": "value"}, "above"),
        ("7.9", {"above": ["key", "value"]}, "above"),
        ("7.9", {"too narrow": "both"}, "too narrow"),
        ("8.9", exchanged(("as trained", 12), ("larger base", 12)), "possible"),
        ("8.9", {("turn", "squeezed"): [0.125]}, "turns"),
        ("9.9", {(8, "full"): [1, 2, 3, 4, 5]}, "possible"),
        ("9.9", {(8, "full"): 2.83}, "all runs"),
        ("9.9", {(2, "share"): "1.03"}, "all runs"),
        ("9.9", {"law": "log N"}, "law"),
        ("9.9", {("post-norm", "root"): [1.5, 1.6]}, "possible"),
        ("9.9", {"learned": [("post-norm", "root")]}, "learned"),
        ("9.9", {"decides": "order"}, "decides"),
        ("10.9", exchanged(("sure", 0), ("sure", 0.4)), "possible"),
        ("10.9", {("right", 0.2): [0.1, 0.11, 0.12, 0.1, 0.11]}, "possible"),
        ("10.9", lambda good: good | {("sure", 0.2): good["sure", 0.4]}, "each smoothing"),
        ("10.9", {"closest": 0.3}, "closest"),
        ("10.9", {"what changes more": "both"}, "what changes more"),
        ("11.7", {("6 to 7", True): (3, 5)}, "pairs"),
        ("11.7", lambda good: good | {key: (good[key][0], good[key][0]) for key in KEYS}, "possible"),
        ("11.7", {"lower with a relative": 1}, "groups"),
        ("11.7", lambda good: good | {"difference": good["difference"] / 100}, "difference"),
        ("11.7", lambda good: good | {"standard error": good["standard error"] / 100}, "standard error"),
        ("11.7", lambda good: good | {"may be chance": not good["may be chance"]}, "chance"),
        ("12.9", every(lambda bits: math.log(2) * bits, *CONTEXTS), "possible"),
        ("12.9", every(lambda bits: 2**bits, *CONTEXTS), "possible"),
        ("12.9", exchanged("all", "model 16"), "possible"),
        ("12.9", exchanged("layers 16", "model 16"), "exchanged"),  # their means are 0.003 bits apart
        ("12.9", exchanged("all", "layers 128"), "exchanged"),
        ("12.9", {"reach": 64}, "reach"),
        ("12.9", {"clear": True}, "clear"),
    ],
)
def test_the_claim_that_a_change_breaks_is_told(number, change, claim):
    good = measured(number)
    verdict = run(find(number), change(good) if callable(change) else good | change)
    assert not verdict.passed and verdict.mistake == claim, verdict.text()


def test_1_9s_ranges_hold_of_what_its_cell_measures():
    """Two splits, and how often a word is found in each way."""
    for seed in (5, 6):  # not those of the task: the ranges must hold for any
        counts = word_vectors.two_halves(seed)
        ppmi = [word_vectors.positive_pmi(half) for half in counts]
        for table, halves in (("counts", counts), ("ppmi", ppmi)):
            for measure, change in (("dot product", lambda half: half), ("cosine", similarity.normalize)):
                first, second = map(change, halves)
                share = (first @ second.T).argmax(1).eq(torch.arange(len(first))).float().mean().item()
                low, high = POSSIBLE[table, measure]
                assert low <= share <= high

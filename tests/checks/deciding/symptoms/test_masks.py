"""Boolean tensors."""

import pytest
import torch
from toy_exercises import diagnosis

CASES = [{"n": 4, "m": 4}, {"n": 3, "m": 5}, {"n": 6, "m": 6}]


def causal(n, m):
    return torch.ones(n, m, dtype=torch.bool).tril()


@pytest.mark.parametrize(
    ("answer", "name", "words"),
    [
        (lambda n, m: ~causal(n, m), "inverted", "the opposite"),
        (lambda n, m: causal(n, m).flip(-1), "mask turned", "reversed along its last axis"),
        (lambda n, m: causal(n, m).flip(-2), "mask turned", "reversed along axis -2"),
        (
            lambda n, m: torch.ones(n, m, dtype=torch.bool).tril(1),
            "True, all of them right of the diagonal",
            "should be False",
        ),
        (
            lambda n, m: torch.ones(n, m, dtype=torch.bool).tril(-1),
            "False, all of them on the diagonal",
            "should be True",
        ),
        (lambda n, m: causal(n, m) & (torch.arange(m) > 0), "False, all of them in the first column", "should be True"),
    ],
)
def test_what_differs(answer, name, words):
    found_by, found_name, sentence = diagnosis(causal, answer, *CASES)
    assert found_by == "symptom" and found_name.startswith(name) and words in sentence


def test_square_masks_with_their_axes_exchanged():
    assert diagnosis(causal, lambda n, m: causal(n, m).mT, {"n": 4, "m": 4}, {"n": 6, "m": 6})[1] == "mask turned"

"""The worked solutions of lesson 01 against the library (held to PyTorch in its own tests) and against PyTorch."""

import collections

import pytest
import torch
import torch.nn.functional as F

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.engine import SEED
from course_checks.lesson_01.found_shares import POSSIBLE
from course_checks.running import observe_answer
from course_utils import similarity
from course_utils.datasets import documentation, word_vectors

BY_THE_LIBRARY = {
    "1.1": similarity.dot_product,
    "1.2": similarity.cosine_similarity,
    "1.3": similarity.similarity_matrix,
    "1.4": similarity.similarity_matrix,
    "1.5": lambda query, keys, k: similarity.nearest_neighbors(query, keys, k)[1],
    "1.6": lambda queries, keys: F.cosine_similarity(queries[:, :, None], keys[:, None], dim=-1),
    "1.8": lambda queries, keys: torch.stack(
        [torch.stack([similarity.similarity_matrix(q, k).amax(1).sum() for k in keys]) for q in queries]
    ),
}


@pytest.mark.parametrize("number", BY_THE_LIBRARY)
def test_the_solution_does_what_the_library_does(number):
    exercise = find(number)
    for case in exercise.cases(SEED):
        torch.testing.assert_close(exercise.right(**case), BY_THE_LIBRARY[number](**case))


def test_no_two_keys_tie():
    for seed in (SEED, 1, 2):
        for case in find("1.5").cases(seed):
            cosines = (F.normalize(case["keys"], dim=-1) @ F.normalize(case["query"], dim=0)).sort().values
            assert cosines.diff().min() > 1e-5


@pytest.mark.parametrize("number", ["1.4", "1.6"])
def test_who_loops_over_the_items_is_stopped(number):
    exercise = find(number)
    cases = cases_of(exercise, SEED)

    def looping(queries, keys):
        return torch.stack([exercise.right(q[None], k[None])[0] for q, k in zip(queries, keys, strict=True)])

    verdict = decider(exercise, cases)(observe_answer(looping, exercise.call, cases))
    assert (verdict.passed, verdict.mistake) == (False, "loops")
    assert verdict.looks_like.startswith("right in the other cases")


def test_the_experiments_claims_hold_of_what_its_cell_measures(root):
    """Two splits, and how often a word is found in each way."""
    source = (root / "sources" / "exercises" / "01_dot_product_similarity.py").read_text(encoding="utf-8")
    cell = source[source.index("paragraphs =") :].split("# %%")[0]
    names = {"collections": collections, "torch": torch, "documentation": documentation, "word_vectors": word_vectors}
    exec(cell, names)  # noqa: S102
    for seed in (5, 6):  # not those of the task: the ranges must hold for any
        counts = names["two_halves"](seed)
        ppmi = [word_vectors.positive_pmi(half) for half in counts]
        for table, halves in (("counts", counts), ("ppmi", ppmi)):
            for measure, change in (("dot product", lambda half: half), ("cosine", similarity.normalize)):
                first, second = map(change, halves)
                share = (first @ second.T).argmax(1).eq(torch.arange(len(first))).float().mean().item()
                low, high = POSSIBLE[table, measure]
                assert low <= share <= high

"""The references of lesson 01's checks against the library (held to PyTorch in its own tests)."""

import collections

import pytest
import torch
import torch.nn.functional as F

from course_utils import similarity
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.judges.lessons.lesson_01.found_shares import POSSIBLE
from course_utils.datasets import documentation, word_vectors

TRUTH = {
    "1.1": similarity.dot_product,
    "1.2": similarity.cosine_similarity,
    "1.3": similarity.similarity_matrix,
    "1.4": similarity.similarity_matrix,
    "1.5": lambda query, keys, k: similarity.nearest_neighbors(query, keys, k)[1],
    "1.8": lambda queries, keys: torch.stack(
        [torch.stack([similarity.similarity_matrix(q, k).amax(1).sum() for k in keys]) for q in queries]
    ),
    "1.6": lambda queries, keys: F.cosine_similarity(queries[:, :, None], keys[:, None], dim=-1),
}


@pytest.mark.parametrize("number", TRUTH)
def test_reference_is_the_librarys(number):
    exercise = find(number)
    for case in exercise.cases(SEED):
        torch.testing.assert_close(exercise.reference(**case), TRUTH[number](**case))


def test_the_experiments_claims_hold_of_what_its_cell_measures(root):
    """Two of the five splits, and what follows from them; in words of the split nothing is found by counts alone."""
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

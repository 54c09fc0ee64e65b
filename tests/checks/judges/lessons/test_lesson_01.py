"""The references of lesson 01's checks against the library (held to PyTorch in its own tests)."""

import pytest
import torch
import torch.nn.functional as F

from course_utils import similarity
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find

TRUTH = {
    "1.1": similarity.dot_product,
    "1.2": similarity.cosine_similarity,
    "1.3": similarity.similarity_matrix,
    "1.4": similarity.similarity_matrix,
    "1.5": lambda query, keys, k: similarity.nearest_neighbors(query, keys, k)[1],
    "1.6": lambda queries, keys: F.cosine_similarity(queries[:, :, None], keys[:, None], dim=-1),
}


@pytest.mark.parametrize("number", TRUTH)
def test_reference_is_the_librarys(number):
    exercise = find(number)
    for case in exercise.cases(SEED):
        torch.testing.assert_close(exercise.reference(**case), TRUTH[number](**case))

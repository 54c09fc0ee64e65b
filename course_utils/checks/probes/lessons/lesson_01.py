"""Lesson 01: what is off limits."""

from ..guard import MATRIX_PRODUCTS
from ..probe import Probe

COSINES = (
    "torch.cosine_similarity", "torch.nn.functional.cosine_similarity", "course_utils.similarity.cosine_similarity",
)  # fmt: skip

PROBES = {
    "dot": Probe(off_limits=("course_utils.similarity.dot_product",)),
    "cosine": Probe(off_limits=COSINES),
    "all_pairs": Probe(off_limits=("course_utils.similarity.similarity_matrix",)),
    "all_pairs_einsum": Probe(off_limits=(*MATRIX_PRODUCTS, "course_utils.similarity.similarity_matrix")),
    "nearest": Probe(off_limits=("course_utils.similarity.nearest_neighbors",)),
}

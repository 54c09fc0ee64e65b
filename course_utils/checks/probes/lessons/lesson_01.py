"""Lesson 01: what is off limits."""

from ..guard import MATRIX_PRODUCTS
from ..probe import Probe

COSINES = (  # and the course's normalize: the guard against zero, which the exercise is about
    "torch.cosine_similarity", "torch.nn.functional.cosine_similarity", "course_utils.similarity.cosine_similarity",
    "course_utils.similarity.normalize",
)  # fmt: skip
PRODUCTS = ("course_utils.similarity.dot_product", "course_utils.similarity.similarity_matrix")

PROBES = {
    "dot": Probe(off_limits=PRODUCTS),
    "cosine": Probe(off_limits=COSINES),
    "all_pairs": Probe(off_limits=PRODUCTS),
    "all_pairs_einsum": Probe(off_limits=(*MATRIX_PRODUCTS, *PRODUCTS)),
    "nearest": Probe(off_limits=("course_utils.similarity.nearest_neighbors",)),
    "found_shares": Probe(expects="value"),
}

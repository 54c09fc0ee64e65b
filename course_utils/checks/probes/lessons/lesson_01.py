"""Lesson 01: what is off limits."""

from ..counted import call_counted
from ..guard import MATRIX_PRODUCTS
from ..probe import Probe

COSINES = (
    *("torch.cosine_similarity", "torch.nn.functional.cosine_similarity"),
    *("course_utils.similarity.cosine_similarity", "course_utils.similarity.nearest_neighbors"),
)
# the guard against zero, which the exercise is about
GUARDS = ("torch.nn.functional.normalize", "course_utils.similarity.normalize")
PRODUCTS = ("course_utils.similarity.dot_product", "course_utils.similarity.similarity_matrix")
_AT_ONCE = call_counted(100, "it loops: more than 100 operations")

PROBES = {
    "dot": Probe(off_limits=PRODUCTS),
    "cosine": Probe(off_limits=(*COSINES, *GUARDS)),
    "all_pairs": Probe(off_limits=PRODUCTS),
    "all_pairs_einsum": Probe(call=_AT_ONCE, off_limits=(*MATRIX_PRODUCTS, *PRODUCTS)),
    "nearest": Probe(off_limits=COSINES),
    "batch_cosines": Probe(call=_AT_ONCE, off_limits=(*COSINES, *PRODUCTS)),
    "found_shares": Probe(expects="value"),
}

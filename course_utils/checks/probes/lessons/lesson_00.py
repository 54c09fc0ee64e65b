"""Lesson 00: what is off limits."""

from ..guard import MATRIX_PRODUCTS
from ..probe import Probe

PRODUCTS = ("course_utils.similarity.dot_product", "course_utils.similarity.similarity_matrix")

PROBES = {
    "shares": Probe(off_limits=("torch.nn.functional.normalize",)),
    "pad_batch": Probe(
        off_limits=("torch.nn.utils.rnn.pad_sequence", "torch._C._nn.pad_sequence", "course_utils.tokenizers.pad")
    ),
    "all_products": Probe(off_limits=(*MATRIX_PRODUCTS, *PRODUCTS)),
    "split_heads": Probe(off_limits=("course_utils.multi_head.split_heads",)),
    "reach": Probe(expects="value"),
}

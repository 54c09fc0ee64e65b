"""Lesson 00: what is off limits."""

from ..guard import MATRIX_PRODUCTS
from ..probe import Probe

PROBES = {
    "shares": Probe(off_limits=("torch.nn.functional.normalize",)),
    "pad_batch": Probe(off_limits=("torch.nn.utils.rnn.pad_sequence", "torch._C._nn.pad_sequence")),
    "embed": Probe(off_limits=("torch.nn.functional.embedding", "torch.embedding")),
    "all_products": Probe(off_limits=(*MATRIX_PRODUCTS, "course_utils.similarity.similarity_matrix")),
}

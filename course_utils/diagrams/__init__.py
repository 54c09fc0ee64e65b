"""Pictures of mechanisms, drawn from the tensors and modules that a lesson runs: tensors in, matplotlib Axes out.

``plotting`` draws measurements, this package how a thing works. Every function hands back an Axes of its own whose label is
the alternative text, made from what was drawn: ``plotting.show(ax)`` displays both.
"""

from .architecture import architecture
from .beams import Beam, beam_tree
from .flow import attention_flow
from .legend import legend
from .masks import mask_gallery
from .operations import matmul, reshape, split_merge
from .recurrent import unrolled
from .stream import residual_stream
from .vectors import projection, rotation, word_map
from .wiring import cache_strip, head_wiring

__all__ = [
    "Beam", "architecture", "attention_flow", "beam_tree", "cache_strip", "head_wiring", "legend", "mask_gallery", "matmul",
    "projection", "reshape", "residual_stream", "rotation", "split_merge", "unrolled", "word_map",
]  # fmt: skip

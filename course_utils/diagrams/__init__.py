"""Pictures of mechanisms, drawn from the tensors and modules that a lesson runs: tensors in, matplotlib Axes out.

``plotting`` draws measurements, this package how a thing works. Every function hands back an Axes of its own whose label is
the alternative text, made from what was drawn: ``plotting.show(ax)`` displays both.
"""

from .architecture import architecture, residual_stream
from .attention import attention_flow, three_roles
from .beams import Beam, beam_tree, looked_at
from .heads import attention_lines, cache_strip, head_wiring
from .masks import mask_gallery
from .online import running_softmax
from .operations import lookup, matmul, reshape, split_merge
from .overview import legend, road_map
from .recurrent import unrolled
from .vectors import clock_hands, projection, rotation, word_map

__all__ = [
    "Beam", "architecture", "attention_flow", "attention_lines", "beam_tree", "cache_strip", "clock_hands", "head_wiring",
    "legend", "looked_at", "lookup", "mask_gallery", "matmul", "projection", "reshape", "residual_stream", "road_map", "rotation",
    "running_softmax", "split_merge", "three_roles", "unrolled", "word_map",
]  # fmt: skip

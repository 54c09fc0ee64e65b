"""Pictures of mechanisms, drawn from the tensors and modules that a lesson runs: tensors in, matplotlib Axes out.

``plotting`` draws measurements, this package how a thing works. Every function hands back an Axes of its own whose label is
the alternative text, made from what was drawn: ``plotting.show(ax)`` displays both.
"""

from .architecture import architecture
from .beams import Beam, beam_tree, looked_at
from .flow import attention_flow
from .heads import attention_lines
from .legend import legend
from .masks import mask_gallery
from .online import running_softmax
from .operations import lookup, matmul, reshape, split_merge
from .recurrent import unrolled
from .roadmap import road_map
from .roles import three_roles
from .stream import residual_stream
from .vectors import clock_hands, projection, rotation, word_map
from .wiring import cache_strip, head_wiring

__all__ = [
    "Beam", "architecture", "attention_flow", "attention_lines", "beam_tree", "cache_strip", "clock_hands", "head_wiring",
    "legend", "looked_at", "lookup", "mask_gallery", "matmul", "projection", "reshape", "residual_stream", "road_map", "rotation",
    "running_softmax", "split_merge", "three_roles", "unrolled", "word_map",
]  # fmt: skip

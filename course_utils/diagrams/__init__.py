"""Pictures of mechanisms, drawn from the tensors and modules that a lesson runs: tensors in, matplotlib Axes out.

``plotting`` draws measurements, this package how a thing works. Every function hands back an Axes of its own whose label is
the alternative text, made from what was drawn: ``plotting.show(ax)`` displays both.
"""

from .architecture import architecture
from .attention import attention_flow, three_roles
from .beams import Beam, beam_tree, looked_at
from .caches import cache_strip, cache_strips, head_wiring, head_wirings
from .chunked import chunked_forms
from .decoder_step import decoder_step
from .divided import divided
from .heads import attention_lines, head_maps
from .induction import induction
from .layer_kinds import cost_lines, influence_maps
from .leaks import moved_outputs, training_losses
from .masks import mask_cells, mask_gallery, masked_weights
from .multi_head import multi_head
from .norms import two_norms
from .online import running_softmax
from .operations import lookup, matmul, reshape, split_merge
from .overview import legend, road_map
from .paths import growing_paths
from .recomputed import recomputed_block
from .recurrent import look_step_speak, unrolled
from .shadows import areas, projection
from .shifted import shifted_targets
from .state import state_write
from .streams import residual_stream, straight_streams
from .tensor_parallel import tensor_parallel
from .vectors import clock_hands, rotation, word_map
from .window import window_places

__all__ = [
    "Beam", "architecture", "areas", "attention_flow", "attention_lines", "beam_tree", "cache_strip", "cache_strips",
    "chunked_forms", "clock_hands", "cost_lines", "decoder_step", "divided", "growing_paths", "head_maps",
    "head_wiring", "head_wirings", "induction", "influence_maps", "legend", "look_step_speak", "looked_at", "lookup",
    "mask_cells", "mask_gallery", "masked_weights", "matmul", "moved_outputs", "multi_head", "projection",
    "recomputed_block", "reshape", "residual_stream", "road_map", "rotation", "running_softmax", "shifted_targets",
    "split_merge", "state_write", "straight_streams", "tensor_parallel", "three_roles", "training_losses",
    "two_norms", "unrolled", "window_places", "word_map",
]  # fmt: skip

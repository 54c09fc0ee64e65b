"""What the exercises of several lessons put off limits, by dotted names."""

MATRIX_PRODUCTS = (
    *("torch.matmul", "torch.mm", "torch.bmm", "torch.mv", "torch.inner", "torch.tensordot", "torch.chain_matmul"),
    *("torch.addmm", "torch.addbmm", "torch.baddbmm", "torch.linalg.matmul", "torch.linalg.multi_dot"),
    *("torch.Tensor.matmul", "torch.Tensor.__matmul__", "torch.Tensor.__rmatmul__", "torch.Tensor.mm"),
    *("torch.Tensor.bmm", "torch.Tensor.mv", "torch.Tensor.inner", "torch.Tensor.addmm", "torch.Tensor.addbmm"),
    *("torch.Tensor.baddbmm", "torch.nn.functional.linear"),
    *("torch.sparse.mm", "torch.matrix_power", "torch.linalg.matrix_power", "torch.nn.functional.bilinear"),
    *("torch.bilinear", "torch.conv1d", "torch.nn.functional.conv1d", "torch.Tensor.matrix_power"),
)
SIMILARITIES = ("course_utils.similarity.dot_product", "course_utils.similarity.similarity_matrix")
ATTENTION = (
    *("torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.multi_head_attention_forward"),
    *("torch.nn.MultiheadAttention", "course_utils.attention.scaled_dot_product_attention"),
    *("course_utils.multi_head.MultiHeadAttention", "course_utils.blockwise_attention.attention_in_blocks"),
)
HEADS = ("course_utils.multi_head.split_heads", "course_utils.multi_head.merge_heads")
POSITIONS = tuple(
    f"course_utils.positions.{name}"
    for name in (
        *("rotary_angles", "SinusoidalPositions", "shift_matrix", "apply_rope", "RotaryPositions"),
        *("alibi_slopes", "alibi_bias"),
    )
)
DECODING = tuple(  # with one beam, or at temperature 0, the other two decode greedily
    f"course_utils.decoding.{name}" for name in ("search.greedy_decode", "search.beam_search", "sampling.generate")
)
TEXT_SCORES = (
    *(f"course_utils.metrics.{name}" for name in ("perplexity", "bits_per_symbol", "text_scores")),
    *("course_utils.training.losses.label_smoothing_loss", "course_utils.training.losses.teacher_forced_loss"),
    "course_utils.training.losses.next_symbol_loss",
)

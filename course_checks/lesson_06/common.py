"""What several exercises of lesson 06 share: what is off limits, and what to try."""

HEADS = ("course_utils.multi_head.split_heads", "course_utils.multi_head.merge_heads")
ATTENTIONS = (
    *("torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.multi_head_attention_forward"),
    *("torch.nn.MultiheadAttention", "course_utils.attention.scaled_dot_product_attention"),
    "course_utils.multi_head.MultiHeadAttention",
)
SIZE = "the root is that of the number of entries in one of the vectors that are compared."
KEYS = "each query shares its weight among the keys: sum your weights over each axis to see."

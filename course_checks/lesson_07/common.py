"""What several exercises of lesson 07 share: what is off limits, what is tried, and what a class keeps for all."""

from ..deciding.wrong_answer import symptom

READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "course_utils.attention.scaled_dot_product_attention",
    "course_utils.blockwise_attention.attention_in_blocks",
    "course_utils.multi_head.repeat_kv",
    "course_utils.multi_head.MultiHeadAttention",
)
CACHES = ("course_utils.kv_cache.KVCache", "course_utils.kv_cache.WindowCache")
IN_SELF = "keep the tensors in self, made in __init__; not on the class, in a global or in a default argument."


def keeps_for_all(answer):
    """A new object begins with what an earlier one kept."""
    seen = answer.observed[answer.first]
    if "again" not in seen or seen.get("drew"):
        return None
    sentence = "a new object begins with what an earlier one was given: the class, or a global, holds it."
    return symptom(sentence, IN_SELF, "remembers an earlier call")

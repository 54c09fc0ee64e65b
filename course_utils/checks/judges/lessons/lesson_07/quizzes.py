"""The quizzes of lesson 07."""

from ...exercise import Quiz

QUIZZES = {
    "7.7": Quiz("d", {
        "a": "a query head is exactly as large as a key head; size is not the reason.",
        "b": "with a causal mask the query of an old position would come out the same too.",
        "c": "they come from another projection, and nothing in attention needs them again.",
        "d": "its output was computed when it was new. New queries look back at old keys and values, never at old queries.",
    }),
    "7.8": Quiz("a", {
        "a": "all three count key/value heads, and there are a quarter as many.",
        "b": "`k_proj` and `v_proj` make H_kv * d_head numbers for each position, so they shrink with H_kv.",
        "c": "there are still 32 query heads: `q_proj`, `o_proj` and the (B, H, L_q, L_k) scores stay as they are.",
        "d": "each of the 32 query heads still has its own weights; heads of one group share keys, not weights.",
    }),
}  # fmt: skip

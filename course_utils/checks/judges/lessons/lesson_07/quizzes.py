"""The quizzes of lesson 07."""

from ...exercise import Quiz

QUIZZES = {
    "7.11": Quiz("a", {
        "a": "all three count key/value heads, and there are a quarter as many.",
        "b": "`k_proj` and `v_proj` make H_kv * d_head numbers for each position, so they shrink with H_kv.",
        "c": "there are still 32 query heads: `q_proj`, `o_proj` and the (B, H, L_q, L_k) scores stay as they are.",
        "d": "each of the 32 query heads still has its own weights; heads of one group share keys, not weights.",
    }),
}  # fmt: skip

"""The quiz questions of lesson 08."""

from ...exercise import Quiz

QUIZZES = {
    "8.8": Quiz("c", {
        "a": "usually all three have size d_head, and the rotation would fit. It is left out on purpose.",
        "b": "values have no part in the weights: those come from queries and keys alone.",
        "c": "in a score the two rotations leave the distance; a value's rotation meets no second one to undo it.",
        "d": "the output projection is one fixed matrix, and each position would need another one to be turned back.",
    }),
    "8.9": Quiz("b", {
        "a": "the table has 1024 rows. The error would come from 1025 tokens on.",
        "b": "a row gets a gradient only when its position occurs. Nothing warns you; the answers get worse.",
        "c": "rows are independent parameters: what row 511 learned does not reach row 512.",
        "d": "that is so for RoPE and ALiBi. A learned table knows absolute positions, each by itself.",
    }),
}  # fmt: skip

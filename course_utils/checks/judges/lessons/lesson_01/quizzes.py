"""Arithmetic with words."""

from ...exercise import Quiz

QUIZZES = {
    "1.7": Quiz("c", {
        "a": "with leave_out=False, look at the second share: nearly every answer is a word of the question.",
        "b": "compare the rule with both guessers: the one that looks at c alone does as well.",
        "c": "so the difference b - a adds little here: c's own neighborhood does the work.",
        "d": "chance would be right about once in a thousand questions; compare that with your first share.",
    }),
}  # fmt: skip

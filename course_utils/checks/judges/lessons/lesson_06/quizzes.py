"""The quiz question of lesson 06."""

from ...exercise import Quiz

QUIZZES = {
    "6.6": Quiz("b", {
        "a": "16 heads x 64 x 64 is 65,536; the four matrices hold 4 x 512 x 512, sixteen times as many.",
        "b": "16 x L x L reaches 4 x 512 x 512 exactly at L = 256; from there on the table grows with the square.",
        "c": "there it already holds sixteen times as many numbers as the layer: 16 x 1024 x 1024.",
        "d": "each head has a table of its own, L x L weights for each of the 16.",
    }),
}  # fmt: skip

"""The quiz question."""

from ...exercise import Quiz

QUIZZES = {
    "9.10": Quiz("c", {
        "a": "each sublayer does see what it saw before, and adds what it added before; but it adds that to a stream ten times "
            "as large, so it counts for a tenth.",
        "b": "the first attention reads the vectors as they come, ten times as large: its scores become a hundred times as "
            "large, its weights change, and so does the first sum.",
        "c": "the norm forgets the factor before anything else sees it, and all that follows is as it was.",
        "d": "in two of the three something sees the larger vectors: the sum in one, the first attention in the other.",
    }),
}  # fmt: skip

"""The quiz question of lesson 03."""

from ...exercise import Quiz

QUIZZES = {
    "3.7": Quiz("c", {
        "a": "s_0 asked in the first step only; its weights here differ from the recorded ones. Feed the other two.",
        "b": "Luong's decoder asks with the state after the step, but this one's weights differ from the recorded ones.",
        "c": "its weights are the recorded ones. Bahdanau looks first, then steps; Luong steps first.",
        "d": "the vector is right, but it is Bahdanau who looks before the step. Luong asks with the new state.",
    }),
}  # fmt: skip

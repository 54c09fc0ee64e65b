"""The two quizzes of the lesson: which letter is right, and why the others are not."""

from ...exercise import Quiz

QUIZZES = {
    "10.8": Quiz("c", {
        "a": "then the loss would jump about or grow; it would not come to rest near its lowest value.",
        "b": "after 30 steps it has seen most sentences not once. Memory does not come so fast.",
        "c": "repeating the input is learned within a few steps. In decoding it is given the start symbol and repeats it.",
        "d": "beam search finds better sequences by the model's own measure; it does not mend a model that learned to "
            "repeat.",
    }),
    "10.9": Quiz("a", {
        "a": "taken for logits, probabilities differ by 1 at most; ln(e + 999) - 1 is as low as the loss can get.",
        "b": "that changes nothing: log-probabilities are already normalized.",
        "c": "that is as it should be, and it does not keep the loss from falling.",
        "d": "then learning would be slow, but the share of right symbols could not be at 95 %.",
    }),
}  # fmt: skip

"""An additive score without its tanh."""

from ...exercise import Quiz

QUIZZES = {
    "2.7": Quiz("c", {
        "a": "the softmax sees to the sum, whatever the scores are.",
        "b": "a dot product multiplies entries of the query with entries of the key; here they are only added.",
        "c": "the query adds the same number to the scores of all keys, and a softmax does not notice a shift.",
        "d": "the part of the key, w_v times W_k k, is still there, and differs from key to key.",
    }),
}  # fmt: skip

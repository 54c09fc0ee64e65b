"""A high temperature; an additive score without its tanh."""

from ...exercise import Quiz

QUIZZES = {
    "2.7": Quiz("a", {
        "a": "divided by 100, the scores differ by at most 0.06, and a softmax sees differences only.",
        "b": "that is what a low temperature does: dividing by 0.01 makes the differences a hundred times larger.",
        "c": "it does not notice a common shift. A factor changes the differences between scores, and so the weights.",
        "d": "the scores are divided before the softmax, which makes the weights sum to 1 whatever it gets.",
    }),
    "2.8": Quiz("c", {
        "a": "the softmax sees to the sum, whatever the scores are.",
        "b": "a dot product multiplies entries of the query with entries of the key; here they are only added.",
        "c": "the query adds the same number to the scores of all keys, and a softmax does not notice a shift.",
        "d": "the part of the key, w_v times W_k k, is still there, and differs from key to key.",
    }),
}  # fmt: skip

"""The quiz questions."""

from ...exercise import Quiz

QUIZZES = {
    "11.7": Quiz("b", {
        "a": "it may be improbable at every place; what counts is how many factors below 1 there are.",
        "b": "a sum of negative logarithms only falls; dividing it by the length compares means instead of sums.",
        "c": "the score knows nothing of right and wrong; a sequence that breaks off early can outscore the right one.",
        "d": "that happens to products. Sums of logarithms do not underflow, and the short ones still win.",
    }),
    "11.8": Quiz("d", {
        "a": "only on the same words, scored by the same rule; here neither is so.",
        "b": "the number of words says how exact a rate is, not which model is better.",
        "c": "with thousands of words on the same test, 3 points can be a real difference. Here it cannot be told.",
        "d": "run both on one test with one rule; until then the two numbers are answers to two questions.",
    }),
}  # fmt: skip

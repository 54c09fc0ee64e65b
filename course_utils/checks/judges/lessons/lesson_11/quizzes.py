"""The quiz question."""

from ...exercise import Quiz

QUIZZES = {
    "11.8": Quiz("d", {
        "a": "only on the same words, scored by the same rule; here neither is so.",
        "b": "the number of words says how exact a rate is, not which model is better.",
        "c": "with thousands of words on the same test, 3 points can be a real difference. Here it cannot be told.",
        "d": "run both on one test with one rule; until then the two numbers are answers to two questions.",
    }),
}  # fmt: skip

"""The quiz questions of lesson 04."""

from ...exercise import Quiz

QUIZZES = {
    "4.7": Quiz("b", {
        "a": "each row belongs to a query, and the queries have changed places, so their outputs have too.",
        "b": "each query still meets the same keys and values, and a sum does not depend on its order.",
        "c": "no token sees an order: it adds up the same values with the same weights as before.",
        "d": "each of the two tokens finds the same keys and values as before; only the place of its row has changed.",
    }),
    "4.8": Quiz("d", {
        "a": "the sum of a row is 1 in both, but there are more rows, and each has more entries to be stored.",
        "b": "twice is the root of four; the number of weights grows faster than the length, not slower.",
        "c": "that holds for queries, keys and values; the weights have four times the rows and four times the columns.",
        "d": "every query has a weight for every key: four times the rows, each four times as long.",
    }),
}  # fmt: skip

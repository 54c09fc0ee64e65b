"""The quiz questions of lesson 04."""

from ...exercise import Quiz

QUIZZES = {
    "4.7": Quiz("c", {
        "a": "with one matrix these diagonals are q · q = 1: two vectors of length 1, whose dot product can't be 2.",
        "b": "one matrix makes q_i · q_j and q_j · q_i equal, and these are 1 and -1.",
        "c": "the two queries 2 and -1, of size 1, make it: 2 · 2, 2 · (-1) and (-1) · (-1).",
        "d": "with one matrix a token's score with itself is q · q, a sum of squares, and can't be negative.",
    }),
    "4.8": Quiz("b", {
        "a": "the weights are equal now, but they would change if W_k did; that is what a gradient measures.",
        "b": "the scores move with W_k as soon as it moves, since the queries aren't zero. They don't move with W_q, since "
             "it's multiplied by keys that are zero.",
        "c": "it's the other way round: a change of W_q meets keys that are zero, a change of W_k meets queries that aren't.",
        "d": "W_q is multiplied by keys that are zero, so no small change of it changes a score.",
    }),
}  # fmt: skip

"""The quiz questions of lesson 06."""

from ...exercise import Quiz

QUIZZES = {
    "6.7": Quiz("c", {
        "a": "that would be so if each new head had size 64. The width is shared out: 16 x 32 = 8 x 64 = 512.",
        "b": "there are twice as many score tables, but each entry takes 32 multiplications instead of 64.",
        "c": "the number of heads drops out of the multiplications; each head has its own L_q x L_k weights.",
        "d": "each head has a table of weights of its own, so there are twice as many weights (and exponentials).",
    }),
    "6.8": Quiz("b", {
        "a": "that shows that the pattern is steady. A steady pattern may still be ignored by what comes after it.",
        "b": "what the model computes without the head is worse, so the head was used.",
        "c": "that shows where the head looks. In section 6.10 there are heads with a pattern that nobody misses.",
        "d": "that is true of every head, used or not: it is what a softmax does.",
    }),
}  # fmt: skip

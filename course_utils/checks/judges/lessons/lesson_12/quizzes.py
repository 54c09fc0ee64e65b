"""The quizzes of lesson 12."""

from ...exercise import Quiz

QUIZZES = {
    "12.10": Quiz("b", {
        "a": "the token that crosses the threshold is kept, and one token with 0.53 does not reach 0.83 yet.",
        "b": "top-k leaves 0.5, 0.3 and 0.15, renormalized 0.53, 0.32 and 0.16. The first two reach 0.83.",
        "c": "that would be so without top-k. Here its survivors are renormalized first, and 0.8 of 0.95 is 0.84.",
        "d": "temperature 1 changes nothing, but top-k and top-p cut on their own.",
    }),
    "12.11": Quiz("c", {
        "a": "the cache saves the projections, not the looking: the new query still meets every kept key.",
        "b": "with the cache, yes. Without it there are twice as many queries too, each with up to twice as many keys.",
        "c": "one query meets 2 L keys instead of L; without a cache about 2 L queries meet up to 2 L keys each.",
        "d": "one step is asked for, not the whole generation: a cached step has one query.",
    }),
}  # fmt: skip

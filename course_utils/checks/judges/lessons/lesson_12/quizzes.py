"""The quizzes of lesson 12."""

from ...exercise import Quiz

QUIZZES = {
    "12.10": Quiz("b", {
        "a": "the token that crosses the threshold is kept, and one token with 0.44 does not reach 0.75 yet.",
        "b": "top-k leaves 0.4, 0.3 and 0.2, renormalized 0.44, 0.33 and 0.22. The first two reach 0.75.",
        "c": "that would be so without top-k. Here its survivors are renormalized first, and 0.7 of 0.9 is 0.78.",
        "d": "temperature 1 changes nothing, but top-k and top-p cut on their own.",
    }),
    "12.11": Quiz("c", {
        "a": "the cache saves the projections, not the looking: the new query still meets every kept key.",
        "b": "with the cache, yes. Without it there are twice as many queries too, each with up to twice as many keys.",
        "c": "one query meets 2 L keys instead of L; without a cache about 2 L queries meet up to 2 L keys each.",
        "d": "one step is asked for, not the whole generation: a cached step has one query.",
    }),
}  # fmt: skip

"""The quiz questions."""

from ...exercise import Quiz

QUIZZES = {
    "9.9": Quiz("c", {
        "a": "both orders have the same parameters, so weights of one can be loaded into the other without a word.",
        "b": "with few layers both learn, so a falling loss tells nothing.",
        "c": "a post-norm layer ends in a norm, and a fresh norm gives just that. The sum that a pre-norm layer ends in "
            "does not.",
        "d": "comments and code part ways: a widely read implementation describes post-norm and computes pre-norm.",
    }),
    "9.10": Quiz("b", {
        "a": "it keeps what it is given. All six entries are one object.",
        "b": "one module in six places: parameters() counts it once, and every place adds to the same gradient.",
        "c": "that is what six deep copies would be. Here nothing was copied.",
        "d": "sharing parameters is allowed, and sometimes meant; so nothing complains.",
    }),
}  # fmt: skip

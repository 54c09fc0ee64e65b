"""The quiz questions of lesson 05."""

from ...exercise import Quiz

QUIZZES = {
    "5.9": Quiz("b", {
        "a": "nn.MultiheadAttention reads True as ignore, so this hides every real token and shows the padding.",
        "b": "nn.MultiheadAttention reads True as ignore, the opposite of F.scaled_dot_product_attention.",
        "c": "a float mask is added to the scores: it raises the scores of real tokens by 1 and hides nothing.",
        "d": "the polarity is still the wrong one, and this argument wants the shape (B, L_k).",
    }),
    "5.10": Quiz("c", {
        "a": "the weight that is left was divided by a sum over all positions, before the zeros were put in.",
        "b": "position 0 may see itself, so one weight of its row stays above 0.",
        "c": "the softmax divided by the sum over all positions, so the future scales what the past receives.",
        "d": "dividing by the row's own sum cancels the old denominator, as long as that sum is above 0.",
    }),
}  # fmt: skip

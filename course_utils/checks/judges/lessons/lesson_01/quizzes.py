"""What length does; what zero means."""

from ...exercise import Quiz

QUIZZES = {
    "1.7": Quiz("c", {
        "a": "the cosine divides by the length of the key, so a factor on the key cancels.",
        "b": "it is the other way round: the dot product is a sum in which every term holds one entry of the key.",
        "c": "each product in the sum doubles, and the cosine divides the doubled sum by a doubled length.",
        "d": "the direction does stay, but the dot product measures direction and length together.",
    }),
    "1.8": Quiz("b", {
        "a": "that is one way to get 0, but [1, 0] and [0, 1] get there too, and neither is zero.",
        "b": "the product is |a| |b| cos(angle), and it is 0 when a length is 0 or the cosine is.",
        "c": "then the cosine is -1 and the dot product negative, as for joyful and sad.",
        "d": "a vector times itself is the square of its length, positive unless the vector is zero.",
    }),
}  # fmt: skip

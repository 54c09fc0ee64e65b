"""Name the shape; how far a convolution sees."""

from ...exercise import Quiz

QUIZZES = {
    "0.8": Quiz("c", {
        "a": "that averages over the heads, as it would without the transpose; after it, axis 2 holds the positions.",
        "b": "that is the shape before the mean; mean(dim=2) takes axis 2 away.",
        "c": "view gives (8, 10, 4, 16), transpose (8, 4, 10, 16), and the mean takes away axis 2, the positions.",
        "d": "an axis of size 1 stays only with keepdim=True.",
    }),
    "0.9": Quiz("b", {
        "a": "that is one layer; the second layer looks at outputs that have each seen 5 inputs already.",
        "b": "each layer adds 2 positions on either side, so 3 layers reach 6 to each side: 6 + 1 + 6.",
        "c": "that is 3 times 5, as if the windows stood side by side; they overlap, and each adds only 4.",
        "d": "that is 5 to the power 3, the number of paths through the layers; many of them end at one position. "
        "Growth by a power needs dilated kernels.",
    }),
}  # fmt: skip

"""The quiz question of lesson 08."""

from ...exercise import Quiz

QUIZZES = {
    "8.8": Quiz("c", {
        "a": "the longest wavelength is 2 pi times 10000 ** (62 / 64), more than 47,000 tokens. With the exponent i/d in place "
             "of 2i/d there would be none.",
        "b": "5 pairs turn by less than 1/2048 of a radian per token. Once around is 2 pi radians.",
        "c": "2 pi * 10000 ** (2i / 64) is above 2,048 from pair 21 on: pairs 21 to 31. Their larger angles are new in a longer "
             "text.",
        "d": "21 pairs, 0 to 20, did come round. The others are asked for.",
    }),
}  # fmt: skip

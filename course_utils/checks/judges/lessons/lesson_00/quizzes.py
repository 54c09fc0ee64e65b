"""What attention spends its multiplications on."""

from ...exercise import Quiz

QUIZZES = {
    "0.8": Quiz("c", {
        "a": "at n = 256 the pairs cost a quarter of what the four matrices cost.",
        "b": "at n = d the pairs cost half of the four matrices; the orders n²d and nd² would be level, their factors are not.",
        "c": "2n²d is larger than 4nd² as soon as n is larger than 2d, here 1,024.",
        "d": "at n = 4d the pairs cost twice as much as the matrices; they overtook them earlier.",
    }),
}  # fmt: skip

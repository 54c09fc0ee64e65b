# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce

# %% wrong: gives only 9 words
def own_words():
    return {
        "zorbit": ("Z", "AO", "R", "B", "IH", "T"), "kindlefan": ("K", "IH", "N", "D", "AH", "L", "F", "AE", "N"),
        "blimfit": ("B", "L", "IH", "M", "F", "IH", "T"), "snorvex": ("S", "N", "AO", "R", "V", "EH", "K", "S"),
        "plondo": ("P", "L", "AA", "N", "D", "OW"), "veltrop": ("V", "EH", "L", "T", "R", "AA", "P"),
        "fandor": ("F", "AE", "N", "D", "AO", "R"), "cat": ("K", "AE", "T"), "dog": ("D", "AO", "G"),
    }

# %% wrong: writes the vowels with stress marks such as AE1, which are not among the 39 symbols
def own_words():
    return {
        "zorbit": ("Z", "AO1", "R", "B", "IH0", "T"), "plondo": ("P", "L", "AA1", "N", "D", "OW0"),
        "blimfit": ("B", "L", "IH1", "M", "F", "IH0", "T"), "snorvex": ("S", "N", "AO1", "R", "V", "EH0", "K", "S"),
        "fandor": ("F", "AE1", "N", "D", "AO0", "R"), "veltrop": ("V", "EH1", "L", "T", "R", "AA0", "P"),
        "cat": ("K", "AE1", "T"), "dog": ("D", "AO1", "G"), "sun": ("S", "AH1", "N"), "fish": ("F", "IH1", "SH"),
    }

# %% wrong: only 3 of the words are missing from the dictionary, at least 5 are asked for
def own_words():
    return {
        "zorbit": ("Z", "AO", "R", "B", "IH", "T"), "plondo": ("P", "L", "AA", "N", "D", "OW"),
        "snorvex": ("S", "N", "AO", "R", "V", "EH", "K", "S"),
        "cat": ("K", "AE", "T"), "dog": ("D", "AO", "G"), "sun": ("S", "AH", "N"), "fish": ("F", "IH", "SH"),
        "tree": ("T", "R", "IY"), "milk": ("M", "IH", "L", "K"), "book": ("B", "UH", "K"), "house": ("HH", "AW", "S"),
    }

# %% wrong: one word ("pst") has no vowel sound
def own_words():
    return {
        "zorbit": ("Z", "AO", "R", "B", "IH", "T"), "plondo": ("P", "L", "AA", "N", "D", "OW"),
        "blimfit": ("B", "L", "IH", "M", "F", "IH", "T"), "snorvex": ("S", "N", "AO", "R", "V", "EH", "K", "S"),
        "fandor": ("F", "AE", "N", "D", "AO", "R"), "veltrop": ("V", "EH", "L", "T", "R", "AA", "P"),
        "pst": ("P", "S", "T"), "cat": ("K", "AE", "T"), "dog": ("D", "AO", "G"), "sun": ("S", "AH", "N"),
    }

# %% right: sounds as lists split from strings, all words made up
def own_words():
    text = """zorbit Z AO R B IH T
    plondo P L AA N D OW
    blimfit B L IH M F IH T
    snorvex S N AO R V EH K S
    fandor F AE N D AO R
    veltrop V EH L T R AA P
    dunstrip D AH N S T R IH P
    mirvako M IH R V AA K OW
    quibnet K W IH B N EH T
    lomtak L AA M T AE K
    pexily P EH K S IH L IY"""
    return {line.split()[0]: line.split()[1:] for line in text.splitlines()}

# %% right: names and made-up words mixed with common ones, silent letters included
def own_words():
    unknown = {
        "phlonix": ("F", "L", "AA", "N", "IH", "K", "S"), "knarbo": ("N", "AA", "R", "B", "OW"),
        "shuvak": ("SH", "UW", "V", "AE", "K"), "thimlop": ("TH", "IH", "M", "L", "AA", "P"),
        "chozzle": ("CH", "AA", "Z", "AH", "L"), "wristop": ("R", "IH", "S", "T", "AA", "P"),
    }
    known = {"night": ("N", "AY", "T"), "cat": ("K", "AE", "T"), "fish": ("F", "IH", "SH"), "tree": ("T", "R", "IY"), "judge": ("JH", "AH", "JH")}
    return known | unknown

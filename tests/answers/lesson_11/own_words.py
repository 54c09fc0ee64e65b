# %% setup
import random

import torch

from course_utils import metrics, pretrained
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.pretrained.pronunciation import pronounce

# %% wrong: only eight words
def own_words():
    return {
        "zorblat": ("Z", "AO", "R", "B", "L", "AE", "T"), "brintle": ("B", "R", "IH", "N", "T", "AH", "L"),
        "quackly": ("K", "W", "AE", "K", "L", "IY"), "flimsome": ("F", "L", "IH", "M", "S", "AH", "M"),
        "drabbit": ("D", "R", "AE", "B", "IH", "T"), "snorvel": ("S", "N", "AO", "R", "V", "AH", "L"),
        "plonker": ("P", "L", "AA", "NG", "K", "ER"), "castle": ("K", "AE", "S", "AH", "L"),
    }

# %% wrong: a list of pairs instead of a dictionary
def own_words():
    return [("zorblat", ("Z", "AO", "R", "B", "L", "AE", "T")), ("brintle", ("B", "R", "IH", "N", "T", "AH", "L"))] * 5

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

# %% right: half of the words are looked up in the dictionary, the others are added to them
def own_words():
    words = {word: pronunciations()[word][0] for word in ("window", "garden", "silver", "basket", "winter")}
    words |= {
        "windowly": ("W", "IH", "N", "D", "OW", "L", "IY"),
        "gardenkin": ("G", "AA", "R", "D", "AH", "N", "K", "IH", "N"),
        "silverish": ("S", "IH", "L", "V", "ER", "IH", "SH"),
        "basketdom": ("B", "AE", "S", "K", "AH", "T", "D", "AH", "M"),
        "winterful": ("W", "IH", "N", "T", "ER", "F", "AH", "L"),
    }
    return words

# %% setup
import torch

from course_utils.datasets.pronunciations import pronunciations

# %% right: puts new words together from sounds that the dictionary gives for known words, and takes some known ones as they are
def own_words():
    known = pronunciations()
    words = {word: known[word][0] for word in ("window", "lantern", "bucket", "garden", "kettle")}
    for word in ("window", "garden", "rabbit", "marble", "teapot", "pancake"):
        words[word + "ish"] = known[word][0] + ("IH", "SH")
    words["zibble"] = ("Z", *known["nibble"][0][1:])
    return words

# %% setup
from course_utils.datasets.pronunciations import pronunciations

# %% wrong: one pronunciation is given to all words
def own_words():
    words = "zibbit flumpet grondle marnockle tresselby plimbo dog cat window sun".split()
    return dict.fromkeys(words, ("Z", "IH", "B", "IH", "T"))

# %% right: English, Irish and Welsh names with letters that mislead, and loan words
def own_words():
    said = {
        "siobhanna": "SH IH V AO N AH", "caoimhe": "K IY V AH", "llanelli": "L AH N EH L IY",
        "knightly": "N AY T L IY", "tchaikofski": "CH AY K AO F S K IY", "pneumatique": "N UW M AE T IY K",
        "bjorksen": "B Y AO R K S AH N", "xochimilco": "S OW CH IH M IH L K OW", "gnocchini": "N Y OW K IY N IY",
        "quizzaciously": "K W IH Z EY SH AH S L IY", "worcestershire": "W UH S T ER SH ER", "zhuzhing": "ZH UH ZH IH NG",
    }  # fmt: skip
    return {word: sounds.split() for word, sounds in said.items()}

# %% setup
GOOD = {
    "zorbitan": "Z AO R B IH T AH N",
    "glimfor": "G L IH M F AO R",
    "pandalu": "P AE N D AH L UW",
    "trensik": "T R EH N S IH K",
    "blomiro": "B L OW M IH R OW",
    "skarvel": "S K AA R V AH L",
    "window": "W IH N D OW",
    "garden": "G AA R D AH N",
    "paper": "P EY P ER",
    "yellow": "Y EH L OW",
    "mister": "M IH S T ER",
}

# %% wrong: nine words only
def own_words():
    return {word: tuple(sounds.split()) for word, sounds in list(GOOD.items())[:9]}

# %% wrong: the sounds carry stress marks
def own_words():
    words = {word: tuple(sounds.split()) for word, sounds in GOOD.items()}
    words["paper"] = ("P", "EY1", "P", "ER0")
    words["yellow"] = ("Y", "EH1", "L", "OW0")
    return words

# %% wrong: all words from the dictionary
def own_words():
    listed = {"window": "W IH N D OW", "garden": "G AA R D AH N", "paper": "P EY P ER", "yellow": "Y EH L OW",
              "mister": "M IH S T ER", "sister": "S IH S T ER", "table": "T EY B AH L", "water": "W AO T ER",
              "happy": "HH AE P IY", "morning": "M AO R N IH NG", "river": "R IH V ER"}
    return {word: tuple(sounds.split()) for word, sounds in listed.items()}

# %% wrong: a word with a capital letter
def own_words():
    return {("Zorbitan" if word == "zorbitan" else word): s.split() for word, s in GOOD.items()}


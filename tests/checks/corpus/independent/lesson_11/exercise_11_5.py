# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce


# %% wrong: ten entries are written, but "brintle" stands twice, so the dictionary has only nine words
def own_words():
    return {
        "zorblat": ("Z", "AO", "R", "B", "L", "AE", "T"),
        "brintle": ("B", "R", "IH", "N", "T", "AH", "L"),
        "quackly": ("K", "W", "AE", "K", "L", "IY"),
        "flimsome": ("F", "L", "IH", "M", "S", "AH", "M"),
        "drabbit": ("D", "R", "AE", "B", "IH", "T"),
        "snorvel": ("S", "N", "AO", "R", "V", "AH", "L"),
        "window": ("W", "IH", "N", "D", "OW"),
        "garden": ("G", "AA", "R", "D", "AH", "N"),
        "lemon": ("L", "EH", "M", "AH", "N"),
        "brintle": ("B", "R", "IH", "N", "T", "EH", "L"),
    }


# %% wrong: the vowels carry stress marks (AE1, AH0), which are not among the 39 symbols
def own_words():
    return {
        "zorblat": ("Z", "AO1", "R", "B", "L", "AE2", "T"),
        "brintle": ("B", "R", "IH1", "N", "T", "AH0", "L"),
        "quackly": ("K", "W", "AE1", "K", "L", "IY0"),
        "flimsome": ("F", "L", "IH1", "M", "S", "AH0", "M"),
        "drabbit": ("D", "R", "AE1", "B", "IH0", "T"),
        "snorvel": ("S", "N", "AO1", "R", "V", "AH0", "L"),
        "plonker": ("P", "L", "AA1", "NG", "K", "ER0"),
        "window": ("W", "IH1", "N", "D", "OW0"),
        "garden": ("G", "AA1", "R", "D", "AH0", "N"),
        "lemon": ("L", "EH1", "M", "AH0", "N"),
    }


# %% wrong: the sounds of a word are one string with spaces, not a tuple or list
def own_words():
    return {
        "zorblat": "Z AO R B L AE T",
        "brintle": "B R IH N T AH L",
        "quackly": "K W AE K L IY",
        "flimsome": "F L IH M S AH M",
        "drabbit": "D R AE B IH T",
        "snorvel": "S N AO R V AH L",
        "plonker": "P L AA NG K ER",
        "window": "W IH N D OW",
        "garden": "G AA R D AH N",
        "lemon": "L EH M AH N",
    }


# %% wrong: one of the words, "psst", is given no vowel sound
def own_words():
    return {
        "zorblat": ("Z", "AO", "R", "B", "L", "AE", "T"),
        "brintle": ("B", "R", "IH", "N", "T", "AH", "L"),
        "quackly": ("K", "W", "AE", "K", "L", "IY"),
        "flimsome": ("F", "L", "IH", "M", "S", "AH", "M"),
        "drabbit": ("D", "R", "AE", "B", "IH", "T"),
        "snorvel": ("S", "N", "AO", "R", "V", "AH", "L"),
        "psst": ("P", "S", "T"),
        "window": ("W", "IH", "N", "D", "OW"),
        "garden": ("G", "AA", "R", "D", "AH", "N"),
        "lemon": ("L", "EH", "M", "AH", "N"),
    }


# %% wrong: only four of the ten words are not in the dictionary
def own_words():
    return {
        "zorblat": ("Z", "AO", "R", "B", "L", "AE", "T"),
        "brintle": ("B", "R", "IH", "N", "T", "AH", "L"),
        "quackly": ("K", "W", "AE", "K", "L", "IY"),
        "flimsome": ("F", "L", "IH", "M", "S", "AH", "M"),
        "castle": ("K", "AE", "S", "AH", "L"),
        "kitchen": ("K", "IH", "CH", "AH", "N"),
        "thunder": ("TH", "AH", "N", "D", "ER"),
        "window": ("W", "IH", "N", "D", "OW"),
        "garden": ("G", "AA", "R", "D", "AH", "N"),
        "lemon": ("L", "EH", "M", "AH", "N"),
    }


# %% wrong: words and sounds are shifted against each other by one, so each word has the sounds of the next and most consonants have no letter in their word
def own_words():
    words = ["zorblat", "quackly", "flimsome", "drabbit", "snovell", "kitchen", "window", "garden", "lemon", "thipper"]
    sounds = ["Z AO R B L AE T", "K W AE K L IY", "F L IH M S AH M", "D R AE B IH T", "S N OW V AH L", "K IH CH AH N", "W IH N D OW", "G AA R D AH N", "L EH M AH N", "TH IH P ER"]
    return {word: tuple(sounds[(i + 1) % len(sounds)].split()) for i, word in enumerate(words)}


# %% two mistakes: some words begin with a capital letter; and the hard c and the x are written as the sounds C and X, which are not among the 39 symbols
def own_words():
    return {
        "Wexmoor": ("W", "EH", "X", "M", "UH", "R"),
        "Tolvane": ("T", "OW", "L", "V", "EY", "N"),
        "quackly": ("K", "W", "AE", "C", "L", "IY"),
        "flimsome": ("F", "L", "IH", "M", "S", "AH", "M"),
        "drabbit": ("D", "R", "AE", "B", "IH", "T"),
        "snorvel": ("S", "N", "AO", "R", "V", "AH", "L"),
        "castle": ("C", "AE", "S", "AH", "L"),
        "window": ("W", "IH", "N", "D", "OW"),
        "garden": ("G", "AA", "R", "D", "AH", "N"),
        "lemon": ("L", "EH", "M", "AH", "N"),
    }


# %% right: read from lines of text, lists of sounds instead of tuples
def own_words():
    text = """
        zorblat  Z AO R B L AE T
        brintle  B R IH N T AH L
        quackly  K W AE K L IY
        flimsome F L IH M S AH M
        drabbit  D R AE B IH T
        snorvel  S N AO R V AH L
        plonker  P L AA NG K ER
        castle   K AE S AH L
        thunder  TH AH N D ER
        knight   N AY T
    """
    return {word: sounds for word, *sounds in map(str.split, text.strip().splitlines())}


# %% right: all twelve words made up or names, none in the dictionary, with silent letters
def own_words():
    return dict(
        wexmoor=("W", "EH", "K", "S", "M", "UH", "R"),
        knibley=("N", "IH", "B", "L", "IY"),
        tolvane=("T", "OW", "L", "V", "EY", "N"),
        marnix=("M", "AA", "R", "N", "IH", "K", "S"),
        phlobert=("F", "L", "OW", "B", "ER", "T"),
        blorfin=("B", "L", "AO", "R", "F", "IH", "N"),
        vextor=("V", "EH", "K", "S", "T", "ER"),
        dunfrost=("D", "AH", "N", "F", "R", "AO", "S", "T"),
        skibber=("S", "K", "IH", "B", "ER"),
        glimby=("G", "L", "IH", "M", "B", "IY"),
        wrindle=("R", "IH", "N", "D", "AH", "L"),
        chazzum=("CH", "AE", "Z", "AH", "M"),
    )


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


# %% wrong: named in the review: only eight words
def own_words():
    return {
        "zorblat": ("Z", "AO", "R", "B", "L", "AE", "T"), "brintle": ("B", "R", "IH", "N", "T", "AH", "L"),
        "quackly": ("K", "W", "AE", "K", "L", "IY"), "flimsome": ("F", "L", "IH", "M", "S", "AH", "M"),
        "drabbit": ("D", "R", "AE", "B", "IH", "T"), "snorvel": ("S", "N", "AO", "R", "V", "AH", "L"),
        "plonker": ("P", "L", "AA", "NG", "K", "ER"), "castle": ("K", "AE", "S", "AH", "L"),
    }


# %% wrong: named in the review: a list of pairs instead of a dictionary
def own_words():
    return [("zorblat", ("Z", "AO", "R", "B", "L", "AE", "T")), ("brintle", ("B", "R", "IH", "N", "T", "AH", "L"))] * 5


# %% wrong: every word is AA and one sound for each of its consonants
def own_words():
    ws = ["blorptik", "zanfeld", "gruntle", "snozzle", "wikify", "voxling", "ranjitha", "knight", "window", "phoenix"]
    m = {
        "b": "B",
        "d": "D",
        "f": "F",
        "g": "G",
        "h": "HH",
        "k": "K",
        "l": "L",
        "m": "M",
        "n": "N",
        "p": "P",
        "r": "R",
        "s": "S",
        "t": "T",
        "v": "V",
        "w": "W",
        "z": "Z",
        "j": "JH",
    }
    return {w: ("AA", *(m[c] for c in w if c in m)) for w in ws}


# %% wrong: six of ten words stand in the dictionary
def own_words():
    g = {
        "knight": "N AY T",
        "phoenix": "F IY N IH K S",
        "through": "TH R UW",
        "attention": "AH T EH N SH AH N",
        "window": "W IH N D OW",
        "money": "M AH N IY",
        "gruntle": "G R AH N T AH L",
        "snozzle": "S N AA Z AH L",
        "wikify": "W IH K AH F AY",
        "voxling": "V AA K S L IH NG",
    }
    return {w: tuple(s.split()) for w, s in g.items()}

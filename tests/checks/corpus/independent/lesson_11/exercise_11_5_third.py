# %% setup
import torch

from course_utils.datasets.pronunciations import pronunciations


# %% wrong: writes ten entries, but one word stands there twice, so the dictionary has only nine words
def own_words():
    return {
        "zorblin": ("Z", "AO", "R", "B", "L", "IH", "N"),
        "quizzle": ("K", "W", "IH", "Z", "AH", "L"),
        "flimtor": ("F", "L", "IH", "M", "T", "AO", "R"),
        "brandiko": ("B", "R", "AE", "N", "D", "IY", "K", "OW"),
        "vexley": ("V", "EH", "K", "S", "L", "IY"),
        "snorbit": ("S", "N", "AO", "R", "B", "IH", "T"),
        "glimworth": ("G", "L", "IH", "M", "W", "ER", "TH"),
        "tazmo": ("T", "AE", "Z", "M", "OW"),
        "zorblin": ("Z", "AO", "R", "B", "L", "AH", "N"),  # noqa: F601
        "plunket": ("P", "L", "AH", "NG", "K", "IH", "T"),
    }


# %% wrong: has a word with a letter that is not from a to z, an umlaut
def own_words():
    words = {
        "zorblin": "Z AO R B L IH N",
        "quizzle": "K W IH Z AH L",
        "flimtor": "F L IH M T AO R",
        "brandiko": "B R AE N D IY K OW",
        "vexley": "V EH K S L IY",
        "snorbit": "S N AO R B IH T",
        "glimworth": "G L IH M W ER TH",
        "tazmo": "T AE Z M OW",
        "müsli": "M UW Z L IY",
        "plunket": "P L AH NG K IH T",
    }
    return {word: tuple(sounds.split()) for word, sounds in words.items()}


# %% wrong: spells a short word letter by letter, which gives it more than twice as many sounds as letters
def own_words():
    words = {
        "xkcd": "EH K S K EY S IY D IY",
        "zorblin": "Z AO R B L IH N",
        "quizzle": "K W IH Z AH L",
        "flimtor": "F L IH M T AO R",
        "brandiko": "B R AE N D IY K OW",
        "vexley": "V EH K S L IY",
        "snorbit": "S N AO R B IH T",
        "glimworth": "G L IH M W ER TH",
        "tazmo": "T AE Z M OW",
        "plunket": "P L AH NG K IH T",
    }
    return {word: sounds.split() for word, sounds in words.items()}


# %% wrong: has a word without any vowel sound
def own_words():
    words = {
        "zorblin": "Z AO R B L IH N",
        "quizzle": "K W IH Z AH L",
        "flimtor": "F L IH M T AO R",
        "brandiko": "B R AE N D IY K OW",
        "vexley": "V EH K S L IY",
        "snorbit": "S N AO R B IH T",
        "glimworth": "G L IH M W ER TH",
        "tazmo": "T AE Z M OW",
        "plunket": "P L AH NG K IH T",
        "psst": "P S T",
    }
    return {word: tuple(sounds.split()) for word, sounds in words.items()}


# %% right: reads the words from lines of text, the word first, the sounds after it as lists
def own_words():
    text = """
        zorblin Z AO R B L IH N
        quizzle K W IH Z AH L
        flimtor F L IH M T AO R
        brandiko B R AE N D IY K OW
        vexley V EH K S L IY
        snorbit S N AO R B IH T
        glimworth G L IH M W ER TH
        tazmo T AE Z M OW
        plunket P L AH NG K IH T
        wobbit W AA B IH T
        frindle F R IH N D AH L
    """
    return {word: sounds for word, *sounds in map(str.split, text.split("\n")[1:-1])}


# %% right: puts new words together from sounds that the dictionary gives for known words, and takes some known ones as they are
def own_words():
    known = pronunciations()
    words = {word: known[word][0] for word in ("window", "lantern", "bucket", "garden", "kettle")}
    for word in ("window", "garden", "rabbit", "marble", "teapot", "pancake"):
        words[word + "ish"] = known[word][0] + ("IH", "SH")
    words["zibble"] = ("Z", *known["nibble"][0][1:])
    return words

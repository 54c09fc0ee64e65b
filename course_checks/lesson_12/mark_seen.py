"""12.8 · The leak in an evaluation."""

import torch

from ..deciding.exercise import Case, Exercise, mistake


def cases(seed):
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
        Case("`size` is 1", train="abca", text="xaxbbc", size=1),
        Case("`train` has several lines", train="ab\ncd ef", text="b\ncd a.c", size=3),
        Case("`train` begins with a blank", train=" abc xyz", text="a.c ab", size=3),
        Case("`text` repeats itself", train="qrs", text="abcabcabc", size=3),
    ]


def first_place(train, text, size):
    seen = torch.zeros(len(text), dtype=torch.bool)
    for stretch in {train[i : i + size] for i in range(len(train) - size + 1)}:
        if (place := text.find(stretch)) >= 0:
            seen[place : place + size] = True
    return seen


EXERCISE = Exercise(
    cases,
    returns=("seen",),
    off_limits=("course_utils.datasets.text_windows.seen_before",),
    advice="work the example by hand: which stretches of the text stand in `train`, and which characters do they cover?",
    mistakes=[
        mistake(
            "a stretch that comes several times in the text is marked once.",
            "str.find gives the first place; go through the places of the text, and look each stretch up.",
            instead=first_place,
        )
    ],
)

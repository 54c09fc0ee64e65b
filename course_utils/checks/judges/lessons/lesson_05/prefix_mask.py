"""A prefix that is seen both ways, then causal."""

import operator

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.masks import FORM_FAULTS
from ...kit.parts import faults_of

SEVERAL = "the batch has more than one item"


def prefix_mask(
    prefix, L, *, past=lambda L: torch.ones(L, L, dtype=torch.bool).tril(),
    given=lambda prefix, L: _columns(prefix, L), join=operator.or_,
    finish=lambda mask: mask, form=lambda mask: mask,
):  # fmt: skip
    """True where a key is past or of the prefix, ``(B, 1, L, L)``; each keyword is one step."""
    mask = join(past(L), given(prefix, L)).expand(len(prefix), 1, L, L).clone()
    return form(finish(mask))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    some = 2 + torch.randperm(5, generator=rng)[:3]
    return [
        Case(SEVERAL, prefix=torch.tensor([2, 0]), L=3),
        Case(prefix=torch.tensor([3]), L=5),
        Case(SEVERAL, prefix=torch.tensor([1, 4, 2]), L=6),
        Case(SEVERAL, prefix=some, L=8),
        Case(SEVERAL, prefix=some.flip(0), L=8),
        Case(SEVERAL, "B equals L", prefix=torch.tensor([0, 3, 2, 1]), L=4),
        Case(SEVERAL, "the prefix fills the row", prefix=torch.tensor([5, 4]), L=5),
        Case(SEVERAL, "nothing was given", prefix=torch.tensor([0, 0]), L=4),
    ]


def _columns(prefix, L):
    return (torch.arange(L) < prefix[:, None])[:, None, None, :]


_KEY = "a key is seen if it is past or belongs to the prefix: two tables joined by |."

EXERCISE = Exercise(
    answer="prefix_mask", cases=_cases, reference=prefix_mask, returns=("mask",), faults=(
        *FORM_FAULTS,
        Fault("joined by and", "the two rules are joined by and: what is no longer prefix is hidden from everybody.", _KEY,
            join=operator.and_),
        Fault("plain causal", "a plain causal mask: the prefix plays no part.", _KEY,
            given=lambda p, L: torch.zeros(len(p), 1, 1, 1).bool()),
        Fault("prefix alone", "everybody sees the prefix and nothing else.", _KEY, past=lambda L: torch.zeros(L, L).bool()),
        Fault("diagonal masked", "a token after the prefix doesn't see itself.", "a token sees itself: use <=, not <.",
            past=lambda L: torch.ones(L, L).tril(-1).bool()),
        Fault("upper triangle", "outside the prefix tokens see what comes after them, not what came before.",
            "rows are queries, columns keys: keep the lower triangle.", past=lambda L: torch.ones(L, L).triu().bool()),
        Fault("prefix not seen from outside", "the tokens after the prefix don't see it: only what came after it.", _KEY,
            join=lambda past, given: (given & given.mT) | (past & ~given & ~given.mT)),
        *faults_of("given", _KEY,
            ("prefix sees everything", "the queries of the prefix see the whole row, also what was not given.",
             lambda p, L: _columns(p, L).mT),
            ("one too many", "the prefix is one token too long.", lambda p, L: _columns(p + 1, L),
             "the prefix is the places below its length: use <, not <=."),
            ("first item's prefix", "the prefix of the first item was used for every item.",
             lambda p, L: _columns(p[:1].expand(len(p)), L), "compare the places with prefix[:, None]."),
            ("longest prefix", "the longest prefix of the batch was used for every item.",
             lambda p, L: _columns(p.max().expand(len(p)), L), "compare the places with prefix[:, None]."),
            ("from the end", "the prefix was taken from the end of the row.",
             lambda p, L: _columns(p, L).flip(-1), "the prefix is the places below its length.")),
        *faults_of("finish", "the order is (B, H, L_q, L_k): add an axis of size 1 for the heads behind the batch.",
            ("no axis for the heads", "a mask of shape (B, L, L): the batch would line up with the heads.", lambda m: m[:, 0])),
    ),
    advice="write down the mask for prefix 2 and L 4 by hand: two rows are alike, then a triangle goes on.",
)  # fmt: skip

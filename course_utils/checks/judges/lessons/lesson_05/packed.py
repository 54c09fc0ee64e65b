"""Packed documents: the mask that keeps them apart, and each token's position in its own."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.masks import FORM_FAULTS
from ...kit.parts import faults_of


def _together(document):
    return document[:, :, None] == document[:, None, :]  # (B, L_q, L_k)


def _places(document):
    return torch.arange(document.shape[1]).expand(document.shape)


def _in_document(document):
    """How many tokens of the same document stand before each."""
    return (_together(document) & torch.ones(2 * document.shape[1:]).tril(-1).bool()).sum(-1)


def _in_run(document):
    """How many tokens stand before each since the number last changed: a run of padding counts like a document."""
    begins = F.pad(document[:, 1:] != document[:, :-1], (1, 0), value=True)
    return _places(document) - (_places(document) * begins).cummax(1).values


def _past(document):
    return torch.ones(2 * document.shape[1:], dtype=torch.bool).tril()


def packed(
    document, *, read=lambda document: document, same=_together, real=lambda document: (document != 0)[:, None, :],
    past=_past, place=lambda mask: mask[:, None], form=lambda mask: mask, count=_in_document,
    empty=lambda positions, document: positions.masked_fill(document == 0, 0), give=lambda mask, positions: (mask, positions),
):  # fmt: skip
    """Causal within each document, padding left out, and the positions; each keyword is one step."""
    document = read(document)
    mask = same(document) & real(document) & past(document)
    return give(form(place(mask)), empty(count(document), document))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def row(*lengths, padding=0, left=0):
        names = 1 + torch.randperm(9, generator=rng)[: len(lengths)]
        return F.pad(names.repeat_interleave(torch.tensor(lengths)), (left, padding))

    return [
        Case(document=torch.tensor([[2, 2, 1, 0]])),
        Case(document=torch.stack([row(3, 2, 1, padding=1), row(2, 2, 3), row(5, padding=2)])),
        Case(document=torch.stack([row(1, 4), row(2, 1, 2)])),
        Case(document=torch.stack([row(3, 2, padding=4), row(4, 3, 2)])),
        Case("padding stands on the left", document=torch.stack([row(2, 3, left=2), row(1, 4, left=1, padding=1)])),
        Case("padding stands between documents", document=torch.tensor([[7, 7, 0, 0, 3, 3, 3, 0]])),
        Case("one document fills the row", document=row(6)[None]),
    ]


_KEYS = "a key must belong to the query's document, be no later, and be no padding: join all three by &."
_OWN = "count the tokens of the same document that come before each; the first of a document is at 0."

EXERCISE = Exercise(
    answer="packed", cases=_cases, reference=packed, returns=("mask", "positions"), faults=(
        *FORM_FAULTS,
        *faults_of("same", _KEYS,
            ("documents not kept apart", "tokens see earlier documents: the mask is causal over the whole row.",
             lambda d: torch.ones(len(d), *2 * d.shape[1:]).bool()),
            ("smaller numbers seen", "tokens see documents of a smaller number as well; numbers come in any order.",
             lambda d: d[:, :, None] >= d[:, None, :]),
            ("first item's documents", "the documents of the first item were used for every item.",
             lambda d: _together(d)[:1].expand(len(d), -1, -1), "keep the batch axis: document[:, :, None].")),
        *faults_of("real", _KEYS,
            ("padding sees padding", "padding sees padding: two tokens of padding have the same number, 0.",
             lambda d: torch.ones(len(d), 1, d.shape[1]).bool(), "join with document != 0 as well.")),
        *faults_of("past", _KEYS,
            ("future seen", "tokens see the later tokens of their own document.", lambda d: torch.tensor(True)),
            ("diagonal masked", "a token doesn't see itself.", lambda d: _past(d).tril(-1), "use <=, not <."),
            ("upper triangle", "tokens see what comes after them in their document, not what came before.",
             lambda d: _past(d).mT, "rows are queries, columns keys: keep the lower triangle.")),
        *faults_of("place", "add an axis of size 1 for the heads behind the batch: mask[:, None].",
            ("no axis for the heads", "a mask of shape (B, L, L): the batch would line up with the heads.", lambda m: m)),
        *faults_of("count", _OWN,
            ("positions in the row", "positions count through the whole row; they must start anew in each document.", _places),
            ("first row's positions", "the positions of the first row of the batch were used for every row.",
             lambda d: _in_document(d[:1].expand(d.shape)), "count in each row by itself."),
            ("from 1", "positions start at 1.", lambda d: _in_document(d) + 1, "the first token of a document is at 0.")),
        *faults_of("empty", "the position of padding is to be 0.",
            ("padding counted", "padding has positions other than 0, as if it were a document.", lambda p, d: p),
            ("padding counted, run by run", "padding has positions other than 0: a run of padding is counted like a document.",
             lambda p, d: _in_run(d), "padding has position 0: set it where document is 0, or count the keys that a token sees."),
            ("padding at -1", "padding has the position -1.", lambda p, d: p.masked_fill(d == 0, -1))),
        Fault("padding as a document", "padding is treated as a document of its own: its tokens see one another, and have "
            "positions.", "0 is no document: join the mask with document != 0, and give padding the position 0.",
            real=lambda d: torch.tensor(True), empty=lambda p, d: p),
        Fault("exchanged", "positions and mask are handed back in the wrong order.", "return the mask first.",
            give=lambda mask, positions: (positions, mask)),
    ),
    advice="write down the mask of [[2, 2, 1, 0]] by hand, and compare row by row.",
)  # fmt: skip

"""Embed a batch."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import same


def embed(table, ids, *, which=same, look=lambda table, ids: table[ids], finish=same):
    """The row of the table for every id."""
    return finish(look(table, which(ids)))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(table=torch.tensor([[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]]), ids=torch.tensor([[2, 1]]))]
    for rows, size, batch, length in ((7, 3, 2, 5), (4, 6, 3, 2), (9, 5, 4, 6), (6, 4, 3, 3), (9, 5, 4, 6)):
        ids = torch.randint(0, rows, (batch, length), generator=rng)
        ids[0, 0], ids[-1, -1] = rows - 1, 0  # first and last row of the table are both used
        cases.append(Case(table=torch.randn(rows, size, generator=rng), ids=ids))
    ids = torch.randint(1, 5, (3, 4), generator=rng)
    return [*cases, Case("the last row of the table is not used", table=torch.randn(8, 2, generator=rng), ids=ids)]


EXERCISE = Exercise(
    answer="embed", cases=_cases, reference=embed, returns=("vectors",), faults=(
        Fault("columns taken", "columns of the table: the colon in front applies the ids to the columns.",
              "the ids are row numbers; they belong first in the brackets.", look=lambda table, ids: table[:, ids]),
        Fault("one-hot only", "one-hot vectors, a 1 at the place of the id; they have yet to pick a row of the table.",
              "multiply them by the table, or index it.", look=lambda table, ids: F.one_hot(ids, len(table))),
        Fault("one-hot too short", "one-hot vectors only as long as the largest id that occurs asks for.",
              "say how many rows there are: F.one_hot(ids, len(table)).",
              look=lambda table, ids: F.one_hot(ids).float() @ table),
        Fault("single numbers", "one number for each id, from the table as one long row (torch.take).",
              "index the table itself: it gives a whole row for each id.", look=torch.take),
        Fault("counted from 1", "the row before the right one; and id 0 becomes -1, which silently means the last row.",
              "ids count from 0, and so do the rows.", which=lambda ids: ids - 1),
        Fault("flattened", "all vectors in one long list, shape (B * L, d): the sentences can no longer be told apart.",
              "index with ids of shape (B, L), which keeps all three axes.", finish=lambda v: v.flatten(0, 1)),
        Fault("scaled", "the vectors times sqrt(d). That comes in lesson 09; asked for is the plain lookup.",
              "leave the factor out.", finish=lambda v: v * v.shape[-1] ** 0.5),
    ), advice="do it for one token first: the vector of ids[0, 0] is row ids[0, 0] of the table.",
)  # fmt: skip

"""A projection whose RoPE pairs halves, converted for code that pairs neighbors."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(heads, d_head, *rest, dtype=torch.float32):
        size = heads * d_head
        kept = "`weight` is a bias" if not rest else "there is one head" if heads == 1 else "there are several heads"
        return Case(kept, weight=torch.randn(size, *rest, generator=rng, dtype=dtype), num_heads=heads)

    first = Case("`weight` is a bias", weight=torch.arange(6.0), num_heads=1)
    return [
        first, case(1, 6, 6), case(2, 6, 12), case(3, 8), case(2, 10, 20, dtype=torch.float64), case(2, 6, 24), case(3, 2, 6),
        case(2, 6, 12),
    ]  # fmt: skip


def to_neighbors(
    weight, num_heads, *,
    heads=lambda weight, H: weight.unflatten(0, (H, -1)), cut=lambda rows: rows.unflatten(1, (2, -1)).transpose(1, 2),
    join=lambda pairs: pairs.flatten(0, 2),
):  # fmt: skip
    """The reference; each keyword is one step. ``cut``: (H, d_head, ...) -> (H, d_head / 2, 2, ...), partners side by side."""
    return join(cut(heads(weight, num_heads))).clone()


_BACK = "new rows 0 and 1 are partners: old rows 0 and d_head / 2. For [0, 1, 2, 3, 4, 5] that is [0, 3, 1, 4, 2, 5]."
_HEADS = "cut the rows into heads first, (num_heads, d_head, ...), and change the order within each head."

EXERCISE = Exercise(
    answer="to_neighbors", cases=_cases, reference=to_neighbors, returns=("converted",), faults=(
        *faults_of("cut", _BACK,
            ("the way back", "converted the other way: from neighbors to halves.",
             lambda rows: rows.unflatten(1, (-1, 2)).transpose(1, 2)),
            ("nothing moved", "no row has moved.", lambda rows: rows.unflatten(1, (-1, 2))),
            ("halves exchanged", "the two halves are exchanged: rows d_head / 2 to d_head - 1 come first.",
             lambda rows: rows.unflatten(1, (2, -1)).flip(1).flatten(1, 2).unflatten(1, (-1, 2))),
            ("second partner first", "in each pair the partners are exchanged: that turns the pair the other way.",
             lambda rows: rows.unflatten(1, (2, -1)).transpose(1, 2).flip(2)),
            ("second half backward", "the second half is dealt out from its end: row 0 meets the last row.",
             lambda rows: torch.stack([rows.chunk(2, 1)[0], rows.chunk(2, 1)[1].flip(1)], dim=2)),
            ("order of the rows reversed", "the rows of each head are in reversed order.",
             lambda rows: rows.flip(1).unflatten(1, (-1, 2)))),
        *faults_of("heads", _HEADS,
            ("all heads as one", "all rows are treated as one head: rows of one head meet rows of another.",
             lambda weight, H: weight[None]),
            ("heads dealt out in turn", "the rows are dealt out to the heads in turn: head 0 gets rows 0, H, 2H and so on.",
             lambda weight, H: weight.unflatten(0, (-1, H)).transpose(0, 1)),
            ("d_head and heads exchanged", "num_heads is taken for the size of a head.",
             lambda weight, H: weight.unflatten(0, (-1, H)) if H % 2 == 0 else weight[None])),
        Fault("heads left apart", "the heads still have an axis of their own.", "join all axes that you cut: flatten(0, 2).",
            join=lambda pairs: pairs.flatten(1, 2)),
        Fault("pairs left apart", "partners still have an axis of their own.", "join all axes that you cut: flatten(0, 2).",
            join=lambda pairs: pairs.flatten(0, 1)),
        Fault("columns", "the columns are put in another order: they belong to what goes in.",
            "the rows make the features of queries and keys: change the first axis.",
            whole=lambda weight, num_heads: weight.unflatten(-1, (num_heads, 2, -1)).transpose(-3, -2).flatten(-3)),
        Fault("first head only", "only the first head is converted.", "every head has its own rows: convert all of them.",
            whole=lambda weight, num_heads: torch.cat(
                [to_neighbors(weight[: len(weight) // num_heads], 1), weight[len(weight) // num_heads :]])),
    ),
    advice="convert torch.arange(12.) with 2 heads on paper: [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11].",
)  # fmt: skip

"""One sequence in three roles: its query, key and value copies."""

from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from .cards import Table
from .palette import LABEL, NAME, OPERATION, ROLES, SHAPE, SOFT
from .words import labels, matrix, number, short

DOES = {"query": "asks with", "key": "is found by", "value": "hands over"}


def three_roles(
    x: Float[Tensor, "L d_model"],
    w_q: Float[Tensor, "d_model d_k"],
    w_k: Float[Tensor, "d_model d_k"],
    w_v: Float[Tensor, "d_model d_v"],
    *,
    tokens: Sequence[str] | None = None,
    follow: int = 0,
) -> Axes:
    """X times each of its three matrices: a token's row in X becomes its query, its key and its value.

    ``tokens`` are a text for each row of ``x``; ``follow`` is the row that is framed and written out.
    """
    matrices = {"query": w_q, "key": w_k, "value": w_v}
    for name, w in matrices.items():
        if matrix(w, name)[0].shape[0] != x.shape[1]:
            raise ValueError(
                f"the matrix of the {name} {tuple(w.shape)} must have as many rows as x {tuple(x.shape)} columns"
            )
    tokens = labels(tokens, len(x), "tokens")
    sheet, said = Table(), []
    card = sheet.card(x, 0, 0, "plain", name="X", shape=f"{tuple(x.shape)}\nL, d_model", rows=tokens)
    sheet.mark(card, row=follow)
    place, above = card.right + 0.85, card.top + 0.35
    sheet.text(card.right + 0.42, card.height / 2, "@", OPERATION + 3)
    for name, w in matrices.items():
        copy, letter = x.double() @ w.double(), name[0]
        how = {"name": letter.upper(), "shape": f"{tuple(copy.shape)}\nL, d_{'v' if letter == 'v' else 'k'}"}
        made = sheet.card(copy, place, 0, name, **how)
        sheet.mark(made, row=follow)
        top = sheet.card(w, place, above, name)
        middle = top.y + top.height / 2
        sheet.text(
            top.x - 0.12, middle + 0.02, f"W_{letter}", NAME, ROLES[name], ha="right", va="bottom", weight="bold"
        )
        sheet.text(top.x - 0.12, middle - 0.02, str(tuple(w.shape)), SHAPE, SOFT, ha="right", va="top")
        row = ", ".join(number(value) for value in copy[follow].tolist())
        said.append(f"{DOES[name]} {row if copy.shape[1] == 1 else f'({row})'}")
        place = made.right + 1.15
    who = f"“{short(tokens[follow])}”" if tokens else f"token {follow}"
    line = f"{who} {', '.join(said[:2])} and {said[2]}"
    sheet.text(0, -1.0, line, LABEL, ha="left")
    return sheet.done(
        f"X {tuple(x.shape)} times three matrices gives queries, keys and values, one row a token. {line}."
    )

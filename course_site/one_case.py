"""Coding exercises asked on the page for a single call: what comes out, for arguments that one can follow by hand.

The page runs no code, so the answer is the result itself: cells of a mask, an order, counts, a number.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from course_checks.running import Case


@dataclass(frozen=True)
class OneCase:
    """One call of a coding exercise, whose result is asked for.

    Args:
        ask: The question, in Markdown.
        case: The arguments.
        control: What the page builds its controls from; ``kind`` is ``cells``, ``order``, ``counts`` or ``number``.
        result: From a key, which names an answer, to what a student's function would have returned.
        key: From what a function returned to its key; None where no answer on the page says the same.
        keys: Every key that can be given; none for a number, which is typed.
        decimals: How many a typed number has.
    """

    ask: str
    case: Case
    control: dict[str, Any] = field(hash=False)
    result: Callable[[str], Any]
    key: Callable[[Any], str | None]
    keys: tuple[str, ...] = ()
    decimals: int = 0


def cells(ask: str, case: Case, rows: list[str], columns: list[str]) -> OneCase:
    """Each cell of a boolean table is set or not; a key has a 1 or a 0 for each, row by row."""
    shape = len(rows), len(columns)

    def result(key: str) -> torch.Tensor:
        return torch.tensor([cell == "1" for cell in key]).view(shape)

    def key(value: Any) -> str | None:
        fits = torch.is_tensor(value) and value.dtype == torch.bool and value.shape == shape
        return "".join("01"[cell] for cell in value.flatten().tolist()) if fits else None

    keys = tuple("".join(cells) for cells in itertools.product("01", repeat=shape[0] * shape[1]))
    return OneCase(ask, case, {"kind": "cells", "rows": rows, "columns": columns}, result, key, keys)


def order(ask: str, case: Case, items: list[str]) -> OneCase:
    """The items are brought into an order; a key has their places in ``items``, a digit each."""
    keys = tuple("".join(digits) for digits in itertools.permutations("0123456789"[: len(items)]))

    def result(key: str) -> torch.Tensor:
        return torch.tensor([int(digit) for digit in key])

    def key(value: Any) -> str | None:
        joined = "".join(map(str, value.tolist())) if torch.is_tensor(value) else None
        return joined if joined in keys else None

    return OneCase(ask, case, {"kind": "order", "items": items}, result, key, keys)


def counts(ask: str, case: Case, names: list[str], most: int, of: int) -> OneCase:
    """Whole numbers from 0 to ``most``, each of which is divided by ``of``; a key has a digit for each name."""
    keys = tuple("".join(digits) for digits in itertools.product("0123456789"[: most + 1], repeat=len(names)))

    def result(key: str) -> tuple[float, ...]:
        return tuple(int(digit) / of for digit in key)

    def key(value: Any) -> str | None:
        near = [round(share * of) for share in value]
        whole = all(
            abs(share * of - count) < 1e-6 and 0 <= count <= most for share, count in zip(value, near, strict=True)
        )
        return "".join(map(str, near)) if whole else None

    return OneCase(ask, case, {"kind": "counts", "names": names, "most": most, "of": of}, result, key, keys)


def number(ask: str, case: Case, label: str, decimals: int) -> OneCase:
    """A number is typed; what a mistake makes of the arguments is known by its value."""
    return OneCase(
        ask, case, {"kind": "number", "label": label}, lambda key: torch.tensor(float(key)), repr, (), decimals
    )


def _sounds(*words: str) -> list[list[str]]:
    return [word.split() for word in words]


_PROBS = [[1 / 8, 1 / 4, 1 / 2, 1 / 8], [1 / 4, 1 / 4, 1 / 4, 1 / 4], [1 / 2, 1 / 8, 1 / 8, 1 / 4]]

ONE_CASE = {
    "1.5": order(
        "`query` is `[2, 1]`, and `k = 4`: all keys are asked for. In which order do they come back? A sketch is enough.",
        Case(
            query=torch.tensor([2.0, 1.0]), keys=torch.tensor([[3.0, 3.0], [0.2, 0.1], [6.0, -2.0], [-4.0, -3.0]]), k=4
        ),
        ["row 0, [3, 3]", "row 1, [0.2, 0.1]", "row 2, [6, -2]", "row 3, [-4, -3]"],
    ),
    "3.5": counts(
        """Three words, 14 sounds in the nearest pronunciations. How many of them are replaced, how many missing, how many extra?

| said | accepted |
|---|---|
| `S P IY K AH` | `S P OW K` or `S P IY K ER` |
| `T AE S K` | `T AE K S` |
| `S T R EY` | `T R EY N Z` |
""",
        Case(
            hypotheses=_sounds("S P IY K AH", "T AE S K", "S T R EY"),
            references=[_sounds("S P OW K", "S P IY K ER"), _sounds("T AE K S"), _sounds("T R EY N Z")],
        ),
        ["replaced", "missing", "extra"],
        most=5,
        of=14,
    ),
    "5.2": cells(
        "`causal_mask(2, 5)`: three keys stand in the cache, and two tokens are new. Mark what each query may see.",
        Case(L_q=2, L_k=5),
        ["query 0", "query 1"],
        ["key 0", "key 1", "key 2", "key 3", "key 4"],
    ),
    "10.3": number(
        """`smoothing = 0.1`, `pad_id = 0`, and a sequence of three positions, whose logits are the logs of these probabilities:

| label | p of 0 | p of 1 | p of 2 | p of 3 |
|---|---|---|---|---|
| 2 | 1/8 | 1/4 | 1/2 | 1/8 |
| 3 | 1/4 | 1/4 | 1/4 | 1/4 |
| 0 | 1/2 | 1/8 | 1/8 | 1/4 |

What is the loss, to four decimals? (ln 2 is 0.69315.)""",
        Case(logits=torch.tensor([_PROBS]).log(), labels=torch.tensor([[2, 3, 0]]), smoothing=0.1, pad_id=0),
        "the loss",
        decimals=4,
    ),
    "15.8": cells(
        "`positions` is `[[0, 3], [1, 2]]` and `window` is 2. A row is a query of rank 0, a column one of the gathered keys, in "
        "their order. Mark what each query may see.",
        Case(rank=0, positions=torch.tensor([[0, 3], [1, 2]]), window=2),
        ["position 0", "position 3"],
        ["key 1", "key 2", "key 3", "key 4"],
    ),
}

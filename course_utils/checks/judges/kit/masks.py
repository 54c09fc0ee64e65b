"""What goes wrong in masks whatever they hide: their form, and where the queries stand among the keys."""

import torch

from ..exercise import Case, Fault


def positions(L_q, L_k, start):
    """Positions of the queries as a column, of the keys as a row; ``start`` is where query 0 stands."""
    return torch.arange(L_q)[:, None] + start, torch.arange(L_k)


def cases_of_numbers(*names_and_sizes):
    """Cases of whole numbers, labelled where a mask that is kept by some of them would come back: names, then sizes."""
    names, *sizes = names_and_sizes
    cases = []
    for numbers in sizes:
        case = dict(zip(names, numbers, strict=True))
        kept = [name for name in names if any(earlier[name] == case[name] and earlier != case for earlier in cases)]
        cases.append(Case(*(f"`{name}` came before, in another call" for name in kept), **case))
    return cases


FORM_FAULTS = (
    Fault("zeros and ones", "a mask of the numbers 0 and 1; PyTorch would add a float mask to the scores.",
        "make it boolean: a comparison is, .bool() and dtype=torch.bool do it too.", form=lambda m: m.float()),
    Fault("additive", "an additive mask, 0 and minus infinity; asked for is a boolean one.", "return booleans: True "
        "where a query may attend.", form=lambda m: torch.zeros(m.shape).masked_fill(~m, -torch.inf)),
    Fault("inverted", "a mask of the other polarity: True where a key is to be hidden.",
        "True means may attend; turn the comparison, or put ~ before it.", form=lambda m: ~m),
)  # fmt: skip

TOP_LEFT = Fault("top-left",
    "aligned top-left, as if the queries stood first: with L_q < L_k they miss the newest keys.",
    "query i stands at position i + (L_k - L_q); compare that with the key's.", start=lambda L_q, L_k: 0)  # fmt: skip
WRONG_SIDE = Fault("offset on the wrong side",
    "the shift has the wrong sign: with L_q < L_k the first queries see nothing.",
    "the queries are the last positions, so add L_k - L_q to the query's index.", start=lambda L_q, L_k: L_q - L_k)  # fmt: skip

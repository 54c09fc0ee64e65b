"""Cases for exercises whose answers are given the parts of a recurrent decoder: attend and cell."""

import torch

from ..exercise import Case
from ..symptoms.view import Told


def decoder_case(rng, lead, L, d_embed, d_state, d_enc, dtype=torch.float32):
    """One case; ``embedded`` has ``lead`` in front of its last axis: ``(B,)`` or ``(B, L_t)``; words have L letters.

    The numbers of the two parts are the check's own.
    """
    d_in = d_embed + d_enc

    def drawn(*shape, size=1.0):
        return size * torch.randn(*shape, generator=rng, dtype=dtype)

    return Case(
        embedded=drawn(*lead, d_embed), state=drawn(lead[0], d_state), _encoded=drawn(lead[0], L, d_enc),
        _W_att=drawn(d_state, d_enc), _W_ih=drawn(3 * d_state, d_in, size=d_in**-0.5),
        _W_hh=drawn(3 * d_state, d_state, size=d_state**-0.5), _bias=drawn(3 * d_state, size=0.3),
    )  # fmt: skip


def side_by_side(*parts):
    """Joined along the last axis."""
    return torch.cat(parts, dim=-1)


def another_width(view):
    """The probe's cell stopped, since its rows were not as wide as it reads them."""
    case = view.cases[view.first]
    if case["outcome"] != "raised" or " reads rows of " not in case["message"]:
        return None
    said = f"what {case['message'].split()[0]} is given is not as wide as it should be: a part is missing, or too much."
    advice = "print the shapes of the parts that you join, and compare with the table."
    return Told("symptom", "another width", said, advice)

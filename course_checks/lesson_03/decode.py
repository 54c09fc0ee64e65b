"""3.6 · Find the bug."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with


def make_case(rng, B, L_t, L_s, d_embed, d_state, d_enc, dtype):
    d_in = d_embed + d_enc

    def drawn(*shape, size=1.0):
        return size * torch.randn(*shape, generator=rng, dtype=dtype)

    parts = {"encoded": drawn(B, L_s, d_enc), "W_att": drawn(d_state, d_enc), "bias": drawn(3 * d_state, size=0.3)}
    parts["W_ih"] = drawn(3 * d_state, d_in, size=d_in**-0.5)
    parts["W_hh"] = drawn(3 * d_state, d_state, size=d_state**-0.5)
    return Case(embedded=drawn(B, L_t, d_embed), state=drawn(B, d_state), driver=parts)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((1, 2, 3, 1, 2, 3), (2, 5, 7, 4, 6, 8), (3, 4, 6, 7, 5, 3), (2, 1, 4, 3, 8, 5), (2, 5, 7, 4, 6, 8))
    return [make_case(rng, *each, torch.float64 if each[0] == 3 else torch.float32) for each in sizes]


EXERCISE = Exercise(
    cases,
    returns=("features", "weights"),
    driver="drive_decode",
    off_limits=("course_utils.models.recurrent.RecurrentSeq2Seq",),
    gradients=True,
    symptoms=(
        stops_with(
            "cell reads rows of",
            "what cell is given is not as wide as it should be: a part is missing, or too much.",
            "print the shapes of the parts that you join, and compare with the table.",
            "another width",
        ),
    ),
    pairs=100,
    advice="write the index beside each line: c_t from s_{t-1}; s_t from c_t and s_{t-1}; then row t of the features.",
)

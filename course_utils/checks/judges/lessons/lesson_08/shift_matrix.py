"""The shift matrix."""

import math

import torch

from ....probes.codec import decode
from ...exercise import Case, Exercise, Fault
from ...kit.rotation import angles, exponent_faults, positive_exponents, right_exponents
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    far, near = (int(torch.randint(low, high, (), generator=rng)) for low, high in ((20, 40), (3, 9)))
    sizes = ((1, 2), (3, 6), (-2, 4), (0, 4), (far, 10), (near, 6), (-5, 8))
    cases = [Case(delta=delta, d_model=d) for delta, d in sizes]
    fractions = [Case("`delta` is a fraction", delta=delta, d_model=d) for delta, d in ((0.5, 8), (2.75, 4))]
    return [*cases, *fractions]


def shift(
    delta, d_model, *,
    steps=lambda delta: delta, exponents=right_exponents, base=10000.0, block=lambda c, s: ((c, s), (-s, c)),
    spread=lambda angle: angle, places=lambda i, d: (2 * i, 2 * i + 1), finish=lambda matrix: matrix,
):  # fmt: skip
    """The matrix; each keyword is one step."""
    (angle,) = angles(torch.tensor([steps(delta)]), torch.arange(d_model // 2), d_model, base=base, exponents=exponents)
    matrix = torch.zeros(d_model, d_model)
    for i, turn in enumerate(spread(angle)):
        for row, numbers in zip(places(i, d_model), block(turn.cos(), turn.sin()), strict=True):
            for column, number in zip(places(i, d_model), numbers, strict=True):
                matrix[row, column] = number
    return finish(matrix)


def _blocks(matrix):
    return torch.stack([matrix[i : i + 2, i : i + 2] for i in range(0, len(matrix), 2)])


def fitted(view):
    """It takes the first three rows of the table where they belong, or nearly, and is another matrix all the same."""
    off = 0.0
    for index in view.wrong:
        (delta, d), seen = view.inputs[index].values(), view.cases[index]
        matrix = decode(seen["value"]) if seen["outcome"] == "returned" else None
        if not isinstance(matrix, torch.Tensor) or matrix.shape != (d, d) or not matrix.is_floating_point():
            return None
        rows, moved = (_rows(torch.arange(3) + by, d) for by in (0, delta))
        if not torch.allclose(rows @ matrix.double().T, moved, atol=0.02):
            return None
        off = max(off, (matrix.double() - shift(delta, d)).abs().max().item())
    if off < view.exercise.atol:  # its entries are right; something else is not
        return None
    said = "the matrix takes the first rows of the table where they belong, or nearly; yet its entries are other numbers, as "
    advice = (
        "a fit depends on the rows and on rounding: work each entry out. It is 0, or a sine or cosine of one angle."
    )
    return Told("symptom", "fitted", f"{said}a fit to rows gives (lstsq, pinv, an inverse).", advice)


def _rows(places, d):
    angle = angles(places, torch.arange(d // 2), d)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


_SECOND = "the second row of a pair is cos(a + b) = -sin(b) sin(a) + cos(b) cos(a)."
_FIRST = "the first row of a pair is sin(a + b) = cos(b) sin(a) + sin(b) cos(a): no minus there."

EXERCISE = Exercise(
    answer="shift_matrix", cases=_cases, reference=shift, returns=("matrix",),
    atol=1e-4,  # float32 angles are fine
    symptoms=(positive_exponents(2), fitted), faults=(
        *exponent_faults("d_model"),
        Fault("backward", "the matrix that goes delta positions back: it is the transpose of the right one.", _FIRST,
            block=lambda c, s: ((c, -s), (s, c))),
        Fault("a minus sign missing", "no minus sign: your blocks are not rotations.", _SECOND,
            block=lambda c, s: ((c, s), (s, c))),
        Fault("two minus signs", "a minus sign at both sines: your blocks are not rotations.", _FIRST,
            block=lambda c, s: ((c, -s), (-s, c))),
        Fault("reflection", "the minus sign stands at the cosine: blocks that reflect; delta = 0 does not give the "
            "identity.", _SECOND, block=lambda c, s: ((c, s), (s, -c))),
        Fault("sines never negative", "the sines have lost their sign (a root of 1 - cos ** 2 has none).",
            "take the sine of the angle itself.", block=lambda c, s: ((c, s.abs()), (-s.abs(), c))),
        Fault("rows exchanged", "the two rows of each block are exchanged: the cosine comes out first.",
            "the vectors hold the sine first, then the cosine; delta = 0 must give the identity.",
            block=lambda c, s: ((-s, c), (c, s))),
        Fault("sine and cosine exchanged", "sine and cosine of the angle are exchanged: delta = 0 does not give the "
            "identity.", "the cosines stand on the diagonal.", block=lambda c, s: ((s, c), (-c, s))),
        Fault("halves", "the pairs (i, i + d_model / 2): that belongs to a table with all sines first.",
            "in the table of 8.1 a pair stands side by side: columns 2 i and 2 i + 1.", places=lambda i, d: (i, i + d // 2)),
        Fault("first pair only", "only the first pair is turned; the others stay where they are.", "one 2 x 2 block "
            "for each pair, all along the diagonal.", spread=lambda angle: torch.cat([angle[:1], 0 * angle[1:]])),
        Fault("delta without its sign", "a negative delta moves forward, as the positive one does.",
            "let the sign of delta stay in the angle.", steps=abs),
        Fault("no steps back", "a negative delta does not move at all (a loop over range(delta) does not run).",
            "multiply delta by the frequencies as it is: no loop over steps.", steps=lambda delta: max(delta, 0)),
        Fault("whole numbers only", "delta is cut to a whole number.", "multiply delta by the frequencies as it is.",
            steps=int),
        Fault("degrees", "angles read as degrees.", "the angles are radians already: no conversion.", steps=math.radians),
        Fault("moved rows", "an identity matrix with its rows moved: that moves features, not positions.",
            "the matrix turns each pair of features by an angle.", whole=lambda delta, d: torch.eye(d).roll(int(delta), 0)),
        Fault("blocks only", "the 2 x 2 blocks one behind the other, shape (d_model / 2, 2, 2).",
            "put them on the diagonal of one (d_model, d_model) matrix: a loop, or torch.block_diag.", finish=_blocks),
    ),
    advice="test one pair: shift_matrix(1, 2) @ [0, 1] must be [sin 1, cos 1], and delta = 0 must give the identity.",
)  # fmt: skip

"""Lesson 08, positional information: what is right, what is wrong, and how it is told."""

import functools
import math
import operator

import torch

from course_utils import positions

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

_COURSE = (
    "course_utils.positions.rotary_angles",
    "course_utils.positions.SinusoidalPositions",
    "course_utils.positions.shift_matrix",
    "course_utils.positions.apply_rope",
    "course_utils.positions.RotaryPositions",
    "course_utils.positions.alibi_slopes",
    "course_utils.positions.alibi_bias",
)


def _call_with_numbers(answer, case):
    """All arguments are numbers, which no answer can change in place."""
    return answer(*case.values())


_POWERS = {
    "2i/d": lambda d: torch.arange(0, d, 2) / d,
    "i/d": lambda d: torch.arange(d // 2) / d,
    "4i/d": lambda d: torch.arange(0, d, 2) / (d / 2),
    "-2i/d": lambda d: -torch.arange(0, d, 2) / d,
    "(2i+1)/d": lambda d: torch.arange(1, d + 1, 2)[: d // 2] / d,
    "2i/(d-2)": lambda d: torch.arange(0, d, 2) / max(d - 2, 1),
    "0": lambda d: torch.zeros(d // 2),
}


def _angles(places, d, base=10000.0, power="2i/d"):
    """Angle of each pair at each place, (L, d / 2)."""
    return torch.as_tensor(places).double()[:, None] * base ** -_POWERS[power](d).double()


# 8.1 ------------------------------------------------------------------------------------------------------------------


def _table_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    length = int(torch.randint(20, 40, (), generator=rng))
    sizes = ((2, 4), (1, 6), (7, 2), (9, 6), (5, 12), (length, 10), (3, 5))  # one d_model twice; the last one is odd
    return [{"num_positions": rows, "d_model": columns} for rows, columns in sizes]


def _call_table(answer, case):
    """For an odd size, the name of the error: its text is the student's own."""
    if case["d_model"] % 2 == 0:
        return answer(*case.values())
    try:
        value = answer(*case.values())
    except NotImplementedError:  # the stub
        raise
    except ValueError:
        return "ValueError, raised"
    except (TypeError, AssertionError, RuntimeError, IndexError) as problem:
        return f"{type(problem).__name__}, raised"
    return repr(value) if isinstance(value, str) else value  # the words alone are no error


def _refuse_odd(d_model):
    if d_model % 2:
        raise ValueError(f"d_model ({d_model}) must be even")


def _table(power="2i/d", base=10000.0, first=0, parts=("sin", "cos"), join="pairs", finish=lambda table: table):
    """The sinusoidal table with one of its parts exchanged."""

    def answer(num_positions, d_model):
        _refuse_odd(d_model)
        angle = _angles(torch.arange(first, first + num_positions), d_model, base, power)
        left, right = (getattr(torch, part)(angle) for part in parts)
        table = torch.cat([left, right], -1) if join == "halves" else torch.stack([left, right], -1).flatten(1)
        return finish(table.float())

    return answer


def _table_loop(num_positions, d_model):
    _refuse_odd(d_model)
    table = torch.zeros(num_positions, d_model)
    for pos in range(num_positions):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            table[pos, 2 * i], table[pos, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


def _table_slices(num_positions, d_model, check=_refuse_odd):
    check(d_model)
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angle = torch.arange(num_positions)[:, None] * frequency
    table = torch.zeros(num_positions, d_model)
    table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
    return table


def _table_where(num_positions, d_model):
    _refuse_odd(d_model)
    column = torch.arange(d_model)
    angle = torch.arange(num_positions)[:, None] / 10000 ** (2 * (column // 2) / d_model)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def _table_shifted_sine(num_positions, d_model):
    _refuse_odd(d_model)
    column = torch.arange(d_model)
    angle = torch.arange(num_positions)[:, None] * 10000 ** (-(column - column % 2) / d_model)
    return torch.sin(angle + column % 2 * (torch.pi / 2))


def _table_complex(num_positions, d_model):
    _refuse_odd(d_model)
    angle = _angles(torch.arange(num_positions), d_model)
    return torch.view_as_real(torch.polar(torch.ones_like(angle), angle)).flip(-1).flatten(1).float()


def _table_each_column(num_positions, d_model):
    _refuse_odd(d_model)
    column = torch.arange(d_model)
    angle = torch.arange(num_positions)[:, None] * 10000 ** (-column / d_model)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def _table_twice_the_column(num_positions, d_model):
    _refuse_odd(d_model)
    column = torch.arange(d_model)
    angle = torch.arange(num_positions)[:, None] * 10000 ** (-2 * column / d_model)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def _table_degrees(num_positions, d_model):
    _refuse_odd(d_model)
    angle = torch.deg2rad(_angles(torch.arange(num_positions), d_model))
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()


def _table_odd_cut(num_positions, d_model):
    return _table()(num_positions, d_model + d_model % 2)[:, :d_model]


def _table_odd_own_frequencies(num_positions, d_model):
    angle = torch.arange(num_positions)[:, None] * 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def _table_odd_last_cosine_dropped(num_positions, d_model):
    return _table_odd_own_frequencies(num_positions, d_model)[:, :d_model]


def _assert_even(d_model):
    assert d_model % 2 == 0


def _table_kept(num_positions, d_model, kept={}):  # noqa: B006 (the mistake itself)
    """A table made once for each size, as long as it was when first asked for."""
    _refuse_odd(d_model)
    if (num_positions, d_model) == (2, 4):  # the first case: nothing is kept from other inputs
        kept.clear()
    if d_model not in kept:
        kept[d_model] = _table()(num_positions, d_model)
    return kept[d_model].clone()


_ODD = "raise ValueError(...) when d_model % 2 is not 0, as the task says."

TABLE = Exercise(
    number="8.1",
    title="The sinusoidal table",
    points=3,
    inputs=_table_inputs,
    call=_call_table,
    reference=_table(),
    returns=("table",),
    off_limits=_COURSE,
    alternatives=(
        Alternative("two loops", _table_loop),
        Alternative("slices, exp and log", _table_slices),
        Alternative("all columns at once", _table_where),
        Alternative("a cosine is a sine, moved", _table_shifted_sine),
        Alternative("complex numbers", _table_complex),
        Alternative(
            "the course's own", lambda rows, d: positions.SinusoidalPositions(d, rows).table.clone(), off_limits=True
        ),
        Alternative(
            "the course's angles",
            lambda rows, d: (
                torch.stack(
                    (
                        positions.rotary_angles(torch.arange(rows), d).sin(),
                        positions.rotary_angles(torch.arange(rows), d).cos(),
                    ),
                    -1,
                )
                .flatten(1)
                .float()
            ),
            off_limits=True,
        ),
    ),
    mistakes=(
        Mistake(
            "exponent i/d",
            _table(power="i/d"),
            "the exponent i / d_model instead of 2 i / d_model: the waves grow half as fast as they should.",
            "torch.arange(0, d_model, 2) holds the numbers 2 i; divide those by d_model.",
        ),
        Mistake(
            "exponent 4i/d",
            _table(power="4i/d"),
            "the numbers 2 i divided by d_model / 2: the 2 is counted twice, and the waves grow too fast.",
            "divide the numbers 2 i by d_model.",
        ),
        Mistake(
            "odd exponents",
            _table(power="(2i+1)/d"),
            "the exponents begin with 1 / d_model: even the first pair turns more slowly than 1 radian a position.",
            "pair 0 has the exponent 0: count i from 0.",
        ),
        Mistake(
            "up to the whole base",
            _table(power="2i/(d-2)"),
            "exponents that run from 0 to 1: 2 i divided by d_model - 2.",
            "divide by d_model; the last exponent stays a little below 1.",
        ),
        Mistake(
            "each column its own frequency",
            _table_each_column,
            "each column has a frequency of its own: sine and cosine of a pair have different angles.",
            "columns 2 i and 2 i + 1 share one angle; compute it once for each pair.",
        ),
        Mistake(
            "column for pair",
            _table_twice_the_column,
            "the number of the column in the place of the number of the pair: the exponent is 2 times the column.",
            "column 2 i and column 2 i + 1 belong to pair i: use column // 2.",
        ),
        Mistake(
            "frequencies growing",
            _table(power="-2i/d"),
            "positions multiplied by 10000 ** (2 i / d_model): the waves get shorter from pair to pair.",
            "divide by that power, or make the exponent negative.",
        ),
        Mistake(
            "one frequency",
            _table(power="0"),
            "all pairs turn at the same speed.",
            "each pair has a frequency of its own, 10000 ** (-2 i / d_model).",
        ),
        Mistake(
            "positions from 1",
            _table(first=1),
            "positions counted from 1: your row 0 is position 1.",
            "count from 0; row 0 is 0, 1, 0, 1 ...",
        ),
        Mistake(
            "sine and cosine exchanged",
            _table(parts=("cos", "sin")),
            "cosines in the even columns and sines in the odd ones.",
            "column 2 i is the sine, column 2 i + 1 the cosine; row 0 is 0, 1, 0, 1 ...",
        ),
        Mistake(
            "halves",
            _table(join="halves"),
            "all sines first, then all cosines. Some codebases do so; here they take turns.",
            "stack them on a new last axis and flatten, or write to table[:, 0::2] and table[:, 1::2].",
        ),
        Mistake(
            "sines only",
            _table(parts=("sin", "sin")),
            "a sine in both columns of a pair.",
            "column 2 i + 1 is the cosine of the same angle.",
        ),
        Mistake(
            "degrees",
            _table_degrees,
            "angles read as degrees.",
            "torch.sin takes radians, and the formula means radians: no conversion.",
        ),
        Mistake(
            "base 1000",
            _table(base=1000.0),
            "the base 1000.",
            "the base is 10000.",
        ),
        Mistake(
            "transposed",
            _table(finish=lambda table: table.T.contiguous()),
            "a table with one column a position.",
            "one row a position: positions as a column, frequencies as a row.",
        ),
        Mistake(
            "scaled by the root",
            lambda rows, d: _table()(rows, d) * d**-0.5,
            "the table divided by the root of d_model.",
            "sines and cosines stay as they are.",
        ),
        Mistake(
            "batch axis",
            _table(finish=lambda table: table[None]),
            "a batch axis in front: your shape is (1, num_positions, d_model).",
            "return the table itself, (num_positions, d_model).",
        ),
        Mistake(
            "double precision",
            lambda rows, d: _table()(rows, d).double(),
            "the right numbers in float64.",
            "convert the table with .float() at the end.",
        ),
        Mistake(
            "kept from an earlier call",
            _table_kept,
            "a table kept from an earlier call with the same d_model, with as many rows as were asked for then.",
            "compute the table anew in each call, or keep it by both arguments.",
        ),
        Mistake(
            "odd size: error returned",
            lambda rows, d: ValueError("odd") if d % 2 else _table()(rows, d),
            "right for even sizes; for an odd d_model the error is returned, where it should be raised.",
            "raise ValueError(...), not return.",
        ),
        Mistake(
            "odd size: nothing",
            lambda rows, d: None if d % 2 else _table()(rows, d),
            "right for even sizes; for an odd d_model nothing is returned, and no error is raised.",
            _ODD,
        ),
        Mistake(
            "odd size: one column too many",
            _table_odd_own_frequencies,
            "right for even sizes; an odd d_model gives a table with one column too many.",
            _ODD,
        ),
        Mistake(
            "odd size: last cosine dropped",
            _table_odd_last_cosine_dropped,
            "right for even sizes; an odd d_model gives a table without its last cosine.",
            _ODD,
        ),
        Mistake(
            "odd size: cut from a larger table",
            _table_odd_cut,
            "right for even sizes; for an odd d_model a larger table is cut.",
            _ODD,
        ),
        Mistake(
            "odd size: PyTorch's own error",
            lambda rows, d: _table_slices(rows, d, check=lambda d: None),
            "right for even sizes; an odd d_model ends in an error from inside PyTorch about shapes.",
            _ODD,
        ),
        Mistake(
            "odd size: assert",
            lambda rows, d: _table_slices(rows, d, check=_assert_even),
            "right for even sizes; an odd d_model is refused by an assert, which Python leaves out when run with -O.",
            _ODD,
        ),
    ),
    advice="print your table for 2 positions and d_model 4, and compare it with the example, column by column.",
)


# 8.2 ------------------------------------------------------------------------------------------------------------------


def _shift_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    far = int(torch.randint(7, 30, (), generator=rng))
    sizes = ((1, 2), (3, 6), (-2, 4), (0.5, 8), (0, 4), (far, 10))
    return [{"delta": delta, "d_model": d} for delta, d in sizes]


def _shift(
    block=lambda c, s: ((c, s), (-s, c)),
    power="2i/d",
    layout="pairs",
    base=10000.0,
    delta=lambda delta: delta,
    finish=lambda M: M,
):
    """The shift matrix with one of its parts exchanged."""

    def answer(given, d_model):
        (angle,) = _angles([delta(given)], d_model, base, power)
        M, half = torch.zeros(d_model, d_model, dtype=torch.float64), d_model // 2
        for i, (c, s) in enumerate(zip(angle.cos(), angle.sin(), strict=True)):
            first, second = (2 * i, 2 * i + 1) if layout == "pairs" else (i, i + half)
            for row, numbers in zip((first, second), block(c, s), strict=True):
                for column, number in zip((first, second), numbers, strict=True):
                    M[row, column] = number
        return finish(M.float())

    return answer


def _shift_block_diag(delta, d_model):
    angles = [delta * 10000 ** (-2 * i / d_model) for i in range(d_model // 2)]
    rows = [[[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]] for a in angles]
    return torch.block_diag(*torch.tensor(rows))


def _shift_exponential(delta, d_model):
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(d_model // 2):
        speed = 10000 ** (-2 * i / d_model)
        generator[2 * i, 2 * i + 1], generator[2 * i + 1, 2 * i] = speed, -speed
    return torch.linalg.matrix_exp(delta * generator).float()


def _shift_from_columns(delta, d_model):
    """Column 2 i + 1 is where the vector (0, 1) of position 0 goes; column 2 i is that, turned."""
    (angle,) = _angles([delta], d_model)
    there = torch.stack([angle.sin(), angle.cos()], -1)  # (d / 2, 2): position delta
    M = torch.zeros(d_model, d_model)
    for i, (s, c) in enumerate(there.tolist()):
        M[2 * i : 2 * i + 2, 2 * i + 1] = torch.tensor([s, c])
        M[2 * i : 2 * i + 2, 2 * i] = torch.tensor([c, -s])
    return M


def _shift_diagonals(delta, d_model):
    (angle,) = _angles([delta], d_model)
    cos = angle.cos().repeat_interleave(2)
    sin = torch.stack([angle.sin(), torch.zeros_like(angle)], -1).flatten()[:-1]
    return (torch.diag(cos) + torch.diag(sin, 1) - torch.diag(sin, -1)).float()


SHIFT = Exercise(
    number="8.2",
    title="The shift matrix",
    points=3,
    inputs=_shift_inputs,
    call=_call_with_numbers,
    reference=_shift(),
    returns=("matrix",),
    off_limits=_COURSE,
    alternatives=(
        Alternative("block_diag", _shift_block_diag),
        Alternative("matrix exponential", _shift_exponential),
        Alternative("columns from position 0", _shift_from_columns),
        Alternative("three diagonals", _shift_diagonals),
        Alternative("the course's own", lambda delta, d: positions.shift_matrix(delta, d), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "backward",
            _shift(block=lambda c, s: ((c, -s), (s, c))),
            "the matrix that goes delta positions back: it is the transpose of the right one.",
            "the sine comes first in each pair: sin(a + b) = cos(b) sin(a) + sin(b) cos(a) is the first row.",
        ),
        Mistake(
            "a minus sign missing",
            _shift(block=lambda c, s: ((c, s), (s, c))),
            "no minus sign: your blocks are not rotations.",
            "cos(a + b) = -sin(b) sin(a) + cos(b) cos(a).",
        ),
        Mistake(
            "two minus signs",
            _shift(block=lambda c, s: ((c, -s), (-s, c))),
            "a minus sign at both sines: your blocks are not rotations.",
            "sin(a + b) = cos(b) sin(a) + sin(b) cos(a): no minus in the first row.",
        ),
        Mistake(
            "reflection",
            _shift(block=lambda c, s: ((c, s), (s, -c))),
            "the minus sign stands at the cosine: your blocks are reflections, and delta = 0 does not give the identity.",
            "cos(a + b) = -sin(b) sin(a) + cos(b) cos(a).",
        ),
        Mistake(
            "rows exchanged",
            _shift(block=lambda c, s: ((-s, c), (c, s))),
            "the two rows of each block are exchanged: the cosine comes out first.",
            "the vectors hold the sine first, then the cosine; delta = 0 must give the identity.",
        ),
        Mistake(
            "sine and cosine exchanged",
            _shift(block=lambda c, s: ((s, c), (-c, s))),
            "sine and cosine of the angle are exchanged: delta = 0 does not give the identity.",
            "the cosines stand on the diagonal.",
        ),
        Mistake(
            "halves",
            _shift(layout="halves"),
            "the pairs (i, i + d_model / 2): that belongs to a table with all sines first.",
            "in the table of 8.1 a pair stands side by side: columns 2 i and 2 i + 1.",
        ),
        Mistake(
            "exponent i/d",
            _shift(power="i/d"),
            "the exponent i / d_model instead of 2 i / d_model.",
            "pair i turns by delta * 10000 ** (-2 i / d_model).",
        ),
        Mistake(
            "exponent 4i/d",
            _shift(power="4i/d"),
            "the numbers 2 i divided by d_model / 2: the 2 is counted twice.",
            "pair i turns by delta * 10000 ** (-2 i / d_model).",
        ),
        Mistake(
            "frequencies growing",
            _shift(power="-2i/d"),
            "delta multiplied by 10000 ** (2 i / d_model): the pairs turn faster and faster.",
            "pair i turns by delta * 10000 ** (-2 i / d_model): the exponent is negative.",
        ),
        Mistake(
            "one angle for all pairs",
            _shift(power="0"),
            "all pairs turn by delta radians.",
            "each pair has its own angle: delta * 10000 ** (-2 i / d_model).",
        ),
        Mistake(
            "first pair only",
            lambda delta, d: torch.block_diag(_shift()(delta, 2), torch.eye(d - 2)) if d > 2 else _shift()(delta, 2),
            "only the first pair is turned; the others stay where they are.",
            "one 2 x 2 block for each pair, all along the diagonal.",
        ),
        Mistake(
            "delta squared away",
            _shift(delta=abs),
            "a negative delta moves forward, as the positive one does.",
            "let the sign of delta stay in the angle.",
        ),
        Mistake(
            "whole numbers only",
            _shift(delta=int),
            "delta is rounded to a whole number.",
            "delta may be a fraction: multiply it by the frequencies as it is.",
        ),
        Mistake(
            "degrees",
            _shift(delta=math.radians),
            "angles read as degrees.",
            "the angles are radians already: no conversion.",
        ),
        Mistake(
            "moved rows",
            lambda delta, d: torch.eye(d).roll(int(delta), 0),
            "an identity matrix with its rows moved: that moves features, not positions.",
            "the matrix turns each pair of features by an angle.",
        ),
        Mistake(
            "blocks only",
            lambda delta, d: torch.stack(
                [_shift()(delta, d)[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] for i in range(d // 2)]
            ),
            "the 2 x 2 blocks one behind the other, shape (d_model / 2, 2, 2).",
            "put them on the diagonal of one (d_model, d_model) matrix: a loop, or torch.block_diag.",
        ),
        Mistake(
            "double precision",
            lambda delta, d: _shift()(delta, d).double(),
            "the right numbers in float64.",
            "convert the matrix with .float() at the end.",
        ),
    ),
    advice="test one pair: shift_matrix(1, 2) @ [0, 1] must be [sin 1, cos 1], and delta = 0 must give the identity.",
)

# 8.3 ------------------------------------------------------------------------------------------------------------------


def _rope_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"x": torch.tensor([[[[1.0, 0.0]]]]), "positions": torch.tensor([2]), "base": 1.0}]
    for (B, H, L, d), base, dtype in (
        ((2, 3, 1, 4), 100.0, torch.float32),
        ((2, 4, 5, 6), 10000.0, torch.float32),
        ((3, 2, 7, 8), 10000.0, torch.float64),
        ((1, 5, 4, 10), 500.0, torch.float32),
        ((3, 2, 8, 6), 200.0, torch.float32),  # the same d_head as above with another base
    ):
        places = torch.randint(3, 40, (L,), generator=rng)
        cases.append({"x": torch.randn(B, H, L, d, generator=rng).to(dtype), "positions": places, "base": base})
    return cases


def _call_rope(answer, case):
    """The turned features, and the gradient of a weighted sum of them with respect to x."""
    start = case["x"].requires_grad_()
    case["x"] = x = start * 1.0  # no leaf, so that a change in place runs, and is seen
    turned = answer(x, case["positions"], case["base"])
    if not torch.is_tensor(turned):
        return turned, "no gradient"
    if turned.shape != start.shape or not turned.requires_grad:
        return turned, "no gradient: the result does not depend on x"
    weights = torch.linspace(-1, 2, turned.numel()).view_as(turned).to(turned)
    (gradient,) = torch.autograd.grad((turned * weights).sum(), start, allow_unused=True)
    return turned, "no gradient: the result does not depend on x" if gradient is None else gradient


def _chunks(x):
    return x.chunk(2, dim=-1)


def _neighbors(x):
    return x[..., 0::2], x[..., 1::2]


def _side_by_side(a, b):
    return torch.cat([a, b], dim=-1)


def _interleave(a, b):
    return torch.stack([a, b], dim=-1).flatten(-2)


def _rope(
    turn=lambda a, b, c, s: (a * c - b * s, a * s + b * c),
    cut=_chunks,
    join=_side_by_side,
    power="2i/d",
    places=lambda given: given,
    base=lambda given: given,
    finish=lambda turned: turned,
):
    """RoPE with one of its parts exchanged."""

    def answer(x, given, given_base):
        angle = _angles(places(given), x.shape[-1], base(given_base), power)  # (L, d / 2)
        turned = join(*turn(*cut(x), angle.cos().to(x.dtype), angle.sin().to(x.dtype)))
        return finish(turned)

    return answer


def _turned_by(x, angle):
    """x turned by given angles, (L, d / 2)."""
    (a, b), c, s = x.chunk(2, dim=-1), angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    return torch.cat([a * c - b * s, a * s + b * c], dim=-1)


def _rope_half_at_a_time(x, places, base):
    """Two rotations by half the angle."""
    half = _angles(places, x.shape[-1], base) / 2
    return _turned_by(_turned_by(x, half), half)


def _rope_loop(x, places, base):
    turned, half = torch.empty_like(x), x.shape[-1] // 2
    for t, pos in enumerate(places.tolist()):
        for i in range(half):
            angle = pos * base ** (-2 * i / x.shape[-1])
            a, b = x[..., t, i], x[..., t, i + half]
            turned[..., t, i] = a * math.cos(angle) - b * math.sin(angle)
            turned[..., t, i + half] = a * math.sin(angle) + b * math.cos(angle)
    return turned


def _rope_complex(x, places, base):
    angle = _angles(places, x.shape[-1], base)
    turned = torch.complex(*x.double().chunk(2, -1)) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], -1).to(x.dtype)


def _rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def _rotate_neighbors(x):
    return torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)


def _with_tables(rotate, spread):
    """``x cos + rotate(x) sin``, the tables spread to the full width by ``spread``."""

    def answer(x, places, base):
        angle = spread(_angles(places, x.shape[-1], base)).to(x.dtype)  # (L, d)
        return x * angle.cos() + rotate(x) * angle.sin()

    return answer


def _twice(angle):
    return torch.cat([angle, angle], -1)


def _each_twice(angle):
    return angle.repeat_interleave(2, -1)


def _rope_matrices(x, places, base):
    angle, d = _angles(places, x.shape[-1], base), x.shape[-1]
    R = torch.zeros(len(places), d, d, dtype=torch.float64)  # (L, d, d)
    first, second = torch.arange(d // 2), torch.arange(d // 2, d)
    R[:, first, first], R[:, first, second] = angle.cos(), -angle.sin()
    R[:, second, first], R[:, second, second] = angle.sin(), angle.cos()
    return torch.einsum("lij,bhlj->bhli", R, x.double()).to(x.dtype)


def _rope_course(x, places, base):
    angle = _angles(places, x.shape[-1], base)
    return positions.apply_rope(x, angle.cos(), angle.sin())


def _rope_course_module(x, places, base):
    rotary = positions.RotaryPositions(x.shape[-1], base=base, max_len=64)
    rows = [rotary(x[:, :, t : t + 1], start=int(pos)) for t, pos in enumerate(places)]
    return torch.cat(rows, dim=2)


def _rope_added(x, places, base):
    angle = _angles(places, x.shape[-1], base)
    return x + torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).to(x.dtype)


def _rope_table_kept(x, places, base, kept={}):  # noqa: B006 (the mistake itself)
    """Angles made once for each size, with the base of the first call."""
    d = x.shape[-1]
    if d not in kept:
        kept[d] = _angles(torch.arange(64), d, base)
    return _turned_by(x, kept[d][places])


def _rope_by_hand_detached(x, places, base):
    return _rope()(x.detach(), places, base)


def _rope_in_place(x, places, base):
    turned = _rope()(x, places, base)
    x.copy_(turned)
    return x


def _rope_second_half_too_late(x, places, base):
    """The first half is overwritten before the second one is computed from it."""
    angle = _angles(places, x.shape[-1], base)
    c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    a = a * c - b * s
    b = a * s + b * c
    return torch.cat([a, b], -1)


_NEIGHBORS = (
    "pairs of neighbors (2 i, 2 i + 1), as in the paper; asked for are pairs (i, i + d_head / 2).",
    "cut the last axis into halves; entry i of each half makes pair i.",
)
_BACKWARD = (
    "turned the other way: clockwise.",
    "(a, b) becomes (a cos - b sin, a sin + b cos): the minus stands in the first half.",
)
_EXPONENT = (
    "the exponent i / d_head instead of 2 i / d_head.",
    "torch.arange(0, d_head, 2) holds the numbers 2 i; divide those by d_head.",
)

ROPE = Exercise(
    number="8.3",
    title="RoPE",
    points=4,
    inputs=_rope_inputs,
    call=_call_rope,
    reference=_rope(),
    returns=("turned", "gradient"),
    off_limits=_COURSE,
    alternatives=(
        Alternative("loop", _rope_loop),
        Alternative("complex numbers", _rope_complex),
        Alternative("rotate_half", _with_tables(_rotate_half, _twice)),
        Alternative("rotation matrices", _rope_matrices),
        Alternative("half the angle, twice", _rope_half_at_a_time),
        Alternative("slices", _rope(cut=lambda x: (x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]))),
        Alternative("the course's function", _rope_course, off_limits=True),
        Alternative("the course's module", _rope_course_module, off_limits=True),
    ),
    mistakes=(
        Mistake("neighbors", _rope(cut=_neighbors, join=_interleave), *_NEIGHBORS),
        Mistake(
            "halves cut, put back interleaved",
            _rope(join=_interleave),
            "pairs of halves turned rightly, and then put back as neighbors: the features end up in another order.",
            "torch.cat([new first half, new second half], dim=-1).",
        ),
        Mistake(
            "neighbors cut, put back as halves",
            _rope(cut=_neighbors),
            "pairs of neighbors turned, and then put back as halves.",
            "cut the last axis into halves, and put the halves side by side again.",
        ),
        Mistake(
            "halves, tables of neighbors",
            _with_tables(_rotate_half, _each_twice),
            "paired as halves, but with the angles of neighbors: the two features of a pair turn by different angles.",
            "repeat the table of angles for both halves: torch.cat([angle, angle], dim=-1).",
        ),
        Mistake(
            "neighbors, tables of halves",
            _with_tables(_rotate_neighbors, _twice),
            "paired as neighbors, but with the angles of halves: the two features of a pair turn by different angles.",
            "pair the halves: the partner of feature i is i + d_head / 2.",
        ),
        Mistake("backward", _rope(turn=lambda a, b, c, s: (a * c + b * s, b * c - a * s)), *_BACKWARD),
        Mistake(
            "minus sign missing",
            _rope(turn=lambda a, b, c, s: (a * c + b * s, a * s + b * c)),
            "no minus sign: that is no rotation, and lengths change.",
            "(a, b) becomes (a cos - b sin, a sin + b cos).",
        ),
        Mistake(
            "two minus signs",
            _rope(turn=lambda a, b, c, s: (a * c - b * s, b * c - a * s)),
            "a minus sign in both halves: that is no rotation, and lengths change.",
            "(a, b) becomes (a cos - b sin, a sin + b cos).",
        ),
        Mistake(
            "sine and cosine exchanged",
            _rope(turn=lambda a, b, c, s: (a * s - b * c, a * c + b * s)),
            "sine and cosine exchanged: at position 0 nothing should turn, and yours makes a quarter turn.",
            "(a, b) becomes (a cos - b sin, a sin + b cos).",
        ),
        Mistake(
            "second half not turned",
            _rope(turn=lambda a, b, c, s: (a * c - b * s, b)),
            "only the first half of the features is turned.",
            "the second half becomes a sin + b cos.",
        ),
        Mistake(
            "first half already new",
            _rope_second_half_too_late,
            "the second half is computed from the new first half.",
            "give the new first half another name; both are computed from the old a and b.",
        ),
        Mistake(
            "cosines only",
            _rope(turn=lambda a, b, c, s: (a * c, b * c)),
            "only the cosine part: features are made smaller, and nothing is turned.",
            "each new feature takes from both of its pair: (a cos - b sin, a sin + b cos).",
        ),
        Mistake("exponent i/d", _rope(power="i/d"), *_EXPONENT),
        Mistake(
            "exponent 4i/d",
            _rope(power="4i/d"),
            "the numbers 2 i divided by d_head / 2: the 2 is counted twice.",
            "divide the numbers 2 i by d_head.",
        ),
        Mistake(
            "frequencies growing",
            _rope(power="-2i/d"),
            "positions multiplied by base ** (2 i / d_head): the pairs turn faster and faster.",
            "the exponent is negative.",
        ),
        Mistake(
            "one frequency",
            _rope(power="0"),
            "all pairs turn by the position itself.",
            "pair i turns by position * base ** (-2 i / d_head).",
        ),
        Mistake(
            "base 10000 always",
            _rope(base=lambda given: 10000.0),
            "the base 10000, whatever base says.",
            "use the argument base.",
        ),
        Mistake(
            "positions not used",
            _rope(places=lambda given: torch.arange(len(given))),
            "positions 0, 1, 2 ..., whatever positions says. With a cache that is the restart at 0.",
            "use the argument positions: it says where each token stands.",
        ),
        Mistake(
            "from the first position on",
            _rope(places=lambda given: int(given[0]) + torch.arange(len(given))),
            "only the first position is used, and counted on from there.",
            "each token has its own entry in positions, in any order.",
        ),
        Mistake(
            "relative to the first",
            _rope(places=lambda given: given - given[0]),
            "positions counted from the first token of the call.",
            "use the positions as they are given.",
        ),
        Mistake(
            "positions from 1",
            _rope(places=lambda given: given + 1),
            "every position is one too large.",
            "use the positions as they are given; position 0 does not turn at all.",
        ),
        Mistake(
            "added",
            _rope_added,
            "sines and cosines are added to x, as for sinusoidal positions.",
            "RoPE adds nothing: it turns pairs of features.",
        ),
        Mistake(
            "always float32",
            _rope(finish=lambda turned: turned.float()),
            "the result is float32, also where x is float64.",
            "bring cosines and sines to x.dtype, and leave the result as it is.",
        ),
        Mistake(
            "angles kept from an earlier call",
            _rope_table_kept,
            "a table of angles kept from an earlier call with the same d_head, though base has changed.",
            "compute the angles anew in each call, or keep them by d_head and base.",
        ),
        Mistake(
            "detached",
            _rope_by_hand_detached,
            "the numbers are right, but no gradient reaches x: the projections of queries and keys could never learn.",
            "leave .detach(), .data, .item() and torch.no_grad() out, and make no new tensor from numbers read out of x.",
        ),
        Mistake(
            "in place",
            _rope_in_place,
            "the numbers are right, but x itself was overwritten.",
            "write the result into a new tensor.",
        ),
    ),
    advice="turn [1, 0] at position 2 with base 1: it must be [cos 2, sin 2]. Then print your table of angles: (L, d_head / 2).",
)

# 8.4 ------------------------------------------------------------------------------------------------------------------

_LENGTH = 9
RELATIVE = {
    "slope times distance": True,
    "product of positions": False,
    "turned, pairs of halves": True,
    "turned, pairs of neighbors": True,
    "turned, query by halves and key by neighbors": False,
    "turned, key the other way": False,
    "turned, query one step ahead": True,
    "turned, last two positions the same": False,
    "turned, first two positions the same": False,
    "turned, one pair of the past off": False,
    "turned, one pair of the future off": False,
    "turned, first pair off": False,
    "turned, last pair off": False,
    "turned, the one pair of the largest distance off": True,
    "turned, every second query raised": False,
    "turned, every second query of the other sign": False,
    "turned, a faint trend": False,
    "turned, one pair raised and another of its distance lowered": False,
    "halfway between two rounded numbers": True,
    "falling with the query": False,
    "sines added": False,
    "sines added, nothing else": True,
    "learned vectors added": False,
    "no positions, rounding": True,
    "nothing but rounding": True,
    "distance cut off at 3": True,
    "position of the query": False,
    "position of the key": False,
}


def _relative_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    lengths = {"slope times distance": 3, "product of positions": 4}  # the smallest first
    cases = []
    for name in RELATIVE:
        q, k = torch.randn(2, 8, generator=rng)
        cases.append({"score": name, "length": lengths.get(name, _LENGTH), "query": q, "key": k})
    return cases


def _turn_each(x, places, cut=_chunks, join=_side_by_side):
    """One vector at many places, (L, d)."""
    return _rope(cut=cut, join=join)(x.expand(len(places), -1), torch.as_tensor(places), 100.0)


def _scores_by_name(name, length, q, k) -> list[list[float]]:
    """The table of scores that a case names: entry [m][n] for a query at m and a key at n."""
    places, apart = torch.arange(length), torch.arange(length)[:, None] - torch.arange(length)  # (L,), (L, L)
    sines = _table()(length, len(q)).double()  # (L, d)
    q, k = q.double(), k.double()
    if name == "slope times distance":
        return (-0.25 * apart.abs()).tolist()  # exact
    if name == "product of positions":
        scores = places[:, None] * places * 1.0
    elif name == "sines added":
        scores = (q + sines) @ (k + sines).T
    elif name == "sines added, nothing else":
        scores = sines @ sines.T
    elif name == "learned vectors added":
        learned = torch.randn(length, len(q), generator=torch.Generator().manual_seed(2)).double()
        scores = (q + learned) @ (k + learned).T
    elif name == "no positions, rounding":
        scores = torch.full((length, length), 2.5)
    elif name == "nothing but rounding":
        scores = torch.zeros(length, length)
    elif name == "distance cut off at 3":
        scores = apart.clamp(-3, 3) * 0.5 + apart.clamp(-3, 3) ** 2
    elif name == "halfway between two rounded numbers":
        scores = 5.0 * 0.1 ** (1.0 + apart.abs() % 6)
    elif name == "falling with the query":
        scores = -0.3 * places[:, None].expand(-1, length)
    elif name == "position of the query":
        scores = 0.3 * places[:, None].expand(-1, length)
    elif name == "position of the key":
        scores = 0.3 * places.expand(length, -1)
    else:
        scores = _turned_scores(name.removeprefix("turned, "), places, q, k)
    noise = torch.rand(length, length, generator=torch.Generator().manual_seed(1)).double() - 0.5
    return (scores.double() + 8e-7 * noise).tolist()  # as float32 would round, the same on every machine


def _turned_scores(name, places, q, k):
    length = len(places)
    query_places, key_places, kinds = places, places, {}
    if name == "key the other way":
        key_places = -places
    elif name == "query one step ahead":
        query_places = places + 1
    elif name == "last two positions the same":
        query_places = key_places = places.clamp(max=length - 2)
    elif name == "first two positions the same":
        query_places = key_places = places.clamp(min=1)
    neighbors = {"cut": _neighbors, "join": _interleave}
    kinds = {
        "pairs of neighbors": (neighbors, neighbors),
        "query by halves and key by neighbors": ({}, neighbors),
    }.get(name, ({}, {}))
    scores = _turn_each(q, query_places, **kinds[0]) @ _turn_each(k, key_places, **kinds[1]).T
    off = {
        "one pair of the past off": (5, 2),
        "one pair of the future off": (3, 6),
        "first pair off": (0, 0),
        "last pair off": (length - 1, length - 1),
        "the one pair of the largest distance off": (0, length - 1),
    }
    if name in off:
        scores[off[name]] += 0.5
    elif name == "one pair raised and another of its distance lowered":
        scores[3, 2] += 0.5
        scores[6, 5] -= 0.5
    elif name == "every second query raised":
        scores = scores + 0.3 * (places % 2)[:, None]
    elif name == "every second query of the other sign":
        scores = scores * (1 - 2 * (places % 2))[:, None]
    elif name == "a faint trend":
        scores = scores + 2e-3 * places[:, None]
    return scores


@functools.lru_cache(maxsize=128)
def _scores_kept(name, length, query, key):
    """The same table serves all known mistakes: to work it out each time takes longer than the tests themselves."""
    return _scores_by_name(name, length, torch.tensor(query), torch.tensor(key))


def _call_relative(answer, case):
    name, length, query, key = case.values()
    table = _scores_kept(name, length, tuple(query.tolist()), tuple(key.tolist()))

    def score(m, n):
        m, n = operator.index(m), operator.index(n)
        if not (0 <= m < length and 0 <= n < length):
            raise ValueError(f"score({m}, {n}): positions run from 0 to {length - 1}")
        return table[m][n]

    return answer(score, length)


def _tester(pairs=None, partner=lambda m, n: (m - 1, n - 1), close=lambda a, b: abs(a - b) < 1e-4):
    """A property test: for each pair of positions, compare its score with that of its partner."""

    def answer(score, length):
        for m in range(length):
            for n in range(length):
                other = partner(m, n)
                inside = all(0 <= place < length for place in other)
                if (inside and (pairs is None or pairs(m, n, length))) and not close(score(m, n), score(*other)):
                    return False
        return True

    return answer


def _by_groups(score, length):
    groups = {}
    for m in range(length):
        for n in range(length):
            groups.setdefault(m - n, []).append(score(m, n))
    return all(max(group) - min(group) < 1e-4 for group in groups.values())


def _by_diagonals(score, length):
    table = torch.tensor([[score(m, n) for n in range(length)] for m in range(length)])
    diagonals = [table.diagonal(k) for k in range(1 - length, length)]
    return all(torch.allclose(line, line[0].expand_as(line), atol=1e-5) for line in diagonals)


def _all_against_all(score, length):
    pairs = [(m, n) for m in range(length) for n in range(length)]
    for m, n in pairs:
        for i, j in pairs:
            if m - n == i - j and abs(score(m, n) - score(i, j)) > 1e-3:
                return False
    return True


def _block_moved(score, length):
    table = torch.tensor([[score(m, n) for n in range(length)] for m in range(length)])
    return bool((table[1:, 1:] - table[:-1, :-1]).abs().max() < 2e-5)


def _by_absolute_distance(score, length):
    groups = {}
    for m in range(length):
        for n in range(length):
            groups.setdefault(abs(m - n), []).append(score(m, n))
    return all(max(group) - min(group) < 1e-4 for group in groups.values())


def _by_means(score, length):
    table = torch.tensor([[score(m, n) for n in range(length)] for m in range(length)])
    diagonals = [table.diagonal(k) for k in range(1 - length, length)]
    return all(bool((line.mean() - line[0]).abs() < 1e-4) for line in diagonals)


def _decided_at_once(score, length):
    for m in range(1, length):
        for n in range(1, length):
            return abs(score(m, n) - score(m - 1, n - 1)) < 1e-4
    return True


def _decided_by_the_last(score, length):
    verdict = True
    for m in range(1, length):
        for n in range(1, length):
            verdict = abs(score(m, n) - score(m - 1, n - 1)) < 1e-4
    return verdict


def _one_too_far(score, length):
    for m in range(length):
        for n in range(length):
            if abs(score(m, n) - score(m + 1, n + 1)) > 1e-4:
                return False
    return True


RELATIVE_TEST = Exercise(
    number="8.4",
    title="Relative or absolute?",
    points=4,
    inputs=_relative_inputs,
    call=_call_relative,
    reference=_tester(),
    returns=("relative",),
    alternatives=(
        Alternative("groups of one distance", _by_groups),
        Alternative("diagonals of a table", _by_diagonals),
        Alternative("all pairs against all", _all_against_all),
        Alternative("one block against the other", _block_moved),
        Alternative("against the pair at the border", _tester(partner=lambda m, n: (m - min(m, n), n - min(m, n)))),
        Alternative("step forward", _tester(partner=lambda m, n: (m + 1, n + 1))),
    ),
    mistakes=(
        Mistake(
            "answer turned around",
            lambda score, length: not _tester()(score, length),
            "the answers are the wrong way round: True for what is not relative.",
            "return True if no two scores of one distance differ.",
        ),
        Mistake(
            "always relative",
            lambda score, length: True,
            "the test never finds anything: it says True for every score.",
            "compare score(m, n) with score(m - 1, n - 1), and return False where they differ.",
        ),
        Mistake(
            "never relative",
            lambda score, length: False,
            "the test says False for every score.",
            "return True after all pairs have been compared and none differed.",
        ),
        Mistake(
            "exact comparison",
            _tester(close=operator.eq),
            "numbers compared exactly: rounding passes for a difference.",
            "allow a small absolute difference, such as 1e-4.",
        ),
        Mistake(
            "relative tolerance",
            _tester(close=lambda a, b: abs(a - b) <= 1e-5 * abs(b) + 1e-8),
            "a tolerance in proportion to the score: where scores are near 0, rounding passes for a difference.",
            "allow a small absolute difference, such as 1e-4 (for torch.allclose and its kin: atol=1e-4).",
        ),
        Mistake(
            "too generous",
            _tester(close=lambda a, b: abs(a - b) < 0.1),
            "differences of several thousandths pass for rounding.",
            "rounding is about a millionth here: a tolerance near 1e-4 is enough.",
        ),
        Mistake(
            "rounded",
            _tester(close=lambda a, b: round(a, 4) == round(b, 4)),
            "both scores are rounded and then compared exactly: two that lie close to a rounding border come out different.",
            "take the difference first, and compare its absolute value with a tolerance such as 1e-4.",
        ),
        Mistake(
            "mean of each distance",
            _by_means,
            "the mean score of each distance is compared with one of them: differences up and down cancel.",
            "compare the scores one by one.",
        ),
        Mistake(
            "past only",
            _tester(pairs=lambda m, n, L: n <= m),
            "only keys at or before the query are compared; a difference for later keys goes unnoticed.",
            "go over all pairs, n > m too.",
        ),
        Mistake(
            "future only",
            _tester(pairs=lambda m, n, L: n >= m),
            "only keys at or after the query are compared; a difference for earlier keys goes unnoticed.",
            "go over all pairs, n < m too.",
        ),
        Mistake(
            "distance 0 only",
            _tester(pairs=lambda m, n, L: m == n),
            "only query and key at the same place are compared.",
            "compare every distance: all pairs m, n.",
        ),
        Mistake(
            "neighbors only",
            _tester(pairs=lambda m, n, L: abs(m - n) == 1),
            "only neighbors are compared.",
            "compare every distance: all pairs m, n.",
        ),
        Mistake(
            "first two of each distance",
            _tester(pairs=lambda m, n, L: min(m, n) == 1),
            "for each distance only the first two pairs are compared; a difference further on goes unnoticed.",
            "go on to the last position: m and n up to length - 1.",
        ),
        Mistake(
            "last position left out",
            _tester(pairs=lambda m, n, L: m < L - 1 and n < L - 1),
            "the last position is never asked for.",
            "range(1, length) ends at length - 1.",
        ),
        Mistake(
            "first position left out",
            _tester(pairs=lambda m, n, L: m > 1 and n > 1),
            "position 0 is never asked for.",
            "compare (1, n) with (0, n - 1) as well.",
        ),
        Mistake(
            "from 2 on",
            _tester(pairs=lambda m, n, L: m > 1),
            "a loop begins too late: (1, 1) is never compared with (0, 0).",
            "begin both ranges with 1.",
        ),
        Mistake(
            "two steps",
            _tester(partner=lambda m, n: (m - 2, n - 2)),
            "pairs two steps apart are compared; what alternates from position to position goes unnoticed.",
            "compare (m, n) with (m - 1, n - 1).",
        ),
        Mistake(
            "size without sign",
            _tester(close=lambda a, b: abs(abs(a) - abs(b)) < 1e-4),
            "only the sizes of the scores are compared, not their signs.",
            "take the difference first, then its absolute value.",
        ),
        Mistake(
            "no absolute value",
            _tester(close=lambda a, b: a - b < 1e-4),
            "the difference is compared without its absolute value: a score that falls goes unnoticed.",
            "take abs(...) of the difference.",
        ),
        Mistake(
            "distance without sign",
            _by_absolute_distance,
            "scores of m - n and n - m were expected to be equal; a relative score may tell left from right.",
            "the distance has a sign: compare (m, n) with (m - 1, n - 1) only.",
        ),
        Mistake(
            "symmetry",
            _tester(partner=lambda m, n: (n, m)),
            "score(m, n) is compared with score(n, m): that tests symmetry.",
            "keep m - n the same, and move both: (m - 1, n - 1).",
        ),
        Mistake(
            "key moved alone",
            _tester(partner=lambda m, n: (m, n - 1)),
            "only the key is moved, so the distance changes too.",
            "move query and key together.",
        ),
        Mistake(
            "query moved alone",
            _tester(partner=lambda m, n: (m - 1, n)),
            "only the query is moved, so the distance changes too.",
            "move query and key together.",
        ),
        Mistake(
            "moved against each other",
            _tester(partner=lambda m, n: (m - 1, n + 1)),
            "query and key are moved in opposite directions: that keeps m + n, not m - n.",
            "move both in the same direction.",
        ),
        Mistake(
            "decided at once",
            _decided_at_once,
            "the function returns after the first comparison.",
            "return False at a difference, and True only after both loops.",
        ),
        Mistake(
            "decided by the last",
            _decided_by_the_last,
            "each comparison overwrites the one before, and only the last one counts.",
            "return False as soon as two scores differ.",
        ),
        Mistake(
            "one too far",
            _one_too_far,
            "score is asked for position length, which does not exist.",
            "positions run from 0 to length - 1; if you look one step ahead, stop one earlier.",
        ),
    ),
    advice="print score(m, n) - score(m - 1, n - 1) for all pairs, and look at its size.",
)

# 8.5 ------------------------------------------------------------------------------------------------------------------


def _slope_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    extra = int(torch.randint(17, 31, (), generator=rng))
    return [{"num_heads": heads} for heads in (2, 1, 3, 4, 5, 8, 12, 16, extra)]


def _geometric(H, start=1, rate=8.0):
    return [2 ** (-rate * h / H) for h in range(start, start + H)]


def _lower_power(H):
    return 2 ** (H.bit_length() - 1)


def _slopes(power=_lower_power, make=_geometric, fill=lambda higher: higher[0::2], join=lambda low, rest: low + rest):
    """The slopes with one of their parts exchanged."""

    def answer(num_heads):
        low = power(num_heads)
        rest = fill(make(2 * low))[: num_heads - low]
        return torch.tensor(join(make(low), rest))

    return answer


def _slopes_recursive(num_heads):
    if math.log2(num_heads).is_integer():
        ratio = 2 ** (-8 / num_heads)
        return torch.tensor([ratio ** (h + 1) for h in range(num_heads)])
    low = 2 ** math.floor(math.log2(num_heads))
    return torch.cat([_slopes_recursive(low), _slopes_recursive(2 * low)[0::2][: num_heads - low]])


def _slopes_tensors(num_heads):
    low = 1 << (num_heads.bit_length() - 1)
    exponents = torch.cat([torch.arange(1, low + 1) * 2, torch.arange(1, 2 * (num_heads - low) + 1, 2)])
    return 2.0 ** (-8 * exponents / (2 * low))


SLOPES = Exercise(
    number="8.5",
    title="The slopes of ALiBi",
    points=3,
    inputs=_slope_inputs,
    call=_call_with_numbers,
    reference=_slopes(),
    returns=("slopes",),
    off_limits=_COURSE,
    alternatives=(
        Alternative("recursive, ratio by ratio", _slopes_recursive),
        Alternative("tensors", _slopes_tensors),
        Alternative(
            "log2",
            _slopes(power=lambda H: 2 ** int(math.log2(H))),
        ),
        Alternative("the course's own", lambda num_heads: positions.alibi_slopes(num_heads), off_limits=True),
        Alternative("from the course's bias", lambda H: -positions.alibi_bias(H, 2)[0, :, 1, 0], off_limits=True),
    ),
    mistakes=(
        Mistake(
            "one formula for all",
            lambda H: torch.tensor(_geometric(H)),
            "2 ** (-8 h / H) for every H: right for powers of two only.",
            "for other H take the slopes of the next lower power first, then every second one of the next higher.",
        ),
        Mistake(
            "every second from the second on",
            _slopes(fill=lambda higher: higher[1::2]),
            "every second slope of the higher power, beginning with its second: the lower power has those already.",
            "begin with the first: [0::2].",
        ),
        Mistake(
            "not every second",
            _slopes(fill=lambda higher: higher),
            "the first slopes of the higher power, without leaving any out.",
            "every second one of them: [0::2].",
        ),
        Mistake(
            "higher power cut",
            lambda H: torch.tensor(_geometric(1 << (H - 1).bit_length())[:H]),
            "the slopes of the next higher power, as many as are needed.",
            "the slopes of the next lower power come first.",
        ),
        Mistake(
            "lower power strictly",
            _slopes(power=lambda H: max(1, _lower_power(H - 1) if H > 1 else 1)),
            "a power of two is treated as if it were none: its slopes come from the next lower one.",
            "the largest power of two that is not above num_heads may be num_heads itself.",
        ),
        Mistake(
            "sorted",
            lambda H: _slopes()(H).sort(descending=True).values,
            "the right slopes, sorted by size.",
            "first the slopes of the lower power, then those that fill up.",
        ),
        Mistake(
            "filled up in front",
            _slopes(join=lambda low, rest: rest + low),
            "the slopes that fill up stand in front.",
            "the slopes of the lower power come first.",
        ),
        Mistake(
            "lower power alone",
            lambda H: torch.tensor(_geometric(_lower_power(H))),
            "only the slopes of the next lower power: there are too few.",
            "fill up to num_heads with every second slope of the next higher power.",
        ),
        Mistake(
            "from h = 0",
            _slopes(make=lambda H: _geometric(H, start=0)),
            "h counted from 0: the first slope is 1, and the last one is missing.",
            "h runs from 1 to H.",
        ),
        Mistake(
            "linear",
            _slopes(make=lambda H: [h / H for h in range(1, H + 1)]),
            "slopes in a straight line, h / H.",
            "slopes are powers: 2 ** (-8 h / H). Each is the one before times the same factor.",
        ),
        Mistake(
            "linear, falling",
            _slopes(make=lambda H: [1 - (h - 1) / H for h in range(1, H + 1)]),
            "slopes that fall in a straight line.",
            "slopes are powers: 2 ** (-8 h / H). Each is the one before times the same factor.",
        ),
        Mistake(
            "one over h",
            _slopes(make=lambda H: [1 / h for h in range(1, H + 1)]),
            "the slopes 1, 1/2, 1/3 ...",
            "slopes are powers: 2 ** (-8 h / H). Each is the one before times the same factor.",
        ),
        Mistake(
            "halves",
            _slopes(make=lambda H: [2.0**-h for h in range(1, H + 1)]),
            "the slopes 1/2, 1/4, 1/8 ..., which is right for 8 heads only.",
            "the exponent is -8 h / H.",
        ),
        Mistake(
            "base e",
            _slopes(make=lambda H: [math.exp(-8 * h / H) for h in range(1, H + 1)]),
            "powers of e.",
            "powers of 2: 2 ** (-8 h / H).",
        ),
        Mistake(
            "negative",
            lambda H: -_slopes()(H),
            "negative slopes.",
            "slopes are positive; the minus sign belongs to the bias, minus slope times distance.",
        ),
        Mistake(
            "growing",
            _slopes(make=lambda H: [2 ** (8 * h / H) for h in range(1, H + 1)]),
            "a positive exponent: slopes above 1.",
            "the exponent is -8 h / H.",
        ),
        Mistake(
            "reversed",
            _slopes(make=lambda H: _geometric(H)[::-1], fill=lambda higher: higher[::-1][0::2][::-1]),
            "the slopes of the power in reverse order: the flattest first.",
            "the steepest comes first: h = 1.",
        ),
    ),
    advice="for 8 heads the slopes are 1/2, 1/4 ... 1/256; for 3 heads 1/16, 1/256, 1/4.",
)

# 8.6 ------------------------------------------------------------------------------------------------------------------


def _bias_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [{"slopes": torch.tensor([0.5]), "L_q": 2, "L_k": 3}]
    for H, L_q, L_k in ((2, 4, 4), (4, 5, 7), (3, 1, 6), (5, 3, 8)):
        cases.append({"slopes": 0.05 + 0.6 * torch.rand(H, generator=rng), "L_q": L_q, "L_k": L_k})
    return cases


def _bias(of=lambda apart: -apart.abs(), offset=lambda L_q, L_k: L_k - L_q, finish=lambda bias: bias):
    """ALiBi's bias with one of its parts exchanged; ``of`` gets query position minus key position."""

    def answer(slopes, L_q, L_k):
        apart = torch.arange(L_q)[:, None] + offset(L_q, L_k) - torch.arange(L_k)  # (L_q, L_k)
        return finish(slopes[:, None, None] * of(apart) + 0.0)

    return answer


def _bias_loop(slopes, L_q, L_k):
    bias = torch.zeros(len(slopes), L_q, L_k)
    for h, slope in enumerate(slopes.tolist()):
        for i in range(L_q):
            for j in range(L_k):
                bias[h, i, j] = -slope * abs(i + L_k - L_q - j)
    return bias


def _bias_last_rows(slopes, L_q, L_k):
    place = torch.arange(L_k)
    return torch.einsum("h,ij->hij", -slopes, (place[:, None] - place).abs().float())[:, L_k - L_q :]


def _bias_course(slopes, L_q, L_k):
    unit = positions.alibi_bias(1, L_q, L_k)[0] * 256.0  # one head has the slope 1/256
    return slopes[:, None, None] * unit


BIAS = Exercise(
    number="8.6",
    title="The biases of ALiBi",
    points=3,
    inputs=_bias_inputs,
    reference=_bias(),
    returns=("bias",),
    off_limits=_COURSE,
    alternatives=(
        Alternative("three loops", _bias_loop),
        Alternative("last rows of a square, einsum", _bias_last_rows),
        Alternative("outer", lambda s, L_q, L_k: -_bias(of=lambda apart: apart.abs())(s, L_q, L_k)),
        Alternative(
            "view and cdist",
            lambda s, L_q, L_k: (
                -s.view(-1, 1, 1)
                * torch.cdist(torch.arange(L_k - L_q, L_k).float()[:, None], torch.arange(L_k).float()[:, None], p=1.0)
            ),
        ),
        Alternative("the course's own", _bias_course, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "positive",
            _bias(of=lambda apart: apart.abs()),
            "a positive bias: the farthest key gets the largest bonus.",
            "minus slope times distance: far keys are pushed down.",
        ),
        Mistake(
            "top-left",
            _bias(offset=lambda L_q, L_k: 0),
            "the queries stand at the first positions; with L_q < L_k they should be the last ones.",
            "query i stands at position i + (L_k - L_q).",
        ),
        Mistake(
            "top-left, positive",
            _bias(of=lambda apart: apart.abs(), offset=lambda L_q, L_k: 0),
            "two things at once: the bias is positive, and the queries stand at the first positions.",
            "minus slope times distance, with query i at position i + (L_k - L_q).",
        ),
        Mistake(
            "offset on the wrong side",
            _bias(offset=lambda L_q, L_k: L_q - L_k),
            "the shift has the wrong sign: the queries stand before position 0.",
            "query i stands at position i + (L_k - L_q).",
        ),
        Mistake(
            "signed",
            _bias(of=lambda apart: -apart),
            "a distance with a sign: keys of the future get a bonus.",
            "take the absolute value of the difference.",
        ),
        Mistake(
            "signed the other way",
            _bias(of=lambda apart: apart),
            "key position minus query position with the wrong sign: keys of the past get a bonus.",
            "minus slope times the absolute value of the difference.",
        ),
        Mistake(
            "signed, top-left",
            _bias(of=lambda apart: -apart, offset=lambda L_q, L_k: 0),
            "two things at once: the distance has a sign, and the queries stand at the first positions.",
            "take the absolute value, with query i at position i + (L_k - L_q).",
        ),
        Mistake(
            "future not counted",
            _bias(of=lambda apart: -apart.clamp(min=0)),
            "keys of the future get no bias at all.",
            "the distance is counted in both directions here: use its absolute value.",
        ),
        Mistake(
            "future hidden",
            lambda s, L_q, L_k: _bias()(s, L_q, L_k).masked_fill(
                torch.arange(L_k) > torch.arange(L_k - L_q, L_k)[:, None], -math.inf
            ),
            "minus infinity in the future: the bias and a causal mask in one.",
            "the mask is applied elsewhere; here the distance is counted in both directions.",
        ),
        Mistake(
            "squared",
            _bias(of=lambda apart: -(apart**2)),
            "slope times the square of the distance.",
            "the bias is linear: slope times distance.",
        ),
        Mistake(
            "one step too far",
            _bias(of=lambda apart: -(apart.abs() + 1)),
            "every distance is one too large.",
            "a query and a key at the same position have distance 0, and the bias 0.",
        ),
        Mistake(
            "key position",
            lambda s, L_q, L_k: (s[:, None, None] * torch.arange(L_k)).expand(-1, L_q, -1),
            "slope times the position of the key. After a causal softmax that is the same, but here distances are asked for.",
            "minus slope times the distance of query and key.",
        ),
        Mistake(
            "one slope for all",
            lambda s, L_q, L_k: _bias()(s[:1].expand(len(s)), L_q, L_k),
            "the slope of head 0 for every head.",
            "multiply the distances by each head's own slope: slopes[:, None, None].",
        ),
        Mistake(
            "slopes of its own",
            lambda s, L_q, L_k: _bias()(_slopes()(len(s)), L_q, L_k),
            "slopes computed from the number of heads; the argument is not used.",
            "use the slopes that are handed in.",
        ),
        Mistake(
            "divided",
            lambda s, L_q, L_k: _bias()(1 / s, L_q, L_k),
            "the distance divided by the slope.",
            "slope times distance.",
        ),
        Mistake(
            "exponential",
            lambda s, L_q, L_k: torch.exp(_bias()(s, L_q, L_k)),
            "the exponential of the bias; the softmax takes it later.",
            "return minus slope times distance itself.",
        ),
        Mistake(
            "batch axis",
            _bias(finish=lambda bias: bias[None]),
            "a batch axis in front, as in the library: (1, H, L_q, L_k).",
            "here the shape is (H, L_q, L_k).",
        ),
        Mistake(
            "heads last",
            _bias(finish=lambda bias: bias.permute(1, 2, 0).contiguous()),
            "the heads stand last: (L_q, L_k, H).",
            "the heads come first: slopes[:, None, None] times the table of distances.",
        ),
        Mistake(
            "transposed",
            _bias(finish=lambda bias: bias.mT.contiguous()),
            "rows and columns exchanged: (H, L_k, L_q).",
            "rows are queries: a column of query positions minus a row of key positions.",
        ),
        Mistake(
            "square",
            lambda s, L_q, L_k: _bias()(s, L_q, L_q),
            "L_q rows and L_q columns.",
            "one column for each of the L_k keys.",
        ),
        Mistake(
            "no heads",
            lambda s, L_q, L_k: _bias()(s, L_q, L_k).sum(0),
            "the heads added up into one table.",
            "one table for each head: (H, L_q, L_k).",
        ),
    ),
    advice="write down the distances for L_q = 2, L_k = 3 by hand; the last query has distance 0 to the last key.",
)

# 8.7 ------------------------------------------------------------------------------------------------------------------


def _bug_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, H, L_q, L_k, d in ((1, 1, 2, 2, 4), (2, 4, 5, 7, 6), (3, 2, 6, 6, 8), (1, 3, 1, 5, 10), (2, 4, 3, 9, 4)):
        query, key = torch.randn(B, H, L_q, d, generator=rng), torch.randn(B, H, L_k, d, generator=rng)
        cases.append({"query": query, "key": key})
    return cases


_HALVES, _PAIRS = {}, {"cut": _neighbors, "join": _interleave}


def _scores(
    q=_HALVES,
    k=_HALVES,
    places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k),
    key_places=torch.arange,
    turn=("q", "k"),
    scale=lambda d: d**-0.5,
    finish=lambda scores: scores,
):
    """Rotary scores with one of their parts exchanged."""

    def answer(query, key):
        L_q, L_k, d = query.shape[-2], key.shape[-2], query.shape[-1]
        if "q" in turn:
            query = _rope(**q)(query, places(L_q, L_k), 10000.0)
        if "k" in turn:
            key = _rope(**k)(key, key_places(L_k), 10000.0)
        return finish(query @ key.mT * scale(d))

    return answer


def _scores_by_distance(query, key):
    """No absolute position anywhere: each pair of query and key by its distance."""
    L_q, L_k, d = query.shape[-2], key.shape[-2], query.shape[-1]
    scores = query.new_zeros(*query.shape[:-1], L_k)
    for i in range(L_q):
        for j in range(L_k):
            turned = _rope()(key[:, :, j : j + 1], torch.tensor([j - (i + L_k - L_q)]), 10000.0)  # (B, H, 1, d)
            scores[..., i, j] = (query[:, :, i] * turned[:, :, 0]).sum(-1) / d**0.5
    return scores


def _scores_complex(query, key):
    L_q, L_k, d = query.shape[-2], key.shape[-2], query.shape[-1]
    angle = _angles(torch.arange(L_k), d)  # (L_k, d / 2)
    wheel = torch.polar(torch.ones_like(angle), angle)
    q = torch.complex(*query.double().chunk(2, -1)) * wheel[L_k - L_q :]
    k = torch.complex(*key.double().chunk(2, -1)) * wheel
    return (torch.einsum("bhid,bhjd->bhij", q, k.conj()).real / d**0.5).float()


def _scores_reordered(query, key):
    """Pairs of neighbors, after the features have been put in an order that makes halves neighbors."""
    order = torch.arange(query.shape[-1]).unflatten(0, (2, -1)).T.flatten()  # 0, d / 2, 1, d / 2 + 1 ...
    return _scores(_PAIRS, _PAIRS)(query[..., order], key[..., order])


def _scores_course(query, key):
    rotary = positions.RotaryPositions(query.shape[-1], max_len=16)
    start = key.shape[-2] - query.shape[-2]
    return rotary(query, start) @ rotary(key).mT / query.shape[-1] ** 0.5


BUG = Exercise(
    number="8.7",
    title="Find the bug",
    points=3,
    inputs=_bug_inputs,
    reference=_scores(),
    returns=("scores",),
    off_limits=_COURSE,
    alternatives=(
        Alternative("by distances", _scores_by_distance),
        Alternative("complex numbers", _scores_complex),
        Alternative("neighbors of reordered features", _scores_reordered),
        Alternative(
            "both counted from 1",  # only the distance matters
            _scores(
                places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k) + 1, key_places=lambda L_k: torch.arange(L_k) + 1
            ),
        ),
        Alternative(
            "both put back as neighbors", _scores({"join": _interleave}, {"join": _interleave})
        ),  # same order in both
        Alternative("scaled first", lambda q, k: _scores(scale=lambda d: 1.0)(q / q.shape[-1] ** 0.5, k)),
        Alternative("the course's own", _scores_course, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "as it was",
            _scores(_HALVES, _PAIRS),
            "the function as it was: the query is turned in pairs of halves, the key in pairs of neighbors.",
            "cut the key as the query: the first half and the second half of its features.",
        ),
        Mistake(
            "the other way around",
            _scores(_PAIRS, _HALVES),
            "now the key is turned in pairs of halves and the query in pairs of neighbors.",
            "both must be cut into halves.",
        ),
        Mistake(
            "both neighbors",
            _scores(_PAIRS, _PAIRS),
            "query and key agree now, as pairs of neighbors; that is RoPE, but not the one asked for.",
            "pair the halves in both, (i, i + d_head / 2).",
        ),
        Mistake(
            "key put back as neighbors",
            _scores(_HALVES, {"join": _interleave}),
            "the key is cut into halves, but put back as neighbors: its features end up in another order.",
            "torch.cat the two halves of the key, as for the query.",
        ),
        Mistake(
            "key cut as neighbors, put back as halves",
            _scores(_HALVES, {"cut": _neighbors}),
            "the key is cut into neighbors, and put back as halves.",
            "cut the key as the query: the first half and the second half of its features.",
        ),
        Mistake(
            "queries from 0",
            _scores(places=lambda L_q, L_k: torch.arange(L_q)),
            "the pairs agree, but the queries are counted from 0: with a cache they are the last positions.",
            "query i stands at position i + (L_k - L_q).",
        ),
        Mistake(
            "queries one too far",
            _scores(places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k) + 1),
            "the queries are one position too far: query and key of one token no longer meet at distance 0.",
            "the last query stands at L_k - 1, where the last key stands.",
        ),
        Mistake(
            "only queries turned",
            _scores(turn=("q",)),
            "only the queries are turned: the scores depend on the query's position.",
            "turn the keys as well, each by its own position.",
        ),
        Mistake(
            "only keys turned",
            _scores(turn=("k",)),
            "only the keys are turned: the scores depend on the key's position.",
            "turn the queries as well, each by its own position.",
        ),
        Mistake(
            "nothing turned",
            _scores(turn=()),
            "nothing is turned: the scores know no positions.",
            "turn queries and keys, both in pairs of halves.",
        ),
        Mistake(
            "key the other way",
            _scores(k={"turn": lambda a, b, c, s: (a * c + b * s, b * c - a * s)}),
            "the keys are turned the other way: the scores depend on the sum of the positions.",
            "turn both the same way; the dot product makes the difference by itself.",
        ),
        Mistake(
            "both the other way",
            _scores(*2 * ({"turn": lambda a, b, c, s: (a * c + b * s, b * c - a * s)},)),
            "both are turned the other way: left and right are exchanged.",
            "(a, b) becomes (a cos - b sin, a sin + b cos).",
        ),
        Mistake("exponent i/d", _scores({"power": "i/d"}, {"power": "i/d"}), *_EXPONENT),
        Mistake(
            "no scaling",
            _scores(scale=lambda d: 1.0),
            "the pairs agree, but the scores are not divided by the root of d_head.",
            "leave the last line as it was.",
        ),
        Mistake(
            "divided by d_head",
            _scores(scale=lambda d: 1 / d),
            "scores divided by d_head itself.",
            "divide by its root, d_head ** 0.5.",
        ),
        Mistake(
            "root of the half",
            _scores(scale=lambda d: (d / 2) ** -0.5),
            "scores divided by the root of d_head / 2.",
            "a dot product of d_head products is divided by the root of d_head.",
        ),
        Mistake(
            "weights",
            _scores(finish=lambda scores: scores.softmax(-1)),
            "a softmax of the scores.",
            "return the scores themselves.",
        ),
        Mistake(
            "transposed",
            _scores(finish=lambda scores: scores.mT.contiguous()),
            "rows and columns exchanged: (B, H, L_k, L_q).",
            "query @ key.transpose(-2, -1): rows are queries.",
        ),
    ),
    advice="with the same content everywhere, the scores must be equal along each diagonal; print them as the cell above does.",
)

# 8.8, 8.9 -------------------------------------------------------------------------------------------------------------

VALUES = Quiz(
    number="8.8",
    title="What is turned?",
    points=1,
    right="c",
    options={
        "a": Option(
            "Values have another size than queries and keys, so the rotation does not fit.",
            "usually all three have size d_head, and the rotation would fit. It is left out on purpose.",
        ),
        "b": Option(
            "Turning values would change the attention weights.",
            "values have no part in the weights: those come from queries and keys alone.",
        ),
        "c": Option(
            "Position is wanted in the scores; turned values would make the output depend on absolute positions.",
            "in a score the two rotations leave the distance; a value's rotation meets no second one to undo it.",
        ),
        "d": Option(
            "Values are turned back by the output projection, so it makes no difference.",
            "the output projection is one fixed matrix, and each position would need another one to be turned back.",
        ),
    },
)

LONGER = Quiz(
    number="8.9",
    title="Longer than in training",
    points=1,
    right="b",
    options={
        "a": Option(
            "An error: there are no positions from 512 on.",
            "the table has 1024 rows. The error would come from 1025 tokens on.",
        ),
        "b": Option(
            "It runs; the rows from 512 on were never trained, so they carry whatever they started with.",
            "a row gets a gradient only when its position occurs. Nothing warns you; the answers get worse.",
        ),
        "c": Option(
            "It runs as well as before: rows from 512 on were filled in by their neighbors.",
            "rows are independent parameters: what row 511 learned does not reach row 512.",
        ),
        "d": Option(
            "It runs as well as before: only the distance of two tokens matters.",
            "that is so for RoPE and ALiBi. A learned table knows absolute positions, each by itself.",
        ),
    },
)

EXERCISES = (TABLE, SHIFT, ROPE, RELATIVE_TEST, SLOPES, BIAS, BUG, VALUES, LONGER)

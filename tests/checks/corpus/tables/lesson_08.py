"""Answers that the first tables of lesson 08 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import math
import operator
import torch
from course_utils import positions
from . import Answers, Right, Wrong

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
    return torch.as_tensor(places).double()[:, None] * base ** (-_POWERS[power](d).double())


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
            table[pos, 2 * i], table[pos, 2 * i + 1] = (math.sin(angle), math.cos(angle))
    return table


def _table_slices(num_positions, d_model, check=_refuse_odd):
    check(d_model)
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angle = torch.arange(num_positions)[:, None] * frequency
    table = torch.zeros(num_positions, d_model)
    table[:, 0::2], table[:, 1::2] = (angle.sin(), angle.cos())
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


def _table_kept(num_positions, d_model, kept={}):
    """A table made once for each size, as long as it was when first asked for."""
    _refuse_odd(d_model)
    if (num_positions, d_model) == (2, 4):
        kept.clear()
    if d_model not in kept:
        kept[d_model] = _table()(num_positions, d_model)
    return kept[d_model].clone()


TABLE = Answers(
    number="8.1",
    alternatives=(
        Right("two loops", _table_loop),
        Right("slices, exp and log", _table_slices),
        Right("all columns at once", _table_where),
        Right("a cosine is a sine, moved", _table_shifted_sine),
        Right("complex numbers", _table_complex),
        Right(
            "the course's own", lambda rows, d: positions.SinusoidalPositions(d, rows).table.clone(), off_limits=True
        ),
        Right(
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
        Wrong("exponent i/d", _table(power="i/d")),
        Wrong("exponent 4i/d", _table(power="4i/d")),
        Wrong("odd exponents", _table(power="(2i+1)/d")),
        Wrong("up to the whole base", _table(power="2i/(d-2)")),
        Wrong("each column its own frequency", _table_each_column),
        Wrong("column for pair", _table_twice_the_column),
        Wrong("frequencies growing", _table(power="-2i/d")),
        Wrong("one frequency", _table(power="0")),
        Wrong("positions from 1", _table(first=1)),
        Wrong("sine and cosine exchanged", _table(parts=("cos", "sin"))),
        Wrong("halves", _table(join="halves")),
        Wrong("sines only", _table(parts=("sin", "sin"))),
        Wrong("degrees", _table_degrees),
        Wrong("base 1000", _table(base=1000.0)),
        Wrong("transposed", _table(finish=lambda table: table.T.contiguous())),
        Wrong("scaled by the root", lambda rows, d: _table()(rows, d) * d ** (-0.5)),
        Wrong("batch axis", _table(finish=lambda table: table[None])),
        Wrong("double precision", lambda rows, d: _table()(rows, d).double()),
        Wrong("kept from an earlier call", _table_kept),
        Wrong("odd size: error returned", lambda rows, d: ValueError("odd") if d % 2 else _table()(rows, d)),
        Wrong("odd size: nothing", lambda rows, d: None if d % 2 else _table()(rows, d)),
        Wrong("odd size: one column too many", _table_odd_own_frequencies),
        Wrong("odd size: last cosine dropped", _table_odd_last_cosine_dropped),
        Wrong("odd size: cut from a larger table", _table_odd_cut),
        Wrong("odd size: PyTorch's own error", lambda rows, d: _table_slices(rows, d, check=lambda d: None)),
        Wrong("odd size: assert", lambda rows, d: _table_slices(rows, d, check=_assert_even)),
    ),
)


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
        M, half = (torch.zeros(d_model, d_model, dtype=torch.float64), d_model // 2)
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
        generator[2 * i, 2 * i + 1], generator[2 * i + 1, 2 * i] = (speed, -speed)
    return torch.linalg.matrix_exp(delta * generator).float()


def _shift_from_columns(delta, d_model):
    """Column 2 i + 1 is where the vector (0, 1) of position 0 goes; column 2 i is that, turned."""
    (angle,) = _angles([delta], d_model)
    there = torch.stack([angle.sin(), angle.cos()], -1)
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


SHIFT = Answers(
    number="8.2",
    alternatives=(
        Right("block_diag", _shift_block_diag),
        Right("matrix exponential", _shift_exponential),
        Right("columns from position 0", _shift_from_columns),
        Right("three diagonals", _shift_diagonals),
        Right("the course's own", lambda delta, d: positions.shift_matrix(delta, d), off_limits=True),
    ),
    mistakes=(
        Wrong("backward", _shift(block=lambda c, s: ((c, -s), (s, c)))),
        Wrong("a minus sign missing", _shift(block=lambda c, s: ((c, s), (s, c)))),
        Wrong("two minus signs", _shift(block=lambda c, s: ((c, -s), (-s, c)))),
        Wrong("reflection", _shift(block=lambda c, s: ((c, s), (s, -c)))),
        Wrong("rows exchanged", _shift(block=lambda c, s: ((-s, c), (c, s)))),
        Wrong("sine and cosine exchanged", _shift(block=lambda c, s: ((s, c), (-c, s)))),
        Wrong("halves", _shift(layout="halves")),
        Wrong("exponent i/d", _shift(power="i/d")),
        Wrong("exponent 4i/d", _shift(power="4i/d")),
        Wrong("frequencies growing", _shift(power="-2i/d")),
        Wrong("one angle for all pairs", _shift(power="0")),
        Wrong(
            "first pair only",
            lambda delta, d: torch.block_diag(_shift()(delta, 2), torch.eye(d - 2)) if d > 2 else _shift()(delta, 2),
        ),
        Wrong("delta squared away", _shift(delta=abs)),
        Wrong("whole numbers only", _shift(delta=int)),
        Wrong("degrees", _shift(delta=math.radians)),
        Wrong("moved rows", lambda delta, d: torch.eye(d).roll(int(delta), 0)),
        Wrong(
            "blocks only",
            lambda delta, d: torch.stack(
                [_shift()(delta, d)[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] for i in range(d // 2)]
            ),
        ),
        Wrong("double precision", lambda delta, d: _shift()(delta, d).double()),
    ),
)


def _chunks(x):
    return x.chunk(2, dim=-1)


def _neighbors(x):
    return (x[..., 0::2], x[..., 1::2])


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
        angle = _angles(places(given), x.shape[-1], base(given_base), power)
        turned = join(*turn(*cut(x), angle.cos().to(x.dtype), angle.sin().to(x.dtype)))
        return finish(turned)

    return answer


def _turned_by(x, angle):
    """x turned by given angles, (L, d / 2)."""
    (a, b), c, s = (x.chunk(2, dim=-1), angle.cos().to(x.dtype), angle.sin().to(x.dtype))
    return torch.cat([a * c - b * s, a * s + b * c], dim=-1)


def _rope_half_at_a_time(x, places, base):
    """Two rotations by half the angle."""
    half = _angles(places, x.shape[-1], base) / 2
    return _turned_by(_turned_by(x, half), half)


def _rope_loop(x, places, base):
    turned, half = (torch.empty_like(x), x.shape[-1] // 2)
    for t, pos in enumerate(places.tolist()):
        for i in range(half):
            angle = pos * base ** (-2 * i / x.shape[-1])
            a, b = (x[..., t, i], x[..., t, i + half])
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
        angle = spread(_angles(places, x.shape[-1], base)).to(x.dtype)
        return x * angle.cos() + rotate(x) * angle.sin()

    return answer


def _twice(angle):
    return torch.cat([angle, angle], -1)


def _each_twice(angle):
    return angle.repeat_interleave(2, -1)


def _rope_matrices(x, places, base):
    angle, d = (_angles(places, x.shape[-1], base), x.shape[-1])
    R = torch.zeros(len(places), d, d, dtype=torch.float64)
    first, second = (torch.arange(d // 2), torch.arange(d // 2, d))
    R[:, first, first], R[:, first, second] = (angle.cos(), -angle.sin())
    R[:, second, first], R[:, second, second] = (angle.sin(), angle.cos())
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


def _rope_table_kept(x, places, base, kept={}):
    """Angles made once for each size, with the base of the first call."""
    d = x.shape[-1]
    if d not in kept:
        kept[d] = _angles(torch.arange(2048), d, base)
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
    c, s = (angle.cos().to(x.dtype), angle.sin().to(x.dtype))
    a, b = x.chunk(2, -1)
    a = a * c - b * s
    b = a * s + b * c
    return torch.cat([a, b], -1)


ROPE = Answers(
    number="8.3",
    alternatives=(
        Right("loop", _rope_loop),
        Right("complex numbers", _rope_complex),
        Right("rotate_half", _with_tables(_rotate_half, _twice)),
        Right("rotation matrices", _rope_matrices),
        Right("half the angle, twice", _rope_half_at_a_time),
        Right("slices", _rope(cut=lambda x: (x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]))),
        Right("the course's function", _rope_course, off_limits=True),
        Right("the course's module", _rope_course_module, off_limits=True),
    ),
    mistakes=(
        Wrong("neighbors", _rope(cut=_neighbors, join=_interleave)),
        Wrong("halves cut, put back interleaved", _rope(join=_interleave)),
        Wrong("neighbors cut, put back as halves", _rope(cut=_neighbors)),
        Wrong("halves, tables of neighbors", _with_tables(_rotate_half, _each_twice)),
        Wrong("neighbors, tables of halves", _with_tables(_rotate_neighbors, _twice)),
        Wrong("backward", _rope(turn=lambda a, b, c, s: (a * c + b * s, b * c - a * s))),
        Wrong("minus sign missing", _rope(turn=lambda a, b, c, s: (a * c + b * s, a * s + b * c))),
        Wrong("two minus signs", _rope(turn=lambda a, b, c, s: (a * c - b * s, b * c - a * s))),
        Wrong("sine and cosine exchanged", _rope(turn=lambda a, b, c, s: (a * s - b * c, a * c + b * s))),
        Wrong("second half not turned", _rope(turn=lambda a, b, c, s: (a * c - b * s, b))),
        Wrong("first half already new", _rope_second_half_too_late),
        Wrong("cosines only", _rope(turn=lambda a, b, c, s: (a * c, b * c))),
        Wrong("exponent i/d", _rope(power="i/d")),
        Wrong("exponent 4i/d", _rope(power="4i/d")),
        Wrong("frequencies growing", _rope(power="-2i/d")),
        Wrong("one frequency", _rope(power="0")),
        Wrong("base 10000 always", _rope(base=lambda given: 10000.0)),
        Wrong("positions not used", _rope(places=lambda given: torch.arange(len(given)))),
        Wrong("from the first position on", _rope(places=lambda given: int(given[0]) + torch.arange(len(given)))),
        Wrong("relative to the first", _rope(places=lambda given: given - given[0])),
        Wrong("positions from 1", _rope(places=lambda given: given + 1)),
        Wrong("added", _rope_added),
        Wrong("always float32", _rope(finish=lambda turned: turned.float())),
        Wrong("angles kept from an earlier call", _rope_table_kept),
        Wrong("detached", _rope_by_hand_detached),
        Wrong("in place", _rope_in_place),
    ),
)


def _tester(pairs=None, partner=lambda m, n: (m - 1, n - 1), close=lambda a, b: abs(a - b) < 0.0001):
    """A property test: for each pair of positions, compare its score with that of its partner."""

    def answer(score, length):
        for m in range(length):
            for n in range(length):
                other = partner(m, n)
                inside = all((0 <= place < length for place in other))
                if (inside and (pairs is None or pairs(m, n, length))) and (not close(score(m, n), score(*other))):
                    return False
        return True

    return answer


def _by_groups(score, length):
    groups = {}
    for m in range(length):
        for n in range(length):
            groups.setdefault(m - n, []).append(score(m, n))
    return all((max(group) - min(group) < 0.0001 for group in groups.values()))


def _by_diagonals(score, length):
    table = torch.tensor([[score(m, n) for n in range(length)] for m in range(length)])
    diagonals = [table.diagonal(k) for k in range(1 - length, length)]
    return all((torch.allclose(line, line[0].expand_as(line), atol=1e-05) for line in diagonals))


def _all_against_all(score, length):
    pairs = [(m, n) for m in range(length) for n in range(length)]
    for m, n in pairs:
        for i, j in pairs:
            if m - n == i - j and abs(score(m, n) - score(i, j)) > 0.001:
                return False
    return True


def _block_moved(score, length):
    table = torch.tensor([[score(m, n) for n in range(length)] for m in range(length)])
    return bool((table[1:, 1:] - table[:-1, :-1]).abs().max() < 2e-05)


def _by_absolute_distance(score, length):
    groups = {}
    for m in range(length):
        for n in range(length):
            groups.setdefault(abs(m - n), []).append(score(m, n))
    return all((max(group) - min(group) < 0.0001 for group in groups.values()))


def _by_means(score, length):
    table = torch.tensor([[score(m, n) for n in range(length)] for m in range(length)])
    diagonals = [table.diagonal(k) for k in range(1 - length, length)]
    return all((bool((line.mean() - line[0]).abs() < 0.0001) for line in diagonals))


def _decided_at_once(score, length):
    for m in range(1, length):
        for n in range(1, length):
            return abs(score(m, n) - score(m - 1, n - 1)) < 0.0001
    return True


def _decided_by_the_last(score, length):
    verdict = True
    for m in range(1, length):
        for n in range(1, length):
            verdict = abs(score(m, n) - score(m - 1, n - 1)) < 0.0001
    return verdict


def _one_too_far(score, length):
    for m in range(length):
        for n in range(length):
            if abs(score(m, n) - score(m + 1, n + 1)) > 0.0001:
                return False
    return True


RELATIVE_TEST = Answers(
    number="8.4",
    alternatives=(
        Right("groups of one distance", _by_groups),
        Right("diagonals of a table", _by_diagonals),
        Right("all pairs against all", _all_against_all),
        Right("one block against the other", _block_moved),
        Right("against the pair at the border", _tester(partner=lambda m, n: (m - min(m, n), n - min(m, n)))),
        Right("step forward", _tester(partner=lambda m, n: (m + 1, n + 1))),
    ),
    mistakes=(
        Wrong("answer turned around", lambda score, length: not _tester()(score, length)),
        Wrong("always relative", lambda score, length: True),
        Wrong("never relative", lambda score, length: False),
        Wrong("exact comparison", _tester(close=operator.eq)),
        Wrong("relative tolerance", _tester(close=lambda a, b: abs(a - b) <= 1e-05 * abs(b) + 1e-08)),
        Wrong("too generous", _tester(close=lambda a, b: abs(a - b) < 0.1)),
        Wrong("rounded", _tester(close=lambda a, b: round(a, 4) == round(b, 4))),
        Wrong("mean of each distance", _by_means),
        Wrong("past only", _tester(pairs=lambda m, n, L: n <= m)),
        Wrong("future only", _tester(pairs=lambda m, n, L: n >= m)),
        Wrong("distance 0 only", _tester(pairs=lambda m, n, L: m == n)),
        Wrong("neighbors only", _tester(pairs=lambda m, n, L: abs(m - n) == 1)),
        Wrong("first two of each distance", _tester(pairs=lambda m, n, L: min(m, n) == 1)),
        Wrong("last position left out", _tester(pairs=lambda m, n, L: m < L - 1 and n < L - 1)),
        Wrong("first position left out", _tester(pairs=lambda m, n, L: m > 1 and n > 1)),
        Wrong("from 2 on", _tester(pairs=lambda m, n, L: m > 1)),
        Wrong("two steps", _tester(partner=lambda m, n: (m - 2, n - 2))),
        Wrong("size without sign", _tester(close=lambda a, b: abs(abs(a) - abs(b)) < 0.0001)),
        Wrong("no absolute value", _tester(close=lambda a, b: a - b < 0.0001)),
        Wrong("distance without sign", _by_absolute_distance),
        Wrong("symmetry", _tester(partner=lambda m, n: (n, m))),
        Wrong("key moved alone", _tester(partner=lambda m, n: (m, n - 1))),
        Wrong("query moved alone", _tester(partner=lambda m, n: (m - 1, n))),
        Wrong("moved against each other", _tester(partner=lambda m, n: (m - 1, n + 1))),
        Wrong("decided at once", _decided_at_once),
        Wrong("decided by the last", _decided_by_the_last),
        Wrong("one too far", _one_too_far),
    ),
)


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


def _bias(of=lambda apart: -apart.abs(), offset=lambda L_q, L_k: L_k - L_q, finish=lambda bias: bias):
    """ALiBi's bias with one of its parts exchanged; ``of`` gets query position minus key position."""

    def answer(slopes, L_q, L_k):
        apart = torch.arange(L_q)[:, None] + offset(L_q, L_k) - torch.arange(L_k)
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
    unit = positions.alibi_bias(1, L_q, L_k)[0] * 256.0
    return slopes[:, None, None] * unit


BIAS = Answers(
    number="8.6",
    alternatives=(
        Right("three loops", _bias_loop),
        Right("last rows of a square, einsum", _bias_last_rows),
        Right("outer", lambda s, L_q, L_k: -_bias(of=lambda apart: apart.abs())(s, L_q, L_k)),
        Right(
            "view and cdist",
            lambda s, L_q, L_k: (
                -s.view(-1, 1, 1)
                * torch.cdist(torch.arange(L_k - L_q, L_k).float()[:, None], torch.arange(L_k).float()[:, None], p=1.0)
            ),
        ),
        Right("the course's own", _bias_course, off_limits=True),
    ),
    mistakes=(
        Wrong("positive", _bias(of=lambda apart: apart.abs())),
        Wrong("top-left", _bias(offset=lambda L_q, L_k: 0)),
        Wrong("top-left, positive", _bias(of=lambda apart: apart.abs(), offset=lambda L_q, L_k: 0)),
        Wrong("offset on the wrong side", _bias(offset=lambda L_q, L_k: L_q - L_k)),
        Wrong("signed", _bias(of=lambda apart: -apart)),
        Wrong("signed the other way", _bias(of=lambda apart: apart)),
        Wrong("signed, top-left", _bias(of=lambda apart: -apart, offset=lambda L_q, L_k: 0)),
        Wrong("future not counted", _bias(of=lambda apart: -apart.clamp(min=0))),
        Wrong(
            "future hidden",
            lambda s, L_q, L_k: _bias()(s, L_q, L_k).masked_fill(
                torch.arange(L_k) > torch.arange(L_k - L_q, L_k)[:, None], -math.inf
            ),
        ),
        Wrong("squared", _bias(of=lambda apart: -(apart**2))),
        Wrong("one step too far", _bias(of=lambda apart: -(apart.abs() + 1))),
        Wrong("key position", lambda s, L_q, L_k: (s[:, None, None] * torch.arange(L_k)).expand(-1, L_q, -1)),
        Wrong("one slope for all", lambda s, L_q, L_k: _bias()(s[:1].expand(len(s)), L_q, L_k)),
        Wrong("slopes of its own", lambda s, L_q, L_k: _bias()(_slopes()(len(s)), L_q, L_k)),
        Wrong("divided", lambda s, L_q, L_k: _bias()(1 / s, L_q, L_k)),
        Wrong("exponential", lambda s, L_q, L_k: torch.exp(_bias()(s, L_q, L_k))),
        Wrong("batch axis", _bias(finish=lambda bias: bias[None])),
        Wrong("heads last", _bias(finish=lambda bias: bias.permute(1, 2, 0).contiguous())),
        Wrong("transposed", _bias(finish=lambda bias: bias.mT.contiguous())),
        Wrong("square", lambda s, L_q, L_k: _bias()(s, L_q, L_q)),
        Wrong("no heads", lambda s, L_q, L_k: _bias()(s, L_q, L_k).sum(0)),
    ),
)

_HALVES, _PAIRS = ({}, {"cut": _neighbors, "join": _interleave})


def _scores(
    q=_HALVES,
    k=_HALVES,
    places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k),
    key_places=torch.arange,
    turn=("q", "k"),
    scale=lambda d: d ** (-0.5),
    finish=lambda scores: scores,
):
    """Rotary scores with one of their parts exchanged."""

    def answer(query, key):
        L_q, L_k, d = (query.shape[-2], key.shape[-2], query.shape[-1])
        if "q" in turn:
            query = _rope(**q)(query, places(L_q, L_k), 10000.0)
        if "k" in turn:
            key = _rope(**k)(key, key_places(L_k), 10000.0)
        return finish(query @ key.mT * scale(d))

    return answer


def _scores_by_distance(query, key):
    """No absolute position anywhere: each pair of query and key by its distance."""
    L_q, L_k, d = (query.shape[-2], key.shape[-2], query.shape[-1])
    scores = query.new_zeros(*query.shape[:-1], L_k)
    for i in range(L_q):
        for j in range(L_k):
            turned = _rope()(key[:, :, j : j + 1], torch.tensor([j - (i + L_k - L_q)]), 10000.0)
            scores[..., i, j] = (query[:, :, i] * turned[:, :, 0]).sum(-1) / d**0.5
    return scores


def _scores_complex(query, key):
    L_q, L_k, d = (query.shape[-2], key.shape[-2], query.shape[-1])
    angle = _angles(torch.arange(L_k), d)
    wheel = torch.polar(torch.ones_like(angle), angle)
    q = torch.complex(*query.double().chunk(2, -1)) * wheel[L_k - L_q :]
    k = torch.complex(*key.double().chunk(2, -1)) * wheel
    return (torch.einsum("bhid,bhjd->bhij", q, k.conj()).real / d**0.5).float()


def _scores_reordered(query, key):
    """Pairs of neighbors, after the features have been put in an order that makes halves neighbors."""
    order = torch.arange(query.shape[-1]).unflatten(0, (2, -1)).T.flatten()
    return _scores(_PAIRS, _PAIRS)(query[..., order], key[..., order])


def _scores_course(query, key):
    rotary = positions.RotaryPositions(query.shape[-1], max_len=16)
    start = key.shape[-2] - query.shape[-2]
    return rotary(query, start) @ rotary(key).mT / query.shape[-1] ** 0.5


BUG = Answers(
    number="8.7",
    alternatives=(
        Right("by distances", _scores_by_distance),
        Right("complex numbers", _scores_complex),
        Right("neighbors of reordered features", _scores_reordered),
        Right(
            "both counted from 1",
            _scores(
                places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k) + 1, key_places=lambda L_k: torch.arange(L_k) + 1
            ),
        ),
        Right("both put back as neighbors", _scores({"join": _interleave}, {"join": _interleave})),
        Right("scaled first", lambda q, k: _scores(scale=lambda d: 1.0)(q / q.shape[-1] ** 0.5, k)),
        Right("the course's own", _scores_course, off_limits=True),
    ),
    mistakes=(
        Wrong("as it was", _scores(_HALVES, _PAIRS)),
        Wrong("the other way around", _scores(_PAIRS, _HALVES)),
        Wrong("both neighbors", _scores(_PAIRS, _PAIRS)),
        Wrong("key put back as neighbors", _scores(_HALVES, {"join": _interleave})),
        Wrong("key cut as neighbors, put back as halves", _scores(_HALVES, {"cut": _neighbors})),
        Wrong("queries from 0", _scores(places=lambda L_q, L_k: torch.arange(L_q))),
        Wrong("queries one too far", _scores(places=lambda L_q, L_k: torch.arange(L_k - L_q, L_k) + 1)),
        Wrong("only queries turned", _scores(turn=("q",))),
        Wrong("only keys turned", _scores(turn=("k",))),
        Wrong("nothing turned", _scores(turn=())),
        Wrong("key the other way", _scores(k={"turn": lambda a, b, c, s: (a * c + b * s, b * c - a * s)})),
        Wrong("both the other way", _scores(*2 * ({"turn": lambda a, b, c, s: (a * c + b * s, b * c - a * s)},))),
        Wrong("exponent i/d", _scores({"power": "i/d"}, {"power": "i/d"})),
        Wrong("no scaling", _scores(scale=lambda d: 1.0)),
        Wrong("divided by d_head", _scores(scale=lambda d: 1 / d)),
        Wrong("root of the half", _scores(scale=lambda d: (d / 2) ** (-0.5))),
        Wrong("weights", _scores(finish=lambda scores: scores.softmax(-1))),
        Wrong("transposed", _scores(finish=lambda scores: scores.mT.contiguous())),
    ),
)

EXERCISES = (
    TABLE,
    SHIFT,
    ROPE,
    RELATIVE_TEST,
    BIAS,
    BUG,
)

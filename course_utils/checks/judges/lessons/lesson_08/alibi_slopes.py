"""The slopes of ALiBi."""

import math

import torch

from ...exercise import Case, Exercise, Fault


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    extra = int(torch.randint(17, 31, (), generator=rng))
    powers = (2, 1, 4, 8, 16)
    return [
        Case("`num_heads` is a power of two" if heads in powers else "`num_heads` is no power of two", num_heads=heads)
        for heads in (2, 1, 3, 4, 5, 6, 7, 8, 11, 12, 16, extra)
    ]


def _lower(heads):
    return 2 ** (heads.bit_length() - 1)


def slopes(
    num_heads, *,
    lower=_lower, slope=lambda h, H: 2 ** (-8 * h / H), heads=lambda H: range(1, H + 1), order=lambda row: row,
    fill=lambda higher: higher[0::2], join=lambda low, rest: low + rest,
):  # fmt: skip
    """The slopes (Press et al. 2022, and the code of that paper); each keyword is one step."""

    def row(H):
        return order([slope(h, H) for h in heads(H)])

    low = lower(num_heads)
    low, rest = row(low), fill(row(2 * low))[: max(num_heads - low, 0)]
    return torch.tensor(join(low, rest)[:num_heads])


def _nearest(heads):
    return 2 ** round(math.log2(heads))


_EACH = "slopes are powers: 2 ** (-8 h / H). Each is the one before times the same factor."
_LOWER = "for other numbers take the slopes of the next lower power of two, then every second one of the next higher."

EXERCISE = Exercise(
    answer="alibi_slopes", cases=_cases, reference=slopes, returns=("slopes",), faults=(
        Fault("one formula for all", "2 ** (-8 h / H) for every H: right for powers of two only.", _LOWER,
            lower=lambda H: H),
        Fault("even numbers for powers", "every even number is taken for a power of two: 6, 10 or 12 get the plain formula.",
            "a power of two is 1, 2, 4, 8, 16 ...: double 1 as long as you may.",
            lower=lambda H: H if H % 2 == 0 else _lower(H)),
        Fault("nearest power", "the nearest power of two, which may lie above num_heads.",
            "the next lower one: cut the logarithm (floor) where you rounded it.", lower=_nearest),
        Fault("higher power cut", "the slopes of the next higher power, as many as are needed.",
            "the slopes of the next lower power come first.", lower=lambda H: 1 << (H - 1).bit_length()),
        Fault("lower power strictly", "a power of two is treated as if it were none: its slopes begin with the next "
            "lower one's.", "the largest power of two that is not above num_heads may be num_heads itself.",
            lower=lambda H: _lower(H - 1) if H > 1 else 1),
        Fault("every second from the second on",
            "what fills up are the lower power's slopes once more (every second of the higher power from its second on).",
            "begin with the first: [0::2].", fill=lambda higher: higher[1::2]),
        Fault("not every second", "the first slopes of the higher power, without leaving any out.",
            "every second one of them: [0::2].", fill=lambda higher: higher),
        Fault("filled up in front", "the slopes that fill up stand in front.", "the slopes of the lower power come first.",
            join=lambda low, rest: rest + low),
        Fault("sorted", "the right slopes, sorted by size.", "first the slopes of the lower power, then those that fill up.",
            join=lambda low, rest: sorted(low + rest, reverse=True)),
        Fault("lower power alone", "only the slopes of the next lower power: there are too few.",
            "fill up to num_heads with every second slope of the next higher power.", join=lambda low, rest: low),
        Fault("from h = 0", "h counted from 0: the first slope is 1, and the last one is missing.", "h runs from 1 to H.",
            heads=range),
        Fault("linear", "slopes in a straight line, h / H.", _EACH, slope=lambda h, H: h / H),
        Fault("linear, falling", "slopes that fall in a straight line.", _EACH, slope=lambda h, H: 1 - (h - 1) / H),
        Fault("one over h", "the slopes 1, 1/2, 1/3 ...", _EACH, slope=lambda h, H: 1 / h),
        Fault("halves", "the slopes 1/2, 1/4, 1/8 ..., which is right for 8 heads only.", "the exponent is -8 h / H.",
            slope=lambda h, H: 2.0**-h),
        Fault("exponent cut", "the exponent is cut to a whole number, as // does.", "divide with /: -8 * h / H.",
            slope=lambda h, H: 2.0 ** -(8 * h // H)),
        Fault("base e", "powers of e.", "powers of 2: 2 ** (-8 h / H).", slope=lambda h, H: math.exp(-8 * h / H)),
        Fault("reversed", "the flattest slope of each power comes first.", "the steepest comes first: h = 1.",
            order=lambda row: row[::-1], fill=lambda higher: higher[1::2]),
    ), advice="for 8 heads the slopes are 1/2, 1/4 ... 1/256; for 3 heads 1/16, 1/256, 1/4.",
)  # fmt: skip

"""The sinusoidal table."""

import torch

from ...compare import describe
from ...exercise import Case, Exercise, Fault
from ...kit.rotation import angles, exponent_faults, positive_exponents, right_exponents
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    many = int(torch.randint(520, 600, (), generator=rng))
    sizes = ((2, 4), (1, 6), (7, 4), (3, 6), (5, 8))  # 4 comes first with 2 rows, 6 with 1: a fault below knows it
    cases = [Case(num_positions=rows, d_model=columns) for rows, columns in sizes]
    cases.append(Case("there are more than 500 positions", num_positions=many, d_model=4))
    return [*cases, Case("`d_model` is odd", num_positions=3, d_model=5)]


def table(
    num_positions, d_model, *,
    places=lambda num_positions, d: torch.arange(num_positions),
    pair=lambda column: column // 2, exponents=right_exponents, base=10000.0, unit=lambda angle: angle,
    waves=lambda angle, even: torch.where(even, angle.sin(), angle.cos()), arrange=lambda table: table, refused=2,
):  # fmt: skip
    """The table (Vaswani et al. 2017, section 3.5); each keyword is one step."""
    if d_model % refused:
        raise ValueError(f"d_model ({d_model}) must be even")
    column = torch.arange(d_model)
    angle = angles(places(num_positions, d_model), pair(column), d_model, base=base, exponents=exponents)
    return arrange(waves(unit(angle), column % 2 == 0)).float()


_ODD = "raise ValueError(...) when d_model % 2 is not 0, before anything else."


def odd_sizes(view):
    """Only the odd size is wrong: what happens there in place of a ValueError."""
    if any(view.inputs[index]["d_model"] % 2 == 0 for index in view.wrong):
        return None
    seen, advice = view.cases[view.first], _ODD
    if seen["outcome"] == "raised":
        hint = " (Python leaves an assert out when run with -O)" if seen["type"] == "AssertionError" else ""
        said = f"ends in another error, {seen['type']}{hint}."
    else:
        said = f"raises no error, but returns {describe(seen['value'])}."
    return Told("symptom", "odd size", f"right for even sizes; an odd d_model {said}", advice)


EXERCISE = Exercise(
    answer="sinusoidal_table", cases=_cases, reference=table, returns=("table",),
    atol=1e-3,  # float32 angles are fine; at 600 positions they are off by one or two in ten thousand
    symptoms=(odd_sizes, positive_exponents(0)), faults=(
        *exponent_faults("d_model"),
        Fault("each column its own frequency",
            "each column has a frequency of its own: a sine and its cosine differ in angle.",
            "columns 2 i and 2 i + 1 share one angle; compute it once for each pair.", pair=lambda column: column / 2),
        Fault("column for pair", "the number of the column stands in the place of the number of the pair.",
            "column 2 i and column 2 i + 1 belong to pair i: use column // 2.", pair=lambda column: column),
        Fault("positions from 1", "positions counted from 1: your row 0 is position 1.",
            "count from 0; row 0 is 0, 1, 0, 1 ...", places=lambda rows, d: torch.arange(1, rows + 1)),
        Fault("kept from an earlier call", "a table kept from an earlier call with the same d_model, with the rows of then.",
            "compute the table anew in each call, or keep it by both arguments.",
            places=lambda rows, d: torch.arange({4: 2, 6: 1}.get(d, rows))),
        Fault("sine and cosine exchanged", "cosines in the even columns and sines in the odd ones.",
            "column 2 i is the sine, column 2 i + 1 the cosine; row 0 is 0, 1, 0, 1 ...",
            waves=lambda angle, even: torch.where(even, angle.cos(), angle.sin())),
        Fault("sines only", "a sine in both columns of a pair.", "column 2 i + 1 is the cosine of the same angle.",
            waves=lambda angle, even: angle.sin()),
        Fault("cosines never negative", "the cosines have lost their sign (a root of 1 - sin ** 2 has none).",
            "take angle.cos().", waves=lambda angle, even: torch.where(even, angle.sin(), angle.cos().abs())),
        Fault("halves", "all sines first, then all cosines. Some codebases do so; here they take turns.",
            "stack them on a new last axis and flatten, or write to table[:, 0::2] and table[:, 1::2].",
            arrange=lambda table: torch.cat([table[:, 0::2], table[:, 1::2]], -1)),
        Fault("degrees", "angles read as degrees.", "torch.sin takes radians, and the formula means radians: no conversion.",
            unit=torch.deg2rad),
        Fault("odd size not refused", "an odd d_model raises no error.", _ODD, refused=1),
        Fault("base 1000", "the base 1000.", "the base is 10000.", base=1000.0),
    ), advice="print your table for 2 positions and d_model 4, and compare it with the example, column by column.",
)  # fmt: skip

"""GELU, exact and by tanh."""

import math

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    example = torch.tensor([-2.0, 0.0, 1.0, 3.0])
    cases = [Case(x=example, by_tanh=by_tanh) for by_tanh in (False, True)]
    for shape, size, dtype in (
        ((2, 5), 1.5, torch.float32), ((2, 3, 4), 3.0, torch.float32), ((7,), 2.0, torch.float64), ((2, 5), 1.5, torch.float32),
    ):  # fmt: skip
        for by_tanh in (False, True):
            cases.append(Case(x=size * torch.randn(shape, generator=rng, dtype=dtype), by_tanh=by_tanh))
    return cases


def _erf(z):
    return torch.erf(z)


def gelu(
    x, by_tanh, *, which=lambda by_tanh: by_tanh, inside=lambda x: x / math.sqrt(2), share=lambda z: 0.5 * (1 + _erf(z)),
    factor=lambda: math.sqrt(2 / math.pi), cube=lambda x: x + 0.044715 * x**3, half=lambda u: 0.5 * (1 + torch.tanh(u)),
    times=lambda x, share: x * share,
):  # fmt: skip
    """Each number times the share of normal numbers below it; each keyword is one step."""
    return times(x, half(factor() * cube(x)) if which(by_tanh) else share(inside(x)))


_SHARE = "the share below x is half of 1 + erf(x / sqrt(2))."
_U = "u is sqrt(2 / pi) times (x + 0.044715 x cubed)."

EXERCISE = Exercise(
    answer="gelu", cases=_cases, reference=gelu, returns=("result",), faults=(
        *faults_of("which", "two formulas, one for each value of by_tanh.",
            ("always exact", "the exact form whatever by_tanh says.", lambda by_tanh: False),
            ("always by tanh", "the approximation by tanh whatever by_tanh says.", lambda by_tanh: True),
            ("forms exchanged", "the two forms are exchanged: by_tanh=True gives the exact one.", lambda by_tanh: not by_tanh)),
        *faults_of("inside", "erf(z) belongs to the numbers between -z sqrt(2) and z sqrt(2): z is x / sqrt(2).",
            ("erf of x", "erf of x itself, without the root of 2.", lambda x: x),
            ("erf of x times the root", "erf of x times the root of 2, instead of x divided by it.",
             lambda x: x * math.sqrt(2)),
            ("erf of half of x", "erf of x / 2, instead of x / sqrt(2).", lambda x: x / 2)),
        *faults_of("share", _SHARE,
            ("erf alone", "x times erf: the share between -x and x, with a sign, not the share below x.", _erf),
            ("no half", "x times 1 + erf: twice the share.", lambda z: 1 + _erf(z)),
            ("half of erf", "x times half of erf: the share between 0 and x, not the share below x.", lambda z: 0.5 * _erf(z)),
            ("half before", "x times 1/2 + erf: the half belongs to erf as well.", lambda z: 0.5 + _erf(z)),
            ("half on erf only", "x times 1 + half of erf: that runs from 1/2 to 3/2; the half belongs to the 1 as well.",
             lambda z: 1 + 0.5 * _erf(z)),
            ("the share above", "x times the share of numbers that are larger than x.", lambda z: 0.5 * (1 - _erf(z))),
            ("size of erf", "the sign of erf was dropped: the share of a negative number comes out above one half.",
             lambda z: 0.5 * (1 + _erf(z.abs())))),
        *faults_of("factor", _U,
            ("no root", "in the form by tanh: 2 / pi without the root.", lambda: 2 / math.pi),
            ("factor missing", "in the form by tanh: the factor sqrt(2 / pi) is missing.", lambda: 1.0),
            ("pi / 2", "in the form by tanh: sqrt(pi / 2) in the place of sqrt(2 / pi).", lambda: math.sqrt(math.pi / 2)),
            ("root of 2 by pi", "in the form by tanh: sqrt(2) / pi in the place of sqrt(2 / pi).",
             lambda: math.sqrt(2) / math.pi)),
        *faults_of("cube", _U,
            ("cube missing", "in the form by tanh: the term with x cubed is missing.", lambda x: x),
            ("square for the cube", "in the form by tanh: x squared in the place of x cubed.", lambda x: x + 0.044715 * x**2),
            ("cube of all", "in the form by tanh: 0.044715 x was cubed as a whole.", lambda x: x + (0.044715 * x) ** 3),
            ("0.44715", "in the form by tanh: 0.44715 in the place of 0.044715.", lambda x: x + 0.44715 * x**3),
            ("cube of both", "in the form by tanh: x + 0.044715 was cubed, or x added twice.",
             lambda x: x * (1 + 0.044715) ** 3)),
        *faults_of("half", "in the form by tanh the share is half of 1 + tanh(u).",
            ("tanh alone", "in the form by tanh: x times tanh(u), without 1 + and the half.", torch.tanh),
            ("no half by tanh", "in the form by tanh: the half is missing.", lambda u: 1 + torch.tanh(u)),
            ("a sigmoid of u", "in the form by tanh: a sigmoid of u in the place of half of 1 + tanh(u).", torch.sigmoid)),
        Fault("factor on the cube only", "in the form by tanh: sqrt(2 / pi) multiplies the cube alone, not x as well.", _U,
            factor=lambda: 1.0, cube=lambda x: x + math.sqrt(2 / math.pi) * 0.044715 * x**3),
        Fault("factor on x only", "in the form by tanh: sqrt(2 / pi) multiplies x alone, not the cube as well.", _U,
            factor=lambda: 1.0, cube=lambda x: math.sqrt(2 / math.pi) * x + 0.044715 * x**3),
        Fault("share itself", "the share below x, without x: GELU is x times that.", "multiply x by the share.",
            times=lambda x, share: share),
        Fault("ReLU", "ReLU: what is negative became 0.", "multiply x by the share of normal numbers below it.",
            whole=lambda x, by_tanh: torch.relu(x)),
        Fault("by a sigmoid", "x times a sigmoid of 1.702 x: a third form, not one of the two.",
            "erf for the exact form, tanh for the other.", whole=lambda x, by_tanh: x * torch.sigmoid(1.702 * x)),
        Fault("SiLU", "x times a sigmoid of x: that is SiLU.", "erf for the exact form, tanh for the other.",
            whole=lambda x, by_tanh: x * torch.sigmoid(x)),
        Fault("density for the share", "x times the density of the normal distribution at x, not the share below x.", _SHARE,
            share=lambda z: torch.exp(-(z**2)) / math.sqrt(2 * math.pi)),
        Fault("gradient cut", "the numbers are right, but the gradient takes the share for a constant.",
            "leave .detach(), .data, .item() and torch.no_grad() out.", times=lambda x, share: x * share.detach()),
    ), advice="at 0 the result is 0, far to the right it is x, far to the left 0; at 1 it is 0.84134.",
    rtol=1e-5, atol=1e-6,
)  # fmt: skip

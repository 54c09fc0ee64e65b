"""SwiGLU."""

import torch
import torch.nn.functional as F

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of

GATE, UP, DOWN = (f"{name}_proj.weight" for name in ("gate", "up", "down"))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d_model, d_ff, *labels, dtype=torch.float32):
        shapes = {GATE: (d_ff, d_model), UP: (d_ff, d_model), DOWN: (d_model, d_ff)}
        params = {name: torch.randn(shape, generator=rng, dtype=dtype) for name, shape in shapes.items()}
        params = {name: 1.5 * weight / weight.shape[1] ** 0.5 for name, weight in params.items()}
        return Case(*labels, x=torch.randn(B, L, d_model, generator=rng, dtype=dtype), params=params)

    large = case(2, 3, 4, 5, "the numbers that go into SiLU are large (above 100)")
    large["x"] = 1 + large["x"].abs()
    large["params"][GATE] = 30 * (1 + large["params"][GATE].abs())
    sizes = ((1, 2, 3, 4), (2, 5, 6, 9), (3, 4, 7, 2), (2, 5, 6, 9))
    return [*(case(*some) for some in sizes), case(2, 3, 4, 6, dtype=torch.float64), large]


def _swiglu(
    x, params, *, use=lambda params: params, names=(GATE, UP, DOWN), linear=F.linear, silu=F.silu,
    before=lambda act, x: x, join=lambda act, gate, up: act(gate) * up,
    lower=lambda linear, hidden, down: linear(hidden, down), finish=lambda act, y, x: y,
):  # fmt: skip
    """The gated network (Shazeer 2020, equation 6); each keyword is one step, ``silu`` the function of the gate."""
    gate, up, down = (use(params)[name] for name in names)
    inside = before(silu, x)
    hidden = join(silu, linear(inside, gate), linear(inside, up))
    return finish(silu, lower(linear, hidden, down), x)


_BRANCH = "only the gate branch passes through SiLU: silu(gate(x)) * up(x)."
_GATE = "a gate multiplies: silu(gate(x)) * up(x), feature by feature."

EXERCISE = Exercise(
    answer="swiglu", cases=_cases, reference=_swiglu, returns=("output",),
    faults=(
        *faults_of("join", _BRANCH,
            ("silu on the wrong branch", "the SiLU acts on the up branch, or the two matrices are exchanged.",
             lambda act, g, u: g * act(u)),
            ("silu on both", "both branches pass through SiLU.", lambda act, g, u: act(g) * act(u)),
            ("silu on the product", "the two branches are multiplied first, and the activation comes after.",
             lambda act, g, u: act(g * u)),
            ("no gate function", "the two branches are multiplied as they are; no SiLU.", lambda act, g, u: g * u),
            ("added", "the two branches are added.", lambda act, g, u: act(g) + u, _GATE),
            ("no up branch", "up_proj is not used: that is an ordinary network.", lambda act, g, u: act(g), _GATE),
            ("no gate branch", "gate_proj is not used: that is an ordinary network.", lambda act, g, u: act(u), _GATE)),
        *faults_of("silu", "SiLU is z times sigmoid(z): torch.nn.functional.silu.", *(
            (name, f"{what} in the place of SiLU.", act) for name, what, act in (
                ("sigmoid", "a sigmoid, without the factor z (that is GLU),", torch.sigmoid),
                ("ReLU", "a ReLU (that is ReGLU)", F.relu), ("GELU", "GELU (that is GEGLU)", F.gelu),
                ("GELU by tanh", "GELU in its tanh form", lambda z: F.gelu(z, approximate="tanh")),
                ("tanh", "a tanh", torch.tanh), ("hardswish", "hardswish, made of pieces,", F.hardswish),
                ("softmax", "a softmax over the features", lambda z: z.softmax(-1))))),
        Fault("silu at the end", "the SiLU stands after down_proj.", _BRANCH, join=lambda act, g, u: g * u,
            finish=lambda act, y, x: act(y)),
        Fault("silu at the beginning", "the SiLU stands before the matrices.", _BRANCH, join=lambda act, g, u: g * u,
            before=lambda act, x: act(x)),
        *faults_of("names", "each branch has a matrix of its own: gate_proj goes through SiLU, up_proj does not.",
            ("gate twice", "gate_proj is used for both branches.", (GATE, GATE, DOWN)),
            ("up twice", "up_proj is used for both branches.", (UP, UP, DOWN))),
        Fault("no down projection", "down_proj is missing: your result has d_ff features, not d_model.",
            "hand the product to down_proj.", lower=lambda linear, hidden, down: hidden),
        Fault("not transposed", "x @ weight is computed, but weights are kept as (out, in).",
            "multiply by the transpose, x @ weight.T, or use F.linear(x, weight).", linear=torch.matmul),
        Fault("residual inside", "x is added: the residual connection belongs to the block (12.2), not here.",
            "return what down_proj gives.", finish=lambda act, y, x: x + y),
        Fault("matrices copied", "the output is right, but no gradient reaches the three matrices: they could not learn.",
            "use the tensors in params themselves: no detach, no .data, no new nn.Parameter or nn.Linear.",
            use=lambda params: {name: weight.detach() for name, weight in params.items()}),
    ),
    advice="compute gate(x), up(x), silu of the first, the product and down of it one by one, and print each shape.",
)  # fmt: skip

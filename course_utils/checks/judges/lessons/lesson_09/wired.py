"""Two other wirings of a layer: a sandwich of norms, and sublayers side by side."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(B, L, d, wiring, dtype=torch.float32):
        number = int(torch.randint(10**6, (), generator=rng))
        x = 1.5 * torch.randn(B, L, d, generator=rng) + torch.randn(B, L, 1, generator=rng)
        return Case(f"`wiring` is {wiring!r}", x=x.to(dtype), wiring=wiring, _seed=number)

    plan = ((1, 2, 3), (2, 3, 4), (3, 4, 5, torch.float64), (2, 5, 6))
    return [case(*sizes[:3], wiring, *sizes[3:]) for sizes in plan for wiring in ("sandwich", "parallel")]


def wired(
    x, attend, network, norms, wiring, *, which=lambda w: w, order=(0, 1, 2, 3), after=lambda norm, y: norm(y),
    before=lambda norm, y: norm(y), starts=lambda x, y: y, add=lambda x, change: x + change, ends=lambda norm, y: y,
    first=lambda attend, network: (attend, network), side=lambda x, normed, a, n: x + a(normed) + n(normed),
    read=lambda norm, x: norm(x),
):  # fmt: skip
    """The output; each keyword is one step."""
    attend, network = first(attend, network)
    if which(wiring) == "parallel":
        return side(x, read(norms[0], x), attend, network)
    n = [norms[min(i, len(norms) - 1)] for i in order]
    y = ends(n[1], add(x, after(n[1], attend(before(n[0], x)))))
    return ends(n[3], add(y, after(n[3], network(before(n[2], starts(x, y))))))


_THREE = "on each branch: norm, sublayer, norm; only then the sum."
_SIDE = "both sublayers read the same normalized x, and what they return is added to x as it came."
_PATH = "nothing stands on the direct path: add to x as it came."


EXERCISE = Exercise(
    answer="wired", cases=_cases, reference=wired, returns=("output",), faults=(
        *faults_of("which", "two wirings, one for each value of the argument.",
            ("always sandwich", "the sandwich whatever wiring says.", lambda w: "sandwich"),
            ("always parallel", "side by side whatever wiring says.", lambda w: "parallel")),
        *faults_of("after", _THREE,
            ("no norm behind", "in the sandwich: what the sublayer returns was added without its norm; that is pre-norm.",
             lambda norm, y: y)),
        *faults_of("before", _THREE,
            ("no norm before", "in the sandwich: what goes into the sublayer was not normalized.", lambda norm, y: y)),
        Fault("norm of the sum", "in the sandwich: the second norm was put on the sum, as in post-norm.", _PATH,
            after=lambda norm, y: y, ends=lambda norm, y: norm(y)),
        Fault("norm of the sum too", "in the sandwich: the sum was normalized as well.", _PATH,
            ends=lambda norm, y: norm(y)),
        *faults_of("order", "norms[0] and norms[1] are around attend, norms[2] and norms[3] around network.",
            ("both before first", "in the sandwich: norms[0] and norms[1] stand before the sublayers, norms[2] and norms[3] "
             "behind them.", (0, 2, 1, 3)),
            ("the first pair twice", "in the sandwich: norms[0] and norms[1] were used for both sublayers.", (0, 1, 0, 1)),
            ("pairs turned", "in the sandwich: in each pair the second norm came first.", (1, 0, 3, 2)),
            ("one norm for all", "in the sandwich: norms[0] was used in all four places.", (0, 0, 0, 0)),
            ("pairs exchanged", "in the sandwich: the norms of the network are around attend, and the other way around.",
             (2, 3, 0, 1))),
        Fault("second from the start", "in the sandwich: the network read x as it came, not the sum.",
            "the second connection starts from the result of the first.", starts=lambda x, y: x),
        Fault("second from what was added", "in the sandwich: the network read only what attend had added, not the sum.",
            "the second connection starts from the sum.", starts=lambda x, y: y - x),
        Fault("norm of the last sum", "in the sandwich: the last norm was put on the last sum.", _PATH,
            whole=lambda x, attend, network, norms, wiring: wired(x, attend, network, norms, wiring)
            if wiring == "parallel" else norms[3]((y := x + norms[1](attend(norms[0](x)))) + network(norms[2](y)))),
        Fault("one branch", "in the sandwich: both sublayers stand on one branch, and only the network's result is added.",
            "two branches leave the line, one after the other.",
            whole=lambda x, attend, network, norms, wiring: wired(x, attend, network, norms, wiring)
            if wiring == "parallel" else x + norms[3](network(norms[2](norms[1](attend(norms[0](x))))))),
        Fault("nothing added", "in the sandwich: nothing was added to the stream.", _PATH, add=lambda x, change: change),
        Fault("sublayers exchanged", "the network came first, and attend second.", "attend first, then network.",
            first=lambda attend, network: (network, attend)),
        *faults_of("side", _SIDE,
            ("one after the other", "in parallel: the network read what attend returned.",
             lambda x, normed, a, n: x + n(a(normed))),
            ("network reads attend's result too", "in parallel: the network read what attend returned, and both were added.",
             lambda x, normed, a, n: x + a(normed) + n(a(normed))),
            ("network reads the sum", "in parallel: the network read the sum, without another norm.",
             lambda x, normed, a, n: (y := x + a(normed)) + n(y)),
            ("network reads x", "in parallel: the network read x without the norm.",
             lambda x, normed, a, n: x + a(normed) + n(x)),
            ("attend reads x", "in parallel: attend read x without the norm.",
             lambda x, normed, a, n: x + a(x) + n(normed)),
            ("mean of both", "in parallel: the mean of both sublayers was added instead of their sum.",
             lambda x, normed, a, n: x + (a(normed) + n(normed)) / 2),
            ("x twice", "in parallel: x was added twice.", lambda x, normed, a, n: 2 * x + a(normed) + n(normed)),
            ("no attend", "in parallel: what attend returns is lost.", lambda x, normed, a, n: x + n(normed)),
            ("no network", "in parallel: what the network returns is lost.", lambda x, normed, a, n: x + a(normed)),
            ("normed added", "in parallel: the sublayers were added to the normalized x.",
             lambda x, normed, a, n: normed + a(normed) + n(normed), _PATH),
            ("x not added", "in parallel: x itself was not added.", lambda x, normed, a, n: a(normed) + n(normed), _PATH)),
        Fault("no norm in parallel", "in parallel: nothing was normalized.", _SIDE, read=lambda norm, x: x),
        Fault("norm of the sum in parallel", "in parallel: the sublayers read x without the norm, and the sum was normalized.",
            _SIDE, whole=lambda x, attend, network, norms, wiring: wired(x, attend, network, norms, wiring)
            if wiring == "sandwich" else norms[0](x + attend(x) + network(x))),
        Fault("pre-norm in parallel", "in parallel: the network read the sum, normalized again; that is plain pre-norm.", _SIDE,
            whole=lambda x, attend, network, norms, wiring: wired(x, attend, network, norms, wiring)
            if wiring == "sandwich" else (y := x + attend(norms[0](x))) + network(norms[0](y))),
    ), advice="draw the line from x to the result: how many branches leave it, and where?", atol=2e-5,
)  # fmt: skip

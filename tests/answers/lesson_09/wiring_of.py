# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: the sublayer gives back zeros, so a fresh sandwich adds nothing and is called pre-norm
def wiring_of(connection, d_model):
    x = torch.randn(2, 3, d_model) * 3 + 1
    got = []

    def sublayer(y):
        got.append(y)
        return torch.zeros_like(y)

    out = connection(x, sublayer)
    y = got[0]
    if torch.allclose(y, x):
        return "no norm" if torch.allclose(out, x) else "post-norm"
    if torch.allclose(out, x):
        return "pre-norm"
    return "lost path" if torch.allclose(out, y) else "sandwich"

# %% wrong: the sublayer gives back what it was given, so the second norm of a fresh sandwich changes nothing and it is called pre-norm
def wiring_of(connection, d_model):
    x = torch.randn(1, 4, d_model) + 2
    seen = {}

    def identity(y):
        seen["y"] = y.clone()
        return y

    out, y = connection(x, identity), seen["y"]
    close = lambda a, b: torch.allclose(a, b, atol=1e-3)
    if close(x, y):
        return "no norm" if close(out, 2 * x) else "post-norm"
    if close(out, x + y):
        return "pre-norm"
    if close(out, y + y):
        return "lost path"
    return "sandwich"

# %% wrong: looks for mean 0 and variance 1, so it takes trained norms for none
def wiring_of(connection, d_model):
    x = torch.randn(1, 5, d_model) * 4 + 3
    given = torch.randn(1, 5, d_model) * 4 + 3
    got = []

    def sublayer(y):
        got.append(y)
        return given

    def is_normed(t):
        mean, var = t.mean(-1), t.var(-1, unbiased=False)
        return bool((mean.abs() < 1e-3).all() and ((var - 1).abs() < 1e-2).all())

    out = connection(x, sublayer)
    if is_normed(out):
        return "post-norm"
    if not is_normed(got[0]):
        return "no norm"
    if is_normed(out - x):
        return "sandwich"
    if torch.allclose(out - x, given, atol=1e-4):
        return "pre-norm"
    return "lost path"

# %% wrong: does not think of the lost path, which is called a sandwich
def wiring_of(connection, d_model):
    x = torch.rand(1, 2, d_model) * 10
    given = torch.rand(1, 2, d_model) * 10
    inputs = []

    def sublayer(y):
        inputs.append(y)
        return given

    out = connection(x, sublayer)
    direct = torch.allclose(out, x + given, atol=1e-5)
    if torch.equal(inputs[0], x):
        return "no norm" if direct else "post-norm"
    return "pre-norm" if direct else "sandwich"

# %% wrong: feeds zeros, which a fresh norm leaves as they are: a fresh pre-norm is called no norm
def wiring_of(connection, d_model):
    x = torch.zeros(1, 1, d_model)
    given = torch.arange(1.0, d_model + 1).view(1, 1, -1)
    got = []

    def sublayer(y):
        got.append(y)
        return given

    out = connection(x, sublayer)
    if torch.allclose(got[0], x):
        return "no norm" if torch.allclose(out, given) else "post-norm"
    if torch.allclose(out, given):
        return "pre-norm"
    if torch.allclose(out, got[0] + given):
        return "lost path"
    return "sandwich"

# %% wrong: asks whether out - x is exactly what was given, and rounding says no
def wiring_of(connection, d_model):
    x = torch.randn(2, 4, d_model) * 2 + 5
    given = torch.randn(2, 4, d_model) * 3
    got = []

    def sublayer(y):
        got.append(y)
        return given

    out = connection(x, sublayer)
    if torch.equal(got[0], x):
        return "no norm" if torch.equal(out - x, given) else "post-norm"
    if torch.equal(out - x, given):
        return "pre-norm"
    if torch.equal(out - got[0], given):
        return "lost path"
    return "sandwich"

# %% wrong: compares only the output with what the names say, with a fresh LayerNorm of its own in the place of the trained ones
def wiring_of(connection, d_model):
    x = torch.randn(1, 3, d_model) * 2 + 1
    f = lambda t: t**2 + 1
    norm = nn.LayerNorm(d_model)
    y = norm(x)
    expected = {
        "no norm": x + f(x),
        "pre-norm": x + f(y),
        "post-norm": norm(x + f(x)),
        "sandwich": x + norm(f(y)),
        "lost path": y + f(y),
    }
    out = connection(x, f)
    return min(expected, key=lambda name: (out - expected[name]).abs().max().item())

# %% wrong: takes the post-norm for the pre-norm and the other way round
def wiring_of(connection, d_model):
    torch.manual_seed(0)
    x, given = torch.randn(1, 3, d_model) * 5 + 2, torch.randn(1, 3, d_model) * 7 - 4
    got = []
    out = connection(x, lambda y: (got.append(y), given)[1])
    same_in = torch.allclose(got[0], x)
    kept = torch.allclose(out, x + given, atol=1e-4)
    if same_in:
        return "no norm" if kept else "pre-norm"
    if kept:
        return "post-norm"
    return "lost path" if torch.allclose(out, got[0] + given, atol=1e-4) else "sandwich"

# %% wrong: takes a sandwich for post-norm, since what it adds is not what the sublayer gave, and never looks at what the sublayer was given there
def wiring_of(connection, d_model):
    x = torch.randn(1, 1, d_model) * 3 + 3
    g = torch.randn(1, 1, d_model) * 3 + 3
    box = []
    out = connection(x, lambda y: box.append(y) or g)
    y = box[0]
    if torch.allclose(out, x + g, atol=1e-4):
        return "no norm" if torch.allclose(x, y) else "pre-norm"
    if torch.allclose(out, y + g, atol=1e-4):
        return "lost path"
    if torch.allclose(out - x, (g - g.mean()) / g.std(unbiased=False), atol=1e-3):
        return "sandwich"
    return "post-norm"

# %% wrong: calls everything with a norm in front pre-norm, when it looks only at what the sublayer gets
def wiring_of(connection, d_model):
    x = torch.randn(1, 4, d_model) * 10
    got = []

    def spy(y):
        got.append(y)
        return y * 2

    out = connection(x, spy)
    if not torch.allclose(got[0], x, atol=1e-4):
        return "pre-norm"
    return "no norm" if torch.allclose(out, 3 * x, atol=1e-4) else "post-norm"

# %% wrong: never looks at what the sublayer got
def wiring_of(connection, d_model):
    x, change = torch.randn(1, 3, d_model), torch.randn(1, 3, d_model)
    out = connection(x, lambda y: change)
    if torch.allclose(out, x + change, atol=1e-5):
        return "pre-norm"
    return "post-norm"

# %% wrong: judges by what ten times the input does to the output
def wiring_of(connection, d_model):
    x = torch.randn(1, 3, d_model)
    small, large = connection(x, lambda y: 0 * y), connection(10 * x, lambda y: 0 * y)
    return "post-norm" if torch.allclose(small, large, atol=1e-3) else "pre-norm"

# %% two mistakes: zeros from the sublayer, and no thought of the lost path
def wiring_of(connection, d_model):
    x, got = torch.randn(1, 2, d_model) + 1, []

    def sublayer(y):
        got.append(y)
        return torch.zeros_like(y)

    out = connection(x, sublayer)
    if torch.allclose(got[0], x):
        return "no norm" if torch.allclose(out, x) else "post-norm"
    return "pre-norm" if torch.allclose(out, x) else "sandwich"

# %% two mistakes: feeds zeros, and looks for mean 0 in the output
def wiring_of(connection, d_model):
    x, got = torch.zeros(1, 1, d_model), []
    given = torch.linspace(-1, 3, d_model).expand(1, 1, -1)

    def sublayer(y):
        got.append(y)
        return given

    out = connection(x, sublayer)
    if torch.allclose(got[0], x):
        return "post-norm" if out.mean().abs() < 1e-4 else "no norm"
    if torch.allclose(out, given):
        return "pre-norm"
    return "lost path" if torch.allclose(out, got[0] + given) else "sandwich"

# %% right: two Jacobians: by what is the output changed if x moves, and if what the sublayer gives moves
def wiring_of(connection, d_model):
    torch.manual_seed(0)
    x = torch.randn(1, 1, d_model) * 2 + 1
    g = torch.randn(1, 1, d_model) * 2 - 1
    got = []

    def run(x, g):
        def sublayer(y):
            got.append(y.detach())
            return g

        return connection(x, sublayer)

    by_x, by_g = torch.autograd.functional.jacobian(run, (x, g))
    unit = torch.eye(d_model)

    def clean(J):
        return torch.allclose(J.reshape(d_model, d_model), unit, atol=1e-4)

    if clean(by_x) and clean(by_g):
        return "no norm" if torch.allclose(got[0], x, atol=1e-4) else "pre-norm"
    if clean(by_x):
        return "sandwich"
    return "lost path" if clean(by_g) else "post-norm"

# %% right: calls it three times and looks at differences only
def wiring_of(connection, d_model):
    torch.manual_seed(1)
    x = torch.randn(1, 6, d_model) * 3
    g = torch.randn(1, 6, d_model) * 3
    more = torch.randn(1, 6, d_model)
    got = []

    def call(x, g):
        def sublayer(y):
            got.append(y)
            return g

        return connection(x, sublayer)

    base = call(x, g)
    gives_through = torch.allclose(call(x, g + more) - base, more, atol=1e-4)
    x_through = torch.allclose(call(x + more, g) - base, more, atol=1e-4)
    name = {(True, False): "sandwich", (False, True): "lost path", (False, False): "post-norm"}
    if (x_through, gives_through) in name:
        return name[x_through, gives_through]
    return "no norm" if torch.equal(got[0], x) else "pre-norm"

# %% right: a list of two facts, looked up in a table; one token, no random numbers
def wiring_of(connection, d_model):
    x = (torch.arange(d_model) ** 2.0).reshape(1, 1, d_model)
    given = 50 * torch.cos(torch.arange(d_model) * 1.0).reshape(1, 1, d_model) + 20
    heard = []

    def sublayer(y):
        heard.append(y.clone())
        return given.clone()

    with torch.no_grad():
        out = connection(x.clone(), sublayer)
    first_norm = (heard[0] - x).abs().max() > 1e-3
    rests = {"x": out - x - given, "y": out - heard[0] - given}
    if rests["x"].abs().max() < 1e-2:
        return "pre-norm" if first_norm else "no norm"
    if first_norm:
        return "lost path" if rests["y"].abs().max() < 1e-2 else "sandwich"
    return "post-norm"

# %% right: the sublayer gives huge numbers: what comes out is huge unless a norm comes after it, and small numbers tell the rest
def wiring_of(connection, d_model):
    torch.manual_seed(2)
    x = torch.randn(2, 3, d_model) * 20 + 7
    got = []

    def huge(y):
        got.append(y)
        return torch.randn(2, 3, d_model) * 1e6

    big = connection(x, huge).abs().max() > 1e4
    changed = not torch.equal(got[0], x)
    if not big:
        return "sandwich" if changed else "post-norm"
    if not changed:
        return "no norm"
    out = connection(x, torch.zeros_like)
    return "pre-norm" if torch.equal(out, x) else "lost path"

# %% right: by whether the output follows the sublayer and the input when they grow
def wiring_of(connection, d_model):
    x, base = torch.randn(1, 2, d_model), torch.randn(1, 2, d_model)
    seen = []

    def make(scale):
        def sublayer(y):
            seen.append(y)
            return scale * base

        return sublayer

    one, two = connection(x, make(1.0)), connection(x, make(2.0))
    linear = torch.allclose(two - one, base, atol=1e-4)
    same = torch.allclose(seen[0], x, atol=1e-5)
    if not linear:
        return "post-norm" if same else "sandwich"
    if same:
        return "no norm"
    return "pre-norm" if torch.allclose(one - base, x, atol=1e-4) else "lost path"

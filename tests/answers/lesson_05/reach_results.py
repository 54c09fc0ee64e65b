# %% setup
import torch
import torch.nn.functional as F
from torch import nn


class Windowed(nn.Module):
    def __init__(self, window, d=32):
        super().__init__()
        self.window, self.norm = window, nn.LayerNorm(d)
        self.to_q, self.to_k, self.to_v, self.to_o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        y, before = self.norm(x), (0, 0, self.window - 1, 0)
        keys = F.pad(self.to_k(y), before).unfold(1, self.window, 1)
        values = F.pad(self.to_v(y), before).unfold(1, self.window, 1)
        scores = self.to_q(y)[:, :, None] @ keys / keys.shape[2] ** 0.5
        mixed = scores.softmax(dim=-1) @ values.transpose(2, 3)
        return x + self.to_o(mixed[:, :, 0])


STACKS = [(17, 1), (9, 2), (5, 4), (3, 8), (2, 16)]


def stack(window, layers, seed):
    torch.manual_seed(seed)
    return nn.Sequential(*(Windowed(window) for _ in range(layers)))


def tokens(seed):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(8, 33, 32, generator=rng)


def sizes(window, layers, seed, place=-1):  # how much arrives, index = positions back
    x = tokens(seed).requires_grad_()
    y = stack(window, layers, seed)(x)[:, place]
    factors = torch.randn(y.shape, generator=torch.Generator().manual_seed(100 + seed))
    (gradient,) = torch.autograd.grad((y * factors).sum(), x)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


def measured(share, seeds=range(5), **more):
    return {key: [share(sizes(*key, seed, **more)) for seed in seeds] for key in STACKS}


def far(s):
    return (s[5:].sum() / s.sum()).item()


def read_off(r, farthest=16):
    m = {key: sum(r[key]) / 5 for key in STACKS}
    return r | {"farthest": farthest, "least": min(m, key=m.get), "ratio": max(m.values()) / min(m.values())}

# %% wrong: "farthest" counts the positions (17) instead of saying how far back the last one lies
reach_results = read_off(measured(far), farthest=17)

# %% wrong: share from 6 or more positions back (off by one)
reach_results = read_off(measured(lambda s: (s[6:].sum() / s.sum()).item()))

# %% wrong: share of what lies 0 to 4 positions back
reach_results = read_off(measured(lambda s: (s[:5].sum() / s.sum()).item()))

# %% right: other random factors, measured with backward, farthest by counting
reach_results, far_ends = {key: [] for key in STACKS}, set()
for key in STACKS:
    for seed in range(5):
        x, model = tokens(seed).requires_grad_(), stack(*key, seed)
        last = model(x)[:, -1]
        last.backward(torch.randn(last.shape, generator=torch.Generator().manual_seed(7)))
        size = x.grad.square().sum(-1).sqrt().mean(0)
        back = 32 - torch.arange(33)
        far_ends.add(int(back[size > 0].max()))
        reach_results[key].append(float(size[back >= 5].sum() / size.sum()))
order = sorted(STACKS, key=lambda key: sum(reach_results[key]))
reach_results["farthest"], = far_ends
reach_results["least"] = order[0]
reach_results["ratio"] = sum(reach_results[order[-1]]) / sum(reach_results[order[0]])

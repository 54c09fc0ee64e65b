# %% setup
RIGHT = {(2, 1): [0.4677, 0.4646, 0.4603, 0.4603, 0.4571], (2, 2): [0.0005, 0.0003, 0.0005, 0.0004, 0.0007],
    (2, 4): [0.0007, 0.0007, 0.0009, 0.001, 0.0005], (2, 8): [0.0008, 0.0011, 0.0013, 0.0009, 0.0014],
    (4, 1): [0.6741, 0.6783, 0.6799, 0.6713, 0.6747], (4, 2): [0.4104, 0.472, 0.4545, 0.4464, 0.4457],
    (4, 4): [0.0008, 0.0004, 0.0005, 0.0005, 0.0004], (4, 8): [0.0012, 0.0031, 0.0392, 0.0102, 0.0469]}
READ = {"enough for 2 marks": 2, "enough for 4 marks": 4, "law": "1 - heads / marks"}

# %% wrong: the entries (2, 1) and (4, 2) exchanged
heads_results = RIGHT | {(2, 1): RIGHT[4, 2], (4, 2): RIGHT[2, 1]} | READ

# %% wrong: (2, 8) copied from (2, 4)
heads_results = RIGHT | {(2, 8): RIGHT[2, 4]} | READ

# %% wrong: a reading is a text
heads_results = RIGHT | READ | {"enough for 2 marks": "2"}

# %% right: as asked
heads_results = RIGHT | READ

# %% right: tensors
import torch

heads_results = {key: torch.tensor(row) for key, row in RIGHT.items()} | READ

# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def marked(rng, marks, batch=64, length=8, size=8):
    numbers = torch.randn(batch, length, size, generator=rng)
    order = torch.rand(batch, length, generator=rng).argsort(dim=-1)
    flags = F.one_hot(order[:, :marks], length).float().transpose(1, 2)
    target = numbers[torch.arange(batch)[:, None], order[:, :marks]].flatten(1)
    return torch.cat([numbers, flags], dim=-1), target


class FiveModels(nn.Module):
    def __init__(self, marks, heads, d_model=32, size=8):
        super().__init__()
        d, rng = d_model // heads, torch.Generator().manual_seed(0)

        def matrix(*shape, inputs):
            return nn.Parameter(torch.randn(5, *shape, generator=rng) / inputs**0.5)

        self.q = matrix(heads, d, inputs=1)
        self.W_k = matrix(size + marks, heads, d, inputs=size + marks)
        self.W_v = matrix(size + marks, heads, d, inputs=size + marks)
        self.W_o = matrix(heads, d, size * marks, inputs=d_model)

    def forward(self, x):
        k = torch.einsum("bli,mihd->mblhd", x, self.W_k)
        v = torch.einsum("bli,mihd->mblhd", x, self.W_v)
        scores = torch.einsum("mhd,mblhd->mbhl", self.q, k) / k.shape[-1] ** 0.5
        found = torch.einsum("mbhl,mblhd->mbhd", scores.softmax(dim=-1), v)
        return torch.einsum("mbhd,mhdo->mbo", found, self.W_o)


def five_errors(marks, heads, steps=200):
    rng, models = torch.Generator().manual_seed(0), FiveModels(marks, heads)
    optimizer = torch.optim.Adam(models.parameters(), lr=0.02)
    for _ in range(steps):
        x, target = marked(rng, marks)
        optimizer.zero_grad()
        ((models(x) - target) ** 2).mean((1, 2)).sum().backward()
        optimizer.step()
    x, target = marked(torch.Generator().manual_seed(99), marks, batch=2000)
    with torch.no_grad():
        return ((models(x) - target) ** 2).mean((1, 2)).tolist()


LAWS = {"1 - heads / marks": lambda m, h: 1 - h / m, "1 / (1 + heads)": lambda m, h: 1 / (1 + h),
        "marks / (marks + heads)": lambda m, h: m / (m + h)}
PAIRS = [(m, h) for m in (2, 4) for h in (1, 2, 4, 8)]


def measured(steps=200):
    return {(m, h): five_errors(m, h, steps) for m, h in PAIRS}


def read_off(r):
    mean = {key: sum(r[key]) / 5 for key in PAIRS}
    out = dict(r)
    for m in (2, 4):
        out[f"enough for {m} marks"] = next((h for h in (1, 2, 4, 8) if mean[m, h] < 0.1), None)
    few = [(m, h) for m, h in PAIRS if h < m]
    out["law"] = min(LAWS, key=lambda law: sum(abs(LAWS[law](*key) - mean[key]) for key in few))
    return out
# errors of real runs of measured() on this machine
RUNS = {
    (2, 1): [0.46765, 0.46456, 0.46028, 0.4603, 0.45712], (2, 2): [0.00051, 0.00027, 0.00055, 0.00045, 0.00065],
    (2, 4): [0.00073, 0.00065, 0.00085, 0.00099, 0.00047], (2, 8): [0.00081, 0.00114, 0.00126, 0.00093, 0.00144],
    (4, 1): [0.67412, 0.67826, 0.67985, 0.67129, 0.67468], (4, 2): [0.41037, 0.47203, 0.45453, 0.44641, 0.44568],
    (4, 4): [0.00076, 0.00042, 0.00047, 0.00053, 0.00038], (4, 8): [0.00118, 0.00315, 0.03919, 0.01022, 0.04693],
}

# %% right: real runs, read off from sums
heads_results = {}
for marks in (4, 2):
    for heads in (8, 4, 2, 1):
        heads_results[marks, heads] = five_errors(marks, heads)
        if sum(heads_results[marks, heads]) < 0.5:
            heads_results[f"enough for {marks} marks"] = heads
said = {key: 1 - key[1] / key[0] for key in ((2, 1), (4, 1), (4, 2))}
near = all(abs(sum(heads_results[key]) / 5 - value) < 0.15 for key, value in said.items())
heads_results["law"] = "1 - heads / marks" if near else "marks / (marks + heads)"

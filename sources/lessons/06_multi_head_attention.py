# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06 · Multi-head attention
#
# At the end you can build multi-head attention in two memory layouts, load PyTorch's weights into it, and measure what each of its heads does.
#
# {{colab_link}} · about 80 minutes · builds on lessons 04 and 05

# %% tags=["setup"]
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from tqdm import tqdm

from course_utils import attention, diagrams, masks, multi_head, plotting, widgets

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors here are small: sharing them out among threads takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. say what one head cannot do, and show a task that needs two;
# 2. split a tensor into heads and merge it again, by transpose and by einsum, without scrambling it;
# 3. count what heads cost;
# 4. write multi-head attention for self- and cross-attention, and say what its output projection is for;
# 5. hold it equal to `nn.MultiheadAttention` by copying its packed weights;
# 6. measure what a trained head does, and tell a head that works from a head that is idle.
#
# Lesson 04 built one attention: three projections, scaled scores, a softmax, a weighted sum. Lesson 05 added masks. This lesson runs several of them side by side.

# %% [markdown]
# ## Predict first
#
# A red card shows 10, a blue card shows 4. You do not see the cards. A friend gives you one weighted average of the two numbers, and tells you the weights. Can you say which number is on which card, if the weights are 0.5 and 0.5? If they are 0.75
# and 0.25? If your friend gives you *both* averages? Decide before you run the cell.

# %%
pairs = [(10, 4), (4, 10), (9, 7), (8, 6)]  # (red, blue)
print("red, blue    average (0.5, 0.5)    average (0.75, 0.25)")
for red, blue in pairs:
    print(f"{red:3}, {blue:3}    {0.5 * red + 0.5 * blue:10.2f}    {0.75 * red + 0.25 * blue:18.2f}")

# %% [markdown]
# One average fits many pairs, whatever its weights: the first two rows share the first average, and rows one and three share the second. Only the two averages *together* belong to one pair alone. One average is one equation, and two numbers need two.
#
# An attention head gives each query exactly one weighted average.

# %% [markdown]
# ## 6.1 One head is one weighting
#
# Recall lesson 04. For one query, a head computes one row of weights $w_j$ over the keys, each at least 0, with sum 1. Its output is
#
# $$o = \sum_{j=1}^{L_k} w_j \, v_j .$$
#
# A value $v_j$ may have many entries, but **all entries are averaged with the same weights**. A head that wants the color of one token and the size of another cannot look at both without mixing both. A second head has its own projections, so its own scores,
# so its own weights.

# %%
values = torch.tensor([[10.0, 1.0], [4.0, 8.0]])  # (L_k=2, d_v=2): a red token and a blue token, two numbers each
one_head = torch.tensor([[0.5, 0.5]])  # (1, L_k): one query, one weighting
two_heads = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # (H=2, L_k): one weighting a head
print("one head: ", (one_head @ values).tolist(), "- both entries are mixed alike")
print("two heads:", (two_heads @ values).tolist(), "- one token each")

# %% [markdown]
# ## 6.2 A task that needs two heads
#
# A claim is worth little without a test. Each sequence has 6 tokens, and each token carries 4 random numbers. One token is marked red, another is marked blue. The task: report the red token's numbers *and* the blue token's numbers.

# %%
def two_marks(rng, batch=64, length=6):
    numbers = torch.randn(batch, length, 4, generator=rng)  # (B, L, 4)
    places = torch.rand(batch, length, generator=rng).argsort(dim=-1)[:, :2]  # (B, 2): where red and blue are
    marks = F.one_hot(places, length).float().transpose(1, 2)  # (B, 2, L) -> (B, L, 2)
    target = numbers[torch.arange(batch)[:, None], places].flatten(1)  # (B, 2, 4) -> (B, 8): red's numbers, blue's numbers
    return torch.cat([numbers, marks], dim=-1), target  # (B, L, 6), (B, 8)


tokens, target = two_marks(torch.Generator().manual_seed(0), batch=1)
print(tokens[0], "\ntarget", target[0])

# %% [markdown]
# **What can one fixed weighting reach?** Put weight $w$ on red and $1 - w$ on blue. The average $m = w\,r + (1-w)\,b$ is the best clue for both numbers. For independent numbers of variance 1, the best guess of $r$ from $m$ leaves the variance
# $(1-w)^2 / (w^2 + (1-w)^2)$, and that of $b$ leaves $w^2 / (w^2 + (1-w)^2)$. Their sum is 1 *whatever $w$ is*. So half of the variance of the eight numbers stays unexplained. By measurement, with the best guess found by least squares:

# %%
rng = torch.Generator().manual_seed(1)
red, blue = torch.randn(20000, 1, generator=rng), torch.randn(20000, 1, generator=rng)  # (n, 1) each
for w in (0.5, 0.75, 1.0):
    average = w * red + (1 - w) * blue  # (n, 1)
    left = [(y - average * (average * y).mean() / (average**2).mean()).var().item() for y in (red, blue)]
    print(f"weight on red {w:4.2f}   left of red {left[0]:.2f}   left of blue {left[1]:.2f}   mean {sum(left) / 2:.2f}")

# %% [markdown]
# Now heads that *learn* their weights. This is multi-head attention in its plainest form: a loop over heads, each an attention of its own as in lesson 04, their outputs side by side, and one linear layer `o_proj` on top (section 6.7 says what it is for).

# %%
class HeadsInALoop(nn.Module):
    def __init__(self, d_in, d_model, num_heads, d_out):
        super().__init__()
        d_head = d_model // num_heads
        self.heads = nn.ModuleList(
            nn.ModuleDict({name: nn.Linear(d_in, d_head, bias=False) for name in ("q", "k", "v")}) for _ in range(num_heads)
        )
        self.o_proj = nn.Linear(d_model, d_out, bias=False)

    def forward(self, query, memory):
        outputs, weights = [], []
        for head in self.heads:  # each: (B, L_q, d_head), (B, L_q, L_k)
            o, w = attention.scaled_dot_product_attention(head["q"](query), head["k"](memory), head["v"](memory))
            outputs.append(o)
            weights.append(w)
        return self.o_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)  # (B, L_q, d_out), (B, H, L_q, L_k)

# %% [markdown]
# One query asks the six tokens; it is always the same vector of ones. We train one head of size 16, two heads of size 8, and, to be fair to the single head, one head of size 64. **Predict first:** which of them solve the task?

# %%
def train_two_marks(d_model, num_heads, steps=200):
    torch.manual_seed(0)
    rng = torch.Generator().manual_seed(0)
    model = HeadsInALoop(6, d_model, num_heads, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(steps):
        tokens, target = two_marks(rng)
        report, _ = model(torch.ones(len(tokens), 1, 6), tokens)  # (B, L_q=1, 8)
        loss = F.mse_loss(report[:, 0], target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, torch.tensor(losses)

# %% tags=["nbval-ignore-output"]
runs = {"1 head of 16": (16, 1), "1 head of 64": (64, 1), "2 heads of 8": (16, 2)}
trained = {name: train_two_marks(*sizes) for name, sizes in runs.items()}
fresh_tokens, fresh_target = two_marks(torch.Generator().manual_seed(2), batch=2000)
error = {}
for name, (model, _) in trained.items():
    with torch.no_grad():
        report, _ = model(torch.ones(2000, 1, 6), fresh_tokens)
    error[name] = F.mse_loss(report[:, 0], fresh_target).item()
    print(f"{name:13}  parameters {sum(p.numel() for p in model.parameters()):5}   error on new sequences {error[name]:.3f}")
assert error["2 heads of 8"] < 0.01 and min(error["1 head of 16"], error["1 head of 64"]) > 0.2

# %% tags=["nbval-ignore-output"]
ax = plotting.curves(torch.arange(200), {name: losses for name, (_, losses) in trained.items()}, xlabel="step", ylabel="mean squared error", ax=plotting.new_axes(6.4, 3.4))
plotting.show(ax, "Error by training step. Both single heads come to rest well above zero, two heads fall to nearly zero.")

# %% [markdown]
# *Notice that two lines come to rest high up and one goes to the bottom. The two that stay up are the single heads, the wide one too.* The first and the last row of the table have the same number of parameters. What the single head lacks is not
# size but a second weighting. Look at the weights themselves:

# %% tags=["nbval-ignore-output"]
red_place, blue_place = fresh_tokens[..., 4].bool(), fresh_tokens[..., 5].bool()  # (B, L) each
for name in ("1 head of 16", "2 heads of 8"):
    with torch.no_grad():
        weights = trained[name][0](torch.ones(2000, 1, 6), fresh_tokens)[1][:, :, 0]  # (B, H, L_k)
    for h in range(weights.shape[1]):
        on_red, on_blue = weights[:, h][red_place], weights[:, h][blue_place]  # (B,) each
        print(f"{name}, head {h}: weight on red {on_red.mean():.2f} ± {on_red.std():.2f}   on blue {on_blue.mean():.2f} ± {on_blue.std():.2f}")

# %% [markdown]
# Two heads have two different weightings, and keep them in every sequence: the spread behind the ± is nearly zero. They need not be pure. Two different averages determine both numbers, as with the cards, and the linear layer on top untangles them. The single head must share its weight, and its weights differ
# from sequence to sequence. It lets the *numbers* move the weights, and so smuggles out a little more than a fixed weighting could. That is why it ends somewhat below one half.

# %% [markdown]
# ## 6.3 Splitting costs nothing
#
# We did not add a head of full width. We cut the width in two. The Transformer of 2017 does the same: $d_{model} = 512$ is cut into $H = 8$ heads of size $d_{head} = 512 / 8 = 64$, so
#
# $$H \cdot d_{head} = d_{model} .$$
#
# Count multiplications for $L$ tokens (self-attention, softmax left out):
#
# | step | one head of 512 | 8 heads of 64 |
# |---|---|---|
# | four projections | $4 \cdot L \cdot 512 \cdot 512$ | $3 \cdot 8 \cdot L \cdot 512 \cdot 64 + L \cdot 512 \cdot 512$: the same |
# | scores | $L \cdot L \cdot 512$ | $8 \cdot L \cdot L \cdot 64$: the same |
# | weighted sums | $L \cdot L \cdot 512$ | $8 \cdot L \cdot L \cdot 64$: the same |
#
# Together $4 L d_{model}^2 + 2 L^2 d_{model}$, and $H$ has dropped out. PyTorch counts for us (a multiplication and an addition each, so we halve):

# %%
L, d_model = 100, 512
x = torch.randn(1, L, d_model, generator=torch.Generator().manual_seed(0))  # (B=1, L, d_model)
for num_heads in (1, 8, 64):
    layer = multi_head.MultiHeadAttention(d_model, num_heads)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        _, weights = layer(x, return_weights=True)
    count = counter.get_total_flops() // 2
    assert count == 4 * L * d_model**2 + 2 * L**2 * d_model
    parameters = sum(p.numel() for p in layer.parameters())
    print(f"{num_heads:2} x {d_model // num_heads:3}: {parameters:,} parameters, {count:,} multiplications, {weights.numel():,} weights to hold")

# %% [markdown]
# Parameters and multiplications are the same. One thing does grow: there are $H \cdot L^2$ weights, and as many exponentials in the softmax. And the heads get narrow: with 64 heads
# each has size 8 to compare tokens in. Eight heads is a compromise, not a law.

# %%
plotting.show(diagrams.head_wiring(8))

# %% [markdown]
# *Each query head reads keys and values of its own.* That is not a law either: lesson 07 lets several query heads share them.

# %% [markdown]
# ## 6.4 Splitting into heads: view, then transpose
#
# The loop of 6.2 has $3H$ small projections. Stack the matrices of all heads into one of shape `(d_model, d_model)`, project once, and cut the *result*: head $h$ owns the features $h \cdot d_{head}$ to $(h+1) \cdot d_{head} - 1$. The rows of one large matrix are the rows of the small ones:

# %%
rng = torch.Generator().manual_seed(0)
x = torch.randn(2, 5, 12, generator=rng)  # (B, L, d_model)
small = [torch.randn(3, 12, generator=rng) for _ in range(4)]  # H=4 matrices (d_head=3, d_model)
large = torch.cat(small)  # (H * d_head = 12, d_model)
side_by_side = torch.cat([x @ W.T for W in small], dim=-1)  # (B, L, d_model)
assert torch.allclose(x @ large.T, side_by_side, atol=1e-5)
print("one projection", tuple(large.shape), "equals four of", tuple(small[0].shape), "side by side")

# %% [markdown]
# Now the cut. In the picture below each color is a head: it gets neighboring features of *every* token, and merging puts them back where they were.

# %%
x = (10 * torch.arange(1.0, 4.0)[:, None] + torch.arange(6))[None]  # (B=1, L=3, d_model=6)
plotting.show(diagrams.split_merge(x[0], 2))

# %% [markdown]
# By hand. Let token $t$ have the features $10t, 10t + 1, \dots, 10t + 5$, so that each number says where it comes from: 3 tokens, $d_{model} = 6$, 2 heads.
#
# **Predict first.** Which nine numbers belong to head 1? Write them down as a 3 by 3 table, one row a token.

# %%
x = (10 * torch.arange(3)[:, None] + torch.arange(6))[None]  # (B=1, L=3, d_model=6)
print("x\n", x[0])
by_hand = torch.tensor([[3, 4, 5], [13, 14, 15], [23, 24, 25]])  # head 1: features 3 to 5 of every token


def split_loop(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return torch.stack([x[..., h * d_head : (h + 1) * d_head] for h in range(num_heads)], dim=1)  # (B, H, L, d_head)


assert torch.equal(split_loop(x, 2)[0, 1], by_hand)
print("head 1\n", split_loop(x, 2)[0, 1])

# %% [markdown]
# Without a loop in two moves. `view` cuts the last axis in two: `(B, L, H, d_head)`. `transpose` brings the heads forward, so that each head has a matrix `(L, d_head)` of its own and the batched matrix product of lesson 04 does the rest.

# %%
def split(x, num_heads):
    B, L, d_model = x.shape
    cut = x.view(B, L, num_heads, d_model // num_heads)  # (B, L, H, d_head)
    return cut.transpose(1, 2)  # (B, H, L, d_head)


assert torch.equal(split(x, 2), split_loop(x, 2)) and torch.equal(split(x, 2), multi_head.split_heads(x.float(), 2).long())
straight = x.view(1, 2, 3, 3)  # the same shape in one move
print("split:", tuple(split(x, 2).shape), "  view straight to (B, H, L, d_head):", tuple(straight.shape))
print("equal?", torch.equal(split(x, 2), straight))

# %%
axes = plotting.new_axes(9.4, 2.0, columns=3)
for ax, title, boxes in zip(axes, ("x (L, d_model)", "split (H, L, d_head)", "straight view (H, L, d_head)"), (x[0], split(x, 2)[0], straight[0]), strict=True):
    plotting.number_grid(boxes, shades=boxes // 10, ax=ax, title=title)
plotting.show(axes[0], "Three tokens of six features, one color a token. Split: each of the two heads has a row of every token. Straight view: head 0 has all of token 0 and half of token 1, head 1 the rest.")

# %% [markdown]
# *Notice the colors. After the right split each head has one row of every color: a part of each token. After the straight view, head 0 has only the first half of the sequence, and its rows are pieces of tokens.* The shape is the same, so nothing complains. `view` never moves a
# number; it only cuts the row of numbers in memory differently. Moving axes takes a `transpose`.

# %% [markdown]
# ## 6.5 Merging: transpose back, then contiguous
#
# After attention each head has a result `(L_q, d_head)`. They go back side by side, the inverse of the split: `(B, H, L, d_head)` to `(B, L, H, d_head)` to `(B, L, d_model)`. Straight after a split, the second transpose undoes the first, and `view` would do for the last step. But a matrix product writes a new tensor, head by head, and then `view` refuses to work:

# %%
heads = split(x, 2)  # (B, H, L, d_head)
back = heads.transpose(1, 2)  # (B, L, H, d_head)
turned = heads.contiguous().transpose(1, 2)  # as after a matrix product: heads in order in memory, then turned
print("strides", back.stride(), "contiguous", back.is_contiguous(), "|", turned.stride(), "contiguous", turned.is_contiguous())
try:
    turned.view(1, 3, 6)
except RuntimeError as problem:
    print("RuntimeError:", str(problem).split(".")[0])

# %% [markdown]
# The strides say how far apart neighbors along each axis lie in memory (lesson 00). A transpose swaps strides and moves nothing. The result of a matrix product lies in memory head by head, so the features of one token do not stand together, and no cut can bring them together. `contiguous()` copies them
# into order. `reshape` and `flatten` do so by themselves where it is needed.

# %%
def merge_loop(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)  # H times (B, L, d_head) -> (B, L, H * d_head)


def merge(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).contiguous().view(B, L, H * d_head)  # (B, L, H, d_head) -> (B, L, d_model)


assert torch.equal(merge(heads), x) and torch.equal(merge_loop(heads), x)
assert torch.equal(multi_head.merge_heads(heads.float()), x.float())
print("merge(split(x)) is x again:", torch.equal(merge(split(x, 2)), x))

# %% [markdown]
# ## 6.6 All heads at once, twice
#
# In between, nothing new: attention as in lesson 04, with one more axis in front. In the layout `(B, H, L, d_head)` the matrix product takes the last two axes and runs over all others.

# %%
rng = torch.Generator().manual_seed(0)
B, H, L_q, L_k, d_head = 2, 4, 5, 7, 3
q = torch.randn(B, H, L_q, d_head, generator=rng)
k, v = torch.randn(B, H, L_k, d_head, generator=rng), torch.randn(B, H, L_k, d_head, generator=rng)

scores = q @ k.transpose(-2, -1) / d_head**0.5  # (B, H, L_q, L_k)
weights = scores.softmax(dim=-1)  # (B, H, L_q, L_k): each head has its own rows
heads = weights @ v  # (B, H, L_q, d_head)

for b in range(B):
    for h in range(H):
        expected, _ = attention.scaled_dot_product_attention(q[b, h], k[b, h], v[b, h])  # lesson 04, one head
        assert torch.allclose(heads[b, h], expected, atol=1e-5)
assert torch.allclose(heads, F.scaled_dot_product_attention(q, k, v), atol=1e-5)
print("each head by itself, all heads at once and PyTorch agree:", tuple(heads.shape))

# %% [markdown]
# **The same by einsum.** In the layout `(B, L, H, d_head)`, where `view` leaves us, no transpose is needed at all: einsum sums over the axis we name, wherever it stands. Read `bihd,bjhd->bhij` as: for each item `b` and head `h`, the query at `i` against the key at `j`, summed over the features `d`.

# %%
q_l, k_l, v_l = (t.transpose(1, 2) for t in (q, k, v))  # (B, L, H, d_head)
scores_l = torch.einsum("bihd,bjhd->bhij", q_l, k_l) / d_head**0.5  # (B, H, L_q, L_k)
weights_l = scores_l.softmax(dim=-1)  # (B, H, L_q, L_k)
heads_l = torch.einsum("bhij,bjhd->bihd", weights_l, v_l)  # (B, L_q, H, d_head)
merged = heads_l.flatten(2)  # (B, L_q, d_model): heads already stand side by side

assert torch.allclose(weights_l, weights, atol=1e-6) and torch.allclose(merged, merge(heads), atol=1e-5)
print("einsum agrees:", tuple(merged.shape))

# %% [markdown]
# One could also let the scores come out as `bijh`. Then the keys are the *third* axis, and `softmax(dim=-1)` would be a softmax over the heads ("What goes wrong" runs it). Use a letter of its own for each axis, and different sizes in tests: with
# $L_q = L_k$ a mixed-up letter goes unnoticed.

# %% [markdown]
# ## 6.7 Concatenation, and why there is an output projection
#
# The heads' results stand side by side in `(B, L_q, d_model)`. The last step multiplies them by $W_o$:
#
# $$\operatorname{MultiHead}(Q, K, V) = \operatorname{Concat}(\text{head}_1, \dots, \text{head}_H)\, W_o , \qquad \text{head}_h = \operatorname{Attention}(Q W_{q,h},\; K W_{k,h},\; V W_{v,h}) ,$$
#
# with $W_{q,h}, W_{k,h}, W_{v,h}$ of shape $(d_{model}, d_{head})$ and $W_o$ of shape $(d_{model}, d_{model})$. Cut $W_o$ into $H$ blocks of $d_{head}$ rows. Then the product is a **sum**: each head sends its result through its own block, and the results are added.

# %%
W_o = torch.randn(H * d_head, H * d_head, generator=rng)  # (d_model, d_model)
at_once = merge(heads) @ W_o  # (B, L_q, d_model)
added = torch.zeros_like(at_once)
for h in range(H):
    block = W_o[h * d_head : (h + 1) * d_head]  # (d_head, d_model)
    added = added + heads[:, h] @ block  # (B, L_q, d_head) @ (d_head, d_model)
assert torch.allclose(at_once, added, atol=1e-4)
print("concatenate and project = project each head and add:", tuple(added.shape))

# %% [markdown]
# Without $W_o$, head 0 could write only to the first $d_{head}$ features of the output, and head 1 only to the next. With it, each head may write anywhere, and two heads may write to the same feature. Measured by gradients: which output features depend on which head?

# %%
def reach(o_proj):
    """(H, d_model): how much each output feature depends on each head."""
    probe = heads.clone().requires_grad_()  # (B, H, L_q, d_head)
    output = merge(probe) if o_proj is None else merge(probe) @ o_proj  # (B, L_q, d_model)
    gradients = [torch.autograd.grad(output[..., f].sum(), probe, retain_graph=True)[0] for f in range(output.shape[-1])]
    return torch.stack([g.abs().mean((0, 2, 3)) for g in gradients], dim=1)


print("without W_o, 1 = depends:\n", (reach(None) > 0).int())
print("with W_o, 1 = depends:\n", (reach(W_o) > 0).int())

# %% [markdown]
# There is a second reason. The sum above shows that a head's values pass through $W_{v,h}$ and then through its block of $W_o$: one matrix $W_{v,h} W_{o,h}$ of shape $(d_{model}, d_{model})$, but of rank at most $d_{head}$. A head reads $d_{head}$ directions from a token and writes
# to $d_{head}$ directions of the output. Which ones it writes to is what $W_o$ learns.

# %%
W_v = torch.randn(H * d_head, H * d_head, generator=rng)  # (d_model, d_model), x @ W_v
for h in range(H):
    columns = slice(h * d_head, (h + 1) * d_head)
    through = W_v[:, columns] @ W_o[columns]  # (d_model, d_head) @ (d_head, d_model) -> (d_model, d_model)
    print(f"head {h}: matrix {tuple(through.shape)}, rank {torch.linalg.matrix_rank(through).item()}")

# %% [markdown]
# ## 6.8 One module for self- and cross-attention
#
# Everything in one place. Queries come from `query`; keys and values come from `memory`. If no memory is given, the sequence asks itself: self-attention. That is the only difference.

# %%
class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.q_proj, self.k_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.v_proj, self.o_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, query, memory=None, mask=None):
        memory = query if memory is None else memory
        q = split(self.q_proj(query), self.num_heads)  # (B, H, L_q, d_head)
        k = split(self.k_proj(memory), self.num_heads)  # (B, H, L_k, d_head)
        v = split(self.v_proj(memory), self.num_heads)  # (B, H, L_k, d_head)
        scores = q @ k.transpose(-2, -1) / self.d_head**0.5  # (B, H, L_q, L_k)
        weights = attention.masked_softmax(scores, mask)  # (B, H, L_q, L_k), lesson 05
        return self.o_proj(merge(weights @ v)), weights  # (B, L_q, d_model)

# %% [markdown]
# A mask of shape `(B, 1, L_q, L_k)` or `(1, 1, L_q, L_k)` broadcasts over the heads: what may be seen is the same for all. Held equal to the library's module, whose parameters have the same names:

# %%
torch.manual_seed(0)
ours = MultiHead(12, 4)
library = multi_head.MultiHeadAttention(12, 4)
library.load_state_dict(ours.state_dict())
x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)  # (B, L_q, d_model), (B, L_k, d_model)
causal = masks.causal_mask(5)  # (1, 1, L_q, L_q), True = may attend

with torch.no_grad():
    cases = {"self": (x, None, None), "self, causal": (x, None, causal), "cross": (x, memory, None)}
    for name, (query, source, mask) in cases.items():
        output, weights = ours(query, source, mask)
        theirs, their_weights = library(query, source, source, mask=mask, return_weights=True)
        assert torch.allclose(output, theirs, atol=1e-6) and torch.allclose(weights, their_weights, atol=1e-6)
        print(f"{name:13} output {tuple(output.shape)}   weights {tuple(weights.shape)}")

# %% [markdown]
# ## 6.9 Equal to `nn.MultiheadAttention`
#
# PyTorch's own module keeps the matrices of query, key and value in one packed parameter, `in_proj_weight`, stacked in this order. Print what is in it:

# %%
torch.manual_seed(1)
pytorch = nn.MultiheadAttention(embed_dim=12, num_heads=4, batch_first=True)
nn.init.normal_(pytorch.in_proj_bias)  # PyTorch starts its biases at 0, where a mistake in them would not show
nn.init.normal_(pytorch.out_proj.bias)
for name, parameter in pytorch.named_parameters():
    print(f"{name:15} {tuple(parameter.shape)}")

# %%
def unpack(module):
    W_q, W_k, W_v = module.in_proj_weight.chunk(3)  # (3 * d_model, d_model) -> three (d_model, d_model)
    b_q, b_k, b_v = module.in_proj_bias.chunk(3)  # (3 * d_model,) -> three (d_model,)
    return {
        "q_proj.weight": W_q, "q_proj.bias": b_q,
        "k_proj.weight": W_k, "k_proj.bias": b_k,
        "v_proj.weight": W_v, "v_proj.bias": b_v,
        "o_proj.weight": module.out_proj.weight, "o_proj.bias": module.out_proj.bias,
    }  # fmt: skip


ours.load_state_dict(unpack(pytorch))
with torch.no_grad():
    for name, (query, source, mask) in cases.items():
        source = query if source is None else source
        hidden = None if mask is None else ~mask[0, 0]  # PyTorch's module: True = may NOT attend
        theirs, their_weights = pytorch(query, source, source, attn_mask=hidden, average_attn_weights=False)
        output, weights = ours(query, source, mask)
        assert torch.allclose(output, theirs, atol=1e-6) and torch.allclose(weights, their_weights, atol=1e-6)
        print(f"{name:13} output and weights equal up to rounding")

# %% [markdown]
# Three traps in that call. `batch_first` is False by default, which means `(L, B, d_model)`. The mask has the opposite meaning (lesson 05). And unless told otherwise, the module returns the weights **averaged over the heads**:

# %%
with torch.no_grad():
    _, averaged = pytorch(x, x, x)
    _, each = pytorch(x, x, x, average_attn_weights=False)
assert torch.allclose(averaged, each.mean(dim=1), atol=1e-6)
print("by default", tuple(averaged.shape), "  with average_attn_weights=False", tuple(each.shape))

# %% [markdown]
# ## 6.10 What heads learn
#
# Heads are not told what to do. We give a small model two jobs at once and see which head takes which. Each token is a letter with a random number. At each position the model reports two things:
#
# 1. the number of the **previous token** (nothing is asked of the first position);
# 2. the mean number of all tokens with the **same letter**, itself included.
#
# The first is about places, the second about content. A token's vector is the sum of three: one for its letter, one for its place (lesson 08 is about places), one times its number.

# %%
LETTERS, LENGTH = "abcdef", 10


def letters_and_numbers(rng, batch=48):
    letters = torch.randint(len(LETTERS), (batch, LENGTH), generator=rng)  # (B, L)
    numbers = torch.randn(batch, LENGTH, generator=rng)  # (B, L)
    same = (letters[:, :, None] == letters[:, None, :]).float()  # (B, L, L)
    mean_of_same = (same @ numbers[..., None])[..., 0] / same.sum(dim=-1)  # (B, L)
    return letters, numbers, torch.stack([numbers.roll(1, dims=1), mean_of_same], dim=-1)  # target: (B, L, 2)


class TwoJobs(nn.Module):
    def __init__(self, num_heads, d_model=32):
        super().__init__()
        self.letter, self.place = nn.Embedding(len(LETTERS), d_model), nn.Embedding(LENGTH, d_model)
        self.number = nn.Linear(1, d_model, bias=False)
        self.attention = MultiHead(d_model, num_heads)
        self.report = nn.Linear(d_model, 2)

    def forward(self, letters, numbers):
        x = self.letter(letters) + self.place(torch.arange(LENGTH)) + self.number(numbers[..., None])  # (B, L, d_model)
        output, weights = self.attention(x)
        return self.report(output), weights  # (B, L, 2), (B, H, L, L)

# %%
def train_two_jobs(num_heads, steps=300):
    torch.manual_seed(0)
    rng = torch.Generator().manual_seed(0)
    model = TwoJobs(num_heads)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in tqdm(range(steps), desc=f"heads: {num_heads}", unit="step", mininterval=1, file=sys.stdout):
        letters, numbers, target = letters_and_numbers(rng)
        loss = F.mse_loss(model(letters, numbers)[0][:, 1:], target[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def errors(model):
    letters, numbers, target = letters_and_numbers(torch.Generator().manual_seed(1), batch=1000)
    with torch.no_grad():
        report, _ = model(letters, numbers)
    return ((report - target) ** 2)[:, 1:].mean((0, 1))  # (2,): previous token, same letter

# %% [markdown]
# One head, two and four, the same width and the same number of parameters. This takes a few seconds.

# %% tags=["nbval-ignore-output"]
models = {num_heads: train_two_jobs(num_heads) for num_heads in (1, 2, 4)}
print("error       previous token   same letter")
for num_heads, model in models.items():
    previous, same = errors(model).tolist()
    print(f"{num_heads} head(s) {previous:15.3f} {same:13.3f}")
assert errors(models[1]).max() > 0.1 and errors(models[2]).max() < 0.02 and errors(models[4]).max() < 0.02

# %% [markdown]
# One head does not manage both jobs. Two heads do, four do too. Now open the model with four heads on one sequence:

# %% tags=["nbval-ignore-output"]
word = "abcabdaebc"
letters = torch.tensor([[LETTERS.index(letter) for letter in word]])  # (1, L)
numbers = torch.randn(1, LENGTH, generator=torch.Generator().manual_seed(3))  # (1, L)
with torch.no_grad():
    word_weights = models[4](letters, numbers)[1][0]  # (H, L, L)
for pair in ((0, 1), (2, 3)):
    axes = plotting.new_axes(10.4, 3.8, columns=2)
    for h, ax in zip(pair, axes, strict=True):
        plotting.attention_heatmap(word_weights[h], list(word), list(word), ax=ax, title=f"head {h}")
    plotting.show(axes[0], f"Weights of heads {pair[0]} and {pair[1]} on the sequence {word}. Among the four heads one is bright right below the diagonal, the previous token; one wherever query and key are the same letter; the others are less clear.")

# %% [markdown]
# *Notice one head with a bright line right below the diagonal, and one with bright spots wherever the letter at the left equals the letter below.* A picture of one sequence is a suggestion, not evidence. So measure on 1000 new sequences. For each head: the mean weight on the previous token; the mean total weight on
# tokens with the same letter; and, as the yardstick, what uniform weights would give.

# %% tags=["nbval-ignore-output"]
def head_shares(weights, letters):
    same = letters[:, :, None] == letters[:, None, :]  # (B, L, L)
    previous = weights.diagonal(-1, dim1=-2, dim2=-1).mean((0, 2))  # (H,): entries [i, i - 1]
    return previous, (weights * same[:, None])[:, :, 1:].sum(-1).mean((0, 2))  # (H,), (H,)


letters, numbers, target = letters_and_numbers(torch.Generator().manual_seed(1), batch=1000)
with torch.no_grad():
    weights = models[4](letters, numbers)[1]  # (B, H, L, L)
on_previous, on_same = head_shares(weights, letters)
uniform = head_shares(torch.full((1000, 1, LENGTH, LENGTH), 1 / LENGTH), letters)
print("weight on   previous token   same letter")
for h in range(4):
    print(f"head {h}      {on_previous[h]:14.2f} {on_same[h]:13.2f}")
print(f"uniform     {uniform[0].item():14.2f} {uniform[1].item():13.2f}")
assert on_previous.max() > 0.9 and on_same.max() > 0.9

# %% [markdown]
# There is a previous-token head and a same-letter head. The table says what a head *looks at*. It does not say what the model *uses*. For that, take a head away: set its block of $W_o$ to zero and measure the errors again.
#
# **Predict first.** Which error rises when which head goes? Will every head be missed?

# %% tags=["nbval-ignore-output"]
def errors_without(model, head):
    W_o, d_head = model.attention.o_proj.weight, model.attention.d_head  # nn.Linear keeps (out, in): blocks are columns
    kept = W_o.detach().clone()
    with torch.no_grad():
        W_o[:, head * d_head : (head + 1) * d_head] = 0
        found = errors(model)
        W_o.copy_(kept)
    return found


ablation = torch.stack([errors_without(models[4], h) for h in range(4)])  # (H, 2)
print("error        previous token   same letter")
print(f"all heads    {errors(models[4])[0]:14.3f} {errors(models[4])[1]:13.3f}")
for h in range(4):
    print(f"without {h}    {ablation[h, 0]:14.3f} {ablation[h, 1]:13.3f}")
assert ablation[on_previous.argmax(), 0] > 0.5 and ablation[on_same.argmax(), 1] > 0.2
for h in range(4):
    if ablation[h].max() < 0.05:
        print(f"nobody misses head {h}: yet {on_previous[h] / uniform[0].item():.1f} times uniform on previous, {on_same[h] / uniform[1].item():.1f} times on same letter")

# %% [markdown]
# Two conclusions, both measured here:
#
# - **Heads divide the work.** Without the previous-token head the first error rises to about the variance of a number, which is what guessing costs; the second stays. Without the same-letter head it is the other way around.
# - **A pattern is not a function.** The other heads also have weights one could describe, some of them several times what uniform weights would give (the last lines above), and nobody misses them. Looking at heatmaps alone would have told a story about them.
#
# Nothing in the model forces a head to have one clean job. It happened here because the task has two clean jobs. In large models some heads are as clear as these; many are not.

# %% [markdown]
# ## Look
#
# All heads of the trained layer on the sequence above. First a picture of the first head, then the viewer. Choose a head in the grid and point at a letter: it says where that letter looks. Find the previous-token head and the same-letter head.

# %% tags=["nbval-ignore-output"]
viewer = widgets.attention_viewer({"self-attention": (word_weights, list(word), list(word))})
viewer.show_first_state("Weights of head 0 on the sequence abcabdaebc as a heatmap of ten by ten tokens.")

# %% [markdown]
# *A line from left to right is a weight: the thicker, the more. The weights of each query sum to 1.* A click keeps a letter; "heatmap" shows the same numbers as a grid.

# %% tags=["nbval-ignore-output"]
viewer

# %% [markdown]
# ## What goes wrong
#
# **Heads split by one `view`, without the transpose.** The shape is right, so it runs. Section 6.4 showed that head 0 then holds the first half of the sequence. Which tokens can each output depend on? Measured by gradients, for a layer that splits *and* merges by view, for the right
# layer under a causal mask, and for one that splits by view but merges rightly, under the same mask.

# %%
class SplitByView(MultiHead):
    def __init__(self, d_model, num_heads, merge_too=True):
        super().__init__(d_model, num_heads)
        self.merge_too = merge_too

    def forward(self, query, memory=None, mask=None):
        B, L, d_model = query.shape
        q, k, v = (p(query).view(B, self.num_heads, L, self.d_head) for p in (self.q_proj, self.k_proj, self.v_proj))
        weights = attention.masked_softmax(q @ k.transpose(-2, -1) / self.d_head**0.5, mask)  # (B, H, L, L)
        heads = weights @ v  # (B, H, L, d_head)
        return self.o_proj(heads.reshape(B, L, d_model) if self.merge_too else merge(heads)), weights


def depends(layer, mask=None):
    x = torch.randn(1, 8, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()  # (B, L, d_model)
    output, _ = layer(x, mask=mask)  # (B, L, d_model)
    gradients = [torch.autograd.grad(output[0, i].sum(), x, retain_graph=True)[0][0] for i in range(8)]  # 8 x (L, d_model)
    return (torch.stack(gradients).abs().sum(dim=-1) > 0).float()  # (L_out, L_in)

# %%
torch.manual_seed(0)
future = masks.causal_mask(8)  # (1, 1, L, L)
found = {
    "split and merged by view": depends(SplitByView(4, 2)),
    "right, causal mask": depends(MultiHead(4, 2), future),
    "split by view, causal mask": depends(SplitByView(4, 2, merge_too=False), future),
}
axes = plotting.new_axes(11.4, 3.4, columns=3)
for ax, (title, table) in zip(axes, found.items(), strict=True):
    plotting.attention_heatmap(table, ax=ax, title=title, quantity="1 = depends")
    ax.set(xlabel="token", ylabel="output")
plotting.show(axes[0], "Which of 8 tokens each of 8 outputs depends on. Split and merged by view: two blocks that never meet. Right with causal mask: a lower triangle. Split by view with causal mask: the first outputs depend on tokens of the second half, which is the future.")
print("outputs that see the future:", {title: int((table.triu(1).sum(-1) > 0).sum()) for title, table in list(found.items())[1:]})

# %% [markdown]
# *Notice the two blocks at the left: the sequence falls into halves that never meet, with no error and no mask. At the right early outputs depend on late tokens, in spite of the causal mask.* A leak test (lesson 05) finds the second, but not the first. Does the loss find it? Two tasks, trained with both layers: copy your own number, and report the first token's number.

# %% tags=["nbval-ignore-output"]
def train_simple(layer_class, task, steps=150):
    torch.manual_seed(0)
    rng = torch.Generator().manual_seed(0)
    layer, place = layer_class(16, 2), nn.Parameter(torch.randn(8, 16))  # (L, d_model)
    number, report = nn.Linear(1, 16), nn.Linear(16, 1)
    optimizer = torch.optim.Adam([*layer.parameters(), place, *number.parameters(), *report.parameters()], lr=0.01)
    for step in range(steps + 1):
        x = torch.randn(64 if step < steps else 2000, 8, 1, generator=rng)  # (B, L, 1); the last batch is the test
        target = x if task == "own number" else x[:, :1].expand_as(x)  # (B, L, 1)
        loss = F.mse_loss(report(layer(number(x) + place)[0]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


for task in ("own number", "first token's number"):
    print(f"{task:22}", {name: f"{train_simple(kind, task):.3f}" for name, kind in (("right", MultiHead), ("by view", SplitByView))})

# %% [markdown]
# The copy task trains with both, so a falling loss proves nothing. The other task needs a token from the other half, and there the wrong layer is stuck near one half: half of the positions can see the first token, the other half cannot.
#
# **Merged without the transpose back.** `reshape(B, L, d_model)` straight from `(B, H, L, d_head)` never complains, because `reshape` copies when it must. The way to notice takes one line: merge after split must give back the input.

# %%
x = (10 * torch.arange(3)[:, None] + torch.arange(6))[None]  # (B=1, L=3, d_model=6)
wrong = split(x, 2).reshape(1, 3, 6)
print("x\n", x[0], "\nmerged without transpose\n", wrong[0])
print("round trip holds: right", torch.equal(merge(split(x, 2)), x), "  wrong", torch.equal(wrong, x))

# %% [markdown]
# **A softmax over the heads.** With scores of shape `(B, L_q, L_k, H)` the last axis is not the keys. The weights are positive and at most 1. How you would notice: sum them over the keys.

# %%
scores_last = torch.einsum("bihd,bjhd->bijh", q_l, k_l) / d_head**0.5  # (B, L_q, L_k, H)
for dim in (-1, 2):
    w = scores_last.softmax(dim=dim)  # (B, L_q, L_k, H)
    print(f"dim={dim:2}   sums over the keys for query 0, one a head: {w.sum(dim=2)[0, 0]}")

# %% [markdown]
# **Divided by $\sqrt{d_{model}}$.** Each head compares vectors of size $d_{head}$, so that is the size whose root belongs below the scores (lesson 04). With the root of $d_{model}$ the scores are smaller by $\sqrt{H}$, and the weights are too even. How you would notice: the
# entropy (lesson 02), as the number of keys that count out of 16.

# %%
rng = torch.Generator().manual_seed(0)
queries, keys = torch.randn(8, 200, 64, generator=rng), torch.randn(8, 16, 64, generator=rng)  # (H, L_q, d_head), (H, L_k, d_head)
for name, size in (("d_head", 64), ("d_model", 512)):
    w = (queries @ keys.transpose(-2, -1) / size**0.5).softmax(dim=-1)  # (H, L_q, L_k)
    scores_spread = (queries @ keys.transpose(-2, -1) / size**0.5).std()
    print(f"divided by the root of {name:7}  spread of the scores {scores_spread:.2f}   keys that count {torch.special.entr(w).sum(-1).exp().mean():.1f} of 16")

# %% [markdown]
# ## In practice
#
# - The three input projections are often one matrix product, `qkv_proj` or `c_attn`, split in three afterwards: one large product keeps the hardware busier than three. That is what `in_proj_weight` is for. Beware the order: some checkpoints store all queries, then all keys, then all values; others store them head by head.
# - Production code calls `F.scaled_dot_product_attention` on `(B, H, L, d_head)`; it does not hold the weights. The library does so too unless asked for weights, with the same result (the cell below).
# - `(B, L, H, d_head)` is the layout of some fused kernels and of JAX code, because it needs no transpose. Read which one a function expects: with $H = L$ the wrong one runs.
# - Names elsewhere: `num_heads` is `n_head`, `nhead`, `num_attention_heads`; `d_model` is `embed_dim`, `n_embd`, `hidden_size`; `o_proj` is `out_proj`, `c_proj`, `dense`.
# - $H \cdot d_{head} = d_{model}$ is a habit. Nothing breaks if the projections lead to another inner size, as long as $W_o$ leads back. In lesson 07 keys and values get fewer heads than queries.

# %%
with torch.no_grad():
    slow, _ = library(memory, return_weights=True)
    fast = library(memory)
assert torch.allclose(slow, fast, atol=1e-6)
print("explicit path and fused kernel agree:", tuple(fast.shape))

# %% [markdown]
# ## Recap
#
# 1. **One head is one weighting**: all entries of the values are averaged with the same weights. Two things from two places need two heads, not a wider one.
# 2. **Split**: `view` to `(B, L, H, d_head)`, then `transpose`. **Merge**: `transpose` back, then `contiguous().view`, `reshape` or `flatten`. By einsum no transpose is needed. Test: merge after split is the identity.
# 3. **Cost**: $4 L d_{model}^2 + 2 L^2 d_{model}$ multiplications for any number of heads; only the number of weights grows with $H$.
# 4. **One module** does self-attention (memory = query) and cross-attention. $W_o$ lets each head write to every feature; the output is a sum over the heads.
# 5. **PyTorch's module** packs query, key and value in that order, masks with True = may not attend, and averages the weights over the heads unless told not to.
# 6. **What a head does** is measured, not seen: weight on a pattern against uniform weights, and the error without the head. Some heads are idle.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $H$ | number of heads | a number that divides $d_{model}$ |
# | $d_{head}$ | size of one head, $d_{model} / H$ | a number |
# | $q, k, v$ | queries, keys, values of all heads | $(B, H, L_q, d_{head})$, $(B, H, L_k, d_{head})$ |
# | $w$ | weights, for each head its own | $(B, H, L_q, L_k)$; each row sums to 1 |
# | $\text{head}_h$ | result of one head | $(B, L_q, d_{head})$ |
# | $W_{q,h}, W_{k,h}, W_{v,h}$ | input projections of one head | $(d_{model}, d_{head})$ |
# | $W_o$ | output projection | $(d_{model}, d_{model})$ |
# | `in_proj_weight` | PyTorch's query, key and value projections, stacked | $(3\, d_{model}, d_{model})$ |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. A model has one head of size 64 and cannot solve the two-marks task. Somebody makes the head four times as wide. Does it help?</summary>
#
# **Hardly.** Section 6.2 trains a wide head, and it stays far from zero. A wider head compares more finely and carries more, but it still has one row of weights for each query. ("Yes, it has more parameters" mistakes size for a second weighting.)
# </details>
#
# <details><summary>2. x has shape (2, 10, 12). What is the difference between x.view(2, 3, 10, 4) and x.view(2, 10, 3, 4).transpose(1, 2)?</summary>
#
# **Same shape, other content.** The second gives each head four features of every token. The first cuts the row of numbers in memory into three equal runs, so head 0 holds the first third of the sequence. (They are not equal up to order of the heads either: rows of the first are pieces of tokens.)
# </details>
#
# <details><summary>3. Going from 8 heads to 16 at d_model = 512: what happens to parameters, multiplications, and the number of weights?</summary>
#
# **Same, same, doubled.** $H$ drops out of the first two. (Who says all double thinks of heads of full width. Who says nothing changes forgets that each head has its own $L_q \times L_k$ table.)
# </details>
#
# <details><summary>4. The weights of nn.MultiheadAttention come back with shape (B, L_q, L_k). Is there one head?</summary>
#
# **No: they are averaged over the heads.** Pass `average_attn_weights=False`. (A mean of weights is not the weighting of any head: the mean of a previous-token head and a same-letter head looks like neither.)
# </details>
#
# <details><summary>5. A heatmap shows a head that always looks at the first token. What has it to do with the model's answers?</summary>
#
# **You do not know yet.** Remove the head and measure the error. In section 6.10 there are heads with a pattern whose removal changes nothing. (Neither "it uses the first token" nor "it is useless" follows from a picture.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.2: multi-head attention, why one head's averaging inhibits it, and 8 heads of size 64.
# - Michel, Levy, Neubig, *Are Sixteen Heads Really Better than One?*, 2019, section 3: heads removed one at a time from trained models, as in 6.10; many are not missed.
# - Voita et al., *Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned*, 2019: heads for neighboring positions and others in a translator, and what pruning leaves.
# - Jain, Wallace, *Attention is not Explanation*, 2019: why a heatmap alone is weak evidence for what a model uses.
# - Elhage et al., *A Mathematical Framework for Transformer Circuits*, 2021: heads as independent terms of a sum, each reading and writing a few directions, the view of section 6.7.

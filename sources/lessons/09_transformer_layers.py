# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09 · Transformer layers
#
# At the end you can build encoder and decoder layers from norms, feed-forward networks and residual connections, hold them equal to PyTorch's, and measure where the norm belongs.
#
# {{colab_link}} · about 90 minutes · builds on lessons 05, 06 and 08

# %% tags=["setup"]
import math
import timeit

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import layers, masks, models, multi_head, plotting, positions, widgets

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors here are small: sharing them out among threads takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. normalize a vector by LayerNorm and RMSNorm, and recognize the two ways in which LayerNorm is often got wrong;
# 2. say what the factor $\sqrt{d_{model}}$ at the embedding does, and what the feed-forward network adds to attention;
# 3. write a residual connection with the norm before or after, and measure what the order does to gradients and to training;
# 4. build an encoder layer, a decoder layer and a stack, hand each attention the right mask, and load PyTorch's weights;
# 5. count the parameters of all of it by hand and by code.
#
# Attention lets tokens look at one another (lessons 04 to 07), and positions tell it the order (lesson 08). A layer of a Transformer is attention plus everything that makes it *trainable and stackable*. That is this lesson.

# %% [markdown]
# ## Predict first
#
# LayerNorm shifts and scales a vector so that its entries have mean 0 and variance 1. Take the vector $(1, 3, 5, 7)$. Now multiply it by 10 and add 100: $(110, 130, 150, 170)$. What does LayerNorm make of the second vector, compared with the first? Ten times as much? Something else? Commit to an answer.

# %%
norm = nn.LayerNorm(4)
for vector in ([1.0, 3.0, 5.0, 7.0], [110.0, 130.0, 150.0, 170.0]):
    print(vector, "->", norm(torch.tensor(vector)).detach())

# %% [markdown]
# The same. LayerNorm forgets how large a vector is and where its middle lies. What is left is its *shape*: which entries stand out, and in which direction. Whatever the layers before have done to the scale, the next one gets numbers of ordinary size.

# %% [markdown]
# ## 9.1 The parts of a layer
#
# An encoder layer has two **sublayers**, a decoder layer three. Around each stands a **residual connection** with a **norm**:
#
#     encoder layer                             decoder layer
#
#     x ──┬── norm ── self-attention ──┐        x ──┬── norm ── self-attention, causal ──┐
#         └────────────── + ───────────┘            └──────────────── + ─────────────────┘
#     x ──┬── norm ── feed-forward ────┐        x ──┬── norm ── cross-attention ─────────┐    <- memory
#         └────────────── + ───────────┘            └──────────────── + ─────────────────┘
#                                               x ──┬── norm ── feed-forward ────────────┐
#                                                   └──────────────── + ─────────────────┘
#
# This is the *pre-norm* order, today's usual one. The paper of 2017 puts each norm *after* the sum (*post-norm*). Sections 9.8 to 9.10 compare the two. Everything keeps the shape `(B, L, d_model)`, which is why layers can be stacked like bricks. The horizontal line at the bottom of each connection, from `x` to the sum, is called the **residual stream**.

# %% [markdown]
# ## 9.2 The embedding times $\sqrt{d_{model}}$
#
# Into the first layer goes, for token $t$ at position $p$,
#
# $$x = \sqrt{d_{model}}\; E_t + P_p ,$$
#
# with $E_t$ the row of token $t$ in the embedding table, shape $(d_{model},)$, and $P_p$ the position's sines and cosines (lesson 08). Why the factor? Two things are added, and they should be of one size.
#
# - The sines and cosines are fixed: $d_{model}/2$ pairs with $\sin^2 + \cos^2 = 1$, so the length of $P_p$ is $\sqrt{d_{model}/2}$.
# - The table usually starts with standard deviation $1/\sqrt{d_{model}}$ (the last part of this section says why), so $E_t$ has length about $\sqrt{d_{model} / d_{model}} = 1$.
#
# **Predict first.** At $d_{model} = 1024$ and without the factor: by how much are the positions longer than the tokens?

# %%
torch.manual_seed(0)
print("d_model   position   token, no factor   token times sqrt(d_model)   nn.Embedding's own start, times sqrt(d_model)")
for d_model in (16, 64, 256, 1024):
    place = positions.SinusoidalPositions(d_model, max_len=50)(torch.zeros(1, 50, d_model))[0]  # (50, d_model)
    table = torch.randn(100, d_model) * d_model**-0.5  # (vocabulary, d_model)
    default = nn.Embedding(100, d_model).weight.detach()  # starts with standard deviation 1
    sizes = [t.norm(dim=-1).mean().item() for t in (place, table, table * d_model**0.5, default * d_model**0.5)]
    print("{:7}   {:8.1f}   {:16.2f}   {:25.1f}   {:46.0f}".format(d_model, *sizes))

# %% [markdown]
# Without the factor the position is $\sqrt{d_{model}/2}$ times as long as the token: it drowns it. With the factor both grow alike. The last column is the opposite mistake: `nn.Embedding` starts with standard deviation 1, and with the factor *on top* the token drowns the position. What that means for attention, which compares vectors: the cosine of two *different* tokens at the *same* position, and of the *same* token at two positions.

# %%
d_model = 512
place = positions.SinusoidalPositions(d_model, max_len=50)(torch.zeros(1, 50, d_model))[0]  # (50, d_model)
table = torch.randn(100, d_model, generator=torch.Generator().manual_seed(0)) * d_model**-0.5  # (100, d_model)
print("factor                     other token, same place   same token, other place")
for name, factor in (("none", 1.0), ("sqrt(d_model)", d_model**0.5), ("sqrt(d_model), start at 1", d_model)):
    scaled = factor * table  # (100, d_model); a table that starts at 1 is sqrt(d_model) times this one
    same_place = F.cosine_similarity(scaled[:50] + place[5], scaled[50:] + place[5], dim=-1).mean()
    same_token = F.cosine_similarity(scaled + place[5], scaled + place[25], dim=-1).mean()
    print(f"{name:25}  {same_place:23.2f}   {same_token:24.2f}")

# %% [markdown]
# Without the factor all tokens look alike: attention sees places only. With the factor on top of a start at 1 all places look alike. In between it can see both. (Training can mend a wrong start; it costs steps.)
#
# **Why the table starts so small.** Many models use one table twice: to read tokens, and at the end to score them, $\text{logits} = E\,h$ with $h$ the last layer's vector. Its entries have size about 1, so a logit is a sum of $d_{model}$ products, and with a start at 1 it would have size $\sqrt{d_{model}}$, as the unscaled scores in lesson 04. The library does it as the paper does:

# %%
h = F.layer_norm(torch.randn(200, d_model, generator=torch.Generator().manual_seed(1)), (d_model,))  # (200, d_model)
print(f"spread of the logits: start at 1/sqrt(d_model) {(h @ table.T).std():.2f}   start at 1 {(h @ table.T * d_model**0.5).std():.1f}")

torch.manual_seed(0)
embed = layers.InputEmbedding(100, d_model, positions=positions.SinusoidalPositions(d_model, max_len=50))
tokens = torch.randint(0, 100, (2, 7))  # (B, L)
by_hand = embed.tokens.weight[tokens] * math.sqrt(d_model) + place[:7]  # (B, L, d_model) + (L, d_model)
assert torch.allclose(embed(tokens), by_hand, atol=1e-5)
print("InputEmbedding = table times sqrt(d_model) plus position:", tuple(embed(tokens).shape))

# %% [markdown]
# ## 9.3 The position-wise feed-forward network
#
# Attention moves information between positions. All it does to the values is average them, and an average is linear. The second sublayer works on each position *by itself*, and not linearly:
#
# $$\text{FFN}(x) = W_2 \max(0,\, W_1 x + b_1) + b_2 ,$$
#
# with $x$ the vector of one position, $W_1$ of shape $(d_{ff}, d_{model})$, $b_1$ $(d_{ff},)$, $W_2$ $(d_{model}, d_{ff})$ and $b_2$ $(d_{model},)$. The width $d_{ff}$ is usually $4\, d_{model}$. By hand, with one feature in and out and two in between: $W_1 = (1, -1)$ as a column, $W_2 = (1, 1)$, no biases. For $x = -3$: up to $(-3, 3)$, ReLU gives $(0, 3)$, down to 3. It computes $|x|$, which no matrix can.

# %%
def feed_forward_loop(x, W_1, b_1, W_2, b_2):
    rows = []
    for position in x:  # (d_model,), one at a time: no position sees another
        inside = [max(0.0, float(row @ position + b)) for row, b in zip(W_1, b_1, strict=True)]  # d_ff numbers
        rows.append(W_2 @ torch.tensor(inside) + b_2)  # (d_model,)
    return torch.stack(rows)


up, down, zero = torch.tensor([[1.0], [-1.0]]), torch.tensor([[1.0, 1.0]]), torch.zeros(1)
print("|x| of -3, 0.5, 2:", feed_forward_loop(torch.tensor([[-3.0], [0.5], [2.0]]), up, torch.zeros(2), down, zero)[:, 0].tolist())

# %% [markdown]
# All positions at once it is two matrix products. `nn.Linear` keeps its matrix as (out, in), hence the transposes.

# %%
torch.manual_seed(0)
network = layers.FeedForward(d_model=6, d_ff=24)
x = torch.randn(2, 5, 6)  # (B, L, d_model)
W_1, b_1, W_2, b_2 = (p.detach() for p in network.parameters())
inside = torch.relu(x @ W_1.T + b_1)  # (B, L, d_ff)
vectorized = inside @ W_2.T + b_2  # (B, L, d_model)
assert torch.allclose(vectorized[1], feed_forward_loop(x[1], W_1, b_1, W_2, b_2), atol=1e-5)
assert torch.allclose(vectorized, network(x), atol=1e-5)
as_convolution = F.conv1d(F.conv1d(x.mT, W_1[..., None], b_1).relu(), W_2[..., None], b_2).mT  # a kernel of width 1
assert torch.allclose(vectorized, as_convolution, atol=1e-5)
print("the loop, the vectorized form, course_utils and two convolutions of width 1 agree:", tuple(vectorized.shape))

# %% [markdown]
# **Position-wise** means: change one position, and only that one changes. And the ReLU is not decoration: without it, the two matrices are one matrix, at the price of two.

# %%
changed = x.clone()
changed[0, 2] += 1.0  # another token at position 2 of item 0
moved = (network(changed) - network(x)).abs().amax(dim=-1) > 1e-6  # (B, L)
print("moved:", moved.nonzero().tolist(), "  of all numbers in between, ReLU sets", f"{(inside == 0).float().mean():.0%} to zero")
assert moved.nonzero().tolist() == [[0, 2]]
without_relu = (x @ W_1.T + b_1) @ W_2.T + b_2  # (B, L, d_model)
one_matrix, one_bias = W_2 @ W_1, W_2 @ b_1 + b_2  # (d_model, d_model), (d_model,)
assert torch.allclose(without_relu, x @ one_matrix.T + one_bias, atol=1e-5)
print(f"without ReLU: {W_1.numel() + W_2.numel()} numbers in two matrices do what {one_matrix.numel()} in one can do")

# %% [markdown]
# ## 9.4 LayerNorm by hand
#
# For one vector $x$ of size $d$ (we write $d$ for $d_{model}$):
#
# $$\mu = \frac1d \sum_i x_i , \qquad \sigma^2 = \frac1d \sum_i (x_i - \mu)^2 , \qquad y_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}}\; g_i + b_i .$$
#
# $g$ (`weight`) and $b$ (`bias`), shape $(d,)$, are learned. They start at 1 and 0. $\varepsilon$ is a small constant that keeps the division safe. By hand on $(1, 3, 5, 7)$: the mean is 4, the differences are $-3, -1, 1, 3$, the variance $(9 + 1 + 1 + 9)/4 = 5$, and $-3/\sqrt5 = -1.342$, as in the first cell of this lesson.
#
# Mean and variance run over the *features of one token*. No other token and no other sentence takes part. That makes LayerNorm fit for sentences of any length and batches of any size, in training as in use.

# %%
def layer_norm_loop(x, weight, bias, eps):
    rows = []
    for row in x:  # (d,), one vector at a time
        mean = sum(row) / len(row)
        variance = sum((number - mean) ** 2 for number in row) / len(row)
        rows.append((row - mean) / math.sqrt(variance + eps) * weight + bias)
    return torch.stack(rows)


print(layer_norm_loop(torch.tensor([[1.0, 3.0, 5.0, 7.0]]), torch.ones(4), torch.zeros(4), 1e-5))

# %% [markdown]
# Without the loop. `keepdim=True` keeps the last axis as one of size 1, so that mean and variance broadcast against `x`:

# %%
def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)  # (B, L, 1)
    variance = ((x - mean) ** 2).mean(dim=-1, keepdim=True)  # (B, L, 1)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias  # (B, L, d)


torch.manual_seed(0)
x, weight, bias = torch.randn(2, 5, 6), torch.randn(6), torch.randn(6)  # (B, L, d), (d,), (d,)
y = layer_norm(x, weight, bias)
assert torch.allclose(y[1], layer_norm_loop(x[1], weight, bias, 1e-5), atol=1e-5)
assert torch.allclose(y, layers.layer_norm(x, weight, bias), atol=1e-5)
assert torch.allclose(y, F.layer_norm(x, (6,), weight, bias), atol=1e-5)
print("the loop, the vectorized form, course_utils and PyTorch agree")
plain = layer_norm(x, torch.ones(6), torch.zeros(6))  # weight 1, bias 0: as a fresh layer
print("length of each vector", plain[0].norm(dim=-1), f"  sqrt(d) = {6**0.5:.3f}")

# %% [markdown]
# In pictures: subtracting the mean lays the vector into the plane of vectors whose entries sum to 0, and dividing by the deviation puts it on the sphere of radius $\sqrt d$. A direction is what a fresh LayerNorm keeps.

# %% [markdown]
# ## 9.5 Two ways it is often got wrong
#
# Both are in published code, and both look right.
#
# - **The unbiased variance.** `x.var(-1)` and `x.std(-1)` divide by $d - 1$, which is what statisticians want for a sample. LayerNorm divides by $d$.
# - **Epsilon outside the root.** $\sigma + \varepsilon$ in place of $\sqrt{\sigma^2 + \varepsilon}$.
#
# **Predict first.** Which of the two hurts for short vectors, which for vectors of small numbers? Each is compared with PyTorch: length of the difference, divided by the length of the right answer.

# %%
def unbiased(x, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + eps)


def epsilon_outside(x, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True).sqrt() + eps)

# %%
def error(wrong, d, size):
    x = size * torch.randn(200, d, generator=torch.Generator().manual_seed(0))  # (200, d)
    right = F.layer_norm(x, (d,))
    return ((wrong(x) - right).norm() / right.norm()).item()


for d in (4, 16, 64, 512):
    print(f"d = {d:4}, entries of size 1       unbiased {error(unbiased, d, 1.0):8.2%}   epsilon outside {error(epsilon_outside, d, 1.0):10.2%}")
for size in (0.1, 0.01, 0.001, 0.0001):
    print(f"d =   64, entries of size {size:<6g}  unbiased {error(unbiased, 64, size):8.2%}   epsilon outside {error(epsilon_outside, 64, size):10.2%}")

# %%
sizes = torch.logspace(-4, 1, 26)
widths = torch.tensor([4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0])
left, right = plotting.new_axes(9.4, 3.4, columns=2)
for ax, x_axis, find, label in ((left, widths, lambda f, v: error(f, int(v), 1.0), "d, entries of size 1"), (right, sizes, lambda f, v: error(f, 64, float(v)), "size of the entries, d = 64")):
    found = {name: torch.tensor([find(f, v) for v in x_axis]) for name, f in (("unbiased", unbiased), ("epsilon outside", epsilon_outside))}
    plotting.curves(x_axis, found, xlabel=f"{label} (log scale)", ylabel="relative error (log scale)", ax=ax)
    ax.set(xscale="log", yscale="log")
plotting.show(left, "Relative error of the two wrong norms. Left, by size of the vector: unbiased falls from over ten percent at 4 features to a tenth of a percent at 512; epsilon outside is tiny throughout. Right, by size of the entries: unbiased is level down to a hundredth and smaller below, epsilon outside grows beyond one as the entries get small.")

# %% [markdown]
# *Notice that the curves change places: in the left panel the unbiased variance is the larger error; in the right panel epsilon outside the root overtakes it where the entries are small.* The unbiased variance makes every vector too short by $\sqrt{(d-1)/d}$, which a learned `weight` can absorb. Epsilon outside barely matters for numbers of ordinary size. Where entries are as small as $\sqrt\varepsilon$, the right norm lets them stay small, and the wrong one blows them up to full size.
#
# Both do their harm when *trained weights* meet the other formula: load a checkpoint into such a layer, and each of its norms is off a little, with no error message. Epsilon itself is part of a model too: use the one it was trained with.
#
# There is a second difference, at a vector of equal numbers (a row of zeros from padding, say). The variance is 0. What is the slope of $\sqrt{v}$ at $v = 0$?

# %%
for name, norm in (("right", lambda x: layer_norm(x, 1.0, 0.0)), ("epsilon outside", epsilon_outside), ("PyTorch", lambda x: F.layer_norm(x, (4,)))):
    x = torch.zeros(1, 4, requires_grad=True)
    y = norm(x)
    y[0, 0].backward()
    print(f"{name:16} output {y.tolist()[0]}   gradient {[round(g, 1) for g in x.grad[0].tolist()]}")

# %% [markdown]
# The slope is infinite, infinity times 0 is NaN, and one such row is enough to lose all parameters at the next step (lesson 05 met this with masks). Epsilon *inside* keeps the root away from 0.

# %% [markdown]
# ## 9.6 RMSNorm
#
# Is the mean worth taking off? RMSNorm leaves it, and drops the bias. It divides by the root mean square:
#
# $$y_i = \frac{x_i}{\sqrt{\frac1d \sum_j x_j^2 + \varepsilon}}\; g_i .$$
#
# By hand on $(1, 3, 5, 7)$: the mean square is $(1 + 9 + 25 + 49)/4 = 21$, and $1/\sqrt{21} = 0.218$.

# %%
def rms_norm_loop(x, weight, eps):
    return torch.stack([row / math.sqrt(sum(number**2 for number in row) / len(row) + eps) * weight for row in x])


def rms_norm(x, weight, eps=1e-6):
    mean_square = x.pow(2).mean(dim=-1, keepdim=True)  # (B, L, 1)
    return x / torch.sqrt(mean_square + eps) * weight  # (B, L, d)


print(rms_norm(torch.tensor([1.0, 3.0, 5.0, 7.0]), torch.ones(4)))
torch.manual_seed(0)
x, weight = torch.randn(2, 5, 6), torch.randn(6)  # (B, L, d), (d,)
assert torch.allclose(rms_norm(x, weight)[1], rms_norm_loop(x[1], weight, 1e-6), atol=1e-5)
assert torch.allclose(rms_norm(x, weight), layers.rms_norm(x, weight), atol=1e-5)
assert torch.allclose(rms_norm(x, weight), F.rms_norm(x, (6,), weight, eps=1e-6), atol=1e-5)
print("the loop, the vectorized form, course_utils and PyTorch agree")

# %% [markdown]
# How to tell the two apart from outside: add the same number to all features. LayerNorm does not notice, RMSNorm does. An "RMSNorm" that does not notice takes the mean off, and is a LayerNorm without bias. On vectors whose mean is 0 the two are equal:

# %%
ones = torch.ones(6)
for name, norm in (("LayerNorm", lambda x: layer_norm(x, ones, 0.0)), ("RMSNorm", lambda x: rms_norm(x, ones))):
    print(f"{name:9} moved by adding 3 to all features: {(norm(x + 3) - norm(x)).abs().max():.3f}   by doubling all: {(norm(2 * x) - norm(x)).abs().max():.3f}")
centered = x - x.mean(-1, keepdim=True)
assert torch.allclose(rms_norm(centered, ones, eps=1e-5), layer_norm(centered, ones, 0.0, eps=1e-5), atol=1e-5)

# %% [markdown]
# One statistic instead of two, one parameter vector instead of two, and in its authors' experiments comparable quality. Many of today's large language models use it (lesson 12). Encoder and decoder in this lesson keep LayerNorm, as the paper does.

# %% [markdown]
# ## 9.7 Residual connections
#
# A **residual connection** adds what a sublayer gives to what it got: $x + f(x)$ instead of $f(x)$. The sublayer only has to say what to *change*. What that does to the gradient: the derivative of $x + f(x)$ is the identity plus $f'$. However small $f'$ is, the identity brings the gradient through.
#
# **Predict first.** A pile of 24 feed-forward networks, none of them trained. How large is the gradient at the input, compared with the gradient at the output, without and with residual connections?

# %%
def xavier(module):
    """Start as lesson 10 starts: matrices so that sizes are kept, forward and backward, as far as can be; biases 0."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)
    return module


def gradient_ratio(depth, residual):
    torch.manual_seed(0)
    networks = [xavier(layers.FeedForward(64, 256)) for _ in range(depth)]
    x = torch.randn(50, 64, requires_grad=True)  # (50, d_model)
    y = x
    for f in networks:
        y = y + f(y) if residual else f(y)  # (50, d_model)
    slope = torch.randn(50, 64)  # a gradient that arrives at the output
    return (torch.autograd.grad(y, x, slope)[0].norm() / slope.norm()).item()


for depth in (1, 6, 12, 24):
    print(f"{depth:2} networks   f(x): {gradient_ratio(depth, False):8.1e}   x + f(x): {gradient_ratio(depth, True):5.1f}")

# %% [markdown]
# Without the connection the gradient shrinks by a constant factor for every network; after 24 of them next to nothing is left. With it the gradient arrives. It even *grows*, and so do the vectors themselves, because every network adds something. Holding those sizes in check is the norms' business. Where should they stand?

# %% [markdown]
# ## 9.8 Before or after: pre-norm and post-norm
#
# $$\text{post-norm:}\quad x \leftarrow \text{norm}\big(x + f(x)\big) \qquad\qquad \text{pre-norm:}\quad x \leftarrow x + f\big(\text{norm}(x)\big)$$
#
# Post-norm is the order of the paper of 2017. By hand on $x = (1, 3)$ with $f(x) = x + 1$. Post-norm: the sum is $(1 + 2, 3 + 4) = (3, 7)$, with mean 5 and deviation 2, so $(-1, 1)$. Pre-norm: the norm of $(1, 3)$ is $(-1, 1)$, $f$ makes $(0, 2)$ of it, and $(1 + 0, 3 + 2) = (1, 5)$.

# %%
def post_norm_step(x, f, norm):
    return norm(x + f(x))


def pre_norm_step(x, f, norm):
    return x + f(norm(x))


x = torch.tensor([[[1.0, 3.0]]])  # (B=1, L=1, d=2)
for name, step, is_pre in (("post-norm", post_norm_step, False), ("pre-norm", pre_norm_step, True)):
    residual = layers.Residual(2, pre_norm=is_pre)
    y = step(x, lambda v: v + 1, residual.norm)
    assert torch.allclose(y, residual(x, lambda v: v + 1), atol=1e-6)  # course_utils
    print(f"{name:9}", [round(v, 2) for v in y[0, 0].tolist()])

# %% [markdown]
# The two differ in what happens on the **direct path**, the one from $x$ to the output that goes through no sublayer. In pre-norm nothing stands on it. In post-norm every norm stands on it, and divides by the size of the sum: if $x$ and $f(x)$ have variance 1 and $s^2$, by $\sqrt{1 + s^2}$. One such factor for each sublayer.
#
# This can be measured on its own. We cut the gradient inside the sublayers (`detach`), so that only the direct path is left:

# %%
def direct_path(num_sublayers, pre_norm):
    torch.manual_seed(0)
    networks = [xavier(layers.FeedForward(64, 256)) for _ in range(num_sublayers)]
    residual = layers.Residual(64, pre_norm=pre_norm)  # a fresh norm has nothing to learn yet: one will do for all
    x = torch.randn(1, 50, 64, requires_grad=True)  # (B=1, L, d_model)
    y = x
    for f in networks:
        y = residual(y, lambda v, f=f: f(v).detach())
    slope = torch.randn(1, 50, 64)
    return (torch.autograd.grad(y, x, slope)[0].norm() / slope.norm()).item()


for num_sublayers in (2, 4, 12, 24, 48):
    print(f"{num_sublayers:2} sublayers   share of the gradient on the direct path: pre-norm {direct_path(num_sublayers, True):.3f}   post-norm {direct_path(num_sublayers, False):.4f}")

# %% [markdown]
# In pre-norm the direct path carries the gradient whole, at any depth. In post-norm it fades exponentially. What arrives beyond that must come *through* the sublayers.

# %% [markdown]
# ## 9.9 The size of the gradients, by depth
#
# So far only one path. Now everything: whole encoder layers with attention, fresh, random inputs, random targets, one backward pass. We look at the gradient of one matrix in each of 12 layers: first of the network (`down_proj`), then of the queries (`q_proj`). Mean over five seeds.
#
# **Predict first.** It is often said that gradients vanish in a deep post-norm stack. Should both matrices show it?

# %%
def fresh_stack(num_layers, pre_norm, seed):
    """Fresh layers with a classifier on top; returns the layers and the vectors after each of them, gradients computed."""
    torch.manual_seed(seed)
    stack = xavier(nn.ModuleList(layers.EncoderLayer(64, 4, 256, dropout=0.0, pre_norm=pre_norm) for _ in range(num_layers)))
    norm, classify = layers.LayerNorm(64) if pre_norm else nn.Identity(), xavier(nn.Linear(64, 20))
    x, target = torch.randn(8, 10, 64), torch.randint(0, 20, (8, 10))  # (B, L, d_model), (B, L)
    stream = []
    for layer in stack:
        x = layer(x)  # (B, L, d_model)
        stream.append(x.detach())
    F.cross_entropy(classify(norm(x)).flatten(0, 1), target.flatten()).backward()
    return stack, stream


def gradients(num_layers, pre_norm, part):
    found = [[part(layer).weight.grad.norm() for layer in fresh_stack(num_layers, pre_norm, seed)[0]] for seed in range(5)]
    return torch.tensor(found).mean(dim=0)  # (num_layers,)


orders = {"pre-norm": True, "post-norm": False}
parts = {"down_proj": lambda layer: layer.feed_forward.down_proj, "q_proj": lambda layer: layer.self_attention.q_proj}
sizes = {part: {order: gradients(12, pre, find) for order, pre in orders.items()} for part, find in parts.items()}
for part, found in sizes.items():
    for order, size in found.items():
        print(f"{part:9} {order:9}  layer 1 {size[0]:.2f}   layer 12 {size[-1]:.2g}")
assert sizes["down_proj"]["post-norm"][-1] > 0.5 * sizes["down_proj"]["post-norm"][0]
assert sizes["q_proj"]["post-norm"][-1] < 0.2 * sizes["q_proj"]["pre-norm"][-1]

# %%
axes = plotting.new_axes(9.4, 3.4, columns=2)
for ax, (part, found) in zip(axes, sizes.items(), strict=True):
    plotting.curves(torch.arange(1.0, 13.0), found, xlabel="layer, counted from the input", ylabel="gradient (log scale)", ax=ax, title=part)
    ax.set_yscale("log")
axes[0].set_ylim(0.1, 10)
plotting.show(axes[0], "Size of the gradient in each of 12 fresh layers. Left, down_proj: post-norm is level, pre-norm falls gently from layer 1 to 12. Right, q_proj: both start alike, post-norm falls by more than a factor of a hundred, pre-norm by about ten.")

# %% [markdown]
# *Notice that the two panels tell different stories. The network's gradients do not vanish in post-norm at all: they are level, and larger than in pre-norm. The queries' gradients do: in the last layers almost nothing is left.* The short sentence "post-norm makes gradients vanish" is half of the truth. Two cells show the reasons.
#
# **Why the queries get nothing: the tokens become alike.** Attention averages, and an average of all tokens is nearly the same for every token. Post-norm then shrinks what was there before to make room. We measure the cosine of two different tokens of a sequence after each layer.

# %%
def likeness(x):
    unit = F.normalize(x, dim=-1)  # (B, L, d_model)
    off_diagonal = ~torch.eye(x.shape[1], dtype=torch.bool)
    return (unit @ unit.mT)[:, off_diagonal].mean()  # mean cosine of two different tokens


print("after layer                 1     3     6     9    12")
for order, pre in orders.items():
    streams = [fresh_stack(12, pre, seed)[1] for seed in range(5)]  # 5 x 12 x (B, L, d_model)
    alike, size = (torch.tensor([[f(x) for x in stream] for stream in streams]).mean(dim=0) for f in (likeness, torch.std))
    print(f"{order:9} likeness       ", "  ".join(f"{alike[i - 1]:.2f}" for i in (1, 3, 6, 9, 12)))
    print(f"{order:9} size of entries", "  ".join(f"{size[i - 1]:.2f}" for i in (1, 3, 6, 9, 12)))

# %% [markdown]
# In post-norm the tokens are almost equal after 12 layers. To whom a query pays attention then makes no difference, so its gradient is almost zero. And whatever the output should say about *this* token as opposed to its neighbors is lost. In pre-norm the stream keeps each token's own vector and adds to it.
#
# **Why pre-norm's gradients shrink gently.** The last lines above: its stream grows with depth, roughly like $\sqrt{N}$. Behind a stream $k$ times as large, the final norm divides by $k$, and so the gradient of what is added late gets smaller. The gradient of the *last* layer, by depth of the stack:

# %%
print("layers N             1     2     4     8    16")
for order, pre in orders.items():
    last = [gradients(N, pre, parts["down_proj"])[-1].item() for N in (1, 2, 4, 8, 16)]
    print(f"{order:9} last layer", "  ".join(f"{g:.2f}" for g in last))
    assert (last[-1] < 0.6 * last[0]) if pre else (last[-1] > last[0])

# %% [markdown]
# The deeper the pre-norm stack, the smaller the gradient of its last layer: what is added late changes less as the stack grows. In post-norm every one of the $N$ layers gets a gradient of full size, however many they are. The first steps of training then change the network too much. This is the analysis of Xiong and others (2020), and the reason why post-norm needs a **warm-up**: tiny steps first (lesson 10).

# %% [markdown]
# ## 9.10 Trained side by side
#
# Measured gradients are a hint, training is the proof. The task: reverse a sequence of 8 symbols. The position decides where to look, so attention is needed, and so are tokens that differ. Both orders get the same data, the same start, the same optimizer and 100 steps, at depths 1 and 6, with three seeds each. At depth 6 post-norm gets two more chances: a smaller learning rate, and a warm-up.
#
# Two landmarks for the loss. Who knows nothing guesses one of 8 symbols: $\ln 8$. Who knows *which* symbols occur in the sequence, but not where, does a little better:

# %%
SYMBOLS, LENGTH = 8, 8
drawn = torch.randint(0, SYMBOLS, (20000, LENGTH), generator=torch.Generator().manual_seed(0))  # (20000, L)
shares = F.one_hot(drawn, SYMBOLS).float().mean(dim=1)  # (20000, SYMBOLS), how often each symbol occurs
know_nothing, know_the_bag = math.log(SYMBOLS), torch.special.entr(shares).sum(dim=-1).mean().item()
print(f"knows nothing: {know_nothing:.2f}   knows which symbols, not where: {know_the_bag:.2f}   knows all: 0")

# %%
class Reverser(nn.Module):
    def __init__(self, num_layers, pre_norm, d_model=32):
        super().__init__()
        place = positions.SinusoidalPositions(d_model, max_len=LENGTH)
        self.embed = layers.InputEmbedding(SYMBOLS, d_model, positions=place)
        self.layers = nn.ModuleList(
            layers.EncoderLayer(d_model, 4, 2 * d_model, dropout=0.0, pre_norm=pre_norm) for _ in range(num_layers)
        )
        self.norm = layers.LayerNorm(d_model) if pre_norm else nn.Identity()  # section 9.14
        self.classify = nn.Linear(d_model, SYMBOLS)
        xavier(self)

    def forward(self, tokens):
        x = self.embed(tokens)  # (B, L, d_model)
        for layer in self.layers:
            x = layer(x)  # (B, L, d_model)
        return self.classify(self.norm(x))  # (B, L, SYMBOLS)

# %%
def train(num_layers, pre_norm, seed, rate=0.01, warmup=1, steps=100):
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    model = Reverser(num_layers, pre_norm)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    losses = []
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, step / warmup)
        tokens = torch.randint(0, SYMBOLS, (32, LENGTH), generator=rng)  # (B, L)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses

# %% tags=["nbval-ignore-output"]
settings = {f"{order}, {N} layer{'s' * (N > 1)}": (N, pre, {}) for N in (1, 6) for order, pre in orders.items()}
settings["post-norm, 6 layers, rate 0.003"] = (6, False, {"rate": 0.003})
settings["post-norm, 6 layers, warm-up 50"] = (6, False, {"warmup": 50})
jobs = [(name, seed) for name in settings for seed in range(3)]
runs, models_of = {name: [] for name in settings}, {name: [] for name in settings}
for name, seed in tqdm(jobs, desc="about 10 s", unit="run"):
    num_layers, pre, options = settings[name]
    model, losses = train(num_layers, pre, seed, **options)
    models_of[name].append(model)
    runs[name].append(losses)
runs = {name: torch.tensor(losses) for name, losses in runs.items()}  # (seeds, steps) each

# %% tags=["nbval-ignore-output"]
final = {name: losses[:, -5:].mean(dim=1) for name, losses in runs.items()}  # (seeds,) each
print("loss at the end, three seeds")
for name, values in final.items():
    print(f"{name:32}", "  ".join(f"{v:.2f}" for v in values.tolist()))
assert final["pre-norm, 6 layers"].max() < 0.8 and final["post-norm, 6 layers"].min() > 1.4
gentler = torch.cat([final["post-norm, 6 layers, rate 0.003"], final["post-norm, 6 layers, warm-up 50"]])  # (6,)
assert gentler.min() > 1.2 and gentler.max() < final["post-norm, 6 layers"].min()
assert final["post-norm, 1 layer"].max() < 0.8

# %% tags=["nbval-ignore-output"]
shown = [name for name in runs if "6 layers" in name]
steps = torch.arange(1.0, 101.0)
ax = plotting.curves(steps, {name: runs[name].mean(dim=0) for name in shown}, xlabel="step", ylabel="loss", ax=plotting.new_axes(8.0, 4.0), title="6 layers: mean and range of three seeds")
for line, name in zip(ax.lines, shown, strict=True):
    ax.fill_between(steps.tolist(), runs[name].amin(dim=0).tolist(), runs[name].amax(dim=0).tolist(), color=line.get_color(), alpha=0.2, lw=0)
for height, text in ((know_nothing, "knows nothing"), (know_the_bag, "knows which symbols,\nnot where")):
    ax.axhline(height, color="0.6", lw=0.8, zorder=0)
    ax.text(106, height, text, fontsize=8, va="center", color="0.4")  # to the right of the axes
ax.set_ylim(0, 3)
plotting.show(ax, "Training loss of four set-ups with 6 layers, each with the range of three seeds. Pre-norm falls toward zero. Post-norm at the same rate stays where one knows nothing. With a smaller rate or a warm-up it comes down to where one knows which symbols occur, but not where.")

# %% [markdown]
# *Notice the bands, the range of three seeds: at the end that of pre-norm is far from all others. On its way down it passed the second landmark too.*
#
# With one layer the orders do about equally well. With six, pre-norm learns and post-norm at the same rate stays at "knows nothing". A warm-up or a smaller rate brings it to the second landmark: it has learned which symbols occur, and not yet where. That fits what we measured: the tokens of a deep post-norm stack are too alike to say who stands where.
#
# What this does **not** show: that post-norm cannot work. The paper of 2017 trained six such layers, with 4000 steps of warm-up and a hundred thousand steps in all (its sections 5.2 and 5.3), and Liu and others (2020) found post-norm's final quality the *better* one where it trains. What is shown is that pre-norm is the easier one to train. That is why most large language models since GPT-2 use it, and why this course's models do from here on.

# %% [markdown]
# ## 9.11 Where dropout stands
#
# Dropout (lesson 04) sets a random share $p$ of numbers to 0 during training and divides the others by $1 - p$, so that the expected value stays. In a layer it stands in three kinds of places, and in a fourth before the first layer:
#
# | place | what is dropped |
# |---|---|
# | attention weights, after the softmax | a whole connection between two tokens, for one head |
# | inside the feed-forward network, after ReLU | a feature in between |
# | after each sublayer, before the sum | a feature of what is *added* |
# | after embedding plus position | a feature of the input |
#
# Never on the sum itself: that would cut the direct path.

# %%
layer = layers.EncoderLayer(12, 4, 24, dropout=0.1)
theirs = nn.TransformerEncoderLayer(12, 4, 24, dropout=0.1, batch_first=True)
for name, module in (("course_utils", layer), ("PyTorch", theirs)):
    places = [f"{n} {m.p}" for n, m in module.named_modules() if isinstance(m, nn.Dropout) and "attn" not in n]
    on_weights = module.self_attention.dropout if name == "course_utils" else module.self_attn.dropout
    print(f"{name:12} on the weights {on_weights};", ", ".join(places))

# %%
torch.manual_seed(0)
residual, x = layers.Residual(8, dropout=0.5), torch.randn(1, 1, 8)  # (B, L, d_model)
three = lambda v: torch.full_like(v, 3.0)  # a sublayer that always says 3
added = torch.stack([residual(x, three) - x for _ in range(4000)])  # (4000, B, L, d_model)
seen = added.round().int().unique().tolist()
print("in training, what was added:  ", seen, "and nothing else")
print("mean over all 4000 passes:    ", f"{added.mean():.1f}")
residual.eval()
print("evaluating, what was added:   ", (residual(x, three) - x)[0, 0].detach().round().int().tolist())
print(f"dropped from the sum instead, with p = 0.1, 12 times: a feature of x survives with probability {0.9**12:.2f}")

# %% [markdown]
# ## 9.12 The encoder layer
#
# Everything is there. Two residual connections, one around self-attention, one around the network:

# %%
class Encoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, pre_norm):
        super().__init__()
        self.self_attention = multi_head.MultiHeadAttention(d_model, num_heads)  # lesson 06
        self.feed_forward = layers.FeedForward(d_model, d_ff)  # section 9.3
        self.attention_norm = layers.LayerNorm(d_model)  # section 9.8: each sublayer has a norm of its own
        self.feed_forward_norm = layers.LayerNorm(d_model)
        self.pre_norm = pre_norm

    def forward(self, x, mask=None):
        if self.pre_norm:
            x = x + self.self_attention(self.attention_norm(x), mask=mask)  # (B, L, d_model)
            return x + self.feed_forward(self.feed_forward_norm(x))  # (B, L, d_model)
        x = self.attention_norm(x + self.self_attention(x, mask=mask))  # (B, L, d_model)
        return self.feed_forward_norm(x + self.feed_forward(x))  # (B, L, d_model)


by_hand, library = Encoder(12, 4, 24, pre_norm=True), layers.EncoderLayer(12, 4, 24, pre_norm=True)
assert by_hand.state_dict().keys() == library.state_dict().keys()
print("one layer holds", ", ".join(name for name in library.state_dict() if name.endswith("weight")), "and their biases")

# %% [markdown]
# The library's layer has the same parts under the same names, and dropout. Now the proof against PyTorch's `nn.TransformerEncoderLayer`: copy its weights, which it keeps under other names, and compare, with padding masked, in both orders.

# %%
@torch.no_grad()
def copy_attention(ours, theirs):
    for name, weight, bias in zip("qkv", theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True):
        getattr(ours, f"{name}_proj").weight.copy_(weight)  # stacked query, key, value (lesson 06)
        getattr(ours, f"{name}_proj").bias.copy_(bias)
    ours.o_proj.load_state_dict(theirs.out_proj.state_dict())


def copy_encoder(ours, theirs):
    copy_attention(ours.self_attention, theirs.self_attn)
    ours.feed_forward.up_proj.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.down_proj.load_state_dict(theirs.linear2.state_dict())
    ours.attention_norm.load_state_dict(theirs.norm1.state_dict())
    ours.feed_forward_norm.load_state_dict(theirs.norm2.state_dict())


@torch.no_grad()
def unsettle(module):
    """Every parameter a little random: fresh biases of 0 and norms of 1 would hide that one was forgotten."""
    for parameter in module.parameters():
        parameter.add_(0.2 * torch.randn(parameter.shape))
    return module

# %%
torch.manual_seed(0)
source = torch.tensor([[5, 3, 8, 8, 2, 0, 0], [1, 2, 3, 4, 5, 6, 7]])  # (B=2, L_s=7), 0 is padding
x = torch.randn(2, 7, 12)  # (B, L_s, d_model)
for order, pre in orders.items():
    theirs = unsettle(nn.TransformerEncoderLayer(12, 4, 24, batch_first=True, norm_first=pre)).eval()
    ours = layers.EncoderLayer(12, 4, 24, pre_norm=pre).eval()
    copy_encoder(ours, theirs)
    expected = theirs(x, src_key_padding_mask=source == 0)  # PyTorch: True = ignore
    got = ours(x, masks.padding_mask(source, 0))  # this course: True = may attend
    by_hand = Encoder(12, 4, 24, pre)
    by_hand.load_state_dict(ours.state_dict())
    assert torch.allclose(got, expected, atol=1e-5) and torch.allclose(by_hand(x, masks.padding_mask(source, 0)), expected, atol=1e-5)
    print(f"{order}: by hand, course_utils and PyTorch agree", tuple(got.shape))

# %% [markdown]
# ## 9.13 The decoder layer
#
# Three sublayers. Two of them attend, and the difference between the two is where most mistakes are made:
#
# | | queries from | keys and values from | mask | its shape |
# |---|---|---|---|---|
# | self-attention | target | target | causal, and the target's padding | `(B, 1, L_t, L_t)` |
# | cross-attention | target | memory (the encoder's output) | the *source's* padding | `(B, 1, 1, L_s)` |
#
# A rule that settles every such question: **a mask hides keys.** Ask where the keys come from, and you know whose padding counts, and whether there is a future to hide. In pre-norm the target is normalized before each sublayer; the memory is used as it is, for the encoder has normalized it at its end (9.14).

# %%
class Decoder(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, pre_norm):
        super().__init__()
        self.self_attention, self.cross_attention = (multi_head.MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.feed_forward = layers.FeedForward(d_model, d_ff)
        self.attention_norm, self.cross_attention_norm, self.feed_forward_norm = (
            layers.LayerNorm(d_model) for _ in range(3)
        )
        self.pre_norm = pre_norm

    def forward(self, x, memory, target_mask, memory_mask):
        source = {"key": memory, "value": memory, "mask": memory_mask}
        if self.pre_norm:
            x = x + self.self_attention(self.attention_norm(x), mask=target_mask)  # (B, L_t, d_model)
            x = x + self.cross_attention(self.cross_attention_norm(x), **source)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.self_attention(x, mask=target_mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, **source))
        return self.feed_forward_norm(x + self.feed_forward(x))


def copy_decoder(ours, theirs):
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    ours.feed_forward.up_proj.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.down_proj.load_state_dict(theirs.linear2.state_dict())
    for number, norm in enumerate((ours.attention_norm, ours.cross_attention_norm, ours.feed_forward_norm), start=1):
        norm.load_state_dict(getattr(theirs, f"norm{number}").state_dict())

# %%
torch.manual_seed(0)
target = torch.tensor([[1, 2, 3, 4, 5], [4, 4, 2, 0, 0]])  # (B=2, L_t=5), 0 is padding; L_s is 7
x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)  # (B, L_t, d_model), (B, L_s, d_model)
target_mask = masks.combine_masks(masks.padding_mask(target, 0), masks.causal_mask(5))  # (B, 1, L_t, L_t)
memory_mask = masks.padding_mask(source, 0)  # (B, 1, 1, L_s)
for order, pre in orders.items():
    theirs = unsettle(nn.TransformerDecoderLayer(12, 4, 24, batch_first=True, norm_first=pre)).eval()
    ours = layers.DecoderLayer(12, 4, 24, pre_norm=pre).eval()
    copy_decoder(ours, theirs)
    expected = theirs(x, memory, tgt_mask=~masks.causal_mask(5)[0, 0], tgt_key_padding_mask=target == 0, memory_key_padding_mask=source == 0)
    got = ours(x, memory, target_mask=target_mask, memory_mask=memory_mask)  # (B, L_t, d_model)
    by_hand = Decoder(12, 4, 24, pre)
    by_hand.load_state_dict(ours.state_dict())
    assert torch.allclose(got, expected, atol=1e-5) and torch.allclose(by_hand(x, memory, target_mask, memory_mask), expected, atol=1e-5)
    print(f"{order}: by hand, course_utils and PyTorch agree", tuple(got.shape))

# %% [markdown]
# **Three properties** prove that the masks are right, without looking inside: the target's future does not matter, the source's padding does not matter, and every real source token matters to every target position.

# %%
def moved_positions(change_x=None, change_memory=None):
    """Which target positions of item 0 move when one position of the target or of the source changes."""
    other_x, other_memory = x.clone(), memory.clone()
    if change_x is not None:
        other_x[0, change_x] += 1.0
    if change_memory is not None:
        other_memory[0, change_memory] += 1.0
    new = ours(other_x, other_memory, target_mask=target_mask, memory_mask=memory_mask)
    return ((new - got)[0].abs().amax(dim=-1) > 1e-5).nonzero()[:, 0].tolist()


print("target position 3 changes:         moved", moved_positions(change_x=3))
print("source position 6 (padding) changes: moved", moved_positions(change_memory=6))
print("source position 4 changes:         moved", moved_positions(change_memory=4))
assert moved_positions(change_x=3) == [3, 4] and moved_positions(change_memory=6) == [] and moved_positions(change_memory=4) == [0, 1, 2, 3, 4]

# %% [markdown]
# ## 9.14 Stacks and the final norm
#
# An encoder is $N$ such layers, one after the other, each with parameters *of its own*. In pre-norm there is one more norm after the last: without it, the stream leaves the stack as large as it has grown (9.9), and grows with depth. In post-norm the last layer ends in a norm anyway.

# %%
torch.manual_seed(0)
x = torch.randn(4, 9, 64)  # (B, L, d_model)
with torch.no_grad():
    for N in (2, 6, 24):
        stack = xavier(nn.ModuleList(layers.EncoderLayer(64, 4, 256, dropout=0.0) for _ in range(N)))
        y = x
        for layer in stack:
            y = layer(y)  # (B, L, d_model)
        print(f"{N:2} pre-norm layers: size of the entries {y.std():.1f}, after the final norm {layers.LayerNorm(64)(y).std():.1f}")

# %% [markdown]
# The stack against PyTorch's `nn.TransformerEncoder`, final norm included. A detail worth knowing: PyTorch's stack makes deep copies of the one layer it is given, so all its layers *start with the same numbers*. They are separate parameters, and training tells them apart. Layers that are made one by one start apart.

# %%
torch.manual_seed(0)
one_layer = nn.TransformerEncoderLayer(12, 4, 24, dropout=0.0, batch_first=True, norm_first=True)
theirs = nn.TransformerEncoder(one_layer, num_layers=3, norm=nn.LayerNorm(12), enable_nested_tensor=False)
print("PyTorch's layers start equal:", torch.equal(theirs.layers[0].linear1.weight, theirs.layers[2].linear1.weight))
unsettle(theirs)

stack, final_norm = nn.ModuleList(layers.EncoderLayer(12, 4, 24, dropout=0.0) for _ in range(3)), layers.LayerNorm(12)
for ours, their_layer in zip(stack, theirs.layers, strict=True):
    copy_encoder(ours, their_layer)
final_norm.load_state_dict(theirs.norm.state_dict())

x = torch.randn(2, 7, 12)  # (B, L_s, d_model)
y = x
for layer in stack:
    y = layer(y, masks.padding_mask(source, 0))
assert torch.allclose(final_norm(y), theirs(x, src_key_padding_mask=source == 0), atol=1e-4)
print("three layers and a final norm: course_utils and PyTorch agree")

# %% [markdown]
# ## 9.15 Parameters, by hand and by code
#
# Write $d$ for $d_{model}$ and $f$ for $d_{ff}$.
#
# | part | parameters |
# |---|---|
# | one attention | four matrices with biases: $4\,(d^2 + d)$, for any number of heads |
# | feed-forward network | $2\,d f + f + d$ |
# | one LayerNorm | $2\,d$ |
# | encoder layer | one attention, one network, two norms |
# | decoder layer | two attentions, one network, three norms |
#
# **Predict first.** In an encoder layer of the paper's base model, $d = 512$ and $f = 2048$: which holds more parameters, attention or the network?

# %%
def attention_size(d):
    return 4 * (d * d + d)


def network_size(d, f):
    return 2 * d * f + f + d


def encoder_layer_size(d, f):
    return attention_size(d) + network_size(d, f) + 2 * 2 * d


def decoder_layer_size(d, f):
    return 2 * attention_size(d) + network_size(d, f) + 3 * 2 * d


d, f = 512, 2048
print(f"attention {attention_size(d):,}   network {network_size(d, f):,}   norms of an encoder layer {4 * d:,}")
for name, kind, formula in (("encoder", layers.EncoderLayer, encoder_layer_size), ("decoder", layers.DecoderLayer, decoder_layer_size)):
    layer = kind(d, 8, f)
    assert models.count_parameters(layer) == formula(d, f)
    print(f"{name} layer {formula(d, f):,}   six of them and a final norm {6 * formula(d, f) + 2 * d:,}")
theirs = nn.TransformerEncoderLayer(d, 8, f), nn.TransformerDecoderLayer(d, 8, f)
assert [sum(p.numel() for p in layer.parameters()) for layer in theirs] == [encoder_layer_size(d, f), decoder_layer_size(d, f)]

# %% [markdown]
# With $f = 4d$ the network's $8d^2$ stand against attention's $4d^2$: two thirds of an encoder layer's parameters are in the network. The norms are next to nothing in number, and yet, as section 9.10 showed, their place decides whether the rest can learn.

# %% [markdown]
# ## Look
#
# The measurement of 9.9, at any depth. First the static picture of the widget's first state, then the widget.

# %%
depths = widgets.gradient_by_depth()
depths.show_first_state("12 layers, gradient of down_proj: level for post-norm, gently falling for pre-norm. Beside it the mean cosine of two tokens by layer: post-norm rises to nearly 1, pre-norm stays clearly below.")

# %% [markdown]
# *At the left, what the norm's place does to the gradient of one matrix in each layer; at the right, how alike the tokens have become.* Try: 1 layer (no difference to speak of), then 24; then choose `q_proj` and look at both panels together. From which depth on would you expect post-norm to struggle?

# %%
depths

# %% [markdown]
# ## What goes wrong
#
# **Normalized over the positions as well.** `F.layer_norm(x, x.shape[1:])` takes mean and variance over the whole sequence. It runs, it trains, and under a causal mask it *leaks*: the statistics have seen the future. How you would notice: the leak test of lesson 05.

# %%
torch.manual_seed(0)
x = torch.randn(1, 6, 8)  # (B, L, d)
other = torch.cat([x[:, :5], -3 * x[:, 5:]], dim=1)  # another last token
for name, norm in (("last axis", lambda v: F.layer_norm(v, v.shape[-1:])), ("positions too", lambda v: F.layer_norm(v, v.shape[1:]))):
    print(f"{name:14} the last token changes, the first moves by {(norm(other) - norm(x))[0, 0].abs().max():.3f}")

# %% [markdown]
# **The text says post-norm, the code does pre-norm** (or the other way around). It happened in well-known code. Both orders have the same parameters under the same names, so nothing complains. And weights that were trained in one order load into the other and give nonsense (next cells). How you would notice, from outside: a fresh post-norm layer *ends* in a norm, so every output vector has mean 0 and mean square 1.

# %%
x = 3 + 2 * torch.randn(2, 5, 12)  # (B, L, d_model), neither mean 0 nor size 1
for order, pre in orders.items():
    y = layers.EncoderLayer(12, 4, 24, pre_norm=pre).eval()(x)
    print(f"{order:9} largest mean of a vector {y.mean(-1).abs().max():.2f}   mean squares from {y.pow(2).mean(-1).min():.2f} to {y.pow(2).mean(-1).max():.2f}")

one, other = layers.EncoderLayer(12, 4, 24, pre_norm=False), layers.EncoderLayer(12, 4, 24, pre_norm=True)
print("weights of one load into the other:", other.load_state_dict(one.state_dict()))

# %% [markdown]
# The model of 9.10 with six pre-norm layers, as it was trained, and then the same weights in the other order. A guess is right one time in eight.

# %% tags=["nbval-ignore-output"]
reverser = models_of["pre-norm, 6 layers"][0]
tokens = torch.randint(0, SYMBOLS, (500, LENGTH), generator=torch.Generator().manual_seed(1))  # (B, L)
shares_right = []
for is_pre in (True, False):
    for part in reverser.modules():
        if isinstance(part, layers.EncoderLayer):
            part.pre_norm = is_pre
    with torch.no_grad():
        shares_right.append((reverser(tokens).argmax(-1) == tokens.flip(1)).float().mean().item())
print(f"symbols right: in the order of training {shares_right[0]:.0%}, in the other order {shares_right[1]:.0%}")
assert shares_right[0] > 0.8 and shares_right[1] < 0.4

# %% [markdown]
# **Cross-attention given the target's mask.** As long as source and target have the same length, it runs. Then it hides the wrong keys: real source tokens where the target has padding or a future, and not the source's padding. How you would notice: test with unequal lengths, always. And the property of 9.13: the source's padding must not matter.

# %%
torch.manual_seed(0)
layer = layers.DecoderLayer(12, 4, 24).eval()
src, tgt = torch.tensor([[7, 8, 9, 0, 0]]), torch.tensor([[1, 2, 3, 4, 5]])  # (B=1, L_s=5), (B=1, L_t=5)
x, memory = torch.randn(1, 5, 12), torch.randn(1, 5, 12)
elsewhere = torch.where((src == 0)[..., None], 5.0, memory)  # another memory, at the source's padding only
causal = masks.causal_mask(5)  # the target has no padding
for name, cross_mask in (("source's padding", masks.padding_mask(src, 0)), ("target's mask", causal)):
    before, after = (layer(x, m, target_mask=causal, memory_mask=cross_mask) for m in (memory, elsewhere))
    print(f"memory_mask = {name:16}  outputs moved by the source's padding: {[round(v, 2) for v in (after - before)[0].abs().amax(-1).tolist()]}")
try:
    layer(x, memory[:, :4], target_mask=causal, memory_mask=causal)
except ValueError as problem:
    print("with unequal lengths: ValueError:", problem)

# %% [markdown]
# **N layers that are the same layer N times.** `[layer] * N` puts one object into the list $N$ times. It trains, since sharing is allowed, but with the parameters of a single layer. How you would notice: count.

# %%
layer = layers.EncoderLayer(12, 4, 24, dropout=0.0)
shared, separate = nn.ModuleList([layer] * 6), nn.ModuleList(layers.EncoderLayer(12, 4, 24, dropout=0.0) for _ in range(6))
for name, stack in (("[layer] * 6", shared), ("six layers", separate)):
    y = torch.ones(1, 3, 12)
    for part in stack:
        y = part(y)
    y.sum().backward()
    print(f"{name:12} {len(stack)} entries, {models.count_parameters(stack):6,} parameters, first and last are one object: {stack[0] is stack[5]}")

# %% [markdown]
# ## In practice
#
# - **Fused norms.** Mean, variance, scale and shift in one kernel, forward and backward; timed below. `F.layer_norm` and `F.rms_norm` do that, and the library's modules call them.
# - **Statistics in float32.** In half precision the squares overflow before the mean is taken (below). Kernels and careful code compute the statistics in float32 and go back at the end.
# - **Today's blocks**: pre-norm, RMSNorm, no biases, SwiGLU for ReLU (lesson 12). Some add a norm after the sublayer too, or one on queries and keys.
# - **Names elsewhere**: `norm1`, `ln_1`, `input_layernorm`, `attention_norm` for the first norm; `linear1`/`linear2`, `fc1`/`fc2`, `c_fc`/`c_proj`, `up_proj`/`down_proj` for the network; `norm_first=True` is PyTorch's word for pre-norm, and its default is post-norm.
# - **Epsilon differs** from model to model, and so does PyTorch's default between its two norms. Take it from the configuration of the model you load.

# %%
x = torch.tensor([[300.0, -200.0, 400.0, 100.0]], dtype=torch.float16)  # (1, d=4)
ones, zeros = torch.ones(4, dtype=torch.float16), torch.zeros(4, dtype=torch.float16)
print("float16 all the way:  ", rms_norm(x, ones).tolist()[0], "  mean square:", x.pow(2).mean().item())
print("statistics in float32:", [round(v, 2) for v in layers.rms_norm(x, ones).tolist()[0]])
print("defaults of PyTorch:   LayerNorm", nn.LayerNorm(4).eps, "  RMSNorm", nn.RMSNorm(4).eps, "(None: torch.finfo(dtype).eps)")

# %% tags=["nbval-ignore-output"]
x, weight, bias = torch.randn(32, 128, 512), torch.ones(512), torch.zeros(512)  # (B, L, d)
for name, norm in (("by hand", lambda: layer_norm(x, weight, bias)), ("fused", lambda: F.layer_norm(x, (512,), weight, bias))):
    print(f"{name:8} {1000 * min(timeit.repeat(norm, number=1, repeat=5)):5.1f} ms   (on this machine, today)")

# %% [markdown]
# ## Recap
#
# 1. **LayerNorm** takes mean and variance over the features of one token, divides by $\sqrt{\sigma^2 + \varepsilon}$ with the variance divided by $d$, and scales and shifts each feature. The unbiased variance shows for small $d$, epsilon outside the root for small numbers, and at a constant vector its gradient is NaN. **RMSNorm** leaves the mean in.
# 2. **The embedding** is multiplied by $\sqrt{d_{model}}$ so that tokens and positions are of one size. **The network** works on each position by itself; without ReLU it would be one matrix.
# 3. **Post-norm** normalizes the sum, **pre-norm** what goes into the sublayer. Post-norm's direct path fades, its tokens become alike, and its queries' gradients vanish, while the network's do not. Pre-norm's stream grows and its gradients shrink gently. At six layers, pre-norm learned in a number of steps in which post-norm did not, at any of the settings tried.
# 4. **Encoder layer**: self-attention, network. **Decoder layer**: causal self-attention, cross-attention to the memory, network. A mask hides keys: the source's padding belongs to cross-attention. A pre-norm stack ends in one more norm.
# 5. **Parameters**: $4(d^2 + d)$ for each attention, $2df + f + d$ for the network, $2d$ for each norm. Same module $N$ times: parameters of one.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $E$, $P$ | embedding table, positions | $(V, d_{model})$, $(L, d_{model})$ |
# | $W_1, b_1$ (`up_proj`) | first matrix of the network, and its bias | $(d_{ff}, d_{model})$, $(d_{ff},)$ |
# | $W_2, b_2$ (`down_proj`) | second matrix of the network, and its bias | $(d_{model}, d_{ff})$, $(d_{model},)$ |
# | $\mu, \sigma^2$ | mean and variance of one vector | a number each; $(B, L, 1)$ for all |
# | $g, b$ (`weight`, `bias`) | scale and shift of a norm | $(d_{model},)$ each |
# | $\varepsilon$ (`eps`) | small constant inside the root | a number |
# | $x$ | residual stream | $(B, L, d_{model})$ |
# | memory | the encoder's output | $(B, L_s, d_{model})$ |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. A LayerNorm by hand agrees with PyTorch to three digits at d = 512, and is 13 % off at d = 4. Which mistake is it?</summary>
#
# **The unbiased variance.** The factor $\sqrt{(d-1)/d}$ is far from 1 for small $d$ only. (Epsilon outside the root would depend on the size of the numbers, not on $d$. A wrong axis would be off everywhere.)
# </details>
#
# <details><summary>2. In a pre-norm layer somebody writes x = norm(x) and then x = x + attention(x). What is lost?</summary>
#
# **The direct path.** What is added to is now the normalized x. The stream passes through every norm, as in post-norm, without post-norm's norm of the sum. (It is not "the same, since the attention gets norm(x) in both": the attention does, the sum does not.)
# </details>
#
# <details><summary>3. Source of 9 tokens, target of 6. What is the shape of the memory mask, and is any of it causal?</summary>
#
# **(B, 1, 1, 9), and no.** A mask has a column for each key, and the keys are the source's. The whole source is known before the first target token. ((B, 1, 6, 6) is the target's own mask. A causal memory mask would hide source tokens for no reason.)
# </details>
#
# <details><summary>4. Why does a pre-norm stack need a final norm, and a post-norm stack not?</summary>
#
# **Because only the post-norm stack ends in one.** Pre-norm's stream grows from layer to layer, and nothing has normalized the last sum. ("Because pre-norm has fewer norms" is wrong: each layer has as many in both.)
# </details>
#
# <details><summary>5. Dropout is put on the sum, dropout(x + f(x)), in all of 12 sublayers with p = 0.1. What happens to a feature on the direct path?</summary>
#
# **It survives all 12 with probability $0.9^{12}$, less than a third (section 9.11).** On the added part alone, the direct path would always survive. (That the others are divided by 0.9 keeps the mean, not the signal of this pass.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, sections 3.1, 3.3, 3.4 and 5.4: the two kinds of layers, the network, the factor at the embedding, dropout.
# - Ba, Kiros, Hinton, *Layer Normalization*, 2016, section 3: the formulas, and why over features and not over the batch.
# - Zhang, Sennrich, *Root Mean Square Layer Normalization*, 2019, section 4: what is left when the mean stays in, and what it saves.
# - He et al., *Identity Mappings in Deep Residual Networks*, 2016, section 2: why nothing should stand on the direct path, worked out for images.
# - Xiong et al., *On Layer Normalization in the Transformer Architecture*, 2020, section 3: the gradient of the last layer by depth, for both orders, and why post-norm needs a warm-up.
# - Liu et al., *Understanding the Difficulty of Training Transformers*, 2020, sections 3 and 4: gradients that vanish in some parts only, and why that is not the whole story.
# - Dong, Cordonnier, Loukas, *Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth*, 2021: why attention makes tokens alike, and what works against it.

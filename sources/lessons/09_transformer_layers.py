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
# By the end you can build encoder and decoder layers from attention, feed-forward networks, norms and residual connections, and measure what the place of the norm does before and after training.
#
# {{colab_link}} · about 120 minutes · builds on lessons 05, 06 and 08

# %% tags=["setup"]
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import diagrams, layers, masks, plotting
from course_utils import positions, pretrained, widgets
from course_utils.datasets.pronunciations import split
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, align
from course_utils.results import read_rows
from course_utils.small_models import norm_order
from course_utils.tokenizers import END_ID, PAD_ID, START_ID, pad
from course_utils.widgets.gradient_depth import measure

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# **You will learn to**
#
# 1. follow the residual stream through all layers of a model, and say what each sublayer adds to it;
# 2. say what the feed-forward network does that attention can't, and write its activation;
# 3. normalize a vector by LayerNorm and by RMSNorm, and tell them from their usual imitations;
# 4. put the norm before or after the sum, and measure what that does to gradients, to tokens and to training;
# 5. build an encoder layer and a decoder layer, and hand each attention the right mask.
#
# Attention lets tokens look at one another (lessons 04 to 07), and positions tell it the order (lesson 08). A layer of a Transformer is attention plus everything that makes it *trainable and stackable*. That is this lesson.

# %% [markdown]
# ## Predict first
#
# LayerNorm shifts and scales a vector so that its entries have mean 0 and variance 1. Take the vector $(1, 3, 5, 7)$. Now multiply it by 10 and add 100: $(110, 130, 150, 170)$.

# %%
widgets.predict(
    "9.1",
    "What does LayerNorm make of the second vector, compared with the first?",
    choices=["ten times as much", "the same", "the same, plus 100", "something else"],
)

# %%
norm = nn.LayerNorm(4)
for vector in ([1.0, 3.0, 5.0, 7.0], [110.0, 130.0, 150.0, 170.0]):
    print(vector, "->", norm(torch.tensor(vector)).detach())
widgets.came_out("9.1", "the same")

# %% [markdown]
# LayerNorm forgets how large a vector is and where its middle lies. What is left is its *shape*: which entries stand out, and in which direction. Keep that in mind; much of this lesson is about where in a model you want something to be forgotten.

# %% [markdown]
# ## 9.1 One stream, many small additions
#
# Here is the model of lesson 11 again, which reads letters and says sounds. Its decoder has four layers, and each layer has three **sublayers**: self-attention, cross-attention and a feed-forward network. None of them replaces what came before. Each one looks at the vectors that run past it, works something out, and *adds* it. What runs past is the **residual stream**, one vector for each token, and it runs through all layers from the embedding to the end:
#
# $$x_0 = \text{embedding}, \qquad x_n = x_{n-1} + f_n(x_{n-1}), \qquad\text{so}\qquad x_N = x_0 + f_1(x_0) + f_2(x_1) + \dots + f_N(x_{N-1}) .$$
#
# Let's measure it while the model says *knight*: how large the numbers in the stream are (their root mean square), and how large the numbers that each sublayer adds.

# %% tags=["nbval-ignore-output"]
pronouncer, word = pretrained.load("transformer").eval(), "knight"
sounds = align(pronouncer, word).sounds  # the last one is "<end>"
given = torch.tensor([[START_ID, *SOUNDS.encode(sounds[:-1])]])  # (1, L_t)
batch = (SPELLING.batch([word]), given)
plotting.show(diagrams.residual_stream(pronouncer, batch))

# %% [markdown]
# *Gray is the stream; the colored bars are what is added to it. The stream grows all the way, and the last addition is by far the largest shown.* We can check the sum itself: catch what each of the 12 sublayers gives, and add it all to what entered the first layer.

# %%
PARTS = ("self_attention", "cross_attention", "feed_forward")
sublayers = [getattr(layer, p) for layer in pronouncer.decoder_layers for p in PARTS]
added, ends = [], []
hooks = [s.register_forward_hook(lambda s, x, y: added.append(y)) for s in sublayers]
for part in (pronouncer.decoder_layers[0], pronouncer.decoder_norm):
    hooks += [part.register_forward_pre_hook(lambda p, x: ends.append(x[0]))]
with torch.no_grad():
    pronouncer(*batch)
for hook in hooks:
    hook.remove()
start, end = ends  # (1, L_t, d_model) each
assert len(added) == 12 and torch.allclose(start + sum(added), end, atol=1e-3)
print("the start plus 12 additions is the stream after the last layer")

# %% [markdown]
# So no sublayer stands *between* the others and the output; all of them write to the same place. What happens if one stops writing?

# %%
widgets.predict(
    "9.2",
    "One of the 12 adds nothing, and you pick the one that hurts most. How many of "
    "100 sounds that the model had right does it lose?",
    between=(0, 100),
)

# %% [markdown]
# On words it hasn't been trained on, the model is given the right sounds so far and has to name the next one. We silence one sublayer at a time, then all four of a kind, then all 12:

# %%
words = dict(list(split("valid").items())[::60])
letters = SPELLING.batch(list(words))  # (B, L_s)
targets = pad([[*SOUNDS.encode(s[0]), END_ID] for s in words.values()])  # (B, L_t)
started = F.pad(targets[:, :-1], (1, 0), value=START_ID)  # (B, L_t)


@torch.no_grad()
def right_without(silent):
    hooks = [s.register_forward_hook(lambda s, x, y: 0 * y) for s in silent]
    right = pronouncer(letters, started).argmax(-1) == targets  # (B, L_t)
    for hook in hooks:
        hook.remove()
    return right[targets != PAD_ID].float().mean().item()

# %% tags=["nbval-ignore-output"]
whole, nothing = right_without([]), right_without(sublayers)
single = [right_without([sublayer]) for sublayer in sublayers]
print(f"all 12 at work:              {whole:.1%} of the next sounds right")
print(f"one of them silent:          {min(single):.1%} to {max(single):.1%}")
for kind, part in enumerate(PARTS):
    print(f"all four silent: {part:15} {right_without(sublayers[kind::3]):6.1%}")
print(f"all 12 silent:               {nothing:.1%}")
widgets.came_out("9.2", 100 * (whole - min(single)) / whole)
assert min(single) > 0.8 * whole and nothing < 0.4 * whole

# %% [markdown]
# Silence any one of the 12, and the model hardly notices: the stream carries everything else past the gap. That isn't because a sublayer adds little (look at the last one in the figure); but what one of them would have said, the others say well enough. Silence all four cross-attentions, and nothing tells the decoder about the letters any more. And in a chain in which each part *replaces* what it got, a single silent link would be the end of it.

# %% [markdown]
# ## 9.2 What goes in: the embedding times $\sqrt{d_{model}}$
#
# Into the first layer goes, for token $t$ at position $p$, the sum $x_0 = \sqrt{d_{model}}\; E_t + P_p$, with $E_t$ the token's row in the embedding table and $P_p$ the position's sines and cosines (lesson 08). The paper gives no reason for the factor. The usual explanation: two things are added, and neither should drown the other.
#
# - $P_p$ consists of $d_{model}/2$ pairs with $\sin^2 + \cos^2 = 1$, so its length is $\sqrt{d_{model}/2}$.
# - The table starts with standard deviation $1/\sqrt{d_{model}}$, so $E_t$ has a length of about 1.

# %%
torch.manual_seed(0)
print("d_model   position   token   token times sqrt(d_model)")
for d_model in (16, 64, 256, 1024):
    sines = positions.SinusoidalPositions(d_model, max_len=50)
    place = sines(torch.zeros(1, 50, d_model))[0]  # (50, d_model)
    table = torch.randn(100, d_model) * d_model**-0.5  # (vocabulary, d_model)
    sizes = [t.norm(dim=-1).mean() for t in (place, table, table * d_model**0.5)]
    print("{:7}   {:8.1f}   {:5.2f}   {:10.1f}".format(d_model, *sizes))

# %% [markdown]
# Without the factor, at $d_{model} = 1024$, the position would be more than twenty times as long as the token. With it, both grow alike. (Why not start the table larger instead? See "When you need it".)

# %% [markdown]
# ## 9.3 The feed-forward network
#
# Attention moves information between tokens. But what it does to the values is average them, and an average is linear. The other sublayer works on each position *by itself*, and not linearly:
#
# $$\text{FFN}(x) = W_2 \max(0,\, W_1 x + b_1) + b_2 .$$
#
# $x$ is the vector of one position, $W_1$ has shape $(d_{ff}, d_{model})$, $W_2$ has $(d_{model}, d_{ff})$, and $d_{ff}$ is usually $4\, d_{model}$. By hand, with one feature in and out and two in between: let $W_1 = (1, -1)$ as a column, $W_2 = (1, 1)$, and no biases. Then $x = -3$ becomes $(-3, 3)$, ReLU makes $(0, 3)$ of it, and the sum is 3. The network computes $|x|$, which no matrix can. As a loop:

# %%
def feed_forward_loop(x, W_1, b_1, W_2, b_2):
    rows = []
    for position in x:  # (d_model,), one at a time: no position sees another
        scores = [row @ position + b for row, b in zip(W_1, b_1, strict=True)]
        inside = torch.tensor([max(0.0, float(score)) for score in scores])  # (d_ff,)
        rows.append(W_2 @ inside + b_2)  # (d_model,)
    return torch.stack(rows)

# %%
torch.manual_seed(0)
network = layers.FeedForward(d_model=6, d_ff=24)
x = torch.randn(2, 5, 6)  # (B, L, d_model)
W_1, b_1, W_2, b_2 = (p.detach() for p in network.parameters())
loop = feed_forward_loop(x[1], W_1, b_1, W_2, b_2)
assert torch.allclose(network(x)[1], loop, atol=1e-5)
print("the loop and course_utils agree:", tuple(network(x).shape))

# %% [markdown]
# It has two properties. Change one position, and only that one changes: it is **position-wise**. And ReLU is no decoration: leave it out, and two matrices do no more than one.

# %%
other = x.clone()
other[0, 2] += 1.0  # another token at position 2 of item 0
moved = (network(other) - network(x)).abs().amax(dim=-1) > 1e-6  # (B, L)
print("moved:", moved.nonzero().tolist())
without_relu = (x @ W_1.T + b_1) @ W_2.T + b_2  # (B, L, d_model)
one_matrix, one_bias = W_2 @ W_1, W_2 @ b_1 + b_2  # (d_model, d_model), (d_model,)
assert torch.allclose(without_relu, x @ one_matrix.T + one_bias, atol=1e-5)
two, one = W_1.numel() + W_2.numel(), one_matrix.numel()
print(f"without ReLU: {two} numbers in two matrices do what {one} in one can do")

# %% [markdown]
# Many models take a smoother function than ReLU, above all GELU. **Do exercise 9.3 now (10 minutes, {{exercises_link}}), then read on**: it asks for GELU in its two forms, and tells you what you need.

# %% [markdown]
# ## 9.4 Two norms: LayerNorm and RMSNorm
#
# For one vector $x$ with $d$ entries (we write $d$ for $d_{model}$):
#
# $$\mu = \frac1d \sum_i x_i , \qquad \sigma^2 = \frac1d \sum_i (x_i - \mu)^2 , \qquad \text{LayerNorm}(x)_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}}\; g_i + b_i .$$
#
# $g$ (`weight`) and $b$ (`bias`), of shape $(d,)$, are learned; they start at 1 and 0. $\varepsilon$ is a small constant that keeps the division safe. By hand on $(1, 3, 5, 7)$: the mean is 4, the differences are $-3, -1, 1, 3$, the variance is $(9 + 1 + 1 + 9)/4 = 5$, and $-3/\sqrt5 = -1.342$, as in the first cells of this lesson. As a loop:

# %%
def layer_norm_loop(x, weight, bias, eps):
    rows = []
    for row in x:  # (d,), one vector at a time
        mean = sum(row) / len(row)
        variance = sum((number - mean) ** 2 for number in row) / len(row)
        rows.append((row - mean) / math.sqrt(variance + eps) * weight + bias)
    return torch.stack(rows)


x, weight, bias = torch.randn(5, 6), torch.randn(6), torch.randn(6)
have = layer_norm_loop(x, weight, bias, 1e-5)
assert torch.allclose(have, F.layer_norm(x, (6,), weight, bias), atol=1e-5)
print("the loop and PyTorch agree")

# %% [markdown]
# Mean and variance run over the *features of one token*. No other token and no other sentence takes part, so it makes no difference how long the sentence is or what else is in the batch. In pictures: taking off the mean projects the vector onto the plane of vectors whose entries sum to 0, and dividing puts it on a sphere in that plane (for $d = 3$, a circle):

# %%
torch.manual_seed(3)
cloud = torch.randn(60, 3) * torch.tensor([2.0, 0.7, 0.7]) + 1  # (60, d)
flat = torch.tensor([[1.0, -1, 0], [1, 1, -2]])  # two directions within the plane
flat = flat / flat.norm(dim=1, keepdim=True)  # (2, d)
centered = cloud - cloud.mean(-1, keepdim=True)
steps = {"centered": centered, "normed": F.layer_norm(cloud, (3,))}

# %%
ax = plotting.new_axes(4.2, 3.8)
for color, (name, points) in zip(plotting.COLORS, steps.items(), strict=False):
    ax.plot(*(points @ flat.T).T.tolist(), "o", ms=4, color=color, label=name)
ax.set(aspect="equal", xlabel="first direction", ylabel="second direction")
ax.legend(frameon=False, fontsize=9)
plotting.show(
    ax,
    "Sixty vectors with three entries, after taking off the mean: a cloud in a plane. "
    "After the division they lie on a circle around the origin.",
)

# %% [markdown]
# *Blue: centered. Orange: normalized. Only the direction from the middle is left.* **Do exercise 9.1 now (10 minutes)**: the same without a loop.
#
# Is the mean worth taking off? **RMSNorm** leaves it in, drops the bias, and divides by the root mean square:
#
# $$\text{RMSNorm}(x)_i = \frac{x_i}{\sqrt{\frac1d \sum_j x_j^2 + \varepsilon}}\; g_i .$$
#
# On $(1, 3, 5, 7)$ the mean square is $(1 + 9 + 25 + 49)/4 = 21$, and $1/\sqrt{21} = 0.218$. **Exercise 9.2 (5 minutes) asks for it.** To tell the two apart from outside, add the same number to all features:

# %%
for name, norm in (("LayerNorm", layers.LayerNorm(6)), ("RMSNorm", layers.RMSNorm(6))):
    shifted, doubled = ((norm(y) - norm(x)).abs().max() for y in (x + 3, 2 * x))
    print(f"{name:9} moved by adding 3: {shifted:.3f}   by doubling: {doubled:.3f}")

# %% [markdown]
# Many of today's large language models use RMSNorm (lesson 12). In this lesson we keep LayerNorm, as the paper does.

# %% [markdown]
# ## 9.5 The norm before or after the sum
#
# Why add at all? The derivative of $x + f(x)$ is the identity plus $f'$, so however small $f'$ is, the identity brings the gradient through. Take a pile of untrained feed-forward networks:

# %%
widgets.predict(
    "9.3",
    "24 networks without residual connections. Of a gradient of 1 at the output, "
    "about how much arrives at the input?",
    choices=["1", "a tenth", "a thousandth", "less than a billionth"],
)

# %%
def gradient_ratio(depth, residual):
    torch.manual_seed(0)
    networks = [layers.FeedForward(64, 256) for _ in range(depth)]
    y = x = torch.randn(50, 64, requires_grad=True)  # (50, d_model)
    for f in networks:
        y = y + f(y) if residual else f(y)  # (50, d_model)
    slope = torch.randn(50, 64)  # a gradient that arrives at the output
    return (torch.autograd.grad(y, x, slope)[0].norm() / slope.norm()).item()


for depth in (1, 6, 12, 24):
    found = [gradient_ratio(depth, residual) for residual in (False, True)]
    print(f"{depth:2} networks   f(x): {found[0]:8.1e}   x + f(x): {found[1]:5.2f}")
assert found[0] < 1e-9
widgets.came_out("9.3", "less than a billionth")

# %% [markdown]
# With the connection the gradient arrives. But now the vectors grow with every addition, and somebody has to keep their size in check: the norm. There are two places for it. **Post-norm**, the order of the paper of 2017, normalizes the sum; **pre-norm**, today's usual one, what goes into the sublayer:
#
# $$\text{post-norm:}\quad x \leftarrow \text{norm}\big(x + f(x)\big) \qquad\qquad \text{pre-norm:}\quad x \leftarrow x + f\big(\text{norm}(x)\big)$$

# %%
orders = {"pre-norm": True, "post-norm": False}


class OneLayer(nn.Module):
    def __init__(self, pre_norm):
        super().__init__()
        self.layer = layers.EncoderLayer(12, 4, 24, pre_norm=pre_norm)

    def forward(self, x):
        return self.layer(x)


for pre_norm in orders.values():
    plotting.show(diagrams.architecture(OneLayer(pre_norm), (torch.randn(2, 7, 12),)))

# %% [markdown]
# *First pre-norm, then post-norm. Follow the line from bottom to top that goes through no sublayer, the **direct path**. In pre-norm nothing stands on it; in post-norm both norms do.*
#
# By hand on $x = (1, 3)$ with $f(x) = x + 1$. Post-norm: the sum is $(1 + 2, 3 + 4) = (3, 7)$, with mean 5 and deviation 2, so $(-1, 1)$. Pre-norm: the norm of $(1, 3)$ is $(-1, 1)$, $f$ makes $(0, 2)$ of it, and $(1 + 0, 3 + 2) = (1, 5)$. **Do exercise 9.4 now (10 minutes), then read on.**
#
# A norm on the direct path divides by the size of the sum. If $x$ and $f(x)$ both have size 1 and nothing in common, that is $\sqrt2$, once for each sublayer. If every sublayer adds noise, which has no gradient, only the direct path is left:

# %%
def direct_path(num_sublayers, pre_norm):
    torch.manual_seed(0)
    residual = layers.Residual(64, pre_norm=pre_norm)
    y = x = torch.randn(1, 50, 64, requires_grad=True)  # (B=1, L, d_model)
    for _ in range(num_sublayers):
        y = residual(y, torch.randn_like)  # the sublayer: noise of size 1
    slope = torch.randn(1, 50, 64)
    return (torch.autograd.grad(y, x, slope)[0].norm() / slope.norm()).item()


for n in (2, 4, 12, 24):
    found = [direct_path(n, pre_norm) for pre_norm in orders.values()]
    print(f"{n:2} sublayers   pre-norm {found[0]:.3f}", end="   ")
    print(f"post-norm {found[1]:.5f}   0.5**{n / 2:g} = {0.5 ** (n / 2):.5f}")

# %% [markdown]
# In pre-norm the direct path carries the gradient whole, at any depth. In post-norm it fades by about half with every layer of two sublayers. What else arrives must come *through* the sublayers.

# %% [markdown]
# ## 9.6 What the place does before training
#
# Now whole encoder layers with attention, 12 of them, fresh, on random inputs and targets, one backward pass. `measure` (in the library) returns three numbers for each layer: the gradient of a matrix of the network, that of the queries' matrix, and the mean cosine of two different tokens after that layer. The matrices start as in lesson 10 (Xavier: random, with a spread chosen so that a product keeps the size of what goes in). Mean of five seeds.

# %%
widgets.predict(
    "9.4",
    "It's often said that gradients vanish in a deep post-norm stack. Where do they?",
    choices=["in all matrices", "in the network's", "in the queries'", "in none"],
)

# %%
NAMES = ("gradient of down_proj", "gradient of q_proj", "likeness of two tokens")
fresh = {
    name: torch.stack([measure(12, pre, seed) for seed in range(5)]).mean(dim=0)
    for name, pre in orders.items()
}  # (3, 12) each

# %%
axes = plotting.new_axes(9.6, 3.2, columns=3)
for row, (ax, title) in enumerate(zip(axes, NAMES, strict=True)):
    found = {name: numbers[row] for name, numbers in fresh.items()}
    layer = torch.arange(1.0, 13.0)
    plotting.curves(layer, found, xlabel="layer", ylabel="", ax=ax, title=title)
    ax.set_yscale("log" if row < 2 else "linear")
    ax.set_ylim(*((1e-3, 10) if row < 2 else (0, 1.05)))
    ax.set_xticks([1, 4, 8, 12])
plotting.show(
    axes[0],
    "Three numbers by layer, 12 fresh layers. Gradient of down_proj: for post-norm "
    "it dips a little and rises again, for pre-norm it falls gently. Gradient of "
    "q_proj: falls steeply for post-norm. Likeness: rises to nearly 1 for post-norm, "
    "stays lower for pre-norm.",
)

# %%
ratio = fresh["post-norm"][:, -1] / fresh["post-norm"][:, 0]
print("post-norm, last by first layer:", end=" ")
print(f"down_proj {ratio[0]:.2f}, q_proj {ratio[1]:.0e}")
alike = {name: round(found[2, -1].item(), 2) for name, found in fresh.items()}
print("likeness after layer 12:", alike)
assert ratio[0] > 0.5 and ratio[1] < 0.05 and alike["post-norm"] > 0.9
widgets.came_out("9.4", "in the queries'")

# %% [markdown]
# *The network's gradients don't vanish in post-norm at all. The queries' do, and the right panel suggests why: the tokens become alike.* Attention averages, and an average of all tokens is nearly the same for every token. If all keys are alike, it makes no difference where a query looks, so its gradient is nearly zero. In pre-norm the stream keeps each token's own vector and only adds to it.
#
# **What Xiong and others (2020) say.** They prove how large the gradient of the *last* layer's network can be expected to be in a simplified Transformer at its start: in pre-norm it shrinks like $1/\sqrt N$ with the number of layers, in post-norm it doesn't shrink. Measured, mean of five seeds:

# %%
print("layers        1     4    16")
for name, pre in orders.items():
    runs = [[measure(n, pre, s)[0, -1] for s in range(5)] for n in (1, 4, 16)]
    runs = torch.tensor(runs)  # (3, 5)
    last = runs.mean(dim=1)  # (3,)
    print(f"{name:9}", "  ".join(f"{size:.2f}" for size in last), end="   with 16 ")
    print(f"from {runs[-1].min():.2f} to {runs[-1].max():.2f}")
    assert last[-1] < 0.6 * last[0] if pre else last[-1] > last[0]

# %% [markdown]
# In post-norm it even grows here. From this they conclude that a large learning rate on such gradients makes training unstable, and that a **warm-up**, in which the rate climbs slowly during the first steps, avoids that. Their theorem is about the last layer, and our middle panel shows how different other matrices can be. And the size of a gradient can't be the whole story, because Adam divides it out (lesson 10). Liu and others (2020) look elsewhere. They find that unbalanced gradients aren't the root cause, but that a post-norm layer depends more heavily on what its own sublayer adds, so that small changes of the parameters are amplified. That can be measured too: shake all matrices by one percent, and see how far the normalized output moves, mean and range of five seeds.

# %%
@torch.no_grad()
def shaken(num_layers, pre_norm, seed):
    torch.manual_seed(seed)
    sizes = {"dropout": 0.0, "pre_norm": pre_norm}
    stack = nn.Sequential(
        *(layers.EncoderLayer(64, 4, 256, **sizes) for _ in range(num_layers))
    )
    matrices = [p for p in stack.parameters() if p.dim() == 2]
    for matrix in matrices:
        nn.init.xavier_uniform_(matrix)
    x = torch.randn(8, 10, 64)  # (B, L, d_model)
    before = F.layer_norm(stack(x), (64,))
    for matrix in matrices:
        matrix.add_(0.01 * matrix.std() * torch.randn_like(matrix))
    return ((F.layer_norm(stack(x), (64,)) - before).norm() / before.norm()).item()

# %%
for name, pre in orders.items():
    for n in (1, 6, 24):
        moved = [shaken(n, pre, seed) for seed in range(5)]
        spread = f"({min(moved):.1%} to {max(moved):.1%})"
        print(f"{name:9} {n:2} layers: moves by {sum(moved) / 5:.1%} {spread}")

# %% [markdown]
# A single layer moves equally far in both orders. At 24 layers, post-norm moves about twice as far as pre-norm. All depths, to play with:

# %%
depths = widgets.gradient_by_depth()
depths.show_first_state(
    "12 layers, gradient of down_proj: for post-norm it dips a little and rises "
    "again, for pre-norm it falls gently. Beside it the mean cosine of two tokens by "
    "layer: post-norm rises to nearly 1, pre-norm stays clearly below."
)
depths

# %% [markdown]
# *Try 1 layer, then 24; then choose `q_proj`.*

# %% [markdown]
# ## 9.7 What the place does in training
#
# Fresh layers are one thing; does it matter once they learn? The task: reverse a sequence of 8 symbols. The position says where to look, so attention is needed, and so are tokens that differ. Two landmarks for the loss: someone who knows nothing guesses one of 8 symbols, $\ln 8$; someone who knows *which* symbols occur, but not where, does a little better. The pre-norm model has one more norm on top of its stack (section 9.8 says why); all else is the same. First live, six layers, one seed each:

# %%
drawn = torch.randint(0, 8, (20000, 8), generator=torch.Generator().manual_seed(0))
shares = F.one_hot(drawn, 8).float().mean(dim=1)  # (20000, 8): how often each occurs
NOTHING, BAG = math.log(8), torch.special.entr(shares).sum(dim=-1).mean().item()
print(f"knows nothing: {NOTHING:.2f}   knows which symbols, not where: {BAG:.2f}")

# %% tags=["nbval-ignore-output"]
trained = {}
for name, pre in tqdm(orders.items(), unit="model", file=sys.stdout):
    torch.manual_seed(0)
    trained[name] = norm_order.Reverser(num_layers=6, pre_norm=pre)
    for _ in norm_order.train(trained[name], seed=0, rate=0.01, steps=150):
        pass
for name, model in trained.items():
    loss, right, alike = norm_order.measure(model)
    print(f"{name:9} loss {loss:.2f}  symbols right {right:.0%}  likeness {alike:.2f}")

# %% [markdown]
# One seed and one learning rate prove little. `python -m experiments norm_order` trained both orders with three learning rates, and once with a warm-up of 100 steps: the same seeds, 300 steps each, and always measured on the same 500 sequences that no model was trained on. We read its table:

# %%
runs = {}
for row in read_rows("norm_order"):
    key = (int(row["layers"]), float(row["rate"]), int(row["warmup"]), row["order"])
    numbers = [float(row[what]) for what in ("loss", "likeness")]
    runs.setdefault(key, {}).setdefault(int(row["seed"]), []).append(numbers)
runs = {key: torch.tensor(list(seeds.values())) for key, seeds in runs.items()}
print(len(runs), "settings; seeds of each:", {len(table) for table in runs.values()})

# %%
SETTINGS = {
    "rate 0.01": (6, 0.01, 1),
    "rate 0.01, warm-up": (6, 0.01, 100),
    "rate 0.003": (6, 0.003, 1),
    "rate 0.001": (6, 0.001, 1),
}

# %%
axes, step = plotting.new_axes(10.4, 3.0, columns=4), torch.arange(0.0, 301, 50)
for ax, (title, setting) in zip(axes, SETTINGS.items(), strict=True):
    found = {name: runs[*setting, name][..., 0] for name in orders}  # (seeds, 7) each
    means = {name: losses.mean(dim=0) for name, losses in found.items()}
    plotting.curves(step, means, xlabel="step", ylabel="", ax=ax, title=title)
    for line, losses in zip(ax.lines, found.values(), strict=True):
        band = (losses.amin(dim=0).tolist(), losses.amax(dim=0).tolist())
        ax.fill_between(step.tolist(), *band, color=line.get_color(), alpha=0.2, lw=0)
    for height in (NOTHING, BAG):
        ax.axhline(height, color="0.6", lw=0.8, zorder=0)
    ax.set_ylim(0, 2.8)

# %%
axes[0].set_ylabel("loss on new sequences")
plotting.show(
    axes[0],
    "Loss on new sequences of six layers, mean and range of the seeds, in four "
    "settings. Pre-norm comes down below the landmarks in all of them, post-norm "
    "stays at one of the two landmarks in all of them.",
)

# %% [markdown]
# *Gray lines: the upper one for someone who knows nothing, the lower one for someone who knows which symbols occur. The bands show the range of the seeds.* Pre-norm learns the task at every rate; at the smallest it is still on its way after 300 steps. Post-norm, at the largest rate, stays close to where one knows nothing. With a warm-up or a smaller rate it comes down to the second landmark and gets hardly any further: it has learned which symbols occur, and next to nothing about where.
#
# And the tokens? Their mean cosine after the last layer, before training and after 300 steps, mean and range of the seeds:

# %%
print(f"{'':20} {'order':9}  before   after      loss")
for title, setting in {"1 layer, rate 0.01": (1, 0.01, 1), **SETTINGS}.items():
    for name in orders:
        found = runs[*setting, name]  # (seeds, 7, 2)
        alike, loss = found[:, -1, 1], found[:, -1, 0]
        spread = f"({alike.min():.2f} to {alike.max():.2f})"
        print(f"{title:20} {name:9}  {found[:, 0, 1].mean():.2f}", end="     ")
        print(f"{alike.mean():.2f} {spread}   {loss.mean():.2f}")

# %% [markdown]
# This is the strongest evidence of the lesson. Where training went well, the tokens are nearly at right angles to one another. In post-norm with six layers they still point nearly the same way after training, and the more alike the vectors are, the less a classifier can read from them who stands where. With one layer both orders do it.
#
# What this does **not** show: that post-norm can't work. The paper of 2017 trained six such layers, with a warm-up of 4,000 steps and 100,000 steps in all. Liu and others (2020) even report that a light dependency on the sublayers, as pre-norm has it, limits what a model can reach. What it shows is that pre-norm is easier to train.

# %% [markdown]
# ## 9.8 Whole layers: encoder and decoder
#
# Put together: an encoder layer is two residual connections, one around self-attention and one around the network, each with a norm of its own. A decoder layer has a third in between, around cross-attention to the encoder's output, the **memory**. Here are both, one layer of each, in pre-norm:

# %%
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder_layer = layers.EncoderLayer(12, 4, 24)
        self.encoder_norm = layers.LayerNorm(12)
        self.decoder_layer = layers.DecoderLayer(12, 4, 24)
        self.decoder_norm = layers.LayerNorm(12)

    def forward(self, x, y, source_mask, target_mask):
        memory = self.encoder_norm(self.encoder_layer(x, source_mask))
        y = self.decoder_layer(
            y, memory, target_mask=target_mask, memory_mask=source_mask
        )
        return self.decoder_norm(y)

# %%
source = torch.tensor([[5, 3, 8, 8, 2, 0, 0]])  # (B=1, L_s=7), 0 is padding
target = torch.tensor([[1, 2, 3, 4, 5]])  # (B=1, L_t=5)
memory_mask = masks.padding_mask(source, 0)  # (B, 1, 1, L_s)
target_mask = masks.combine_masks(masks.padding_mask(target, 0), masks.causal_mask(5))
x, y = torch.randn(1, 7, 12), torch.randn(1, 5, 12)  # (B, L_s, d), (B, L_t, d)
plotting.show(diagrams.architecture(Pair(), (x, y, memory_mask, target_mask)))

# %% [markdown]
# *The line from the left column into the right one carries keys and values, not queries. One more norm sits on top of each stack: in pre-norm nothing else has normalized the last sum, and the stream has grown all the way.*
#
# | | queries from | keys and values from | mask | its shape |
# |---|---|---|---|---|
# | self-attention | target | target | causal, and the target's padding | `(B, 1, L_t, L_t)` |
# | cross-attention | target | memory | the *source's* padding | `(B, 1, 1, L_s)` |
#
# One rule settles every such question: **a mask hides keys.** Ask where the keys come from, and you know whose padding counts, and whether there is a future to hide.
#
# **Do exercises 9.5 and 9.6 now (35 minutes), then read on.** You have seen every part; the layers are yours to write. The library's must do the same as PyTorch's when they have the same weights, which only takes a translation of names:

# %%
def translated(theirs, names):
    """PyTorch's parameters under our names; names maps its parts to ours."""
    found = {}
    for name, value in theirs.state_dict().items():
        part, kind = name.rsplit(".", 1)
        if kind.startswith("in_proj_"):  # query, key and value, stacked (lesson 06)
            for letter, third in zip("qkv", value.chunk(3), strict=True):
                found[f"{names[part]}.{letter}_proj.{kind[8:]}"] = third
        else:
            found[f"{names[part]}.{kind}"] = value
    return found

# %%
NAMES = {"self_attn": "self_attention", "self_attn.out_proj": "self_attention.o_proj"}
NAMES |= {"linear1": "feed_forward.up_proj", "linear2": "feed_forward.down_proj"}
ENCODER = NAMES | {"norm1": "attention_norm", "norm2": "feed_forward_norm"}
DECODER = NAMES | {"multihead_attn": "cross_attention"}
DECODER |= {"multihead_attn.out_proj": "cross_attention.o_proj"}
DECODER |= {"norm1": "attention_norm", "norm2": "cross_attention_norm"}
DECODER |= {"norm3": "feed_forward_norm"}

# %%
@torch.no_grad()
def unsettle(module):
    """Every parameter a little random: fresh biases of 0 would hide a forgotten one."""
    for parameter in module.parameters():
        parameter.add_(0.2 * torch.randn_like(parameter))
    return module

# %%
torch.manual_seed(0)
for name, pre in orders.items():
    options = {"batch_first": True, "norm_first": pre}
    theirs = unsettle(nn.TransformerEncoderLayer(12, 4, 24, **options)).eval()
    ours = layers.EncoderLayer(12, 4, 24, pre_norm=pre).eval()
    ours.load_state_dict(translated(theirs, ENCODER))
    want = theirs(x, src_key_padding_mask=source == 0)  # PyTorch: True = ignore
    assert torch.allclose(ours(x, memory_mask), want, atol=1e-5)
    theirs = unsettle(nn.TransformerDecoderLayer(12, 4, 24, **options)).eval()
    ours = layers.DecoderLayer(12, 4, 24, pre_norm=pre).eval()
    ours.load_state_dict(translated(theirs, DECODER))
    hidden = {"tgt_mask": ~target_mask[0, 0], "memory_key_padding_mask": source == 0}
    have = ours(y, x, target_mask=target_mask, memory_mask=memory_mask)
    assert torch.allclose(have, theirs(y, x, **hidden), atol=1e-5)
    print(f"{name}: encoder layer and decoder layer agree with PyTorch's")

# %% [markdown]
# In training, **dropout** acts on what each sublayer gives, before it is added (and, in most code, in two more places; see "When you need it"). It never acts on the sum: with $p = 0.1$ on the sum, a feature of the embedding would get through 12 sublayers unharmed with probability $0.9^{12}$.

# %%
print(f"0.9**12 = {0.9**12:.2f}")

# %% [markdown]
# ## What goes wrong
#
# **The unbiased variance, and epsilon outside the root.** `x.var(-1)` and `x.std(-1)` divide by $d - 1$ unless told otherwise, and $\sigma + \varepsilon$ isn't $\sqrt{\sigma^2 + \varepsilon}$. The *Annotated Transformer* has both at once, `(x - mean) / (x.std(-1) + eps)`, and with it the many programs that were copied from it. How far off is each? Length of the difference, by length of the right answer:

# %%
def error(wrong, d, size):
    x = size * torch.randn(200, d, generator=torch.Generator().manual_seed(0))
    right, centered = F.layer_norm(x, (d,)), x - x.mean(-1, keepdim=True)
    return ((wrong(x, centered) - right).norm() / right.norm()).item()


WRONG = {
    "unbiased": lambda x, c: c / (x.var(-1, keepdim=True) + 1e-5).sqrt(),
    "outside": lambda x, c: c / (x.std(-1, keepdim=True, correction=0) + 1e-5),
}
print("            d = 4    d = 64   d = 512  d = 64, numbers of size 0.001")
for name, wrong in WRONG.items():
    sizes = ((4, 1), (64, 1), (512, 1), (64, 1e-3))
    found = [error(wrong, d, size) for d, size in sizes]
    print(f"{name:9}", "  ".join(f"{e:7.2%}" for e in found))

# %% [markdown]
# The first shows with short vectors, the second with small numbers. Neither stops anything; both do their harm when trained weights meet the other formula. How you would notice: compare with PyTorch at $d = 4$ *and* on tiny numbers.
#
# **The text says post-norm, the code does pre-norm**, or the other way around. Both orders have the same parameters under the same names, so weights of one load into the other without a word. Here is our live pre-norm model, then the same weights in the other order (a guess is right one time in eight):

# %% tags=["nbval-ignore-output"]
reverser = trained["pre-norm"]
kept = norm_order.measure(reverser)[1]
for layer in reverser.layers:
    layer.pre_norm = False
other = norm_order.measure(reverser)[1]
print(f"symbols right: {kept:.0%} as trained, {other:.0%} in the other order")

# %% [markdown]
# How you would notice, from outside and before any training: a fresh post-norm layer *ends* in a norm, so each of its output vectors has mean 0 and mean square 1. A fresh pre-norm layer's don't.

# %% [markdown]
# ## In practice
#
# - **Norms are fused**: mean, variance, scale and shift in one kernel, with the statistics in float32 even where the rest is in half precision, since squares overflow there. `F.layer_norm` does that, and the library's module calls it.
# - **Today's blocks** are mostly pre-norm with RMSNorm, no biases, and a gated network (lesson 12). Some put a second norm on what the sublayer gives, some run attention and network side by side; exercise 9.7 builds both.
# - **Names elsewhere**: `norm1`, `ln_1`, `input_layernorm` for the first norm; `linear1`/`linear2`, `fc1`/`fc2`, `c_fc`/`c_proj` for the network; `norm_first=True` is PyTorch's word for pre-norm, and its default is post-norm.
# - **Epsilon is part of a model.** It differs from model to model; take it from the configuration.

# %% [markdown]
# ## Recap
#
# 1. **The stream** starts as the embedding (times $\sqrt{d_{model}}$, plus position), and every sublayer adds to it: $x_N = x_0 + \sum f_n$. In the pronouncing model hardly a sound is lost when one sublayer falls silent.
# 2. **The network** works on each position by itself and not linearly; without an activation its two matrices would be one.
# 3. **LayerNorm** takes mean and variance over the features of one token, with the variance divided by $d$ and $\varepsilon$ inside the root; **RMSNorm** leaves the mean in. Adding a number to all features tells them apart. The unbiased variance shows at small $d$, epsilon outside at small numbers.
# 4. **Post-norm** normalizes the sum, **pre-norm** what goes into the sublayer. In fresh post-norm stacks the direct path fades, tokens become alike, and the queries' gradients vanish, while the network's don't. With six layers, pre-norm learned a task that post-norm didn't, at any of the settings tried, and post-norm's tokens stayed alike.
# 5. **Encoder layer**: self-attention, network. **Decoder layer**: causal self-attention, cross-attention to the memory, network. A mask hides keys: the source's padding belongs to cross-attention. A pre-norm stack ends in one more norm.

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $x_n$ | residual stream after $n$ sublayers | $(B, L, d_{model})$ |
# | $f_n$ | sublayer $n$: what it adds | $(B, L, d_{model})$ |
# | $W_1, b_1$ (`up_proj`) | first matrix of the network, and its bias | $(d_{ff}, d_{model})$, $(d_{ff},)$ |
# | $W_2, b_2$ (`down_proj`) | second matrix of the network, and its bias | $(d_{model}, d_{ff})$, $(d_{model},)$ |
# | $\mu, \sigma^2$ | mean and variance of one vector | a number each |
# | $g, b$ (`weight`, `bias`) | scale and shift of a norm | $(d_{model},)$ each |
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
# **The direct path.** What is added to is now the normalized x, so the stream passes through every norm. (It is not "the same, since the attention gets norm(x) in both": the attention does, the sum doesn't.)
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
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# **Why the embedding table starts small.** Many models use one table twice: to read tokens, and at the end to score them, $\text{logits} = E\,h$ with $h$ the normalized vector of the last layer. A logit is then a sum of $d_{model}$ products, and with entries of size 1 its size would be $\sqrt{d_{model}}$, like the unscaled scores of lesson 04. So the table starts at $1/\sqrt{d_{model}}$, and the factor makes up for it on the way in. `nn.Embedding` by itself starts at 1; with the factor on top, tokens drown positions. For attention, which compares vectors, that means:

# %%
d_model, rng = 512, torch.Generator().manual_seed(0)
sines = positions.SinusoidalPositions(d_model, max_len=50)
place = sines(torch.zeros(1, 50, d_model))[0]  # (50, d_model)
table = torch.randn(100, d_model, generator=rng) * d_model**-0.5  # (100, d_model)
WAYS = {"no factor": 1, "the factor": d_model**0.5, "factor, start at 1": d_model}
for name, factor in WAYS.items():
    t = factor * table  # a table that starts at 1 is sqrt(d_model) times this one
    place_alone = F.cosine_similarity(t[:50] + place[5], t[50:] + place[5]).mean()
    token_alone = F.cosine_similarity(t + place[5], t + place[25]).mean()
    print(f"{name:18} cosine of other tokens, same place {place_alone:.2f}", end="   ")
    print(f"same token, other place {token_alone:.2f}")

# %% [markdown]
# Without the factor, two different tokens at the same place are nearly the same vector. With the factor on top of a start at 1, the same token at two places is. In between, attention can see both.
#
# **Where dropout stands.** The paper (section 5.4) names two places: on what each sublayer gives, before it is added, and on the sum of embedding and position. Most code, PyTorch's and this library's too, has two more: on the attention weights after the softmax, and inside the network after the activation.
#
# **A vector of equal numbers**, a row of zeros from padding, say, has variance 0. The slope of $\sqrt v$ at 0 is infinite, so with epsilon outside the root its gradient is NaN, and one such row is enough to lose all parameters at the next step:

# %%
CONSTANT = {"inside": lambda v: (v + 1e-5).sqrt(), "outside": lambda v: v.sqrt() + 1e-5}
for name, root in CONSTANT.items():
    x = torch.zeros(1, 4, requires_grad=True)
    centered = x - x.mean(-1, keepdim=True)
    (centered / root(centered.square().mean(-1, keepdim=True)))[0, 0].backward()
    print(f"epsilon {name:8} gradient {[round(g, 1) for g in x.grad[0].tolist()]}")

# %% [markdown]
# **Half precision.** In float16 the squares overflow before the mean is taken; with statistics in float32 nothing happens.

# %%
x = torch.tensor([[300.0, -200.0, 400.0, 100.0]], dtype=torch.float16)  # (1, d=4)
print("mean square in float16:", x.square().mean().item())
normed = layers.rms_norm(x, torch.ones(4, dtype=torch.float16))
print("statistics in float32: ", [round(v, 2) for v in normed[0].tolist()])

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, sections 3.1, 3.3, 3.4 and 5.4: the two kinds of layers, the network, the factor at the embedding, dropout.
# - Ba, Kiros, Hinton, *Layer Normalization*, 2016, section 3: the formulas, and why over features and not over the batch.
# - Zhang, Sennrich, *Root Mean Square Layer Normalization*, 2019, section 4 for what is left when the mean stays in; what it saves is in its experiments.
# - Xiong et al., *On Layer Normalization in the Transformer Architecture*, 2020, section 3: the gradient of the last layer by depth, for both orders, and warm-up.
# - Liu et al., *Understanding the Difficulty of Training Transformers*, 2020: why unbalanced gradients are not the whole story, and the amplification that 9.6 measures.
# - Dong, Cordonnier, Loukas, *Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth*, 2021: why attention makes tokens alike, and what works against it.

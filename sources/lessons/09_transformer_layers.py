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
# By the end you can build encoder and decoder layers from attention, feed-forward networks, norms and residual connections, and measure what the place of the norm and the size of the start do to training.
#
# {{colab_link}} · short path about 65 minutes with its exercises (40 + 25), everything about 3½ hours · builds on lessons 05, 06 and 08

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
from course_utils.multi_head import MultiHeadAttention
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, align
from course_utils.results import read_rows
from course_utils.small_models import norm_order
from course_utils.tokenizers import END_ID, PAD_ID, START_ID, pad
from course_utils.widgets.gradient_depth import mean_cosine, measure

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# **You will learn to**
#
# 1. follow the residual stream through all layers of a model, and say what each sublayer adds to it;
# 2. say what the feed-forward network does that attention can't;
# 3. normalize a vector by LayerNorm and by RMSNorm, and tell them from their usual imitations;
# 4. put the norm before or after the sum, and find out by changing one thing at a time what makes a deep stack hard to train;
# 5. build an encoder layer and a decoder layer, and hand each attention the right mask.
#
# Attention lets tokens look at one another (lessons 04 to 07), and positions tell it the order (lesson 08). This lesson adds everything that makes attention *trainable and stackable*.

# %% [markdown]
# ## Predict first
# *Core · 2 minutes*
#
# LayerNorm shifts and scales a vector so that its entries have mean 0 and variance 1. Take the vector $(1, 3, 5, 7)$. Now multiply it by 10 and add 100, and you have $(110, 130, 150, 170)$.

# %%
widgets.predict(
    "9.A",
    "What does LayerNorm make of the second vector, compared with the first?",
    choices=["ten times as much", "the same", "the same, plus 100", "something else"],
)

# %%
norm = nn.LayerNorm(4)
for vector in ([1.0, 3.0, 5.0, 7.0], [110.0, 130.0, 150.0, 170.0]):
    print(vector, "->", norm(torch.tensor(vector)).detach())
widgets.came_out("9.A", "the same")

# %% [markdown]
# LayerNorm forgets how large a vector is and where its middle lies. What is left is its *shape*. Much of this lesson is about where in a model that is wanted.

# %% [markdown]
# ## 9.1 One stream, many small additions
# *Core · 6 minutes*
#
# Here is the model of lesson 11 again, which reads letters and says sounds. Its decoder has four layers, and each layer has three **sublayers**: self-attention, cross-attention and a feed-forward network. None of them replaces what came before. Each one looks at the vectors that run past it, works something out, and *adds* it. What runs past is the **residual stream**. It has one vector for each token and runs through all layers from the embedding to the end:
#
# $$x_0 = \text{embedding}, \qquad x_n = x_{n-1} + f_n(x_{n-1}), \qquad\text{so}\qquad x_N = x_0 + f_1(x_0) + f_2(x_1) + \dots + f_N(x_{N-1}) .$$
#
# Let's measure it while the model says *knight*. How large are the numbers in the stream (their root mean square), and how large are those that each sublayer adds?

# %% tags=["nbval-ignore-output"]
pronouncer, word = pretrained.load("transformer").eval(), "knight"
sounds = align(pronouncer, word).sounds  # the last one is "<end>"
given = torch.tensor([[START_ID, *SOUNDS.encode(sounds[:-1])]])  # (1, L_t)
batch = (SPELLING.batch([word]), given)
plotting.show(diagrams.residual_stream(pronouncer, batch))

# %% [markdown]
# *Gray is the stream, and the colored bars between are what is added to it. It grows with each of the 12 additions, and the last one is by far the largest.* We can check the sum. Add what each sublayer gives to what entered the first layer.

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
print(f"{len(added)} additions; what they miss of the last stream:", end=" ")
print(f"at most {(start + sum(added) - end).abs().max():.3f}")

# %% [markdown]
# All sublayers write to the same place, and none sits *between* the others and the output. (Lesson 13 divides a logit among such additions.) What happens if one stops writing?

# %%
widgets.predict(
    "9.B",
    "One of the 12 adds nothing, and you pick the one that hurts most. By what "
    "percentage does the loss rise?",
    between=(0, 300),
)

# %% [markdown]
# On words that it hasn't been trained on, the model is given the right sounds so far and has to name the next one. We silence one sublayer at a time, and print how often the right sound comes out on top, and the loss, which also asks how sure the model is. In the last column, all logits are multiplied by the one number, from 0.1 to 4, that gives the lowest loss. That can give sureness back, but no knowledge.

# %%
words = dict(list(split("valid").items())[::15])
letters = SPELLING.batch(list(words))  # (B, L_s)
targets = pad([[*SOUNDS.encode(s[0]), END_ID] for s in words.values()])  # (B, L_t)
started = F.pad(targets[:, :-1], (1, 0), value=START_ID)  # (B, L_t)
real = targets != PAD_ID  # (B, L_t)
print(f"{len(words)} words, {real.sum()} sounds, the end counted as one")

# %%
@torch.no_grad()
def logits_without(silent):
    hooks = [s.register_forward_hook(lambda s, x, y: 0 * y) for s in silent]
    logits = pronouncer(letters, started)[real]  # (sounds, V)
    for hook in hooks:
        hook.remove()
    return logits


def without(silent):
    logits = logits_without(silent)  # (sounds, V)
    right = (logits.argmax(-1) == targets[real]).float().mean().item()
    factors = torch.linspace(0.1, 4, 40)
    scaled = [F.cross_entropy(logits * f, targets[real]).item() for f in factors]
    return right, F.cross_entropy(logits, targets[real]).item(), min(scaled)

# %% tags=["nbval-ignore-output"]
whole = without([])
print("                                   right   loss  rescaled")
print("all 12 at work                     {:5.1%}  {:5.3f}  {:5.3f}".format(*whole))
alone = [without([sublayer]) for sublayer in sublayers]
for n, numbers in enumerate(alone):
    name = f"{PARTS[n % 3]} of layer {n // 3 + 1}"
    print("without {:27}{:5.1%}  {:5.3f}  {:5.3f}".format(name, *numbers))
widgets.came_out("9.B", 100 * (max(loss for _, loss, _ in alone) / whole[1] - 1))

# %% [markdown]
# Judged by the sound on top, most sublayers are hardly missed. At worst, without an attention of the first layer, about 7 % of the sounds are wrong, instead of 4 %. By the loss, the last network is missed most, yet after rescaling nothing of the rise is left. Let's compare the logits with and without it.

# %% tags=["nbval-ignore-output"]
shorter, full = logits_without(sublayers[-1:]), logits_without([])  # (sounds, V) each
same = (shorter.argmax(-1) == full.argmax(-1)).float().mean()
print(f"same sound on top, with and without the last network: {same:.1%}")
for name, logits in (("without", shorter), ("with", full)):
    best, second = logits.topk(2).values.mean(dim=0)  # (2,)
    print(f"{name:7} it, the top sound's lead over the next: {best - second:.1f}")

# %% [markdown]
# **What the last network adds is mostly sharpening.** It seldom changes the choice, but widens its lead. The first layer's two attentions are the other kind. Without them the loss stays high, rescaled or not.

# %% [markdown]
# ## Several at once
# *More · 3 minutes*
#
# All four sublayers of a kind fall silent together, and the networks of the encoder too.

# %% tags=["nbval-ignore-output"]
networks = [layer.feed_forward for layer in pronouncer.encoder_layers]
groups = {f"all four {part}": sublayers[n::3] for n, part in enumerate(PARTS)}
groups |= {"the encoder's feed_forward": networks}
groups |= {"both kinds of feed_forward": networks + sublayers[2::3]}
groups |= {"all 12": sublayers}
print("                                      right   loss  rescaled")
for name, silent in groups.items():
    print("without {:29}{:6.1%}  {:5.3f}  {:5.3f}".format(name, *without(silent)))
held = sum(p.numel() for s in sublayers[2::3] for p in s.parameters())
every = sum(p.numel() for p in pronouncer.decoder_layers.parameters())
print(f"the decoder's networks hold {held:,} of the {every:,} parameters of its layers")

# %% [markdown]
# Without the four cross-attentions nothing tells the decoder about the letters. The decoder's four networks hold half of its layers' parameters, and without them it is still right nine times out of ten. Are networks worth so little? Silence the encoder's as well, and the errors more than double again. Does one kind stand in for the other, as the heads of section 6.8 did? That depends on how you count. Both together cost more than the sum of what each costs alone. But each kind about doubles the errors when it is gone, and both about quadruple them, which is no more than twice twice. This table can't decide.

# %% [markdown]
# ## 9.2 What goes in: the embedding times $\sqrt{d_{model}}$
# *More · 5 minutes*
#
# In the paper's model, the first layer gets for token $t$ at position $p$ the sum $x_0 = \sqrt{d_{model}}\; E_t + P_p$. Here $E_t$ is the token's row in the embedding table, and $P_p$ has the position's sines and cosines (lesson 08). The small model of section 9.7 does the same. (The pronouncer has the factor too, but adds no $P$. Its positions are rotations inside attention.) The paper gives no reason for the factor. The usual explanation is that two things are added, and neither should drown the other.
#
# - $P_p$ consists of $d_{model}/2$ pairs with $\sin^2 + \cos^2 = 1$, which makes its length $\sqrt{d_{model}/2}$.
# - The table starts with standard deviation $1/\sqrt{d_{model}}$, and $E_t$ has a length of about 1.

# %%
torch.manual_seed(0)
print("d_model   position   token   token times sqrt(d_model)   position by token")
for d_model in (16, 64, 256, 1024):
    sines = positions.SinusoidalPositions(d_model, max_len=50)
    place = sines(torch.zeros(1, 50, d_model))[0]  # (50, d_model)
    table = torch.randn(100, d_model) * d_model**-0.5  # (vocabulary, d_model)
    sizes = [t.norm(dim=-1).mean() for t in (place, table, table * d_model**0.5)]
    row = "{:7}   {:8.1f}   {:5.2f}   {:25.1f}   {:17.1f}"
    print(row.format(d_model, *sizes, sizes[0] / sizes[1]))

# %% [markdown]
# Without the factor, the position would be longer than the token, the more so the wider the model (last column). With it, both grow alike. (Why not start the table larger instead? See "When you need it".)

# %% [markdown]
# ## 9.3 The feed-forward network
# *Core · 4 minutes*
#
# Attention moves information between tokens. But what it does to the values is average them, and an average is linear. The other sublayer works on each position *by itself*, and not linearly:
#
# $$\text{FFN}(x) = W_2 \max(0,\, W_1 x + b_1) + b_2 .$$
#
# $x$ is the vector of one position, $W_1$ has shape $(d_{ff}, d_{model})$, $W_2$ has $(d_{model}, d_{ff})$, and $d_{ff}$ is usually $4\, d_{model}$. Take one feature in and out and two in between, with $W_1 = (1, -1)$ as a column, $W_2 = (1, 1)$, and no biases. Then $x = -3$ becomes $(-3, 3)$, ReLU makes $(0, 3)$ of it, and the sum is 3. The network computes $|x|$, which no matrix can. The same in code, one position at a time:

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
# Change one position, and only that one changes, which is what **position-wise** means. And everything hangs on the ReLU. Leave it out, and two matrices do no more than one.

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
# Many models take a smoother function than ReLU. A common one is GELU, which multiplies a number by the share of a bell curve that lies to its left:

# %%
at = torch.linspace(-3, 3, 121)
both = {"ReLU": F.relu(at), "GELU": F.gelu(at)}
ax = plotting.curves(at, both, xlabel="number in", ylabel="number out")
plotting.show(
    ax,
    "ReLU is 0 left of 0 and then a straight line. GELU follows it smoothly, dips a "
    "little below 0 on the left and lies a little below the line on the right.",
)

# %% [markdown]
# *GELU dips below zero, and its slope never jumps.* Exercise 9.3 (10 minutes, when you like, {{exercises_link}}) asks for it in two forms, and tells you what you need.

# %% [markdown]
# ## 9.4 Two norms: LayerNorm and RMSNorm
# *Core · 5 minutes*
#
# For one vector $x$ with $d$ entries (we write $d$ for $d_{model}$):
#
# $$\mu = \frac1d \sum_i x_i , \qquad \sigma^2 = \frac1d \sum_i (x_i - \mu)^2 , \qquad \text{LayerNorm}(x)_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}}\; g_i + b_i .$$
#
# $g$ (`weight`) and $b$ (`bias`), of shape $(d,)$, are learned and start at 1 and 0. $\varepsilon$ is a small constant that keeps the division safe. Take $(1, 3, 5, 7)$. The mean is 4, the differences are $-3, -1, 1, 3$, the variance is $(9 + 1 + 1 + 9)/4 = 5$, and $-3/\sqrt5 = -1.342$, as in the first cells of this lesson.

# %%
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(dim=-1, keepdim=True)  # (..., d)
    variance = centered.square().mean(dim=-1, keepdim=True)  # (..., 1)
    return centered / torch.sqrt(variance + eps) * weight + bias


x, weight, bias = torch.randn(5, 6), torch.randn(6), torch.randn(6)
have = layer_norm(x, weight, bias, 1e-5)
assert torch.allclose(have, F.layer_norm(x, (6,), weight, bias), atol=1e-5)
print("our four lines and PyTorch agree")

# %% [markdown]
# Mean and variance run over the *features of one token*. No other token takes part.
#
# The mean needn't come off. **RMSNorm** leaves it in, drops the bias, and divides by the root mean square:
#
# $$\text{RMSNorm}(x)_i = \frac{x_i}{\sqrt{\frac1d \sum_j x_j^2 + \varepsilon}}\; g_i .$$
#
# On $(1, 3, 5, 7)$ the mean square is $(1 + 9 + 25 + 49)/4 = 21$, and $1/\sqrt{21} = 0.218$. Here is a picture, for vectors with three entries.

# %%
torch.manual_seed(3)
cloud = torch.randn(24, 3) * torch.tensor([1.6, 0.9, 0.9]) + 0.8  # (24, d=3)
normed = {"LayerNorm": F.layer_norm(cloud, (3,))}
normed["RMSNorm"] = layers.rms_norm(cloud, torch.ones(3))
plotting.show(diagrams.two_norms(cloud, normed))

# %% [markdown]
# *The outline is the sphere of vectors with mean square 1, and the ellipse is its cut with the plane of vectors with mean 0. LayerNorm drops each vector into the plane and then moves it to the circle's rim. RMSNorm moves it straight to the sphere.* What each forgets can be tested from outside.

# %%
for name, norm in (("LayerNorm", layers.LayerNorm(6)), ("RMSNorm", layers.RMSNorm(6))):
    shifted, doubled = ((norm(y) - norm(x)).abs().max() for y in (x + 3, 2 * x))
    print(f"{name:9} moved by adding 3: {shifted:.3f}   by doubling: {doubled:.3f}")

# %% [markdown]
# Many of today's large language models use RMSNorm (lesson 12). In this lesson we keep LayerNorm, as the paper does.
#
# Three exercises go with this section, when you like. Exercise 9.1 (8 minutes) moves a norm's weight and bias into the next matrix, exercise 9.2 (10 minutes) lets RMSNorm do LayerNorm's work, and exercise 9.4 (15 minutes) asks what each sublayer wrote of a logit.

# %% [markdown]
# ## Why add at all?
# *More · 5 minutes*
#
# Take a pile of untrained feed-forward networks, one after the other, $x \leftarrow f(x)$, and send a gradient of size 1 in at the output. How much of it arrives at the input depends on how the matrices start. We try three usual ways: what `nn.Linear` does by itself, Xavier (lesson 10), and a start that keeps the size of what goes through on average, with a larger $W_2$ to make up for what ReLU sets to 0 (He and others, 2015).

# %%
widgets.predict(
    "9.C",
    "24 networks without residual connections. With how many of the three starts does "
    "between a hundredth and a hundred times the gradient arrive?",
    choices=["none", "one", "two", "all three"],
)

# %%
def xavier(network):
    nn.init.xavier_uniform_(network.up_proj.weight)
    nn.init.xavier_uniform_(network.down_proj.weight)


def keeping(network):
    nn.init.kaiming_normal_(network.up_proj.weight, nonlinearity="linear")
    nn.init.kaiming_normal_(network.down_proj.weight, nonlinearity="relu")


STARTS = {"nn.Linear's": lambda network: None, "Xavier": xavier}
STARTS["size-keeping"] = keeping

# %%
def gradient_ratio(depth, begin, residual):
    torch.manual_seed(0)
    networks = [layers.FeedForward(64, 256) for _ in range(depth)]
    for network in networks:
        begin(network)
    y = x = torch.randn(50, 64, requires_grad=True)  # (50, d_model)
    for f in networks:
        y = y + f(y) if residual else f(y)  # (50, d_model)
    slope = torch.randn(50, 64)  # a gradient that arrives at the output
    return (torch.autograd.grad(y, x, slope)[0].norm() / slope.norm()).item()

# %%
found = {}
for name, begin in STARTS.items():
    for residual in (False, True):
        key = name, "x + f(x)" if residual else "f(x)"
        found[key] = [gradient_ratio(n, begin, residual) for n in (1, 6, 24)]
print(f"{'start':14}{'':10}  1 network   6 networks   24 networks")
for (name, kind), (one, six, all_24) in found.items():
    print(f"{name:14}{kind:10}{one:11.2g}{six:13.2g}{all_24:14.2g}")
arrived = sum(0.01 < found[name, "f(x)"][-1] < 100 for name in STARTS)
widgets.came_out("9.C", ["none", "one", "two", "all three"][arrived])

# %% [markdown]
# Without the connection it takes a start made for the purpose. Two usual starts lose nearly all of the gradient after 24 networks. With the connection the gradient gets through from all three. The derivative of $x + f(x)$ is the identity plus $f'$, and the identity passes on all that comes, whatever the networks do. But now every addition can add to the gradient, too, and with the size-keeping start it explodes.

# %% [markdown]
# ## 9.5 The norm before or after the sum
# *Core · 5 minutes*
#
# A gradient runs back along the sum unchanged, whatever the sublayers do. But what is added makes the vectors grow. A norm keeps what the sublayers read at one size, and there are two places for it. **Post-norm**, the order of the paper of 2017, normalizes the sum. **Pre-norm**, today's usual one, normalizes what goes into the sublayer.
#
# $$\text{post-norm:}\quad x \leftarrow \text{norm}\big(x + f(x)\big) \qquad\qquad \text{pre-norm:}\quad x \leftarrow x + f\big(\text{norm}(x)\big)$$

# %%
orders = {"pre-norm": True, "post-norm": False}
drawn = {n: layers.EncoderLayer(12, 4, 24, pre_norm=pre) for n, pre in orders.items()}
plotting.show(diagrams.straight_streams(drawn, torch.randn(2, 7, 12)))

# %% [markdown]
# *One encoder layer in each order. The thick line is the stream, the **direct path** from bottom to top. In pre-norm only sums are on it, and in post-norm both norms are.*
#
# Take $x = (1, 3)$ and $f(x) = x + 1$. In post-norm the sum is $(1 + 2, 3 + 4) = (3, 7)$, with mean 5 and deviation 2, which gives $(-1, 1)$. In pre-norm the norm of $(1, 3)$ is $(-1, 1)$, $f$ makes $(0, 2)$ of it, and $(1 + 0, 3 + 2) = (1, 5)$. **Do exercise 9.5 now (10 minutes), then read on.** There you find out from outside how a connection is wired.
#
# A norm on the direct path divides by the size of the sum. Say $x$ has size 1, and what is added has size $s$ and nothing in common with it. Then the norm divides by $\sqrt{1 + s^2}$, once for each sublayer. In the test below every sublayer adds noise of size 1, or of size $1/\sqrt{2N}$, where $2N$ is their number. Noise has no gradient, and only the direct path is left.

# %%
def direct_path(num_sublayers, size, pre_norm):
    torch.manual_seed(0)
    residual = layers.Residual(64, pre_norm=pre_norm)
    y = x = torch.randn(1, 50, 64, requires_grad=True)  # (B=1, L, d_model)
    for _ in range(num_sublayers):
        y = residual(y, lambda x: size * torch.randn_like(x))
    slope = torch.randn(1, 50, 64)
    return (torch.autograd.grad(y, x, slope)[0].norm() / slope.norm()).item()


print("sublayers   pre-norm, size 1   post-norm, size 1   post-norm, 1/sqrt(2N)")
for n in (2, 4, 12, 24):
    found = (direct_path(n, *how) for how in ((1, True), (1, False), (n**-0.5, False)))
    print("{:9}   {:16.3f}   {:17.5f}   {:21.3f}".format(n, *found))
print(f"e**(-1/2) = {math.exp(-0.5):.2f}")

# %% [markdown]
# In pre-norm the direct path carries the gradient whole, at any depth. In post-norm with full-sized sublayers it fades by about half with every layer of two sublayers. But **with small sublayers it hardly fades, however deep the stack is**: $(1 + 1/2N)^{-N}$ stays near $e^{-1/2} \approx 0.61$. GPT-2's authors used this factor for another reason, the growth of a pre-norm stream with depth (exercise 9.9).

# %% [markdown]
# ## 9.6 What the place does before training
# *More · 15 minutes*
#
# Does a faded direct path mean that no gradient arrives in the early layers? Here are whole post-norm encoder layers with attention, fresh, with Xavier's start. We send a gradient in at the top, and measure what comes out at the bottom, all of it and the direct path's part (in which we detach what the sublayers give), mean of five seeds.

# %%
def fresh_stack(num_layers, seed, factor):
    torch.manual_seed(seed)
    sizes = {"dropout": 0.0, "pre_norm": False}
    stack = [layers.EncoderLayer(64, 4, 256, **sizes) for _ in range(num_layers)]
    for part in nn.ModuleList(stack).modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
    for layer in stack:
        for last in (layer.self_attention.o_proj, layer.feed_forward.down_proj):
            last.weight.data.mul_(factor)
    return stack

# %%
def arrives(stack, direct):
    torch.manual_seed(100)
    y = x = torch.randn(8, 10, 64, requires_grad=True)  # (B, L, d_model)
    for layer in stack:
        for kind in ("self_attention", "feed_forward"):
            part = getattr(layer, kind)
            norm = getattr(layer, f"{kind.removeprefix('self_')}_norm")
            y = norm(y + (part(y).detach() if direct else part(y)))
    slope = torch.randn(8, 10, 64)
    return (torch.autograd.grad(y, x, slope)[0].norm() / slope.norm()).item()

# %%
print("layers   start           all   the direct path's")
for n in (6, 12, 24):
    for name, factor in (("full", 1.0), ("1/sqrt(2N)", (2 * n) ** -0.5)):
        stacks = [fresh_stack(n, seed, factor) for seed in range(5)]
        total, direct = (sum(arrives(s, d) for s in stacks) / 5 for d in (False, True))
        print(f"{n:6}   {name:12}{total:7.2f}   {direct:17.5f}")

# %% [markdown]
# The direct path fades, if a little more slowly than beside the noise of section 9.5, but the gradient as a whole hardly does. What the direct path loses comes back *through* the sublayers. Nothing vanishes, then? Let's look at the gradients of matrices, layer by layer. `measure` (in the library) runs 12 fresh layers backward once, on random inputs and targets.

# %%
widgets.predict(
    "9.D",
    "It's said that gradients vanish in a deep post-norm stack. Whose, and where?",
    choices=[
        "all of them, in the first layers",
        "the queries' and keys' in the first layers",
        "the queries' and keys' in the last layers",
        "nowhere",
    ],
)

# %%
SMALL = 24**-0.5  # 12 layers have 24 sublayers
HOW = {"pre-norm": (True, 1.0), "post-norm": (False, 1.0)}
HOW["post-norm, small start"] = (False, SMALL)
fresh = {
    name: torch.stack([measure(12, pre, s, factor) for s in range(5)])
    for name, (pre, factor) in HOW.items()
}  # (seeds, 4, 12) each

# %%
titles = ("gradient of down_proj", "gradient of q_proj", "likeness of tokens")
panels = {
    title: {name: numbers[:, row] for name, numbers in fresh.items()}
    for title, row in zip(titles, (0, 1, 3), strict=True)
}
plotting.show(
    plotting.band_panels(
        torch.arange(1.0, 13.0), panels, xlabel="layer", log=titles[:2]
    ),
    "Three numbers by layer, 12 fresh layers, mean and range of five seeds. Gradient "
    "of down_proj: level for both post-norm stacks, falling gently for pre-norm. "
    "Gradient of q_proj: falls steeply for post-norm, gently for pre-norm, hardly for "
    "post-norm with a small start. Likeness: rises to nearly 1 for post-norm, to 0.8 "
    "for pre-norm, stays near 0 with a small start.",
)

# %%
print("last layer by first:      down_proj     q_proj     k_proj   likeness at the end")
for name, numbers in fresh.items():
    mean = numbers.mean(dim=0)  # (4, 12)
    ratios = [f"{r:10.4f}" for r in (mean[:3, -1] / mean[:3, 0]).tolist()]
    print(f"{name:24}", *ratios, f"{mean[3, -1]:12.2f}")
widgets.came_out("9.D", "the queries' and keys' in the last layers")

# %% [markdown]
# In post-norm the gradients of queries and keys vanish, toward the *last* layers, the opposite end from where one would look after 9.5. The network's don't. Pre-norm's queries lose too, about tenfold, and the small start loses nearly nothing. The right panel has a suspect. In post-norm the tokens become **alike**. Attention averages, and an average of all tokens is nearly the same for every token. If all tokens are alike, it makes no difference where a query looks. Is that the cause? Take a single layer and make the tokens that go in more and more alike, and nothing else:

# %%
def gradients_at(share, seed):
    (layer,) = fresh_stack(1, seed, 1.0)
    own, common = torch.randn(8, 10, 64), torch.randn(64)  # (B, L, d_model), (d_model,)
    x = F.layer_norm((1 - share) ** 0.5 * own + share**0.5 * common, (64,))
    (layer(x) * torch.randn(8, 10, 64)).sum().backward()
    attend = layer.self_attention
    parts = (attend.q_proj, attend.k_proj, attend.v_proj, layer.feed_forward.down_proj)
    return [abs(mean_cosine(x)), *(part.weight.grad.norm().item() for part in parts)]


print("likeness    gradient of q_proj   k_proj   v_proj   down_proj")
for share in (0, 0.5, 0.9, 0.99):
    mean = torch.tensor([gradients_at(share, seed) for seed in range(5)]).mean(dim=0)
    print("{:8.2f} {:21.1f} {:8.1f} {:8.1f} {:11.1f}".format(*mean.tolist()))

# %% [markdown]
# In one layer it is. With tokens nearly alike the gradients of queries and keys are gone, and the others' are not. And in a stack of 12? We hold the tokens of a post-norm stack apart, by taking off what each sublayer would add to all of them alike. What is left is smaller, and a small addition may do something by itself. In a third row it is blown up to the old size again.

# %%
def hold_apart(p, x, y):
    return y - y.mean(dim=1, keepdim=True)


def at_old_size(p, x, y):
    left = hold_apart(p, x, y)
    return left * (y.norm() / left.norm()).detach()


# %%
def last_by_first(seed, change):
    stack = fresh_stack(12, seed, 1.0)
    for layer in stack if change else []:
        for part in (layer.self_attention, layer.feed_forward):
            part.register_forward_hook(change)
    y = nn.Sequential(*stack)(torch.randn(8, 10, 64))
    (y * torch.randn(8, 10, 64)).sum().backward()
    sizes = []
    for layer in (stack[-1], stack[0]):
        attend, network = layer.self_attention, layer.feed_forward
        parts = (attend.q_proj, attend.k_proj, attend.v_proj, network.down_proj)
        sizes.append(torch.stack([part.weight.grad.norm() for part in parts]))
    return sizes[0] / sizes[1]  # (4,)

# %%
print("last layer by first   q_proj   k_proj   v_proj   down_proj")
ways = {"as it is": None, "held apart": hold_apart, "at the old size": at_old_size}
for name, change in ways.items():
    mean = torch.stack([last_by_first(seed, change) for seed in range(5)]).mean(dim=0)
    print("{:18} {:9.4f} {:8.4f} {:8.3f} {:11.3f}".format(name, *mean.tolist()))

# %% [markdown]
# Held apart, the gradients of queries and keys shrink about as much as the others' do and no more, at the old size too. Likeness is the cause in the stack as well. (Noci and others, 2022, prove that the two vanish when all tokens are the same.)
#
# **What Xiong and others (2020) say.** They prove a bound for the gradient that the *last* layer's network can be expected to have in a simplified Transformer at its start. In pre-norm the bound shrinks like $1/\sqrt N$ with the number of layers, in post-norm it doesn't shrink. Let's measure it, with five seeds.

# %%
print("layers        1     4    16")
for name, pre in orders.items():
    runs = [[measure(n, pre, s)[0, -1] for s in range(5)] for n in (1, 4, 16)]
    runs = torch.tensor(runs)  # (3, 5)
    last = runs.mean(dim=1)  # (3,)
    print(f"{name:9}", "  ".join(f"{size:.2f}" for size in last), end="   with 16 ")
    print(f"from {runs[-1].min():.2f} to {runs[-1].max():.2f}")

# %% [markdown]
# In post-norm it even grows here. In pre-norm it shrinks, but from 1 layer to 16 only to half, where $1/\sqrt N$ would give a quarter. From the bounds they conclude that a large learning rate on such gradients makes training unstable, and that a **warm-up**, in which the rate climbs slowly during the first steps, avoids that. But the size of a gradient can't be the whole story, because Adam divides it out (lesson 10).
#
# **What Liu and others (2020) say.** They find that unbalanced gradients aren't the root cause. A post-norm layer depends more heavily on what its own sublayer adds, and small changes of the parameters are amplified. They predict how far the output moves (the root of the variance that they derive): like $\sqrt N$ in post-norm, like $\sqrt{\log N}$ in pre-norm. Shake all matrices by one percent, and see how far the normalized output moves, mean and range of five seeds.

# %%
@torch.no_grad()
def shaken(num_layers, pre_norm, factor, seed):
    stack = nn.Sequential(*fresh_stack(num_layers, seed, factor))
    for layer in stack:
        layer.pre_norm = pre_norm
    x = torch.randn(8, 10, 64)  # (B, L, d_model)
    before = F.layer_norm(stack(x), (64,))
    for matrix in (p for p in stack.parameters() if p.dim() == 2):
        matrix.add_(0.01 * matrix.std() * torch.randn_like(matrix))
    return ((F.layer_norm(stack(x), (64,)) - before).norm() / before.norm()).item()

# %%
for name, (pre, factor) in HOW.items():
    means = {}
    print(f"{name:22}", end="")
    for n in (6, 24):
        size = 1.0 if factor == 1 else (2 * n) ** -0.5
        moved = [shaken(n, pre, size, seed) for seed in range(5)]
        means[n] = sum(moved) / 5
        spread = f"({min(moved):.1%} to {max(moved):.1%})"
        print(f" {n} layers: {means[n]:.1%} {spread}", end="  ")
    print(f"times {means[24] / means[6]:.2f}")
print(f"predicted from 6 to 24: post-norm times {math.sqrt(24 / 6):.2f}", end=", ")
growth = [math.sqrt(math.log(24 * n) / math.log(6 * n)) for n in (1, 2)]
print("pre-norm times {:.2f}, or {:.2f} if N counts sublayers".format(*growth))

# %% [markdown]
# The growth is close to what they predict for large $N$. And with the small start post-norm moves no further at 24 layers than at 6. Here are all depths, to play with.

# %%
depths = widgets.gradient_by_depth()
depths.show_first_state(
    "24 layers, gradient of q_proj: for post-norm it falls by many powers of ten, for "
    "pre-norm gently. Beside it the mean cosine of two tokens by layer: post-norm "
    "rises to nearly 1, pre-norm stays below."
)
depths

# %% [markdown]
# *Now choose the small start, and watch both of post-norm's curves.*

# %% [markdown]
# ## 9.7 What decides in training
# *Core · 8 minutes*
#
# Does the order matter once a model learns? The task is to reverse a sequence of 8 symbols. The position says where to look. There are two landmarks for the loss. A model that knows nothing guesses one of 8 symbols and gets $\ln 8$. One that knows *which* symbols occur, but not where, does a little better. We train six layers, one seed each. (Pre-norm has one more norm on top, see section 9.8. All else is the same.)

# %%
symbols = torch.randint(0, 8, (20000, 8), generator=torch.Generator().manual_seed(0))
shares = F.one_hot(symbols, 8).float().mean(dim=1)  # (20000, 8): how often each occurs
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
# Pre-norm has learned it, and post-norm knows nothing yet. Can't post-norm learn this? All we have seen is one rate, one seed, 150 steps and one start.

# %%
widgets.predict(
    "9.E",
    "At rate 0.003, too, post-norm doesn't learn it in 300 steps. What will help?",
    choices=[
        "five times as many steps",
        "sublayers that start at 0.3 of their size",
        "each of the two",
        "neither",
    ],
)

# %% [markdown]
# The small start multiplies the last matrix of each sublayer (`o_proj` and `down_proj`) by $1/\sqrt{2N}$, here $1/\sqrt{12} = 0.29$, once, before training. Here is one such run, live.

# %% tags=["nbval-ignore-output"]
torch.manual_seed(0)
print(f"1/sqrt(12) = {12**-0.5:.2f}")
small = norm_order.Reverser(num_layers=6, pre_norm=False)
for layer in small.layers:
    for last in (layer.self_attention.o_proj, layer.feed_forward.down_proj):
        last.weight.data.mul_(12**-0.5)
for step in norm_order.train(small, seed=0, rate=0.003, steps=150):
    loss, right, alike = norm_order.measure(small)
    print(f"step {step}: loss {loss:.2f}  right {right:.0%}  likeness {alike:.2f}")

# %% [markdown]
# `python -m experiments norm_order` did this with three learning rates, once with a warm-up of 100 steps, and with five seeds each, measured on 500 sequences of their own. We read its table.

# %%
runs = {}
for row in read_rows("norm_order"):
    how = [row[what] for what in ("order", "start", "layers", "rate", "warmup")]
    numbers = [float(row[what]) for what in ("loss", "likeness")]
    runs.setdefault(" ".join(how), {}).setdefault(row["seed"], []).append(numbers)
runs = {how: torch.tensor(list(seeds.values())) for how, seeds in runs.items()}
print(len(runs), "settings; seeds of each:", {len(table) for table in runs.values()})

# %%
RATES = {
    "rate 0.001": "0.001 1",
    "rate 0.003": "0.003 1",
    "rate 0.01, warm-up": "0.01 100",
    "rate 0.01": "0.01 1",
}
LINES = {"pre-norm": "pre-norm full", "post-norm": "post-norm full"}
LINES["post-norm, small start"] = "post-norm root"

# %%
first = {
    title: {name: runs[f"{how} 6 {rate}"][:, :7, 0] for name, how in LINES.items()}
    for title, rate in RATES.items()
}  # (seeds, 7) each
marks = {"knows nothing": NOTHING, "knows which,\nnot where": BAG}

# %%
plotting.show(
    plotting.band_panels(
        torch.arange(0.0, 301, 50),
        first,
        xlabel="step",
        ylabel="loss",
        top=2.8,
        levels=marks,
    ),
    "Loss on new sequences by step, mean and range of five seeds. Post-norm stays at a "
    "landmark in all four settings. With a small start it falls to 0 in three of them, "
    "at least as fast as pre-norm, and spreads widely at rate 0.01 without warm-up.",
)

# %% [markdown]
# *The bands show the range of the five seeds.* With the small start, post-norm solves the task with all five seeds in three of the four settings, and it is at least as fast as pre-norm there. Plain post-norm stays at one of the two landmarks in all four. In the last setting, the largest rate without a warm-up, the small start helps some seeds and not others.
#
# Before we say "doesn't learn", we give plain post-norm five times as many steps. Each seed is a line, with its loss above and the mean cosine of its tokens (their *likeness*) below.

# %%
longer = {t: runs[f"post-norm full 6 {rate}"] for t, rate in RATES.items()}
plotting.show(
    plotting.seed_panels(
        torch.arange(0.0, 1501, 50),
        {title: (found[..., 0], found[..., 1]) for title, found in longer.items()},
        ("loss", "likeness of tokens"),
        xlabel="step",
        levels=marks,
    ),
    "Plain post-norm for 1,500 steps, five seeds. With three of the settings the loss "
    "stays at the lower landmark for hundreds of steps, with a likeness near 1, and "
    "then both fall. At rate 0.01 without a warm-up "
    "the loss stays near the upper one, and the likeness at 1.",
)

# %%
def when(found, below=0.5):
    """The first measured step at which each seed's loss is below a mark."""
    steps = [((seed[:, 0] < below).nonzero().flatten() * 50)[:1] for seed in found]
    return ", ".join(str(step.item()) if len(step) else "never" for step in steps)


print(f"{'':22} {'':19} steps   loss below 0.5 at step")
MORE = {"pre-norm, small start": "pre-norm root"}
MORE["post-norm, 1/(2N)"] = "post-norm share"
for name, how in (LINES | MORE).items():
    for title, rate in RATES.items():
        if (found := runs.get(f"{how} 6 {rate}")) is not None:
            print(f"{name:22} {title:19} {50 * found.shape[1] - 50:5}   {when(found)}")
widgets.came_out("9.E", "each of the two")

# %% [markdown]
# In three of the four settings plain post-norm does learn, with all five seeds. It was **late**. It sits at the landmark for hundreds of steps, its tokens nearly alike all the while, and then the loss falls. What makes it late is the **start**, for that is the one thing that the green runs changed. With sublayers that start small, both orders learn about equally soon (at rate 0.003, where we tried both).
#
# What remains of pre-norm's advantage is that it forgives a large start. At rate 0.01 without a warm-up it learns from full size, with all five seeds within 100 steps. Post-norm does with none, and with the small start with only three in 1,500 steps. Start it at $1/(2N)$, smaller still (last row), and it learns with all five, as soon as pre-norm.

# %% [markdown]
# ## Is it the likeness?
# *More · 8 minutes*
#
# Section 9.6 found post-norm's tokens alike, and they are alike again as long as plain post-norm sits at a landmark. It's tempting to say that alike tokens can't be told apart and that this is why post-norm doesn't learn. But one could also say it the other way around. At the landmark "which, not where" the best answer is the same at every position, and tokens that give the same answer may well be alike. Pre-norm sits there for a while too. Here is its likeness in the table, the mean of five seeds.

# %%
print("pre-norm, rate 0.001    step:", *(f"{step:7}" for step in range(0, 301, 50)))
for what, column in (("loss", 0), ("likeness", 1)):
    means = runs["pre-norm full 6 0.001 1"][:, :7, column].mean(dim=0).tolist()
    print(f"{what:29}", *(f"{number:7.2f}" for number in means))

# %% [markdown]
# While pre-norm learns which symbols occur, its tokens stay about as alike as they were at the start. Then they come apart, and the loss falls with them. Likeness doesn't forbid learning. Does it do any harm at all? Here are two interventions at rate 0.003, with controls.
#
# - **Alike**: with the small start, one and the same large vector is added to all tokens as they enter, which makes them as alike as they are at full size. As a control, it is added to half of the tokens and taken from the others, which drowns them as much and doesn't make them alike.
# - **Apart**: with sublayers at full size, what a sublayer would add to all tokens alike is taken off. That makes what is added smaller, too, and there are two controls. In the first, each sublayer is shrunk to the size that would be left, and nothing is taken off. In the second, it is taken off, and what is left is blown up to the old size (as in section 9.6).
#
# And one more, which has nothing to do with likeness. **Faded**: the gradient along the direct path of section 9.5 is made to fade in the small start's runs as it does beside full-sized sublayers. (`norm_order.make_alike??`, `make_opposite`, `keep_apart`, `keep_small`, `keep_apart_and_large` and `fade_direct_path` show how.)

# %%
FORCED = {
    "small start": "root",
    "small start, tokens made alike": "root alike",
    "    control: opposite signs": "root opposite",
    "small start, direct path faded": "root faded",
    "full size": "full",
    "full size, tokens held apart": "full apart",
    "    control: only shrunk": "full small",
    "    control: apart, old size": "full large",
}

# %%
forced = [(name, how, "0.003") for name, how in FORCED.items()]
forced.append(("        the same, rate 0.001", "full large", "0.001"))
print(f"{'post-norm, rate 0.003':32} likeness at the start   loss below 0.5 at step")
for name, how, rate in forced:
    found = runs[f"post-norm {how} 6 {rate} 1"]  # (seeds, measurements, 2)
    print(f"{name:32} {found[:, 0, 1].mean():21.2f}   {when(found)}")

# %% [markdown]
# Made alike, the small start takes longer, and each seed takes longer than in the control. But even the slowest is sooner than any at full size. Likeness costs something, but not the most. Held apart, the full size learns within 300 steps, which looks like proof that likeness was the trouble. The controls say otherwise. Sublayers that are only shrunk learn even sooner, with tokens that start about half alike. And with sublayers of the old size that hold the tokens apart, no seed learns in 1,500 steps. With a third of the rate (last line) three do, about as late as plain post-norm. What helps is that less is added. **What makes post-norm late here is mostly the size of what is added**, and the likeness comes with it. How the size does it is open. That the direct path fades isn't enough, since the small start learns as soon with a faded one.
#
# None of this says which order is better in the end. The paper of 2017 trained six post-norm layers, with a warm-up of 4,000 steps and 100,000 steps in all. Liu and others (2020) even report that a light dependency on the sublayers, which is what pre-norm has, limits what a model can reach.

# %% [markdown]
# ## 9.8 Whole layers: encoder and decoder
# *Core · 4 minutes*
#
# An encoder layer is two residual connections, one around self-attention and one around the network, each with a norm of its own. A decoder layer has a third in between, around cross-attention to the encoder's output, the **memory**. Here is one layer of each, in pre-norm.

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
inputs = ("source vectors", "target vectors")
tensors = (x, y, memory_mask, target_mask)
plotting.show(diagrams.architecture(Pair(), tensors, inputs=inputs))

# %% [markdown]
# *The line from the left column into the right one carries keys and values, not queries. One more norm sits on top of each stack. In pre-norm nothing else has normalized the last sum, and the stream has grown all the way.*
#
# | | queries from | keys and values from | mask | its shape |
# |---|---|---|---|---|
# | self-attention | target | target | causal, and the target's padding | `(B, 1, L_t, L_t)` |
# | cross-attention | target | memory | the *source's* padding | `(B, 1, 1, L_s)` |
#
# One rule settles every such question: **a mask hides keys.** Ask where the keys come from, and you know whose padding counts, and whether there is a future to hide.
#
# **Do exercise 9.6 now (15 minutes), then read on.** It asks for a decoder layer with several memories. The others can wait. Exercise 9.7 (15 minutes) wires layers as some of today's models do, 9.8 (10 minutes) has a bug for you to find, 9.9 (25 minutes) is the open experiment, and 9.10 (5 minutes) is a quiz.

# %% [markdown]
# ## The whole thing
# *Core · 2 minutes*
#
# Once you've done exercise 9.6, unfold this cell. It builds both layers, in both orders, from the parts of lesson 06 and section 9.3.

# %% tags=["whole"]
class Layer(nn.Module):
    """What both layers share: norms by number, dropout, and the two orders."""

    def __init__(self, d_model, num_norms, dropout, pre_norm):
        super().__init__()
        self.norms = nn.ModuleList(layers.LayerNorm(d_model) for _ in range(num_norms))
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def connect(self, number, x, sublayer):
        """The residual connection around one sublayer."""
        norm = self.norms[number]
        if self.pre_norm:
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))


class EncoderLayer(Layer):
    """Self-attention, then the network."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, pre_norm=True):
        super().__init__(d_model, 2, dropout, pre_norm)
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = layers.FeedForward(d_model, d_ff, dropout=dropout)

    def forward(self, x, mask=None):
        """(B, L, d_model); the mask broadcasts to (B, H, L, L), True = may attend"""
        x = self.connect(0, x, lambda y: self.self_attention(y, mask=mask))
        return self.connect(1, x, self.feed_forward)


class DecoderLayer(Layer):
    """Self-attention, cross-attention to the memory, then the network."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, pre_norm=True):
        super().__init__(d_model, 3, dropout, pre_norm)
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = layers.FeedForward(d_model, d_ff, dropout=dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        """(B, L_t, d_model), (B, L_s, d_model), and a mask for each one's keys"""

        def cross(y):
            return self.cross_attention(y, memory, memory, mask=memory_mask)

        x = self.connect(0, x, lambda y: self.self_attention(y, mask=target_mask))
        x = self.connect(1, x, cross)
        return self.connect(2, x, self.feed_forward)

# %% [markdown]
# With the same weights they do the same as the library's, in both orders. (The library gives each norm a name instead of a number.)

# %%
PLACES = {"encoder": ("attention", "feed_forward")}
PLACES["decoder"] = ("attention", "cross_attention", "feed_forward")


def renamed(state, kind):
    """The library's parameters under the names of the page."""
    for n, place in enumerate(PLACES[kind]):
        parts = ((f"{place}_norm.{p}", f"norms.{n}.{p}") for p in ("weight", "bias"))
        state |= {ours: state.pop(theirs) for theirs, ours in parts}
    return state

# %%
kinds = {"encoder": (EncoderLayer, layers.EncoderLayer, (x, memory_mask), {})}
masks_of = {"target_mask": target_mask, "memory_mask": memory_mask}
kinds["decoder"] = (DecoderLayer, layers.DecoderLayer, (y, x), masks_of)
for kind, (page, library, tensors, options) in kinds.items():
    for name, pre in orders.items():
        mine = page(12, 4, 24, pre_norm=pre).eval()
        theirs = library(12, 4, 24, pre_norm=pre).eval()
        for parameter in theirs.parameters():  # fresh biases of 0 would hide mistakes
            parameter.data += 0.2 * torch.randn_like(parameter)
        mine.load_state_dict(renamed(theirs.state_dict(), kind))
        gap = (mine(*tensors, **options) - theirs(*tensors, **options)).abs().max()
        verdict = "the same" if gap < 1e-5 else f"up to {gap:.3f} apart"
        print(f"{kind} layer, {name}: {verdict}")

# %% [markdown]
# ## 9.9 The same weights as PyTorch's layers
# *More · 4 minutes*
#
# The library's layers do the same as PyTorch's when they have the same weights, which only takes a translation of names.

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
# ## What goes wrong
# *More · 6 minutes*
#
# **The unbiased variance, and epsilon outside the root.** `x.var(-1)` and `x.std(-1)` divide by $d - 1$ unless told otherwise, and $\sigma + \varepsilon$ isn't $\sqrt{\sigma^2 + \varepsilon}$. The *Annotated Transformer* has both at once, `(x - mean) / (x.std(-1) + eps)`, and with it the many programs that were copied from it. How far off is each? We measure the length of the difference, divided by that of the right answer.

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
# The first shows with short vectors, the second with small numbers. Neither raises an error. They show when trained weights meet the other formula. (The second has one more trap, a gradient that isn't a number. See "A vector of equal numbers" in "When you need it".) To find them, compare with PyTorch at $d = 4$ *and* on tiny numbers.
#
# **The text says post-norm, the code does pre-norm**, or the other way around. Both orders have the same parameters under the same names, and weights of one load into the other without a word. Here is our live pre-norm model, then the same weights in the other order (a guess is right one time in eight):

# %% tags=["nbval-ignore-output"]
reverser = trained["pre-norm"]
kept = norm_order.measure(reverser)[1]
for layer in reverser.layers:
    layer.pre_norm = False
swapped = norm_order.measure(reverser)[1]
print(f"symbols right: {kept:.0%} as trained, {swapped:.0%} in the other order")

# %% [markdown]
# You can tell the two apart from outside. A fresh post-norm layer *ends* in a norm, and each of its output vectors has mean 0 and mean square 1. A fresh pre-norm layer's don't. (Trained norms have weights and biases, and this test fails. Exercise 9.5 finds a better one.)

# %% [markdown]
# ## In practice
# *More · 3 minutes*
#
# - **Norms are fused**, which means that mean, variance, scale and shift are one kernel. Its statistics are in float32 even where the rest is in half precision, since squares overflow in float16. `F.layer_norm` does that, and the library's module calls it.
# - **Today's blocks** are mostly pre-norm with RMSNorm, no biases, and a gated network (lesson 12). Some put a second norm on what the sublayer gives, some run attention and network side by side (exercise 9.7 builds both).
# - **A small start** of the last matrices is common in large language models. GPT-2 has it. Others start them at exactly 0, or multiply what a sublayer gives by a small learned number.
# - **Names elsewhere**: `norm1`, `ln_1`, `input_layernorm` for the first norm; `linear1`/`linear2`, `fc1`/`fc2`, `c_fc`/`c_proj` for the network; `norm_first=True` is PyTorch's word for pre-norm, and its default is post-norm.
# - **Epsilon is part of a model.** It differs from model to model, and the right one is in its configuration.

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **The stream** starts as the embedding, and every sublayer adds to it: $x_N = x_0 + \sum f_n$. In the pronouncing model the last network mostly sharpens what is already decided, and without one of the first layer's attentions it makes the most mistakes.
# 2. **The network** works on each position by itself and not linearly. Without an activation its two matrices would be one.
# 3. **LayerNorm** takes mean and variance over the features of one token, with the variance divided by $d$ and $\varepsilon$ inside the root. **RMSNorm** leaves the mean in. Adding a number to all features tells them apart.
# 4. **Post-norm** normalizes the sum, **pre-norm** what goes into the sublayer. With full-sized sublayers, the direct path of a fresh post-norm stack fades (and its tokens become alike, section 9.6). With sublayers that start at $1/\sqrt{2N}$ of their size it hardly does, and in three of four settings six post-norm layers learn at least as soon as pre-norm's from full size. From full size they learn there too, hundreds of steps later. In the fourth, the largest rate without a warm-up, pre-norm learns from full size, and post-norm with all seeds only from $1/(2N)$.
# 5. **Encoder layer**: self-attention, network. **Decoder layer**: causal self-attention, cross-attention to the memory, network. A mask hides keys, and the source's padding belongs to cross-attention. A pre-norm stack ends in one more norm.

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
# | $N$ | layers of a stack; an encoder of $N$ layers has $2N$ sublayers | a number |
# | memory | the encoder's output | $(B, L_s, d_{model})$ |

# %% [markdown]
# ## Check yourself
# *Core · 2 minutes*
#
# <details><summary>1. In a pre-norm layer the code says x = norm(x) and then x = x + attention(x). What is lost?</summary>
#
# **The direct path.** What is added to is now the normalized x, and the stream passes through every norm.
# </details>
#
# <details><summary>2. Source of 9 tokens, target of 6. What is the shape of the memory mask, and is any of it causal?</summary>
#
# **(B, 1, 1, 9), and no.** A mask has a column for each key, and the keys are the source's. The whole source is known before the first target token.
# </details>
#
# <details><summary>3. A friend's deep post-norm model sits at a plateau after 300 steps, its tokens nearly alike. "Proof that post-norm can't learn this", says your friend. What would you try first?</summary>
#
# **Multiply the last matrix of each sublayer by $1/\sqrt{2N}$ before training, and let the old run go on as well.** In three of 9.7's four settings the first solves the task within 300 steps, and the second takes more.
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
# *More · 8 minutes*
#
# **Why the embedding table starts small.** Many models use one table twice: to read tokens, and at the end to score them, $\text{logits} = E\,h$ with $h$ the normalized vector of the last layer. A logit is then a sum of $d_{model}$ products, and with entries of size 1 its size would be $\sqrt{d_{model}}$, like the unscaled scores of lesson 04. The table starts at $1/\sqrt{d_{model}}$ instead, and the factor makes up for it on the way in. `nn.Embedding` by itself starts at 1; with the factor on top, tokens drown positions. For attention, which compares vectors, that means:

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
# Without the factor, two different tokens at the same place are nearly the same vector. With the factor on top of a start at 1, the same token at two places is. In between, neither one hides the other.
#
# **Where dropout acts.** The paper (section 5.4) names two places: on what each sublayer gives, before it is added, and on the sum of embedding and position. It never acts on the stream's sums, where every layer would wipe out another part of the embedding for good. Most code, PyTorch's and this library's too, has two more: on the attention weights after the softmax, and inside the network after the activation.
#
# **A vector of equal numbers**, a row of zeros from padding, say, has variance 0. The slope of $\sqrt v$ at 0 is infinite, so with epsilon outside the root its gradient is NaN, and through one such row the NaN reaches nearly all parameters below that norm at the next step.

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
# - Noci et al., *Signal Propagation in Transformers: Theoretical Perspectives and the Role of Rank Collapse*, 2022: with equal tokens the gradients of queries and keys vanish, and a factor of the sublayers that depends on the depth prevents it.
# - Radford et al., *Language Models are Unsupervised Multitask Learners*, 2019, section 2.3: the factor of the start, for residual layers. (It says $1/\sqrt N$ with $N$ the number of residual layers, which we take to be our $2N$.)
# - He et al., *Delving Deep into Rectifiers*, 2015, section 2.2: a start that keeps the size of what goes through.
# - Dong, Cordonnier, Loukas, *Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth*, 2021: why attention makes tokens alike, and what works against it.

# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 14 · Long contexts
#
# By the end you can handle a text that's too long in three ways, and say what each one costs and what it forgets.
#
# {{colab_link}} · short path about 118 minutes with its exercises (70 + 48), everything about 4 hours · builds on lessons 04, 05, 07, 08 and 12

# %% tags=["setup"]
import functools
import math
import random
import time

import torch
import torch.nn.functional as F

from course_utils import diagrams, plotting, pretrained, widgets
from course_utils.attention import scaled_dot_product_attention
from course_utils.blockwise_attention import attention_in_blocks
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import decode_text, encode_text
from course_utils.decoding import generate
from course_utils.linear_attention import chunked_form, masked_form, recurrent_form
from course_utils.masks import AttentionMask, causal_mask, sliding_window_mask
from course_utils.memory import peak_memory
from course_utils.multi_head import repeat_kv, split_heads
from course_utils.positions import apply_rope, rotary_angles
from course_utils.results import read_rows
from course_utils.small_models import recall

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# Attention pays for a text of $L$ tokens in two places. In training each head compares every query with every key, which makes $L^2$ weights. And while a model writes, it keeps the keys and values of everything that came before and reads them all at every step. For a sentence neither cost matters. A book has a few hundred thousand tokens.
#
# This lesson covers three ways out. You can compute **exactly the same** without ever holding all the weights at once. You can **limit how far back** each token looks. Or you can give up the softmax and squeeze the past into a **state** that never grows.
#
# **You will learn to**
#
# 1. run attention and its backward pass in blocks, in memory that grows with $L$ and not with $L^2$;
# 2. write a text of any length with a cache of fixed size;
# 3. compute attention without a softmax in three forms that give the same result;
# 4. make a state forget, and overwrite;
# 5. measure how much a state recalls, and say what gets in the way;
# 6. (*more*) say what a model saves by mixing layers of several kinds, as many published models do.

# %% [markdown]
# ## 14.1 The bill
# *Core · 5 minutes*
#
# Here is one head of size 64 with a causal mask, forward and backward. We measure how much memory the process adds:


# %%
def inputs(length, d=64, seed=0):
    """Queries, keys and values of one head, (1, 1, L, d) each."""
    rng = torch.Generator().manual_seed(seed)
    made = torch.randn(3, 1, 1, length, d, generator=rng)
    return [x.requires_grad_() for x in made]


def explicit(q, k, v):
    return scaled_dot_product_attention(q, k, v, AttentionMask(is_causal=True))[0]


def megabytes(attend, length):
    q, k, v = inputs(length)
    return peak_memory(lambda: attend(q, k, v).sum().backward()).megabytes


# %% tags=["nbval-ignore-output"]
megabytes(explicit, 256)  # the first call also loads what the library needs
for length in (4096, 8192):
    took, table = megabytes(explicit, length), 4 * length**2 / 1e6  # float32
    print(f"L = {length:,}: {took:6.0f} MB, {took / table:.1f} tables of L x L")
print(f"one table at L = 32,768: {4 * 32_768**2 / 1e6:,.0f} MB")

# %% [markdown]
# The process holds several whole tables at once, and a text twice as long takes four times as much. At 32,768 tokens a *single* table, of one head in one layer, needs more than four gigabytes.
#
# While a model **writes**, the cost is a different one. It keeps one key and one value for each key/value head in each layer (lesson 07):

# %%
layers, kv_heads, d_head = 32, 8, 128  # the sizes of Llama 3 8B
for length in (8_192, 131_072, 1_000_000):
    kept = 2 * layers * kv_heads * d_head * length * 2  # 2 bytes a number
    print(f"{length:9,} tokens: {kept / 2**30:6.1f} GiB for one text")
print(f"the model itself: {8.03e9 * 2 / 2**30:.1f} GiB")  # 8.03 billion parameters

# %% [markdown]
# With 131,072 tokens the cache is about as large as the model, and with a million it's eight times as large.

# %% [markdown]
# ## 14.2 The same result without the table
# *Core · 11 minutes*
#
# Lesson 04 computed the output in **blocks** of keys. It kept a running maximum $m$, a running sum $z$ of exponentials and a weighted sum of values, and corrected them whenever a larger score came. With scores 1 and 3 in the first block, $m = 3$ and $z = e^{-2} + 1$. If the next block has a 4, $m$ becomes 4, and the old $z$ is multiplied by $e^{-1}$.
#
# But that's only the forward pass. Autograd keeps what it needs for the way back, and for `softmax(scores) @ values` that's all the weights.
#
# So don't keep them. **Compute them again.** For that the forward pass keeps a single number for each query, the logarithm of its sum, $\ell_i = m_i + \ln z_i$. With it you can get any block of weights whenever you need it:
#
# $$a_{ij} = e^{\,s_{ij} - \ell_i}, \qquad s_{ij} = \tfrac{1}{\sqrt{d_k}}\, q_i k_j^\top .$$
#
# The backward pass of a softmax seems to need a whole row at once, too. Raise the score $s_{ij}$ a little. Its own weight grows at the rate $a_{ij}(1 - a_{ij})$, and every other weight $a_{in}$ of the row falls at the rate $a_{in} a_{ij}$. Let $g_{in}$ be the gradient with respect to the weight $a_{in}$. Multiply each rate by its gradient and add up:
#
# $$a_{ij}(1 - a_{ij})\, g_{ij} - \sum_{n \ne j} a_{in} a_{ij}\, g_{in} = a_{ij}\,\Bigl(g_{ij} - \sum_n a_{in} g_{in}\Bigr).$$
#
# That's the gradient with respect to the score. It's positive where $g_{ij}$ lies above the row's weighted **mean**, and negative where it lies below. Take weights $\tfrac34$ and $\tfrac14$ with gradients 4 and 0. The mean is 3, so the scores get $\tfrac34 (4 - 3) = \tfrac34$ and $\tfrac14 (0 - 3) = -\tfrac34$:

# %%
scores = torch.tensor([3.0, 1.0]).log().requires_grad_()  # weights 3/4 and 1/4
scores.softmax(dim=-1).backward(torch.tensor([4.0, 0.0]))
print(scores.grad)

# %% [markdown]
# The mean runs over all keys, and a block holds only a few. But $g_{in} = \bar o_i v_n^\top$, where $\bar o_i$ is the gradient of the output $o_i$. Put that in, and the sum becomes $\bar o_i \sum_n a_{in} v_n^\top$, which is $\bar o_i$ times the **output**. (Above, let the values be 4 and 0 and $\bar o_i$ be 1. Then the gradients are the values themselves, and the output is $\tfrac34 \cdot 4 = 3$, the mean.) And the forward pass has kept the output:
#
# $$\sum_n a_{in} g_{in} = \bar o_i\, o_i^\top .$$
#
# So before the first block we make each query's mean from its output and the output's gradient. Then a block needs just two numbers from the rest of a row, $\ell_i$ and this mean:

# %%
plotting.show(diagrams.recomputed_block(blocks=4, row=2, column=1))

# %% [markdown]
# *To make a block you need its queries, their two numbers, the gradients of their outputs, and its keys and values. It adds to three gradients, and then it's dropped.* In the picture and in code dO and `d_output` are $\bar o$, and `d_q` is the gradient of q. ($d_k$ and $d_v$ are still sizes.)
#
# Here is the gradient of some queries, with keys and values in blocks and without a mask (FlashAttention, Dao et al., 2022, algorithm 4, with the single number of FlashAttention-2). It never holds more than one block of weights:


# %%
def gradient_of_queries(q, k, v, output, log_sums, d_output, block):
    """The gradient of q, (L_q, d). Keys and values come in blocks."""
    scale, d_q = q.shape[-1] ** -0.5, torch.zeros_like(q)
    mean = (d_output * output).sum(dim=-1, keepdim=True)  # (L_q, 1)
    for some_k, some_v in zip(k.split(block), v.split(block), strict=True):
        weights = (q @ some_k.T * scale - log_sums).exp()  # (L_q, block)
        d_weights = d_output @ some_v.T  # (L_q, block)
        d_scores = weights * (d_weights - mean)
        d_q += d_scores @ some_k * scale
    return d_q


# %%
q, k, v = (x[0, 0] for x in inputs(300))  # (300, 64) each
scores = q @ k.T / 8
output = scores.softmax(dim=-1) @ v  # the table, to compare with
d_output = torch.randn(output.shape, generator=torch.Generator().manual_seed(1))
(expected,) = torch.autograd.grad(output, q, d_output)
log_sums = scores.logsumexp(dim=-1, keepdim=True)  # (300, 1)
with torch.no_grad():
    found = gradient_of_queries(q, k, v, output, log_sums, d_output, block=64)
print("equal to autograd's:", torch.allclose(found, expected, atol=1e-5))

# %% [markdown]
# The gradients of keys and values are sums over the queries, $\frac{1}{\sqrt{d_k}} \sum_i \bar s_{ij}\, q_i$ and $\sum_i a_{ij}\, \bar o_i$, where $\bar s_{ij}$ is the gradient of a score. The library's `attention_in_blocks` does it all, and skips blocks that the causal mask hides:

# %%
def in_blocks(q, k, v):
    return attention_in_blocks(q, k, v, AttentionMask(is_causal=True))


both = []
for attend in (explicit, in_blocks):
    tensors = inputs(700)
    output = attend(*tensors)
    output.backward(torch.cos(output.detach()))
    both.append([output.detach(), *(x.grad for x in tensors)])
for name, a, b in zip(("output", "q", "k", "v"), *both, strict=True):
    print(f"{name:6} largest difference {(a - b).abs().max():.0e}")

# %%
widgets.predict(
    "14.A",
    "L = 32,768, forward and backward in blocks of 256. How many megabytes?",
    choices=["about 50", "about 500", "about 5,000"],
)

# %%
def measured(what, by, column):
    """Kind -> length or place in the text -> a number of the table."""
    found = {}
    for row in read_rows("long_contexts"):
        if row["what"] == what and row[by]:
            found.setdefault(row["kind"], {})[int(row[by])] = float(row[column])
    return found


# %%
memory = measured("forward and backward", "length", "megabytes")
needed = memory["in blocks"][32768]
print(f"in blocks, L = 32,768: {needed:.0f} MB", end=", ")
print(f"five tensors of L x 64: {5 * 4 * 32_768 * 64 / 1e6:.0f} MB")
choices = {50: "about 50", 500: "about 500", 5000: "about 5,000"}
nearest = min(choices, key=lambda number: abs(math.log(needed / number)))
widgets.came_out("14.A", choices[nearest])

# %%
ax = plotting.new_axes(6.0, 3.4)
ax.set_prop_cycle(color=plotting.COLORS)
for (name, by_length), style in zip(memory.items(), ("o-", "s--", "^-."), strict=True):
    ax.plot(list(by_length), list(by_length.values()), style, label=name)
lengths = list(memory["in blocks"])

# %%
ax.plot(lengths, [4 * n**2 / 1e6 for n in lengths], "k:", label="one table of L x L")
ax.set(xscale="log", yscale="log", xlabel="length L", ylabel="megabytes, with backward")
ax.set_xticks(lengths, [f"{n:,}" for n in lengths]), ax.minorticks_off()
ax.set_yticks([10, 100, 1000], ["10", "100", "1,000"])
ax.legend(frameon=False)
plotting.show(
    ax,
    "Peak memory by length, both axes logarithmic. Explicit runs above the line of one "
    "table, to 4.8 GB at 16,384. Blocks left to autograd run beside it with half as "
    "much. In blocks stays below 50 MB up to 32,768.",
)

# %% [markdown]
# *Each point was measured once, in a process of its own, minus what the process already held (`python -m experiments long_contexts`).* From 4,096 on, twice the length takes the explicit form about four times the memory. In blocks it at most doubles, and from 16,384 on nearly all of it is about five tensors of the text's length, the output and the three gradients among them. We stopped the explicit form and the third curve at 16,384, since the explicit one would have needed about 19 GB at 32,768.
#
# The third curve has blocks too, but lets autograd do the backward pass, and so stores every block. That curve grows as steeply as the explicit one. It lies lower here because of the mask. It skips the blocks that are hidden, nearly half of them, while the explicit form makes all weights, and tables for the mask on top. Without a mask, blocks left to autograd need *more* than the explicit form:

# %%
unmasked = measured("forward and backward, no mask", "length", "megabytes")
for kind, by_length in unmasked.items():
    tables = by_length[8192] / (4 * 8192**2 / 1e6)
    print(f"{kind:38} {tables:.1f} tables of L x L at 8,192")

# %% [markdown]
# So blocks alone don't save the memory. What saves it is to throw each block away and compute it again. Memory then grows with $L$, while the work still grows with $L^2$.
#
# The price is that every score is computed twice, once on the way forward and once on the way back. **Do exercise 14.1 now (6 minutes, {{exercises_link}}).** Its softmax has one more score, a sink, where a query can put its weight when no key fits. It adds nothing to the output, and section 14.3 says what it's good for.
#
# *More on this: the whole backward pass is exercise 14.2, and "What blocks cost" has the time.*

# %% [markdown]
# ## 14.3 Look back only so far
# *Core · 11 minutes*
#
# Blocks save memory, but a model that breaks beyond its training length still breaks. The model of lesson 12 was trained on 512 characters and fell apart beyond that, until a mask showed it only the latest 512 keys. Here it reads 11 texts of 4,096 characters with five different caches, two of which also keep the first four positions.

# %%
widgets.predict(
    "14.B",
    "How many more bits per character does a cache of the latest 64 cost than one of "
    "the latest 512, on average beyond position 512?",
    between=(0, 2),
    step=0.05,
)

# %%
found = measured("reading", "at", "bits")
bits = {name: torch.tensor([*curve.values()]) for name, curve in found.items()}
places = 64 * torch.arange(64) + 32
shown = ("everything", "latest 512", "latest 64")
more = bits["latest 64"] - bits["latest 512"]  # (64,)

# %%
axes = plotting.new_axes(9.6, 3.2, columns=2)
names = {"xlabel": "position in the text", "ylabel": "bits per character"}
plotting.curves(places, {name: bits[name] for name in shown}, ax=axes[0], **names)
axes[1].plot(places, more, color="0.7", lw=1, label="each 64 characters")
style = {"color": plotting.COLORS[0], "label": "each 512"}
axes[1].plot(places[3::8] + 32, more.view(8, 8).mean(dim=1), "o-", **style)
axes[1].set(xlabel=names["xlabel"], ylabel="more bits per character")
axes[1].legend(frameon=False), axes[1].axhline(0, color="0.4", lw=0.8)
titles = "three of the five caches", "latest 64 minus latest 512"
for ax, title in zip(axes, titles, strict=True):
    plotting.mark_places(ax, {"trained to here": 512})
    ax.set_title(title, pad=16, fontsize=11)

# %%
axes[0].set_ylim(0, None), axes[1].set_ylim(-0.02, 0.15)
plotting.show(
    axes[0],
    "Bits by position up to 4,096. Left, with everything they rise from 1.5 to 5 "
    "between 512 and 1,400 and stay near 5. With the latest 512 or 64 they stay around "
    "1.4. Right, the difference of these two, 0.03 to 0.065 per 512 characters.",
)

# %%
for name, curve in bits.items():
    print(f"{name:20} up to 512 {curve[:8].mean():.2f}, beyond {curve[8:].mean():.2f}")
by_text = measured("reading", "text", "bits")  # beyond the first 512
by_text = {name: torch.tensor([*found.values()]) for name, found in by_text.items()}


def compare(name, plain):
    """Mean over the 11 texts of the difference beyond 512, and two standard errors."""
    difference = by_text[name] - by_text[plain]
    return difference.mean().item(), 2 * difference.std().item() / 11**0.5


lost, wide = compare("latest 64", "latest 512")
print(f"latest 64 against latest 512: {lost:+.3f}, plus or minus {wide:.3f}")
widgets.came_out("14.B", lost)

# %% [markdown]
# *With a window the model reads all 4,096 characters about as well as the first 512.* And a window of 64 costs little more. (A stack of four such layers reaches farther than 64 characters, as exercise 14.4 shows. "What lies far back" cuts the text itself.) On this text our model hardly uses what lies farther back. Section 14.6 has a task that can't do without it, and there a window knows only the pairs that it still holds.
#
# The cache needn't grow, either. **When a new position comes, the oldest one goes.** The keys are kept *unturned*, and at every reading each of them is turned (RoPE, lesson 08) to its place **in the cache**. So no distance is larger than in training, and the first ones may stay while others go. Here is what two caches keep of ten characters, one with a window of 4, and one with the first two as well:

# %%
plotting.show(diagrams.window_places(list("the red ap"), caches=[(4, 0), (4, 2)]))

# %% [markdown]
# *No place is ever larger than the cache, however long the text gets.* Let's write the left one:


# %%
def window_step(q, k, v, kept, size):
    """The newest query, (1, d), and the latest ``size`` keys, kept without RoPE."""
    keys, values = (torch.cat(pair)[-size:] for pair in zip(kept, (k, v), strict=True))
    angles = rotary_angles(torch.arange(len(keys)), k.shape[1]).float()  # in the cache
    turned = apply_rope(keys, angles.cos(), angles.sin())
    q = apply_rope(q, angles[-1:].cos(), angles[-1:].sin())  # the last place is its own
    weights = (q @ turned.T / k.shape[1] ** 0.5).softmax(dim=-1)
    return weights @ values, (keys, values)


# %%
q, k, v = (x[0, 0].detach() for x in inputs(300))  # (300, 64) each
kept, by_steps = (k[:0], v[:0]), []
for place in range(300):
    now = slice(place, place + 1)
    output, kept = window_step(q[now], k[now], v[now], kept, size=50)
    by_steps.append(output)
angles = rotary_angles(torch.arange(300), 64).float()  # places in the text
q, k = (apply_rope(x, angles.cos(), angles.sin()) for x in (q, k))
seen = sliding_window_mask(300, window=50)[0, 0]
by_mask, _ = scaled_dot_product_attention(q, k, v, seen)
same = torch.allclose(torch.cat(by_steps), by_mask, atol=1e-4)
print(f"{len(kept[0])} keys are kept; the same as with a mask: {same}")

# %% [markdown]
# Why is it the same? Neighbors in the cache are neighbors in the text, so all distances are those of the text, and with RoPE positions enter a score only through their distance. The model's own window does the same as a mask in all four layers:


# %%
def logits_under(mask, ids):
    """What the model says at each position, (B, L, V), if all layers have this mask."""
    x = model.embedding(ids)
    for layer in model.layers:
        x = layer(x, mask)
    return model.generator(model.norm(x))


model = pretrained.load("language_model").requires_grad_(False)
ids = encode_text(documentation_split().test[:300])[None]  # (1, 300)
by_mask = logits_under(sliding_window_mask(300, window=50), ids)[0]  # (300, V)
cache = model.start_window(1, 50)
by_cache = [model.next_logits(one[:, None], cache=cache) for one in ids.T]
print("logits equal:", torch.allclose(by_mask, torch.cat(by_cache), atol=1e-3))

# %% [markdown]
# And so our model, which has room for 1,024 positions, can write on and on:

# %% tags=["nbval-ignore-output"]
cache = model.start_window(1, 128)
rng, started = torch.Generator().manual_seed(0), time.process_time()
prompt = encode_text("The function returns ")[None]
written = generate(
    model, prompt, max_new_tokens=1500, temperature=0.7, generator=rng, cache=cache
)
print(f"{1500 / (time.process_time() - started):.0f} characters a second")
print("...", decode_text(written[0, -200:]))

# %% [markdown]
# No step reads more than 128 keys, however long the text, so a step's work doesn't grow. Here is the speed over 20,000 characters, with a cache of 512 positions and with one that keeps everything (for which we gave a copy of the model more room):

# %%
ax = plotting.new_axes(6.0, 2.8)
writing = measured("writing", "at", "seconds")
for (name, by_place), color in zip(writing.items(), plotting.COLORS, strict=False):
    speeds = 100 / torch.tensor([*by_place.values()])  # seconds are for 100 characters
    around = [speeds[max(0, i - 2) : i + 3].median() for i in range(len(speeds))]
    ax.plot(list(by_place), speeds, "o", ms=4, color=color, alpha=0.4)
    ax.plot(list(by_place), around, color=color, label=name)
    first, last = (part.median() for part in (speeds[:5], speeds[-5:]))
    print(f"{name:20} first 5,000: {first:.0f} characters a second, last: {last:.0f}")

# %%
ax.set(xlabel="characters written", ylabel="characters a second", ylim=(0, None))
ax.legend(frameon=False)
plotting.show(
    ax,
    "Speed by characters written. With the first 4 and the latest 508 it stays around "
    "600, with everything it falls from 500 to below 150.",
)

# %% [markdown]
# *Each dot is the fastest hundred characters of a thousand, in processor time, in one run for each cache. Lines are medians of five neighboring dots.* With the window the end is written no more slowly than the beginning. Once the cache is full every step does the same work, so nothing in the method explains the rise at the end. A difference of a fifth says nothing here, then, but the fall to about a third does.
#
# **Keep the first ones, too?** Xiao et al. (2023) found that large models break when the first tokens leave the window. A softmax has to put its weight somewhere, they say, and many heads park spare weight on these tokens, as in a **sink**. If the first four stay, moved up to the window as in the right half of the picture, those models go on. The sink of exercise 14.1 serves the same end, with a score that has no position and no value. For our model the first four make hardly any difference (in both rows they take the places of four recent characters, and of 64 that's more; whether that's why the second is a little worse we haven't tried):

# %%
pairs = {"first 4, latest 508": "latest 512", "first 4, latest 60": "latest 64"}
for sinks, plain in pairs.items():
    more, wide = compare(sinks, plain)
    print(f"{sinks}: {more:+.3f} bits against {plain}, plus or minus {wide:.3f}")

# %% [markdown]
# That agrees with lesson 13, which measured that none of its heads gives the first letter more than an even share. It has no sink there to lose.
#
# **Do exercise 14.3 now (12 minutes).** There you write such a step, with the first positions kept.
#
# *More on this: exercise 14.4 asks how far back a whole stack of such caches reaches, "What lies far back" whether this model uses it at all, and "Places in the cache" what happens if the first four aren't moved up. Gu et al. (2024) trace when large models get their sinks.*

# %% [markdown]
# ## 14.4 Without a softmax
# *Core · 9 minutes*
#
# It's the softmax that makes us keep all keys. Leave it out, and you can multiply in another order:
#
# $$(Q K^\top)\, V = Q\, (K^\top V).$$
#
# On the left there's a table of $L \times L$. On the right there's a matrix of $d_k \times d_v$, however long the text. With a causal mask it's a sum to which every position adds, the **state**:
#
# $$S_i = S_{i-1} + k_i^\top v_i, \qquad o_i = q_i S_i .$$
#
# Take two positions with keys $(1, 0)$ and $(1, 1)$ and values 4 and 6. The state becomes $\begin{pmatrix}4\\0\end{pmatrix}$ and then $\begin{pmatrix}10\\6\end{pmatrix}$, and the query $(1, \tfrac12)$ reads $10 + 3 = 13$. Weights and values give the same, $1 \cdot 4 + \tfrac32 \cdot 6$:

# %%
keys, values = torch.tensor([[1.0, 0], [1, 1]]), torch.tensor([[4.0], [6]])
query = torch.tensor([[1.0, 0.5]])
print("by the table", (query @ keys.T) @ values)
print("by the state", query @ (keys.T @ values))

# %% [markdown]
# This is **linear attention** (Katharopoulos et al., 2020). Here is the second write again, and the read, with values of three numbers:

# %%
state = torch.tensor([[4.0, 0, 2], [0, 0, 0]])
key, value, query = map(torch.tensor, ([1.0, 1], [6.0, 2, 0], [1.0, 0.5]))
plotting.show(diagrams.state_write(state, key, value, query))

# %% [markdown]
# *Row $a$ of the state adds up the values, each weighted by entry $a$ of its key.* There are three ways to compute the same numbers:

# %%
plotting.show(diagrams.chunked_forms(length=12, chunk_size=4))

# %% [markdown]
# *Blue is a product of one query and one key. Gray is read from a state and needs no such products, but each write and each read takes $d_k \times d_v$ multiplications.* As one table it's attention with a mask and no softmax. Step by step it's a recurrent network whose memory is a matrix. In **chunks** it's both, with a small table within each chunk and a state from one to the next:

# %%
def in_chunks(q, k, v, size):
    """Causal linear attention, (L, d_v). No table larger than size x size."""
    state = torch.zeros(k.shape[1], v.shape[1])
    outputs = []
    chunks = zip(q.split(size), k.split(size), v.split(size), strict=True)
    for some_q, some_k, some_v in chunks:
        table = (some_q @ some_k.T).tril()  # (size, size): within the chunk
        outputs.append(table @ some_v + some_q @ state)  # and all that was before it
        state = state + some_k.T @ some_v
    return torch.cat(outputs)


# %%
q, k, v = (x[0, 0].detach() for x in inputs(500, seed=2))  # (500, 64) each
one_table = (q @ k.T).tril() @ v
print("chunks of 64:", torch.allclose(in_chunks(q, k, v, 64), one_table, atol=1e-2))
print("chunks of 1: ", torch.allclose(in_chunks(q, k, v, 1), one_table, atol=1e-2))
print(f"largest output {one_table.abs().max():.0f}")

# %% [markdown]
# For a long text that is known in advance, chunks are the fastest of the three on our machine. For *writing*, one position at a time, you go step by step.
#
# **Why not with the exponential?** A state works because a weight is a sum of $d_k$ products, each a function of the query times a function of the key. Suppose that $e^{q k^\top}$ were a sum of $r$ such products. Then a table of exponentials, however large, would have rank $r$ at most. But its rank grows with the table:

# %%
for n in (2, 4, 8):
    x = torch.arange(n, dtype=torch.float64)[:, None] / 2  # queries and keys of size 1
    table = (x @ x.T).exp()
    print(f"{n} queries and keys: rank {torch.linalg.matrix_rank(table).item()}")

# %% [markdown]
# The entries here are $(e^{i/4})^j$, which makes a Vandermonde matrix, and with different bases its rank is always $n$. Dividing rows by their sums changes no rank, and a causal mask changes nothing here if all queries come after the keys. So no such state, of whatever fixed size, gives the softmax's weights exactly. Approximating them is another matter.
#
# Dividing by a sum is no obstacle, since a second, smaller state can hold it. **Do exercise 14.5 now (10 minutes).** It adds what the paper has and we left out, a feature map that keeps weights positive, and the division.
#
# *More on this: chunks with decay, which comes next, are exercise 14.6. "Where a state is faster" has timings, and "Split the exponential, nearly" shows how near one gets to a softmax.*

# %% [markdown]
# ## 14.5 Forget and overwrite
# *Core · 8 minutes*
#
# The state above never forgets. That's a problem when a key comes back with another value. Here is the same key twice, first with 2, then with 5:

# %%
key, value = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[2.0], [5.0]])
output, _ = recurrent_form(key, key, value)  # the library's, step by step
print(f"reads {output[0].item():.0f}, then {output[1].item():.0f}")

# %% [markdown]
# Adding gives 7, a value that nobody stored. There are two remedies.
#
# **Decay.** Before each write, multiply the whole state by a number below 1:
#
# $$S_i = \alpha_i\, S_{i-1} + k_i^\top v_i .$$
#
# This $\alpha_i$ is fixed for each head (RetNet, Sun et al., 2023) or computed from the token (Mamba-2, Dao and Gu, 2024). Everything old fades. With $\alpha = \tfrac12$ we read $\tfrac12 \cdot 2 + 5 = 6$.
#
# **The delta rule.** Ask the state what it has under this key, and write only the *difference* (Schlag et al., 2021):
#
# $$S_i = S_{i-1} + \beta_i\, k_i^\top (v_i - k_i S_{i-1}).$$
#
# With $\beta = 1$ and a key of length 1, the old value is replaced: $2 + (5 - 2) = 5$. Here is such a write with values of three numbers, into a state that has something under another key as well:

# %%
state = torch.tensor([[2.0, 1, 0], [0, 0, 4]])
key, value = torch.tensor([1.0, 0]), torch.tensor([5.0, 1, 3])
plotting.show(diagrams.state_write(state, key, value, delta=True))

# %% [markdown]
# *First it reads what is stored under the key, then it writes the difference.* The other key, at a right angle, keeps what it has. The write is one step of gradient descent, of size $\beta$, on $\tfrac12 \lVert k_i S - v_i \rVert^2$, so the state *learns* the pairs as the text goes by. Both remedies together are the **gated delta rule** (Yang et al., 2024), which you write in exercise 14.7. Here are all of them on the two numbers from above:

# %%
key, value = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[2.0], [5.0]])
half, one = torch.tensor([1.0, 0.5]), torch.ones(2)
rules = {"add": {}, "decay 0.5": {"decay": half}, "delta": {"beta": one}}
rules["gated"] = {"decay": half, "beta": one}
for name, options in rules.items():
    output, _ = recurrent_form(key, key, value, **options)
    print(f"{name:10} reads {output[0].item():.0f}, then {output[1].item():.0f}")

# %% [markdown]
# Now with more keys. Move the sliders, and watch how well each earlier value can still be read with its own key. A bar is the cosine of what is read and the value, so 1 is the right direction, whatever the length:

# %%
rng = torch.Generator().manual_seed(0)
keys, values = torch.randn(48, 16, generator=rng), torch.randn(48, 32, generator=rng)
side_by_side = widgets.cache_and_state(keys, values)
side_by_side.show_first_state(
    "After 24 positions. The cache has all 24. The window has the latest 10, in about "
    "as many numbers as the state. The state gives back each value with a cosine of "
    "0.4 to 0.9."
)

# %%
side_by_side

# %% [markdown]
# The cache keeps every value whole and grows. The window keeps a few whole. The state keeps something of each and never grows. Its numbers are on the right, and each pair has changed all of them a little.
#
# What do decay and the delta rule change, and does it matter that these keys aren't at right angles? Let's write 16 values and read each with its own key, in 200 draws:

# %%
def read_back(keys, values, **rule):
    """After all are written, of each value the cosine and the squared error."""
    _, state = recurrent_form(keys, keys, values, **rule)
    error = (keys @ state - values).square().sum(-1) / values.square().sum(-1)
    cosine = F.cosine_similarity(keys @ state, values, dim=-1)
    return cosine.mean(dim=0), error.mean(dim=0)  # (16,) each


# %%
drawn = F.normalize(torch.randn(200, 16, 16, generator=rng), dim=-1)
keys_of = {"keys as drawn": drawn, "keys at right angles": torch.linalg.qr(drawn).Q}
values = torch.randn(200, 16, 32, generator=rng)
ones = torch.ones(200, 16)
rules = {"add": {}, "decay 0.9": {"decay": 0.9 * ones}, "delta": {"beta": ones}}

# %%
axes = plotting.new_axes(9.6, 3.2, columns=3)
straight = keys_of["keys at right angles"]
labels = "cosine", "squared error / value²"
panels = [("keys as drawn", 0), ("keys as drawn", 1), ("keys at right angles", 1)]
for ax, (name, which) in zip(axes, panels, strict=True):
    curves = {rule: read_back(keys_of[name], values, **options)[which]
              for rule, options in rules.items()}
    names = {"xlabel": "position", "ylabel": labels[which]}
    plotting.curves(torch.arange(16), curves, ax=ax, **names)
    ax.set_title(f"{name}:\n{names['ylabel']}"), ax.set_ylim(-0.05, 1.3)

pairs = [read_back(straight, values, **rule) for rule in rules.values()]
lowest = min(cosine.min().item() for cosine, _ in pairs)
print(f"lowest cosine with keys at right angles: {lowest:.2f}")

# %%
plotting.show(
    axes[0],
    "Left, the cosine of what is read and the value, by position. Middle, the squared "
    "error as a share of the value's square. Add is alike everywhere. Decay and delta "
    "are better at the end and, by the cosine, worse at the beginning. Right, with "
    "keys at right angles only decay has an error, up to 0.6.",
)

# %% [markdown]
# With keys as they are drawn, decay and the delta rule both give the latest values back better than adding does, and the first ones worse, at least in direction. The error hides that, because with plain addition what you read is too long. (A vector $r$ times as long as the value has the squared error $r^2 - 2rc + 1$, where $c$ is the cosine. With $c = 0.7$, an error of 1 means $r = 1.4$.) At right angles adding and the delta rule lose nothing, while decay keeps every direction and shrinks the old values.
#
# **Do exercise 14.7 now (6 minutes)**, and then **14.8 (10 minutes)**, in which chunks have a bug.

# %% [markdown]
# ## 14.6 What a state can recall
# *Core · 12 minutes*
#
# If what we read is that blurred, how many values can a state still get right? A model needn't give the whole value back. It only has to tell which value it was. We train one attention layer to do that.
#
# - **A text** is 4 to 64 pairs of a key and a value, and then 16 keys alone, the questions. There are 128 keys and 128 values. Below are the beginnings of two texts of four pairs, with the right answers in brackets.
# - **A pair is one token.** Its query and its key are made from the key's embedding, its value from the value's, and so one layer is enough.
# - **Once or twice.** In one task every key comes once. In the other it comes twice, with two values of which the later counts. So 64 pairs have only 32 keys there.
# - **Sizes.** Keys have size 8 and are scaled to length 1, values have size 64. So a state has $8 \cdot 64 = 512$ numbers, and a cache of 64 pairs $64 \cdot (8 + 64) = 4608$.
# - **Five kinds** of the same size are trained for 1,000 updates, two with a softmax (one of them also lets each weight decay from token to token), three with a state that adds (*linear*), decays, or follows the delta rule. Decay and $\beta$ are computed from each token and start near 1.

# %%
for twice in (False, True):
    text = recall.make_batch(1, 4, torch.Generator().manual_seed(3), twice=twice)
    keys, values, answers = (x[0].tolist() for x in text)
    pairs = [f"k{k} v{v}" for k, v in zip(keys[:4], values, strict=False)]
    asked = [f"k{k} ? (v{v})" for k, v in zip(keys[4:6], answers, strict=False)]
    print(" · ".join([*pairs, *asked]), "...")

# %%
widgets.predict(
    "14.C",
    "64 pairs, d_k = 8. What share is right after 1,000 updates of linear attention?",
    between=(0, 1),
    step=0.05,
)

# %% [markdown]
# Here is a shorter training, 400 updates of linear attention:

# %% tags=["nbval-ignore-output"]
for step, live in recall.train("linear", seed=0, steps=400, every=200):
    right = [f"{recall.accuracy(live, pairs):.2f}" for pairs in recall.PAIRS]
    print(f"{step} updates:", dict(zip(recall.PAIRS, right, strict=True)))

# %% [markdown]
# And this is all that such a layer does, here with the table in place of the state. Keys have length 1, as the delta rule wants them. What is read goes through a norm (lesson 09), since a sum grows with the text:


# %%
def by_hand(layer, keys, values):
    """What a layer with linear attention says at each position."""
    x, y = layer.key_of(keys), layer.value_of(values)  # embeddings, (n, L, 64) each
    q, k, v = layer.q_proj(x), layer.k_proj(x), layer.v_proj(y)
    k = F.normalize(k, dim=-1)
    k = k.masked_fill((values == recall.SYMBOLS)[..., None], 0.0)  # a question
    read = (q @ k.mT).tril() @ v  # (n, L, 64)
    return layer.answer(layer.norm(read))  # a logit for each value


# %% tags=["nbval-ignore-output"]
keys, values, _ = recall.make_batch(8, 64, torch.Generator().manual_seed(7))
with torch.no_grad():
    same = torch.allclose(by_hand(live, keys, values), live(keys, values), atol=1e-3)
print("the layer's own answers:", same)

# %%
columns = [f"{n} pairs" for n in recall.PAIRS]
kinds = "linear", "decay", "delta", "softmax", "softmax with decay"


def shares(task, kind, d_head=8, updates=1000, columns=columns, **more):
    """Right answers by number of pairs: (runs, 5)."""
    wanted = {"part": "shown", "d_model": "64", "kind": kind, "task": task}
    wanted |= {"d_head": str(d_head), "updates": str(updates)} | more
    rows = [r for r in read_rows("recall") if wanted.items() <= r.items()]
    return torch.tensor([[float(r[name]) for name in columns] for r in rows])


# %% [markdown]
# Here are all kinds, each with the learning rate that suits it best:


# %%
tasks = {"once": "every key once", "twice": "every key twice, the later counts"}


def name_curves(ax):
    """In the place of a legend, as curves coincide; also the window."""
    ax.plot(range(5), [min(1, 7 / n) for n in recall.PAIRS], color="0.5")  # 7 pairs
    ax.get_legend().remove()
    ax.plot(range(5), [1] * 5, lw=6, color=plotting.COLORS[3], alpha=0.4, zorder=0)
    ax.text(3.05, 0.96, "both softmaxes", va="top", fontsize=9)
    ax.text(3.12, 0.82, "all three states", va="center", fontsize=9)
    ax.text(1.35, 0.6, "window of\n512 numbers", va="top", ha="right", fontsize=9)


# %%
axes = plotting.new_axes(9.6, 3.4, columns=2)
for ax, (task, title) in zip(axes, tasks.items(), strict=True):
    runs = {kind: shares(task, kind) for kind in kinds}
    names = {"xlabel": "pairs in the text", "ylabel": "right answers"}
    plotting.bands([str(n) for n in recall.PAIRS], runs, ax=ax, **names)
    ax.set(ylim=(0, 1.05), title=title)
    ax.set_xticks(range(5), recall.PAIRS, rotation=0, ha="center")
name_curves(axes[0])
plotting.show(
    axes[0],
    "Right answers by number of pairs. Left, both softmaxes stay at 1, and all three "
    "states fall to one half, far above a window of as many numbers. Right, softmax "
    "with decay stays at 1, softmax at 0.5, delta falls from 1 to 0.56, decay from 0.8 "
    "to 0.5, linear from 0.5 to 0.35.",
)

# %%
for task in tasks:
    for kind in kinds:
        mean = [f"{share:.2f}" for share in shares(task, kind).mean(dim=0).tolist()]
        print(f"{task:6} {kind:19}", *mean)
widgets.came_out("14.C", shares("once", "linear")[:, -1].mean().item())

# %% [markdown]
# *Five seeds, with bands from the lowest to the highest. On the left the two softmax curves coincide, and so do those of the three states. The gray line is a window that keeps as many numbers as a state, 7 pairs of 8 + 64, and doesn't guess.*
#
# **Once.** With a softmax every value is found. A state of 8 numbers to a key makes more and more mistakes from 16 pairs on, and the three states differ little. The delta rule is right as often as plain addition, though not for the same pairs:

# %%
ends = ["first of 64", "last of 64"]
for kind in ("linear", "decay", "delta"):
    first, last = shares("once", kind, columns=ends).mean(dim=0)
    print(f"{kind:7} first 8 of 64 pairs {first:.2f}, last 8 {last:.2f}")

# %% [markdown]
# As in section 14.5, it keeps more of the latest pairs than of the first.
#
# **Twice.** Here the rule makes the difference, and the delta rule is ahead of the other states at every number of pairs. It's right less often, though, with 64 pairs of 32 keys (0.56) than with 32 pairs that come once (0.82). Section 14.7 comes back to that. Adding is right half of the time at best. A sum doesn't depend on the order, so it can't tell which value came later. But the softmax isn't right more often either! It sees both values, and nothing in this layer says where a key is (lesson 08). If that's the reason, it should be enough to let its weights decay with each position. A *softmax with decay* (Lin et al., 2025) multiplies each exponential by all decays since its key, before the division, $a_{ij} \propto e^{s_{ij}} \prod_{n=j+1}^{i} \alpha_n$. It then answers nearly every question correctly (1.00 at every length).
#
# Why does a state's recall fall at all? **Do exercise 14.9 now (4 minutes), then read on.** It offers five explanations, and runs to test them.
#
# *More on this: "Which learning rate" has the choice of rates, and "One decay for all" asks why decay gets only 0.78 even of four pairs.*

# %% [markdown]
# ## 14.7 What gets in the way
# *Core · 9 minutes*
#
# Let a state hold $N$ pairs whose keys have length 1. Read it with key $i$:
#
# $$k_i S = v_i + \sum_{j \ne i} (k_i k_j^\top)\, v_j .$$
#
# The first part is right, and the sum is **interference**. In a trained layer the query $q_i$ takes the place of $k_i$, and a pair's overlap is $q_i k_j^\top / q_i k_i^\top$. Here is one such read of 64 pairs with random keys of size 8. Each bar shows the weight of one pair in it, the right one first:

# %%
keys = torch.randn(64, 8, generator=torch.Generator().manual_seed(0))
keys = F.normalize(keys, dim=-1)
counts = keys[1:] @ keys[0]  # (63,): the others, read with key 0
counts = counts[counts.abs().argsort(descending=True)]
ax = plotting.new_axes(8.4, 2.4)

# %%
places = torch.arange(2, 65)
signs = {"positive": (counts > 0, plotting.COLORS[1]), "negative": (counts < 0, "0.6")}
ax.bar(0, 1, color=plotting.COLORS[2], label="the right one")
ax.axhline(0, color="0.4", lw=0.8), ax.axvline(17.5, color="0.4", ls=":")
ax.text(17, 0.95, "the 16 that overlap most", ha="right", va="top")
for name, (chosen, color) in signs.items():
    ax.bar(places[chosen], counts[chosen], color=color, label=name)

# %%
ax.legend(frameon=False, ncols=3, loc="lower right")
ax.set(xlabel="pairs by size of the product, sign ignored", xticks=[])
ax.set_ylabel(r"$k_i k_j^\top$")
plotting.show(
    ax,
    "Bars of one read. The right pair counts 1. Of the others, the 16 that overlap "
    "most count 0.5 to 0.8, about half of them negative, the other 47 less and less.",
)

# %%
many = torch.randn(1000, 64, 8, generator=torch.Generator().manual_seed(1))
many = F.normalize(many, dim=-1)
squares = (many[:, 1:] @ many[:, 0, :, None]).square().squeeze(-1)  # (1000, 63)
share = squares.topk(16, dim=1).values.sum(dim=1) / squares.sum(dim=1)
print(f"in 1,000 such reads the 16 account for {share.mean():.0%} of the squares")

# %% [markdown]
# Two random directions in $d_k$ dimensions have a squared dot product of $1/d_k$ on average (lesson 01). With independent values of mean 0, the squared error should be $(N - 1)/d_k$ times the square of a value. With keys at right angles the sum vanishes, and so should the error:


# %%
def error(keys, rng):
    """The squared error of what is read, as a share of the values' square."""
    values = torch.randn(*keys.shape[:2], 64, generator=rng)  # (n, pairs, d_v)
    read = keys @ (keys.mT @ values)
    return ((read - values).square().sum() / values.square().sum()).item()


rng, random_keys, straight_keys = torch.Generator().manual_seed(1), {}, {}
for pairs in (2, 4, 8, 16, 32):
    drawn = F.normalize(torch.randn(200, pairs, 8, generator=rng), dim=-1)
    random_keys[pairs] = error(drawn, rng)
    straight = torch.linalg.qr(torch.randn(200, 8, 8, generator=rng)).Q[:, :pairs]
    if pairs <= 8:  # in 8 dimensions there are no more directions at right angles
        straight_keys[pairs] = error(straight, rng)
print({pairs: f"{found:.2f}" for pairs, found in random_keys.items()})

# %%
ax = plotting.new_axes(5.6, 3.2)
ax.set_prop_cycle(color=plotting.COLORS)
ax.plot([1, 32], [0, 31 / 8], color="0.5", label="$(N - 1) / d_k$")
ax.plot(list(random_keys), list(random_keys.values()), "o", label="random keys")
ax.plot(list(straight_keys), list(straight_keys.values()), "s", label="at right angles")
ax.axhline(1, color="0.7", ls=":"), ax.text(32, 1.05, "reading 0", ha="right")
ax.set(xlabel="pairs in the state, N", ylabel="squared error / value²")
ax.set_xticks([*random_keys]), ax.legend(frameon=False)
plotting.show(
    ax,
    "Squared error by number of pairs for keys of 8 numbers. Random keys lie on the "
    "line of the formula. Beyond 9 pairs it is above 1, the error of reading 0. Up to "
    "8 keys at right angles have no error.",
)

# %% [markdown]
# *The formula fits. The dotted line is the error of an answer of 0.* With more than nine pairs the noise is larger than the value, and the read as it stands is farther from it than 0 would be. But a layer only has to find the value with the largest product, one of 128, and it can do that even through much noise.
#
# Is this why the trained layers answer wrongly? Let's remove the suspects and see. For each question we look for the 16 of the other 63 pairs whose keys overlap most with the key that's asked for, and let them write nothing. If overlap does the harm, that should help more than leaving out 16 pairs at random, and leaving out the 16 that overlap least shouldn't help at all. The sign should matter as well. A positive overlap pushes another pair's value forward, and a negative one pushes it back. Here are five trained layers of each kind:

# %%
left_out = {"64 pairs": "(all kept)", "without any": "at random"}
left_out |= {"without most": "overlap most", "without least": "overlap least"}
left_out |= {"without highest": "most positive", "without lowest": "most negative"}
for kind in ("linear", "delta"):
    for column, which in left_out.items():
        found = shares("once", kind, columns=[column])  # (5, 1)
        spread = f"{found.min():.2f} to {found.max():.2f}"
        print(f"{kind:6} without 16: {which:13} {found.mean():.2f} ({spread})")

# %%
ax = plotting.new_axes(8.0, 2.8)
for i, kind in enumerate(("linear", "delta")):
    found = [shares("once", kind, columns=[column]) for column in left_out]  # (5, 1)
    heights, places = [x.mean().item() for x in found], [x + 0.4 * i for x in range(6)]
    ax.bar(places, heights, 0.38, color=plotting.COLORS[2 * i], alpha=0.6, label=kind)
    for place, of_seeds in zip(places, found, strict=True):
        ax.plot([place] * 5, of_seeds, ".", color="0.2", ms=4)

# %%
ax.set_xticks([x + 0.2 for x in range(6)], left_out.values())
ax.axhline(shares("once", "linear")[:, -1].mean().item(), color="0.4", ls=":", lw=1)
ax.set(xlabel="the 16 pairs that are left out", ylabel="right answers", ylim=(0, 1))
ax.legend(frameon=False, loc="upper left")
plotting.show(
    ax,
    "Right answers of the linear and the delta layer, alike: 0.5 with all pairs, 0.65 "
    "without 16 drawn, 0.9 without the 16 that overlap most, 0.5 without the least, "
    "0.9 without the most positive, 0.67 without the most negative. Dots: the five "
    "seeds, close together.",
)

# %% [markdown]
# *Bars are means, dots the seeds, and the dotted line is the linear layer with all pairs kept.* Without the 16 pairs that overlap most, nine answers in ten are right. Without the 16 that overlap least, no more than before. So it's the overlap that does the harm, and most of the harm comes from a quarter of the pairs. Leaving out the most positive ones helps nearly as much. We guessed that leaving out the most negative ones wouldn't help, and that was wrong: it helps a little more than leaving out 16 at random. A negative overlap, too, adds to the noise in which another value can win. The formula above doesn't hold for the delta rule, where each write depends on those before it, but the same removals help it as much.
#
# Could training have kept the keys farther apart? In 8 dimensions there's only so much room for 128 directions, and in the layer that we looked at the mean of their squared products is nearly as small as it can be. (With nothing trained, even keys that are as far apart as possible recall no more than keys at random, as "As far apart as possible" shows.) What helps is more dimensions. In exercise 14.9 keys twice as large helped most.
#
# Values twice as large helped, too. They make less noise in the product with each candidate, about $\sqrt{N / (d_k d_v)}$ of it, and with keys and values at random and nothing trained that alone helps. Of the cases in which a rival wins it avoids a smaller share, the nearer the rival's key is.
#
# **Why does the softmax recall everything?** Its keys have 8 numbers too, so they can't all lie much farther apart. But a state weighs each pair by its product, and a softmax by the exponential of it. Here is the weight of the right pair among the 64 drawn above, for queries in its direction of several lengths:

# %%
products = keys @ keys[0]  # (64,): the right pair's is 1, the next largest 0.62
for length in (1, 4, 8, 16):
    weight = (length * products).softmax(dim=0)[0].item()
    print(f"a query of length {length}: {weight:.2f}")

# %% [markdown]
# A longer query makes the right pair's lead grow exponentially. In the read of a state it makes everything longer alike, and nothing is gained. (How long the trained layers' queries are we haven't looked at.)
#
# **Why does the delta rule recall fewer of 32 keys when each comes twice?** A write replaces what stands under its own key, and changes what stands under every key that overlaps with it. Here are 32 random keys with nothing trained, written once or twice with one fixed $\beta$, and the share of (latest) values that come out right:

# %%
def delta_recalled(k, beta, times):
    """Share of right values; k is (texts, n, 8), and all n keys come so many times."""
    rng = torch.Generator().manual_seed(1)
    values = F.normalize(torch.randn(128, 64, generator=rng), dim=-1)
    every = k.repeat(1, times, 1)  # (texts, n * times, 8)
    right = torch.randint(0, 128, every.shape[:2], generator=rng)
    betas = torch.full(every.shape[:2], beta)
    _, state = recurrent_form(every, every, values[right], beta=betas)
    said = (k @ state @ values.T).argmax(dim=-1)  # (texts, n)
    return (said == right[:, -k.shape[1] :]).float().mean().item()


def print_recalled(name, k, beta):
    once, twice = delta_recalled(k, beta, 1), delta_recalled(k, beta, 2)
    print(f"{name}, beta = {beta}: once {once:.2f}, twice {twice:.2f}")


# %%
rng = torch.Generator().manual_seed(0)
drawn = F.normalize(torch.randn(200, 32, 8, generator=rng), dim=-1)
for beta in (0.02, 0.1, 0.2, 0.3, 0.4, 1.0):
    print_recalled("32 keys", drawn, beta)
straight = torch.linalg.qr(drawn[:, :8]).Q  # (200, 8, 8)
print_recalled("8 keys at right angles", straight, 1.0)

# %% [markdown]
# With $\beta = 1$ the first round might as well not have happened, and yet both columns are bad, since each write spoils the others. Keys at right angles, which spoil nothing, are all read correctly (last line). With a small $\beta$ little is spoiled, but the old values stay. Twice, something between the two is best. The trained layers recall more once (0.82) and about as much twice (0.56). They also compute $\beta$ from each token and have learned their keys and values, and either may be what helps.
#
# Is a state worse than a window, then? Compare a window that stores equally many numbers, the gray line of the figure in section 14.6:

# %%
known = 64 * shares("once", "linear")[:, -1].mean().item()
print(f"a window of 512 numbers: {512 // (8 + 64)} pairs of 64, the state: {known:.0f}")

# %% [markdown]
# The state recalls far more than a window of its size. That depends on the sizes, though. (And a window gives back the whole value, while the state only lets you tell which of 128 it was.) A pair takes $d_k + d_v$ numbers in a window, while a state has $d_k \cdot d_v$ in all. By that count it gains where both are large. We compared them at one size only, and exercise 14.9 shows that the count isn't everything. And a cache can grow with what it has to remember, which a state can't. Where keys come once, all three rules recalled equally much. When a key comes back, or there are too many, the rule decides *which* values stay.
#
# *More on this: "Leave them out yourself" has the code of that experiment, "Larger keys, longer training" and "As far apart as possible" try what could help, and exercise 14.10 is an experiment of your own.*

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **The memory** of explicit attention grows with $L^2$ in training, and with $L$ while a model writes.
# 2. **In blocks** the result is the same. The backward pass computes the weights again from one number for each query, and the mean it needs is the dot product of the output and its gradient.
# 3. **A window** keeps the cache at a fixed size. Lesson 12's model reads on about as well as before, and a window of 64 costs it about 4 % more bits on its kind of text.
# 4. **Without a softmax** the past is a matrix. A table, chunks or single steps all give the same output.
# 5. **Decay** forgets by age, and the **delta rule** replaces what's under a key.
# 6. **A state** recalled nearly all pairs while they were few, and then a smaller and smaller share, because pairs with overlapping keys get mixed up. A softmax with a cache recalled all pairs, but not their order. With decay, the softmax recalled the order too.
#
# | way | kept while writing | work for $L$ tokens | what it loses |
# |---|---|---|---|
# | in blocks | $L$ keys and values | $\sim L^2$ | nothing |
# | window of $w$ | $w$ keys and values | $\sim L\,w$ | what its layers no longer reach |
# | state | $d_k \cdot d_v$ numbers a head | $\sim L\,d_k d_v$ | pairs whose keys overlap get mixed up |
#
# Many published models mix them ("Layers of several kinds").

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $\ell_i$ | logarithm of a query's sum of exponentials | `(B, H, L)` |
# | $o_i$, $\bar o_i$ | output, its gradient | `(B, H, L, d_v)` |
# | $S$ | state | `(d_k, d_v)` for each head |
# | $\alpha$ (decay), $\beta$ | what is left of the state, how much is replaced | a number for each position |
# | window, sinks | latest and first positions that are kept | whole numbers |

# %% [markdown]
# ## Check yourself
# *Core · 3 minutes*
#
# <details><summary>1. The backward pass in blocks needs the weights. Which single number does the forward pass keep for each query, and how do the weights come back?</summary>
#
# **The logarithm of its sum of exponentials.** A weight is the exponential of its score minus that number, and the scores are computed again from queries and keys.
# </details>
#
# <details><summary>2. A model with a window of 512 writes 20,000 characters. Which angle does the key of the oldest position in the window get?</summary>
#
# **That of the first place in the cache.** Keys are kept unturned, and turned to their place among those that are kept. The distance to the query is at most 511, as in training.
# </details>
#
# <details><summary>3. Two keys are at right angles, and then the first comes again. What does each rule (add, decay, delta with β = 1) do to the second one's value?</summary>
#
# **Add and delta leave it as it is**, because the two keys have a dot product of 0. **Decay shrinks it**, as it shrinks everything.
# </details>
#
# <details><summary>4. A state of 8 × 64 numbers holds 64 pairs. Which of the other pairs are most likely to make it answer wrongly?</summary>
#
# **Those whose keys have a large positive product with the key that's asked for.** They push their own values forward in what is read.
# </details>
#
# *Everything below is more.*

# %% [markdown]
# ## Leave them out yourself
# *More · 3 minutes*
#
# Section 14.7 blames the other pairs of the same text. If that's right, a wrong answer should be the value of another pair. Here is the layer that was trained above for 400 updates:

# %% tags=["nbval-ignore-output"]
keys, values, right = recall.make_batch(256, 64, torch.Generator().manual_seed(7))
with torch.no_grad():
    said = live(keys, values)[:, 64:].argmax(dim=-1)  # (256, 16)
wrong, in_text = said != right, (said[..., None] == values[:, None, :64]).any(dim=-1)
print(f"right: {(~wrong).float().mean():.2f}; of its wrong answers")
print(f"{in_text[wrong].float().mean():.0%} are in the text, by chance", end=" ")
print(f"{1 - (127 / 128) ** 63:.0%}")


# %%
def right_without(places):
    """Share of right answers if the pairs at these places aren't there, by question."""
    some_values = values[:, None, :64].repeat(1, 16, 1)  # (256, 16, 64)
    some_values.scatter_(2, places, recall.SYMBOLS)  # these write nothing
    some_values = torch.cat((some_values, values[:, 64:, None]), dim=2)
    some_keys = keys[:, None, :64].expand(256, 16, 64)
    some_keys = torch.cat((some_keys, keys[:, 64:, None]), dim=2)  # (256, 16, 65)
    with torch.no_grad():
        logits = live(some_keys.flatten(0, 1), some_values.flatten(0, 1))[:, -1]
    return (logits.argmax(dim=-1).view(256, 16) == right).float().mean().item()


# %% tags=["nbval-ignore-output"]
with torch.no_grad():
    made = live.key_of.weight  # (128, 64), the embeddings of all keys
    q, k = live.q_proj(made), F.normalize(live.k_proj(made), dim=-1)  # (128, 8) each
reads = q @ k.T / (q * k).sum(dim=-1, keepdim=True)  # (128, 128), its own key counts 1
product = reads[keys[:, 64:, None], keys[:, None, :64]]  # (256, 16, 64)
overlap = product.abs()
asked = keys[:, 64:, None] == keys[:, None, :64]
given = (said[..., None] == values[:, None, :64]) & ~asked  # pairs with the value said
of_said = product.masked_fill(~given, -math.inf).amax(dim=-1)[wrong & in_text]
share = (of_said > 0).float().mean()
print(f"of the wrong answers in the text {share:.0%} have a", end=" ")
print(f"positive product, on average {of_said.mean():.2f}")
drawn = torch.rand(overlap.shape, generator=torch.Generator().manual_seed(8))

# %% tags=["nbval-ignore-output"]
orders = {"that overlap most": overlap, "drawn at random": drawn}
orders |= {"that overlap least": -overlap, "that are most positive": product}
orders |= {"that are most negative": -product}
out = {name: order.masked_fill(asked, -math.inf).topk(16, dim=-1).indices
       for name, order in orders.items()}
for name, places in out.items():
    print(f"right without the 16 other pairs {name}: {right_without(places):.2f}")
positive = out["that are most positive"]
left = drawn.masked_fill(asked, -math.inf).scatter(2, positive, -math.inf)
more = {"16 drawn from the rest": left.topk(16, dim=-1).indices}
more["16 most negative"] = out["that are most negative"]
for name, places in more.items():
    without = right_without(torch.cat((positive, places), dim=-1))
    print(f"without the 16 most positive and {name}: {without:.2f}")

# %% [markdown]
# Nearly every mistake is a value that this text gave to another key. A layer that only guessed among these would do that too. But then not much less than half of them would have a negative product, and nearly none does. So another value has been pushed forward. After 400 updates, leaving pairs out gives the picture of section 14.7. And the last two rows show what negative overlaps do. Once the most positive ones are gone, leaving out the most negative ones as well helps more than leaving out as many of the rest at random.

# %% [markdown]
# ## Larger keys, longer training
# *More · 2 minutes*
#
# Exercise 14.9 has some of these numbers for linear attention. Here are more of them, for texts of 64 pairs. Keys come once unless it says "twice":

# %%
for kind in ("linear", "delta"):
    for d_k in (4, 8, 16, 32):
        right = shares("once", kind, d_k)[:, -1]
        spread = f"{right.min():.2f} to {right.max():.2f}"
        print(f"{kind}, d_k = {d_k}: {right.mean():.2f} ({spread})")
right = shares("once", "linear", d_model="128")[:, -1]
print(f"linear, d_k = 8, values of size 128: {right.mean():.2f}")
for setting in ("once linear", "once decay", "once delta", "twice softmax"):
    task, kind = setting.split()
    long = shares(task, kind, updates=10_000)[0, -1]
    short = shares(task, kind)[0, -1]
    print(f"{setting}: {short:.2f}, after 10 times the updates {long:.2f} (one seed)")

# %% [markdown]
# With larger keys, and so a larger state, both rules recall more. Larger values help as well, but less than larger keys in a state of as many numbers. (With them the embeddings are twice as large, too.) Ten times the training adds a few hundredths at most, even to the softmax that can't tell which of two values came later.

# %% [markdown]
# ## As far apart as possible
# *More · 5 minutes*
#
# How far apart can keys be? Of $n$ directions in $d$ dimensions the squared dot products can't average less than $\frac{n - d}{d\,(n - 1)}$ (Welch, 1974). That holds for products of queries with keys, too, if each query has 1 with its own key. Such a table has ones on its diagonal, so its trace is $n$. Its rank is at most $d$, so by Cauchy and Schwarz $n^2$ is at most $d$ times the sum of its squares. Here is the layer from "Leave them out yourself":

# %% tags=["nbval-ignore-output"]
print(f"mean square {(reads.square().sum() - 128) / (128 * 127):.3f},", end=" ")
print(f"least possible {120 / (8 * 127):.3f}, at random {1 / 8:.3f}")

# %% [markdown]
# The trained keys are nearly there, and random ones aren't far. So as long as a key counts 1 in its own read, and values are independent with mean 0, the average error of a read is about as small as it can be.
#
# That bounds the error and not the recall. An answer is wrong where another value gets a larger product with what is read. Let values have length 1. Then the right one gets about 1, and the value of a pair $j$ of the same text gets
#
# $$(k_i S)\, v_j^\top = k_i k_j^\top + \text{noise} .$$
#
# The noise comes from all other pairs. With random keys and values its standard deviation is about $\sqrt{N / (d_k d_v)}$, here 0.35, and 0.25 with values of size 128. Larger values make less noise, and larger keys make less noise and smaller overlaps. So both should help, keys more. Let's see, with keys and values drawn at random, each read compared with all 128 values:


# %%
def keys_at_random(d_k, rng):
    """For each of 100 texts 64 keys of length 1."""
    return F.normalize(torch.randn(100, 64, d_k, generator=rng), dim=-1)


def compared(k, d_v, rng):
    """What all 128 values get, nothing trained; and which one is right."""
    values = F.normalize(torch.randn(128, d_v, generator=rng), dim=-1)
    right = torch.randint(0, 128, k.shape[:2], generator=rng)
    return k @ (k.mT @ values[right]) @ values.T, right  # (texts, pairs, 128)


def share_right(found, right):
    return (found.argmax(dim=-1) == right).float().mean().item()


# %%
for d_k, d_v in ((8, 64), (16, 64), (8, 128)):
    rng = torch.Generator().manual_seed(1)
    found = compared(keys_at_random(d_k, rng), d_v, rng)
    print(f"d_k = {d_k}, d_v = {d_v}: {share_right(*found):.2f} are right")

# %% [markdown]
# The three rank as in the trained layers, only lower.
#
# Do larger values help against a rival whose key is near? Here is how often a pair of the same text beats the right value, by the dot product of its key with the one that's asked for:

# %%
for d_v in (64, 128):
    rng = torch.Generator().manual_seed(1)
    k = keys_at_random(8, rng)
    found, right = compared(k, d_v, rng)
    own = found.gather(-1, right[..., None])  # (texts, pairs, 1)
    theirs = found.gather(-1, right[:, None].expand(-1, 64, -1))  # a pair's of each
    other, overlap = right[..., None] != right[:, None], k @ k.mT
    for low in (0.4, 0.6, 0.8):
        near = (low <= overlap) & (overlap < low + 0.2) & other
        share = (theirs > own)[near].float().mean().item()
        print(f"d_v = {d_v}, {low} to {low + 0.2:.1f}: in {share:.0%} of the cases")

# %% [markdown]
# The nearer the rival, the smaller the part of these cases that larger values avoid. Its head start stays, and only the noise gets smaller.
#
# And would keys help that are arranged better than at random? In 8 dimensions there are 120 lines of which no two have a product above $\frac12$, up to the sign. They belong to the lattice $E_8$, and the mean of their squared products is exactly the least possible:

# %%
signs = torch.cartesian_prod(*[torch.tensor([1.0, -1.0])] * 8)[:128]
halves = signs[signs.prod(dim=1) > 0] / 2  # (64, 8), an even number of minus signs
unit = torch.eye(8)
twos = [unit[i] + s * unit[j] for i in range(8) for j in range(i) for s in (1, -1)]
lines = F.normalize(torch.cat([halves, torch.stack(twos)]), dim=-1)  # (120, 8)
overlaps = (lines @ lines.T)[~torch.eye(120, dtype=torch.bool)]
mean = overlaps.square().mean()
print(f"at most {overlaps.abs().max():.2f}, mean square {mean:.4f},", end=" ")
print(f"least possible {112 / (8 * 119):.4f}")

# %%
for d_v in (64, 128):
    rng = torch.Generator().manual_seed(1)
    drawn = [lines[torch.randperm(120, generator=rng)[:64]] for _ in range(100)]
    best = share_right(*compared(torch.stack(drawn), d_v, rng))
    usual = share_right(*compared(keys_at_random(8, rng), d_v, rng))
    print(f"d_v = {d_v}: {best:.2f} are right, with random keys {usual:.2f}")

# %% [markdown]
# Even so they recall no more than random ones. Of the other 119 lines 56 have a product of $\tfrac12$ or $-\tfrac12$ with a given one, and 63 have 0. So there are no very near rivals, but many at one half, and the mean of the squares, and so the noise, is hardly smaller (0.118 against 0.125).

# %% [markdown]
# ## Which learning rate
# *More · 2 minutes*
#
# A rule may look bad only because its rate doesn't suit it. So each kind was first trained with four rates on two tasks, one with keys that come once and one with keys that come twice. These trainings have two seeds that the figure of section 14.6 doesn't use. We took the rate with the most right answers:

# %%
rates = "0.003", "0.01", "0.03", "0.1"
print(f"{'share of right answers':22}", *(f"{rate:>6}" for rate in rates))
for kind in kinds:
    means = []
    for rate in rates:
        choice = {"part": "choice", "rate": rate}
        both = [shares(task, kind, **choice) for task in ("once", "twice")]
        means.append(torch.cat(both).mean())
    print(f"{kind:22}", *(f"{mean:6.4f}" for mean in means))

# %% [markdown]
# For decay that's 0.01, for the softmax 0.1, and for the other three 0.03. (For the softmax every rate does equally well, so it doesn't matter that the best lies at the edge.) With 0.1 decay learns nothing (a training broke off, as a decay became exactly 0, and counts as 0), and delta does much worse. The rates were chosen at this size and serve the other sizes too. And using one rate for every kind can mislead you. These are the shares for 64 pairs and keys that come once, with 0.003:

# %%
for kind in ("linear", "decay", "delta"):
    right = shares("once", kind, part="choice", rate="0.003")[:, -1].mean()
    print(f"{kind:6} {right:.2f}")

# %% [markdown]
# With that rate and these texts alone we'd have called the delta rule the worst of the three.

# %% [markdown]
# ## One decay for all
# *More · 2 minutes*
#
# Where keys come twice, decay gets only 0.78 of the questions right even with four pairs. One decay has two conflicting jobs. The older value of a key should be gone soon, and the pairs of a long text should stay. If that's the reason, a layer that only ever sees four pairs should do better:

# %% tags=["nbval-ignore-output"]
rng = torch.Generator().manual_seed(3)
keys, values, _ = recall.make_batch(256, 4, rng, twice=True)
how = {"twice": True, "steps": 1000, "every": 1000, "rate": 0.01}
((_, alone),) = recall.train("decay", 0, pairs=(4,), **how)
with torch.no_grad():
    tokens = alone.key_of(keys) + alone.value_of(values)  # (256, 20, 64)
    decays = alone.gate(tokens)[:, :4].sigmoid()  # of the pairs
right = recall.accuracy(alone, 4, twice=True)
print(f"trained on 4 pairs: {right:.2f} right", end=", ")
print(f"decays {decays.mean():.2f} on average", end=" ")
print(f"({torch.tensor(4.0).sigmoid():.2f} before training)")

# %% [markdown]
# It does, and training has made its decays much smaller than they began. That's most of the way to the 0.99 of the delta rule. (One seed.) Could the reason be that it saw more texts of four pairs? Here is the mixed training with ten times as many updates:

# %%
short = shares("twice", "decay")[:, 0].mean()
long = shares("twice", "decay", updates=10_000)[0, 0]  # one seed
print(f"of 4 pairs, mixed training: {short:.2f}, after 10,000 updates {long:.2f}")

# %% [markdown]
# So more training doesn't help. Training only on short texts helps. (Softmax with decay gets everything right in the mixed training. We haven't tested why it can manage with one decay for all lengths.)

# %% [markdown]
# ## What blocks cost
# *More · 3 minutes*
#
# The backward pass in blocks computes the scores once more. That makes five products of matrices instead of four. On a GPU this form is faster all the same. Dao et al. explain that by the table, which doesn't have to travel through slow memory (lesson 04, "When you need it"). Without a GPU we can't measure it. On our CPU, how do they compare, with the causal mask and without any mask?


# %%
def with_table(q, k, v, mask):
    return scaled_dot_product_attention(q, k, v, mask)[0]


def seconds_of(attend, mask):
    """Forward and backward at 4,096, the better of two."""
    both = []
    for _ in range(2):
        tensors, started = inputs(4096), time.process_time()
        attend(*tensors, mask).sum().backward()
        both.append(time.process_time() - started)
    return min(both)


# %% tags=["nbval-ignore-output"]
causal = AttentionMask(is_causal=True)
explicit_s = {"causal": seconds_of(with_table, causal)}
explicit_s |= {"causal, as a table": explicit_s["causal"]}
explicit_s |= {"no mask": seconds_of(with_table, None)}
masks = {"causal": causal, "causal, as a table": causal_mask(4096), "no mask": None}
for name, mask in masks.items():
    ratio = explicit_s[name] / seconds_of(attention_in_blocks, mask)
    print(f"{name}: explicit takes {ratio:.1f} times as long as in blocks")
with_mask = explicit_s["causal"] / explicit_s["no mask"]
print(f"explicit: with a mask {with_mask:.1f} times as long as without")

# %% [markdown]
# Without a mask the two take about as long here, though blocks compute more. (The explicit form also has to write and read whole tables. Whether that's what evens it out we haven't measured.) With a causal mask blocks are far ahead. Part of it is that the explicit form pays for the mask (last row), and part is what blocks skip. In the second row they get the same mask as a table of booleans. Then they can't know beforehand which blocks are hidden, compute them all, and read the table as well.

# %% [markdown]
# ## What lies far back
# *More · 3 minutes*
#
# **Why does a window cost so little?** One guess is that this model makes hardly any use of what lies far back, even when it sees it. So take it away altogether. A window of 64 still lets something through from farther back, since each of the four layers looks at what the layer below has collected. If we *cut* the text, nothing earlier gets through. Here the model predicts single characters of the same 11 texts, each from the latest few before it and nothing else:

# %%
rows = [row for row in read_rows("long_contexts") if row["what"] == "cut"]
most = float(rows[-1]["bits"])
for row in rows[:-1]:
    more, wide = float(row["bits"]) - most, 2 * float(row["error"])
    print(f"cut to {row['at']:>3}: {more:+.3f} bits, plus or minus {wide:.3f}")
lost, wide = compare("latest 64", "latest 512")
print(f"a window of 64: {lost:+.3f}, plus or minus {wide:.3f}")

# %% [markdown]
# Cutting costs about as much as the window does. So within these errors we see no sign that what gets through the stack from farther back is of any use. And from 128 characters on there's no measurable gain. (Cut to 256 it does even a little better than with all 512.) The model sees farther back, but hardly uses it.
#
# Could it, if that were worth more? Let's try something that ought to help a lot. The model reads 48 characters that it has read before, word for word. Between the two are up to 300 other characters, so that everything stays within the 512 of its training. How many bits does the copy save, compared with an unrelated text in its place? To see whether it's the copy that helps, or just the words, we also try the same words in another order:

# %%
test, rng = encode_text(documentation_split().test), torch.Generator().manual_seed(0)
starts = torch.randint(len(test) - 300, (3, 200, 1), generator=rng)
text, other = test[starts[:2] + torch.arange(48)]  # (200, 48) each
between = test[starts[2] + torch.arange(300)]  # (200, 300)
shuffled, order = [], random.Random(0)
for row in text:
    words = decode_text(row).split(" ")
    order.shuffle(words)
    shuffled.append(encode_text(" ".join(words)))  # 48 characters again
shuffled = torch.stack(shuffled)


# %%
def bits_after(first, gap):
    """Bits per character of ``text`` for each of 200 texts, after another and a gap."""
    ids = torch.cat((first, between[:, :gap], text), dim=1)  # (200, 96 + gap)
    logits = model(ids)[:, -48:-1].transpose(1, 2)  # (200, V, 47)
    loss = F.cross_entropy(logits, ids[:, -47:], reduction="none")
    return loss.mean(dim=1) / math.log(2)


# %% tags=["nbval-ignore-output"]
gaps, bars, by_text = (0, 16, 100, 300), {}, {}
unrelated = [bits_after(other, gap) for gap in gaps]  # (200,) each
for name, first in (("copy", text), ("same words", shuffled)):
    saved = [a - bits_after(first, gap) for a, gap in zip(unrelated, gaps, strict=True)]
    bars[name] = [(x.mean().item(), 2 * x.std().item() / 200**0.5) for x in saved]
    by_text[name] = saved
    for gap, (mean, wide) in zip(gaps, bars[name], strict=True):
        print(f"{name}, {gap:3} between: {mean:.3f}, plus or minus {wide:.3f}")

# %% tags=["nbval-ignore-output"]
ahead = [a - b for a, b in zip(by_text["copy"], by_text["same words"], strict=True)]
ahead = [(x.mean().item(), 2 * x.std().item() / 200**0.5) for x in ahead]
panels = bars, {"copy minus same words": ahead}


# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(9.6, 3.0, columns=2)
for ax, panel in zip(axes, panels, strict=True):
    for i, (name, found) in enumerate(panel.items()):
        mean, wide = zip(*found, strict=True)
        places = [gap + 3 * i for gap in gaps]  # so that bars don't cover one another
        style = {"fmt": ("o-", "s--")[i], "color": plotting.COLORS[i]}
        ax.errorbar(places, mean, yerr=wide, capsize=3, label=name, **style)
    ax.axhline(0, color="0.6", lw=0.8), ax.legend(frameon=False)
    ax.set(xlabel="characters between", ylabel="bits saved per character")
plotting.show(
    axes[0],
    "Left, bits saved by a copy and by its words in another order, both about 0.25 at "
    "first, 0.1 at 100 and hundredths at 300. Right, the difference of the two: above "
    "0 at 16 and at 100, not clearly at 0 or 300. Bars: two standard errors.",
)

# %% [markdown]
# *Bars are two standard errors over 200 texts.* A copy right before saves about a quarter of a bit, and one 300 characters back a tenth of that. But the same words in another order save nearly as much. The copy is ahead by a few hundredths of a bit with 16 characters between, by 0.015 with 100, and not measurably with none or 300. So this model uses something of the words that occurred, or just of their letters, less at a distance, and hardly the order of the words. With this model and this kind of text we can't see much of what a window loses. A task that *needs* the past, such as the recall of section 14.6, would show it.

# %% [markdown]
# ## Places in the cache
# *More · 3 minutes*
#
# A plain window could keep its keys turned to their places in the text, since only distances count. But first positions that are kept get farther away with every step. Here four texts of 1,000 characters are read under two masks. Under both, each query sees the latest 512, and under the second also the first 4, at their true distance. A cache that moves them up comes first:

# %% tags=["nbval-ignore-output"]
test = encode_text(documentation_split().test)
ids = torch.stack([test[i : i + 1000] for i in range(0, 40_000, 10_000)])  # (4, 1000)
cache = model.start_window(4, 512, sinks=4)
moved_up = [model.next_logits(one[:, None], cache=cache) for one in ids[:, :-1].T]
loss = F.cross_entropy(torch.stack(moved_up[600:], dim=2), ids[:, 601:]) / math.log(2)
print(f"{'and the first 4, moved up':26} {loss:.2f} bits from 600 on")
plain = sliding_window_mask(999, window=512)
with_first = plain | sliding_window_mask(999, window=999) & (torch.arange(999) < 4)
for name, mask in (("latest 512", plain), ("and the first 4, far away", with_first)):
    logits = logits_under(mask, ids[:, :-1])[:, 600:].transpose(1, 2)
    loss = F.cross_entropy(logits, ids[:, 601:]) / math.log(2)
    print(f"{name:26} {loss:.2f} bits from 600 on")

# %% [markdown]
# Four keys at distances that the model never saw in training do a lot of harm to these four texts. Moved up to just before the window they do none. Xiao et al. (2023, section 3.2) also turn keys to their places in the cache.

# %% [markdown]
# ## Where a state is faster
# *More · 4 minutes*
#
# A table costs $L^2$ products of vectors, and a state $L$ times $d_k d_v$ multiplications, a few times over. Which is faster for a text that's all there, as in training? Here is the forward pass of four heads of size 64:

# %%
widgets.predict(
    "14.D",
    "From which length on are chunks of 64 faster than PyTorch's softmax attention?",
    choices=["64 or 128", "256 to 1,024", "2,048 or later"],
)

# %% tags=["nbval-ignore-output"]
fused = functools.partial(F.scaled_dot_product_attention, is_causal=True)
ways = {
    "softmax (fused)": fused,
    "one table": lambda q, k, v: (q @ k.mT).tril() @ v,
    "chunks of 64": chunked_form,
    "step by step": recurrent_form,
}

# %% tags=["nbval-ignore-output"]
lengths = [64, 128, 256, 512, 1024, 2048]
took = {name: [] for name in ways}
for length in lengths:
    q, k, v = torch.randn(3, 1, 4, length, 64)
    for name, form in ways.items():
        each = []
        for _ in range(5):
            started = time.process_time()
            form(q, k, v)
            each.append(time.process_time() - started)
        took[name].append(1000 * min(each))

# %% tags=["nbval-ignore-output"]
ax = plotting.new_axes(6.4, 3.4)
curves = {name: torch.tensor(values) for name, values in took.items()}
names = {"xlabel": "length", "ylabel": "ms of processor time (best of 5)"}
plotting.curves(torch.tensor(lengths), curves, ax=ax, **names)
ax.set(xscale="log", yscale="log")
ax.set_xticks(lengths, [f"{n:,}" for n in lengths]), ax.minorticks_off()
ax.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
plotting.show(
    ax,
    "Time by length, logarithmic. One table and the fused softmax rise more steeply "
    "than chunks and steps. Chunks pass the fused softmax between 256 and 1,024.",
)

# %% tags=["nbval-ignore-output"]
for name, values in took.items():
    print(f"{name:16} 512 to 2,048: {values[5] / values[3]:4.1f} times as long")
pairs = zip(took["chunks of 64"], took["softmax (fused)"], strict=True)
faster = [chunks < fused_one for chunks, fused_one in pairs]
first = lengths[faster.index(True)] if any(faster) else 4096
came = "256 to 1,024" if first < 2048 else "2,048 or later"
widgets.came_out("14.D", "64 or 128" if first < 256 else came)

# %% [markdown]
# *Where the curves meet depends on the machine and on how well each form is written.* If only operations counted, a text four times as long would take a full table 16 times as long, and chunks and steps four times. Here chunks and steps stayed much nearer to four, the table took about 16 times as long or more, and the fused softmax less. So operations alone don't explain these times, and we haven't measured what does.
#
# **The delta rule in chunks.** Each write depends on the writes before it, so it looks as if you had to go step by step. But within a chunk that begins with the state $S$, the differences $u_i = \beta_i\,(v_i - k_i S_{i-1})$ solve a triangular system. With $S_{i-1} = S + \sum_{j<i} k_j^\top u_j$ it is one call (Yang et al., 2024, section 3):
#
# $$u_i + \beta_i \sum_{j < i} (k_i k_j^\top)\, u_j = \beta_i\,(v_i - k_i S).$$


# %%
def delta_in_chunks(q, k, v, beta, size):
    state, outputs = torch.zeros(k.shape[1], v.shape[1]), []
    for a, b, c, d in zip(*(x.split(size) for x in (q, k, v, beta)), strict=True):
        system = torch.eye(len(b)) + d[:, None] * (b @ b.T).tril(-1)
        wanted = d[:, None] * (c - b @ state)
        u = torch.linalg.solve_triangular(system, wanted, upper=False)
        outputs.append((a @ b.T).tril() @ u + a @ state)
        state = state + b.T @ u
    return torch.cat(outputs)


# %%
q, k, v = torch.randn(3, 200, 32, generator=torch.Generator().manual_seed(0))
k = F.normalize(k, dim=-1)
beta = torch.rand(200, generator=torch.Generator().manual_seed(1))
by_steps, _ = recurrent_form(q, k, v, beta=beta)
for size in (200, 64):
    same = torch.allclose(delta_in_chunks(q, k, v, beta, size), by_steps, atol=1e-4)
    print(f"chunks of {size} equal 200 steps: {same}")

# %% [markdown]
# ## Split the exponential, nearly
# *More · 4 minutes*
#
# A state needs a weight of the form $\phi(q)\,\phi(k)^\top$, with a **feature map** $\phi$ that is applied to queries and keys alone. Our linear attention takes $\phi(x) = x$, and exercise 14.5 a map that keeps weights positive. How near can one get to the exponential? From its series,
#
# $$e^{qk^\top} = 1 + q k^\top + \tfrac12 (q k^\top)^2 + \dots,$$
#
# the first three terms split, because $(q k^\top)^2 = \sum_{a,b} (q_a q_b)(k_a k_b)$. With $d$ numbers in a key that makes $1 + d + d^2$ features (Arora et al., *Based*, 2024). Or draw vectors $w$ of normally distributed numbers. The mean of $e^{w q^\top - |q|^2/2}\, e^{w k^\top - |k|^2/2}$ over all of them is exactly $e^{qk^\top}$ (Choromanski et al., *Performer*, 2021). Both get 273 features. How far is the output from that of the softmax?


# %%
def by_series(x):
    squares = (x[:, :, None] * x[:, None, :]).flatten(1) / math.sqrt(2)
    return torch.cat((torch.ones(len(x), 1), x, squares), dim=1)  # (L, 1 + d + d * d)


def at_random(x, features=273, seed=0):
    rng = torch.Generator().manual_seed(seed)
    directions = torch.randn(features, x.shape[1], generator=rng)
    return (x @ directions.T - x.square().sum(dim=1, keepdim=True) / 2).exp()


def by_elu(x):
    return F.elu(x) + 1  # Katharopoulos et al., and exercise 14.5


# %%
def off_from_softmax(phi, spread):
    """How far the output is from the softmax's; the spread is that of the scores."""
    q, k, v = torch.randn(3, 256, 16, generator=torch.Generator().manual_seed(0))
    q, k = (x * math.sqrt(spread) / 2 for x in (q, k))
    exact, weights = (q @ k.T).softmax(dim=-1) @ v, phi(q) @ phi(k).T
    output = weights / weights.sum(dim=-1, keepdim=True) @ v
    return ((output - exact).norm() / exact.norm()).item()


# %%
maps = {"elu": [by_elu], "series": [by_series]}
for name, features in (("random", 273), ("many random", 27_300)):  # three draws each
    of = functools.partial(at_random, features=features)
    maps[name] = [functools.partial(of, seed=seed) for seed in range(3)]
print("standard deviation of scores", *(f"{name:>12}" for name in maps))
for spread in (0.25, 0.5, 1, 2):
    tried = [[off_from_softmax(phi, spread) for phi in phis] for phis in maps.values()]
    off = [sum(errors) / len(errors) for errors in tried]
    print(f"{spread:28}", *(f"{x:12.2f}" for x in off))

# %% [markdown]
# (An error of 1 is as bad as an output of 0.) With small scores the series is nearly exact, with 273 features in place of 16. With larger ones it gets worse. On average the *weights* from random features are right, as Choromanski et al. prove (the output, a quotient, isn't). But 273 of them are far too few. A hundred times as many help where scores are small, and hardly where they are large. (Each error of a random map is the mean of three draws.) The map of exercise 14.5, with 16 features, is worse than the series everywhere. It wasn't made to come near the exponential. How far off is the series in each head of lesson 12's model?

# %%
def series_for_softmax(q, k, v, sees):
    """How far off the output of one head is, each (L, d)."""
    q, k = q / q.shape[1] ** 0.25, k / k.shape[1] ** 0.25
    exact = (q @ k.T).masked_fill(~sees, -math.inf).softmax(dim=-1) @ v
    weights = by_series(q) @ by_series(k).T * sees
    nearly = weights / weights.sum(dim=-1, keepdim=True) @ v
    return ((nearly - exact).norm() / exact.norm()).item()


# %%
ids = encode_text(documentation_split().test[:512])[None]  # (1, 512)
sees, x = causal_mask(512)[0, 0], model.embedding(ids)  # (1, 512, d_model)
angles = rotary_angles(torch.arange(512), 32).float()
for number, layer in enumerate(model.layers):
    heads, y = layer.self_attention, layer.attention_norm(x)
    q = split_heads(heads.q_proj(y), 4)  # (1, 4, 512, 32), and below (1, 2, 512, 32)
    k, v = (split_heads(f(y), 2) for f in (heads.k_proj, heads.v_proj))
    q, k = (apply_rope(each, angles.cos(), angles.sin()) for each in (q, k))
    each_head = zip(q[0], repeat_kv(k, 2)[0], repeat_kv(v, 2)[0], strict=True)
    off = [series_for_softmax(*head, sees) for head in each_head]
    print(f"layer {number}: off by", *(f"{error:.2f}" for error in off))
    x = layer(x, causal_mask(512))

# %% [markdown]
# So this map can't take the place of these heads as they are. But a linear layer needn't imitate a softmax. It's trained from the start, so its queries and keys adapt to it.

# %% [markdown]
# ## Layers of several kinds
# *More · 7 minutes*
#
# Many models that were built for long texts mix kinds of layers, a few that look at everything and many that are cheaper. Lieber et al. (Jamba, 2024, section 6) found that a model of states alone did worse at learning from examples in its prompt than the mixture did. We count what a mixture saves, and haven't trained one. (Mistral, with one kind only, is there for comparison.)
#
# | model | layers |
# |---|---|
# | Mistral 7B (2023) | all with a window of 4,096 |
# | Gemma 3 (2025, 4B and larger) | five with a window of 1,024, then one that sees all |
# | gpt-oss (2025) | alternating: a window of 128, then one that sees all, with a learned sink in each head |
# | Jamba (2024) | of every eight, seven with a state (Mamba) and one with attention |
# | MiniMax-01 (2025) | seven linear, then one with a softmax |
# | Qwen3-Next (2025) | three with a gated delta rule, then one with a softmax |
#
# Such a mixture is also called a **hybrid**. What does it save? 48 layers with 8 heads of keys and values of size 128, two bytes a number, and states of 8 heads as well, with four bytes a number:


# %%
def kept_bytes(length, layers):
    """Bytes of caches and states; ``layers`` maps kind -> how many."""
    token = 2 * 8 * 128 * 2  # a key and a value for each of 8 heads
    each = {"all": length * token, "window": min(length, 1024) * token}
    each["state"] = 8 * 128 * 128 * 4  # 4 bytes, as it adds up for so long
    return sum(count * each[kind] for kind, count in layers.items())


# %%
stacks = {
    "all 48 see everything": {"all": 48},
    "5 windows to 1": {"window": 40, "all": 8},
    "3 states to 1": {"state": 36, "all": 12},
    "48 states": {"state": 48},
}
ax, lengths = plotting.new_axes(6.0, 3.4), torch.logspace(2, 6, 41)
for (name, layers), style in zip(stacks.items(), ("-", "--", "-.", ":"), strict=True):
    sizes = [kept_bytes(n, layers) / 2**20 for n in lengths.tolist()]
    ax.loglog(lengths, sizes, style, label=name, color=plotting.COLORS[len(ax.lines)])

# %%
ax.set(xlabel="length", ylabel="MiB kept"), ax.legend(frameon=False)
ax.set_xticks([100, 10_000, 1_000_000], ["100", "10,000", "1,000,000"])
plotting.show(
    ax,
    "MiB by length, both axes logarithmic. With layers that all see everything a "
    "straight line. The mixtures leave it and in the end rise beside it, lower. States "
    "alone stay flat.",
)

# %%
for name, layers in stacks.items():
    sizes = [kept_bytes(n, layers) / 2**20 for n in (1_024, 32_768, 1_000_000)]
    print(f"{name:22}", *(f"{size:10,.0f}" for size in sizes), "MiB")

# %% [markdown]
# For a long text nearly all of the bill is for the layers that see everything. With one such layer in six, the cache shrinks to about a sixth. That's why five windows to one end below three states to one: 8 layers see everything there, and 12 here.

# %% [markdown]
# ## What goes wrong
# *More · 4 minutes*
#
# **Dividing two numbers that have underflowed.** Let $\gamma_i$ be the product of all decays up to position $i$. A value that was written at $j$ has faded to the share $\gamma_i / \gamma_j$ when $i$ reads it. Once both products are too small for a float, this quotient is 0 / 0. The exponential of a difference of logarithms isn't:

# %%
decay = torch.full((400,), 0.7)
gone, faded = decay.cumprod(dim=0), decay.log().cumsum(dim=0)
print("smallest product", gone[-1].item())
print("399 from 398, as a quotient ", (gone[399] / gone[398]).item())
print("399 from 398, by logarithms", (faded[399] - faded[398]).exp().item())

# %% [markdown]
# **Sums that grow.** A softmax gives an average, and a state gives a sum. Without decay or a normalizer the outputs get larger and larger along the text. RetNet and many after it put a norm behind each such layer:

# %%
q, k, v = (x[0, 0].detach() for x in inputs(4096))
mean = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
summed = masked_form(q, k, v)
for place in (16, 256, 4095):
    sizes = f"state {summed[place].std():7.1f}, softmax {mean[place].std():.2f}"
    print(f"position {place:4}: {sizes}")

# %% [markdown]
# (The softmax's mean shrinks about as much here, as random values cancel. But it can't leave the range of the values.)

# %% [markdown]
# **A window without its first positions.** With our model nothing goes wrong. With another model, measure before you throw its sinks away.
#
# **What this lesson leaves out.** One can also stretch positions, so that a longer text fits those of the training (position interpolation, Chen et al., 2023; YaRN, Peng et al., 2023), keep fewer *bits* of each number in the cache, keep short codes from which keys and values are computed again (multi-head latent attention, lesson 07), throw away the positions that got little weight so far, or let each query choose a few blocks to look at (sparse attention). The first extends the reach, and the others cut the bill of section 14.1. And whether a model *uses* a long context takes tests of its own.

# %% [markdown]
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Milakov, Gimelshein, *Online normalizer calculation for softmax*, 2018. Rabe, Staats, *Self-attention Does Not Need O(n²) Memory*, 2021.
# - Dao et al., *FlashAttention*, 2022, algorithms 1 and 4: blocks, and a backward pass that computes the weights again. Dao, *FlashAttention-2*, 2023, section 3.1.
# - Jiang et al., *Mistral 7B*, 2023, section 2: a window, and a cache of fixed size. Xiao et al., *Efficient Streaming Language Models with Attention Sinks*, 2023: why the first tokens matter in large models, and positions within the cache.
# - Gu et al., *When Attention Sink Emerges in Language Models*, 2024. Chen et al., *Extending Context Window of Large Language Models via Positional Interpolation*, 2023. Peng et al., *YaRN*, 2023.
# - Welch, *Lower Bounds on the Maximum Cross Correlation of Signals*, 1974: how far apart directions can be.
# - Katharopoulos et al., *Transformers are RNNs*, 2020: linear attention. Sun et al., *Retentive Network*, 2023: decay, and three forms. Schlag et al., *Linear Transformers Are Secretly Fast Weight Programmers*, 2021: the delta rule.
# - Yang et al., *Parallelizing Linear Transformers with the Delta Rule over Sequence Length*, 2024, and *Gated Delta Networks*, 2024. Dao, Gu, *Transformers are SSMs* (Mamba-2), 2024: states as masked attention.
# - Arora et al., *Zoology*, 2023: recall as the test that tells such layers apart. Choromanski et al., *Rethinking Attention with Performers*, 2021, and Arora et al., *Simple linear attention language models balance the recall-throughput tradeoff* (Based), 2024: feature maps for the exponential. Lin et al., *Forgetting Transformer*, 2025: a softmax with decay.
# - Gemma Team, *Gemma 3 Technical Report*, 2025. Lieber et al., *Jamba*, 2024. MiniMax, *MiniMax-01*, 2025. OpenAI, *gpt-oss model card*, 2025. Qwen Team, *Qwen3-Next*, 2025.

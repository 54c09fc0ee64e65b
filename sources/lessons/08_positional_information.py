# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08 · Positional information
#
# By the end you can tell attention in four ways where its tokens are, test what each way knows, and measure how it does on texts longer than those it was trained on.
#
# {{colab_link}} · short path about 65 minutes with its exercises (45 + 22), everything about 3½ hours · builds on lessons 04 to 07

# %% tags=["setup"]
import math
import sys

import torch
import torch.nn.functional as F
from tqdm import tqdm

from course_utils import attention, diagrams, masks, plotting
from course_utils import positions, pretrained, widgets
from course_utils.kv_cache import KVCache
from course_utils.multi_head import MultiHeadAttention
from course_utils.pretrained.pronunciation import pronounce
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.small_models import places

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# **You will learn to**
#
# 1. show that attention alone doesn't see the order of its tokens;
# 2. write the sinusoidal table, read a position back off it, and say why each wavelength has a sine *and* a cosine;
# 3. write rotary positions (RoPE), say why their scores depend on the distance only, and move keys that are in a cache already;
# 4. say what ALiBi takes off a score, and tell the four kinds of positions apart;
# 5. compare encodings fairly, position by position, with several seeds and beside a guesser who knows no order.

# %% [markdown]
# ## Predict first
# *Core · 2 minutes*
#
# "dog bites man" and "man bites dog" have the same three words. Self-attention with fixed random matrices reads both sentences. We look at its output for "bites".

# %%
widgets.predict(
    "8.A",
    "Is the output for 'bites' the same vector in both sentences?",
    choices=["the same", "another one"],
)

# %%
rng = torch.Generator().manual_seed(0)
embedding = {word: torch.randn(8, generator=rng) for word in ("dog", "bites", "man")}
W_q, W_k, W_v = torch.randn(3, 8, 8, generator=rng) / 8**0.5  # (d_model, d_model) each

outputs = []
for sentence in ("dog bites man", "man bites dog"):
    x = torch.stack([embedding[word] for word in sentence.split()])  # (L=3, d_model=8)
    output, _ = attention.scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v)
    outputs.append(output[1])
    print(sentence, "-> bites:", output[1, :5])
same = torch.allclose(*outputs, atol=1e-6)
widgets.came_out("8.A", "the same" if same else "another one")

# %% [markdown]
# The weights come from the words alone, and a weighted sum doesn't care about the order of its terms. Attention can't tell who bites whom.

# %% [markdown]
# ## 8.1 Attention doesn't see the order
# *Core · 6 minutes*
#
# That's true of any reordering. Let $X$ have one token per row, shape $(L, d_{model})$, and let $P$ be a **permutation matrix**, shape $(L, L)$, so that $P X$ has the same rows in another order and $P^\top P = I$.
#
# 1. The scores become $(P X W_q)(P X W_k)^\top = P S P^\top$, where $S$ are the scores of $X$. Rows and columns move, and no number changes.
# 2. The softmax works on each row by itself, so the weights are $P A P^\top$.
# 3. The output is $P A P^\top \, P X W_v = P \, (A X W_v)$.
#
# $$f(P X) = P f(X)$$
#
# The outputs are reordered as the inputs were, and that's all. This is called **permutation equivariance**, and whole encoders have it, too. The model of lesson 11 reads letters and says sounds. We give it three anagrams, first as it is, then with the positions taken out of its encoder.

# %% tags=["nbval-ignore-output"]
anagrams = ["listen", "silent", "enlist"]
model = pretrained.load("transformer").eval()
for word, sounds in zip(anagrams, pronounce(model, anagrams), strict=True):
    print(f"{word}: {' '.join(sounds)}")

for layer in model.encoder_layers:
    layer.self_attention.rotary = None  # its positions act here; section 8.5
blind = pronounce(model, anagrams)
for word, sounds in zip(anagrams, blind, strict=True):
    print(f"{word} without positions: {' '.join(sounds)}")
assert blind[0] == blind[1] == blind[2]

# %% [markdown]
# Now all three sound the same, and they must. The decoder gets the same vectors each time, in another order.
#
# **And with a causal mask?** A mask belongs to places and not to tokens, so each query sees only itself and what came before. One layer still doesn't see in what order that came. We shuffle the past of the last token, and compare each token's output before and after.

# %%
torch.manual_seed(0)
layer = MultiHeadAttention(12, 4)
x, causal = torch.randn(2, 7, 12), masks.causal_mask(7)  # (B, L, d_model), (1, 1, L, L)
shuffled = torch.cat([torch.randperm(6), torch.tensor([6])])  # the last token stays
with torch.no_grad():
    change = layer(x[:, shuffled], mask=causal) - layer(x, mask=causal)[:, shuffled]
moved = change.abs().amax(dim=(0, 2))  # (7,)
print(f"the last token's output moves by {moved[6]:.4f}")
print(f"each shuffled token's output moves by {moved[:6].min():.2f} or more")
assert moved[6] < 1e-5

# %% [markdown]
# Positions have to be *put in*. You can add something to the embeddings (8.2 to 8.4), turn the queries and keys (8.5), or add something to the scores (8.6).

# %% [markdown]
# ## 8.2 Sines and cosines
# *Core · 9 minutes*
#
# Adding the plain number 0, 1, 2 and so on would soon drown the embedding. A clock does better. Its hands never leave the dial, and several hands of different speeds tell many more times apart than one.

# %%
plotting.show(diagrams.clock_hands([0, 1, 2, 10, 100, 1000], 8))

# %% [markdown]
# *Four clocks for a vector of size 8. The first hand is fast and has come round by position 10, while the last one has hardly moved at 100. No two rows are alike.* For each hand we write down where it points, a sine and a cosine. Pair $i$ of the vector $p_{pos}$ is
#
# $$p_{pos,\,2i} = \sin(pos \cdot \omega_i), \qquad p_{pos,\,2i+1} = \cos(pos \cdot \omega_i), \qquad \omega_i = 10000^{-2i/d_{model}},$$
#
# with $pos = 0, 1, \dots$ and $i = 0, \dots, d_{model}/2 - 1$. Here $\omega_i$ is the speed of hand $i$ in radians per position, and $2\pi/\omega_i$ is its **wavelength**, the number of positions until it comes round. For $d_{model} = 4$ we have $\omega_0 = 1$ and $\omega_1 = 10000^{-2/4} = 1/100$, so position 1 is $(\sin 1, \cos 1, \sin 0.01, \cos 0.01) = (0.84, 0.54, 0.01, 1.00)$. These vectors are as long as an embedding and are added to it.

# %%
def table_loop(num_positions, d_model):
    table = torch.zeros(num_positions, d_model)
    for pos in range(num_positions):
        for i in range(d_model // 2):
            angle = pos * 10000 ** (-2 * i / d_model)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table


print(table_loop(2, 4))

# %% [markdown]
# **Do exercise 8.1 now (10 minutes, {{exercises_link}}), then read on.** It goes the other way, from inexact vectors back to positions. Below we use the library's table.

# %%
def sinusoidal_table(num_positions, d_model):
    return positions.SinusoidalPositions(d_model, max_len=num_positions).table


assert torch.allclose(sinusoidal_table(50, 12), table_loop(50, 12), atol=1e-5)

# %% [markdown]
# **Why a sine *and* a cosine?** Going $\delta$ positions on turns hand $i$ by $\delta\,\omega_i$, *wherever it was before*, and a matrix can turn an arrow. So there is one fixed matrix $M_\delta$ for each $\delta$, shape $(d_{model}, d_{model})$, with
#
# $$p_{pos + \delta} = M_\delta \, p_{pos} \qquad \text{for every } pos .$$
#
# A sine alone doesn't say where the hand goes next, since a rising and a falling hand may have the same one. We let least squares find the *best* matrix for going three positions on. With sines and cosines it should make no error. And with sines alone?

# %%
widgets.predict(
    "8.B",
    "With sines alone: how large is the typical error, in percent of the sines' size?",
    between=(0, 100),
    step=5,
)

# %%
def best_shift_error(features, delta=3):
    """Typical error of the best matrix, found by least squares, over typical size."""
    before, after = features[:-delta], features[delta:]
    M = torch.linalg.lstsq(before, after).solution  # (d, d)
    return ((before @ M - after).norm() / after.norm()).item()


table = sinusoidal_table(200, 12).double()  # (200, 12)
sines = best_shift_error(table[:, 0::2])
print(f"sines and cosines: {best_shift_error(table):.3f}   sines alone: {sines:.3f}")
widgets.came_out("8.B", 100 * sines)

# %% [markdown]
# ## 8.3 What the rotation gives a score
# *More · 6 minutes*
#
# **Exercise 8.2 (15 minutes)** asks you to find $M_\delta$. Since it's one fixed matrix, projections can learn "three places on", up to their rank. A head's scores are $x_m W_q W_k^\top x_n^\top$, and the rank of $W_q W_k^\top$ is at most $d_{head}$, while $M_\delta$ moves all $d_{model}$ features. That's room for $d_{head}/2$ of the pairs.

# %%
W_q, W_k = torch.randn(2, 32, 8, generator=torch.Generator().manual_seed(0))
print("rank of M_3:", torch.linalg.matrix_rank(positions.shift_matrix(3, 32)).item())
print("rank of W_q W_k^T:", torch.linalg.matrix_rank(W_q @ W_k.T).item())  # d_head = 8

# %% [markdown]
# For one pair, $\sin a \sin b + \cos a \cos b = \cos(a - b)$. Summed over the pairs, with $m$ and $n$ for two positions,
#
# $$p_m \cdot p_n = \sum_i \cos\big(\omega_i \, (m - n)\big) ,$$
#
# which depends on the **distance** $m - n$ only. But a score isn't $p_m \cdot p_n$. The tokens $x$ are in the sum too, and projections come in between, as in $\big((x_m + p_m) W_q\big) \cdot \big((x_n + p_n) W_k\big)$. Does the score of a query and a key stay the same if both move by 100 positions? We try it with and without the two complications.

# %%
rng = torch.Generator().manual_seed(0)
d_model, L, table = 16, 20, sinusoidal_table(200, 16)
W_q, W_k = torch.randn(2, d_model, d_model, generator=rng) / d_model**0.5
x_q, x_k = torch.randn(2, 1, d_model, generator=rng)  # one query's content, one key's


def added_scores(start, W_q, W_k, content):
    p = table[start : start + L]  # (L, d_model)
    return (content * x_q + p) @ W_q @ ((content * x_k + p) @ W_k).T / d_model**0.5

# %%
one = torch.eye(d_model)
cases = {
    "p·p alone": (one, one, 0), "projected": (W_q, W_k, 0), "tokens too": (W_q, W_k, 1)
}
for name, case in cases.items():
    change = (added_scores(100, *case) - added_scores(0, *case)).abs().max()
    print(f"{name:10} largest change of a score when both move by 100: {change:.2f}")

# %% [markdown]
# A model with added positions *can* learn to go by distance, but nothing makes it. RoPE, two sections from here, builds it in. **Exercise 8.4 (15 minutes)** asks you for a test that finds out whether a score goes by distance.

# %% [markdown]
# ## 8.4 Learned positions
# *More · 3 minutes*
#
# Why not let training find the vectors? Take a table of parameters, shape `(max_len, d_model)`, with one row for each position, and add its rows as we added the sines. A row learns only from tokens at its own position. One that never occurs learns nothing, and past the end of the table there is no row at all.

# %%
torch.manual_seed(0)
learned = positions.LearnedPositions(d_model=16, max_len=24)
learned(torch.randn(2, 12, 16)).square().sum().backward()  # sequences of 12 tokens
print("has a gradient:", (learned.table.grad.abs().sum(dim=1) > 0).int().tolist())
try:
    learned(torch.randn(2, 30, 16))
except ValueError as problem:
    print("ValueError:", problem)

# %% [markdown]
# Nothing in this table says that position 5 is between 4 and 6, or that the step from 4 to 5 is the same as the one from 14 to 15.

# %% [markdown]
# ## 8.5 Rotary positions (RoPE)
# *Core · 9 minutes*
#
# If a step is a rotation, why not rotate in the first place? RoPE adds nothing to the embeddings. It takes each *query* and each *key*, one pair of features at a time, and turns it by an angle that belongs to its position. Here is one pair, four times.

# %%
query, key = torch.tensor([1.0, 0.3]), torch.tensor([1.0, -0.1])
plotting.show(diagrams.rotation(query, key, [(3, 1), (9, 7), (14, 12), (9, 4)]))

# %% [markdown]
# *In the first three circles the query is two positions after the key. The angle between the arrows is the same each time, and so is their dot product. In the last circle the distance is different, and so is the score. (The pair shown turns by 0.35 radians per position.)*
#
# Let $R_m$ be the rotation for position $m$, which turns pair $i$ by the angle $m\,\omega_i$, with $\omega_i = \text{base}^{-2i/d_{head}}$. Turning back by $m$ and on by $n$ is turning by $n - m$, so for a query at position $m$ and a key at $n$
#
# $$(R_m q) \cdot (R_n k) = q^\top R_m^\top R_n \, k = q^\top R_{n-m} \, k .$$
#
# Only the **distance** is left, whatever $q$ and $k$ are. For example, $q = (1, 2)$ turned counterclockwise by a quarter is $(-2, 1)$.
#
# Which two features make a pair? The paper takes neighbors, $(2i, 2i+1)$. Much code, and this course, takes one feature from each **half**, $(i, i + d_{head}/2)$. Both are RoPE, as long as queries and keys agree. Here it is for one vector.

# %%
def rope_loop(x, pos, base=10000.0):
    """One vector x, shape (d_head,), at one position."""
    half, turned = len(x) // 2, torch.zeros_like(x)
    for i in range(half):
        angle = pos * base ** (-2 * i / len(x))
        cos, sin = math.cos(angle), math.sin(angle)
        turned[i] = x[i] * cos - x[i + half] * sin
        turned[i + half] = x[i] * sin + x[i + half] * cos
    return turned

# %% [markdown]
# The library's function for all tokens and heads is `apply_rope`. Does a score stay the same if query and key both move by 100?

# %%
def rope(x, pos):
    """x of shape (..., L, d_head), pos of shape (L,)."""
    angles = positions.rotary_angles(pos, x.shape[-1])  # (L, d_head / 2)
    return positions.apply_rope(x, angles.cos(), angles.sin())


q, k = torch.randn(2, 1, 16, generator=torch.Generator().manual_seed(1))  # (1, d_head)
near, far = torch.arange(20), torch.arange(100, 120)
q, k = q.expand(20, -1), k.expand(20, -1)  # (L, d_head): the same at every position
scores, moved = (rope(q, pos) @ rope(k, pos).T / 4 for pos in (near, far))  # (L, L)
assert torch.allclose(rope(q, near)[5], rope_loop(q[5], 5), atol=1e-5)
print(f"largest change of a score: {(moved - scores).abs().max():.4f}")
print("query 5 with keys 3, 4, 5, 6: ", scores[5, 3:7])
print("query 9 with keys 7, 8, 9, 10:", scores[9, 7:11])

# %% [markdown]
# Yes. And RoPE tells left from right. Keys 4 and 6 are equally far from query 5, and their scores differ.
#
# **With a cache** (lesson 07) keys are turned *before* they go in, each by its own position, and stay as they are. A new token's position is the number of tokens before it, which the layer hands to `RotaryPositions` as `start`.

# %%
torch.manual_seed(0)
layer = MultiHeadAttention(16, 2, rotary=positions.RotaryPositions(8, max_len=64))
x, cache = torch.randn(1, 6, 16), KVCache(1, 2, 6, 8)  # batch, heads, room, d_head
with torch.no_grad():
    whole = layer(x, mask=masks.causal_mask(6))  # (B, L, d_model)
    steps = [layer(x[:, t : t + 1], cache=cache) for t in range(6)]  # (B, 1, d_model)
print(f"largest difference {(whole - torch.cat(steps, dim=1)).abs().max():.4f}")
assert torch.allclose(whole, torch.cat(steps, dim=1), atol=1e-5)

# %% [markdown]
# **Do exercise 8.3 now (12 minutes), then read on.** A chat has thrown away part of its cache, and you move the keys that are left.

# %% [markdown]
# ## 8.6 Linear biases (ALiBi)
# *Core · 4 minutes*
#
# The third way takes something off each *score*, and the farther away the key is, the more. For head $h$, a query at $m$ and a key at $n$,
#
# $$\text{score} = \frac{q_m \cdot k_n}{\sqrt{d_{head}}} - \lambda_h \, |m - n| .$$
#
# The **slopes** $\lambda_h$ are fixed. For $H$ heads, $H$ a power of two, $\lambda_h = 2^{-8h/H}$ with $h = 1, \dots, H$, which for $H = 4$ gives $\frac14, \frac1{16}, \frac1{64}, \frac1{256}$. With slope $\frac14$ a key 4 places away loses 1 from its score. Beside the same key at distance 0, its weight is divided by $e \approx 2.7$. Here is what eight slopes do when all tokens have the same content.

# %%
ax = plotting.kept_weights(positions.alibi_slopes(8), 32)
plotting.show(
    ax,
    "What each of the eight slopes 1/2 to 1/256 leaves of a key's weight, by distance. "
    "All begin at 1. The steepest is near 0 after ten places, the flattest keeps most.",
)

# %% [markdown]
# *Steep heads see their neighborhood, flat ones nearly the whole past, and every curve is highest at 0.* Two heads can do more than one, since the output projection may subtract one from the other. Here are the weights of the last of 33 queries in the two steepest heads, one minus the other.

# %%
bias = positions.alibi_bias(8, 33)  # (1, H, L, L)
weights = attention.masked_softmax(bias, masks.causal_mask(33))[0, :, -1].flip(-1)
difference = weights[1] - weights[0]  # (L,): slope 1/4 minus slope 1/2
print("head 1 minus head 0, by distance:", difference[:8])
print("largest at distance", difference.argmax().item())

# %% [markdown]
# The difference is highest some way back, but it's a broad hump and not a single place. Is that enough to find the token three places back? The next section tries it. **Exercise 8.6 (10 minutes, more)** asks for the biases with a cache.

# %% [markdown]
# ## 8.7 Five models, two questions
# *Core · 10 minutes*
#
# Now they all get the same task. A token is a letter with a digit, such as `b2`, and there are two questions at every token.
#
# 1. Which digit came **three tokens ago**? Only the place counts.
# 2. Which digit came with **this letter the last time**? Content *and* recency count.

# %%
tokens, target = places.make_batch(1, 12, torch.Generator().manual_seed(4))
names = [f"{'abcd'[t // 4]}{t % 4}" for t in tokens[0].tolist()]
print(f"{'tokens':17}", *names)
for question, name in enumerate(("three tokens ago", "last with letter")):
    answers = target[0, :, question].tolist()
    print(f"{name:17}", *(" -" if t == places.NOT_ASKED else f" {t}" for t in answers))

# %% [markdown]
# **The landmark.** How well can you do if you know *which* tokens came before, but not in what order? Your best guess is the digit that most of them have (for question 2, most of those with the same letter). Further into the text there is more to choose from, so a curve that rises may only show that the *task* got harder.
#
# The models have **one** causal attention layer with four heads and a small network on each output. They are trained on 12 tokens, positions 0 to 11, for 350 updates, and tested on 96. Only the kind of positions differs. *Learned* adds a table of parameters, a row for each position (section 8.4). Its rows from 12 on keep their random start.

# %%
widgets.predict(
    "8.C",
    "Which ones still find the digit at positions 12 to 23, which no model ever saw?",
    choices=["RoPE alone", "RoPE and sines", "RoPE and ALiBi", "all but the learned"],
)

# %% [markdown]
# The numbers of five seeds come with the course (`python -m experiments by_position` makes them). Here we train the first seed of each kind, to look at its attention, and ALiBi again with ten times as many updates.

# %%
rows = read_rows("by_position")


def measured(encoding, question, updates=350, layers=1, after=None):
    """(seeds, 96): shares wrong at each position, NaN where nothing is asked."""
    wanted = [str(x) for x in (layers, encoding, updates, after or updates, question)]
    fields = ("layers", "encoding", "updates", "after", "question")
    chosen = [row for row in rows if [row[field] for field in fields] == wanted]
    found = [[float(row[i] or "nan") for i in map(str, range(96))] for row in chosen]
    return torch.tensor(found)


# %% tags=["nbval-ignore-output"]
kinds = {name: (name, 350) for name in places.ENCODINGS}
kinds["ALiBi, 3,500 updates"] = ("ALiBi", 3500)
readers = {}
for name, (encoding, updates) in tqdm(kinds.items(), "models", file=sys.stdout):
    *_, readers[name] = places.train(encoding, 0, steps=updates)

# %% [markdown]
# Of each model's heads we show the one that looks three places back the most within the first 12 tokens, a mean over 300 texts.

# %% tags=["nbval-ignore-output"]
tokens, target = places.test_batch(96)  # (n=300, L=96), (n, L, 2)


def three_back(reader):
    """(L, L): mean weights of the head that looks three places back the most."""
    with torch.no_grad(), record_attention(reader) as seen:
        reader(tokens)
    weights = seen["layers.0"].mean(0)  # (H, L, L)
    share = weights[:, :12, :12].diagonal(-3, dim1=1, dim2=2).mean(-1)  # (H,)
    return weights[share.argmax()]

# %% tags=["nbval-ignore-output"]
maps = {name: three_back(reader) for name, reader in readers.items()}
guesses = places.guesser_by_position(96)  # (2 questions, L)
found = {name: measured(encoding, 1, n) for name, (encoding, n) in kinds.items()}
axes = plotting.errors_along(found, guesses[0], trained=12, weights=maps, back=3)
plotting.show(
    axes[0],
    "Question 1 by position, the guesser dashed, a line at 12. Without positions the "
    "error is on the dashed line. Sines are at 0 up to 11, jump above the line at 12 "
    "and dip near 22 and 35. Learned jumps and stays. RoPE is at 0 to about 33, then "
    "climbs past the line. ALiBi is a little below it; after 3,500 updates some seeds "
    "begin near 0. Beneath, attention by distance. Sines, learned and RoPE have a "
    "stripe at 3, which breaks where the error jumps.",
)

# %% [markdown]
# *Upper row: how often question 1 is answered wrongly at each position, the mean of five seeds in a band from the best to the worst. The guesser is dashed, the gray line is where training ended. Lower row: how far back the head looks from there, in the model trained here.*

# %%
print("question 1, share wrong, mean of five seeds and the range they are in")
stretches = {"3-11": (3, 12), "12": (12, 13), "12-23": (12, 24), "24-33": (24, 34)}
stretches.update({"41-95": (41, 96), "3-95": (3, 96)})
print(" " * 20 + "".join(f"{name:>11}" for name in stretches))
longer = {"RoPE, 3,500 updates": measured("RoPE", 1, 3500)}
for name, runs in {**found, **longer}.items():
    cells = [runs[:, a:b].mean(1) for a, b in stretches.values()]  # (seeds,) each
    print(f"{name:20}" + "".join(f"{cell.mean():11.2f}" for cell in cells))
    print(" " * 20 + "".join(f"  {c.min():.2f}-{c.max():.2f}" for c in cells))
line = [f"{guesses[0, a:b].mean():11.2f}" for a, b in stretches.values()]
print(f"{'knows no order':20}" + "".join(line))
finds = [n for n in places.ENCODINGS if found[n][:, 12:24].mean() < 0.1]
widgets.came_out("8.C", "RoPE alone" if finds == ["RoPE"] else " and ".join(finds))

# %% [markdown]
# - **None** follows the dashed line.
# - **Sines** and **learned** positions make no error up to position 11. At 12 they fall off a cliff and do *worse* than the guesser. The stripe at distance 3 breaks there. Sines come back around 22 and 35, in some seeds almost to 0 (section 8.8).
# - **RoPE** finds the token up to about position 33. From 41 on nothing is left. Trained ten times as long it makes a few errors from 22 on, and many from 28 on (section 8.8).
# - **ALiBi** doesn't find it in 350 updates. After 3,500 some seeds do, near the beginning of the text. It's slow, not blind (section 8.8). Far out it's a little below the line, about where *none* will be with only the last 12 keys.
#
# The last column is a mean over the text. RoPE's is below the guesser's, as if it knew something everywhere. It knows everything up to 33 and nothing from 41 on.
#
# **Why does RoPE stop, and why do the sines?** For RoPE "three back" is the same rotation everywhere, so 60 ought to be as easy as 6. What's new at 60 are keys 12 to 60 places back, distances that training never showed. If they draw the attention away, hiding them must help. We let each query see only the last 12 keys, which makes the question easier for every model, *none* included.

# %%
@torch.no_grad()
def wrong_at(reader, mask):
    """(L,): share of wrong answers to question 1, when the mask is ours to choose."""
    x = reader.added(reader.tokens(tokens))  # (n, L, d_model)
    x = x + reader.layers[0](x, mask=mask)
    said = reader.report(x).unflatten(-1, (2, places.DIGITS))[..., 0, :].argmax(-1)
    return (said != target[..., 0]).float().mean(0)


causal, at = masks.causal_mask(96), torch.arange(96)
last_12 = causal & (at[:, None] - at < 12)  # (1, 1, L, L)

# %% tags=["nbval-ignore-output"]
for name in ("RoPE", "sinusoidal", "learned", "none"):
    for said, mask in (("all keys", causal), ("only the last 12", last_12)):
        share = wrong_at(readers[name], mask)[41:].mean()
        print(f"{name:11} positions 41 to 95, {said:17} {share:.2f} wrong")

# %% [markdown]
# The far keys are the cause. With them hidden RoPE makes no error at all, with the weights it had. (Section 8.8 says which of them.)
#
# The learned table gains as much as *none* does and no more. Sines gain more, but they still make errors. At position 11, with as many keys, they make none. Only the vectors here are new to them.
#
# And question 2, where nearer *is* better?

# %% tags=["nbval-ignore-output"]
second = {name: measured(encoding, 2, n) for name, (encoding, n) in kinds.items()}
axes = plotting.errors_along(second, guesses[1], trained=12)
plotting.show(
    axes[0],
    "Question 2 by position. The model without positions is on the dashed line. Sines "
    "and learned rise steeply after 12, RoPE slowly until it meets the line. ALiBi "
    "stays near 0.2 to the end; after 3,500 updates it rises in some seeds.",
)

# %%
print("question 2, positions 41 to 95, share wrong by seed")
for name, runs in second.items():
    print(f"{name:22}", runs[:, 41:].mean(1))

# %% [markdown]
# *ALiBi stays level to the last position, far below all other kinds.* But seeds 0, 2 and 3, which learned question 1 in 3,500 updates or began to, do worse on question 2 far out.
#
# | | where it acts | learned? | a score depends on | beyond training (here) |
# |---|---|---|---|---|
# | sinusoidal | added to the embeddings, once | no | both positions; distance only if training arranges it | a cliff at the first new position, islands further on |
# | learned | added to the embeddings, once | yes, one row for each position | both positions | a cliff; past the table nothing |
# | RoPE | turns queries and keys, in every layer | no | content and distance | few errors to twice the length or more, then nothing; hiding far keys mends it |
# | ALiBi | added to the scores, in every layer | no | content, and less with distance | level where nearer is better; slow to learn a place |
#
# **What this doesn't show.** This is one width, one layer, and two questions made for the purpose. What carries over is the method: a landmark, several seeds, a look at each position, and ten times the updates before you say "can't".

# %% [markdown]
# ## 8.8 Islands, rounds, and slow or blind?
# *More · 14 minutes*
#
# **What makes the islands of the sines?** Clocks come round, so the fast hands are a good guess. We stop some of the sixteen hands from position 12 on, at the hour they show at 6, and see whether the islands survive.

# %% tags=["nbval-ignore-output"]
reader, islands = readers["sinusoidal"], [22, 23, 34, 35]
kept = reader.added.table.clone()  # (L, d_model): pair i is columns 2 i and 2 i + 1
tries = {"no hand": [], "hands 3 to 15": range(3, 16), "hand 0": [0], "hand 1": [1]}
for name, pairs in tries.items():
    reader.added.table.copy_(kept)
    for i in pairs:
        reader.added.table[12:, 2 * i : 2 * i + 2] = kept[6, 2 * i : 2 * i + 2]
    share = wrong_at(reader, causal)[islands]
    print(f"{name:13} stopped, wrong at 22, 23, 34, 35:", share)
_ = reader.added.table.copy_(kept)

# %% tags=["nbval-ignore-output"]
clocks = positions.rotary_angles(at, 32)[:, :3]  # (L, 3): hands 0 to 2
alike = (clocks[:, None] - clocks[3:12]).cos().mean(dim=-1).amax(dim=1)  # (L,)
print("positions", at[[22, 34, 47]], " likeness to one of 3 to 11", alike[[22, 34, 47]])
print("share wrong there           ", wrong_at(reader, causal)[[22, 34, 47]])
print("with only the last 12 keys  ", wrong_at(reader, last_12)[[22, 34, 47]])
for m in (22, 34, 47):
    weight, key = maps["sinusoidal"][m].max(0)
    print(f"from {m}: the largest weight, {weight:.2f}, is on the key {m - key} back")

# %% [markdown]
# With thirteen hands stopped the islands are still there, though less deep. With only hand 0 stopped, or only hand 1, they are gone. So they depend on the fast hands. But why just there? The obvious guess is that at 22 and 34 the three fastest hands look as they do at a position the model knows. The likeness says no. They look more like that at 47, and at 47 there is no island. What fails at 47 is the choice among the keys. Most of the weight goes to a key 15 places back, and with the far keys hidden fewer than half as many answers are wrong. On the islands the right key wins against all the others. Why it wins just there we don't know.
#
# **Where does RoPE look instead?** At position 90 its head should look back by 3.

# %% tags=["nbval-ignore-output"]
back = 90 - maps["RoPE"][90].topk(3).indices  # (3,)
print("from position 90 RoPE's head looks back by", sorted(back.tolist()))
print("3 and 6, 7, 8 rounds of hand 0:", 3 + 2 * math.pi * torch.tensor([6, 7, 8]))

# %% [markdown]
# They're close to 3 plus seven or eight whole rounds of hand 0. To that hand, such a key looks as if it were three back. Is that what misleads the head? Of the keys that are 12 places back or more, we hide the half in which hand 0 is within a quarter turn of "three back". Then we hide the other half instead.

# %% tags=["nbval-ignore-output"]
apart = at[:, None] - at  # (L, L)
like_three = (apart - 3.0).cos() > 0  # hand 0 turns by 1 radian per position
for said, hidden in (("like three back", like_three), ("all others", ~like_three)):
    share = wrong_at(readers["RoPE"], causal & ~(hidden & (apart >= 12)))[41:]
    print(f"far keys hidden, {said:15}: positions 41 to 95, {share.mean():.2f} wrong")

# %%
where = [21, 22, 27, 28, 33, 34, 39, 40, 41]
print("position     ", "  ".join(f"{m:4}" for m in where))
for n in (350, 3500):
    share = measured("RoPE", 1, n).mean(0)[where].tolist()
    print(f"{n:5} updates", "  ".join(f"{one:4.2f}" for one in share))
print("3 and 3, 4, 5, 6 rounds of hand 0:", 3 + 2 * math.pi * torch.arange(3, 7))

# %% [markdown]
# It is. Without the first half of the far keys the model makes hardly an error, and without the other half it's as lost as before. The error by position says the same. In the mean of five seeds it goes up in steps, where a key that is 3 and some whole rounds back comes into view. More training makes this worse. With 3,500 updates four rounds are enough to mislead the head. A training text of 12 tokens has only one such distance, 9. The others never came up. Hand 0 doesn't do it alone, though. Keys 16 and 22 places back look three back to it as well, and after 350 updates they mislead no head. **Exercise 8.9** finds out which hand has to join in.
#
# **Does the learned table fail because its unused rows are so small?** We make them larger and smaller.

# %% tags=["nbval-ignore-output"]
reader = readers["learned"]
rows_kept = reader.added.table.detach().clone()  # (L, d_model)
print(f"typical size of trained rows {rows_kept[:12].std():.2f}, others", end=" ")
print(f"{rows_kept[12:].std():.2f}")
for factor in (0, 1, 5, 25):
    reader.added.table.data[12:] = factor * rows_kept[12:]
    share = wrong_at(reader, causal)[12:24].mean()
    print(f"other rows times {factor:2}: positions 12 to 23 wrong {share:.2f}")
_ = reader.added.table.data.copy_(rows_kept)

# %% [markdown]
# No. Whatever their size, they are the wrong vectors.
#
# **Is ALiBi blind, or slow?** One training length can't tell. Here is its error at positions 3 to 11 in the course of 3,500 updates, and then with 10,500.

# %%
updates = torch.arange(250, 3501, 250)
course = torch.stack(
    [measured("ALiBi", 1, 3500, after=n)[:, 3:12].mean(1) for n in updates.tolist()]
)  # (updates, seeds)
curves = {f"seed {seed}": course[:, seed] for seed in range(5)}
said = "wrong at positions 3 to 11"
ax = plotting.curves(updates, curves, xlabel="updates", ylabel=said)
ax.axhline(guesses[0, 3:12].mean(), color="k", ls="--", lw=1)
ax.set_ylim(0, 0.7)
plotting.show(
    ax,
    "ALiBi's error on question 1, five seeds. None gets far below the guesser's line "
    "in the first 1,500 updates; two then drop to 0.2, a third begins to.",
)

# %%
for layers, n in ((1, 350), (1, 3500), (1, 10500), (2, 3500)):
    print(f"{layers} layer(s), {n} updates")
    print("   question 1 at 3 to 11 ", measured("ALiBi", 1, n, layers)[:, 3:12].mean(1))
    print("   question 2 at 41 to 95", measured("ALiBi", 2, n, layers)[:, 41:].mean(1))

# %% [markdown]
# *There is a long plateau near the dashed line, and then a drop.* With 10,500 updates all five seeds have dropped, and all five do worse on question 2 than after 350. Two layers get further on question 1 with 3,500. ALiBi is slow to learn the place, not blind to it. With one layer it still makes errors after 10,500 updates, and in the figure of section 8.7, after 3,500, they grow with the position. What does such a model look at? We change a single digit and count how often the answer at position 11 changes.

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def depends_on(reader, back, m=11):
    """How often question 1's answer at m changes if the digit so far back does."""
    other = tokens.clone()
    other[:, m - back] += 1 - 4 * (other[:, m - back] % 4 == 3).long()  # 0 1 2 3 0
    said, then = (reader(x)[:, m, 0].argmax(-1) for x in (tokens, other))
    return (said != then).float().mean().item()


print("places back                 ", "  ".join(f"{back:4}" for back in range(9)))
for name in ("RoPE", "ALiBi, 3,500 updates"):
    shares = [depends_on(readers[name], back) for back in range(9)]
    print(f"{name:20} changes", "  ".join(f"{share:4.2f}" for share in shares))

# %% [markdown]
# RoPE's answer hangs on one digit. ALiBi's hangs most on the right one, and on its neighbors too. It has learned a neighborhood and not a place, like the hump of section 8.6.

# %% [markdown]
# ## 8.9 Do RoPE's scores fall with the distance?
# *More · 8 minutes*
#
# RoFormer's abstract names flexibility of the sequence length among RoPE's properties. In section 8.7 RoPE was flexible in that way as long as no far key misled it. The abstract also lists "decaying inter-token dependency with increasing relative distances". We measure that with 2,000 random queries of size 64 and three kinds of keys. The first are the queries themselves, the second are the queries turned by three positions, and the third are other vectors, which have nothing to do with the queries.

# %%
widgets.predict(
    "8.D",
    "For which of the three kinds of keys is the score smaller far away than near 0?",
    choices=["all three", "the first two", "only the first", "none"],
)

# %%
rng, d_head, gap = torch.Generator().manual_seed(2), 64, torch.arange(0, 61)
q, other = torch.randn(2, 2000, 1, d_head, generator=rng)  # (n, 1, d_head) each
turned_q = rope(q, torch.tensor([60]))  # every query stands at position 60


def by_distance(k, extra=0):
    """(n, 61): scores of keys that stand 0 to 60 places behind the query."""
    behind = rope(k.expand(-1, 61, -1), 60 - gap + extra)  # (n, 61, d_head)
    return (behind @ turned_q.mT)[..., 0]

# %%
shown = {
    "k = q, mean": by_distance(q).mean(0) / d_head,
    "k = q turned by 3, mean": by_distance(q, extra=3).mean(0) / d_head,
    "another k, typical size": by_distance(other).square().mean(0).sqrt() / d_head**0.5,
}
table = sinusoidal_table(61, d_head)  # (61, d_head): the positions of section 8.2
dot = (table @ table[60]).flip(0) / (d_head / 2)  # (61,): p_60 with p_60, p_59, ...
print("distance        ", gap[::20].tolist())
print("k = q, measured ", shown["k = q, mean"][::20])
print("p·p / (d / 2)   ", dot[::20])

# %%
ax = plotting.new_axes(7.4, 3.4)
xlabel, ylabel = "distance m - n", "score, scaled"
plotting.curves(gap.float(), shown, xlabel=xlabel, ylabel=ylabel, ax=ax)
ax.axvline(3, color="0.8", lw=1, zorder=0)
ax.set_ylim(0, 1.3)
ax.legend(frameon=False, fontsize=9, loc="upper right", ncols=3)
plotting.show(
    ax,
    "Scores by distance. For a key like the query the mean falls from 1 at distance 0 "
    "in waves; for a key turned by three the peak is at distance 3; for another key "
    "the typical size stays at 1 at every distance.",
)
widgets.came_out("8.D", "the first two")

# %% [markdown]
# *One curve falls, in waves, the second is the first one moved by three, and the third is flat.* You've met the first curve before. In the mean over random vectors, RoPE's score of a key with an equal query is exactly the $p_m \cdot p_n$ of section 8.3, divided by the number of pairs. The last two lines of the printout are that sum and its estimate from 2,000 draws. On average, then, the decay is there where the key is like the query. Near 0 all pairs point the same way, and further off they disagree. But far keys don't count less as a rule. Keys unlike the query score as strongly at distance 60 as at 0.
#
# The second curve is how a head can look *three places back*. Queries and keys need a part that's the same for every token, and the key's part is turned against the query's by three steps. The biases of the projections could supply it. Do they, in the model of section 8.7? We set them to 0.

# %% tags=["nbval-ignore-output"]
reader = readers["RoPE"]
with torch.no_grad():
    for projection in (reader.layers[0].q_proj, reader.layers[0].k_proj):
        projection.bias.zero_()
print(f"without biases, 3 to 11: {wrong_at(reader, causal)[3:12].mean():.2f} wrong")

# %% [markdown]
# It doesn't need them. Its queries and keys are now made from the token vectors alone, which must have such a part in common.

# %%
viewer = widgets.position_viewer()
viewer.show_first_state(
    "Left: the sinusoidal table of 64 positions and 32 features as a heatmap, position "
    "20 marked. Right: how alike position 20 is to all others, 1 at 20 itself and "
    "falling in waves to both sides."
)

# %% [markdown]
# *This is the first state of the widget below, for readers without a kernel. Move the position, and the curve on the right keeps its shape. Switch to RoPE and turn the key by 3, and the stripe moves off the diagonal. Switch to ALiBi and go through the heads. The base is 100 here, so that all hands move within 64 positions. Raise it to 10,000 and see how many stop.*

# %% tags=["nbval-ignore-output"]
viewer

# %% [markdown]
# ## What goes wrong
# *More · 4 minutes*
#
# **The exponent $i/d$ instead of $2i/d$.** It runs, and pair 0 is right. But from pair to pair the wavelength grows only by the square root of what it should, and the slowest hand is far too fast. Print the longest wavelength, or compare one entry with a table from elsewhere.

# %%
d_model, i = 32, torch.arange(16)
for name, exponent in (("2i/d", 2 * i / d_model), ("i/d", i / d_model)):
    around = 2 * math.pi * 10000**exponent  # (d_model / 2,)
    print(f"exponent {name:4}: from pair to pair {around[1] / around[0]:.2f}", end="")
    print(f" times as long, slowest {around[-1]:7.1f} positions")

# %% [markdown]
# **RoPE on the values too.** The weights are right, because values have no part in them. But what's averaged now depends on its position, and nothing undoes that. It shows when you move the whole text. (**Exercise 8.7** has two more mistakes, and you find them yourself.)

# %%
rng = torch.Generator().manual_seed(0)
q, k, v = torch.randn(3, 6, 8, generator=rng)  # (L, d_head) each
for name, turn in (("as they are", lambda v, pos: v), ("turned too", rope)):
    here, there = torch.arange(6), torch.arange(100, 106)
    first, second = (
        attention.scaled_dot_product_attention(rope(q, p), rope(k, p), turn(v, p))[0]
        for p in (here, there)
    )
    change = (second - first).abs().max()
    print(f"values {name}: all moved by 100, an output changes by {change:.3f}")

# %% [markdown]
# ## In practice
# *More · 3 minutes*
#
# - The Transformer of 2017 added sines, BERT and GPT-2 learned their tables, LLaMA (2023, section 2.2) and many models after it use RoPE, and BLOOM (2022) uses ALiBi.
# - What depends on the distance can be learned, too. Shaw et al. (2018) learn a vector for every distance up to a limit and add it to the key, which puts a term into the score. T5 (2020) learns one number for each head and each range of distances, with wide ranges far away, and adds it to the score as ALiBi does.
# - RoPE's `base` is called `rope_theta` in many configurations. To go beyond the trained length you can raise it, or squeeze positions into the trained range (Chen et al., 2023). **Exercise 8.9 measures both.** YaRN (Peng et al., 2023) squeezes slow hands and leaves fast ones alone. **Exercise 8.8** counts the slow ones.
# - There are checkpoints with pairs of neighbors and checkpoints with pairs of halves. A model run with the wrong one gives nonsense without an error. **Exercise 8.5** converts one into the other.

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **Attention alone** is permutation-equivariant, $f(PX) = P f(X)$. The model that reads letters can't tell anagrams apart without its positions. A causal mask says what came before, and one layer doesn't see in which order.
# 2. **Sinusoidal positions** have sine and cosine of $pos \cdot 10000^{-2i/d}$ in pair $i$. With both, a step by $\delta$ is the rotation $M_\delta$, the same everywhere. With sines alone, even the best matrix missed.
# 3. **RoPE** turns queries and keys (not values), pair by pair, so that $(R_m q) \cdot (R_n k) = q^\top R_{n-m} k$. Keys go into a cache turned, and moving them is one more turn.
# 4. **ALiBi** subtracts slope times distance from the scaled scores. The table in 8.7 says how the four kinds differ.
# 5. **Compare fairly.** Further into the text even the guesser who knows no order is wrong more often. Look at each position by itself, since a mean over the text hides where knowledge ends.

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $P$ | permutation matrix | $(L, L)$ |
# | $pos$; $m$, $n$ | a position; that of a query, that of a key | numbers, from 0 |
# | $m - n$ | distance, how far the key is behind the query | a number |
# | $\omega_i$ | angle per position of pair $i$, $\text{base}^{-2i/d}$ | $(d/2)$ for all pairs |
# | $p_{pos}$ | position vector, added | $(d_{model})$; the table $(L, d_{model})$ |
# | $M_\delta$ | moves sinusoidal positions by $\delta$ | $(d_{model}, d_{model})$ |
# | $R_m$ | rotation of queries and keys at position $m$ | $(d_{head}, d_{head})$, never built: cosines and sines $(L, d_{head}/2)$ |
# | $\lambda_h$ | slope of head $h$ (ALiBi) | $(H)$; the bias $(1, H, L_q, L_k)$ |

# %% [markdown]
# ## Check yourself
# *Core · 3 minutes*
#
# <details><summary>1. A model without positions and without a mask reads a sentence, and the same sentence backwards. What do the two results have in common?</summary>
#
# **Each token gets the same output vector, and the order of the outputs is reversed.** That is $f(PX) = P f(X)$.
# </details>
#
# <details><summary>2. RoPE turns a query by its absolute position. Why is it called relative?</summary>
#
# **In the score, the two rotations leave $R_{n-m}$**, and only the difference of the positions is in it.
# </details>
#
# <details><summary>3. A friend plots the error of a model with learned positions against the length. It rises from 0 to one half. "It doesn't extrapolate!" What do you ask for?</summary>
#
# **The landmark.** How often would you be wrong without knowing the order, at each length? If that curve rises too, part of the rise is the task.
# </details>
#
# <details><summary>4. Of the two positions, RoPE's scores use the distance only. Does RoPE work at any length?</summary>
#
# **No.** A longer text has distances that training never showed. In section 8.7 RoPE found nothing from position 41 on, and everything once the far keys were hidden.
# </details>

# %% [markdown]
# ## When you need it
# *More · 15 minutes*
#
# <details><summary>Why 10000?</summary>
#
# The paper names the range, wavelengths from $2\pi$ to $10000 \cdot 2\pi$, and gives no reason for it. But we can measure what other bases do. Call two positions as alike as the mean of $\cos(\text{difference of the hands' angles})$. What's the farthest distance, up to 5,000, that looks at least as near as a distance of 10? A result near 10 is good, since then what looks near is near.
# </details>

# %%
distance, sizes = torch.arange(1, 5001), (16, 32, 64, 128)
print(f"{'':12}", *(f"d_model {size:4}" for size in sizes))
for base in (10, 100, 1000, 10000, 100000):
    found = []
    for size in sizes:
        angles = positions.rotary_angles(distance, size, base=float(base))
        alike = angles.cos().mean(dim=1)  # (n,)
        found.append(distance[alike >= alike[9]].max().item())
    print(f"base {base:6} ", *(f"{one:12}" for one in found))
alike = positions.rotary_angles(distance, 128, base=10.0).cos().mean(dim=1)
print(f"base 10, d_model 128: likeness at distance 10 {alike[9]:.2f},", end=" ")
print("as near as 3 looks", distance[alike >= alike[2]].max().item())

# %% [markdown]
# A base of 10 fails at every size. At a distance of 10 even its slowest hand has turned by more than a radian, so two such positions look no more alike than strangers. On its own scale it does well. With 128 features nothing looks as near as 3 that is farther than 3. And nothing here singles out 10,000. Of these five bases it does best with 32 features. With 128 a base of 100 is enough, and with 16 none of them is. The number of hands matters as well as the base.

# %% [markdown]
# <details><summary>Why add positions, and not put them beside the embedding?</summary>
#
# You could, with vectors of size $2 d_{model}$, the token in the first half and the position in the second. The next projection then has twice as many rows, and its product is the token times the upper half plus the position times the lower half. The cell below checks that. Adding is the same with both halves equal. The model has less freedom, and every later matrix stays half as large. Does the sum mix up what belongs to what? In many dimensions there's room for both, and the last line measures how much of a random token vector points along a position vector.
# </details>

# %%
rng = torch.Generator().manual_seed(0)
x, p = torch.randn(9, 512, generator=rng), sinusoidal_table(9, 512)  # (L, d_model) each
W_x, W_p = torch.randn(2, 512, 64, generator=rng)  # (d_model, d_head) each
beside = torch.cat([x, p], dim=-1) @ torch.cat([W_x, W_p])  # (L, d_head)
assert torch.allclose(beside, x @ W_x + p @ W_p, atol=1e-3)
assert torch.allclose((x + p) @ W_x, x @ W_x + p @ W_x, atol=1e-3)
print(f"cosine of token and position: {F.cosine_similarity(x, p).abs().mean():.3f}")

# %% [markdown]
# <details><summary>RoPE by complex numbers, and names in other code</summary>
#
# Multiplying a complex number by $e^{i\alpha}$ turns it by $\alpha$. Read each pair of features as one complex number, and RoPE is one multiplication. Code with a `freqs_cis` works this way. Other code has `inv_freq`, which is $\omega$, and `rotate_half(x)`, which is $(-\text{second half}, \text{first half})$.
# </details>

# %%
x, pos = torch.randn(2, 4, 7, 6, generator=rng), torch.arange(7)  # (B, H, L, d_head)
angles = positions.rotary_angles(pos, 6)  # (L, d_head / 2)
turns = torch.polar(torch.ones_like(angles), angles)  # (L, d_head / 2)
as_complex = torch.complex(*x.chunk(2, dim=-1)) * turns  # (B, H, L, d_head / 2)
halves = torch.cat([as_complex.real, as_complex.imag], dim=-1).float()
assert torch.allclose(halves, rope(x, pos), atol=1e-5)

# %% [markdown]
# <details><summary>Angles in half precision</summary>
#
# A model may run in `bfloat16`, and then it's tempting to make its positions `bfloat16` as well. Beyond 256 that type doesn't hold every whole number, and neighbors land on one position. In short texts nothing shows. Compute angles in `float32` or better, and then convert the sines and cosines.
# </details>

# %%
late = torch.tensor([255, 256, 257, 258, 1001, 1002])
print("positions   ", late.tolist())
print("in bfloat16 ", late.bfloat16().int().tolist())

# %% [markdown]
# <details><summary>ALiBi in PyTorch's fused kernel</summary>
#
# In PyTorch a float mask *is* a bias on the scores, with minus infinity at hidden keys, so the fused kernel computes ALiBi as it is.
# </details>

# %%
rng = torch.Generator().manual_seed(0)
q, k, v = torch.randn(3, 2, 4, 7, 6, generator=rng)  # (B, H, L, d_head) each
bias, causal = positions.alibi_bias(4, 7), masks.causal_mask(7)
ours, _ = attention.scaled_dot_product_attention(q, k, v, causal, score_bias=bias)
float_mask = bias.masked_fill(~causal, -math.inf)  # (1, H, L, L)
fused = F.scaled_dot_product_attention(q, k, v, attn_mask=float_mask)
assert torch.allclose(ours, fused, atol=1e-5)

# %% [markdown]
# <details><summary>Two layers: what depth knows of order</summary>
#
# In a causal model, output 0 of the first layer has seen one token, output 1 two, and so on. A second layer may make something of that. The cell shows a model with two layers and no positions at all (350 updates, half the learning rate) at several lengths, means of five seeds.
# </details>

# %%
by_length = read_rows("places")
for question in (1, 2):
    for layers in (1, 2):
        wanted = [str(layers), "none", str(question)]
        fields = ("layers", "encoding", "question")
        shares = {n: [] for n in places.LENGTHS}
        for row in by_length:
            if [row[field] for field in fields] == wanted:
                shares[int(row["length"])].append(float(row["wrong"]))
        means = [f"{n} tokens {sum(x) / len(x):.2f}" for n, x in shares.items()]
        said = "   ".join(means)
        print(f"question {question}, {layers} layer(s):  {said}")

# %% [markdown]
# Without any positions, two layers answer nearly all of question 2 at 12 tokens. They must be able to tell which of two equal letters came later. Question 1 they answer no better than one layer does, at least after these 350 updates. Kazemnejad et al. (2023) study such models on many tasks.
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.5 (the sines, and the remark that a shift is a linear function)
# - Gehring et al., *Convolutional Sequence to Sequence Learning*, 2017, section 3.1 (learned positions)
# - Su et al., *RoFormer: Enhanced Transformer with Rotary Position Embedding*, 2021, section 3.2 (RoPE, derived from the wish that scores depend on the distance only)
# - Press, Smith, Lewis, *Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation*, 2022, sections 2 and 3 (how sinusoidal and rotary positions fail at greater lengths, and ALiBi)
# - Shaw, Uszkoreit, Vaswani, *Self-Attention with Relative Position Representations*, 2018, section 3 (a learned vector for each distance, up to a limit)
# - Raffel et al., *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer* (T5), 2020, section 2.1 (a learned number for each range of distances and head)
# - Peng et al., *YaRN: Efficient Context Window Extension of Large Language Models*, 2023
# - Kazemnejad et al., *The Impact of Positional Encoding on Length Generalization in Transformers*, 2023 (five encodings on many small tasks, among them none at all)
# - Chen et al., *Extending Context Window of Large Language Models via Positional Interpolation*, 2023 (positions squeezed into the trained range)

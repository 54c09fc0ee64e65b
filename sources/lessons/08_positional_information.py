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
# At the end you can tell attention where its tokens stand in four ways, prove what each of them knows, and measure how far it carries beyond the lengths seen in training.
#
# {{colab_link}} · about 90 minutes · builds on lessons 04 to 07

# %% tags=["setup"]
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import attention, masks, plotting, positions, training, widgets
from course_utils.kv_cache import KVCache
from course_utils.multi_head import MultiHeadAttention

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors here are small: sharing them out among threads takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. prove that attention alone does not see the order of its tokens, and measure it;
# 2. write the sinusoidal table, and show that a shift is a rotation, the same one at every position;
# 3. say what learned positions know, and what they do not;
# 4. write rotary positions (RoPE), show that their scores depend on the distance only, and use them with a cache;
# 5. write the biases of ALiBi, for any number of heads;
# 6. compare encodings with several seeds, also at lengths that training never saw.

# %% [markdown]
# ## Predict first
#
# "dog bites man" and "man bites dog" hold the same three words. Self-attention with fixed random matrices reads both. Look at the output for "bites". Is it the same vector in both sentences, or another one? Commit yourself before you run the cell.

# %%
words = ["dog", "bites", "man"]
rng = torch.Generator().manual_seed(0)
embedding = {word: torch.randn(8, generator=rng) for word in words}
W_q, W_k, W_v = torch.randn(3, 8, 8, generator=rng) / 8**0.5  # (d_model, d_model) each


def self_attention(x):
    output, _ = attention.scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v)  # (L, d_model)
    return output


for sentence in (["dog", "bites", "man"], ["man", "bites", "dog"]):
    x = torch.stack([embedding[word] for word in sentence])  # (L=3, d_model=8)
    print(" ".join(sentence), "-> bites:", self_attention(x)[1, :5])

# %% [markdown]
# The same vector. A weighted sum does not care in which order its terms are added, and the weights come from the words alone. Who bites whom, attention cannot tell.

# %% [markdown]
# ## 8.1 Attention does not see the order
#
# Now for any reordering. Let $X$ hold one token a row, shape $(L, d_{model})$, and let $P$ be a **permutation matrix**, shape $(L, L)$: $P X$ has the same rows in another order. $P$ is undone by its transpose, $P^\top P = I$.
#
# 1. Scores of the reordered tokens: $(P X W_q)(P X W_k)^\top = P \, S \, P^\top$, where $S$ are the scores of $X$. Rows and columns change places, and no number changes.
# 2. The softmax works on each row by itself, so the weights are $P \, A \, P^\top$, where $A$ are the weights of $X$.
# 3. Output: $P A P^\top \, P X W_v = P \, (A X W_v)$.
#
# $$f(P X) = P f(X)$$
#
# The outputs are reordered as the inputs were; that is all. This is called **permutation equivariance**. Heads do not change it, nor does a network that works on each token by itself. Measured on the library's multi-head attention:

# %%
torch.manual_seed(0)
layer = MultiHeadAttention(12, 4)
x = torch.randn(2, 7, 12)  # (B, L, d_model)
order = torch.randperm(7)
with torch.no_grad():
    moved = layer(x[:, order]) - layer(x)[:, order]  # f(PX) - P f(X)
print(f"order {order.tolist()}   largest difference {moved.abs().max():.4f}")
assert moved.abs().max() < 1e-5

# %% [markdown]
# **And with a causal mask?** The mask belongs to places, not to tokens, so the proof breaks at step 2. A causal model does get *some* information: which tokens came before. But one layer still cannot see the order among them. The last query sees everything, and its output
# does not move when its past is shuffled:

# %%
causal = masks.causal_mask(7)  # (1, 1, L, L)
shuffled = torch.cat([torch.randperm(6), torch.tensor([6])])  # the last token stays
with torch.no_grad():
    before, after = layer(x, mask=causal), layer(x[:, shuffled], mask=causal)  # (B, L, d_model) each
print(f"output at position 6 moves by {(after - before)[:, 6].abs().max():.4f}, at position 2 by {(after - before)[:, 2].abs().max():.2f}")
assert (after - before)[:, 6].abs().max() < 1e-5

# %% [markdown]
# (Further layers can make something of it: output 0 has seen one token, output 1 two, and so on. Section 8.7 trains one causal layer without positions, as the yardstick.)
#
# So position must be *put in*. There are three places where one can do it: add something to the embeddings (8.2 to 8.4), turn the queries and keys (8.5), or add something to the scores (8.6).

# %% [markdown]
# ## 8.2 Sines and cosines
#
# The position of a token is a number, and attention wants a vector. First ideas, and what is wrong with them:
#
# - *The number itself*, 0, 1, 2 ...: it grows without end and soon drowns the embedding.
# - *The number divided by the length*: "one step to the right" then means something else in every sentence.
# - *Binary digits*: bounded, and each position its own. Look at the columns below: the last digit changes at every step, the one before at every second, and so on. Each column is a wave, and each is twice as long as its right neighbor.

# %%
count = torch.arange(8)
digits = torch.stack([count // 4 % 2, count // 2 % 2, count % 2], dim=1)  # (8 positions, 3 digits)
ax = plotting.number_grid(digits.T, shades=digits.T + 1, ax=plotting.new_axes(4.6, 2.0), title="positions 0 to 7 in binary, one a column")
plotting.show(ax, "The numbers 0 to 7 in binary, one a column. The lowest row changes at every step, the middle one at every second, the top one at every fourth.")

# %% [markdown]
# *Notice the rows: slow at the top, fast at the bottom.* Digits jump. The paper of 2017 takes smooth waves instead, and of each wavelength two: a sine and a cosine. Feature pair $i$ of position $pos$ is
#
# $$p_{pos,\,2i} = \sin(pos \cdot \omega_i), \qquad p_{pos,\,2i+1} = \cos(pos \cdot \omega_i), \qquad \omega_i = 10000^{-2i/d_{model}},$$
#
# with $pos = 0, 1, \dots$ and $i = 0, \dots, d_{model}/2 - 1$. The vectors $p_{pos}$ have the size of an embedding and are added to it. By hand for $d_{model} = 4$: two pairs, $\omega_0 = 1$ and $\omega_1 = 10000^{-2/4} = 1/100$. Position 0 is $(0, 1, 0, 1)$; position 1 is $(\sin 1, \cos 1, \sin 0.01, \cos 0.01)$.
#
# **Predict first.** In which features do positions 1 and 2 differ visibly?

# %%
def table_loop(num_positions, d_model):
    table = torch.zeros(num_positions, d_model)
    for pos in range(num_positions):
        for i in range(d_model // 2):
            angle = pos * 10000 ** (-2 * i / d_model)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table


def sinusoidal_table(num_positions, d_model):
    frequency = 10000 ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,): the numbers 2i
    angle = torch.arange(num_positions)[:, None] * frequency  # (num_positions, d_model / 2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (num_positions, d_model / 2, 2) -> (num_positions, d_model)


print(sinusoidal_table(3, 4))
assert torch.allclose(sinusoidal_table(50, 12), table_loop(50, 12), atol=1e-5)
assert torch.allclose(sinusoidal_table(50, 12), positions.SinusoidalPositions(12, max_len=50).table, atol=1e-5)
print("loop, vectorized form and course_utils agree")

# %% [markdown]
# `stack` on a new last axis, then `flatten`, deals sine and cosine out in turn: column 0 sine, column 1 cosine. (PyTorch has no such module to compare with; the tests of this course hold the library's to numbers worked by hand.)
#
# Pairs need an even $d_{model}$. One could drop the last cosine; the library refuses instead, and says so:

# %%
try:
    positions.SinusoidalPositions(5, max_len=50)
except ValueError as problem:
    print("ValueError:", problem)

# %%
table = sinusoidal_table(64, 32)  # (64 positions, d_model=32)
ax = plotting.similarity_heatmap(table, ax=plotting.new_axes(7.4, 4.2), title="sinusoidal positions", quantity="value")
ax.set(xlabel="feature", ylabel="position")
plotting.show(ax, "Heatmap of 64 positions by 32 features. At the left stripes change from row to row; to the right they get longer and longer, until each column is nearly constant.")

# %% [markdown]
# *Notice how the stripes get longer from left to right.* The **wavelength** of pair $i$, the number of positions until it comes round, is $2\pi / \omega_i = 2\pi \cdot 10000^{2i/d_{model}}$: a geometric sequence, as with the binary digits, from fast to very slow.

# %%
d_model = 32
wavelength = 2 * math.pi * 10000 ** (torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
for i in (0, 4, 8, 15):
    print(f"pair {i:2}: wavelength {wavelength[i]:8.1f} positions")
place = torch.linspace(0, 100, 401)
waves = {f"pair {i}": torch.sin(2 * math.pi * place / wavelength[i]) for i in (0, 4, 8)}
ax = plotting.curves(place, waves, xlabel="position", ylabel="sine feature", ax=plotting.new_axes(7.4, 3.0))
ax.set_ylim(-1.1, 1.6)
ax.legend(frameon=False, fontsize=9, loc="upper right", ncols=3)
plotting.show(ax, "Three sine features over 100 positions: pair 0 goes round about 16 times, pair 4 between one and two times, pair 8 about a sixth of a turn.")

# %% [markdown]
# *Notice that pair 0 tells neighbors apart but repeats itself soon, and that pair 8 tells far from near but hardly tells neighbors apart.* Together they do both, like the hands of a clock.

# %% [markdown]
# ## 8.3 Why pairs: a shift is a rotation
#
# Why both sine *and* cosine? Take one pair at position $pos$, with the angle $a = pos \cdot \omega$. Move on by $\delta$ positions: the angle grows by $b = \delta \cdot \omega$. The addition theorems say
#
# $$\begin{pmatrix} \sin(a+b) \\ \cos(a+b) \end{pmatrix} = \begin{pmatrix} \cos b & \sin b \\ -\sin b & \cos b \end{pmatrix} \begin{pmatrix} \sin a \\ \cos a \end{pmatrix} .$$
#
# The matrix is a rotation. It depends on $\delta$ and **not on $pos$**. One such block for each pair along the diagonal makes a matrix $M_\delta$ of shape $(d_{model}, d_{model})$ with
#
# $$p_{pos + \delta} = M_\delta \, p_{pos} \qquad \text{for every } pos .$$
#
# "Three places to the right" is one fixed matrix, so a projection can learn it. A sine alone cannot do that: $\sin(a+b)$ does not follow from $\sin a$, since two angles have the same sine.

# %%
def shift_matrix(delta, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = delta * 10000 ** (-2 * i / d_model)
        M[2 * i, 2 * i : 2 * i + 2] = torch.tensor([math.cos(b), math.sin(b)])
        M[2 * i + 1, 2 * i : 2 * i + 2] = torch.tensor([-math.sin(b), math.cos(b)])
    return M


table = sinusoidal_table(200, 12)  # (200, d_model=12)
M = shift_matrix(3, 12)  # (d_model, d_model)
shifted = table[:-3] @ M.T  # row pos holds M p_pos
print(f"largest difference between M_3 p_pos and p_(pos+3), over 197 positions: {(shifted - table[3:]).abs().max():.4f}")
assert torch.allclose(shifted, table[3:], atol=1e-4)
assert torch.allclose(M, positions.shift_matrix(3, 12), atol=1e-5)
assert torch.allclose(M @ shift_matrix(4, 12), shift_matrix(7, 12), atol=1e-5)  # shifts add up
assert torch.allclose(M.T, shift_matrix(-3, 12), atol=1e-5)  # the transpose moves back
assert torch.allclose(M @ M.T, torch.eye(12), atol=1e-5)  # a rotation keeps lengths
print("M_3 M_4 = M_7,  M_3 transposed = M_(-3),  lengths are kept")

# %% [markdown]
# Rows of a table are vectors lying on their side, hence `@ M.T`.
#
# The claim about sines alone can be tested as well: look for the *best* matrix that takes each position to the one three further on, by least squares, once with pairs and once with the sines only.

# %%
def best_shift_error(features, delta=3):
    M = torch.linalg.lstsq(features[:-delta], features[delta:]).solution  # (d, d)
    return (features[:-delta] @ M - features[delta:]).pow(2).mean().sqrt().item()


precise = sinusoidal_table(200, 12).double()  # (200, 12)
print(f"typical error: sines and cosines {best_shift_error(precise):.3f}   sines only {best_shift_error(precise[:, 0::2]):.3f}")

# %% [markdown]
# **What follows for dot products.** For one pair, $\sin a \sin a' + \cos a \cos a' = \cos(a - a')$. Summed over the pairs,
#
# $$p_{pos} \cdot p_{pos'} = \sum_i \cos\big(\omega_i \, (pos - pos')\big) :$$
#
# it depends on the **distance** only. At distance 0 it is $d_{model}/2$, the squared length of every position vector.

# %%
distance = torch.arange(-60.0, 61.0)  # (121,)
similar = {f"d_model = {d}": torch.cos(distance[:, None] * 10000 ** (-torch.arange(0, d, 2) / d)).mean(dim=1) for d in (16, 128)}
far = sinusoidal_table(121, 128)  # (121, d_model)
assert torch.allclose(far @ far[60] / 64, similar["d_model = 128"], atol=1e-4)  # position 60 against all, divided by d_model / 2
ax = plotting.curves(distance, similar, xlabel="distance", ylabel="dot product / (d_model / 2)", ax=plotting.new_axes(6.4, 3.2))
plotting.show(ax, "Dot product of two position vectors by their distance, divided by its largest value: 1 at distance 0, falling to both sides alike, in waves for small d_model and more smoothly for large.")

# %% [markdown]
# *Notice the peak at 0 and the symmetry: near positions are similar, and left and right look alike.* A shift matrix can move the peak elsewhere.
#
# But a score is not $p \cdot p'$. Tokens $x$ stand in the sum too, and projections in between. The score of query $(x + p)$ and key $(x' + p')$ is
#
# $$\big((x + p) W_q\big) \cdot \big((x' + p') W_k\big) = \underbrace{x W_q W_k^\top x'^\top}_{\text{content}} + \underbrace{x W_q W_k^\top p'^\top + p W_q W_k^\top x'^\top}_{\text{mixed}} + \underbrace{p W_q W_k^\top p'^\top}_{\text{position}} ,$$
#
# and with arbitrary matrices no term with a $p$ needs to depend on the distance only. Test: move query and key by 100 positions together. Does the score stay?

# %%
rng = torch.Generator().manual_seed(0)
d_model, L = 16, 20
W_q, W_k = torch.randn(2, d_model, d_model, generator=rng) / d_model**0.5
x_q, x_k = torch.randn(2, 1, d_model, generator=rng)  # the content of a query and of a key, each (1, d_model)
table = sinusoidal_table(200, d_model)


def added_scores(start, W_q, W_k, content=1.0):
    p = table[start : start + L]  # (L, d_model)
    return ((content * x_q + p) @ W_q) @ ((content * x_k + p) @ W_k).T / d_model**0.5  # (L, L)


identity = torch.eye(d_model)
for name, setting in {"p·p' alone": (identity, identity, 0.0), "with projections": (W_q, W_k, 0.0), "with tokens too": (W_q, W_k, 1.0)}.items():
    change = (added_scores(100, *setting) - added_scores(0, *setting)).abs().max()
    print(f"{name:17} largest change of a score when both move by 100: {change:.2f}")

# %% [markdown]
# So a model with added positions *can* learn to go by distance, and nothing makes it. Sections 8.5 and 8.6 build it in.

# %% [markdown]
# ## 8.4 Learned positions
#
# Why not let training find the vectors? A table of parameters, shape `(max_len, d_model)`, one row a position, added like the sines. That is an embedding whose "tokens" are the positions:

# %%
torch.manual_seed(0)
learned = positions.LearnedPositions(d_model=16, max_len=24)
x = torch.randn(2, 12, 16)  # (B, L=12, d_model)
as_embedding = nn.Embedding.from_pretrained(learned.table.detach())
assert torch.equal(learned(x), x + as_embedding(torch.arange(12)))
print("parameters:", sum(p.numel() for p in learned.parameters()), "= 24 rows of 16;  equal to an nn.Embedding of positions")

# %% [markdown]
# Each row is learned by itself, from what stood at that position in training. Rows that never occur learn nothing: their gradient is zero. And past the table there is no row at all.

# %%
learned(x).square().sum().backward()  # as if training had seen sequences of 12
print("rows with a gradient:", (learned.table.grad.abs().sum(dim=1) > 0).int().tolist())
try:
    learned(torch.randn(2, 30, 16))
except ValueError as problem:
    print("ValueError:", problem)

# %% [markdown]
# Nothing in the table says that position 5 lies between 4 and 6, or that 4 to 5 is the same step as 14 to 15. What it knows of order it has learned, position by position. The sines have a value for every position, but training has not seen the far ones either. Section 8.7 measures what that costs.

# %% [markdown]
# ## 8.5 Rotary positions (RoPE)
#
# If a shift is a rotation, one can rotate in the first place. RoPE adds nothing to the embeddings. It turns each *query* and each *key*, pair of features by pair of features, by the angle of its position. Let $R_m$ be the rotation for position $m$: for pair $i$ the block
#
# $$\begin{pmatrix} \cos m\omega_i & -\sin m\omega_i \\ \sin m\omega_i & \cos m\omega_i \end{pmatrix}, \qquad \omega_i = \text{base}^{-2i/d_{head}} .$$
#
# The score of a query $q$ at position $m$ with a key $k$ at position $n$ is then
#
# $$(R_m q) \cdot (R_n k) = q^\top R_m^\top R_n \, k = q^\top R_{n-m} \, k ,$$
#
# because turning back by $m$ and on by $n$ is turning by $n - m$. Only the **distance** is left, whatever $q$ and $k$ are, and so whatever the projections are. Lengths do not change, so position does not touch how *much* a token says, only in which direction.
#
# By hand, one pair: $q = (1, 2)$ turned by a quarter ($\cos = 0$, $\sin = 1$) is $(-2, 1)$.
#
# Which two features make a pair? The paper takes neighbors $(2i, 2i+1)$. Much code, and this course, takes one feature of each **half**, $(i, i + d_{head}/2)$, since each half is one plain slice.

# %%
def rope_loop(x, pos, base=10000.0):
    """One vector x, shape (d_head,), at one position."""
    half = len(x) // 2
    turned = torch.zeros_like(x)
    for i in range(half):
        angle = pos * base ** (-2 * i / len(x))
        turned[i] = x[i] * math.cos(angle) - x[i + half] * math.sin(angle)
        turned[i + half] = x[i] * math.sin(angle) + x[i + half] * math.cos(angle)
    return turned


def rope(x, pos, base=10000.0):
    """x of shape (..., L, d_head), pos of shape (L,)."""
    d_head = x.shape[-1]
    angle = pos[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)  # (L, d_head / 2)
    first, second = x.chunk(2, dim=-1)  # each (..., L, d_head / 2)
    return torch.cat([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], dim=-1)


quarter = torch.tensor([math.pi / 2])
print("(1, 2) turned by a quarter:", [round(v, 3) for v in rope(torch.tensor([[1.0, 2.0]]), quarter)[0].tolist()])

x = torch.randn(2, 4, 7, 6, generator=torch.Generator().manual_seed(0))  # (B, H, L, d_head)
pos = torch.arange(7)
turned = rope(x, pos)
assert torch.allclose(turned[1, 2, 5], rope_loop(x[1, 2, 5], 5), atol=1e-5)
angles = positions.rotary_angles(pos, 6)  # (L, d_head / 2)
assert torch.allclose(turned, positions.apply_rope(x, angles.cos(), angles.sin()), atol=1e-5)
assert torch.allclose(turned, positions.RotaryPositions(6, max_len=7)(x), atol=1e-5)
assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-4)
print("loop, vectorized form and course_utils agree; lengths are kept")

# %% [markdown]
# PyTorch knows rotations under another name: multiplying a complex number by $e^{i\alpha}$ turns it by $\alpha$. Read each pair as one complex number, and RoPE is one multiplication:

# %%
complex_pairs = torch.complex(*x.chunk(2, dim=-1))  # (B, H, L, d_head / 2)
turned_complex = complex_pairs * torch.polar(torch.ones_like(angles), angles)  # (B, H, L, d_head / 2)
assert torch.allclose(turned, torch.cat([turned_complex.real, turned_complex.imag], dim=-1).float(), atol=1e-5)

order = torch.tensor([0, 2, 4, 1, 3, 5])  # neighbors (0, 1), (2, 3), (4, 5) brought to halves (0, 3), (1, 4), (2, 5)
neighbor_pairs = torch.view_as_complex(x.double().unflatten(-1, (3, 2))) * torch.polar(torch.ones_like(angles), angles)
neighbors = torch.view_as_real(neighbor_pairs).flatten(-2).float()  # (B, H, L, d_head)
assert torch.allclose(neighbors[..., order], rope(x[..., order], pos), atol=1e-5)
print("equal to complex multiplication; pairs of neighbors = pairs of halves after the features are put in another order")

# %% [markdown]
# The two pairings are the same up to the order of the features, and a dot product does not notice that order, as long as query and key have *the same*. A model trained with one pairing must be run with that one.
#
# Now the test of 8.3. Query and key keep their content, both move by 100:

# %%
def rope_scores(start, d_head=16):
    rng = torch.Generator().manual_seed(1)
    q, k = torch.randn(2, 1, d_head, generator=rng)  # one content for all queries, one for all keys: (1, d_head) each
    pos = torch.arange(start, start + 20)
    return rope(q.expand(20, -1), pos) @ rope(k.expand(20, -1), pos).T / d_head**0.5  # (L, L)


scores = rope_scores(0)
print(f"largest change of a score when both move by 100: {(rope_scores(100) - scores).abs().max():.4f}")
assert torch.allclose(rope_scores(100), scores, atol=1e-4)
print("scores of query 5 with keys 3, 4, 5, 6:", scores[5, 3:7])
print("scores of query 9 with keys 7, 8, 9, 10:", scores[9, 7:11])

# %%
ax = plotting.similarity_heatmap(scores, ax=plotting.new_axes(5.2, 4.2), title="RoPE, equal content everywhere", quantity="score")
ax.set(xlabel="key position", ylabel="query position")
plotting.show(ax, "Scores of 20 queries and 20 keys with rotary positions, all queries alike and all keys alike: every diagonal from upper left to lower right has one color.")

# %% [markdown]
# *Notice the stripes along the diagonals: one distance, one score.* And the two sides of the main diagonal differ: RoPE tells left from right.
#
# Which distance scores highest is up to $q$ and $k$. If $k = q$, all pairs point the same way at distance 0. If $k$ is $q$ turned by three steps, they meet where the key stands three places before the query. A projection can learn such a turn, and so a head can learn to look three places back:

# %%
d_head = 32
q = torch.randn(d_head, generator=torch.Generator().manual_seed(2))
distance = torch.arange(-10.0, 31.0)  # how far the key lies behind the query
keys = {"k = q": q, "k = q turned by 3": rope(q[None], torch.tensor([3.0]))[0]}
query_at_30 = rope(q[None], torch.tensor([30]))[0]  # (d_head,)
by_distance = {name: rope(k.expand(41, -1), 30 - distance) @ query_at_30 / (q @ q) for name, k in keys.items()}  # (41,) each
ax = plotting.curves(distance, by_distance, xlabel="distance: query position - key position", ylabel="score / largest score", ax=plotting.new_axes(6.6, 3.2))
plotting.show(ax, "Score by distance. For k = q the peak is at distance 0, for k turned by three steps at distance 3; away from the peak the scores fall in waves.")
print("peaks at", {name: int(distance[curve.argmax()]) for name, curve in by_distance.items()})

# %% [markdown]
# *Notice that the second curve is the first one, moved by three.*
#
# **With a cache** (lesson 07). Keys are turned *before* they enter the cache, each by its own position, and stay as they are. A new token's position is then the number of tokens already cached, not 0. The library counts for us: `RotaryPositions` takes a `start`, and the attention layer hands it the cache's length.

# %%
torch.manual_seed(0)
layer = MultiHeadAttention(16, 2, rotary=positions.RotaryPositions(8, max_len=64))
x = torch.randn(1, 6, 16)  # (B, L, d_model)
with torch.no_grad():
    whole = layer(x, mask=masks.causal_mask(6))  # (B, L, d_model)
    cache = KVCache(1, 2, 6, 8)  # batch, heads, room, d_head
    steps = torch.cat([layer(x[:, t : t + 1], cache=cache) for t in range(6)], dim=1)  # (B, L, d_model)
assert torch.allclose(whole, steps, atol=1e-5)
print("all at once = one token at a time with a cache; largest difference", f"{(whole - steps).abs().max():.4f}")

# %% [markdown]
# ## 8.6 Linear biases (ALiBi)
#
# The third way leaves embeddings, queries and keys alone and lowers the *scores* in proportion to the distance:
#
# $$s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_{head}}} - m_h \, |i - j| .$$
#
# Nothing is learned here. The **slope** $m_h$ is fixed and differs from head to head: for $H$ heads, $H$ a power of two, it is $m_h = 2^{-8h/H}$ for $h = 1, \dots, H$. The slopes form a *geometric* sequence: each is the one before times $2^{-8/H}$. By hand for $H = 4$: the factor is $2^{-2}$, the slopes $\frac14, \frac1{16}, \frac1{64}, \frac1{256}$.
#
# For other $H$, the authors' code takes the slopes of the next lower power of two and fills up with every second slope of the next higher one.

# %%
def slopes_of_power(H):
    return [2 ** (-8 * h / H) for h in range(1, H + 1)]


def alibi_slopes(H):
    power = 2 ** int(math.log2(H))  # the largest power of two that is not above H
    return torch.tensor(slopes_of_power(power) + slopes_of_power(2 * power)[0::2][: H - power])  # (H,)


for H in (4, 8, 6):
    assert torch.allclose(alibi_slopes(H), positions.alibi_slopes(H))
    print(f"H = {H}: slopes 1 /", [round(1 / slope, 2) for slope in alibi_slopes(H).tolist()])


def alibi_loop(H, L):
    bias = torch.zeros(H, L, L)
    for h, slope in enumerate(alibi_slopes(H)):
        for i in range(L):
            for j in range(L):
                bias[h, i, j] = -slope * abs(i - j)
    return bias


place = torch.arange(5)
vectorized = -alibi_slopes(4)[:, None, None] * (place[:, None] - place).abs()  # (H, L, L)
assert torch.allclose(vectorized, alibi_loop(4, 5)) and torch.allclose(vectorized, positions.alibi_bias(4, 5)[0])
print("head 0, 5 positions:\n", vectorized[0] + 0.0)  # + 0.0 makes -0 print as 0

# %% [markdown]
# With a cache there are fewer queries than keys; the queries are the last positions, as for the causal mask (lesson 05), and `positions.alibi_bias(H, L_q, L_k)` aligns them so. In PyTorch a float mask *is* a bias on the scores, with minus infinity at hidden keys, so that its fused kernel computes ALiBi as it is:

# %%
rng = torch.Generator().manual_seed(0)
B, H, L, d_head = 2, 4, 7, 6
q, k, v = torch.randn(3, B, H, L, d_head, generator=rng)
bias, causal = positions.alibi_bias(H, L), masks.causal_mask(L)  # (1, H, L, L), (1, 1, L, L)
scores = q @ k.transpose(-2, -1) / d_head**0.5 + bias  # (B, H, L, L): scaled first, then biased
by_hand = attention.masked_softmax(scores, causal) @ v  # (B, H, L, d_head)
library, _ = attention.scaled_dot_product_attention(q, k, v, causal, score_bias=bias)
fused = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.masked_fill(~causal, -math.inf))
assert torch.allclose(by_hand, library, atol=1e-5) and torch.allclose(by_hand, fused, atol=1e-5)
print("by hand, course_utils (score_bias=) and PyTorch (float attn_mask=) agree")

# %% [markdown]
# What does the bias alone say? With equal content everywhere, all scores are equal, and the weights are $e^{-m_h \cdot \text{distance}}$, divided by their sum:

# %%
axes = plotting.new_axes(9.4, 3.6, columns=2)
weights = attention.masked_softmax(positions.alibi_bias(8, 10), masks.causal_mask(10))[0]  # (H, L, L)
for ax, h in zip(axes, (0, 4), strict=True):
    plotting.attention_heatmap(weights[h], ax=ax, title=f"head {h} of 8: slope 1/{1 / positions.alibi_slopes(8)[h]:.0f}")
plotting.show(axes[0], "Causal weights of two ALiBi heads without content. Head 0 fades quickly with the distance, head 4 weighs its whole past almost evenly.")
count = torch.special.entr(weights[:, -1]).sum(-1).exp()  # (H,): keys that count for the last query (lesson 02)
print("keys that count for the last of 10 queries, by head:", [round(c, 1) for c in count.tolist()])

# %% [markdown]
# *Notice that a steep head sees mostly its neighborhood, and a flat one nearly all its past.* One set of heads, many ranges. The price: with equal content, a nearer key **always** gets more weight than a farther one. No head of one layer can look three places back and skip what lies between.
#
# A note on direction: $|i - j|$ has no sign. Without a causal mask, ALiBi as written here does not tell left from right.

# %% [markdown]
# ## 8.7 The same task with five encodings
#
# Each token is a letter with a digit, such as `b2`. At every position the model answers two questions:
#
# 1. Which digit stood **three tokens ago**? This is about places only.
# 2. Which digit came with **this letter the last time**? This is about content *and* recency: among the tokens with the same letter the latest counts.
#
# Where there is no answer yet, nothing is asked.

# %%
LETTERS, DIGITS, LENGTH, AGO = 4, 4, 12, 3
NOT_ASKED = -100  # F.cross_entropy leaves such targets out


def two_questions(rng, batch, length):
    letter = torch.randint(LETTERS, (batch, length), generator=rng)  # (B, L)
    digit = torch.randint(DIGITS, (batch, length), generator=rng)  # (B, L)
    earlier = torch.ones(length, length, dtype=torch.bool).tril(-1)  # (L, L): key strictly before query
    same = (letter[:, :, None] == letter[:, None, :]) & earlier  # (B, L, L)
    latest = (same * torch.arange(1, length + 1)).amax(dim=-1) - 1  # (B, L): its position, -1 if there is none
    recent = digit.gather(1, latest.clamp(min=0)).masked_fill(latest < 0, NOT_ASKED)  # (B, L)
    ago = digit.roll(AGO, dims=1)  # (B, L)
    ago[:, :AGO] = NOT_ASKED
    return letter * DIGITS + digit, torch.stack([ago, recent], dim=-1)  # (B, L), (B, L, 2)


tokens, target = two_questions(torch.Generator().manual_seed(4), 1, LENGTH)
shown = lambda t: "  -" if t == NOT_ASKED else f"{t:3}"
print("tokens            ", " ".join(f" {'abcd'[t // DIGITS]}{t % DIGITS}" for t in tokens[0].tolist()))
for question, name in enumerate(("three tokens ago  ", "last with letter  ")):
    print(name, " ".join(shown(t) for t in target[0, :, question].tolist()))

# %% [markdown]
# The model is as small as it can be: embedding, **one** causal attention layer with four heads, and a small network on each output. Only the encoding of positions differs.

# %%
class OneLayer(nn.Module):
    def __init__(self, encoding, max_len, d_model=32, num_heads=4):
        super().__init__()
        self.encoding, self.num_heads = encoding, num_heads
        self.tokens = nn.Embedding(LETTERS * DIGITS, d_model)
        added = {"sinusoidal": positions.SinusoidalPositions, "learned": positions.LearnedPositions}
        self.added = added[encoding](d_model, max_len) if encoding in added else nn.Identity()
        rotary = positions.RotaryPositions(d_model // num_heads, max_len=max_len) if encoding == "RoPE" else None
        self.attention = MultiHeadAttention(d_model, num_heads, rotary=rotary)
        self.report = nn.Sequential(nn.Linear(d_model, 64), nn.ReLU(), nn.Linear(64, 2 * DIGITS))

    def forward(self, tokens):
        L = tokens.shape[1]
        x = self.added(self.tokens(tokens))  # (B, L, d_model)
        bias = positions.alibi_bias(self.num_heads, L) if self.encoding == "ALiBi" else None  # (1, H, L, L)
        x = self.attention(x, mask=masks.causal_mask(L), score_bias=bias)  # (B, L, d_model)
        return self.report(x).unflatten(-1, (2, DIGITS))  # (B, L, 2, DIGITS): one guess a question


def loss(model, batch):
    tokens, target = batch
    return F.cross_entropy(model(tokens).flatten(0, 2), target.flatten(), ignore_index=NOT_ASKED)


def errors(model, length, batch=300):
    """(2,): share of wrong answers to each question, on new sequences."""
    tokens, target = two_questions(torch.Generator().manual_seed(99), batch, length)
    with torch.no_grad():
        wrong = model(tokens).argmax(dim=-1) != target  # (B, L, 2)
    asked = target != NOT_ASKED  # (B, L, 2)
    return (wrong & asked).sum(dim=(0, 1)) / asked.sum(dim=(0, 1))

# %% [markdown]
# **Predict first.** Training shows sequences of 12 tokens. Who will answer question 1? Who question 2? And who will still answer at 24?
#
# One training run is an anecdote: another seed gives another number. So each encoding is trained with three seeds, and we look at all three. All models have room for 96 positions, so that the longer test is possible at all; the rows of the learned table beyond 12 are never trained. This takes about half a minute.

# %% tags=["nbval-ignore-output"]
ENCODINGS, SEEDS, STEPS = ("none", "sinusoidal", "learned", "RoPE", "ALiBi"), (0, 1, 2), 350


def train(encoding, seed):
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    model = OneLayer(encoding, max_len=8 * LENGTH)
    batches = lambda epoch: [two_questions(rng, 32, LENGTH) for _ in range(STEPS)]
    training.fit(model, batches, loss, epochs=1, rate=lambda step: training.one_cycle_rate(step, STEPS, 0.02), progress=False)
    return model


runs = [(encoding, seed) for encoding in ENCODINGS for seed in SEEDS]
models = {run: train(*run) for run in tqdm(runs, desc="models trained", unit="model", file=sys.stdout)}

# %% tags=["nbval-ignore-output"]
LENGTHS = (12, 24, 48, 96)
found = {e: torch.stack([torch.stack([errors(models[e, s], n) for n in LENGTHS]) for s in SEEDS]) for e in ENCODINGS}  # each (seeds, lengths, 2)


def mean_and_range(values):
    return f"{values.mean():.2f} ({values.min():.2f} to {values.max():.2f})"


for question, name in enumerate(("1, three tokens ago", "2, last with this letter")):
    print(f"question {name}: share of wrong answers, mean (lowest to highest of {len(SEEDS)} seeds)")
    for e in ENCODINGS:
        print(f"   {e:11} length 12: {mean_and_range(found[e][:, 0, question])}   length 24: {mean_and_range(found[e][:, 1, question])}")

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(10.4, 3.8, columns=2)
for question, (ax, title) in enumerate(zip(axes, ("1: three tokens ago", "2: last with this letter"), strict=True)):
    means = {e: found[e][:, :, question].mean(dim=0) for e in ENCODINGS}  # (lengths,) each
    plotting.curves(torch.tensor(LENGTHS).float(), means, xlabel="length (trained on 12)", ylabel="share of wrong answers", ax=ax, title=title)
    for color, e in zip(plotting.COLORS, ENCODINGS, strict=False):
        for seed in SEEDS:
            ax.plot(LENGTHS, found[e][seed, :, question].tolist(), "o", color=color, ms=4)
    ax.set_xscale("log", base=2)
    ax.set_xticks(LENGTHS, LENGTHS)
    ax.set_ylim(-0.03, 0.8)
    ax.legend(frameon=False, fontsize=8, ncols=3, loc="upper left")
plotting.show(axes[0], "Share of wrong answers by length for five encodings, a line for the mean and a dot a seed. Question 1: sinusoidal, learned and RoPE start near zero at length 12; RoPE alone stays there at 24, and rises later; none and ALiBi are above one half throughout. Question 2: all but none start low; at 96 ALiBi is far below the others.")

# %% [markdown]
# *Notice, at 12, which lines start at the bottom; at 24, which are still there; and that the dots of one encoding mostly lie closer together than the lines of different ones.* What every run of this cell must show, whatever the machine, is asserted:

# %% tags=["nbval-ignore-output"]
mean = {e: found[e].mean(dim=0) for e in ENCODINGS}  # (lengths, 2) each
first, second = {e: m[:, 0] for e, m in mean.items()}, {e: m[:, 1] for e, m in mean.items()}
assert min(first["none"][0], first["ALiBi"][0]) > 0.4 and max(first["sinusoidal"][0], first["RoPE"][0]) < 0.1 and first["learned"][0] < 0.25
assert second["none"][0] > 0.19 and max(second[e][0] for e in ENCODINGS[1:]) < 0.17
assert first["RoPE"][1] < 0.1 and min(first["sinusoidal"][1], first["learned"][1]) > 0.2  # at twice the length
assert max(second["RoPE"][1], second["ALiBi"][1]) < min(second["sinusoidal"][1], second["learned"][1]) - 0.04
assert second["ALiBi"][3] < min(second[e][3] for e in ENCODINGS[:-1]) - 0.1  # at eight times the length
print("all hold")

# %% [markdown]
# **At the length of training (12)**
#
# - *None* fails question 1, and must: by 8.1 its output depends on *which* tokens came before, not on where they stand. On question 2 it is wrong far more often than the others: it cannot tell the latest of several equal letters from the earlier ones.
# - *ALiBi* fails question 1 too. 8.6 showed why: no single head can look three places back and skip the nearer keys. On question 2, where nearer *is* better, it is among the good ones.
# - *Sinusoidal*, *learned* and *RoPE* answer both.
#
# **At twice the length (24)**
#
# - *Learned* meets rows that training never touched, and *sinusoidal* meets positions whose vectors it never saw. Both lose question 1, and a good part of question 2.
# - *RoPE* keeps question 1: "three back" is the same rotation everywhere. *RoPE* and *ALiBi* keep most of question 2.
#
# **At eight times the length (96)**
#
# - *RoPE* has lost ground as well. Training showed it distances up to 11, and most distances are now larger. That scores depend on distance only does not say what they do at *new* distances.
# - *ALiBi* is the last one standing on question 2. Its bias at new distances is what it always was, only more so. On question 1 it has nothing to lose.
#
# The weights show the same. Take, in each model, the head that looks at the key three places back most. How much of its weight arrives there?

# %% tags=["nbval-ignore-output"]
def weight_three_back(model, length):
    tokens, _ = two_questions(torch.Generator().manual_seed(99), 100, length)
    with torch.no_grad():
        x = model.added(model.tokens(tokens))  # (B, L, d_model)
        bias = positions.alibi_bias(4, length) if model.encoding == "ALiBi" else None
        _, weights = model.attention(x, mask=masks.causal_mask(length), score_bias=bias, return_weights=True)  # (B, H, L, L)
    return weights.diagonal(-AGO, dim1=-2, dim2=-1).mean(dim=(0, 2)).max()  # the best head


for e in ENCODINGS:
    by_length = {n: torch.stack([weight_three_back(models[e, s], n) for s in SEEDS]).mean().item() for n in LENGTHS}
    print(f"{e:11} weight on the key three back, best head, by length:", {n: round(w, 2) for n, w in by_length.items()})

# %% [markdown]
# **What this does not show.** One layer, one width, two questions made for the purpose, three seeds. With several layers, causal models without any encoding learn a good deal of order (Kazemnejad et al., 2023), and ALiBi can reach a particular token by way of another layer. What carries over is the method: ask what a task needs (a place? recency?), train more than once,
# and test at the lengths you will meet.

# %% [markdown]
# ## Look
#
# The sinusoidal table, and how similar one position is to all others. First a static picture of the widget's first state, then the widget.

# %%
viewer = widgets.position_viewer()
viewer.show_first_state("Left: the sinusoidal table of 64 positions and 32 features as a heatmap, position 20 marked by a line. Right: the similarity of position 20 to all positions, 1 at 20 itself and falling to both sides.")

# %% [markdown]
# *Move the position: the curve moves along and keeps its shape. Lower the base: the waves get shorter, and far positions look less like the marked one. Lower d_model to 4: two wavelengths are left, and the curve comes back up at each turn of the fast one.*

# %% tags=["nbval-ignore-output"]
viewer

# %% [markdown]
# ## What goes wrong
#
# **The exponent $i/d$ instead of $2i/d$.** It runs, the first pairs look right, and a model trains with it. But the wavelengths grow half as fast from pair to pair, and the slowest wave is far too short. How you would notice: print the longest wavelength, or compare one entry with a table from elsewhere.

# %%
d_model = 32
i = torch.arange(d_model // 2)
for name, exponent in (("2i/d", 2 * i / d_model), ("i/d", i / d_model)):
    print(f"exponent {name:4}   longest wavelength {2 * math.pi * (10000**exponent)[-1]:8.1f} positions")

# %% [markdown]
# **Pairs of the wrong halves.** Queries turned in pairs $(i, i + d/2)$, keys in pairs $(2i, 2i+1)$. Each alone is RoPE. Together they are not: the rotations no longer undo each other. How you would notice: move both by 100.

# %%
def rope_neighbors(x, pos, base=10000.0):
    d_head = x.shape[-1]
    angle = pos[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)  # (L, d_head / 2)
    first, second = x[..., 0::2], x[..., 1::2]  # each (..., L, d_head / 2)
    pairs = torch.stack([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], dim=-1)
    return pairs.flatten(-2)  # (..., L, d_head / 2, 2) -> (..., L, d_head)


q, k = torch.randn(2, 1, 16, generator=torch.Generator().manual_seed(1)).expand(2, 20, 16)  # the same content at 20 positions
for name, turn_q, turn_k in (("halves, halves", rope, rope), ("neighbors, neighbors", rope_neighbors, rope_neighbors), ("halves, neighbors", rope, rope_neighbors)):
    near, far = (turn_q(q, torch.arange(s, s + 20)) @ turn_k(k, torch.arange(s, s + 20)).T for s in (0, 100))
    print(f"{name:21} largest change of a score when both move by 100: {(far - near).abs().max():.2f}")

# %% [markdown]
# **Restarted at 0 at every cached step.** Without a cache everything is right, so training and its loss show nothing. In generation each new token believes that it stands at position 0, and so does its key. How you would notice: the test of lesson 07, cached against not cached.

# %%
class Restarted(positions.RotaryPositions):
    def forward(self, x, start=0):
        return super().forward(x, 0)  # wherever we are


torch.manual_seed(0)
x = torch.randn(1, 6, 16)  # (B, L, d_model)
right = MultiHeadAttention(16, 2, rotary=positions.RotaryPositions(8, max_len=64))
wrong = MultiHeadAttention(16, 2, rotary=Restarted(8, max_len=64))
wrong.load_state_dict(right.state_dict())
with torch.no_grad():
    for name, layer in (("right", right), ("restarted", wrong)):
        whole, cache = layer(x, mask=masks.causal_mask(6)), KVCache(1, 2, 6, 8)
        steps = torch.cat([layer(x[:, t : t + 1], cache=cache) for t in range(6)], dim=1)  # (B, L, d_model)
        off = (whole - steps).abs().amax(dim=(0, 2))  # (L,)
        off = [round(step, 3) for step in off.tolist()]
        print(f"{name:10} difference between cached and not cached, by step: {off}")

# %% [markdown]
# **RoPE on the values too.** The weights are right, since values have no part in them. But what is averaged now depends on where it stands: the same sentence, moved, gives another output. How you would notice: move it.

# %%
rng = torch.Generator().manual_seed(0)
q, k, v = torch.randn(3, 6, 8, generator=rng)  # (L, d_head) each
for name, turn_v in (("values as they are", lambda v, pos: v), ("values turned too", rope)):
    outputs = []
    for start in (0, 100):
        pos = torch.arange(start, start + 6)
        outputs.append(attention.scaled_dot_product_attention(rope(q, pos), rope(k, pos), turn_v(v, pos))[0])  # (L, d_head)
    print(f"{name:19} largest change of an output when all move by 100: {(outputs[1] - outputs[0]).abs().max():.3f}")

# %% [markdown]
# **ALiBi with a positive slope, or with slopes in a straight line.** A lost minus sign rewards distance: the *oldest* key gets the most weight. Slopes $h/H$ have the right sign, but the flattest of four is then $1/4$, which is the *steepest* of the right ones: no head sees far. How you would notice: print the weights of the last query with equal content.

# %%
distance = torch.arange(11, -1, -1)  # of 12 keys, from the oldest to the query itself
for name, slope in (("right, steepest of 4", -1 / 4), ("right, flattest of 4", -1 / 256), ("positive, steepest of 4", 1 / 4), ("linear, flattest of 4", -1 / 4)):
    weights = torch.softmax(slope * distance, dim=-1)  # (L_k,)
    print(f"{name:24} weight on the oldest key {weights[0]:.3f}, on itself {weights[-1]:.3f}")

# %% [markdown]
# **Positions counted from 1.** With RoPE and ALiBi nothing changes, because they know distances only. With a sinusoidal or learned table every row is off by one: harmless when training and use agree, wrong for a checkpoint trained with the other.

# %% [markdown]
# ## In practice
#
# - **Who uses what.** The Transformer of 2017 added sines; BERT and GPT-2 learned their tables; most open language models since LLaMA turn queries and keys (RoPE); BLOOM and MPT use ALiBi.
# - **The base** of RoPE, `rope_theta` in many configurations, is raised for long texts: slower waves, so that far distances still have angles of their own. Another way to go beyond the trained length is to squeeze positions, so that the far ones fall into the trained range; `positions.rotary_angles` accepts fractions for that reason.
# - **Names.** `inv_freq` is $\omega$; `rotate_half` builds $(-\text{second}, \text{first})$, so that RoPE reads `x * cos + rotate_half(x) * sin` with `cos` and `sin` repeated for both halves; `freqs_cis` holds the complex form.
# - **Padding on the left** shifts a sentence to the right. RoPE and ALiBi do not mind. Tables that are added must be given the positions of the real tokens.
# - **Precision.** Angles are computed in float32 or better, also in models that run in half precision. In `bfloat16`, whole numbers this large cannot be told apart, and neighbors land on one position:

# %%
places = torch.tensor([255, 256, 257, 258, 1001, 1002])
print("positions   ", places.tolist())
print("in bfloat16 ", places.bfloat16().int().tolist())

# %%
x = torch.randn(1, 6, 8, generator=torch.Generator().manual_seed(0))  # (heads, L, d_head)
rotate_half = lambda x: torch.cat([-x[..., 4:], x[..., :4]], dim=-1)
angle = positions.rotary_angles(torch.arange(6), 8).float().repeat(1, 2)  # (L, d_head): cos and sin for both halves
assert torch.allclose(x * angle.cos() + rotate_half(x) * angle.sin(), rope(x, torch.arange(6)), atol=1e-5)
print("x * cos + rotate_half(x) * sin is the rope of 8.5")

# %% [markdown]
# ## Recap
#
# 1. **Attention alone** is permutation-equivariant: $f(PX) = P f(X)$. A causal mask says what came before, and one layer still does not see in which order.
# 2. **Sinusoidal**: sine and cosine of $pos \cdot 10000^{-2i/d}$ in pair $i$, added. A shift by $\delta$ is the rotation $M_\delta$, the same everywhere; dot products of two positions depend on their distance only, scores in general do not.
# 3. **Learned**: one row of parameters a position, added. A row that training never saw has learned nothing; past the table there is none.
# 4. **RoPE**: queries and keys (not values) turned pair by pair; $(R_m q) \cdot (R_n k) = q^\top R_{n-m} k$. With a cache, positions go on from the cache's length.
# 5. **ALiBi**: minus slope times distance added to the scaled scores; slopes $2^{-8h/H}$, geometric, fixed. Nearer always counts more.
# 6. **Measured**: a task that needs a place and a task that needs recency rank the encodings differently, and so do lengths beyond training. Three seeds and their spread, not one number.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $P$ | permutation matrix | $(L, L)$ |
# | $pos$, $i$ | position, number of a feature pair | numbers, from 0 |
# | $\omega_i$ | angle per position of pair $i$, $\text{base}^{-2i/d}$ | $(d/2)$ for all pairs |
# | $p_{pos}$ | position vector, added | $(d_{model})$; the table $(L, d_{model})$ |
# | $M_\delta$ | shift of sinusoidal positions by $\delta$ | $(d_{model}, d_{model})$, 2 x 2 blocks |
# | $R_m$ | rotation of queries and keys at position $m$ | $(d_{head}, d_{head})$, never built: cosines and sines $(L, d_{head}/2)$ |
# | $m_h$ | slope of head $h$ (ALiBi) | $(H)$ |
# | score bias | $-m_h \lvert i - j \rvert$ | $(1, H, L_q, L_k)$ |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. A model without positions and without a mask reads a sentence and the same sentence backwards. What do the two results have in common?</summary>
#
# **Each token gets the same output vector; only the order of the outputs is reversed.** That is $f(PX) = P f(X)$. (They are not "the same tensor": rows follow their tokens. And they are not unrelated: nothing but the order changes.)
# </details>
#
# <details><summary>2. Why does each wavelength have a sine and a cosine?</summary>
#
# **Because only with both is a shift a matrix that does not depend on the position.** Section 8.3 looked for the best matrix with sines alone, and found none that fits. (It is not to make the values bounded; a sine is bounded by itself.)
# </details>
#
# <details><summary>3. RoPE multiplies queries by a rotation that depends on the absolute position. Why is it called relative?</summary>
#
# **In the score, the two rotations leave $R_{n-m}$.** Only the difference of the positions is left. (It is not because the layer is given distances: it is given positions.)
# </details>
#
# <details><summary>4. A model with ALiBi has 8 heads. Somebody makes all eight slopes 1/2 "to keep it simple". What is lost?</summary>
#
# **The range.** Every head then fades within a few tokens, as the steepest head in 8.6. The geometric sequence gives some heads short and some long sight. (Position information as such is not lost: nearer keys still get more.)
# </details>
#
# <details><summary>5. RoPE's scores depend on the distance only. Does it therefore work at any length?</summary>
#
# **No.** At lengths beyond training there are distances that training never showed, and 8.7 measured what happens. (The property says that a known distance means the same everywhere. It says nothing about unknown distances.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.5: the sines, and the remark that a shift is a linear function.
# - Gehring et al., *Convolutional Sequence to Sequence Learning*, 2017, section 3.1: learned position embeddings.
# - Su et al., *RoFormer: Enhanced Transformer with Rotary Position Embedding*, 2021, section 3.2: RoPE, derived from the wish that scores depend on the distance only.
# - Press, Smith, Lewis, *Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation*, 2022, sections 2 and 3: how sinusoidal and rotary positions fail at greater lengths, and ALiBi.
# - Kazemnejad et al., *The Impact of Positional Encoding on Length Generalization in Transformers*, 2023: five encodings on many small tasks, among them none at all.
# - Chen et al., *Extending Context Window of Large Language Models via Positional Interpolation*, 2023: squeezing positions into the trained range.

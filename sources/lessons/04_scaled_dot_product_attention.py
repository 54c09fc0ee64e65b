# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04 · Scaled dot-product attention
#
# At the end you can write the attention of the Transformer, as self-attention and as cross-attention, and say why its scores are scaled, what it costs and what it cannot see.
#
# {{colab_link}} · about 75 minutes · builds on lessons 01 and 02

# %% tags=["setup"]
import math
import timeit

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course_utils import attention, diagrams, plotting, similarity, widgets

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# **You will learn to**
#
# 1. derive how large a dot product gets, and show what that does to a softmax and to its gradient;
# 2. write scaled dot-product attention by hand, as a loop and as two matrix products;
# 3. build self-attention from three projections, or one fused projection, and say why there are three;
# 4. build cross-attention between sequences of different length;
# 5. say what attention costs in multiplications and memory, and what it cannot see without positions.
#
# Lesson 02 ended with two scores, one additive and one a dot product, and a warning: the dot product grows with the size of the vectors. Here the warning is taken seriously.

# %% [markdown]
# ## Predict first
#
# Two vectors are filled by tossing a coin: each entry is $+1$ or $-1$. Their dot product is then a sum of products that are $+1$ or $-1$ too, each as likely as the other. For 4 entries the dot product lies between $-4$ and $4$.
# How large is it *typically*? And for 16 entries: four times as large, twice as large, or no larger? Write down two numbers.

# %% [markdown]
# ## 4.1 How large is a dot product?
#
# By hand, for 4 entries. The four products have $2^4 = 16$ outcomes, all equally likely. Count those with each sum:
#
# | dot product | $-4$ | $-2$ | $0$ | $2$ | $4$ |
# |---|---|---|---|---|---|
# | how many of the 16 | 1 | 4 | 6 | 4 | 1 |
#
# The mean is 0, so the **variance** is the mean of the squares: $(1 \cdot 16 + 4 \cdot 4 + 6 \cdot 0 + 4 \cdot 4 + 1 \cdot 16) / 16 = 64 / 16 = 4$. Its root, the **standard deviation**, is the typical size: 2. The cell counts all outcomes, for 16 entries as well.

# %%
def coin_variance(d):
    """Over all outcomes of d coins: a sum with m times +1 is 2m - d, and comb(d, m) outcomes have it."""
    squares = sum(math.comb(d, m) * (2 * m - d) ** 2 for m in range(d + 1))
    return squares / 2**d


for d in (1, 4, 16):
    print(f"{d:2} entries: variance {coin_variance(d):4.1f}, typical size {math.sqrt(coin_variance(d)):.1f}")

# %% [markdown]
# Four times as many entries make the dot product twice as large. The variance is equal to the number of entries. This holds far beyond coins. Let $q$ and $k$ have $d_k$ entries each, all independent, with mean 0 and variance 1:
#
# $$q \cdot k = \sum_{i=1}^{d_k} q_i k_i .$$
#
# 1. *One product.* Its mean is $E[q_i k_i] = E[q_i]\, E[k_i] = 0$, since the two are independent. Its variance is $E[q_i^2 k_i^2] = E[q_i^2]\, E[k_i^2] = 1 \cdot 1 = 1$.
# 2. *The sum.* Variances of independent terms add up: $\operatorname{Var}(q \cdot k) = 1 + \dots + 1 = d_k$.
# 3. *The typical size* is the root of that, $\sqrt{d_k}$. Divided by it, the dot product has variance $d_k / (\sqrt{d_k})^2 = 1$, whatever $d_k$ is.
#
# Derived; now measured, first with a loop over pairs, then without.

# %%
def dot_products_loop(q, k):
    return torch.tensor([sum(a * b for a, b in zip(x, y, strict=True)) for x, y in zip(q.tolist(), k.tolist(), strict=True)])


def dot_products(q, k):
    return (q * k).sum(dim=-1)  # (n, d_k) -> (n,), one dot product a row


rng = torch.Generator().manual_seed(0)
q, k = torch.randn(500, 16, generator=rng), torch.randn(500, 16, generator=rng)  # (n=500, d_k=16)
assert torch.allclose(dot_products(q, k), dot_products_loop(q, k), atol=1e-4)
assert torch.allclose(dot_products(q, k), similarity.dot_product(q, k), atol=1e-5)
print(f"500 pairs, d_k = 16: typical size {dot_products(q, k).std():.2f}, derived {math.sqrt(16):.2f}")

# %%
sizes = [2**i for i in range(11)]  # d_k from 1 to 1024
measured = {}
for d_k in sizes:
    q, k = torch.randn(4000, d_k, generator=rng), torch.randn(4000, d_k, generator=rng)  # (n=4000, d_k)
    scores = dot_products(q, k)  # (n,)
    measured[d_k] = scores.std().item()
    print(f"d_k = {d_k:4}   variance {scores.var():7.1f}   typical size {scores.std():6.2f}   divided by the root of d_k {(scores / d_k**0.5).std():.2f}")

# %%
d = torch.tensor(sizes, dtype=torch.float32)  # (11,)
sizes_measured = torch.tensor(list(measured.values()))  # (11,)
lines = {"derived": d.sqrt(), "after division by the root of d_k": sizes_measured / d.sqrt()}
ax = plotting.curves(d, lines, points=(d, sizes_measured), xlabel="d_k (log scale)", ylabel="typical size (log scale)", ax=plotting.new_axes(6.0, 3.6))
ax.set_xscale("log", base=2)
ax.set_yscale("log", base=2)
plotting.show(ax, "Typical size of a dot product against d_k, both axes logarithmic: the measured dots lie on the line of the root of d_k, from 1 to 32. After division the line stays flat at 1.")

# %% [markdown]
# *Notice that the measured dots lie on the derived line, and that the line after division stays flat.* At $d_k = 1$ both are the same: there is nothing to divide. The derivation asks for independent entries. That is how the projections of a network
# start out; training may change it, and then nothing but the starting point was guaranteed.

# %% [markdown]
# ## 4.2 What large scores do to a softmax
#
# Lesson 02 multiplied scores by a factor and watched the softmax **saturate**: one weight near 1, the others near 0, and a Jacobian $J = \operatorname{diag}(w) - w w^\top$ near 0. Wide vectors do the same, and nobody asked for it. **Predict first:** 16 keys, $d_k = 1024$, no
# scaling. How much weight will the best key have?

# %%
def random_scores(d_k, num_queries=200, num_keys=16, seed=1):
    rng = torch.Generator().manual_seed(seed)
    queries = torch.randn(num_queries, d_k, generator=rng)  # (200, d_k)
    keys = torch.randn(num_queries, num_keys, d_k, generator=rng)  # (200, 16, d_k): fresh keys for each query
    return torch.einsum("nd,njd->nj", queries, keys)  # (200, 16)


scales = {"not scaled": lambda d_k: 1.0, "divided by the root of d_k": lambda d_k: d_k**0.5, "divided by d_k": lambda d_k: d_k}
for d_k in (4, 64, 1024):
    for name, scale in scales.items():
        weights = torch.softmax(random_scores(d_k) / scale(d_k), dim=-1)  # (200, 16)
        keys_that_count = torch.special.entr(weights).sum(-1).exp().mean()
        print(f"d_k = {d_k:4}   {name:27} largest weight {weights.max(-1).values.mean():.2f}   keys that count {keys_that_count:5.1f} of 16")

# %% [markdown]
# Not scaled, the choice becomes hard as the vectors get wider: nearly all weight on one key, whichever happens to be ahead. Divided by $d_k$, it becomes no choice at all: all 16 keys count alike. Divided by $\sqrt{d_k}$, it stays what it was.
#
# **The gradient.** Whatever gradient reaches the weights goes on to the scores through $J$: by the chain rule $\partial \ell / \partial s = J^\top\, \partial \ell / \partial w$ for any loss $\ell$. If $J$ is near 0 and $\partial \ell / \partial w$ of ordinary size, the scores learn nothing. So
# measure the size of $J$ (the root of the sum of its squared entries) over 200 queries. First held to autograd:

# %%
def jacobian_size(weights):
    jacobian = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]  # (n, L_k, L_k)
    return jacobian.norm(dim=(-2, -1))  # (n,)


one = random_scores(4)[0]  # (L_k=16,)
by_autograd = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, dim=-1), one)  # (16, 16)
assert torch.allclose(jacobian_size(torch.softmax(one, dim=-1)[None])[0], by_autograd.norm(), atol=1e-6)
for d_k in (1, 4, 16, 64, 256, 1024):
    for name, scale in list(scales.items())[:2]:
        size = jacobian_size(torch.softmax(random_scores(d_k) / scale(d_k), dim=-1))  # (200,)
        print(f"d_k = {d_k:4}   {name:27} size of J: mean {size.mean():.3f}, median {size.median():.3f}   below 0.001: {(size < 1e-3).float().mean():4.0%} of the queries")

# %%
found = {
    name: torch.stack([jacobian_size(torch.softmax(random_scores(d_k) / scale(d_k), dim=-1)).median() for d_k in sizes])  # (11,)
    for name, scale in scales.items()
}
ax = plotting.curves(d, found, xlabel="d_k (log scale)", ylabel="median size of d(weights)/d(scores)", ax=plotting.new_axes(6.2, 3.6))
ax.set_xscale("log", base=2)
plotting.show(ax, "Median size of the Jacobian against d_k. Not scaled it rises a little, then falls to 0 by 1024. Divided by the root of d_k it stays near 0.3. Divided by d_k it settles near 0.24.")

# %% [markdown]
# *Notice that only the unscaled line goes to 0.* With $d_k = 1024$ the typical query gets next to no signal. A mean is kinder than the median here: a few queries, whose best two keys happen to be nearly equal, still get a good one. Division by $d_k$ keeps the gradient; what it
# loses is the choice, as the table above showed. $\sqrt{d_k}$ keeps both.

# %% [markdown]
# ## 4.3 Scaled dot-product attention
#
# A picture first. Four tokens, each with a query (what it asks), a key (what it offers) and a value (what it hands over), of two numbers each. The first number is about color, the second about things. *apple* asks for a color, and *red* offers one. **Predict:** from which token will *apple* take most, and what will its output be?

# %%
words = "the red apple fell".split()
asks = torch.tensor([[0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 2.0]])  # (L=4, d_k=2)
offers = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 0.0]])  # (L=4, d_k=2)
hands_over = torch.tensor([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [0.0, 0.0]])  # (L=4, d_v=2)
ax = diagrams.attention_flow(asks, offers, hands_over, queries=words, keys=words, follow=(2, 0))
plotting.show(ax)

# %% [markdown]
# *Read it from left to right. K stands turned above the scores, so that each score sits where the row of its query and the column of its key cross; the output sits below the values in the same way.* The framed row is *apple*: its query fits the key of *red* and no other, so most of its weight goes there, and its output is mostly
# red. Each row of weights sums to 1. Now take the same numbers into your hand:

# %% tags=["nbval-ignore-output"]
flow = widgets.see_through(asks, offers, hands_over, queries=words, keys=words)
flow

# %% [markdown]
# Point at a cell and read where it comes from. Then drag the first number of *apple*'s query down to 0 (or choose it with the arrow keys and press −): what are its weights now? Switch the scaling off and watch the weights.
#
# In symbols: with queries $Q$ of shape $(L_q, d_k)$, keys $K$ of shape $(L_k, d_k)$ and values $V$ of shape $(L_k, d_v)$:
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\Big(\frac{Q K^\top}{\sqrt{d_k}}\Big)\, V \qquad \text{of shape } (L_q, d_v) .$$
#
# The softmax runs over the keys, so each row of weights sums to 1. $\sqrt{d_k}$ is the temperature of lesson 02. By hand, with one query and two keys of size $d_k = 4$, so that $\sqrt{d_k} = 2$:
#
# - $q = (2, 0, 0, 0)$, $k_1 = (\ln 3, 0, 0, 0)$, $k_2 = (0, 1, 0, 0)$: the dot products are $2 \ln 3$ and $0$;
# - divided by 2: $\ln 3$ and $0$; exponentials $3$ and $1$; weights $\tfrac34$ and $\tfrac14$;
# - values $8$ and $4$: the output is $\tfrac34 \cdot 8 + \tfrac14 \cdot 4 = 7$.

# %%
def attention_loop(query, key, value):
    """One item: query (L_q, d_k), key (L_k, d_k), value (L_k, d_v)."""
    outputs = []
    for q in query.tolist():
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in key.tolist()]
        exponentials = [math.exp(s) for s in scores]
        weights = [e / sum(exponentials) for e in exponentials]
        outputs.append([sum(w * v for w, v in zip(weights, column, strict=True)) for column in value.T.tolist()])
    return torch.tensor(outputs)  # (L_q, d_v)


q = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # (L_q=1, d_k=4)
k = torch.tensor([[math.log(3), 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])  # (L_k=2, d_k=4)
v = torch.tensor([[8.0], [4.0]])  # (L_k=2, d_v=1)
print("by hand:", 3 / 4 * 8 + 1 / 4 * 4, "  loop:", attention_loop(q, k, v))

# %% [markdown]
# Without loops, for whole batches: two matrix products with a softmax between them. $Q K^\top$ is the all-pairs product of lesson 01, the second product the weighted sum of lesson 02.

# %%
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)  # (..., L_q, d_k) @ (..., d_k, L_k) -> (..., L_q, L_k)
    scores = scores / query.shape[-1] ** 0.5  # (..., L_q, L_k)
    weights = torch.softmax(scores, dim=-1)  # (..., L_q, L_k), each row sums to 1
    return weights @ value, weights  # (..., L_q, d_v), (..., L_q, L_k)


B, L_q, L_k, d_k, d_v = 2, 5, 7, 3, 4
query, key, value = (torch.randn(*shape, generator=rng) for shape in ((B, L_q, d_k), (B, L_k, d_k), (B, L_k, d_v)))
output, weights = attend(query, key, value)
print("output", tuple(output.shape), "  weights", tuple(weights.shape))

# %%
for b in range(B):
    assert torch.allclose(output[b], attention_loop(query[b], key[b], value[b]), atol=1e-5)
library, library_weights = attention.scaled_dot_product_attention(query, key, value)
assert torch.allclose(output, library, atol=1e-6) and torch.allclose(weights, library_weights, atol=1e-6)
assert torch.allclose(output, F.scaled_dot_product_attention(query, key, value), atol=1e-6)
assert torch.allclose(attend(q, k, v)[0], torch.tensor([[7.0]]))
print("by hand, the loop, the vectorized form, course_utils and PyTorch's F.scaled_dot_product_attention agree")

# %% [markdown]
# ## 4.4 Self-attention: one sequence, three roles
#
# Where do queries, keys and values come from? In **self-attention** all three come from one sequence $X$ of shape $(L, d_{model})$: each token asks, each token is asked, each token answers. The plainest way is to use the tokens as they are, $Q = K = V = X$. Two things are then fixed
# before anything is learned. **Predict first:** which key gets the most weight?

# %%
rng = torch.Generator().manual_seed(2)
X = F.normalize(torch.randn(6, 8, generator=rng), dim=-1) * 8**0.5  # (L=6, d_model=8), all tokens of the same length
scores = X @ X.T  # (L, L)
weights = torch.softmax(scores / 8**0.5, dim=-1)  # (L, L)
print("symmetric:", torch.allclose(scores, scores.T, atol=1e-6), "  best key of each token:", weights.argmax(dim=-1).tolist())
print("weight of each token on itself:", weights.diagonal())

# %% [markdown]
# Each token looks mostly at itself, since no vector of the same length has a larger dot product with it than it has itself. And the score of $i$ for $j$ is the score of $j$ for $i$. But wanting is not mutual: in *red apple*, the noun may need to know its adjective, while the
# adjective has no need of the noun. So each role gets a matrix of its own, which is learned:
#
# $$Q = X W_q , \qquad K = X W_k , \qquad V = X W_v , \qquad W_q, W_k: (d_{model}, d_k) , \quad W_v: (d_{model}, d_v) .$$
#
# Row $x$ of a sequence stands on the left of its matrix, $x W$. (`nn.Linear` stores the transpose, as lesson 02 did.) By hand on four words. Each has three numbers: is it a noun, is it an adjective, which color does it name (red $1$, green $-1$, none $0$). The matrices are chosen, not
# learned: a noun *asks* for adjectives, an adjective *is found* as one, and what it *hands over* is its color.

# %%
words = ["red", "apple", "green", "leaf"]
X = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, 0.0]])  # (L=4, d_model=3): noun, adjective, color
W_q = torch.tensor([[4.0], [0.0], [0.0]])  # (d_model=3, d_k=1): nouns ask, adjectives do not
W_k = torch.tensor([[0.0], [1.0], [0.0]])  # (d_model=3, d_k=1): adjectives are found
W_v = torch.tensor([[0.0], [0.0], [1.0]])  # (d_model=3, d_v=1): the color is handed over


def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v  # (..., L, d_k), (..., L, d_k), (..., L, d_v)
    return attend(query, key, value)  # (..., L, d_v), (..., L, L)


scores = (X @ W_q) @ (X @ W_k).T  # (L, L)
print("score of apple for red:", scores[1, 0].item(), "  score of red for apple:", scores[0, 1].item())
for length in (2, 4):
    output, weights = self_attention(X[:length], W_q, W_k, W_v)  # (length, d_v=1), (length, length)
    print(f"{' '.join(words[:length]):21} output of apple: {round(output[1].item(), 2) + 0.0:.2f}")

# %%
ax = plotting.attention_heatmap(weights, words, words)
plotting.show(ax, "Self-attention weights of red, apple, green, leaf. The rows of the two nouns put 0.49 on each of the two adjectives; the rows of the adjectives are uniform, 0.25 each.")

# %% [markdown]
# *Notice that the map is not its own mirror image: row "apple" looks at column "red", row "red" does not look at column "apple".* So the three matrices have three jobs:
#
# - **$W_q$ and $W_k$ are two**, so that scores need not be symmetric, and a token need not look at itself;
# - **$W_v$ is a third**, so that what a token hands over can differ from what it is found by. The adjectives are found as adjectives, and hand over a color;
# - each projects into a **space for its role**, of a size that can be chosen.
#
# In *red apple* the output of "apple" is nearly 1: it has become red. With *green leaf* behind it, its output is 0, half red and half green. It finds both adjectives and cannot tell which one stands next to it. Section 4.8 returns to this.
#
# Only the product of the first two counts: the scores are $X\, (W_q W_k^\top)\, X^\top$. With one matrix for both roles, $W W^\top$ is symmetric, and so are the scores. Shown on random numbers, and held to the library and to PyTorch:

# %%
B, L, d_model, d_k, d_v = 2, 6, 8, 3, 5
x = torch.randn(B, L, d_model, generator=rng)  # (B, L, d_model)
W_q, W_k, W_v = (torch.randn(d_model, size, generator=rng) / d_model**0.5 for size in (d_k, d_k, d_v))

for name, other in (("two matrices", W_k), ("one matrix", W_q)):
    scores = (x @ W_q) @ (x @ other).transpose(-2, -1)  # (B, L, L)
    assert torch.allclose(scores, x @ (W_q @ other.T) @ x.transpose(-2, -1), atol=1e-4)
    print(f"{name:12}   largest difference between the scores of i for j and of j for i: {(scores - scores.mT).abs().max():.2f}")

output, weights = self_attention(x, W_q, W_k, W_v)  # (B, L, d_v), (B, L, L)
assert torch.allclose(output, attention.scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v)[0], atol=1e-6)
assert torch.allclose(output, F.scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v), atol=1e-6)

# %% [markdown]
# ## 4.5 One fused projection
#
# Three products with the same $X$ can be one. Put the matrices side by side, multiply once, cut the result in three along its last axis. With $d_k = d_v = d_{model} = d$, as is usual, the matrix has shape $(d, 3d)$. By hand with $d = 1$: $x = 5$ times the row $(2, 3, 4)$ is $(10, 15, 20)$, which
# is query 10, key 15, value 20.

# %%
d = d_model
W_q, W_k, W_v = (torch.randn(d, d, generator=rng) / d**0.5 for _ in range(3))
W_qkv = torch.cat([W_q, W_k, W_v], dim=1)  # three times (d, d) -> (d, 3 d)

projected = x @ W_qkv  # (B, L, 3 d)
query, key, value = projected.chunk(3, dim=-1)  # three times (B, L, d)
for part, W in ((query, W_q), (key, W_k), (value, W_v)):
    assert torch.allclose(part, x @ W, atol=1e-5)
print("by hand:", (torch.tensor([[5.0]]) @ torch.tensor([[2.0, 3.0, 4.0]])).chunk(3, dim=-1))
print("matrix", tuple(W_qkv.shape), "  product", tuple(projected.shape), "  each part", tuple(query.shape))

# %% [markdown]
# The numbers are the same, and so are the multiplications. What is saved is starting three computations where one would do, and on fast hardware that counts. PyTorch's own layer, `nn.MultiheadAttention`, holds its projections in this fused form, as `in_proj_weight` of shape `(3 d, d)`. With a
# single head (lesson 06 has more), and its last projection set to the identity, it must give what we give:

# %%
layer = nn.MultiheadAttention(d, num_heads=1, bias=False, batch_first=True)
with torch.no_grad():
    layer.in_proj_weight.copy_(W_qkv.T)  # (3 d, d)
    layer.out_proj.weight.copy_(torch.eye(d))  # (d, d)
    theirs, their_weights = layer(x, x, x)
output, weights = attend(query, key, value)
assert torch.allclose(output, theirs, atol=1e-5) and torch.allclose(weights, their_weights, atol=1e-6)
print("fused projection and attend agree with nn.MultiheadAttention:", tuple(theirs.shape), tuple(their_weights.shape))

# %% [markdown]
# **The mistake it invites.** The three parts are blocks of *columns*. A reshape of the matrix to `(3, d, d)` has the right shape and the wrong content, because it cuts along the rows first (lesson 00):

# %%
right = torch.stack(W_qkv.chunk(3, dim=1))  # (3, d, d)
scrambled = W_qkv.reshape(3, d, d)  # (3, d, d)
print("same shape:", right.shape == scrambled.shape, "  same content:", torch.equal(right, scrambled))

# %% [markdown]
# ## 4.6 Cross-attention: two sequences
#
# A translator reads a sentence of $L_k$ words and writes one of $L_q$. Each position that is written asks the positions that were read. Queries come from one sequence $X$, keys and values from the other, called the **memory** $M$:
#
# $$Q = X W_q , \qquad K = M W_k , \qquad V = M W_v .$$
#
# Keys and values have to come from the *same* sequence, since each key needs its value. Nothing else has to agree: lengths and sizes of $X$ and $M$ may differ. **Predict first** the shapes of weights and output, for $X$ of shape `(2, 3, 6)`, $M$ of shape `(2, 7, 10)`, $d_k = 4$, $d_v = 5$.

# %%
def cross_attention(x, memory, W_q, W_k, W_v):
    query = x @ W_q  # (B, L_q, d_x) @ (d_x, d_k) -> (B, L_q, d_k)
    key = memory @ W_k  # (B, L_k, d_m) @ (d_m, d_k) -> (B, L_k, d_k)
    value = memory @ W_v  # (B, L_k, d_m) @ (d_m, d_v) -> (B, L_k, d_v)
    return attend(query, key, value)  # (B, L_q, d_v), (B, L_q, L_k)


target, memory = torch.randn(2, 3, 6, generator=rng), torch.randn(2, 7, 10, generator=rng)  # (B, L_q, d_x), (B, L_k, d_m)
C_q, C_k, C_v = (torch.randn(*shape, generator=rng) / shape[0] ** 0.5 for shape in ((6, 4), (10, 4), (10, 5)))
output, weights = cross_attention(target, memory, C_q, C_k, C_v)
print("weights", tuple(weights.shape), "  output", tuple(output.shape))

# %%
for b in range(2):
    assert torch.allclose(output[b], attention_loop(target[b] @ C_q, memory[b] @ C_k, memory[b] @ C_v), atol=1e-5)
projections = (target @ C_q, memory @ C_k, memory @ C_v)
assert torch.allclose(output, attention.scaled_dot_product_attention(*projections)[0], atol=1e-6)
assert torch.allclose(output, F.scaled_dot_product_attention(*projections), atol=1e-6)
assert torch.allclose(cross_attention(x, x, W_q, W_k, W_v)[0], self_attention(x, W_q, W_k, W_v)[0])
print("the loop, the vectorized form, course_utils and PyTorch agree; self-attention is the case memory = x")

# %%
ax = plotting.attention_heatmap(weights[0], ax=plotting.new_axes(5.6, 2.4))
plotting.show(ax, "Cross-attention weights of three queries over seven keys: a wide rectangle, each row sums to 1.")

# %% [markdown]
# *Notice the shape: one row for each position that asks, one column for each that is asked. A row sums to 1, a column need not.*

# %% [markdown]
# ## 4.7 Dropout on the weights
#
# Dropout sets each number to 0 with probability $p$ while training, and divides those that remain by $1 - p$, so that the mean stays the same. In attention it is often applied to the **weights**, after the softmax: a query must not rely on any single key. By hand: the weights
# $(\tfrac12, \tfrac14, \tfrac14)$ with $p = \tfrac12$, and the second one dropped, become $(1, 0, \tfrac12)$. They sum to $\tfrac32$.

# %%
by_hand = torch.tensor([0.5, 0.25, 0.25]) * torch.tensor([1.0, 0.0, 1.0]) / (1 - 0.5)
print("by hand", by_hand.tolist(), "sum", by_hand.sum().item())

w = torch.softmax(torch.randn(7, generator=rng), dim=-1)  # (L_k=7,)
p = 0.25
kept = torch.rand(20000, 7, generator=rng) >= p  # (20000, L_k), True with probability 1 - p
dropped = w * kept / (1 - p)  # (20000, L_k): the same weights, dropped 20000 times
print("weights before    ", w)
print("mean after dropout", dropped.mean(dim=0))
print(f"sums of the rows: mean {dropped.sum(-1).mean():.2f}, from {dropped.sum(-1).min():.2f} to {dropped.sum(-1).max():.2f}   share dropped {(dropped == 0).float().mean():.2f}")

# %% [markdown]
# So with dropout a row no longer sums to 1; it does so on average. The library's function and PyTorch's take `dropout_p` and apply it **whenever it is not 0**: unlike a layer, a function does not know whether you are training. Pass 0 when you evaluate.

# %%
projections = (target @ C_q, memory @ C_k, memory @ C_v)
torch.manual_seed(4)
output, weights = attention.scaled_dot_product_attention(*projections, dropout_p=0.25)
torch.manual_seed(4)
by_steps = F.dropout(attend(*projections)[1], p=0.25)  # (B, L_q, L_k), PyTorch's own
assert torch.allclose(weights, by_steps) and torch.allclose(output, by_steps @ projections[2], atol=1e-6)
assert torch.allclose(attention.scaled_dot_product_attention(*projections, dropout_p=0.0)[0], attend(*projections)[0], atol=1e-6)
ones = torch.ones(2, 3)  # (B, L_q)
print("rows sum to 1 with dropout:", torch.allclose(weights.sum(dim=-1), ones), "  without:", torch.allclose(attend(*projections)[1].sum(dim=-1), ones))

# %% [markdown]
# ## 4.8 What attention cannot see
#
# *Dog bites man* and *man bites dog* are made of the same words. **Predict first:** each word is given its vector, and self-attention without a mask runs over both sentences. Will the output of "dog" differ between them?

# %%
rng = torch.Generator().manual_seed(5)
vectors = dict(zip(("dog", "bites", "man"), torch.randn(3, d, generator=rng), strict=True))  # each (d,)
outputs = {}
for sentence in ("dog bites man", "man bites dog"):
    tokens = sentence.split()
    outputs[sentence] = dict(zip(tokens, self_attention(torch.stack([vectors[t] for t in tokens]), W_q, W_k, W_v)[0], strict=True))
for word in vectors:
    apart = (outputs["dog bites man"][word] - outputs["man bites dog"][word]).abs().max()
    print(f"{word:5}   largest difference between its two outputs: {apart:.4f}")

# %% [markdown]
# It does not differ: attention cannot tell who bites. The output is a *sum* over keys, a sum does not depend on its order, and no score depends on where a token stands. Put precisely, for any permutation $\pi$ of the tokens:
#
# - **permute keys and values together: nothing changes** (the output is invariant);
# - **permute the whole sequence: the output is permuted the same way** (self-attention is *equivariant*), and the weights in both their axes.

# %%
order = torch.tensor([3, 0, 5, 1, 4, 2])  # the permutation of L=6 tokens
output, weights = self_attention(x, W_q, W_k, W_v)  # (B, L, d), (B, L, L)
permuted_output, permuted_weights = self_attention(x[:, order], W_q, W_k, W_v)
assert torch.allclose(permuted_output, output[:, order], atol=1e-5)
assert torch.allclose(permuted_weights, weights[:, order][:, :, order], atol=1e-6)
assert torch.allclose(attend(query, key[:, order], value[:, order])[0], attend(query, key, value)[0], atol=1e-5)

left, right = plotting.new_axes(9.6, 3.6, columns=2)
labels = [f"t{i}" for i in range(6)]
plotting.attention_heatmap(weights[0], labels, labels, ax=left, title="in order")
plotting.attention_heatmap(permuted_weights[0], [labels[i] for i in order], [labels[i] for i in order], ax=right, title="permuted")
plotting.show(left, "Two heatmaps of the weights of six tokens, in order and permuted. Each pair of tokens has the same weight in both.")

# %% [markdown]
# *Notice that each pair of names has the same number on both sides. Only the rows and columns stand elsewhere.* In the language of 4.4: "apple" cannot see which adjective is its neighbor. If order is to count, the tokens have to carry their **positions**. Lesson 08 shows how. A mask (lesson 05) is the
# other thing that breaks the symmetry: if a token may look only at earlier ones, order matters. Shown with the library's mask:

# %%
earlier = torch.ones(L, L, dtype=torch.bool).tril()  # (L, L), True where the key is not later than the query
masked, _ = attention.scaled_dot_product_attention(query, key, value, earlier)
masked_permuted, _ = attention.scaled_dot_product_attention(query[:, order], key[:, order], value[:, order], earlier)
print("without a mask equivariant:", torch.allclose(permuted_output, output[:, order], atol=1e-5))
print("with a mask equivariant:   ", torch.allclose(masked_permuted, masked[:, order], atol=1e-5))

# %% [markdown]
# ## 4.9 What it costs
#
# Count multiplications for one sequence of $L$ tokens with $d_k = d_v = d_{model} = d$:
#
# | step | shapes | multiplications |
# |---|---|---|
# | three projections | $(L, d) \cdot (d, 3d)$ | $3 L d^2$ |
# | scores | $(L, d) \cdot (d, L)$ | $L^2 d$ |
# | weighted sum | $(L, L) \cdot (L, d)$ | $L^2 d$ |
#
# and $L^2$ weights have to be stored. By hand for $L = 2$, $d = 3$: projections $3 \cdot 2 \cdot 9 = 54$, the rest $2 \cdot 4 \cdot 3 = 24$. PyTorch's counter (lesson 02) counts two operations a multiplication, so its count is halved.

# %%
def multiplications(compute):
    with FlopCounterMode(display=False) as counter:
        compute()
    return counter.get_total_flops() // 2


def counted(L, d):
    x, W = torch.zeros(L, d), torch.zeros(d, 3 * d)  # (L, d), (d, 3 d)
    query, key, value = (x @ W).chunk(3, dim=-1)  # three times (L, d)
    return multiplications(lambda: x @ W), multiplications(lambda: attend(query, key, value)), attend(query, key, value)[1].nbytes


print("L = 2, d = 3:", counted(2, 3)[:2])
lengths = [32, 64, 128, 256, 512, 1024]
table = {L: counted(L, 64) for L in lengths}  # d = 64
for L, (projection, pairs, stored) in table.items():
    assert projection == 3 * L * 64**2 and pairs == 2 * L**2 * 64 and stored == 4 * L**2  # float32: 4 bytes a weight
    print(f"L = {L:4}   projections {projection / 1e6:6.2f} million   every query with every key {pairs / 1e6:7.2f} million   weights {stored / 2**10:6.0f} KiB")

# %%
n = torch.tensor(lengths, dtype=torch.float32)  # (6,)
lines = {
    "projections": torch.tensor([table[L][0] / 1e6 for L in lengths]),
    "every query with every key": torch.tensor([table[L][1] / 1e6 for L in lengths]),
}
ax = plotting.curves(n, lines, xlabel="length L (log scale)", ylabel="million multiplications (log scale)", ax=plotting.new_axes(6.0, 3.6))
ax.set_xscale("log", base=2)
ax.set_yscale("log", base=2)
plotting.show(ax, "Multiplications against length, both axes logarithmic, d = 64. The projections rise with slope 1, the products of queries and keys with slope 2; they cross near length 96.")
print("doubling L from 512 to 1024: projections times", table[1024][0] // table[512][0], "- pairs times", table[1024][1] // table[512][1], "- weights times", table[1024][2] // table[512][2])
print("equal at L = 1.5 d =", int(1.5 * 64), ":", counted(96, 64)[0] == counted(96, 64)[1])

# %% [markdown]
# *Notice the two slopes: doubling $L$ doubles the one and makes the other four times as large.* Both cost the same where $2 L^2 d = 3 L d^2$, that is at $L = 1.5\, d$. For texts much longer than the vectors are wide, the $L^2$ decides. The time follows, roughly. (Your numbers will differ from those stored here.)

# %% tags=["nbval-ignore-output"]
def seconds(L):
    rng = torch.Generator().manual_seed(6)
    parts = [torch.randn(1, L, 64, generator=rng) for _ in range(3)]  # each (1, L, d)
    return min(timeit.repeat(lambda: attend(*parts), number=1, repeat=5))


for L in (256, 512, 1024, 2048):
    print(f"L = {L:4}   {1000 * seconds(L):7.2f} ms   (on this machine, today)")

# %% [markdown]
# ## Look: size of the keys, and the scale
#
# The live figure has one query and 16 random keys, of which the first $d_k$ entries are used. At the left its weights, at the right the size of d(weights)/d(scores): lines for the mean of 200 queries, a square for this one. Start with `scaled` off and move $d_k$ from 1 to 1024. Where does one
# key begin to decide alone? Then switch `scaled` on and move it back. First the starting position as a still picture:

# %%
explorer = widgets.scaling()
explorer.show_first_state("Left: weights of one query over 16 keys for d_k = 64 without scaling; a single bar is almost 1. Right: the size of the gradient falls with d_k if the scores are not scaled, and stays near 0.3 if they are.")

# %%
explorer

# %% [markdown]
# *Notice how few bars can be seen at the left, and that the square at the right lies far below the scaled line: the scores of this query would learn little.*

# %% [markdown]
# ## What goes wrong
#
# **Divided by $d_k$, or scaled after the softmax.** Both run. The first gives weights that are nearly equal for wide vectors; the second leaves the softmax saturated, and makes the rows sum to too little. How you would notice: look at the entropy of the weights before training (near $\ln L_k$ means "cannot choose"), and
# at the sum of each row.

# %%
d_k, L_k = 256, 16
scores = random_scores(d_k)  # (200, L_k=16)
versions = {
    "right": torch.softmax(scores / d_k**0.5, dim=-1),
    "divided by d_k": torch.softmax(scores / d_k, dim=-1),
    "scaled after the softmax": torch.softmax(scores, dim=-1) / d_k**0.5,
}
for name, weights in versions.items():
    shares = weights / weights.sum(-1, keepdim=True)  # (200, 16)
    print(f"{name:25} entropy {torch.special.entr(shares).sum(-1).mean():.2f} of at most {math.log(L_k):.2f}   row sum {weights.sum(-1).mean():.2f}")

# %% [markdown]
# **Values made with the key projection.** One letter in `v = k_proj(x)`. It runs, the shapes are right, and it even trains: keys learn to serve as values too. How you would notice: `v_proj` gets no gradient. Here both versions learn the same small task, the mean of all tokens through a fixed matrix.

# %%
def train(value_by, steps=60):
    torch.manual_seed(7)
    layers = nn.ModuleDict({name: nn.Linear(8, 8, bias=False) for name in ("q_proj", "k_proj", "v_proj")})
    data = torch.randn(32, 6, 8)  # (B, L, d)
    goal = (data.mean(dim=1, keepdim=True) @ torch.randn(8, 8)).expand(-1, 6, -1)  # (B, L, d)
    losses = []
    for _ in range(steps):
        output, _ = attend(layers["q_proj"](data), layers["k_proj"](data), layers[value_by](data))  # (B, L, d)
        loss = ((output - goal) ** 2).mean()
        layers.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in layers.parameters():
                parameter -= 0.5 * (0.0 if parameter.grad is None else parameter.grad)
        losses.append(loss.item())
    return losses, layers["v_proj"].weight.grad


for value_by in ("v_proj", "k_proj"):
    losses, gradient = train(value_by)
    print(f"values by {value_by}   loss {losses[0]:.2f} -> {losses[-1]:.2f}   gradient of v_proj: {'None' if gradient is None else 'there'}")

# %% [markdown]
# **Transposed, swapped, or the wrong thing added up.** As long as $L_q = L_k$ and $d_k = d_v$, none of these complains. How you would notice: try each function once with sizes that all differ, as the checks of this course do.

# %%
variants = {
    "right": lambda q, k, v, w: w @ v,
    "weights.transpose @ value": lambda q, k, v, w: w.transpose(-2, -1) @ v,
    "query and key swapped": lambda q, k, v, w: attend(k, q, v)[0],
    "weights @ key": lambda q, k, v, w: w @ k,
}
rng = torch.Generator().manual_seed(8)
for name, variant in variants.items():
    told = []
    for L_q, L_k, d_k, d_v in ((4, 4, 3, 3), (2, 4, 3, 5)):
        q, k, v = torch.randn(L_q, d_k, generator=rng), torch.randn(L_k, d_k, generator=rng), torch.randn(L_k, d_v, generator=rng)
        try:
            told.append(f"{tuple(variant(q, k, v, attend(q, k, v)[1]).shape)}, should be {(L_q, d_v)}")
        except RuntimeError as problem:
            told.append(f"{type(problem).__name__}, the sizes do not fit")
    print(f"{name}\n    equal sizes:     {told[0]}\n    different sizes: {told[1]}")

# %% [markdown]
# ## In practice
#
# - Use `F.scaled_dot_product_attention`. It takes the scale from the last size of the query (or from `scale=`), picks a fast kernel where there is one, and hands back no weights.
# - **Fused kernels** such as FlashAttention compute the same output block by block, and never store all $L^2$ weights. The multiplications stay; the memory does not grow with $L^2$. The cell below adds up what PyTorch keeps for the backward pass.
# - In **half precision**, scale the query *before* the product. Afterwards can be too late: the unscaled sum may already be infinite. The library does it in this order.
# - Other names: the fused matrix is `c_attn` in GPT-2, `in_proj_weight` in PyTorch, `qkv_proj` or `to_qkv` elsewhere; cross-attention is also called encoder-decoder attention, and the memory the *context*.
# - Not every model scales by $\sqrt{d_k}$. T5 leaves the scale out and starts with smaller weights instead. The $\mu$P recipe divides by $d_k$, because in training queries and keys do not stay independent. Load weights with the scale they were trained with.

# %% tags=["nbval-ignore-output"]
def bytes_kept(compute, *inputs):
    kept = {}
    inputs = [tensor.clone().requires_grad_() for tensor in inputs]
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.__setitem__(t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()), lambda _: None):
        output = compute(*inputs)  # held while we count, so that no storage is used twice
    return sum(kept.values()) if output is not None else 0


for L in (256, 512, 1024):
    parts = [torch.zeros(1, 1, L, 64) for _ in range(3)]  # (B, H, L, d)
    explicit, fused = (bytes_kept(f, *parts) / 2**20 for f in (lambda q, k, v: attend(q, k, v)[0], F.scaled_dot_product_attention))
    print(f"L = {L:4}   kept for the backward pass: explicit {explicit:5.2f} MiB   F.scaled_dot_product_attention {fused:5.2f} MiB   (this PyTorch, this machine)")

# %%
half_q, half_k = torch.full((1, 128), 30.0, dtype=torch.float16), torch.full((128, 1), 30.0, dtype=torch.float16)  # (1, d_k), (d_k, 1)
after, before = (half_q @ half_k) / 128**0.5, (half_q / 128**0.5) @ half_k  # (1, 1)
print("largest float16", torch.finfo(torch.float16).max, "  the sum", 128 * 30.0**2)
print("scaled after the product: finite", after.isfinite().item(), "  scaled before it: finite", before.isfinite().item())
two_keys = half_k.T.expand(2, 128)  # (L_k=2, d_k)
print("library:", attention.scaled_dot_product_attention(half_q, two_keys, two_keys)[1], "  scaled after:", attend(half_q, two_keys, two_keys)[1])

# %% [markdown]
# ## Recap
#
# 1. **Why scale**: a dot product of $d_k$ independent products has variance $d_k$, so its typical size is $\sqrt{d_k}$. Unscaled, wide vectors saturate the softmax and its Jacobian vanishes; divided by $d_k$, the weights become uniform.
# 2. **Attention**: all pairs, divide by $\sqrt{d_k}$, softmax over the keys, weighted sum of the values. Two matrix products.
# 3. **Self-attention**: queries, keys and values of one sequence. Three projections: two so that scores need not be symmetric, a third so that what is handed over can differ from what is matched. One matrix $(d, 3d)$ does all three.
# 4. **Cross-attention**: queries of one sequence, keys and values of the other; $L_q$ and $L_k$ may differ.
# 5. **Cost and blindness**: $2 L^2 d$ multiplications and $L^2$ weights besides the $3 L d^2$ of the projections. Without positions or a mask, a permutation of the tokens only permutes the output.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $X$, $M$ | the sequence that asks; the memory that is asked | $(L, d_{model})$; $(L_k, d_m)$ |
# | $W_q$, $W_k$, $W_v$ | projections, to the right of $X$ | $(d_{model}, d_k)$ twice, $(d_{model}, d_v)$ |
# | $W_{qkv}$ | the fused projection | $(d, 3d)$ |
# | $Q$, $K$, $V$ | queries, keys, values | $(L_q, d_k)$, $(L_k, d_k)$, $(L_k, d_v)$ |
# | $Q K^\top / \sqrt{d_k}$ | scaled scores | $(L_q, L_k)$ |
# | $w$ | weights; each row sums to 1 | $(L_q, L_k)$ |
# | $J = \operatorname{diag}(w) - w w^\top$ | Jacobian of the softmax | $(L_k, L_k)$ for each query |
# | $p$ | probability of dropout on the weights | a number |
# | $\pi$ | a permutation of the tokens | $L$ whole numbers |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. Queries and keys have 64 independent entries of variance 1. What is the standard deviation of a score before and after scaling? And if the entries of the queries have variance 4?</summary>
#
# **8 and 1; with variance 4 it is 16 and 2.** Each product then has variance 4, and the sum 256. The scale knows the number of entries, not their size. (Not 64 before scaling: that is the variance.)
# </details>
#
# <details><summary>2. Somebody divides by the root of the number of keys, since "more keys, larger sums". What is wrong with the reason?</summary>
#
# **A score is a sum over the entries of a vector, not over the keys.** Its size depends on $d_k$ alone. The sum over keys stands in the softmax, which normalizes it already. (It is not "the same thing": $L_k$ changes with every sentence, $d_k$ does not.)
# </details>
#
# <details><summary>3. In self-attention W_q and W_k are the same matrix. What can the layer no longer do?</summary>
#
# **Have a score of i for j that differs from that of j for i.** The scores become symmetric. The weights need not be: each row is normalized by itself. (It can still learn, and values are not affected.)
# </details>
#
# <details><summary>4. X has shape (8, 10, 32), the memory (8, 20, 48), d_k = 16, d_v = 24. What are the shapes of W_q, W_k, W_v, the weights and the output?</summary>
#
# **(32, 16), (48, 16), (48, 24), (8, 10, 20), (8, 10, 24).** Keys and values come from the memory, so their matrices start at 48. (With W_v of shape (32, 24) the values would have to come from X, and there would be 10 of them for 20 keys.)
# </details>
#
# <details><summary>5. The keys and values of a cross-attention are shuffled together. What happens to the output? And if only the keys are shuffled?</summary>
#
# **Nothing; and a different output.** A key and its value form a pair, and the order of pairs plays no part. Shuffling the keys alone breaks the pairs: the weights are then given to the wrong values. (Not "the output is shuffled": its rows belong to the queries, which stayed where they were.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.1, equation 1 and footnote 4: the formula, and the variance of the dot product in one sentence. Section 3.2.3: self-attention and encoder-decoder attention. Section 3.5: why positions have to be added. Section 4 and table 1: the cost against recurrence and convolution.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3.1: the dot product as a score before anyone scaled it.
# - Srivastava et al., *Dropout: A Simple Way to Prevent Neural Networks from Overfitting*, 2014: what is dropped in 4.7, and why the rest is made larger.
# - Lee et al., *Set Transformer*, 2019: makes a virtue of section 4.8, attention for sets, where order must not count.
# - Dao et al., *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, 2022, section 3.1: the same output without ever storing the weights.
# - Raffel et al., *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, 2020 (T5), and Yang et al., *Tensor Programs V*, 2022 ($\mu$P): two models of scaling other than $\sqrt{d_k}$.

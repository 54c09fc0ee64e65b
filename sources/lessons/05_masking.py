# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05 · Masking
#
# At the end you can build, combine and convert attention masks, keep fully masked rows harmless, and prove that no token sees its future.
#
# {{colab_link}} · about 80 minutes · builds on lesson 04

# %% tags=["setup"]
import math
import timeit

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import attention, masks, plotting, widgets

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# **You will learn to**
#
# 1. say what padding, causal, memory and window masks are for, and build each in its shape;
# 2. apply a mask so that hidden keys get no weight and nothing else changes, also in half precision;
# 3. combine masks by broadcasting, and convert between the four conventions found in other people's code;
# 4. say what becomes of a row in which everything is masked, and keep it free of NaN, forward and backward;
# 5. prove that nothing leaks from the future.
#
# Lesson 04 let every query see every key. Often some keys must not be seen: because they are filler, or because they are the answer.

# %% [markdown]
# ## Predict first
#
# A query has the score 0 with each of three keys. The values are 10, 20 and 90. The third key is *padding*: filler without meaning. The right answer is the average of the first two.
#
# Somebody hides the third key by setting its score to 0. What does the query get? And what if the score is set to $-\infty$? Write two numbers down.

# %%
values = torch.tensor([10.0, 20.0, 90.0])  # (L_k=3,)
for name, hidden_score in (("0", 0.0), ("minus infinity", -math.inf)):
    scores = torch.tensor([0.0, 0.0, hidden_score])  # (L_k=3,)
    weights = torch.softmax(scores, dim=-1)  # (L_k=3,)
    print(f"score set to {name:15} weights {[round(w, 3) for w in weights.tolist()]}   output {weights @ values:.0f}")

# %% [markdown]
# A score of 0 is a score like any other: $e^0 = 1$. Here it changed nothing at all. Only $-\infty$ has the exponential 0.

# %% [markdown]
# ## 5.1 What a mask is
#
# A **mask** is a table of booleans with one row for each query and one column for each key. In this course
#
# $$M_{ij} = \text{True} \quad\text{means: query } i \text{ may attend to key } j ,$$
#
# and masked attention is a softmax over the allowed keys only:
#
# $$w_{ij} = \frac{M_{ij}\, e^{s_{ij}}}{\sum_{m} M_{im}\, e^{s_{im}}} , \qquad s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} ,$$
#
# with $q_i$ a query and $k_j$ a key, both of size $d_k$, and $M_{ij}$ read as 1 or 0. By hand: scores $\ln 1, \ln 3, \ln 4$, the third key hidden. The exponentials are 1, 3 and 4; the 4 does not count; the weights are $\tfrac14, \tfrac34, 0$.
#
# As a loop, the hidden keys are left out. That is the definition; everything faster must agree with it.

# %%
def masked_attention_loop(query, key, value, mask):
    outputs = []
    for i in range(len(query)):
        seen = [j for j in range(len(key)) if mask[i, j]]
        scores = torch.stack([query[i] @ key[j] / math.sqrt(key.shape[-1]) for j in seen])
        weights = torch.softmax(scores, dim=-1)  # over the allowed keys only
        outputs.append(sum(w * value[j] for w, j in zip(weights, seen, strict=True)))
    return torch.stack(outputs)


by_hand = torch.tensor([1.0, 3.0, 4.0]).log()  # scores; one query of size 1, equal to 1, makes them
print("1/4 of 10 and 3/4 of 20:", masked_attention_loop(torch.ones(1, 1), by_hand[:, None], values[:, None], torch.tensor([[True, True, False]])).item())

# %% [markdown]
# Without a loop: the hidden scores become $-\infty$ before the softmax. `masked_fill` fills where its first argument is True, so it gets the mask turned around.

# %%
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (L_q, L_k)
    scores = scores.masked_fill(~mask, -math.inf)  # (L_q, L_k)
    weights = torch.softmax(scores, dim=-1)  # (L_q, L_k), each row sums to 1
    return weights @ value, weights  # (L_q, d_v), (L_q, L_k)


rng = torch.Generator().manual_seed(0)
L_q, L_k, d_k, d_v = 4, 6, 8, 3
query, key, value = torch.randn(L_q, d_k, generator=rng), torch.randn(L_k, d_k, generator=rng), torch.randn(L_k, d_v, generator=rng)
mask = torch.rand(L_q, L_k, generator=rng) > 0.4  # (L_q, L_k)
output, weights = masked_attention(query, key, value, mask)

assert torch.allclose(output, masked_attention_loop(query, key, value, mask), atol=1e-6)
library, library_weights = attention.scaled_dot_product_attention(query, key, value, mask)
assert torch.allclose(output, library, atol=1e-6) and torch.allclose(weights, library_weights, atol=1e-6)
assert torch.allclose(output, F.scaled_dot_product_attention(query[None], key[None], value[None], mask)[0], atol=1e-6)
assert (weights[~mask] == 0).all()
print("the loop, the vectorized form, course_utils and PyTorch agree; hidden weights are exactly 0")

# %% [markdown]
# ## 5.2 Why minus infinity before the softmax, and not zero after it
#
# One could also compute the softmax over everything and set the hidden weights to 0 *afterwards*. Two things go wrong. First, the rows no longer sum to 1. Second, and worse: the hidden scores are still in the denominator, so they still *act*.
#
# **Predict first.** One query, three keys, the third hidden. We raise the hidden score from 0 to 4. Which of the two ways notices?

# %%
keep = torch.tensor([True, True, False])  # (L_k=3,)
for hidden_score in (0.0, 2.0, 4.0):
    scores = torch.tensor([0.0, 1.0, hidden_score])  # (L_k=3,)
    before = torch.softmax(scores.masked_fill(~keep, -math.inf), dim=-1)
    after = torch.softmax(scores, dim=-1) * keep
    print(f"hidden score {hidden_score:.0f}   minus infinity before {before}   zero after {after}   sum {after.sum():.3f}")

# %% [markdown]
# The zeros hide the key's *value*. Its score still decides how much the others get. If the hidden key is a token of the future, that is a leak, and section 5.12 will catch it.
#
# **And if each row is divided by its sum again?** Then the old denominator cancels, and the result is right, in exact arithmetic. In floating point a large hidden score can take so much weight that nothing is left to divide:

# %%
for hidden_score in (4.0, 60.0, 200.0):
    scores = torch.tensor([0.0, 1.0, hidden_score])  # (L_k=3,)
    after = torch.softmax(scores, dim=-1) * keep
    print(f"hidden score {hidden_score:3.0f}   zero after, divided by the sum {after / after.sum()}")

# %% [markdown]
# ## 5.3 The padding mask
#
# Sentences of a batch differ in length, and a tensor does not. So short sentences are filled up with a padding token. Attention must not see it: what a sentence means does not depend on its neighbors in the batch.
#
# Padding is a property of the *keys*: one boolean for each token of each sentence, shape `(B, L_k)`. To broadcast against scores of shape `(B, H, L_q, L_k)` it needs two axes in between, one for the heads (lesson 06) and one for the queries:

# %%
PAD = 0
words = ["<pad>", "the", "cat", "sat", "down", "birds", "sing"]
tokens = torch.tensor([[1, 2, 3, 4], [5, 6, PAD, PAD]])  # (B=2, L_k=4)

keep = tokens != PAD  # (B, L_k)
pad_mask = keep[:, None, None, :]  # (B, 1, 1, L_k)
assert torch.equal(pad_mask, masks.padding_mask(tokens, PAD))
for sentence, row in zip(tokens.tolist(), pad_mask[:, 0, 0].tolist(), strict=True):
    print([words[t] for t in sentence], "->", row)

# %% [markdown]
# The test of a padding mask: the second sentence, computed in the batch, must come out as it does alone.

# %%
rng = torch.Generator().manual_seed(1)
embedding = torch.randn(len(words), 8, generator=rng)  # (vocabulary, d_model=8)
x = embedding[tokens]  # (B, L, d_model)
alone = embedding[tokens[1:, :2]]  # (1, 2, d_model): "birds sing", no padding

batch_output, batch_weights = attention.scaled_dot_product_attention(x, x, x, pad_mask[:, 0])  # mask (B, 1, L_k)
alone_output, _ = attention.scaled_dot_product_attention(alone, alone, alone)
unmasked_output, unmasked_weights = attention.scaled_dot_product_attention(x, x, x)
print(f"difference to the sentence alone: masked {(batch_output[1, :2] - alone_output[0]).abs().max():.6f}, not masked {(unmasked_output[1, :2] - alone_output[0]).abs().max():.3f}")
assert torch.allclose(batch_output[1, :2], alone_output[0], atol=1e-6)

# %%
left, right = plotting.new_axes(9.0, 3.4, columns=2)
labels = [words[t] for t in tokens[1].tolist()]
plotting.attention_heatmap(unmasked_weights[1], labels, labels, ax=left, title="no mask")
plotting.attention_heatmap(batch_weights[1], labels, labels, ax=right, title="padding masked")
plotting.show(left, "Weights of the sentence birds sing pad pad. Without a mask the two padding columns hold weight; with it they are zero, and each row still sums to 1.")

# %% [markdown]
# *Notice the two padding columns: on the right they are 0 in every row.* The rows of the padding are still there. A padding token, as a query, computes something that nobody needs. One lets it, and leaves those positions out of the
# loss (lesson 10). Hiding the rows instead would give rows in which everything is masked, the subject of section 5.11.

# %% [markdown]
# ## 5.4 The causal mask
#
# A language model predicts the next token at *every* position at once. Position $i$ is asked for token $i + 1$. If it could see token $i + 1$, it would copy it and learn nothing. So query $i$ may see keys $j \le i$: its past and itself.
#
# By hand for four positions: one key in the first row, then two, three, four.

# %%
by_hand = torch.tensor([
    [1, 0, 0, 0],
    [1, 1, 0, 0],
    [1, 1, 1, 0],
    [1, 1, 1, 1],
]).bool()  # (L_q=4, L_k=4)


def causal_loop(L):
    mask = torch.zeros(L, L, dtype=torch.bool)
    for i in range(L):
        for j in range(L):
            mask[i, j] = j <= i
    return mask


positions = torch.arange(4)
vectorized = positions[None, :] <= positions[:, None]  # (1, L_k) against (L_q, 1) -> (L_q, L_k)
assert torch.equal(by_hand, causal_loop(4)) and torch.equal(by_hand, vectorized)
assert torch.equal(by_hand, torch.ones(4, 4, dtype=torch.bool).tril())  # the lower triangle
assert torch.equal(by_hand, masks.causal_mask(4)[0, 0])  # (1, 1, L_q, L_k) in the library
print("by hand, loop, comparison, triangle and course_utils agree")

# %% [markdown]
# **What it buys.** With a causal mask, one pass over the whole sentence gives at each position what a pass over the prefix alone would give. Four predictions are trained at the price of one pass:

# %%
sentence = x[:1]  # (1, L=4, d_model), "the cat sat down"
whole, causal_weights = attention.scaled_dot_product_attention(sentence, sentence, sentence, masks.causal_mask(4)[0])
for t in range(1, 5):
    prefix = sentence[:, :t]  # (1, t, d_model)
    last, _ = attention.scaled_dot_product_attention(prefix[:, -1:], prefix, prefix)  # (1, 1, d_model), no mask needed
    assert torch.allclose(whole[:, t - 1], last[:, 0], atol=1e-6)
assert torch.allclose(whole, F.scaled_dot_product_attention(sentence, sentence, sentence, is_causal=True), atol=1e-6)
print("one masked pass = four passes over the prefixes = PyTorch's is_causal=True")

labels = [words[t] for t in tokens[0].tolist()]
ax = plotting.attention_heatmap(causal_weights[0], labels, labels, ax=plotting.new_axes(4.6, 3.6))
plotting.show(ax, "Causal weights of the cat sat down: zero above the diagonal, the first row has all its weight on itself.")

# %% [markdown]
# *Notice the first row: it sees one key only, itself, so its weight there is 1, whatever the scores are.*

# %% [markdown]
# ## 5.5 Fewer queries than keys: two ways to align
#
# When a model writes text, it keeps the keys and values of earlier positions in a cache (lesson 07) and computes only the new queries. Say 5 positions are known and 2 of them are new: $L_q = 2$, $L_k = 5$. The mask is no longer square, and "$j \le i$" is no
# longer right, because query 0 is not at position 0.
#
# - **Top-left**: query 0 stands at key 0. The condition is $j \le i$.
# - **Bottom-right**: the *last* query stands at the *last* key. The condition is $j \le i + (L_k - L_q)$.
#
# **Predict first.** Which of the two lets the newest token see itself?

# %%
L_q, L_k = 2, 5
i, j = torch.arange(L_q)[:, None], torch.arange(L_k)[None, :]  # (L_q, 1), (1, L_k)
top_left = j <= i  # (L_q, L_k)
bottom_right = j <= i + (L_k - L_q)  # (L_q, L_k)
assert torch.equal(bottom_right, masks.causal_mask(L_q, L_k)[0, 0])

left, right = plotting.new_axes(8.0, 2.6, columns=2)
plotting.number_grid(top_left.int(), shades=top_left.int() + 1, ax=left, title="top-left")
plotting.number_grid(bottom_right.int(), shades=bottom_right.int() + 1, ax=right, title="bottom-right")
plotting.show(left, "Two masks with 2 rows and 5 columns. Top-left: the rows see one and two keys. Bottom-right: four and five keys.")

# %% [markdown]
# *Rows are queries, columns keys, and 1 means may attend. Notice the last column, the newest key: with top-left no query sees it.* Bottom-right is what a cache needs: the new rows must be the last rows of the full result. We compute all 5 positions at once, then only the last 2:

# %%
rng = torch.Generator().manual_seed(2)
x5 = torch.randn(1, 5, 8, generator=rng)  # (1, L=5, d_model)
full, _ = attention.scaled_dot_product_attention(x5, x5, x5, masks.causal_mask(5)[0])  # (1, 5, d_model)
for name, mask in (("bottom-right", bottom_right), ("top-left", top_left)):
    new, _ = attention.scaled_dot_product_attention(x5[:, -2:], x5, x5, mask)  # (1, 2, d_model)
    print(f"{name:13} difference to the full result {(new - full[:, -2:]).abs().max():.3f}")

# %% [markdown]
# PyTorch's `is_causal=True` is aligned top-left, and says so in its documentation. It is right when $L_q = L_k$. With a cache, pass a mask, or use `causal_lower_right` from `torch.nn.attention.bias`:

# %%
from torch.nn.attention.bias import causal_lower_right

q, k = x5[:, None, -2:], x5[:, None]  # (1, H=1, L_q=2, d), (1, H=1, L_k=5, d)
flag = F.scaled_dot_product_attention(q, k, k, is_causal=True)[:, 0]  # (1, 2, d)
lower_right = F.scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(2, 5))[:, 0]  # (1, 2, d)
print(f"is_causal=True is top-left: {torch.allclose(flag, attention.scaled_dot_product_attention(q, k, k, top_left)[0][:, 0], atol=1e-6)}")
print(f"causal_lower_right gives the cached rows: {torch.allclose(lower_right, full[:, -2:], atol=1e-6)}")

# %% [markdown]
# ## 5.6 The memory mask, in cross-attention
#
# In cross-attention the queries come from one sequence (the target) and the keys from another, the **memory** (the source). The mask has $L_q$ rows and $L_k$ columns that count different things, and "the future" of the source is no secret: a
# translator has read it all. Usually the memory mask hides only the padding *of the source*, as a `(B, 1, 1, L_k)` mask. The target's padding has no place in it.
#
# A full `(L_q, L_k)` memory mask says which source positions each target position may use. An interpreter who starts to speak two words behind the speaker may see $i + 2$ source words when saying word $i$ (counted from 0):

# %%
source = torch.tensor([[1, 2, 3, 4, 5], [1, 6, 3, PAD, PAD]])  # (B=2, L_k=5)
L_q, L_k = 4, 5
wait_two = torch.arange(L_k)[None, :] < torch.arange(L_q)[:, None] + 2  # (L_q, L_k)
memory_mask = wait_two & masks.padding_mask(source, PAD)  # (L_q, L_k) & (B, 1, 1, L_k) -> (B, 1, L_q, L_k)

left, right = plotting.new_axes(8.0, 3.4, columns=2)
for b, ax in enumerate((left, right)):
    plotting.number_grid(memory_mask[b, 0].int(), shades=memory_mask[b, 0].int() + 1, ax=ax, title=f"item {b}")
plotting.show(left, "Memory masks with 4 rows and 5 columns. Each row allows one more source word; in item 1 the last two columns are hidden for all rows.")

# %% [markdown]
# *Notice that both items share the staircase, and that item 1 also loses its last two columns, the padding of its source.*

# %% [markdown]
# ## 5.7 Broadcasting and combining
#
# | mask | shape | the same for all |
# |---|---|---|
# | padding of the keys | `(B, 1, 1, L_k)` | heads, queries |
# | causal, window | `(1, 1, L_q, L_k)` | items, heads |
# | memory | `(B, 1, 1, L_k)`, or `(B, 1, L_q, L_k)` as above | heads |
# | one head switched off | `(1, H, 1, 1)` | items, queries, keys |
#
# Each mask is stored small and stretched by broadcasting (lesson 00) where it meets the scores. A key may be seen if **all** masks allow it, so masks are combined by *and*, `&`. (With True = ignore it would be *or*: one reason
# why conventions must not be mixed.)

# %%
tokens = torch.tensor([[1, 2, 3, 4, 5], [PAD, PAD, 6, 3, 5]])  # (B=2, L=5); item 1 is padded on the LEFT
padding, causal = masks.padding_mask(tokens, PAD), masks.causal_mask(5)  # (B, 1, 1, L), (1, 1, L, L)
both = padding & causal  # (B, 1, L_q, L_k)

expected = torch.zeros(2, 1, 5, 5, dtype=torch.bool)
for b in range(2):
    for i in range(5):
        for j in range(5):
            expected[b, 0, i, j] = bool(tokens[b, j] != PAD) and j <= i
assert torch.equal(both, expected) and torch.equal(both, masks.combine_masks(padding, None, causal))
print(tuple(padding.shape), "&", tuple(causal.shape), "->", tuple(both.shape))

left, right = plotting.new_axes(7.6, 3.8, columns=2)
for b, ax in enumerate((left, right)):
    plotting.number_grid(both[b, 0].int(), shades=both[b, 0].int() + 1, ax=ax, title=f"item {b}: padding and causal")
plotting.show(left, "Combined masks, 5 by 5. Item 0 is a full lower triangle. Item 1 has lost its first two columns, so its first two rows are all zeros.")

# %% [markdown]
# *Notice the first two rows of item 1: left padding and causality together leave them nothing.* Decoders often pad on the left, so that the newest tokens of a batch line up. Such rows are then normal, and not an error.

# %% [markdown]
# ## 5.8 Sliding windows
#
# A causal mask allows about half of all $L^2$ pairs. A **sliding window** allows each query only the $w$ newest keys, its own position included:
#
# $$0 \le p_i - j < w , \qquad p_i = i + (L_k - L_q) ,$$
#
# with $p_i$ the position of query $i$. The number of pairs then grows with $L \cdot w$.

# %%
def window_loop(L, w):
    return torch.tensor([[i - w < j <= i for j in range(L)] for i in range(L)])


behind = torch.arange(8)[:, None] - torch.arange(8)[None, :]  # (L_q, L_k), how far key j lies behind query i
window = (behind >= 0) & (behind < 3)  # (L_q, L_k)
assert torch.equal(window, window_loop(8, 3)) and torch.equal(window, masks.sliding_window_mask(8, window=3)[0, 0])
for L in (1000, 2000, 4000):
    causal_pairs, window_pairs = int(masks.causal_mask(L).sum()), int(masks.sliding_window_mask(L, window=128).sum())
    print(f"L = {L}   causal {causal_pairs:8} pairs   window of 128 {window_pairs:7} pairs")

# %% [markdown]
# **Predict first.** With a window of 3, can the last of 8 positions know anything about position 1? In one layer it cannot. But position 5 has seen position 3, and position 3 has seen position 1. Which positions reach which, through $n$ layers, is the mask
# multiplied $n$ times by itself:

# %%
reach = [window.float()]
for _ in range(2):
    reach.append((reach[-1] @ window.float()).clamp(max=1))  # (L, L), 1 where some path leads from j to i
for n, r in enumerate(reach, 1):
    print(f"{n} layer(s): the last position can know about {int(r[-1].sum())} positions; the formula n (w - 1) + 1 says {n * 2 + 1}")

axes = plotting.new_axes(9.0, 3.8, columns=3)
for n, (ax, r) in enumerate(zip(axes, reach, strict=True), 1):
    plotting.number_grid(r.int(), shades=r.int() + 1, ax=ax, title=f"{n} layer(s), window 3")
plotting.show(axes[0], "Three 8 by 8 grids. The band of ones below the diagonal is 3, 5 and 7 wide after one, two and three layers.")

# %% [markdown]
# *Notice how the band grows by two with each layer: $n$ layers with a window of $w$ reach $n(w-1)$ positions back.*

# %% [markdown]
# ## 5.9 Four conventions in the wild
#
# | convention | allowed | hidden | met in |
# |---|---|---|---|
# | boolean, True = may attend | True | False | this course, `F.scaled_dot_product_attention` |
# | boolean, True = ignore | False | True | `nn.MultiheadAttention`, `nn.Transformer` |
# | additive, floating point | 0 | $-\infty$ | both of PyTorch's, for biases as well |
# | integers | 1 | 0 | `attention_mask` of many tokenizers |
#
# Nothing in a tensor says which one it follows. Convert at the border, once, and use one convention inside:

# %%
mask = masks.causal_mask(3)[0, 0]  # (L_q=3, L_k=3), True = may attend
ignore = ~mask  # True = ignore
additive = torch.zeros(3, 3).masked_fill(~mask, -math.inf)  # 0 or -inf, to be added to the scores
integers = mask.long()  # 1 or 0

assert torch.equal(~ignore, mask) and torch.equal(additive == 0, mask) and torch.equal(integers.bool(), mask)
print("True = may attend", mask[0].tolist())
print("True = ignore    ", ignore[0].tolist())
print("additive         ", additive[0].tolist())
print("integers         ", integers[0].tolist())

# %% [markdown]
# Each consumer gets its own form, and all give the same result. (The `nn.MultiheadAttention` here has one head and identity projections, so that it computes plain attention.)

# %%
def plain_mha(size):
    module = nn.MultiheadAttention(size, num_heads=1, bias=False, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(size).repeat(3, 1))  # (3 * size, size)
        module.out_proj.weight.copy_(torch.eye(size))
    return module


rng = torch.Generator().manual_seed(3)
x3 = torch.randn(1, 3, 8, generator=rng)  # (1, L=3, d=8)
mha = plain_mha(8)
expected, _ = attention.scaled_dot_product_attention(x3, x3, x3, mask)
results = {
    "F.scaled_dot_product_attention, boolean": F.scaled_dot_product_attention(x3, x3, x3, mask),
    "F.scaled_dot_product_attention, additive": F.scaled_dot_product_attention(x3, x3, x3, additive),
    "nn.MultiheadAttention, True = ignore": mha(x3, x3, x3, attn_mask=ignore)[0].detach(),
    "nn.MultiheadAttention, additive": mha(x3, x3, x3, attn_mask=additive)[0].detach(),
}
for name, result in results.items():
    assert torch.allclose(result, expected, atol=1e-5)
    print(f"{name:42} agrees")

# %% [markdown]
# **Predict first.** What happens if a mask of 0 and 1 is passed as *floats*, `mask.float()`? An error, the right result, or something else?

# %%
as_floats = F.scaled_dot_product_attention(x3, x3, x3, mask.float())
unmasked = F.scaled_dot_product_attention(x3, x3, x3)
print(f"0/1 floats: difference to the masked result {(as_floats - expected).abs().max():.3f}, to no mask at all {(as_floats - unmasked).abs().max():.3f}")

moved = x3.clone()
moved[:, -1] += 1.0  # another last token
change = (F.scaled_dot_product_attention(moved, moved, moved, mask.float()) - as_floats)[0, 0].abs().max()
print(f"and when the last token changes, the first output moves by {change:.3f}")

# %% [markdown]
# Something else, without a word: floats are *added* to the scores. Allowed pairs get a bonus of 1, and nothing is hidden. That is why the library of this course refuses any mask that is not boolean:

# %%
try:
    attention.scaled_dot_product_attention(x3, x3, x3, mask.float())
except TypeError as problem:
    print("TypeError:", problem)

# %% [markdown]
# ## 5.10 Finite fill values and half precision
#
# Much code fills with a large negative number instead of $-\infty$. In float32 such a number does the same, *as long as the row allows something*: $e^{-10^9}$ underflows to 0. In half precision the number must exist first.

# %%
scores = torch.tensor([0.0, 1.0, 2.0])  # (L_k=3,)
hide = torch.tensor([False, False, True])
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    print(f"{dtype}: smallest number {torch.finfo(dtype).min:.4g}")
    for fill in (-1e4, -1e9, -1e20, -math.inf):
        try:
            weights = torch.softmax(scores.to(dtype).masked_fill(hide, fill), dim=-1)
            print(f"   fill {fill:8.0e}  weights {[round(w, 3) for w in weights.tolist()]}")
        except RuntimeError as problem:
            print(f"   fill {fill:8.0e}  {type(problem).__name__}: this type has no such number")

# %% [markdown]
# `float16` has no $-10^9$ and no $-10^{20}$. (`bfloat16` has both: it gave up digits, not range.) $-\infty$ exists in each type.
#
# **Numbers that are added.** Two additive masks, say padding and causal, are often added up. With the smallest number of the type as "minus infinity", the sum overflows to the real one where both hide. And a row that had a finite fill everywhere may
# turn into NaN without warning, or worse:

# %%
lowest = torch.finfo(torch.float16).min
one = torch.tensor([lowest, lowest, 0.0], dtype=torch.float16)  # hides keys 0 and 1
other = torch.tensor([lowest, lowest, lowest], dtype=torch.float16)  # hides everything
print("one alone", torch.softmax(one, -1).tolist(), "  the other alone", [round(w, 3) for w in torch.softmax(other, -1).tolist()])
print("the other twice", torch.softmax(other + other, -1).tolist())
print("one + the other", (one + other).tolist(), "-> softmax", torch.softmax(one + other, -1).tolist())

# %% [markdown]
# The last line is the worse one. The two masks together hide everything, and all the weight lands on key 2: wrong, and perfectly sure of itself. Booleans have no such arithmetic. Combine masks as booleans, and fill once, at the end.

# %% [markdown]
# ## 5.11 The row in which everything is masked
#
# Such a row comes from left padding (5.7), from empty documents, from a window that holds only padding. The formula says $0 / 0$. Here are four implementations. We look at the weights of such a row, and at the gradient of
# the scores, because training sees that.

# %%
scores = torch.tensor([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]])  # (L_q=2, L_k=3)
mask = torch.tensor([[True, True, False], [False, False, False]])  # row 1 hides everything
factors = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])  # any loss that is not the same for all weights
bias = torch.zeros(2, 3).masked_fill(~mask, -math.inf)  # the additive mask

four = {
    "finite fill, -1e9": lambda s: torch.softmax(s.masked_fill(~mask, -1e9), dim=-1),
    "minus infinity": lambda s: torch.softmax(s + bias, dim=-1),
    "nan_to_num afterwards": lambda s: torch.nan_to_num(torch.softmax(s + bias, dim=-1)),
    "course_utils": lambda s: attention.masked_softmax(s, mask),
}


def weights_and_gradient(softmax):
    leaf = scores.clone().requires_grad_()
    weights = softmax(leaf)  # (L_q, L_k)
    (gradient,) = torch.autograd.grad((weights * factors).sum(), leaf)
    return weights.detach(), gradient


for name, softmax in four.items():
    weights, gradient = weights_and_gradient(softmax)
    print(f"{name:22} weights {[round(w, 3) for w in weights[1].tolist()]}   gradient {[round(g, 3) + 0.0 for g in gradient[1].tolist()]}")

# %% [markdown]
# Uniform, NaN, and zero.
#
# - **Finite fill**: all scores are equal, so the row averages over everything it must not see. Nothing looks wrong.
# - **Minus infinity**: NaN in the weights and in the gradient.
# - **`nan_to_num` afterwards**: the weights are mended and the gradient is not. The forward pass looks healthy (the next cell shows what training makes of it).
# - **`course_utils`**: zeros, and gradients of zero.
#
# One training step with each. The scores come from a small layer, as in a real model:

# %%
for name, softmax in four.items():
    torch.manual_seed(0)
    layer = nn.Linear(4, 3)  # its output plays the scores
    x = torch.ones(2, 4)  # (L_q=2, 4)
    loss = (softmax(layer(x)) * factors).sum()
    loss.backward()
    with torch.no_grad():
        layer.weight -= 0.1 * layer.weight.grad
    lost = layer.weight.isnan().float().mean()
    print(f"{name:22} loss is {'NaN   ' if loss.isnan() else 'finite'}   share of the weights that are NaN after one step: {100 * lost:.0f} %")

# %% [markdown]
# One row among many is enough to lose the layer, and with `nan_to_num` the loss before it gives no warning.
#
# A subtle point, measured: with `masked_fill` in place of the addition the gradient *stops* at the filled entries, so the NaN does not come through. Whoever adds a mask as a bias is not so lucky.

# %%
_, by_fill = weights_and_gradient(lambda s: torch.nan_to_num(torch.softmax(s.masked_fill(~mask, -math.inf), dim=-1)))
_, by_addition = weights_and_gradient(four["nan_to_num afterwards"])
print("masked_fill, then nan_to_num: gradient", by_fill[1].tolist())
print("addition, then nan_to_num:    gradient", by_addition[1].tolist())

# %% [markdown]
# How `course_utils` does it, in four lines. The order matters: the NaN must never arise, because no later step can take it out of the backward pass for sure.

# %%
def safe_softmax(scores, mask):
    open_rows = mask.any(dim=-1, keepdim=True)  # (L_q, 1), False for a row that hides everything
    filled = scores.masked_fill(~mask, -math.inf)  # (L_q, L_k)
    filled = filled.masked_fill(~open_rows, 0.0)  # such rows get finite scores: uniform for now
    return torch.softmax(filled, dim=-1).masked_fill(~mask, 0.0)  # and their weights are taken back


assert torch.equal(safe_softmax(scores, mask), attention.masked_softmax(scores, mask))
weights, gradient = weights_and_gradient(lambda s: safe_softmax(s, mask))
print("row sums", weights.sum(-1).tolist(), "  all finite:", bool(weights.isfinite().all() and gradient.isfinite().all()))

# %% [markdown]
# And PyTorch's own two? The answer has changed from release to release, and for `nn.MultiheadAttention` it may depend on whether the weights are asked for. So do not learn the output of the next cell by heart: run it on *your* release, and do not rely on
# what you see.

# %% tags=["nbval-ignore-output"]
q, k = torch.ones(1, 2, 8), x3  # (1, L_q=2, d), (1, L_k=3, d)
fused = F.scaled_dot_product_attention(q, k, k, mask)  # (1, L_q, d)
with_weights = mha(q, k, k, attn_mask=~mask, need_weights=True)[0]
without = mha(q, k, k, attn_mask=~mask, need_weights=False)[0]
print("PyTorch", torch.__version__)
for name, result in (("F.scaled_dot_product_attention", fused), ("nn.MultiheadAttention, weights asked for", with_weights), ("nn.MultiheadAttention, no weights", without)):
    print(f"{name:42} row 1: {[round(v, 2) for v in result[0, 1, :3].tolist()]} ...")

# %% [markdown]
# If a model may meet such rows, keep them away from the library: let them attend to anything, and set their output to zero afterwards. That works on every release, forward and backward:

# %%
open_rows = mask.any(dim=-1, keepdim=True)  # (L_q, 1)
query = q.clone().requires_grad_()
safe = F.scaled_dot_product_attention(query, k, k, mask | ~open_rows).masked_fill(~open_rows, 0.0)  # (1, L_q, d)
(gradient,) = torch.autograd.grad(safe.sum(), query)
assert torch.allclose(safe, attention.scaled_dot_product_attention(q, k, k, mask)[0], atol=1e-6)
print("row 1:", safe[0, 1].tolist())
print("gradient finite:", bool(gradient.isfinite().all()), "  gradient of row 1 all zero:", bool((gradient[0, 1] == 0).all()))

# %% [markdown]
# ## 5.12 How to prove that nothing leaks
#
# A mask can be wrong in ways that no shape and no loss will show. Two tests do show it, and they need not know how the model is built.
#
# **Change the future, compare the past.** Compute the outputs. Change everything from position $t$ on. Compute again. The outputs before $t$ must be what they were. Do it for every $t$. The new future is random: a change that
# treats all entries of a token alike, such as adding 1, is invisible to a model that normalizes its tokens first (lesson 09).

# %%
def leaks(attend, x):
    rng = torch.Generator().manual_seed(7)
    before = attend(x)  # (B, L, d)
    for t in range(1, x.shape[1]):
        other = torch.cat([x[:, :t], torch.randn(x[:, t:].shape, generator=rng)], dim=1)  # (B, L, d): the same past, another future
        if not torch.allclose(attend(other)[:, :t], before[:, :t], atol=1e-6):
            return True
    return False


causal = masks.causal_mask(6)[0]  # (1, L, L)
self_attention = attention.scaled_dot_product_attention
suspects = {
    "no mask": lambda x: self_attention(x, x, x)[0],
    "causal": lambda x: self_attention(x, x, x, causal)[0],
    "causal, window of 2": lambda x: self_attention(x, x, x, masks.sliding_window_mask(6, window=2)[0])[0],
    "one step ahead": lambda x: self_attention(x, x, x, torch.ones(6, 6, dtype=torch.bool).tril(1))[0],
    "zeroed after the softmax": lambda x: self_attention(x, x, x)[1].tril() @ x,
}
rng = torch.Generator().manual_seed(4)
x6 = 0.5 * torch.randn(2, 6, 8, generator=rng)  # (B=2, L=6, d=8)
for name, attend in suspects.items():
    print(f"{name:26} {'LEAKS' if leaks(attend, x6) else 'does not leak'}")

# %% [markdown]
# The last one is the mistake of section 5.2. All weights of the future are 0, a picture of them looks flawless, and the model still sees the future, through the denominator.
#
# **Gradients to the future are exactly zero.** The second test asks how output $i$ changes with input $j$, the gradient $\partial\, \text{out}_i / \partial x_j$. Its size, drawn as a table, must be 0 above the diagonal.

# %%
def influence(attend, x):
    x = x.clone().requires_grad_()
    out = attend(x)  # (1, L, d)
    rows = []
    for i in range(x.shape[1]):
        (gradient,) = torch.autograd.grad((out[:, i] ** 2).sum(), x, retain_graph=True)  # (1, L, d)
        rows.append(gradient[0].norm(dim=-1))  # (L,)
    return torch.stack(rows)  # (L_out, L_in)


axes = plotting.new_axes(12.0, 3.4, columns=3)
for ax, name in zip(axes, ("causal", "one step ahead", "zeroed after the softmax"), strict=True):
    sizes = influence(suspects[name], x6[:1])  # (L, L)
    print(f"{name:26} largest gradient to the future {sizes.triu(1).max():.4f}")
    plotting.attention_heatmap(sizes / sizes.max(), ax=ax, title=name, quantity="gradient, largest = 1")
    ax.set(xlabel="input position", ylabel="output position")
assert (influence(suspects["causal"], x6[:1]).triu(1) == 0).all()
plotting.show(axes[0], "Three tables of gradient sizes. Causal: zero above the diagonal. One step ahead: one diagonal above it filled. Zeroed after the softmax: entries everywhere above the diagonal.")

# %% [markdown]
# *Notice the cells above the diagonal: exactly 0 on the left, one diagonal too many in the middle, small numbers everywhere on the right.*

# %% [markdown]
# ## Look
#
# All masks together. Switch causality on and off, add padding, narrow the window, change the lengths and the alignment. Pink rows see nothing at all.

# %%
composer = widgets.mask_composer()
composer.show_first_state("A mask of 5 queries and 7 keys, causal and bottom-right, with two padding keys at the end. The last query sees the five real keys; no row sees nothing.")

# %% [markdown]
# *Notice that the last three queries see the same keys: what is new to the last two is padding.* Try: a window of 2; then top-left; then more queries than keys. Which queries see nothing, and why?

# %%
composer

# %% [markdown]
# ## What goes wrong
#
# **`unsqueeze` on the wrong axis, hidden by a finite fill value.** A mask of shape `(B, 1, L, 1)` instead of `(B, 1, 1, L)` hides rows instead of columns. In self-attention both shapes fit. The rows of the padding become uniform, the rows of real tokens see all the padding,
# and nothing is NaN. How you would notice: fill with $-\infty$, and the bug shows itself at once.

# %%
tokens = torch.tensor([[5, 6, PAD]])  # (B=1, L=3)
x = embedding[tokens][:, None]  # (1, H=1, L=3, d_model)
scores = x @ x.transpose(-2, -1) / math.sqrt(8)  # (1, 1, L_q, L_k)
wrong = (tokens != PAD)[:, None, :, None]  # (B, 1, L, 1): rows
for fill in (-1e9, -math.inf):
    weights = torch.softmax(scores.masked_fill(~wrong, fill), dim=-1)
    print(f"fill {fill:6.0e}   weight of the padding in the row of each token: {[round(w, 3) for w in weights[0, 0, :, 2].tolist()]}")

# %% [markdown]
# **A triangle of ones times minus infinity.** It looks like a short way to an additive mask. But $0 \cdot \infty$ is NaN, and every *allowed* entry becomes NaN. How you would notice: the first loss is NaN.

# %%
print("wrong", (torch.ones(3, 3).triu(1) * -math.inf).tolist())
print("right", torch.full((3, 3), -math.inf).triu(1).tolist())

# %% [markdown]
# **Polarity inverted.** A causal mask meant as True = may attend, given to code that reads True = ignore, hides the past and shows the future. The task "name the next token" is then solved by reading it, and the training accuracy is wonderful. Here a query looks for
# the position after its own, if it may see it, with nothing learned at all:

# %%
L = 12
rng = torch.Generator().manual_seed(5)
text = torch.randint(0, 20, (1, L), generator=rng)  # (1, L), random: nobody can predict it
place = F.one_hot(torch.arange(L)).float()[None]  # (1, L, L)
look_ahead = 50 * place.roll(1, dims=-1)  # (1, L, L): query i has a high score with key i + 1
value = F.one_hot(text, 20).float()  # (1, L, vocabulary): each position offers its token

causal = masks.causal_mask(L)[0, 0]  # (L, L), True = may attend
for name, mask in (("right", causal), ("inverted", ~causal)):
    guess = attention.scaled_dot_product_attention(look_ahead, place, value, mask)[0].argmax(-1)  # (1, L)
    accuracy = (guess[:, :-1] == text[:, 1:]).float().mean()
    print(f"{name:9} next tokens of a random text guessed: {100 * accuracy:.0f} %")

# %% [markdown]
# Nobody can predict random tokens. An accuracy far above chance on them is proof of a leak. A run of the leak detector, before the first training, is cheaper.

# %% [markdown]
# ## In practice
#
# - **Fused kernels.** `F.scaled_dot_product_attention` with `is_causal=True` needs no mask in memory, and can leave out what is hidden. Production code passes the flag where it can and a mask where it must (timed below).
# - **A mask in memory** has $L_q \cdot L_k$ entries (counted below). Kernels such as FlashAttention compute masks on the fly; PyTorch's `flex_attention` takes the mask as a small function of the indices.
# - **Packing.** Instead of padding, several short texts are put into one row, and a block-diagonal mask keeps them apart. Nothing is wasted, and the leak detector must now look across documents.
# - **Names.** `attn_mask`, `key_padding_mask`, `src_mask`, `tgt_mask`, `memory_key_padding_mask` (PyTorch, True = ignore); `attention_mask` (1 = keep) in tokenizers. Read the documentation of each before the first use, then run the two tests of section 5.12.

# %%
for L in (1024, 8192, 65536):
    print(f"L = {L:6}   boolean mask {L * L / 2**20:7.0f} MiB   additive float32 mask {4 * L * L / 2**20:7.0f} MiB")

rng = torch.Generator().manual_seed(6)
lengths = (3, 2)  # two texts packed into one row of 5 tokens
document = torch.repeat_interleave(torch.arange(2), torch.tensor(lengths))  # (L=5,), 0 0 0 1 1
packed = (document[:, None] == document[None, :]) & masks.causal_mask(5)[0, 0]  # (L, L)
row = torch.randn(1, 5, 8, generator=rng)  # (1, L, d)
together, _ = attention.scaled_dot_product_attention(row, row, row, packed)
second = row[:, 3:]  # (1, 2, d): the second text alone
assert torch.allclose(together[:, 3:], attention.scaled_dot_product_attention(second, second, second, masks.causal_mask(2)[0])[0], atol=1e-6)
print("the second text of a packed row comes out as it does alone; its mask:", packed[3].int().tolist())

# %% tags=["nbval-ignore-output"]
L = 1024
q = torch.randn(1, 4, L, 32, generator=rng)  # (B=1, H=4, L, d_head=32)
mask = masks.causal_mask(L)  # (1, 1, L, L)
ways = {"flag": {"is_causal": True}, "mask": {"attn_mask": mask}, "nothing hidden": {}}
for name, arguments in ways.items():
    seconds = min(timeit.repeat(lambda a=arguments: F.scaled_dot_product_attention(q, q, q, **a), number=1, repeat=5))
    print(f"{name:15} {1000 * seconds:5.1f} ms   (on this machine, today)")

# %% [markdown]
# ## Recap
#
# 1. **Four masks**: padding hides filler keys, `(B, 1, 1, L_k)`; causal hides the future, `(1, 1, L_q, L_k)`, aligned bottom-right when a cache makes $L_q < L_k$; memory says what of the source may be used; a window allows the $w$ newest keys.
# 2. **Applying**: hidden scores become $-\infty$ before the softmax. Zeros after it leave the hidden scores in the denominator. $-10^9$ does not exist in half precision; $-\infty$ does.
# 3. **Combining and converting**: boolean, True = may attend, joined by `&`. `~mask`, `mask == 0` and `.bool()` convert the other three. Floats of 0 and 1 hide nothing.
# 4. **Fully masked rows**: uniform with a finite fill, NaN with $-\infty$, NaN in the gradient with a bias mended afterwards. Give them finite scores first and take their weights back: zeros, forward and backward.
# 5. **Proof**: change the future and compare the past, at every split; gradients to the future are exactly 0.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $M$ | mask, True = may attend | broadcasts to `(B, H, L_q, L_k)` |
# | $s_{ij}$, $w_{ij}$ | score and weight of key $j$ for query $i$ | $(L_q, L_k)$ |
# | $L_q$, $L_k$ | numbers of queries and keys | numbers |
# | $p_i = i + (L_k - L_q)$ | position of query $i$, bottom-right | a number |
# | $w$ (section 5.8) | width of the window, own position included | a number |
# | open rows | rows that allow something, `mask.any(-1, keepdim=True)` | `(B, H, L_q, 1)` |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. A batch has padding, and one hides it by setting the values (not the scores) of the padding to 0. What is still wrong?</summary>
#
# **The weights.** The padding keeps its share of each row's 1, so all real tokens get too little. (It is not "nothing, since 0 times anything is 0": what the padding takes is missing elsewhere, and how much it takes depends on its scores.)
# </details>
#
# <details><summary>2. Causal mask, L_q = 1 and L_k = 100, as in generation with a cache. What does top-left alignment allow, what bottom-right?</summary>
#
# **Top-left: the first key only. Bottom-right: all 100.** The one query is the newest position, so all keys are its past or itself, and one could do without a mask. (That both are the same is true only for $L_q = L_k$.)
# </details>
#
# <details><summary>3. Two masks with True = ignore are to be combined. By "and" or by "or"?</summary>
#
# **By or.** A key is ignored if any mask says so. ("And" is right for True = may attend. With "and" on these, a key would be hidden only where both hide it, and the padding of most rows would be seen.)
# </details>
#
# <details><summary>4. After the first optimizer step all parameters are NaN; the loss before it was an ordinary number. Which suspect of this lesson fits?</summary>
#
# **A fully masked row with an additive minus infinity, mended after the softmax.** The forward pass is clean, the gradient is NaN. (A finite fill gives no NaN at all. A triangle times minus infinity makes the loss itself NaN.)
# </details>
#
# <details><summary>5. A causal model with windows of 4 has 3 layers. How far back can a position look?</summary>
#
# **9 positions**, $n(w-1)$ with $n = 3$ and $w = 4$. (Not 12: each window holds the position itself, so a layer reaches 3 further back. Not 3: layers pass on what they have seen.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.3: the causal mask of the decoder, in one sentence: illegal connections are set to minus infinity before the softmax.
# - Beltagy, Peters, Cohan, *Longformer: The Long-Document Transformer*, 2020, section 3.1: sliding windows, and how far stacked layers reach.
# - Jiang et al., *Mistral 7B*, 2023, section 2: a causal sliding window in a large language model, and the cache that goes with it.
# - Ma et al., *STACL: Simultaneous Translation with Implicit Anticipation and Controllable Latency using Prefix-to-Prefix Framework*, 2019: the wait-k policy, the interpreter of section 5.6.
# - Dao et al., *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, 2022: exact attention without the $(L_q, L_k)$ table in slow memory.
# - PyTorch documentation of `torch.nn.functional.scaled_dot_product_attention` and `torch.nn.MultiheadAttention`: the two polarities, each stated with its argument.

# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09 · Transformer layers: exercises
#
# Ten exercises, 26 points. At the end you have written norms, an activation, an encoder layer and a decoder layer, found out how fast a deep stream grows, and a trained model pronounces words through *your* layers, while you read its stream after each of them.
#
# {{colab_link}} · about 130 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# In all exercises masks are boolean, and True means **may attend**. What you return has the dtype of `x`, no answer may change its arguments in place, and gradients must flow through your answers: use torch operations from first to last.

# %% tags=["setup"]
import sys

import torch
from torch import nn
from tqdm import tqdm

from course_utils import layers, masks, plotting, widgets, zoo
from course_utils.checks import check, failing_case
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention
from course_utils.tokenizers import END_ID, START_ID
from course_utils.zoo.pronunciation import SOUNDS, SPELLING

torch.set_num_threads(1)

# %% [markdown]
# ### 9.1 · LayerNorm
# 2 points · difficulty 2 of 5 · 10 minutes
#
# Write `layer_norm(x, weight, bias, eps)`: each vector by itself gets mean 0 and variance 1, then each feature its own scale and shift.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `weight`, `bias` | `(d_model,)` each |
# | `eps` | a small number, added where lesson 09 adds it; not always the same |
# | returns | `(B, L, d_model)` |
#
# The check compares the output, and the gradients that reach `x`, `weight` and `bias`. One vector consists of equal numbers, so its variance is 0: output and gradient must stay finite there.
#
# Example: `x = [[[1., 3., 5., 7.]]]` with weights 1, biases 0 and `eps = 4` gives `[[[-1., -0.3333, 0.3333, 1.]]]`: the mean is 4, the variance 5, and $\sqrt{5 + 4} = 3$. The ready-made norms are off limits.

# %% tags=["exercise"]
def layer_norm(x, weight, bias, eps):
    # BEGIN SOLUTION
    centered = x - x.mean(dim=-1, keepdim=True)  # (B, L, d_model)
    variance = centered.pow(2).mean(dim=-1, keepdim=True)  # (B, L, 1), by d_model
    return centered / torch.sqrt(variance + eps) * weight + bias  # (B, L, d_model)
    # END SOLUTION


# %% tags=["check"]
check("9.1", layer_norm)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Over which axis run mean and variance, if each vector is to be normalized by itself? What does `keepdim=True` do to the shape of a mean?
# </details>
# <details><summary>Hint 2</summary>
#
# `torch.var` divides by one less than the number of entries, unless told otherwise. And epsilon has one right place: is it added to a variance, or to its root?
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. take the mean of each vector off it
# 2. the mean of the squares of what is left is the variance
# 3. divide by the root of variance plus epsilon
# 4. times weight, plus bias
# </details>

# %% [markdown]
# ### 9.2 · RMSNorm
# 1 point · difficulty 1 of 5 · 5 minutes
#
# Write `rms_norm(x, weight, eps)`: each vector is divided by its root mean square, then each feature is scaled. No mean is taken off, and there is no bias.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `weight` | `(d_model,)` |
# | `eps` | a small number, added inside the root |
# | returns | `(B, L, d_model)` |
#
# Example: `x = [[[1., 3., 5., 7.]]]` with weights 1 and `eps = 4` gives `[[[0.2, 0.6, 1.0, 1.4]]]`: the mean square is 21, and $\sqrt{21 + 4} = 5$. The check looks at gradients as in 9.1. The ready-made norms are off limits.

# %% tags=["exercise"]
def rms_norm(x, weight, eps):
    # BEGIN SOLUTION
    mean_square = x.pow(2).mean(dim=-1, keepdim=True)  # (B, L, 1)
    return x / torch.sqrt(mean_square + eps) * weight  # (B, L, d_model)
    # END SOLUTION


# %% tags=["check"]
check("9.2", rms_norm)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Read the name backwards: square, then mean, then root.
# </details>
# <details><summary>Hint 2</summary>
#
# Your answer to 9.1 has one step too many and one parameter too many.
# </details>

# %% [markdown]
# ### 9.3 · GELU, exact and by tanh
# 2 points · difficulty 2 of 5 · 10 minutes
#
# ReLU multiplies a number by 1 or by 0, depending on its sign. GELU is gentler: it multiplies $x$ by $\Phi(x)$, the share of standard normal numbers that are **smaller than $x$**. At 0 that share is one half, far to the right it is 1, far to the left 0. Write `gelu(x, by_tanh)`.
#
# - With `by_tanh=False`: the exact form. PyTorch has no function for $\Phi$ among its basic operations, but it has `torch.erf(z)`. For $z \ge 0$ it is the share of standard normal numbers **between $-z\sqrt2$ and $z\sqrt2$**, and $\operatorname{erf}(-z) = -\operatorname{erf}(z)$. Draw a bell curve, and you will see how to get one from the other.
# - With `by_tanh=True`: the older approximation, which many published weights were trained with. In the place of $\Phi(x)$ it has $\frac12 (1 + \tanh u)$ with $u = \sqrt{2/\pi}\,(x + 0.044715\, x^3)$.
#
# | argument | shape |
# |---|---|
# | `x` | any shape |
# | `by_tanh` | True or False |
# | returns | the shape of `x` |
#
# Example: `x = [-2., 0., 1., 3.]` gives `[-0.04550, 0., 0.84134, 2.99595]`, and by tanh `[-0.04540, 0., 0.84119, 2.99636]`. The two differ in the fourth digit, too little to see in a plot. Still, a model is trained with one of them, and that is the one to load it with. The check compares the gradient of `x` too. The ready-made GELU, `torch.special.ndtr` and `torch.distributions.Normal` are off limits.

# %% tags=["exercise"]
def gelu(x, by_tanh):
    # BEGIN SOLUTION
    if by_tanh:
        u = (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)
        return x * 0.5 * (1 + torch.tanh(u))
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))
    # END SOLUTION


# %% tags=["check"]
check("9.3", gelu)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Which share lies to the left of 0? Which share lies between 0 and $x$, if you know the share between $-x$ and $x$?
# </details>
# <details><summary>Hint 2</summary>
#
# For which $z$ is $z\sqrt2$ equal to $x$?
# </details>

# %% [markdown]
# ### 9.4 · A residual connection, both ways
# 2 points · difficulty 2 of 5 · 10 minutes
#
# Write the `forward` of `Residual`. `sublayer` is a function that keeps the shape `(B, L, d_model)`. With `pre_norm=True` the norm comes before the sublayer, with `pre_norm=False` it comes after the sum. In both, what the *sublayer* returns passes through `self.dropout` before it is added.
#
# | argument | meaning |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `sublayer` | called with one tensor, returns one of the same shape |
# | returns | `(B, L, d_model)` |
#
# Leave the constructor and its names as they are: the check puts its own numbers into `norm`. It looks at both orders, at the gradients that reach `x` and the norm's parameters, and at training, where dropout acts. The course's `Residual` is off limits.
#
# Example: for `x = [[[1., 3.]]]`, a fresh norm, no dropout, and a sublayer that returns its input plus 1, pre-norm gives `[[[1., 5.]]]` (the norm of `x` is -1 and 1) and post-norm gives `[[[-1., 1.]]]`.

# %% tags=["exercise"]
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        # BEGIN SOLUTION
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))
        # END SOLUTION


# %% tags=["check"]
check("9.4", Residual)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# In both orders there is a direct path from `x` to the sum. In pre-norm nothing at all may happen on it. What happens to it in post-norm?
# </details>
# <details><summary>Hint 2</summary>
#
# Two formulas, one for each value of `self.pre_norm`. Write each from the inside out: what does the sublayer get, what is dropped, what is added to what, what is normalized?
# </details>

# %% [markdown]
# ### 9.5 · An encoder layer
# 4 points · difficulty 3 of 5 · 20 minutes
#
# Write the `forward` of `EncoderLayer`: self-attention with a residual connection around it, then the feed-forward network with another. `norm_1` and the attention belong together, and so do `norm_2` and the network. `pre_norm` says which order to use, and `self.dropout` acts on what each sublayer returns.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `mask` | boolean, broadcasts to `(B, H, L, L)` |
# | returns | `(B, L, d_model)` |
#
# `MultiHeadAttention` and `FeedForward` are those of the course (lesson 06 and section 9.3): `self.self_attention(y, mask=mask)` is self-attention. Leave the constructor as it is. `Residual`, `EncoderLayer` and PyTorch's layers are off limits; you may write a small method of your own. The check looks at training too, and at the gradients that reach `x` and the norms' parameters.
#
# Two examples: if all parameters of attention and network are 0, then a pre-norm layer gives `x` back unchanged, and a fresh post-norm layer gives `x = [[[1., 3., 5., 7.]]]` back as `[[[-1.342, -0.447, 0.447, 1.342]]]`.

# %% tags=["exercise"]
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        # BEGIN SOLUTION
        if self.pre_norm:
            x = x + self.dropout(self.self_attention(self.norm_1(x), mask=mask))
            return x + self.dropout(self.feed_forward(self.norm_2(x)))
        x = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))
        # END SOLUTION


# %% tags=["check"]
check("9.5", EncoderLayer)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# It is exercise 9.4 twice in a row, with two different norms. The second connection starts from the result of the first.
# </details>
# <details><summary>Hint 2</summary>
#
# A line such as `x = self.norm_1(x)` destroys what the direct path must carry. Call the normalized tensor by another name, or never store it.
# </details>
# <details><summary>Hint 3: pseudocode for pre-norm</summary>
#
# 1. normalize by norm 1, attend under the mask, drop, add to x
# 2. normalize the sum by norm 2, feed-forward network, drop, add to the sum
# </details>

# %% [markdown]
# ### 9.6 · A decoder layer
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write the `forward` of `DecoderLayer`, **in the pre-norm order only**: self-attention over the target, cross-attention from the target to the memory, then the feed-forward network. A residual connection stands around each, with the norms 1, 2 and 3.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L_t, d_model)`, the target |
# | `memory` | `(B, L_s, d_model)`, what the encoder made of the source |
# | `target_mask` | boolean, `(B, 1, L_t, L_t)`: causal, without the target's padding |
# | `memory_mask` | boolean, `(B, 1, 1, L_s)`: without the source's padding |
# | returns | `(B, L_t, d_model)` |
#
# `attention(query, key, value, mask=mask)` is cross-attention. The memory is used as it is: the encoder has normalized it. `self.dropout` acts on what each sublayer returns. The check looks at training too, and at the gradients that reach `x`, `memory` and the norms' parameters. The course's layers and PyTorch's are off limits. Example: if all parameters of the three sublayers are 0, the layer gives `x` back unchanged. And what stands at a padding position of the source must not matter to any output, even where source and target have the same length.

# %% tags=["exercise"]
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.norm_3 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        # BEGIN SOLUTION
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        asked = {"key": memory, "value": memory, "mask": memory_mask}
        x = x + self.dropout(self.cross_attention(self.norm_2(x), **asked))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))
        # END SOLUTION


# %% tags=["check"]
check("9.6", DecoderLayer)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# For each of the two attentions answer: who asks, who is asked, and which of those who are asked must not be seen?
# </details>
# <details><summary>Hint 2</summary>
#
# A mask has one column for each key. How many keys has self-attention, and how many cross-attention? Only one of the two masks fits each.
# </details>

# %% [markdown]
# ### 9.7 · Two other wirings
# 3 points · difficulty 3 of 5 · 15 minutes
#
# Pre-norm isn't the last word. Write `wired(x, attend, network, norms, wiring)` for two layers that published models use:
#
# - `"sandwich"`: a norm before each sublayer, *and another one on what the sublayer returns, before it is added*. `norms` holds four, in the order in which a token meets them. (Gemma 2 and 3 are built like this.)
# - `"parallel"`: attention and network stand **side by side**. Both read the same normalized stream, and both results are added to it. `norms` holds one. (GPT-J and PaLM are built like this.)
#
# In both, nothing at all stands on the direct path.
#
# | argument | what it is |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `attend`, `network` | functions of one tensor, which keep its shape |
# | `norms` | a list of four functions, or of one; they differ |
# | `wiring` | `"sandwich"` or `"parallel"` |
# | returns | `(B, L, d_model)` |
#
# The check compares the gradient of `x` too. Example, with norms that only take off the mean, `attend` = ReLU and `network` = the square: `x = [[[0., 1., 5.]]]` becomes `[[[-4.667, -8.667, 19.33]]]` as a sandwich and `[[[4, 2, 17]]]` in parallel. (Plain pre-norm would give `[[[9, 5, 33]]]`.)

# %% tags=["exercise"]
def wired(x, attend, network, norms, wiring):
    # BEGIN SOLUTION
    if wiring == "parallel":
        normed = norms[0](x)  # (B, L, d_model)
        return x + attend(normed) + network(normed)
    x = x + norms[1](attend(norms[0](x)))
    return x + norms[3](network(norms[2](x)))
    # END SOLUTION


# %% tags=["check"]
check("9.7", wired)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Draw both as the lesson draws its layers: one line from bottom to top, and what branches off from it. How many branches leave the line in each, and where?
# </details>
# <details><summary>Hint 2</summary>
#
# The sandwich is two connections in a row; the second one starts from the sum of the first. Each branch meets three things on its way back to the line.
# </details>

# %% [markdown]
# ### 9.8 · Find the bug: a record of the stream
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Somebody wants to look at the residual stream. The function below runs `x` through the sublayers (each a function that returns what is to be **added**; its norm is inside) and keeps a record: the stream before the first sublayer and after each one, and what each sublayer added. Its last entry is right, so the model that uses it works. A property that must hold: **each entry of the stream, plus what was added there, is the next entry.** Run both cells.

# %%
def record_stream_broken(x, sublayers):
    streams, added = [x], []
    for sublayer in sublayers:
        change = sublayer(x)  # (B, L, d_model)
        x += change
        added.append(change)
        streams.append(x)
    return streams, added


# %%
streams, added = record_stream_broken(torch.ones(1, 1, 2), [torch.neg, torch.exp])
for n, change in enumerate(added):
    print(f"entry {n}:", streams[n].tolist(), "  added:", change.tolist(), end="   ")
    print(f"entry {n + 1}:", streams[n + 1].tolist())

# %% [markdown]
# Write `record_stream(x, sublayers)` so that the property holds for any sublayers, and so that gradients reach `x` through every entry. The caller's `x` must stay as it was. Call each sublayer exactly once, as the check does not allow a second call: while a model trains, dropout makes it return something else.
#
# | argument | what it is |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `sublayers` | a list of N functions of one tensor, which keep its shape; one of them may hand its argument back as it is |
# | returns `streams`, `added` | two lists of tensors, N + 1 and N |
#
# Example: for the call above, `streams` holds 1, 0 and 1 (twice each, as `[[[1., 1.]]]` and so on), and `added` holds -1 and 1.

# %% tags=["exercise"]
def record_stream(x, sublayers):
    # BEGIN SOLUTION
    streams, added = [x], []
    for sublayer in sublayers:
        added.append(sublayer(streams[-1]))  # (B, L, d_model)
        streams.append(streams[-1] + added[-1])  # a new tensor each time
    return streams, added
    # END SOLUTION


# %% tags=["check"]
check("9.8", record_stream)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Print `streams[0] is streams[2]`. How many tensors does the list hold?
# </details>
# <details><summary>Hint 2</summary>
#
# Copying what you append isn't enough: look at the first entry again, and at the caller's tensor. What is the difference between `x += y` and `x = x + y`?
# </details>

# %% [markdown]
# ### 9.9 · Open experiment: how fast does the stream grow?
# 4 points · difficulty 3 of 5 · 20 minutes
#
# A pre-norm stream grows with every addition. How fast, in a fresh stack of $N$ layers? And what if each sublayer's last matrix starts smaller, so that it adds less? Three starts, and nothing else changes:
#
# | name | the last matrix of every sublayer is multiplied by |
# |---|---|
# | `"full"` | 1 |
# | `"root"` | $1/\sqrt{2N}$ (as the GPT-2 paper does: 2N is the number of sublayers) |
# | `"share"` | $1/(2N)$ |
#
# First your prediction. With `"full"`, a stream of size 1 has a certain size after 8 layers.

# %%
widgets.predict(
    "9.9",
    "After 32 layers, four times as many, how many times as large is it as after 8?",
    choices=["as large", "twice", "four times", "sixteen times"],
)

# %% [markdown]
# `five_sizes(num_layers, start)` makes five fresh stacks and returns the root mean square of each one's stream after the last layer, before any final norm.

# %%
FACTORS = {
    "full": lambda N: 1.0,
    "root": lambda N: (2 * N) ** -0.5,
    "share": lambda N: 1 / (2 * N),
}

# %%
@torch.no_grad()
def one_size(num_layers, start, seed):
    torch.manual_seed(seed)
    x = torch.randn(4, 8, 32)  # (B, L, d_model)
    for _ in range(num_layers):
        layer = layers.EncoderLayer(32, 4, 128, dropout=0.0)  # the course's, pre-norm
        for part in layer.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)
        for last in (layer.self_attention.o_proj, layer.feed_forward.down_proj):
            last.weight.mul_(FACTORS[start](num_layers))
        x = layer(x)
    return x.square().mean().sqrt().item()


# %% tags=["nbval-ignore-output"]
def five_sizes(num_layers, start):
    return [one_size(num_layers, start, seed) for seed in range(5)]


print("one layer:", [round(size, 2) for size in five_sizes(1, "full")])

# %% [markdown]
# Fill `growth_results`:
#
# | key | what belongs there |
# |---|---|
# | `(N, start)`, for N = 2, 8 and 32 and the three starts | the five sizes of `five_sizes(N, start)`: nine entries |
# | `"law"` | how the size grows with N for `"full"`, judged from 8 to 32 layers: `"not at all"`, `"sqrt(N)"` or `"N"` |
# | `"size at 128"` | what you expect for `"full"` at 128 layers, worked out from your entry for 32 and your law |
# | `"steady"` | the start with the **largest** factor whose mean size at 32 layers is less than 1.2 times that at 2 layers |
#
# Plot the means before you read them off, with both axes logarithmic: what does a root look like there?

# %% tags=["exercise", "nbval-ignore-output"]
growth_results = {}  # (N, start) -> five sizes, and what you read off
# BEGIN SOLUTION
for start in tqdm(FACTORS, unit="start", file=sys.stdout):
    for N in (2, 8, 32):
        growth_results[N, start] = five_sizes(N, start)
means = {
    start: torch.tensor([sum(growth_results[N, start]) / 5 for N in (2, 8, 32)])
    for start in FACTORS
}
tried = torch.tensor([2.0, 8.0, 32.0])
ax = plotting.curves(tried, means, xlabel="layers", ylabel="size of the stream")
ax.set(xscale="log", yscale="log")
plotting.show(ax, "Stream size by depth: a rising line for full, level for the others.")
growth_results["law"] = "sqrt(N)"
growth_results["size at 128"] = 2 * means["full"][2].item()
growth_results["steady"] = "root"
# END SOLUTION

# %% tags=["check"]
check("9.9", growth_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A dict may have pairs as keys: `growth_results[2, "full"] = five_sizes(2, "full")`. Two loops, one inside the other, fill all nine.
# </details>
# <details><summary>Hint 2</summary>
#
# From 8 to 32 layers N becomes four times as large. By how much would the size grow under each law? None fits exactly: which is nearest?
# </details>

# %% [markdown]
# Numbers that have nothing to do with each other partly cancel when they are added: $n$ of them, each of size 1, have a sum of size about $\sqrt n$. That is the law, and it is why the factor has a root in it: the GPT-2 paper chose it to offset this growth along the stream.

# %% tags=["nbval-ignore-output"]
found = growth_results if isinstance(growth_results, dict) else {}
if {(8, "full"), (32, "full")} <= found.keys():
    ratio = sum(found[32, "full"]) / sum(found[8, "full"])
    nearest = min((1, 2, 4, 16), key=lambda times: abs(ratio - times))
    words = {1: "as large", 2: "twice", 4: "four times", 16: "sixteen times"}
    widgets.came_out("9.9", words[nearest])
else:
    print("Solve 9.9 first.")

# %% [markdown]
# ### 9.10 · Ten times as large
# 1 point · difficulty 3 of 5 · 5 minutes
#
# All vectors that enter a trained stack (embedding plus position) are multiplied by 10, and nothing else changes. Which stack gives the same output as before, up to epsilon? Think it through, or try it with the course's layers.
#
# - **a.** A pre-norm stack: each sublayer sees normalized vectors only.
# - **b.** A post-norm stack: each sum is normalized, so the factor is gone after the first one.
# - **c.** A stack of either order that has one more norm between the embedding and the first layer.
# - **d.** All three.

# %% tags=["quiz"]
quiz_9_10 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_9_10 = "c"
# END SOLUTION

# %% tags=["check"]
check("9.10", quiz_9_10)

# %% [markdown]
# ## Read the stream early
#
# Now your layers go to work. The pronouncing model's trained attentions, networks and norms move into *your* `EncoderLayer` (9.5) and `DecoderLayer` (9.6), and the model speaks through them. And because everything is added to one stream, we don't have to wait for the end: the model's last norm and its output matrix can read the stream after *every* layer. What would it have said if it had stopped there?

# %%
def mine(theirs):
    """Your layer with the parts of a trained one."""
    sizes = theirs.self_attention.num_heads, theirs.feed_forward.up_proj.out_features
    if hasattr(theirs, "cross_attention"):
        layer = DecoderLayer(len(theirs.attention_norm.weight), *sizes, 0.0)
        layer.cross_attention = theirs.cross_attention
        layer.norm_2 = theirs.cross_attention_norm
        layer.norm_3 = theirs.feed_forward_norm
    else:
        layer = EncoderLayer(len(theirs.attention_norm.weight), *sizes, 0.0, True)
        layer.norm_2 = theirs.feed_forward_norm
    layer.norm_1, layer.feed_forward = theirs.attention_norm, theirs.feed_forward
    layer.self_attention = theirs.self_attention
    return layer.eval()


# %%
@torch.no_grad()
def read_early(word):
    model = zoo.load("transformer").eval()
    x = model.source_embedding(SPELLING.batch([word]))  # (1, L_s, d_model)
    mask = torch.ones(1, 1, 1, x.shape[1], dtype=torch.bool)
    for layer in map(mine, model.encoder_layers):
        x = layer(x, mask)
    memory, said = model.encoder_norm(x), [START_ID]
    decoder = [mine(layer) for layer in model.decoder_layers]
    while said[-1] != END_ID and len(said) < 30:
        streams = [model.target_embedding(torch.tensor([said]))]  # (1, L_t, d_model)
        causal = masks.causal_mask(len(said))
        for layer in decoder:
            streams.append(layer(streams[-1], memory, causal, mask))
        logits = [model.generator(model.decoder_norm(s))[0] for s in streams]
        said.append(logits[-1][-1].argmax().item())
    return [table.argmax(-1).tolist() for table in logits]


# %% tags=["nbval-ignore-output"]
try:
    for word in ("knight", "queue", "alexandra"):  # your own name, from a to z
        print(word)
        for n, row in enumerate(read_early(word)):
            words = [(SOUNDS.decode([i]) or ["end"])[0] for i in row]
            print(f"  after {n} layers:", " ".join(f"{w:>3}" for w in words))
except (NotImplementedError, TypeError):
    print("Solve 9.5 and 9.6 first: the model has no layers yet.")

# %% [markdown]
# *Read each column from top to bottom: first a guess from the sound before, then a sound that fits the letters roughly, then the one that the model settles on. Each layer adds a correction to what it finds.* (The early rows are read with a norm and a matrix that were trained for the last one. So they show what the stream holds in the language of the last layer, and may miss what it holds in another.)
#
# {{next_steps}}

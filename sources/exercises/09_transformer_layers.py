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
# Ten exercises, 26 points. At the end you have written both norms, the feed-forward network, the residual connection in both orders, an encoder layer, a decoder layer and a stack.
#
# {{colab_link}} · about 90 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# In all exercises masks are boolean, and True means **may attend**. What you return has the dtype of `x`, no answer may change its arguments in place, and gradients must flow through your answers: use torch operations from first to last.

# %% tags=["setup"]
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.checks import check
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% [markdown]
# ### 9.1 · LayerNorm
# 3 points · difficulty 2 of 5 · 10 minutes
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
    variance = centered.pow(2).mean(dim=-1, keepdim=True)  # (B, L, 1), divided by d_model
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
# 2 points · difficulty 1 of 5 · 5 minutes
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
# ### 9.3 · The feed-forward network
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Write `feed_forward(x, params)`: up to `d_ff` features, ReLU, down again; each position by itself. The matrices have shape `(out, in)`, as `nn.Linear` keeps them.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `params["up_proj.weight"]`, `params["up_proj.bias"]` | `(d_ff, d_model)`, `(d_ff,)` |
# | `params["down_proj.weight"]`, `params["down_proj.bias"]` | `(d_model, d_ff)`, `(d_model,)` |
# | returns | `(B, L, d_model)` |
#
# The check also looks at the gradients that reach `x`, both matrices and both biases. `F.linear` is allowed; the course's own network is off limits. Example: with `up_proj.weight = [[1.], [-1.]]`, `down_proj.weight = [[1., 1.]]` and biases 0, the network computes the absolute value.

# %% tags=["exercise"]
def feed_forward(x, params):
    # BEGIN SOLUTION
    wide = F.linear(x, params["up_proj.weight"], params["up_proj.bias"])  # (B, L, d_ff)
    return F.linear(torch.relu(wide), params["down_proj.weight"], params["down_proj.bias"])  # (B, L, d_model)
    # END SOLUTION


# %% tags=["check"]
check("9.3", feed_forward)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `F.linear(x, W, b)` multiplies by a matrix of shape `(out, in)` and adds the bias. There are two such steps. What stands between them, and why would they be one step without it?
# </details>

# %% [markdown]
# ### 9.4 · A residual connection, both ways
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write the `forward` of `Residual`. `sublayer` is a function that keeps the shape `(B, L, d_model)`. With `pre_norm=True` the norm comes before the sublayer, with `pre_norm=False` it comes after the sum. In both, what the *sublayer* gives passes through `self.dropout` before it is added.
#
# | argument | meaning |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `sublayer` | called with one tensor, gives one of the same shape |
# | returns | `(B, L, d_model)` |
#
# Leave the constructor and its names as they are: the check puts its own numbers into `norm`. It looks at both orders, at the gradients that reach `x` and the norm's parameters, and at training, where dropout acts. The course's `Residual` is off limits.
#
# Example: for `x = [[[1., 3.]]]`, a fresh norm, no dropout, and a sublayer that gives its input plus 1, pre-norm gives `[[[1., 5.]]]` (the norm of `x` is -1 and 1) and post-norm gives `[[[-1., 1.]]]`.

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
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write the `forward` of `EncoderLayer`: self-attention with a residual connection around it, then the feed-forward network with another. `norm_1` and the attention belong together, and so do `norm_2` and the network. `pre_norm` says which order to use, and `self.dropout` acts on what each sublayer gives.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)` |
# | `mask` | boolean, broadcasts to `(B, H, L, L)` |
# | returns | `(B, L, d_model)` |
#
# `MultiHeadAttention` and `FeedForward` are those of the course (lesson 06 and section 9.3): `self.self_attention(y, mask=mask)` is self-attention. Leave the constructor as it is. `Residual`, `EncoderLayer` and PyTorch's layers are off limits; you may write a small method of your own. The check looks at training too, and at the gradients that reach `x` and the norms' parameters.
#
# Example: if all parameters of attention and network are 0, then a pre-norm layer gives `x` back unchanged.

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
# `attention(query, key, value, mask=mask)` is cross-attention. The memory is used as it is: the encoder has normalized it. `self.dropout` acts on what each sublayer gives. The check looks at training too, and at the gradients that reach `x`, `memory` and the norms' parameters. The course's layers and PyTorch's are off limits. Example: if all parameters of the three sublayers are 0, the layer gives `x` back unchanged.

# %% tags=["exercise"]
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        # BEGIN SOLUTION
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=memory_mask))
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
# ### 9.7 · A stack of layers
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write both methods of `Stack`: `num_layers` layers one after the other, and one more `nn.LayerNorm` after the last.
#
# | argument | meaning |
# |---|---|
# | `make_layer` | a function without arguments; **each call makes a new layer**, which is called as `layer(x, mask)` and keeps the shape |
# | `num_layers` | how many layers, at least 1 |
# | `d_model` | size of the vectors, for the norm |
# | `x`, `mask` | `(B, L, d_model)`, boolean `(B, 1, 1, L)` |
# | `forward` returns | `(B, L, d_model)` |
#
# Each layer must have parameters of its own, and an optimizer must find them all: the check counts `stack.parameters()` and looks at the gradients that reach each layer, the norm and `x`. Call `make_layer` once for each place, in the constructor: copies of one layer would all start from the same numbers. Example: with `num_layers=1` the stack gives the norm of `make_layer()(x, mask)`.

# %% tags=["exercise"]
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        # BEGIN SOLUTION
        self.layers = nn.ModuleList(make_layer() for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        # END SOLUTION

    def forward(self, x, mask):
        # BEGIN SOLUTION
        for layer in self.layers:
            x = layer(x, mask)  # (B, L, d_model)
        return self.norm(x)
        # END SOLUTION


# %% tags=["check"]
check("9.7", Stack)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# `[a] * 3` is a list with the same object three times. How often does your code call `make_layer`?
# </details>
# <details><summary>Hint 2</summary>
#
# A module finds the parameters of modules that are its attributes, or that sit in an `nn.ModuleList`. It does not look into Python lists.
# </details>

# %% [markdown]
# ### 9.8 · Find the bug
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Below are the two attentions of a decoder layer, without norms, dropout and the network. `target` and `source` are token ids, and 0 is padding. The code runs, its shapes are right, and it would train. Here is a property that must hold: **what stands at a padding position of the source
# must not matter.** The cell changes the memory there, and the outputs move. Run it, and find out why.

# %%
def two_attentions_broken(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])  # (B, 1, L_t, L_t)
    x = x + self_attention(x, mask=mask)  # (B, L_t, d_model)
    return x + cross_attention(x, memory, memory, mask=mask)  # (B, L_t, d_model)


torch.manual_seed(0)
attentions = MultiHeadAttention(6, 2), MultiHeadAttention(6, 2)
target, source = torch.tensor([[1, 5, 3, 7]]), torch.tensor([[4, 2, 0, 0]])  # (B=1, L_t=4), (B=1, L_s=4)
x, memory = torch.randn(1, 4, 6), torch.randn(1, 4, 6)
other = torch.where((source == 0)[..., None], torch.randn(1, 4, 6), memory)  # another memory, at the padding only
with torch.no_grad():
    before, after = (two_attentions_broken(x, m, target, source, *attentions) for m in (memory, other))
print("how far each target position moved:", [round(move, 3) for move in (after - before).abs().amax(dim=-1)[0].tolist()])

# %% [markdown]
# Write `two_attentions` with the same arguments so that it is right for all lengths of target and source. Self-attention was right: leave it so. Padding may stand on the left too, and no source consists of padding alone. The check looks at those positions of the target that are not padding, and at the gradients that reach `x` and `memory`.

# %% tags=["exercise"]
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    # BEGIN SOLUTION
    target_mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])  # (B, 1, L_t, L_t)
    memory_mask = masks.padding_mask(source, 0)  # (B, 1, 1, L_s)
    x = x + self_attention(x, mask=target_mask)  # (B, L_t, d_model)
    return x + cross_attention(x, memory, memory, mask=memory_mask)  # (B, L_t, d_model)
    # END SOLUTION


# %% tags=["check"]
check("9.8", two_attentions)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Try a source of five tokens. The message says which shape the mask of cross-attention should have. Why did nobody notice with four?
# </details>
# <details><summary>Hint 2</summary>
#
# The columns of a mask are the keys. Which tokens are the keys of cross-attention, and which of them must be hidden? Is any of them the target's future?
# </details>

# %% [markdown]
# ### 9.9 · Which order is it?
# 1 point · difficulty 2 of 5 · 3 minutes
#
# You get somebody's encoder layers, freshly initialized, with the name `PostNormLayer`. How can you find out whether they really are post-norm?
#
# - **a.** Look at the shapes of the parameters.
# - **b.** Look whether the training loss falls.
# - **c.** Run fresh layers on any input: if each output vector has mean 0 and mean square 1, it is post-norm.
# - **d.** Read the comment above the class.

# %% tags=["quiz"]
quiz_9_9 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_9_9 = "c"
# END SOLUTION

# %% tags=["check"]
check("9.9", quiz_9_9)

# %% [markdown]
# ### 9.10 · Six layers or one
# 1 point · difficulty 2 of 5 · 3 minutes
#
# Somebody writes `layers = nn.ModuleList([EncoderLayer(...)] * 6)` and trains. What happens?
#
# - **a.** Nothing: a ModuleList copies what it is given.
# - **b.** The stack has the parameters of one layer, and their gradients are the sums over all six places.
# - **c.** The stack has six sets of parameters that start from the same numbers.
# - **d.** It stops with an error, since a parameter is registered twice.

# %% tags=["quiz"]
quiz_9_10 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_9_10 = "b"
# END SOLUTION

# %% tags=["check"]
check("9.10", quiz_9_10)

# %% [markdown]
# {{next_steps}}

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
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# In all exercises masks are boolean, and True means **may attend**. What you return has the dtype of `x`, no answer may change its arguments in place, and gradients must flow through your answers: use torch operations from first to last.

# %% tags=["setup"]
import sys

import torch
from torch import nn
from tqdm import tqdm

from course_checks import check, failing_case, hint
from course_utils import layers, masks, plotting, pretrained, widgets
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.tokenizers import END_ID, START_ID

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


# %% [markdown] tags=["mistakes"]
# Try: divide by d: the variance is a plain mean of squares.
# the unbiased variance, divided by d - 1, which is what torch.var and torch.std give by default.
#     centered.pow(2).mean(dim=-1, keepdim=True) => centered.var(dim=-1, keepdim=True)
# Try: epsilon belongs below the root, added to what the root is taken of.
# epsilon was added outside the root, to what the root gives.
#     torch.sqrt(variance + eps) => (torch.sqrt(variance) + eps)
# epsilon was taken as a lower limit instead of being added.
#     variance + eps => variance.clamp(min=eps)
# the values are right, but the gradient of `x` is not finite: a root was taken before epsilon was added, and the root of exactly 0 has an infinite slope.
#     variance + eps => variance.sqrt().square() + eps
# Try: use the argument.
# an epsilon of 1e-5 whatever the argument `eps` says.
#     + eps => + 1e-5
# an epsilon of 1e-6 whatever the argument `eps` says.
#     + eps => + 1e-6
# Try: divide by the root.
# the root is missing: divided by what stands below it.
#     torch.sqrt(variance + eps) => (variance + eps)
# Try: each vector by itself: over the last axis alone, which keepdim=True keeps.
# the statistics are taken over positions and features together: tokens see one another.
#     dim=-1 => dim=(1, 2)
# the statistics are taken over the batch: sequences see one another.
#     dim=-1 => dim=0
# the statistics are taken over the positions, each feature by itself: tokens see one another.
#     dim=-1 => dim=1
# Try: first the weight, then the bias.
# the bias was added before the weight, so that it was multiplied too.
#     * weight + bias => * weight + bias * weight
# Try: take the mean off before you square.
# the mean was not taken off: that is RMSNorm with a bias.
#     x - x.mean(dim=-1, keepdim=True) => x
# the mean of x squared stands in the place of the variance: right only where the mean is 0.
#     centered.pow(2).mean(dim=-1, keepdim=True) => x.pow(2).mean(dim=-1, keepdim=True)
# the mean of the squares less the square of the mean: in float32 that may come out below 0, and then has no root.
#     centered.pow(2).mean(dim=-1, keepdim=True) => (x.pow(2).mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True).pow(2))
# Try: divide by d.
# the sum of the squared differences stands in the place of their mean.
#     centered.pow(2).mean(dim=-1, keepdim=True) => centered.pow(2).sum(dim=-1, keepdim=True)
# Try: epsilon belongs below the root, added to what the root is taken of. And divide by d.
# epsilon was added to x.std(), which is also the unbiased deviation, by d - 1.
#     torch.sqrt(variance + eps) => (x.std(dim=-1, keepdim=True) + eps)
# Try: eps is always added, inside the root.
# eps stands only where a variance is 0; elsewhere it is left out.
#     variance + eps => torch.where(variance == 0, eps, variance)

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


# %% [markdown] tags=["mistakes"]
# Try: epsilon belongs below the root, added to what the root is taken of.
# epsilon was added outside the root, to what the root gives.
#     torch.sqrt(mean_square + eps) => (torch.sqrt(mean_square) + eps)
# epsilon was taken as a lower limit instead of being added.
#     mean_square + eps => mean_square.clamp(min=eps)
# x was divided by its bare root mean square: eps was not added, and only vectors of zeros are kept from 0 / 0.
#     torch.sqrt(mean_square + eps) => x.norm(dim=-1, keepdim=True).clamp(min=1e-12) * x.shape[-1] ** 0.5
# Try: divide by the root.
# the root is missing: divided by what stands below it.
#     torch.sqrt(mean_square + eps) => (mean_square + eps)
# Try: each vector by itself: over the last axis alone, which keepdim=True keeps.
# the statistics have lost the last axis, (B, L): they line up with the features, if at all.
#     dim=-1, keepdim=True => dim=-1
# the statistics are taken over the positions, each feature by itself: tokens see one another.
#     dim=-1 => dim=1
# Try: multiply by the weight itself.
# multiplied by 1 + weight.
#     * weight => * (1 + weight)
# Try: no mean was taken off, so divide by d: it is a plain mean.
# the sum of the squares was divided by d - 1.
#     x.pow(2).mean( => x.shape[-1] / (x.shape[-1] - 1) * x.pow(2).mean(
# Try: square, take the mean over the features, add eps, and only then take the root.
# x was divided by its standard deviation, from which the mean was taken off.
#     x.pow(2).mean( => x.var(unbiased=False,
# the sum of the squares instead of their mean: entries shrink as d grows.
#     x.pow(2).mean( => x.pow(2).sum(
# the root was taken before the mean, not after it.
#     torch.sqrt(mean_square + eps) => torch.sqrt(x.pow(2) + eps).mean(dim=-1, keepdim=True)
# the mean of the absolute values instead of the root mean square.
#     torch.sqrt(mean_square + eps) => (x.abs().mean(dim=-1, keepdim=True) + eps)
# Try: normalize x itself; multiply by the weight at the end.
# x was multiplied by the weight before the mean square was taken: the weight enters the root too.
#     x.pow(2) => (x * weight).pow(2)
# Try: use the argument.
# an epsilon of 1e-5 whatever the argument `eps` says.
#     + eps => + 1e-5
# an epsilon of 1e-6 whatever the argument `eps` says.
#     + eps => + 1e-6
# Try: RMSNorm takes no mean off, above the line or below it.
# the mean was taken off: that is LayerNorm without a bias.
#     `mean_square = ` => `x = x - x.mean(dim=-1, keepdim=True)\n    mean_square = `
# Try: first square, then take the mean.
# the square of the mean, not the mean of the squares.
#     x.pow(2).mean(dim=-1, keepdim=True) => x.mean(dim=-1, keepdim=True).pow(2)

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


# %% [markdown] tags=["mistakes"]
# Try: erf(z) belongs to the numbers between -z sqrt(2) and z sqrt(2): for which z is that from -x to x?
# erf of x itself, without the root of 2.
#     x / 2**0.5 => x
# erf of x times the root of 2, instead of x divided by it.
#     x / 2**0.5 => x * 2**0.5
# Try: the share below x is made of two: the half that lies left of 0, and what lies between 0 and x.
# x times erf: the share between -x and x, with a sign.
#     0.5 * (1 + torch.erf(x / 2**0.5)) => torch.erf(x / 2**0.5)
# x times 1 + erf: twice the share.
#     0.5 * (1 + torch.erf(x / 2**0.5)) => (1 + torch.erf(x / 2**0.5))
# x times 1 + half of erf: that runs from 1/2 to 3/2.
#     0.5 * (1 + torch.erf(x / 2**0.5)) => (1 + 0.5 * torch.erf(x / 2**0.5))
# the sign of erf was dropped: the share of a negative number comes out above one half.
#     torch.erf(x / 2**0.5) => torch.erf((x / 2**0.5).abs())
# Try: multiply x by the share.
# the share below x, without x: GELU is x times that.
#     x * 0.5 => 0.5
# Try: by_tanh says which of the two forms is asked for.
# the exact form whatever `by_tanh` says.
#     if by_tanh: => if False:
# the form by tanh whatever `by_tanh` says.
#     if by_tanh: => if True:
# the two forms are exchanged: by tanh where the exact one is asked for.
#     if by_tanh: => if not by_tanh:
# Try: compare u with the statement's, bracket by bracket.
# in the form by tanh: 0.44715 in the place of 0.044715.
#     0.044715 => 0.44715
# in the form by tanh: 2 / pi without the root.
#     (2 / torch.pi) ** 0.5 => (2 / torch.pi)
# in the form by tanh: sqrt(pi / 2) in the place of sqrt(2 / pi).
#     (2 / torch.pi) ** 0.5 => (torch.pi / 2) ** 0.5
# in the form by tanh: the term with x cubed is missing.
#     (x + 0.044715 * x**3) => x
# in the form by tanh: sqrt(2 / pi) multiplies the cube alone.
#     (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3) => x + (2 / torch.pi) ** 0.5 * 0.044715 * x**3
# in the form by tanh: sqrt(2 / pi) multiplies x alone.
#     (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3) => (2 / torch.pi) ** 0.5 * x + 0.044715 * x**3

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


# %% [markdown] tags=["mistakes"]
# Try: ask of each norm what it is applied to: what goes into the sublayer, or the sum?
# the two orders are exchanged: pre_norm=True normalizes the sum, pre_norm=False what goes into the sublayer.
#     if self.pre_norm => if not self.pre_norm
# with pre_norm=True, the sum is normalized as well.
#     x + self.dropout(sublayer(self.norm(x))) => self.norm(x + self.dropout(sublayer(self.norm(x))))
# with pre_norm=False, only what the sublayer gives is normalized, not the sum.
#     self.norm(x + self.dropout(sublayer(x))) => x + self.norm(self.dropout(sublayer(x)))
# with pre_norm=True, what goes into the sublayer is not normalized.
#     x + self.dropout(sublayer(self.norm(x))) => x + self.dropout(sublayer(x))
# Try: drop only what the sublayer gives: after the sublayer, and before it is added to x.
# what the sublayer gives does not pass through dropout, which shows in training only.
#     x + self.dropout(sublayer(self.norm(x))) => x + sublayer(self.norm(x))
#     self.norm(x + self.dropout(sublayer(x))) => self.norm(x + sublayer(x))
# with pre_norm=False, what the sublayer gives does not pass through dropout, which shows in training only.
#     self.norm(x + self.dropout(sublayer(x))) => self.norm(x + sublayer(x))
# dropout acts on the sum: that cuts the direct path as well.
#     x + self.dropout(sublayer(self.norm(x))) => self.dropout(x + sublayer(self.norm(x)))
#     self.norm(x + self.dropout(sublayer(x))) => self.norm(self.dropout(x + sublayer(x)))
# with pre_norm=False, dropout acts on the sum: that cuts the direct path as well.
#     self.norm(x + self.dropout(sublayer(x))) => self.norm(self.dropout(x + sublayer(x)))
# dropout acts on what goes into the sublayer.
#     x + self.dropout(sublayer(self.norm(x))) => x + sublayer(self.dropout(self.norm(x)))
#     self.norm(x + self.dropout(sublayer(x))) => self.norm(x + sublayer(self.dropout(x)))
# with pre_norm=True, dropout acts on what goes into the sublayer.
#     x + self.dropout(sublayer(self.norm(x))) => x + sublayer(self.dropout(self.norm(x)))
# with pre_norm=True, what the sublayer gives does not pass through dropout, which shows in training only.
#     x + self.dropout(sublayer(self.norm(x))) => x + sublayer(self.norm(x))
# Try: add x to what the sublayer gives.
# x is not added: what the sublayer gives stands alone.
#     x + self.dropout( => self.dropout(
# with pre_norm=True, x is not added: what the sublayer gives stands alone.
#     x + self.dropout(sublayer(self.norm(x))) => self.dropout(sublayer(self.norm(x)))
# with pre_norm=False, x is not added: what the sublayer gives stands alone.
#     self.norm(x + self.dropout(sublayer(x))) => self.norm(self.dropout(sublayer(x)))
# Try: keep x as it came for the sum; a line x = norm(x) overwrites it.
# with pre_norm=True, the normalized x is added, not x itself: the direct path passes through the norm.
#     x + self.dropout(sublayer(self.norm(x))) => self.norm(x) + self.dropout(sublayer(self.norm(x)))
# Try: call self.norm itself.
# normalized, but not by self.norm: its weight and bias play no part.
#     self.norm( => F.layer_norm(normalized_shape=x.shape[-1:], input=

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


# %% [markdown] tags=["mistakes"]
# Try: ask of each value of pre_norm what the norm is applied to: what goes into the sublayer, or the sum?
# the two orders are exchanged: pre_norm=True normalizes the sums, pre_norm=False what goes into the sublayers.
#     if self.pre_norm => if not self.pre_norm
# Try: add x to what the sublayer gives.
# x is not added: what the sublayers give stands alone.
#     x + self.dropout( => self.dropout(
# with pre_norm=False, around the network, x is not added: what the sublayer gives stands alone.
#     self.norm_2(x + self.dropout(self.feed_forward(x))) => self.norm_2(self.dropout(self.feed_forward(x)))
# Try: hand it to the attention as it is: True where a token may be seen.
# the mask is never used: the padding is seen.
#     def forward(self, x, mask): => def forward(self, x, mask):\n        mask = None
# with pre_norm=True, the mask is not used: the padding is seen.
#     self.self_attention(self.norm_1(x), mask=mask) => self.self_attention(self.norm_1(x))
# with pre_norm=False, the mask is not used: the padding is seen.
#     self.self_attention(x, mask=mask) => self.self_attention(x)
# the mask was turned around, as PyTorch's layers want it.
#     def forward(self, x, mask): => def forward(self, x, mask):\n        mask = ~mask
# Try: norm_1 belongs to the attention, norm_2 to the network.
# norm_1 was used for both sublayers; norm_2 never learns.
#     self.norm_2( => self.norm_1(
# with pre_norm=True, norm_1 was used for both sublayers.
#     self.feed_forward(self.norm_2(x)) => self.feed_forward(self.norm_1(x))
# with pre_norm=False, norm_1 was used for both sublayers.
#     return self.norm_2( => return self.norm_1(
# the two norms are exchanged.
#     self.norm_1( => self.norm_0(
#     self.norm_2( => self.norm_1(
#     self.norm_0( => self.norm_2(
# Try: normalize once, and give the attention that result alone.
# with pre_norm=True, only the queries were normalized; keys and values were made from x as it is.
#     self.self_attention(self.norm_1(x), mask=mask) => self.self_attention(self.norm_1(x), x, x, mask=mask)
# Try: first the attention; the network starts from its sum, and is added to that.
# with pre_norm=True, the network's result was added to the layer's input: what the attention found goes through the network alone.
#     x = x + self.dropout => start = x\n            x = x + self.dropout
#     return x + self.dropout(self.feed_forward(self.norm_2(x))) => return start + self.dropout(self.feed_forward(self.norm_2(x)))
# with pre_norm=True, both sublayers read the layer's input, side by side.
#     x = x + self.dropout => start = x\n            x = x + self.dropout
#     return x + self.dropout(self.feed_forward(self.norm_2(x))) => return x + self.dropout(self.feed_forward(self.norm_2(start)))
# Try: drop only what the sublayer gives: after the sublayer, and before it is added to x.
# around the network, what the sublayer gives does not pass through dropout, which shows in training only.
#     x + self.dropout(self.feed_forward(self.norm_2(x))) => x + self.feed_forward(self.norm_2(x))
#     self.norm_2(x + self.dropout(self.feed_forward(x))) => self.norm_2(x + self.feed_forward(x))
# Try: keep x as it came for the sum; a line x = norm(x) overwrites it.
# with pre_norm=True, around the attention, the normalized x is added, not x itself: the direct path passes through the norm.
#     x + self.dropout(self.self_attention(self.norm_1(x), mask=mask)) => self.norm_1(x) + self.dropout(self.self_attention(self.norm_1(x), mask=mask))
# Try: ask of each norm what it is applied to: what goes into the sublayer, or the sum?
# with pre_norm=True, around the network, the sum is normalized as well.
#     x + self.dropout(self.feed_forward(self.norm_2(x))) => self.norm_2(x + self.dropout(self.feed_forward(self.norm_2(x))))
# with pre_norm=False, around the attention, the sum is not normalized.
#     self.norm_1(x + self.dropout(self.self_attention(x, mask=mask))) => x + self.dropout(self.self_attention(x, mask=mask))
# Try: self.dropout knows whether the module is in training.
# dropout acts outside of training too, as F.dropout does unless it is told whether the layer is in training.
#     self.dropout( => nn.Dropout(self.dropout.p)(

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


# %% [markdown] tags=["mistakes"]
# Try: whose tokens are the keys there? Its mask has one column for each of them.
# cross-attention got no mask: the padding of the source is seen.
#     "mask": memory_mask => "mask": None
# self-attention got no mask: the target sees its own future.
#     mask=target_mask => mask=None
# the two masks are exchanged: self-attention got that of the source, cross-attention that of the target.
#     mask=target_mask => mask=memory_mask
#     "mask": memory_mask => "mask": target_mask
# Try: use the memory as it is: the encoder's final norm has normalized it already.
# the memory was normalized by norm_2.
#     def forward(self, x, memory, target_mask, memory_mask): => def forward(self, x, memory, target_mask, memory_mask):\n        memory = self.norm_2(memory)
# Try: normalize once, and give the self-attention that result alone.
# in self-attention only the queries were normalized; keys and values were made from x as it is.
#     self.self_attention(self.norm_1(x), mask=target_mask) => self.self_attention(self.norm_1(x), x, x, mask=target_mask)
# Try: queries come from the target, keys and values both from memory.
# the keys come from memory, the values from the target.
#     "value": memory => "value": self.norm_2(x)
# Try: three connections: each starts from the result of the one before, and is added to that.
# cross-attention's queries come from the layer's input, not from self-attention's result.
#     def forward(self, x, memory, target_mask, memory_mask): => def forward(self, x, memory, target_mask, memory_mask):\n        start = x
#     self.norm_2(x) => self.norm_2(start)
# cross-attention comes before self-attention.
#     x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask)) =>
#     x = x + self.dropout(self.cross_attention(self.norm_2(x), **asked)) => x = x + self.dropout(self.cross_attention(self.norm_2(x), **asked))\n        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
# the network's result was added to the layer's input, not to the sum so far.
#     def forward(self, x, memory, target_mask, memory_mask): => def forward(self, x, memory, target_mask, memory_mask):\n        start = x
#     return x + self.dropout(self.feed_forward( => return start + self.dropout(self.feed_forward(
# the network plays no part: norm_3 stands at the end instead.
#     return x + self.dropout(self.feed_forward(self.norm_3(x))) => return self.norm_3(x)
# Try: norm_1 belongs to self-attention, norm_2 to cross-attention, norm_3 to the network.
# norm_2 was used where norm_3 belongs.
#     norm_3(x => norm_2(x
# Try: drop only what the sublayer gives: after the sublayer, and before it is added to x.
# around cross-attention, what the sublayer gives does not pass through dropout, which shows in training only.
#     x + self.dropout(self.cross_attention(self.norm_2(x), **asked)) => x + self.cross_attention(self.norm_2(x), **asked)
# Try: add x to what the sublayer gives.
# x is not added anywhere: what the sublayers give stands alone.
#     x + self.dropout( => self.dropout(
# around cross-attention, x is not added: what the sublayer gives stands alone.
#     x + self.dropout(self.cross_attention(self.norm_2(x), **asked)) => self.dropout(self.cross_attention(self.norm_2(x), **asked))
# Try: keep x as it came for the sum; a line x = norm(x) overwrites it.
# the normalized x is added, not x itself: the direct path passes through the norms.
#     x + self.dropout(self.self_ => self.norm_1(x) + self.dropout(self.self_
#     x + self.dropout(self.cross_ => self.norm_2(x) + self.dropout(self.cross_
#     x + self.dropout(self.feed_ => self.norm_3(x) + self.dropout(self.feed_
# Try: ask of each norm what it is applied to: what goes into the sublayer, or the sum?
# around cross-attention, what goes into the sublayer is not normalized.
#     x + self.dropout(self.cross_attention(self.norm_2(x), **asked)) => x + self.dropout(self.cross_attention(x, **asked))
# the norm stands after the sum, as in post-norm.
#     x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask)) => self.norm_1(x + self.dropout(self.self_attention(x, mask=target_mask)))
#     x + self.dropout(self.cross_attention(self.norm_2(x), **asked)) => self.norm_2(x + self.dropout(self.cross_attention(x, **asked)))
#     x + self.dropout(self.feed_forward(self.norm_3(x))) => self.norm_3(x + self.dropout(self.feed_forward(x)))
# Try: the direct path carries the stream itself; only what goes into the sublayer is normalized.
# before the network the stream itself is replaced by its norm: the direct path carries that.
#     return x + self.dropout(self.feed_forward(self.norm_3(x))) => x = self.norm_3(x)\n        return x + self.dropout(self.feed_forward(x))

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


# %% [markdown] tags=["mistakes"]
# Try: two branches leave the line, one after the other; on each: norm, sublayer, norm; only then the sum.
# in the sandwich: what a sublayer returns was added without its norm; that is pre-norm.
#     x + norms[1](attend(norms[0](x))) => x + attend(norms[0](x))
#     x + norms[3](network(norms[2](x))) => x + network(norms[2](x))
# in the sandwich: the second norm of each pair was put on the sum, as in post-norm.
#     x + norms[1](attend(norms[0](x))) => norms[1](x + attend(norms[0](x)))
#     x + norms[3](network(norms[2](x))) => norms[3](x + network(norms[2](x)))
# in the sandwich: the last norm was put on the last sum.
#     x + norms[3](network(norms[2](x))) => norms[3](x + network(norms[2](x)))
# in the sandwich: the network read x as it came, not the sum.
#     x = x + norms[1](attend(norms[0](x))) => start, x = x, x + norms[1](attend(norms[0](x)))
#     norms[2](x) => norms[2](start)
# in the sandwich: the network read only what attend had added, not the sum.
#     x = x + norms[1](attend(norms[0](x))) => start, x = x, x + norms[1](attend(norms[0](x)))
#     norms[2](x) => norms[2](x - start)
# in the sandwich: both sublayers stand on one branch, and only the network's result is added.
#     x = x + norms[1](attend(norms[0](x))) => start, x = x, norms[1](attend(norms[0](x)))
#     return x + norms[3] => return start + norms[3]
# Try: norms[0] and norms[1] are around attend, norms[2] and norms[3] around network.
# in the sandwich: norms[0] and norms[1] stand before the sublayers, norms[2] and norms[3] behind them.
#     norms[1] => norms[-2]
#     norms[2] => norms[1]
#     norms[-2] => norms[2]
# Try: each value of `wiring` has its own formula.
# the two wirings are exchanged.
#     wiring == => wiring !=
# Try: both sublayers read the same normalized x, and what they return is added to x as it came.
# in parallel: the network read what attend returned.
#     x + attend(normed) + network(normed) => x + network(attend(normed))
# in parallel: the network read the sum, normalized again: pre-norm.
#     x + attend(normed) + network(normed) => (y := x + attend(normed)) + network(norms[0](y))
# in parallel: the network read x without the norm.
#     x + attend(normed) + network(normed) => x + attend(normed) + network(x)
# in parallel: the results were added to the normalized x.
#     x + attend(normed) + network(normed) => normed + attend(normed) + network(normed)
# in parallel: x was added twice.
#     x + attend(normed) + network(normed) => 2 * x + attend(normed) + network(normed)
# in parallel: x itself was not added.
#     x + attend(normed) + network(normed) => attend(normed) + network(normed)
# in parallel: what the network returns is lost.
#     x + attend(normed) + network(normed) => x + attend(normed)
# in parallel: the sublayers read x as it came, and the sum was normalized.
#     x + attend(normed) + network(normed) => norms[0](x + attend(x) + network(x))

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


# %% [markdown] tags=["mistakes"]
# Try: make a new tensor each time; x += change writes into the old one, wherever it is kept.
# copies are kept, but += still writes into the caller's x.
#     streams, added = [x], [] => streams, added = [x.clone()], []
#     added.append(sublayer(streams[-1])) => added.append(sublayer(x))
#     streams.append(streams[-1] + added[-1]) => x += added[-1]\n        streams.append(x.clone())
# what is appended later is copied, but the first entry is still the tensor that += writes into.
#     added.append(sublayer(streams[-1])) => added.append(sublayer(x))
#     streams.append(streams[-1] + added[-1]) => x += added[-1]\n        streams.append(x.clone())
# x was copied once: the caller's is safe, but all entries are still one tensor.
#     streams, added = [x], [] => x = x.clone()\n    streams, added = [x], []
#     added.append(sublayer(streams[-1])) => added.append(sublayer(x))
#     streams.append(streams[-1] + added[-1]) => x += added[-1]\n        streams.append(x)
# a sublayer may return the very tensor that it was given; then every later += changes what stands in `added`.
#     streams, added = [x], [] => x = x.clone()\n    streams, added = [x.clone()], []
#     added.append(sublayer(streams[-1])) => added.append(sublayer(x))
#     streams.append(streams[-1] + added[-1]) => x += added[-1]\n        streams.append(x.clone())
# a sublayer may return the very tensor that it was given; then += on that tensor changes what it returned.
#     added.append(sublayer(streams[-1])) => x = streams[-1].clone()\n        added.append(sublayer(x))
#     streams.append(streams[-1] + added[-1]) => x += added[-1]\n        streams.append(x)
# the function as it was: all entries of the stream are one tensor, the last one.
#     added.append(sublayer(streams[-1])) => added.append(sublayer(x))
#     streams.append(streams[-1] + added[-1]) => x += added[-1]\n        streams.append(x)
# Try: each sublayer reads the stream as it is by then, and what it returns is added to that.
# the stream became what the sublayer returned, and `added` holds the difference.
#     added.append(sublayer(streams[-1])) => streams.append(sublayer(streams[-1]))
#     streams.append(streams[-1] + added[-1]) => added.append(streams[-1] - streams[-2])
# every sublayer read the first entry of the stream.
#     sublayer(streams[-1]) => sublayer(streams[0])
# Try: append what the sublayer returned, as it is.
# `added` holds the stream after the sublayer, not what was added to it.
#     added.append(sublayer(streams[-1])) => change = sublayer(streams[-1])
#     streams.append(streams[-1] + added[-1]) => streams.append(streams[-1] + change)\n        added.append(streams[-1])
# `added` holds the difference from the first entry.
#     added.append(sublayer(streams[-1])) => change = sublayer(streams[-1])
#     streams.append(streams[-1] + added[-1]) => streams.append(streams[-1] + change)\n        added.append(streams[-1] - streams[0])
# Try: leave out detach and torch.no_grad(): gradients must pass through the whole stream.
# the stream is cut after each sublayer: through its later entries no gradient reaches x or an earlier sublayer.
#     streams.append(streams[-1] + added[-1]) => streams.append((streams[-1] + added[-1]).detach())
# Try: call each sublayer once, and keep what it returns.
# a sublayer was called a second time: with dropout it returns something else then.
#     streams.append(streams[-1] + added[-1]) => streams.append(streams[-1] + sublayer(streams[-1]))
# Try: how many entries are asked for?
# `streams` lacks its first entry, the stream before the first sublayer.
#     return streams, => return streams[1:],
# `streams` lacks its last entry, the stream after the last sublayer.
#     return streams, => return streams[:-1],

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

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** each sublayer does see what it saw before, and adds what it added before; but it adds that to a stream ten times as large, so it counts for a tenth.
# - **b.** the first attention reads the vectors as they come, ten times as large: its scores become a hundred times as large, its weights change, and so does the first sum.
# - **c.** the norm forgets the factor before anything else sees it, and all that follows is as it was.
# - **d.** in two of the three something sees the larger vectors: the sum in one, the first attention in the other.

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
    model = pretrained.load("transformer").eval()
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

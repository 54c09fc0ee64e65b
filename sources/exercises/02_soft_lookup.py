# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 · Attention as a soft lookup: exercises
#
# Eight exercises, 20 points. At the end you have written every part of attention yourself: the softmax, the weighted sum, and two ways to score.
#
# {{colab_link}} · about 65 minutes · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# In all six coding exercises gradients must flow through your answer, and it keeps the dtype of its arguments: use torch operations from first to last.

# %% tags=["setup"]
import torch

from course_utils.checks import check

# %% [markdown]
# ### 2.1 · A softmax that does not overflow
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `softmax(scores)`: weights over the **last** dimension, for scores of any size, up to 1000 and down to -1000.
#
# | argument | shape |
# |---|---|
# | `scores` | `(L_q, L_k)` or `(B, L_q, L_k)` |
# | returns | the same shape and dtype; each row along the last dimension sums to 1, and nothing is NaN |
#
# Example: `softmax(torch.tensor([[1000., 1000.], [-1000., -1000.]]))` is `[[0.5, 0.5], [0.5, 0.5]]`. PyTorch's `softmax`, `log_softmax` and `logsumexp`, and what is built on them (`softmin`, `gumbel_softmax`, `cross_entropy`, attention), are off limits here.

# %% tags=["exercise"]
def softmax(scores):
    # BEGIN SOLUTION
    shifted = scores - scores.amax(dim=-1, keepdim=True)  # (..., L_k), the largest of each row is 0
    exponentials = shifted.exp()  # (..., L_k), all between 0 and 1
    return exponentials / exponentials.sum(dim=-1, keepdim=True)  # (..., L_k)
    # END SOLUTION


# %% tags=["check"]
check("2.1", softmax)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Adding one number to all scores of a row changes no weight. Which number makes overflow impossible?
# </details>
# <details><summary>Hint 2</summary>
#
# The maximum has to be taken for each row by itself. `scores.amax(dim=...)` does that; with `keepdim=True` the result still broadcasts against `scores`.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. from each row, subtract its own maximum
# 2. take the exponential of every entry
# 3. divide each row by its own sum
# </details>

# %% [markdown]
# ### 2.2 · Temperature and entropy
# 3 points · difficulty 2 of 5 · 10 minutes
#
# Write `with_temperature(scores, temperature)`: the weights $\operatorname{softmax}(s / T)$ over the last dimension, and for each row the entropy $H = -\sum_i w_i \ln w_i$ of these weights. A weight of exactly 0
# contributes 0 to the sum; what gradient it has there is not looked at.
#
# | argument | shape |
# |---|---|
# | `scores` | `(L_q, L_k)`, finite |
# | `temperature` | a positive number |
# | returns `weights`, `entropy` | `(L_q, L_k)`, `(L_q,)`, never NaN |
#
# Example: for the scores `[[0., 0., 0., 0.]]` and any temperature, the weights are `[[0.25, 0.25, 0.25, 0.25]]` and the entropy is `[1.3863]`, the natural logarithm of 4. `torch.softmax` is allowed from here on.

# %% tags=["exercise"]
def with_temperature(scores, temperature):
    # BEGIN SOLUTION
    weights = torch.softmax(scores / temperature, dim=-1)  # (L_q, L_k)
    logs = weights.masked_fill(weights == 0, 1.0).log()  # (L_q, L_k), log(1) = 0 where the weight is 0
    entropy = -(weights * logs).sum(dim=-1)  # (L_q,)
    return weights, entropy
    # END SOLUTION


# %% tags=["check"]
check("2.2", with_temperature)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A high temperature makes weights more equal. Does dividing or multiplying the scores bring them closer together?
# </details>
# <details><summary>Hint 2</summary>
#
# At a low temperature a weight can become exactly 0. Its logarithm is minus infinity, and 0 times infinity is NaN.
# </details>
# <details><summary>Hint 3</summary>
#
# Replace the zeros by a number whose logarithm is harmless before you take logarithms (`masked_fill`), or look for `xlogy` or `entr` in PyTorch's documentation.
# </details>

# %% [markdown]
# ### 2.3 · Pooling with given weights
# 2 points · difficulty 1 of 5 · 5 minutes
#
# Somebody else has computed the weights. Write `pool(weights, values)`: for every query, the weighted sum of the values.
#
# | argument | shape |
# |---|---|
# | `weights` | `(B, L_q, L_k)`, each row sums to 1 |
# | `values` | `(B, L_k, d_v)` |
# | returns | `(B, L_q, d_v)` |
#
# Example: weights `[[[0.2, 0.4, 0.4]]]` and values `[[[40.], [60.], [140.]]]` give `[[[88.]]]`: the oven of the lesson.

# %% tags=["exercise"]
def pool(weights, values):
    # BEGIN SOLUTION
    return weights @ values  # (B, L_q, L_k) @ (B, L_k, d_v) -> (B, L_q, d_v)
    # END SOLUTION


# %% tags=["check"]
check("2.3", pool)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Entry `[b, i, e]` is the sum over `j` of `weights[b, i, j] * values[b, j, e]`. Which operation sums over an index that stands last in one factor and second to last in the other?
# </details>
# <details><summary>Hint 2</summary>
#
# No transpose is needed: the keys are the last axis of the weights and the middle axis of the values.
# </details>

# %% [markdown]
# ### 2.4 · Nadaraya-Watson kernel regression
# 3 points · difficulty 3 of 5 · 10 minutes
#
# Write `kernel_regression(x_query, x_key, y_key, bandwidth)`. The weight of key $k_j$ for query $q_i$ is the softmax over $j$ of $-(q_i - k_j)^2 / (2 h^2)$, and the prediction is the weighted sum of the values.
# In the check one query lies far away from every key, many bandwidths off. There too the weights must sum to 1.
#
# | argument | shape |
# |---|---|
# | `x_query` | `(L_q,)` |
# | `x_key`, `y_key` | `(L_k,)` |
# | `bandwidth` | a positive number, $h$ |
# | returns `prediction`, `weights` | `(L_q,)`, `(L_q, L_k)` |
#
# Example: query `[3.]`, keys `[1., 2., 4.]`, values `[40., 60., 140.]` and bandwidth 1 give the prediction `[93.9781]` and the weights `[[0.1004, 0.4498, 0.4498]]`.

# %% tags=["exercise"]
def kernel_regression(x_query, x_key, y_key, bandwidth):
    # BEGIN SOLUTION
    distance = x_query[:, None] - x_key[None, :]  # (L_q, L_k)
    scores = -(distance**2) / (2 * bandwidth**2)  # (L_q, L_k)
    weights = torch.softmax(scores, dim=-1)  # (L_q, L_k)
    return weights @ y_key, weights  # (L_q,), (L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("2.4", kernel_regression)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# All differences at once: a column of queries minus a row of keys. `x[:, None]` makes a column of a vector.
# </details>
# <details><summary>Hint 2</summary>
#
# `a / 2 * h**2` divides by 2 and then *multiplies*. What you want in the denominator needs parentheses.
# </details>
# <details><summary>Hint 3</summary>
#
# The kernel of a far query underflows: every `exp` is 0, and 0 / 0 is NaN. A softmax that shifts by the maximum first (2.1, or PyTorch's) does not have that problem.
# </details>

# %% [markdown]
# ### 2.5 · Additive attention
# 4 points · difficulty 3 of 5 · 15 minutes
#
# Write `additive_attention(query, key, value, W_q, W_k, w_v)` with the score
#
# $$a(q, k) = w_v^\top \tanh(W_q\, q + W_k\, k) .$$
#
# | argument | shape |
# |---|---|
# | `query` | `(B, L_q, d_q)` |
# | `key` | `(B, L_k, d_k)` |
# | `value` | `(B, L_k, d_v)` |
# | `W_q`, `W_k`, `w_v` | `(d_hidden, d_q)`, `(d_hidden, d_k)`, `(d_hidden,)` |
# | returns `output`, `weights` | `(B, L_q, d_v)`, `(B, L_q, L_k)` |
#
# In the check all sizes differ. Example: with the two keys, the query and the arrays worked by hand in section 2.10 of the lesson, each with a batch axis of 1 in front, the weights are `[[[0.6817, 0.3183]]]`.

# %% tags=["exercise"]
def additive_attention(query, key, value, W_q, W_k, w_v):
    # BEGIN SOLUTION
    projected_q = query @ W_q.T  # (B, L_q, d_hidden)
    projected_k = key @ W_k.T  # (B, L_k, d_hidden)
    hidden = torch.tanh(projected_q[:, :, None, :] + projected_k[:, None, :, :])  # (B, L_q, L_k, d_hidden)
    weights = torch.softmax(hidden @ w_v, dim=-1)  # (B, L_q, L_k)
    return weights @ value, weights  # (B, L_q, d_v), (B, L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("2.5", additive_attention)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Project first: queries to `(B, L_q, d_hidden)`, keys to `(B, L_k, d_hidden)`. The matrices are stored as `(out, in)`, so they need a transpose behind a row vector.
# </details>
# <details><summary>Hint 2</summary>
#
# To add every query to every key, give the one shape `(B, L_q, 1, d_hidden)` and the other `(B, 1, L_k, d_hidden)`.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. project queries and keys
# 2. add all pairs by broadcasting, then the hyperbolic tangent
# 3. product with `w_v` over the hidden axis: scores of shape `(B, L_q, L_k)`
# 4. softmax over the keys, then 2.3
# </details>

# %% [markdown]
# ### 2.6 · Find the bug
# 3 points · difficulty 2 of 5 · 10 minutes
#
# The function below computes dot-product attention, without any scaling. It runs, and its weights are positive and at most 1. Yet something is wrong with it: if all values are 10, then every weighted average of
# them must be 10. Run the cell, find out what the weights sum to and along which axis, and write a mended version below.

# %%
def attend_broken(query, key, value):
    scores = query @ key.transpose(-2, -1)  # (B, L_q, L_k)
    weights = torch.softmax(scores, dim=-2)  # (B, L_q, L_k)
    return weights @ value, weights  # (B, L_q, d_v), (B, L_q, L_k)


rng = torch.Generator().manual_seed(0)
q, k = torch.randn(1, 3, 4, generator=rng), torch.randn(1, 3, 4, generator=rng)
output, weights = attend_broken(q, k, torch.full((1, 3, 1), 10.0))
print("averages of tens:", [f"{x:.2f}" for x in output.flatten().tolist()])

# %% [markdown]
# Write `attend(query, key, value)` so that it is right for all sizes: `(B, L_q, d)`, `(B, L_k, d)` and `(B, L_k, d_v)` give the output `(B, L_q, d_v)` and the weights `(B, L_q, L_k)`.

# %% tags=["exercise"]
def attend(query, key, value):
    # BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1)  # (B, L_q, L_k)
    weights = torch.softmax(scores, dim=-1)  # over the keys: each query's weights sum to 1
    return weights @ value, weights  # (B, L_q, d_v), (B, L_q, L_k)
    # END SOLUTION


# %% tags=["check"]
check("2.6", attend)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)` in the cell of the broken function. Which of the two ought to be all ones?
# </details>
# <details><summary>Hint 2</summary>
#
# Each *query* hands out a weight of 1 in total, among the *keys*. On which axis of `(B, L_q, L_k)` do the keys stand?
# </details>

# %% [markdown]
# ### 2.7 · A high temperature
# 1 point · difficulty 1 of 5 · 2 minutes
#
# The scores of a query lie between -3 and 3. They are divided by a temperature before the softmax, and the temperature is raised from 1 to 100. What happens to the weights?
#
# - **a.** They become nearly equal.
# - **b.** Nearly all weight goes to the best key.
# - **c.** Nothing: a softmax does not notice a common factor.
# - **d.** They all shrink, and no longer sum to 1.

# %% tags=["quiz"]
quiz_2_7 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_2_7 = "a"
# END SOLUTION

# %% tags=["check"]
check("2.7", quiz_2_7)

# %% [markdown]
# ### 2.8 · An additive score without its tanh
# 1 point · difficulty 2 of 5 · 3 minutes
#
# Somebody leaves out the $\tanh$: the score is $w_v^\top (W_q\, q + W_k\, k)$. What is then true of the weights?
#
# - **a.** They no longer sum to 1.
# - **b.** They are those of a dot product of query and key.
# - **c.** They are the same for every query.
# - **d.** They are all equal: average pooling.

# %% tags=["quiz"]
quiz_2_8 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_2_8 = "c"
# END SOLUTION

# %% tags=["check"]
check("2.8", quiz_2_8)

# %% [markdown]
# {{next_steps}}

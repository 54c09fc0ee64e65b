# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 · Attention as a soft lookup
#
# At the end you can build attention from any score, say what its softmax does to numbers and to gradients, and choose between an additive score and a dot product.
#
# {{colab_link}} · about 75 minutes · builds on lessons 00 and 01

# %% tags=["setup"]
import math
import timeit

import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from course_utils import attention, plotting, widgets

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# **You will learn to**
#
# 1. write a lookup that asks all keys, by degree, and name its query, keys, values and weights;
# 2. predict with kernel regression, read its weights as a heatmap, and learn its bandwidth without fooling yourself;
# 3. write a softmax that does not overflow, and say what shift and temperature do to its weights;
# 4. derive its Jacobian, and say why a saturated softmax stops learning;
# 5. compute an additive and a dot-product score, and say when each is used and what each costs.
#
# Lesson 01 asked how similar two vectors are. This lesson does something with the answer: it *looks things up*.

# %% [markdown]
# ## Predict first
#
# An oven is switched on. Its temperature was read after 1, 2 and 4 minutes, and a Python dictionary holds the readings. What does `measured[2]` give? What does `measured[3]`?
# And what would *you* say, if somebody asked you how hot the oven was after 3 minutes? Write three answers down.

# %%
measured = {1: 40.0, 2: 60.0, 4: 140.0}  # minute -> degrees Celsius
print("minute 2:", measured[2])
try:
    print("minute 3:", measured[3])
except KeyError as problem:
    print("minute 3: KeyError", problem)

# %% [markdown]
# A dictionary knows *found* and *not found*, and nothing between. You probably looked at minutes 2 and 4, mixed their values, and perhaps let minute 1 count a little. That
# is attention.

# %% [markdown]
# ## 2.1 A dictionary looks up one key, attention looks up all
#
# Give every key a weight that says how well it fits the question. Let the weight halve with each minute of distance. For minute 3, the keys 1, 2 and 4 are 2, 1 and 1
# minutes away. By hand:
#
# - before normalizing: $\tfrac14, \tfrac12, \tfrac12$, which add up to $\tfrac54$;
# - divided by that sum: $\tfrac15, \tfrac25, \tfrac25$, the **weights**, which add up to 1;
# - the answer: $\tfrac15 \cdot 40 + \tfrac25 \cdot 60 + \tfrac25 \cdot 140$.

# %%
print("minute 3, by hand:", (40 + 2 * 60 + 2 * 140) / 5)


def soft_lookup_loop(query, keys, values):
    total, answer = 0.0, 0.0
    for key, value in zip(keys, values, strict=True):
        weight = 0.5 ** abs(query - key)
        total += weight
        answer += weight * value
    return answer / total


print("minute 3, loop:   ", soft_lookup_loop(3, measured.keys(), measured.values()))

# %% [markdown]
# The same without a loop, and the dictionary written in the same form. A dictionary too is a weighted sum: weight 1 for the key that is equal, 0 for all others.
#
# **Predict first.** The oven *was* read at minute 2. Will the soft lookup give exactly that reading?

# %%
minutes = torch.tensor([1.0, 2.0, 4.0])  # keys   (L_k=3,)
degrees = torch.tensor([40.0, 60.0, 140.0])  # values (L_k=3,)


def soft_lookup(query, keys, values):
    weights = 0.5 ** (query - keys).abs()  # (L_k,)
    weights = weights / weights.sum()  # (L_k,), they sum to 1
    return weights @ values, weights


for query in (2.0, 3.0):
    hard = (minutes == query).float()  # (L_k,)
    soft, weights = soft_lookup(query, minutes, degrees)
    print(f"minute {query:.0f}   hard {hard.tolist()} -> {hard @ degrees:6.2f}   soft {[round(w, 3) for w in weights.tolist()]} -> {soft:6.2f}")

# %% [markdown]
# It does not: the neighbors count even where the key is found. And where no key fits, the hard lookup has only zeros to add up, while the soft one still answers. One more
# difference matters most for us. The soft answer changes *gradually* with the question. It has a derivative (with these weights everywhere but at the keys themselves), so a network can learn what to ask:

# %%
query = torch.tensor(3.3, requires_grad=True)
soft_lookup(query, minutes, degrees)[0].backward()
print(f"at minute 3.3 the soft answer rises by {query.grad:.1f} degrees per minute")

# %% [markdown]
# ## 2.2 Query, key, value
#
# The three words come from looking things up:
#
# - the **query** is the question: minute 3;
# - a **key** is what each stored thing is found by: the minute of a reading;
# - a **value** is what one gets: the degrees.
#
# Key and value belong together in pairs, but they need not be alike: here one is a time, the other a temperature.
#
# **Two kinds of cue.** Psychologists distinguish why we look somewhere. Something may stand out by itself, such as a loud announcement in a station: an *involuntary* cue. Or we want something and
# look for it, such as a bench when tired: a *voluntary* cue. The first depends on the thing alone, so it belongs on the side of the keys. The second depends on what we want, so it needs a query. (This is a
# picture to remember the words by, not a claim about brains.)
#
# In the cell below a thing has a loudness, and a key that says how much it has to do with news, food and rest. The score of a thing is its loudness plus the dot product of query and
# key. A softmax (lesson 01) makes weights of the scores.

# %%
things = ["announcement", "timetable", "snack stall", "bench"]
loudness = torch.tensor([2.0, 0.0, 0.5, 0.0])  # (L_k=4,), the involuntary cue
keys = torch.tensor([[0.5, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])  # (L_k=4, d=3): news, food, rest
wishes = ["no wish", "late", "hungry", "tired"]
queries = torch.tensor([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])  # (L_q=4, d=3)

scores = queries @ keys.T + loudness  # (L_q, L_k)
weights = torch.softmax(scores, dim=-1)  # (L_q, L_k)
assert torch.allclose(weights[0], torch.softmax(loudness, dim=-1))  # without a wish, loudness decides alone
ax = plotting.attention_heatmap(weights, wishes, things, ax=plotting.new_axes(5.6, 4.0))
plotting.show(ax, "Weights of four wishes over four things. Without a wish the announcement has most weight; late goes to the timetable, hungry to the snack stall, tired to the bench.")

# %% [markdown]
# *Notice the first row: without a query the loudest thing wins. Each other row puts most of its weight on what it asks for, and the announcement still keeps some.*

# %% [markdown]
# ## 2.3 A task: guess a curve from noisy points
#
# Now a task on which lookups can be measured. There is a true curve, and we are given 40 noisy readings of it: keys `x_key`, values `y_key`. The lookup is to predict the curve
# at other places, the queries. We judge it by the mean squared error against the true curve, which the lookup never sees.

# %%
def true_curve(x):
    return torch.sin(2 * x) + 0.5 * x


rng = torch.Generator().manual_seed(0)
x_key = (5 * torch.rand(40, generator=rng)).sort().values  # (L_k=40,)
y_key = true_curve(x_key) + 0.4 * torch.randn(40, generator=rng)  # (L_k=40,)
x_query = torch.linspace(0, 5, 101)  # (L_q=101,)


def error(prediction):
    return ((prediction - true_curve(x_query)) ** 2).mean().item()

# %% [markdown]
# **Average pooling** is the lookup that does not look: every key gets the same weight $1/L_k$, whatever the query. Its answer is the mean of all values, everywhere. That is the
# error to beat.

# %%
uniform = torch.full((101, 40), 1 / 40)  # (L_q, L_k)
average = uniform @ y_key  # (L_q,)
assert torch.allclose(average, y_key.mean().expand(101), atol=1e-6)
print(f"average pooling: mean squared error {error(average):.3f}")

# %% [markdown]
# ## 2.4 Nadaraya-Watson kernel regression
#
# Near keys should count more. In 1964 Nadaraya and Watson, independently, wrote down
#
# $$f(q) = \sum_{j=1}^{L_k} w_j \, v_j , \qquad w_j = \frac{G(q - k_j)}{\sum_{m=1}^{L_k} G(q - k_m)} , \qquad G(u) = e^{-u^2 / (2 h^2)} ,$$
#
# where $q$ is the query (a number), $k_j$ the keys and $v_j$ the values ($L_k$ of each), and $G$ a *kernel*: a bump around 0, here Gaussian. (Books write $K$, which is the matrix of keys here.) Its width $h$, in units of $x$, is the **bandwidth**. Because
# $G$ is an exponential, the weights are a softmax:
#
# $$w = \operatorname{softmax}(s) , \qquad s_j = -\frac{(q - k_j)^2}{2 h^2} .$$
#
# By hand for the oven at minute 3 with $h = 1$: the distances are 2, 1 and 1, the scores $-2, -\tfrac12, -\tfrac12$.

# %%
kernel = [math.exp(-2), math.exp(-0.5), math.exp(-0.5)]
by_hand = sum(k * v for k, v in zip(kernel, (40, 60, 140), strict=True)) / sum(kernel)
print(f"by hand: weights {[round(k / sum(kernel), 3) for k in kernel]}, prediction {by_hand:.2f}")


def kernel_regression_loop(x_query, x_key, y_key, bandwidth):
    predictions = []
    for q in x_query.tolist():
        kernel = [math.exp(-((q - k) ** 2) / (2 * bandwidth**2)) for k in x_key.tolist()]
        predictions.append(sum(k * v for k, v in zip(kernel, y_key.tolist(), strict=True)) / sum(kernel))
    return torch.tensor(predictions)


print("loop:   ", kernel_regression_loop(torch.tensor([3.0]), minutes, degrees, 1.0))

# %% [markdown]
# Without loops: a column of queries minus a row of keys gives all distances at once, by broadcasting (lesson 00).

# %%
def kernel_regression(x_query, x_key, y_key, bandwidth):
    distance = x_query[:, None] - x_key[None, :]  # (L_q, 1) - (1, L_k) -> (L_q, L_k)
    scores = -(distance**2) / (2 * bandwidth**2)  # (L_q, L_k)
    weights = torch.softmax(scores, dim=-1)  # (L_q, L_k), each row sums to 1
    return weights @ y_key, weights  # (L_q,), (L_q, L_k)


prediction, weights = kernel_regression(x_query, x_key, y_key, 0.5)
library, library_weights = attention.nadaraya_watson(x_query, x_key, y_key, 0.5)
assert torch.allclose(prediction, kernel_regression_loop(x_query, x_key, y_key, 0.5), atol=1e-5)
assert torch.allclose(prediction, library, atol=1e-6) and torch.allclose(weights, library_weights, atol=1e-6)
print("loop, vectorized and course_utils agree: predictions", tuple(prediction.shape), "weights", tuple(weights.shape))

# %% [markdown]
# **Predict first.** Three bandwidths: 0.03, 0.3 and 3. Which curve will be too wild, which too flat?

# %%
fits = {f"bandwidth {h}": kernel_regression(x_query, x_key, y_key, h)[0] for h in (0.03, 0.3, 3.0)}
ax = plotting.curves(x_query, {"true curve": true_curve(x_query)} | fits, points=(x_key, y_key), xlabel="x", ylabel="y", ax=plotting.new_axes(7.0, 3.8))
plotting.show(ax, "Forty noisy points and the true curve. Bandwidth 0.03 jumps from point to point, 0.3 follows the true curve closely, 3 is nearly flat.")

for name, fit in ({"average pooling": average} | fits).items():
    print(f"{name:15}  mean squared error {error(fit):.3f}")

# %% [markdown]
# *Notice that the small bandwidth repeats the noise, the large one comes near the average of all values, and the one in between follows the true curve.* The weights show why:

# %%
places = torch.linspace(0, 5, 11)  # (L_q=11,)
left, right = plotting.new_axes(10.0, 3.8, columns=2)
for ax, h in ((left, 0.3), (right, 0.03)):
    weights = kernel_regression(places, x_key, y_key, h)[1]  # (L_q, L_k)
    plotting.attention_heatmap(weights, [f"{x:.1f}" for x in places], ax=ax, title=f"bandwidth {h}")
    ax.set_ylabel("query x")
plotting.show(left, "Two heatmaps of weights, eleven queries over forty keys. Bandwidth 0.3: a broad, dim diagonal. Bandwidth 0.03: a few bright cells, one to three a row.")

# %% [markdown]
# *Each row is a query and sums to 1. On the left each query averages over the keys around it, so the noise partly cancels. On the right most queries repeat one or two
# keys, noise included.*

# %% [markdown]
# ## 2.5 Learning the bandwidth
#
# Can the bandwidth be found by gradient descent? We need an error that uses the readings only, since nobody has the true curve. A first idea: predict each reading from all readings, itself
# included. A better one: predict each reading from all *others*. That is **leave-one-out**: the weight of a point for itself is forced to 0, by a mask (lesson 05 is about masks).
#
# **Predict first.** What will the first idea learn?

# %%
def reading_error(bandwidth, leave_out):
    scores = -((x_key[:, None] - x_key[None, :]) ** 2) / (2 * bandwidth**2)  # (L_k, L_k): the keys are the queries too
    mask = ~torch.eye(len(x_key), dtype=torch.bool) if leave_out else None  # (L_k, L_k), False on the diagonal
    prediction = attention.masked_softmax(scores, mask) @ y_key  # (L_k,)
    return ((prediction - y_key) ** 2).mean()


# %%
def learn_bandwidth(leave_out, steps=200):
    log_bandwidth = torch.zeros((), requires_grad=True)  # its logarithm is learned, so that h stays positive; h starts at 1
    path = []
    for _ in range(steps):
        bandwidth = log_bandwidth.exp()
        path.append(bandwidth.item())
        (slope,) = torch.autograd.grad(reading_error(bandwidth, leave_out), log_bandwidth)
        with torch.no_grad():
            log_bandwidth -= slope  # a learning rate of 1
    return torch.tensor(path)  # (steps,)


# %%
paths = {"leave one out": learn_bandwidth(True), "point itself included": learn_bandwidth(False)}
for name, path in paths.items():
    print(f"{name:22}  after 50 steps {path[50]:.2f}   at the end {path[-1]:.3f}   error on the readings {reading_error(path[-1], name == 'leave one out'):.3f}")

ax = plotting.curves(torch.arange(200), paths, xlabel="step of gradient descent", ylabel="bandwidth (log scale)", ax=plotting.new_axes(6.0, 3.4))
ax.set_yscale("log")
plotting.show(ax, "Bandwidth by step. With leave one out it settles near 0.2; with the point itself included it keeps falling, below 0.01.")

# %% [markdown]
# *Notice that one line comes to rest and the other keeps falling.* If a point may look at itself, the best thing to do is to look at nothing else: the error on the readings goes toward 0, and nothing about the curve was
# learned. Leave-one-out closes that way out. Did gradient descent find the best bandwidth there is? With one number to learn we can try many:

# %%
tried = torch.logspace(-2, 0.5, 101)  # (101,), from 0.01 to about 3.2
against = {
    "readings, leave one out": torch.stack([reading_error(h, True) for h in tried]),
    "readings, itself included": torch.stack([reading_error(h, False) for h in tried]),
    "true curve": torch.tensor([error(kernel_regression(x_query, x_key, y_key, h)[0]) for h in tried]),
}
ax = plotting.curves(tried, against, xlabel="bandwidth (log scale)", ylabel="mean squared error", ax=plotting.new_axes(6.0, 3.6))
ax.set_xscale("log")
plotting.show(ax, "Error against bandwidth. Leave one out and the true curve both have a valley between 0.1 and 0.4; with the point itself included the error only falls toward small bandwidths.")
for name, errors in against.items():
    print(f"{name:26}  smallest at bandwidth {tried[errors.argmin()]:.2f}")

# %% [markdown]
# *Notice that two of the curves have their valley in nearly the same place, and the third has none.* Leave-one-out lies higher than the true curve, because the readings it must predict are noisy
# themselves, but the place of its valley is what we need, and gradient descent had found it. Now everything side by side:

# %%
learned, collapsed = paths["leave one out"][-1], paths["point itself included"][-1]
results = {
    "average pooling": average,
    "bandwidth 1, fixed": kernel_regression(x_query, x_key, y_key, 1.0)[0],
    "learned, itself included": kernel_regression(x_query, x_key, y_key, collapsed)[0],
    "learned, leave one out": kernel_regression(x_query, x_key, y_key, learned)[0],
}
for name, fit in results.items():
    print(f"{name:25}  mean squared error against the true curve {error(fit):.3f}")

shown = {"true curve": true_curve(x_query), "leave one out": results["learned, leave one out"], "itself included": results["learned, itself included"]}
ax = plotting.curves(x_query, shown, points=(x_key, y_key), xlabel="x", ylabel="y", ax=plotting.new_axes(7.0, 3.8))
plotting.show(ax, "The fit learned with leave one out follows the true curve; the fit learned with the point itself included is a staircase from one noisy point to the next.")

# %% [markdown]
# *Notice the staircase: with so small a bandwidth the soft lookup has become "take the nearest reading".*

# %% [markdown]
# ## 2.6 The general form
#
# All lookups so far share one form. Only the **score** $a(q, k)$, a number that says how well a key fits a query, differs:
#
# $$f(q) = \sum_{i=1}^{L_k} w_i \, v_i , \qquad w = \operatorname{softmax}\big(a(q, k_1), \dots, a(q, k_{L_k})\big) .$$
#
# $q$ has shape $(d_q)$, each key $k_i$ $(d_k)$, each value $v_i$ $(d_v)$, and the output $f(q)$ $(d_v)$, like a value. In three lines:

# %%
def attend(score, query, keys, values):
    scores = torch.stack([score(query, key) for key in keys])  # (L_k,)
    weights = torch.softmax(scores, dim=-1)  # (L_k,)
    return weights @ values, weights  # (d_v,) or a number, (L_k,)


scores_by_name = {
    "dictionary": lambda q, k: torch.tensor(0.0 if q == k else -math.inf),
    "average pooling": lambda q, k: torch.tensor(0.0),
    "halved each minute": lambda q, k: -(q - k).abs() * math.log(2),
    "Nadaraya-Watson, h = 1": lambda q, k: -((q - k) ** 2) / 2,
    "dot product": lambda q, k: q * k,
    "additive": lambda q, k: 2 * torch.tanh(k - q),
}
for name, score in scores_by_name.items():
    output, weights = attend(score, minutes[1], minutes, degrees)
    print(f"{name:23} minute 2   weights {[f'{w:.3f}' for w in weights.tolist()]}   output {output:6.2f}")

# %% [markdown]
# The first four are known from above. In the new form they must give what they gave before:

# %%
at_two = {name: attend(score, minutes[1], minutes, degrees)[0] for name, score in scores_by_name.items()}
assert torch.isclose(at_two["dictionary"], torch.tensor(measured[2]))
assert torch.isclose(at_two["average pooling"], degrees.mean())
assert torch.isclose(at_two["halved each minute"], soft_lookup(2.0, minutes, degrees)[0])
assert torch.isclose(at_two["Nadaraya-Watson, h = 1"], attention.nadaraya_watson(minutes[1:2], minutes, degrees, 1.0)[0][0])
print("a dictionary, average pooling, halving and Nadaraya-Watson are all softmax attention, each with its own score")

# %% [markdown]
# A score of minus infinity means *never*: $e^{-\infty} = 0$. A score that is the same for all keys means *no preference*. The last two rows are the scores of this course. The dot product of the query 2 with the keys 1, 2 and 4
# grows with the key, so minute 4 takes nearly all the weight: the largest number wins, as in lesson 01. For plain numbers it is a poor score; for vectors that a network has learned it is the score of the Transformer. The additive score,
# here in its smallest form, has weights of its own to learn. Sections 2.10 and 2.11 come to both.

# %% [markdown]
# ## 2.7 Softmax: overflow, and the shift that cures it
#
# $$\operatorname{softmax}(s)_i = \frac{e^{s_i}}{\sum_{m=1}^{n} e^{s_m}} , \qquad s \text{ of shape } (n) .$$
#
# By hand with scores that make it easy: $s = (0, \ln 2, \ln 4)$ has the exponentials 1, 2 and 4, so the weights are $\tfrac17, \tfrac27, \tfrac47$.

# %%
def softmax_loop(scores):
    exponentials = [math.exp(s) for s in scores.tolist()]
    return torch.tensor([e / sum(exponentials) for e in exponentials])


def softmax_naive(scores):
    exponentials = scores.exp()  # (..., n)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)  # (..., n)


easy = torch.tensor([1.0, 2.0, 4.0]).log()  # (n=3,): 0, ln 2, ln 4
by_hand = torch.tensor([1 / 7, 2 / 7, 4 / 7])
print("by hand", by_hand)
for weights in (softmax_loop(easy), softmax_naive(easy), torch.softmax(easy, dim=-1)):
    assert torch.allclose(weights, by_hand)
print("the loop, the vectorized form and PyTorch agree")

# %% [markdown]
# `keepdim=True` keeps the summed axis with size 1, so that the division broadcasts row by row. **Predict first:** what does `softmax_naive` make of the scores 1000, 999 and 998? And of -1000, -999 and -998?

# %%
large = torch.tensor([1000.0, 999.0, 998.0])
for scores in (large, -large):
    print("scores", scores.tolist(), "  naive", softmax_naive(scores).tolist(), "  PyTorch", [f"{w:.4f}" for w in torch.softmax(scores, -1).tolist()])
print(f"exp overflows in float32 above {math.log(torch.finfo(torch.float32).max):.1f}; exp(-1000) = {torch.tensor(-1000.0).exp():.0f}")

# %% [markdown]
# Infinity over infinity, zero over zero: both are NaN. The cure is that a softmax does not notice a **shift**. Add any number $c$ to all scores:
#
# $$\frac{e^{s_i + c}}{\sum_m e^{s_m + c}} = \frac{e^c \, e^{s_i}}{e^c \sum_m e^{s_m}} = \frac{e^{s_i}}{\sum_m e^{s_m}} .$$
#
# So choose $c = -\max_m s_m$. The largest exponent becomes 0: no overflow. And the sum is at least $e^0 = 1$: no division by zero.

# %%
def softmax_stable(scores):
    shifted = scores - scores.amax(dim=-1, keepdim=True)  # (..., n), the largest of each row is 0
    return softmax_naive(shifted)


for scores in (easy, large, -large):
    assert torch.allclose(softmax_stable(scores), torch.softmax(scores, dim=-1))
assert torch.allclose(softmax_stable(large), softmax_naive(torch.tensor([2.0, 1.0, 0.0])))  # a shift by 998
print("shifted by its maximum, the softmax agrees with PyTorch's on all of them")

# %% [markdown]
# Remember the consequence: **only differences between scores count.** Whatever is added to all scores of a query alike is lost. It returns below, in "What goes wrong".

# %% [markdown]
# ## 2.8 Temperature and entropy
#
# Dividing all scores by a number, the **temperature** $T > 0$, keeps their order and changes their differences:
#
# $$w = \operatorname{softmax}(s / T) .$$
#
# **Predict first.** Scores 2, 1, 0 and -1. To which weights do they tend as $T$ grows? As $T$ goes to 0?

# %%
s = torch.tensor([2.0, 1.0, 0.0, -1.0])  # (n=4,)
temperatures = [0.1, 0.3, 1.0, 3.0, 10.0, 100.0]
rows = torch.stack([torch.softmax(s / T, dim=-1) for T in temperatures])  # (6, 4)
ax = plotting.attention_heatmap(rows, [f"{T:g}" for T in temperatures], [f"{x:g}" for x in s.tolist()])
ax.set(xlabel="score of the key", ylabel="temperature")
plotting.show(ax, "Weights of four keys for six temperatures. At 0.1 the best key has all the weight; at 100 all four have a quarter.")

# %% [markdown]
# *Notice the two ends: to two decimals, one key has everything at the top, and all have the same at the bottom.* When $T$ grows, all differences $(s_i - s_m)/T$ go to 0, so the weights become **uniform**. When $T$ goes to 0, each
# difference to the maximum goes to minus infinity, so all but the largest vanish: the **argmax**, written as a one-hot vector. If two scores share the maximum, they share the weight.

# %%
n = len(s)
assert torch.allclose(torch.softmax(s / 1e6, dim=-1), torch.full((n,), 1 / n), atol=1e-5)
assert torch.allclose(torch.softmax(s / 1e-3, dim=-1), F.one_hot(s.argmax(), n).float())
print("two best keys:", torch.softmax(torch.tensor([2.0, 2.0, 0.0, -1.0]) / 1e-3, dim=-1))

# %% [markdown]
# **Entropy** says in one number how spread out weights are:
#
# $$H(w) = -\sum_{i=1}^{n} w_i \ln w_i , \qquad \text{with } 0 \ln 0 = 0 .$$
#
# It is 0 if one key has all the weight, and $\ln n$ if all $n$ keys share it equally. So $e^{H}$ reads as *how many keys count*: between 1 and $n$. By hand for the weights $\tfrac12, \tfrac12, 0$: $H = \tfrac12 \ln 2 + \tfrac12 \ln 2 + 0 = \ln 2$, and
# two keys count.

# %%
def entropy(weights):
    logs = weights.masked_fill(weights == 0, 1.0).log()  # (..., n): log 1 = 0 where the weight is 0
    return -(weights * logs).sum(dim=-1)  # (...)


half = torch.tensor([0.5, 0.5, 0.0])
print(f"by hand {math.log(2):.4f}   function {entropy(half):.4f}   PyTorch {torch.special.entr(half).sum():.4f}   written without care {-(half * half.log()).sum():.4f}")
for T, row in zip(temperatures, rows, strict=True):
    print(f"T = {T:5.1f}   entropy {entropy(row):.3f} of at most {math.log(n):.3f}   keys that count {entropy(row).exp():.2f} of {n}")
print(f"the bound for 7 keys: {math.log(7):.3f} by the natural logarithm, {math.log2(7):.3f} by the logarithm to base 2")

# %% [markdown]
# **The bandwidth is a temperature.** Look at the score of Nadaraya-Watson again:
#
# $$-\frac{(q - k)^2}{2 h^2} = \frac{s}{T} \qquad \text{with} \qquad s = -\tfrac12 (q - k)^2 , \quad T = h^2 .$$
#
# The bandwidth squared is the temperature of the (half) squared distance. Small bandwidth, low temperature: the nearest key takes all. Large bandwidth, high temperature: average pooling.

# %%
half_squared = -((x_query[:, None] - x_key[None, :]) ** 2) / 2  # (L_q, L_k)
for h in (0.1, 0.3, 1.0, 3.0):
    weights = attention.nadaraya_watson(x_query, x_key, y_key, h)[1]  # (L_q, L_k)
    assert torch.allclose(weights, torch.softmax(half_squared / h**2, dim=-1), atol=1e-5)
    print(f"bandwidth {h:.1f} = temperature {h**2:.2f}   keys that count, on average {entropy(weights).exp().mean():5.2f} of {len(x_key)}")

# %% [markdown]
# Move the sliders. For which bandwidths does one key decide alone? Where the keys lie far apart, what happens to the number of keys that count? First the starting position as a still picture, then the live figure.

# %%
explorer = widgets.kernel_regression(x_key, y_key)
explorer.show_first_state("Left: forty points and the fit of bandwidth 0.32. Right: the weights of one query in the middle, a bump over the keys near it.")

# %%
explorer

# %% [markdown]
# *Notice in the picture that the weights at the right make the same bump as the kernel, and that its title counts the keys that matter. A smaller bandwidth makes the bump narrower and higher.*

# %% [markdown]
# ## 2.9 The Jacobian of the softmax
#
# How do the weights move when one score moves? Write $Z = \sum_m e^{s_m}$, so that $w_i = e^{s_i}/Z$. The numerator depends on $s_j$ only if $i = j$, the denominator always, with $\partial Z / \partial s_j = e^{s_j}$. By the
# quotient rule, with $\delta_{ij}$ equal to 1 for $i = j$ and 0 otherwise:
#
# $$\frac{\partial w_i}{\partial s_j} = \frac{\delta_{ij}\, e^{s_i} Z - e^{s_i} e^{s_j}}{Z^2} = w_i (\delta_{ij} - w_j) , \qquad\text{that is}\qquad J = \operatorname{diag}(w) - w w^\top .$$
#
# $J$ has shape $(n, n)$. By hand for $w = (\tfrac17, \tfrac27, \tfrac47)$: $J_{11} = \tfrac17 \cdot \tfrac67 = \tfrac{6}{49}$ and $J_{12} = -\tfrac17 \cdot \tfrac27 = -\tfrac{2}{49}$. All entries are whole numbers over 49:

# %%
def softmax_jacobian(weights):
    return torch.diag(weights) - torch.outer(weights, weights)  # (n, n)


w = torch.softmax(easy, dim=-1)  # (n=3,): 1/7, 2/7, 4/7
by_autograd = torch.autograd.functional.jacobian(lambda scores: torch.softmax(scores, dim=-1), easy)  # (n, n)
assert torch.allclose(softmax_jacobian(w), by_autograd, atol=1e-6)
print("49 times the Jacobian\n", (49 * by_autograd).round().long())
print("the sum of each row", by_autograd.sum(dim=-1).abs() < 1e-6)

# %% [markdown]
# Read three things from it. On the diagonal: raising a score raises its own weight. Off the diagonal: it lowers every other one, since the weights must go on summing to 1. And each row sums to 0 (`True` above: up to
# rounding): raising *all* scores alike changes nothing, which is the shift of 2.7 again.
#
# **Saturation.** If one weight is almost 1 and the others almost 0, every entry $w_i(\delta_{ij} - w_j)$ is almost 0. Then a small change of the scores changes hardly any weight, and the gradient that flows back through the softmax is almost 0 as well.
# **Predict first:** the scores 2, 1, 0, -1 are multiplied by 1, 3, 10. By how much does the size of $J$ fall? (The size is the square root of the sum of its squared entries.)

# %%
for factor in (0.3, 1.0, 3.0, 10.0):
    w = torch.softmax(factor * s, dim=-1)  # (n=4,)
    print(f"scores times {factor:4.1f}   largest weight {w.max():.5f}   entropy {entropy(w):.5f}   size of J {softmax_jacobian(w).norm():.5f}")

# %%
factors = torch.logspace(-2, 1.3, 100)  # (100,)
sizes = torch.stack([softmax_jacobian(torch.softmax(f * s, dim=-1)).norm() for f in factors])
spread = torch.stack([entropy(torch.softmax(f * s, dim=-1)) for f in factors])
ax = plotting.curves(factors, {"size of the Jacobian": sizes, "entropy of the weights": spread}, xlabel="factor on the scores (log scale)", ylabel="size, entropy")
ax.set_xscale("log")
plotting.show(ax, "Both curves are flat for small factors, bend near factor 1, and are close to zero from factor 6 on.")

# %% [markdown]
# *Notice that the two curves reach 0 together: where one key has all the weight, the Jacobian is gone.* You have met this before. In 2.5, without leave-one-out, the bandwidth went down until each point gave itself almost all
# the weight. There the Jacobian is near 0 and almost no error is left, so the slope is near 0 as well:

# %%
for h in (0.3, 0.03, 0.003):
    log_bandwidth = torch.tensor(h).log().requires_grad_()
    (slope,) = torch.autograd.grad(reading_error(log_bandwidth.exp(), leave_out=False), log_bandwidth)
    weights = attention.nadaraya_watson(x_key, x_key, y_key, h)[1]  # (L_k, L_k), a point's own weight on the diagonal
    size = torch.stack([softmax_jacobian(w).norm() for w in weights]).mean()
    print(f"bandwidth {h:.3f}   own weight {weights.diagonal().mean():.3f}   size of J {size:.5f}   slope of the error {slope:.5f}")

# %% [markdown]
# Lesson 04 meets saturation again, in the Transformer, where a division by $\sqrt{d_k}$ works against it.

# %% [markdown]
# ## 2.10 The additive score
#
# Until now query and key were of one kind. What if the query has 2 numbers and the key 3?

# %%
q = torch.tensor([1.0, -1.0])  # (d_q=2,)
K = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])  # (L_k=2, d_k=3)
try:
    K @ q
except RuntimeError as problem:
    print("dot product:", problem)

# %% [markdown]
# Bahdanau, Cho and Bengio met this in 2014: their query was the state of a decoder, their keys the states of an encoder, with sizes of their own. Their **additive score** first projects both into one space, of size $d_{hidden}$, adds them there,
# squashes by $\tanh$, and reads off one number:
#
# $$a(q, k) = w_v^\top \tanh(W_q\, q + W_k\, k) , \qquad W_q: (d_{hidden}, d_q), \quad W_k: (d_{hidden}, d_k), \quad w_v: (d_{hidden}) .$$
#
# It is a small network with one hidden layer, and all three arrays are learned. By hand, with the arrays in the cell below:
# $W_q q = (0, -1)$. For the first key $W_k k = (1, 0)$, the sum is $(1, -1)$, the score $2 \tanh 1 - \tanh 1 = \tanh 1$. For the second $W_k k = (0, 1)$, the sum is $(0, 0)$, the score 0.

# %%
W_q = torch.tensor([[1.0, 1.0], [0.0, 1.0]])  # (d_hidden=2, d_q=2)
W_k = torch.tensor([[1.0, 0.0, 0.0], [-2.0, 1.0, 1.0]])  # (d_hidden=2, d_k=3)
w_v = torch.tensor([2.0, 1.0])  # (d_hidden=2,)
V = torch.tensor([[10.0], [20.0]])  # (L_k=2, d_v=1)

output, weights = attend(lambda q, k: w_v @ torch.tanh(W_q @ q + W_k @ k), q, K, V)
first = math.exp(math.tanh(1)) / (math.exp(math.tanh(1)) + 1)
print(f"by hand: weights {first:.4f}, {1 - first:.4f}   output {10 * first + 20 * (1 - first):.4f}")
print(f"attend:  weights {weights[0]:.4f}, {weights[1]:.4f}   output {output.item():.4f}")

# %% [markdown]
# For many queries and keys at once, project every query and every key *once*, then add each to each by broadcasting:

# %%
def additive_attention(query, key, value, W_q, W_k, w_v):
    projected_q = query @ W_q.T  # (B, L_q, d_hidden)
    projected_k = key @ W_k.T  # (B, L_k, d_hidden)
    hidden = torch.tanh(projected_q[:, :, None, :] + projected_k[:, None, :, :])  # (B, L_q, L_k, d_hidden)
    weights = torch.softmax(hidden @ w_v, dim=-1)  # (B, L_q, L_k)
    return weights @ value, weights  # (B, L_q, d_v), (B, L_q, L_k)


rng = torch.Generator().manual_seed(0)
B, L_q, L_k, d_q, d_k, d_hidden, d_v = 2, 5, 7, 3, 4, 6, 8
query, key, value = (torch.randn(B, *size, generator=rng) for size in ((L_q, d_q), (L_k, d_k), (L_k, d_v)))
W_q, W_k, w_v = (torch.randn(*size, generator=rng) for size in ((d_hidden, d_q), (d_hidden, d_k), (d_hidden,)))

output, weights = additive_attention(query, key, value, W_q, W_k, w_v)
print("output", tuple(output.shape), "  weights", tuple(weights.shape))

# %% [markdown]
# Held to the loop, and to the layer of the library, into which our arrays are copied. (`nn.Linear(a, b)` keeps its weights with shape `(b, a)`, as we wrote them.)

# %%
for b in range(B):
    for i in range(L_q):
        expected, _ = attend(lambda q, k: w_v @ torch.tanh(W_q @ q + W_k @ k), query[b, i], key[b], value[b])
        assert torch.allclose(output[b, i], expected, atol=1e-5)

layer = attention.AdditiveAttention(d_q, d_k, d_hidden)
with torch.no_grad():
    layer.q_proj.weight.copy_(W_q)
    layer.k_proj.weight.copy_(W_k)
    layer.v_proj.weight.copy_(w_v[None])  # (1, d_hidden)
    layer_output, layer_weights = layer(query, key, value)
assert torch.allclose(output, layer_output, atol=1e-5) and torch.allclose(weights, layer_weights, atol=1e-6)
print("the loop, the vectorized form and course_utils.attention.AdditiveAttention agree")

# %% [markdown]
# ## 2.11 The dot-product score
#
# If query and key have the same size $d$, the dot product needs nothing to learn:
#
# $$a(q, k) = q \cdot k , \qquad S = Q K^\top \text{ of shape } (L_q, L_k) .$$
#
# PyTorch has it ready-made. Its function divides the scores by $\sqrt{d}$ unless told otherwise (lesson 04 says why), so we tell it `scale=1`:

# %%
same_size = torch.randn(B, L_k, d_q, generator=rng)  # (B, L_k, d): keys as large as the queries
weights = torch.softmax(query @ same_size.transpose(-2, -1), dim=-1)  # (B, L_q, L_k)
output = weights @ value  # (B, L_q, d_v)

for b in range(B):
    for i in range(L_q):
        expected, _ = attend(torch.dot, query[b, i], same_size[b], value[b])
        assert torch.allclose(output[b, i], expected, atol=1e-5)
library, library_weights = attention.scaled_dot_product_attention(query, same_size, value, scale=1.0)
assert torch.allclose(output, library, atol=1e-5) and torch.allclose(weights, library_weights, atol=1e-6)
assert torch.allclose(output, F.scaled_dot_product_attention(query, same_size, value, scale=1.0), atol=1e-5)
print("the loop, the vectorized form, course_utils and PyTorch agree")

# %% [markdown]
# **Different sizes after all?** One learned matrix $W$ of shape $(d_q, d_k)$ in between makes the dot product fit: $a(q, k) = q^\top W k$, which Luong et al. call *general*. It is the dot product of the projected query $W^\top q$ with the key.
# A Transformer goes one step further and projects both sides.

# %%
W = torch.randn(d_q, d_k, generator=rng)  # (d_q, d_k)
projected = query @ W  # (B, L_q, d_k): row i is W^T q_i
scores = projected @ key.transpose(-2, -1)  # (B, L_q, L_k)
assert torch.allclose(scores[1, 2, 3], query[1, 2] @ W @ key[1, 3], atol=1e-5)
print("queries of size", d_q, "against keys of size", d_k, "- scores", tuple(scores.shape))

# %% [markdown]
# ## 2.12 What each score costs
#
# Count the multiplications of the scores alone, for one item of a batch. The softmax and the weighted sum of the values cost the same for all three:
#
# | score | projections | every query with every key |
# |---|---|---|
# | dot product | none | $L_q L_k d$ |
# | general | $L_q d_q d_k$ | $L_q L_k d_k$ |
# | additive | $L_q d_q d_{hidden} + L_k d_k d_{hidden}$ | $L_q L_k d_{hidden}$, and as many values of $\tanh$ |
#
# The formulas are held to PyTorch's own counter. It counts the operations of matrix products, a multiplication and an addition each, so we halve it. It does not count $\tanh$.

# %%
def multiplications(compute):
    with FlopCounterMode(display=False) as counter:
        compute()
    return counter.get_total_flops() // 2


def additive_hidden(query, key):
    return torch.tanh((query @ W_q.T)[:, :, None, :] + (key @ W_k.T)[:, None, :, :])  # (B, L_q, L_k, d_hidden)


counted = {
    "dot product": (multiplications(lambda: query @ same_size.mT), B * L_q * L_k * d_q),
    "general": (multiplications(lambda: (query @ W) @ key.mT), B * (L_q * d_q * d_k + L_q * L_k * d_k)),
    "additive": (multiplications(lambda: additive_hidden(query, key) @ w_v[:, None]), B * d_hidden * (L_q * d_q + L_k * d_k + L_q * L_k)),
}
for name, (found, formula) in counted.items():
    print(f"{name:12} counted {found:5}   formula {formula:5}")
    assert found == formula

# %% [markdown]
# With $d_{hidden} = d$ and long sequences both scores need about $L_q L_k d$ multiplications. They differ far more in what must be *stored*: the dot product goes from queries and keys straight to the scores, while the additive score
# holds all of `(L_q, L_k, d_hidden)` before it sums. Multiplications and bytes for 512 queries, 512 keys and size 64:

# %%
L, d = 512, 64
long_q, long_k = torch.randn(1, L, d, generator=rng), torch.randn(1, L, d, generator=rng)  # (1, L, d)
W_q, W_k, w_v = torch.randn(d, d, generator=rng), torch.randn(d, d, generator=rng), torch.randn(d, generator=rng)

hidden = additive_hidden(long_q, long_k)  # (1, L_q, L_k, d_hidden)
scores = long_q @ long_k.mT  # (1, L_q, L_k)
products = {"additive, hidden": d * (2 * L * d + L * L), "dot product, scores": L * L * d}
for (name, count), tensor in zip(products.items(), (hidden, scores), strict=True):
    mebibytes = tensor.numel() * tensor.element_size() / 2**20
    print(f"{name:20} {count / 1e6:5.1f} million multiplications   {str(tuple(tensor.shape)):18} {mebibytes:5.1f} MiB")

# %% [markdown]
# The multiplications are of the same order. The memory differs by the factor $d_{hidden}$, and in training such tensors are kept until the gradients have been computed. Time follows memory: a matrix product is what hardware does best, and $\tanh$ over a large tensor is not.

# %% tags=["nbval-ignore-output"]
additive_time = min(timeit.repeat(lambda: additive_hidden(long_q, long_k) @ w_v, number=1, repeat=5))
dot_time = min(timeit.repeat(lambda: long_q @ long_k.mT, number=1, repeat=5))
print(f"additive {1000 * additive_time:.1f} ms   dot product {1000 * dot_time:.1f} ms   (on this machine, today)")

# %% [markdown]
# **When each is used.** The additive score accepts a query and a key of different sizes as they are, and its size does not grow with theirs: $|a(q, k)| \le \sum_i |w_{v,i}|$, because $\tanh$ stays between -1 and 1. It is affordable where sequences are short, as in the
# recurrent translators of lesson 03. The dot product is what Transformers use: somewhat fewer multiplications, a fraction of the memory. Its size does grow with $d$, which is the subject of lesson 04.

# %%
assert (hidden @ w_v).abs().max() <= w_v.abs().sum()
print(f"largest additive score {(hidden @ w_v).abs().max():.1f}, bound {w_v.abs().sum():.1f}; largest dot product {scores.abs().max():.1f}")

# %% [markdown]
# ## What goes wrong
#
# **Softmax over the queries.** `dim=-2` instead of `dim=-1` runs, and gives positive numbers between 0 and 1. But now the *queries* compete for each key, and a query may get much or little in total. How you would notice: the rows do not sum to 1, and
# values that are all 10 do not average to 10.

# %%
scores = query @ same_size.transpose(-2, -1)  # (B, L_q=5, L_k=7)
tens = torch.full((B, L_k, 1), 10.0)  # (B, L_k, 1)
for dim in (-1, -2):
    weights = torch.softmax(scores, dim=dim)  # (B, L_q, L_k)
    print(f"dim={dim}   row sums {weights[0].sum(-1)}   average of tens {(weights @ tens)[0, :, 0]}")

# %% [markdown]
# **Additive without the tanh.** It runs, gives weights, and looks like attention. But without $\tanh$ the score is a sum of two parts, $w_v^\top W_q q + w_v^\top W_k k$. The first is the same for all keys. A softmax does not notice what is added to all scores alike, so
# the query is *lost*. How you would notice: every query has the same row of weights.

# %%
W_q, W_k, w_v = (torch.randn(*size, generator=rng) for size in ((d_hidden, d_q), (d_hidden, d_k), (d_hidden,)))
added = (query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None]  # (B, L_q, L_k, d_hidden)
for name, hidden in (("with tanh", torch.tanh(added)), ("without", added)):
    weights = torch.softmax(hidden @ w_v, dim=-1)  # (B, L_q, L_k)
    apart = (weights - weights[:, :1]).abs().max()
    print(f"{name:10} largest difference between two queries' weights {apart:.4f}")

# %% [markdown]
# **The bandwidth on the wrong side of the fraction.** If the scores are multiplied by the temperature, or by $h^2$, instead of divided by it, the result still looks like weights. In Python one missing pair of parentheses is enough. How you would notice: a larger
# bandwidth must let *more* keys count.

# %%
squared = (x_query[:, None] - x_key[None, :]) ** 2  # (L_q, L_k)
for h in (0.3, 1.0, 3.0):
    right = torch.softmax(-squared / (2 * h**2), dim=-1)
    wrong = torch.softmax(-squared / 2 * h**2, dim=-1)  # divides by 2, then multiplies by h^2
    print(f"bandwidth {h}   keys that count: right {entropy(right).exp().mean():5.2f}   wrong {entropy(wrong).exp().mean():5.2f}")

# %% [markdown]
# ## In practice
#
# - `torch.softmax` shifts by the maximum for you, and so do other libraries. Write your own only where you need the pieces, and prefer `log_softmax` to the logarithm of a softmax.
# - Half precision overflows far sooner than float32, so scores of ordinary size are already dangerous without the shift (the cell below).
# - `F.scaled_dot_product_attention` does all steps in one call, fused into one kernel where it can, and does not hand back the weights. To look at weights, write the three lines: scores, softmax, weighted sum.
# - Other names: scores are *energies* (Bahdanau) or *logits*; the weights are *alignments* in translation; the *inverse* of the temperature is the key strength $\beta$ of Neural Turing Machines, which multiplies a cosine.
# - When a language model writes text, "temperature" is this temperature, applied to the scores of the next word (lesson 12).

# %%
overflow = math.log(torch.finfo(torch.float16).max)
scores = torch.tensor([12.0, 11.0, 10.0], dtype=torch.float16)
print(f"exp overflows in float16 above {overflow:.1f}: {scores.exp().tolist()}")
print("naive  ", softmax_naive(scores).tolist())
print("PyTorch", [f"{w:.3f}" for w in torch.softmax(scores, dim=-1).tolist()])

x = torch.tensor([0.0, 200.0])
print("log of the softmax", torch.softmax(x, dim=-1).log().tolist(), "  log_softmax", torch.log_softmax(x, dim=-1).tolist())

# %% [markdown]
# ## Recap
#
# 1. **Soft lookup**: a query is compared with all keys; the scores become weights that sum to 1; the output is the weighted sum of the values. A dictionary that finds its key is the special case of one-hot weights.
# 2. **Kernel regression**: the score is minus the squared distance over $2h^2$. The bandwidth can be learned, but only from points that may not look at themselves.
# 3. **Softmax**: subtract the maximum of each row first. A shift changes nothing. High temperature: uniform; low: argmax. $T = h^2$ for the half squared distance.
# 4. **Jacobian**: $\operatorname{diag}(w) - w w^\top$. With one weight near 1 it is near 0, and learning stops.
# 5. **Scores**: additive for any two sizes, at the price of an `(L_q, L_k, d_hidden)` tensor; dot product for equal sizes (or after a projection), one matrix product.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $q$, $k_i$, $v_i$ | one query, key, value | $(d_q)$, $(d_k)$, $(d_v)$ |
# | $a(q, k)$, $s$ | score; the scores of all keys | a number; $(L_k)$, or $(B, L_q, L_k)$ |
# | $w = \operatorname{softmax}(s)$ | weights, over the keys | as $s$; each row sums to 1 |
# | $f(q)$ | output | $(d_v)$, or $(B, L_q, d_v)$ |
# | $G(u)$ | the kernel, a bump around 0 | a number |
# | $h$, $T = h^2$ | bandwidth, temperature | positive numbers |
# | $H(w)$ | entropy, from 0 to $\ln L_k$ | one for each query |
# | $J$ | Jacobian of the softmax | $(n, n)$ |
# | $W_q$, $W_k$, $w_v$ | weights of the additive score | $(d_{hidden}, d_q)$, $(d_{hidden}, d_k)$, $(d_{hidden})$ |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. All scores of a query are raised by 5. What happens to its weights? And if all are multiplied by 5?</summary>
#
# **Raised: nothing. Multiplied: they become sharper.** A shift cancels in the fraction. A factor of 5 is a temperature of one fifth. (Who says "nothing" to both confuses differences with ratios: the softmax sees differences, and a factor changes those.)
# </details>
#
# <details><summary>2. All keys are equal. What does attention return?</summary>
#
# **The mean of the values.** Equal keys have equal scores, whatever the query and the score function, and equal scores give equal weights. (Not "the first value": a softmax has no order. Not zero: the weights sum to 1.)
# </details>
#
# <details><summary>3. Nadaraya-Watson is trained to predict its own points, each included among the keys. The error on them is nearly 0. Is that good?</summary>
#
# **No.** The bandwidth has collapsed, each point looks up itself, and the noise is learned by heart. (The error on the readings is no evidence here: section 2.5 shows it going down while the error against the true curve goes up.)
# </details>
#
# <details><summary>4. Queries have shape (8, 10, 32), keys (8, 20, 48), values (8, 20, 64), d_hidden is 16. What are the shapes of W_q, W_k, the hidden tensor and the output of additive attention?</summary>
#
# **(16, 32), (16, 48), (8, 10, 20, 16), (8, 10, 64).** The output has the length of the queries and the size of the values. (With 48 as its last size it would be a sum of keys; with length 20 it would have an answer for every key instead of every query.)
# </details>
#
# <details><summary>5. The entropy of a row of weights over 7 keys is 3. What do you conclude?</summary>
#
# **There is a bug.** The entropy of 7 weights that sum to 1 is at most ln 7, computed in section 2.8 and below 2. Perhaps the row does not sum to 1. Another base of the logarithm does not explain it: even to base 2 the bound stays below 3. (It cannot be "very spread out": uniform is the limit.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Nadaraya, *On Estimating Regression*, 1964, and Watson, *Smooth Regression Analysis*, 1964: the kernel-weighted average of section 2.4, fifty years before it was called attention.
# - Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015, section 3.1 and appendix A.1.2: the additive score, and why a translator needs one.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3.1: the scores dot, general and concat side by side.
# - Graves, Wayne, Danihelka, *Neural Turing Machines*, 2014, section 3.3.1: a memory addressed by content, by a softmax over cosines times a key strength that the network chooses.
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.1: additive and dot-product attention compared, of similar cost in theory, the second faster and smaller in practice; for large $d_k$ it needs the scaling of lesson 04.
# - James, *The Principles of Psychology*, 1890, chapter XI: voluntary and involuntary attention, long before computers.

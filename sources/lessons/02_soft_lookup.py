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
# By the end you can write a lookup that asks every key at once, say what its softmax does to scores and to gradients, and choose between two kinds of score.
#
# {{colab_link}} · about 105 minutes, in three parts · builds on lessons 00 and 01

# %% tags=["setup"]
import functools
import math

import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from course_utils import attention, diagrams, plotting, widgets
from course_utils.datasets.letter_sounds import SOUNDS, letters_around, sounds_of_c

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# **You will learn to**
#
# 1. look up what no key matches, and name the query, the keys, the values and the weights;
# 2. predict with kernel regression, and choose its bandwidth without fooling yourself;
# 3. write a softmax that doesn't overflow, and set how many keys count by its temperature;
# 4. read off the softmax's Jacobian when it stops learning;
# 5. compute an additive and a dot-product score, and say what each costs.
#
# Lesson 01 asked how similar two vectors are. This lesson does something with the answer: it *looks things up*. There are three parts, and each makes a good sitting of its own: what is Nadaraya-Watson, what is a softmax, what are scores.

# %% [markdown]
# ## Predict first
#
# An oven is switched on. A Python dictionary holds what a thermometer said after 1, 2 and 4 minutes.

# %%
measured = {1: 40.0, 2: 60.0, 4: 140.0}  # minute -> degrees Celsius
widgets.predict(
    "2.1",
    "40 degrees after 1 minute, 60 after 2, 140 after 4. How hot after 3 minutes?",
    between=(0, 200),
    step=1,
)

# %%
print("minute 2:", measured[2])
try:
    print("minute 3:", measured[3])
except KeyError as problem:
    print("minute 3: KeyError", problem)

# %% [markdown]
# A dictionary knows *found* and *not found*, and nothing in between. You probably looked at minutes 2 and 4, mixed what they say, and perhaps let minute 1 count a little. That is attention.
#
# ---
# ## Part 1 of 3 · What is Nadaraya-Watson?

# %% [markdown]
# ## 2.1 A lookup that asks every key
#
# Give every key a weight that says how well it fits the question, and let that weight halve with each minute of distance. From minute 3, the keys 1, 2 and 4 are 2, 1 and 1 minutes away:
#
# - the raw weights are $\tfrac14, \tfrac12, \tfrac12$, and they add up to $\tfrac54$;
# - divided by that sum they are $\tfrac15, \tfrac25, \tfrac25$, and now they add up to 1;
# - the answer is $\tfrac15 \cdot 40 + \tfrac25 \cdot 60 + \tfrac25 \cdot 140 = 88$.

# %%
def soft_lookup(query, keys, values):
    total, answer = 0.0, 0.0
    for key, value in zip(keys, values, strict=True):
        weight = 0.5 ** abs(query - key)
        total += weight
        answer += weight * value
    return answer / total


for minute in (3, 2):
    found = soft_lookup(minute, measured.keys(), measured.values())
    print(f"minute {minute}: {found:.2f} degrees")
widgets.came_out("2.1", soft_lookup(3, measured.keys(), measured.values()))

# %% [markdown]
# *Notice minute 2: the oven was read at that very minute, and still the soft lookup doesn't say 60, because the neighbors count too.*
#
# Four words for the rest of the course. The **query** is the question (minute 3). A **key** is what a stored thing is found by (the minute of a reading). A **value** is what you get (the degrees). The **weights** say how much of each value you get; they're positive and add up to 1. A dictionary is the special case in which one weight is 1 and the others are 0.

# %% [markdown]
# ## 2.2 Which sound does this c make?
#
# Keys and values needn't be numbers. Suppose you know how four words sound: *face* and *nice* have the c of *S*, *fact* and *victim* the c of *K*. How is *pace* spoken? Compare the letters before and after the c, and let every agreement triple a word's weight. *Pace* (a, e) agrees with *face* twice, with *nice* and *fact* once, with *victim* never. The raw weights are 9, 3, 3 and 1, and they sum to 16. So *S* gets $\tfrac{9 + 3}{16} = 0.75$.
#
# As vectors: one feature for each letter that may stand before or after the c. A dot product then counts agreements (lesson 01), and three to the power of that count is the exponential of $\ln 3$ times it. The values are vectors too, (1, 0) for *S* and (0, 1) for *K*.

# %%
names = ["face", "nice", "fact", "victim"]
#                      a_   i_   _e   _t
keys = torch.tensor([[1.0, 0.0, 1.0, 0.0],  # (L_k=4, d_k=4)
                     [0.0, 1.0, 1.0, 0.0],
                     [1.0, 0.0, 0.0, 1.0],
                     [0.0, 1.0, 0.0, 1.0]])  # fmt: skip
values = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # (L_k, d_v=2)
asked = ["pace", "pact"]
agree = torch.tensor([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]])  # (L_q=2, d_k)
queries = math.log(3) * agree  # (L_q, d_k)
plotting.show(
    diagrams.attention_flow(
        queries, keys, values, queries=asked, keys=names, scale=1.0, follow=(0, 0)
    )
)

# %% [markdown]
# *"K turned" is $K^\top$, with a column for every key, and `@` is the matrix product. Follow the frames: the row of "pace" meets the column of "face" and makes one score. The scores of a row become its weights. The weights mix the rows of V into one row of the output: 0.75 for S.* The step from scores to weights is the softmax that you met in lesson 01; part 2 takes it apart. Here is the same picture, alive. Hover over a cell to see where it comes from. Then change the query of *pace* until *K* wins.

# %%
# It divides the scores by 2, the root of d_k = 4 (lesson 04 says why),
# so we hand it queries that are twice as long.
widgets.see_through(2 * queries, keys, values, queries=asked, keys=names)

# %% [markdown]
# Now the real thing: an English dictionary of pronunciations. We take words with one c and no other letter that can make its sounds (k, q, s, x, z), look at three letters on either side (beyond the end of a word, a dot stands in for a letter), keep 2,000 of the words as keys, and ask about words that are not among them. Nothing is trained.

# %%
words, sounds = sounds_of_c("train")
held_out, truth = sounds_of_c("valid")
V = F.one_hot(sounds, len(SOUNDS)).float()  # (n, d_v=4): here V is the matrix of values
agreements = letters_around(held_out) @ letters_around(words).T  # (L_q, n), from 0 to 6
always_k = (truth == SOUNDS.index("K")).float().mean().item()
print(f"{len(words):,} known words, {len(held_out)} held-out words, V", tuple(V.shape))
print(f"always saying K is right for {100 * always_k:.0f} % of the held-out words")
widgets.predict(
    "2.2",
    "2,000 known words, and each agreement triples a weight. Percent right?",
    between=(0, 100),
)

# %%
def percent_right(factor, seed, known=2000):
    rng = torch.Generator().manual_seed(seed)
    kept = torch.randperm(len(words), generator=rng)[:known]  # (L_k,)
    scores = math.log(factor) * agreements[:, kept]  # (L_q, L_k)
    shares = torch.softmax(scores, dim=-1) @ V[kept]  # (L_q, d_v)
    return 100 * (shares.argmax(dim=-1) == truth).float().mean().item()


by_factor = {f: [percent_right(f, seed) for seed in range(5)] for f in (3, 20)}
print("percent right, for five choices of the 2,000 words")
for factor, right in by_factor.items():
    found = "  ".join(f"{r:.1f}" for r in right)
    print(f"each agreement counts {factor:2} times:  {found}")
widgets.came_out("2.2", sum(by_factor[3]) / 5)

# %% [markdown]
# Three times per agreement doesn't do much better than always saying *K*. Twenty times reads well. Why? With 2,000 keys, the many poor ones can outvote the few good ones: each weighs little, but together they weigh a lot. (Section 2.6 counts them.) How sharply a lookup should look is *the* question of this lesson. First for a curve, where you can see it.

# %% [markdown]
# ## 2.3 Nadaraya-Watson kernel regression
#
# There is a true curve, and 40 noisy readings of it. The lookup has to say what the curve is at places that nobody read. We judge it by the mean squared error against the true curve, which it never sees.

# %%
def true_curve(x):
    return torch.sin(2 * x) + 0.5 * x


def readings(seed, n=40):
    rng = torch.Generator().manual_seed(seed)
    x = (5 * torch.rand(n, generator=rng)).sort().values  # (L_k=n,)
    return x, true_curve(x) + 0.4 * torch.randn(n, generator=rng)  # (L_k,), (L_k,)


# %%
def error(prediction):
    return ((prediction - true_curve(x_query)) ** 2).mean().item()


x_query = torch.linspace(0, 5, 101)  # (L_q=101,)
x_key, y_key = readings(seed=0)
print(f"to be beaten: the mean of all readings, error {error(y_key.mean()):.3f}")

# %% [markdown]
# In 1964 Nadaraya and Watson, independently, wrote down a lookup in which near keys count more:
#
# $$f(q) = \sum_{j=1}^{L_k} w_j \, v_j , \qquad w_j = \frac{G(q - k_j)}{\sum_{m=1}^{L_k} G(q - k_m)} , \qquad G(u) = e^{-u^2 / (2 h^2)} .$$
#
# Here $q$ is the query (a number), $k_j$ and $v_j$ are the keys and values ($L_k$ of each), and the *kernel* $G$ is a bump around 0. Its width $h$, in units of $x$, is the **bandwidth**. Since $G$ is an exponential, the weights are once more a softmax, $w = \operatorname{softmax}(s)$ with the scores
#
# $$s_j = -\frac{(q - k_j)^2}{2 h^2} .$$
#
# By hand, for the oven at minute 3 with $h = 2$: the distances are 2, 1 and 1, so the scores are $-\tfrac48, -\tfrac18, -\tfrac18$.

# %%
kernel = [math.exp(-4 / 8), math.exp(-1 / 8), math.exp(-1 / 8)]
weights = [g / sum(kernel) for g in kernel]
by_hand = sum(w * v for w, v in zip(weights, (40, 60, 140), strict=True))
print("by hand: weights", [f"{w:.3f}" for w in weights], f"prediction {by_hand:.2f}")


def kernel_regression_loop(x_query, x_key, y_key, bandwidth):
    predictions = []
    for q in x_query.tolist():
        scores = [-((q - k) ** 2) / (2 * bandwidth**2) for k in x_key.tolist()]
        kernel = [math.exp(s) for s in scores]
        total = sum(g * v for g, v in zip(kernel, y_key.tolist(), strict=True))
        predictions.append(total / sum(kernel))
    return torch.tensor(predictions)  # (L_q,)

# %%
minutes, degrees = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([40.0, 60.0, 140.0])
print("loop:   ", kernel_regression_loop(torch.tensor([3.0]), minutes, degrees, 2.0))
try:
    kernel_regression_loop(torch.tensor([60.0]), minutes, degrees, 1.0)
except ZeroDivisionError as problem:
    print("at minute 60, with bandwidth 1: ZeroDivisionError:", problem)

# %% [markdown]
# Minute 60 has a nearest key too, so there is an answer. But every exponential is so small that the computer stores 0. **Do 2.1 of the {{exercises_link}} now (10 minutes)**: a softmax for which no score is too large or too small. Then read on, with the course's version of the loop, which uses such a softmax.

# %%
prediction, weights = attention.nadaraya_watson(x_query, x_key, y_key, 0.5)
loop = kernel_regression_loop(x_query, x_key, y_key, 0.5)
assert torch.allclose(prediction, loop, atol=1e-5)
far, _ = attention.nadaraya_watson(torch.tensor([60.0]), minutes, degrees, 1.0)
print("prediction", tuple(prediction.shape), "  weights", tuple(weights.shape))
print(f"minute 60: {far.item():.1f} degrees, those of its nearest key")

# %% [markdown]
# Three bandwidths: which curve will be too wild, and which too flat?

# %%
fits = {}
for h in (0.03, 0.3, 3.0):
    fits[f"h = {h}"], _ = attention.nadaraya_watson(x_query, x_key, y_key, h)  # (L_q,)
print({name: round(error(fit), 3) for name, fit in fits.items()})

# %%
ax = plotting.curves(
    x_query,
    {"true curve": true_curve(x_query)} | fits,
    points=(x_key, y_key),
    xlabel="x",
    ylabel="y",
    ax=plotting.new_axes(7.4, 3.8),
)
plotting.show(
    ax,
    "Forty noisy points and the true curve. Bandwidth 0.03 jumps from point to point. "
    "0.3 follows the true curve but starts and ends above it. 3 is nearly flat.",
)

# %% [markdown]
# *Notice the two ends of h = 0.3.* At either end all keys lie on one side, where the curve is higher, so the average comes out too high. At x = 3.1 the curve is nearly as steep as at 0, but there are keys on both sides, and those should cancel. Five sets of readings:

# %%
for place in (0.0, 5.0, 3.1):
    at = torch.tensor([place])
    off = []
    for seed in range(5):
        found, _ = attention.nadaraya_watson(at, *readings(seed), 0.3)
        off.append((found - true_curve(at)).item())
    print(f"x = {place}: prediction minus truth  ", "  ".join(f"{x:+.2f}" for x in off))

# %% [markdown]
# At the left end all five come out too high; at the right end, where the curve is less steep, four of five. At x = 3.1 they fall on both sides.
#
# The weights show what the bandwidth does. Two queries, drawn over the keys' own x:

# %%
axes = plotting.new_axes(9.0, 3.0, columns=2)
for ax, h in zip(axes, (0.3, 0.03), strict=True):
    ax.plot(x_key.tolist(), [0.0] * len(x_key), "|", color="0.5", label="all keys")
    for query, color, mark in zip((0.0, 2.5), plotting.COLORS, "os", strict=False):
        at = torch.tensor([query])
        w = attention.nadaraya_watson(at, x_key, y_key, h)[1][0]  # (L_k,)
        seen = w > 0.01  # (L_k,)
        line = {"marker": mark, "ms": 4, "color": color, "label": f"query {query}"}
        ax.plot(x_key[seen], w[seen], **line)
    ax.set(xlabel="x of the key", ylabel="weight", ylim=(-0.03, 1.03))
    ax.set_title(f"bandwidth {h}")

# %%
axes[0].legend(frameon=False)
plotting.show(
    axes[0],
    "Weights of two queries over forty keys, drawn at the keys' places. Bandwidth 0.3: "
    "two low bumps, the one at the left edge cut in half. Bandwidth 0.03: one or two "
    "keys have nearly all the weight.",
)

# %% [markdown]
# *On the left each query averages many keys, so their noise partly cancels; the bump at the edge is cut in half. On the right one key speaks nearly alone, noise included.* **Do exercise 2.2 now (15 minutes)**: a kernel of another shape, with an edge.

# %% [markdown]
# ## 2.4 Choosing the bandwidth without fooling yourself
#
# Nobody has the true curve, so the readings themselves must choose. Idea one: predict every reading from all readings, and take the bandwidth with the smallest error.

# %%
widgets.predict(
    "2.3",
    "Which bandwidth gives the smallest error, if every point may look at itself?",
    choices=["the smallest one tried", "one in between", "the largest one tried"],
)

# %%
def reading_error(x, y, bandwidth, leave_out):
    total = 0.0
    for j in range(len(x)):
        seen = torch.arange(len(x)) != (j if leave_out else -1)  # (L_k,)
        found, _ = attention.nadaraya_watson(x[j : j + 1], x[seen], y[seen], bandwidth)
        total += (found.item() - y[j].item()) ** 2
    return total / len(x)


tried = torch.logspace(-1.7, 0.5, 23).tolist()  # from 0.02 to 3.2
included = [reading_error(x_key, y_key, h, leave_out=False) for h in tried]
left_out = [reading_error(x_key, y_key, h, leave_out=True) for h in tried]
ends = {0: "the smallest one tried", len(tried) - 1: "the largest one tried"}
widgets.came_out("2.3", ends.get(included.index(min(included)), "one in between"))

# %%
def true_error(x, y, bandwidth):
    return error(attention.nadaraya_watson(x_query, x, y, bandwidth)[0])


against_truth = [true_error(x_key, y_key, h) for h in tried]
lines = {"itself included": included, "left out": left_out, "true curve": against_truth}
ax = plotting.curves(
    torch.tensor(tried),
    {name: torch.tensor(line) for name, line in lines.items()},
    xlabel="bandwidth (log scale)",
    ylabel="mean squared error",
    ax=plotting.new_axes(6.4, 3.4),
)

# %%
ax.set_xscale("log")
for line, color in zip(lines.values(), plotting.COLORS, strict=False):
    ax.plot(tried[line.index(min(line))], min(line), "o", color=color)  # the lowest
plotting.show(
    ax,
    "Three errors by bandwidth, their lowest points marked. With the point itself "
    "included the error falls all the way as the bandwidth shrinks. Left out, and "
    "against the true curve, it is lowest in between, near 0.2.",
)

# %% [markdown]
# *Notice which line falls all the way to the left.* A point that may look at itself does best by looking at nothing else, and nothing is learned. Idea two closes that way out: predict each reading from all *others*. This is **leave-one-out**. Does it choose better? Five sets of readings, and the error against the true curve that each choice leads to:

# %%
print("set   itself included   left out chooses   left out   best possible")
for seed in range(5):
    x, y = readings(seed)
    by_truth = {h: true_error(x, y, h) for h in tried}
    fooled = min(tried, key=lambda h: reading_error(x, y, h, leave_out=False))
    honest = min(tried, key=lambda h: reading_error(x, y, h, leave_out=True))
    print(f"{seed:3} {by_truth[fooled]:14.3f} {honest:17.2f}", end="")
    print(f"{by_truth[honest]:14.3f} {min(by_truth.values()):13.3f}")

# %% [markdown]
# Leave-one-out never saw the truth. It doesn't always find the best bandwidth, but in every set it leads to a smaller error than idea one. It calls the lookup once for every point and bandwidth. **Do exercise 2.3 now (20 minutes)**: all points at once.
#
# *Part 1 ends here. A good place for a break.*
#
# ---
# ## Part 2 of 3 · What is a softmax?

# %% [markdown]
# ## 2.5 Only differences count
#
# $$\operatorname{softmax}(s)_j = \frac{e^{s_j}}{\sum_{m=1}^{n} e^{s_m}} , \qquad s \text{ of shape } (n) .$$
#
# By hand: $s = (0, \ln 2, \ln 4)$ has the exponentials 1, 2 and 4, so the weights are $\tfrac17, \tfrac27, \tfrac47$. As the formula stands, in code:

# %%
def softmax_naive(scores):
    exponentials = scores.exp()  # (..., n)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)  # (..., n)


easy = torch.tensor([1.0, 2.0, 4.0]).log()  # (n=3,)
large = torch.tensor([1000.0, 999.0, 998.0])  # (n=3,)
for scores in (easy, large, -large):
    pytorch = [f"{w:.3f}" for w in torch.softmax(scores, dim=-1).tolist()]
    print("naive", softmax_naive(scores), "  PyTorch", pytorch)
print(f"exp overflows in float32 above {math.log(torch.finfo(torch.float32).max):.1f}")

# %% [markdown]
# Infinity over infinity and 0 over 0 are both NaN. You repaired this in exercise 2.1. Why was that allowed? Add the same number $c$ to all scores:
#
# $$\frac{e^{s_j + c}}{\sum_m e^{s_m + c}} = \frac{e^c \, e^{s_j}}{e^c \sum_m e^{s_m}} = \frac{e^{s_j}}{\sum_m e^{s_m}} .$$
#
# So a softmax doesn't notice a **shift**. With $c = -\max_m s_m$ the largest exponent is 0, and the sum is at least 1: no overflow, no division by 0. Remember the other side of it as well: **whatever is added to all scores of a query alike is lost.** One of the exercises of part 3 turns on this.

# %%
pytorch = torch.softmax(large, dim=-1)  # (n=3,)
assert torch.allclose(pytorch, softmax_naive(torch.tensor([2.0, 1.0, 0.0])))  # 998 less
for shift in (-1000.0, 500.0):
    assert torch.allclose(torch.softmax(large + shift, dim=-1), pytorch)
print("shifted by -998, -1000 and 500: the same weights")

# %% [markdown]
# ## 2.6 Temperature: how many keys count
#
# Dividing the scores by a number $T > 0$, the **temperature**, keeps their order and changes their differences: $w = \operatorname{softmax}(s / T)$.

# %%
widgets.predict(
    "2.4",
    "The scores are 2, 1, 0 and -1, the temperature is 1. What share has each key?",
    shares=["score 2", "score 1", "score 0", "score -1"],
)

# %%
s = torch.tensor([2.0, 1.0, 0.0, -1.0])  # (n=4,)
temperatures = [0.1, 0.3, 1.0, 3.0, 10.0, 100.0]
rows = torch.stack([torch.softmax(s / T, dim=-1) for T in temperatures])  # (6, 4)
labels = [f"{T:g}" for T in temperatures]
ax = plotting.attention_heatmap(rows, labels, [f"{x:g}" for x in s.tolist()])
ax.set(xlabel="score of the key", ylabel="temperature")
plotting.show(
    ax,
    "Weights of four keys for six temperatures. At 0.1 the best key has all the "
    "weight; at 100 each of the four has about a quarter.",
)
widgets.came_out("2.4", rows[temperatures.index(1.0)])

# %% [markdown]
# *Notice the two ends.* As $T$ grows, all differences $(s_j - s_m)/T$ go to 0, and the weights become equal. As $T$ goes to 0, the best key takes all (keys that tie for the best share it). In between, **entropy** says in one number how spread out the weights are:
#
# $$H(w) = -\sum_{j=1}^{n} w_j \ln w_j , \qquad \text{with } 0 \ln 0 = 0 .$$
#
# It is 0 if one key has everything and $\ln n$ if all $n$ share equally. So $e^{H}$ reads as **how many keys count**, from 1 to $n$. By hand, for the weights $\tfrac12, \tfrac12, 0$: $H = \tfrac12 \ln 2 + \tfrac12 \ln 2 = \ln 2$, and two keys count.

# %%
def keys_that_count(weights):
    # entr(w) is -w ln w, and 0 where w is 0.
    return torch.special.entr(weights).sum(dim=-1).exp()  # (..., n) -> (...)


half = torch.tensor([0.5, 0.5, 0.0])
print(f"weights 1/2, 1/2, 0: {keys_that_count(half):.2f} keys count")
for T, count in zip(temperatures, keys_that_count(rows).tolist(), strict=True):
    print(f"T = {T:5.1f}   {count:.2f} of 4 keys count")

# %% [markdown]
# Now look back. "Each agreement counts 20 times" multiplies the agreements by $\ln 20$, which is a temperature of $1 / \ln 20$. And the score of Nadaraya-Watson is $s/T$ with $s = -\tfrac12 (q - k_j)^2$ and $T = h^2$: **the bandwidth squared is a temperature.** Back to the c, this time by temperature. The last column is the median over the held-out words, for the first of the five choices of 2,000 words:

# %%
rng = torch.Generator().manual_seed(0)
kept = torch.randperm(len(words), generator=rng)[:2000]  # (L_k,)
print("  T    factor    % right, five choices    keys that count")
for T in (2.0, 1 / math.log(3), 1 / math.log(20), 0.1):
    right = [round(percent_right(math.exp(1 / T), seed)) for seed in range(5)]
    count = keys_that_count(torch.softmax(agreements[:, kept] / T, dim=-1)).median()
    print(f"{T:4.2f} {math.exp(1 / T):9.1f}    {right}    {count:10.1f}")

# %% [markdown]
# Where the lookup does little better than always saying *K*, 800 keys or more count. Where it reads well, about 25 do, or 3. What you would like to say is "let ten keys count", for any query, and have the temperature follow. **Do exercise 2.4 now (20 minutes).** Then move the sliders below. Take a query among many keys, then one at the edge, where the keys lie on one side only: with the same bandwidth, how many keys count now?

# %%
explorer = widgets.kernel_regression(x_key, y_key)
explorer.show_first_state(
    "Left: forty points and the fit of bandwidth 0.32. Right: the weights of one query "
    "in the middle, a bump over the keys near it; the title says how many keys count."
)

# %%
explorer

# %% [markdown]
# ## 2.7 When a softmax stops learning
#
# How do the weights move when one score moves? Write $Z = \sum_m e^{s_m}$, so $w_j = e^{s_j}/Z$. The numerator depends on $s_m$ only if $m = j$; the denominator always does, with $\partial Z / \partial s_m = e^{s_m}$. The quotient rule gives, with $\delta_{jm} = 1$ for $j = m$ and 0 otherwise,
#
# $$\frac{\partial w_j}{\partial s_m} = \frac{\delta_{jm}\, e^{s_j} Z - e^{s_j} e^{s_m}}{Z^2} = w_j (\delta_{jm} - w_m) , \qquad\text{that is}\qquad J = \operatorname{diag}(w) - w w^\top , \text{ of shape } (n, n) .$$
#
# By hand, for $w = (\tfrac17, \tfrac27, \tfrac47)$: $J_{11} = \tfrac17 \cdot \tfrac67 = \tfrac{6}{49}$ and $J_{12} = -\tfrac17 \cdot \tfrac27 = -\tfrac{2}{49}$. Autograd agrees:

# %%
def jacobian(scores):
    weigh = functools.partial(torch.softmax, dim=-1)
    return torch.autograd.functional.jacobian(weigh, scores)  # (n, n)


w = torch.softmax(easy, dim=-1)  # (n=3,)
assert torch.allclose(torch.diag(w) - torch.outer(w, w), jacobian(easy), atol=1e-6)
print("49 times the Jacobian\n", (49 * jacobian(easy)).round().long())

# %% [markdown]
# A score that rises lifts its own weight (the diagonal) and lowers every other. Each row sums to 0: raising all scores alike changes nothing, the shift again. And if one weight is nearly 1, every product $w_j(\delta_{jm} - w_m)$ is nearly 0. Watch it happen: we multiply the scores 2, 1, 0, -1 by a growing factor and take the Jacobian at the products. (Its size is the root of the sum of its squared entries.)

# %%
factors = torch.logspace(-2, 1.3, 100)  # (100,)
size = torch.stack([jacobian(f * s).norm() for f in factors])  # (100,)
weights = torch.softmax(factors[:, None] * s, dim=-1)  # (100, n)
left, right = plotting.new_axes(9.0, 3.0, columns=2)
left.plot(factors, size)
right.plot(factors, keys_that_count(weights))
left.set(ylabel="size of the Jacobian", ylim=(0, 0.5))
right.set(ylabel="keys that count", ylim=(0, 4.2))
for ax in (left, right):
    ax.set(xscale="log", xlabel="factor on the scores (log scale)")
plotting.show(
    left,
    "By the factor on four scores. Left: the size of the Jacobian is level, then falls "
    "to zero. Right: the keys that count fall from 4 to 1 over the same factors.",
)

# %% [markdown]
# *Notice that the left curve reaches 0 where the right one reaches 1.* A softmax with a single key left is **saturated**: its weights don't move, and no gradient comes back through it. That is harmless if the key is the right one. What if it's the wrong one? Two keys have the values 0 and 1, the output should be 1, and gradient descent may change the scores. It starts with all the more weight on the *wrong* key, the larger the lead of its score:

# %%
two_values = torch.tensor([0.0, 1.0])  # (L_k=2,)
for lead in (1.0, 3.0, 5.0, 7.0):
    scores, steps = torch.tensor([lead, 0.0], requires_grad=True), 0
    start = torch.softmax(scores, dim=-1)[0].item()
    while (output := torch.softmax(scores, dim=-1) @ two_values) < 0.9:
        (slope,) = torch.autograd.grad((output - 1) ** 2, scores)
        scores = (scores - slope).detach().requires_grad_()  # a learning rate of 1
        steps += 1
    print(f"lead {lead:.0f}: {start:.4f} on the wrong key, {steps:3} steps to mend it")

# %% [markdown]
# The more wrong it starts, the *less* it learns per step. So scores should start small. Lesson 04 meets this in the Transformer, where a division by $\sqrt{d_k}$ works against it.
#
# *Part 2 ends here: another good place for a break.*
#
# ---
# ## Part 3 of 3 · What are scores?

# %% [markdown]
# ## 2.8 Two scores, and what they cost
#
# Every lookup so far has one form. Only the **score** $a(q, k)$, a number that says how well a key fits a query, differs:
#
# $$f(q) = \sum_{j=1}^{L_k} w_j \, v_j , \qquad w = \operatorname{softmax}\big(a(q, k_1), \dots, a(q, k_{L_k})\big) .$$
#
# $q$ has shape $(d_q)$, each key $k_j$ $(d_k)$, each value $v_j$ and the output $f(q)$ $(d_v)$. A dictionary is $a = 0$ for the key that is equal and $-\infty$ for the others ($e^{-\infty} = 0$: never). The mean of all values is a score that is the same for all keys. Two scores carry the rest of this course.
#
# **The dot product** $a(q, k) = q \cdot k$ needs query and key of one size, and nothing to learn. All scores at once are one matrix product, $S = Q K^\top$ of shape $(L_q, L_k)$.
#
# **The additive score** puts both into one space of size $d_{hidden}$, adds them there, and reads off a number:
#
# $$a(q, k) = w_v^\top \tanh(W_q\, q + W_k\, k) , \qquad W_q: (d_{hidden}, d_q), \quad W_k: (d_{hidden}, d_k), \quad w_v: (d_{hidden}) .$$
#
# It is a small network with one hidden layer, and all three arrays are learned. By hand, with the arrays below: $W_q q = (0, -1)$. For the first key $W_k k = (1, 0)$, the sum is $(1, -1)$ and the score $2 \tanh 1 - \tanh 1 = \tanh 1$. For the second key $W_k k = (0, 1)$, the sum is $(0, 0)$ and the score 0.

# %%
q = torch.tensor([1.0, -1.0])  # (d_q=2,)
K = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])  # (L_k=2, d_k=3)
W_q = torch.tensor([[1.0, 1.0], [0.0, 1.0]])  # (d_hidden=2, d_q=2)
W_k = torch.tensor([[1.0, 0.0, 0.0], [-2.0, 1.0, 1.0]])  # (d_hidden=2, d_k=3)
w_v = torch.tensor([2.0, 1.0])  # (d_hidden=2,)


def additive_scores_loop(q, K, W_q, W_k, w_v):
    return torch.stack([w_v @ torch.tanh(W_q @ q + W_k @ key) for key in K])  # (L_k,)


scores = additive_scores_loop(q, K, W_q, W_k, w_v)
print(f"by hand {math.tanh(1):.4f} and 0   loop", [f"{x:.4f}" for x in scores.tolist()])
print("weights", torch.softmax(scores, dim=-1))

# %% [markdown]
# **Do exercise 2.5 now (15 minutes)**: this for a whole batch, without a loop. From here on we use the library's layer; the next cell checks it against the loop.

# %%
layer = attention.AdditiveAttention(2, 3, 2)  # d_query, d_key, d_hidden
with torch.no_grad():
    layer.q_proj.weight.copy_(W_q)
    layer.k_proj.weight.copy_(W_k)
    layer.v_proj.weight.copy_(w_v[None])  # (1, d_hidden)
    _, weights = layer(q[None, None], K[None], torch.ones(1, 2, 1))  # (B=1, L_q=1, L_k)
assert torch.allclose(weights[0, 0], torch.softmax(scores, dim=-1), atol=1e-6)
ours, _ = attention.scaled_dot_product_attention(queries, keys, values, scale=1.0)
pytorch = F.scaled_dot_product_attention(queries, keys, values, scale=1.0)  # (L_q, d_v)
assert torch.allclose(ours, pytorch, atol=1e-6)
print("additive: layer and loop agree; dot product: course_utils and PyTorch agree")

# %% [markdown]
# Bahdanau, Cho and Bengio brought the additive score to translation in 2014. In their appendix they choose it for its *cost*: a translator needs a score for every word of the output with every word of the input, so they keep the network to one hidden layer. And since $W_k k_j$ doesn't depend on the query, it's computed once per sentence, however many words the translation has. Count what that saves where the queries come one at a time, as the words of a translation do:

# %%
def multiplications(*sizes):  # of one or more matrix products (m, n) @ (n, p)
    with FlopCounterMode(display=False) as counter:  # it counts products and sums
        for m, n, p in sizes:
            torch.ones(m, n) @ torch.ones(n, p)
    return counter.get_total_flops() // 2


d = 64  # of queries, keys and the hidden space
for L_q, L_k in ((25, 30), (512, 512)):
    pairs = [(L_q, d, d), (L_q * L_k, d, 1)]  # project the queries; w_v for every pair
    every_step = multiplications(*pairs, *[(L_k, d, d)] * L_q)
    once = multiplications(*pairs, (L_k, d, d))
    print(f"{L_q} queries, {L_k} keys: keys projected at every step {every_step:,}")
    print(f"   once {once:,}   dot product {multiplications((L_q, d, L_k)):,}")

# %% [markdown]
# Without the trick the projection of the keys costs more than everything else together. With it, the additive score still needs more multiplications than the dot product where sequences are short, and comes close where they're long. (A $\tanh$ for every pair and hidden unit comes on top; the counter counts matrix products only.) The two differ far more in what must be *held*. The additive score needs a vector of size $d_{hidden}$ for every pair, before $w_v$ sums it up; the dot product goes straight to the scores.

# %%
widgets.predict(
    "2.5",
    "512 queries and keys, size 64: the additive score holds how many times more?",
    between=(1, 512),
    step=1,
)

# %%
sums = torch.zeros(512, 1, 64) + torch.zeros(1, 512, 64)  # every query and every key
scores = torch.zeros(512, 64) @ torch.zeros(64, 512)  # (L_q, L_k)
for name, tensor in (("additive", sums), ("dot product", scores)):
    size = tensor.numel() * tensor.element_size() / 2**20
    print(f"{name:12} {str(tuple(tensor.shape)):15} {size:5.0f} MiB")
widgets.came_out("2.5", sums.numel() / scores.numel())

# %% [markdown]
# | score | sizes | learns | must hold | used |
# |---|---|---|---|---|
# | additive | any two | $W_q$, $W_k$, $w_v$ | `(L_q, L_k, d_hidden)` | recurrent networks (lesson 03) |
# | dot product | equal | nothing | `(L_q, L_k)` | Transformers (lesson 04) |
#
# **Do exercises 2.6 and 2.7 now (15 minutes)**: a bug, and a question about the tanh. Two things are left for the end: an experiment (do more points help, or a better bandwidth?), and your own functions put together, so that they read words aloud.

# %% [markdown]
# ## What goes wrong
#
# **The bandwidth on the wrong side of the fraction.** In Python one missing pair of parentheses is enough: `x / 2 * h**2` divides by 2 and then *multiplies*. The result still looks like weights.

# %%
squared = (x_query[:, None] - x_key) ** 2  # (L_q, L_k)
for h in (0.3, 1.0, 3.0):
    right = torch.softmax(-squared / (2 * h**2), dim=-1)
    wrong = torch.softmax(-squared / 2 * h**2, dim=-1)
    counts = [keys_that_count(weights).mean() for weights in (right, wrong)]
    print(f"bandwidth {h}   keys that count: ", end="")
    print(f"right {counts[0]:5.2f}   wrong {counts[1]:5.2f}")

# %% [markdown]
# At bandwidth 1 right and wrong agree, so a test with $h = 1$ can't see this bug. Test with another number, and ask: does a larger bandwidth let *more* keys count?
#
# **The logarithm of a softmax.** A small weight rounds to 0, and its logarithm is minus infinity, although the true one is an ordinary number. How you'd notice: a loss of infinity. `log_softmax` subtracts instead of dividing.

# %%
x = torch.tensor([0.0, 200.0])  # (n=2,)
print("softmax, then log:", torch.softmax(x, dim=-1).log().tolist())
print("log_softmax:      ", torch.log_softmax(x, dim=-1).tolist())

# %% [markdown]
# ## In practice
#
# - `torch.softmax` subtracts the maximum for you, and so do other libraries. In half precision you'd need it at once: there, `exp` overflows already at the number below.
# - `F.scaled_dot_product_attention` takes all steps in one call and doesn't hand back the weights. To look at weights, write the three lines yourself: scores, softmax, weighted sum.
# - Elsewhere, scores are *energies* or *logits*, and the weights in translation *alignments*. When a language model writes text, "temperature" is this temperature (lesson 12).

# %%
print(f"exp overflows in float16 above {math.log(torch.finfo(torch.float16).max):.1f}")

# %% [markdown]
# ## Recap
#
# 1. **Looking up what no key matches.** Compare the query with every key, turn the scores into weights that sum to 1, and return the weighted sum of the values. A dictionary is the case of one weight 1.
# 2. **Kernel regression.** The score is minus the squared distance over $2h^2$. Choose $h$ by predicting each point from the *others*; a point that sees itself makes the error useless.
# 3. **Softmax.** Subtract the maximum of each row first; a shift changes nothing. The temperature decides how many keys count, $e^H$, and $h^2$ is a temperature.
# 4. **Its Jacobian** is $\operatorname{diag}(w) - w w^\top$. With one weight near 1 it's near 0, and the softmax stops learning, right or wrong.
# 5. **Scores.** Additive: any two sizes, a hidden vector for every pair. Dot product: equal sizes, one matrix product.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $q$, $k_j$, $v_j$ | one query, key, value | $(d_q)$, $(d_k)$, $(d_v)$ |
# | $Q$, $K$, $V$ | all of them, one in each row (in lesson 00, $V$ was the size of the vocabulary) | $(L_q, d_q)$, $(L_k, d_k)$, $(L_k, d_v)$ |
# | $a(q, k)$, $s$ | score; the scores of all keys | a number; $(L_k)$ |
# | $w = \operatorname{softmax}(s)$ | weights over the keys | as $s$; they sum to 1 |
# | $G(u)$, $h$, $T = h^2$ | kernel, bandwidth, temperature | numbers |
# | $H(w)$, $e^H$ | entropy; how many keys count | one for each query |
# | $J$ | Jacobian of the softmax | $(n, n)$ |
# | $W_q$, $W_k$, $w_v$ | weights of the additive score | $(d_{hidden}, d_q)$, $(d_{hidden}, d_k)$, $(d_{hidden})$ |

# %%
widgets.predictions()

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. All scores of a query are raised by 5. What happens to its weights? And if all are multiplied by 5?</summary>
#
# **Raised: nothing. Multiplied: they become sharper.** A shift cancels in the fraction. A factor of 5 is a temperature of one fifth. (If you said "nothing" to both: the softmax sees differences, and a factor changes those.)
# </details>
#
# <details><summary>2. All keys are equal. What does attention return?</summary>
#
# **The mean of the values.** Equal keys have equal scores, whatever the query and the score, and equal scores give equal weights. (Not the first value: a softmax has no order. Not zero: the weights sum to 1.)
# </details>
#
# <details><summary>3. Queries have shape (8, 10, 32), keys (8, 20, 48), values (8, 20, 64), and d_hidden is 16. What are the shapes of W_q, W_k, the hidden tensor and the output of additive attention?</summary>
#
# **(16, 32), (16, 48), (8, 10, 20, 16), (8, 10, 64).** The output has the length of the queries and the size of the values. (With 48 as its last size it would be a sum of keys; with length 20 it would answer every key instead of every query.)
# </details>
#
# <details><summary>4. The entropy of a row of weights over 7 keys is 3. What do you conclude?</summary>
#
# **There's a bug.** Then $e^3$ keys would count, about 20, and there are only 7. Perhaps the row doesn't sum to 1. (It can't be "very spread out": equal weights are the limit, with an entropy of $\ln 7$, about 1.9.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# **A bandwidth can be learned**, by gradient descent on the leave-one-out error. Learn its logarithm, so that it stays positive. With one number to learn, trying many is as good. With a bandwidth for every feature of a key, descent is the way.
#
# **A kernel lookup is a dot product.** Take $-\tfrac12 (q - k)^2 = qk - \tfrac12 k^2 - \tfrac12 q^2$. The last term is the same for all keys, so it is lost. What remains is the dot product of $(q, 1)$ and $(k, -\tfrac12 k^2)$, divided by $h^2$:

# %%
h = 0.5
asks = torch.stack([x_query, torch.ones_like(x_query)], dim=-1)  # (L_q, 2)
offers = torch.stack([x_key, -(x_key**2) / 2], dim=-1)  # (L_k, 2)
readings_column = y_key[:, None]  # (L_k, 1)
by_dot = F.scaled_dot_product_attention(asks, offers, readings_column, scale=1 / h**2)
by_kernel, _ = attention.nadaraya_watson(x_query, x_key, y_key, h)
assert torch.allclose(by_dot[:, 0], by_kernel, atol=1e-4)
print("PyTorch's attention draws the curve of Nadaraya-Watson")

# %% [markdown]
# **One learned matrix** $W$ of shape $(d_q, d_k)$ between query and key, $a(q, k) = q^\top W k$, makes a dot product fit two sizes. Luong et al. call it *general*. A Transformer projects both sides.
#
# **A window that moves.** In 2013, a year before the additive score, Graves's network wrote letters by hand while looking at its text through a window: at each step a sum of Gaussian bumps over the *positions* in the text, and the network itself moved the bumps and set their widths. It's the kernel of this lesson with learned queries and bandwidths, with one difference: his weights aren't divided by their sum.
#
# **Two kinds of cue.** Psychologists distinguish what stands out by itself, such as a loud announcement (an *involuntary* cue), from what we look for, such as a bench when we're tired (a *voluntary* one). The first depends on the thing alone, so it belongs to the key; the second needs a query. It's a picture to remember the words by, not a claim about brains.

# %% [markdown]
# ## References
#
# - Nadaraya, *On Estimating Regression*, 1964, and Watson, *Smooth Regression Analysis*, 1964: the kernel-weighted average of section 2.3, fifty years before it was called attention.
# - Graves, *Generating Sequences With Recurrent Neural Networks*, 2013, section 5: the moving window, for a lookup that a network steers.
# - Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015, section 3.1 and appendix A.1.2: the additive score, and why it has one hidden layer.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3.1: the scores dot, general and concat side by side.
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.1: additive and dot-product attention compared; for large $d_k$ the second needs the scaling of lesson 04.
# - James, *The Principles of Psychology*, 1890, chapter XI: passive attention and active, voluntary attention, long before computers.

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
# {{colab_link}} · short path about 60 minutes with its exercises (40 + 20), everything about 3 hours · builds on lessons 00 and 01

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
# 2. predict with kernel regression, and see all its weights at once;
# 3. write a softmax that doesn't overflow, and set how many keys count by its temperature;
# 4. say when a softmax stops learning, and which loss helps;
# 5. compute an additive and a dot-product score, and say what each costs.
#
# Lesson 01 asked how similar two vectors are. This lesson does something with the answer: it *looks things up*.

# %% [markdown]
# ## Predict first
#
# *Core · 1 minute*
#
# An oven is switched on. A Python dictionary holds what a thermometer said after 1, 2 and 4 minutes.

# %%
measured = {1: 40.0, 2: 60.0, 4: 140.0}  # minute -> degrees Celsius
widgets.predict(
    "2.A",
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
# A dictionary knows only *found* and *not found*. You probably mixed what minutes 2 and 4 say, and perhaps let minute 1 count a little. That is attention.

# %% [markdown]
# ## 2.1 A lookup that asks every key
#
# *Core · 3 minutes*
#
# Give every key a weight that halves with each minute of distance. The keys 1, 2 and 4 are 2, 1 and 1 minutes away from minute 3:
#
# - the raw weights are $\tfrac14, \tfrac12, \tfrac12$, which add up to $\tfrac54$;
# - divided by that sum they're $\tfrac15, \tfrac25, \tfrac25$, which add up to 1;
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
widgets.came_out("2.A", soft_lookup(3, measured.keys(), measured.values()))

# %% [markdown]
# *We have a reading for minute 2, and still the soft lookup doesn't say 60, since the neighbors count too.*
#
# Four words for the rest of the course. The **query** is the question (minute 3). A **key** is what you find a stored thing by (the minute of a reading). A **value** is what you get (the degrees). The **weights** say how much of each value you get, and they add up to 1. In a dictionary one weight is 1 and the others are 0.

# %% [markdown]
# ## 2.2 Which sound does this c make?
#
# *Core · 6 minutes*
#
# Suppose you know how four words sound. The c of *face* and *nice* is an *S*, that of *fact* and *victim* a *K*. How do you say *pace*? Compare the letters before and after the c, and let every agreement triple a word's weight. *Pace* agrees with *face* twice, with *nice* and *fact* once, with *victim* never. The raw weights 9, 3, 3 and 1 sum to 16. *S* gets $\tfrac{9 + 3}{16} = 0.75$.
#
# Now turn the words into vectors, with one feature for each letter before or after the c. A dot product then counts agreements, and three to that power is the exponential of $\ln 3$ times the count. The values are vectors too, (1, 0) for *S* and (0, 1) for *K*.

# %%
names = ["face", "nice", "fact", "victim"]
#                      a_   i_   _e   _t
keys = torch.tensor([[1.0, 0.0, 1.0, 0.0],  # (L_k=4, d_k=4)
                     [0.0, 1.0, 1.0, 0.0],
                     [1.0, 0.0, 0.0, 1.0],
                     [0.0, 1.0, 0.0, 1.0]])  # fmt: skip
values = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # (L_k, d_v=2)
agree = torch.tensor([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]])  # (L_q=2, d_k)
queries = math.log(3) * agree  # (L_q, d_k)
raw = (queries @ keys.T)[0].exp()  # (L_k,)
print("pace: exponentials of its scores", [round(x, 2) for x in raw.tolist()])

# %%
labels = {"queries": ["pace", "pact"], "keys": names}
flow = {"scale": 1.0, "follow": (0, 0)}
plotting.show(diagrams.attention_flow(queries, keys, values, **labels, **flow))

# %% [markdown]
# *"K turned" is $K^\top$. Follow the frames. The row of "pace" meets the column of "face" in the score 2.2, which is $\ln 9$. The exponentials of that row are the 9, 3, 3, 1 from above, and their shares are the weights (a softmax, lesson 01). The weights mix the rows of V into a row of the output, 0.75 for S.* Below you can hover over a cell to see where it comes from, and change the query of *pace* until *K* wins.

# %%
widgets.see_through(queries, keys, values, **labels, scaling=False)

# %% [markdown]
# Now a real English dictionary of pronunciations. We take words with a single c whose sound is clear (*K*, *S*, *CH* or *SH*), compare the three letters on either side, keep 2,000 words as keys, and ask about others. Nothing is trained.

# %%
words, sounds = sounds_of_c("train")
held_out, truth = sounds_of_c("valid")
V = F.one_hot(sounds, len(SOUNDS)).float()  # (n, d_v=4): here V is the matrix of values
agreements = letters_around(held_out) @ letters_around(words).T  # (L_q, n), from 0 to 6
always_k = 100 * (truth == SOUNDS.index("K")).float().mean().item()
print(f"{len(words):,} known words, {len(held_out)} held-out words, V", tuple(V.shape))
print(f"always saying K is right for {always_k:.0f} % of the held-out words")
widgets.predict(
    "2.B",
    "2,000 known words, and each agreement triples a weight. Percent right?",
    between=(0, 100),
)

# %%
def read(factor, seed, use="all words"):
    rng = torch.Generator().manual_seed(seed)
    kept = torch.randperm(len(words), generator=rng)[:2000]  # (L_k,)
    agree_in = agreements[:, kept]  # (L_q, L_k)
    weights = torch.softmax(math.log(factor) * agree_in, dim=-1)  # (L_q, L_k)
    poor = agree_in < 3  # (L_q, L_k): fewer than three agreements
    at_random = poor[:, torch.randperm(2000, generator=rng)]  # as many in each row
    used = {"no poor": ~poor, "random gone": ~at_random, "only poor": poor}
    weights = torch.where(used.get(use, torch.tensor(True)), weights, 0.0)
    said = (weights @ V[kept]).argmax(dim=-1)  # (L_q,)
    poor_part = (weights * poor).sum(dim=-1) / weights.sum(dim=-1)  # (L_q,)
    found = said == truth, said == SOUNDS.index("K"), poor_part
    return torch.stack([100 * one.float().nanmean() for one in found])


# %% tags=["nbval-ignore-output"]
print("factor  words         percent right, five choices    says K   poor words weigh")
runs = {}
cases = [(3, "all words"), (20, "all words")]
cases += [(3, use) for use in ("no poor", "random gone", "only poor")]
for factor, use in cases:
    runs[factor, use] = torch.stack([read(factor, seed, use) for seed in range(5)])
    each = "  ".join(f"{x:.1f}" for x in runs[factor, use][:, 0].tolist())
    _, says_k, poor_part = runs[factor, use].mean(dim=0).tolist()
    print(f"{factor:6}  {use:12} {each:30} {says_k:5.0f} % {poor_part:10.0f} %")
widgets.came_out("2.B", runs[3, "all words"][:, 0].mean().item())

# %% [markdown]
# With the factor 3 the lookup is only a little better than always saying *K*, and it says *K* for 95% of the words. Call a known word *poor* if it has fewer than three agreements. Each poor word weighs little, but together they have 42% of the weight, and on their own they say *K* whatever you ask. Take them away, and the factor 3 does much better; take away as many at random, so that the poor ones keep their share, and little changes. The factor 20 leaves the poor words 4%. Can a lookup also be too sharp? Section 2.6 draws the whole curve.

# %% [markdown]
# ## 2.3 Nadaraya-Watson kernel regression
#
# *Core · 7 minutes*
#
# Now a case in which you can *see* the sharpness. From 40 noisy readings, the lookup has to say where a curve runs. We judge it by the mean squared error against the true curve, which it never sees.

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
# In 1964 Nadaraya and Watson independently wrote down a lookup in which near keys count more:
#
# $$f(q) = \sum_{j=1}^{L_k} w_j \, v_j , \qquad w_j = \frac{G(q - k_j)}{\sum_{m=1}^{L_k} G(q - k_m)} , \qquad G(u) = e^{-u^2 / (2 h^2)} .$$
#
# The query $q$, the keys $k_j$ and the values $v_j$ are numbers ($L_k$ keys and values), and the *kernel* $G$ is a bump around 0. Its width $h$, in units of $x$, is the **bandwidth**. Since $G$ is an exponential, the weights are again a softmax, of the scores $s_j = -(q - k_j)^2 / (2 h^2)$. For the oven at minute 3 with $h = 2$ the scores are $-\tfrac48, -\tfrac18, -\tfrac18$.

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
# Minute 60 has a nearest key too, so there is an answer, but every exponential is so small that the computer stores 0. **Do exercise 2.1 now (8 minutes, {{exercises_link}})** and write a softmax that can't fail like this. The course's version of the loop has one:

# %%
prediction, weights = attention.nadaraya_watson(x_query, x_key, y_key, 0.5)
loop = kernel_regression_loop(x_query, x_key, y_key, 0.5)
assert torch.allclose(prediction, loop, atol=1e-5)
far, _ = attention.nadaraya_watson(torch.tensor([60.0]), minutes, degrees, 1.0)
print("prediction", tuple(prediction.shape), "  weights", tuple(weights.shape))
print(f"minute 60: {far.item():.1f} degrees, those of its nearest key")

# %% [markdown]
# Take the bandwidths 0.03, 0.3 and 3. Which curve will be too wild, and which too flat?

# %%
fits, maps = {}, {}
for h in (0.03, 0.3, 3.0):
    fit, weights = attention.nadaraya_watson(x_query, x_key, y_key, h)  # (L_q,)
    fits[f"h = {h}"], maps[f"h = {h}"] = fit, weights  # (L_q,), (L_q, L_k)
print({name: round(error(fit), 3) for name, fit in fits.items()})
ax = plotting.curves(
    x_query,
    {"true curve": true_curve(x_query)} | fits,
    points=(x_key, y_key),
    xlabel="x",
    ylabel="y",
    ax=plotting.new_axes(7.4, 3.8),
)

# %%
plotting.show(
    ax,
    "Forty noisy points and the true curve. Bandwidth 0.03 jumps from point to point. "
    "0.3 follows the true curve but starts and ends above it. 3 is nearly flat.",
)

# %% [markdown]
# *The narrow kernel follows the nearest one or two readings, noise included, and the wide one averages the curve away.* Here are the weights behind these curves:

# %%
plotting.show(
    plotting.weight_maps(x_query, x_key, maps)[0],
    "Three maps of weights, queries down and keys across, on one color scale. At "
    "bandwidth 0.03 a thin dark staircase along the diagonal, mostly one key a row. At "
    "0.3 a broad paler band. At 3 the whole square is pale, two corners paler still.",
)

# %% [markdown]
# *Each row sums to 1, so a band that gets wider gets paler (the color scale is stretched to show small weights).* On the left a query hears one or a few keys, in the middle its neighborhood, where the noise partly cancels, and on the right all of them, near or far.

# %% [markdown]
# ## 2.4 Choosing the bandwidth without fooling yourself
#
# *More · 7 minutes*
#
# In practice there is no true curve to compare with, so the readings themselves have to choose. The first idea is to predict every reading from all readings, and to take the bandwidth with the smallest error.

# %%
widgets.predict(
    "2.C",
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
against_truth = [
    error(attention.nadaraya_watson(x_query, x_key, y_key, h)[0]) for h in tried
]

# %%
lines = {"itself included": included, "left out": left_out, "true curve": against_truth}
ax = plotting.curves(
    torch.tensor(tried),
    {name: torch.tensor(line) for name, line in lines.items()},
    xlabel="bandwidth (log scale)",
    ylabel="mean squared error",
    ax=plotting.new_axes(6.4, 3.4),
)
ax.set_xscale("log")
ax.set_xticks([0.03, 0.1, 0.3, 1.0, 3.0], ["0.03", "0.1", "0.3", "1", "3"])
for line, color in zip(lines.values(), plotting.COLORS, strict=False):
    ax.plot(tried[line.index(min(line))], min(line), "o", color=color)  # the lowest
edges = {0: "the smallest one tried", len(tried) - 1: "the largest one tried"}
widgets.came_out("2.C", edges.get(included.index(min(included)), "one in between"))

# %%
plotting.show(
    ax,
    "Three errors by bandwidth, their lowest points marked. With the point itself "
    "included the error falls all the way as the bandwidth shrinks. Left out, and "
    "against the true curve, it is lowest in between, near 0.2.",
)

# %% [markdown]
# *One line keeps falling toward the left.* A point that may look at itself does best by looking at nothing else. The second idea closes that loophole and predicts each reading from all *others*. This is **leave-one-out**. Does it choose better? Here are five sets of readings, and the error against the true curve that each choice leads to:

# %%
print("set   itself included   left out chooses   left out   best possible")
for seed in range(5):
    x, y = readings(seed)
    fits_of = {h: attention.nadaraya_watson(x_query, x, y, h)[0] for h in tried}
    by_truth = {h: error(fit) for h, fit in fits_of.items()}
    fooled = min(tried, key=lambda h: reading_error(x, y, h, leave_out=False))
    honest = min(tried, key=lambda h: reading_error(x, y, h, leave_out=True))
    print(f"{seed:3} {by_truth[fooled]:14.3f} {honest:17.2f}", end="")
    print(f"{by_truth[honest]:14.3f} {min(by_truth.values()):13.3f}")

# %% [markdown]
# Leave-one-out never saw the truth. It doesn't always find the best bandwidth, but in every set it leads to a smaller error than the first idea. **Exercise 2.2 (15 minutes)** is a kernel of another shape, with an edge. **Exercise 2.3 (20 minutes)** leaves out all points at once, by hiding the diagonal of a square map of weights. Hiding parts of a map is all of lesson 05. **Exercise 2.8 (25 minutes)** is an experiment. What helps more, extra readings or a better bandwidth?

# %% [markdown]
# ## 2.5 Only differences count
#
# *Core · 3 minutes*
#
# $$\operatorname{softmax}(s)_j = \frac{e^{s_j}}{\sum_{m=1}^{n} e^{s_m}} , \qquad s \text{ of shape } (n) .$$
#
# Take $s = (0, \ln 2, \ln 4)$. The exponentials are 1, 2 and 4, so the weights are $\tfrac17, \tfrac27, \tfrac47$. In code:

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
# Infinity over infinity and 0 over 0 are both NaN. Why was your repair in exercise 2.1 allowed? Add the same number $c$ to all scores:
#
# $$\frac{e^{s_j + c}}{\sum_m e^{s_m + c}} = \frac{e^c \, e^{s_j}}{e^c \sum_m e^{s_m}} = \frac{e^{s_j}}{\sum_m e^{s_m}} .$$
#
# A softmax doesn't notice a **shift**. With $c = -\max_m s_m$ the largest exponent is 0, and the sum is at least 1, so there's no overflow and no division by 0. And **whatever is added to all scores of a query alike is lost.**

# %%
pytorch = torch.softmax(large, dim=-1)  # (n=3,)
assert torch.allclose(pytorch, softmax_naive(torch.tensor([2.0, 1.0, 0.0])))  # 998 less
for shift in (-1000.0, 500.0):
    assert torch.allclose(torch.softmax(large + shift, dim=-1), pytorch)
print("shifted by -998, -1000 and 500: the same weights")

# %% [markdown]
# **Do exercise 2.6 now (12 minutes).** A lookup passes its author's test and then fails for a key farther out.

# %% [markdown]
# ## 2.6 Temperature: how many keys count
#
# *Core · 9 minutes*
#
# Dividing the scores by a number $T > 0$, the **temperature**, keeps their order and changes their differences: $w = \operatorname{softmax}(s / T)$.

# %%
widgets.predict(
    "2.D",
    "The scores are 2, 1, 0 and -1, the temperature is 1. What is each key's share?",
    shares=["score 2", "score 1", "score 0", "score -1"],
)

# %%
s = torch.tensor([2.0, 1.0, 0.0, -1.0])  # (n=4,)
temperatures = [0.1, 0.3, 1.0, 3.0, 10.0, 100.0]
rows = torch.stack([torch.softmax(s / T, dim=-1) for T in temperatures])  # (6, 4)
at, of = ([f"{x:g}" for x in numbers] for numbers in (temperatures, s.tolist()))
ax = plotting.attention_heatmap(rows, at, of)
ax.set(xlabel="score of the key", ylabel="temperature")
plotting.show(
    ax,
    "Weights of four keys for six temperatures. At 0.1 the best key has nearly all "
    "the weight; at 100 each of the four has about a quarter.",
)
widgets.came_out("2.D", rows[temperatures.index(1.0)])

# %% [markdown]
# *At the bottom all differences $(s_j - s_m)/T$ are near 0, and the weights nearly equal. At the top the best key takes nearly all. In the limit, $T \to 0$, you get a **hard lookup**, in which keys that tie for the best share everything.* The **entropy** says in one number how spread out the weights are:
#
# $$H(w) = -\sum_{j=1}^{n} w_j \ln w_j , \qquad \text{with } 0 \ln 0 = 0 .$$
#
# It is 0 if one key has everything and $\ln n$ if all $n$ share equally, so you can read $e^{H}$ as **how many keys count**, from 1 to $n$ (its usual name is *perplexity*). For the weights $\tfrac12, \tfrac12, 0$ we get $H = \tfrac12 \ln 2 + \tfrac12 \ln 2 = \ln 2$, and two keys count.

# %%
def keys_that_count(weights):
    # entr(w) is -w ln w, and 0 where w is 0.
    return torch.special.entr(weights).sum(dim=-1).exp()  # (..., n) -> (...)


half = torch.tensor([0.5, 0.5, 0.0])
print(f"weights 1/2, 1/2, 0: {keys_that_count(half):.2f} keys count")
for T, count in zip(temperatures, keys_that_count(rows).tolist(), strict=True):
    print(f"T = {T:5.1f}   {count:.2f} of 4 keys count")

# %% [markdown]
# Now look back. The score of Nadaraya-Watson is $s/T$ with $s = -\tfrac12 (q - k_j)^2$ and $T = h^2$, so **the bandwidth squared is a temperature.** And a factor of 20 for each agreement is a temperature of $1 / \ln 20$. Back to the c, then, at many temperatures and with two hard lookups. One trusts a single best word, and in the other the best words share.

# %%
widgets.predict(
    "2.E",
    "The best words share, all others are ignored. How does that hard lookup do?",
    choices=["over 2 points worse than the best T", "within 2 points", "over 2 better"],
)

# %%
ONE, TIES = "one best", "ties share"


def weigh(scores, T):
    if T == ONE:
        return F.one_hot(scores.argmax(dim=-1), scores.shape[-1]).float()
    if T == TIES:
        best = (scores == scores.amax(dim=-1, keepdim=True)).float()  # (L_q, L_k)
        return best / best.sum(dim=-1, keepdim=True)  # (L_q, L_k)
    return torch.softmax(scores / T, dim=-1)  # (L_q, L_k)

# %%
test_words, test_truth = sounds_of_c("test")
on_test = letters_around(test_words) @ letters_around(words).T  # (L_q, n)
tables = {"valid": (agreements, truth), "test": (on_test, test_truth)}


def known_sounds(kept, replaced, rng):
    wrong = torch.rand(len(kept), generator=rng) < replaced  # (L_k,)
    drawn = torch.randint(len(SOUNDS), (len(kept),), generator=rng)  # (L_k,)
    return F.one_hot(torch.where(wrong, drawn, sounds[kept]), len(SOUNDS)).float()

# %%
def judge(T, choice, amounts, part="valid"):
    agree_in, true_sounds = tables[part]  # (L_q, n), (L_q,)
    rng = torch.Generator().manual_seed(choice)
    kept = torch.randperm(len(words), generator=rng)[:2000]  # (L_k,)
    weights = weigh(agree_in[:, kept], T)  # (L_q, L_k)
    spoken = torch.stack([known_sounds(kept, amount, rng) for amount in amounts])
    shares = weights @ spoken  # (amount, L_k, d_v) -> (amount, L_q, d_v)
    right = 100 * (shares.argmax(dim=-1) == true_sounds).float().mean(dim=-1)
    off = ((shares - F.one_hot(true_sounds, len(SOUNDS))) ** 2).sum(dim=-1).mean(dim=-1)
    return right, off, keys_that_count(weights).median()

# %%
sharpness = [ONE, TIES, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0]
amounts = (0.0, 0.2, 0.4, 0.6)  # how many of the known sounds get replaced
found = [judge(T, choice, amounts) for choice in range(5) for T in sharpness]
shape = (5, len(sharpness), -1)
right = torch.stack([one[0] for one in found]).view(shape)  # choice, T, amount
off = torch.stack([one[1] for one in found]).view(shape)  # the same
count = torch.stack([one[2] for one in found]).view(shape[:2]).mean(dim=0)
overall = V.mean(dim=0)  # (d_v,): how often each sound comes, whatever the letters
misses = (overall - F.one_hot(truth, len(SOUNDS))).square().sum(dim=-1)  # (L_q,)
blind = {"percent right": always_k, "error of shares": misses.mean().item()}

# %%
best = sharpness[right[..., 0].mean(dim=0).argmax()]
print(f"best T on the held-out words: {best}; and now {len(test_truth)} other words")
scored = {}
for T in (ONE, TIES, best):
    runs_of = [judge(T, choice, (0.0,), "test") for choice in range(5)]
    scored[T] = torch.tensor([percent for percent, _, _ in runs_of])  # (choice,)
    counting = [keys_counting.item() for _, _, keys_counting in runs_of]
    each = "  ".join(f"{x:.1f}" for x in scored[T].tolist())
    print(f"{T!s:10} right {each} %   keys that count {sum(counting) / 5:.0f} (median)")
ahead = (scored[TIES] - scored[best]).mean().item()
print(f"ties share: {ahead:+.1f} points against the best T, in the mean")
answer = "over 2 better" if ahead > 0 else "over 2 points worse than the best T"
widgets.came_out("2.E", "within 2 points" if abs(ahead) <= 2 else answer)

# %% [markdown]
# When the ties share, the hard lookup is as good as the best temperature. A single best word is worse in each of the five choices, so averaging does help, but a few words are enough. Perhaps this dictionary has little noise to average away. To test that, we replace some of the known sounds by random ones.

# %%
axes = plotting.new_axes(9.6, 3.7, columns=2)
for ax, name in zip(axes, ("percent right", "error of shares"), strict=True):
    part = right if name == "percent right" else off  # (choice, sharpness, amount)
    lines = {"the dictionary": part[..., 0], "40 % replaced": part[..., 2]}
    settings = [str(T) for T in sharpness]
    plotting.bands(settings, lines, xlabel="temperature", ylabel=name, ax=ax)
    ax.axhline(blind[name], color="0.5", ls=":")
    label = "always K" if name == "percent right" else "the same shares for all"
    ax.annotate(label, (3.6, blind[name]), (0, 3), textcoords="offset points")
plotting.show(
    axes[0],
    "By temperature, two hard lookups first, bands over five choices. Percent right, "
    "the dictionary: one best word lower, then level, from 0.5 down to always K. 40 "
    "percent replaced: both ends worse than the middle. Error: lowest inside for both.",
)

# %%
print("                  best T                           % right")
print("replaced   mean, five choices    keys count   ties share  best T  T = 1")
for a, amount in enumerate(amounts):
    means = right[..., a].mean(dim=0)  # (sharpness,)
    b = means.argmax().item()
    each = " ".join(str(sharpness[j]) for j in right[..., a].argmax(dim=-1).tolist())
    print(f"{100 * amount:6.0f} %   {sharpness[b]}, {each} {count[b]:9.0f}", end="")
    print(f"{means[1]:14.1f} {means[b]:9.1f} {means[sharpness.index(1.0)]:6.1f}")

# %%
middle = right[:, sharpness.index(0.5), 2].min()
outer = right[:, [0, 1, 9, 10], 2].max()  # both hard lookups, T = 1 and T = 2
print(f"40 % replaced: lowest at T = 0.5 {middle:.1f}, highest at the ends {outer:.1f}")
print("the dictionary, error of shares:", end=" ")
for T in (TIES, 0.3):
    rounded = [round(x, 3) for x in off[:, sharpness.index(T), 0].tolist()]
    print(f"{T}", rounded, end="  " if T == TIES else "\n")

# %% [markdown]
# *With 40% replaced both ends lose, by more than the five choices differ.* Too soft, and the poor words say K. Too hard, and a few wrong entries decide. The more sounds are replaced, the higher the best temperature, and the more keys count. (Only the step from 40% to 60% isn't clear, since the five choices disagree there.)
#
# The squared error of the shares, on the right, also judges how sure the lookup was. By that measure the hard end loses on the clean dictionary too, in each of the five choices.
#
# Could you say "let ten keys count" and have the temperature follow? **Exercise 2.4 (20 minutes)** does that, and so does t-SNE.

# %% [markdown]
# ## 2.7 When a softmax stops learning
#
# *Core · 4 minutes*
#
# How do the weights move when the scores move? With two keys, $w_2 = 1 / (1 + e^{s_1 - s_2})$, and $\partial w_2 / \partial s_2 = w_2 (1 - w_2) = w_1 w_2$. That's a quarter if both weights are $\tfrac12$, and nearly nothing if either is nearly 1 (section 2.9 has any number of keys). A softmax with a single key left is **saturated**, and its weights hardly move.
#
# What if that's the wrong key? Two keys have the values 0 and 1, and the output $o$ should be 1. The scores start with a lead for the *wrong* key. We run gradient descent until the output is 0.9, with the squared error $(o - 1)^2$, with $-\ln o$, and with the squared error again while the values move too, at a tenth of the rate.

# %%
def mend(lead, loss, rate_of_values=0.0, most=400):
    scores = torch.tensor([lead, 0.0], requires_grad=True)  # (L_k=2,)
    values = torch.tensor([0.0, 1.0], requires_grad=True)  # (L_k=2,)
    outputs = []
    while len(outputs) < most:
        w = torch.softmax(scores, dim=-1)  # (L_k,)
        outputs.append((w @ values).item())
        if outputs[-1] >= 0.9:
            break
        slopes = torch.autograd.grad(loss(w @ values), (scores, values))
        with torch.no_grad():
            scores -= slopes[0]  # a learning rate of 1
            values -= rate_of_values * slopes[1]
    return outputs, w[0].item(), values[0].item()

# %%
def squared(o):
    return (o - 1) ** 2


def negative_log(o):
    return -o.log()


# %%
print("lead   weight on the wrong key   steps: squared   -log   values may move")
last = []
for lead in (1.0, 3.0, 5.0, 7.0):
    start = torch.softmax(torch.tensor([lead, 0.0]), dim=-1)[0]
    tries = [mend(lead, squared), mend(lead, negative_log), mend(lead, squared, 0.1)]
    steps = [len(outputs) - 1 for outputs, _, _ in tries]
    print(f"{lead:4.0f} {start:24.4f} {steps[0]:16} {steps[1]:6} {steps[2]:17}")
    last.append(f"{tries[2][1]:.3f} (value {tries[2][2]:.2f})")
print("values may move, wrong key's weight at the end:", ", ".join(last))
past, wrong_weight, _ = mend(5.0, negative_log, 0.1)
print(f"-log too, lead 5: output {past[-1]:.1f}, wrong key's weight {wrong_weight:.3f}")

# %% [markdown]
# With the squared error, the more wrong the lookup starts, the *less* it learns per step. With $-\ln o$ it hardly matters. By the chain rule, the output moves with its own score at the speed $o(1 - o)$, tiny at the start. The squared error multiplies that by $2(o - 1)$, and it stays tiny. The logarithm multiplies it by $-1/o$ and leaves $-(1 - o)$, which is largest when the output is most wrong. Here is the lead of 5:

# %%
paths = {
    "squared": mend(5.0, squared),
    "-log": mend(5.0, negative_log),
    "values may move": mend(5.0, squared, 0.1),
}
ax = plotting.new_axes(6.4, 3.2)
for (name, (outputs, _, _)), color in zip(paths.items(), plotting.COLORS, strict=False):
    ax.plot(outputs, "o-", ms=3, color=color, label=name)
ax.set(xlabel="steps taken", ylabel="output, should be 1", ylim=(0, 1))
ax.legend(frameon=False, loc="center")
plotting.show(
    ax,
    "Output by step for a lead of 5. With -log and with moving values it is up within "
    "12 steps. With the squared error it stays near 0 for most of 60, then climbs.",
)

# %% [markdown]
# The third curve, with moving values, is the subtle one. The gradient that doesn't reach the scores still reaches the values. From a lead of 3 on, the wrong key keeps nearly all its weight, and its *value* turns into the answer. The error is nearly gone, and the lookup still looks in the wrong place. Nor is $-\ln o$ a cure for that. It's made for probabilities, and once values may move, the output shoots far past 1 (the last line of the table).
#
# In a Transformer no logarithm follows each lookup directly, and lesson 04 keeps its scores small by a division by $\sqrt{d_k}$.

# %% [markdown]
# ## 2.8 Two scores, and what they cost
#
# *Core · 4 minutes*
#
# Every lookup so far has had one form. Only the **score** $a(q, k)$ differs:
#
# $$f(q) = \sum_{j=1}^{L_k} w_j \, v_j , \qquad w = \operatorname{softmax}\big(a(q, k_1), \dots, a(q, k_{L_k})\big) .$$
#
# $q$ has shape $(d_q)$, each key $k_j$ $(d_k)$, each value $v_j$ and the output $f(q)$ $(d_v)$. The rest of this course uses two scores.
#
# **The dot product** $a(q, k) = q \cdot k$ needs a query and a key of the same size. One matrix product, $S = Q K^\top$ of shape $(L_q, L_k)$, holds all the scores.
#
# **The additive score** moves both into one space of size $d_{hidden}$, adds them there, and reads off a number:
#
# $$a(q, k) = w_v^\top \tanh(W_q\, q + W_k\, k) , \qquad W_q: (d_{hidden}, d_q), \quad W_k: (d_{hidden}, d_k), \quad w_v: (d_{hidden}) .$$
#
# Its three arrays are learned. With the numbers below, $W_q q = (0, -1)$. For the first key $W_k k = (1, 0)$, and the score is $2 \tanh 1 - \tanh 1 = \tanh 1$. For the second key $W_k k = (0, 1)$, the sum is $(0, 0)$ and the score 0.

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
# Which is cheaper? To compare like with like, let the dot product have two learned projections too, $a(q, k) = (W_q q) \cdot (W_k k)$, as in lesson 04.

# %%
def multiplications(*sizes):  # of one or more matrix products (m, n) @ (n, p)
    with FlopCounterMode(display=False) as counter:  # it counts products and sums
        for m, n, p in sizes:
            torch.ones(m, n) @ torch.ones(n, p)
    return counter.get_total_flops() // 2


d = 64  # of queries, keys and the hidden space
for L_q, L_k in ((25, 30), (512, 512)):
    projected = [(L_q, d, d), (L_k, d, d)]  # W_q and W_k, once for each query and key
    additive = multiplications(*projected, (L_q * L_k, d, 1))  # w_v for every pair
    dot = multiplications(*projected, (L_q, d, L_k))
    print(f"{L_q:3} queries, {L_k:3} keys: additive {additive:,}   dot product {dot:,}")

# %% [markdown]
# The counts are identical, digit for digit, since both multiply 64 times for each pair. But that count leaves out the sum $W_q q + W_k k$ and its $\tanh$, which only the additive score needs. Written plainly, without a loop, it also *holds* all of these sums at once.

# %%
widgets.predict(
    "2.F",
    "512 queries, 512 keys, size 64. How many times more numbers does additive hold?",
    between=(1, 512),
    step=1,
)

# %%
sums = torch.zeros(512, 1, 64) + torch.zeros(1, 512, 64)  # every query and every key
scores = torch.zeros(512, 64) @ torch.zeros(64, 512)  # (L_q, L_k)
for name, tensor in (("additive", sums), ("dot product", scores)):
    megabytes = tensor.numel() * tensor.element_size() / 2**20
    print(f"{name:12} {str(tuple(tensor.shape)):15} {megabytes:5.0f} MiB")
print(f"additive: {sums.numel():,} times a tanh; dot product: none")
widgets.came_out("2.F", sums.numel() / scores.numel())

# %% [markdown]
# The first translator with attention used the additive score (lesson 03); Transformers use the dot product (lesson 04). Must additive attention hold that much? **Exercise 2.5 (20 minutes)** makes do with less, though every tanh stays, and **exercise 2.7 (5 minutes)** leaves the tanh out. At the end of the exercises your own functions read words aloud.

# %% [markdown]
# ## 2.9 The gradient of a lookup is a covariance
#
# *More · 8 minutes*
#
# With $n$ keys, how do the weights move when one score moves? Write $Z = \sum_m e^{s_m}$, so that $w_j = e^{s_j}/Z$. The numerator depends on $s_m$ only if $m = j$; the denominator always does, with $\partial Z / \partial s_m = e^{s_m}$. The quotient rule gives, with $\delta_{jm} = 1$ for $j = m$ and 0 otherwise,
#
# $$\frac{\partial w_j}{\partial s_m} = \frac{\delta_{jm}\, e^{s_j} Z - e^{s_j} e^{s_m}}{Z^2} = w_j (\delta_{jm} - w_m) , \qquad\text{that is}\qquad J = \operatorname{diag}(w) - w w^\top , \text{ of shape } (n, n) .$$
#
# For $w = (\tfrac17, \tfrac27, \tfrac47)$, for example, $J_{11} = \tfrac17 \cdot \tfrac67 = \tfrac{6}{49}$ and $J_{12} = -\tfrac17 \cdot \tfrac27 = -\tfrac{2}{49}$. Autograd agrees:

# %%
def jacobian(scores):
    weigh_all = functools.partial(torch.softmax, dim=-1)
    return torch.autograd.functional.jacobian(weigh_all, scores)  # (n, n)


w = torch.softmax(easy, dim=-1)  # (n=3,)
assert torch.allclose(torch.diag(w) - torch.outer(w, w), jacobian(easy), atol=1e-6)
print("49 times the Jacobian\n", (49 * jacobian(easy)).round().long())

# %% [markdown]
# A score that rises lifts its own weight (the diagonal) and lowers every other. Each row sums to 0, since raising all scores alike changes nothing (the shift again). And if one weight is nearly 1, every product $w_j(\delta_{jm} - w_m)$ is nearly 0. We multiply the scores 2, 1, 0, -1 by a growing factor and take the size of the Jacobian there (the root of the sum of its squared entries).

# %%
factors = torch.logspace(-2, 1.3, 100)  # (100,)
size = torch.stack([jacobian(f * s).norm() for f in factors])  # (100,)
weights = torch.softmax(factors[:, None] * s, dim=-1)  # (100, n)
sizes, counts = plotting.new_axes(9.0, 3.0, columns=2)
sizes.plot(factors, size)
counts.plot(factors, keys_that_count(weights))
sizes.set(ylabel="size of the Jacobian", ylim=(0, 0.5))
counts.set(ylabel="keys that count", ylim=(0, 4.2))
for ax in (sizes, counts):
    ax.set(xscale="log", xlabel="factor on the scores (log scale)")

# %%
plotting.show(
    sizes,
    "By the factor on four scores. Left: the size of the Jacobian is level, then falls "
    "to zero. Right: the keys that count fall from 4 to 1 over the same factors.",
)

# %% [markdown]
# *The left curve reaches 0 where the right one reaches 1.* That is saturation, for any number of keys.
#
# And in which direction should a *query* move to change its answer? Take the dot-product score, $s_m = q \cdot k_m$, so that $\partial s_m / \partial q = k_m$. With the Jacobian, and with $\bar k = \sum_m w_m k_m$ for the mean key under the weights,
#
# $$\frac{\partial w_j}{\partial q} = \sum_m w_j (\delta_{jm} - w_m)\, k_m = w_j\, (k_j - \bar k) , \qquad\quad \frac{\partial f}{\partial q} = \sum_j v_j\, w_j\, (k_j - \bar k)^\top = \sum_j w_j\, (v_j - f)(k_j - \bar k)^\top .$$
#
# (The last step subtracts $f \sum_j w_j (k_j - \bar k)^\top$, which is 0.) That is the **covariance of values and keys under the weights**, of shape $(d_v, d_k)$. Two keys 0 and 1 with the values 0 and 1 and equal weights have the covariance $\tfrac14$. And for *pace* and its four words:

# %%
def look_up(query, keys, values):
    return torch.softmax(keys @ query, dim=-1) @ values  # (d_v,)


def covariance(query, keys, values):
    w = torch.softmax(keys @ query, dim=-1)  # (L_k,)
    apart = keys - w @ keys  # (L_k, d_k)
    return ((values - w @ values) * w[:, None]).T @ apart  # (d_v, d_k)


# %%
slope = torch.autograd.functional.jacobian
pair = torch.tensor([[0.0], [1.0]])  # (L_k=2, 1)
quarter = slope(lambda q: look_up(q, pair, pair), torch.zeros(1)).item()
print(f"two keys: by hand 1/4, autograd {quarter:.4f}")
by_autograd = slope(lambda q: look_up(q, keys, values), queries[0])  # (d_v, d_k)
assert torch.allclose(by_autograd, covariance(queries[0], keys, values), atol=1e-6)
sixteenths = (16 * by_autograd).round().long()  # (d_v, d_k)
print("16 times d output / d query, rows S and K, columns a_, i_, _e, _t\n", sixteenths)

# %% [markdown]
# *Only the letter after the c moves the answer; the columns of the letter before are 0,* since under these weights it doesn't vary together with the sound. The formula also says when a query learns nothing: where one key has all the weight (no spread), where all values agree, or where keys and values vary independently of each other. The case of keys that are their own values is an exercise in *Dive into Deep Learning* (see the references).

# %% [markdown]
# ## What goes wrong
#
# *More · 3 minutes*
#
# **The bandwidth on the wrong side of the fraction.** In Python one missing pair of parentheses is enough: `x / 2 * h**2` divides by 2 and then *multiplies*. The result still looks like weights.

# %%
squared_distance = (x_query[:, None] - x_key) ** 2  # (L_q, L_k)
for h in (0.3, 1.0, 3.0):
    meant = torch.softmax(-squared_distance / (2 * h**2), dim=-1)
    wrong = torch.softmax(-squared_distance / 2 * h**2, dim=-1)
    counts = [keys_that_count(weights).mean() for weights in (meant, wrong)]
    print(f"bandwidth {h}   keys that count: ", end="")
    print(f"right {counts[0]:5.2f}   wrong {counts[1]:5.2f}")

# %% [markdown]
# At bandwidth 1 right and wrong agree, so a test with $h = 1$ can't see this bug. Test with another number, and ask: does a larger bandwidth let *more* keys count?
#
# **The logarithm of a softmax.** A small weight rounds to 0, and its logarithm is minus infinity, although the true one is an ordinary number. A loss of infinity gives it away. `log_softmax` subtracts instead of dividing.

# %%
x = torch.tensor([0.0, 200.0])  # (n=2,)
print("softmax, then log:", torch.softmax(x, dim=-1).log().tolist())
print("log_softmax:      ", torch.log_softmax(x, dim=-1).tolist())

# %% [markdown]
# ## In practice
#
# *More · 1 minute*
#
# - `torch.softmax` subtracts the maximum for you, and so do other libraries. In half precision you'd miss it soon, since `exp` overflows above the small number that the cell below prints.
# - `F.scaled_dot_product_attention` takes all steps in one call and doesn't hand back the weights. To look at weights, write the three lines yourself: scores, softmax, weighted sum.
# - Elsewhere, scores are called *energies* or *logits*, and in translation the weights are called *alignments*. When a language model writes text, "temperature" is this temperature (lesson 12).

# %%
print(f"exp overflows in float16 above {math.log(torch.finfo(torch.float16).max):.1f}")

# %% [markdown]
# ## Recap
#
# *Core · 1 minute*
#
# 1. **Lookup.** Score the query against every key, turn the scores into weights that sum to 1, and return the weighted sum of the values.
# 2. **Kernel regression.** The score is minus the squared distance over $2h^2$. The map of weights is a band, narrow and dark for a small $h$, broad and pale for a large one.
# 3. **Softmax.** Subtract each row's maximum first, since a shift changes nothing. The temperature decides how many keys count, and $h^2$ is one. On the clean dictionary, sharing among the best words was as often right as the best temperature. With more wrong entries, more keys had to count.
# 4. **Saturation.** With one weight near 1 the weights hardly move, right or wrong. While the values stay fixed, a $-\ln$ of the output makes up for that, and a squared error doesn't. Values that may move can learn in place of the scores.
# 5. **Scores.** The additive one takes any two sizes, a tanh for each pair and hidden unit, and, written plainly, as much memory. The dot product needs equal sizes and one matrix product. With projections of both to one size they multiply equally often.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $q$, $k_j$, $v_j$ | one query, key, value | $(d_q)$, $(d_k)$, $(d_v)$ |
# | $Q$, $K$, $V$ | all of them, one in each row (in lesson 00, $V$ was the vocabulary's size) | $(L_q, d_q)$, $(L_k, d_k)$, $(L_k, d_v)$ |
# | $a(q, k)$, $s$ | score; the scores of all keys | a number; $(L_k)$ |
# | $w = \operatorname{softmax}(s)$ | weights over the keys | as $s$ |
# | $h$, $T = h^2$ | bandwidth, temperature | numbers |
# | $H(w)$, $e^H$ | entropy; how many keys count (perplexity) | one for each query |
# | $W_q$, $W_k$, $w_v$ | weights of the additive score | $(d_{hidden}, d_q)$, $(d_{hidden}, d_k)$, $(d_{hidden})$ |

# %%
widgets.predictions()

# %% [markdown]
# ## Check yourself
#
# *Core · 2 minutes*
#
# <details><summary>1. All scores of a query are raised by 5. What happens to its weights? And if all are multiplied by 5?</summary>
#
# **Raised: nothing, a shift cancels. Multiplied: they get sharper, as with a temperature of one fifth.**
# </details>
#
# <details><summary>2. Queries have shape (8, 10, 32), keys (8, 20, 48), values (8, 20, 64), and d_hidden is 16. What are the shapes of W_q, W_k, the hidden tensor and the output of additive attention?</summary>
#
# **(16, 32), (16, 48), (8, 10, 20, 16), (8, 10, 64).**
# </details>
#
# <details><summary>3. The entropy of a row of weights over 7 keys is 3. What do you conclude?</summary>
#
# **There's a bug.** Then $e^3$ keys would count, about 20 of 7.
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# *More · 5 minutes*
#
# **At the ends of the data** the curve of $h = 0.3$ in section 2.3 lies too high. All keys lie on one side there, where the curve is higher, so the average comes out too high. At x = 3.1 the curve is nearly as steep as at 0, but there are keys on both sides, and those should cancel. Five sets of readings:

# %%
for place in (0.0, 5.0, 3.1):
    at = torch.tensor([place])
    away = []
    for seed in range(5):
        found, _ = attention.nadaraya_watson(at, *readings(seed), 0.3)
        away.append((found - true_curve(at)).item())
    print(f"x = {place}: prediction minus truth  ", [round(x, 2) for x in away])

# %% [markdown]
# At the left end all five come out too high; at the right end, where the curve is less steep, four of five. At x = 3.1 they fall on both sides. Fewer keys count at an end, too. Move the query with one bandwidth held:

# %%
for place in (2.5, 0.0):
    _, row = attention.nadaraya_watson(torch.tensor([place]), x_key, y_key, 0.32)
    print(f"bandwidth 0.32, query {place}: {keys_that_count(row)[0]:.1f} keys count")
explorer = widgets.kernel_regression(x_key, y_key)
explorer.show_first_state(
    "Left: forty points and the fit of bandwidth 0.32. Right: the weights of one query "
    "in the middle, a bump over the keys near it; the title says how many keys count."
)

# %%
explorer

# %% [markdown]
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
# **Keys are projected once.** Bahdanau, Cho and Bengio brought the additive score to translation in 2014. A translator needs a score for every word of the output with every word of the input, so in their appendix they keep the network to one hidden layer. And since $W_k k_j$ doesn't depend on the query, it's computed once per sentence, however many words the translation has.
#
# **One learned matrix** $W$ of shape $(d_q, d_k)$ between query and key, $a(q, k) = q^\top W k$, makes a dot product fit two sizes. Luong et al. call it *general*. A Transformer projects both sides.
#
# **A window that moves.** In 2013, a year before the additive score, Graves's network produced handwriting while looking at its text through a window: at each step a sum of Gaussian bumps over the *positions* in the text, and the network itself moved the bumps and set their widths. It's the kernel of this lesson with learned queries and bandwidths, except that each bump has a learned height and the weights aren't divided by their sum.
#
# **Two kinds of cue.** *Dive into Deep Learning* opens its chapter on attention with what psychologists distinguish: what catches the eye by itself (an *involuntary* cue), and what we look for because we want it (a *voluntary* one). The first depends on the thing alone, so it belongs to the key; the second needs a query. It's a picture to remember the words by, not a claim about brains.

# %% [markdown]
# ## References
#
# - Zhang, Lipton, Li, Smola, *Dive into Deep Learning*, 2023, chapter "Attention Mechanisms and Transformers", sections "Queries, Keys, and Values", "Attention Pooling by Similarity" and "Attention Scoring Functions": the frame of this lesson (a lookup, Nadaraya-Watson and its maps of weights, two scores), and the covariance of section 2.9 as an exercise. Its earlier editions have the two kinds of cue.
# - Nadaraya, *On Estimating Regression*, 1964, and Watson, *Smooth Regression Analysis*, 1964: the kernel-weighted average of section 2.3, fifty years before it was called attention.
# - Graves, *Generating Sequences With Recurrent Neural Networks*, 2013, section 5: the moving window, for a lookup that a network steers.
# - Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and Translate*, 2015, section 3.1 and appendix A.1.2: the additive score, and why it has one hidden layer.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3.1: the scores dot, general and concat side by side.
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.1: additive and dot-product attention compared, similar in theoretical complexity; for large $d_k$ the second needs the scaling of lesson 04.
# - Van der Maaten, Hinton, *Visualizing Data using t-SNE*, 2008, section 2: a width for each point such that a given number of neighbors count, its perplexity.
# - James, *The Principles of Psychology*, 1890, chapter XI: passive attention and active, voluntary attention, long before computers.

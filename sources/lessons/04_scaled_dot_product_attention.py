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
# By the end you can write the attention of the Transformer, say why its scores are scaled, and run it over a sequence too long to hold all its weights.
#
# {{colab_link}} · about 100 minutes · builds on lessons 01 to 03

# %% tags=["setup"]
import copy
import math
import random
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import attention, diagrams, plotting, pretrained, widgets
from course_utils.datasets.pronunciations import pronunciations, split
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, error_rates
from course_utils.tokenizers import END_ID, PAD_ID, START_ID

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # the tensors are small: sharing them out takes longer

# %% [markdown]
# **You will learn to**
#
# 1. write scaled dot-product attention, as a loop and for whole batches;
# 2. use it between two sequences and within one, and say why it needs separate projections;
# 3. derive how large a dot product gets, and show what that does to the gradient;
# 4. say what attention costs, and compute it without ever holding all its weights;
# 5. show what attention cannot see.
#
# Lesson 02 gave you a soft lookup, and lesson 03 put it into a network that pronounces words. Its scores were additive: a small network for every pair of query and key. Today the score becomes one dot product. That's the form you'll find in nearly every model built since 2017.

# %% [markdown]
# ## Predict first
#
# Read *the red apple fell*. Suppose each word may borrow something from all four words, itself included, to say more precisely what it means here. How much should *apple* take from each? Move the sliders, keep your prediction, and read on.

# %%
words = "the red apple fell".split()
widgets.predict("4.1", "How much does apple take from each word?", shares=words)

# %% [markdown]
# ## 4.1 Attention at work
#
# Every token gets three vectors: a **query** (what it asks for), a **key** (what it offers) and a **value** (what it hands over). Here we choose them by hand, so that you can follow each number. The four entries of a query and a key stand for *color, thing, action, article*. *apple* asks for a color and *red* offers one; *red* and *fell*
# ask for a thing, and *apple* is one. The two entries of a value say *how red?* and *how much in motion?*, from 0 to 8, where 4 means "I can't tell".

# %%
# (L=4, d_k=4): the asks for nothing, red and fell for a thing, apple for a color
asks = torch.tensor([[0.0, 0, 0, 0], [0, 2, 0, 0], [2, 0, 0, 0], [0, 2, 0, 0]])
# (L=4, d_k=4): article, color, thing, action
offers = math.log(9) * torch.eye(4)[[3, 0, 1, 2]]
hands_over = torch.tensor([[4.0, 4], [8, 4], [4, 4], [4, 8]])  # (L=4, d_v=2)
given = {"queries": words, "keys": words}
ax = diagrams.attention_flow(asks, offers, hands_over, follow=(2, 0), **given)
plotting.show(ax)

# %% [markdown]
# *Notice where each number sits.* K stands turned above the scores, so a score sits where the row of its query and the column of its key cross. The output sits below V in the same way. Follow the framed row of *apple* by hand:
#
# 1. **Scores.** Its query $(2, 0, 0, 0)$ times the key of *red*, $(\ln 9, 0, 0, 0)$, is $2 \ln 9$. All its other dot products are 0.
# 2. **Scale.** A vector has 4 entries, so we divide by $\sqrt 4 = 2$ and get $\ln 9$. Why we divide is the subject of section 4.5.
# 3. **Weights.** The softmax takes exponentials, $1, 9, 1, 1$, and divides by their sum, 12. So *red* gets $\tfrac{9}{12} = \tfrac34$, and the other three share $\tfrac14$.
# 4. **Output.** *How red?* comes out as $\tfrac34 \cdot 8 + \tfrac14 \cdot 4 = 7$. The apple said 4, "I can't tell", and now says 7: it has turned red.

# %%
output, weights = attention.scaled_dot_product_attention(asks, offers, hands_over)
print("apple, how red:", round(output[2, 0].item(), 3))
widgets.came_out("4.1", weights[2])

# %% [markdown]
# Your sliders followed English; the weights followed vectors that we chose by hand. A model has to learn vectors that make the two agree. Now play with the same numbers yourself:

# %% tags=["nbval-ignore-output"]
flow = widgets.see_through(asks, offers, hands_over, **given)
flow

# %% [markdown]
# Point at any cell to read where it comes from. Then drag the third number of *apple*'s query (*action*) upward, or choose it with the arrow keys and press +, until *apple* borrows most from *fell*. What happens to the second number of its output? Now switch the scaling off, and watch the weights.

# %% [markdown]
# ## 4.2 The same as a loop
#
# Here are those four steps as code, for one query after another:

# %%
def attention_loop(query, key, value):
    """Query (L_q, d_k), key (L_k, d_k), value (L_k, d_v), as lists of lists."""
    outputs = []
    for q in query:
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) for k in key]
        scaled = [score / math.sqrt(len(q)) for score in scores]
        exponentials = [math.exp(score) for score in scaled]
        weights = [e / sum(exponentials) for e in exponentials]
        columns = zip(*value, strict=True)
        mixed = [sum(w * v for w, v in zip(weights, c, strict=True)) for c in columns]
        outputs.append(mixed)
    return outputs  # (L_q, d_v)

# %%
by_loop = attention_loop(asks.tolist(), offers.tolist(), hands_over.tolist())
print("apple:", [round(number, 3) for number in by_loop[2]])

# %% [markdown]
# And here they are as one formula. With queries $Q$ of shape $(L_q, d_k)$, keys $K$ of shape $(L_k, d_k)$ and values $V$ of shape $(L_k, d_v)$:
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\Big(\frac{Q K^\top}{\sqrt{d_k}}\Big)\, V \qquad \text{of shape } (L_q, d_v) .$$
#
# $Q K^\top$, of shape $(L_q, L_k)$, holds every query's dot product with every key: the all-pairs table of lesson 01. The softmax runs over the keys, so each row of weights sums to 1. The product with $V$ is the weighted sum of lesson 02. Queries and keys must have the same size $d_k$, and there must be one value for each key. Everything else may differ.
#
# **Do exercise 4.1 now** (10 minutes), then read on: write the formula without a loop, for any number of leading axes. ({{exercises_link}}) From here on we use the tested one of the library. It agrees with PyTorch's:

# %%
rng = torch.Generator().manual_seed(0)
q, k, v = (torch.randn(2, *shape, generator=rng) for shape in ((5, 3), (7, 3), (7, 4)))
output, weights = attention.scaled_dot_product_attention(q, k, v)
assert torch.allclose(output, F.scaled_dot_product_attention(q, k, v), atol=1e-6)
print("output", tuple(output.shape), "  weights", tuple(weights.shape))

# %% [markdown]
# ## 4.3 Two sequences: today's score in lesson 03's speller
#
# In lesson 03, a decoder that was about to say a sound asked all the letters of the word. Queries come from one sequence, keys and values from another. That is **cross-attention**; the sequence that is asked is called the **memory**, $M$. Can a dot product do there what the additive score did?
#
# One thing is in the way. The decoder's state has 128 numbers and a letter's state has 256, and a dot product needs equal sizes. So we **project** both into a common space, each with a matrix of its own that is learned:
#
# $$Q = X W_q , \qquad K = M W_k , \qquad V = M W_v ,$$
#
# where $W_q$ has shape $(d_x, d_k)$, $W_k$ has $(d_m, d_k)$ and $W_v$ has $(d_m, d_v)$. Keys and values have to come from the same sequence, since every key needs its value. (The speller has no $W_v$: it hands over the letters' states as they are.)
#
# Now the experiment. We load the trained speller and freeze all of it. We note what its decoder asked and where it looked, on 1,000 training words, and fit the two new matrices to give the same weights by a dot product.

# %%
speller = pretrained.load("recurrent_attention").eval().requires_grad_(False)

# %%
def looks(model, words):
    """What it asked, where it looked, the letters' states, and what is no padding."""
    source = SPELLING.batch(words)  # (B, L_s)
    target = SOUNDS.batch([pronunciations()[w][0] for w in words], start=True, end=True)
    seen = []  # query and weights, one call for each sound

    def note(_module, given, out):
        seen.append((given[0], out[1]))

    keep = model.attention.register_forward_hook(note)
    model(source, target[:, :-1])
    keep.remove()
    asked, weights = (torch.cat(part, dim=1) for part in zip(*seen, strict=True))
    encoded = model.encoder(source)
    return asked, weights, encoded.states, encoded.mask, target[:, 1:] != PAD_ID

# %%
some_words = random.Random(0).sample(sorted(split("train")), 1000)
asked, looked, letters, is_letter, is_sound = looks(speller, some_words)
print("asked", tuple(asked.shape), "  letters", tuple(letters.shape))

# %%
class DotProduct(nn.Module):
    """Takes the place of the speller's additive attention."""

    def __init__(self, d_x=128, d_m=256, d_k=32):
        super().__init__()
        self.q_proj = nn.Linear(d_x, d_k, bias=False)
        self.k_proj = nn.Linear(d_m, d_k, bias=False)

    def forward(self, query, key, value, mask=None):
        query, key = self.q_proj(query), self.k_proj(key)  # (B, L_q or L_k, d_k)
        return attention.scaled_dot_product_attention(query, key, value, mask)

# %% [markdown]
# (`mask` keeps the padding out. Lesson 05 is about that.) The loss is how far the new weights are from the old ones, the Kullback-Leibler divergence $\sum_j w_j \ln (w_j / w'_j)$. We fit five times from different starting points, which takes about ten seconds in all.

# %%
def fitted(seed, steps=150):
    torch.manual_seed(seed)
    dot = DotProduct()
    optimizer = torch.optim.Adam(dot.parameters(), lr=0.01)
    for _ in tqdm(range(steps), desc=f"fit {seed}", mininterval=1, file=sys.stdout):
        some = torch.randint(len(some_words), (64,))
        _, found = dot(asked[some], letters[some], letters[some], is_letter[some])
        ratio = looked[some].clamp(min=1e-9).log() - found.clamp(min=1e-9).log()
        loss = (looked[some] * ratio).sum(-1)[is_sound[some]].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return dot.requires_grad_(False)

# %% tags=["nbval-ignore-output"]
dots = [fitted(seed) for seed in range(5)]

# %% [markdown]
# Then we put the new attention in the place of the old one and let the speller pronounce 300 validation words, which it has not been trained on. The landmark is a speller that looks at all letters equally.

# %%
def speller_with(attend):
    model = copy.deepcopy(speller)
    model.attention = attend
    return model


def phoneme_error(attend):
    return error_rates(speller_with(attend), held_out)["PER"]

# %% tags=["nbval-ignore-output"]
held_out = dict(random.Random(1).sample(sorted(split("valid").items()), 300))
everywhere = DotProduct().requires_grad_(False)
nn.init.zeros_(everywhere.q_proj.weight)  # all scores are 0: all letters count alike
print(f"additive, as trained      {phoneme_error(speller.attention):.3f}")
print("dot product, five fits   ", *(f"{phoneme_error(dot):.3f}" for dot in dots))
print(f"all letters equally       {phoneme_error(everywhere):.3f}")

# %%
def speak(model, word):
    """The sounds, greedily, and where each one looked."""
    state = model.start_decoding(SPELLING.batch([word]))
    token = torch.tensor([START_ID])
    sounds, rows = [], []
    while token.item() != END_ID and len(sounds) < 30:
        log_probs, state = model.decode_step(state, token)  # (1, V)
        token = log_probs.argmax(-1)  # (1,)
        sounds.append(SOUNDS.symbols[token.item()])
        rows.append(state.weights[0])  # (L_s,)
    return sounds, torch.stack(rows)

# %% tags=["nbval-ignore-output"]
left, right = plotting.new_axes(9.6, 3.4, columns=2)
for ax, name, model in (
    (left, "additive", speller), (right, "dot product", speller_with(dots[0]))
):
    sounds, rows = speak(model, "knights")
    plotting.attention_heatmap(rows, sounds, list("knights"), ax=ax, title=name)
alt = "Alignments of knights, sounds by letters, by both scores: the same staircase."
plotting.show(ax, alt)

# %% [markdown]
# *Notice that both go down the same staircase.* They differ in detail, most of all at AY. The speller loses a little, as the error rates above show, but then the rest of it never learned to live with its new attention. A dot product of 32 numbers does almost all that a small network did for each pair. And all dot products of a word together are one matrix product, which is what computers do fastest.
#
# **Exercise 4.2** builds cross-attention with all three matrices (10 minutes).

# %% [markdown]
# ## 4.4 One sequence, three roles
#
# In **self-attention** all three come from one sequence $X$, of shape $(L, d_{model})$: each token asks, each token is asked, each hands something over. No size is in the way now. Do we still need three projections?
#
# $$Q = X W_q , \qquad K = X W_k , \qquad V = X W_v .$$
#
# Here is one token going through all three, by hand. *apple* is $x = (1, 2)$. With
#
# $$W_q = \begin{pmatrix} 1 \\ 0 \end{pmatrix} , \qquad W_k = \begin{pmatrix} 0 \\ 1 \end{pmatrix} , \qquad W_v = \begin{pmatrix} 3 \\ 1 \end{pmatrix}$$
#
# it asks with $x W_q = 1$, is found by $x W_k = 2$, and hands over $x W_v = 1 \cdot 3 + 2 \cdot 1 = 5$. One vector plays three roles. The picture does it for four tokens at once: three colored copies of $X$.

# %%
X = torch.tensor([[0.0, 1], [2, 0], [1, 2], [1, -1]])  # (L=4, d_model=2)
W_q, W_k, W_v = torch.tensor([[[1.0], [0]], [[0.0], [1]], [[3.0], [1]]])  # (2, 1) each
ax = diagrams.three_roles(X, W_q, W_k, W_v, tokens=words, follow=2)
plotting.show(ax)

# %% [markdown]
# What if we save one of the three and let queries and keys share a matrix, $W_q = W_k$? Then the score of token $i$ for token $j$ is the same product as that of $j$ for $i$: **the scores are symmetric**. *the* must ask for *apple* exactly as much as *apple* asks for *the*.
#
# Does that matter in practice? Here is a small task. Six players sit in random order; their names are the numbers 0 to 5, and each holds one of four cards. Every player has to say which card is held by the player with the *next* name (after 5 comes 0). Player 2 must look at player 3, while player 3 must look at 4, not back at 2. We'll train five models side by side, so everything gets an axis `S` in front, one place for each.

# %%
NAMES, CARDS, SEEDS = 6, 4, 5


def deal(B, rng):
    """B games for each of five models: names, cards, and the card to be said."""
    names = torch.rand(SEEDS, B, NAMES, generator=rng).argsort(-1)  # (S, B, L)
    cards = torch.randint(CARDS, names.shape, generator=rng)  # (S, B, L)
    seat = names.argsort(-1)  # (S, B, NAMES): where each name sits
    wanted = cards.gather(-1, seat.gather(-1, (names + 1) % NAMES))  # (S, B, L)
    return names, cards, wanted


names, cards, wanted = (part[0, 0].tolist() for part in deal(1, rng))
for label, row in (("names", names), ("cards", cards), ("wanted", wanted)):
    print(f"{label:7}", *row)

# %% [markdown]
# The model is one attention layer. A token is the sum of a fixed random vector for its name and one for its card; the four matrices are learned. The five models have different starting points (seeds), so that we see the spread.

# %%
def starting_points(d_k, d):
    """For five models: vectors of the names and of the cards, W_q, W_k, W_v and W_o."""
    rng = torch.Generator().manual_seed(0)
    shapes = (NAMES, d), (CARDS, d), (d, d_k), (d, d_k), (d, d), (d, CARDS)
    return [torch.randn(SEEDS, 1, *shape, generator=rng) for shape in shapes]

# %%
class Players(nn.Module):
    def __init__(self, d_k, scale, shared=False, d=16):
        super().__init__()
        self.scale, parts = scale, starting_points(d_k, d)
        self.name, self.card = (part / 2**0.5 for part in parts[:2])  # not learned
        W_q, W_k, W_v, W_o = (nn.Parameter(part / d**0.5) for part in parts[2:])
        self.W = nn.ParameterList([W_q, W_q if shared else W_k, W_v, W_o])

    def forward(self, names, cards):
        who, what = F.one_hot(names, NAMES).float(), F.one_hot(cards, CARDS).float()
        x = who @ self.name + what @ self.card  # (S, B, L, d_model), variance 1
        qkv = (x @ W for W in self.W[:3])
        mixed, _ = attention.scaled_dot_product_attention(*qkv, scale=self.scale)
        return mixed @ self.W[3]  # (S, B, L, CARDS)

# %%
def share_right(model, optimizer=torch.optim.SGD, rate=0.7, steps=300):
    rng = torch.Generator().manual_seed(1)
    adjust = optimizer(model.parameters(), lr=rate)
    for _ in tqdm(range(steps), desc="training", mininterval=1, file=sys.stdout):
        names, cards, wanted = deal(16, rng)
        logits = model(names, cards).flatten(0, 2)  # (S * B * L, CARDS)
        loss = SEEDS * F.cross_entropy(logits, wanted.flatten())
        adjust.zero_grad()
        loss.backward()
        adjust.step()
    names, cards, wanted = deal(500, rng)  # new games
    with torch.no_grad():
        said = model(names, cards).argmax(-1)  # (S, B, L)
    return (said == wanted).float().mean((1, 2))  # (S,)

# %%
question = "One matrix for queries and keys: which share of the answers will be right?"
widgets.predict("4.2", question, between=(0, 1), step=0.05)

# %% tags=["nbval-ignore-output"]
_, cards, wanted = deal(2000, rng)
most_frequent = F.one_hot(cards, CARDS).sum(2).argmax(-1, keepdim=True)  # (S, B, 1)
two = share_right(Players(16, scale=16**-0.5))
one = share_right(Players(16, scale=16**-0.5, shared=True))
print("two matrices, five seeds   ", *(f"{share:.2f}" for share in two))
print("one matrix, five seeds     ", *(f"{share:.2f}" for share in one))
print(f"always the commonest card   {(most_frequent == wanted).float().mean():.2f}")
widgets.came_out("4.2", round(one.mean().item(), 2))

# %% [markdown]
# With two matrices the layer solves the task, on all five seeds. With one matrix no seed does, and some do hardly better than a player who looks around and says the commonest card. More training can't help: each player would have to score the next one higher than the one before, $s_{01} < s_{12} < \dots < s_{50} < s_{01}$, all around the circle, and that's impossible.
#
# So we keep three matrices, each into a space whose size we can choose:
#
# - **two different ones for query and key**, so that token 2 can attend to token 3 while token 3 ignores it;
# - **a third for the value**, so that what a token hands over (its card) can differ from what it's found by (its name).
#
# **Exercise 4.3** turns this around: you are given the weights, and you find the matrices (20 minutes).

# %% [markdown]
# ## 4.5 What breaks it: large scores
#
# Now for the division by $\sqrt{d_k}$. Fill two vectors by tossing a coin: each entry is $+1$ or $-1$. Each product of two entries is then $+1$ or $-1$ too, and the dot product is their sum. With 4 entries it lies between $-4$ and $4$. Its 16 equally likely outcomes are
#
# | dot product | $-4$ | $-2$ | $0$ | $2$ | $4$ |
# |---|---|---|---|---|---|
# | how many of 16 | 1 | 4 | 6 | 4 | 1 |
#
# so the mean of its square, the **variance**, is $(16 + 4 \cdot 4 + 0 + 4 \cdot 4 + 16) / 16 = 4$. Its root is the **standard deviation**, the typical size: 2.

# %%
question = "And the typical size of a dot product of 1,024 coins?"
widgets.predict("4.3", question, between=(0, 100), step=1)

# %%
def typical_size(d_k, pairs=4000):
    q, k = (torch.randint(2, (pairs, d_k), generator=rng) * 2.0 - 1 for _ in range(2))
    return (q * k).sum(-1).square().mean().sqrt().item()


for d_k in (4, 64, 1024):
    print(f"{d_k:4} coins: typical size {typical_size(d_k):5.1f}")
widgets.came_out("4.3", math.sqrt(1024))

# %% [markdown]
# The typical size grows with the root of the number of entries, and not only for coins. Let $q$ and $k$ have $d_k$ entries each, all independent, with mean 0 and variance 1.
#
# 1. One product has mean $E[q_i]\, E[k_i] = 0$ and variance $E[q_i^2]\, E[k_i^2] = 1$.
# 2. Variances of independent terms add up, so $\operatorname{Var}(q \cdot k) = d_k$.
# 3. The typical size is $\sqrt{d_k}$. Divided by that, a score has typical size 1, whatever $d_k$ is.
#
# Does a fresh network fulfil the conditions? Not quite: `nn.Linear` starts with entries of variance $\tfrac{1}{3 d_{in}}$, so a query's entries have variance $\tfrac13$, not 1, and the scores are three times smaller.

# %%
x = torch.randn(2000, 256, generator=rng)  # (n, d_in), variance 1
for d_k in (64, 256, 1024):
    torch.manual_seed(0)
    with torch.no_grad():
        q = nn.Linear(256, d_k, bias=False)(x)  # (n, d_k)
        k = nn.Linear(256, d_k, bias=False)(x.flip(0))  # (n, d_k): of other rows
    size = (q * k).sum(-1).std()
    print(f"d_k {d_k:4}: entries' variance {q.var():.2f}, ", end="")
    print(f"scores {size:5.2f}, divided by the root {size / d_k**0.5:.2f}")

# %% [markdown]
# A factor of three, but still the root: only the division by $\sqrt{d_k}$ makes the scores independent of the width.
#
# **Why large scores hurt.** Learning reaches the query through the softmax. Lesson 02 called its table of derivatives $J = \operatorname{diag}(w) - w w^\top$, where $w$ are the weights of one query. If the scores are $K q$ divided by some number `scale`, then by the chain rule the weights change with the query by
#
# $$\frac{\partial w}{\partial q} = \frac{J K}{\text{scale}} , \qquad \text{of shape } (L_k, d_k) .$$
#
# Two things can make it small. If the scores are large, the softmax is nearly a hard choice, and $J$ is near 0. If the scale is large, we divide it away. We try three scales on 16 random keys: none, $\sqrt{d_k}$, and $d_k$.

# %%
scales = {"no scale": lambda d: 1.0, "root of d_k": lambda d: d**0.5, "d_k": float}
question = "Which scale keeps the size of the gradient from d_k = 4 to 1,024?"
widgets.predict("4.4", question, choices=list(scales))

# %%
def gradient_sizes(d_k, scale, seed, queries=100):
    rng = torch.Generator().manual_seed(seed)
    q = torch.randn(queries, d_k, generator=rng)  # (n, d_k)
    k = torch.randn(queries, 16, d_k, generator=rng)  # (n, L_k, d_k)
    w = torch.softmax(torch.einsum("nd,njd->nj", q, k) / scale, dim=-1)  # (n, L_k)
    J = torch.diag_embed(w) - w[:, :, None] * w[:, None, :]  # (n, L_k, L_k)
    return (J @ k / scale).norm(dim=(1, 2))  # (n): the size of each (L_k, d_k)

# %%
widths = [4, 16, 64, 256, 1024]
found = {}
for name, scale in scales.items():
    sizes = [gradient_sizes(d, scale(d), seed) for d in widths for seed in range(5)]
    found[name] = torch.stack(sizes).view(5, 5, 100)  # (widths, seeds, queries)
medians = {name: sizes.median(2).values for name, sizes in found.items()}
for name, sizes in medians.items():
    print(f"{name:12}", *(f"{size:7.4f}" for size in sizes.median(1).values))
unscaled = found["no scale"][-1]  # (5 seeds, 100 queries), at d_k = 1,024
more = (unscaled > 1).double().mean()
print(f"no scale, d_k = 1,024: mean {unscaled.mean():.2f}, above 1 in {more:.0%}")

# %%
middle = {name: sizes.median(1).values for name, sizes in medians.items()}
ax = plotting.new_axes(6.4, 3.8)
for sizes in medians.values():
    ax.plot(widths, sizes, "o", color="0.6", ms=4)  # one dot for each seed
xlabel, ylabel = "d_k (log scale)", "size of d(weights)/d(query), log scale"
plotting.curves(torch.tensor(widths), middle, xlabel=xlabel, ylabel=ylabel, ax=ax)
ax.set_xscale("log", base=2)
ax.set_yscale("log")
alt = """Median size of the derivative of the weights by the query, by d_k, five seeds.
Without a scale it rises, then falls far below the others. Divided by d_k it falls
steadily. Divided by the root of d_k it stays level."""
plotting.show(ax, alt.replace("\n", " "))

# %%
flat = min(middle, key=lambda name: (middle[name].max() / middle[name].min()).item())
widgets.came_out("4.4", flat)

# %% [markdown]
# *Notice that one line is level.* A gray dot is the median of 100 queries from one seed, and each line runs through the middle one of five seeds. Without a scale, the typical query of a wide layer gets next to no gradient. (The *mean* wouldn't show it. About one query in five stands between two keys, where a small step tips the choice, and its derivative is larger than any that a scaled layer has. So most queries learn next to nothing, and a few get jolts.) Dividing by $d_k$ loses it too, for the other reason: $J$ is fine, but we divide by too much. Of the three only $\sqrt{d_k}$ keeps it.
#
# **Exercise 4.4** asks you to find a bug in a layer that passes every test its author wrote (10 minutes).

# %% [markdown]
# ## 4.6 What it costs, and how to pay less
#
# Every query meets every key: that's $L^2 d_k$ multiplications for the scores, $L^2 d_v$ for the output, and $L^2$ weights to hold. Twice the length costs four times as much.

# %%
for L in (1000, 2000, 4000):
    x = torch.zeros(L, 64)  # (L, d)
    output, weights = attention.scaled_dot_product_attention(x, x, x)
    sizes = output.nbytes / 1e6, weights.nbytes / 1e6
    print(f"L = {L}: output {sizes[0]:4.1f} MB, weights {sizes[1]:5.1f} MB")

# %% [markdown]
# The output stays small, and the weights are only a stop on the way to it. Do we have to hold them all? A softmax seems to need all scores of a row at once, since it divides by their sum. But a sum can be kept as it grows. So we take the keys in **blocks**, and remember three things for each query: the largest score $m$ so far, the sum $s$ of the exponentials, and
# the weighted sum $o$ of the values. Exponentials are taken relative to $m$, as in lesson 02, so that none overflows. When a block brings a larger $m$, the old $s$ and $o$ are still relative to the old one. They only need to be multiplied by $e^{m_{old} - m_{new}}$.
#
# By hand: one query, four keys in two blocks, with scores $0, \ln 3$ and $\ln 12, \ln 4$ and values $4, 8$ and $16, 0$.

# %%
scores = torch.tensor([1.0, 3, 12, 4]).log()  # (L_k=4,)
values = torch.tensor([4.0, 8, 16, 0])  # (L_k=4,)
ax = diagrams.running_softmax(scores, values, block=2)
plotting.show(ax)

# %% [markdown]
# - **Block 1.** $m = \ln 3$. The exponentials are $e^{0 - \ln 3} = \tfrac13$ and $1$, so $s = \tfrac43$ and $o = \tfrac13 \cdot 4 + 1 \cdot 8 = \tfrac{28}{3}$.
# - **Block 2.** $m$ rises to $\ln 12$, so the old $s$ and $o$ shrink by $e^{\ln 3 - \ln 12} = \tfrac14$, to $\tfrac13$ and $\tfrac73$. The new exponentials are $1$ and $\tfrac13$. So $s = \tfrac13 + 1 + \tfrac13 = \tfrac53$ and $o = \tfrac73 + 1 \cdot 16 + \tfrac13 \cdot 0 = \tfrac{55}{3}$.
# - **End.** $o / s = 11$.

# %%
print(f"all at once: {torch.softmax(scores, dim=0) @ values:.2f}")

# %% [markdown]
# Nothing is approximated: the result is the same, and at no time did we hold more than one block of weights. This is the **online softmax**, the idea inside FlashAttention and the kernels that PyTorch uses.
#
# **Exercise 4.5** is the heart of this lesson (25 minutes): write it for real tensors. Its check watches what you hold.

# %% [markdown]
# ## 4.7 What attention cannot see
#
# *Dog bites man* and *man bites dog* are made of the same words. Will the output of *dog* differ between them? We give each word a random vector and three random projections.

# %%
rng = torch.Generator().manual_seed(5)
three = torch.randn(3, 8, generator=rng)  # (3, d_model=8)
vectors = dict(zip(("dog", "bites", "man"), three, strict=True))
matrices = torch.randn(3, 8, 8, generator=rng) / 8**0.5  # W_q, W_k, W_v


def outputs_of(sentence):
    x = torch.stack([vectors[word] for word in sentence.split()])  # (L=3, d_model=8)
    output, _ = attention.scaled_dot_product_attention(*(x @ W for W in matrices))
    return dict(zip(sentence.split(), output, strict=True))


first, second = outputs_of("dog bites man"), outputs_of("man bites dog")
for word in vectors:
    print(f"{word:6} largest difference {(first[word] - second[word]).abs().max():.4f}")

# %% [markdown]
# There's no difference: attention can't tell who bites. An output is a *sum* over keys, and a sum doesn't depend on its order; a score depends on two vectors and not on where they stand. So for any permutation of the tokens, the output is permuted the same way, and nothing else happens:

# %%
x = torch.randn(6, 8, generator=rng)  # (L, d_model)
order = torch.tensor([3, 0, 5, 1, 4, 2])  # (L,)
straight, _ = attention.scaled_dot_product_attention(*(x @ W for W in matrices))
permuted, _ = attention.scaled_dot_product_attention(*(x[order] @ W for W in matrices))
assert torch.allclose(permuted, straight[order], atol=1e-5)

# %% [markdown]
# How could a token be told where it stands, without spoiling what it means? Keep your idea until lesson 08.

# %% [markdown]
# ## What goes wrong
#
# **A softmax over the queries.** One wrong `dim`, and each column sums to 1 instead of each row. Everything runs, and it even trains. How would you notice? Add up the rows.

# %%
scores = asks @ offers.T / 4**0.5  # (L_q=4, L_k=4)
left, right = plotting.new_axes(9.0, 3.4, columns=2)
for ax, dim, title in ((left, -1, "right: dim=-1"), (right, -2, "wrong: dim=-2")):
    weights = torch.softmax(scores, dim=dim)
    plotting.attention_heatmap(weights, words, words, ax=ax, title=title)
    print(f"{title:15} rows sum to", *(f"{total:.2f}" for total in weights.sum(-1)))
alt = "Two heatmaps of the weights of the red apple fell; in one the columns sum to 1."
plotting.show(ax, alt)

# %% [markdown]
# *Notice the rows.* In the wrong table, the queries compete for each key: what *apple* takes from *red* depends on how much the others ask *red*.
#
# **Scaling too late in half precision.** The largest float16 is 65,504. A dot product of 128 entries around 30 is larger: the sum becomes infinite before you divide it, and the softmax makes it NaN. How would you notice? The loss is NaN in float16 only. Scale the query *before* the product.

# %%
q = torch.full((1, 128), 30.0).half()  # (L_q=1, d_k=128)
k = torch.full((2, 128), 30.0).half()  # (L_k=2, d_k=128)
late, early = (q @ k.T) / 128**0.5, (q / 128**0.5) @ k.T  # (L_q, L_k)
for when, scores in (("after", late), ("before", early)):
    weights = scores.softmax(-1)
    print(f"scaled {when}: scores", scores.tolist(), "weights", weights.tolist())

# %% [markdown]
# ## In practice
#
# - Use `F.scaled_dot_product_attention`. It hands back no weights, and that is the point: where there is a **fused kernel** (on most GPUs, and on the CPU too), it works in blocks, as in 4.6, and never stores the $L^2$ weights. Ask for the weights, and you have to pay for them.
# - Such a kernel does as many multiplications as before on the way forward. On the way back it does more, because it computes the weights again instead of keeping them. The FlashAttention paper measured that it's faster all the same: moving $L^2$ numbers to and from memory takes longer than multiplying.
# - Names you'll meet: queries, keys and values from one matrix are `qkv_proj`, `in_proj_weight` (PyTorch) or `c_attn` (GPT-2). Cross-attention is also *encoder-decoder attention*, and its memory the *context*.

# %% [markdown]
# ## Recap
#
# 1. **Attention**: all dot products, divided by $\sqrt{d_k}$, a softmax over the keys, a weighted sum of the values. As a loop it takes twelve lines; as tensors, two matrix products with a softmax between them.
# 2. **Two sequences or one**: in cross-attention the memory gives keys and values; in self-attention all three come from $X$. Two matrices for query and key, because with one the scores are symmetric; a third, so that a token can hand over something other than what it's found by.
# 3. **The scale**: a dot product of $d_k$ independent entries of variance 1 has typical size $\sqrt{d_k}$. Of our three scales only $\sqrt{d_k}$ kept the gradient at the query level, for every width.
# 4. **The cost**: $L^2$ weights, but they needn't be held. A running maximum, a running sum and a running output give the same result block by block.
# 5. **The blind spot**: permute the tokens, and the output is permuted, no more.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $X$, $M$ | the sequence that asks; the memory | $(L_q, d_x)$; $(L_k, d_m)$ |
# | $W_q$, $W_k$, $W_v$ | projections | $(d_x, d_k)$, $(d_m, d_k)$, $(d_m, d_v)$ |
# | $Q$, $K$, $V$ | queries, keys, values | $(L_q, d_k)$, $(L_k, d_k)$, $(L_k, d_v)$ |
# | $Q K^\top / \sqrt{d_k}$ | scaled scores | $(L_q, L_k)$ |
# | $w$, $J$ | one query's weights; the softmax's derivatives | $(L_k)$; $(L_k, L_k)$ |
# | $m$, $s$, $o$ | running maximum, sum, output of one query | numbers; $(d_v)$ |

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. Queries and keys have 64 independent entries of variance 1. What is the standard deviation of a score before and after scaling? And if the entries of the queries have variance 4?</summary>
#
# **8 and 1; with variance 4 it's 16 and 2.** Each product then has variance 4, and the sum 256. The scale knows how many entries there are, not how large they are. (Not 64 before scaling: that's the variance.)
# </details>
#
# <details><summary>2. Somebody divides by the root of the number of keys, since "more keys, larger sums". What is wrong with the reason?</summary>
#
# **A score is a sum over the entries of a vector, not over the keys.** Its size depends on $d_k$ alone. The sum over keys happens inside the softmax, which divides by it already. (It isn't "the same thing": $L_k$ changes with every sentence, $d_k$ doesn't.)
# </details>
#
# <details><summary>3. X has shape (8, 10, 32), the memory (8, 20, 48), d_k = 16, d_v = 24. What are the shapes of the three matrices, the weights and the output?</summary>
#
# **(32, 16), (48, 16), (48, 24), (8, 10, 20), (8, 10, 24).** Keys and values come from the memory, so their matrices start at 48. (With $W_v$ of shape (32, 24) there would be 10 values for 20 keys.)
# </details>
#
# <details><summary>4. Keys and values of a cross-attention are shuffled together. What happens to the output? And if only the keys are shuffled?</summary>
#
# **Nothing; and a different output.** A key and its value are a pair, and the order of pairs plays no part. Shuffling the keys alone gives the weights to the wrong values. (Not "the output is shuffled": its rows belong to the queries, and those stayed where they were.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# **One matrix instead of three.** In self-attention, three products with the same $X$ can be one: put the matrices side by side, $(d, 3d)$, multiply once, and cut the result along its last axis. Blocks of *columns*, that is: reshaping the matrix to $(3, d, d)$ has the right shape and scrambles it.

# %%
x, d = torch.randn(2, 6, 8, generator=rng), 8  # (B, L, d)
fused = torch.cat(list(matrices), dim=1)  # (d, 3 d)
for part, W in zip((x @ fused).chunk(3, dim=-1), matrices, strict=True):
    assert torch.allclose(part, x @ W, atol=1e-5)
by_columns = torch.stack(fused.chunk(3, dim=1))  # (3, d, d)
print("a reshape gives the same:", torch.equal(by_columns, fused.reshape(3, d, d)))

# %% [markdown]
# **Dropout on the weights.** In training, each weight may be set to 0 with probability $p$, and the rest divided by $1 - p$, so that no query relies on a single key. A row then sums to 1 only on average. The library's function and PyTorch's take `dropout_p` and apply it *whenever it's not 0*: a function doesn't know whether you're training.
#
# **Other scales.** T5 divides by nothing. Its initializer makes up for it: queries start smaller by the factor $1/\sqrt{d_k}$, so the scores start out as if they had been scaled (`normal_(std=factor * (d_model * key_value_proj_dim) ** -0.5)` in Hugging Face's `modeling_t5.py`). The $\mu$P recipe divides by $d_k$. Doesn't 4.5 say that this loses
# the gradient? It does, at the start and for plain gradient descent. But training makes queries and keys depend on one another, and then their dot product grows like $d_k$, not like its root. And Adam divides each gradient by its own typical size, so a small one does no harm. Our six players agree (exercise 4.6 shows them with plain gradient descent):

# %% tags=["nbval-ignore-output"]
for name, scale in scales.items():
    model = Players(512, scale=1 / scale(512))
    shares = share_right(model, torch.optim.Adam, rate=0.01, steps=200)
    print(f"Adam, d_k = 512, {name:12}", *(f"{share:.2f}" for share in shares))

# %% [markdown]
# **What FlashAttention saves.** Count the numbers that travel between the GPU's large, slow memory and its small, fast one, which holds $S$ of them: about $L d + L^2$ for the explicit form and $L^2 d^2 / S$ for the blocks (theorem 2 of the paper; constant factors left out). With $d = 64$ and $S$ near 100,000, $d^2 / S$ is about $\tfrac{1}{25}$.
#
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.1, equation 1 and footnote 4: the formula, and the reason for the scale in one sentence. Section 3.2.3: self-attention and encoder-decoder attention.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3.1: the dot product as a score before anyone scaled it.
# - Milakov, Gimelshein, *Online Normalizer Calculation for Softmax*, 2018: the running maximum and sum of 4.6, as algorithm 3.
# - Dao et al., *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, 2022, section 3.1 and algorithm 1: the same with the output, in blocks of queries too.
# - Lee et al., *Set Transformer*, 2019: makes a virtue of 4.7, attention for sets, where order must not count.
# - Raffel et al., *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, 2020 (T5), and Yang et al., *Tensor Programs V*, 2022 ($\mu$P): two scales other than $\sqrt{d_k}$.

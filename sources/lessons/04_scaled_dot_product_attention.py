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
# {{colab_link}} · short path about 65 minutes with its exercises (45 + 20), everything about 3½ hours · builds on lessons 01 to 03

# %% tags=["setup"]
import copy
import math
import random
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import attention, diagrams, plotting, pretrained, widgets
from course_utils.datasets.pronunciations import pronunciations, split
from course_utils.memory import peak_memory
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, error_rates
from course_utils.tokenizers import END_ID, PAD_ID, START_ID

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # the tensors are small: sharing them out takes longer

# %% [markdown]
# **You will learn to**
#
# 1. write scaled dot-product attention, as a loop and for whole batches;
# 2. use it between two sequences and within one, and say why queries and keys need projections of their own;
# 3. derive how large a dot product gets, and show what that does to the gradient;
# 4. say what attention costs, and run it over 32,768 tokens without ever holding all their weights;
# 5. show what attention cannot see.
#
# In lesson 03 a small network scored every pair of query and key. Today the score becomes one dot product.

# %% [markdown]
# ## 4.1 Attention at work
# *Core · 8 minutes*
#
# In *the red apple fell*, the word *apple* alone says nothing about a color. Attention lets each word borrow from all four, itself included.
#
# Every token gets three vectors: a **query** (what it asks for), a **key** (what it offers) and a **value** (what it hands over). We choose them ourselves here. The four entries of a query and a key mean *color, thing, action, article*. *apple* asks for a color and *red* offers one; *red* and *fell*
# ask for a thing, and *apple* is one. The two entries of a value say *how red?* and *how much in motion?*, from 0 to 8, where 4 means "I can't tell". The word *the* asks for nothing, so its query is all zeros.

# %%
words = "the red apple fell".split()
options = ["zeros", "its own value", "the mean of all four values", "nothing: 0 / 0"]
question = "'the' asks for nothing: its query is all zeros. What will its output be?"
widgets.predict("4.A", question, choices=options)

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
# K is drawn turned, so that each score sits where the row of its query and the column of its key cross. Follow the framed row of *apple*:
#
# 1. **Scores.** Its query $(2, 0, 0, 0)$ times the key of *red*, $(\ln 9, 0, 0, 0)$, is $2 \ln 9$. All its other dot products are 0.
# 2. **Scale.** A vector has 4 entries, so we divide by $\sqrt 4 = 2$ and get $\ln 9$ (section 4.5 says why).
# 3. **Weights.** The softmax takes exponentials, $1, 9, 1, 1$, and divides by their sum, 12. So *red* gets $\tfrac{9}{12} = \tfrac34$, and the other three share $\tfrac14$.
# 4. **Output.** *How red?* comes out as $\tfrac34 \cdot 8 + \tfrac14 \cdot 4 = 7$. The apple said 4, "I can't tell", and now it says 7. It has turned red.

# %%
output, weights = attention.scaled_dot_product_attention(asks, offers, hands_over)
print("apple, how red:", round(output[2, 0].item(), 3))
print("the:", output[0].tolist(), "  mean of all values:", hands_over.mean(0).tolist())
widgets.came_out("4.A", options[2])

# %% [markdown]
# A query of zeros has the score 0 with every key, and equal scores make equal weights. Attention can't decline to look. Now play with the same numbers yourself:

# %% tags=["nbval-ignore-output"]
flow = widgets.see_through(asks, offers, hands_over, **given)
flow

# %% [markdown]
# Point at any cell, or tap it, to read where it comes from. Drag feature 2 of *apple*'s query (*action*, the third of its four numbers) upward, or with a keyboard choose it with the arrow keys and press +, until *apple* borrows most from *fell*. Where does feature 1 of its output go? Then switch the scaling off. In the rows of *red* and *fell* the largest weight climbs from $\tfrac{9}{12}$ to $\tfrac{81}{84}$. The row of *the* stays as it was.
#
# <details><summary>Where feature 1 went</summary>
#
# Toward 8, the motion that *fell* hands over.
# </details>

# %% [markdown]
# ## 4.2 The same as a loop
# *Core · 4 minutes*
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
# $Q K^\top$, of shape $(L_q, L_k)$, holds every query's dot product with every key. The softmax runs over the keys, so each row of weights sums to 1. Queries and keys need the same size $d_k$, and each key needs a value. Everything else may differ.
#
# **Do exercise 4.1 now** (10 minutes), then read on: write the formula without a loop, with leading axes. ({{exercises_link}}) The library has the same function, tested. It agrees with PyTorch's:

# %%
rng = torch.Generator().manual_seed(0)
q, k, v = (torch.randn(2, *shape, generator=rng) for shape in ((5, 3), (7, 3), (7, 4)))
output, weights = attention.scaled_dot_product_attention(q, k, v)
assert torch.allclose(output, F.scaled_dot_product_attention(q, k, v), atol=1e-6)
print("output", tuple(output.shape), "  weights", tuple(weights.shape))

# %% [markdown]
# ## 4.3 Two sequences: cross-attention
# *More · 15 minutes*
#
# In lesson 03, a decoder that was about to say a sound asked all the letters of the word. Queries come from one sequence, keys and values from another. That is **cross-attention**; the sequence that is asked is called the **memory**, $M$. Can a dot product do there what the additive score did?
#
# One thing is in the way. The decoder's state has 128 numbers and a letter's state has 256, and a dot product needs equal sizes. We **project** both into a common space, each with a matrix of its own that is learned:
#
# $$Q = X W_q , \qquad K = M W_k , \qquad V = M W_v ,$$
#
# where $W_q$ has shape $(d_x, d_k)$, $W_k$ has $(d_m, d_k)$ and $W_v$ has $(d_m, d_v)$. Keys and values come from the same sequence, so that every key has its value. (The speller has no $W_v$ and hands over the letters' states as they are.)
#
# Now the experiment. We load the trained speller and freeze all of it. On 1,000 training words we note what its decoder asked and where it looked. Then we fit the two new matrices so that a dot product reproduces those weights.

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
    """Replaces the speller's additive attention."""

    def __init__(self, d_x=128, d_m=256, d_k=32):
        super().__init__()
        self.q_proj = nn.Linear(d_x, d_k, bias=False)
        self.k_proj = nn.Linear(d_m, d_k, bias=False)

    def forward(self, query, key, value, mask=None):
        query, key = self.q_proj(query), self.k_proj(key)  # (B, L_q or L_k, d_k)
        return attention.scaled_dot_product_attention(query, key, value, mask)

# %% [markdown]
# (`mask` keeps the padding out. Lesson 05 is about that.) The loss is how far the new weights are from the old ones, the Kullback-Leibler divergence $\sum_j w_j \ln (w_j / w'_j)$.
#
# If the new speller turns out worse, is the dot product to blame, or the refitting, to which the rest of the speller never adapted? To tell the two apart we refit an *additive* attention as well, a fresh one, by the same procedure. We give it as many parameters as the dot product has (the speller's own has four times as many). Five fits of each take about ten seconds.

# %%
def additive():
    return attention.AdditiveAttention(128, 256, 32)  # d_query, d_key, d_hidden


for name, part in (
    ("additive, as trained", speller.attention), ("dot product", DotProduct()),
    ("additive, refitted", additive()),
):
    print(f"{name:21}{sum(W.numel() for W in part.parameters()):7,} parameters")

# %%
def fitted(make, seed, steps=150):
    torch.manual_seed(seed)
    attend = make()
    optimizer = torch.optim.Adam(attend.parameters(), lr=0.01)
    for _ in range(steps):
        some = torch.randint(len(some_words), (32,))
        _, found = attend(asked[some], letters[some], letters[some], is_letter[some])
        ratio = looked[some].clamp(min=1e-9).log() - found.clamp(min=1e-9).log()
        loss = (looked[some] * ratio).sum(-1)[is_sound[some]].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return attend.requires_grad_(False)

# %% tags=["nbval-ignore-output"]
seeds = tqdm(range(5), desc="fits of both", file=sys.stdout)
pairs = [(fitted(DotProduct, seed), fitted(additive, seed)) for seed in seeds]
dots, refitted = zip(*pairs, strict=True)

# %% [markdown]
# Now each new attention replaces the old one, and the speller pronounces 300 validation words, which it has not been trained on. For comparison there's also a speller that looks at all letters equally.

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
errors = {
    name: [phoneme_error(attend) for attend in several]
    for name, several in (
        ("additive, as trained", [speller.attention]), ("additive, refitted", refitted),
        ("dot product, refitted", dots), ("all letters equally", [everywhere]),
    )
}
for name, rates in errors.items():
    print(f"{name:23}", *(f"{rate:.3f}" for rate in rates))

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
    (left, "additive, as trained", speller),
    (right, "dot product, first fit", speller_with(dots[0])),
):
    sounds, rows = speak(model, "knights")
    plotting.attention_heatmap(rows, sounds, list("knights"), ax=ax, title=name)
alt = "Alignments of knights, sounds by letters, by both scores: the same staircase."
plotting.show(ax, alt)

# %% tags=["nbval-ignore-output"]
for name, several in (("additive", refitted), ("dot product", dots)):
    rows = [speak(speller_with(attend), "knights")[1][1] for attend in several]
    n, i = (" ".join(f"{row[place]:.2f}" for row in rows) for place in (1, 2))
    mean = torch.stack(rows)[:, 1].mean()
    print(f"AY, {name:12} on n: {n} (mean {mean:.2f})   on i: {i}")

# %% [markdown]
# The refitting does cost something. An additive attention of the same size, refitted in the same way, comes out a little worse than the one that was trained with its speller. The dot product loses more, on every one of its five fits. The form of the score plays a part of its own here, beyond the refitting. (What we copy is a speller that learned with the additive form. A speller that learns with dot products from the start might lose nothing.)
#
# In the heatmaps both go down the same staircase, with differences in detail. Take AY, the sound of *igh*. All ten fits give *i* the largest weight there, but on average the dot products leave more on *n*. What do we get in return? The additive score runs a small network for every pair of sound and letter. All dot products of a word together are one matrix product, and computers are built for those.
#
# **Exercise 4.2** gives you layers that you can't open, and asks which sequence gives the queries, the keys and the values (15 minutes).

# %% [markdown]
# ## 4.4 One sequence, three roles
# *Core · 9 minutes*
#
# In a network, queries, keys and values are learned projections of the tokens' vectors. In **cross-attention** the queries come from one sequence, keys and values from another, the memory (section 4.3). In **self-attention** all three come from one sequence $X$, of shape $(L, d_{model})$.
#
# $$Q = X W_q , \qquad K = X W_k , \qquad V = X W_v .$$
#
# Take one token, *apple*, with $x = (1, 2)$. With
#
# $$W_q = \begin{pmatrix} 1 \\ 0 \end{pmatrix} , \qquad W_k = \begin{pmatrix} 0 \\ 1 \end{pmatrix} , \qquad W_v = \begin{pmatrix} 3 \\ 1 \end{pmatrix}$$
#
# it asks with $x W_q = 1$, is found by $x W_k = 2$, and hands over $x W_v = 1 \cdot 3 + 2 \cdot 1 = 5$. Here are all four tokens:

# %%
X = torch.tensor([[0.0, 1], [2, 0], [1, 2], [1, -1]])  # (L=4, d_model=2)
W_q, W_k, W_v = torch.tensor([[[1.0], [0]], [[0.0], [1]], [[3.0], [1]]])  # (2, 1) each
ax = diagrams.three_roles(X, W_q, W_k, W_v, tokens=words, follow=2)
plotting.show(ax)

# %% [markdown]
# Do we need all three? If queries and keys share a matrix, $W_q = W_k$, then the score of token $i$ for token $j$ is the same product as that of $j$ for $i$, and **the scores are symmetric**. Here is a task where that hurts. Six players, named 0 to 5, sit in random order, and each holds one of four cards. Every player has to say the card of the player with the *next* name (after 5 comes 0). Player 2 must look at 3, while player 3 must look at 4, not back at 2. We train five models side by side, from five starting points (seeds), so everything has an axis `S` in front.

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
# The model is one attention layer. A token is the sum of a fixed random vector for its name and one for its card; the four matrices are learned.

# %%
def starting_points(d_k, d):
    """For five models: vectors of the names and of the cards, W_q, W_k, W_v and W_o."""
    rng = torch.Generator().manual_seed(0)
    shapes = (NAMES, d), (CARDS, d), (d, d_k), (d, d_k), (d, d), (d, CARDS)
    return [torch.randn(SEEDS, 1, *shape, generator=rng) for shape in shapes]

# %%
class Tokens(nn.Module):
    """A token is the sum of a vector for its name and one for its card; not learned."""

    def __init__(self, name, card):
        super().__init__()
        self.name, self.card = name / 2**0.5, card / 2**0.5  # together of variance 1

    def forward(self, names, cards):
        who, what = F.one_hot(names, NAMES).float(), F.one_hot(cards, CARDS).float()
        return who @ self.name + what @ self.card  # (S, B, L, d_model)

# %%
class Players(nn.Module):
    def __init__(self, d_k, scale, shared=False, d=16):
        super().__init__()
        self.scale, (name, card, *parts) = scale, starting_points(d_k, d)
        self.tokens = Tokens(name, card)
        W_q, W_k, W_v, W_o = (nn.Parameter(part / d**0.5) for part in parts)
        self.W = nn.ParameterList([W_q, W_q if shared else W_k, W_v, W_o])

    def forward(self, names, cards):
        x = self.tokens(names, cards)
        q, k, v = (x @ W for W in self.W[:3])
        mixed, _ = attention.scaled_dot_product_attention(q, k, v, scale=self.scale)
        return mixed @ self.W[3]  # (S, B, L, CARDS)

# %%
def train(model, optimizer=torch.optim.SGD, rate=0.7, steps=300, asked=NAMES):
    """Every model learns from its own games; players 0 to asked - 1 have to answer."""
    rng = torch.Generator().manual_seed(1)
    adjust = optimizer(model.parameters(), lr=rate)
    for _ in range(steps):
        names, cards, wanted = deal(16, rng)
        logits = model(names, cards).movedim(-1, 1)  # (S, CARDS, B, L)
        losses = F.cross_entropy(logits, wanted, reduction="none")  # (S, B, L)
        loss = (losses * (names < asked)).mean((1, 2)).sum()  # over the five models
        adjust.zero_grad()
        loss.backward()
        adjust.step()
    return model

# %%
def by_player(right, names):
    """How often each player is right: (S, B, L) becomes (S, NAMES)."""
    who = F.one_hot(names, NAMES).float()  # (S, B, L, NAMES)
    return (right[..., None] * who).sum((1, 2)) / who.sum((1, 2))


@torch.no_grad()
def exam(model, games=4000):
    names, cards, wanted = deal(games, torch.Generator().manual_seed(2))
    said = model(names, cards).argmax(-1)  # (S, B, L)
    return by_player(said == wanted, names), by_player(said == cards, names)

# %%
def show_players(shares):
    for seed, row in enumerate(shares):
        players = " ".join(f"{share:.2f}" for share in row)
        print(f"seed {seed}: players {players}   all {row.mean():.3f}")

# %% tags=["nbval-ignore-output"]
two = train(Players(16, scale=16**-0.5))
right, _ = exam(two)
print("two matrices, all five seeds:", *(f"{share:.3f}" for share in right.mean(1)))
plain = Players(16, scale=16**-0.5)
plain.W[2] = nn.Parameter(torch.eye(16), requires_grad=False)  # hands over x itself
right, _ = exam(train(plain))
print("no W_v, all five seeds:      ", *(f"{share:.3f}" for share in right.mean(1)))

# %%
choices = ["every player now and then", "always the same player", "every second player"]
question = "Now with one matrix, in a model that has learned its best: who is wrong?"
widgets.predict("4.B", question, choices=choices)

# %% [markdown]
# With two matrices the layer solves the task, even if the values have none. What can one do? Player 0 has to score player 1 above player 5, player 1 has to score player 2 above player 0, and so on. Since $s_{ij} = s_{ji}$, that makes
#
# $$s_{01} < s_{12} < s_{23} < s_{34} < s_{45} < s_{50} < s_{01} ,$$
#
# all around the circle, which is impossible. In every game at least one player gives the next one no more weight than the one before. That much is proved. Suppose the other five look at the next one, and the sixth at a player whose card tells her nothing. She's right by luck, one time in four.

# %%
print(f"five always right, one by luck: {5 / 6 + 1 / 6 * 1 / 4:.3f}")

# %% tags=["nbval-ignore-output"]
one = train(Players(16, scale=16**-0.5, shared=True), steps=1000)
right, own = exam(one)
show_players(right)
wrong = (right[right.mean(1).argmax()] < 0.9).sum()  # players, in the best seed
widgets.came_out("4.B", choices[1 if wrong == 1 else 0])

# %% [markdown]
# Some seeds do just that. Five players are always right, one is right in a quarter of her games, and the mean is about 0.875. Other seeds stay below. Section 4.8 finds out why.
#
# We keep three matrices, each into a space whose size we can choose:
#
# - **two for query and key**, so that token 2 can attend to token 3 while token 3 ignores it;
# - **a third for the value**, which lets us choose what is handed over, and its size. Our game doesn't need it, since $W_o$ can pick the card out of a whole token.
#
# **Exercise 4.3** turns this around. You are given the weights, and you find the matrices (20 minutes).

# %% [markdown]
# ## 4.5 Why the scores are divided
# *Core · 9 minutes*
#
# Why divide by $\sqrt{d_k}$? Fill two vectors by tossing a coin, each entry $+1$ or $-1$. Each product of two entries is then $+1$ or $-1$ too, and the dot product is their sum. With 4 entries the 16 equally likely cases give
#
# | dot product | $-4$ | $-2$ | $0$ | $2$ | $4$ |
# |---|---|---|---|---|---|
# | how many of 16 | 1 | 4 | 6 | 4 | 1 |
#
# so the mean of its square, the **variance**, is $(16 + 4 \cdot 4 + 0 + 4 \cdot 4 + 16) / 16 = 4$. Its root is the **standard deviation**, the typical size: 2.

# %%
question = "And the typical size of a dot product of 1,024 coins?"
widgets.predict("4.C", question, between=(0, 100), step=1)

# %%
def typical_size(d_k, pairs=4000):
    q, k = (torch.randint(2, (pairs, d_k), generator=rng) * 2.0 - 1 for _ in range(2))
    return (q * k).sum(-1).square().mean().sqrt().item()


for d_k in (4, 64, 1024):
    print(f"{d_k:4} coins: typical size {typical_size(d_k):5.1f}")
widgets.came_out("4.C", math.sqrt(1024))

# %% [markdown]
# Why just that number, and not only for coins? Let the $d_k$ entries of $q$ and of $k$ be independent, with mean 0 and variance 1.
#
# 1. One product has mean $E[q_i]\, E[k_i] = 0$ and variance $E[q_i^2]\, E[k_i^2] = 1$.
# 2. Variances of independent terms add up, so $\operatorname{Var}(q \cdot k) = d_k$.
# 3. The typical size is the root of that. Divided by it, a score has typical size 1, whatever $d_k$ is.
#
# What do scores of typical size 2, 8 or 32 do to a softmax? We take 1,000 random queries with 16 random keys each, and show the one in the middle, by its largest unscaled weight. Here are its 16 weights in order of size, with and without the division:

# %%
def weights_of(d_k, scale, queries=1000):
    """Weights over 16 keys, the largest first, of random queries and keys."""
    rng = torch.Generator().manual_seed(1)
    q = torch.randn(queries, d_k, generator=rng)  # (n, d_k)
    k = torch.randn(queries, 16, d_k, generator=rng)  # (n, L_k, d_k)
    scores = torch.einsum("nd,njd->nj", q, k) / scale  # (n, L_k)
    return scores.softmax(-1).sort(-1, descending=True).values  # (n, L_k)

# %%
panels = {}
for d_k in (4, 64, 1024):
    plain, scaled = weights_of(d_k, 1.0), weights_of(d_k, d_k**0.5)
    typical = plain[:, 0].argsort()[500]
    rows = {"no scale": plain[typical], "divided by the root": scaled[typical]}
    panels[f"d_k = {d_k}"] = rows
    shares = [(w[:, 0] > 0.9).double().mean() for w in (plain, scaled)]
    plain, scaled = (f"{share:4.0%}" for share in shares)
    print(f"d_k {d_k:4}: largest weight above 0.9: no scale {plain}, scaled {scaled}")

# %%
ax = plotting.bar_panels(panels, xlabel="keys, by weight", ylabel="weight")
alt = """A query's weights over 16 keys at three widths. With no scale the largest is
below 0.4 at 4, above 0.9 at 64 and 1 at 1,024.
Divided by the root it stays below 0.3."""
plotting.show(ax, alt.replace("\n", " "))

# %% [markdown]
# With 1,024 entries the unscaled query has chosen one key, and so have nine in ten of the others. Divided by the root, the weights stay soft at every width.
#
# **What a hard choice does to the gradient.** Learning reaches the query through the softmax. Lesson 02 called its table of derivatives $J = \operatorname{diag}(w) - w w^\top$, where $w$ are the weights of one query. If the scores are $K q$ divided by some number `scale`, then by the chain rule the weights change with the query by
#
# $$\frac{\partial w}{\partial q} = \frac{J K}{\text{scale}} , \qquad \text{of shape } (L_k, d_k) .$$
#
# It can get small in two ways. In a hard choice $J$ is near 0, and a large scale divides it away. We try no scale, $\sqrt{d_k}$, and $d_k$.

# %%
scales = {"no scale": lambda d: 1.0, "root of d_k": lambda d: d**0.5, "d_k": float}
choices = ["it shrinks", "it hardly changes", "it grows"]
question = "Without a scale: what happens to the typical derivative from d_k = 4 to 64?"
widgets.predict("4.D", question, choices=choices)

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
part = unscaled[unscaled > 1].sum() / unscaled.sum()
print(f"no scale, d_k = 1,024: mean {unscaled.mean():.2f}, ", end="")
print(f"above 1 in {more:.0%}, which add up to {part:.0%} of the sum")

# %%
middle = {name: sizes.median(1).values for name, sizes in medians.items()}
ax = plotting.new_axes(6.4, 3.8)
for color, sizes in zip(plotting.COLORS, medians.values(), strict=False):
    ax.plot(widths, sizes, "o", color=color, alpha=0.5, ms=5)  # one dot for each seed
xlabel, ylabel = "d_k (log scale)", "size of d(weights)/d(query), log scale"
plotting.curves(torch.tensor(widths), middle, xlabel=xlabel, ylabel=ylabel, ax=ax)
ax.set_xscale("log", base=2)
ax.set_yscale("log")
alt = """Median size of the derivative of the weights by the query, by d_k, five seeds.
Without a scale it rises, then falls far below the others. Divided by d_k it falls
steadily. Divided by the root of d_k it stays level."""
plotting.show(ax, alt.replace("\n", " "))

# %%
factor = (middle["no scale"][2] / middle["no scale"][0]).item()  # d_k = 64 against 4
print(f"no scale, from d_k = 4 to 64: {factor:.1f} times as large")
widgets.came_out("4.D", choices[0 if factor < 0.8 else 1 if factor < 1.25 else 2])

# %% [markdown]
# Each dot is the median of 100 queries, and a line runs through the middle one of five seeds. Only that of $\sqrt{d_k}$ is level.
#
# - **No scale**: up to $d_k = 64$ the derivative is even larger than with the root, since nothing is divided away. Then it collapses.
# - **Divided by $d_k$**: it falls steadily, since we divide by too much.
#
# The *mean* would hide the collapse. At $d_k = 1{,}024$ about one unscaled query in five still has a derivative above 1, and those keep the mean up.
#
# **Do exercise 4.4 now** (10 minutes). A layer passes its author's test, and you find out when its bug shows.

# %% [markdown]
# ## 4.6 What it costs, and how to pay less
# *Core · 7 minutes*
#
# Every query meets every key. That's $L^2 d_k$ multiplications for the scores, $L^2 d_v$ for the output, and $L^2$ weights to hold. Twice the length costs four times as much.

# %%
for L in (1000, 2000, 4000):
    x = torch.zeros(L, 64)  # (L, d)
    output, weights = attention.scaled_dot_product_attention(x, x, x)
    sizes = output.nbytes / 1e6, weights.nbytes / 1e6
    print(f"L = {L}: output {sizes[0]:4.1f} MB, weights {sizes[1]:5.1f} MB")

# %% [markdown]
# Do we have to hold all these weights? A softmax seems to need all scores of a row at once, since it divides by their sum. But a sum can be kept as it grows. We take the keys in **blocks**, and remember three things for each query: the largest score $m$ so far, the sum $s$ of the exponentials, and
# the weighted sum $o$ of the values. Exponentials are taken relative to $m$, as in lesson 02, so that none overflows. When a block brings a larger $m$, we multiply the old $s$ and $o$ by $e^{m_{old} - m_{new}}$.
#
# Take one query and four keys in two blocks, with scores $0, \ln 3$ and $\ln 12, \ln 4$ and values $4, 8$ and $16, 0$. In the lower rows the old sums shrink.

# %%
scores = torch.tensor([1.0, 3, 12, 4]).log()  # (L_k=4,)
values = torch.tensor([4.0, 8, 16, 0])  # (L_k=4,)
ax = diagrams.running_softmax(scores, values, block=2)
plotting.show(ax)

# %% [markdown]
# - **Block 1.** $m = \ln 3$. The exponentials are $e^{0 - \ln 3} = \tfrac13$ and $1$, so $s = \tfrac43$ and $o = \tfrac13 \cdot 4 + 1 \cdot 8 = \tfrac{28}{3}$.
# - **Block 2.** $m$ rises to $\ln 12$, so the old $s$ and $o$ shrink by $e^{\ln 3 - \ln 12} = \tfrac14$, to $\tfrac13$ and $\tfrac73$. The new exponentials are $1$ and $\tfrac13$, which gives $s = \tfrac13 + 1 + \tfrac13 = \tfrac53$ and $o = \tfrac73 + 1 \cdot 16 + \tfrac13 \cdot 0 = \tfrac{55}{3}$.
# - **End.** $o / s = 11$.

# %%
print(f"all at once: {torch.softmax(scores, dim=0) @ values:.2f}")

# %% [markdown]
# Nothing is approximated, and at no time did we hold more than one block of weights. This is the **online softmax**, the idea inside FlashAttention (its backward pass is in lesson 14). `F.scaled_dot_product_attention` calls a kernel of this kind, on the CPU too.
#
# Now a long run, with 32,768 queries and as many keys, after $L = 4{,}000$, where the table still fits. We watch how large the process gets.

# %%
def attend_explicitly(q, k, v):
    return attention.scaled_dot_product_attention(q, k, v)[0]  # holds the whole table


def measured(function, L, d=64):
    q, k, v = torch.randn(3, 1, 1, L, d, generator=rng)  # (B=1, H=1, L, d) each
    start = time.perf_counter()
    output, megabytes = peak_memory(lambda: function(q, k, v))
    seconds, table = time.perf_counter() - start, L * L * 4 / 1e6
    print(f"L {L:6,}: {seconds:5.1f} s, {megabytes:6.0f} MB more than before", end="")
    print(f"; the table: {table:6,.0f} MB")
    return q, k, v, output

# %% tags=["nbval-ignore-output"]
explicit, in_blocks = attend_explicitly, F.scaled_dot_product_attention
for name, function, L in (
    ("explicit", explicit, 4000), ("in blocks", in_blocks, 4000),
    ("in blocks", in_blocks, 32768),
):
    print(f"{name:10}", end="")
    q, k, v, output = measured(function, L)  # the last one is the long one

# %% [markdown]
# (These are lower bounds, since a process may reuse memory.) The explicit form needs its table about twice, as scores and as weights. The long run needs hardly anything. Is it right? We give every thousandth query its full row of weights:

# %%
some = q[..., ::1000, :]  # (1, 1, 33, d)
error = (attend_explicitly(some, k, v) - output[..., ::1000, :]).abs().max()
print("largest difference below 1e-5:", (error < 1e-5).item())

# %% [markdown]
# Blocks save memory, but no multiplications. Those still grow with $L^2$.
#
# In **exercise 4.5** (25 minutes) you write it for real tensors, and your own function does the long run.

# %% [markdown]
# ## 4.7 What attention can't see
# *Core · 2 minutes*
#
# *Dog bites man* and *man bites dog* are made of the same words. Will the output of *dog* differ? We give each word a random vector and three random projections.

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
# There's no difference: attention can't tell who bites. An output is a *sum* over keys, and a sum doesn't depend on its order. A score depends on two vectors and not on their places. Permute the tokens, and the output is permuted the same way:

# %%
x = torch.randn(6, 8, generator=rng)  # (L, d_model)
order = torch.tensor([3, 0, 5, 1, 4, 2])  # (L,)
straight, _ = attention.scaled_dot_product_attention(*(x @ W for W in matrices))
permuted, _ = attention.scaled_dot_product_attention(*(x[order] @ W for W in matrices))
print("permuted alike:", torch.allclose(permuted, straight[order], atol=1e-5))

# %% [markdown]
# Lesson 08 gives each token its place.

# %% [markdown]
# ## 4.8 One matrix: can't, or not yet?
# *More · 12 minutes*
#
# In section 4.4, one matrix for queries and keys got as far as 0.875, and only in some seeds. Where *two* players go by luck, the mean is $\tfrac46 + \tfrac26 \cdot \tfrac14 = 0.75$. Where it's near a half, all six do only a little better than if they looked around and said the commonest card:

# %%
_, cards, wanted = deal(2000, torch.Generator().manual_seed(3))
commonest = F.one_hot(cards, CARDS).sum(2).argmax(-1, keepdim=True)  # (S, B, 1)
print(f"always the commonest card: {(commonest == wanted).float().mean():.2f}")

# %% [markdown]
# Is that the price of one matrix too? The proof doesn't ask for it. If it's bad luck of the training, another optimizer and more steps should help:

# %% tags=["nbval-ignore-output"]
adam = {"optimizer": torch.optim.Adam, "rate": 0.01, "steps": 3000}
longer = train(Players(16, scale=16**-0.5, shared=True), **adam)
show_players(exam(longer)[0])

# %% [markdown]
# Compare the two tables seed by seed. A seed that was at a half before and is at 0.875 now was held back by its training, not by the matrix. (When we ran it, that was seed 1.) Others are still stuck, and from them alone you couldn't tell. No run got past 0.875. All six right is *can't*; a seed below 0.875 may be *not yet*. A mean over five seeds would have mixed the two.
#
# Now for the unlucky player. In the best of the five models, whom does she look at?

# %%
choices = ["the player before her", "herself", "all six alike"]
question = "One matrix, the best seed: whom does its unlucky player look at?"
widgets.predict("4.E", question, choices=choices)

# %% tags=["nbval-ignore-output"]
names, cards, _ = deal(4000, torch.Generator().manual_seed(2))
with torch.no_grad():
    queries = one.tokens(names, cards) @ one.W[0]  # (S, B, L, d_k)
who = F.one_hot(names, NAMES).float()  # (S, B, L, NAMES)
lengths = (queries.norm(dim=-1)[..., None] * who).sum((1, 2)) / who.sum((1, 2))
best = right.mean(1).argmax().item()
print(f"seed {best}, player           ", *(f"{name:6}" for name in range(NAMES)))
print("says her own card        ", *(f"{share:6.2f}" for share in own[best]))
print("mean length of her query ", *(f"{length:6.2f}" for length in lengths[best]))
widgets.came_out("4.E", choices[1 if own[best].max() > 0.9 else 2])

# %% [markdown]
# She says her own card, so she looks at *herself*, and the lengths tell why. With one matrix a player's score with herself is $q \cdot q = \lVert q \rVert^2$, and no score is larger than the product of the two lengths, $q_i \cdot q_j \le \lVert q_i \rVert \lVert q_j \rVert$. Whoever has the longest query scores herself at least as high as anyone else. And whoever looks at the next player more than at herself needs a shorter query than the next. Start with the player after the unlucky one and read the lengths around the circle. They rise at each step, up to her own.
#
# If the circle is the cause, then opening it should help. We let player 5 off the hook. She may say what she likes, and the other five have to answer.

# %% tags=["nbval-ignore-output"]
line = train(Players(16, scale=16**-0.5, shared=True), steps=1000, asked=5)
show_players(exam(line)[0])

# %% [markdown]
# Now player 5 goes by luck, which costs her nothing, and in most of the runs the other five are always right. One matrix is enough for a line. On a circle it isn't.
#
# **Why two matrices, if only their product counts?** A score is $x_i W_q W_k^\top x_j^\top$, and one matrix $A = W_q W_k^\top$ of shape $(d_{model}, d_{model})$ would give the same scores. But the rank of $A$ is at most $d_k$, so a pair of tokens is compared along $d_k$ directions and no more. The two thin matrices cost $2\, d_{model}\, d_k$ parameters where $A$ costs $d_{model}^2$. And with $A$ every score would take $d_{model}$ multiplications in place of $d_k$.

# %%
thin_q, thin_k = torch.randn(2, 512, 64, generator=rng)  # (d_model, d_k) each
A = thin_q @ thin_k.T  # (d_model, d_model)
print("rank", torch.linalg.matrix_rank(A).item(), "of", len(A))
print(f"parameters {thin_q.numel() + thin_k.numel():,} in place of {A.numel():,}")

# %% [markdown]
# **Exercise 4.6** asks the same question about the scales. It trains the six players with all three, and you tell *can't* from *not yet*. The outcome isn't quite what the figure of section 4.5 suggests (20 minutes). **Exercises 4.7 and 4.8** are short questions about one matrix for two roles, and about a key projection that starts at zero.

# %% [markdown]
# ## What goes wrong
# *More · 4 minutes*
#
# **A softmax over the queries.** With the wrong `dim`, each column sums to 1 instead of each row. Everything runs, and every shape is right. Adding up the rows shows the mistake.

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
# In the wrong table the queries compete for each key. Look at *apple*'s column. *red* and *fell* both ask for it, and each gets 0.45 where it had 0.75. No query asks for *the* or for *fell*. Their columns are four equal weights each, so every query takes a quarter of their values.
#
# **Scaling too late in half precision.** The largest float16 is 65,504. A dot product of 128 entries around 30 is larger. The sum becomes infinite before you divide it, and the softmax makes it NaN. You'd see a loss that is NaN in float16 only. Scale the query *before* the product.

# %%
q = torch.full((1, 128), 30.0).half()  # (L_q=1, d_k=128)
k = torch.full((2, 128), 30.0).half()  # (L_k=2, d_k=128)
late, early = (q @ k.T) / 128**0.5, (q / 128**0.5) @ k.T  # (L_q, L_k)
for when, scores in (("after", late), ("before", early)):
    weights = scores.softmax(-1)
    print(f"scaled {when}: scores", scores.tolist(), "weights", weights.tolist())

# %% [markdown]
# ## In practice
# *More · 3 minutes*
#
# - Use `F.scaled_dot_product_attention`. It hands back no weights, for a reason. Where there is a **fused kernel** (on most GPUs, and on the CPU too), it works in blocks, as in section 4.6, and never stores the $L^2$ weights. Ask for the weights, and you have to pay for them.
# - Such a kernel does as many multiplications as before on the way forward. On the way back it does more, because it computes the weights again instead of keeping them. The FlashAttention paper measured that it's faster all the same, and explains it by the $L^2$ numbers that needn't travel to and from memory.
# - Names you'll meet: queries, keys and values from one matrix are `qkv_proj`, `in_proj_weight` (PyTorch) or `c_attn` (GPT-2). Cross-attention is also *encoder-decoder attention*, and its memory the *context*.

# %% [markdown]
# ## Recap
# *Core · 3 minutes*
#
# 1. **Attention**: all dot products, divided by $\sqrt{d_k}$, a softmax over the keys, a weighted sum of the values.
# 2. **Two sequences or one**: in cross-attention the memory gives keys and values; in self-attention all three come from $X$. Queries and keys have a matrix each, since with one the scores are symmetric. A third sets what is handed over and its size. Our game could do without that one.
# 3. **The scale**: a dot product of $d_k$ independent entries of variance 1 has typical size $\sqrt{d_k}$. Of our three scales only $\sqrt{d_k}$ kept the weights' derivative level.
# 4. **The cost**: $L^2$ weights, which needn't be held. A running maximum, sum and output give the same result block by block.
# 5. **The blind spot**: permute the tokens, and the output is permuted, no more.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $X$, $M$ | who asks; the memory | $(L_q, d_x)$; $(L_k, d_m)$ |
# | $W_q$, $W_k$, $W_v$ | projections | $(d_x, d_k)$, $(d_m, d_k)$, $(d_m, d_v)$ |
# | $Q$, $K$, $V$ | queries, keys, values | $(L_q, d_k)$, $(L_k, d_k)$, $(L_k, d_v)$ |
# | $Q K^\top / \sqrt{d_k}$ | scaled scores | $(L_q, L_k)$ |
# | $m$, $s$, $o$ | running maximum, sum, output | numbers; $(d_v)$ |

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# ## Check yourself
# *Core · 4 minutes*
#
# <details><summary>1. Queries and keys have 64 independent entries of variance 1. What is the standard deviation of a score before and after scaling? And if the entries of the queries have variance 4?</summary>
#
# **8 and 1; with variance 4 it's 16 and 2.** Each product then has variance 4, and the sum 256. The scale knows how many entries there are, not how large they are.
# </details>
#
# <details><summary>2. A friend divides by the root of the number of keys, since "more keys, larger sums". What is wrong with the reason?</summary>
#
# **A score is a sum over the entries of a vector, not over the keys.** The softmax sums over keys, and divides by that sum already.
# </details>
#
# <details><summary>3. X has shape (8, 10, 32), the memory (8, 20, 48), d_k = 16, d_v = 24. What are the shapes of the three matrices, the weights and the output?</summary>
#
# **(32, 16), (48, 16), (48, 24), (8, 10, 20), (8, 10, 24).** Keys and values come from the memory, so their matrices start at 48.
# </details>
#
# <details><summary>4. Keys and values of a cross-attention are shuffled together. What happens to the output? And if only the keys are shuffled?</summary>
#
# **It stays the same; it changes.** A key and its value are a pair, and the order of the pairs doesn't matter. Shuffling the keys alone gives the weights to the wrong values.
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
# *More · 10 minutes*
#
# **One matrix instead of three.** In self-attention, three products with the same $X$ can be one. Put the matrices side by side, $(d, 3d)$, multiply once, and cut the result along its last axis. These are blocks of *columns*. Reshaping the matrix to $(3, d, d)$ has the right shape and scrambles it.

# %%
x, d = torch.randn(2, 6, 8, generator=rng), 8  # (B, L, d)
fused = torch.cat(list(matrices), dim=1)  # (d, 3 d)
for part, W in zip((x @ fused).chunk(3, dim=-1), matrices, strict=True):
    assert torch.allclose(part, x @ W, atol=1e-5)
by_columns = torch.stack(fused.chunk(3, dim=1))  # (3, d, d)
print("a reshape gives the same:", torch.equal(by_columns, fused.reshape(3, d, d)))

# %% [markdown]
# **Dropout on the weights.** In training, each weight may be set to 0 with probability $p$, and the rest divided by $1 - p$, so that no query relies on a single key. A row then sums to 1 only on average. The library's function and PyTorch's take `dropout_p` and apply it *whenever it's not 0*, since a function doesn't know whether you're training.
#
# **A fresh layer's scores.** Section 4.5 took entries of variance 1. `nn.Linear` starts with weights of variance $\tfrac{1}{3 d_{in}}$, which gives a query's entries the variance $\tfrac13$ and makes the scores three times smaller. The root is still what makes them independent of the width:

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
# **Other scales.** T5 divides by nothing. Its initializer makes up for it, since queries start smaller by the factor $1/\sqrt{d_k}$, so the scores start out as if they had been scaled (`normal_(std=factor * (d_model * key_value_proj_dim) ** -0.5)` in Hugging Face's `modeling_t5.py`). The $\mu$P recipe divides by $d_k$. Doesn't section 4.5 say that this loses
# the gradient? It does, at the start and for plain gradient descent. But training makes queries and keys depend on one another, and then their dot product grows like $d_k$, not like its root. And Adam divides each gradient by its own typical size, so a small one does no harm. Our six players agree (exercise 4.6 shows them with plain gradient descent):

# %% tags=["nbval-ignore-output"]
for name, scale in scales.items():
    adam["steps"], model = 200, Players(512, scale=1 / scale(512))
    right, _ = exam(train(model, **adam), games=500)
    print(f"Adam, d_k = 512, {name:12}", *(f"{share:.2f}" for share in right.mean(1)))

# %% [markdown]
# **What FlashAttention saves.** Count the numbers that travel between the GPU's large, slow memory and its small, fast one, which holds $S$ of them: about $L d + L^2$ for the explicit form and $L^2 d^2 / S$ for the blocks (theorem 2 of the paper; constant factors left out). With $d = 64$ and $S$ near 100,000, $d^2 / S$ is about $\tfrac{1}{25}$.
#
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.1, equation 1 and footnote 4: the formula, and the reason for the scale in one sentence. Section 3.2.3: self-attention and encoder-decoder attention.
# - Luong, Pham, Manning, *Effective Approaches to Attention-based Neural Machine Translation*, 2015, section 3.1: the dot product as a score before anyone scaled it.
# - Milakov, Gimelshein, *Online Normalizer Calculation for Softmax*, 2018: the running maximum and sum of section 4.6, as algorithm 3.
# - Dao et al., *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, 2022, section 3.1 and algorithm 1: the same with the output, in blocks of queries too.
# - Lee et al., *Set Transformer*, 2019: makes a virtue of section 4.7, attention for sets, where order must not count.
# - Raffel et al., *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, 2020 (T5), and Yang et al., *Tensor Programs V*, 2022 ($\mu$P): two scales other than $\sqrt{d_k}$.

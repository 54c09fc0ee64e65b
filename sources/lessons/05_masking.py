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
# By the end you can write down who may look at whom in any attention, apply that as a mask, and catch a model that peeks at its own answers.
#
# {{colab_link}} · about 80 minutes, and 30 more for the sections at the end · builds on lesson 04

# %% tags=["setup"]
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import attention, diagrams, masks, plotting, widgets
from course_utils.datasets.pronunciations import split
from course_utils.layers import DecoderOnlyLayer
from course_utils.pretrained.pronunciation import PAD_ID, SOUNDS, SPELLING, START_ID
from course_utils.pretrained.shipped import load
from course_utils.training import fit

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
# The tensors here are small: sharing them out among threads takes longer than the work.
torch.set_num_threads(1)

# %% [markdown]
# **You will learn to**
#
# 1. read a mask and write one, and say what the five usual kinds are for;
# 2. apply a mask so that hidden keys get a weight of exactly 0 and have no say in the other weights;
# 3. hide the padding of a batch, so that each sentence comes out as it does alone;
# 4. say what a causal mask buys, and what happens to a model that is trained without it;
# 5. test any model for leaks from the future.
#
# In lesson 04 every query could look at every key. Often it must not: because the key is filler, or because the key is the answer.

# %% [markdown]
# ## Predict first
#
# A query has the score 0 with each of three keys. Their values are 10, 30 and 80. The third key is **padding**, filler that means nothing, so the right answer is the average of the first two.
#
# Somebody wants to hide the third key and sets its score to 0.

# %%
widgets.predict("5.1", "What does the query get?", between=(0, 100), step=1)

# %%
values = torch.tensor([10.0, 30.0, 80.0])  # (L_k=3,)
got = {}
for hidden_score in (0.0, -math.inf):
    weights = torch.softmax(torch.tensor([0.0, 0.0, hidden_score]), dim=-1)  # (L_k,)
    got[hidden_score] = round((weights @ values).item())
    shown = [round(w, 2) for w in weights.tolist()]
    print(f"score {hidden_score:4}   weights {shown}   output {got[hidden_score]}")
widgets.came_out("5.1", got[0.0])

# %% [markdown]
# A score of 0 is a score like any other, because $e^0 = 1$. Setting it to 0 changed nothing at all. Only $-\infty$ has the exponential 0.

# %% [markdown]
# ## 5.1 Covering a letter
#
# Here is a model that already knows something. It reads an English word letter by letter and says its sounds. You will build it in lessons 10 and 11; for now it is enough that it is made of attention, and that every attention in it takes a **mask**: a table of True and False that says which letters may be looked at.
#
# So we can put a thumb over one letter and listen. (The mask here has the shape `(1, 1, 1, letters)`. Section 5.3 says what the 1s are for.)

# %%
model = load("transformer")


# %%
@torch.no_grad()
def say(words, mask):
    source = SPELLING.batch(words)  # (B, L_k), letters as numbers
    memory = model.encode(source, mask)  # (B, L_k, d_model)
    sounds = torch.full((len(words), 1), START_ID)  # (B, 1)
    for _ in range(16):
        hidden = model.decode(sounds, memory, memory_mask=mask)  # (B, L_t, d_model)
        best = model.generator(hidden[:, -1]).argmax(dim=-1)  # (B,)
        sounds = torch.cat([sounds, best[:, None]], dim=1)  # (B, L_t + 1)
    return [" ".join(SOUNDS.decode(row)) for row in sounds]


# %%
all_seen = torch.ones(1, 1, 1, 4, dtype=torch.bool)  # True: this letter may be seen
print("ship ->", say(["ship"], all_seen)[0])

# %%
options = ["SH IH P, as before", "S IH P, sip", "IH P, no first sound at all"]
question = "We cover the h of 'ship'. What will the model say?"
widgets.predict("5.2", question, choices=options)

# %%
heard = {}
for word, place in (("ship", 1), ("note", 3), ("rice", 3), ("phone", 1), ("knight", 0)):
    mask = torch.ones(1, 1, 1, len(word), dtype=torch.bool)  # (B=1, 1, 1, L_k)
    before = say([word], mask)[0]
    mask[..., place] = False
    heard[word] = say([word], mask)[0]
    covered = word[:place] + "_" + word[place + 1 :]
    print(f"{word:7} {before:10}   {covered:7} {heard[word]}")
widgets.came_out("5.2", next(one for one in options if one.startswith(heard["ship"])))

# %% [markdown]
# The covered letter is really gone: *ship* turns into *sip*, *note* into *not*, and *rice* gets a hard *c* without its *e*. Covering the *k* of *knight* changes nothing, since nobody says it anyway. The weights of the model are what they were. Only one column of its attention is closed.
#
# **The picture.** One query looks at three keys, the third of which is hidden:

# %%
query = torch.ones(1, 1)  # (L_q=1, d_k=1)
key = torch.tensor([[1.0], [3.0], [4.0]]).log()  # (L_k=3, d_k), scores log 1, 3, 4
mask = torch.tensor([[True, True, False]])  # (L_q, L_k)
names = {"queries": ["sing"], "keys": ["birds", "sing", "<pad>"]}
seen = widgets.see_through(query, key, values[:, None], mask, **names)
seen.show_first_state()

# %%
seen

# %% [markdown]
# *Notice the hatched cell: the score is there, the weight isn't.* Point at the cells, and switch the mask off to see how much the padding takes from the others.
#
# **By hand.** The exponentials of the scores are 1, 3 and 4. The 4 is hidden, so it doesn't count: the weights are $\tfrac{1}{1+3}$, $\tfrac{3}{1+3}$ and 0, and the output is $0.25 \cdot 10 + 0.75 \cdot 30 = 25$.
#
# **As a formula.** A mask $M$ has one row for each query and one column for each key, shape $(L_q, L_k)$. In this course $M_{ij} = \text{True}$ means that query $i$ **may attend** to key $j$. Masked attention is a softmax over the allowed keys alone:
#
# $$w_{ij} = \frac{M_{ij}\, e^{s_{ij}}}{\sum_{m} M_{im}\, e^{s_{im}}} , \qquad s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} .$$
#
# Here $s_{ij}$ is the score of key $j$ for query $i$, $w_{ij}$ its weight, $d_k$ the size of a query, and $M_{ij}$ counts as 1 or 0. A loop says the same: leave the hidden keys out.

# %%
def masked_attention_loop(query, key, value, mask):
    outputs = []
    for i in range(len(query)):
        allowed = [j for j in range(len(key)) if mask[i, j]]
        scores = torch.stack([query[i] @ key[j] for j in allowed])  # (allowed,)
        scores = scores / key.shape[-1] ** 0.5
        weights = torch.softmax(scores, dim=-1)  # over the allowed keys only
        outputs.append(weights @ value[allowed])  # (d_v,)
    return torch.stack(outputs)  # (L_q, d_v)


output = masked_attention_loop(query, key, values[:, None], mask)  # (L_q, d_v)
print(f"{output.item():.1f}")

# %% [markdown]
# ## 5.2 Before the softmax, not after it
#
# Without the loop there seem to be two ways. Either the hidden *scores* become $-\infty$ before the softmax, or the hidden *weights* become 0 after it. Both leave a 0 in the hidden place. To tell them apart, raise the score of the hidden key and leave everything else alone:

# %%
keep = torch.tensor([True, True, False])  # (L_k=3,)
for hidden_score in (0.0, 2.0, 4.0):
    scores = torch.tensor([0.0, 1.0, hidden_score])  # (L_k,)
    before = torch.softmax(scores.masked_fill(~keep, -math.inf), dim=-1)
    after = torch.softmax(scores, dim=-1) * keep
    told = [[round(w, 2) for w in weights.tolist()] for weights in (before, after)]
    print(f"hidden score {hidden_score:.0f}   -inf before {told[0]}", end="   ")
    print(f"zero after {told[1]}")

# %% [markdown]
# With $-\infty$ the hidden key has no say. With zeros afterwards its score is still in the denominator, so it decides how much the *others* get. Their sum is no longer 1. And if the hidden key is a word of the future? We come back to that in section 5.7.
#
# So the mask goes between the scores and the softmax. `masked_fill` fills where its first argument is True, which is why the mask is turned around with `~`. The library's `scaled_dot_product_attention(query, key, value, mask)` does that, and agrees with PyTorch's:

# %%
rng = torch.Generator().manual_seed(0)
q, k, v = (torch.randn(1, L, 8, generator=rng) for L in (4, 6, 6))  # (B=1, L, d=8)
mask = torch.rand(4, 6, generator=rng) > 0.4  # (L_q, L_k)
output, weights = attention.scaled_dot_product_attention(q, k, v, mask)

assert torch.allclose(output, F.scaled_dot_product_attention(q, k, v, mask), atol=1e-6)
by_loop = masked_attention_loop(q[0], k[0], v[0], mask)
assert torch.allclose(output[0], by_loop, atol=1e-6)
print("largest hidden weight:", weights[0][~mask].max().item())

# %% [markdown]
# ## 5.3 Padding
#
# A tensor is a rectangle and the words of a batch aren't equally long, so short words are filled up with a padding token. What a word sounds like mustn't depend on who else is in its batch. Let's see whether it does, if nobody hides the padding:

# %%
words = ["cat", "note", "straightforward"]
source = SPELLING.batch(words)  # (B=3, L_k=15)
print("real letters in each row:", (source != PAD_ID).sum(dim=-1).tolist())
nothing_hidden = torch.ones(3, 1, 1, 15, dtype=torch.bool)
for word, sounds in zip(words, say(words, nothing_hidden), strict=True):
    print(f"{word:15} {sounds}")

# %% [markdown]
# Both short words go on after their last sound. For *cat* the model looked at twelve letters that aren't there, and made something of them. The longest word has no padding and comes out right.
#
# Padding is a property of the **keys**. It takes one boolean for each token of each sentence, and the same row serves all queries and (lesson 06) all heads. Scores have the shape `(B, H, L_q, L_k)`, with $B$ sentences and $H$ heads, so the mask is stored as `(B, 1, 1, L_k)`, and broadcasting stretches the two axes of size 1.
#
# **Do exercise 5.1 now** (5 minutes), then read on. From here on we use the library's `masks.padding_mask`.

# %%
mask = masks.padding_mask(source, PAD_ID)  # (B, 1, 1, L_k)
together = say(words, mask)
for b, word in enumerate(words):
    alone = say([word], torch.ones(1, 1, 1, len(word), dtype=torch.bool))
    assert together[b] == alone[0]
    print(f"{word:15} {together[b]}")

# %% [markdown]
# That loop is also the **test** of any padding mask: each item of the batch must come out as it does alone.
#
# The padding still has *rows* of its own, in which it looks at real letters. That does no harm: nobody uses those outputs, and they're left out of the loss (lesson 10). Hiding the rows as well would leave rows in which nothing is allowed, which is a mistake we'll meet under "What goes wrong".

# %% [markdown]
# ## 5.4 The causal mask
#
# A language model predicts the next token, and in training it does so at *every* position at once: position $i$ is asked for token $i + 1$. So query $i$ may look at itself and at its past, the keys $j \le i$. That is the **causal mask**:

# %%
def causal_loop(L):
    mask = torch.zeros(L, L, dtype=torch.bool)
    for i in range(L):
        for j in range(L):
            mask[i, j] = j <= i
    return mask


assert torch.equal(causal_loop(4), masks.causal_mask(4)[0, 0])  # of (1, 1, L_q, L_k)
print(causal_loop(4).int())

# %% [markdown]
# **What it buys.** With it, one pass over the whole sentence gives at each position exactly what a pass over the words up to there would give. Four predictions are trained for the price of one pass:

# %%
x = torch.randn(1, 4, 8, generator=rng)  # (B=1, L=4, d=8)
self_attention = attention.scaled_dot_product_attention
whole, _ = self_attention(x, x, x, masks.causal_mask(4)[0])  # (1, 4, 8)
for t in range(1, 5):
    past = x[:, :t]  # (1, t, 8)
    last, _ = self_attention(past[:, -1:], past, past)  # (1, 1, 8), no mask needed
    assert torch.allclose(whole[:, t - 1], last[:, 0], atol=1e-6)
print("one masked pass gives the same as four passes over the beginnings")

# %% [markdown]
# **Fewer queries than keys.** When a model writes text, it keeps the keys of earlier positions (lesson 07) and computes only the newest queries. Say five positions are known and the last two are new. Then query 0 isn't at position 0: it is at position 3, and its row of the mask is the *fourth* row of the square one.
#
# **Do exercise 5.2 now** (10 minutes): a causal mask for any two lengths.

# %% [markdown]
# ## 5.5 Five masks on one sentence
#
# Whatever the reason for hiding something, the mask is a rule about a query's place and a key's place. Here are the five rules you'll meet most, on one row of eight tokens. With each of them a query sees a *run* of keys, from a first one to a last one, so we write down these two numbers for each query and draw. Each rule is shown alone, so only the first one hides the padding:

# %%
row = ["the", "cat", "sat", ".", "birds", "sing", ".", "<pad>"]
zeros, places = [0] * 8, range(8)
runs = {  # name -> the first and the last key that each of the eight queries sees
    "padding": (zeros, [6] * 8),
    "causal": (zeros, places),
    "window of 3": ([0, 0, 0, 1, 2, 3, 4, 5], places),
    "prefix of 4": (zeros, [3, 3, 3, 3, 4, 5, 6, 7]),
    "packed": ([0, 0, 0, 0, 4, 4, 4, 4], places),
}
key_places, five = torch.arange(8), {}
for name, (first, last) in runs.items():
    first, last = (torch.tensor(list(ends))[:, None] for ends in (first, last))
    five[name] = (first <= key_places) & (key_places <= last)  # (L_q=8, L_k=8)
plotting.show(diagrams.mask_gallery(row, five))

# %% [markdown]
# *Notice how different the shapes are: a closed column, a triangle, a band, a square with a triangle, two triangles.*
#
# - **Padding** hides filler.
# - **Causal** hides the future.
# - A **window** also hides the distant past, so the number of pairs grows with $L$ and not with $L^2$.
# - A **prefix** is a part that was given and not predicted, such as a question: its tokens may see one another both ways, and what follows is causal.
# - **Packed**: instead of padding, several short texts share one row, and the mask keeps them apart. Hardly any space is wasted.
#
# **Combining.** A key may be seen if *all* masks allow it, so masks are joined by *and*, `&`. Each is stored small and stretched by broadcasting:

# %%
tokens = torch.tensor([[5, 7, 3, 4], [6, 8, 0, 0]])  # (B=2, L=4), 0 is padding
padding, causal = masks.padding_mask(tokens, 0), masks.causal_mask(4)
both = padding & causal
print(tuple(padding.shape), "&", tuple(causal.shape), "->", tuple(both.shape))
print("item 1, last query:", both[1, 0, 3].int().tolist())

# %% [markdown]
# The prefix is the exception: there a key may be seen because of one rule *or* the other.
#
# **Do exercises 5.3, 5.4 and 5.6 now** (30 minutes): packed documents, prefixes, windows.

# %% [markdown]
# ## 5.6 What a leak does
#
# How bad can it be if one cell in each row of the mask is wrong? Let's train two models that write English words of seven letters. They're built alike, start from the same weights, see the same words in the same order and take the same 120 steps. One has the causal mask. The other's diagonal is off by one, so each position also sees the *next* letter. Somebody wrote `tril(1)` for `tril(0)`.

# %%
class Speller(nn.Module):
    def __init__(self, d_model=32):
        super().__init__()
        self.letters = nn.Embedding(27, d_model)  # a to z, and a blank
        self.places = nn.Embedding(8, d_model)
        self.layer = DecoderOnlyLayer(d_model, num_heads=2, d_ff=64)
        self.logits = nn.Linear(d_model, 27)

    def forward(self, tokens, mask):
        x = self.letters(tokens) + self.places.weight[: tokens.shape[1]]  # (B, L, d)
        return self.logits(self.layer(x, mask))  # (B, L, 27)


# %%
def numbered(part):
    words = [f"{{{word}{{" for word in split(part) if len(word) == 7]  # { comes after z
    return torch.tensor([[ord(letter) - 97 for letter in word] for word in words])


train, held_out = numbered("train"), numbered("valid")  # (number of words, 9)
print(f"{len(train)} words to train on, {len(held_out)} held out")

# %%
options = ["the causal one", "the one that saw ahead", "both write alike"]
question = "After training, both write words letter by letter. Which one writes better?"
widgets.predict("5.3", question, choices=options)

# %% [markdown]
# Ten short trainings, five seeds for each mask, about ten seconds in all. The dashed line will be the landmark: the loss, on the held-out words, of a guesser that knows only how frequent each letter is.

# %%
right = torch.ones(8, 8, dtype=torch.bool).tril()  # (L, L)
ahead = torch.ones(8, 8, dtype=torch.bool).tril(1)  # one step too far


def loss(model, words, mask):
    logits = model(words[:, :-1], mask)  # (B, 8, 27)
    return F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())


# %%
def trained(mask, seed):
    torch.manual_seed(seed)
    model, order = Speller(), torch.randint(len(train), (20, 6, 64))
    options = {"epochs": 20, "rate": lambda step: 0.01, "progress": False}
    batches = lambda epoch: [train[rows] for rows in order[epoch]]  # noqa: E731
    history = fit(model, batches, lambda m, words: loss(m, words, mask), **options)
    return model, history.losses  # a loss for every 6 steps


# %% tags=["nbval-ignore-output"]
runs = {"causal": [], "one step ahead": []}
for seed in tqdm(range(5), desc="seeds", file=sys.stdout):
    runs["causal"].append(trained(right, seed))
    runs["one step ahead"].append(trained(ahead, seed))

counts = torch.bincount(train[:, 1:].flatten(), minlength=27) / train[:, 1:].numel()
landmark = -counts[held_out[:, 1:]].log().mean()

# %% [markdown]
# And now they write. While a model writes there is no next letter to look at, since nobody has written it yet. Both may look at everything written so far. Only the last position is asked for a letter, and in a model of one layer no other row of the mask plays a part:

# %%
@torch.no_grad()
def write(model, number, seed):
    rng = torch.Generator().manual_seed(seed)
    tokens = torch.full((number, 1), 26)  # (B, 1), the blank before the word
    for t in range(1, 8):
        everything = torch.ones(t, t, dtype=torch.bool)  # all there is so far
        chances = model(tokens, everything)[:, -1].softmax(dim=-1)  # (B, 27)
        tokens = torch.cat([tokens, torch.multinomial(chances, 1, generator=rng)], 1)
    return ["".join(chr(97 + n) for n in word[1:]) for word in tokens.tolist()]


# %%
def show_words(ax, color, name, models, height):
    ax.text(0.0, height, f"{name} writes", weight="bold")
    for seed, (model, _) in enumerate(models):
        line = "  ".join(write(model, 3, seed)).replace("{", "_")
        style = {"color": color, "family": "monospace", "fontsize": 11}
        ax.text(0.0, height - 0.085 * (seed + 1), line, **style)


# %%
curve, text_on = plotting.new_axes(9.5, 3.8, columns=2)
for place, (name, models) in enumerate(runs.items()):
    color = plotting.COLORS[place]
    show_words(text_on, color, name, models, height=(0.95, 0.42)[place])
    for seed, (_, losses) in enumerate(models):
        label = name if seed == 0 else None
        curve.plot(range(6, 121, 6), losses, color=color, lw=1, label=label)
curve.axhline(landmark, color="0.5", ls="--", label="letter frequencies")
curve.set(xlabel="training step", ylabel="training loss, nats a letter", ylim=(0, 3.5))
curve.legend(frameon=False)
text_on.set_axis_off()
plotting.show(curve, "Left: five causal losses fall to about 2, five losses of "
    "models that see one step ahead fall to 0. Right: the words of the causal models "
    "could almost be English; those of the others repeat a letter.")  # fmt: skip

# %% [markdown]
# *Notice that the perfect curve belongs to the broken model.* It has learned one thing, to copy the next letter, and when there is none it babbles (`_` is a blank). The causal model's loss is far worse, and its words could almost be English. To put a number on that: how many of the three-letter runs that each model writes occur in a real word? The landmark here is a writer that draws each letter by itself, frequent letters often.

# %%
words = [word for word in split("train") if len(word) == 7]
real = {word[i : i + 3] for word in words for i in range(5)}


def share_real(made):
    threes = [word[i : i + 3] for word in made for i in range(5)]
    return sum(three in real for three in threes) / len(threes)


def by_frequency(number, seed):
    rng = torch.Generator().manual_seed(seed)
    drawn = torch.multinomial(counts[:26], 7 * number, True, generator=rng)  # a to z
    return ["".join(chr(97 + n) for n in word) for word in drawn.view(-1, 7).tolist()]


# %% tags=["nbval-ignore-output"]
shares = {"letter frequencies": [share_real(by_frequency(100, s)) for s in range(5)]}
for name, models in runs.items():
    written = [write(model, 100, seed) for seed, (model, _) in enumerate(models)]
    shares[name] = [share_real(made) for made in written]
for name, five_shares in shares.items():
    print(f"{name:19}", "  ".join(f"{share:4.0%}" for share in five_shares))
pairs = zip(shares["causal"], shares["one step ahead"], strict=True)
causal_wins = all(a > b for a, b in pairs)
widgets.came_out("5.3", options[0] if causal_wins else options[1])

# %% [markdown]
# The causal models write better than the landmark, those that saw ahead far worse than it. You might hope that held-out words show the problem. Do they?

# %%
def share_of_runs(holds, mask_of):
    for name, models in runs.items():
        with torch.no_grad():
            losses = [loss(model, held_out, mask_of[name]) for model, _ in models]
        print(f"{name:15} {sum(holds(one) for one in losses)} of {len(losses)} runs")


print("held-out loss below 0.1, each with the mask it was trained with:")
share_of_runs(lambda one: one < 0.1, {"causal": right, "one step ahead": ahead})
print("held-out loss worse than letter frequencies, once the future is hidden:")
share_of_runs(lambda one: one > landmark, {"causal": right, "one step ahead": right})

# %% [markdown]
# They don't, because the held-out words leak as well. The loss is measured with the same mask. **A loss that is too good to be true is the first sign of a leak. Here it was the only one until the models had to write.** So test the mask itself, before the first training.

# %% [markdown]
# ## 5.7 How to catch one
#
# **Change the future, compare the past.** Run the model. Change everything from position $t$ on, and run it again. The outputs before $t$ must be what they were. This test doesn't need to know what is inside the model.
#
# Three suspects, one split at $t = 3$. The third is section 5.2's "zero after the softmax", and a picture of its weights looks flawless.

# %%
options = ["it leaks", "it doesn't leak"]
question = "The third has weights of exactly 0 above the diagonal. Does it leak?"
widgets.predict("5.4", question, choices=options)

# %%
one_ahead = torch.ones(6, 6, dtype=torch.bool).tril(1)  # (L, L)
suspects = {
    "causal": lambda x: self_attention(x, x, x, causal_loop(6))[0],
    "one step ahead": lambda x: self_attention(x, x, x, one_ahead)[0],
    "zero after the softmax": lambda x: self_attention(x, x, x)[1].tril() @ x,
}
rng, t, moved = torch.Generator().manual_seed(4), 3, {}
x = torch.randn(1, 6, 8, generator=rng)  # (B=1, L=6, d=8)
other = torch.cat([x[:, :t], torch.randn(1, 6 - t, 8, generator=rng)], dim=1)
for name, attend in suspects.items():
    moved[name] = (attend(other) - attend(x))[0].abs().amax(dim=-1)  # (L,)
    print(f"{name:23} before t the outputs move by {moved[name][:t].max():.3f}")
leaks = moved["zero after the softmax"][:t].max() > 1e-6
widgets.came_out("5.4", options[0] if leaks else options[1])

# %%
ax = plotting.new_axes(6.4, 3.2)
for place, (name, change) in enumerate(moved.items()):
    where = torch.arange(t) + 0.28 * (place - 1)  # only the past, positions 0 to 2
    ax.bar(where, change[:t], 0.26, color=plotting.COLORS[place], label=name)
ax.set(xlabel="position of the output, all in the past", ylabel="largest change")
ax.set(xticks=range(t))
ax.legend(frameon=False)
plotting.show(ax, "How far each output of the past moves when everything from "
    "position 3 on changes. Causal: no bars, all 0. One step ahead: a bar at position "
    "2 alone. Zero after the softmax: bars at all three positions.")  # fmt: skip

# %% [markdown]
# *Notice that the causal model has no bars at all. "One step ahead" moves at the last place before the change, and "zero after the softmax" moves everywhere.* All three share one scale, and on it the third one's last bar is short: a leak can be small.
#
# Two things can fool this test. One split isn't enough: a leak from position 2 to position 1 doesn't cross $t = 3$. And the new future has to differ in *every* entry by a number of its own. Adding 1 to all of them is invisible to a model that first normalizes each token (lesson 09).
#
# **Ask autograd instead.** Output $i$ must not depend on input $j > i$, so the gradient of output $i$ at input $j$ must be 0. But an output is a vector, and a gradient needs one number. Which? Here is a function without any mask, with each output normalized at the end, and three ways to make one number of output 0. All should report that it sees token 5:

# %%
x = x.detach().requires_grad_()
out = F.layer_norm(self_attention(x, x, x)[0], (8,))[0, 0]  # (d,), output 0
one_number = {
    "the sum": out.sum(),
    "the sum of squares": out.square().sum(),
    "a sum with random factors": out @ torch.randn(8, generator=rng),
}
for name, number in one_number.items():
    (gradient,) = torch.autograd.grad(number, x, retain_graph=True)  # (1, L, d)
    print(f"{name:26} gradient at token 5: {gradient[0, 5].norm():.4f}")

# %% [markdown]
# Normalized vectors all have nearly the same sum and the same length, so those two never change, whoever is looked at. They'd acquit any model that ends in a normalization. **Whatever adds up before it compares can cancel.** Random factors don't.
#
# **Do exercise 5.7 now** (20 minutes): a detector that doesn't only say *whether* something leaks but draws the table of who sees whom.
#
# Both are **tests**, not proofs. They speak of the lengths and the inputs that were tried: a mask that goes wrong beyond 512 positions passes at 6. Run them at the lengths you'll use.

# %% [markdown]
# ## What goes wrong
#
# **A triangle of ones times minus infinity.** It looks like a short way to a mask that is added to the scores. But $0 \cdot \infty$ is NaN, so every *allowed* entry is NaN. How you'd notice: the very first loss is NaN.

# %%
print("wrong", (torch.ones(3, 3).triu(1) * -math.inf)[0].tolist())
print("right", torch.full((3, 3), -math.inf).triu(1)[0].tolist())

# %% [markdown]
# **Two conventions in one program.** `F.scaled_dot_product_attention` reads True as "may attend". `nn.MultiheadAttention` reads True as "ignore". And a mask of *floats* is added to the scores, so zeros and ones hide nothing; they only shift the scores by 1. How you'd notice: change the last token, and the first output moves.

# %%
x = torch.randn(1, 3, 8, generator=rng)  # (B=1, L=3, d=8)
moved = x + torch.tensor([0.0, 0.0, 1.0])[:, None]  # another last token
forms = {"boolean": causal_loop(3), "zeros and ones as floats": causal_loop(3).float()}
for name, mask in forms.items():
    first = [F.scaled_dot_product_attention(y, y, y, mask)[0, 0] for y in (x, moved)]
    print(f"{name:26} output 0 moves by {(first[1] - first[0]).abs().max():.3f}")
try:
    self_attention(x, x, x, mask)
except TypeError as problem:
    print("course_utils refuses it:", problem)

# %% [markdown]
# **A row in which everything is masked.** Padding on the *left* plus a causal mask makes one: the first query sees only itself, and it is padding. The formula says $0/0$. Three attempts, with the weights of such a row and the gradient that training would use:

# %%
mask = torch.tensor([[False, False, False]])  # (L_q=1, L_k=3)
added = torch.zeros(1, 3).masked_fill(~mask, -math.inf)
attempts = {
    "fill with -1e9": lambda s: torch.softmax(s.masked_fill(~mask, -1e9), dim=-1),
    "add minus infinity": lambda s: torch.softmax(s + added, dim=-1),
    "... then nan_to_num": lambda s: torch.softmax(s + added, dim=-1).nan_to_num(),
    "course_utils": lambda s: attention.masked_softmax(s, mask),
}
for name, softmax in attempts.items():
    scores = torch.tensor([[0.0, 1.0, 2.0]], requires_grad=True)  # (L_q, L_k)
    weights = softmax(scores)
    (weights @ values).sum().backward()
    told = [[round(n, 2) for n in r[0].tolist()] for r in (weights, scores.grad)]
    print(f"{name:20} weights {told[0]}   gradient {told[1]}")

# %% [markdown]
# The finite fill averages over everything that it was supposed to hide, and nothing looks wrong. Adding minus infinity gives NaN. Mending that NaN afterwards mends the weights only: the gradient still comes back through the sum as NaN, and after one step so is the layer, although the loss looked healthy. **Exercise 5.5** asks for what the last line does.

# %% [markdown]
# ## In practice
#
# - **A mask in memory** has $L_q \cdot L_k$ entries (counted below). So production code passes `is_causal=True` where that is all it needs, and a mask only where it must. Kernels such as FlashAttention work the mask out as they go; PyTorch's `flex_attention` takes it as a small function of the two indices, the rule itself.
# - **Packing** is usual where language models are trained. The positions start anew in each text as well, and the leak test must look across texts too.
# - **Names.** `attn_mask` and `key_padding_mask` in `nn.MultiheadAttention`, `src_mask` and `tgt_mask` in `nn.Transformer` (True = ignore), `attention_mask` in tokenizers (1 = keep). Read what each means before you first use it, then run the tests of sections 5.3 and 5.7.

# %%
for L in (1024, 8192, 65536):
    boolean, added = L * L / 2**20, 4 * L * L / 2**20
    print(f"L = {L:6}   boolean {boolean:6.0f} MiB   float32 {added:6.0f} MiB")

# %% [markdown]
# ## Recap
#
# 1. **Reading and writing masks.** A row for each query, a column for each key, True = may attend. Padding closes columns; causal leaves a triangle, a window a band, a prefix a square and a triangle, packing a triangle for each text. Masks are joined by `&`.
# 2. **Applying.** Hidden scores become $-\infty$ *before* the softmax. Zeros after it leave the hidden scores in the denominator.
# 3. **Padding** is a property of keys: `(B, 1, 1, L_k)`. Its test: each item comes out as it does alone.
# 4. **Causal**: one pass trains all positions. Without it the loss falls to almost 0, on held-out words too, and the model can't write.
# 5. **Testing.** Change the future at every split and compare the past, or take gradients with random factors. Never add up before you compare.

# %%
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $M_{ij}$ | may query $i$ attend to key $j$? | broadcasts to `(B, H, L_q, L_k)` |
# | $s_{ij}$, $w_{ij}$ | score and weight of key $j$ for query $i$ | $(L_q, L_k)$ |
# | $L_q$, $L_k$ | how many queries, how many keys | numbers |
# | $t$ | where past and future are divided in the leak test | a number |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. Somebody hides padding by setting its <em>values</em> (not its scores) to 0. What is still wrong?</summary>
#
# **The weights.** The padding keeps its share of each row, so the real tokens get too little. It isn't "nothing, since 0 times anything is 0": what the padding takes is missing elsewhere, and how much it takes depends on its scores.
# </details>
#
# <details><summary>2. A model scores 99 % at naming the next of a row of random digits. What do you conclude?</summary>
#
# **The mask leaks.** Nobody can predict random digits, so it reads them. It isn't "a large model that has memorized them", not if the digits are held out, and it isn't luck. Random text is in fact a good test text.
# </details>
#
# <details><summary>3. Two masks with True = ignore are to be combined. By "and" or by "or"?</summary>
#
# **By or.** A key is ignored if any of the masks says so. With "and" it would be hidden only where both hide it, and most padding would be seen.
# </details>
#
# <details><summary>4. After the first optimizer step all parameters are NaN, and the loss before it was an ordinary number. Which mistake of this lesson fits?</summary>
#
# **A row in which everything is masked by an added minus infinity, mended after the softmax.** The forward pass is clean, the gradient is NaN. A finite fill gives no NaN at all, and a triangle times infinity makes the first loss NaN.
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# What follows is off the path. Come back when you meet it.
#
# ### A. Fewer queries than keys: two ways to align
#
# With $L_q = 2$ new queries and $L_k = 5$ keys, **bottom-right** puts the last query at the last key: queries 0 and 1 are at positions 3 and 4. **Top-left** puts the first query at the first key, and then the newest tokens see only the oldest keys, neither themselves nor their neighbors. PyTorch's `is_causal=True` is top-left and its documentation says so. With a cache, pass a mask or `causal_lower_right`:

# %%
from torch.nn.attention.bias import causal_lower_right

x = torch.randn(1, 1, 5, 8, generator=rng)  # (B=1, H=1, L=5, d=8)
full = F.scaled_dot_product_attention(x, x, x, is_causal=True)  # (1, 1, 5, 8)
new = x[:, :, -2:]  # (1, 1, L_q=2, 8)
lower_right = causal_lower_right(2, 5)
top_left = F.scaled_dot_product_attention(new, x, x, is_causal=True)
bottom_right = F.scaled_dot_product_attention(new, x, x, attn_mask=lower_right)
for name, result in (("top-left", top_left), ("bottom-right", bottom_right)):
    off = (result - full[:, :, -2:]).abs().max()
    print(f"{name:13} differs from the last two rows of the whole by {off:.3f}")

# %% [markdown]
# Put masks together and see who is left with nothing to look at (those rows are pink):

# %%
composer = widgets.mask_composer()
composer.show_first_state("A mask of 5 queries and 7 keys, causal and bottom-right, "
    "with two padding keys at the end. The last query sees the five real keys; no row "
    "sees nothing.")  # fmt: skip

# %%
composer

# %% [markdown]
# ### B. The memory mask, in cross-attention
#
# In cross-attention the queries come from one sequence (the target) and the keys from another, the **memory** (the source). The source's future is no secret: a translator has read all of it. So the memory mask usually hides the padding of the *source* and nothing else, `(B, 1, 1, L_k)`. The target's padding plays no part in it.
#
# It can say more. An interpreter who starts two words behind the speaker may use $i + 2$ source words for word $i$, counted from 0 (Ma et al., 2019):

# %%
wait = torch.tensor([[j < i + 2 for j in range(5)] for i in range(4)])  # (L_q, L_k)
real = torch.tensor([[True, True, True, True, False]])  # (1, L_k), the last is padding
print((wait & real).int())

# %% [markdown]
# ### C. Four conventions
#
# | convention | allowed | hidden | met in |
# |---|---|---|---|
# | boolean, True = may attend | True | False | this course, `F.scaled_dot_product_attention` |
# | boolean, True = ignore | False | True | `nn.MultiheadAttention`, `nn.Transformer` |
# | floating point, to be added | 0 | $-\infty$ | both of PyTorch's, for biases as well |
# | integers | 1 | 0 | `attention_mask` of many tokenizers |
#
# A tensor doesn't say which one it follows. Convert at the border, once, and use one convention inside:

# %%
mask = causal_loop(3)  # True = may attend
ignore, added = ~mask, torch.zeros(3, 3).masked_fill(~mask, -math.inf)
integers = mask.long()
assert torch.equal(~ignore, mask) and torch.equal(added == 0, mask)
assert torch.equal(integers.bool(), mask)

mha = nn.MultiheadAttention(8, num_heads=1, bias=False, batch_first=True)
with torch.no_grad():  # the identity in its projections: plain attention
    mha.in_proj_weight.copy_(torch.eye(8).repeat(3, 1))
    mha.out_proj.weight.copy_(torch.eye(8))
    x = torch.randn(1, 3, 8, generator=rng)  # (B=1, L=3, d=8)
    plain = F.scaled_dot_product_attention(x, x, x, mask)
    assert torch.allclose(mha(x, x, x, attn_mask=ignore)[0], plain, atol=1e-5)
    assert torch.allclose(mha(x, x, x, attn_mask=added)[0], plain, atol=1e-5)
print("all four say the same")

# %% [markdown]
# ### D. Finite fill values and half precision
#
# Much code fills with a large negative number in the place of $-\infty$. In float32 that does the same, as long as the row allows something and every allowed score lies far above that number. In half precision the number has to exist first. The next cell prints what your PyTorch says about it, in its own words, which are what you'd search for:

# %% tags=["nbval-ignore-output"]
scores = torch.tensor([0.0, 1.0, 2.0])  # (L_k=3,)
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    for fill in (-1e4, -1e9, -math.inf):
        try:
            filled = scores.to(dtype).masked_fill(~keep, fill)
            said = [round(w, 3) for w in torch.softmax(filled, dim=-1).tolist()]
        except RuntimeError as problem:
            said = f"RuntimeError: {problem}"
        print(f"{str(dtype):15} {fill:6.0e}  {said}")

# %% [markdown]
# `float16` has no number that far down. `bfloat16` gave up digits and kept the range. $-\infty$ exists in each.
#
# Numbers that are *added* are worse. Two masks, each made with the smallest number of the type, are added up, and together they hide everything:

# %%
lowest = torch.finfo(torch.float16).min
one = torch.tensor([lowest, lowest, 0.0], dtype=torch.float16)  # hides keys 0 and 1
two = torch.tensor([lowest, lowest, lowest], dtype=torch.float16)  # hides everything
print((one + two).tolist(), "-> weights", torch.softmax(one + two, dim=-1).tolist())

# %% [markdown]
# All the weight lands on key 2, which one of the two masks hid. Combine masks as booleans, and fill once, at the end.
#
# ### E. Zeros after the softmax, divided by the sum again
#
# Then the old denominator cancels, and in exact arithmetic the result is right. In floating point a large hidden score can take so much weight that nothing is left to divide:

# %%
for hidden_score in (4.0, 60.0, 200.0):
    scores = torch.tensor([0.0, 1.0, hidden_score])  # (L_k=3,)
    after = torch.softmax(scores, dim=-1) * keep
    print(f"hidden score {hidden_score:3.0f}   {after / after.sum()}")

# %% [markdown]
# ### F. Windows through several layers
#
# With a window of 3, position 7 can't look at position 3. But position 5 has looked at position 3, and position 7 looks at position 5. Through $n$ layers with windows of $w$ keys, one's own included, information comes from up to $n(w-1)$ positions back. Here is who can reach whom, which is the mask multiplied by itself:

# %%
window = masks.sliding_window_mask(8, window=3)[0, 0]  # (L, L)
reach, reached = {}, torch.eye(8)
for n in (1, 2, 3):
    reached = (reached @ window.float()).clamp(max=1)  # (L, L)
    reach[f"{n} layer{'s' * (n > 1)}"] = reached.bool()
    back = 7 - int(reached[-1].nonzero().min())
    print(f"n = {n}: the last position reaches {back} back; n (w - 1) = {n * 2}")
plotting.show(diagrams.mask_gallery([str(i) for i in range(8)], reach))

# %% [markdown]
# (The Mistral 7B paper says $n \cdot W$, because its text counts $W$ positions back *and* one's own.) How far information *can* travel isn't how much of it arrives: exercise 5.9 measures that.
#
# ### G. What PyTorch does with a row in which everything is masked
#
# It has changed from release to release, and `nn.MultiheadAttention` may answer differently when the weights are asked for. Run this on *your* release, and don't rely on what you see:

# %% tags=["nbval-ignore-output"]
x, mask = torch.ones(1, 2, 8), torch.tensor([[True, True], [False, False]])
with_weights = mha(x, x, x, attn_mask=~mask, need_weights=True)[0]
without = mha(x, x, x, attn_mask=~mask, need_weights=False)[0]
function = F.scaled_dot_product_attention(x, x, x, mask)
results = {"F.scaled_dot_product_attention": function}
results |= {"nn.MultiheadAttention": with_weights, "the same, no weights": without}
print("PyTorch", torch.__version__)
for name, result in results.items():
    print(f"{name:31} row 1: {[round(n, 2) for n in result[0, 1, :3].tolist()]} ...")

# %% [markdown]
# If your data can make such rows, treat them apart, as exercise 5.5 does for the softmax: then no release can surprise you, forward or backward. The library's attention does so:

# %%
query = x.clone().requires_grad_()
safe, _ = self_attention(query, x, x, mask)  # (1, L_q, d)
safe.sum().backward()
finite = bool(query.grad.isfinite().all())
print("row 1:", safe[0, 1, :3].tolist(), "  gradient finite:", finite)

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.3: the causal mask in one sentence: illegal connections are set to minus infinity before the softmax.
# - Beltagy, Peters, Cohan, *Longformer: The Long-Document Transformer*, 2020, section 3.1: sliding windows, and how far stacked layers reach.
# - Jiang et al., *Mistral 7B*, 2023, section 2: a causal sliding window in a large language model, and the cache that goes with it.
# - Raffel et al., *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, 2020, section 3.2.1: causal and prefix masks side by side, as pictures.
# - Ma et al., *STACL: Simultaneous Translation with Implicit Anticipation and Controllable Latency using Prefix-to-Prefix Framework*, 2019: the interpreter who waits for two words.
# - Dao et al., *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, 2022: exact attention without an $(L_q, L_k)$ table in slow memory.
# - PyTorch documentation of `torch.nn.functional.scaled_dot_product_attention` and `torch.nn.MultiheadAttention`: the two polarities, each stated with its argument.

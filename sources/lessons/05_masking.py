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
# {{colab_link}} · short path about 65 minutes with its exercises (40 + 23), everything about 3 hours · builds on lesson 04

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
from course_utils.recording import record_attention
from course_utils.training import fit

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # the tensors here are small

# %% [markdown]
# **You will learn to**
#
# 1. read a mask and write one, and say what the five usual kinds are for;
# 2. apply a mask so that hidden keys get a weight of exactly 0 and have no say in the other weights;
# 3. hide the padding of a batch, so that each sentence comes out as it does alone;
# 4. say what a causal mask buys, and what happens to a model whose mask lets it see one step too far;
# 5. test any model for leaks from the future.
#
# In lesson 04 every query could look at every key. Often it mustn't, because the key is filler or because the key is the answer.

# %% [markdown]
# ## Predict first
#
# *Core · 2 minutes*
#
# A query has the score 0 with each of three keys. Their values are 10, 30 and 80. The third key is **padding**, filler that means nothing, so the right answer is the average of the first two.
#
# To hide the third key, a programmer sets its score to 0.

# %%
widgets.predict("5.A", "What does the query get?", between=(0, 100), step=1)

# %%
values = torch.tensor([10.0, 30.0, 80.0])  # (L_k=3,)
got = {}
for hidden_score in (0.0, -math.inf):
    weights = torch.softmax(torch.tensor([0.0, 0.0, hidden_score]), dim=-1)  # (L_k,)
    got[hidden_score] = round((weights @ values).item())
    shown = [round(w, 2) for w in weights.tolist()]
    print(f"score {hidden_score:4}   weights {shown}   output {got[hidden_score]}")
widgets.came_out("5.A", got[0.0])

# %% [markdown]
# <details><summary>Why?</summary>
#
# A score of 0 is a score like any other, because $e^0 = 1$. Setting it to 0 changed nothing. Only $-\infty$ has the exponential 0.
# </details>

# %% [markdown]
# ## 5.1 Covering a letter
#
# *Core · 5 minutes*
#
# Here is a model that reads an English word letter by letter and says its sounds. You'll build it in lessons 10 and 11. Every attention to the letters takes a **mask**, a table of True and False that says which letters may be looked at. With it we can put a thumb over one letter and listen. (Section 5.3 says what the 1s in its shape are for.)

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
without_h = ["SH IH P, as before", "S IH P, sip", "IH P, no first sound at all"]
question = "We cover the h of 'ship'. What will the model say?"
widgets.predict("5.B", question, choices=without_h)

# %%
heard = {}
tries = [("ship", 1), ("note", 3), ("rice", 3), ("phone", 1)]
tries += [("knight", 0), ("knight", 4)]
for word, place in tries:
    mask = torch.ones(1, 1, 1, len(word), dtype=torch.bool)  # (B=1, 1, 1, L_k)
    before = say([word], mask)[0]
    mask[..., place] = False
    heard[word] = say([word], mask)[0]
    covered = word[:place] + "_" + word[place + 1 :]
    print(f"{word:7} {before:10}   {covered:7} {heard[word]}")
widgets.came_out("5.B", next(one for one in without_h if one.startswith(heard["ship"])))

# %% [markdown]
# *Ship* turns into *sip*, *note* into *not*, and *rice* gets a hard *c* without its *e*. Covering the *k* of *knight* changes nothing. It's silent, but so is the *h*, and with that covered the model says the *g*. Its parameters are what they were. In each of its attentions to the letters one column is closed, and that's all.
#
# One query looks at three keys, and the third is hidden:

# %%
query = torch.ones(1, 1)  # (L_q=1, d_k=1)
key = torch.tensor([[1.0], [3.0], [4.0]]).log()  # (L_k=3, d_k), scores log 1, 3, 4
hides_third = torch.tensor([[True, True, False]])  # (L_q, L_k)
names = {"queries": ["sing"], "keys": ["birds", "sing", "<pad>"]}
flow = widgets.see_through(query, key, values[:, None], hides_third, **names)
flow.show_first_state()

# %%
flow

# %% [markdown]
# *The hidden key still has a score and a value, but it gets no weight.* Switch the mask off to see how much the padding takes from the others.
#
# The exponentials of the scores are 1, 3 and 4. The 4 is hidden, so the weights are $\tfrac{1}{1+3}$, $\tfrac{3}{1+3}$ and 0, and the output is $0.25 \cdot 10 + 0.75 \cdot 30 = 25$.
#
# A mask $M$ has one row for each query and one column for each key, shape $(L_q, L_k)$. In this course $M_{ij} = \text{True}$ means that query $i$ **may attend** to key $j$. Masked attention is a softmax over the allowed keys alone:
#
# $$w_{ij} = \frac{M_{ij}\, e^{s_{ij}}}{\sum_{m} M_{im}\, e^{s_{im}}} , \qquad s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} .$$
#
# Here $s_{ij}$ is the score of key $j$ for query $i$, $w_{ij}$ its weight, and $M_{ij}$ counts as 1 or 0. A loop leaves the hidden keys out:

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


output = masked_attention_loop(query, key, values[:, None], hides_third)  # (L_q, d_v)
print(f"{output.item():.1f}")

# %% [markdown]
# ## 5.2 Before the softmax, not after it
#
# *Core · 3 minutes*
#
# Without the loop there seem to be two ways. Either the hidden *scores* become $-\infty$ before the softmax, or the hidden *weights* become 0 after it. To tell them apart, we raise the score of the hidden key and leave everything else alone:

# %%
keep = torch.tensor([True, True, False])  # (L_k=3,)
print("hidden score   -inf before         zero after          zero, divided by the sum")
for hidden_score in (0.0, 4.0, 200.0):
    scores = torch.tensor([0.0, 1.0, hidden_score])  # (L_k,)
    before = torch.softmax(scores.masked_fill(~keep, -math.inf), dim=-1)
    after = torch.softmax(scores, dim=-1) * keep
    ways = (before, after, after / after.sum())
    told = [str([round(w, 2) for w in weights.tolist()]) for weights in ways]
    print(f"{hidden_score:12.0f}   {told[0]:18}  {told[1]:18}  {told[2]}")

# %% [markdown]
# With $-\infty$ the hidden key has no say. With zeros afterwards its score is still in the denominator, so it decides how much the *others* get. Dividing by their sum mends that on paper, but once the hidden score is high enough, the others are rounded to 0, and 0 divided by 0 is NaN.
#
# The mask belongs between the scores and the softmax. `masked_fill` fills where its first argument is True, which is why the mask is turned around with `~`. The library's `scaled_dot_product_attention(query, key, value, mask)` agrees with PyTorch's:

# %%
rng = torch.Generator().manual_seed(0)
q, k, v = (torch.randn(1, L, 8, generator=rng) for L in (4, 6, 6))  # (B=1, L, d=8)
some = torch.rand(4, 6, generator=rng) > 0.4  # (L_q, L_k)
output, weights = attention.scaled_dot_product_attention(q, k, v, some)

assert torch.allclose(output, F.scaled_dot_product_attention(q, k, v, some), atol=1e-6)
by_loop = masked_attention_loop(q[0], k[0], v[0], some)
assert torch.allclose(output[0], by_loop, atol=1e-6)
print("largest hidden weight:", weights[0][~some].max().item())

# %% [markdown]
# ## 5.3 Padding
#
# *Core · 4 minutes*
#
# A tensor is a rectangle, so the short words of a batch are filled up with a padding token. What a word sounds like mustn't depend on the rest of its batch. Does it, if the padding isn't hidden?

# %%
words = ["cat", "note", "straightforward"]
source = SPELLING.batch(words)  # (B=3, L_k=15)
print("real letters in each row:", [len(word) for word in words])
nothing_hidden = torch.ones(3, 1, 1, 15, dtype=torch.bool)
for word, sounds in zip(words, say(words, nothing_hidden), strict=True):
    print(f"{word:15} {sounds}")

# %% [markdown]
# Both short words go on after their last sound. The longest word has no padding and comes out right. While the model said *cat*, what share of its weight fell on padding? Here is the mean over all heads in which a sound looks at the letters:

# %%
with record_attention(model) as seen:
    sounds = say(words, nothing_hidden)[0].split()
layers = [seen.calls(name) for name in seen if name.endswith("cross_attention")]
for step, sound in enumerate(sounds):
    shares = [calls[step][0, :, -1, 3:].sum(dim=-1).mean() for calls in layers]
    print(f"{sound:3} {sum(shares) / len(shares):4.0%} of the weight on padding")

# %% [markdown]
# Even while it says the right sounds, a third of its weight or more lies on filler. After the T it's nine tenths, and what comes out has little to do with *cat*.
#
# Padding is a property of the **keys**. The same row of booleans serves all queries of a sentence and all heads (lesson 06). Scores have the shape `(B, H, L_q, L_k)`, with $B$ sentences and $H$ heads, so the mask is stored as `(B, 1, 1, L_k)`, and broadcasting stretches the two axes of size 1.
#
# **Do exercise 5.1 now** (5 minutes), then read on. `masks.padding_mask` is the library's:

# %%
together = say(words, masks.padding_mask(source, PAD_ID))  # mask (B, 1, 1, L_k)
for b, word in enumerate(words):
    alone = say([word], all_seen[..., :1].expand(1, 1, 1, len(word)))
    assert together[b] == alone[0]
    print(f"{word:15} {together[b]}")

# %% [markdown]
# Now all three words come out as they do alone. That comparison is the **test** of any padding mask.
#
# The padding still has *rows* of its own, in which it looks at real letters. That does no harm, since no real token reads what comes out of them, and the loss leaves them out (lesson 10). Hiding the rows as well would leave rows in which nothing is allowed (see "What goes wrong").

# %% [markdown]
# ## 5.4 The causal mask
#
# *Core · 6 minutes*
#
# In training, a language model predicts the next token at *every* position at once. It reads a sentence and is asked for the same sentence, shifted by one. With the **causal mask** query $i$ may look at itself and at its past, the keys $j \le i$:

# %%
sentence = "the cat sat on the mat .".split()
causal, too_far = torch.ones(2, 6, 6, dtype=torch.bool)
causal, too_far = causal.tril(0), too_far.tril(1)  # (L, L) each
both = {"causal: tril(0)": causal, "one step too far: tril(1)": too_far}
plotting.show(diagrams.shifted_targets(sentence, both, row=2))

# %% [markdown]
# *Follow the framed row. On the left it must work out "on" from three words. On the right "on" is among the words it sees, and copying is enough.* The same holds in each row but the last.
#
# Here is a head of the model above, while its decoder goes over the sounds of *straightforward*, with the mask it was trained with and with the mask taken off:

# %%
word = "straightforward"
said = say([word], torch.ones(1, 1, 1, len(word), dtype=torch.bool))[0].split()
target = torch.tensor([[START_ID, *SOUNDS.encode(said)]])  # (B=1, L=12)
everything = torch.ones(1, 1, 12, 12, dtype=torch.bool)
kinds = {"causal": masks.causal_mask(12), "mask taken off": everything}
head = {}
for name, kind in kinds.items():
    with torch.no_grad(), record_attention(model) as seen:
        memory = model.encode(SPELLING.batch([word]), None)  # (1, 15, d_model)
        model.decode(target, memory, memory_mask=None, target_mask=kind)
    head[name] = seen["decoder_layers.1.self_attention"][0, 3]  # (L, L), head 3
plotting.show(diagrams.masked_weights(["start", *said], head, kinds))

# %% [markdown]
# *With the mask this head mostly looks one sound back, and what lies ahead gets exactly 0. Without it, "start" and S look most at the last sound of all, and a few other rows look ahead as well.*
#
# **What it buys.** With the mask, one pass over the whole sentence gives at each position exactly what a pass over the words up to there would give. That's six predictions for the price of one pass:

# %%
x = torch.randn(1, 6, 8, generator=rng)  # (B=1, L=6, d=8)
self_attention = attention.scaled_dot_product_attention
whole, _ = self_attention(x, x, x, causal)  # (1, 6, 8)
for t in range(1, 7):
    past = x[:, :t]  # (1, t, 8)
    last, _ = self_attention(past[:, -1:], past, past)  # (1, 1, 8), no mask needed
    assert torch.allclose(whole[:, t - 1], last[:, 0], atol=1e-6)
print("one masked pass gives the same as six passes over the beginnings")

# %% [markdown]
# **Fewer queries than keys.** When a model writes text, it keeps the keys of earlier positions (lesson 07) and computes only the newest queries. If four positions are known and two are new, query 0 is at position 4, and its row is the *fifth* of the square mask. That's called **bottom-right**. PyTorch's `is_causal=True` is **top-left**. It puts query 0 at the first key, so the newest tokens see only the oldest keys.

# %%
from torch.nn.attention.bias import causal_lower_right

new = x[:, -2:]  # (1, L_q=2, 8), the last two of six
top_left = F.scaled_dot_product_attention(new, x, x, is_causal=True)
bottom_right = F.scaled_dot_product_attention(new, x, x, causal_lower_right(2, 6))
for name, rows in (("top-left", top_left), ("bottom-right", bottom_right)):
    off = (rows - whole[:, -2:]).abs().max()
    print(f"{name:13} differs from the last two rows of the whole by {off:.3f}")

# %% [markdown]
# **Do exercise 5.2 now** (10 minutes): a causal mask for any two lengths.

# %% [markdown]
# ## 5.5 Five masks on one sentence
#
# *Core · 3 minutes*
#
# Here are the five rules you'll meet most, each alone, on one row of eight tokens. (Only the first one hides the padding.) With each of them a query sees a *run* of keys, from a first one to a last one:

# %%
row = ["the", "cat", "sat", ".", "birds", "sing", ".", "<pad>"]
zeros, places = [0] * 8, range(8)
spans = {  # name -> the first and the last key that each of the eight queries sees
    "padding": (zeros, [6] * 8),
    "causal": (zeros, places),
    "window of 3": ([0, 0, 0, 1, 2, 3, 4, 5], places),
    "prefix of 4": (zeros, [3, 3, 3, 3, 4, 5, 6, 7]),
    "packed": ([0, 0, 0, 0, 4, 4, 4, 4], places),
}
key_places, five = torch.arange(8), {}
for name, span in spans.items():
    first, last = (torch.tensor(list(ends))[:, None] for ends in span)  # (L_q, 1)
    five[name] = (first <= key_places) & (key_places <= last)  # (L_q=8, L_k=8)
plotting.show(diagrams.mask_gallery(row, five))

# %% [markdown]
# *A closed column, a triangle, a band, open columns beside a triangle, two triangles.*
#
# - **Padding** hides filler, **causal** hides the future.
# - A **window** also hides the distant past, so the number of pairs grows with $L$ and not with $L^2$. Through several layers information still comes from further back (exercise 5.6).
# - A **prefix** was given and not predicted, such as a question. Its tokens may see one another both ways, and what follows is causal.
# - **Packed**: several short texts share one row, and the mask keeps them apart.
#
# **Combining.** A key may be seen if *all* masks allow it, so masks are joined by *and*, `&`. Each is stored small and stretched by broadcasting:

# %%
tokens = torch.tensor([[5, 7, 3, 4], [6, 8, 0, 0]])  # (B=2, L=4), 0 is padding
padding, past_only = masks.padding_mask(tokens, 0), masks.causal_mask(4)
joined = padding & past_only
print(tuple(padding.shape), "&", tuple(past_only.shape), "->", tuple(joined.shape))
print("item 1, last query:", joined[1, 0, 3].int().tolist())

# %% [markdown]
# The prefix is the exception, where a key may be seen because of one rule *or* the other.
#
# Put masks together yourself. A red frame marks a query with nothing to look at:

# %%
composer = widgets.mask_composer()
composer.show_first_state("A mask of 5 queries and 7 keys, causal and bottom-right, "
    "with two padding keys at the end. The last query sees the five real keys; no row "
    "sees nothing.")

# %%
composer

# %% [markdown]
# Exercises 5.3, 5.4 and 5.6 (about 40 minutes, *more*) go on from here: packed texts, four conventions that become one, and who reaches whom through several layers.

# %% [markdown]
# ## 5.6 What a leak does
#
# *Core · 8 minutes*
#
# How bad can it be if one cell is wrong in each row but the last? We train two models to write English words of seven letters. They start from the same parameters, and see the same words in the same order for 120 steps. One has the causal mask, the other has `tril(1)`, so each position also sees the *next* letter.

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
LETTERS = "abcdefghijklmnopqrstuvwxyz_"  # the last is the blank around a word


def numbered(part):
    words = ["_" + word + "_" for word in split(part) if len(word) == 7]
    return torch.tensor([[LETTERS.index(letter) for letter in word] for word in words])


def spelled(tokens):
    return ["".join(LETTERS[n] for n in word) for word in tokens.tolist()]


train, held_out = numbered("train"), numbered("valid")  # (number of words, 9)
print(f"{len(train)} words to train on, {len(held_out)} held out")

# %%
who = ["the causal one", "the one that saw ahead", "both about the same"]
question = "Each is tested with its own mask on words neither saw. Whose loss is lower?"
widgets.predict("5.C", question, choices=who)

# %% [markdown]
# Two guessers are the landmarks. One knows how frequent each letter is, the other also knows which letter came before. Then come ten short trainings, five seeds for each mask (about ten seconds).

# %%
now, after = train[:, :-1].flatten(), train[:, 1:].flatten()
counts = torch.ones(27, 27)  # 1 at first, so that no pair is impossible
counts.index_put_((now, after), torch.ones(len(now)), accumulate=True)
pairs = counts / counts.sum(dim=1, keepdim=True)  # (27, 27), next letter given this
single = torch.bincount(after, minlength=27) / len(after)  # (27,)
guessers = {"letter frequencies": single.expand(27, 27), "letter pairs": pairs}
landmarks = {}  # name -> loss on the held-out words
for name, table in guessers.items():
    landmarks[name] = -table[held_out[:, :-1], held_out[:, 1:]].log().mean().item()
    print(f"{name:19} held-out loss {landmarks[name]:.2f} nats a letter")


# %%
def loss(model, words, mask):
    logits = model(words[:, :-1], mask)  # (B, 8, 27)
    return F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())


def trained(mask, seed):
    torch.manual_seed(seed)
    model, order = Speller(), torch.randint(len(train), (20, 6, 64))
    history = fit(model, lambda epoch: [train[rows] for rows in order[epoch]],
        lambda m, words: loss(m, words, mask), epochs=20, rate=lambda step: 0.01,
        progress=False)
    return model, history.losses  # a loss for every 6 steps


# %% tags=["nbval-ignore-output"]
right = torch.ones(8, 8, dtype=torch.bool).tril()  # (L, L)
ahead = torch.ones(8, 8, dtype=torch.bool).tril(1)
trainings = {"causal": [], "one step ahead": []}
for seed in tqdm(range(5), desc="seeds", file=sys.stdout):
    trainings["causal"].append(trained(right, seed))
    trainings["one step ahead"].append(trained(ahead, seed))

# %%
losses = {name: [run[1] for run in runs] for name, runs in trainings.items()}
curves = diagrams.training_losses(range(6, 121, 6), losses, landmarks, "nats a letter")
plotting.show(curves, "Five causal losses fall below both guessers, to about 2.1. Five "
    "losses of models that see one step ahead fall to 0. Two lines across are the "
    "guessers' losses on held-out words.")

# %% [markdown]
# *The perfect curve belongs to the broken model.* (The guessers' lines are losses on held-out words.) Now all of them write. There's no next letter to look at, so both kinds of model may look at everything written so far. Each writes seven letters and no blank:

# %%
@torch.no_grad()
def write(logits_of, number, seed):
    rng = torch.Generator().manual_seed(seed)
    tokens = torch.full((number, 1), 26)  # (B, 1), the blank before the word
    for _ in range(7):
        chances = logits_of(tokens)[:, :26].softmax(dim=-1)  # (B, 26), a letter
        tokens = torch.cat([tokens, torch.multinomial(chances, 1, generator=rng)], 1)
    return [word[1:] for word in spelled(tokens)]


# %%
def of_model(model):
    def logits_of(tokens):
        so_far = tokens.shape[1]
        everything = torch.ones(so_far, so_far, dtype=torch.bool)  # all there is
        return model(tokens, everything)[:, -1]  # (B, 27)

    return logits_of


def of_table(table):
    return lambda tokens: table[tokens[:, -1]].log()


# %% tags=["nbval-ignore-output"]
writers = {name: [of_table(table)] * 5 for name, table in guessers.items()}
for name, runs in trainings.items():
    writers[name] = [of_model(model) for model, _ in runs]
texts = {"held-out words": [[word[1:8] for word in spelled(held_out)]]}
for name, five_writers in writers.items():
    texts[name] = [write(writer, 300, seed) for seed, writer in enumerate(five_writers)]
    print(f"{name:19}", *(text[0] for text in texts[name]))

# %% [markdown]
# Of the short runs of letters in 300 such words, how many occur in a word of the training part? Held-out words are the upper landmark.

# %% tags=["nbval-ignore-output"]
def runs_of(size, words):
    return [word[i : i + size] for word in words for i in range(8 - size)]


shares = {}
for size in (3, 5):
    print(f"runs of {size} letters")
    real = set(runs_of(size, [word[1:8] for word in spelled(train)]))
    for name, five in texts.items():
        hits = [[run in real for run in runs_of(size, text)] for text in five]
        shares[name] = [sum(hit) / len(hit) for hit in hits]
        print(f"  {name:19}", " ".join(f"{share:4.0%}" for share in shares[name]))

# %% [markdown]
# By runs of three letters, the causal models and the writer of pairs can't be told apart. By runs of five, all five causal models are ahead, though far from real words. All five that saw ahead fall below a writer that knows nothing but frequencies. Do held-out words show the problem? Here are the five losses on them, in nats a letter:

# %% tags=["nbval-ignore-output"]
noise = torch.randint(26, held_out.shape, generator=torch.Generator().manual_seed(0))
noise[:, 0], noise[:, -1] = 26, 26  # blanks around random letters
measured = {
    "causal": ("causal", held_out, right),
    "one step ahead": ("one step ahead", held_out, ahead),
    "  on random letters": ("one step ahead", noise, ahead),
    "  on words, future hidden": ("one step ahead", held_out, right),
}
tested = {}
for label, (name, data, mask) in measured.items():
    with torch.no_grad():
        tested[label] = [loss(run[0], data, mask).item() for run in trainings[name]]
    print(f"{label:25}", "  ".join(f"{one:5.2f}" for one in tested[label]))

# %% tags=["nbval-ignore-output"]
causal_is_lower = max(tested["causal"]) < min(tested["one step ahead"])
widgets.came_out("5.C", who[0] if causal_is_lower else who[1])

# %% [markdown]
# They don't show it, because the held-out words leak as well. Even random letters, which can't be predicted, cost these models almost nothing. They copy the next letter, and with the future hidden they're far worse than a guesser. **A loss that is too good to be true is the first sign of a leak. Here it was the only one until the models had to write.**

# %% [markdown]
# ## 5.7 How to catch one
#
# *Core · 4 minutes*
#
# It's better to test the mask before the first training. **Change the future, compare the past.** Run the model, change everything from position $t$ on, and run it again. The outputs before $t$ must be what they were. You needn't know what is inside the model.
#
# We have three suspects, and split at $t = 3$. The second has section 5.6's mask. The third is section 5.2's "zero after the softmax", and all its weights above the diagonal are exactly 0.

# %%
suspicions = ["in neither", "one step ahead", "zero after the softmax", "in both"]
question = "Positions 3, 4 and 5 change. In which of the last two does output 0 move?"
widgets.predict("5.D", question, choices=suspicions)

# %%
suspects = {
    "causal": lambda x: self_attention(x, x, x, causal)[0],
    "one step ahead": lambda x: self_attention(x, x, x, too_far)[0],
    "zero after the softmax": lambda x: self_attention(x, x, x)[1].tril() @ x,
}
rng, t, moved = torch.Generator().manual_seed(4), 3, {}
original = torch.randn(1, 6, 8, generator=rng)  # (B=1, L=6, d=8)
other = torch.cat([original[:, :t], torch.randn(1, 6 - t, 8, generator=rng)], dim=1)
for name, attend in suspects.items():
    moved[name] = (attend(other) - attend(original))[0].abs().amax(dim=-1)  # (L,)
    told = "  ".join(f"{change:.3f}" for change in moved[name][:t].tolist())
    print(f"{name:23} outputs 0, 1 and 2 move by {told}")
second, third = (bool(moved[name][0] > 1e-6) for name in list(suspects)[1:])
widgets.came_out("5.D", suspicions[second + 2 * third])

# %%
bars = diagrams.moved_outputs({name: change[:t] for name, change in moved.items()})
plotting.show(bars, "How far each output of the past moves when everything from "
    "position 3 on changes. Causal: 0 everywhere. One step ahead: position 2 alone "
    "moves. Zero after the softmax: all three positions move.")

# %% [markdown]
# *"One step ahead" moves only at the last place before the change, since each output sees one place further and no more. "Zero after the softmax" moves at all three, though at that place by only a tenth as much.* Looking at which weights are 0 wouldn't have caught it, because the hidden scores act through the denominator (section 5.2).
#
# Two things can fool this test. One split isn't enough, because a leak from position 2 to position 1 doesn't cross $t = 3$. And each entry of the new future has to differ by its own amount. Adding 1 to all of them is invisible to a model that first normalizes each token (lesson 09).
#
# This is a **test**, not a proof. A mask that goes wrong beyond 512 positions passes at 6. Run it at the lengths you'll use.
#
# **Do exercise 5.8 now** (8 minutes): find a bug in a padding mask.

# %% [markdown]
# ## 5.8 Ask autograd
#
# *More · 6 minutes*
#
# There is a second way. Output $i$ must not depend on input $j > i$, so the gradient of output $i$ at input $j$ must be 0. But an output is a vector, and a gradient needs one number. Which? Take a function without any mask that normalizes each output at the end, and turn its output 0 into one number in three ways. Each should report that it sees token 5:

# %%
asked = original.clone().requires_grad_()
out = F.layer_norm(self_attention(asked, asked, asked)[0], (8,))[0, 0]  # (d,), output 0
one_number = {
    "the sum": out.sum(),
    "the sum of squares": out.square().sum(),
    "a sum with random factors": out @ torch.randn(8, generator=rng),
}
for name, number in one_number.items():
    (gradient,) = torch.autograd.grad(number, asked, retain_graph=True)  # (1, L, d)
    print(f"{name:26} gradient at token 5: {gradient[0, 5].norm():.4f}")

# %% [markdown]
# Normalized this way, all vectors have nearly the same sum and the same length, so those two hardly change, whoever is looked at. They'd acquit a freshly made model that ends in a `LayerNorm`, whose gains are all 1 at the start. **Whatever adds up before it compares can cancel.** Random factors practically never do.
#
# Autograd has a blind spot of its own. It sees only what a gradient flows through, and not what was rounded, picked by an `argmax` or detached. Here each output gets the mean of *all* tokens, with the gradient cut off:

# %%
def add_detached_mean(x):
    return x + x.detach().mean(dim=1, keepdim=True)  # (B, L, d)


number = add_detached_mean(asked)[0, 0] @ torch.randn(8)
(gradient,) = torch.autograd.grad(number, asked)  # (1, L, d)
change = (add_detached_mean(other) - add_detached_mean(original))[0, 0].abs().max()
print(f"gradient at token 5: {gradient[0, 5].norm():.4f}")
print(f"the future changed:  output 0 moves by {change:.3f}")

# %% [markdown]
# The test of section 5.7 finds this leak.
#
# Now you have what exercise 5.7 asks for (20 minutes, *more*), a detector that doesn't only say *whether* something leaks but draws the table of who sees whom. **Exercise 5.9** takes the same gradients, and measures how much of a distant token arrives through a stack of layers (20 minutes, *more*).

# %% [markdown]
# ## What goes wrong
#
# *More · 7 minutes*
#
# **A triangle of ones times minus infinity.** It looks like a short way to a mask that is added to the scores. But $0 \cdot \infty$ is NaN, so every *allowed* entry is NaN, and so is the very first loss.

# %%
print("wrong", (torch.ones(3, 3).triu(1) * -math.inf)[0].tolist())
print("right", torch.full((3, 3), -math.inf).triu(1)[0].tolist())

# %% [markdown]
# **Two conventions in one program.** `F.scaled_dot_product_attention` reads True as "may attend". `nn.MultiheadAttention` reads True as "ignore". And a mask of *floats* is added to the scores, so zeros and ones hide nothing and only shift the scores by 1. The leak test finds it: change the last token, and the first output moves.

# %%
three = torch.randn(1, 3, 8, generator=rng)  # (B=1, L=3, d=8)
other_last = torch.randn(1, 1, 8, generator=rng)
changed = torch.cat([three[:, :2], other_last], dim=1)  # (1, 3, 8), another last token
triangle = torch.ones(3, 3).tril()
for name, form in {"boolean": triangle > 0, "zeros and ones": triangle}.items():
    before = F.scaled_dot_product_attention(three, three, three, form)
    after = F.scaled_dot_product_attention(changed, changed, changed, form)
    print(f"{name:15} output 0 moves by {(after - before)[0, 0].abs().max():.3f}")
try:
    self_attention(three, three, three, triangle)
except TypeError as problem:
    print("course_utils refuses it:", problem)

# %% [markdown]
# **A row in which everything is masked.** Padding on the *left* plus a causal mask makes one: the first query sees only itself, and it is padding. The formula says $0/0$. Here are four ways to compute it, with the weights of such a row and the gradient that training would use:

# %%
empty = torch.tensor([[False, False, False]])  # (L_q=1, L_k=3)
added = torch.zeros(1, 3).masked_fill(~empty, -math.inf)
attempts = {
    "fill with -1e9": lambda s: torch.softmax(s.masked_fill(~empty, -1e9), dim=-1),
    "add minus infinity": lambda s: torch.softmax(s + added, dim=-1),
    "... then nan_to_num": lambda s: torch.softmax(s + added, dim=-1).nan_to_num(),
    "course_utils": lambda s: attention.masked_softmax(s, empty),
}
for name, softmax in attempts.items():
    scores = torch.tensor([[0.0, 1.0, 2.0]], requires_grad=True)  # (L_q, L_k)
    weights = softmax(scores)
    (weights @ values).sum().backward()
    told = [[round(n, 2) for n in r[0].tolist()] for r in (weights, scores.grad)]
    print(f"{name:20} weights {told[0]}   gradient {told[1]}")

# %% [markdown]
# The finite fill averages over everything that it was supposed to hide, and nothing looks wrong. Adding minus infinity gives NaN. Mending that NaN afterwards mends the weights only. On its way back the gradient passes through the softmax, which multiplies it by its own weights. They are NaN, and 0 times NaN is NaN. One step later everything that makes the scores, and every layer below, has NaN for parameters, although the loss looked healthy. Exercise 5.5 asks for what the last line does.

# %% [markdown]
# ## In practice
#
# *More · 6 minutes*
#
# A boolean mask in memory has $L_q \cdot L_k$ entries, one byte each, and an additive one in float32 takes four times that:

# %%
for length in (1024, 8192, 65536):
    size = length**2 / 2**20
    print(f"L = {length:6}   boolean {size:5.0f} MiB   float32 {4 * size:6.0f} MiB")

# %% [markdown]
# So production code passes `is_causal=True` where that is all it needs. Kernels such as FlashAttention work the mask out as they go, and PyTorch's `flex_attention` takes it as a small function of the two indices, the rule itself.
#
# **What packing saves.** All words of the dictionary, in a random order: batches of 64 words padded to the longest, the same with words sorted by length first, and rows of 64 letters in which words are packed one after another:

# %%
lengths = torch.tensor([len(word) for word in split("train")])
rng = torch.Generator().manual_seed(0)
lengths = lengths[torch.randperm(len(lengths), generator=rng)]


def padded(lengths):
    sizes = [(len(batch), int(batch.max())) for batch in lengths.split(64)]
    return sum(n * m for n, m in sizes), sum(n * m * m for n, m in sizes)


# %%
def in_rows(lengths, row=64):
    rows, used = 1, 0
    for length in lengths.tolist():
        if used + length > row:
            rows, used = rows + 1, 0
        used += length
    return rows * row, rows * row * row


# %%
layouts = {"padded": padded(lengths), "padded, sorted": padded(lengths.sort().values)}
layouts["packed"] = in_rows(lengths)
letters, needed = int(lengths.sum()), int((lengths * (lengths + 1) // 2).sum())
for name, (room, scores) in layouts.items():
    print(f"{name:15} {1 - letters / room:4.0%} of the places empty", end="   ")
    print(f"{scores / needed:4.1f} scores computed for each one needed")

# %% [markdown]
# In random order, padding leaves nearly half of the places empty and packing hardly any. Sorting does better still, but its batches are no longer random, since all words of a batch have about one length. Packing has its own price. A kernel that computes the whole square and then hides most of it works out many scores in vain, more than padding does, so packed training uses kernels that skip hidden blocks. The positions start anew in each text, and the leak test must look across texts too.
#
# **Names.** `attn_mask` and `key_padding_mask` in `nn.MultiheadAttention`, `src_mask` and `tgt_mask` in `nn.Transformer` (True = ignore), `attention_mask` in tokenizers (1 = keep). Read what each means before you first use it, then run the tests of sections 5.3 and 5.7.

# %% [markdown]
# ## Recap
#
# *Core · 2 minutes*
#
# 1. **Reading and writing masks.** A row for each query, a column for each key, True = may attend. Padding closes columns, causal leaves a triangle, a window a band, a prefix open columns, packing a triangle for each text. Masks are joined by `&`, and only the prefix is an *or*.
# 2. **Applying.** Hidden scores become $-\infty$ *before* the softmax. Zeros after it leave the hidden scores in the denominator.
# 3. **Padding** is a property of keys: `(B, 1, 1, L_k)`. Its test: each item comes out as it does alone.
# 4. **Causal**: one pass trains all positions. With a mask one step too far, our models' loss fell to almost 0, on held-out words too, and they couldn't write.
# 5. **Testing.** Change the future at every split and compare the past, or take gradients with random factors, which miss what has no gradient (section 5.8).

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
# *Core · 3 minutes*
#
# <details><summary>1. A program hides padding by setting its <em>values</em> (not its scores) to 0. What is still wrong?</summary>
#
# **The weights.** The padding keeps its share of each row, so the real tokens get too little. How much it takes depends on its scores.
# </details>
#
# <details><summary>2. A model scores 99 % at naming each next digit in rows of random digits that were drawn after its training. What do you conclude?</summary>
#
# **It sees the answers.** Random digits can't be predicted, and new ones can't have been learned by heart. Test the mask first, then see whether the targets are shifted at all.
# </details>
#
# <details><summary>3. After the first optimizer step many parameters are NaN, and the loss before it was an ordinary number. Which mistake of this lesson fits?</summary>
#
# **A row in which everything is masked by an added minus infinity, mended after the softmax.** The forward pass is clean, the gradient is NaN.
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# *More · 8 minutes*
#
# ### A. The memory mask, in cross-attention
#
# In cross-attention the queries come from one sequence (the target) and the keys from another, the **memory** (the source). The source's future is no secret, since a translator has read all of it. So the memory mask usually hides the padding of the *source* and nothing else, `(B, 1, 1, L_k)`. The target's padding plays no part in it.
#
# It can say more. An interpreter who starts two words behind the speaker may use $i + 2$ source words for word $i$, counted from 0 (Ma et al., 2019):

# %%
wait = torch.tensor([[j < i + 2 for j in range(5)] for i in range(4)])  # (L_q, L_k)
heard_so_far = torch.tensor([[True, True, True, True, False]])  # (1, L_k), then padding
print((wait & heard_so_far).int())

# %% [markdown]
# ### B. Four conventions
#
# | convention | allowed | hidden | met in |
# |---|---|---|---|
# | boolean, True = may attend | True | False | this course, `F.scaled_dot_product_attention` |
# | boolean, True = ignore | False | True | `nn.MultiheadAttention`, `nn.Transformer` |
# | floating point, to be added | 0 | $-\infty$ | both of PyTorch's, for biases as well |
# | integers | 1 | 0 | `attention_mask` of many tokenizers |
#
# A tensor doesn't say which one it follows. Convert at the border, once, and use one convention inside (exercise 5.4). Much code hides with a large negative number instead of $-\infty$, and then two masks that are *added* can go wrong. Each of these is made with the lowest number of its type, and together they hide everything:

# %%
lowest = torch.finfo(torch.float16).min
one = torch.tensor([lowest, lowest, 0.0], dtype=torch.float16)  # hides keys 0 and 1
two = torch.tensor([lowest, lowest, lowest], dtype=torch.float16)  # hides everything
print((one + two).tolist(), "-> weights", torch.softmax(one + two, dim=-1).tolist())

# %% [markdown]
# All the weight lands on key 2, which one of the two masks hid. Combine masks as booleans, and fill once, at the end.
#
# ### C. What PyTorch does with a row in which everything is masked
#
# It has changed from release to release, and `nn.MultiheadAttention` may answer differently when the weights are asked for. Run this on *your* release, and don't rely on what you see:

# %% tags=["nbval-ignore-output"]
mha = nn.MultiheadAttention(8, num_heads=1, bias=False, batch_first=True)
ones, second_empty = torch.ones(1, 2, 8), torch.tensor([[True, True], [False, False]])
calls = {"F.scaled_dot_product_attention": F.scaled_dot_product_attention(
    ones, ones, ones, second_empty)}
for asks in (True, False):
    out, _ = mha(ones, ones, ones, attn_mask=~second_empty, need_weights=asks)
    calls[f"nn.MultiheadAttention, weights {asks}"] = out
print("PyTorch", torch.__version__)
for name, out in calls.items():
    print(f"{name:36} row 1: {[round(n, 2) for n in out[0, 1, :3].tolist()]} ...")

# %% [markdown]
# If your data can make such rows, treat them apart, as exercise 5.5 does for the softmax. Then no release can surprise you, forward or backward. The library's attention does so:

# %%
query = ones.clone().requires_grad_()
safe, _ = self_attention(query, ones, ones, second_empty)  # (1, L_q, d)
safe.sum().backward()
finite = bool(query.grad.isfinite().all())
print("row 1:", safe[0, 1, :3].tolist(), "  gradient finite:", finite)

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017, section 3.2.3: the causal mask in one sentence: illegal connections are set to minus infinity before the softmax.
# - Beltagy, Peters, Cohan, *Longformer: The Long-Document Transformer*, 2020, section 3.1: sliding windows, and how far stacked layers reach. (Through $n$ layers with windows of $w$ keys, one's own included, that is $n(w-1)$ positions back.)
# - Jiang et al., *Mistral 7B*, 2023, section 2: a causal sliding window in a large language model, and the cache that goes with it.
# - Raffel et al., *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*, 2020, section 3.2.1: causal and prefix masks side by side, as pictures.
# - Ma et al., *STACL: Simultaneous Translation with Implicit Anticipation and Controllable Latency using Prefix-to-Prefix Framework*, 2019: the interpreter who waits for two words.
# - Dao et al., *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, 2022: exact attention without an $(L_q, L_k)$ table in slow memory.
# - PyTorch documentation of `torch.nn.functional.scaled_dot_product_attention` and `torch.nn.MultiheadAttention`: the two polarities, each stated with its argument.

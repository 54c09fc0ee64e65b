# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12 · Decoder-only language model
#
# By the end you can build today's kind of language model from its parts, train it, say honestly how good it is, look at what its heads do, and let it write.
#
# {{colab_link}} · about 140 minutes · builds on lessons 05, 07, 08, 09 and 10

# %% tags=["setup"]
import math
import time

import torch
import torch.nn.functional as F

from course_utils import diagrams, plotting, pretrained, widgets
from course_utils.datasets.documentation import docstrings, documentation_split
from course_utils.datasets.text_windows import TEXT, decode_text, encode_text
from course_utils.datasets.text_windows import seen_before, windows
from course_utils.decoding import generate, sampling_distribution
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM, Transformer
from course_utils.models import TransformerConfig, count_parameters
from course_utils.models.ngrams import NGrams
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.training import MuonWithAdam, fit, next_symbol_loss
from course_utils.training import one_cycle_rate, seed_everything
from course_utils.widgets.sampling_playground import NAMES, next_symbol_bars

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# **You will learn to**
#
# 1. say what is left of the encoder-decoder, and build the block that remains;
# 2. train a language model, and say in bits how good it is, against counted models and on text that nobody chose by;
# 3. read its attention, and test whether a head copies what came before;
# 4. draw the next token: temperature, top-k, top-p;
# 5. generate with a cache, and say what it saves.
#
# You know nearly every part. What is new is how few you need, and that the model may now *write*.

# %% [markdown]
# ## Predict first
#
# A language model reads a text. Before each character it gives every possible one a probability. To the next four that really came, it had given 1/2, 1/4, 1/8 and 1/8.
#
# Suppose you have to find out each character by yes/no questions, and the model tells you which ones to ask. A character with probability 1/2 takes one question, one with 1/4 takes two.

# %%
widgets.predict(
    "12.1", "How many questions does a character take on average?", between=(0, 8)
)

# %%
said = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 8])  # what the right characters got
questions = -said.log2()  # (4,)
print(f"questions {questions.tolist()}, on average {questions.mean():.2f}")
print(f"as many as among {2 ** questions.mean():.2f} equally probable characters")
widgets.came_out("12.1", questions.mean().item())

# %% [markdown]
# The first number is called **bits per character**, the second **perplexity**. They say the same thing on two scales, and we'll measure every model of this lesson by them.

# %% [markdown]
# ## 12.1 One stack, one text
#
# The Transformer of lesson 10 has two stacks, because source and target are two texts. A language model has one text and goes on with it. So the encoder goes, and the cross-attention with it: there is nothing left to look at. What remains of the decoder is causal self-attention and a feed-forward network, $N$ times. Here is the whole model, drawn from the code that runs:

# %%
torch.manual_seed(2)
sizes = {"num_layers": 3, "d_model": 24, "d_ff": 40, "num_heads": 6, "num_kv_heads": 2}
tiny = DecoderLM(DecoderConfig(19, max_len=12, **sizes)).eval()
tokens = torch.randint(0, 19, (2, 7))  # (B=2, L=7)
plotting.show(diagrams.architecture(tiny, (tokens,)))

# %% [markdown]
# *One kind of layer, and in it two residual paths. No second input.*

# %%
widgets.predict(
    "12.2",
    "Same sizes: what percentage of the layers' parameters is left?",
    between=(0, 100),
    step=5,
)

# %%
large = {"num_layers": 6, "d_model": 512, "d_ff": 2048, "num_heads": 8}
with torch.device("meta"):  # shapes without numbers
    both = Transformer(TransformerConfig(1000, 1000, **large))
    encoder, decoder = map(count_parameters, (both.encoder_layers, both.decoder_layers))
    cross = sum(count_parameters(one.cross_attention) for one in both.decoder_layers)
whole, left = encoder + decoder, decoder - cross
print(f"{left / 1e6:.1f} of {whole / 1e6:.1f} million")
widgets.came_out("12.2", 100 * left / whole)

# %% [markdown]
# Every position is trained at once, as the decoder was: inputs are `ids[:-1]`, labels `ids[1:]`, and the causal mask sees to it that no position has its label in sight. That's easy to test: change the future, and compare the past.

# %%
changed = tokens.clone()
changed[:, 4:] = (changed[:, 4:] + 1) % 19  # another future, from position 4 on
with torch.no_grad():
    moved = (tiny(changed) - tiny(tokens)).abs().amax(dim=(0, 2)) > 1e-6  # (L,)
moved = moved.nonzero().flatten().tolist()
print("logits that move when tokens 4, 5, 6 change:", moved)

# %% [markdown]
# And what does a *trained* one look at? The course ships such a model, four layers that have read Python's documentation letter by letter. It reads a line of code. Choose a head, and point at a letter:

# %% tags=["nbval-ignore-output"]
model = pretrained.load("language_model").requires_grad_(False)
line = "for name in names: print(name)"


def looks(model, text):
    """The weights (layers, H, L, L) while the model reads a text."""
    with record_attention(model) as seen:
        model(encode_text(text)[None])
    return torch.stack(seen.matching("layers.*"))[:, 0]


names = [NAMES.get(letter, letter) for letter in line]
widgets.attention_viewer({"the line": (looks(model, line), names, names)})

# %% [markdown]
# *Look for a head that always looks at the letter before, and for one that looks back to the same letter somewhere else. Section 12.5 measures what you see here.*

# %% [markdown]
# ## 12.2 The block
#
# Today's block has four parts, and you know three: **RMSNorm** before each sublayer (lesson 09), **rotary positions** (08) and **grouped queries** (07) in the attention. $x$ is the stream, $(B, L, d_{model})$:
#
# $$x \leftarrow x + \operatorname{Attention}(\operatorname{RMSNorm}_1(x)) , \qquad x \leftarrow x + \operatorname{SwiGLU}(\operatorname{RMSNorm}_2(x)) .$$
#
# **SwiGLU** is new. The network of 2017 goes up to $d_{ff}$ features, sets what is negative to zero, and comes down again. This one goes up **twice**. One branch, the **gate**, passes through a smooth function, and decides feature by feature how much of the other branch comes through:
#
# $$\operatorname{SwiGLU}(x) = W_{down} \, \big( \operatorname{SiLU}(W_{gate}\, x) \odot (W_{up}\, x) \big) , \qquad \operatorname{SiLU}(z) = z \, \sigma(z) = \frac{z}{1 + e^{-z}} .$$
#
# $W_{gate}$ and $W_{up}$ have shape $(d_{ff}, d_{model})$, $W_{down}$ has $(d_{model}, d_{ff})$, and $\odot$ multiplies feature by feature. By hand, with one feature everywhere, $x = 2$ and all weights 1: the gate is $2 \cdot \sigma(2) = 1.762$, the other branch 2, the result 3.523.

# %%
widgets.predict(
    "12.3",
    "And if the gate's weight is -1? A ReLU in its place would give 0.",
    choices=["0 too", "below 0", "above 0"],
)

# %%
for weight in (1.0, -1.0):
    gate = F.silu(torch.tensor(weight * 2.0))
    print(f"gate weight {weight:4.1f}: gate {gate:6.3f}, result {gate * 2:6.3f}")
widgets.came_out("12.3", "below 0")

# %%
z = torch.linspace(-5, 4, 91)
functions = {"SiLU": F.silu(z), "ReLU": z.relu(), "sigmoid": z.sigmoid()}
ax = plotting.curves(z, functions, xlabel="before", ylabel="after the function")
plotting.show(
    ax,
    "SiLU, ReLU and sigmoid. SiLU follows ReLU far from zero, but dips below zero "
    "for negative values and is smooth everywhere.",
)

# %% [markdown]
# *SiLU dips below zero: a gate can turn a little of the signal around, and it has a slope where ReLU has none.* Three matrices instead of two: to have as many parameters as a ReLU network with $d_{ff} = 4\, d_{model}$, a gated one takes two thirds of that width.
#
# **Do exercises 12.1 and 12.2 now (35 minutes, {{exercises_link}}), then read on.** They ask for SwiGLU and for the whole block, with a cache. From here on we use the library's, which the tests hold equal to Hugging Face's `LlamaForCausalLM`.

# %% [markdown]
# ## 12.3 What counting can do
#
# The text is one that every Python carries: its language reference. We take it letter by letter, so the vocabulary is tiny and no word is unknown. It comes in three parts. On the first a model is **trained**. On the second, *valid*, we **choose**: how long to train, which rate. On the third, *test*, we only **judge**. If you choose by a text and then quote your figure on the same text, the figure is too good: you kept what happened to fit.

# %% tags=["nbval-ignore-output"]
parts = documentation_split()
for name, text in parts._asdict().items():
    print(f"{name:6}{len(text):8,} characters")
V = len(TEXT)
print(f"vocabulary {V}\n...{parts.train[2000:2200]}...")

# %% [markdown]
# Let $p(c_t \mid c_{<t})$ be the probability that a model gave to the character $c_t$ that really came. Over $T$ characters
#
# $$\text{loss} = -\frac1T \sum_{t=1}^{T} \ln p(c_t \mid c_{<t}) , \qquad \text{perplexity} = e^{\text{loss}} , \qquad \text{bits per character} = \frac{\text{loss}}{\ln 2} .$$
#
# A number alone says little. So how far do you get **without any training**, by counting? A model of **pairs** counts which letter follows which. A **trigram** model counts what follows two letters, a **5-gram** model what follows four. Long contexts are rare, and most of what follows them has never been counted. So each model is mixed with the one that is shorter by a letter: after a context that came $n$ times, followed by $t$ different letters, the shorter model gets the share $t / (n + t)$ (Witten and Bell, 1991). By hand, in the text *abab* with two symbols: *a* and *b* both have 1/2. After *b*, which was followed once, by *a*, the pair model says $\frac{1 + 1 \cdot 1/2}{1 + 1} = 0.75$ for *a*.

# %%
by_hand = NGrams("abab", 2, num_symbols=2)
print(by_hand.probability("", "a"), by_hand.probability("b", "a"))

# %%
widgets.predict(
    "12.4",
    "Knowing nothing, a character costs 6.6 bits. With 5-grams, on the test text?",
    between=(0, 6.6),
    step=0.1,
)

# %% tags=["nbval-ignore-output"]
counted = NGrams(parts.train, 5, V)
orders = {"uniform": 0, "frequencies": 1, "pairs": 2, "trigrams": 3, "5-grams": 5}
bits = {}
for name, order in orders.items():
    bits[name] = counted.bits(parts.test, order).mean().item()
    print(f"{name:12}{bits[name]:5.2f} bits   perplexity {2 ** bits[name]:5.1f}")
assert bits["uniform"] > bits["pairs"] + 2 and bits["trigrams"] > bits["5-grams"] + 0.2
widgets.came_out("12.4", bits["5-grams"])

# %% [markdown]
# These are strong: a manual repeats itself, and counting remembers. Comparing a trained model with letter frequencies alone would be choosing an easy opponent.

# %% [markdown]
# ## 12.4 Trained live, and trained longer
#
# A model of two blocks, in windows of 128 characters. It takes half a minute to a minute.

# %% tags=["nbval-ignore-output"]
seed_everything(0)
sizes = {"num_layers": 2, "d_model": 128, "d_ff": 344, "num_heads": 4}
small = DecoderLM(DecoderConfig(V, num_kv_heads=2, max_len=512, **sizes))
train_ids, valid_ids, test_ids = (encode_text(text) for text in parts)  # (N,) each
WINDOW, STEPS, EPOCHS = 128, 300, 5
one = windows(train_ids, WINDOW, 8, seed=0)  # all of it: each (8, WINDOW + 1)
print(f"{count_parameters(small):,} parameters")
print(f"reads {STEPS * 8 * WINDOW:,} of {len(train_ids):,} characters")

# %% tags=["nbval-ignore-output"]
# the optimizer of lesson 11, where this PyTorch has it; else Adam with a lower rate
muon = hasattr(torch.optim, "Muon")
peak = 1.2e-2 if muon else 5e-3
history = fit(
    small,
    lambda epoch: one[epoch * STEPS // EPOCHS : (epoch + 1) * STEPS // EPOCHS],
    next_symbol_loss,
    epochs=EPOCHS,
    rate=lambda step: one_cycle_rate(step, STEPS, peak, rise=0.1),
    optimizer=MuonWithAdam(small) if muon else None,
    validate=lambda model: text_scores(model, valid_ids[:4000], length=WINDOW)["loss"],
)
live = text_scores(small, test_ids, length=2 * WINDOW, stride=WINDOW)
print(f"valid, in bits: {[round(x / math.log(2), 2) for x in history.scores]}")

# %% [markdown]
# (The bar shows nats, as losses are computed; divide by $\ln 2 = 0.693$ for bits.) What does it write?

# %% tags=["nbval-ignore-output"]
rng = torch.Generator().manual_seed(0)
start = encode_text("The ")[None]  # (1, 4)
sample = generate(small, start, max_new_tokens=200, temperature=0.7, generator=rng)
print(decode_text(sample[0]))

# %% [markdown]
# Words, almost words, brackets, line breaks at plausible places: the sound of the text and no sense. The shipped model has twice as many blocks, and it has read more: the training text many times over, and the docstrings of Python's standard library besides (`python -m experiments train documentation`; its card is `course_utils/pretrained/data/documentation.md`). Of its epochs, the best one on *valid* was kept:

# %% tags=["nbval-ignore-output"]
log = pretrained.training_of("language_model")
epochs = torch.arange(1, len(log["scores"]) + 1)
ax = plotting.curves(
    epochs,
    {"valid": torch.tensor(log["scores"]) / math.log(2)},
    xlabel="epoch", ylabel="bits per character",
)
ax.axhline(counted.bits(parts.valid).mean(), color="0.6", ls="--", label="5-grams")
ax.set_ylim(0, 2.4)
ax.legend(frameon=False, loc="lower left")
plotting.show(ax, "Bits on valid by epoch, falling; dashed: 5-grams on valid.")
size = sum(p.numel() for p in model.parameters())
print(f"{size:,} parameters, {log['minutes']} minutes on one core")

# %% [markdown]
# *The whole curve lies below the 5-gram model, but then that has read less.* A fair opponent must have read as much, so we count once more, in the training text *and* the docstrings. Now all of them on the test text. Each character has at least half a window before it, because the windows overlap (exercise 12.7 builds this):

# %% tags=["nbval-ignore-output"]
judged = text_scores(model, test_ids, length=512, stride=256)
more = docstrings()
counted_more = NGrams(f"{parts.train}\n\n{more}", 5, V).bits(parts.test)  # (N,)
rows = bits | {"5-grams, more text": counted_more.mean().item()}
rows |= {"trained live": live["bits"], "shipped": judged["bits"]}
for name, value in sorted(rows.items(), key=lambda row: -row[1]):
    print(f"{name:20}{value:5.2f} bits   perplexity {2**value:6.2f}")

# %% tags=["nbval-ignore-output"]
for trained in ("trained live", "shipped"):
    others = [name for name in rows if name not in ("trained live", "shipped")]
    beaten = [name for name in others if rows[name] > rows[trained]]
    left = [name for name in others if name not in beaten]
    print(f"{trained} beats {', '.join(beaten)}; not: {', '.join(left) or 'none'}")
assert rows["trained live"] < rows["pairs"] - 0.3

# %% [markdown]
# Read the two lines. So short a training doesn't beat everything that can be counted, and it would be wrong to say so. Counting has seen the *whole* training text; the live model has read about three quarters of it, once.
#
# **Is test text really new?** Manuals repeat themselves. A part of the test text stands in what the models have read word for word, in stretches of 50 characters or more. There memory is enough, and the figure flatters every model that has some. So look at the two kinds of characters apart (exercise 12.8 finds them):

# %% tags=["nbval-ignore-output"]
late = torch.cat(windows(test_ids, 512, 8))  # (n, 513); we take the second halves
place = 512 * torch.arange(len(late))[:, None] + torch.arange(257, 513)  # (n, 256)
logits = torch.cat([model(some[:, :-1])[:, 256:] for some in late.split(8)])
ours = F.cross_entropy(logits.transpose(1, 2), late[:, 257:], reduction="none")
ours = ours / math.log(2)  # (n, 256), in bits
five = counted_more[place - 1]
seen = seen_before(f"{parts.train}\n\n{more}", parts.test, 50)[place]
print(f"{seen.float().mean():.0%} of these characters were seen in training")
for name, bit in (("5-grams, more text", five), ("shipped", ours)):
    print(f"{name:18} seen {bit[seen].mean():.2f}   new {bit[~seen].mean():.2f} bits")

# %% [markdown]
# The right-hand column is the honest one for text that is really new. Figures of language models from different texts, or different splits of one text, can't be compared; a figure without its split means little.

# %% [markdown]
# ## 12.5 What does it look at?
#
# There is one thing that attention can do and a 5-gram model can't: find the place where the same letters came before, however far back, and go on as it went on there. A head that does this is called an **induction head** (Olsson et al., 2022). To test for it, we need text where *nothing but* copying helps: random letters, and then the same random letters again.
#
# The first copy can't be predicted. The second can, if the model looks back. For comparison, the same second half comes behind *other* random letters: as long, but with nothing to copy. Then the same with stretches of the test text in place of random letters, since a model may copy only what looks familiar. Five seeds, each with eight texts of 64 and 64 letters.

# %%
widgets.predict(
    "12.5",
    "Random letters: what percentage of the bits will the copy save?",
    between=(0, 100),
    step=5,
)

# %%
SIZE, COUNT = 64, 8


def two_halves(seed, kind, copy):
    """COUNT texts; the second half is the same whether the first is a copy or not."""
    rng = torch.Generator().manual_seed(seed)
    if kind == "random letters":
        a, z = encode_text("az").tolist()
        second, other = torch.randint(a, z + 1, (2, COUNT, SIZE), generator=rng)
    else:
        starts = torch.randint(len(test_ids) - SIZE, (2, COUNT, 1), generator=rng)
        second, other = test_ids[starts + torch.arange(SIZE)]
    return torch.cat([second if copy else other, second], dim=1)  # (COUNT, 2 * SIZE)


# %%
def second_half(model, ids):
    """Bits for a letter of the second half."""
    logits = model(ids[:, :-1]).transpose(1, 2)  # (COUNT, V, L - 1)
    losses = F.cross_entropy(logits, ids[:, 1:], reduction="none")
    return losses[:, SIZE - 1 :].mean().item() / math.log(2)


# %% tags=["nbval-ignore-output"]
found = {}
for kind in ("random letters", "test text"):
    for copy in (False, True):
        runs = [second_half(model, two_halves(s, kind, copy)) for s in range(5)]
        found[kind, copy] = torch.tensor(runs)  # (5,)
    before, again = found[kind, False], found[kind, True]
    saved = before - again  # (5,), in pairs: the same second half
    said = f"{before.mean():.2f} bits, behind a copy {again.mean():.2f}"
    print(f"{kind}: {said}; saved {saved.min():.2f} to {saved.max():.2f}")
print(f"knowing only that it is one of 26 letters: {math.log2(26):.2f} bits")
before, again = found["random letters", False], found["random letters", True]
widgets.came_out("12.5", 100 * (1 - again.mean() / before.mean()).item())

# %% [markdown]
# This model doesn't copy random letters: it saves next to nothing there. (They are unlike anything it has read, so it does worse than a guess among 26.) Test text it does copy, in part. Which heads do it? At a letter of the second half, an induction head looks at the place *behind* the same letter of the first, for there stands what comes next. So the weight on that place is a score for each head. The landmark is the same place when the first half is other text, with nothing to copy:

# %% tags=["nbval-ignore-output"]
def behind(model, ids):
    """For each layer and head: the weight on the place behind the same letter."""
    with record_attention(model) as record:
        model(ids)
    weights = torch.stack(record.matching("layers.*"))  # (layers, COUNT, H, L, L)
    place = torch.arange(SIZE, 2 * SIZE - 1)
    return weights[..., place, place - SIZE + 1].mean(dim=(1, 3))  # (layers, H)


scores = {}
for copy in (False, True):
    runs = [behind(model, two_halves(s, "test text", copy)) for s in range(5)]
    scores[copy] = torch.stack(runs)  # (5, layers, H)

# %% tags=["nbval-ignore-output"]
heads = [f"{layer}.{head}" for layer in range(4) for head in range(4)]
ax = plotting.new_axes(7.2, 2.8)
for copy, color in ((False, "0.6"), (True, plotting.WEIGHT_COLOR)):
    xs = [x for x in range(16) for _ in range(5)]
    name = "behind a copy" if copy else "behind other text"
    ax.plot(xs, scores[copy].flatten(1).T.flatten(), "o", color=color, ms=5, label=name)
ax.set_xticks(range(16), heads)
ax.set(xlabel="layer.head", ylabel="weight", ylim=(0, None))
ax.legend(frameon=False, loc="upper left")
plotting.show(
    ax,
    "Weight behind the same letter for 16 heads, five seeds each. Most heads give as "
    "much with a copy as without; 3.1 gives several times as much, 3.0 and 2.3 more.",
)

# %% [markdown]
# *Where the two colors part, a head sees the copy. A head that did nothing but copy would come near 1, so these are faint.* A pattern doesn't show that a head is needed (lesson 06), so take out the three in which the copy adds most. Their loss alone would say little: without a head a model is worse at *everything*. What counts is the **saving**. For comparison, out go the three heads of the same layers in which the copy adds least. We chose by the seeds 0 to 4, so we judge on 5 to 9:

# %%
def without(heads):
    """The model without some heads, each given as (layer, head)."""
    stripped = pretrained.load("language_model").requires_grad_(False)
    for layer, head in heads:
        attention = stripped.layers[layer].self_attention
        columns = slice(head * attention.d_head, (head + 1) * attention.d_head)
        attention.o_proj.weight[:, columns] = 0
    return stripped


# %%
added = (scores[True] - scores[False]).mean(dim=0)  # (layers, H)
falling = [(i // 4, i % 4) for i in added.flatten().argsort(descending=True).tolist()]
best, others = falling[:3], []
for layer, _ in best:  # from the bottom, one of the same layer that isn't out yet
    left = [one for one in reversed(falling) if one[0] == layer and one not in others]
    others.append(left[0])

# %% tags=["nbval-ignore-output"]
saving = {}
for name, out in (("no heads", []), ("these three", best), ("three others", others)):
    stripped, kind = without(out), "test text"
    seeds = range(5, 10)
    texts = [[two_halves(s, kind, copy) for s in seeds] for copy in (False, True)]
    both = torch.tensor([[second_half(stripped, ids) for ids in row] for row in texts])
    saving[name] = saved = both[0] - both[1]  # (5,)
    print(f"{name} out {out}: {both[0].mean():.2f} bits, behind a copy", end=" ")
    print(f"{both[1].mean():.2f}; saved {saved.min():.2f} to {saved.max():.2f}")
assert saving["these three"].mean() < 0.6 * saving["three others"].mean()

# %% [markdown]
# Without these three most of the saving is gone, and without the three others it stays, though that model is worse on both kinds of text. So these three do most of the copying. Here is the first of the three on a phrase that comes twice:

# %% tags=["nbval-ignore-output"]
text = "the text, " * 2
layer, head = best[0]
shown = looks(model, text)[layer, head : head + 1, 10:]  # (1, 10, 20)
name = f"layer {layer}, head {head}"
letters = [NAMES.get(letter, letter) for letter in text]
plotting.show(diagrams.attention_lines(shown, letters[10:], letters, [name]))

# %% [markdown]
# *At the left the letters of the second half, at the right all that they can look at. Follow the thick lines: some end just behind the same letter in the first half, others don't.*

# %% [markdown]
# ## 12.6 Which token next?
#
# To write, one symbol must be chosen. Always the most probable one (**greedy**)? Or one drawn at random? Three settings lie in between, applied **in this order**:
#
# 1. **Temperature** $T$: the probabilities are $\operatorname{softmax}(z / T)$. Below 1 the large get larger; above 1 all become more alike. $T = 0$ is defined as greedy.
# 2. **Top-k**: only the $k$ most probable symbols stay; renormalize.
# 3. **Top-p** (nucleus sampling): of these, the fewest most probable ones that reach the probability $p$ *together* stay. The one that crosses the line is kept. Renormalize.
#
# By hand, on 0.5, 0.3, 0.15, 0.05: top-p = 0.6 keeps two, because 0.5 alone is less than 0.6. They have 0.8 together, so they become 0.625 and 0.375.

# %%
logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()  # (V=4,)
settings = ({"temperature": 0.5}, {"temperature": 2.0}, {"top_k": 2}, {"top_p": 0.6})
for chosen in ({}, *settings, {"top_p": 0.83}, {"top_k": 3, "top_p": 0.83}):
    probs = sampling_distribution(logits, **chosen)
    print(f"{chosen!s:28} {[round(p, 3) for p in probs.tolist()]}")

# %% [markdown]
# Compare the last two lines. Alone, 0.83 takes three symbols. After top-k the three are renormalized, the first two have 0.84 together, and the third one falls. That is why the order must be stated.
#
# **Do exercise 12.4 now (20 minutes)**: it asks for all three at once, for a whole batch, and for ties. Here is the model after `The `, at the beginning of a sentence. Outlines: what the temperature makes of it. Filled: what can be drawn.

# %% tags=["nbval-ignore-output"]
logits = model(encode_text("\n\nThe ")[None])[0, -1]  # (V,)
top = logits.argsort(descending=True)[:12]  # (12,)
symbols = [NAMES.get(TEXT.symbols[i], TEXT.symbols[i]) for i in top.tolist()]
settings = {
    "T = 0.5": {"temperature": 0.5}, "T = 2": {"temperature": 2.0},
    "top-k = 5": {"top_k": 5}, "top-p = 0.8": {"top_p": 0.8},
}
axes = plotting.new_axes(11.0, 2.6, columns=4)
for ax, (name, chosen) in zip(axes, settings.items(), strict=True):
    plain = sampling_distribution(logits, temperature=chosen.get("temperature", 1.0))
    final = sampling_distribution(logits, **chosen)
    left = f"{name}: {int((final > 0).sum())} left"
    next_symbol_bars(symbols, plain[top], final[top], ax=ax, title=left)
    ax.set_ylim(0, 0.4)
plotting.show(axes[0], "The twelve most probable letters under four settings.")

# %% [markdown]
# *Temperature rules nothing out: the tail gets smaller or larger, but it stays. Top-k cuts after a fixed number, top-p after a fixed probability; how many that leaves depends on how sure the model is.* Try it out. The continuation is drawn with the same random numbers each time, so that what changes is due to the settings:

# %% tags=["nbval-ignore-output"]
prompts = ["The following ", "class Point:\n    def __init__(", "If the argument is "]
playground = widgets.sampling_playground(model, prompts)
playground.show_first_state(
    "Bars of the probabilities of the twelve most probable next characters after the "
    "prompt, and below a continuation of thirty characters."
)

# %%
playground

# %% [markdown]
# **Why not always greedy?** Every single choice is the best one, and the text is not: after a while it tends to run in circles. One prompt proves nothing, so take six, and measure which share of the stretches of 20 characters stood in the same text before:

# %%
def repeated(ids, size=20):
    text = decode_text(ids)
    stretches = [text[i : i + size] for i in range(len(text) - size + 1)]
    return 1 - len(set(stretches)) / len(stretches)

# %% tags=["nbval-ignore-output"]
starts = (
    "A function is ", "If the list is", "For example, a",
    "This is called", "When the value", "The class body",
)  # fmt: skip
same = torch.stack([encode_text(start) for start in starts])  # (6, 14)
ways = {"greedy": {"temperature": 0.0}, "T = 1": {}, "top-p": {"top_p": 0.9}}
for name, chosen in ways.items():
    rng = torch.Generator().manual_seed(2)
    written = generate(model, same, max_new_tokens=240, generator=rng, **chosen)
    shares = [repeated(ids) for ids in written]
    spread = f"{min(shares):.0%} to {max(shares):.0%}"
    print(f"{name:7} repeated {sum(shares) / 6:.0%}, the six {spread}")

# %% [markdown]
# ## 12.7 Generation with a cache
#
# The plain loop feeds everything so far at each step, and throws away all logits but the last:

# %%
@torch.no_grad()
def write_plainly(model, prompt, new):
    tokens = prompt  # (B, L)
    for _ in range(new):
        logits = model(tokens)[:, -1]  # (B, V)
        tokens = torch.cat((tokens, logits.argmax(dim=-1, keepdim=True)), dim=1)
    return tokens

# %% [markdown]
# With a cache (lesson 07) each layer keeps its keys and values. The **prefill** feeds the prompt once; from then on each **step** feeds the newest token alone.

# %%
plotting.show(diagrams.cache_strip(list("The cat sat"), prompt=4))

# %% [markdown]
# *Each row is a step, each column a position: computed once, then only looked at.*
#
# **Do exercise 12.3 now (15 minutes), then read on. Exercise 12.6 is a bug that lives in this loop.**
#
# What does it save? One position costs each weight matrix one multiplication per entry, $P$ in all. Its query meets every key, and every value is weighed: $2 L d_{model}$ multiplications in each of $N$ layers.
#
# | | positions computed | multiplications |
# |---|---|---|
# | one step without a cache | $L$ | about $L P + N L^2 d_{model}$ (half of the $L^2$ pairs, twice $d_{model}$) |
# | one step with a cache | 1 | $P + 2 N L d_{model}$ |

# %%
widgets.predict(
    "12.6",
    "One step after 256 tokens: how many times fewer multiplications with the cache?",
    between=(0, 512),
    step=16,
)

# %%
c = model.config
P = sum(p.numel() for p in model.parameters() if p.dim() == 2)
ratios = {}
for length in (16, 64, 256, 1024):
    plain = length * P + c.num_layers * length**2 * c.d_model
    cached = P + 2 * c.num_layers * length * c.d_model
    ratios[length] = plain / cached
    print(f"L = {length:4}   {plain / 1e6:7.1f} or {cached / 1e6:.2f} million", end="")
    print(f"   ratio {ratios[length]:5.0f}")
widgets.came_out("12.6", ratios[256])

# %% [markdown]
# For short texts that is about $L$ times less for a step at length $L$; later it is somewhat less than that, since the cached step looks back at more and more. The clock says less, because much of a small model's step is spent on things that don't shrink, such as calling Python. One thread, the faster of two runs:

# %%
def write_cached(model, prompt, new):
    return generate(model, prompt, max_new_tokens=new, temperature=0.0)


def timed(way, new):
    began = time.perf_counter()
    written = way(model, encode_text("A function is ")[None], new)
    return time.perf_counter() - began, written

# %% tags=["nbval-ignore-output"]
lengths = (16, 96, 256)
seconds = {"without cache": [], "with cache": []}
for new in lengths:
    for times, way in zip(seconds.values(), (write_plainly, write_cached), strict=True):
        times.append(min(timed(way, new)[0] for _ in range(2)))
assert torch.equal(timed(write_plainly, 64)[1], timed(write_cached, 64)[1])  # same text

# %% tags=["nbval-ignore-output"]
ax = plotting.new_axes(5.6, 3.0)
for (name, times), mark in zip(seconds.items(), ("o-", "s--"), strict=True):
    ax.plot(lengths, times, mark, label=name)
ax.set(xlabel="new tokens", ylabel="seconds", ylim=(0, None))
ax.legend(frameon=False)
plotting.show(ax, "Seconds by number of new tokens, with and without the cache.")

# %% [markdown]
# *Without the cache each token costs more than the one before, so by the count above the upper line bends upward; how much of that the clock shows depends on the machine.* The price is memory: 2 (keys and values) × layers × $H_{kv}$ × positions × $d_{head}$ numbers, as in lesson 07.

# %% [markdown]
# ## 12.8 Source and target in one text
#
# A task with a source and a target needs no encoder either. Write both into one text, with a sign in between: `nation>N EY SH AH N`, and score only what stands behind the sign. Then *self*-attention does what cross-attention did: at `EY` the model looks back at the letters. Is that as good?
#
# Lesson 11 compares models at one budget (`python -m experiments comparison`): the same words, as often, in the same batches, nearly as many parameters; for each the learning rate that was best in a short sweep, and then several seeds. Two of them differ in the model alone: the Transformer of lesson 10 with two and two layers, and a `DecoderLM` with four in its one stack. The budget is small, so errors are many. On words for validation:

# %% tags=["nbval-ignore-output"]
table = read_rows("comparison")
runs = [row for row in table if row["part"] == "run" and row["right"]]  # last epochs
for variant in ("Transformer, Muon", "decoder-only, Muon"):
    for what in ("WER", "PER"):
        rates = [float(row[what]) for row in runs if row["variant"] == variant]
        spread = f"{len(rates)} seeds {min(rates):.1f} to {max(rates):.1f}"
        print(f"{variant:20}{what} {sum(rates) / len(rates):.1f} %, {spread}")

# %% [markdown]
# The ranges of the two models overlap, in both rates. So three seeds can't tell them apart *at this budget*, and what another budget would say, this table doesn't know.
#
# One thing is lost: the encoder's letters see one another in both directions, but in one causal text the *k* of *knight* is read without knowing what follows. A **prefix mask** (lesson 05) would let the letters see one another here too.

# %% [markdown]
# ## What goes wrong
#
# **The temperature divides the probabilities.** After renormalizing, nothing has changed. You would notice that the slider does nothing.

# %%
probs = torch.tensor([0.7, 0.2, 0.1])
for T in (0.5, 2.0):
    wrong, right = probs / T, sampling_distribution(probs.log(), temperature=T)
    print(f"T = {T}: wrong {wrong / wrong.sum()}   right {right}")

# %% [markdown]
# **The whole text is fed at each cached step.** Then the cache holds the prompt twice, at positions that it doesn't have. A cache with just enough room notices; one with more room says nothing, and the text is quietly worse:

# %%
cache = tiny.start_cache(2, 7)
with torch.no_grad():
    tiny(tokens[:, :5], cache=cache)
    try:
        tiny(tokens[:, :6], cache=cache)  # meant: the one new token, tokens[:, 5:6]
    except ValueError as error:
        print(error)

# %% [markdown]
# **Asked for more than it was trained on.** A model has room for a number of positions; that doesn't mean it has learned to use them. The shipped one was trained in windows of 512 characters and has room for 1,024. How well does it do, the further into the window it gets?

# %%
long = windows(test_ids[: 12 * 1024 + 1], 1024, 4)  # 12 windows
with torch.no_grad():
    nats = [
        F.cross_entropy(model(w[:, :-1]).transpose(1, 2), w[:, 1:], reduction="none")
        for w in long
    ]
by_place = torch.cat(nats).view(12, 16, 64).mean(dim=(0, 2)) / math.log(2)  # (16,)
middle = 64 * torch.arange(16) + 32

# %% tags=["nbval-ignore-output"]
ax = plotting.new_axes(5.6, 3.0)
ax.plot(middle.tolist(), by_place.tolist(), "o-", color=plotting.COLORS[0])
ax.set(xlabel="characters before", ylabel="bits per character", ylim=(0, None))
ax.axvline(512, color="0.6", ls="--", lw=1)
ax.axhline(bits["frequencies"], color="0.6", ls=":", label="letter frequencies")
ax.legend(frameon=False, loc="upper left")
plotting.show(
    ax,
    "Bits per character by place in a window of 1,024: falling a little up to 512, "
    "then rising steeply, above the bits of letter frequencies at the right end.",
)
print(f"up to 512: {by_place[:8].mean():.2f} bits, beyond {by_place[8:].mean():.2f}")
assert by_place[8:].mean() > by_place[:8].mean() + 1

# %% [markdown]
# *The first point shows what little context costs. Right of the dashed line the model falls apart: in the end it does worse than letter frequencies, which know no context at all.* The likely reason: the rotary positions turn by angles that its weights have never met (lesson 08 measured this on a small task). No error says so. Published models are trained once more on long texts, often with a larger base of the angles, before they are given long texts.

# %% [markdown]
# ## In practice
#
# - **Prefill and steps** are different loads. Prefill computes many positions at once and is limited by arithmetic; a step reads all weights and the whole cache for one position and is limited by memory traffic. So servers batch many users' steps together.
# - **Names.** `temperature`, `top_k`, `top_p` are called so nearly everywhere, but their order isn't the same everywhere: read the documentation. $d_{ff}$ is `intermediate_size`, $H_{kv}$ is `num_key_value_heads`, the cache is `past_key_values` (Hugging Face).
#
# **Now put it all together: the payoff of the {{exercises_link}}** trains a model of *your* blocks on the spellings of the pronouncing dictionary. It invents words, and the model of lesson 11 says them.

# %% [markdown]
# ## Recap
#
# 1. **What is left**: one causal stack. Its block is pre-norm, with RMSNorm, rotary positions, grouped queries and SwiGLU, whose gate decides how much of each feature comes through.
# 2. **How good**: loss in nats, perplexity $e^{\text{loss}}$, bits = loss / ln 2. Beside a figure belong the counted models on the same text, the split (choose on *valid*, judge on *test*), the windows, and what share of the test text had been seen.
# 3. **What it looks at**: an induction head looks behind the earlier same letter. Compare a copy with other text as long; whether the head is needed for copying, you find out by taking it out, and by looking at the saving.
# 4. **The next token**: temperature on the logits, then top-k, then top-p with the crossing token kept. Greedy tends to repeat itself.
# 5. **Cache**: prefill once, then one token per step. The same text, and a step costs hundreds of times fewer multiplications after a few hundred tokens.

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | tokens, labels | `ids[:-1]`, `ids[1:]` | `(B, L)` |
# | $z$ | logits of the next token | `(B, L, V)` |
# | $H$, $H_{kv}$ | query heads, key/value heads | numbers |
# | $W_{gate}, W_{up}$ | up, twice | `(d_ff, d_model)` |
# | $W_{down}$ | down | `(d_model, d_ff)` |
# | cache, for each layer | keys and values so far | `(B, H_kv, L, d_head)` each |
# | $T$, $k$, $p$ | temperature, top-k, top-p | numbers |
# | $P$ | parameters in matrices | a number |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. A model has 1 bit per character. What is its perplexity, and what its loss in nats?</summary>
#
# **2, and ln 2, about 0.69.** (Not 1: a perplexity of 1 means that every character is known beforehand, 0 bits. Not e: that is the perplexity at a loss of 1 *nat*.)
# </details>
#
# <details><summary>2. Where does the decoder-only model look at the prompt, now that there is no cross-attention?</summary>
#
# **In self-attention.** Prompt and answer are one text, and every position sees all earlier ones, those of the prompt among them. (Not in the embeddings: they see one token each.)
# </details>
#
# <details><summary>3. Somebody trains five models, takes the one that is best on the test text, and reports its test figure. What is wrong?</summary>
#
# **It was chosen by the text that it is judged on.** Part of what made it best there is luck, and the luck is in the figure. Choose on valid. (Nothing is wrong with training five. And that nobody *trained* on the test text doesn't help: choosing is fitting too.)
# </details>
#
# <details><summary>4. Top-k = 5 or top-p = 0.9: which of them can leave a single token, and when?</summary>
#
# **Top-p, when the model gives one token at least 0.9.** Top-k always leaves five, however improbable the fifth is. (Top-k = 1 leaves one too, but then always.)
# </details>
#
# <details><summary>5. A head puts much weight behind the same letter, and without it the second copy costs as much as before. Is it an induction head?</summary>
#
# **It looks like one, but this model doesn't depend on it.** Others may do the same job (take them out together), or what it reads there isn't used. (A pattern alone is no proof, and a head that isn't missed alone isn't idle: lesson 06.)
# </details>

# %% [markdown]
# ## When you need it
#
# **Tokens between letters and words.** Published models read pieces of words. **Byte-pair encoding** (Sennrich et al., 2016) finds them: start with letters; join the pair of neighbors that occurs most often into one new symbol; repeat. By hand, with *low* five times, *lower* twice, *newest* six times and *widest* three times: the pairs *e s* and *s t* occur 9 times each. The first of them is joined to *es*, then *es t* occurs 9 times and becomes *est*.

# %%
def most_frequent_pair(words):
    """words: a tuple of symbols -> how often it occurs."""
    pairs = {}
    for word, count in words.items():
        for pair in zip(word, word[1:], strict=False):
            pairs[pair] = pairs.get(pair, 0) + count
    return max(pairs, key=pairs.get) if pairs else None  # of several the first

# %%
def join(word, pair):
    joined = []
    for symbol in word:
        if joined and (joined[-1], symbol) == pair:
            joined[-1] += symbol
        else:
            joined.append(symbol)
    return tuple(joined)

# %%
def learn(words, merges):
    found = []
    for _ in range(merges):
        pair = most_frequent_pair(words)
        if pair is None:
            break
        found.append(pair)
        words = {join(word, pair): count for word, count in words.items()}
    return found, words


words = {tuple("low"): 5, tuple("lower"): 2, tuple("newest"): 6, tuple("widest"): 3}
pairs, words = learn(words, 4)
print(" ".join(a + b for a, b in pairs), "->", ["|".join(word) for word in words])

# %% [markdown]
# The same on a part of the documentation. A word takes its space along, so that the pieces put together give the text back:

# %% tags=["nbval-ignore-output"]
counts = {}
for word in parts.train[:60_000].replace("\n", " ").split(" "):
    counts[tuple(" " + word)] = counts.get(tuple(" " + word), 0) + 1
pairs, pieces = learn(counts, 150)
letters = sum(len("".join(word)) * n for word, n in pieces.items())
tokens_left = sum(len(word) * n for word, n in pieces.items())
print("last ones joined:", [a + b for a, b in pairs[-8:]])
print(f"{letters / tokens_left:.2f} letters a token after {len(pairs)} merges")
nats = judged["loss"] * letters / tokens_left  # of a token, if letters cost as before
print(f"perplexity per letter {judged['perplexity']:.2f}, token {math.exp(nats):.1f}")

# %% [markdown]
# The last line is about *one* prediction of one text, told per letter and per token. So perplexities of models with different tokens can't be compared. Bits per character (or per byte) can: divide the total by the number of characters.
#
# **How large is a 7B model?** A block has $2 d^2 + 2 d H_{kv} d_{head}$ numbers in its projections, $3 d\, d_{ff}$ in the network and $2 d$ in the norms; embedding and output matrix have $V d$ each (or share them), the last norm $d$.

# %%
def count_by_hand(V, N, d, d_ff, H, H_kv, tied=True):
    block = 2 * d * d + 2 * d * H_kv * (d // H) + 3 * d * d_ff + 2 * d
    return (1 if tied else 2) * V * d + N * block + d


c = model.config
own = (c.vocab_size, c.num_layers, c.d_model, c.d_ff, c.num_heads, c.num_kv_heads)
assert count_by_hand(*own) == size
print(f"this model {count_by_hand(*own):,}")
print(f"Llama 7B   {count_by_hand(32_000, 32, 4096, 11_008, 32, 32, tied=False):,}")

# %% [markdown]
# **Which parts do published models have?** Reading down, the parts of this lesson came in one after another.
#
# | model | norm | positions | query / key-value heads | network | source |
# |---|---|---|---|---|---|
# | Transformer, base | LayerNorm, after | sinusoidal | 8 / 8 | ReLU | Vaswani et al. 2017, sections 3, 5.1 |
# | GPT-2 | LayerNorm, before | learned | as many of both | GELU (Radford et al. 2018, section 4.1) | Radford et al. 2019, section 2.3 |
# | Llama 7B | RMSNorm, before | RoPE | 32 / 32 | SwiGLU | Touvron et al. 2023a, section 2, table 2 |
# | Llama 2 70B | RMSNorm, before | RoPE | 64 / 8 | SwiGLU | Touvron et al. 2023b, section 2.2, table 1 |
# | Llama 3 8B | RMSNorm, before | RoPE, base 500,000 | 32 / 8 | SwiGLU | Llama Team 2024, section 3.2, table 3 |
# | Mistral 7B | RMSNorm, before | RoPE, window of 4,096 | 32 / 8 | SwiGLU | Jiang et al. 2023, section 2, table 1 |
# | Qwen2.5 7B | RMSNorm, before | RoPE | 28 / 4, biases on q, k, v | SwiGLU | Qwen Team 2024, section 2, table 1 |
# | Gemma 2B | RMSNorm, before | RoPE | 8 / 1 | GeGLU (GELU as the gate) | Gemma Team 2024, section 2, table 1 |
#
# (Numbers of heads that a paper does not print are those of the published configuration.)

# %% [markdown]
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Radford et al., *Language Models are Unsupervised Multitask Learners* (GPT-2), 2019, section 2.3: one causal stack, pre-norm, and how it is initialized.
# - Touvron et al., *LLaMA: Open and Efficient Foundation Language Models*, 2023a, section 2.2: the block of this lesson; *Llama 2*, 2023b, section 2.2: grouped queries.
# - Llama Team, *The Llama 3 Herd of Models*, 2024, section 3.2. Jiang et al., *Mistral 7B*, 2023, section 2. Qwen Team, *Qwen2.5 Technical Report*, 2024, section 2. Gemma Team, *Gemma: Open Models Based on Gemini Research and Technology*, 2024, section 2.
# - Shazeer, *GLU Variants Improve Transformer*, 2020, section 2: SwiGLU and its relatives, measured.
# - Shannon, *Prediction and Entropy of Printed English*, 1951: bits per letter, measured by letting people guess. Witten, Bell, *The Zero-Frequency Problem: Estimating the Probabilities of Novel Events in Adaptive Text Compression*, 1991: how much to trust what was counted. Chen, Goodman, *An Empirical Study of Smoothing Techniques for Language Modeling*, 1998: it compares the ways to mix long and short contexts.
# - Olsson et al., *In-context Learning and Induction Heads*, 2022: the heads of section 12.5, and how they come up in training.
# - Fan et al., *Hierarchical Neural Story Generation*, 2018, section 5.4: top-k. Holtzman et al., *The Curious Case of Neural Text Degeneration*, 2020, section 3: top-p, and why greedy text repeats itself.
# - Sennrich, Haddow, Birch, *Neural Machine Translation of Rare Words with Subword Units*, 2016, section 3.2: byte-pair encoding; the example above is theirs.

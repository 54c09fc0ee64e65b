# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10 · The Transformer
#
# By the end you can assemble the whole encoder-decoder Transformer, train it to copy sequences that it has never seen, find out where that skill ends, and show what each of its attentions is for.
#
# {{colab_link}} · short path about 90 minutes with its exercises (53 + 35), everything about 4 hours · builds on lessons 05, 06, 08 and 09

# %% tags=["setup"]
import copy
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import diagrams, masks, plotting, pretrained, widgets
from course_utils.datasets.tasks import copy_task
from course_utils.decoding import greedy_decode
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.models import Transformer, TransformerConfig, count_parameters
from course_utils.positions import SinusoidalPositions
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING, pronounce
from course_utils.recording import record_attention
from course_utils.results import read_rows
from course_utils.tokenizers import END_ID, PAD_ID, START_ID, pad
from course_utils.training import label_smoothing_loss, one_cycle_rate, warmup_rate

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)  # small tensors: threads would only get in each other's way

# %% [markdown]
# **You will learn to**
#
# 1. read the picture of the whole model, and count its parameters by hand;
# 2. make the masks for a batch of pairs, and shift the target;
# 3. write the loss with label smoothing, and say what a perfect score is;
# 4. train the model, and measure what a warm-up and the order of the norms are worth;
# 5. decode one step at a time, and show what each attention is used for.
#
# You know all the parts: attention (04), masks (05), heads (06), the cache (07), positions (08), layers (09). Here they come together. To train the result we need three new things: the shifted target, a loss and a learning rate.

# %% [markdown]
# ## Predict first
# *Core · 4 minutes*
#
# A decoder should say `a b c` and then stop. At each position it is given one symbol and asked for one. Now meet a parrot: it has learned nothing, and at each position it repeats the symbol that it was just given.
#
# First we give it `a b c end` and ask for `a b c end`. Then we give it `start a b c` and ask for `a b c end`.

# %%
widgets.predict(
    "10.A",
    "How many of the four does the parrot get right, the first and the second time?",
    choices=["3 and 1", "4 and 0", "4 and 3", "0 and 4"],
)

# %%
wanted, right = ["a", "b", "c", "end"], []
for given in (["a", "b", "c", "end"], ["start", "a", "b", "c"]):
    parrot = given  # it repeats what it is given
    right.append(sum(said == asked for said, asked in zip(parrot, wanted, strict=True)))
    print("given", given, "  asked for", wanted, "  right:", right[-1])
widgets.came_out("10.A", f"{right[0]} and {right[1]}")

# %% [markdown]
# So what a decoder is given must be **one step behind** what it is asked for. Otherwise a model can look perfect and know nothing. The loss won't warn you: it goes down, and fast.

# %% [markdown]
# ## 10.1 The whole model on one page
# *Core · 7 minutes*
#
# Let's begin with a model that is trained already. It reads the letters of a word and says its sounds; lesson 11 is about it. It is a Transformer too, with one difference from the model that we'll train: it marks places in another way.

# %% tags=["nbval-ignore-output"]
pronouncer = pretrained.load("transformer").eval()
words = ["knight", "tea", "attention"]
for word, sounds in zip(words, pronounce(pronouncer, words), strict=True):
    print(f"{word:10} {' '.join(sounds)}")

# %% [markdown]
# What is inside? We hand it a batch of two pairs, *nights* and *tea*, and let a function watch: it notes each part that runs, the shape of what comes out, which streams are added up, and what each mask lets through. Then it draws what it saw.

# %% tags=["nbval-ignore-output"]
letters = SPELLING.batch(["nights", "tea"])  # (B=2, L_s=6)
spoken = [SOUNDS.encode("N AY T S".split()), SOUNDS.encode("T IY".split())]
full = pad([[START_ID, *sounds, END_ID] for sounds in spoken])  # (B, L_t + 1 = 6)
given = full[:, :-1]  # (B, L_t=5): see 10.4
plotting.show(diagrams.architecture(pronouncer, (letters, given)))

# %% [markdown]
# *Read it from the bottom to the top. The encoder is on the left, the decoder on the right. Each circle is a sum: the stream that runs past a part, plus what the part adds. The orange line that branches off at the top of the encoder is the memory, and every decoder layer reads it. Input 1 is the letters, input 2 the sounds so far. ("Sees the past" includes the position itself.)*
#
# You may know the paper's figure 1. It has the same parts, and four things differ. Here the norms come *before* each part (pre-norm), there after each sum (post-norm). Here each stack ends with one more norm, there it doesn't. The paper adds vectors for the positions to the embeddings at the bottom. This model has rotary positions (lesson 08), which turn queries and keys inside the attention, so you don't see them in the picture. And the paper draws the softmax at the top, while our picture ends with the generator. The first three are settings of this model:

# %%
settings = pronouncer.config
print("pre-norm:", settings.pre_norm, "  final norm:", settings.final_norm)
print("positions:", settings.positions)

# %% [markdown]
# In words: a source $x = (x_1, \dots, x_{L_s})$ is to become a target $y = (y_1, \dots, y_{L_t})$. The model says how probable each next symbol is, given the source and the symbols so far:
#
# $$p(y \mid x) = \prod_{t=1}^{L_t} p(y_t \mid y_1, \dots, y_{t-1},\, x) .$$
#
# | part | from | to |
# |---|---|---|
# | source embedding, times $\sqrt{d_{model}}$; positions that are added are added here | ids `(B, L_s)` | `(B, L_s, d_model)` |
# | $N$ encoder layers, final norm | `(B, L_s, d_model)` | the **memory**, `(B, L_s, d_model)` |
# | target embedding, likewise | ids `(B, L_t)` | `(B, L_t, d_model)` |
# | $N$ decoder layers, final norm; each looks at the target so far, then at the memory | `(B, L_t, d_model)` | hidden vectors, same shape |
# | **generator**: one linear layer | hidden vectors | scores `(B, L_t, V)`, called **logits** |
#
# $V$ is the size of the target vocabulary. A softmax would turn the logits into probabilities, but the model leaves that to whoever needs it: the loss, or the decoding. Three ids are special in this course: 0 pads, 1 starts a sequence, 2 ends it.
#
# One side is used more often than the other. While it says *knight*, let's count how often a layer of each side runs:

# %%
calls = {"encoder": 0, "decoder": 0}


def count(side):
    def hook(*_):
        calls[side] += 1

    return hook

# %% tags=["nbval-ignore-output"]
for side in calls:
    layer = getattr(pronouncer, f"{side}_layers")[0]
    layer.register_forward_hook(count(side))
said = pronounce(pronouncer, ["knight"])[0]
print(f"{len(said)} sounds and the end:", calls)
assert calls["encoder"] == 1

# %% [markdown]
# The source doesn't change while the target grows, so neither does the memory: encode once, decode many times. Exercise 10.8 builds on that.

# %% [markdown]
# ## 10.2 Two masks for three attentions
# *Core · 6 minutes*
#
# Words differ in length, so a batch holds padding: that of the sources and that of the targets. Three attentions need a mask.
#
# | attention | queries | keys | what is hidden | shape of the mask |
# |---|---|---|---|---|
# | encoder, self | source | source | padding of the **source** | `(B, 1, 1, L_s)` |
# | decoder, self | target | target | padding of the **target**, and the future | `(B, 1, L_t, L_t)` |
# | decoder, cross | target | source | padding of the **source** | `(B, 1, 1, L_s)` |
#
# A mask belongs to its *keys*, so the first and the last are the same, and two masks are enough. Here is the second one for *tea*:

# %%
padding = masks.padding_mask(given[1:], PAD_ID)  # (1, 1, 1, L_t)
future = masks.causal_mask(5)  # (1, 1, L_t, L_t)
sounds = ["start", "T", "IY", "end", "pad"]
of_tea = {"padding": padding, "the future": future, "both": padding & future}
plotting.show(diagrams.mask_gallery(sounds, of_tea))

# %% [markdown]
# *In the last grid the column of padding is hidden from every row, and so is the future. The row of padding computes something too; the loss leaves it out.*
#
# **Do exercise 10.1 now (10 minutes, {{exercises_link}}), then read on.** How would you know that your masks are right? Two properties must hold. A pair alone must give what it gives in the batch. And another future must not change the past:

# %% tags=["nbval-ignore-output"]
with torch.no_grad():
    together = pronouncer(letters, given)  # (B, L_t, V)
    alone = pronouncer(letters[1:, :3], given[1:, :4])  # (1, 4, V): no padding
    other = given.clone()
    other[0, 2:] = torch.tensor(SOUNDS.encode(["K", "S", "IY"]))
    moved = (pronouncer(letters, other) - together)[0].abs().amax(dim=-1)  # (L_t,)
off = (together[1, :4] - alone[0]).abs().max().item()
print(f"tea alone or in the batch, largest difference: {off:.4f}")
print("another future from position 2 on, largest change by position:", moved)
assert moved[:2].max() < 1e-4 < 0.1 < moved[2:].min()

# %% [markdown]
# ## 10.3 The base model of the paper, and its parameters
# *More · 9 minutes*
#
# The paper's **base** model has $N = 6$ layers on each side, $d_{model} = 512$, $d_{ff} = 2048$, $H = 8$ heads and, for English to German, a vocabulary of about 37,000 tokens (table 3 and section 5.1). Its norms come after each sum (post-norm), so there is no final norm. We build it on PyTorch's `meta` device, which keeps shapes and no numbers.

# %%
VOCAB = 37_000
with torch.device("meta"):
    post_norm = {"pre_norm": False, "final_norm": False}
    base = Transformer(TransformerConfig(VOCAB, VOCAB, **post_norm))
for name, part in base.named_children():
    if count_parameters(part):
        times = f"{len(part)} layers" if isinstance(part, nn.ModuleList) else ""
        print(f"{name:18} {times:9} {count_parameters(part):>12,}")
print(f"{'together':28} {count_parameters(base):>12,}")

# %% [markdown]
# **By hand.** A linear layer from $m$ to $n$ has $m n + n$ parameters. With $d = d_{model}$:
#
# | part | parameters |
# |---|---|
# | attention: four projections | $4(d^2 + d)$ |
# | feed-forward: up and down | $2\, d\, d_{ff} + d_{ff} + d$ |
# | norm: scale and shift | $2d$ |
# | encoder layer | one attention, one feed-forward, 2 norms |
# | decoder layer | two attentions, one feed-forward, 3 norms |
# | embedding | $V d$, twice |
# | generator | $V d + V$ |

# %%
d, d_ff, V, N = 512, 2048, VOCAB, 6
attention, feed_forward, norm = 4 * (d * d + d), 2 * d * d_ff + d_ff + d, 2 * d
encoder_layer = attention + feed_forward + 2 * norm
decoder_layer = 2 * attention + feed_forward + 3 * norm
layers = N * (encoder_layer + decoder_layer)
together = layers + 2 * V * d + V * d + V
print(f"encoder layer {encoder_layer:,}   decoder layer {decoder_layer:,}")
print(f"all layers {layers:,}   together {together:,}")
assert together == count_parameters(base)

# %% [markdown]
# The paper reports 65 million, though. It translates between two languages with *one* vocabulary and uses **one matrix three times**: as both embeddings and as the generator's weights (section 3.4). A shared matrix counts once. What share of the model is that single matrix?

# %%
widgets.predict(
    "10.B",
    "What percentage of the parameters is in the one shared matrix?",
    between=(0, 100),
)

# %%
base.source_embedding.tokens.weight = base.target_embedding.tokens.weight
base.generator.weight = base.target_embedding.tokens.weight
shared = count_parameters(base)
assert shared == together - 2 * V * d
print(f"shared: {shared:,}")
print(f"65.0 million would need a vocabulary of {(65_000_000 - layers) // (d + 1):,}")
widgets.came_out("10.B", 100 * V * d / shared)

# %% [markdown]
# Close to the published number, but not equal: the vocabulary would have to be a tenth larger than "about 37,000". The paper doesn't say what makes the difference, and we don't know. Counting is a good test all the same: it finds a part that is missing, or shared by mistake (`[layer] * 6` is one layer six times).
#
# **Exercise 10.2 (15 minutes) shares a matrix between two parts.**

# %% [markdown]
# ## 10.4 The shifted target, and a loss that doesn't ask for certainty
# *Core · 8 minutes*
#
# To train, we know the right target. It is used twice, **shifted against itself by one**: the decoder is given everything but the last symbol, and the **labels** are everything but the first.

# %%
names = ["pad", "start", "end", *"abcdefgh"]  # 11 symbols; an id is a place here
full = torch.tensor([[1, 3, 4, 5, 2], [1, 6, 7, 2, 0]])  # (B=2, L_t + 1)
given, labels = full[:, :-1], full[:, 1:]  # (B, L_t=4) each
for row in range(2):
    print("given", [names[i] for i in given[row]])
    print("label", [names[i] for i in labels[row]], "\n")

# %% [markdown]
# At each position the decoder has the *right* symbols up to there, not its own guesses: **teacher forcing** (lesson 03). With the causal mask, all positions are trained in one pass. In the second row the last label is padding, so that position is left out of the loss.
#
# **The loss.** Cross-entropy with the right symbol $y$ is $-\log p_y$. It has its minimum at $p_y = 1$, so it always asks for larger logits. **Label smoothing** asks for a little less: the right symbol should get $1 - \varepsilon$, and the others share $\varepsilon$. The paper takes $\varepsilon = 0.1$.
#
# $$\ell = -\sum_{v=1}^{V} q_v \log p_v , \qquad q_v = \begin{cases} 1 - \varepsilon & v = y \\ 0 & v = \text{pad} \\ \varepsilon / (V - 2) & \text{otherwise.} \end{cases}$$
#
# Why $V - 2$? One symbol is right, and one is padding, which is never right. By hand for $V = 6$ (pad, start, end, a, b, c), label `a`, $\varepsilon = 0.1$: four symbols share 0.1, so $q = (0, 0.025, 0.025, 0.9, 0.025, 0.025)$. If the model says $p = (0.05, 0.05, 0.05, 0.75, 0.05, 0.05)$:

# %%
q = torch.tensor([0.0, 0.025, 0.025, 0.9, 0.025, 0.025])  # (V=6,)
p = torch.tensor([0.05, 0.05, 0.05, 0.75, 0.05, 0.05])  # (V,)
by_hand = -(0.9 * math.log(0.75) + 4 * 0.025 * math.log(0.05))
ours = label_smoothing_loss(p.log()[None, None], torch.tensor([[3]]), smoothing=0.1)
theirs = F.cross_entropy(p.log()[None], q[None])  # PyTorch takes shares as a target
assert abs(ours - by_hand) < 1e-6 and abs(theirs - by_hand) < 1e-6
print(f"smoothed {by_hand:.4f}   plain cross-entropy {-math.log(0.75):.4f}")

# %% [markdown]
# What does that do to training? Let the model give the right symbol $p$ and share the rest evenly among the others, for the 11 symbols above:

# %%
V = 11
p = torch.linspace(0.3, 0.9995, 300)  # (300,)
others = ((1 - p) / (V - 2)).log()  # (300,)
curves = {f"smoothing {e}": -(1 - e) * p.log() - e * others for e in (0.0, 0.1)}
floor = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1 / (V - 2)))  # the entropy of q
best = p[curves["smoothing 0.1"].argmin()].item()

# %%
ax = plotting.new_axes(6.0, 3.2)
plotting.curves(p, curves, xlabel="probability of right symbol", ylabel="loss", ax=ax)
ax.plot([best], [floor], "o", color=plotting.COLORS[1])
spot, arrow = f"lowest: {floor:.3f} at {best:.2f}", {"arrowstyle": "->"}
ax.annotate(spot, (best, floor), (0.58, floor + 0.75), arrowprops=arrow)
plotting.show(
    ax,
    "Loss against the probability of the right symbol. Without smoothing it falls to 0 "
    "at 1. With smoothing 0.1 its lowest point, marked, is at 0.9.",
)

# %% [markdown]
# *The dashed line turns up before 1: a model that is too sure is punished.* And its lowest value isn't 0. It is the entropy of $q$, and with smoothing a loss of exactly that is a **perfect** score. Remember it, the training curve will meet it. The paper reports (section 5.4) that smoothing hurts the perplexity but improves accuracy and BLEU.
#
# **Do exercise 10.3 now (15 minutes), then read on.** Exercise 10.9, at the end, measures what smoothing changes.

# %% [markdown]
# ## 10.5 A learning rate that warms up
# *More · 8 minutes*
#
# Adam divides each gradient by the size that gradients of that parameter usually have. At its first step it knows just one gradient, so *every* parameter moves by the full learning rate, however small its gradient is:

# %%
parameter = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.Adam([parameter], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
parameter.grad = torch.tensor([5.0, 0.001, -0.00001])
optimizer.step()
print("gradients 5, 0.001, -0.00001; first update", parameter.data)

# %% [markdown]
# (Both `betas` and `eps` are the paper's, section 5.3.) The paper lets the rate rise linearly for $w$ steps of **warm-up**, then fall with the square root of the step:
#
# $$r(s) = d_{model}^{-1/2} \cdot \min\!\left(s^{-1/2},\; s \cdot w^{-3/2}\right) , \qquad s = 1, 2, 3, \dots$$
#
# By hand with $d_{model} = 4$ and $w = 4$: $r(1) = \tfrac12 \cdot \min(1, \tfrac18) = \tfrac1{16}$, $r(4) = \tfrac12 \cdot \min(\tfrac12, \tfrac12) = \tfrac14$, $r(16) = \tfrac12 \cdot \min(\tfrac14, 2) = \tfrac18$. Exercise 10.4 (10 minutes) asks you for this function. Beside it we draw the schedule for a short run whose length is known: up along half a cosine, and down to nearly 0.

# %%
for s, by_hand in ((1, 1 / 16), (4, 1 / 4), (16, 1 / 8)):
    assert abs(warmup_rate(s, 4, 4) - by_hand) < 1e-12

# %%
shown = range(1, 20001, 50)
paper_rates = {w: [warmup_rate(s, 512, w) for s in shown] for w in (4000, 8000)}
our_rates = [one_cycle_rate(s, 240, 4e-3) for s in range(1, 241)]

# %%
left, right = plotting.new_axes(9.0, 2.8, columns=2)
for (warmup, rates), style in zip(paper_rates.items(), ("-", "--"), strict=True):
    color = plotting.COLORS[warmup > 4000]
    left.plot(shown, rates, style, color=color, label=f"warm-up {warmup}")
left.set(title="the paper's, d_model 512", ylabel="learning rate")
left.legend(frameon=False)
right.plot(range(1, 241), our_rates, color=plotting.COLORS[2])
right.set(title="ours, 240 steps")
for ax in (left, right):
    ax.set(xlabel="step", ylim=0)
plotting.show(
    left,
    "Left: the paper's rate rises in a straight line to a peak at the end of the "
    "warm-up and falls slowly. Right: ours rises and falls along a cosine.",
)

# %% [markdown]
# *Two warm-ups, one fall: after both peaks the curves on the left are the same.* Whether the warm-up is worth anything, and when, is a question for a measurement. Section 10.7 makes it.

# %% [markdown]
# ## 10.6 Trained live: the copy task
# *Core · 9 minutes*
#
# Ten symbols come in, the same ten should come out. There are 8 ordinary symbols, which makes $8^{10}$ sequences. Training shows a tiny part of them, so no model can learn them by heart. What does it learn?

# %%
LENGTH, VOCAB, STEPS = 10, 11, 240
source, target = copy_task(1, LENGTH, VOCAB, torch.Generator().manual_seed(7))
for name, ids in (("source", source[0]), ("target", target[0])):
    print(name, *(names[i] for i in ids))
print(f"{8**LENGTH:,} sequences, of which {STEPS} batches of 64 show {STEPS * 64:,}")


def small_model():
    torch.manual_seed(0)
    sizes = {"num_layers": 2, "d_model": 64, "d_ff": 128, "num_heads": 4}
    config = TransformerConfig(VOCAB, VOCAB, **sizes, dropout=0.0, max_len=16)
    return Transformer(config)

# %% [markdown]
# **Do exercise 10.5 now (25 minutes): assemble the model yourself.** You have the picture, the masks and all parts. Here we train the library's `Transformer`.
#
# A training step puts everything together: shift, masks (the model makes them), loss, rate. `batch` makes the pairs, here of ten symbols each. Every batch is new, so there is nothing to overfit. Gradients longer than 1 are shortened to 1, so that one odd batch can't throw the model off.

# %%
def update(model, optimizer, loss, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

# %%
def tens(number, rng):
    return copy_task(number, LENGTH, VOCAB, rng)  # (B, L_s), (B, L_t + 1)


def train(model, batch=tens, shift=True, steps=STEPS, stop=None):
    rng, losses = torch.Generator().manual_seed(0), []
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in tqdm(range(1, (stop or steps) + 1), mininterval=1, file=sys.stdout):
        source, target = batch(64, rng)  # (B, L_s), (B, L_t + 1)
        given = target[:, :-1]  # (B, L_t)
        labels = target[:, 1:] if shift else given  # (B, L_t)
        loss = label_smoothing_loss(model(source, given), labels, smoothing=0.1)
        update(model, optimizer, loss, one_cycle_rate(step, steps, peak=4e-3))
        losses.append(loss.item())
    return torch.tensor(losses)

# %% [markdown]
# What could a model reach that never looks at the source? It would spread its guess evenly over the 8 symbols and say `end` at the right place. That is the landmark. The training takes 10 to 30 seconds:

# %% tags=["nbval-ignore-output"]
share = 0.9 / 8 + (7 / 8) * 0.1 / 9  # of each of the 8 symbols, over all labels
guess = -8 * share * math.log(share) - 2 * (0.1 / 9) * math.log(0.1 / 9)
landmark = (LENGTH * guess + floor) / (LENGTH + 1)  # ten symbols and the end
copier = small_model()
losses = train(copier)
copier.eval()
print(f"last loss {losses[-1]:.3f}   perfect {floor:.3f}   landmark {landmark:.3f}")

# %% tags=["nbval-ignore-output"]
lines = {
    "training": losses,
    "without looking at the source": torch.full((STEPS,), landmark),
    "perfect": torch.full((STEPS,), floor),
}
ax, steps = plotting.new_axes(6.4, 3.2), torch.arange(1, STEPS + 1)
plotting.curves(steps, lines, xlabel="step", ylabel="loss (nats per symbol)", ax=ax)
plotting.show(
    ax,
    "Training loss by step: it falls past the landmark early, and comes to rest on the "
    "entropy of the smoothed labels in the second half.",
)
assert losses[-20:].mean() < floor + 0.03

# %% [markdown]
# *The loss soon falls below the landmark, so the model does look at the source. It comes to rest where section 10.4 said: on the entropy of the smoothed labels.*
#
# But that is a mean over symbols, with a teacher who repairs every mistake at the next position. Let's be stricter: 1,000 new sequences, decoded freely, and a sequence counts only if **all** its symbols are right.

# %%
def ask(model, length):
    """Share of 1,000 sequences copied without a mistake, and symbols in each answer."""
    rng = torch.Generator().manual_seed(10**6)  # another seed than in training
    source, target = copy_task(1000, length, VOCAB, rng)
    said = greedy_decode(model, source, max_len=16).tokens  # (1000, L_out)
    said = F.pad(said, (0, 16 - said.shape[1]))  # (1000, 16)
    wanted = F.pad(target[:, 1:], (0, 15 - length))  # (1000, 16)
    right = (said == wanted).all(dim=-1).float().mean().item()
    return right, (said > END_ID).sum(dim=-1)


untrained, trained = ask(small_model().eval(), LENGTH)[0], ask(copier, LENGTH)[0]
print(f"copied without a mistake: untrained {untrained:.1%}, trained {trained:.1%}")

# %% [markdown]
# It looks as if the model has learned to copy. But every sequence it ever saw had ten symbols. What if we give it nine?

# %%
widgets.predict(
    "10.C",
    "What percentage of 1,000 new sequences of nine symbols does it copy?",
    between=(0, 100),
)

# %% tags=["nbval-ignore-output"]
for length in (5, 7, 8, 9, 10, 11, 12, 14):
    right, count = ask(copier, length)
    tens_said = (count == 10).float().mean()
    print(f"given {length:2}: copied {right:4.0%}   says ten symbols {tens_said:4.0%}")
said = greedy_decode(copier, source[:, :8], max_len=16).tokens[0]
print("source", *(names[i] for i in source[0, :8]), "  says", *(names[i] for i in said))
widgets.came_out("10.C", 100 * ask(copier, 9)[0])

# %% [markdown]
# *It copies none of them, at any length but ten. Given eight symbols it says the eight and goes on; given twelve it stops after ten.* The model has learned to say ten symbols and then `end`. Where the source ends never made a difference in its training, and it learned nothing about it.
#
# If that's the cause, other training should give another model. We train a second one on sequences of 3 to 10 symbols. Now batches hold real padding, on both sides, and the masks of section 10.2 have work to do. It takes 400 steps, 10 to 50 seconds:

# %%
def three_to_ten(number, rng):
    length = torch.randint(3, LENGTH + 1, (number, 1), generator=rng)  # (B, 1)
    source, _ = tens(number, rng)  # (B, L_s)
    source = source.masked_fill(torch.arange(LENGTH) >= length, PAD_ID)
    target = F.pad(source, (1, 1))  # (B, L_t + 1)
    target[:, 0] = START_ID
    return source, target.scatter(1, length + 1, END_ID)


for row in three_to_ten(2, torch.Generator().manual_seed(1))[1]:
    print("target", *(names[i] for i in row))

# %% tags=["nbval-ignore-output"]
second = small_model()
last = train(second, three_to_ten, steps=400)[-1]
second.eval()
print(f"last loss {last:.3f}   perfect {floor:.3f}")
for length in range(3, 11):
    print(f"given {length:2}: copied {ask(second, length)[0]:.1%}")

# %% [markdown]
# The padded pairs are learned as well, and now the model stops where the source stops. What will it do with eleven symbols, one more than it has ever seen?

# %%
widgets.predict(
    "10.D",
    "What percentage of 1,000 new sequences of eleven symbols does it copy?",
    between=(0, 100),
)

# %% tags=["nbval-ignore-output"]
for length in (10, 11, 12, 13, 14):
    right, count = ask(second, length)
    print(f"given {length}: copied {right:4.0%}", end="   ")
    mean = count.float().mean()
    print(f"says {count.min()} to {count.max()} symbols, mean {mean:.1f}")
widgets.came_out("10.D", 100 * ask(second, 11)[0])

# %% [markdown]
# *At eleven it copies some, at twelve none: its answers are too short.* This model knows that an answer ends where the source does, and still it gets hardly further than a step beyond the lengths of its training. "It copies sequences it has never seen" is true of both models, and of each for its own lengths only. That's how to read such a sentence anywhere: new symbols in a familiar frame are one thing, a new frame is another. (One seed, one small model. Lesson 08 asks what happens beyond the trained length with one way of marking places after another.)

# %% [markdown]
# ## 10.7 Do we need the warm-up? And does the order of the norms matter?
# *More · 9 minutes*
#
# The copier has its norms *before* each part (pre-norm), the paper's model *after* each sum (lesson 09). And we trained with a warm-up. So there are four ways: norm before or after, with a warm-up or without one (then the rate starts at its peak of 0.004 and only falls). All else stays the same: sizes, batches, 240 steps. (Only norm-before has a final norm: norm-after ends with a norm anyway.)

# %%
ways = {
    ("before", "yes"): "norm before, warm-up",
    ("before", "no"): "norm before, no warm-up",
    ("after", "yes"): "norm after, warm-up",
    ("after", "no"): "norm after, no warm-up",
}
widgets.predict(
    "10.E",
    "Which of the four ends farthest from a perfect loss?",
    choices=list(ways.values()),
)

# %% [markdown]
# You made one of these runs yourself in 10.6: norm before, warm-up, seed 0. The other nineteen come with the course, five seeds for each way, each with weights and batches of its own; `python -m experiments warmups` makes them all anew.

# %% tags=["nbval-ignore-output"]
rows = read_rows("warmups")
seeds = sorted({int(row["seed"]) for row in rows})
runs, copied = {}, {}
for way in ways:
    mine = [row for row in rows if (row["norm"], row["warmup"]) == way]
    table = torch.tensor([float(row["loss"]) for row in mine])
    runs[way] = table.view(len(seeds), -1)  # (seeds, 24): one for 10 steps
    copied[way] = [float(row["copied"]) for row in mine if row["copied"]]
live = losses.view(-1, 10).mean(dim=1)  # (24,)
off = (runs["before", "yes"][0] - live).abs().max().item()
print(f"your run and the table's differ by at most {off:.4f}; seeds {seeds}")
for way, name in ways.items():
    end, right = runs[way][:, -1], copied[way]
    print(f"{name:24} loss {end.min():.3f} to {end.max():.3f}", end="   ")
    print(f"copied {min(right):.1%} to {max(right):.1%}")

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(9.4, 3.2, columns=2)
steps = torch.arange(10, STEPS + 1, 10)  # (24,)
for way, table in runs.items():
    ax, warm = axes[way[0] == "after"], way[1] == "yes"
    color, style = plotting.COLORS[0 if warm else 1], "-" if warm else "--"
    ax.plot(steps, table.median(dim=0).values, style, color=color, label=ways[way])
    low, high = table.min(dim=0).values, table.max(dim=0).values
    ax.fill_between(steps, low, high, color=color, alpha=0.2, lw=0)

# %% tags=["nbval-ignore-output"]
for ax in axes:
    ax.axhline(landmark, color="0.6", ls=":", lw=1)
    ax.axhline(floor, color="0.6", lw=1)
    ax.set(xlabel="step", ylabel="loss (nats per symbol)", ylim=(0.4, 3))
    ax.legend(frameon=False)
plotting.show(
    axes[0],
    "Loss of four ways of training, the median of the seeds and their range. Left, "
    "norm before: with and without a warm-up it comes to rest at a perfect loss. "
    "Right, norm after: with a warm-up too, but without one it falls late and ends "
    "above it.",
)

# %%
gap = {name: runs[way][:, -1] - floor for way, name in ways.items()}  # (seeds,) each
worst = max(gap, key=lambda name: gap[name].median())
others = torch.cat([far for name, far in gap.items() if name != worst])
assert gap[worst].min() > 2 * others.max()  # every seed of it, and of the others
widgets.came_out("10.E", worst)

# %% [markdown]
# *The solid gray line is a perfect loss, the dotted one the loss of a model that never looks at the source. (With the norm after, the losses of the first steps lie above the picture.)* With the norm before each part, the warm-up hardly matters: the two curves end in the same place. With the norm after each sum it does. Without a warm-up that model learns later, and the training ends before it gets all the way down. So at this peak rate our copier didn't need its warm-up, and a model with the paper's order of norms did.
#
# Be careful with what this shows. It is one small model, one task, one peak rate, one number of steps; only the five seeds are varied. It doesn't say why. Xiong et al. below point to gradients near the output that are large at initialization; lesson 09 measures them, and says why that can't be the whole story.

# %% [markdown]
# ## 10.8 One step at a time, and where each layer looks
# *Core · 11 minutes*
#
# Without a teacher the model reads its own words. We give it `start`, take the most probable symbol (the **greedy** choice), append it, and ask again, until it says `end`. **Do exercise 10.6 now (15 minutes), then read on.** It asks for this loop for a whole batch, in which sequences end at different steps. The library's `greedy_decode` does the same with a cache (lesson 07): old keys and values are kept, those of the source made once. Both must agree with a single pass over the right target. We look at the second model, the one that knows several lengths:

# %%
sources, targets = copy_task(50, LENGTH, VOCAB, torch.Generator().manual_seed(8))
said = greedy_decode(second, sources, max_len=LENGTH + 1).tokens  # (B=50, L_t)
with torch.no_grad(), record_attention(second) as seen:
    logits = second(sources, targets[:, :-1])  # (B, L_t, V)
print("one pass and eleven steps agree:", torch.equal(said, logits.argmax(dim=-1)))

# %% [markdown]
# `record_attention` kept the weights of **all three kinds** of attention, in every layer. What does each of them look at? For each head we measure its mean weight on one place: in the encoder and in the decoder's self-attention the token itself, in cross-attention the source symbol that is to be said next.

# %% tags=["nbval-ignore-output"]
KINDS = {
    "encoder": "encoder_layers.*.self_attention",
    "decoder": "decoder_layers.*.self_attention",
    "cross-attention": "decoder_layers.*.cross_attention",
}
looks = {kind: torch.stack(seen.matching(name)) for kind, name in KINDS.items()}
for kind, weights in looks.items():  # (layers, B, H, L_q, L_k)
    place = weights.diagonal(dim1=-2, dim2=-1)[..., :LENGTH].mean(dim=(1, -1))
    print(f"{kind:16} layer 0 {place[0]}   layer 1 {place[1]}")
decoder_share = (1 / torch.arange(1, LENGTH + 1)).mean()  # row t sees t + 1 symbols
print(f"even shares: encoder and cross-attention {1 / LENGTH:.2f}", end=", ")
print(f"decoder {decoder_share:.2f}")

# %% tags=["nbval-ignore-output"]
columns, lines = [names[i] for i in sources[0]], [names[i] for i in targets[0, :-1]]
viewer = widgets.attention_viewer({
    "cross-attention": (looks["cross-attention"][:, 0], lines, columns),
    "encoder": (looks["encoder"][:, 0], columns, columns),
    "decoder": (looks["decoder"][:, 0], lines, lines),
})
viewer

# %% [markdown]
# *Choose a kind, then a layer and a head.* Even weights would give 0.10 in the encoder and in cross-attention. No head of the encoder gives most of its weight to the token itself. Cross-attention is well above 0.10 in every head, and far above it in most. In the decoder's self-attention the first rows see few symbols, so even weights would give 0.29 there, and the heads lie on both sides of it. In the second layer, for each kind, the head with the most weight on its place:

# %% tags=["nbval-ignore-output"]
axes = plotting.new_axes(12.0, 4.2, columns=3)
for ax, (kind, weights) in zip(axes, looks.items(), strict=True):
    place = weights[1].diagonal(dim1=-2, dim2=-1)[..., :LENGTH].mean(dim=(0, -1))
    head = place.argmax().item()  # of the H heads
    rows = columns if kind == "encoder" else lines
    keys = lines if kind == "decoder" else columns
    table, title = weights[1, 0, head], f"{kind}, head {head}"
    plotting.attention_heatmap(table, rows, keys, ax=ax, title=title)
    for number in list(ax.texts):  # the colors say enough
        number.remove()

# %% tags=["nbval-ignore-output"]
plotting.show(
    axes[0],
    "One head of each kind in the second layer. Encoder: weights spread over several "
    "places. Decoder: the token itself in the first two rows and the last, spread over "
    "the past in between, nothing in the future. Cross-attention: a diagonal, each row "
    "at the source symbol that is said next.",
)

# %% [markdown]
# *On the right, the row of `start` looks at the first source symbol, which is the next to be said. In the last row nothing is left to copy, and there the model says `end`.* A picture is a hint, not a proof (lesson 06). So let's take away what it shows. In cross-attention each step may see everything *but* the symbol it has to say. For comparison: everything but a symbol three places further on.

# %%
widgets.predict(
    "10.F",
    "What percentage of the symbols is still right if each step can't see its own?",
    between=(0, 100),
)

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def right_without(hidden):
    """Share of right symbols where hidden[t, j] takes source symbol j from step t."""
    memory = second.encode(sources)  # (B, L_s, d_model)
    allowed = ~hidden[None, None]  # (1, 1, L_t, L_s)
    found = second.decode(targets[:, :-1], memory, memory_mask=allowed)
    right = second.generator(found).argmax(dim=-1) == targets[:, 1:]  # (B, L_t)
    return right[:, :LENGTH].float().mean().item()


# %% tags=["nbval-ignore-output"]
own = torch.eye(LENGTH + 1, LENGTH, dtype=torch.bool)  # (L_t, L_s)
share, other = right_without(own), right_without(own.roll(3, dims=1))
print(f"own symbol hidden {share:.0%}   another {other:.0%}   by chance {1 / 8:.0%}")
assert share < 0.35 and other > 0.9
widgets.came_out("10.F", 100 * share)

# %% [markdown]
# Without the one symbol it looks at, the model is about as good as chance. The weights don't only look right, they carry the copy.
#
# That was cross-attention. What about the other two kinds? We take away one kind as a whole: its output is set to zero in both layers, and nothing is trained again. We look at the symbols and at `end` apart, with the right symbols given at each step.

# %%
kinds = {
    "encoder": "the encoder's self-attention",
    "decoder": "the decoder's self-attention",
    "cross-attention": "cross-attention",
}
widgets.predict(
    "10.G",
    "Of six symbols, without which are most of the symbols still right?",
    choices=list(kinds.values()),
)

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def take_away(kind, length, model=second):
    """Right symbols, right ends, ends said too early; one kind of attention gone."""
    model, (side, part) = copy.deepcopy(model), KINDS[kind].split(".*.")
    for layer in getattr(model, side):
        for parameter in getattr(layer, part).o_proj.parameters():
            parameter.zero_()
    rng = torch.Generator().manual_seed(10**6)
    source, target = copy_task(1000, length, VOCAB, rng)
    said = model(source, target[:, :-1]).argmax(dim=-1)  # (1000, L_t)
    right, end = (said == target[:, 1:]).float(), (said == END_ID).float()
    return [part.mean().item() for part in (right[:, :-1], right[:, -1], end[:, :-1])]

# %% tags=["nbval-ignore-output"]
symbols_right = {}
for kind, name in kinds.items():
    for length in (3, 6, 10):
        symbols, ends, early = take_away(kind, length)
        symbols_right[name, length] = symbols
        print(f"without {name:28} {length:2}", end=": ")
        print(f"symbols right {symbols:4.0%}, end {ends:4.0%}, too early {early:3.0%}")
widgets.came_out("10.G", max(kinds.values(), key=lambda name: symbols_right[name, 6]))

# %% [markdown]
# *"Too early" is the share of symbols in whose place the model says `end`.* The three kinds turn out to have different jobs:
#
# - Without the **encoder's self-attention** nearly all symbols are still right. What breaks is the end of short sequences: the model doesn't notice that the source is over.
# - Without the **decoder's self-attention** the model says `end` far too early, and in short sequences it says hardly anything else.
# - Without **cross-attention** no more symbols are right than by guessing.
#
# This tells what *this* model uses each kind for. One that had been trained without the encoder's attention might have found another way to know the end. And our first copier, which knew nothing but tens? Without cross-attention it can't see the source at all:

# %% tags=["nbval-ignore-output"]
symbols, ends, early = take_away("cross-attention", LENGTH, copier)
print(f"symbols right {symbols:.0%}, end {ends:.0%}, too early {early:.0%}")

# %% [markdown]
# It guesses the symbols, still says `end` after the tenth every time, and seldom says it before. It can't have read that off the source. For this model the end comes from counting what has been said, not from the source.
#
# Finally, step through the decoding of one sequence. Choose layer and head, and whether to see attention to the source or to the target so far. The bars say how probable each next symbol is:

# %% tags=["nbval-ignore-output"]
stepper = widgets.decoding_steps(second, source[0], names, max_len=LENGTH + 1)
stepper.show_first_state(
    "The last step of decoding: weights over the ten source symbols for every step, "
    "and bars with the probability of each next symbol; the bar of end stands out."
)

# %%
stepper

# %% [markdown]
# *The bar that stands out isn't at 1 but near 0.9: the model was asked for 0.9. It begins at the last step, where `end` is said; go back to step 0 and watch.*

# %% [markdown]
# ## The whole thing
# *Core · 3 minutes*
#
# Once you've done exercise 10.5, unfold this cell. It's the complete model, made of the layers of lesson 09 (`EncoderLayer??` shows one). The library's has the same parts. It adds what was a setting on this page, such as other positions and the order of the norms, and a cache for decoding.

# %% tags=["whole"]
class WholeTransformer(nn.Module):
    """The encoder-decoder Transformer with the norms first. Padding has the id 0."""

    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, heads, max_len):
        super().__init__()

        def embedding(vocab):
            positions = SinusoidalPositions(d_model, max_len)
            return InputEmbedding(vocab, d_model, positions=positions)

        def stack(kind):
            return nn.ModuleList(kind(d_model, heads, d_ff) for _ in range(num_layers))

        self.source_embedding = embedding(src_vocab)
        self.target_embedding = embedding(tgt_vocab)
        self.encoder_layers, self.encoder_norm = stack(EncoderLayer), LayerNorm(d_model)
        self.decoder_layers, self.decoder_norm = stack(DecoderLayer), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def encode(self, source):
        """Ids (B, L_s) to the memory (B, L_s, d_model) and the mask of its padding."""
        mask = (source != 0)[:, None, None]  # (B, 1, 1, L_s)
        x = self.source_embedding(source)  # (B, L_s, d_model)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x), mask

    def decode(self, target, memory, memory_mask):
        """Ids (B, L_t) and the memory to hidden vectors (B, L_t, d_model)."""
        L_t = target.shape[1]
        past = torch.ones(L_t, L_t, dtype=torch.bool, device=target.device).tril()
        mask = (target != 0)[:, None, None] & past  # (B, 1, L_t, L_t)
        x = self.target_embedding(target)  # (B, L_t, d_model)
        for layer in self.decoder_layers:
            x = layer(x, memory, target_mask=mask, memory_mask=memory_mask)
        return self.decoder_norm(x)

    def forward(self, source, target):
        memory, mask = self.encode(source)
        return self.generator(self.decode(target, memory, mask))  # (B, L_t, V)

# %% [markdown]
# We give it the weights of our second copier and ask both for the logits of a batch with padding, and of one without:

# %%
whole = WholeTransformer(VOCAB, VOCAB, 2, 64, 128, 4, 16).eval()
whole.load_state_dict(second.state_dict())
rng = torch.Generator().manual_seed(9)
for name, batch in (("with padding", three_to_ten), ("without", tens)):
    source_ids, target_ids = batch(50, rng)
    with torch.no_grad():
        mine = whole(source_ids, target_ids[:, :-1])  # (B, L_t, V)
        library = second(source_ids, target_ids[:, :-1])  # (B, L_t, V)
    same = torch.allclose(mine, library, atol=1e-4)
    print(f"{name:13} equal to the library's: {same}")

# %% [markdown]
# ## What goes wrong
# *More · 6 minutes*
#
# **The target isn't shifted.** The labels are what the decoder is given. We train such a parrot for 60 steps, with the same batches and rates as the copier had in its first 60:

# %% tags=["nbval-ignore-output"]
parrot = small_model()
after = train(parrot, shift=False, stop=60)[-1]
parrot.eval()
print(f"loss after 60 steps: parrot {after:.3f}, right training {losses[59]:.3f}")
said = greedy_decode(parrot, source, max_len=6).tokens[0]
print("source", *(names[i] for i in source[0]), "   it says", *(names[i] for i in said))
assert after < losses[59] and ask(parrot, LENGTH)[0] == 0.0

# %% [markdown]
# Its loss looks splendid. Then it is given `start`, and repeats it. How you would notice: a loss that falls much faster than you can explain is too good to be true. Decode a sequence before you believe it. (Exercise 10.7 has another way to give the label away; find it.)
#
# **A softmax too many.** A softmax in the model, before a loss that applies a log-softmax, takes probabilities for logits. They differ by at most 1, so the loss can get neither low nor high. The lowest it can reach is $\ln(e + V - 1) - 1$:

# %%
for size in (11, 1000, 37_000):
    certain = F.one_hot(torch.tensor([0]), size).float()  # (1, V): right and sure
    lowest = F.cross_entropy(certain, torch.tensor([0])).item()
    assert abs(lowest - (math.log(math.e + size - 1) - 1)) < 1e-4
    print(f"V = {size:6}: lowest {lowest:.2f}, guessing evenly {math.log(size):.2f}")

# %% [markdown]
# How you would notice: even a perfect model's loss is less than 1 below that of guessing evenly.

# %% [markdown]
# ## In practice
# *More · 2 minutes*
#
# - **Half precision.** On a GPU, `torch.autocast` does the matrix products in 16 bits (bfloat16, say) and the softmax and the loss in float32.
# - **A loop that survives.** `course_utils.training.fit` is the loop of section 10.6 with checkpoints, early stopping and a clean Ctrl-C. Lesson 11 uses it.
# - **Shared matrices.** Here they are an option, `tie_embeddings=True`; elsewhere it is called `tie_word_embeddings`.
# - **Names.** The start symbol is also called `bos` or `sos`, the end symbol `eos`; the generator is `lm_head` or `output_projection`; what the decoder is given is `decoder_input_ids` or `prev_output_tokens`.

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **The model**: embeddings and $N$ encoder layers with a norm give the memory; $N$ decoder layers look at the target so far and at the memory; the generator gives logits. The parameters, counted by hand, agree with the code to the last one.
# 2. **Masks and shift**: the source's padding for the encoder and for cross-attention; the target's padding and the future for the decoder. The decoder is given `target[:, :-1]` and asked for `target[:, 1:]`.
# 3. **The loss**: smoothing gives nothing to padding, padded labels don't count, and a perfect score is the entropy of the smoothed labels, not 0.
# 4. **Training**: the first model copied new sequences of ten symbols, the only length it knew, and no others. The second copied all lengths from 3 to 10, some sequences of eleven, and hardly any beyond. With the norm before each part the warm-up was worth next to nothing; with the norm after each sum, training without one ended above the others for every seed.
# 5. **Decoding**: greedy, step by step; the source is encoded once. Each step of the copier looks at the symbol it has to say, and without it the model guesses. The encoder's self-attention is what tells it where a short source ends, and without the decoder's it ends too early.

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $x$, $y$ | source and target | ids `(B, L_s)`, `(B, L_t)` |
# | memory | the encoder's output | `(B, L_s, d_model)` |
# | logits | what the generator gives | `(B, L_t, V)` |
# | $N$, $V$ | layers on each side; size of the target vocabulary | numbers |
# | $\varepsilon$, $q$ | smoothing, and the smoothed label | a number, `(V,)` |
# | $s$, $w$, $r(s)$ | step, steps of warm-up, learning rate | numbers |

# %% [markdown]
# ## Check yourself
# *Core · 3 minutes*
#
# <details><summary>1. Label smoothing of 0.1, a vocabulary of 11. The training loss has come to rest at 0.545. What should you do?</summary>
#
# **Nothing: it is perfect.** That number is the entropy of the smoothed labels; no model gets lower. (Not "train longer", there is no lower. Not "a softmax too many": that floor is far higher.)
# </details>
#
# <details><summary>2. Source padding in a batch of translations: which of the three attentions must not see it?</summary>
#
# **The encoder's self-attention and the cross-attention.** Both have the source as keys. (Not the decoder's self-attention: its keys are the target, with a padding of its own.)
# </details>
#
# <details><summary>3. With a teacher, the model has 99 % of the symbols right. Of sequences of 10 symbols decoded freely, roughly how many are without a mistake?</summary>
#
# **About 0.99 to the tenth power, 90 %, if mistakes are independent;** more if they crowd together in a few hard sequences. That the model reads its own words makes no difference to this count: up to its first mistake they are the right ones. (Not 99 %: a sequence needs all its symbols.)
# </details>
#
# <details><summary>4. You make the masks from the full target (length 6) and give the decoder target[:, :-1]. What happens?</summary>
#
# **An error about shapes: the mask is 6 by 6, the scores are 5 by 5.** That is the lucky case. If the mask is cut to fit at the wrong end, it hides the wrong columns and nothing complains. (Not "nothing": the mask is for what the decoder is given.)
# </details>

# %% [markdown]
# ## When you need it
# *More · 10 minutes*
#
# **Where training starts: Xavier initialization.** A sum of $n$ products of independent numbers of mean 0 has $n$ times the variance of one product (lesson 04). So a linear layer multiplies the variance of its input by $n_{in} \operatorname{Var}(W)$, and to keep it we need $\operatorname{Var}(W) = 1 / n_{in}$; for the gradients, which run the other way, $1 / n_{out}$. Glorot and Bengio take a value in between, $2 / (n_{in} + n_{out})$: uniform numbers from $-a$ to $a$ with $a = \sqrt{6 / (n_{in} + n_{out})}$. The library does so for every linear layer. What if the weights are twice as large, in twelve square layers in a row?

# %%
torch.manual_seed(0)
for factor in (0.5, 1.0, 2.0):
    x = torch.randn(64, 256)  # (B, n), standard deviation 1
    for _ in range(12):
        weight = nn.init.xavier_uniform_(torch.empty(256, 256)) * factor
        x = x @ weight.T  # (B, n)
    print(f"weights x {factor}: {x.std():.3g}, to the twelfth {factor**12:.3g}")

# %% [markdown]
# **PyTorch's own label smoothing.** `F.cross_entropy(..., label_smoothing=0.1)` shares $\varepsilon$ among *all* $V$ symbols, the right one and padding included, as Szegedy et al. did, whose classes have no padding. Padding then gets a probability to strive for:

# %%
logits = torch.tensor([[4.0, 0.0, 0.0, 2.0, 1.0, 0.0]])  # (1, V=6): fond of padding
theirs = F.cross_entropy(logits, torch.tensor([3]), label_smoothing=0.1).item()
ours = label_smoothing_loss(logits[None], torch.tensor([[3]]), smoothing=0.1).item()
print(f"PyTorch's argument {theirs:.3f}   nothing on padding {ours:.3f}")

# %% [markdown]
# **The same as `nn.Transformer`.** PyTorch has the whole stack, without embeddings and generator. To carry weights over, you have to translate:
#
# | here | `nn.Transformer` |
# |---|---|
# | `q_proj`, `k_proj`, `v_proj` | stacked in one `in_proj_weight` (lesson 06) |
# | `feed_forward.up_proj`, `.down_proj` | `linear1`, `linear2` |
# | norms of the sublayers | `norm1`, `norm2` (and `norm3`), in the order of the sublayers |
# | pre-norm | `norm_first=True`; the default is post-norm |
# | `(B, L, d_model)` | `batch_first=True`; the default is `(L, B, d_model)` |
# | mask, True = may attend | True = may **not** attend |

# %%
@torch.no_grad()
def copy_attention(ours, theirs):
    for part in ("weight", "bias"):
        parts = [ours.get_parameter(f"{name}_proj.{part}") for name in "qkv"]
        # 3 * d_model rows
        theirs.get_parameter(f"in_proj_{part}").copy_(torch.cat(parts))
    theirs.out_proj.load_state_dict(ours.o_proj.state_dict())

# %%
def copy_layer(ours, theirs):
    copy_attention(ours.self_attention, theirs.self_attn)
    norms = [ours.attention_norm, ours.feed_forward_norm]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.insert(1, ours.cross_attention_norm)
    for number, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.up_proj.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down_proj.state_dict())

# %%
options = {"dropout": 0.0, "batch_first": True, "norm_first": True}
stack = nn.TransformerEncoder(
    nn.TransformerEncoderLayer(64, 4, 128, **options),
    2,
    nn.LayerNorm(64),
    enable_nested_tensor=False,
)
theirs = nn.Transformer(64, 4, 2, 2, 128, custom_encoder=stack, **options).eval()
for side in ("encoder", "decoder"):
    layers = getattr(theirs, side).layers
    for ours, other in zip(getattr(copier, f"{side}_layers"), layers, strict=True):
        copy_layer(ours, other)
    norm = getattr(copier, f"{side}_norm")
    getattr(theirs, side).norm.load_state_dict(norm.state_dict())

# %%
padded, given = sources.clone(), targets[:, :-1]  # (B, L_s), (B, L_t)
padded[1, 7:], padded[2, 4:] = PAD_ID, PAD_ID
with torch.no_grad():
    hidden = theirs(
        copier.source_embedding(padded),
        copier.target_embedding(given),
        tgt_mask=~masks.causal_mask(given.shape[1])[0, 0],
        src_key_padding_mask=padded == PAD_ID,
        memory_key_padding_mask=padded == PAD_ID,
        tgt_key_padding_mask=given == PAD_ID,
    )  # (B, L_t, d_model)
    off = (copier.generator(hidden) - copier(padded, given)).abs().max().item()
assert off < 1e-4
print("the same logits to 1e-4, with padding too")

# %% [markdown]
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017: section 3 and figure 1 for the model, 3.4 for the shared matrix, 5.1 for the vocabulary, 5.3 (equation 3) for the schedule, 5.4 for label smoothing, table 3 for the sizes.
# - Xiong et al., *On Layer Normalization in the Transformer Architecture*, 2020: the gradients of both orders at initialization, and training without a warm-up when the norm comes before; read it beside 10.7.
# - Szegedy et al., *Rethinking the Inception Architecture for Computer Vision*, 2016, section 7: label smoothing, and why.
# - Müller, Kornblith, Hinton, *When Does Label Smoothing Help?*, 2019: smoothed models are less over-confident and better calibrated; read it after exercise 10.9.
# - Press, Wolf, *Using the Output Embedding to Improve Language Models*, 2017: one matrix for embedding and generator.
# - Glorot, Bengio, *Understanding the Difficulty of Training Deep Feedforward Neural Networks*, 2010, section 4.2: where the variance of the weights comes from.
# - Smith, Topin, *Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates*, 2018: a rate that rises and falls in one cycle.

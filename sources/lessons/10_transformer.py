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
# At the end you can assemble the whole encoder-decoder Transformer, train it until it copies unseen sequences without a mistake, and read off step by step where it looks.
#
# {{colab_link}} · about 90 minutes · builds on lessons 05, 06, 08 and 09

# %% tags=["setup"]
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils import diagrams, masks, plotting, widgets
from course_utils.datasets.tasks import copy_task, reverse_task
from course_utils.decoding import greedy_decode
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.models import Transformer, TransformerConfig, count_parameters, make_transformer
from course_utils.positions import SinusoidalPositions
from course_utils.recording import record_attention
from course_utils.tokenizers import END_ID, PAD_ID, START_ID
from course_utils.training import label_smoothing_loss, one_cycle_rate, warmup_rate

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors here are small: sharing them out among threads takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. assemble encoder, decoder, embeddings and generator into one model, and count its parameters by hand;
# 2. make the masks for a batch of source and target pairs, and shift the target;
# 3. write the loss with label smoothing so that padding counts nowhere, and the warm-up schedule so that step 0 does not break it;
# 4. train the model, and prove on unseen sequences that it has learned the task;
# 5. decode one step at a time, and say what the cross-attention of every layer looks at;
# 6. hold the whole model equal to `nn.Transformer`.
#
# Every part is known: attention (04), masks (05), heads (06), the cache (07), positions (08), layers (09). This lesson puts them together. Three new things are needed before the result can be trained: the shifted target, the loss and the learning rate.

# %% [markdown]
# ## Predict first
#
# A decoder is to say `a b c` and then stop. At each position it gets one symbol and is asked for one symbol. Now meet a parrot: it has learned nothing, and at each position it repeats the symbol that it just got.
#
# We give the parrot `a b c end` and ask for `a b c end`. How many of the four does it get right? Then we give it `start a b c` and ask for `a b c end`. How many now? Write down two numbers.

# %%
wanted = ["a", "b", "c", "end"]
for given in (["a", "b", "c", "end"], ["start", "a", "b", "c"]):
    parrot = given  # it repeats what it gets
    right = sum(said == asked for said, asked in zip(parrot, wanted, strict=True))
    print("given", given, "  asked for", wanted, f"  the parrot gets {right} of {len(wanted)} right")

# %% [markdown]
# All, and none. What a decoder is given must lie **one step behind** what it is asked for. Otherwise a model can be perfect and know nothing. This is the most common mistake with this model, and the loss will not tell you: it goes down, and fast. Section 10.7 does the shift, and "What goes wrong" trains a parrot.

# %% [markdown]
# ## 10.1 The whole model on one page
#
# This is figure 1 of the paper, for the model of this lesson. No hand drew it: the function ran the model once on a batch of two pairs, watched each part, and saw which sums lie between them and what each mask lets through.

# %%
torch.manual_seed(0)
small = make_transformer(9, 11, num_layers=2, d_model=16, d_ff=32, num_heads=4)
source = torch.tensor([[3, 4, 5, 6, 7], [8, 3, 4, PAD_ID, PAD_ID]])  # (B=2, L_s=5)
target = torch.tensor([[START_ID, 5, 3, 9], [START_ID, 6, PAD_ID, PAD_ID]])  # (B=2, L_t=4)
plotting.show(diagrams.architecture(small, (source, target)))

# %% [markdown]
# *Read it from below to above. The encoder stands at the left, the decoder at the right; the orange line is the memory, which every decoder layer asks. Each circle is a sum: the stream that runs past a part, plus what the part adds. Beside the arrows stand the shapes of this batch.*
#
# Now in words. A source sequence $x = (x_1, \dots, x_{L_s})$ is to be turned into a target sequence $y = (y_1, \dots, y_{L_t})$, for example a sentence into its translation. The model says how probable each next symbol is, given the source and the symbols so far:
#
# $$p(y \mid x) = \prod_{t=1}^{L_t} p(y_t \mid y_1, \dots, y_{t-1},\, x) .$$
#
# Five parts do it. The **encoder** side runs once for each source, the **decoder** side once for each step of the target (in training: for all steps at once).
#
# | part | from | to | lesson |
# |---|---|---|---|
# | source embedding, times $\sqrt{d_{model}}$, plus positions | ids `(B, L_s)` | `(B, L_s, d_model)` | 00, 08, 09 |
# | $N$ encoder layers, final norm | `(B, L_s, d_model)` | the **memory**, `(B, L_s, d_model)` | 09 |
# | target embedding, likewise | ids `(B, L_t)` | `(B, L_t, d_model)` | |
# | $N$ decoder layers, final norm; each layer asks the target so far, then the memory | `(B, L_t, d_model)` | hidden vectors `(B, L_t, d_model)` | 09 |
# | **generator**: one linear layer, then the log-softmax | hidden vectors | log-probabilities `(B, L_t, V)` | |
#
# $V$ is the size of the target vocabulary. Three ids are special in this course: 0 pads, 1 starts a sequence, 2 ends it.

# %% [markdown]
# ## 10.2 Assembled by hand
#
# The parts come from the library; you wrote them in the exercises of lessons 06 to 09. What is left is to connect them. Four things to watch: each layer is a **new** object, the memory is the **normalized** output of the encoder, the decoder's self-attention gets the *target's* mask and its cross-attention the *source's*.

# %%
class HandMade(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len=64):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.encoder_layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.generator = nn.Linear(d_model, tgt_vocab)

    def encode(self, source, source_mask):
        x = self.source_embedding(source)  # (B, L_s, d_model)
        for layer in self.encoder_layers:
            x = layer(x, source_mask)  # (B, L_s, d_model)
        return self.encoder_norm(x)  # (B, L_s, d_model), the memory

    def decode(self, target, memory, target_mask, source_mask):
        x = self.target_embedding(target)  # (B, L_t, d_model)
        for layer in self.decoder_layers:
            x = layer(x, memory, target_mask=target_mask, memory_mask=source_mask)  # (B, L_t, d_model)
        return self.decoder_norm(x)  # (B, L_t, d_model)

    def forward(self, source, target, source_mask, target_mask):
        memory = self.encode(source, source_mask)  # (B, L_s, d_model)
        return self.generator(self.decode(target, memory, target_mask, source_mask))  # (B, L_t, V)

# %% [markdown]
# The library's `Transformer` names its parts the same, so the weights can be carried over. It makes the masks itself (section 10.6 shows how). Both must say the same:

# %%
torch.manual_seed(0)
sizes = {"src_vocab": 9, "tgt_vocab": 11, "num_layers": 2, "d_model": 16, "d_ff": 32, "num_heads": 4}
hand_made = HandMade(**sizes).eval()
library = Transformer(TransformerConfig(**sizes, max_len=64)).eval()
library.load_state_dict(hand_made.state_dict())

source_mask = masks.padding_mask(source, PAD_ID)  # (B, 1, 1, L_s)
target_mask = masks.combine_masks(masks.padding_mask(target, PAD_ID), masks.causal_mask(4))  # (B, 1, L_t, L_t)

with torch.no_grad():
    memory = hand_made.encode(source, source_mask)
    hidden = hand_made.decode(target, memory, target_mask, source_mask)
    logits = hand_made(source, target, source_mask, target_mask)
    assert torch.allclose(logits, library(source, target), atol=1e-5)
for name, tensor in (("source", source), ("memory", memory), ("target", target), ("hidden", hidden), ("logits", logits)):
    print(f"{name:7} {tuple(tensor.shape)}")

# %% [markdown]
# ## 10.3 The generator, and where the log-softmax belongs
#
# The generator turns a hidden vector $h$ of size $d_{model}$ into one score for each symbol of the target vocabulary, $z = W h + b$ with $W$ of shape $(V, d_{model})$. Such scores are called **logits**. The log-softmax makes them log-probabilities:
#
# $$\log p_v = z_v - \log \sum_{u=1}^{V} e^{z_u} .$$
#
# By hand, for logits $\ln 1, \ln 3, \ln 4$: the exponentials are 1, 3, 4, their sum is 8, and the probabilities are $\tfrac18, \tfrac38, \tfrac48$.

# %%
z = torch.tensor([1.0, 3.0, 4.0]).log()  # (V=3,)
by_hand = z - z.exp().sum().log()  # (V,)
assert torch.allclose(by_hand, torch.log_softmax(z, dim=-1))
print("probabilities", by_hand.exp())

# %% [markdown]
# The library's model hands back **logits**, and leaves the log-softmax to those who need it: `F.cross_entropy` and the loss of section 10.8 apply it, and so does decoding. Applying it twice does no harm, because log-probabilities are already normalized. But a *softmax* in the model, before a
# loss that applies the log-softmax, does harm:

# %%
z = torch.tensor([[8.0, 0.0, 0.0, 0.0]])  # (1, V=4): the model is sure of symbol 0
right, wrong = torch.tensor([0]), torch.tensor([1])
for name, scores in (("logits", z), ("log-softmax first", z.log_softmax(-1)), ("softmax first", z.softmax(-1))):
    print(f"{name:18} loss if symbol 0 is right {F.cross_entropy(scores, right):.3f}   if symbol 1 is right {F.cross_entropy(scores, wrong):.3f}")

# %% [markdown]
# The last line is the mistake. Probabilities lie between 0 and 1. Taken for logits, they can differ by 1 at most, so the loss can neither get low when the model is right nor high when it is wrong. The lowest it can ever get is $\ln(e + V - 1) - 1$:

# %%
for V in (4, 11, 1000):
    certain = F.one_hot(torch.tensor([0]), V).float()  # (1, V): a model that is right and sure
    floor = math.log(math.e + V - 1) - 1
    assert abs(F.cross_entropy(certain, torch.tensor([0])).item() - floor) < 1e-5
    print(f"V = {V:4}   lowest loss after a softmax too many {floor:.2f}   of a model that guesses {math.log(V):.2f}")

# %% [markdown]
# Between perfect and guessing there is at most 1 nat left, however large the vocabulary. How one would notice: the loss comes to rest at that number while the share of right symbols still rises.

# %% [markdown]
# ## 10.4 The base model of the paper, and its parameters
#
# The paper's **base** model has $N = 6$ layers on each side, $d_{model} = 512$, $d_{ff} = 2048$, $H = 8$ heads, and, for English to German, a vocabulary of about 37,000 tokens (table 3 and section 5.1 of the paper). We build it with PyTorch's `meta` device: shapes without numbers, so that it takes no memory.
#
# Its norms stand after each sum (post-norm), and there is no final norm. `make_transformer` has the same sizes with today's pre-norm and its two final norms.

# %%
VOCAB = 37_000
with torch.device("meta"):
    base = Transformer(TransformerConfig(VOCAB, VOCAB, pre_norm=False, final_norm=False))
    pre_norm_base = make_transformer(VOCAB, VOCAB)

c = base.config
print(f"N = {c.num_layers}, d_model = {c.d_model}, d_ff = {c.d_ff}, H = {c.num_heads}, d_head = {c.d_model // c.num_heads}")
for name, part in base.named_children():
    times = f"{len(part)} x {type(part[0]).__name__}" if isinstance(part, nn.ModuleList) else type(part).__name__
    print(f"{name:18} {times:18} {count_parameters(part):>12,}")
print(f"{'together':37} {count_parameters(base):>12,}")

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
attention = 4 * (d * d + d)
feed_forward = 2 * d * d_ff + d_ff + d
norm = 2 * d
encoder_layer = attention + feed_forward + 2 * norm
decoder_layer = 2 * attention + feed_forward + 3 * norm
together = N * (encoder_layer + decoder_layer) + 2 * V * d + V * d + V
print(f"attention {attention:,}   feed-forward {feed_forward:,}   norm {norm:,}")
print(f"encoder layer {encoder_layer:,}   decoder layer {decoder_layer:,}   together {together:,}")

assert encoder_layer == count_parameters(base.encoder_layers[0]) and decoder_layer == count_parameters(base.decoder_layers[0])
assert together == count_parameters(base)
assert count_parameters(pre_norm_base) == together + 2 * norm  # the two final norms of pre-norm

# %% [markdown]
# The paper reports 65 million (table 3). It translates between two languages with *one* vocabulary, and uses **one matrix three times**: as source embedding, as target embedding, and as the generator's $W$ (section 3.4 of the paper). Shared matrices count once:

# %%
base.source_embedding.tokens.weight = base.target_embedding.tokens.weight
base.generator.weight = base.target_embedding.tokens.weight
shared = count_parameters(base)
assert shared == together - 2 * V * d
print(f"shared {shared:,}: {100 * N * (encoder_layer + decoder_layer) / shared:.0f} % of it in the layers, {100 * V * d / shared:.0f} % in the one matrix")
print(f"to reach 65.0 million the vocabulary would have {(65_000_000 - N * (encoder_layer + decoder_layer)) // (d + 1):,} tokens")

# %% [markdown]
# That is near the published number, not equal to it. "About 37,000" leaves room, and the last line says how much room would be needed. A count by hand is a strong test all the same: the mistake "N layers that are the same module" (see "What goes wrong") shows in nothing else so clearly.

# %% [markdown]
# ## 10.5 Where training starts: Xavier initialization
#
# A sum of $n$ products of independent numbers of mean 0 has $n$ times the variance of one product (lesson 04). So a linear layer with $n_{in}$ inputs multiplies the variance of its input by $n_{in} \cdot \operatorname{Var}(W)$. To keep it we need
# $\operatorname{Var}(W) = 1 / n_{in}$. For the gradients, which run the other way, we need $1 / n_{out}$. Glorot and Bengio take the value in between,
#
# $$\operatorname{Var}(W) = \frac{2}{n_{in} + n_{out}} , \qquad W \sim \text{uniform on } [-a, a] \text{ with } a = \sqrt{\frac{6}{n_{in} + n_{out}}} ,$$
#
# since a uniform number on $[-a, a]$ has the variance $a^2 / 3$. This is called **Xavier** (or Glorot) initialization.
#
# **Predict first.** Twelve square linear layers in a row, weights twice as large as Xavier's. By which factor do the numbers grow?

# %%
n = 256
a = math.sqrt(6 / (n + n))
print(f"a = {a:.3f}   standard deviation by the formula {a / math.sqrt(3):.4f}")
torch.manual_seed(0)
for factor in (0.5, 1.0, 2.0):
    x = torch.randn(64, n)  # (B, n), standard deviation 1
    for _ in range(12):
        weight = nn.init.xavier_uniform_(torch.empty(n, n)) * factor
        x = x @ weight.T  # (B, n)
    print(f"weights x {factor:3.1f}   after 12 layers the standard deviation is {x.std().item():10.4g}   predicted {factor**12:10.4g}")

# %% [markdown]
# Each layer multiplies by the factor, so twelve multiply by its twelfth power. Norms and residual connections (lesson 09) would mend much of this in a Transformer; a good start costs nothing. The library uses Xavier for every linear layer and 0 for every bias. The embeddings get the standard deviation
# $1 / \sqrt{d_{model}}$, because they are multiplied by $\sqrt{d_{model}}$ afterwards:

# %%
torch.manual_seed(0)
model = Transformer(TransformerConfig(50, 50, num_layers=1, d_model=64, d_ff=256, num_heads=4, dropout=0.0))
up = model.encoder_layers[0].feed_forward.up_proj.weight  # (d_ff=256, d_model=64)
ids = torch.randint(3, 50, (8, 20))  # (B, L)
embedded = model.source_embedding.tokens(ids) * 64**0.5  # (B, L, d_model)
assert up.abs().max() <= math.sqrt(6 / (64 + 256)) and (model.generator.bias == 0).all()
print(f"up_proj: standard deviation {up.std().item():.3f}, Xavier says {math.sqrt(2 / (64 + 256)):.3f}   embedded tokens: {embedded.std().item():.2f}")

# %% [markdown]
# ## 10.6 Masks for a batch of pairs
#
# A batch has two paddings, that of the sources and that of the targets. Three attentions need a mask:
#
# | attention | queries | keys | mask | shape |
# |---|---|---|---|---|
# | encoder, self | source | source | padding of the **source** | `(B, 1, 1, L_s)` |
# | decoder, self | target | target | padding of the **target**, and causal | `(B, 1, L_t, L_t)` |
# | decoder, cross | target | source | padding of the **source** | `(B, 1, 1, L_s)` |
#
# So two masks are enough. First as a loop that says what is meant, then without:

# %%
def batch_masks_loop(source, target):
    B, L_s, L_t = len(source), source.shape[1], target.shape[1]
    source_mask, target_mask = torch.zeros(B, 1, 1, L_s).bool(), torch.zeros(B, 1, L_t, L_t).bool()
    for b in range(B):
        for j in range(L_s):
            source_mask[b, 0, 0, j] = source[b, j] != PAD_ID
        for i in range(L_t):
            for j in range(i + 1):  # the past and oneself
                target_mask[b, 0, i, j] = target[b, j] != PAD_ID
    return source_mask, target_mask


def batch_masks(source, target):
    L_t = target.shape[1]
    source_mask = (source != PAD_ID)[:, None, None, :]  # (B, 1, 1, L_s)
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()  # (L_t, L_t)
    target_mask = (target != PAD_ID)[:, None, None, :] & causal  # (B, 1, 1, L_t) and (L_t, L_t) -> (B, 1, L_t, L_t)
    return source_mask, target_mask


for ours, loop, parts in zip(batch_masks(source, target), batch_masks_loop(source, target), (source_mask, target_mask), strict=True):
    assert torch.equal(ours, loop) and torch.equal(ours, parts)  # parts: course_utils.masks, in section 10.2
print("source\n", source, "\ntarget, start symbol first\n", target)

# %%
of_pair_1 = {
    "padding": (target[1:] != PAD_ID)[:, None, None, :],  # (1, 1, 1, L_t)
    "causal": masks.causal_mask(4),  # (1, 1, L_t, L_t)
    "both: the target's mask": target_mask[1:],  # (1, 1, L_t, L_t)
}
plotting.show(diagrams.mask_gallery(["start", "6", "pad", "pad"], of_pair_1))

# %% [markdown]
# *Notice the last grid: the two columns of padding are hidden from every row, and so is the future. The two rows of padding compute something too; it is left out of the loss.* The source's mask has a single row, the same for every query: `1 1 1 0 0` for this pair.
#
# (With all padding on the right, the future that the causal mask hides from a real position holds the padding too. The padding mask then changes the rows of the padding only. With padding on the left it is needed.)
#
# Two tests prove the masks. **A pair alone must give what it gives in the batch**; and **another future must not change the past**:

# %%
with torch.no_grad():
    together = library(source, target)  # (B, L_t, V)
    alone = library(source[1:, :3], target[1:, :2])  # (1, 2, V): pair 1 without its padding
    other_future = target.clone()
    other_future[0, 2:] = torch.tensor([4, 10])
    changed = library(source, other_future)
print(f"pair 1 alone or in the batch: largest difference {(together[1, :2] - alone[0]).abs().max().item():.5f}")
print(f"another future: positions 0 and 1 move by {(changed - together)[0, :2].abs().max().item():.5f}, later ones by {(changed - together)[0, 2:].abs().max().item():.2f}")

# %% [markdown]
# ## 10.7 Teacher forcing and the shifted target
#
# To train, we know the right target. Between a start and an end symbol it reads, for example, `start a b c end`. It is used twice, **shifted against itself by one**:
#
# - the **input** of the decoder is everything but the last symbol: `start a b c`;
# - the **labels** are everything but the first: `a b c end`.
#
# At position $t$ the decoder has seen the right symbols up to there, not its own guesses. This is called **teacher forcing** (lesson 03). With the causal mask all positions are trained in one pass.

# %%
symbols = ["pad", "start", "end", *"abcdefgh"]  # 11 symbols, the ids are their places
full = torch.tensor([[START_ID, 3, 4, 5, END_ID], [START_ID, 6, 7, END_ID, PAD_ID]])  # (B=2, 5)
decoder_input, labels = full[:, :-1], full[:, 1:]  # (B, L_t=4) each
for row in range(2):
    print("full ", [symbols[i] for i in full[row]])
    print("input", [symbols[i] for i in decoder_input[row]])
    print("label", [symbols[i] for i in labels[row]], "\n")

# %% [markdown]
# In the second row the input ends with `end`. Its label is padding, and that position is left out of the loss, so it does no harm.
#
# **What one pass is worth.** Position $t$ of one pass must say what the last position of a pass over the prefix says. As a loop over prefixes, then all at once:

# %%
source = torch.tensor([[3, 4, 5, 6, 7], [8, 3, 4, PAD_ID, PAD_ID]])  # (B, L_s)
with torch.no_grad():
    at_once = library(source, decoder_input)  # (B, L_t, V)
    one_by_one = torch.stack([library(source, decoder_input[:, : t + 1])[:, -1] for t in range(4)], dim=1)  # (B, L_t, V)
real = decoder_input != PAD_ID  # (B, L_t)
assert torch.allclose(at_once[real], one_by_one[real], atol=1e-5)
print("one pass over the shifted target = one pass for each prefix, at", int(real.sum()), "real positions")

# %% [markdown]
# ## 10.8 The loss: label smoothing, and no padding
#
# The ordinary loss is the cross-entropy with the right symbol $y$: $-\log p_y$. It is lowest when $p_y = 1$, so it pushes the logits apart without end. **Label smoothing** asks for a little less. The right symbol is to get $1 - \varepsilon$, and the others share $\varepsilon$; the paper takes $\varepsilon = 0.1$:
#
# $$\ell = -\sum_{v} q_v \log p_v , \qquad q_v = \begin{cases} 1 - \varepsilon & v = y \\ 0 & v = \text{pad} \\ \varepsilon / (V - 2) & \text{otherwise.} \end{cases}$$
#
# The padding symbol is never right, so it gets nothing of $\varepsilon$: one symbol is right, one is padding, $V - 2$ are left. Labels that *are* padding do not count at all, neither in the sum nor in the number it is divided by.
#
# By hand: $V = 6$ symbols (pad, start, end, a, b, c), the label is `a`, $\varepsilon = 0.1$. Four others share 0.1, so each gets 0.025.

# %%
eps, V = 0.1, 6
q = torch.tensor([0.0, 0.025, 0.025, 0.9, 0.025, 0.025])  # (V,)


def smoothed(label, V, eps):
    q = torch.full((V,), eps / (V - 2))  # (V,)
    q[PAD_ID], q[label] = 0.0, 1 - eps
    return q


assert torch.allclose(q, smoothed(3, V, eps)) and abs(q.sum() - 1) < 1e-6
print("q", smoothed(3, V, eps))

# %% [markdown]
# The loop over all positions, then the vectorized form. Both are held equal to the library and to PyTorch's `F.cross_entropy`, which takes probabilities as targets too.

# %%
def loss_loop(logits, labels, eps):
    losses = []
    for row_logits, row_labels in zip(logits, labels, strict=True):  # (L_t, V), (L_t,)
        for z, label in zip(row_logits, row_labels.tolist(), strict=True):  # (V,), a number
            if label != PAD_ID:
                losses.append(-(smoothed(label, len(z), eps) * z.log_softmax(-1)).sum())
    return sum(losses) / len(losses)


def loss_vectorized(logits, labels, eps):
    V = logits.shape[-1]
    q = torch.full_like(logits, eps / (V - 2))  # (B, L_t, V)
    q[..., PAD_ID] = 0.0
    q.scatter_(-1, labels[..., None], 1 - eps)  # the right symbol of each position
    each = -(q * logits.log_softmax(-1)).sum(-1)  # (B, L_t)
    real = labels != PAD_ID  # (B, L_t)
    return each[real].mean()


rng = torch.Generator().manual_seed(0)
logits = torch.randn(2, 4, V, generator=rng)  # (B, L_t, V)
labels = torch.tensor([[3, 4, 5, END_ID], [5, END_ID, PAD_ID, PAD_ID]])  # (B, L_t)
ours = loss_vectorized(logits, labels, eps)
assert torch.allclose(ours, loss_loop(logits, labels, eps)) and torch.allclose(ours, label_smoothing_loss(logits, labels, smoothing=eps))
real = labels != PAD_ID
targets = torch.stack([smoothed(label, V, eps) for label in labels[real].tolist()])  # (real positions, V)
assert torch.allclose(ours, F.cross_entropy(logits[real], targets))
plain = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD_ID)
assert torch.allclose(plain, label_smoothing_loss(logits, labels, smoothing=0.0))
print(f"loop, vectorized, course_utils and PyTorch agree: {ours.item():.4f}   (without smoothing {plain.item():.4f})")

# %% [markdown]
# `F.cross_entropy` also has an argument `label_smoothing`. It shares $\varepsilon$ among **all** $V$ symbols, the right one and padding included, as Szegedy et al. did, whose classes have no padding. Here padding then has a probability to strive for. With $\varepsilon = 0.1$ the difference is small, but it is a difference:

# %%
theirs = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD_ID, label_smoothing=eps)
print(f"label_smoothing=0.1 {theirs.item():.4f}   ours {ours.item():.4f}")
q_theirs = (1 - eps) * F.one_hot(torch.tensor(3), V) + eps / V  # (V,)
print("their q for the label a:", q_theirs)

# %% [markdown]
# **What smoothing does.** Let the model give the right symbol the probability $p$ and share the rest evenly. The loss as a function of $p$:

# %%
V = 11  # the vocabulary of the copy task
p = torch.linspace(0.3, 0.9995, 300)  # (300,)
others = ((1 - p) / (V - 2)).log()  # (300,), log-probability of each other symbol
curves = {f"smoothing {e}": -(1 - e) * p.log() - e * others for e in (0.0, 0.1)}
floor = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1 / (V - 2)))  # the entropy of q
best = p[curves["smoothing 0.1"].argmin()].item()
print(f"lowest at p = {best:.2f}, where the loss is {curves['smoothing 0.1'].min().item():.3f}; the entropy of q is {floor:.3f}")
ax = plotting.curves(p, curves, xlabel="probability of the right symbol", ylabel="loss (nats)", ax=plotting.new_axes(6.0, 3.2))
plotting.show(ax, "Loss against the probability of the right symbol. Without smoothing it falls to 0 at 1. With smoothing 0.1 it has its lowest point at 0.9 and rises steeply towards 1.")

# %% [markdown]
# *Notice the dashed line: it turns up before 1. A model that is too sure is punished.* The paper reports (section 5.4) that smoothing makes the perplexity worse, but accuracy and the quality of the translations (BLEU) better. And notice its lowest value: it is not 0. With smoothing, a training loss that comes to rest at the entropy of $q$ is a **perfect** score. Remember that number; you will see it in the training curve.

# %% [markdown]
# ## 10.9 The warm-up schedule
#
# Adam divides each gradient by the size that gradients of this parameter usually have. At the first step it knows one gradient only. So the first update moves *every* parameter by the full learning rate, whether its gradient is large or next to nothing (the two `betas` and `eps` are the paper's, section 5.3):

# %%
parameter = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.Adam([parameter], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
parameter.grad = torch.tensor([5.0, 0.001, -0.00001])
optimizer.step()
print("gradients 5, 0.001, -0.00001; first update", parameter.data)

# %% [markdown]
# As long as the model knows nothing and Adam knows little, small steps are wise. So the paper lets the rate rise linearly for $w$ steps, then fall with the square root of the step:
#
# $$r(s) = d_{model}^{-1/2} \cdot \min\!\left(s^{-1/2},\; s \cdot w^{-3/2}\right) , \qquad s = 1, 2, 3, \dots$$
#
# At $s = w$ the two are equal, and there the rate is largest: $(d_{model}\, w)^{-1/2}$. By hand with $d_{model} = 4$ and $w = 4$: $r(1) = \tfrac12 \cdot \min(1, \tfrac18) = \tfrac1{16}$, $r(4) = \tfrac12 \cdot \min(\tfrac12, \tfrac12) = \tfrac14$, $r(16) = \tfrac12 \cdot \min(\tfrac14, 2) = \tfrac18$.

# %%
def rate(s, d_model, w):
    return d_model**-0.5 * min(s**-0.5, s * w**-1.5)


for s, by_hand in ((1, 1 / 16), (4, 1 / 4), (16, 1 / 8)):
    assert abs(rate(s, 4, 4) - by_hand) < 1e-12 and abs(warmup_rate(s, 4, 4) - by_hand) < 1e-12
print(f"base model, 4000 steps of warm-up: largest rate {rate(4000, 512, 4000):.6f}; (512 * 4000) ** -0.5 = {(512 * 4000) ** -0.5:.6f}")

steps = torch.arange(1, 20001, 50)
shown = {f"d_model {d}, warm-up {w}": torch.tensor([rate(s, d, w) for s in steps.tolist()]) for d, w in ((512, 4000), (512, 8000), (256, 4000))}
ax = plotting.curves(steps, shown, xlabel="step", ylabel="learning rate", ax=plotting.new_axes(6.4, 3.2))
plotting.show(ax, "Three learning rate curves over 20,000 steps. Each rises in a straight line to its peak at the end of the warm-up and falls slowly. A longer warm-up has a lower, later peak; a smaller model a higher one.")

# %% [markdown]
# *Notice the sharp peak at the end of the warm-up, and that two curves with the same $d_{model}$ meet after both peaks: from there on the warm-up plays no part.*
#
# **Step 0.** Counting from 0 is natural in Python, and here it is fatal: $0^{-1/2}$ is a division by zero. PyTorch's `LambdaLR` calls your function with 0 before the first update:

# %%
parameter = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([parameter], lr=1.0)
try:
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: rate(done, 512, 4000))
except ZeroDivisionError:
    print("ZeroDivisionError, and no update was made")

scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: rate(done + 1, 512, 4000))  # updates done -> number of the next
used = []
for _ in range(3):
    used.append(scheduler.get_last_lr()[0])
    optimizer.step()
    scheduler.step()
assert all(abs(u - warmup_rate(s, 512, 4000)) < 1e-12 for s, u in enumerate(used, start=1))
print("with done + 1:", [f"{u:.2e}" for u in used])

# %% [markdown]
# The paper's schedule does not know when the training will end, so its rate is never near 0. In a short run of known length one lets it go down to nearly 0, so that the last steps settle. We use such a one below, `one_cycle_rate`: up along half a cosine, and down again.

# %%
steps = torch.arange(1, 241)
shown = {
    "one cycle": torch.tensor([one_cycle_rate(s, 240, 4e-3) for s in steps.tolist()]),
    "the paper's, scaled": torch.tensor([warmup_rate(s, 64, 72, factor=0.27) for s in steps.tolist()]),
}
ax = plotting.curves(steps, shown, xlabel="step", ylabel="learning rate", ax=plotting.new_axes(6.0, 2.8))
plotting.show(ax, "Learning rate over 240 steps. One cycle rises smoothly to its peak and falls to nearly 0. The paper's rises in a line to a similar peak and ends at more than half of it.")

# %% [markdown]
# ## 10.10 Trained live: the copy task
#
# The task: 10 symbols come in, the same 10 symbols are to come out. The vocabulary has 11 ids, three of them special, so there are 8 symbols and $8^{10}$ sequences. The training will show a vanishing share of them. Learning them by heart is no way; the model must learn *how to copy*.

# %%
LENGTH, VOCAB = 10, 11
source, target = copy_task(2, LENGTH, VOCAB, torch.Generator().manual_seed(0))
for b in range(2):
    print("source", " ".join(symbols[i] for i in source[b]), "   target", " ".join(symbols[i] for i in target[b]))
print(f"{8**LENGTH:,} sequences, of which 240 batches of 64 show {240 * 64:,}")


def small_model():
    torch.manual_seed(0)
    return Transformer(TransformerConfig(VOCAB, VOCAB, num_layers=2, d_model=64, d_ff=128, num_heads=4, dropout=0.0, max_len=16))


print(f"{count_parameters(small_model()):,} parameters")

# %% [markdown]
# The training step puts together all of the above: shift, masks (made in the model), loss, rate. Every batch is new, so there is nothing to overfit, and dropout is off. Gradients longer than 1 are shortened to 1: one odd batch then does not throw the model off.

# %%
def train(model, task, steps=240, shift=True):
    rng = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    losses = []
    model.train()
    for step in tqdm(range(1, steps + 1), desc=task.__name__, unit="step", mininterval=1, file=sys.stdout):
        source, target = task(64, LENGTH, VOCAB, rng)  # (B, L_s), (B, L_t + 1)
        decoder_input = target[:, :-1]  # (B, L_t)
        labels = target[:, 1:] if shift else decoder_input  # (B, L_t)
        loss = label_smoothing_loss(model(source, decoder_input), labels, smoothing=0.1)
        for group in optimizer.param_groups:
            group["lr"] = one_cycle_rate(step, steps, peak=4e-3)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    return torch.tensor(losses)

# %% [markdown]
# 10 to 30 seconds, depending on the machine:

# %% tags=["nbval-ignore-output"]
copier = small_model()
copy_losses = train(copier, copy_task)
print(f"first loss {copy_losses[0].item():.2f}   last loss {copy_losses[-1].item():.3f}   entropy of the smoothed labels {floor:.3f}")
assert copy_losses[-20:].mean() < floor + 0.03

# %% tags=["nbval-ignore-output"]
ax = plotting.curves(
    torch.arange(1, 241),
    {"training loss": copy_losses, "entropy of the smoothed labels": torch.full((240,), floor)},
    xlabel="step", ylabel="loss (nats a symbol)", ax=plotting.new_axes(6.0, 3.2),
)  # fmt: skip
plotting.show(ax, "Training loss by step: it falls steadily from about 3 for the first hundred steps, and lies on the line of the entropy for the second half of the training.")

# %% [markdown]
# *Notice where the curve comes to rest: on the line that section 10.8 announced. With label smoothing that is a perfect score.*
#
# But a loss is an average over symbols, computed under teacher forcing, where each mistake is mended by the teacher at the next position. The test is stricter: 1,000 sequences that were never seen, decoded freely, and a sequence counts only if **all** its symbols are right.

# %%
def exact_match(model, task, num=1000):
    source, target = task(num, LENGTH, VOCAB, torch.Generator().manual_seed(10**6))  # another seed than in training
    said = greedy_decode(model, source, max_len=LENGTH + 1).tokens  # (num, L_out)
    return 0.0 if said.shape != target[:, 1:].shape else (said == target[:, 1:]).all(dim=-1).float().mean().item()


before, after = exact_match(small_model().eval(), copy_task), exact_match(copier, copy_task)
print(f"sequences copied without a mistake: untrained {100 * before:.0f} %, trained {100 * after:.0f} %")
assert after > 0.99  # all of them here; another machine may round a sum otherwise

# %% [markdown]
# ## 10.11 Greedy decoding, one step at a time
#
# Without a teacher the model reads its own words. Give it the start symbol, take the most probable symbol (that is the **greedy** choice), append it, ask again, until it says `end`. By hand, everything computed anew at each step:

# %%
@torch.no_grad()
def greedy_by_hand(model, source, max_len, show=False):
    said = torch.full((len(source), 1), START_ID)  # (B, 1)
    for _ in range(max_len):
        log_probs = model(source, said)[:, -1].log_softmax(-1)  # (B, V), after the last symbol so far
        chosen = log_probs.argmax(-1, keepdim=True)  # (B, 1)
        if show:
            print(f"given {' '.join(symbols[i] for i in said[0]):26} says {symbols[chosen[0].item()]}")
        said = torch.cat([said, chosen], dim=1)  # (B, so far + 1)
        if (said == END_ID).any(dim=1).all():
            break
    return said[:, 1:]  # without the start symbol


source, target = copy_task(1, LENGTH, VOCAB, torch.Generator().manual_seed(7))
print("source", " ".join(symbols[i] for i in source[0]))
said = greedy_by_hand(copier, source, LENGTH + 1, show=True)
assert torch.equal(said, target[:, 1:])

# %% [markdown]
# At step $t$ this runs the decoder over $t$ symbols, though $t - 1$ of them are old. A cache (lesson 07) keeps the keys and values of the old ones, and the encoder's keys and values are made once. The library's model offers that in two methods, `start_decoding` and `decode_step`; `greedy_decode` is a loop over them. A sequence that
# has ended gets padding while the others go on.

# %%
sources, targets = copy_task(50, LENGTH, VOCAB, torch.Generator().manual_seed(8))  # (B=50, L_s)
state = copier.start_decoding(sources, max_len=LENGTH + 1)
tokens, steps = torch.full((50,), START_ID), []  # (B,)
with record_attention(copier) as stepwise:  # the weights of every attention, at every step
    for _ in range(LENGTH + 1):
        log_probs, state = copier.decode_step(state, tokens)  # (B, V): one new position
        tokens = log_probs.argmax(-1)  # (B,)
        steps.append(tokens)
with_cache = torch.stack(steps, dim=1)  # (B, L_t)
assert torch.equal(with_cache, greedy_by_hand(copier, sources, LENGTH + 1))
assert torch.equal(with_cache, greedy_decode(copier, sources, max_len=LENGTH + 1).tokens)
print("recomputed, with the cache and course_utils agree on", tuple(with_cache.shape), "symbols")
print("keys and values kept after the last step, layer 0:", tuple(state.memory_kv[0][0].shape), "of the source,", state.caches[0].length, "positions of the target")

# %% [markdown]
# ## 10.12 Where every layer looks
#
# At step $t$ the copier must say source symbol $t$. Does its cross-attention look there? `record_attention` keeps the weights of every attention that runs inside its block, by the name of the module. One pass over the right target gives them all, for each layer `(B, H, L_t, L_s)`: the same rows that it recorded step by step in 10.11. We measure, for each head, the mean weight on the symbol to be said (the last row, which says `end`, left out). Uniform weights would give 0.10.

# %% tags=["nbval-ignore-output"]
CROSS = "decoder_layers.*.cross_attention"


def weight_on_place(model, task, place):
    """(layers, H): mean weight that step t puts on source position place(t)."""
    source, target = task(200, LENGTH, VOCAB, torch.Generator().manual_seed(9))
    with torch.no_grad(), record_attention(model) as seen:
        model(source, target[:, :-1])
    cross = torch.stack(seen.matching(CROSS))  # (layers, B, H, L_t, L_s)
    return torch.stack([cross[..., t, place(t)] for t in range(LENGTH)]).mean(dim=(0, 2))  # (layers, H)


with torch.no_grad(), record_attention(copier) as one_pass:
    copier(sources, targets[:, :-1])
for name in stepwise:
    if name.endswith("cross_attention"):  # L_t times (B, H, 1, L_s) -> (B, H, L_t, L_s)
        assert torch.allclose(torch.cat(stepwise.calls(name), dim=2), one_pass[name], atol=1e-4)

on_place = weight_on_place(copier, copy_task, lambda t: t)
for layer, row in enumerate(on_place.tolist()):
    print(f"layer {layer}: weight on the symbol to be said, head by head {[round(w, 2) for w in row]}")
assert on_place.max(dim=1).values.min() > 0.3

# %% tags=["nbval-ignore-output"]
with torch.no_grad(), record_attention(copier) as seen:
    copier(source, target[:, :-1])
rows, columns = [symbols[i] for i in target[0, :-1]], [symbols[i] for i in source[0]]
axes = plotting.new_axes(11.0, 4.4, columns=2)
for layer, ax in enumerate(axes):
    head = on_place[layer].argmax().item()
    plotting.attention_heatmap(seen.matching(CROSS)[layer][0, head], rows, columns, ax=ax, title=f"layer {layer}, head {head}")
    ax.set(xlabel="source", ylabel="given to the decoder")
plotting.show(axes[0], "Cross-attention of two layers while copying, the head with most weight on the symbol to be said. Both show a diagonal: each row looks at the source symbol that comes next.")

# %% [markdown]
# All three kinds of attention of the copier, every layer and head: choose a kind, then a head, then point at a symbol.

# %% tags=["nbval-ignore-output"]
def of_kind(pattern):
    return torch.stack(seen.matching(pattern))[:, 0]  # (layers, H, L_q, L_k), the first pair


viewer = widgets.attention_viewer({
    "cross-attention": (of_kind(CROSS), rows, columns),
    "encoder": (of_kind("encoder_layers.*.self_attention"), columns, columns),
    "decoder": (of_kind("decoder_layers.*.self_attention"), rows, rows),
})
viewer.show_first_state("Cross-attention of layer 0, head 0 while copying, as a heatmap: a row a symbol given to the decoder, a column a source symbol.")

# %% tags=["nbval-ignore-output"]
viewer

# %% [markdown]
# *In the heatmaps, notice the diagonal: the row of `start` looks at the first source symbol, which is to be said next.* A picture is a hint, not a proof (lesson 06). So we take away what it shows. In cross-attention each step may see everything **but** the symbol at its own place; and, for comparison, everything but a symbol three places further on (counted on from the front where the source ends):

# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def accuracy_without(model, task, hidden):
    """Share of right symbols when source position j is hidden from step t wherever hidden[t, j]."""
    source, target = task(200, LENGTH, VOCAB, torch.Generator().manual_seed(9))
    memory = model.encode(source)  # (B, L_s, d_model)
    logits = model.generator(model.decode(target[:, :-1], memory, memory_mask=~hidden[None, None]))  # (B, L_t, V)
    return (logits.argmax(-1) == target[:, 1:])[:, :LENGTH].float().mean().item()


place = torch.eye(LENGTH + 1, LENGTH).bool()  # (L_t, L_s)
own, other = accuracy_without(copier, copy_task, place), accuracy_without(copier, copy_task, place.roll(3, dims=1))
print(f"right symbols without their own position: {own:.2f}   without another position: {other:.2f}   by chance: {1 / 8:.2f}")
assert own < 0.3 and other > 0.95

# %% [markdown]
# Without the one position it looks at, the model guesses: it is right about as often as chance. So the weights do not only look right, they carry the copy. What each symbol knows stays at its own place in the memory.

# %% [markdown]
# ## 10.13 Reversal
#
# The same model, the same training, another task: say the source backwards. Nothing in the model knows about order except the positions. **Predict first:** what will the heatmap look like?

# %% tags=["nbval-ignore-output"]
reverser = small_model()
reverse_losses = train(reverser, reverse_task)
reversed_right = exact_match(reverser, reverse_task)
print(f"sequences reversed without a mistake: {100 * reversed_right:.1f} %   copied: {100 * exact_match(reverser, copy_task):.1f} %")
assert reversed_right > 0.98

# %% tags=["nbval-ignore-output"]
on_place = weight_on_place(reverser, reverse_task, lambda t: LENGTH - 1 - t)
backwards = torch.cat([target[:, :1], source.flip(1)], dim=1)  # (1, L_t): start, then the source backwards
with torch.no_grad(), record_attention(reverser) as seen:
    reverser(source, backwards)
rows = [symbols[i] for i in backwards[0]]
axes = plotting.new_axes(11.0, 4.4, columns=2)
for layer, ax in enumerate(axes):
    head = on_place[layer].argmax().item()
    plotting.attention_heatmap(seen.matching(CROSS)[layer][0, head], rows, columns, ax=ax, title=f"layer {layer}, head {head}")
    ax.set(xlabel="source", ylabel="given to the decoder")
plotting.show(axes[0], "Cross-attention of two layers while reversing: a diagonal from the top right to the bottom left.")

# %% [markdown]
# *Notice that the diagonal has turned over.* The architecture is the same; what it attends to was learned from the task.

# %% [markdown]
# ## 10.14 The same as `nn.Transformer`
#
# PyTorch has the whole stack as `nn.Transformer`: encoder and decoder with their final norms, without embeddings and generator. We carry the trained copier's weights over and ask both for the same. What must be translated:
#
# | here | `nn.Transformer` |
# |---|---|
# | `q_proj`, `k_proj`, `v_proj` | stacked in one `in_proj_weight` (lesson 06) |
# | `feed_forward.up_proj`, `.down_proj` | `linear1`, `linear2` |
# | a norm in each residual connection | `norm1`, `norm2` (and `norm3`), in the order of the sublayers |
# | pre-norm | `norm_first=True`; the default is post-norm |
# | `(B, L, d_model)` | `batch_first=True`; the default is `(L, B, d_model)` |
# | mask, True = may attend | True = may **not** attend |

# %%
@torch.no_grad()
def copy_attention(ours, theirs):
    for part in ("weight", "bias"):
        stacked = torch.cat([getattr(p, part) for p in (ours.q_proj, ours.k_proj, ours.v_proj)])  # (3 * d_model, ...)
        getattr(theirs, f"in_proj_{part}").copy_(stacked)
    theirs.out_proj.load_state_dict(ours.o_proj.state_dict())


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


options = {"dropout": 0.0, "batch_first": True, "norm_first": True}
encoder_stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, **options), 2, nn.LayerNorm(64), enable_nested_tensor=False)
stacks = nn.Transformer(64, 4, 2, 2, 128, custom_encoder=encoder_stack, **options).eval()
for name in ("encoder", "decoder"):
    for ours, theirs in zip(getattr(copier, f"{name}_layers"), getattr(stacks, name).layers, strict=True):
        copy_layer(ours, theirs)
    getattr(stacks, name).norm.load_state_dict(getattr(copier, f"{name}_norm").state_dict())

# %%
def pytorch_model(source, target):
    hidden = stacks(
        copier.source_embedding(source), copier.target_embedding(target),  # (B, L_s, d_model), (B, L_t, d_model)
        tgt_mask=~masks.causal_mask(target.shape[1])[0, 0],
        src_key_padding_mask=source == PAD_ID, memory_key_padding_mask=source == PAD_ID, tgt_key_padding_mask=target == PAD_ID,
    )  # fmt: skip
    return copier.generator(hidden)  # (B, L_t, V)


padded = sources.clone()  # (B=50, L_s)
padded[1, 7:], padded[2, 4:] = PAD_ID, PAD_ID
with torch.no_grad():
    difference = (pytorch_model(padded, targets[:, :-1]) - copier(padded, targets[:, :-1])).abs().max().item()
assert difference < 1e-4
assert torch.equal(greedy_by_hand(pytorch_model, sources, LENGTH + 1), with_cache)
print("logits equal to 1e-4, with padding too; decoded greedily, both say the same")

# %% [markdown]
# ## Look
#
# Step through the decoding of one sequence. Choose the layer and the head, and whether you want to see the attention to the source or to the target so far. On the right: how probable each next symbol is.

# %% tags=["nbval-ignore-output"]
stepper = widgets.decoding_steps(copier, source[0], symbols, max_len=LENGTH + 1)
stepper.show_first_state("Step 0 of decoding: one row of weights over the ten source symbols, and bars with the probability of each next symbol; one bar stands out.")

# %% [markdown]
# *Notice the bar that stands out: it is not at 1 but near 0.9. The model was asked for 0.9, by label smoothing.* Try: the last step, where `end` is said. Which head looks where? Then switch to "target so far": which symbols of its own does it look at?

# %%
stepper

# %% [markdown]
# ## What goes wrong
#
# **The target is not shifted.** The labels are the decoder's input. We train this parrot for 60 steps, and watch its loss.

# %% tags=["nbval-ignore-output"]
parrot = small_model()
parrot_losses = train(parrot, copy_task, steps=60, shift=False)
print(f"loss of the parrot after 60 steps {parrot_losses[-1].item():.3f}   of the right training after 60 steps {copy_losses[59].item():.3f}")
print("source", " ".join(symbols[i] for i in source[0]), "   the parrot says", " ".join(symbols[i] for i in greedy_decode(parrot, source, max_len=6).tokens[0]))
assert parrot_losses[-1] < copy_losses[59] and exact_match(parrot, copy_task) == 0.0

# %% [markdown]
# The loss looks splendid, much better than that of the right training at the same step. Then the parrot is given `start`, and repeats it. How you would notice: a loss that reaches its floor within the first few dozen steps is no gift. Decode a sequence before you believe it. The same happens if the target is shifted but the causal mask is missing: then the
# label stands one position ahead, in plain sight.

# %% [markdown]
# **N layers that are the same module.** `[layer] * 6` is a list of six names for one layer. It runs, it trains, and all "layers" share their weights. How you would notice: count the parameters.

# %%
layer = EncoderLayer(64, 4, 128)
same, different = nn.ModuleList([layer] * 6), nn.ModuleList(EncoderLayer(64, 4, 128) for _ in range(6))
print(f"six times one layer {count_parameters(same):,}   six layers {count_parameters(different):,}   ratio {count_parameters(different) / count_parameters(same):.0f}")

# %% [markdown]
# **The loss counts padding.** Take a model that is bad at the symbols and has learned that padding follows the end. The mean over all positions gets better with every padded position, and says nothing about the symbols. How you would notice: the loss depends on how the batch was padded.

# %%
labels = torch.tensor([[3, 4, END_ID]])  # (1, 3)
logits = torch.zeros(1, 3, VOCAB)  # it guesses
pads = torch.full((1, 12), PAD_ID)
sure_of_pad = 8.0 * F.one_hot(pads, VOCAB).float()  # (1, 12, V): and it is sure of padding
longer, longer_labels = torch.cat([logits, sure_of_pad], dim=1), torch.cat([labels, pads], dim=1)
for name, z, y in (("3 symbols", logits, labels), ("3 symbols and 12 times padding", longer, longer_labels)):
    counted = F.cross_entropy(z.flatten(0, 1), y.flatten())
    print(f"{name:31} padding counted {counted.item():.2f}   left out {label_smoothing_loss(z, y, smoothing=0.0).item():.2f}")

# %% [markdown]
# ## In practice
#
# - **Batches by length.** Real sentences differ in length. Batches of similar lengths waste little on padding (lesson 11).
# - **Half precision.** Production code trains in bfloat16 and computes the softmax and the loss in float32.
# - **A loop that survives.** `course_utils.training.fit` is the loop of section 10.10 with a progress bar, checkpoints, early stopping and a clean Ctrl-C. Lesson 11 uses it.
# - **Shared matrices.** Generator and target embedding share their matrix in many models (`tie_embeddings=True` here, `tie_word_embeddings` elsewhere). For large vocabularies that saves a good part of the parameters, as section 10.4 counted.
# - **Names.** The start symbol is also called `bos` or `sos`, the end symbol `eos`; `src` and `tgt` are source and target; the generator is `lm_head`, `output_projection` or `proj_out`; the decoder's input is `decoder_input_ids` or `prev_output_tokens`.

# %%
with torch.device("meta"):
    for tied in (False, True):
        big = Transformer(TransformerConfig(37_000, 37_000, tie_embeddings=tied))
        print(f"base model, tie_embeddings={tied!s:5}: {count_parameters(big):,}")

# %% [markdown]
# ## Recap
#
# 1. **Assembling**: embeddings, $N$ encoder layers and a norm give the memory; $N$ decoder layers ask the target so far and the memory; the generator gives logits. The parameters, counted by hand, agree with the code to the last one.
# 2. **Masks and shift**: the source's padding for encoder and cross-attention, the target's padding and the future for the decoder; the decoder reads `target[:, :-1]` and is asked for `target[:, 1:]`.
# 3. **Loss and rate**: smoothing gives nothing to padding, padded labels do not count, and the floor is the entropy of the smoothed labels, not 0. The warm-up counts steps from 1.
# 4. **Training**: all of 1,000 unseen sequences copied without a mistake, decoded freely.
# 5. **Decoding**: greedy, step by step, with a cache or recomputed. Each step looks at the symbol it says, and without it the model guesses.
# 6. **`nn.Transformer`**: the same logits with the weights carried over.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $x$, $y$ | source and target | ids `(B, L_s)`, `(B, L_t)` |
# | memory | the encoder's output | `(B, L_s, d_model)` |
# | $z$ | logits | `(B, L_t, V)` |
# | $N$ | layers on each side | a number |
# | $V$ | size of the target vocabulary | a number |
# | $\varepsilon$, $q$ | smoothing, and the smoothed label | a number, `(V,)` |
# | $s$, $w$, $r(s)$ | step, steps of warm-up, learning rate | numbers |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. Label smoothing of 0.1, a vocabulary of 11. The training loss has come to rest at 0.545. What should be done?</summary>
#
# **Nothing: it is perfect.** The entropy of the smoothed labels is that number; no model can get lower. (Not "train longer": there is no lower. Not "a softmax too many": with the plain loss its floor for 11 symbols is far higher, see section 10.3.)
# </details>
#
# <details><summary>2. Source padding in a batch of translations: which of the three attentions must not see it?</summary>
#
# **The encoder's self-attention and the decoder's cross-attention.** Both have the source as keys. (Not the decoder's self-attention: its keys are the target, with a padding of its own.)
# </details>
#
# <details><summary>3. Under teacher forcing the model has 99 % of the symbols right. Of sequences of 10 symbols decoded freely, roughly how many are without a mistake?</summary>
#
# **About 0.99 to the tenth power, 90 %, if mistakes were independent.** If they crowd together in few hard sequences, more than that are without one. That the model reads its own words makes no difference to this count: up to its first mistake they are the right ones, and after it the sequence is lost anyway. It does make a difference to the number of wrong symbols. (Not 99 %: a sequence needs all its symbols.)
# </details>
#
# <details><summary>4. Somebody computes the masks from the full target (length 6) and gives the decoder target[:, :-1]. What happens?</summary>
#
# **An error about shapes: the mask is 6 by 6, the scores 5 by 5.** That is the lucky case. If the mask is cut to fit from the wrong side, it hides the wrong columns and nothing complains. Make the masks from what the decoder is given.
# </details>
#
# <details><summary>5. Why is the memory computed once, but the decoder run once for each symbol?</summary>
#
# **The source does not change while the target grows.** So neither does the memory, nor its keys and values in each layer's cross-attention. (Not because the encoder is larger: both sides have the same number of layers. In training both run once, because the whole target is known.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Vaswani et al., *Attention Is All You Need*, 2017: section 3 and figure 1 the model, 3.4 the shared matrix, 5.1 the vocabulary, 5.3 (equation 3) the schedule, 5.4 label smoothing and dropout, table 3 the sizes.
# - Glorot, Bengio, *Understanding the Difficulty of Training Deep Feedforward Neural Networks*, 2010, section 4.2: where the variance of the weights comes from.
# - Szegedy et al., *Rethinking the Inception Architecture for Computer Vision*, 2016, section 7: label smoothing, and why.
# - Williams, Zipser, *A Learning Algorithm for Continually Running Fully Recurrent Neural Networks*, 1989: teacher forcing.
# - Press, Wolf, *Using the Output Embedding to Improve Language Models*, 2017: one matrix for embedding and generator.
# - Smith, Topin, *Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates*, 2018: a rate that rises and falls in one cycle.

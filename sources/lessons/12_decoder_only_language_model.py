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
# At the end you can build today's kind of language model from its parts, train it, say in bits how good it is, and let it write, with a cache and under control.
#
# {{colab_link}} · about 100 minutes · builds on lessons 05, 07, 08, 09 and 10

# %% tags=["setup"]
import copy
import math
import time

import torch
import torch.nn.functional as F

from course_utils import masks, metrics, plotting, positions, widgets, zoo
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import TEXT, decode_text, encode_text, windows
from course_utils.decoding import generate, sampling_distribution
from course_utils.layers import DecoderOnlyLayer, SwiGLU, rms_norm
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig, count_parameters
from course_utils.multi_head import MultiHeadAttention, merge_heads, repeat_kv, split_heads
from course_utils.training import fit, one_cycle_rate, seed_everything
from course_utils.training.losses import next_symbol_loss
from course_utils.widgets.sampling_playground import NAMES, next_symbol_bars

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors here are small: sharing them out among threads takes longer than the work

# %% [markdown]
# **You will learn to**
#
# 1. say what is left of the encoder-decoder in a decoder-only model, and write its block from RMSNorm, rotary positions, grouped queries and SwiGLU;
# 2. count its parameters, and hold model and parts equal to the library's and PyTorch's;
# 3. train it on text, and compute loss, perplexity and bits per character so that they mean something;
# 4. choose the next token by temperature, top-k and top-p, in the right order;
# 5. generate with a key/value cache, say what it saves, and keep the positions right.
#
# Nearly every part is known. What is new is that so little is needed, and that the model may now *write*.

# %% [markdown]
# ## Predict first
#
# A language model reads a text. Before each character it says how probable it holds every possible one. For the next four characters that really came, it had said 1/2, 1/4, 1/8 and 1/8.
#
# Imagine you must find out each character by yes/no questions, and the model tells you which to ask. A character with probability 1/2 takes one question, one with 1/4 takes two. How many questions does a character take on average? And among how many *equally probable* characters would you need as many questions? Write two numbers down.

# %%
said = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 8])  # what the right characters got
questions = -said.log2()  # (4,)
print(f"questions {questions.tolist()}   on average {questions.mean():.2f} bits per character")
print(f"as many as among {2 ** questions.mean():.2f} equally probable characters")

# %% [markdown]
# The first number is called **bits per character**, the second **perplexity**. Both say the same, and section 12.6 measures a model by them.

# %% [markdown]
# ## 12.1 From encoder-decoder to one stack
#
# The Transformer of lesson 10 has two stacks, because a source and a target are two texts. A language model has one text, and goes on with it. So the encoder is not needed, and neither is cross-attention: nothing is left for it to look at. What remains of the decoder is causal self-attention and a feed-forward network, $N$ times.
#
# A task with source and target can be put into this form too: write both into one text, one after the other, and let the model go on.
#
# **Predict first.** At the same sizes, about what share of the parameters is left?

# %%
sizes = {"num_layers": 6, "d_model": 512, "d_ff": 2048, "num_heads": 8}
with torch.device("meta"):  # shapes without numbers
    both = Transformer(TransformerConfig(1000, 1000, **sizes))
    encoder, decoder = count_parameters(both.encoder_layers), count_parameters(both.decoder_layers)
    cross = sum(count_parameters(layer.cross_attention) for layer in both.decoder_layers)
print(f"encoder {encoder / 1e6:.1f} million   decoder {decoder / 1e6:.1f} million, of these cross-attention {cross / 1e6:.1f} million")
print(f"left: {(decoder - cross) / (encoder + decoder):.0%} of the layers' parameters")

# %% [markdown]
# And each position is trained at once, as the decoder was: given `The cat`, the model is asked at `T` for `h`, at `h` for `e` and so on. Inputs are `ids[:-1]`, labels `ids[1:]`, and the causal mask sees to it that no position has its label in sight.

# %%
ids = encode_text("The cat")
print("given    ", [decode_text(i[None]) for i in ids[:-1]])
print("asked for", [decode_text(i[None]) for i in ids[1:]])

# %% [markdown]
# ## 12.2 RMSNorm, recalled
#
# Lesson 09 built it: each vector $x$ of size $d$ is divided by its root mean square, and each feature $i$ is scaled by a learned $g_i$,
#
# $$\operatorname{RMSNorm}(x)_i = \frac{x_i}{\sqrt{\frac1d \sum_j x_j^2 + \varepsilon}} \; g_i .$$
#
# By hand: $x = (1, 3, 5, 7)$ has the mean square 21. With $\varepsilon = 4$ and $g = 1$ it is divided by 5.

# %%
def rms_norm_loop(x, g, eps):
    out = torch.empty_like(x)
    for row, vector in enumerate(x):
        out[row] = vector / math.sqrt(sum(v.item() ** 2 for v in vector) / len(vector) + eps) * g
    return out


def rms_norm_by_hand(x, g, eps):
    return x / torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * g  # (..., d), the mean (..., 1)


print(rms_norm_by_hand(torch.tensor([1.0, 3.0, 5.0, 7.0]), torch.ones(4), 4.0))
rng = torch.Generator().manual_seed(0)
x, g = torch.randn(5, 12, generator=rng), torch.rand(12, generator=rng)  # (L=5, d_model=12), (d_model,)
for other in (rms_norm_loop, rms_norm, lambda x, g, eps: F.rms_norm(x, (12,), g, eps)):
    assert torch.allclose(rms_norm_by_hand(x, g, 1e-6), other(x, g, 1e-6), atol=1e-6)
print("by hand, loop, course_utils and F.rms_norm agree")

# %% [markdown]
# ## 12.3 Rotary positions and grouped queries, recalled
#
# **Rotary positions** (lesson 08) turn queries and keys by an angle that grows with the position. A score then depends on the distance of the two only. No vector is added to the embeddings.
#
# **Grouped queries** (lesson 07) let $H$ query heads share $H_{kv}$ key/value heads, so that the cache holds $H_{kv}$ heads only. Query head $h$ meets key/value head $\lfloor h \, H_{kv} / H \rfloor$.
#
# Here is the whole attention of such a layer, from its four matrices:

# %%
def attention_by_hand(x, attention):
    H, H_kv, d_head = attention.num_heads, attention.num_kv_heads, attention.d_head
    L = x.shape[1]
    q = split_heads(x @ attention.q_proj.weight.T, H)  # (B, H, L, d_head)
    k = split_heads(x @ attention.k_proj.weight.T, H_kv)  # (B, H_kv, L, d_head)
    v = split_heads(x @ attention.v_proj.weight.T, H_kv)  # (B, H_kv, L, d_head)
    angles = positions.rotary_angles(torch.arange(L), d_head).to(x.dtype)  # (L, d_head / 2)
    q, k = (positions.apply_rope(t, angles.cos(), angles.sin()) for t in (q, k))  # shapes kept; values are not turned
    k, v = repeat_kv(k, H // H_kv), repeat_kv(v, H // H_kv)  # (B, H, L, d_head)
    scores = (q @ k.transpose(-2, -1) / math.sqrt(d_head)).masked_fill(~masks.causal_mask(L), -math.inf)  # (B, H, L, L)
    return merge_heads(scores.softmax(dim=-1) @ v) @ attention.o_proj.weight.T  # (B, L, d_model)


torch.manual_seed(0)
B, L, d_model, H, H_kv = 2, 7, 24, 6, 2
attention = MultiHeadAttention(d_model, H, num_kv_heads=H_kv, bias=False, rotary=positions.RotaryPositions(d_model // H))
x = torch.randn(B, L, d_model)
assert torch.allclose(attention_by_hand(x, attention), attention(x, mask=masks.causal_mask(L)), atol=1e-5)
print("by hand = course_utils, whose work PyTorch's fused kernel does (F.scaled_dot_product_attention, enable_gqa=True)")

# %% [markdown]
# ## 12.4 SwiGLU
#
# The feed-forward network of the paper goes up to $d_{ff}$ features, sets what is negative to zero, and goes down again. Today's goes up **twice**. One branch, the **gate**, passes through a smooth function and decides feature by feature how much of the other branch comes through:
#
# $$\operatorname{SwiGLU}(x) = W_{down} \, \big( \operatorname{SiLU}(W_{gate}\, x) \odot (W_{up}\, x) \big) , \qquad \operatorname{SiLU}(z) = z \, \sigma(z) = \frac{z}{1 + e^{-z}} ,$$
#
# with $x$ of size $d_{model}$, $W_{gate}$ and $W_{up}$ of shape $(d_{ff}, d_{model})$, $W_{down}$ of shape $(d_{model}, d_{ff})$, and $\odot$ the product feature by feature. SiLU is also called Swish, hence the name.
#
# **Predict first.** One feature everywhere, $x = 2$, all three weights 1. And with the weight of the gate $-1$? Is the result 0, as it would be with ReLU?

# %%
def swiglu_loop(x, gate, up, down):
    outputs = []
    for vector in x:  # one position after another
        open_by = [sum(w * v for w, v in zip(row, vector, strict=True)) for row in gate]
        signal = [sum(w * v for w, v in zip(row, vector, strict=True)) for row in up]
        between = torch.stack([z / (1 + torch.exp(-z)) * s for z, s in zip(open_by, signal, strict=True)])  # (d_ff,)
        outputs.append(torch.stack([row @ between for row in down]))  # (d_model,)
    return torch.stack(outputs)  # (L, d_model)


def swiglu_by_hand(x, gate, up, down):
    z = x @ gate.T  # (..., d_ff)
    return (z * z.sigmoid() * (x @ up.T)) @ down.T  # (..., d_model)


one = torch.ones(1, 1)
for weight in (1.0, -1.0):
    print(f"gate weight {weight:4.1f}: {swiglu_by_hand(2 * one, weight * one, one, one).item():.3f}")

# %%
network = SwiGLU(d_model=6, d_ff=10)
x = torch.randn(4, 6, generator=rng)  # (L=4, d_model=6)
matrices = [network.gate_proj.weight, network.up_proj.weight, network.down_proj.weight]
by_pytorch = F.linear(F.silu(F.linear(x, matrices[0])) * F.linear(x, matrices[1]), matrices[2])
for other in (swiglu_loop(x, *matrices), network(x), by_pytorch):
    assert torch.allclose(swiglu_by_hand(x, *matrices), other, atol=1e-6)
print("by hand, loop, course_utils and F.silu agree")

z = torch.linspace(-5, 4, 91)
ax = plotting.curves(z, {"SiLU": F.silu(z), "ReLU": z.relu(), "GELU": F.gelu(z), "sigmoid": z.sigmoid()}, xlabel="z, before the function", ylabel="after the function")
plotting.show(ax, "SiLU, ReLU, GELU and sigmoid. SiLU follows ReLU far from zero, but dips below zero for negative values and is smooth everywhere.")

# %% [markdown]
# *Notice the dip of SiLU below zero: a gate can turn the sign of a little of the signal around, and its slope is zero nowhere but at one point.* With ReLU the features on the negative side would be off, with gradient 0.
#
# **Three matrices instead of two.** To have as many parameters as a ReLU network with $d_{ff} = 4\, d_{model}$, a gated one takes two thirds of that width:

# %%
for d_model in (512, 4096):
    plain, gated = 2 * d_model * 4 * d_model, 3 * d_model * round(8 / 3 * d_model)
    print(f"d_model {d_model}: ReLU network {plain:,} weights   SwiGLU with d_ff = {round(8 / 3 * d_model)} has {gated:,}")

# %% [markdown]
# ## 12.5 The block, the model, and its parameters
#
# Now the block. Pre-norm (lesson 09): each sublayer reads the normalized stream and adds to the stream itself.
#
# $$x \leftarrow x + \operatorname{Attention}(\operatorname{RMSNorm}_1(x)) , \qquad x \leftarrow x + \operatorname{SwiGLU}(\operatorname{RMSNorm}_2(x)) .$$

# %%
def block_by_hand(x, layer):
    norm_1, norm_2, network = layer.attention_norm, layer.feed_forward_norm, layer.feed_forward
    x = x + attention_by_hand(rms_norm_by_hand(x, norm_1.weight, norm_1.eps), layer.self_attention)  # (B, L, d_model)
    matrices = network.gate_proj.weight, network.up_proj.weight, network.down_proj.weight
    return x + swiglu_by_hand(rms_norm_by_hand(x, norm_2.weight, norm_2.eps), *matrices)  # (B, L, d_model)


torch.manual_seed(1)
d_model, d_ff = 24, 40
layer = DecoderOnlyLayer(d_model, H, d_ff, num_kv_heads=H_kv, rotary=positions.RotaryPositions(d_model // H))
x = torch.randn(B, L, d_model)
assert torch.allclose(block_by_hand(x, layer), layer(x, masks.causal_mask(L)), atol=1e-5)
print("the block by hand = DecoderOnlyLayer")

# %% [markdown]
# The model: embedding, $N$ blocks, one last norm (pre-norm needs it: nothing has normalized the sum), and a matrix to the logits of the next token. Often that matrix *is* the embedding's (`tie_embeddings`).

# %%
def model_by_hand(tokens, model):
    x = model.embedding.weight[tokens]  # (B, L, d_model)
    for layer in model.layers:
        x = block_by_hand(x, layer)  # (B, L, d_model)
    return rms_norm_by_hand(x, model.norm.weight, model.norm.eps) @ model.embedding.weight.T  # (B, L, V), tied


V, N = 19, 3
torch.manual_seed(2)
tiny = DecoderLM(DecoderConfig(V, num_layers=N, d_model=d_model, d_ff=d_ff, num_heads=H, num_kv_heads=H_kv, max_len=12))
tokens = torch.randint(0, V, (B, L))  # (B, L)
logits = tiny(tokens)  # (B, L, V)
assert torch.allclose(model_by_hand(tokens, tiny), logits, atol=1e-5)

changed = tokens.clone()
changed[:, 4:] = (changed[:, 4:] + 1) % V  # another future, from position 4 on
moved = (tiny(changed) - logits).abs().amax(dim=(0, 2)) > 1e-6  # (L,)
print("positions whose logits move when tokens 4, 5 and 6 change:", moved.nonzero().flatten().tolist())

# %% [markdown]
# The model by hand equals `DecoderLM`, and the past does not notice the future. The course's tests hold `DecoderLM` equal to Hugging Face's `LlamaForCausalLM` with the same weights, whole and piece by piece with a cache.
#
# **Parameters, counted by hand.** A block has the projections of queries and output, $2\, d^2$; of keys and values, $2\, d\, H_{kv}\, d_{head}$; three matrices of the network, $3\, d\, d_{ff}$; and two norms, $2\, d$. The model adds the embedding, $V d$, and the last norm, $d$.

# %%
def count_by_hand(V, N, d, d_ff, H, H_kv):
    block = 2 * d * d + 2 * d * H_kv * (d // H) + 3 * d * d_ff + 2 * d
    return V * d + N * block + d


assert count_by_hand(V, N, d_model, d_ff, H, H_kv) == count_parameters(tiny)
print(f"this model: {count_parameters(tiny):,}, by hand and by code")
llama = count_by_hand(32_000, 32, 4096, 11_008, 32, 32) + 32_000 * 4096  # its output matrix is not tied
print(f"the same formula for the sizes of Llama 7B: {llama:,}")

# %% [markdown]
# That is where the 7 in "7B" comes from (the paper says 6.7 billion).

# %% [markdown]
# ## 12.6 A text, and three ways to know nothing
#
# The text is the one that every Python carries: its own language reference. We take it character by character. The vocabulary is then tiny, nothing has to be installed, and no word is unknown. The last tenth is held out.

# %% tags=["nbval-ignore-output"]
train_text, held_out_text = documentation_split()
train_ids, held_out = encode_text(train_text), encode_text(held_out_text)  # (N,), (N_held_out,)
print(f"{len(train_ids):,} characters to train on, {len(held_out):,} held out; vocabulary {len(TEXT)}")
print(train_text[2000:2300])

# %% [markdown]
# **How good is a model?** Let $p(c_t \mid c_{<t})$ be the probability that it gave to the character $c_t$ that really came, after all those before. Over $T$ characters
#
# $$\text{loss} = -\frac1T \sum_{t=1}^{T} \ln p(c_t \mid c_{<t}) , \qquad \text{perplexity} = e^{\text{loss}} , \qquad \text{bits per character} = \frac{\text{loss}}{\ln 2} .$$
#
# All three are the same measure on three scales; lower is better. A number alone says little, so we first measure three models that know (almost) nothing:
#
# - **uniform**: every symbol of the vocabulary is equally probable, so it takes $\log_2 V$ bits;
# - **frequencies**: each character has its share of the training text;
# - **pairs**: each character given the one before it, counted in the training text.
#
# **Predict first.** How many bits does each save over the one before?

# %% tags=["nbval-ignore-output"]
V = len(TEXT)
single = torch.bincount(train_ids, minlength=V) + 1.0  # (V,); one more each, or what was never seen would have probability 0
pairs = torch.bincount(train_ids[:-1] * V + train_ids[1:], minlength=V * V).view(V, V) + 0.1  # (V, V), row: the one before
log_single, log_pairs = (single / single.sum()).log(), (pairs / pairs.sum(-1, keepdim=True)).log()
baselines = {
    "uniform": math.log2(V),
    "frequencies": -log_single[held_out].mean().item() / math.log(2),
    "pairs": -log_pairs[held_out[:-1], held_out[1:]].mean().item() / math.log(2),
}
for name, bits in baselines.items():
    print(f"{name:12} {bits:.2f} bits per character   perplexity {2**bits:5.1f}")
assert baselines["uniform"] > baselines["frequencies"] + 1 > baselines["pairs"] + 1.5

# %% [markdown]
# Whoever knows only how often each letter occurs saves more than a bit. One character of memory saves another one or so. A language model has all the characters before. It should do better than the last line, or it has learned nothing worth its parameters.

# %% [markdown]
# ## 12.7 Trained live
#
# A model of two blocks, in windows of 128 characters. It takes about 10 to 20 seconds. First, what it says before training:

# %% tags=["nbval-ignore-output"]
seed_everything(0)
small = DecoderLM(DecoderConfig(V, num_layers=2, d_model=128, d_ff=344, num_heads=4, num_kv_heads=2, max_len=512)).eval()
first = text_scores(small, encode_text("The initial weights are random numbers. " * 12), length=128)
before = generate(small, encode_text("The ")[None], max_new_tokens=60, generator=torch.Generator().manual_seed(0))
print(f"{count_parameters(small):,} parameters; before training {first['bits']:.1f} bits; guessing evenly takes {math.log2(V):.1f}")
print(repr(decode_text(before[0])))
assert abs(first["bits"] - math.log2(V)) < 0.5

# %% tags=["nbval-ignore-output"]
WINDOW, STEPS, EPOCHS = 128, 240, 6


def batches(epoch):
    return windows(train_ids, WINDOW, 8, seed=epoch)[: STEPS // EPOCHS]  # each (8, WINDOW + 1)


history = fit(
    small, batches, next_symbol_loss, epochs=EPOCHS, rate=lambda step: one_cycle_rate(step, STEPS, 5e-3),
    validate=lambda model: text_scores(model, held_out[:4000], length=WINDOW)["loss"],
)
after_training = text_scores(small, held_out, length=WINDOW)
print({name: round(value, 2) for name, value in after_training.items()}, f"after {STEPS * 8 * WINDOW:,} of the {len(train_ids):,} characters")
assert after_training["bits"] < baselines["pairs"] - 0.1

# %% [markdown]
# It beats the pairs. What does it write now?

# %% tags=["nbval-ignore-output"]
sample = generate(small, encode_text("The ")[None], max_new_tokens=250, temperature=0.7, generator=torch.Generator().manual_seed(0))
print(decode_text(sample[0]))

# %% [markdown]
# Words, almost words, brackets, line breaks at plausible places: the sound of the text, and no sense. It has read fewer characters than the text has, as the last cell but one says.

# %% [markdown]
# ## 12.8 Trained longer
#
# The course ships a larger model that was trained for longer on the same text, by `python -m course_utils.zoo train documentation`. Its card is `course_utils/zoo/data/documentation.md`, and its file holds the log of every epoch:

# %% tags=["nbval-ignore-output"]
model = zoo.load("language_model")
log = zoo.training_of("language_model")
print(f"{count_parameters(model):,} parameters, {log['epochs']} epochs, {log['minutes']} minutes on one core")
epochs = torch.arange(1, len(log["losses"]) + 1)
bits = {"training (with dropout)": torch.tensor(log["losses"]) / math.log(2), "held out": torch.tensor(log["scores"]) / math.log(2)}
ax = plotting.curves(epochs, bits | {"pairs, on this page": torch.full((len(epochs),), baselines["pairs"])}, xlabel="epoch", ylabel="bits per character")
ax.set_ylim(bottom=0)
plotting.show(ax, "Bits per character by epoch. Both curves of the model fall far below the line of the pairs; at the end the held-out one is nearly flat.")

# %% [markdown]
# *Notice how early the curves pass the line of the pairs, and how flat the curve of the held-out text is at the end: what training still gains there is no longer of use for other text.* Now the same measure for all, on the held-out text:

# %% tags=["nbval-ignore-output"]
shipped = text_scores(model, held_out)
rows = baselines | {"trained live": after_training["bits"], "shipped": shipped["bits"]}
for name, value in rows.items():
    print(f"{name:14} {value:.2f} bits per character   perplexity {2**value:6.2f}")
assert shipped["bits"] < after_training["bits"] - 0.3

# %% [markdown]
# **Is held-out text really unseen?** Manuals repeat themselves. Count the stretches of 50 characters of the held-out text that stand in the training text, word for word:

# %% tags=["nbval-ignore-output"]
size = 50
seen = {train_text[i : i + size] for i in range(len(train_text) - size + 1)}
stretches = [held_out_text[i : i + size] for i in range(len(held_out_text) - size + 1)]
share = sum(stretch in seen for stretch in stretches) / len(stretches)
print(f"{share:.0%} of the held-out stretches of {size} characters occur in the training text")
assert 0.02 < share < 0.3

# %% [markdown]
# That much of the test can be answered by memory, which flatters every model that has some. It is one reason why figures of language models from different texts (or different splits) cannot be compared. The split is stated in the card; a figure without its split means little.
#
# ### Perplexity over batches of unequal size
#
# Text comes in batches, and the last one is often smaller. **Predict first**: a batch of nine characters, each predicted with probability 1/2, and a batch of one character with probability 1/32. Is the perplexity of the ten characters about 2.6, 8 or 17?

# %%
losses = [torch.full((9,), math.log(2)), torch.full((1,), math.log(32))]  # -ln p of each character, batch by batch
total, number = sum(x.sum().item() for x in losses), sum(len(x) for x in losses)
print(f"total loss over all characters, exp once     {metrics.perplexity(total, number):5.2f}")
print(f"exp of the mean of the batches' mean losses  {math.exp(sum(x.mean().item() for x in losses) / 2):5.2f}   wrong")
print(f"mean of the batches' perplexities            {sum(x.mean().exp().item() for x in losses) / 2:5.2f}   wrong")
bits_by_hand = (9 * 1 + 1 * 5) / 10  # nine times one question, once five
assert math.isclose(metrics.perplexity(total, number), 2**bits_by_hand, rel_tol=1e-6)
assert math.isclose(metrics.bits_per_symbol(total, number), bits_by_hand, rel_tol=1e-6)

# %% [markdown]
# Only the first is a property of the text and the model. The other two change when somebody changes the batch size. Add up losses and numbers, divide once, take `exp` once.

# %% [markdown]
# ## 12.9 Which token next? Temperature, top-k, top-p
#
# The model gives logits $z_i$, one for each symbol. To write, one symbol must be chosen. Always the most probable one (**greedy**)? Or drawn at random? Three settings lie in between, applied **in this order**:
#
# 1. **Temperature** $T$: $p_i = \operatorname{softmax}(z / T)_i$. Below 1 the large get larger; above 1 all become more alike. $T \to 0$ is greedy, and $T = 0$ is defined as greedy.
# 2. **Top-k**: only the $k$ most probable symbols stay; renormalize.
# 3. **Top-p** (nucleus sampling): of these, the fewest most probable ones that reach the probability $p$ together stay. The one that crosses the line is kept. Renormalize.
#
# By hand, on the probabilities 0.5, 0.3, 0.15, 0.05:

# %%
def sampling_by_hand(logits, temperature=1.0, top_k=None, top_p=None):
    order = sorted(range(len(logits)), key=lambda i: -logits[i].item())  # most probable first
    order = order[:1] if temperature == 0 else order[:top_k]
    weights = [math.exp((logits[i] - logits[order[0]]).item() / (temperature or 1.0)) for i in order]
    kept, so_far = [], 0.0
    for weight in weights:
        if kept and so_far >= (1.0 if top_p is None else top_p):
            break  # those before have reached top_p already
        kept.append(weight)
        so_far += weight / sum(weights)
    probs = torch.zeros(len(logits))
    for i, weight in zip(order, kept, strict=False):
        probs[i] = weight / sum(kept)
    return probs


logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()  # (V=4,)
for settings in ({}, {"temperature": 0.5}, {"temperature": 2.0}, {"top_k": 2}, {"top_p": 0.6}, {"top_k": 3, "top_p": 0.83}, {"temperature": 0}):
    probs = sampling_distribution(logits, **settings)
    assert torch.allclose(probs, sampling_by_hand(logits, **settings), atol=1e-6)
    print(f"{settings!s:32} {[round(p, 3) for p in probs.tolist()]}")

# %% [markdown]
# Look at the last but one line: without top-k, 0.83 takes three symbols. After top-k the three are renormalized, the first two have 0.84 together, and the third falls. That is why the order must be stated: another order is another distribution.
#
# Vectorized: sort; a slice does top-k; a running sum does top-p; `scatter` puts everything back in place.

# %%
def sampling_vectorized(logits, temperature, top_k, top_p):
    scores, ids = (logits / temperature).sort(dim=-1, descending=True, stable=True)  # (B, V), most probable first
    scores[..., top_k:] = -math.inf
    probs = scores.softmax(dim=-1)  # (B, V), renormalized
    out = probs.cumsum(dim=-1) - probs >= top_p  # (B, V): those BEFORE it reach top_p already
    out[..., 0] = False  # the most probable one always stays
    probs = probs.masked_fill(out, 0.0)
    return torch.zeros_like(probs).scatter(-1, ids, probs / probs.sum(dim=-1, keepdim=True))  # (B, V), by id


several = 2 * torch.randn(3, 11, generator=rng)  # (B=3, V=11)
assert torch.allclose(sampling_vectorized(several, 0.8, 6, 0.9), sampling_distribution(several, temperature=0.8, top_k=6, top_p=0.9), atol=1e-6)
print("vectorized = course_utils")

# %% [markdown]
# Now the real model: after `The ` at the beginning of a sentence, which characters can come? Each figure shows the sixteen most probable ones. Outlines: what the temperature makes of them. Filled: what can be drawn.

# %% tags=["nbval-ignore-output"]
with torch.no_grad():
    logits = model(encode_text("\n\nThe ")[None])[0, -1]  # (V,)
top = logits.argsort(descending=True)[:16]  # (16,)
names = [NAMES.get(TEXT.symbols[i], TEXT.symbols[i]) for i in top.tolist()]
for settings in ({"temperature": 0.5}, {"temperature": 1.0, "top_k": 5}, {"temperature": 1.0, "top_p": 0.8}, {"temperature": 2.0}):
    plain = sampling_distribution(logits, temperature=settings["temperature"])
    final = sampling_distribution(logits, **settings)
    title = ", ".join(f"{name} {value}" for name, value in settings.items())
    ax = next_symbol_bars(names, plain[top], final[top], ax=plotting.new_axes(8.0, 2.0), title=f"{title}: {int((final > 0).sum())} characters left")
    plotting.show(ax, f"Bars of the sixteen most probable characters with {title}.")

# %% [markdown]
# *Notice that temperature rules nothing out: the tail gets smaller or larger, but it stays. Top-k cuts after a fixed number, top-p after a fixed probability: how many that leaves depends on how sure the model is.* In the middle of a word, top-p may leave a single character where top-k = 5 still offers five.

# %% tags=["nbval-ignore-output"]
prompt = encode_text("The following ")[None]  # (1, L)
for settings in ({"temperature": 0.0}, {"temperature": 0.5}, {"temperature": 1.0}, {"temperature": 1.0, "top_p": 0.9}, {"temperature": 1.6}):
    text = generate(model, prompt, max_new_tokens=110, generator=torch.Generator().manual_seed(1), **settings)
    print(f"{settings!s:36} {decode_text(text[0])!r}")

# %% [markdown]
# **Why not always greedy?** Every single choice is the best one, and the text is not: after a while it runs in circles. Measure it: which share of the stretches of 20 characters stood in the same text before?

# %% tags=["nbval-ignore-output"]
def repeated(text, size=20):
    stretches = [text[i : i + size] for i in range(len(text) - size + 1)]
    return 1 - len(set(stretches)) / len(stretches)


shares = {}
for name, settings in (("greedy", {"temperature": 0.0}), ("temperature 1", {}), ("top-p 0.9", {"top_p": 0.9})):
    text = decode_text(generate(model, encode_text("A function is ")[None], max_new_tokens=230, generator=torch.Generator().manual_seed(2), **settings)[0])
    shares[name] = repeated(text)
    print(f"{name:14} {shares[name]:.0%} repeated   ... {text[-60:]!r}")
assert shares["greedy"] > shares["temperature 1"] + 0.1

# %% [markdown]
# ## 12.10 Generation with a cache
#
# The plain loop feeds the whole text at every step, and throws away all logits but the last. With a cache (lesson 07) each layer keeps its keys and values. Then:
#
# 1. **prefill**: feed the prompt once; this fills the cache, and its last logits give the first new token;
# 2. **step**: feed the newest token alone; its query meets all kept keys.

# %%
@torch.no_grad()
def write(model, prompt, new, use_cache):
    cache = model.start_cache(len(prompt), prompt.shape[1] + new) if use_cache else None
    tokens, fed = prompt, prompt  # (B, L)
    for _ in range(new):
        logits = model(fed, cache=cache)[:, -1]  # (B, V), after the last position
        token = logits.argmax(dim=-1, keepdim=True)  # (B, 1), greedy
        tokens = torch.cat((tokens, token), dim=1)  # (B, L + 1, then one more each time)
        fed = token if use_cache else tokens
    return tokens


prompt = encode_text("A function is ")[None]  # (1, L)
with_cache, without = write(model, prompt, 120, True), write(model, prompt, 120, False)
assert torch.equal(with_cache, without)
assert torch.equal(with_cache, generate(model, prompt, max_new_tokens=120, temperature=0))
assert torch.equal(with_cache, generate(model, prompt, max_new_tokens=120, temperature=0, use_cache=False))
print("with the cache, without it, and course_utils: the same", with_cache.shape[1] - prompt.shape[1], "new tokens")

# %% [markdown]
# **What it saves.** One position costs each weight matrix one multiplication per entry: about $P$ multiplications for $P$ parameters in matrices. Its query meets every key, and every value is weighed: $2 L d$ multiplications in each of $N$ layers, with $d$ = `d_model`.
#
# | | positions computed | multiplications |
# |---|---|---|
# | one step without a cache | $L$ | about $L P + N L^2 d$ (causal: half of the $L^2$ pairs, twice $d$) |
# | one step with a cache | 1 | $P + 2 N L d$ |
#
# One step at length $L$ costs about $L$ times less with the cache. A whole text of $L$ tokens costs $L^2$ positions without it and $L$ with it.

# %%
c = model.config
P = sum(p.numel() for name, p in model.named_parameters() if p.dim() == 2)  # the tied embedding is the output matrix
print(f"P = {P:,}; multiplications of one step, in millions")
for length in (16, 64, 256, 1024):
    plain = length * P + c.num_layers * length**2 * c.d_model
    cached = P + 2 * c.num_layers * length * c.d_model
    print(f"L = {length:4}   without {plain / 1e6:8.1f}   with {cached / 1e6:5.2f}   ratio {plain / cached:5.0f}")

# %% [markdown]
# And the clock? Whole texts this time. On a small model much of a step is spent on things that do not shrink, such as calling Python functions, so the gain is smaller than the count says:

# %% tags=["nbval-ignore-output"]
lengths, seconds = (32, 64, 128, 256), {"without cache": [], "with cache": []}
for new in lengths:
    for name, use_cache in (("without cache", False), ("with cache", True)):
        start = time.perf_counter()
        write(model, prompt, new, use_cache)
        seconds[name].append(time.perf_counter() - start)
    print(f"{new:4} new tokens: without {seconds['without cache'][-1]:.2f} s   with {seconds['with cache'][-1]:.2f} s   {seconds['without cache'][-1] / seconds['with cache'][-1]:.1f} times faster")
ax = plotting.curves(torch.tensor(lengths), {name: torch.tensor(s) for name, s in seconds.items()}, xlabel="new tokens", ylabel="seconds")
plotting.show(ax, "Seconds by number of new tokens: nearly a straight line with the cache, bending upward without it.")
assert seconds["without cache"][-1] > 1.3 * seconds["with cache"][-1]

# %% [markdown]
# *Notice the shape: with the cache nearly a straight line, without it a curve that bends upward.* The price is memory: the cache's size, by the formula of lesson 07, is 2 (keys and values) times layers, $H_{kv}$, positions, $d_{head}$ and bytes.

# %%
cache = model.start_cache(1, c.max_len)
by_formula = 2 * c.num_layers * c.num_kv_heads * c.max_len * (c.d_model // c.num_heads) * 4  # float32: 4 bytes
assert sum(layer.num_bytes for layer in cache) == by_formula
print(f"{by_formula / 1e6:.1f} MB for {c.max_len} positions; with {c.num_heads} key/value heads it would be {by_formula * c.num_heads / c.num_kv_heads / 1e6:.1f} MB")

# %% [markdown]
# ## 12.11 Rotary positions with a cache: the offset
#
# The cached keys were turned when they were written, each to its own position. A new token that is fed alone is the *only* one in its call. Its position is not 0 but the number of tokens in the cache, the **offset**. The model takes it from `cache.length`.
#
# **Predict first.** Suppose that the positions restart at 0 in every call. The prefill comes out right. What does the second new token see wrong?

# %%
class Restarting(positions.RotaryPositions):
    """The same angles, but whatever the cache holds, the first token of a call is at position 0."""

    def forward(self, x, start=0):
        return super().forward(x, start=0)


broken = copy.deepcopy(model)
for layer in broken.layers:
    layer.self_attention.rotary = Restarting(c.d_model // c.num_heads, base=c.rope_base, max_len=c.max_len)

text = with_cache[:, :40]  # (1, 40), in one piece and then token by token
with torch.no_grad():
    whole = model(text)  # (1, 40, V)
    for name, net in (("offset from the cache", model), ("restarted at 0", broken)):
        cache = net.start_cache(1, 40)
        steps = torch.cat([net(piece, cache=cache) for piece in text.split([20] + [1] * 20, dim=1)], dim=1)  # (1, 40, V)
        gap = (steps - whole).abs().amax(dim=(0, 2))  # (40,)
        right = gap[20:].max() < 1e-3
        print(f"{name:22} prefill equal: {bool(gap[:20].max() < 1e-3)}   steps equal: {bool(right)}")
        assert gap[:20].max() < 1e-3 and (right if net is model else gap[20:].max() > 1)

# %% [markdown]
# To the broken model every new token stands at position 0, *before* its whole past. Distances are negative, and in training there was no such thing. It still writes:

# %% tags=["nbval-ignore-output"]
for name, net in (("right", model), ("restarted", broken)):
    print(f"{name:10} {decode_text(write(net, prompt, 80, True)[0])!r}")
wrong = write(broken, prompt, 80, True)
assert not torch.equal(wrong, with_cache[:, : wrong.shape[1]])

# %% [markdown]
# How you would notice: compare cached with uncached logits, as above. The loss in training does not show it, because training uses no cache. Exercise 12.6 is this bug.

# %% [markdown]
# ## Look
#
# A playground: choose or type a prompt, and move the sliders. Outlines are the probabilities after the temperature, filled bars what can be drawn. Below stands a continuation; it is drawn with the same random numbers each time, so that what changes is due to the settings.

# %% tags=["nbval-ignore-output"]
playground = widgets.sampling_playground(model, ["The following ", "class Point:\n    def __init__(self", "Changed in version 3.", "If the argument is "])
playground.show_first_state("Bars of the probabilities of the twelve most probable next characters after the prompt, all filled, and below a continuation of thirty characters.")

# %% [markdown]
# *Notice that all 99 symbols can be drawn, though most bars are too small to see: at temperature 1, without a cut, the tail has its say.* Try: temperature 2, then top-p down to 0.5. Temperature 0. The prompt `Changed in version 3.`: how sure is the model, and what is left with top-p = 0.9? A prompt in another language.

# %%
playground

# %% [markdown]
# ## What goes wrong
#
# **Top-p drops the token that crosses the line.** With the running sum *including* the token, `cumsum > top_p`, less is kept than asked for, and if the first token alone crosses the line, nothing is left: 0 / 0.

# %%
probs = torch.tensor([0.7, 0.2, 0.1])  # sorted already
for top_p in (0.8, 0.5):
    dropped = probs.masked_fill(probs.cumsum(-1) > top_p, 0.0)
    print(f"top_p {top_p}: dropped {dropped / dropped.sum()}   right {sampling_distribution(probs.log(), top_p=top_p)}")

# %% [markdown]
# How you would notice: NaN, if you are lucky. Test it where the model is sure.
#
# **The temperature divides the probabilities.** After renormalizing, nothing has changed. How you would notice: the slider does nothing.

# %%
for T in (0.5, 2.0):
    after = probs / T
    print(f"T = {T}: probabilities divided {after / after.sum()}   logits divided {sampling_distribution(probs.log(), temperature=T)}")

# %% [markdown]
# **The whole text is fed at each cached step.** Then the cache holds the prompt twice, at positions that it does not have. A cache with just enough room notices:

# %%
cache = tiny.eval().start_cache(2, L)
with torch.no_grad():
    tiny(tokens[:, :5], cache=cache)
    try:
        tiny(tokens[:, :6], cache=cache)  # meant: the one new token, tokens[:, 5:6]
    except ValueError as error:
        print(error)

# %% [markdown]
# **Longer than in training.** The shipped model was trained in windows of 256 characters, and has room for 1,024 positions. Room is not knowledge: distances above 255 never came up. We compare its loss on the same text, read in windows of 256 and of 1,024 characters. More to look back at should make the prediction *better*.

# %% tags=["nbval-ignore-output"]
part = held_out[:20_000]
by_length = {length: text_scores(model, part, length=length, batch_size=8)["bits"] for length in (64, 256, 1024)}
for length, value in by_length.items():
    print(f"windows of {length:4} characters: {value:.2f} bits per character")
assert by_length[256] < by_length[64] - 0.02 and by_length[1024] > by_length[256] + 0.2

# %% [markdown]
# From 64 to 256 it gets better, from 256 to 1,024 much worse. Rotary positions turn by angles that the weights have never met (lesson 08 measured the same on a small task). How you would notice: the text is fine at first and falls apart after a few hundred characters. That is why the samples on this page are short. Published models are trained once more on long texts, with a larger base of the angles, before they are given long texts.

# %% [markdown]
# ## In practice
#
# | model | norm | positions | query / key-value heads | network | vocabulary | source |
# |---|---|---|---|---|---|---|
# | Transformer, base | LayerNorm, after | sinusoidal | 8 / 8 | ReLU | about 37,000 | Vaswani et al. 2017, sections 3, 5.1 |
# | GPT-2 | LayerNorm, before | learned | as many of both | GELU (Radford et al. 2018, section 4.1) | 50,257 | Radford et al. 2019, section 2.3 |
# | Llama 7B | RMSNorm, before | RoPE | 32 / 32 | SwiGLU | 32,000 | Touvron et al. 2023a, section 2, table 2 |
# | Llama 2 70B | RMSNorm, before | RoPE | 64 / 8 | SwiGLU | 32,000 | Touvron et al. 2023b, section 2.2, table 1 |
# | Llama 3 8B | RMSNorm, before | RoPE, base 500,000 | 32 / 8 | SwiGLU | 128,000 | Llama Team 2024, section 3.2, table 3 |
# | Mistral 7B | RMSNorm, before | RoPE, window of 4,096 | 32 / 8 | SwiGLU | 32,000 | Jiang et al. 2023, section 2, table 1 |
# | Qwen2.5 7B | RMSNorm, before | RoPE | 28 / 4, biases on q, k, v | SwiGLU | about 151,600 | Qwen Team 2024, section 2, table 1 |
# | Gemma 2B | RMSNorm, before | RoPE | 8 / 1 | GeGLU (GELU as the gate) | 256,128 | Gemma Team 2024, section 2, table 1 |
#
# Reading down, the parts of this lesson came in one after another; the rows since 2023 differ little. (Numbers of heads that a paper does not print are those of the published configuration.)
#
# - **Tokens.** Published models use pieces of words, tens of thousands of them. Their perplexity is per *piece*, and cannot be compared with a perplexity per character. Bits per character (or byte) can: divide the total by the number of characters.
# - **Prefill and steps** are different loads: prefill computes many positions at once and is limited by arithmetic; a step reads all weights and the whole cache for one position and is limited by memory traffic. So servers batch many users' steps together.
# - **Names.** `temperature`, `top_k`, `top_p` are called so nearly everywhere, but the order is not the same everywhere: read the documentation. `max_new_tokens`, `use_cache`, `past_key_values` (Hugging Face) are what they sound like. $d_{ff}$ is `intermediate_size`, $H_{kv}$ is `num_key_value_heads`.
# - **Half precision.** Weights and cache in bfloat16, softmax and norms in float32.

# %% [markdown]
# ## Recap
#
# 1. **The block**: pre-norm with RMSNorm, causal grouped-query attention with rotary positions, SwiGLU. No encoder, no cross-attention, no biases. You have written it by hand, and it equals `DecoderOnlyLayer`.
# 2. **Parameters**: $V d + N (2 d^2 + 2 d H_{kv} d_{head} + 3 d\, d_{ff} + 2 d) + d$ with tied embeddings.
# 3. **Measures**: loss in nats, perplexity $e^{\text{loss}}$, bits loss / ln 2; totals first, one division, one `exp`. Beside them: a uniform guess, frequencies, pairs, and what share of the held-out text was seen.
# 4. **Choosing**: temperature on the logits, then top-k, then top-p with the crossing token kept. Greedy repeats itself.
# 5. **Cache**: prefill once, then one token a step, at the offset `cache.length`. Same tokens, and a step costs about $L$ times less.
#
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
# <details><summary>3. Why has a SwiGLU network of the same d_ff more parameters than a ReLU network, and what is done about it?</summary>
#
# **It has three matrices instead of two; so d_ff is made two thirds as wide.** (Not because of SiLU, which has no parameters.)
# </details>
#
# <details><summary>4. Top-k = 5 or top-p = 0.9: which of them can leave a single token, and when?</summary>
#
# **Top-p, when the model gives one token at least 0.9.** Top-k always leaves five, however improbable the fifth is. (Top-k = 1 leaves one too, but then always.)
# </details>
#
# <details><summary>5. Cached and uncached generation give different texts. The prefill's logits agree. Name two suspects.</summary>
#
# **The positions of the steps (restarted instead of offset), and what is fed (the whole text, or a token twice).** A mask that is aligned top-left would be a third, if several tokens are fed at once (lesson 05). Not a suspect: the random numbers, if greedy was used. And differences of 1e-6 in the logits are rounding; they change the text only at a near tie.
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Radford et al., *Language Models are Unsupervised Multitask Learners* (GPT-2), 2019, section 2.3: one causal stack, pre-norm, and how it is initialized.
# - Touvron et al., *LLaMA: Open and Efficient Foundation Language Models*, 2023a, section 2.2: the block of this lesson; *Llama 2*, 2023b, section 2.2: grouped queries.
# - Llama Team, *The Llama 3 Herd of Models*, 2024, section 3.2. Jiang et al., *Mistral 7B*, 2023, section 2. Qwen Team, *Qwen2.5 Technical Report*, 2024, section 2. Gemma Team, *Gemma: Open Models Based on Gemini Research and Technology*, 2024, section 2.
# - Zhang, Sennrich, *Root Mean Square Layer Normalization*, 2019, equation 4. Su et al., *RoFormer*, 2021, section 3.2. Ainslie et al., *GQA*, 2023, section 2.2.
# - Shazeer, *GLU Variants Improve Transformer*, 2020, section 2: SwiGLU and its relatives, measured.
# - Fan et al., *Hierarchical Neural Story Generation*, 2018, section 5.4: top-k. Holtzman et al., *The Curious Case of Neural Text Degeneration*, 2020, section 3: top-p, and why greedy text repeats itself.
# - Shannon, *Prediction and Entropy of Printed English*, 1951: bits per letter, measured by letting people guess.

# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07 · Multi-query and grouped-query attention
#
# By the end you can generate with a key/value cache, say how many bytes it takes, and shrink it by letting heads share keys and values.
#
# {{colab_link}} · about 105 minutes · builds on lessons 05 and 06

# %% tags=["setup"]
import sys
import timeit

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from tqdm import tqdm

from course_utils import attention, diagrams, masks, multi_head
from course_utils import plotting, pretrained, widgets
from course_utils.datasets.text_windows import decode_text, encode_text
from course_utils.decoding import generate
from course_utils.kv_cache import KVCache
from course_utils.multi_head import MultiHeadAttention
from course_utils.results import read_rows
from course_utils.small_models import lookups
from course_utils.widgets.cache_calculator import MODELS

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # the tensors here are small: more threads would wait

# %% [markdown]
# **You will learn to**
#
# 1. say what a model computes again and again when it writes, and keep it in a cache;
# 2. show that writing with the cache gives exactly what writing without it gives;
# 3. compute the size of a cache in bytes, and compare it with the weights and with one GPU;
# 4. let query heads share keys and values, and say what that saves, what it doesn't, and what it costs;
# 5. convert a trained multi-head layer into one that shares.
#
# In lesson 06 every head had queries, keys and values of its own. That's fine for training. This lesson is about what it costs when a model *writes*.

# %% [markdown]
# ## Predict first
#
# A language model writes one token at a time. Each new token is appended, and the sequence so far goes through the model again. An attention layer computes one key for every token that goes in. Say the model reads 1 token, then 2, and so on up to 6.

# %%
widgets.predict(
    "7.1",
    "Reading 1, 2, ... 6 tokens: how many keys does one layer compute altogether?",
    between=(0, 40),
    step=1,
)

# %% [markdown]
# ## 7.1 What is computed again
#
# By hand: $1 + 2 + 3 + 4 + 5 + 6 = 21$ keys. Only 6 of them are new; each of the others was computed before, from the same token. Here is the same count as a picture. The seventh word is written, but never read.

# %%
words = ["the", "red", "apple", "fell", "down", "and", "rolled"]
plotting.show(diagrams.cache_strip(words, prompt=1, cached=False))
widgets.came_out("7.1", sum(range(1, 7)))

# %% [markdown]
# *Notice the triangle: every row computes again what the row above it had already.* Now a real model. The course comes with a small language model that has read Python's documentation (lesson 12 trains it). Let it continue a sentence, and count the keys that its first layer makes.

# %%
writer = pretrained.load("language_model").requires_grad_(False)
prompt = encode_text("A function is ")[None]  # (B=1, L=14): one token per character


def keys_made(use_cache, new_tokens=60):
    made = []
    count = writer.layers[0].self_attention.k_proj.register_forward_hook(
        lambda module, inputs, keys: made.append(keys.shape[1])
    )
    options = {"temperature": 0.0, "use_cache": use_cache}
    text = generate(writer, prompt, max_new_tokens=new_tokens, **options)
    count.remove()
    return text, sum(made)

# %% tags=["nbval-ignore-output"]
again, made_again = keys_made(use_cache=False)
print(repr(decode_text(again[0])))
print(f"{again.shape[1]} characters, {made_again:,} keys computed in one layer")

# %% [markdown]
# Why may we keep the old ones? In the first layer a key depends on its own token alone. In the second it depends on what the first layer's attention put together, and that reads *other* positions.

# %%
widgets.predict(
    "7.2",
    "Two layers, five tokens, then a sixth is appended. Which outputs change?",
    choices=[
        "none of the first five, with or without a causal mask",
        "none with a causal mask, all without",
        "all of them, with or without a causal mask",
    ],
)

# %%
torch.manual_seed(1)
stack = nn.ModuleList(MultiHeadAttention(16, 4) for _ in range(2)).requires_grad_(False)
tokens = torch.randn(1, 6, 16)  # (B=1, L=6, d_model=16)


def run(x, causal):
    for layer in stack:
        mask = masks.causal_mask(x.shape[1]) if causal else None  # (1, 1, L, L)
        x = x + layer(x, mask=mask)  # (B, L, d_model)
    return x

# %%
for causal in (True, False):
    before, after = run(tokens[:, :5], causal), run(tokens, causal)[:, :5]
    moved = (after - before).abs().amax(dim=(0, 2)) > 1e-4  # (5,)
    print(f"causal {causal!s:5}   moved: {moved.tolist()}")
widgets.came_out("7.2", "none with a causal mask, all without")

# %% [markdown]
# With a causal mask nothing that comes later can change what an earlier position computes, in any layer. So its keys and values can be **kept**. Without the mask every one of them would be stale after each token: an encoder can't use such a cache.
#
# And the old *queries*? A query is used once, in the row of its own position, and that row is done. That's why the thing is called a key/value cache.

# %% [markdown]
# ## 7.2 A cache
#
# Each step now computes the keys and values of the new position, and keeps them beside the others:

# %%
plotting.show(diagrams.cache_strip(words, prompt=2, cached=True))

# %% [markdown]
# *Notice the first step: the whole prompt goes in at once (that's called **prefill**). From then on it's one position per step (**decode**).*
#
# By hand, with one head of size 1. The keys 2 and 5 are kept, and a new position brings the key 7. The form that comes to mind first joins them:

# %%
class JoinedCache:
    def __init__(self):
        self.keys = self.values = None

    def update(self, key, value):
        # key, value (B, H_kv, L_new, d_head) -> all so far (B, H_kv, length, d_head)
        if self.keys is not None:
            key = torch.cat([self.keys, key], dim=2)
            value = torch.cat([self.values, value], dim=2)
        self.keys, self.values = key, value
        return key, value

# %%
cache = JoinedCache()
for new in ([2.0, 5.0], [7.0]):
    one = torch.tensor(new).view(1, 1, -1, 1)  # (B=1, H_kv=1, L_new, d_head=1)
    keys, values = cache.update(one, one)
    print("new", new, "  kept", keys.flatten().tolist())

# %% [markdown]
# `H_kv` counts the heads of keys and values; so far it equals `H`. Joining copies everything at every step. The better form sets aside room once, for the longest text it will see, and writes each new position behind the others: `[2, 5, 0, 0]` becomes `[2, 5, 7, 0]`, and what it hands back is `[2, 5, 7]`, without the zero that nobody wrote. **Do 7.2 of the {{exercises_link}} now (15 minutes)**; from here on we use the library's `KVCache`.

# %%
shape = (2, 3, 5)  # B, H_kv, d_head
joined, roomy = JoinedCache(), KVCache(2, 3, max_len=8, d_head=5)
rng = torch.Generator().manual_seed(2)
for new in (4, 1, 1):
    key, value = torch.randn(2, 2, 3, new, 5, generator=rng)  # (B, H_kv, L_new, d_head)
    pairs = zip(joined.update(key, value), roomy.update(key, value), strict=True)
    assert all(torch.equal(theirs, ours) for theirs, ours in pairs)
print("both hand back the same; positions kept:", roomy.length)
try:
    roomy.update(*torch.randn(2, 2, 3, 3, 5))
except ValueError as problem:
    print("ValueError:", problem)

# %% [markdown]
# ## 7.3 With the cache = without it
#
# A cache is only allowed to be faster. So the claim to check is equality, and on the real model: the same text, and far fewer keys.

# %% tags=["nbval-ignore-output"]
kept, made_once = keys_made(use_cache=True)
assert torch.equal(kept, again)
print(f"the same {kept.shape[1]} characters")
print(f"keys computed: {made_again:,} without, {made_once:,} with the cache")

# %% [markdown]
# *Notice that it is 73 and not 74: the last character was written, but never read.*
#
# A text may also go in piece by piece: a prompt, then a user's next question, then single tokens. Two things must be right. The mask belongs to `L_q` new queries and `L_k` keys so far, so it is the bottom-right causal mask of lesson 05. And positions count on from the cache's length (lesson 08 needs that). For the two layers from above, as a loop over the pieces:

# %%
def run_in_pieces(x, pieces):
    caches = [KVCache(x.shape[0], 4, x.shape[1], 4) for _ in stack]
    outputs = []
    for new in x.split(pieces, dim=1):  # (B, L_q, d_model)
        for layer, cache in zip(stack, caches, strict=True):
            mask = masks.causal_mask(new.shape[1], cache.length + new.shape[1])
            new = new + layer(new, mask=mask, cache=cache)
        outputs.append(new)
    return torch.cat(outputs, dim=1)  # (B, L, d_model)

# %%
x = torch.randn(1, 16, 16, generator=rng)  # (B, L, d_model)
whole = run(x, causal=True)
for pieces in ([16], [1] * 16, [6] + [1] * 10, [5, 4, 7]):
    assert torch.allclose(run_in_pieces(x, pieces), whole, atol=1e-5)
print("all at once, one by one, prompt and steps, three pieces: the same outputs")

# %% [markdown]
# ## 7.4 How many bytes?
#
# Time is saved; memory is the price. Each position keeps a key and a value, for every key/value head, in every layer:
#
# $$\text{bytes} = 2 \cdot N \cdot B \cdot H_{kv} \cdot L \cdot d_{head} \cdot s ,$$
#
# with $N$ layers, $B$ sequences side by side, $L$ positions, heads of size $d_{head}$, and $s$ bytes per number (4 for float32, 2 for float16 and bfloat16). By hand, for 2 layers, 1 sequence, 3 key/value heads, 5 positions, heads of size 4 and float32: one tensor has $3 \cdot 5 \cdot 4 = 60$ numbers, so 240 bytes. There are two of them in each of two layers.

# %%
caches = [KVCache(1, 3, max_len=5, d_head=4) for layer in range(2)]
held = [x for cache in caches for x in cache.update(*torch.zeros(2, 1, 3, 5, 4))]
measured = sum(tensor.untyped_storage().nbytes() for tensor in held)
print("by hand", 2 * 2 * 240, "  measured", measured)

# %% [markdown]
# **Do 7.1 of the {{exercises_link}} now (5 minutes).** Then a model that people use. Llama 3 8B has 32 layers, 32 heads of size 128, and a feed-forward network of width 14,336 (three matrices) in each layer. Two bytes per number.

# %%
widgets.predict(
    "7.3",
    "With a key/value head for every head: from how many sequences of 8,192 tokens on "
    "does the cache take more memory than the weights?",
    between=(1, 64),
    step=1,
)

# %%
GIB = 2**30
llama = next(model for model in MODELS if model.name == "Llama 3 8B")
d_model, d_ff, vocab_size = 4096, 14336, 128_256


def weight_bytes(num_kv_heads):
    attends = 2 * d_model**2 + 2 * d_model * num_kv_heads * llama.d_head  # q, o, k, v
    one_layer = attends + 3 * d_model * d_ff
    return 2 * (2 * vocab_size * d_model + llama.num_layers * one_layer)

# %%
for heads in (32, 8, 1):
    one = llama.cache_bytes(1, 8192, 2, heads)
    weights, fit = weight_bytes(heads), (80 * 10**9 - weight_bytes(heads)) // one
    print(f"H_kv = {heads:2}   weights {weights / GIB:5.2f} GiB", end="   ")
    print(f"cache {one / GIB:6.3f} GiB   sequences on a GPU of 80 GB: {fit}")
more = weight_bytes(32) // llama.cache_bytes(1, 8192, 2, 32) + 1
widgets.came_out("7.3", more)

# %% [markdown]
# Five conversations fill more memory than the whole model. (Norms are left out of the weights; they're less than a thousandth.) The model was published with 8 key/value heads, so that more than four times as many fit. Who else shares, and how much?

# %%
length = 4096
labels = {
    "a key/value head for every head": lambda m: m.num_heads,
    "as published": lambda m: m.num_kv_heads,
    "one key/value head": lambda m: 1,
}
caches = {
    label: [m.cache_bytes(1, length, 2, heads(m)) / GIB for m in MODELS]
    for label, heads in labels.items()
}

# %%
ax = plotting.new_axes(8.6, 4.0)
marks = zip(caches.items(), plotting.COLORS, "^oD", (12, 6, 12), strict=False)
for (label, sizes), color, mark, size in marks:
    fill = "full" if mark == "o" else "none"
    ax.plot(sizes, mark, color=color, ms=size, mew=1.6, label=label, fillstyle=fill)
ax.set(ylabel="GiB for 4,096 tokens (log scale)", yscale="log", ylim=(0.01, 300))
ax.set_xticks(range(len(MODELS)), ["\n".join(m.name.rsplit(" ", 1)) for m in MODELS])
ax.legend(frameon=False, ncols=3, fontsize=9, loc="upper left")
plotting.show(
    ax,
    "Three marks for each of seven models on a logarithmic scale: the cache with a "
    "key/value head for every head, as published, and with one. The published mark of "
    "GPT-2 XL and Llama 2 7B is the first, of Falcon 7B the last, of the others "
    "between.",
)

# %% [markdown]
# *Notice where the dot stands: inside the triangle (nothing is shared), inside the diamond (all share one), or in between.* The sources of these shapes are listed in `course_utils/widgets/cache_calculator.py`.

# %% [markdown]
# ## 7.5 Heads that share
#
# Keep all $H$ query heads, but only $H_{kv}$ heads of keys and values. Groups of $G = H / H_{kv}$ neighboring query heads share one. With $H_{kv} = H$ that is **multi-head** attention (MHA), with $H_{kv} = 1$ **multi-query** attention (MQA, Shazeer 2019), and everything between is **grouped-query** attention (GQA, Ainslie et al. 2023).

# %%
plotting.show(diagrams.head_wiring(6, 2))

# %% [markdown]
# By hand for $H = 6$ and $H_{kv} = 2$: $G = 3$, so query heads 0, 1, 2 meet key/value head 0, and 3, 4, 5 meet head 1. In general, query head $h$ meets head $\lfloor h / G \rfloor$, and the formula is that of lesson 06 with one index changed:
#
# $$\text{head}_h = \operatorname{softmax}\!\Big(\frac{Q_h K_{\lfloor h/G \rfloor}^\top}{\sqrt{d_{head}}}\Big)\, V_{\lfloor h/G \rfloor} , \qquad h = 0, \dots, H - 1 .$$
#
# $Q_h$ has shape $(L_q, d_{head})$, $K_j$ and $V_j$ have shape $(L_k, d_{head})$. As a loop:

# %%
def grouped_loop(q, k, v, mask):  # mask: one for all heads, (B or 1, 1, L_q, L_k)
    group, heads = q.shape[1] // k.shape[1], []
    for h in range(q.shape[1]):
        key, value = k[:, h // group], v[:, h // group]  # (B, L_k, d_head)
        found = attention.scaled_dot_product_attention(q[:, h], key, value, mask[:, 0])
        heads.append(found[0])  # (B, L_q, d_head)
    return torch.stack(heads, dim=1)  # (B, H, L_q, d_head)

# %% [markdown]
# **Do 7.3 and 7.4 of the {{exercises_link}} now (25 minutes)**: share the heads without a loop, then the whole layer. (Exercise 7.7 gives that layer a cache.) From here on we use the library's function, which gives what PyTorch's own does:

# %%
B, H, H_kv, L_q, L_k, d_head = 2, 6, 2, 5, 7, 4
q = torch.randn(B, H, L_q, d_head, generator=rng)
k, v = torch.randn(2, B, H_kv, L_k, d_head, generator=rng)
mask = masks.causal_mask(L_q, L_k)  # (1, 1, L_q, L_k)
loop = grouped_loop(q, k, v, mask)  # (B, H, L_q, d_head)
# each (B, H, L_k, d_head)
shared = [multi_head.repeat_kv(t, H // H_kv) for t in (k, v)]
ours, _ = attention.scaled_dot_product_attention(q, *shared, mask)
torch_own = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
for other in (loop, torch_own):
    assert torch.allclose(ours, other, atol=1e-5)
print("loop, shared heads and PyTorch (enable_gqa=True) agree:", tuple(ours.shape))

# %% [markdown]
# ## 7.6 What gets smaller, and what doesn't
#
# One decode step of one layer: a new position meets 2,048 others. PyTorch's counter counts the multiplications (halved, since it counts additions too). The last column has the numbers that the step reads from the cache.

# %%
def multiplications(compute):
    with FlopCounterMode(display=False) as count:
        compute()
    return count.get_total_flops() // 2


num_heads, size, L = 16, 32, 2048
layers = {}

# %%
new = torch.randn(4, 1, num_heads * size, generator=rng)  # (B, L_q=1, d_model)
print("H_kv   k_proj and v_proj   q_proj and o_proj   scores and sums   numbers read")
for heads in (16, 4, 1):
    layer = MultiHeadAttention(num_heads * size, num_heads, num_kv_heads=heads)
    layers[heads] = layer.requires_grad_(False)
    cache = KVCache(4, heads, L + 99, size)
    cache.update(*torch.randn(2, 4, heads, L - 1, size, generator=rng))
    step = {"cache": cache, "return_weights": True}
    whole = multiplications(lambda a=layer, step=step: a(new, **step))
    shared = multiplications(lambda a=layer: (a.k_proj(new), a.v_proj(new)))
    own = multiplications(lambda a=layer: (a.q_proj(new), a.o_proj(new)))
    counts = (shared, own, whole - shared - own, 2 * 4 * heads * L * size)
    print(f"{heads:4}" + "".join(f"{count / 1e6:17.2f} M" for count in counts))

# %% [markdown]
# The two projections that make keys and values shrink with $H_{kv}$, and so does what is read. The scores don't: there is still one map of weights for every *query* head. So each number that is read gets used more often, and that matters, because hardware multiplies much faster than it reads memory (Shazeer 2019, section 2.4). Measured here, one thread, the best of 20:

# %% tags=["nbval-ignore-output"]
for heads, layer in layers.items():
    cache = KVCache(4, heads, L + 99, size)
    cache.update(*torch.randn(2, 4, heads, L - 1, size))
    step = lambda a=layer, cache=cache: a(new, cache=cache)
    seconds = min(timeit.repeat(step, number=1, repeat=20))
    mib = cache.num_bytes / 2**20
    print(f"H_kv = {heads:2}   cache {mib:4.1f} MiB   {1000 * seconds:.2f} ms")

# %% [markdown]
# Sixteen times less reading doesn't make a step sixteen times faster: the scores and two of the projections take time as well, and they stay what they were.

# %% [markdown]
# ## 7.7 What sharing costs
#
# A shared head must serve all its query heads at once. To see whether that hurts we need a task whose heads have *different* things to do. Six items lie in an index. Each item has four names and four contents, one of each kind, all of them numbers from 0 to 5; no two items share a name of the same kind. A question gives one name of each kind, often of different items, and wants the contents that go with them. That's four lookups at once, for a layer with four query heads of size 8.

# %%
question, items, target = lookups.make_batch(1, torch.Generator().manual_seed(0))
numbers = items.view(lookups.ITEMS, 2, lookups.KINDS, lookups.ITEMS).argmax(-1)
asked = question.view(lookups.KINDS, lookups.ITEMS).argmax(-1)
print("asked:", asked.tolist(), "  wanted:", target[0].tolist())
for item, (name, content) in enumerate(numbers.tolist()):
    print(f"item {item}   names {name}   contents {content}")

# %% [markdown]
# Four, two or one head of keys and values; everything else is the same, the number of updates and the batches included. Each is trained from five seeds. A guesser is right in one of six. Someone who can do $n$ of the four lookups and guesses the rest gets $(n + (4 - n)/6) / 4$.

# %%
widgets.predict(
    "7.4",
    "After 1,080 updates, with one shared head: how many percent are right?",
    between=(0, 100),
    step=1,
)

# %% [markdown]
# All runs take two minutes (`python -m experiments lookups`), so their numbers come with the course. One of them live, to see that it's the same:

# %%
rows = read_rows("lookups")


def measured(start, heads):
    """(seeds, measurements): the accuracy on the way; and the steps."""
    found = [r for r in rows if r["start"] == start and int(r["num_kv_heads"]) == heads]
    steps = sorted({int(r["step"]) for r in found})
    seeds = sorted({int(r["seed"]) for r in found})
    values = {(int(r["seed"]), int(r["step"])): float(r["accuracy"]) for r in found}
    return torch.tensor([[values[s, t] for t in steps] for s in seeds]), steps


# %% tags=["nbval-ignore-output"]
torch.manual_seed(0)
live = lookups.Lookups(2)
with tqdm(total=225, desc="training", mininterval=1, file=sys.stdout) as bar:
    for step, right in lookups.train(live, 225, seed=10):
        bar.set_postfix_str(f"right {right:.2f}")
        bar.update(step - bar.n)
stored, steps = measured("from random weights", 2)
same = stored[0, steps.index(step)]
print(f"after {step} updates: live {right:.2f}, stored {same:.2f}")

# %%
def draw_levels(ax):
    """A dotted line for each number of lookups that can be done, the rest guessed."""
    for solved in range(5):
        level = (solved + (4 - solved) / 6) / 4
        ax.axhline(level, color="0.6", lw=0.8, ls=":")
        ax.text(1250, level, f"{solved} solved", va="center", fontsize=9)

# %%
ax = plotting.new_axes(8.6, 4.2)
for heads, color in zip((4, 2, 1), plotting.COLORS, strict=False):
    right, steps = measured("from random weights", heads)  # (seeds, measurements)
    ax.fill_between(steps, right.amin(0), right.amax(0), color=color, alpha=0.18, lw=0)
    ax.plot(steps, right.median(0).values, color=color, label=f"H_kv = {heads}")
draw_levels(ax)
ax.set(xlabel="updates", ylabel="share of right contents")
ax.set(ylim=(0, 1.05), xlim=(0, 1240), xticks=range(0, 1081, 180))
ax.legend(frameon=False, loc="lower center", ncols=3)
plotting.show(
    ax,
    "Accuracy against updates, the median of five seeds with their whole range. Four "
    "key/value heads are at 1 soonest, two arrive there by 1,080 updates, one is still "
    "below the line of three lookups solved, and its seeds are far apart.",
)

# %%
for heads in (4, 2, 1):
    right, steps = measured("from random weights", heads)  # (seeds, measurements)
    end = "  ".join(f"{a:.2f}" for a in right[:, -1].tolist())
    runs = [zip(row.tolist(), steps, strict=True) for row in right]
    first = [next((step for a, step in run if a >= 0.95), "never") for run in runs]
    print(f"H_kv = {heads}   at the end {end}   0.95 reached after {first}")
widgets.came_out("7.4", 100 * right[:, -1].median().item())

# %% [markdown]
# *Notice the dotted lines: curves rest on them. With one shared head four of the seeds end near three lookups solved, one stays at two, and none gets all four by then. With two heads all five seeds get all four, but each of them needs more updates than with four heads.* So how much sharing costs depends on *when* you ask, and a single training length would have told half the story. The task was made to show a cost: tiny heads with nothing in common to share. For language models the papers report quality close to multi-head attention with a handful of groups (Ainslie et al. 2023, section 3).

# %% [markdown]
# ## 7.8 From a trained model
#
# A multi-head model that's trained already need not be thrown away. Ainslie et al. make each shared head the **mean** of the heads of its group, and train a little more ("uptraining"; they spend 5 % of the original training). By hand: four heads of size 1 whose rows are 1, 3, 10 and 20 become, in two groups, 2 and 15. **Do 7.5 of the {{exercises_link}} now (10 minutes).**
#
# They compare the mean with keeping the first head of each group and dropping the rest. Our four-head models had 900 updates; 5 % of that is 45.

# %%
widgets.predict(
    "7.5",
    "Two heads after 45 more updates: which are better?",
    choices=["the means of the groups", "the first of each group", "no difference"],
)

# %%
def show(start, more):
    before = measured("mean of the group", 2)[1][0]  # updates before the conversion
    right, steps = measured(start, 2)  # (seeds, measurements)
    row = right[:, steps.index(before + more)]
    found = "  ".join(f"{a:.2f}" for a in row.tolist())
    print(f"{start:20} {before} + {more:2} updates   {found}")


print("share of right contents with two key/value heads, five seeds")
for start in ("mean of the group", "first of the group"):
    show(start, 0)
    show(start, 45)
show("from random weights", 45)
widgets.came_out("7.5", "the means of the groups")

# %% [markdown]
# Right after the conversion the model is damaged. Means blur heads that did different things. First heads leave 0.58 for every seed, which is two lookups solved and two guessed. With means, 45 updates mend every seed. With first heads they don't: what the dropped heads did has to be learned again. The last row has models that shared from the start and had as many updates in all. Four of them are as good as the means, so converting is no better than sharing from the start. What it saves is the first 900 updates, if somebody has made them already.

# %% [markdown]
# ## What goes wrong
#
# **The cache hands back its unwritten tail.** A key of zeros has the score 0, and $e^0 = 1$: it gets weight like any other. How you'd notice: cached and uncached outputs differ, so always keep a test that compares them.

# %%
class TailCache:
    def __init__(self):
        self.room = torch.zeros(2, 1, 1, 8, 4)  # keys and values
        self.length = 0

    def update(self, key, value):
        end = self.length + key.shape[2]
        self.room[0, :, :, self.length : end] = key
        self.room[1, :, :, self.length : end] = value
        self.length = end
        return self.room  # all 8 positions


# %%
# each (B, H, L, d_head)
query, keys, values = torch.randn(3, 1, 1, 5, 4, generator=rng)
last = query[:, :, -1:]
uncached, _ = attention.scaled_dot_product_attention(last, keys, values)
for cache in (KVCache(1, 1, 8, 4), TailCache()):
    k, v = cache.update(keys, values)
    output, weights = attention.scaled_dot_product_attention(last, k, v)
    off, lost = (output - uncached).abs().max(), weights[..., 5:].sum()
    print(f"{type(cache).__name__:10} off by {off:.2f}", end="   ")
    print(f"weight on unwritten keys {lost:.2f}")

# %% [markdown]
# **`repeat` for `repeat_interleave`.** It gives 0 1 0 1 0 1 where 0 0 0 1 1 1 is meant: the right shape, other partners. For a model that's *trained* with it, it's only another numbering of the query heads. Weights that were trained elsewhere don't. How you'd notice: a fixed set of weights gives another output than a reference does.

# %%
met = torch.arange(2.0).view(1, 2, 1, 1)  # (B, H_kv=2, L=1, d_head=1): head j holds j
print("repeat            ", met.repeat(1, 3, 1, 1).flatten().int().tolist())
print("repeat_interleave ", met.repeat_interleave(3, dim=1).flatten().int().tolist())

# %% [markdown]
# ## In practice
#
# - `F.scaled_dot_product_attention(..., enable_gqa=True)` takes fewer key/value heads as they are. Without that argument PyTorch refuses them, unless there is only one, which broadcasts.
# - Other names for `num_kv_heads`: `num_key_value_heads` (Hugging Face), `n_kv_heads` (Meta's Llama), `n_query_groups` (LitGPT).
# - Servers keep the cache in pages, so that room is set aside as a text grows (vLLM: Kwon et al. 2023), and in 8 bits or fewer. Both shrink other factors of the same formula; a sliding window (lesson 05) limits $L$.
# - Rotary positions (lesson 08) are applied to the keys *before* they enter the cache.

# %% [markdown]
# ## Recap
#
# 1. **What is computed again**: keys and values of all old positions, in every layer, at every step. With a causal mask they never change, so a cache keeps them. Old queries have done their work.
# 2. **Cached = uncached**, in pieces of any size, if the mask is aligned bottom-right and only written positions are handed back.
# 3. **Bytes**: $2 \cdot N \cdot B \cdot H_{kv} \cdot L \cdot d_{head} \cdot s$; a few long conversations weigh more than the model.
# 4. **Sharing**: query head $h$ meets key/value head $\lfloor h / G \rfloor$. The cache, the reading and two projections shrink; the scores don't. It can cost accuracy, and how much depends on how long you train.
# 5. **Converting**: the mean of each group, then a short training.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $H$, $H_{kv}$ | query heads, key/value heads | whole numbers; $H_{kv}$ divides $H$ |
# | $G = H / H_{kv}$ | query heads in a group | a whole number |
# | $q$ | queries of the new positions | $(B, H, L_q, d_{head})$ |
# | $k$, $v$ | keys, values of all positions so far | $(B, H_{kv}, L_k, d_{head})$ |
# | weights of `k_proj`, `v_proj` | as `nn.Linear` stores them | $(H_{kv} \cdot d_{head}, d_{model})$ |
# | $N$, $s$ | layers, bytes per number | whole numbers |

# %%
widgets.predictions()

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. A model has 40 layers, 40 heads, 8 key/value heads and heads of size 128. By what factor does its cache shrink if it is changed to multi-query attention?</summary>
#
# **By 8.** Only the number of key/value heads changes, from 8 to 1. (Not by 40: the 40 query heads were never in the cache. Layers and head size cancel.)
# </details>
#
# <details><summary>2. H = 8, H_kv = 4. Which key/value head does query head 5 meet?</summary>
#
# **Head 2.** Groups have 2 members, and 5 // 2 is 2. (5 % 4 = 1 is what `repeat` would give; head 5 doesn't exist among four.)
# </details>
#
# <details><summary>3. A cached step feeds 3 new positions behind 10 old ones. What shape is its causal mask, and what does its first row allow?</summary>
#
# **(3, 13), and the first row allows the first 11 keys:** the ten old ones and itself. (A 3 by 3 mask forgets the cache; a first row with only one key is aligned top-left.)
# </details>
#
# <details><summary>4. Decoding gets faster with fewer key/value heads. Does that show that there are fewer multiplications in the scores?</summary>
#
# **No.** There are still H maps of scores (counted in 7.6). What shrinks is the reading, and the two projections of the new position. (Less waiting for memory looks like less work, if you only measure time.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## When you need it
#
# **Which of these make a copy?** `repeat_interleave` makes copies: for a moment the small cache is as large as the full one. `expand` gives an axis the stride 0, so all heads of a group read the same memory; a `reshape` behind it must copy after all. Leave the group axis where it is, and the product broadcasts over it:

# %%
x = torch.randn(1, 2, 3, 4, generator=rng)  # (B, H_kv=2, L=3, d_head=4)
expanded = x[:, :, None].expand(1, 2, 3, 3, 4)  # (B, H_kv, G=3, L, d_head), a view
forms = {"cached": x, "expand": expanded, "repeated": x.repeat_interleave(3, dim=1)}
for name, tensor in forms.items():
    print(f"{name:9} {str(tuple(tensor.shape)):16}", end="")
    print(f"memory {tensor.untyped_storage().nbytes():4} bytes")

# %% [markdown]
# **The two ends.** With $H_{kv} = H$ the layer is `nn.MultiheadAttention` again; with $H_{kv} = 1$ the only key/value head broadcasts over all query heads. A grouped layer is a multi-head layer whose key and value projections happen to be equal inside each group: repeat the rows of its `k_proj` and `v_proj`, and you get it.
#
# **Keeping something smaller than keys and values.** Multi-head *latent* attention (MLA, DeepSeek-AI 2024, section 2.1) keeps, for each position, one vector $c$ from which all heads' keys and values are made by a matrix each, plus one small key that carries the rotary position. Since $q^\top (W c) = (W^\top q)^\top c$, the matrix can be moved to the query, and the keys are never built. (Exercise 7.10 does that.) Here is how many numbers each form keeps per position and layer:

# %%
n_heads, head, latent, rotary = 128, 128, 512, 64  # DeepSeek-V2, sections 2.1 and 3.1.2
print("multi-head        ", 2 * n_heads * head)
print("8 key/value heads ", 2 * 8 * head)
heads = (latent + rotary) / (2 * head)
print("latent            ", latent + rotary, f" as much as {heads} key/value heads")

# %% [markdown]
# **The cache of your model.** Choose a published shape, how many sequences it writes side by side, how long they are, and how many bytes each number takes. The ratio of the bars depends on the model alone; batch, length and bytes scale all three alike.

# %%
calculator = widgets.cache_calculator()
calculator.show_first_state(
    "Three bars for Llama 3 8B, eight sequences of 8,192 tokens, two bytes per number: "
    "32 GiB as multi-head attention, 8 GiB as published with 8 key/value heads, 1 GiB "
    "as multi-query attention."
)

# %%
calculator

# %% [markdown]
# ## References
#
# - Shazeer, *Fast Transformer Decoding: One Write-Head is All You Need*, 2019, sections 2.4 and 3: why writing one token at a time waits for memory, and multi-query attention as the remedy.
# - Ainslie et al., *GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints*, 2023, sections 2.1, 2.2 and 3: means of groups, uptraining, and what it cost in quality.
# - Touvron et al., *Llama 2: Open Foundation and Fine-Tuned Chat Models*, 2023, appendix A.2: grouped against multi-head and multi-query attention in a large model.
# - Llama Team, *The Llama 3 Herd of Models*, 2024, table 3: the shape that 7.4 counts with.
# - DeepSeek-AI, *DeepSeek-V2*, 2024, section 2.1 and table 1: latent attention, and how its cache compares.
# - Kwon et al., *Efficient Memory Management for Large Language Model Serving with PagedAttention*, 2023: the cache in pages.

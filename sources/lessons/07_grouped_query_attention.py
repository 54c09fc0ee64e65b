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
# {{colab_link}} · short path about 65 minutes with its exercises (46 + 21), everything about 4 hours · builds on lessons 05 and 06

# %% tags=["setup"]
import timeit

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course_utils import attention, diagrams, masks, multi_head
from course_utils import plotting, pretrained, widgets
from course_utils.datasets.text_windows import decode_text, encode_text
from course_utils.decoding import generate
from course_utils.kv_cache import KVCache
from course_utils.results import read_rows
from course_utils.small_models import lookups
from course_utils.widgets.cache_calculator import MODELS

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # the tensors here are small: more threads would wait

# %% [markdown]
# **You will learn to**
#
# 1. say what a model computes again and again when it writes, and keep what later steps need of it in a cache;
# 2. show that writing with the cache gives exactly what writing without it gives;
# 3. compute the size of a cache in bytes, and compare it with the weights and with one GPU;
# 4. let query heads share keys and values, and say what that saves, what it doesn't, and what it costs;
# 5. (in a section marked *more*) convert a trained multi-head layer into one that shares.
#
# This lesson is about what attention costs when a model *writes*.

# %% [markdown]
# ## Predict first
# *Core · 3 minutes*
#
# A language model writes one token at a time. Each new token is appended, and the whole sequence goes through the model again. The course comes with a small language model that has read Python's documentation (lesson 12 trains it). Its tokens are characters. We'll let it write 60 of them, then 240, with a clock running.

# %%
widgets.predict(
    "7.A",
    "Four times as many characters take how many times as long?",
    between=(1, 20),
    step=0.5,
)

# %% tags=["nbval-ignore-output"]
writer = pretrained.load("language_model").requires_grad_(False)
prompt = encode_text("A function is ")[None]  # (B=1, L=14)


def seconds(length, use_cache):
    options = {"temperature": 0.0, "use_cache": use_cache}
    write = lambda: generate(writer, prompt, max_new_tokens=length, **options)
    return min(timeit.repeat(write, number=1, repeat=2))


without = {length: seconds(length, use_cache=False) for length in (60, 120, 240)}
for length, spent in without.items():
    print(f"{length:3} characters   {spent:.2f} seconds")
widgets.came_out("7.A", round(without[240] / without[60], 1))

# %% [markdown]
# Every further character costs more than the one before it. The model reads a longer and longer text, and it has read most of that text before.

# %% [markdown]
# ## 7.1 What is computed again
# *Core · 5 minutes*
#
# Suppose two words are given and a model writes five more. On the left each row is a step, and each colored box is a position whose key and value are computed in that step:

# %%
words = ["the", "red", "apple", "fell", "down", "and", "rolled"]
plotting.show(diagrams.cache_strips(words, prompt=2))

# %% [markdown]
# *Left: every row computes again what the row above it already had, 2 + 3 + 4 + 5 + 6 positions. Right: the same words, when keys and values are kept. After the prompt each step computes one position. The last word is written, but never read.*
#
# In each row *everything* at an old position is computed again, its query and its feed-forward network, too. But a new position reads only the old ones' keys and values. May we keep these? In the first layer a key depends on its own token alone. In the second layer it depends on what the first layer's attention put together, and that reads *other* positions.

# %%
widgets.predict(
    "7.B",
    "Two layers, five tokens, then a sixth is appended. Which outputs change?",
    choices=[
        "none of the first five, with or without a causal mask",
        "none of the first five with a causal mask, all of them without",
        "all of the first five, with or without a causal mask",
    ],
)

# %%
torch.manual_seed(1)
stack = nn.ModuleList(multi_head.MultiHeadAttention(16, 4) for _ in range(2))
stack.requires_grad_(False)
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
answer = "none of the first five with a causal mask, all of them without"
widgets.came_out("7.B", answer)

# %% [markdown]
# With a causal mask nothing that comes later can change what an earlier position computes, in any layer. Its keys and values can be **kept**. Without the mask, those of every layer but the first would be out of date after each token, so an encoder can't use such a cache.
#
# What about the old *queries*? A query is used once, in the row of its own position, and that row is done. This is why it's called a key/value cache.

# %% [markdown]
# ## 7.2 A cache
# *Core · 7 minutes*
#
# In the picture on the right, the whole prompt goes in at once (that's called **prefill**). From then on it's one position per step (**decode**). Each step computes the key and the value of the new position and puts them after the others. The obvious way is to join them:

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
# `H_kv` counts the heads of keys and values. So far it equals `H`. Joining copies everything at every step. The library's `KVCache` sets aside room once, for the longest text it will see, and writes each new position after the others. (Exercise 7.2 of the {{exercises_link}} asks you for such a cache, 15 minutes, now or later.)
#
# A cache must not change what is written. Does the model write the same text with it? We also count the keys that its first layer makes.

# %%
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
(again, made_again), (kept, made_once) = keys_made(False), keys_made(True)
print(repr(decode_text(kept[0])))
print(f"the same {kept.shape[1]} characters: {torch.equal(kept, again)}")
print(f"keys computed: {made_again:,} without, {made_once} with the cache")

# %% [markdown]
# (It's 73 and not 74, since the last character is never read.) Now the clock:

# %% tags=["nbval-ignore-output"]
print("characters   keys without   with   seconds without     with   ratio")
for length, slow in without.items():
    fast, keys = seconds(length, use_cache=True), prompt.shape[1] + length - 1
    computed = sum(range(prompt.shape[1], keys + 1))  # 14 + 15 + ... + keys
    print(f"{length:10}   {computed:12,}   {keys:4}", end="")
    print(f"   {slow:15.2f}   {fast:6.2f}   {slow / fast:5.1f}")

# %% [markdown]
# *Without a cache the number of keys grows with the square of the length. With one it grows with the length, so the longer the text, the larger the gain.* A count isn't a time, though. The seconds shrink far less than the keys do. Part of a step's time is the same with and without a cache.

# %% [markdown]
# ## 7.3 Text in pieces
# *More · 4 minutes*
#
# A text may also go in piece by piece. A prompt comes first, then single tokens, then a user's next question. Two things must be right. The mask belongs to `L_q` new queries and `L_k` keys so far, so it's the bottom-right causal mask of lesson 05. And positions count on from the cache's length (lesson 08 needs that). Here are the two layers from above, fed in pieces:

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
rng = torch.Generator().manual_seed(2)
x = torch.randn(1, 16, 16, generator=rng)  # (B, L, d_model)
whole = run(x, causal=True)
for pieces in ([16], [1] * 16, [6] + [1] * 10, [5, 4, 7]):
    same = torch.allclose(run_in_pieces(x, pieces), whole, atol=1e-5)
    print(f"pieces of {pieces}: the same outputs: {same}")

# %% [markdown]
# **Exercise 7.7 (25 minutes)** asks for a layer that does this.

# %% [markdown]
# ## 7.4 How many bytes?
# *Core · 6 minutes*
#
# We save time and pay with memory. Each position keeps a key and a value, for every key/value head, in every layer:
#
# $$\text{bytes} = 2 \cdot N \cdot B \cdot H_{kv} \cdot L \cdot d_{head} \cdot s ,$$
#
# with $N$ layers, $B$ sequences side by side, $L$ positions, heads of size $d_{head}$, and $s$ bytes per number (4 for float32, 2 for float16 and bfloat16). For example, take 2 layers, 1 sequence, 3 key/value heads, 5 positions, heads of size 4 and float32. One tensor has $3 \cdot 5 \cdot 4 = 60$ numbers, which is 240 bytes, and each of the two layers has two of them.

# %%
caches = [KVCache(1, 3, max_len=5, d_head=4) for layer in range(2)]
held = [x for cache in caches for x in cache.update(*torch.zeros(2, 1, 3, 5, 4))]
measured = sum(tensor.untyped_storage().nbytes() for tensor in held)
print("counted", 2 * 2 * 240, "  measured", measured)

# %% [markdown]
# **Do exercise 7.1 now (6 minutes), then read on.** It asks how long a text fits.
#
# Now a model that people use. Llama 3 8B has 32 layers, 32 heads of size 128, and in each layer a feed-forward network of width 14,336 (three matrices). A number takes two bytes.

# %%
widgets.predict(
    "7.C",
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
widgets.came_out("7.C", more)

# %% [markdown]
# Five conversations fill more memory than the whole model. (Norms are left out; they're tiny.) The model was published with 8 key/value heads, and more than four times as many conversations fit. Who else shares?

# %%
sizes = {
    heads: [m.cache_bytes(1, 4096, 2, count(m)) / GIB for m in MODELS]
    for heads, count in {
        "one key/value head": lambda m: 1,
        "a key/value head for every head": lambda m: m.num_heads,
        "as published": lambda m: m.num_kv_heads,
    }.items()
}
published = ("as published", sizes.pop("as published"))

# %%
names = ["\n".join(m.name.rsplit(" ", 1)) for m in MODELS]
ax = plotting.named_spans(names, sizes, published, ylabel="GiB for 4,096 tokens (log)")
plotting.mark_levels(ax, {"weights of\nLlama 3 8B": weight_bytes(8) / GIB})
plotting.show(
    ax,
    "For each of seven models a line from the cache with one key/value head to the "
    "cache with one for every head, and a dot as published: at the top for GPT-2 XL "
    "and Llama 2 7B, at the bottom for Falcon 7B, between for the others.",
)

# %% [markdown]
# *A dot at the top of its line means that nothing is shared, and at the bottom that all heads share one. Four of these seven lie in between.* The sources of these shapes are listed in `course_utils/widgets/cache_calculator.py`.

# %% [markdown]
# ## 7.5 Heads that share
# *Core · 5 minutes*
#
# Keep all $H$ query heads, but only $H_{kv}$ heads of keys and values. Groups of $G = H / H_{kv}$ neighboring query heads share one. With $H_{kv} = H$ that is **multi-head** attention (MHA), with $H_{kv} = 1$ **multi-query** attention (MQA, Shazeer 2019), and everything between is **grouped-query** attention (GQA, Ainslie et al. 2023).

# %%
plotting.show(diagrams.head_wirings(6, [6, 2, 1]))

# %% [markdown]
# *A dashed frame holds a key head and its value head. A query head that reads one reads the other, too.* In the middle, $G = 3$. Query heads 0, 1, 2 meet key/value head 0, and 3, 4, 5 meet head 1. In general, query head $h$ meets head $\lfloor h / G \rfloor$, and the formula is that of lesson 06 with one index changed:
#
# $$\text{head}_h = \operatorname{softmax}\!\Big(\frac{Q_h K_{\lfloor h/G \rfloor}^\top}{\sqrt{d_{head}}}\Big)\, V_{\lfloor h/G \rfloor} , \qquad h = 0, \dots, H - 1 .$$
#
# $Q_h$ has shape $(L_q, d_{head})$, $K_j$ and $V_j$ have shape $(L_k, d_{head})$. Written as a loop:

# %%
def grouped_loop(q, k, v, mask):  # mask: one for all heads, (B or 1, 1, L_q, L_k)
    group, heads = q.shape[1] // k.shape[1], []
    for h in range(q.shape[1]):
        key, value = k[:, h // group], v[:, h // group]  # (B, L_k, d_head)
        found = attention.scaled_dot_product_attention(q[:, h], key, value, mask[:, 0])
        heads.append(found[0])  # (B, L_q, d_head)
    return torch.stack(heads, dim=1)  # (B, H, L_q, d_head)

# %% [markdown]
# **Do exercise 7.6 now (12 minutes), then read on.** There you get a version without a loop. Every shape fits, and the heads meet the wrong partners. (Exercise 7.4, 20 minutes, asks for a whole layer. It can wait.) The library repeats each key/value head $G$ times and then does what lesson 06 did. It agrees with the loop and with PyTorch:

# %%
rng = torch.Generator().manual_seed(3)
B, H, H_kv, L_q, L_k, d_head = 2, 6, 2, 5, 7, 4
q = torch.randn(B, H, L_q, d_head, generator=rng)
k, v = torch.randn(2, B, H_kv, L_k, d_head, generator=rng)
mask = masks.causal_mask(L_q, L_k)  # (1, 1, L_q, L_k)
loop = grouped_loop(q, k, v, mask)  # (B, H, L_q, d_head)
# each (B, H, L_k, d_head)
shared = [multi_head.repeat_kv(t, H // H_kv) for t in (k, v)]
ours, _ = attention.scaled_dot_product_attention(q, *shared, mask)
torch_own = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
for name, other in {"loop": loop, "PyTorch (enable_gqa=True)": torch_own}.items():
    print(f"library and {name} agree:", torch.allclose(ours, other, atol=1e-5))

# %% [markdown]
# ## 7.6 What sharing saves
# *Core · 7 minutes*
#
# Take one decode step of one layer, in which a new position meets 2,048 keys, its own included. PyTorch's counter counts the multiplications (halved, since it counts additions too). Beside them is how many numbers the step reads from the cache, and how many multiplications each of these numbers is used for.

# %%
def multiplications(compute):
    with FlopCounterMode(display=False) as count:
        compute()
    return count.get_total_flops() // 2


def filled(layer, length, room=99):
    cache = KVCache(1, layer.num_kv_heads, length + room, layer.d_head)
    cache.update(*torch.randn(2, 1, layer.num_kv_heads, length, layer.d_head))
    return cache


layers = {h: multi_head.MultiHeadAttention(512, 16, num_kv_heads=h) for h in (16, 4, 1)}
new = torch.randn(1, 1, 512)  # (B=1, L_q=1, d_model)

# %%
print("H_kv   k, v projections   q, o projections   scores, sums   read   uses of each")
for heads, layer in layers.items():
    layer.requires_grad_(False)
    cache = filled(layer, 2047)
    step = lambda a=layer, c=cache: a(new, cache=c, return_weights=True)
    whole = multiplications(step)
    shared = multiplications(lambda a=layer: (a.k_proj(new), a.v_proj(new)))
    own = multiplications(lambda a=layer: (a.q_proj(new), a.o_proj(new)))
    numbers, rest = 2 * heads * 2048 * layer.d_head, whole - shared - own
    print(f"{heads:4}{shared / 1e6:17.2f}M{own / 1e6:18.2f}M", end="")
    print(f"{rest / 1e6:14.2f}M{numbers / 1e6:6.2f}M{rest / numbers:15.0f}")

# %% [markdown]
# The two projections that make keys and values shrink with $H_{kv}$, and so does what is read. The scores and the weighted sums don't. There is still one map of weights for every *query* head. With one shared head each number that is read gets used sixteen times.
#
# Now measure a step against the length, with one thread, the best of ten (of three without a cache, where a step computes all positions again).

# %% tags=["nbval-ignore-output"]
def milliseconds(compute, repeat=10):
    return 1000 * min(timeit.repeat(compute, number=1, repeat=repeat))


lengths, curves = torch.tensor([128, 256, 512, 1024, 2048]), {"no cache, H_kv = 16": []}
for length in lengths.tolist():
    text, mask = torch.randn(1, length, 512), masks.causal_mask(length)
    again = lambda text=text, mask=mask: layers[16](text, mask=mask)
    curves["no cache, H_kv = 16"].append(milliseconds(again, repeat=3))
    for heads, layer in layers.items():
        cache = filled(layer, length - 1)
        step = lambda a=layer, c=cache: a(new, cache=c)
        curves.setdefault(f"cache, H_kv = {heads}", []).append(milliseconds(step))
alone = milliseconds(lambda: layers[16].o_proj(layers[16].q_proj(new)))

# %% tags=["nbval-ignore-output"]
ys = {name: torch.tensor(values) for name, values in curves.items()}
labels = {"xlabel": "length (log)", "ylabel": "milliseconds a step (log)"}
ax = plotting.curves(lengths, ys, ax=plotting.new_axes(7.2, 3.8), **labels)
plotting.mark_levels(ax, {"q_proj and\no_proj alone": alone})
ax.set(xscale="log", yscale="log")
ax.set_xticks(lengths.tolist(), lengths.tolist())
above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "frameon": False}
ax.legend(ncols=4, fontsize=9, **above)
ax.minorticks_off()

# %% tags=["nbval-ignore-output"]
plotting.show(
    ax,
    "Milliseconds for one step of one layer against the length, both axes logarithmic. "
    "Without a cache a step takes the longest and grows fastest. With a cache it "
    "takes far less, and at 2,048 keys fewer key/value heads take less time.",
)
for name, y in ys.items():
    print(f"{name:20}", *(f"{t:9.3f}" for t in y.tolist()))

# %% [markdown]
# *The top curve is a step without a cache. With one, fewer key/value heads take less time, and the longer the text, the more milliseconds that saves. The dashed line is what two of the projections take alone, which no sharing can save.*
#
# Where does the saving come from? Sharing changes two things, the projections and the reading. Shazeer's explanation (2019, section 2.4) is the reading. Let's change that alone. We hand PyTorch sixteen equal key/value heads, first as a single head in memory that is *shown* sixteen times (`expand` gives its axis the stride 0), then as sixteen copies. Both calls get the same numbers.

# %%
widgets.predict(
    "7.D",
    "With 2,048 keys, the sixteen copies take how many times as long as one head?",
    between=(0.5, 20),
    step=0.5,
)

# %% tags=["nbval-ignore-output"]
asks = torch.randn(1, 16, 1, 128)  # (B, H=16, L_q=1, d_head)
spent = {}
for keys in (16, 2048):
    # keys and values, each (B=1, H=16, L_k, d_head)
    one = torch.randn(2, 1, 1, keys, 128).expand(2, 1, 16, keys, 128)
    for name, (key, value) in {"one head": one, "copies": one.contiguous()}.items():
        attend = lambda k=key, v=value: F.scaled_dot_product_attention(asks, k, v)
        spent[name] = milliseconds(attend, repeat=30)
        mib = key.untyped_storage().nbytes() / 2**20  # keys and values share it
        print(f"{keys:4} keys   {name:8} {mib:7.2f} MiB {spent[name]:8.3f} ms")
widgets.came_out("7.D", round(spent["copies"] / spent["one head"], 1))

# %% [markdown]
# The multiplications are the same in each pair. The copies take longer where they are large, and hardly longer where they are small. The extra time is spent on getting the numbers from memory. **Exercise 7.11 (3 minutes) asks what would make each number that's read worth more, and what wouldn't. Do it now.**

# %% [markdown]
# ## 7.7 What sharing costs
# *Core · 7 minutes*
#
# A shared head must serve all its query heads at once. To see whether that hurts we need a task whose heads have *different* things to do. Six items lie in an index. Each has four names and four contents, one of each kind, all of them numbers from 0 to 5. No two items share a name of the same kind. A question gives one name of each kind, often of different items, and wants the contents that go with them. That's four lookups at once, for a layer with four query heads of size 8.

# %%
question, items, target = lookups.make_batch(1, torch.Generator().manual_seed(0))
numbers = items.view(lookups.ITEMS, 2, lookups.KINDS, lookups.ITEMS).argmax(-1)
asked = question.view(lookups.KINDS, lookups.ITEMS).argmax(-1)
print("asked:", asked.tolist(), "  wanted:", target[0].tolist())
for item, (name, content) in enumerate(numbers.tolist()):
    print(f"item {item}   names {name}   contents {content}")

# %% [markdown]
# Models with four, two or one head of keys and values were trained alike, each from five seeds (`python -m experiments lookups`, some minutes, so the numbers come with the course). If you can do $n$ of the four lookups and guess the rest (right one time in six), you get $(n + (4 - n)/6) / 4$.

# %%
rows = read_rows("lookups")


def measured(start, heads):
    """For each seed: the accuracy after so many updates."""
    runs = {}
    for row in rows:
        if row["start"] == start and int(row["num_kv_heads"]) == heads:
            run = runs.setdefault(int(row["seed"]), {})
            run[int(row["step"])] = float(row["accuracy"])
    return runs


# %%
def show(name, start, heads, step):
    found = [f"{run[step]:.2f}" for run in measured(start, heads).values()]
    print(f"{name:19} {step:4} updates  ", *found)


fresh = "from random weights"
for heads in (4, 2, 1):
    show(f"H_kv = {heads}", fresh, heads, 360)

# %% [markdown]
# Both that share are behind. A delay and a lack look the same at one budget, though. Let's train on, the single heads more than ten times as long. Beside them we put a single shared head of size 32.

# %%
widgets.predict(
    "7.E",
    "Given more updates, which of them get all four lookups right with every seed?",
    choices=["two heads and one head", "two heads, but not one", "neither"],
)

# %%
models = {f"H_kv = {heads}": measured(fresh, heads) for heads in (4, 2, 1)}
longer = measured("trained on", 1)  # the single heads, for longer
for seed, run in longer.items():
    models["H_kv = 1"][seed] |= run
models["one, of size 32"] = measured("keys and values of 32", 1)

# %%
ax = plotting.new_axes(8.0, 4.2)
for (name, runs), color in zip(models.items(), plotting.COLORS, strict=False):
    for run in runs.values():
        line = ax.plot(list(run), list(run.values()), color=color)[0]
    line.set_label(name)
levels = {f"{n} solved": (n + (4 - n) / 6) / 4 for n in range(5)}
plotting.mark_levels(ax, levels).set(xscale="log", xlim=(45, 4005), ylim=(0.1, 1.03))
ax.set(xlabel="updates (log)", ylabel="share of right contents")
ax.set_xticks([45, 90, 180, 360, 1080, 4005], [45, 90, 180, 360, 1080, 4005])
ax.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
ax.minorticks_off()

# %%
plotting.show(
    ax,
    "Accuracy against updates (log), a line for each seed. Four key/value heads are at "
    "1 first, two and four of five of size 32 come later. The fifth stays just above "
    "three solved, single heads of size 8 at that line or the one below, to the end.",
)
for name, runs in models.items():
    at = "  ".join(f"{run[1080]:.2f}" for run in runs.values())
    hits = [[step for step, a in run.items() if a >= 0.95] for run in runs.values()]
    first = [min(steps, default="never") for steps in hits]
    print(f"{name:16} after 1080 updates {at}   0.95 after {first}")
for name in ("H_kv = 1", "one, of size 32"):
    ends = "  ".join(f"{run[4005]:.2f}" for run in models[name].values())
    print(f"{name:16} after 4005 updates {ends}")
widgets.came_out("7.E", "two heads, but not one")

# %% [markdown]
# *Two heads were late, but by 1,080 updates every seed does all four lookups. One head of size 8 gets no further. After 4,005 updates, four of the five seeds are at the line of three lookups and one is close to the line below.*
#
# Is there no room for four lookups in one head of size 8? There is. Put the six names of a kind on a circle, which takes two numbers of the key, and the contents likewise in the value. Four kinds take eight. `by_hand` sets such weights:

# %% tags=["nbval-ignore-output"]
model = lookups.by_hand()  # one shared head of size 8
print(f"set by hand {lookups.accuracy(model):.2f}")
for step, right in lookups.train(model, 135, seed=0):
    print(f"after {step:3} more updates {right:.2f}")

# %% [markdown]
# The weights exist, and training keeps them. From random weights it didn't find them in 4,005 updates. (That may be slowness and not a wall. With a smaller learning rate and four times as many updates, one of the two seeds we tried came close. Set `lookups.RATE = 3e-3` and `torch.manual_seed(1)`, and run `lookups.train(lookups.Lookups(1), 16200, seed=1)`, a few minutes.) The fourth color is a single shared head, too, with a key and a value as wide as those of four heads together (so its queries are wider, and its cache saves nothing). It learns all four lookups with four of the five seeds, and the fifth gets no further than three. What sharing makes hard here is the learning, and room to spare makes it easier. **Exercise 7.9 (20 minutes)** asks where the room helps, in the key or in the value.
#
# The task was made to show a cost: tiny heads with nothing in common to share. For language models the papers report quality close to multi-head attention with a handful of groups (Ainslie et al. 2023, section 3).

# %% [markdown]
# ## 7.8 From a trained model
# *More · 6 minutes*
#
# A multi-head model that's already trained need not be thrown away. Ainslie et al. make each shared head the **mean** of the heads of its group, and train a little more ("uptraining"; they spend 5 % of the original training). Four heads of size 1 with the rows 1, 3, 10 and 20 become, in two groups, 2 and 15. **Exercise 7.5 (10 minutes)** asks for that.
#
# They compare the mean with keeping the first head and dropping the rest. We do that in each group. Our four-head models had 900 updates, and 5 % of that is 45.

# %%
widgets.predict(
    "7.F",
    "Two heads after 45 more updates: which are better?",
    choices=["the means of the groups", "the first of each group", "no difference"],
)

# %%
print("share of right contents, five seeds")
for heads in (2, 1):
    print(f"{heads} of keys and values")
    for start in ("mean of the group", "first of the group"):
        for more in (0, 45, 90, 135, 180):
            show(start, start, heads, 900 + more)
    for step in (45, 405, 945, 1080):
        show(fresh, fresh, heads, step)
widgets.came_out("7.F", "the means of the groups")

# %% [markdown]
# Right after the conversion every model is damaged. First heads leave about 0.58 for two heads, which is the level of two lookups solved and two guessed. After 45 updates all five with two means are mended, and first heads need far longer. (Look at the rows from random weights: 45 updates are nothing for them, and by 7.7 they needed 405 to 900 to get to 0.95.) At the end models that shared from the start do as well. What a conversion saves is the updates that the trained model has already had.
#
# With a single head the same numbers tell another story. After 45 updates, with four of the five seeds the means lie below the model that shared from the start and had as many updates in all (945). After 180 they have caught up, at three lookups or a little less. First heads are still behind. No conversion of ours found the weights that 7.7 set by hand, within these updates.

# %% [markdown]
# ## What goes wrong
# *More · 4 minutes*
#
# **The cache hands back its unwritten tail.** A cache with room for 8 positions has 5 written ones, and all 8 go into the attention. A key of zeros has the score 0, and $e^0 = 1$. It gets weight like any other:

# %%
# each (B, H, L, d_head)
query, keys, values = torch.randn(3, 1, 1, 5, 4, generator=rng)
last = query[:, :, -1:]
right, _ = attention.scaled_dot_product_attention(last, keys, values)
room = [F.pad(t, (0, 0, 0, 3)) for t in (keys, values)]  # (B, H, 8, d_head)
wrong, weights = attention.scaled_dot_product_attention(last, *room)
print(f"off by {(wrong - right).abs().max():.2f}", end="   ")
print(f"weight on unwritten keys {weights[..., 5:].sum():.2f}")

# %% [markdown]
# A test that compares cached with uncached outputs finds this at once.
#
# **`repeat` for `repeat_interleave`.** It gives 0 1 0 1 0 1 where 0 0 0 1 1 1 is meant. The shape is right, the partners are wrong:

# %%
met = torch.arange(2.0).view(1, 2, 1, 1)  # (B, H_kv=2, L=1, d_head=1): head j holds j
print("repeat            ", met.repeat(1, 3, 1, 1).flatten().int().tolist())
print("repeat_interleave ", met.repeat_interleave(3, dim=1).flatten().int().tolist())

# %% [markdown]
# A model that's *trained* with `repeat` learns just as well. For it that's only another numbering of the query heads. Weights that were trained the one way don't work the other way, unless you renumber them, and that is **exercise 7.3 (10 minutes)**.

# %% [markdown]
# ## The whole thing
# *Core · 2 minutes*
#
# Unfold this cell for the class of lesson 06, put together from the library's functions. (You write such functions yourself in exercises 7.4, 7.6 and 7.7, where the library's are off limits.) `NEW` marks what this lesson added.

# %% tags=["whole"]
class CausalSelfAttention(nn.Module):
    """Causal self-attention whose heads may share keys and values, and that can cache.

    Without a cache ``x`` is the whole text, with one it is what comes next.
    """

    def __init__(self, d_model, num_heads, num_kv_heads=None):
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads  # NEW
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("num_kv_heads must divide num_heads, and that d_model")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        d_kv = num_kv_heads * (d_model // num_heads)  # NEW
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_kv)  # NEW: smaller
        self.v_proj = nn.Linear(d_model, d_kv)  # NEW: smaller
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        # (B, H, L_q, d_head), then twice (B, H_kv, L_q, d_head)
        q = multi_head.split_heads(self.q_proj(x), self.num_heads)
        k = multi_head.split_heads(self.k_proj(x), self.num_kv_heads)
        v = multi_head.split_heads(self.v_proj(x), self.num_kv_heads)
        if cache is not None:  # NEW
            k, v = cache.update(k, v)  # (B, H_kv, L_k, d_head)
        group = self.num_heads // self.num_kv_heads  # NEW
        # each (B, H, L_k, d_head)
        k, v = (multi_head.repeat_kv(t, group) for t in (k, v))  # NEW
        mask = masks.causal_mask(q.shape[2], k.shape[2])  # NEW: bottom-right
        heads, _ = attention.scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(multi_head.merge_heads(heads))  # (B, L_q, d_model)

# %% [markdown]
# With the same weights it does what the library's layer does, whole or piece by piece, with either of the two caches:

# %%
torch.manual_seed(0)
x = torch.randn(2, 9, 24)  # (B, L, d_model)
for heads in (6, 2, 1):
    mine = CausalSelfAttention(24, 6, heads).requires_grad_(False)
    library = multi_head.MultiHeadAttention(24, 6, num_kv_heads=heads)
    library.load_state_dict(mine.state_dict())
    want = library(x, mask=masks.causal_mask(9)).detach()
    for cache in (JoinedCache(), KVCache(2, heads, max_len=9, d_head=4)):
        steps = torch.cat([mine(new, cache) for new in x.split([4, 3, 1, 1], dim=1)], 1)
        same = [torch.allclose(y, want, atol=1e-6) for y in (mine(x), steps)]
        print(f"H_kv = {heads}, {type(cache).__name__}: equal whole, in pieces: {same}")

# %% [markdown]
# ## In practice
# *More · 2 minutes*
#
# - `F.scaled_dot_product_attention(..., enable_gqa=True)` takes fewer key/value heads as they are. Without that argument PyTorch refuses them, unless there is only one, which broadcasts.
# - Other names for `num_kv_heads`: `num_key_value_heads` (Hugging Face), `n_kv_heads` (Meta's Llama), `n_query_groups` (LitGPT).
# - Servers keep the cache in pages, so that room is set aside as a text grows and not for the longest possible one (vLLM: Kwon et al. 2023). Keeping it in 8 bits or fewer shrinks $s$ in the formula of 7.4. A sliding window (lesson 05) limits $L$.
# - As a rule, rotary positions (lesson 08) are applied to the keys *before* they enter the cache.

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **What is computed again**: all the work at the old positions, in every layer, at every step. A new position reads only their keys and values. With a causal mask these never change, so a cache keeps them.
# 2. **The cache changes the time, not the text.** The longer the text, the more is gained. (*More*, from 7.3: in pieces of any size, if the mask is aligned bottom-right.)
# 3. **Bytes**: $2 \cdot N \cdot B \cdot H_{kv} \cdot L \cdot d_{head} \cdot s$. With a key/value head for every head, five conversations of 8,192 tokens take more memory than Llama 3 8B's weights.
# 4. **Sharing**: query head $h$ meets key/value head $\lfloor h / G \rfloor$. The cache, the reading and two projections shrink, and the scores don't. It can cost accuracy. In our task two heads of size 8 were late, and one hadn't learned all four lookups after 4,005 updates, although weights for them exist. A shared head four times as wide did with four of five seeds.
# 5. (*More*, from 7.8) **Converting**: the mean of each group, then a short training. In our task that mended two heads, and didn't bring one past three lookups.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $H$, $H_{kv}$ | query heads, key/value heads | whole numbers; $H_{kv}$ divides $H$ |
# | $G = H / H_{kv}$ | query heads in a group | a whole number |
# | $q$ | queries of the new positions | $(B, H, L_q, d_{head})$ |
# | $k$, $v$ | keys, values of all positions so far | $(B, H_{kv}, L_k, d_{head})$ |
# | weights of `k_proj`, `v_proj` | as `nn.Linear` stores them | $(H_{kv} \cdot d_{head}, d_{model})$ |
# | $N$, $s$ | layers, bytes per number | whole numbers |

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# ## Check yourself
# *Core · 2 minutes*
#
# <details><summary>1. A model has 40 layers, 40 heads, 8 key/value heads and heads of size 128. By what factor does its cache shrink if it is changed to multi-query attention?</summary>
#
# **By 8.** Only the number of key/value heads changes, from 8 to 1. (The 40 query heads were never in the cache.)
# </details>
#
# <details><summary>2. H = 8, H_kv = 4. Which key/value head does query head 5 meet?</summary>
#
# **Head 2.** Groups have 2 members, and 5 // 2 is 2. (5 % 4 = 1 is what `repeat` would give.)
# </details>
#
# <details><summary>3. A cached step feeds 3 new positions after 10 old ones. What shape is its causal mask, and what does its first row allow?</summary>
#
# **(3, 13), and the first row allows the first 11 keys:** the ten old ones and itself.
# </details>
#
# <details><summary>4. Decoding gets faster with fewer key/value heads. Does that show that there are fewer multiplications in the scores?</summary>
#
# **No.** There are still H maps of scores (counted in 7.6). What shrinks is the reading, and two projections.
# </details>

# %% [markdown]
# ## When you need it
# *More · 10 minutes*
#
# **Which of these make a copy?** `repeat_interleave` does, and for a moment the small cache is as large as the full one. `expand` gives an axis the stride 0, and all heads of a group read the same memory. But a `reshape` of that must copy.

# %%
x = torch.randn(1, 2, 3, 4, generator=rng)  # (B, H_kv=2, L=3, d_head=4)
expanded = x[:, :, None].expand(1, 2, 3, 3, 4)  # (B, H_kv, G=3, L, d_head), a view
forms = {"cached": x, "expand": expanded, "repeated": x.repeat_interleave(3, dim=1)}
for name, tensor in forms.items():
    print(f"{name:9} {str(tuple(tensor.shape)):16}", end="")
    print(f"memory {tensor.untyped_storage().nbytes():4} bytes")

# %% [markdown]
# A matrix product that broadcasts over the group axis copies, too. PyTorch writes the repeated keys out before it multiplies. Nothing is repeated if you write the queries of a group below one another, as the rows of one matrix:

# %% tags=["nbval-ignore-output"]
# (B=1, H_kv=2, G=8, L_q=1, d_head) and (B, H_kv, L_k, d_head)
q, k = torch.randn(1, 2, 8, 1, 64), torch.randn(1, 2, 4096, 64)
products = {
    "repeat_interleave": lambda: q.flatten(1, 2) @ k.repeat_interleave(8, dim=1).mT,
    "broadcast": lambda: q @ k[:, :, None].mT,
    "rows": lambda: q.flatten(2, 3) @ k.mT,  # (B, H_kv, G * L_q, d_head)
}
scores = products["rows"]().flatten()
for name, product in products.items():
    same = torch.allclose(product().flatten(), scores, atol=1e-4)
    print(f"{name:18} the same scores: {same}  {milliseconds(product):6.2f} ms")

# %% [markdown]
# **The two ends.** With $H_{kv} = H$ the layer is `nn.MultiheadAttention` again. With $H_{kv} = 1$ the only key/value head broadcasts over all query heads. A grouped layer is a multi-head layer whose key and value projections happen to be equal inside each group. Repeat the rows of its `k_proj` and `v_proj`, and you get it.
#
# **A cache that forgets.** With a cache of fixed size a model can write forever. Exercise 7.8 (15 minutes) builds one, and at the end of the exercises it goes into the language model.
#
# **Keeping something smaller than keys and values.** Multi-head *latent* attention (MLA, DeepSeek-AI 2024, section 2.1) keeps, for each position, one vector $c$ from which all heads' keys and values are made by a matrix each, plus one small key that carries the rotary position. Since $q^\top (W c) = (W^\top q)^\top c$, the matrix can be moved to the query, and the keys are never built. (Exercise 7.10, 15 minutes, does that.) Here is how many numbers each form keeps per position and layer:

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
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Shazeer, *Fast Transformer Decoding: One Write-Head is All You Need*, 2019, sections 2.4 and 3: why writing one token at a time waits for memory, and multi-query attention as the remedy.
# - Ainslie et al., *GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints*, 2023, sections 2.1, 2.2 and 3: means of groups, uptraining, and what it cost in quality.
# - Touvron et al., *Llama 2: Open Foundation and Fine-Tuned Chat Models*, 2023, appendix A.2: grouped against multi-head and multi-query attention in a large model.
# - Llama Team, *The Llama 3 Herd of Models*, 2024, table 3: the shape that 7.4 counts with.
# - DeepSeek-AI, *DeepSeek-V2*, 2024, section 2.1 and table 1: latent attention, and how its cache compares.
# - Kwon et al., *Efficient Memory Management for Large Language Model Serving with PagedAttention*, 2023: the cache in pages.

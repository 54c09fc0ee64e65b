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
# At the end you can generate with a key/value cache, say how many bytes it takes, and shrink it by letting heads share keys and values.
#
# {{colab_link}} · about 75 minutes · builds on lessons 05 and 06

# %% tags=["setup"]
import sys
import timeit

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from tqdm import tqdm

from course_utils import attention, masks, multi_head, plotting, widgets
from course_utils.kv_cache import KVCache
from course_utils.multi_head import MultiHeadAttention, merge_heads, split_heads
from course_utils.widgets.cache_calculator import MODELS

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # the tensors here are small: more threads would wait for one another

# %% [markdown]
# **You will learn to**
#
# 1. say what is computed again and again when a model generates, and write the cache that keeps it;
# 2. show that generating with the cache gives what generating without it gives, one token or several at a time;
# 3. compute the size of a cache in bytes, for your model and for published ones;
# 4. share key/value heads among query heads (grouped-query and multi-query attention), and say which head meets which;
# 5. convert a trained multi-head layer, and weigh quality against memory.
#
# Lesson 06 gave every head its own queries, keys and values. That is fine for training. This lesson is about what it costs when the model *writes*.

# %% [markdown]
# ## Predict first
#
# A language model writes one token at a time. Each new token is appended, and the sequence so far goes through the model again. Say it starts from 1 token and goes on until the model has read 6. An attention layer computes one
# key for each token that goes in. How many keys does it compute altogether? And how many of them are different? Write two numbers down.

# %%
print("keys computed, by hand:", " + ".join(str(n) for n in range(1, 7)), "=", sum(range(1, 7)))
torch.manual_seed(0)
layer, tokens = MultiHeadAttention(16, 4), torch.randn(1, 6, 16)  # tokens (B=1, L=6, d_model=16)
seen = []
counter = layer.k_proj.register_forward_hook(lambda module, inputs, output: seen.extend(output[0]))
with torch.no_grad():
    for length in range(1, 7):
        layer(tokens[:, :length], mask=masks.causal_mask(length))
counter.remove()
different = {tuple((1000 * key).round().int().tolist()) for key in seen}
print("keys computed, counted:", len(seen), "  different:", len(different))

# %% [markdown]
# The number of keys computed grows with the square of the length; the number of different keys is the length. All others were known already.

# %% [markdown]
# ## 7.1 Generating: what is computed again
#
# A real model has several layers. Is the key of an old position still the same when a later layer computes it? Its input is the output of the layer below, and that depends on other positions.
#
# **Predict first.** Two layers, a sequence of 5, then a sixth token is appended. Which outputs of the first five positions change with a causal mask? Which without?

# %%
torch.manual_seed(1)
stack = nn.ModuleList(MultiHeadAttention(16, 4) for _ in range(2)).requires_grad_(False)


def run(x, causal=True):
    for block in stack:
        mask = masks.causal_mask(x.shape[1]) if causal else None  # (1, 1, L, L)
        x = x + block(x, mask=mask)  # (B, L, d_model)
    return x


for causal in (True, False):
    before, after = run(tokens[:, :5], causal), run(tokens, causal)[:, :5]  # (B, 5, d_model)
    moved = (after - before).abs().amax(dim=(0, 2)) > 1e-4  # (5,)
    print(f"causal {causal!s:5}   which of the first five outputs changed: {moved.tolist()}")

# %% [markdown]
# With a causal mask, none: nothing that comes later can change what an earlier position computes, in any layer. So keys and values of old positions can be **kept**. Without the mask everything moves, and a cache would be wrong.
#
# Here is generation that keeps nothing. Our toy model has no vocabulary: the next input is the last output, squeezed by $\tanh$. (Real models turn the last output into a token; lesson 12 does.)

# %%
def next_input(outputs):
    return torch.tanh(outputs[:, -1:])  # (B, 1, d_model)


def generate_again(x, steps):
    for _ in range(steps):
        x = torch.cat([x, next_input(run(x))], dim=1)  # the whole sequence goes in: (B, L, d_model) -> (B, L + 1, d_model)
    return x


written = generate_again(tokens, 10)
print("from", tuple(tokens.shape), "to", tuple(written.shape))

# %% [markdown]
# Only the *last* output is used in a step. What does it need? For each layer: the **query** of the last position, and the keys and values of **all** positions. The queries of old positions are of no use any more: their outputs were computed when they
# were new. That is why the thing we build is called a key/value cache, with no query in it.

# %% [markdown]
# ## 7.2 A cache
#
# By hand first, with one head of size 1. The keys 2 and 5 are kept. A new position comes with the key 7. Room for four is set aside, so the tensor goes from `[2, 5, 0, 0]` to `[2, 5, 7, 0]`, and what is handed back is `[2, 5, 7]`: not the last zero.
#
# The first form that comes to mind joins the old keys and the new one. It copies everything at every step. The second sets aside room for `max_len` positions once, and writes into it:

# %%
class JoinedCache:
    def __init__(self):
        self.keys = self.values = None

    def update(self, key, value):  # (B, H_kv, L_new, d_head), twice
        if self.keys is not None:
            key, value = torch.cat([self.keys, key], dim=2), torch.cat([self.values, value], dim=2)
        self.keys, self.values = key, value  # (B, H_kv, length, d_head)
        return key, value


# %%
class RoomyCache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):  # (B, H_kv, L_new, d_head), twice
        end = self.length + key.shape[2]
        self.keys[:, :, self.length : end] = key
        self.values[:, :, self.length : end] = value
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]  # (B, H_kv, length, d_head)


# %% [markdown]
# `H_kv` is the number of key/value heads; so far it is `H`. The library's `KVCache` is the second form with errors that explain themselves. All three hand back the same:

# %%
B, H_kv, max_len, d_head = 2, 3, 8, 5
caches = JoinedCache(), RoomyCache(B, H_kv, max_len, d_head), KVCache(B, H_kv, max_len, d_head)
rng = torch.Generator().manual_seed(2)
for new in (4, 1, 1):
    key, value = torch.randn(2, B, H_kv, new, d_head, generator=rng)  # two of (B, H_kv, L_new, d_head)
    handed_back = [cache.update(key, value) for cache in caches]
    for keys, values in handed_back[1:]:
        assert torch.equal(keys, handed_back[0][0]) and torch.equal(values, handed_back[0][1])
    print(f"{new} new: keys so far {tuple(keys.shape)}, room {tuple(caches[1].keys.shape)}")

try:
    caches[2].update(*torch.randn(2, B, H_kv, 3, d_head))
except ValueError as problem:
    print("ValueError:", problem)

# %% [markdown]
# ## 7.3 With the cache = without it
#
# Generation with a cache feeds only what is new. At first that is the whole prompt (**prefill**), afterwards one position a step (**decode**). The mask must fit: `L_q` new queries, `L_k` keys so far. It is the bottom-right causal mask of lesson 05,
# whose last query sees every key.

# %%
def run_cached(new, caches):
    for block, cache in zip(stack, caches, strict=True):
        mask = masks.causal_mask(new.shape[1], cache.length + new.shape[1])  # (1, 1, L_q, L_k)
        new = new + block(new, mask=mask, cache=cache)  # (B, L_q, d_model)
    return new


def generate_cached(x, steps):
    caches = [KVCache(x.shape[0], 4, x.shape[1] + steps, 4) for _ in stack]
    new = x
    for _ in range(steps):
        new = next_input(run_cached(new, caches))  # (B, 1, d_model)
        x = torch.cat([x, new], dim=1)
    return x


assert torch.allclose(generate_cached(tokens, 10), written, atol=1e-5)
print("ten steps with the cache give the same sequence as ten steps without it")

# %% [markdown]
# Several at a time works the same way, in any pieces. **Predict first:** what goes wrong below if the mask is aligned top-left, so that the first query of a piece sees only the first key?

# %%
whole = run(written)  # (B, L=16, d_model), no cache
for pieces in ([16], [1] * 16, [6] + [1] * 10, [5, 4, 7]):
    caches = [KVCache(1, 4, 16, 4) for _ in stack]
    outputs = torch.cat([run_cached(piece, caches) for piece in written.split(pieces, dim=1)], dim=1)  # (B, L, d_model)
    assert torch.allclose(outputs, whole, atol=1e-5)
    print(f"pieces {str(pieces[:4])[:-1] + (', ...]' if len(pieces) > 4 else ']'):20} same outputs")

caches = [KVCache(1, 4, 16, 4) for _ in stack]
run_cached(written[:, :9], caches)
x = written[:, 9:]  # (B, 7, d_model): the last piece, with the wrong mask
for block, cache in zip(stack, caches, strict=True):
    top_left = torch.ones(7, 16, dtype=torch.bool).tril()  # (L_q, L_k)
    x = x + block(x, mask=top_left, cache=cache)
print(f"top-left mask: outputs off by up to {(x - whole[:, 9:]).abs().max():.2f}")

# %% [markdown]
# What was saved? Let $n$ new positions go into a layer and meet $m$ positions, themselves among them. As in lesson 06, the four projections take $4 \, n \, d_{model}^2$ multiplications, scores and weighted sums together $2 \, n \, m \, d_{model}$.
# First the formula is held to PyTorch's counter, halved because it counts a multiplication and an addition each. (We ask for the weights: not every version of PyTorch counts what happens inside its fused kernel.)

# %%
def multiplications(compute):
    with FlopCounterMode(display=False) as count:
        compute()
    return count.get_total_flops() // 2


def by_formula(n, m, d_model=16):
    return 4 * n * d_model**2 + 2 * n * m * d_model


cache = KVCache(1, 4, 16, 4)
for n in (9, 1, 3):
    step = lambda x=written[:, :n]: stack[0](x, cache=cache, return_weights=True)
    counted = multiplications(step)
    assert counted == by_formula(n, cache.length)
    print(f"{n} new, {cache.length:2} in all: {counted:6,} by formula and counter")

# %% [markdown]
# Then for whole generations, with both layers. Without a cache $n$ and $m$ are the length so far; with it, only the prompt goes in at once, and then one position at a time:

# %%
prompt = torch.randn(1, 4, 16, generator=rng)  # (B, L, d_model)
for steps in (5, 20, 60):
    m = range(prompt.shape[1], prompt.shape[1] + steps)  # the lengths, step by step
    n = [prompt.shape[1]] + [1] * (steps - 1)  # with a cache: the prompt, then singly
    again = len(stack) * sum(map(by_formula, m, m))
    cached = len(stack) * sum(map(by_formula, n, m))
    print(f"{steps:2} steps   again {again:9,}   cached {cached:7,}", end="   ")
    print(f"ratio {again / cached:5.1f}")

# %% [markdown]
# Each step without a cache pays for the whole sequence, so the ratio grows with the length. Time is saved; memory is the price.

# %% [markdown]
# ## 7.4 The size of a cache
#
# For every layer and every sequence, each position keeps a key and a value for every key/value head:
#
# $$\text{bytes} = 2 \cdot N \cdot B \cdot H_{kv} \cdot L \cdot d_{head} \cdot s ,$$
#
# with $N$ layers, $B$ sequences side by side, $H_{kv}$ key/value heads, $L$ positions, heads of size $d_{head}$, and $s$ bytes per number (4 for float32, 2 for float16 and bfloat16). The 2 is for keys and values.
#
# By hand: 2 layers, 1 sequence, 3 key/value heads, 5 positions, heads of size 4, float32. One tensor has $3 \cdot 5 \cdot 4 = 60$ numbers, 240 bytes. There are two of them in each of two layers.

# %%
def cache_bytes(num_layers, batch_size, num_kv_heads, length, d_head, bytes_per_number):
    return 2 * num_layers * batch_size * num_kv_heads * length * d_head * bytes_per_number


tensors = [torch.zeros(1, 3, 5, 4) for layer_index in range(2) for kind in ("keys", "values")]  # each (B, H_kv, L, d_head)
measured = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
print("by hand", 2 * 2 * 240, "  formula", cache_bytes(2, 1, 3, 5, 4, 4), "  tensors", measured, "  KVCache", 2 * KVCache(1, 3, 5, 4).num_bytes)
assert measured == cache_bytes(2, 1, 3, 5, 4, 4) == 2 * KVCache(1, 3, 5, 4).num_bytes

# %% [markdown]
# Now the shapes of published models. Gigabytes need not be set aside to measure them: we allocate one layer with room for 64 positions in float16, measure it, and multiply by what we left out. (The source of each shape stands in
# `course_utils/widgets/cache_calculator.py`.)

# %%
length, room = 4096, 64
print(f"{'':15} layers heads kv_heads d_head   GiB by formula   GiB from tensors   (1 sequence, {length} tokens, float16)")
for model in MODELS:
    one_layer = KVCache(1, model.num_kv_heads, room, model.d_head, dtype=torch.float16)
    from_tensors = one_layer.num_bytes * model.num_layers * (length // room)
    formula = cache_bytes(model.num_layers, 1, model.num_kv_heads, length, model.d_head, 2)
    assert from_tensors == formula == model.cache_bytes(1, length, 2)
    print(f"{model.name:15} {model.num_layers:6} {model.num_heads:5} {model.num_kv_heads:8} {model.d_head:6}   {formula / 2**30:14.3f}   {from_tensors / 2**30:16.3f}")

# %% [markdown]
# That is for *one* sequence. A server that writes for many users multiplies it by the batch, and a long document by its length. (GPT-2 XL was trained for shorter sequences than this; the formula does not mind.) Look at the columns `heads` and `kv_heads`: most of these models have fewer key/value heads than heads. What would their
# caches be without that?

# %%
labels = {"H_kv = H": lambda m: m.num_heads, "as published": lambda m: m.num_kv_heads, "H_kv = 1": lambda m: 1}
ax = plotting.new_axes(8.0, 3.8)
for (label, heads), color, marker in zip(labels.items(), plotting.COLORS, "^oD", strict=False):
    sizes = [m.cache_bytes(1, length, 2, heads(m)) / 2**30 for m in MODELS]
    ax.plot(range(len(MODELS)), sizes, marker, color=color, ms=6 if marker == "o" else 12, mew=1.6, fillstyle="full" if marker == "o" else "none", label=label)
ax.set(ylabel="GiB for one sequence (log scale)", yscale="log", ylim=(0.01, 200))
ax.set_xticks(range(len(MODELS)), ["\n".join(m.name.rsplit(" ", 1)) for m in MODELS], fontsize=9)
ax.legend(frameon=False, ncols=3, fontsize=9, loc="upper left")
plotting.show(ax, "Three marks for each of seven models, on a logarithmic scale: the cache with as many key/value heads as heads, as published, and with one. The published mark of GPT-2 XL and Llama 2 7B is the first, of Falcon 7B the last, of the others between.")

# %% [markdown]
# *Notice where the round mark stands. For GPT-2 XL and Llama 2 7B inside the triangle of the full cache, for Falcon 7B inside the diamond of the smallest possible one, for the others in between.*

# %% [markdown]
# ## 7.5 Which head meets which
#
# The idea is small. Keep all $H$ query heads, but only $H_{kv}$ key/value heads, and let groups of $G = H / H_{kv}$ query heads share one:
#
# - **multi-head** attention (MHA): $H_{kv} = H$, nothing is shared;
# - **grouped-query** attention (GQA): $1 < H_{kv} < H$;
# - **multi-query** attention (MQA): $H_{kv} = 1$, all query heads share the same keys and values.
#
# The convention is that *neighbors* share: query head $h$ meets key/value head $\lfloor h / G \rfloor$. By hand for $H = 6$ and $H_{kv} = 2$, so $G = 3$: heads 0, 1, 2 meet head 0, and 3, 4, 5 meet head 1.
#
# **Predict first.** PyTorch has `repeat` and `repeat_interleave`. Which of them gives 0 0 0 1 1 1?

# %%
H, H_kv, L, d_head = 6, 2, 3, 4
G = H // H_kv
x = torch.arange(float(H_kv)).view(1, H_kv, 1, 1).expand(1, H_kv, L, d_head)  # (B, H_kv, L, d_head): head j is full of j
print("by hand           ", [h // G for h in range(H)])
shared = {
    "loop": torch.stack([x[:, h // G] for h in range(H)], dim=1),
    "repeat_interleave": x.repeat_interleave(G, dim=1),
    "expand, reshape": x[:, :, None].expand(1, H_kv, G, L, d_head).reshape(1, H, L, d_head),
    "course_utils": multi_head.repeat_kv(x, G),
    "repeat": x.repeat(1, G, 1, 1),
}
for name, heads in shared.items():  # each (B, H, L, d_head)
    print(f"{name:18}", heads[0, :, 0, 0].int().tolist(), tuple(heads.shape))
assert all(torch.equal(shared["loop"], heads) for name, heads in shared.items() if name != "repeat")

# %% [markdown]
# `repeat` gives the same *shape* and other partners. Nothing stops, and that is what makes it the classic mistake of this lesson.
#
# The first two make copies: for a moment the small cache is as large as the full one. `expand` copies nothing: it gives an axis a stride of 0, so that all $G$ heads read the same memory. The `reshape` behind it must copy after all. If we leave
# the group axis where it is, no copy is needed, because the product broadcasts over it:

# %%
x = torch.randn(1, H_kv, L, d_head, generator=rng)  # (B, H_kv, L, d_head)
expanded = x[:, :, None].expand(1, H_kv, G, L, d_head)  # (B, H_kv, G, L, d_head), a view
for name, tensor in {"cached": x, "expand": expanded, "expand, reshape": expanded.reshape(1, H, L, d_head), "repeat_interleave": x.repeat_interleave(G, dim=1)}.items():
    print(f"{name:18} {str(tuple(tensor.shape)):16} strides {str(tensor.stride()):20} memory {tensor.untyped_storage().nbytes():4} bytes")

query = torch.randn(1, H, L, d_head, generator=rng)  # (B, H, L, d_head)
copied = query @ x.repeat_interleave(G, dim=1).mT  # (B, H, L, L)
grouped = query.view(1, H_kv, G, L, d_head) @ x[:, :, None].mT  # (B, H_kv, G, L, d_head) @ (B, H_kv, 1, d_head, L)
assert torch.allclose(grouped.flatten(1, 2), copied, atol=1e-6)
print("grouped product", tuple(grouped.shape), "= product with copies", tuple(copied.shape))

# %% [markdown]
# ## 7.6 Grouped-query attention
#
# The formula is that of lesson 06 with one index changed:
#
# $$\text{head}_h = \operatorname{softmax}\!\Big(\frac{Q_h K_{\lfloor h/G \rfloor}^\top}{\sqrt{d_{head}}}\Big)\, V_{\lfloor h/G \rfloor} , \qquad h = 0, \dots, H - 1 .$$
#
# $Q_h$ has shape $(L_q, d_{head})$, $K_j$ and $V_j$ $(L_k, d_{head})$, $j = 0, \dots, H_{kv} - 1$. The loop writes exactly this:

# %%
def grouped_loop(q, k, v, mask):
    group, heads = q.shape[1] // k.shape[1], []
    for h in range(q.shape[1]):
        key, value = k[:, h // group], v[:, h // group]  # (B, L_k, d_head)
        output, _ = attention.scaled_dot_product_attention(q[:, h], key, value, mask[:, 0])  # (B, L_q, d_head)
        heads.append(output)
    return torch.stack(heads, dim=1)  # (B, H, L_q, d_head)


def grouped(q, k, v, mask):
    B, H, L_q, d_head = q.shape
    q = q.view(B, k.shape[1], -1, L_q, d_head)  # (B, H_kv, G, L_q, d_head)
    scores = q @ k[:, :, None].mT / d_head**0.5  # (B, H_kv, G, L_q, L_k)
    weights = attention.masked_softmax(scores, mask[:, :, None])  # the mask gets a group axis: (1, 1, 1, L_q, L_k)
    return (weights @ v[:, :, None]).flatten(1, 2)  # (B, H_kv, G, L_q, d_head) -> (B, H, L_q, d_head)


# %%
B, H, H_kv, L_q, L_k, d_head = 2, 6, 2, 5, 7, 4
q = torch.randn(B, H, L_q, d_head, generator=rng)  # (B, H, L_q, d_head)
k, v = torch.randn(2, B, H_kv, L_k, d_head, generator=rng)  # two of (B, H_kv, L_k, d_head)
mask = masks.causal_mask(L_q, L_k)  # (1, 1, L_q, L_k)
loop, vectorized = grouped_loop(q, k, v, mask), grouped(q, k, v, mask)
torch_own = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
assert torch.allclose(loop, vectorized, atol=1e-5) and torch.allclose(vectorized, torch_own, atol=1e-5)
print("loop, vectorized form and PyTorch (enable_gqa=True) agree:", tuple(vectorized.shape))

# %% [markdown]
# The projections that make keys and values become smaller too. `nn.Linear(d_model, H_kv * d_head)` keeps its weight as `(H_kv * d_head, d_model)`. The query and output projections stay.

# %%
d_model, H = 24, 6
x = torch.randn(B, 5, d_model, generator=rng)  # (B, L, d_model)
for H_kv in (6, 3, 2, 1):
    torch.manual_seed(0)
    layer = MultiHeadAttention(d_model, H, num_kv_heads=H_kv).requires_grad_(False)
    q, k, v = split_heads(layer.q_proj(x), H), split_heads(layer.k_proj(x), H_kv), split_heads(layer.v_proj(x), H_kv)
    by_hand = layer.o_proj(merge_heads(grouped(q, k, v, masks.causal_mask(5))))  # (B, L, d_model)
    assert torch.allclose(by_hand, layer(x, mask=masks.causal_mask(5)), atol=1e-5)
    shapes = "  ".join(f"{n}_proj {tuple(getattr(layer, f'{n}_proj').weight.shape)}" for n in "qkvo")
    print(f"H_kv = {H_kv}   {shapes}   parameters {sum(p.numel() for p in layer.parameters())}")

# %% [markdown]
# ## 7.7 The two ends: multi-head and multi-query
#
# With $H_{kv} = H$ every group has one member, and we must be back at lesson 06, so at PyTorch's `nn.MultiheadAttention`. With $H_{kv} = 1$ the only key/value head broadcasts over all query heads. And in between, a grouped layer *is* a multi-head layer whose key and value heads happen to be equal inside
# each group. All three are checked:

# %%
def full_layer(grouped_layer, H, H_kv):
    """The multi-head layer that does the same: each key/value head copied to every member of its group."""
    layer = MultiHeadAttention(d_model, H).requires_grad_(False)
    state = dict(grouped_layer.state_dict())
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        state[name] = state[name].unflatten(0, (H_kv, -1)).repeat_interleave(H // H_kv, dim=0).flatten(0, 1)
    layer.load_state_dict(state)
    return layer


for H_kv in (6, 2, 1):
    layer = MultiHeadAttention(d_model, H, num_kv_heads=H_kv).requires_grad_(False)
    assert torch.allclose(layer(x), full_layer(layer, H, H_kv)(x), atol=1e-5)
    print(f"H_kv = {H_kv}: equal to a multi-head layer with copied heads")

# %%
mha, ours = nn.MultiheadAttention(d_model, H, batch_first=True).requires_grad_(False), MultiHeadAttention(d_model, H, num_kv_heads=H).requires_grad_(False)
for projection, weight in zip((ours.q_proj, ours.k_proj, ours.v_proj), mha.in_proj_weight.chunk(3), strict=True):
    projection.weight.copy_(weight)
    projection.bias.zero_()  # PyTorch's biases start at zero
ours.o_proj.load_state_dict(mha.out_proj.state_dict())
assert torch.allclose(ours(x), mha(x, x, x, need_weights=False)[0], atol=1e-5)

q, k, v = torch.randn(B, H, 5, 4, generator=rng), *torch.randn(2, B, 1, 5, 4, generator=rng)  # one key/value head
everything = torch.ones(1, 1, 5, 5, dtype=torch.bool)
by_broadcasting = attention.masked_softmax(q @ k.mT / 4**0.5) @ v  # (B, H, L, d) with (B, 1, L, d): nothing to repeat
assert torch.allclose(by_broadcasting, grouped(q, k, v, everything), atol=1e-5)
print("H_kv = H is nn.MultiheadAttention; H_kv = 1 is plain broadcasting")

# %% [markdown]
# ## 7.8 Quality against memory
#
# A shared head must serve all its query heads at once. Does that cost quality? We need a task in which heads have *different* things to do. An index with four kinds of names:
#
# - there are 6 items. Each has one name and one content **of each of four kinds**: a number from 0 to 5. No two items share a name of the same kind;
# - a question gives one name of each kind, usually of four different items, and wants the four contents.
#
# Four lookups at once, with four heads. If each head has its own keys and values, each can specialize. If all share one key of size 8, that key must hold four names.

# %%
KINDS, ITEMS, H, d_head = 4, 6, 4, 8


def make_batch(n, rng):
    names = torch.rand(n, KINDS, ITEMS, generator=rng).argsort(-1)  # (n, KINDS, ITEMS): each row 0 to 5 in some order
    contents = torch.randint(0, ITEMS, (n, KINDS, ITEMS), generator=rng)  # (n, KINDS, ITEMS)
    item = torch.randint(0, ITEMS, (n, KINDS, 1), generator=rng)  # which item is asked for, by kind
    asked, target = names.gather(2, item)[..., 0], contents.gather(2, item)[..., 0]  # (n, KINDS)
    one_hot = [F.one_hot(t.mT, ITEMS).flatten(2).float() for t in (names, contents)]  # each (n, ITEMS, KINDS * 6)
    question = F.one_hot(asked, ITEMS).flatten(1)[:, None].float()  # (n, 1, KINDS * 6)
    return question, torch.cat(one_hot, dim=-1), target


question, items, target = make_batch(5, torch.Generator().manual_seed(0))
print("question", tuple(question.shape), "  items", tuple(items.shape), "  target", tuple(target.shape))

# %%
class Index(nn.Module):
    def __init__(self, num_kv_heads):
        super().__init__()
        d_model = H * d_head
        self.read_question = nn.Linear(KINDS * ITEMS, d_model)
        self.read_item = nn.Linear(2 * KINDS * ITEMS, d_model)
        self.attention = MultiHeadAttention(d_model, H, num_kv_heads=num_kv_heads)
        self.answer = nn.Linear(d_model, KINDS * ITEMS)

    def forward(self, question, items):
        items = self.read_item(items)  # (n, ITEMS, d_model)
        output = self.attention(self.read_question(question), items, items)  # (n, 1, d_model)
        return self.answer(output).view(-1, KINDS, ITEMS)  # (n, KINDS, ITEMS)


def accuracy(model):
    question, items, target = make_batch(2000, torch.Generator().manual_seed(99))
    with torch.no_grad():
        return (model(question, items).argmax(-1) == target).float().mean().item()


# %%
def train(model, steps, seed, bar):
    rng, optimizer = torch.Generator().manual_seed(seed), torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        question, items, target = make_batch(128, rng)
        loss = F.cross_entropy(model(question, items).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.update()
    return model


# %% [markdown]
# Two models for each number of key/value heads, started from different random weights. It takes a few seconds. The accuracy of guessing is 1 in 6.

# %% tags=["nbval-ignore-output"]
models, found = {}, {4: [], 2: [], 1: []}
with tqdm(total=6 * 300, desc="training", mininterval=1, file=sys.stdout) as bar:
    for H_kv in found:
        for seed in (0, 1):
            torch.manual_seed(seed)
            models[H_kv, seed] = train(Index(H_kv), 300, seed + 10, bar)
            found[H_kv].append(accuracy(models[H_kv, seed]))

scores = {H_kv: sum(each) / len(each) for H_kv, each in found.items()}
for H_kv, each in found.items():
    print(f"H_kv = {H_kv}   numbers kept {2 * H_kv * ITEMS * d_head:3}   accuracy {scores[H_kv]:.2f}   each {[f'{a:.2f}' for a in each]}")

# %% tags=["nbval-ignore-output"]
assert scores[4] > max(scores[2], scores[1]) and scores[1] > 1 / 6
ax = plotting.new_axes(5.4, 3.4)
kept = torch.tensor([2.0 * h * ITEMS * d_head for h in scores])
plotting.curves(kept, {"accuracy": torch.tensor(list(scores.values())), "guessing": torch.full((3,), 1 / 6)}, xlabel="numbers kept for one index", ylabel="accuracy", ax=ax)
for h, x_at in zip(scores, kept.tolist(), strict=True):
    ax.plot([x_at], [scores[h]], "o", color=plotting.COLORS[0])
    ax.annotate(f"H_kv = {h}", (x_at, scores[h]), (0, -14), textcoords="offset points", ha="center", fontsize=9)
ax.set(ylim=(0, 1.05), xlim=(40, 440))
ax.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1, 0.2))
plotting.show(ax, "Accuracy against the numbers kept: it rises from one key/value head to two to four, and all three lie above guessing.")

# %% [markdown]
# *Notice that the line rises: with more numbers kept, more answers are right.* The task is made to show the cost, with small heads that have nothing in common to share, and the training is short. For language models the papers below report a quality close to multi-head attention with a small number of groups. Whether that holds for your task, measure, as here.

# %% [markdown]
# ## 7.9 Converting a trained model
#
# A trained multi-head model need not be trained anew. Ainslie et al. build each new key/value head as the **mean** of the heads of its group, then train for a short while more ("uptraining"). By hand: four heads with $d_{head} = 1$ and the rows 1, 3, 10, 20, in two groups, become 2 and 15.

# %%
def pool_loop(weight, H, H_kv):
    heads, G = weight.chunk(H), H // H_kv  # H pieces of (d_head, ...)
    return torch.cat([sum(heads[j * G : (j + 1) * G]) / G for j in range(H_kv)])  # (H_kv * d_head, ...)


def pool_heads(weight, H, H_kv):
    return weight.unflatten(0, (H_kv, H // H_kv, -1)).mean(dim=1).flatten(0, 1)  # (H_kv, G, d_head, ...) -> (H_kv * d_head, ...)


def first_heads(weight, H, H_kv):
    return weight.unflatten(0, (H_kv, H // H_kv, -1))[:, 0].flatten(0, 1)  # keeps one head of each group, for comparison


rows = torch.tensor([[1.0], [3.0], [10.0], [20.0]])  # (H * d_head, d_model)
print("pooled by hand [2, 15], by code", pool_heads(rows, 4, 2).flatten().tolist())
weight = torch.randn(4 * 3, 5, generator=rng)
assert torch.allclose(pool_heads(weight, 4, 2), pool_loop(weight, 4, 2))

# %%
def convert(model, H_kv, make_heads):
    state = dict(model.state_dict())
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        state[f"attention.{name}"] = make_heads(state[f"attention.{name}"], H, H_kv)
    converted = Index(H_kv)
    converted.load_state_dict(state)
    return converted


assert accuracy(convert(models[4, 0], 4, pool_heads)) == accuracy(models[4, 0])  # groups of one: nothing changes
print("pooled into as many heads as before: the same model")

# %% [markdown]
# **Predict first.** Two key/value heads instead of four. Which will be best after a short further training: the pooled heads, the first head of each group, or a new model trained for the same number of steps?

# %% tags=["nbval-ignore-output"]
torch.manual_seed(5)
starts = {"mean of the group": convert(models[4, 0], 2, pool_heads), "first of the group": convert(models[4, 0], 2, first_heads), "new model": Index(2)}
paths = {name: [accuracy(model)] for name, model in starts.items()}
with tqdm(total=3 * 80, desc="training", mininterval=1, file=sys.stdout) as bar:
    for name, model in starts.items():
        for part in range(4):
            paths[name].append(accuracy(train(model, 20, 50 + part, bar)))

for name in paths:
    print(f"{name:20} accuracy after 0, 20, 40, 60, 80 steps: {[f'{a:.2f}' for a in paths[name]]}")
print(f"the multi-head model {accuracy(models[4, 0]):.2f}; two key/value heads from the start, all 300 steps {scores[2]:.2f}")
assert paths["mean of the group"][-1] > max(paths["new model"][-1], scores[2])

# %% tags=["nbval-ignore-output"]
lines = {name: torch.tensor(path) for name, path in paths.items()}
ax = plotting.curves(torch.arange(0, 100, 20), lines, xlabel="steps of further training", ylabel="accuracy", ax=plotting.new_axes(5.6, 3.4))
ax.set_ylim(0, 1.05)
plotting.show(ax, "Accuracy of three models with two key/value heads over 80 steps. The mean of the group starts high and rises fastest; the new model starts at guessing.")

# %% [markdown]
# *Notice where the lines start and how soon they rise.* Right after pooling the model is damaged: heads that did different things were averaged. It recovers quickly, because everything else is already in place.
#
# And it ends *above* the models with two key/value heads that were trained from the start (last line of the output). So two heads can hold what this task needs; to find it from random weights is harder. A difference after a short training is not yet a difference in what a
# model can do.

# %% [markdown]
# ## 7.10 Decode speed
#
# Why does a smaller cache make decoding *faster*, although the query heads still compute all their scores? In one step each cached number is read once and used in $G$ multiplications, one for each query head of its group. The multiplications stay the same, the reading shrinks:

# %%
B, num_heads, L, width = 4, 16, 2048, 32  # width: the size of a head
for H_kv in (16, 4, 1):
    q, k, v = torch.randn(B, num_heads, 1, width), *torch.randn(2, B, H_kv, L, width)  # one new query each
    done = multiplications(lambda q=q, k=k, v=v: grouped(q, k, v, torch.ones(1, 1, 1, L, dtype=torch.bool)))
    read = k.numel() + v.numel()
    print(f"H_kv = {H_kv:2}   multiplications {done / 1e6:.1f} million   numbers read {read / 1e6:.1f} million   uses of each {done // read}")

# %% [markdown]
# Hardware multiplies much faster than it reads memory. With one or a few uses of each number a decode step mostly waits for memory. Measured on this machine, today: one decode step (the multiplications are the same in all three rows), then generation with and without a cache.

# %% tags=["nbval-ignore-output"]
later = torch.randn(B, 1, num_heads * width)  # (B, 1, d_model)
for H_kv in (16, 4, 1):
    layer, cache = MultiHeadAttention(num_heads * width, num_heads, num_kv_heads=H_kv).requires_grad_(False), KVCache(B, H_kv, L + 64, width)
    cache.update(*torch.randn(2, B, H_kv, L, width))  # as if L positions had been written
    seconds = min(timeit.repeat(lambda layer=layer, cache=cache: layer(later, cache=cache), number=1, repeat=20))
    print(f"H_kv = {H_kv:2}   cache {cache.num_bytes / 2**20:4.1f} MiB   one step {1000 * seconds:.2f} ms")

# %% tags=["nbval-ignore-output"]
for steps in (50, 200):
    again, cached = (timeit.timeit(lambda f=f, n=steps: f(prompt, n), number=1) for f in (generate_again, generate_cached))
    print(f"{steps} steps   without a cache {1000 * again:.0f} ms   with a cache {1000 * cached:.0f} ms")

# %% [markdown]
# ## Look: the cache of your model
#
# The picture is the first state. In the widget, choose a model, how many sequences it writes side by side, how long they are, and how many bytes a number takes.

# %%
calculator = widgets.cache_calculator()
calculator.show_first_state("Three bars for Llama 3 8B, eight sequences of 8,192 tokens, two bytes per number: 32 GiB as multi-head attention, 8 GiB as published with 8 key/value heads, 1 GiB as multi-query attention.")

# %%
calculator

# %% [markdown]
# *Notice that the ratio of the bars depends on the model alone.* Batch, length and bytes scale all three alike. Find a batch and a length at which the published cache of Llama 3 8B passes 16 GiB.

# %% [markdown]
# ## What goes wrong
#
# **`repeat` for `repeat_interleave`.** It runs, and a model *trained* with it learns as well: it has other groups, and gets used to them. The trouble comes with weights that were trained elsewhere. How you would notice: a fixed set of weights gives another output than a reference does. Here: the trained model with two
# key/value heads, evaluated with the heads in the wrong order. It looks up the wrong names.

# %% tags=["nbval-ignore-output"]
trained = starts["mean of the group"]  # two key/value heads, further trained in section 7.9


def accuracy_with(share):
    question, items, target = make_batch(2000, torch.Generator().manual_seed(99))
    layer, item = trained.attention, trained.read_item(items)
    q = split_heads(layer.q_proj(trained.read_question(question)), 4)  # (n, H, 1, d_head)
    k, v = (share(split_heads(projection(item), 2)) for projection in (layer.k_proj, layer.v_proj))  # (n, H, ITEMS, d_head)
    output = layer.o_proj(merge_heads(attention.scaled_dot_product_attention(q, k, v)[0]))
    return (trained.answer(output).view(-1, KINDS, ITEMS).argmax(-1) == target).float().mean().item()


right, wrong = accuracy_with(lambda t: t.repeat_interleave(2, dim=1)), accuracy_with(lambda t: t.repeat(1, 2, 1, 1))
print(f"repeat_interleave {right:.2f}   repeat {wrong:.2f}   guessing {1 / ITEMS:.2f}")
assert right > wrong

# %% [markdown]
# **The cache handed back with its unwritten tail, or written at the wrong place.** A key of zeros has the score 0, and $e^0 = 1$: it gets weight like any other. How you would notice: cached and uncached differ, so always keep a test that compares the two.

# %%
class TailCache(RoomyCache):
    def update(self, key, value):
        super().update(key, value)
        return self.keys, self.values  # all max_len positions


class StartCache(RoomyCache):
    def update(self, key, value):
        self.keys[:, :, : key.shape[2]], self.values[:, :, : key.shape[2]] = key, value  # always from position 0
        self.length += key.shape[2]
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]


query, keys, values = torch.randn(3, 1, 1, 5, 4, generator=rng)  # each (B, H, L, d_head)
uncached, _ = attention.scaled_dot_product_attention(query[:, :, -1:], keys, values)
for kind in (RoomyCache, TailCache, StartCache):
    cache = kind(1, 1, 8, 4)
    for position in range(5):
        k, v = cache.update(keys[:, :, position : position + 1], values[:, :, position : position + 1])
    output, weights = attention.scaled_dot_product_attention(query[:, :, -1:], k, v)
    empty = (k == 0).all(-1)  # (B, H, L_k): keys that nobody wrote
    print(f"{kind.__name__:10} off by {(output - uncached).abs().max():.2f}   weight on unwritten keys {weights[:, :, 0][empty].sum():.2f}")

# %% [markdown]
# **No mask in the grouped version.** Somebody rewrites the layer for groups and forgets the mask on the way. The argument is accepted and never used. How you would notice: the leak test of lesson 05. Change the last token, and look at the outputs before it.

# %%
def grouped_without_mask(q, k, v, mask):
    repeats = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(repeats, dim=1), v.repeat_interleave(repeats, dim=1)  # (B, H, L, d_head)
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v  # (B, H, L, d_head)


q, (k, v) = torch.randn(1, 4, 5, 3, generator=rng), torch.randn(2, 1, 2, 5, 3, generator=rng)
changed_k, changed_v = k.clone(), v.clone()
changed_k[:, :, -1], changed_v[:, :, -1] = 3.0, -3.0  # another last token
for function in (grouped, grouped_without_mask):
    before, after = function(q, k, v, masks.causal_mask(5)), function(q, changed_k, changed_v, masks.causal_mask(5))
    print(f"{function.__name__:21} the past moved by {(after - before)[:, :, :-1].abs().max():.2f}")

# %% [markdown]
# **An attribute used before it is set.** Published grouped-query layers check their sizes in a line that reads `self.hidden_dim` above the line that sets it. The text around it never builds the layer, so nobody sees it:

# %%
class NeverBuilt(nn.Module):
    def __init__(self, hidden_dim, num_heads):
        super().__init__()
        if self.hidden_dim % num_heads:
            raise ValueError("num_heads must divide hidden_dim")
        self.hidden_dim = hidden_dim


try:
    NeverBuilt(24, 6)
except AttributeError as problem:
    print("AttributeError:", problem)

# %% [markdown]
# ## In practice
#
# - `F.scaled_dot_product_attention(..., enable_gqa=True)` takes fewer key/value heads as they are. Without that argument PyTorch refuses them (the cell below).
# - Other names for `num_kv_heads`: `num_key_value_heads` (Hugging Face), `n_kv_heads` (Meta's Llama), `n_query_groups` (LitGPT). A model with `multi_query: true` in its configuration has one.
# - Servers cut the cache into pages, so that room is set aside as a sequence grows, and keep it in 8 bits or fewer. Both attack other factors of the same formula. A sliding window (lesson 05) limits $L$.
# - Rotary positions (lesson 08) are applied to keys *before* they enter the cache. Positions must then count on from the cache's length.

# %%
q, k, v = torch.randn(2, 6, 5, 4, generator=rng), *torch.randn(2, 2, 2, 7, 4, generator=rng)  # H = 6, H_kv = 2
try:
    F.scaled_dot_product_attention(q, k, v)
except RuntimeError:
    print("without enable_gqa: RuntimeError")
print("with enable_gqa:   ", tuple(F.scaled_dot_product_attention(q, k, v, enable_gqa=True).shape))
for dtype in (torch.float32, torch.float16, torch.int8):
    print(f"{str(dtype):14} {KVCache(1, 8, 64, 128, dtype=dtype).num_bytes // 1024} KiB for one layer, 8 key/value heads, 64 positions")

# %% [markdown]
# ## Recap
#
# 1. **What is computed again**: keys and values of all old positions, in every layer and step. With a causal mask they never change, so a cache keeps them; old queries are not needed.
# 2. **Cached = uncached**, in pieces of any size, if the mask is aligned bottom-right and only written positions are handed back.
# 3. **Bytes**: $2 \cdot N \cdot B \cdot H_{kv} \cdot L \cdot d_{head} \cdot s$. Keys and values, layers, and key/value heads are the three factors that get forgotten or mistaken.
# 4. **Sharing**: query head $h$ meets key/value head $\lfloor h / G \rfloor$: `repeat_interleave`, or a group axis and no copy at all. $H_{kv} = H$ is MHA, $H_{kv} = 1$ is MQA.
# 5. **Converting**: mean of each group, then a short training. On our task models with fewer key/value heads were less accurate when trained from the start; the converted one did better than those.
#
# | symbol | meaning | shape |
# |---|---|---|
# | $H$, $H_{kv}$ | query heads, key/value heads | whole numbers; $H_{kv}$ divides $H$ |
# | $G = H / H_{kv}$ | query heads in a group | a whole number |
# | $q$ | queries of the new positions | $(B, H, L_q, d_{head})$ |
# | $k$, $v$ | keys, values of all positions so far | $(B, H_{kv}, L_k, d_{head})$ |
# | weights of `k_proj`, `v_proj` | as `nn.Linear` stores them | $(H_{kv} \cdot d_{head}, d_{model})$ |
# | scores, weights | still one map for every query head | $(B, H, L_q, L_k)$ |
# | $N$, $s$ | layers, bytes per number | whole numbers |

# %% [markdown]
# ## Check yourself
#
# <details><summary>1. Could an encoder without a causal mask use a cache while its input grows by one token at a time?</summary>
#
# **No.** From the second layer on, the keys of old positions depend on the new token (section 7.1). (It is not a matter of speed: the cached keys would be *wrong*.)
# </details>
#
# <details><summary>2. A model has 40 layers, 40 heads, 8 key/value heads and heads of size 128. By what factor does its cache shrink if it is changed to multi-query attention?</summary>
#
# **By 8.** Only the number of key/value heads changes, from 8 to 1. (Not by 40: the 40 query heads were never in the cache. The layers and the head size cancel.)
# </details>
#
# <details><summary>3. H = 8, H_kv = 4. Which key/value head does query head 5 meet, and which would it meet with <code>repeat</code>?</summary>
#
# **Head 2; with `repeat` head 1.** The group has 2 members, and 5 // 2 is 2; `repeat` gives 5 % 4. (Head 5 does not exist among four.)
# </details>
#
# <details><summary>4. A cached step feeds 3 new positions behind 10 old ones. What shape has its causal mask, and what does its first row allow?</summary>
#
# **(3, 13), and the first row allows the first 11 keys.** The ten old ones and itself. (A 3 by 3 mask forgets the cache; a first row with only one key is the top-left mask of section 7.3.)
# </details>
#
# <details><summary>5. Grouped-query attention saves memory. Does it save multiplications in the scores?</summary>
#
# **No.** There are still H maps of scores, each with the same products (counted in section 7.10). What shrinks is the cache, the reading of it, and the two projections. (That decoding gets faster does not show fewer multiplications: it shows less waiting for memory.)
# </details>
#
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Shazeer, *Fast Transformer Decoding: One Write-Head is All You Need*, 2019, sections 2.4 and 3: why incremental decoding waits for memory, and multi-query attention as the remedy.
# - Ainslie et al., *GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints*, 2023, sections 2.1 and 2.2: mean-pooling and uptraining, and groups between the two extremes.
# - Touvron et al., *Llama 2: Open Foundation and Fine-Tuned Chat Models*, 2023: the two largest models of the family use grouped-query attention; the appendix compares it with multi-head and multi-query attention.
# - Llama Team, *The Llama 3 Herd of Models*, 2024, table 3: the shapes used in section 7.4.
# - Jiang et al., *Mistral 7B*, 2023, table 1 and section 2: grouped-query attention together with a sliding window, which bounds the length of the cache.

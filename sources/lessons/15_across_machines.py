# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 15 · Across machines
#
# By the end you can divide attention among several machines, by heads or by tokens, and say what it costs to send.
#
# {{colab_link}} · short path about 77 minutes with its exercises (52 + 25), everything about 3 hours and a quarter · builds on lessons 04, 05, 06 and 07

# %% tags=["setup"]
import math
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

from course_utils import diagrams, plotting, widgets
from course_utils.attention import scaled_dot_product_attention
from course_utils.distributed.cluster_time import CLUSTERS, ring_time
from course_utils.distributed.cluster_time import smallest_hidden_block
from course_utils.distributed.communication import Communicator, all_reduce_bytes
from course_utils.distributed.communication import num_bytes
from course_utils.distributed.gathered_attention import gathered_attention
from course_utils.distributed.gathered_attention import gathered_bytes
from course_utils.distributed.layouts import layout
from course_utils.distributed.partial_attention import merge, partial_attention
from course_utils.distributed.processes import RanksFailed, run_on_ranks
from course_utils.distributed.ring_attention import Ring, ring_attention, ring_bytes
from course_utils.distributed.simulation import run_in_lockstep, simulate_ring
from course_utils.distributed.simulation import visible_table, work_table
from course_utils.distributed.tensor_memory import TensorMemory
from course_utils.distributed.tensor_parallel import HeadParallelAttention
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention, repeat_kv
from course_utils.training import seed_everything

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)

# %% [markdown]
# A model can be too large for one machine, and so can a text. Then it is cut up, and what one machine needs from another has to be sent. In this lesson your notebook starts a few processes on your own computer. They know nothing of each other except what they send. Each is called a **rank**. In a room full of machines the same function would run on every one of them.
#
# **You will learn to**
#
# 1. run a function on several ranks, and read what comes back, errors included
# 2. divide attention by heads
# 3. divide it by tokens, and let keys and values travel in a ring
# 4. count what each rank sends and computes, and even out the work under a causal mask
# 5. work out from published numbers when sending costs no time

# %% [markdown]
# ## Predict first
# *Core · 2 minutes*
#
# A query has met half of its keys on one machine and the other half on another. Each of the two has computed attention over its own half. Nobody may send keys, and the result has to be exact.

# %%
widgets.predict(
    "15.A",
    "What must each machine hand over about this query?",
    choices=[
        "its output",
        "its output and one more number",
        "its output and the scores of all its keys",
    ],
)

# %% [markdown]
# ## 15.1 Processes that talk
# *Core · 6 minutes*
#
# `run_on_ranks(function, P, ...)` starts `P` new Pythons. Each gets a number from 0 to `P - 1`, its rank, and calls the function with it. What a rank prints and returns comes back to you:


# %%
def hello(rank, P, x):
    x = x * (rank + 1)
    print(f"I have {x.tolist()}")
    dist.all_reduce(x)  # now x is the sum over all ranks, everywhere
    return x


start = time.perf_counter()
results = run_on_ranks(hello, 3, torch.tensor([1.0, 2.0]))
seconds = time.perf_counter() - start
results

# %% tags=["nbval-ignore-output"]
print(f"{seconds:.1f} s, most of it for three Pythons to load PyTorch")

# %% [markdown]
# Why processes and not threads? Threads share one memory, so one could read what was never sent to it, and nothing would tell you. A rank has only its own memory, so tensors must be arguments. The function itself goes to the ranks as text, along with the functions, imports and numbers that it uses.
#
# `dist.all_reduce` is a **collective** operation, which all ranks call together. It adds up their tensors, and each rank waits for the sum. A library inside PyTorch called **gloo** does the sending, for tensors on the CPU.
#
# On real machines a launcher such as `torchrun` starts one rank for each GPU, and NVIDIA's library NCCL sends from GPU to GPU. (This page runs neither.) Here and in Colab all ranks share one machine, so you get the right numbers and no speed.
#
# What if a rank never gets to the meeting point? The others wait, or they fail with a message about a closed connection. `run_on_ranks` ends them all and names a rank that failed:


# %%
def dies(rank, P):
    print("on my way")
    if rank == 1:
        raise ValueError("my disk is full")
    dist.barrier()  # waits for all ranks


try:
    run_on_ranks(dies, 2)
except RanksFailed as error:
    print(error)

# %% [markdown]
# ## 15.2 Heads across machines
# *Core · 8 minutes*
#
# Attention runs over tokens and over heads, and can be cut along either:

# %%
words = "the red apple fell down from a tree".split()
plotting.show(
    diagrams.divided(words, num_heads=4, P=4),
    "Eight tokens and four heads on four ranks. The number says which rank computes "
    "this head for this token. By heads a rank has the whole text, by tokens a part.",
)

# %% [markdown]
# We begin with the heads. In lesson 06 the output projection turned out to be a sum over heads, each head's result times its own block of $W_o$. With $P$ ranks, rank $r$ keeps only the parts of $W_q$, $W_k$, $W_v$ and $W_o$ that belong to its $H / P$ heads, and
#
# $$\operatorname{MultiHead}(x) = \sum_{r=0}^{P-1} \operatorname{heads}_r(x)\, W_{o,r} + b_o .$$
#
# Here $W_{o,r}$ holds the blocks of $W_o$ for those heads, and $b_o$ is added once. The sum over ranks is one `all_reduce`. This is **tensor parallelism** (Shoeybi et al., 2019). First we try it without any processes, on two parts:

# %%
seed_everything(0)
whole = MultiHeadAttention(12, num_heads=4, num_kv_heads=2).double()
x = torch.randn(2, 5, 12, dtype=torch.float64)  # (B, L, d_model)
parts = [HeadParallelAttention(whole, rank, 2).part(x) for rank in range(2)]
total = parts[0] + parts[1] + whole.o_proj.bias
print("parts:", tuple(parts[0].shape), "largest difference:")
print(f"  of one part  {(parts[0] - whole(x)).abs().max():.2f}")
print("  of the sum, below 1e-12", bool((total - whole(x)).abs().max() < 1e-12))

# %% [markdown]
# **Do exercise 15.1 now (12 minutes, {{exercises_link}}), then read on.**
#
# On the way back each rank knows only how the loss changes through its own heads. The gradient of $x$ is the sum over ranks, which takes a second `all_reduce`. Below, `Communicator` does the sending and counts the bytes:


# %%
def heads_on_ranks(rank, P, state, x, d_output):
    whole = MultiHeadAttention(12, num_heads=4, num_kv_heads=2).double()
    whole.load_state_dict(state)
    mine, communicator = HeadParallelAttention(whole, rank, P), Communicator()
    output = mine(x.requires_grad_(), communicator)
    output.backward(d_output)
    return output, x.grad, communicator.bytes_sent


d_output = torch.randn(2, 5, 12, dtype=torch.float64)  # gradient from above
ranks = run_on_ranks(heads_on_ranks, 2, whole.state_dict(), x, d_output).values

# %%
x.requires_grad_()
expected = whole(x)
expected.backward(d_output)
for rank, (output, d_x, sent) in enumerate(ranks):
    errors = (output - expected).abs().max(), (d_x - x.grad).abs().max()
    same = bool(max(errors) < 1e-12)
    print(f"rank {rank}: output and d_x as of one process {same}, sent {sent} bytes")
x = x.detach()
print("two all_reduces of x:", 2 * all_reduce_bytes(x.numel() * 8, P=2))

# %% [markdown]
# To sum a tensor over $P$ ranks in a ring, each has to send $2\,(P-1)/P$ times its bytes. However many ranks there are, that stays below twice the tensor. (For collectives we count what this algorithm sends, whatever gloo does. Section 15.9 runs it.)
#
# Two limits remain. There are only so many heads, and with few key/value heads (lesson 07) several ranks soon need copies of the same one. And each rank still holds **all tokens** of the text. For a long text we have to cut the other way.

# %% [markdown]
# ## 15.3 Merge two partial results
# *Core · 6 minutes*
#
# In lesson 04 the softmax was computed online, with a running sum of exponentials. We do the same with parts. Each part of the keys gives two things. One is its own output $o$, already divided by the sum of exponentials over its own scores $s_j$. The other is the logarithm of that sum, called `lse` in code (log-sum-exp):
#
# $$\ell = \ln \sum_j e^{s_j} .$$
#
# A part counts in proportion to its sum. Take two keys with scores $0$ and $\ln 3$, and values 4 and 8. Their sums are 1 and 3, so the second counts three times as much, and $(4 + 3 \cdot 8) / 4 = 7$:

# %%
query, keys = torch.ones(1, 1, 1, 1), torch.tensor([0.0, math.log(3)])
values = torch.tensor([4.0, 8.0])
halves = []
for j in range(2):
    key, value = keys[j].view(1, 1, 1, 1), values[j].view(1, 1, 1, 1)
    halves.append(partial_attention(query, key, value, scale=1.0))
output, lse = merge(*halves[0], *halves[1])
both, _ = partial_attention(query, keys.view(1, 1, 2, 1), values.view(1, 1, 2, 1))
print(f"merged {output.item():.3f}, lse {lse.item():.3f}, ln 4 = {math.log(4):.3f}")
print(f"both keys at once {both.item():.3f}, mean of the outputs {values.mean():.3f}")
widgets.came_out("15.A", "its output and one more number")

# %% [markdown]
# Two outputs alone aren't enough. These two would give 6 if their sums were equal, and as they are they give 7. The result comes with an `lse` of its own, so a third part can be merged in the same way.
#
# An `lse` can be a few hundred, too large for its exponential. And a part in which a query sees nothing has $o = 0$ and $\ell = -\infty$. How does one merge in spite of that? **Do exercise 15.2 now (10 minutes), then read on.**

# %% [markdown]
# ## 15.4 The ring
# *Core · 8 minutes*
#
# Now each rank keeps its queries, and blocks of keys and values travel. In each step a rank hands the block that it holds to the next rank, and the last rank hands its block to rank 0. While a block is on its way, the rank attends to it and merges what comes out with what it has collected so far. We count steps from 0, as we do ranks. In step 0 each rank has its own block, and after $P$ steps every query has met every key. This is **ring attention** (Liu, Zaharia, Abbeel, 2023).
#
# For the gradients the weights are computed again from `lse`, as FlashAttention does, so no table of weights has to be kept.
#
# Let's run that on four ranks with a causal mask, and two key/value heads for four query heads. `Ring` holds what all ranks must agree on, who has which tokens and the mask. For comparison each rank also **gathers** all keys and values first, and then attends once:

# %%
B, H, H_KV, L, D, P = 2, 4, 2, 24, 6, 4
rng = torch.Generator().manual_seed(0)
shapes = ((H, L, D), (H_KV, L, D), (H_KV, L, D), (H, L, D))
tensors = [torch.randn(B, *s, generator=rng, dtype=torch.float64) for s in shapes]


# %%
def tokens_on_ranks(rank, P, tensors):
    ring = Ring(layout("contiguous", tensors[0].shape[2], P), causal=True)
    communicator, results = Communicator(), []
    for attend in (ring_attention, gathered_attention):
        query, key, value, d_output = (ring.layout.shard(x, rank) for x in tensors)
        own, before = (query, key, value), communicator.bytes_sent
        for leaf in own:
            leaf.requires_grad_()
        output = attend(*own, communicator, ring)
        there = communicator.bytes_sent
        output.backward(d_output)
        sent = (there - before, communicator.bytes_sent - there)
        results.append((output, [leaf.grad for leaf in own], sent))
    return results


# %%
leaves = [x.clone().requires_grad_() for x in tensors[:3]]
k, v = (repeat_kv(x, H // H_KV) for x in leaves[1:])
expected, _ = scaled_dot_product_attention(leaves[0], k, v, causal_mask(L))
expected.backward(tensors[3])
whole_text = [expected.detach(), *(leaf.grad for leaf in leaves)]
ranks = run_on_ranks(tokens_on_ranks, P, tensors).values
in_a_row = layout("contiguous", L, P)

# %%
for i, way in enumerate(("ring", "gather")):
    print(way, end=": ")
    for j, name in enumerate(("output", "d_query", "d_key", "d_value")):
        parts = [[results[i][0], *results[i][1]][j] for results in ranks]
        error = (in_a_row.unshard(parts) - whole_text[j]).abs().max()
        print(name, "below 1e-12" if error < 1e-12 else f"{error:.1e}", end="  ")
    print()

# %% [markdown]
# Outputs and gradients are those of one process, but for rounding.
#
# Step through the ring yourself. Each rank has a color. Its rows of the scores are strong where it computes now, pale where it has computed before, and white where it still will. Gray is what the mask hides:

# %%
steps = widgets.ring_steps()
steps.show_first_state(
    "Step 0, the last is step 3: each rank computes the block of its own keys, on the "
    "diagonal. Next to it are the ranks in a circle with the keys that they hold, and "
    "equal bars. A bar counts whole blocks, since half of these is computed and hidden."
)

# %%
steps

# %% [markdown]
# In exercise 15.3 (*more*) you write the step of one rank, for a text of several documents.
#
# **Do exercise 15.4 now (3 minutes), then read on.** In it, a rank dies.

# %% [markdown]
# ## 15.5 What is sent
# *Core · 6 minutes*
#
# There are two ways now to bring every query together with every key. A rank of the ring never has more than two traveling blocks. A rank that gathers has them all.

# %%
widgets.predict(
    "15.B",
    "Four ranks, no gradients. In which way does a rank send more bytes?",
    choices=["in the ring", "in gathering", "as many in both"],
)

# %%
own_bytes = 2 * tensors[1].numel() * 8 // P  # N: a rank's keys and values
formulas = {"ring": ring_bytes, "gather": gathered_bytes}
for i, (way, formula) in enumerate(formulas.items()):
    sent = {results[i][2] for results in ranks}  # all ranks the same: one pair
    print(f"{way:7}", [[b / own_bytes for b in pair] for pair in sent], "N", end=", ")
    print("formula:", [b / own_bytes for b in formula(own_bytes / 2, own_bytes / 2, P)])
there = {way: ranks[0][i][2][0] for i, way in enumerate(formulas)}
more = "as many in both" if there["ring"] == there["gather"] else "in one of them"
widgets.came_out("15.B", more)

# %% [markdown]
# Each pair is the way there and the way back, with $N$ for the bytes of one rank's keys and values. On the way there both send $(P-1)\,N$. Either way each of $P$ blocks has to get to $P - 1$ other ranks.
#
# On the way back the keys and values of a ring go around again. Their gradients go with them, and once more to get home, so in our implementation that costs $(2P-1)\,N$. Gathering has kept the keys and sends only gradients, $(P-1)\,N$. With fewer key/value heads (lesson 07) $N$ shrinks for both.
#
# The other price is **memory**. Let's count every tensor that rank 0 has at once, on the way there, for a text of 1,024 tokens. The third way gathers all keys and values and then goes through them block by block, merging as the ring does.


# %%
def gathered_in_blocks(query, key, value, communicator, ring):
    keys, values = (communicator.all_gather(x) for x in (key, value))
    merged = partial_attention(query, keys[0], values[0])
    for k, v in zip(keys[1:], values[1:], strict=True):
        merged = merge(*merged, *partial_attention(query, k, v))
    return merged


# %%
def memory_on_ranks(rank, P, L, head_sizes):
    ring, peaks = Ring(layout("contiguous", L, P)), []
    for d_head in head_sizes:
        for attend in (ring_attention, gathered_attention, gathered_in_blocks):
            own = [torch.zeros(1, 1, L // P, d_head) for _ in range(3)]
            with TensorMemory(*own) as memory:
                attend(*own, Communicator(), ring)
            peaks.append(memory.peak)
    return torch.tensor(peaks).view(-1, 3)


# %% tags=["nbval-ignore-output"]
print("ranks  head size      ring    gather   gather, then blocks")
for P, head_sizes in ((1, (16,)), (4, (16, 1024))):
    table = run_on_ranks(memory_on_ranks, P, 1024, head_sizes).values[0]
    for d_head, peaks in zip(head_sizes, table.tolist(), strict=True):
        print(f"{P:5}{d_head:11}", "".join(f"{p / 1e6:7.2f} MB" for p in peaks))

# %% [markdown]
# *At head size 16, merging is what saves memory. Attending to all gathered keys at once makes tables of shape $(L/P, L)$. Block by block they have shape $(L/P, L/P)$, and then it hardly matters whether one gathers first. The ring itself saves keys and values, two traveling blocks in place of $P$. That shows in the last line, where keys are wide.*
#
# Exercise 15.5 (*more*) turns the ring around and lets the queries travel.

# %% [markdown]
# ## 15.6 A causal mask, and who has to wait
# *Core · 6 minutes*
#
# A causal mask hides nearly half of all pairs of a query and a key. Four ranks hold 24 tokens, six neighboring ones each. Suppose that all of them wait for one another after every step. Then a step takes as long as the rank with the most to do.

# %%
widgets.predict(
    "15.C",
    "Neighboring tokens: how long does the ring take, compared with no mask at all?",
    choices=["about half as long", "three quarters as long", "as long, or nearly"],
)

# %%
for name in ("contiguous", "zigzag"):
    ring = Ring(layout(name, 24, 4), causal=True)
    table = work_table(ring)
    slowest = table.max(dim=0).values  # (steps,)
    print(f"{name}: a row for each rank, a column for each step")
    print(table, f"  all wait for {slowest.tolist()}, together {slowest.sum()}")
    error = (simulate_ring(*tensors[:3], ring).output - whole_text[0]).abs().max()
    print("output as of one process, to 1e-12:", bool(error < 1e-12))
widgets.came_out("15.C", "as long, or nearly")

# %% [markdown]
# With neighboring tokens ("contiguous"), rank 3 has a full block of 36 pairs in every step, so the ring takes $4 \cdot 36 = 144$, as it would without a mask. **Zigzag** cuts the text into $2P$ chunks and gives each rank two of them. Rank 0 gets the first and the last, rank 1 the second and the second-to-last, and so on. All have the same to do in every step, and it takes 81. Set the widget to zigzag and watch the bars.
#
# The result stays the same, as long as each token takes its position in the text along. In exercises 15.6 to 15.8 (*more*) you write zigzag, count the work of each rank, and find a bug. And is zigzag always the best division? Exercise 15.9, an experiment, is about that.

# %% [markdown]
# ## 15.7 On paper: a real cluster
# *Core · 6 minutes*
#
# While a rank attends to one block, the next one is on its way. If it arrives in time, sending costs no time of its own. A rank with $n = L / P$ tokens computes $4\,n^2 d$ operations for each head in a step (two matrix products). Meanwhile it sends $2\,n\,d$ numbers of 2 bytes. If it does $F$ operations and sends $S$ bytes a second, sending is hidden as soon as
#
# $$\frac{4\,n^2 d}{F} \ge \frac{4\,n\,d}{S} , \qquad\text{so}\qquad n \ge \frac{F}{S} .$$
#
# The head's size cancels, and so does the number of heads. Where $g$ query heads share a key/value head, $F / (g S)$ tokens are enough, since less is sent. Here are the machines of the ring attention paper (its table 2) at their peak. NVLink connects the GPUs within a machine, InfiniBand connects machines, and TPUs are Google's chips:

# %%
print(f"{'':19}{'n from':>8}{'4 query heads share':>22}")
for cluster in CLUSTERS:
    block = smallest_hidden_block(cluster)
    shared = smallest_hidden_block(cluster, heads_per_kv_head=4)
    print(f"{cluster.name:19}{block:8,.0f}{shared:22,.0f}")

# %% [markdown]
# Exercise 15.10 (*more*) asks what a causal mask does to this bound. How does a text of a million tokens gain from more and more ranks?

# %%
widgets.predict(
    "15.D",
    "A million tokens over InfiniBand. How much faster are 1,024 ranks than 512?",
    choices=["twice as fast", "about a quarter faster", "not at all"],
)

# %%
counts = [2**i for i in range(11)]  # up to 1,024 ranks
links = {"NVLink": (CLUSTERS[0], 32), "InfiniBand": (CLUSTERS[1], 32)}
links["InfiniBand, 8 key/value heads"] = (CLUSTERS[1], 8)
speedups = {"P times as fast": torch.tensor(counts, dtype=torch.float)}
for name, (cluster, heads) in links.items():
    sizes = {"L": 2**20, "num_heads": 32, "num_kv_heads": heads, "d_head": 128}
    times = [ring_time(cluster, P=P, **sizes).total for P in counts]
    speedups[name] = torch.tensor([times[0] / t for t in times])
    print(f"{name:30} 512: {speedups[name][9]:4.0f}", end=" times as fast, ")
    print(f"1,024: {speedups[name][10]:4.0f}")
sizes = {"L": 2**20, "d_head": 128}
one = ring_time(CLUSTERS[1], P=1, num_heads=32, **sizes).total
both = ring_time(CLUSTERS[1], P=32, num_heads=1, **sizes).total
print(f"InfiniBand, a ring of 32 for each of 32 heads: {one / both:.0f} times as fast")
widgets.came_out("15.D", "not at all")

# %%
labels = {"xlabel": "ranks", "ylabel": "times as fast as one rank"}
ax = plotting.curves(torch.tensor(counts), speedups, **labels)
ax.loglog(base=2)
for axis in (ax.xaxis, ax.yaxis):
    axis.set_ticks(counts[::2], [f"{tick:,}" for tick in counts[::2]])
for shared in (1, 4):  # query heads to a key/value head
    bend = 2**20 / smallest_hidden_block(CLUSTERS[1], heads_per_kv_head=shared)
    plotting.mark_places(ax, {f"{bend:.0f}": bend})
plotting.show(
    ax,
    "Speed by number of ranks for a million tokens and 32 heads, without a mask. With "
    "NVLink it follows the diagonal. With InfiniBand it stays at 42, or with a quarter "
    "of the keys and values at 168. The dotted lines are at so many ranks.",
)

# %% [markdown]
# *Past $L \cdot S / F$ ranks, where the dotted lines are, a longer ring isn't any faster.* The blocks have become too short to hide what is sent, and each rank still has to receive the keys and values of the whole text, whatever $P$ is. More ranks do help if they divide the heads as well. With each block's 32 heads on 32 machines and rings of 32, the same 1,024 ranks are all put to use (not counting what dividing the heads sends). All this is a bound on paper. No machine reaches its peak, and starting a message takes time too.

# %% [markdown]
# ## 15.8 What a kernel leaves out
# *More · 3 minutes*
#
# In section 15.6 we counted whole chunks. Our library skips a chunk that is hidden entirely, and computes all of a chunk that is hidden in part. A kernel with small tiles skips more. At best it computes only what may be seen:

# %%
print("              whole chunks   only what may be seen")
for name in ("contiguous", "zigzag", "striped"):
    ring = Ring(layout(name, 24, 4), causal=True)
    tables = work_table(ring), visible_table(ring)
    totals = [table.max(dim=0).values.sum() for table in tables]
    print(f"{name:12}{totals[0]:14}{totals[1]:24}")

# %% [markdown]
# **Striped** attention (Brandon et al., 2023) deals tokens out like cards, so that every block is half hidden, along its diagonal. Whole chunks gain nothing from that (set the widget to striped). With the smallest tiles it comes close to zigzag, and the longer the text, the closer:

# %%
for length in (24, 96, 384):
    total = {}
    for name in ("zigzag", "striped"):
        table = visible_table(Ring(layout(name, length, 4), causal=True))
        total[name] = table.max(dim=0).values.sum().item()
    print(f"{length:3} tokens: {total}, {total['striped'] / total['zigzag']:.3f}")

# %% [markdown]
# ## 15.9 An all_reduce, message by message
# *More · 4 minutes*
#
# Each rank cuts its tensor into $P$ parts. For $P - 1$ steps, each hands one part on, and adds the part that arrives to its own. Now every rank has one part of the sum. In another $P - 1$ steps these go around. The program is a generator. `yield` hands a part to the next rank, and `arriving()` waits for the part from the rank before. So one process can run all ranks in turn and count the bytes that they hand on:


# %%
def ring_sum(rank, P, x):
    parts = list(x.chunk(P))
    for step in range(2 * (P - 1)):
        arriving = yield (parts[(rank - step) % P],)
        place = (rank - step - 1) % P
        (part,) = arriving()
        parts[place] = parts[place] + part if step < P - 1 else part
    return torch.cat(parts)


addends = torch.randn(5, 20, generator=rng, dtype=torch.float64)
sums, sent = run_in_lockstep([ring_sum(r, 5, addends[r]) for r in range(5)])
print("all equal the sum:", all(torch.allclose(x, addends.sum(0)) for x in sums))
print("sent:", sent.tolist(), "formula:", all_reduce_bytes(num_bytes(addends[0]), 5))

# %% [markdown]
# ## 15.10 More ranks than cores
# *More · 4 minutes*
#
# A ring is written as such a generator too, so one process can also run 64 ranks, step by step. All compute and send equally much:

# %%
long = [torch.randn(1, 2, 512, 8, generator=rng) for _ in range(3)]
simulated = simulate_ring(*long, Ring(layout("zigzag", 512, 64), causal=True))
expected, _ = scaled_dot_product_attention(*long, causal_mask(512))
error = (simulated.output - expected).abs().max()
print("largest difference below 1e-5:", bool(error < 1e-5))
print("bytes a rank:", simulated.forward_bytes.unique().tolist())
print("multiplications a rank:", simulated.multiplications.sum(1).unique().tolist())

# %% [markdown]
# ## 15.11 From tokens to heads and back
# *More · 6 minutes*
#
# Most of a model works on each token separately, and only attention needs several of them. **DeepSpeed-Ulysses** (Jacobs et al., 2023) turns the right half of the picture in section 15.2 into the left half, and back again. In an **all-to-all** each rank sends to every other one the queries, keys and values of that one's heads. It computes its own heads for all tokens, and a second all-to-all brings the outputs home. A rank keeps $1/P$ of everything and sends the rest, which with $h$ bytes for one head of one rank's tokens is $\frac{P-1}{P}\,(2H + 2H_{kv})\,h$. A ring sends $(P-1)\,2H_{kv}\,h$.


# %%
def all_to_all(parts):  # parts[r][s]: what rank r has for rank s
    ranks = range(len(parts))
    sent = [num_bytes(*(parts[r][s] for s in ranks if s != r)) for r in ranks]
    return [[parts[r][s] for r in ranks] for s in ranks], sent[0]


P, num_heads, num_kv_heads = 4, 8, 4
text = [torch.randn(1, heads, L, D, generator=rng, dtype=torch.float64)
        for heads in (num_heads, num_kv_heads, num_kv_heads)]

# %%
by_heads, ulysses = [], 0
for x in text:
    parts = [in_a_row.shard(x, r).chunk(P, dim=1) for r in range(P)]
    parts, sent = all_to_all(parts)
    by_heads.append([torch.cat(p, dim=2) for p in parts])  # all tokens, some heads
    ulysses += sent
outputs = []
for q, k, v in zip(*by_heads, strict=True):
    k, v = (repeat_kv(x, num_heads // num_kv_heads) for x in (k, v))
    outputs.append(scaled_dot_product_attention(q, k, v, causal_mask(L))[0])
parts, sent = all_to_all([output.chunk(P, dim=2) for output in outputs])
together = in_a_row.unshard([torch.cat(p, dim=1) for p in parts])

# %%
ring = simulate_ring(*text, Ring(in_a_row, causal=True))
print("same output:", torch.allclose(together, ring.output))
h = L // P * D * 8  # bytes of one head of a rank's tokens
keys_values, others = 2 * num_kv_heads * h, 2 * num_heads * h
print("Ulysses", ulysses + sent, "formula", (P - 1) * (others + keys_values) // P)
print("ring   ", ring.forward_bytes[0].item(), "formula", (P - 1) * keys_values)

# %% [markdown]
# The ratio is $(1 + H / H_{kv}) / P$, so on the forward pass Ulysses sends less as soon as $P$ is above $1 + H / H_{kv}$, as long as $P$ is at most $H_{kv}$ (beyond that it sends copies of keys). But it has no use for more ranks than heads, and a rank holds the keys of the whole text for its heads. A ring has neither limit.

# %% [markdown]
# ## What goes wrong
# *More · 4 minutes*
#
# **A length that doesn't divide.** Blocks must be equally long:

# %%
try:
    layout("zigzag", 22, 4)
except ValueError as error:
    print(error)

# %% [markdown]
# So the text is padded at the end, and the padding hidden. Forget to hide it, and without a causal mask every query sees two tokens that aren't there:

# %%
short = [x[:, :, :22] for x in tensors[:3]]  # a text of 22 tokens
padded = [F.pad(x, (0, 0, 0, 2)) for x in short]
k, v = (repeat_kv(x, H // H_KV) for x in short[1:])
expected, _ = scaled_dot_product_attention(short[0], k, v)
for length in (22, None):
    ring = Ring(layout("zigzag", 24, 4), length=length)
    error = (simulate_ring(*padded, ring).output[:, :, :22] - expected).abs().max()
    off = "below 1e-12" if error < 1e-12 else f"off by {error:.2f}"
    print(f"length={length}:", off)

# %% [markdown]
# **A rank that waits for a message that was never sent.** If the other process ended, the rank would soon hear of a closed connection. As long as it lives, gloo lets it wait for half an hour by default. So `run_on_ranks` has a limit of its own, and its message says where each rank was:


# %%
def forgets(rank, P):
    x = torch.zeros(1)
    if rank == 1:
        dist.recv(x, src=0)  # rank 0 never sends
    return x


try:
    run_on_ranks(forgets, 2, timeout=2)
except RanksFailed as error:
    print(error)

# %% [markdown]
# ## In practice
# *More · 3 minutes*
#
# **Training.** Llama 3 divides the tokens of its long texts, and each rank gets two chunks, one from the front and one from the end. That's zigzag. But it has no ring. Each rank gathers the keys and values of all ranks first, and then attends. The paper gives two reasons (section 3.3.2). Other masks, such as one that keeps packed documents apart, are easier that way. And with few key/value heads there is little to send, compared with what there is to compute.
#
# **Answering.** In a long conversation the keys and values of all earlier messages are kept, and a new message may be short. Then the queries are what's small. Yang et al. (2024) built both rings, one in which keys and values travel and one in which queries do, and choose between them. Exercise 15.5 counts when.
#
# **Both cuts at once.** Heads and tokens aren't rivals. In section 15.7 a ring over 32 ranks for each of 32 heads used 1,024 ranks well. Ulysses (section 15.11) has no use for more ranks than heads, and a ring has.

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **Ranks** are processes with a memory of their own. A run gives you what each rank returned and printed, or an error that names a rank.
# 2. **Heads** divide because the output projection is a sum over heads. That takes one `all_reduce` on the way there and one on the way back.
# 3. **Tokens** divide because partial results merge by their `lse`. In a ring a rank has only two traveling blocks at a time.
# 4. **Counted**, our ring sends $(P-1)\,N$ there and $(2P-1)\,N$ back. Zigzag gives every rank the same work under a causal mask, if the text fills all places.
# 5. **On paper**, sending is hidden once a block has at least $F / S$ tokens. Past $L \cdot S / F$ ranks a longer ring isn't faster.

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $P$, $r$ | number of ranks, one of them | |
# | $n = L / P$ | tokens of a rank | |
# | $o$, $\ell$ (`lse`) | output over some keys, log of their sum of exponentials | `(B, H, n, d_v)`, `(B, H, n)` |
# | $N$ | bytes of a rank's keys and values | |
# | $F$, $S$ | operations and bytes per second | |

# %% [markdown]
# ## Check yourself
# *Core · 2 minutes*
#
# <details><summary>1. Why can't two partial outputs be averaged half and half?</summary>
#
# **Their sums differ.** Each output was divided by the sum over its own keys, so each must count in proportion to that sum, $e^{\ell}$.
# </details>
#
# <details><summary>2. Four ranks. In which step does rank 1 meet the keys that rank 3 began with?</summary>
#
# **In step 2.** Blocks move one rank up in each step. Rank 1 has its own keys in step 0, then those of rank 0, then those of rank 3.
# </details>
#
# <details><summary>3. Under a causal mask zigzag is done sooner than tokens in a row. Which of the two sends more?</summary>
#
# **Neither.** The blocks are just as large and travel just as often.
# </details>

# %% [markdown]
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Liu, Zaharia, Abbeel, *Ring Attention with Blockwise Transformers for Near-Infinite Context*, 2023 (arXiv:2310.01889).
# - Li et al., *Sequence Parallelism: Long Sequence Training from System Perspective*, 2021 (arXiv:2105.13120), sent keys and then values around a ring before that, and held whole rows of scores.
# - Shoeybi et al., *Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism*, 2019, section 3.
# - Brandon et al., *Striped Attention: Faster Ring Attention for Causal Transformers*, 2023 (arXiv:2311.09431).
# - Llama Team, *The Llama 3 Herd of Models*, 2024 (arXiv:2407.21783), section 3.3.2.
# - Yang et al., *Context Parallelism for Scalable Million-Token Inference*, 2024 (arXiv:2411.01783).
# - Milakov, Gimelshein, *Online normalizer calculation for softmax*, 2018. Dao et al., *FlashAttention*, 2022.
# - Jacobs et al., *DeepSpeed Ulysses: System Optimizations for Enabling Training of Extreme Long Sequence Transformer Models*, 2023 (arXiv:2309.14509).
# - Patarasuk, Yuan, *Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations*, 2009.
# - The zigzag layout comes from the repository zhuzilin/ring-flash-attention, 2024.

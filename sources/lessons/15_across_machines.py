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
# By the end you can divide attention among several machines, by heads or by tokens, and say how many bytes that costs.
#
# {{colab_link}} · short path about 130 minutes with its exercises (69 + 61), everything about 4 hours · builds on lessons 04 to 07 and 14

# %% tags=["setup"]
import math
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

from course_utils import diagrams, plotting, widgets
from course_utils.attention import scaled_dot_product_attention
from course_utils.blockwise_attention import attention_in_blocks
from course_utils.distributed.cluster_time import CLUSTERS, ring_time
from course_utils.distributed.cluster_time import smallest_hidden_block
from course_utils.distributed.communication import Communicator, all_reduce_bytes
from course_utils.distributed.communication import num_bytes, run_in_ring
from course_utils.distributed.gathered_attention import gathered_attention
from course_utils.distributed.layouts import layout
from course_utils.distributed.partial_attention import merge, partial_attention
from course_utils.distributed.processes import RanksFailed, run_on_ranks
from course_utils.distributed.ring_attention import Ring, ring_attention
from course_utils.distributed.simulation import run_in_lockstep, simulate_ring
from course_utils.distributed.simulation import visible_table, work_table
from course_utils.distributed.tensor_memory import TensorMemory
from course_utils.distributed.tensor_parallel import HeadParallelAttention
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention, repeat_kv
from course_utils.results import read_rows
from course_utils.training import seed_everything
from course_utils.widgets.ring_steps import chunk_middles, colored_tokens, draw_scores
from course_utils.widgets.ring_steps import name_shades

torch.set_printoptions(precision=3, sci_mode=False, linewidth=88)
torch.set_num_threads(1)

# %% [markdown]
# A model can be too large for one machine, and so can a text. Then several machines share the work, and each sends the others what they need. In this lesson a few processes on your own computer play the machines. None can see into another. Each knows only what it is sent. Such a process is called a **rank**, and so is its number. All ranks run the same function, here as on a real cluster.
#
# **You will learn to**
#
# 1. run a function on several ranks, and read what comes back, errors included
# 2. divide attention by heads
# 3. divide it by tokens, and let keys and values travel in a ring
# 4. count what each rank sends, keeps and computes, and even out the work under a causal mask
# 5. work out from published numbers when sending costs no time

# %% [markdown]
# ## Predict first
# *Core · 2 minutes*
#
# A query has met half of its keys on one machine and the other half on another. Each machine has computed attention over its own half. Nobody may send keys, and the result has to be exact.

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
# `run_on_ranks(function, P, ...)` starts `P` new Pythons, gives each its number, from 0 to `P - 1`, and has it call the function. What a rank prints and returns comes back to you:


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
print(f"{seconds:.1f} s, including starting and stopping three Pythons")

# %% [markdown]
# Why processes and not threads? Threads share one memory, and if one of them read what was never sent to it, nobody would notice. A rank has a memory of its own. The function goes there as text, along with the functions, imports and numbers that it uses. Tensors don't go along, so pass them as arguments.
#
# `dist.all_reduce` is a **collective** operation, one that all ranks call together. Their tensors are added up, and each rank waits until it has the sum. For tensors on the CPU, a library inside PyTorch called **gloo** does the sending.
#
# On real machines a launcher such as `torchrun` starts one rank for each GPU, and NVIDIA's library NCCL sends from GPU to GPU. Here, and in Colab, all ranks share one machine. The numbers come out right, but nothing runs faster than its cores allow.
#
# What if a rank crashes before it gets to the collective call? The others wait, or they fail with a message about a closed connection. `run_on_ranks` ends them all and names a rank that failed:


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
# Attention can be cut along two directions, by heads and by tokens:

# %%
words = "the red apple fell down from a tree".split()
plotting.show(
    diagrams.divided(words, num_heads=4, P=2),
    "Eight tokens and four heads on two ranks. The number says which rank computes "
    "this head for this token. By heads a rank has the whole text, by tokens a part.",
)

# %% [markdown]
# *Color and number say which rank computes a head for a token.* We begin with the heads. In lesson 06 the output projection turned out to be a sum over heads, in which each head's result meets its own rows of $W_o$. So with $P$ ranks, rank $r$ needs only the parts of $W_q$, $W_k$, $W_v$ and $W_o$ that belong to its $H / P$ heads:
#
# $$\operatorname{MultiHead}(x) = \sum_{r=0}^{P-1} \operatorname{heads}_r(x)\, W_{o,r} + b_o .$$
#
# Here $W_{o,r}$ holds the rows of $W_o$ for those heads, and $b_o$ is added once. Take one token and two heads of size 1, and leave $b_o$ out. Head 0 makes a 3 and head 1 a 5, and the two rows of $W_o$ are $(1, 0)$ and $(2, 1)$. Rank 0 has $3 \cdot (1, 0) = (3, 0)$ and rank 1 has $5 \cdot (2, 1) = (10, 5)$. Neither is the layer's output. Their sum $(13, 5)$ is. On real ranks one `all_reduce` makes it:

# %%
plotting.show(diagrams.tensor_parallel(num_heads=4, num_kv_heads=2, P=2))

# %% [markdown]
# *Each number is a head. There are four for queries, and two for keys and values. A rank keeps what is colored. The line at the bottom is the backward pass, below.* This is **tensor parallelism** (Shoeybi et al., 2019). Mind that `nn.Linear` stores its matrix transposed. What is a column in the formula is a row of `weight`, and the other way around. First we try it without any processes, on two parts:

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
# Going backward, every term of a sum gets the sum's gradient unchanged. All ranks have the output, so all have its gradient, and each can go back through its own heads by itself. The gradients of its own weights stay on the rank, unless another rank has a copy of these weights. For $x$ each rank finds only the share of its own heads, and a second `all_reduce` (at the bottom of the figure) adds up the shares:


# %%
def heads_on_ranks(rank, P, state, x, d_output):
    whole = MultiHeadAttention(12, num_heads=4, num_kv_heads=2).double()
    whole.load_state_dict(state)
    part = HeadParallelAttention(whole, rank, P).part(x.requires_grad_())
    output = part.detach().clone()
    dist.all_reduce(output)  # forward
    part.backward(d_output)
    dist.all_reduce(x.grad)  # backward
    return output + whole.o_proj.bias.detach(), x.grad


d_output = torch.randn(2, 5, 12, dtype=torch.float64)  # gradient from above
done = run_on_ranks(heads_on_ranks, 2, whole.state_dict(), x, d_output)
ranks = done.values  # what each rank returned

# %%
x.requires_grad_()
expected = whole(x)
expected.backward(d_output)
for rank, (output, d_x) in enumerate(ranks):
    errors = (output - expected).abs().max(), (d_x - x.grad).abs().max()
    print(f"rank {rank}: output and d_x match: {bool(max(errors) < 1e-12)}")
x = x.detach()

# %% [markdown]
# How much does each rank send in an `all_reduce`? Here are three ranks with three numbers each, in a ring. In each step every rank hands on one number (bold), and rank 2 hands it to rank 0. In the first two steps numbers are added up, in the last two the finished sums go around:
#
# | | rank 0 | rank 1 | rank 2 |
# |---|---|---|---|
# | at first | **1**, 2, 3 | 10, **20**, 30 | 100, 200, **300** |
# | after step 0 | 1, 2, **303** | **11**, 20, 30 | 100, **220**, 300 |
# | after step 1 | 1, **222**, 303 | 11, 20, **333** | **111**, 220, 300 |
# | after step 2 | **111**, 222, 303 | 11, **222**, 333 | 111, 220, **333** |
# | after step 3 | 111, 222, 333 | 111, 222, 333 | 111, 222, 333 |
#
# Each rank has sent four numbers. With $P$ ranks each sends $2\,(P-1)$ parts, and a part is a $P$-th of the tensor. Together that's $2\,(P-1)/P$ times the tensor's bytes, less than twice the tensor however many ranks there are (Patarasuk and Yuan, 2009).
#
# Two limits remain. There are only so many heads. If there are fewer key/value heads than ranks (lesson 07), several ranks need a copy of the same one, and in training they must add up their gradients of it. And the tokens aren't divided at all: each rank has $x$ of **all tokens**. For a long text we have to cut the other way.

# %% [markdown]
# ## 15.3 Merge two partial results
# *Core · 7 minutes*
#
# In lesson 04 a running sum let us compute the softmax online, block by block. The same idea works for keys that lie on different machines. Take two keys on two machines, with scores $0$ and $\ln 3$ and values 4 and 8. Each machine has a single key, so its output is that key's value, 4 or 8. But the exponentials of the scores are 1 and 3. The second counts three times as much, and both keys together give $(1 \cdot 4 + 3 \cdot 8) / 4 = 7$.
#
# With more keys it's the same. Each part of the keys gives two things. One is its output $o$, already divided by the sum of the exponentials of its own scores $s_j$. The other is the logarithm of that sum, in code `lse` (log-sum-exp):
#
# $$\ell = \ln \sum_j e^{s_j} .$$
#
# In the library, `partial_attention(query, key, value, mask)` computes both.
#
# The larger a part's sum, the more its output counts. An output $o_1$ is its part's sum of $e^{s_j} v_j$ divided by $e^{\ell_1}$. So multiply by $e^{\ell_1}$ and $e^{\ell_2}$ to get the undivided sums back, add them up, and divide by the sum of all exponentials:
#
# $$o = \frac{e^{\ell_1}\, o_1 + e^{\ell_2}\, o_2}{e^{\ell_1} + e^{\ell_2}} .$$
#
# For our two keys $e^{\ell_1} = 1$ and $e^{\ell_2} = 3$, and the formula gives the 7 from above:

# %%
query, keys = torch.ones(1, 1, 1, 1), torch.tensor([0.0, math.log(3)])
values = torch.tensor([4.0, 8.0])
halves = []
for j in range(2):
    key, value = keys[j].view(1, 1, 1, 1), values[j].view(1, 1, 1, 1)
    halves.append(partial_attention(query, key, value))
output, lse = merge(*halves[0], *halves[1])
two = keys.view(1, 1, 2, 1), values.view(1, 1, 2, 1)
both, _ = partial_attention(query, *two)
print(f"merged {output.item():.3f}, lse {lse.item():.3f}, ln 4 = {math.log(4):.3f}")
print(f"both keys at once {both.item():.3f}, mean of the outputs {values.mean():.3f}")
widgets.came_out("15.A", "its output and one more number")

# %% [markdown]
# Two outputs alone wouldn't be enough: with equal sums the answer would be 6, and here it's 7. The result has an `lse` of its own, so a third part can be merged in the same way.
#
# Two things can still go wrong. An `lse` of a few hundred has an exponential that no float32 can hold. And a part in which a query sees nothing has $o = 0$ and $\ell = -\infty$. How do you merge them anyway? **Do exercise 15.2 now (10 minutes), then read on.**

# %% [markdown]
# ## 15.4 The ring
# *Core · 10 minutes*
#
# <details><summary>How exercise 15.2 merges large sums, and parts that saw nothing</summary>
#
# With $\ell = \ln(e^{\ell_1} + e^{\ell_2})$, which `torch.logaddexp` computes without overflow, the formula becomes $o = e^{\ell_1 - \ell}\, o_1 + e^{\ell_2 - \ell}\, o_2$. No exponent is positive any more. A part with $\ell_1 = -\infty$ gets the share $e^{-\infty} = 0$. If both parts saw nothing, subtract 0 in place of $\ell$, and both shares are 0.
# </details>
#
# Norms and the feed-forward network work on each token alone, so a rank that has a token does all that by itself. Only attention has to send, and for that, merging is all we need. In section 15.3 the parts lay on different machines. Now they come to one rank, one after the other. Each rank keeps its queries and its output, and blocks of keys and values travel. In each step a rank sends a copy of its block to the next rank, the last one to rank 0. While the copy is on its way, the rank attends to the block itself and merges the result with what it has collected so far. Then it turns to the block that has just come in. In the last step nothing is sent. Steps are counted from 0, as ranks are. In step 0 each rank has its own block, and after $P$ steps every query has met every key. This is **ring attention** (Liu, Zaharia, Abbeel, 2023). Dividing attention by tokens, in a ring or otherwise, is called **context parallelism**.
#
# Here are the four steps of four ranks. Each rank has a color. Strong squares are computed now, pale ones are done, and white ones are still to come. The number is the step:

# %%
axes = plotting.new_axes(9.6, 2.9, columns=4)
row_ring = Ring(layout("contiguous", 48, 4))  # 48 tokens, 12 neighbors on each rank
for step, ax in enumerate(axes):
    draw_scores(ax, row_ring, step)
    ax.set_title(f"step {step}")
    ax.set(xlabel="keys, by rank", ylabel="queries, by rank" if step == 0 else "")

# %%
plotting.show(
    axes[0],
    "The scores in steps 0 to 3, without a mask. In step 0 each rank has the block of "
    "its own keys, on the diagonal. In each step the square that a rank "
    "computes moves one place to the left, or from the left end to the right.",
)

# %% [markdown]
# Follow one query of rank 1 by hand. Say every rank has just one key, and on ranks 0 to 3 the query's scores are $\ln 3$, $0$, $\ln 8$ and $\ln 4$, the values 8, 4, 6 and 1. Rank 1 begins with its own key. The output is 4, the sum of exponentials 1. Then the key of rank 0 arrives. It counts three times as much, and the output becomes $(1 \cdot 4 + 3 \cdot 8) / 4 = 7$, as in section 15.3. Then come those of rank 3 and rank 2:

# %%
output, total = torch.zeros(()), torch.zeros(())
for rank, exponential, value in ((1, 1, 4), (0, 3, 8), (3, 4, 1), (2, 8, 6)):
    output = (total * output + exponential * value) / (total + exponential)
    total = total + exponential
    print(f"with the key of rank {rank}: output {output:.0f}, sum {total:.0f}")

scores, values = torch.tensor([3.0, 1, 8, 4]).log(), torch.tensor([8.0, 4, 6, 1])
print(f"all at once, in the order of the text: {scores.softmax(dim=0) @ values:.0f}")

# %% [markdown]
# Step through it yourself. Leave the causal mask off for now:

# %%
steps = widgets.ring_steps()
steps.show_first_state(
    "Step 1, the last is step 3: each rank computes with the keys of the rank before "
    "it, rank 0 with those of rank 3. Next to the scores are the ranks in a circle, "
    "with the keys that they hold, and equal bars: all compute equally many pairs."
)

# %%
steps

# %% [markdown]
# Here is a rank's program, without a mask. `exchange` starts to send these tensors to the next rank, and to receive as many from the rank before. It returns at once, so the rank can compute meanwhile. What it returns is a function. Call it, and it waits until everything has come in:


# %%
def in_ring(rank, P, query, key, value):
    communicator = Communicator()
    # at first like a part that has seen nothing
    output, lse = torch.zeros_like(query), torch.full(query.shape[:-1], -math.inf)
    for step in range(P):
        if step < P - 1:
            arriving = communicator.exchange(key, value)
        part = partial_attention(query, key, value)
        output, lse = merge(output, lse, *part)
        if step < P - 1:
            key, value = arriving()
    return output


# %%
q, k, v = torch.randn(3, 1, 2, 12, 8, generator=torch.Generator().manual_seed(0))
shares = list(zip(*(x.chunk(4, dim=2) for x in (q, k, v)), strict=True))
outputs = run_on_ranks(in_ring, 4, per_rank=shares).values  # to each rank its own
expected, _ = scaled_dot_product_attention(q, k, v)
print("as one process:", torch.allclose(torch.cat(outputs, dim=2), expected, atol=1e-5))

# %% [markdown]
# With a mask a rank must know which of the newly arrived keys each of its queries may see. For a causal mask their positions in the text tell. Say its queries are at positions 4, 1 and 6, and keys have come from 5, 0 and 4. Then `k_positions <= q_positions[:, None]` has the rows $(0, 1, 1)$, $(0, 1, 0)$ and $(1, 1, 1)$. **Do exercise 15.3 now (17 minutes), then read on.** There you write a rank's step under a mask, for a text of several documents.

# %% [markdown]
# ## 15.5 What is sent
# *Core · 9 minutes*
#
# There is another method, to **gather** first. If three ranks have $a$, $b$ and $c$, then after an **all-gather** each of them has $(a, b, c)$. So every rank gets all keys and values, keeps them, and attends once.
#
# The library has both methods, with masks and a backward pass. Backward, both compute the attention weights again, as in lesson 14. Here they are on four ranks, with a causal mask and two key/value heads for four query heads. `Communicator` counts the bytes. `Ring` holds what all ranks must agree on: who has which tokens, and which mask.

# %%
B, H, H_KV, L, D, P = 2, 4, 2, 48, 6, 4
rng = torch.Generator().manual_seed(0)
shapes = ((H, L, D), (H_KV, L, D), (H_KV, L, D), (H, L, D))
tensors = [torch.randn(B, *s, generator=rng, dtype=torch.float64) for s in shapes]


# %%
def tokens_on_ranks(rank, P, tensors):
    ring = Ring(layout("contiguous", tensors[0].shape[2], P), causal=True)
    communicator, results = Communicator(), []
    for attend in (ring_attention, gathered_attention):
        # shard: the part of this rank; unshard, below, puts all parts in order again
        query, key, value, d_output = (ring.layout.shard(x, rank) for x in tensors)
        own, before = (query, key, value), communicator.bytes_sent
        for leaf in own:
            leaf.requires_grad_()
        output = attend(*own, communicator, ring)
        forward = communicator.bytes_sent - before
        output.backward(d_output)
        sent = (forward, communicator.bytes_sent - before - forward)
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
# Outputs and gradients match those of one process, up to rounding. Let $N$ be the bytes of one rank's keys and values. How many times $N$ does a rank send?

# %%
widgets.predict(
    "15.B",
    "Four ranks, forward and backward. With which method does a rank send more bytes?",
    choices=["in the ring", "in gathering", "as many in both"],
)

# %%
N = 2 * tensors[1].numel() * 8 // P  # bytes of a rank's keys and values
sent = {}
for i, name in enumerate(("ring", "gather")):
    sent[name] = ranks[0][i][2]  # forward, backward
    assert all(rank[i][2] == sent[name] for rank in ranks)  # as much from the others
    how = "counted" if name == "ring" else "by formula"
    print(f"{name:7} forward, backward:", [n / N for n in sent[name]], "N,", how)
more = "in the ring" if sum(sent["ring"]) > sum(sent["gather"]) else "in gathering"
widgets.came_out("15.B", "as many in both" if len(set(sent.values())) < 2 else more)

# %% [markdown]
# The ring's numbers are counted, each time a block is handed on. Those for gathering come from a formula. Forward it takes an `all_gather`. Backward it takes a `reduce_scatter`, which adds up the gradients of all ranks and leaves each rank those of its own keys and values. These are the two halves of the `all_reduce` in section 15.2, and each takes $P - 1$ steps.
#
# **Forward** both send $(P-1)\,N$, since either way every block has to reach the other $P - 1$ ranks, whole. Under our causal mask the last rank's keys are of no use to the others, and both methods send them anyway.
#
# **Backward** the attention weights are computed again. For that a rank has its own queries, but a ring has let go of the other ranks' keys and values, so these go around again. Each rank adds its share to the gradients of the block that it has in hand, and they travel with it. Follow the block of rank 0 on three ranks:
#
# | | where it is | its gradients then hold the shares of | handed on |
# |---|---|---|---|
# | step 0 | rank 0 | rank 0 | keys and values, gradients |
# | step 1 | rank 1 | ranks 0 and 1 | keys and values, gradients |
# | step 2 | rank 2 | ranks 0, 1 and 2 | gradients only, home to rank 0 |
#
# So the gradients take one hop more than keys and values. If they have as many bytes, that makes $(P-1)\,N + P\,N = (2P-1)\,N$. Gathering has kept all the keys and sends only gradients, $(P-1)\,N$.
#
# **And by heads?** The keys and values of $L / P$ tokens are $2\,\frac{L}{P} H_{kv}\, d$ numbers, where $d$ is the size of a head. The layer's output is $L\,d_{model}$ numbers. Let that be $L H d$, as in most layers. An `all_reduce` sends $2\,\frac{P-1}{P}$ times as much. If every query head has its own keys, that's $(P-1)\,N$, as in the ring. If $g$ query heads share theirs, it's $g\,(P-1)\,N$. Backward there is a second `all_reduce`, of the same size. Here are all three when 1, 2 or 8 query heads share their keys. The unit is $N$ if none are shared:

# %%
axes = plotting.new_axes(9.6, 2.8, columns=3)
for ax, g in zip(axes, (1, 2, 8), strict=True):  # query heads that share keys
    sends = {"heads": (P - 1, P - 1), "ring": ((P - 1) / g, (2 * P - 1) / g)}
    sends["gather"] = ((P - 1) / g, (P - 1) / g)
    for place, (there, back) in enumerate(sends.values()):
        forward = ax.barh(place, there, color="0.35", label="forward")
        backward = ax.barh(place, back, left=there, color="#8CCBEF", label="backward")
        if there > 1:  # wide enough for a number
            ax.bar_label(forward, fmt="{:g}", label_type="center", color="white")
            ax.bar_label(backward, fmt="{:g}", label_type="center")
        parts = "" if there > 1 else f" = {there:g} + {back:g}"
        ax.text(there + back, place, f" {there + back:g}{parts}", va="center")
    ax.set_yticks(range(3), sends), ax.invert_yaxis()
    title = "own keys for each head" if g == 1 else f"{g} query heads share keys"
    ax.set(title=title, xlabel="bytes sent (1 = N with own keys)", xlim=(0, 12))

# %%
axes[0].set_ylabel("4 ranks")
shown = [found[:2] for found in axes[1].get_legend_handles_labels()]
axes[1].legend(*shown, loc="lower right")
plotting.show(
    axes[0],
    "Bytes sent on four ranks, forward and backward. Heads always 6. The ring 10 "
    "without shared keys, 5 if two query heads share, 1.25 if eight share. Gathering "
    "6, 3 and 0.75.",
)

# %% [markdown]
# *The more query heads share their keys, the less travels by tokens. By heads nothing changes, since outputs travel there.* Without shared keys, dividing by heads sends less than a ring, forward and backward together. Sharing keys soon makes tokens the cheaper cut. All this is attention alone. In training, ranks that divide tokens must also add up the gradients of the model's weights, since each has a copy of them, and its gradient covers only its own tokens.
#
# *More on this: in exercise 15.4 you write the gathering as a ring.*

# %% [markdown]
# ## 15.6 What is kept
# *Core · 5 minutes*
#
# What must a rank have in memory at once, forward? From three ranks on, a rank in a ring has three blocks of keys and values: its own, kept for the backward pass, one in hand, and one arriving. That's $3N$, and the more ranks there are, the less it is. A rank that gathers has its own and those of the whole text, in our version $N + P N$. By heads a rank has the keys and values of the whole text, but only a $P$-th of the heads. That's $N$ again, as long as there is a key/value head for each rank.
#
# How much is that in a real layer? Take 64 query heads and 8 key/value heads, all of size 128, and a text of 131,072 tokens on 8 ranks. Every number has two bytes:

# %%
real_N = 2 * 131_072 // 8 * 8 * 128 * 2  # keys and values: tokens, heads, size, bytes
for name, times in (("heads", 1), ("ring", 3), ("gather", 1 + 8)):
    print(f"{name:6} {times} N = {times * real_N / 1e6:3.0f} MB")

# %% [markdown]
# But each token also has its features $x$, here $64 \cdot 128$ numbers. By tokens a rank has those of its own, 268 MB. By heads it has those of the whole text, 2,147 MB. And there are weights. All four matrices take 302 MB. By tokens every rank has all of them, by heads an eighth. Here is all that on 8 and on 64 ranks. Queries and the heads' outputs are left out, because all three methods have as many of them. So is the layer's output, which is as large as $x$:

# %%
kinds = ("keys, values", "x", "weights"), ("0.35", "#8CCBEF", plotting.COLORS[1])
features = 131_072 * 64 * 128 * 2 / 1e6  # MB
weights = 64 * 128 * (2 * 64 + 2 * 8) * 128 * 2 / 1e6  # MB


def megabytes(P):
    """Of keys and values, x and weights, by each method on P ranks."""
    N, ranks_kv = 8 * real_N / P / 1e6, min(P, 8)  # by heads: at least one head's
    own = weights * (8 / 9 / P + 1 / 9 / ranks_kv)
    held = {"heads": (8 * real_N / 1e6 / ranks_kv, features, own)}
    x = features / P
    return held | {"ring": (3 * N, x, weights), "gather": ((1 + P) * N, x, weights)}


# %%
axes = plotting.new_axes(9.6, 2.5, columns=2)
for ax, P in zip(axes, (8, 64), strict=True):
    for place, sizes in enumerate(megabytes(P).values()):
        for i, (size, kind, color) in enumerate(zip(sizes, *kinds, strict=True)):
            bar = ax.barh(place, size, left=sum(sizes[:i]), color=color, label=kind)
            ink = "black" if kind == "x" else "white"
            wide = ["" if size < 190 else f"{size:,.0f}"]  # else no room for a number
            ax.bar_label(bar, wide, label_type="center", color=ink, fontsize=8)
        ax.text(sum(sizes), place, f" {sum(sizes):,.0f}", va="center")
    ax.set_yticks(range(3), megabytes(P)), ax.invert_yaxis()
    ax.set(title=f"{P} ranks", xlabel="MB at once, forward", xlim=(0, 2900))

# %%
shown = [found[:3] for found in axes[1].get_legend_handles_labels()]
axes[1].legend(*shown, loc="lower right")
plotting.show(
    axes[0],
    "Keys and values, x and weights that a rank has at once, in MB. On 8 ranks: heads "
    "2,252, ring 772, gather 1,174. On 64: 2,223, 361 and 881.",
)

# %% [markdown]
# *In a ring all that belongs to the text shrinks as ranks are added. A rank that gathers holds the keys and values of the whole text, and a rank with its own heads the whole text's $x$, at least for a moment (Megatron-LM keeps only a part of it between layers, section 15.10).* So in a ring the text can grow with the ranks. By heads the weights shrink. But past 8 ranks several have a copy of the same key/value head, so the gray bar stays. Training adds one more difference. A rank that gathers keeps the whole text's keys and values, layer after layer, until the backward pass, or it must gather again.
#
# The scores come on top. By heads and by gathering a rank has $H L^2 / P$ of them for a whole text, and $H L^2 / P^2$ for one block of a ring. So in practice all three methods go through the keys in smaller blocks, as in lesson 14.
#
# *More on this: exercise 15.5 lets the queries travel, and "What is kept, measured" counts all that these methods hold at once.*

# %% [markdown]
# ## 15.7 A causal mask, and who has to wait
# *Core · 6 minutes*
#
# A causal mask hides nearly half of all pairs of a query and a key, so nearly half of the work could be saved. How much of it does a ring save? Four ranks hold 48 tokens, each of them twelve neighbors. That's a **contiguous** layout. Suppose that no rank starts a step before all have finished the step before it. Then a step takes as long as its busiest rank. Where the queries of one rank meet the keys of another, they form a square of pairs. Our library skips a square that is hidden entirely, and computes all of any other. For counting, one process plays all four ranks (section 15.9, *more*, shows how).

# %%
widgets.predict(
    "15.C",
    "Contiguous: how long does the ring take, compared with no mask at all?",
    choices=["about half as long", "three quarters as long", "as long, or nearly"],
)

# %%
def show_work(name):
    """Print each rank's work in each step; the share of the time without a mask."""
    ring = Ring(layout(name, L, 4), causal=True)
    table = work_table(ring)
    slowest = table.max(dim=0).values  # (steps,)
    print(f"{name}: a row for each rank, a column for each step")
    print(table, f"  all wait for {slowest.tolist()}, together {slowest.sum()}")
    error = (simulate_ring(*tensors[:3], ring).output - whole_text[0]).abs().max()
    print("same output as one process, to 1e-12:", bool(error < 1e-12))
    share = slowest.sum().item() / 4 / 12**2
    print(f"{share:.2f} of the time without a mask")
    return share

# %%
share = show_work("contiguous")
widgets.came_out("15.C", "as long, or nearly" if share > 0.9 else f"{share:.2f}")

# %% [markdown]
# Rank 3 computes all 144 pairs in every step. All wait for it, and the ring takes $4 \cdot 144 = 576$, as it would without a mask. No time is saved. Even if nobody waited it would take as long, since rank 3 alone has all that to do.
#
# So let's deal out the tokens in another way. **Zigzag** cuts the text into $2P$ chunks and gives each rank two of them. Rank 0 gets the first and the last, rank 1 the second and the second-to-last, and so on. Where the queries of one rank meet the keys of another, they now form four smaller squares, chunk by chunk, and the library skips each of them that is hidden entirely. In the picture each color is a rank:

# %%
layouts = ("contiguous", "zigzag")
strips = [colored_tokens(layout(name, L, 4)) for name in layouts]
ax = plotting.new_axes(8.0, 1.6)
ax.imshow(torch.stack(strips), aspect="auto")
ax.hlines(0.5, -0.5, L - 0.5, color="white", lw=6)
ax.vlines([x - 0.5 for x in range(6, L, 6)], 0.5, 1.5, color="white", lw=1)
for row, name in enumerate(layouts):
    middles = sorted(chunk_middles(layout(name, L, 4)).items())
    for chunk, (middle, rank) in enumerate(middles):
        text = f"rank {rank}" + (f"\nchunk {chunk}" if name == "zigzag" else "")
        ax.text(middle, row, text, color="white", ha="center", va="center")

# %%
ax.set_yticks(range(2), layouts), ax.set_xlabel("position in the text")
plotting.show(
    ax,
    "Who holds which of 48 tokens. Contiguous: twelve neighbors for each rank. "
    "Zigzag: two chunks of six, equally far from the beginning and from the end.",
)

# %%
share = show_work("zigzag")

# %% [markdown]
# Here is the work of all steps. The number on a square is the step in which it's computed. Hatched pairs are hidden by the mask, but the library computes them anyway, along with the rest of their square:

# %%
axes = plotting.new_axes(7.5, 3.9, columns=2)
for ax, name in zip(axes, ("contiguous", "zigzag"), strict=True):
    ring = Ring(layout(name, L, 4), causal=True)
    draw_scores(ax, ring, 3)
    ax.set_title(f"{name}, step 3")
    if name == "zigzag":  # its rows with the numbers of the chunks
        names = [f"{rank}, chunk {chunk}" for chunk, (_, rank) in enumerate(middles)]
        ax.set_yticks([middle for middle, _ in middles], names)

# %%
name_shades(axes[0].figure, (0.1, 1.0), columns=4, causal=True, done=True)
plotting.show(
    axes[0],
    "The scores in step 3, a color for each rank, strong where it computes now and "
    "pale where it has before, with the number of the step; gray is hidden, hatched "
    "where it's computed anyway, in step 0. Contiguous: rank 0 has a single block, "
    "rank 3 one in each step. Zigzag: each rank has three squares in step 0 and two in "
    "each of the others.",
)

# %% [markdown]
# In zigzag all ranks have the same amount of work in every step, and the ring takes 324. Why? Take rank 1, which has chunks 1 and 6. From rank 0 come chunks 0 and 7: both of its chunks see chunk 0, and neither sees 7. From rank 2 come chunks 2 and 5: chunk 1 sees neither, and chunk 6 sees both. Each time that's two of the four squares, and so it is for any two ranks. A lower rank's early chunk is seen by both, its late chunk by neither. A higher rank's chunks are both seen by the late one alone. Only in step 0, with its own keys, does each rank compute three, two of them on the diagonal. That's why only these are hatched.
#
# So zigzag takes $(3 + 2\,(P-1)) / (4P) = \tfrac12 + \tfrac1{4P}$ of the time without a mask, and with many ranks nearly half. Switch on the causal mask in the widget of section 15.4, and watch the bars in both layouts.
#
# The result stays the same, as long as each token carries its position in the text with it, for the mask and for its rotary angles (lesson 08). **Do exercise 15.7 now (13 minutes).** There you count each rank's work under any division.
#
# *More on this: in exercises 15.6 and 15.8 you write zigzag and find a bug, and exercise 15.9 asks whether zigzag is always the best division. "What a kernel leaves out" counts single pairs.*

# %% [markdown]
# ## 15.8 On paper: a real cluster
# *Core · 11 minutes*
#
# While a rank attends to one block and sends a copy on, the next block is on its way to it. If that arrives before the rank is done, the sending is free.
#
# When is that so? Take a slow machine that does 100 operations a second and sends 10 bytes a second, and keys of size 2. For each pair of a query and a key there are two products of size 2, for the score and for the value. Each takes 2 multiplications and 2 additions, 8 operations together. For each token a key and a value are sent, 4 numbers of 2 bytes, 8 bytes together. So a block of $n$ tokens takes $8 n^2$ operations and $8 n$ bytes. With 5 tokens that's 2 seconds of computing and 4 of sending, so the rank waits. With 10 tokens both take 8 seconds. With 20 it computes for 32 seconds and sends for 16, and nobody waits. Computing grows with the square of the block, sending only with its length.
#
# Now in general. A rank with $n = L / P$ tokens does $4\,n^2 d$ operations in a step, for each head of size $d$. There are two matrix products, and each takes $n^2 d$ multiplications and as many additions. Exponentials and merging are left out. Meanwhile it sends $2\,n\,d$ numbers of 2 bytes, $4\,n\,d$ bytes. If each rank does $F$ operations a second, and sends $S$ bytes while it receives as many, sending is hidden as soon as
#
# $$\frac{4\,n^2 d}{F} \ge \frac{4\,n\,d}{S} , \qquad\text{so}\qquad n \ge \frac{F}{S} .$$
#
# For the slow machine it's $100 / 10 = 10$ tokens. The head's size cancels, and so does the number of heads. The fours cancel too, but only because a number has two bytes. With $b$ bytes it's $n \ge b F / (2 S)$. Where $g$ query heads share a key/value head, less is sent, and $F / (g S)$ tokens are enough. **Do exercise 15.10 now (9 minutes).** There you work out what a ring sends and keeps, and what a causal mask does to this bound.
#
# Here is one text without a mask, on eight ranks with blocks of $0.7\,F / S$ tokens, and on four ranks with blocks twice as long. Then a block takes four times as long to compute, and only twice as long to send:

# %%
def draw_steps(ax, P, n, top):
    """The steps of P ranks with n tokens each; n and the time in units of F / S."""
    computing, sending, begins = n**2, n, 0.0
    for step in range(P):
        bars = [(computing, top), (sending, top - 1)][: 1 if step == P - 1 else 2]
        for (length, low), color in zip(bars, ("0.35", "#8CCBEF"), strict=False):
            ax.broken_barh([(begins, length)], (low, 0.8), fc=color, ec="white")
            place = (begins + length / 2, low + 0.4)
            ink = "white" if color == "0.35" else "black"
            ax.text(*place, step, color=ink, va="center", ha="center")
        if step < P - 1 and sending > computing:  # it waits for the next block
            wait = (begins + computing, sending - computing)
            ax.broken_barh([wait], (top, 0.8), fc="none", ec="0.6", hatch="//")
        begins += max(computing, sending)


# %%
ax = plotting.new_axes(9.6, 3.2)
draw_steps(ax, 8, 0.7, top=6.0), draw_steps(ax, 4, 1.4, top=3.5)
ax.broken_barh([(0, 3 * 1.4)], (0.0, 0.8), fc="#8CCBEF", ec="white")  # gathering
ax.broken_barh([(0, 3 * 1.4)], (1.0, 0.8), fc="none", ec="0.6", hatch="//")
ax.broken_barh([(3 * 1.4, 4 * 1.4**2)], (1.0, 0.8), fc="0.35", ec="white")
ax.text(2.1, 1.4, "waits", ha="center", va="center", bbox={"fc": "white", "ec": "none"})
names = ["8 ranks, n = 0.7 F / S: computing", "sending"]
names += ["4 ranks, n = 1.4 F / S: computing", "sending"]
names += ["the same 4, gathering: computing", "sending"]

# %%
ax.set_yticks([6.4, 5.4, 3.9, 2.9, 1.4, 0.4], names)
ax.set(xlim=(0, 12.5), xlabel="time (1 = to compute a block of F / S tokens)")
plotting.show(
    ax,
    "Bars in time. Above, with short blocks, sending goes on without a gap, and after "
    "each computation but the last the rank waits (hatched) until the block has come. "
    "In the middle, with blocks twice as long, computing goes on without a gap. At the "
    "bottom all is sent first and computed afterward.",
)

# %% [markdown]
# *A number is a step, and hatched is waiting. Eight ranks are done at 5.4 and four at 7.8. So eight are faster, but not twice as fast, because they wait for what is sent. The same four take until 12.0 if they gather first.*

# %% [markdown]
# The table shows the machines of the ring attention paper (its table 2) at peak speed. NVLink connects the GPUs within a machine, InfiniBand connects machines, and TPUs are Google's chips. The last columns are the tokens that a rank needs without a mask, if each query head has its own keys and if four share them:

# %%
print(f"{'':19}{'F':>10}{'S':>10}{'n from':>8}{'4 heads share':>16}")
for cluster in CLUSTERS:
    block = smallest_hidden_block(cluster)
    shared = smallest_hidden_block(cluster, heads_per_kv_head=4)
    rates = f"{cluster.flops:10.2e}{cluster.bandwidth:10.2e}"
    print(f"{cluster.name:19}{rates}{block:8,.0f}{shared:16,.0f}")

# %% [markdown]
# How much do more ranks speed up a text of a million tokens?

# %%
widgets.predict(
    "15.D",
    "A ring over InfiniBand, a million tokens, 32 heads, each with its own keys. How "
    "much faster are 1,000 ranks than 500?",
    choices=["twice as fast", "about a quarter faster", "not at all"],
)

# %%
# ring_time: P - 1 steps, each the longer of computing and sending, and one of computing
counts = [P for P in range(1, 1001) if 10**6 % P == 0]  # equal blocks only
speedups = {}
for kv_heads in (32, 8):
    sizes = {"L": 10**6, "num_heads": 32, "num_kv_heads": kv_heads, "d_head": 128}
    rings = [ring_time(CLUSTERS[1], P=P, **sizes) for P in counts]
    totals = {"ring": [ring.total for ring in rings]}
    totals["gather"] = [ring.compute + ring.transfer for ring in rings]
    for way, times in totals.items():
        name = f"{way}, {kv_heads} key/value heads"
        speedups[name] = torch.tensor([times[0] / t for t in times])
at = [speedups["ring, 32 key/value heads"][counts.index(P)].item() for P in (500, 1000)]
print(f"500 ranks: {at[0]:.0f} times as fast as one, 1,000 ranks: {at[1]:.0f} times")
widgets.came_out("15.D", "not at all" if at[1] / at[0] < 1.05 else "faster")

# %%
labels = {"xlabel": "ranks", "ylabel": "times as fast as one rank"}
colors = "black", plotting.COLORS[4]
styles = [(color, line) for color in colors for line in ("-", "--")]
bends = {shared: 10**6 / smallest_hidden_block(CLUSTERS[1], heads_per_kv_head=shared)
         for shared in (1, 4)}  # query heads to a key/value head

# %%
ax = plotting.new_axes(6.4, 4.2)
for (name, times), (color, line) in zip(speedups.items(), styles, strict=True):
    thick = 4 if name == "ring, 32 key/value heads" else 1.5  # they coincide at first
    ax.loglog(counts, times.tolist(), line, color=color, label=name, lw=thick)

# %%
ax.set(**labels, ylim=(0.8, 300)), ax.legend(frameon=False)
ax.plot([500, 1000], at, "o", color="black")  # what was asked
ax.set_yticks([1, 10, 40, 160], ["1", "10", "40", "160"]), ax.minorticks_off()
ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
plotting.mark_places(ax, {f"{bend:.0f} ranks": bend for bend in bends.values()})
plotting.show(
    ax,
    "Speed by number of ranks over InfiniBand, for a million tokens and 32 heads, "
    "without a mask. Both rings' curves rise as the ranks do. With 32 key/value heads "
    "the curve turns flat at 40 ranks, with 8 of them at 160. Gathering lies below, "
    "farthest at the bends, where it is half as fast.",
)

# %% [markdown]
# *Beyond $g L S / F$ ranks (dotted lines) a longer ring gains next to nothing, here less than one percent.* The blocks have become too short to hide what is sent, and each rank still has to receive nearly all keys and values of the text, whatever $P$ is. Gathering receives as much, and our version computes nothing until it has everything. So it takes the sum of the two times, and the ring only the longer one. At the bend the two times are equal, so gathering takes twice as long. Far from it one time is small, and the two methods are almost equally fast. With a causal mask, in zigzag, a step has half of the work to hide the same bytes. So it takes twice as many tokens, and the ring's curve turns flat at half as many ranks.
#
# More ranks still help if they divide the heads as well. Then each head, or each few, has a ring of its own.
#
# All this is for the forward pass, without a mask, with machines at their peak, which none reaches. If the chips did only half of it, the single rank that we compare with would be slower too, and the flat part would lie twice as high. With links at half their peak it would lie half as high.
#
# Which cut is faster? Take the layer of section 15.6 once more, on 8 A100s of one machine or of 8 machines, forward and without a mask:

# %%
computing = 4 * 131_072**2 * 64 * 128 / 8 / CLUSTERS[0].flops
print(f"a rank computes for {1000 * computing:.0f} ms")
for cluster in CLUSTERS[:2]:
    for name, times in (("heads", 8 * 7), ("ring", 7)):
        sending = times * real_N / cluster.bandwidth
        print(f"{cluster.name:17} {name:5} sends for {1000 * sending:3.0f} ms")

# %% [markdown]
# Within a machine, over NVLink, both are cheap, and dividing by heads also divides the weights. Between machines the ring's 38 ms are hidden behind computing. The heads' 301 ms come on top of it, since their sum can start only when the heads are done. Here are all the answers in one table:
#
# | | by heads | ring | gathering |
# |---|---|---|---|
# | sends forward | $g\,(P-1)\,N$ if $d_{model} = H d$ | $(P-1)\,N$ | $(P-1)\,N$ |
# | sends backward | $g\,(P-1)\,N$ | $(2P-1)\,N$ | $(P-1)\,N$ |
# | features $x$ held | of all tokens, at least for a moment | of $L / P$ tokens | of $L / P$ tokens |
# | keys and values at once, forward | $N$ in all (at least one head's) | its own and $2\,N$ | its own and $P\,N$ |
# | weights held | $1/P$ (of $W_k$ and $W_v$ at least one head) | all | all |
# | sending hidden behind attention | not in our version | forward, if blocks are long enough; not backward in our version | not in our version |
# | who waits under a causal mask | nobody | depends on the layout | in our version nobody, as it computes the hidden pairs too; if it skips hidden blocks, depends on the layout |
# | at most | as many ranks as heads | as many as tokens (zigzag: half) | as many as tokens |
#
# *More on this: "Sending while you compute" tries it with an imitated link, and "The way back" has the backward pass.*

# %% [markdown]
# ## Recap
# *Core · 2 minutes*
#
# 1. **Ranks** are processes with a memory of their own. `run_on_ranks` hands you what each rank returned and printed, or an error that names a rank.
# 2. **Heads** divide because the output projection is a sum over heads. That takes one `all_reduce` forward and one backward.
# 3. **Tokens** divide because partial results merge by their `lse`. In a ring a rank has three blocks of keys and values: its own, one in hand and one arriving. Forward it sends as much as dividing by heads does if $d_{model} = H d$, or $1/g$ of that where $g$ query heads share their keys.
# 4. **Counted**, our ring sends $(P-1)\,N$ forward and $(2P-1)\,N$ backward, if gradients have as many bytes as keys. Gathering sends as much forward and less backward, and holds more. Zigzag gives every rank the same work under a causal mask.
# 5. **On paper**, with machines at their peak, for the forward pass without a mask, sending is free once a block has at least $F / (g S)$ tokens, with numbers of two bytes. With a causal mask in zigzag it takes twice as many. Past $g L S / F$ ranks a longer ring gains hardly anything.
# 6. **Which cut?** By heads inside one machine, where links are fast and the weights get divided, too. By tokens when the text is too long for that or links are slow: in a ring if its blocks are long enough to hide the sending, by gathering if few key/value heads make it cheap to send and to keep. Both at once if one isn't enough.

# %% tags=["nbval-ignore-output"]
widgets.predictions()

# %% [markdown]
# | symbol | meaning | shape |
# |---|---|---|
# | $P$, $r$ | number of ranks, one of them | |
# | $n = L / P$ | tokens of a rank | |
# | $o$, $\ell$ (`lse`) | output over some keys, log of their sum of exponentials | `(B, H, n, d_v)`, `(B, H, n)` |
# | $N$ | bytes of a rank's keys and values | |
# | $H$, $H_{kv}$, $g$ | query heads, key/value heads, query heads that share one | |
# | $d$ | size of a head | |
# | $F$, $S$ | operations and bytes per second | |

# %% [markdown]
# ## Check yourself
# *Core · 3 minutes*
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
# <details><summary>3. Under a causal mask zigzag finishes sooner than contiguous. Which of the two sends more?</summary>
#
# **In our ring, neither.** The blocks are just as large and travel just as often.
# </details>
#
# <details><summary>4. 32 query heads, 8 key/value heads, 8 ranks. Which sends less forward, dividing by heads or a ring, and by what factor?</summary>
#
# **The ring, a quarter as much.** Here $g = 32 / 8 = 4$ query heads share their keys.
# </details>
#
# *Your `merge_parts` and `ring_step` can now run lesson 12's model on four processes: see the payoff at the end of the exercises. Everything below is more.*

# %% [markdown]
# ## 15.9 More ranks than cores
# *More · 7 minutes*
#
# How can one process play many ranks? It has to pause a rank's program wherever that sends something, and let the other ranks catch up. A Python **generator** can be paused, since it stops at each `yield`. In place of `communicator.exchange(key, value)` the program has `yield key, value`. Here is the smallest one, in which each rank hands on its number and gets that of the rank before it. Below it we play the connection for rank 0:


# %%
def from_before(rank, P, x):
    arriving = yield (x,)  # to the next rank, and from the last one to rank 0
    (before,) = arriving()
    return before


program = from_before(0, 4, torch.tensor(0.0))
print("hands over", next(program))
try:
    program.send(lambda: (torch.tensor(30.0),))  # what has come from rank 3
except StopIteration as end:
    print("returns", end.value)

# %% [markdown]
# At the `yield` the program stops and hands its caller the tensors to send. The caller resumes it by `program.send(f)`. In spite of its name that sends nothing to another rank. It only makes `f` the value of the `yield`, a function that returns what has arrived. When the program ends, Python hands its result over in a `StopIteration`.
#
# `run_in_lockstep` takes all ranks in turn, one step of each and then the next. On real processes `run_in_ring` runs the same program, with a `Communicator`:


# %%
def on_a_rank(rank, P):
    program = from_before(rank, P, torch.tensor(10.0 * rank))
    return run_in_ring(program, Communicator()).item()


programs = [from_before(r, 4, torch.tensor(10.0 * r)) for r in range(4)]
print("four processes:", run_on_ranks(on_a_rank, 4).values)
print("one process:   ", [x.item() for x in run_in_lockstep(programs)[0]])

# %% [markdown]
# The library's ring is such a program, so one process can play 64 ranks. All of them compute and send the same amount:

# %%
long = [torch.randn(1, 2, 512, 8, generator=rng) for _ in range(3)]
simulated = simulate_ring(*long, Ring(layout("zigzag", 512, 64), causal=True))
expected, _ = scaled_dot_product_attention(*long, causal_mask(512))
error = (simulated.output - expected).abs().max()
print("largest difference below 1e-5:", bool(error < 1e-5))
print("bytes a rank:", simulated.forward_bytes.unique().tolist())
print("multiplications a rank:", simulated.multiplications.sum(1).unique().tolist())

# %% [markdown]
# Each rank sends keys and values 63 times, with 2 heads, 8 tokens and 8 numbers each. With 4 bytes a number that's $63 \cdot 2 \cdot (2 \cdot 8 \cdot 8) \cdot 4$ bytes. It computes 3 squares in step 0 and 2 in each other step, with $4^2$ pairs of tokens each. In 2 heads, with $2 \cdot 8$ multiplications for a pair, that's $(3 + 63 \cdot 2) \cdot 16 \cdot 2 \cdot 16$.

# %% [markdown]
# ## 15.10 An all_reduce, message by message
# *More · 5 minutes*
#
# Each rank cuts its tensor into $P$ parts. For $P - 1$ steps, each hands one part on, and adds the part that arrives to its own. After that each rank has one part of the sum, finished: rank $r$ has part $r + 1$, and the last rank part 0. Apart from the order of the parts, this is a `reduce_scatter`. In $P - 1$ more steps the finished parts go around, which is the gathering of exercise 15.4. Here is the first half:


# %%
def add_in_ring(rank, P, x):
    parts = list(x.chunk(P))
    for step in range(P - 1):
        arriving = yield (parts[(rank - step) % P],)
        (part,) = arriving()
        mine = (rank - step - 1) % P
        parts[mine] = parts[mine] + part
    return parts[mine]


# %%
addends = torch.randn(5, 20, generator=rng, dtype=torch.float64)
sums, sent = run_in_lockstep([add_in_ring(r, 5, addends[r]) for r in range(5)])
expected = addends.sum(0).chunk(5)
print("finished parts:", all(torch.allclose(x, expected[(r + 1) % 5])
                             for r, x in enumerate(sums)))
print("sent:", sent.tolist(), "half of", all_reduce_bytes(num_bytes(addends[0]), 5))

# %% [markdown]
# So this half sends half of the formula, and the other half sends as much again. Between the two halves each rank holds $1/P$ of the sum. If a part is a stretch of tokens, norms and dropout can be done right there. Megatron-LM does so, and calls it sequence parallelism (Korthikanti et al., 2022).
#
# Does gloo send as much? Our `Communicator` adds up what it hands to the next rank, and for a collective operation it adds the formula. On Linux one can ask the system how many bytes really went from process to process (`python -m experiments traffic`):

# %%
for row in read_rows("traffic"):
    ratio = float(row["measured"]) / float(row["counted"])
    print(f"{row['operation']:15} counted {row['counted']:>5} MB,", end=" ")
    print(f"sent {ratio:.2f} times that")

# %% [markdown]
# *Four ranks on one machine, each with a tensor of 8 MB, all their bytes together.* Only `reduce_scatter` sends more than we count, a quarter more. Our library builds it from four calls of `dist.reduce`. With each part sent straight to the rank that adds it (last row), it's as many bytes as counted.

# %% [markdown]
# ## 15.11 What a kernel leaves out
# *More · 3 minutes*
#
# In section 15.7 we counted whole chunks. Our library skips a chunk that is hidden entirely, and computes all of a chunk that is hidden in part. A **kernel** is a program that runs on the chip, here one that does all of attention. It works in small squares, **tiles**, and skips each one that is hidden. At best it computes only what may be seen:

# %%
print("time in pairs: whole chunks   only what may be seen")
for name in ("contiguous", "zigzag", "striped"):
    ring = Ring(layout(name, L, 4), causal=True)
    tables = work_table(ring), visible_table(ring)
    totals = [table.max(dim=0).values.sum() for table in tables]
    print(f"{name:14}{totals[0]:13}{totals[1]:24}")

# %% [markdown]
# **Striped** attention (Brandon et al., 2023) deals tokens out like cards, so that every block is half hidden, along its diagonal. Counted in whole chunks, that gains nothing (set the widget to striped). Counted in the smallest tiles, it comes close to zigzag, and closer as the text grows:

# %%
for length in (48, 192, 768):
    total = {}
    for name in ("zigzag", "striped"):
        table = visible_table(Ring(layout(name, length, 4), causal=True))
        total[name] = table.max(dim=0).values.sum().item()
    print(f"{length:3} tokens: {total}, {total['striped'] / total['zigzag']:.3f}")

# %% [markdown]
# ## 15.12 From tokens to heads and back
# *More · 6 minutes*
#
# Most of a model works on each token separately, and only attention needs several of them. **DeepSpeed-Ulysses** (Jacobs et al., 2023) turns the right half of the picture in section 15.2 into the left half, and back again. In an **all-to-all** each rank has something for every other one. It sends each rank the queries for that rank's heads, then the keys, then the values. Each rank then computes its own heads for all tokens, and a fourth all-to-all brings the outputs home. A rank keeps $1/P$ of everything and sends the rest. Let $h$ be the bytes of one head for one rank's tokens. Then it sends $\frac{P-1}{P}\,(2H + 2H_{kv})\,h$. A ring sends $(P-1)\,2H_{kv}\,h$.


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
# The ratio of the two is $(1 + H / H_{kv}) / P$. But a rank can't have less than one key/value head. With more ranks than that, several get a copy of the same head. Then each of the other $P - 1$ ranks is sent one head of keys and values, and the ratio becomes $(1 + H / P) / H_{kv}$. Take the heads of a large Llama, 64 and 8:

# %%
for P in (2, 4, 8, 16, 32, 64):
    ratio = (1 + 64 / P) / 8 if P > 8 else (1 + 64 / 8) / P
    print(f"{P:2} ranks: Ulysses sends {ratio:.2f} times what a ring sends")

# %% [markdown]
# With 8 ranks Ulysses still sends a little more than a ring, and with 16 it sends three eighths less, forward. But it can't use more ranks than there are heads. Past $H_{kv}$ ranks each still holds one whole head of keys and values, however many ranks there are. A ring has neither limit, and it can hide what it sends behind its steps. In the code above attention begins only when the all-to-all has ended. To hide some of it one would send a few heads at a time.

# %% [markdown]
# ## What is kept, measured
# *More · 4 minutes*
#
# A rank holds more than keys and values. It also has its queries, its output, and tables of scores and weights. Let's count all tensors that a rank really has at once, on 2 to 64 ranks, with one head of size 16 and 1,024 tokens. One process is enough for that, if what arrives is a copy. A third method gathers first and then goes through the keys in blocks, forward and backward, by lesson 14's `attention_in_blocks`:


# %%
class OneRank:
    """Plays rank 0 of P: a copy of what it hands on arrives at once, from any rank."""

    def __init__(self, P):
        self.rank, self.P = 0, P

    def exchange(self, *tensors):
        copies = [x.clone() for x in tensors]
        return lambda: copies

    def all_gather(self, x):
        return [x.clone() for _ in range(self.P)]

    def reduce_scatter(self, parts):  # adds up parts (section 15.10), here one rank's
        return parts[self.rank].clone()


# %%
def gathered_in_blocks(query, key, value, communicator, ring):
    gathered = [x.repeat(1, 1, communicator.P, 1) for x in (key, value)]  # P copies
    return attention_in_blocks(query, *gathered, block_size=query.shape[2])


# %%
def memory_of(attend, P, length=1024, d_head=16):
    """kB: most at once forward, kept for the way back, most at once on the way back."""
    ring, shape = Ring(layout("contiguous", length, P)), (1, 1, length // P, d_head)
    own = [torch.zeros(shape, requires_grad=True) for _ in range(3)]
    with TensorMemory(*own) as memory:
        output = attend(*own, OneRank(P), ring)
        forward, kept, memory.peak = memory.peak, memory.now, memory.now
        output.backward(torch.zeros(shape))
    return forward / 1000, kept / 1000, memory.peak / 1000


# %%
counts = (2, 4, 8, 16, 32, 64)
methods = {"gather, whole tables": gathered_attention, "ring": ring_attention}
methods |= {"gather, then blocks": gathered_in_blocks}
forward, back = {}, {}
for name, attend in methods.items():
    rows = torch.tensor([memory_of(attend, P) for P in counts])  # (6, 3)
    forward[name], back[name] = rows[:, 0], rows[:, 2]
    print(f"{name}: kept for the way back, in kB", rows[:, 1].round().int().tolist())

# %%
for direction, found in (("forward", forward), ("backward", back)):
    last = {name: round(x[-1].item()) for name, x in found.items()}
    print(f"{direction}, kB on 64 ranks: {last}")

# %%
axes = plotting.new_axes(9.6, 3.6, columns=2)
labels = {"xlabel": "ranks", "ylabel": "most at once, kB"}
both = {"forward": forward, "backward": back}
for ax, (title, curves) in zip(axes, both.items(), strict=True):
    plotting.curves(torch.tensor(counts), curves, ax=ax, **labels)
    ax.loglog(), ax.axhline(2 * 1024 * 16 * 4 / 1000, color="0.4", ls=":", lw=1)
    ax.text(2, 140, "all keys and values", fontsize=9)
    if title == "backward":
        ax.get_legend().remove()  # as on the left
        ax.axhline(4 * 1024 * 16 * 4 / 1000, color="0.4", ls=":", lw=1)
        ax.text(2, 280, "with their gradients", fontsize=9)
    ax.set_title(title), ax.minorticks_off(), ax.set_xticks(counts, counts)
    ax.set_yticks([10, 100, 1000, 10_000], ["10", "100", "1,000", "10,000"])
    ax.set_ylim(9, 15_000)

# %%
plotting.show(
    axes[0],
    "Memory of a rank by number of ranks, both axes logarithmic. Forward and backward, "
    "gathering and then going by blocks stays within twice the ring up to 8 ranks, "
    "then flattens. Gathering with whole tables lies above both.",
)

# %% [markdown]
# *Dotted: the keys and values of the whole text, 131 kB, which every rank that gathers has, however many ranks there are.*
#
# A whole table has $L / P$ rows and $L$ columns, that of a block $L / P$ of each. So twice as many ranks halve the one and quarter the other. On few ranks such tables are most of what there is.
#
# Gathered keys and values don't shrink. So "gather, then blocks" turns flat at the dotted line, and backward at the upper one, which has room for their gradients. On 64 ranks it needs ten to twelve times the memory of the ring, and with whole tables more than twenty times. (A kernel would make no tables at all. What an operation uses inside itself for a moment isn't counted here.)
#
# All three compute the attention weights again on the way back, so no table is kept. In the ring, each rank keeps only its own query, key, value and output, and its `lse`. Gathering keeps all keys and values as well. It could throw them away and gather again, which costs another $(P-1)\,N$.

# %% [markdown]
# ## The way back
# *More · 4 minutes*
#
# On the way back the attention weights are computed again, block by block, as in lesson 14. A weight is $a_{ij} = e^{s_{ij} - \ell_i}$, where $\ell_i$ is the final `lse` of query $i$, over **all** keys. If a score $s_{ij}$ rises by a small $\varepsilon$, the output $o_i = \sum_j a_{ij} v_j$ changes by $\varepsilon\, a_{ij}\,(v_j - o_i)$. So with the output's gradient $\bar o_i$ the gradient with respect to the score is $a_{ij}\,(\bar o_i v_j^\top - \bar o_i o_i^\top)$. Only $k_j$ and $v_j$ come from another rank.
#
# Here it is as a program like those of section 15.9, without a mask and with as many key/value heads as query heads. Queries, outputs, their gradients and `lse` stay at home. Keys and values go around again, and each rank adds its part to the gradients that travel with them. At the end those are handed on once more, and are home:


# %%
def back_in_ring(rank, P, query, key, value, output, lse, d_output):
    scale, d_query = query.shape[-1] ** -0.5, torch.zeros_like(query)
    d_key, d_value = torch.zeros_like(key), torch.zeros_like(value)
    mean = (d_output * output).sum(dim=-1, keepdim=True)  # (..., n, 1)
    for step in range(P):
        weights = (scale * query @ key.mT - lse[..., None]).exp()  # (..., n, n)
        d_scores = scale * weights * (d_output @ value.mT - mean)
        d_query = d_query + d_scores @ key
        gradients = d_key + d_scores.mT @ query, d_value + weights.mT @ d_output
        blocks = (key, value) if step < P - 1 else ()  # the last hop: gradients only
        arriving = yield *gradients, *blocks
        d_key, d_value, *blocks = arriving()
        key, value = blocks or (key, value)
    return d_query, d_key, d_value


# %%
leaves = [x.requires_grad_() for x in torch.randn(3, 1, 2, 12, 8, generator=rng)]
output, lse = partial_attention(*leaves)
d_output = torch.randn(1, 2, 12, 8, generator=rng)
expected = torch.autograd.grad(output, leaves, d_output)
whole_tensors = [x.detach() for x in (*leaves, output)]
shares = [x.chunk(4, dim=2) for x in (*whole_tensors, lse.detach(), d_output)]
programs = [back_in_ring(r, 4, *own) for r, own in enumerate(zip(*shares, strict=True))]
found, sent = run_in_lockstep(programs)
for name, parts, right in zip("qkv", zip(*found, strict=True), expected, strict=True):
    same = torch.allclose(torch.cat(parts, dim=2), right, atol=1e-5)
    print(f"gradient of {name}: {same}", end="  ")
print("sent:", sent[0].item() / num_bytes(shares[1][0], shares[2][0]), "N")

# %% [markdown]
# With $P = 4$ that's $(2P - 1)\,N$. If keys have two bytes and gradients are collected in float32, as our library does, it's $(3P-1)\,N$, and $2\,(P-1)\,N$ for gathering.
#
# How much of this can hide behind computing? Backward, a step has five matrix products in place of two. It sends twice as much, or three times as much with gradients in float32. Suppose a block's gradients travel while the next block is computed. Then $2 / 2.5 = 0.8$ times the tokens needed forward are enough to hide the sending. With gradients in float32 it takes $3 / 2.5 = 1.2$ times as many. In the code above the gradients wait for their own block, and nothing is hidden. The last step of sending starts when all attention is done, so no attention is left to hide it.

# %% [markdown]
# ## Sending while you compute, by the clock
# *More · 4 minutes*
#
# Does a step really take the longer of the two times, and not their sum? On one computer that's hard to see, because sending and computing share its cores. So we imitate a link by a delay: what is sent arrives after as many seconds as its bytes need. We time forty blocks of 512 tokens and take the fastest. Then we choose the link's speed so that sending such a block takes just as long. With 4 bytes a number, the break-even is at $n = 2F/S$.


# %%
class SlowLink:
    def __init__(self, bandwidth):
        self.bandwidth = bandwidth

    def exchange(self, *tensors):
        ready = time.perf_counter() + num_bytes(*tensors) / self.bandwidth

        def arriving():
            time.sleep(max(0.0, ready - time.perf_counter()))
            return tensors

        return arriving


# %%
def step_seconds(n, bandwidth, wait_first=False):
    """One step of a ring, four heads of size 64."""
    q, k, v = torch.randn(3, 1, 4, n, 64)
    start = time.perf_counter()
    arriving = SlowLink(bandwidth).exchange(k, v)
    if wait_first:
        arriving()
    partial_attention(q, k, v)
    arriving()
    return time.perf_counter() - start


# %% tags=["nbval-ignore-output"]
operations = 4 * 4 * 512**2 * 64  # of a step with 512 tokens, in four heads
fastest = min(step_seconds(512, math.inf) for _ in range(40))
bandwidth = 2 * operations / fastest / 512
print("milliseconds  computing  sending  their sum  a step  waiting first")
for n in (128, 256, 512):
    ways = ((math.inf, False), (bandwidth, False), (bandwidth, True))  # in turn
    rounds = [[step_seconds(n, *way) for way in ways] for _ in range(15)]
    computing, step, waiting = (1000 * min(x) for x in zip(*rounds, strict=True))
    sending = 1000 * 2 * 4 * n * 64 * 4 / bandwidth
    row = f"{computing:11.1f}{sending:9.1f}{computing + sending:11.1f}"
    print(f"{n:5} tokens {row}{step:8.1f}{waiting:15.1f}")

# %% [markdown]
# *A step takes about as long as the longer of the two. With short blocks that's the sending, and at 512 tokens the two are equal, since we chose the link's speed for that.* In the last column the program waits for the next block before it computes, and that takes about the sum. So the order of three lines decides between the longer time and the sum: begin to exchange, compute, call `arriving()`.
#
# Nothing is really sent here, so this tests only the order of the operations. Compare the columns within a row: a busy machine shifts the break-even, and one $F$ for all sizes is a simplification.

# %% [markdown]
# ## What else can be divided
# *More · 4 minutes*
#
# This lesson divides attention. A whole model has more to divide, and large trainings do several of these at once:
#
# | what is divided | name | what is sent |
# |---|---|---|
# | the texts of a batch | data parallelism | gradients, summed before each update |
# | texts, and also weights and what the optimizer keeps for each of them | ZeRO stage 3 (2019), FSDP (2023) | a layer's weights, gathered when it's needed, and its gradients |
# | heads, and the hidden features of the feed-forward network | tensor parallelism (section 15.2) | two sums in each layer, forward |
# | tokens | context parallelism (section 15.4), also called sequence parallelism, a name that Megatron-LM has for something else (section 15.10) | keys and values; in training also their gradients, and those of the weights |
# | layers | pipeline (GPipe, 2018) | what one layer hands to the next, where that's on another rank |
# | experts, parts of a layer of which each token uses a few | expert parallelism (GShard, 2020) | tokens to their experts, and back |
#
# The feed-forward network divides as heads do. Its hidden features don't see one another until the second matrix adds them up:

# %%
rows, first, second = (torch.randn(*shape, generator=rng, dtype=torch.float64)
                       for shape in ((5, 6), (6, 12), (12, 6)))  # x, and two matrices
whole = F.relu(rows @ first) @ second
parts = [F.relu(rows @ a) @ b
         for a, b in zip(first.chunk(3, dim=1), second.chunk(3), strict=True)]
print("three ranks add up to the whole:", torch.allclose(sum(parts), whole))

# %% [markdown]
# ## What goes wrong
# *More · 4 minutes*
#
# **A length that doesn't divide.** In our library blocks must be equally long:

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
# **All send, and nobody receives.** With gloo `dist.send` returns when the message has been taken. If every rank of a ring sends first and receives afterward, each waits for the next one, and that one is busy sending. If a process ended, the others would soon hear of a closed connection. While all are alive, gloo keeps them waiting, for half an hour by default. So `run_on_ranks` has a limit of its own, and its message says where each rank was:


# %%
def all_send_first(rank, P):
    x = torch.ones(3) * rank
    dist.send(x, (rank + 1) % P)  # waits until the next rank takes it
    dist.recv(x, (rank - 1) % P)
    return x


try:
    run_on_ranks(all_send_first, 3, timeout=2)
except RanksFailed as error:
    print(error)

# %% [markdown]
# That's why our `exchange` begins to send *and* to receive before it waits for either (`dist.isend` and `dist.irecv`).

# %% [markdown]
# ## In practice
# *More · 3 minutes*
#
# **Training.** Llama 3 divides the tokens of its long texts, and each rank gets two chunks, one from the front and one from the end. That's zigzag. But it has no ring. Each rank gathers the keys and values of all ranks first, and then attends. The paper divides like that to balance the load, which helps wherever hidden blocks are skipped, in a ring or not. No sending is hidden then, and the paper gives two reasons to accept that (section 3.3.2). Other masks, such as one that keeps packed documents apart, are easier that way. And with few key/value heads there is little to send, compared with what there is to compute.
#
# **Answering.** In a long conversation the keys and values of all earlier messages are kept, and a new message may be short. Then the queries are the small part. Yang et al. (2024) built both rings, one in which keys and values travel and one in which queries do, and choose between them. Exercise 15.5 counts the bytes of a simpler version, in which the outputs travel with the queries.
#
# **Both cuts at once.** Heads and tokens aren't rivals. Llama 3's longest texts were divided by heads among 8 GPUs, and by tokens among 16 such groups (table 4 of its paper).

# %% [markdown]
# {{next_steps}}

# %% [markdown]
# ## References
#
# - Liu, Zaharia, Abbeel, *Ring Attention with Blockwise Transformers for Near-Infinite Context*, 2023 (arXiv:2310.01889). For InfiniBand its table 2 prints 24.5 thousand tokens, but its own two columns give 24,960.
# - Li et al., *Sequence Parallelism: Long Sequence Training from System Perspective*, 2021 (arXiv:2105.13120), sent keys and then values around a ring before that, and held whole rows of scores.
# - Shoeybi et al., *Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism*, 2019, section 3.
# - Korthikanti et al., *Reducing Activation Recomputation in Large Transformer Models*, 2022, section 4.2.2.
# - Brandon et al., *Striped Attention: Faster Ring Attention for Causal Transformers*, 2023 (arXiv:2311.09431).
# - Llama Team, *The Llama 3 Herd of Models*, 2024 (arXiv:2407.21783), section 3.3.2.
# - Yang et al., *Context Parallelism for Scalable Million-Token Inference*, 2024 (arXiv:2411.01783).
# - Milakov, Gimelshein, *Online normalizer calculation for softmax*, 2018. Dao et al., *FlashAttention*, 2022.
# - Jacobs et al., *DeepSpeed Ulysses: System Optimizations for Enabling Training of Extreme Long Sequence Transformer Models*, 2023 (arXiv:2309.14509).
# - Rajbhandari et al., *ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*, 2019. Zhao et al., *PyTorch FSDP*, 2023. Huang et al., *GPipe*, 2018. Lepikhin et al., *GShard*, 2020.
# - Patarasuk, Yuan, *Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations*, 2009.
# - The name zigzag comes from the repository zhuzilin/ring-flash-attention, 2024.

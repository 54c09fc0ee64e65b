# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12 · Decoder-only language model: exercises
#
# Eleven exercises, 32 points. At the end you have written the block of today's language models, the loop that generates with a cache, the rule by which tokens are drawn, and an evaluation that can be trusted. And then your own model invents words, and has them pronounced.
#
# {{colab_link}} · short path about 22 minutes, everything about 150 · builds on {{lesson_link}}
#
# Write your code where it says `YOUR CODE HERE`, run the cell, then run the check below it. A check that fails says what differs and, if it knows your mistake,
# what your answer did; `hint()`, or a second failure, adds what to try. You may try as often as you like. Hints are folded under each check. A function of `course_utils` that does what an exercise asks for is off limits in it.
#
# In all exercises masks are boolean, and True means **may attend**.

# %% tags=["setup"]
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_checks import check, failing_case, hint
from course_utils import plotting, pretrained, widgets
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.pronunciations import split
from course_utils.datasets.text_windows import encode_text
from course_utils.kv_cache import KVCache
from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask, sliding_window_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.tokenizers import END_ID, PAD_ID, START_ID, pad

torch.set_num_threads(1)  # the tensors here are small: more threads would wait

# %% [markdown]
# ### 12.1 · A network that multiplies
# 2 points · difficulty 3 of 5 · 10 minutes · more
#
# A ReLU network is made of straight pieces, so it can only come near a product of two features. A gated network has a product built in, but its gate is bent: $\operatorname{SiLU}(z)\, u$ isn't $z\, u$. And yet SwiGLU can multiply **exactly**, for all numbers. Write `product_network(a, b)`, which gives the three matrices of a SwiGLU network
#
# $$W_{down} \, \big( \operatorname{SiLU}(W_{gate}\, x) \odot (W_{up}\, x) \big)$$
#
# whose only output is $(a \cdot x)\,(b \cdot x)$, whatever $x$ is.
#
# | argument | shape |
# |---|---|
# | `a`, `b` | `(d_model,)` each |
# | returns | a dict of three matrices in the dtype of `a` |
# | `"gate_proj.weight"`, `"up_proj.weight"` | `(d_ff, d_model)`, with `d_ff` from 1 to 4, as you like |
# | `"down_proj.weight"` | `(1, d_ff)` |
#
# Example: with `a = [1., 0.]` and `b = [0., 1.]` the network turns `x = [3., -2.]` into -6. (A single feature with `a` in its gate and `b` in its other branch gives $\operatorname{SiLU}(3) \cdot (-2) = -5.715$, and for `x = [-3., -2.]` it gives 0.285 where 6 is right.) The check puts your matrices into a SwiGLU network and feeds it vectors that you haven't seen.

# %% tags=["exercise"]
def product_network(a, b):
    # BEGIN SOLUTION
    return {
        "gate_proj.weight": torch.stack([a, -a]),  # (d_ff=2, d_model)
        "up_proj.weight": torch.stack([b, -b]),  # (d_ff=2, d_model)
        "down_proj.weight": torch.ones(1, 2, dtype=a.dtype),
    }
    # END SOLUTION


# %% [markdown] tags=["solution"]
# Why it works: $\sigma(z) + \sigma(-z) = 1$, so $\operatorname{SiLU}(z) - \operatorname{SiLU}(-z) = z\,\sigma(z) + z\,\sigma(-z) = z$. The first feature brings $\operatorname{SiLU}(z)\,u$ and the second $\operatorname{SiLU}(-z)\,(-u)$, together $z\,u$. What the gate's bend takes away from the one it gives to the other. (With ReLU in the gate the same two features multiply exactly as well, for the same reason. It is the second branch that makes the difference, and the network of 2017 has none.)

# %% [markdown] tags=["mistakes"]
# Try: compare SiLU(z) with z, for z = 3 and for z = -3. What would a second feature have to add?
# one feature, a in its gate and b in its other branch: the gate bends the product.
#     torch.stack([a, -a]) => a[None]
#     torch.stack([b, -b]) => b[None]
#     torch.ones(1, 2 => torch.ones(1, 1
# one feature with a in its gate, one with b in its gate, and the mean of both: the gates still bend the product.
#     torch.stack([a, -a]) => torch.stack([a, b])
#     torch.stack([b, -b]) => torch.stack([b, a])
#     torch.ones(1, 2 => 0.5 * torch.ones(1, 2
# the squares of (a + b) x and (a - b) x from one feature each: SiLU(s) s isn't the square of s.
#     torch.stack([a, -a]) => torch.stack([a + b, a - b])
#     torch.stack([b, -b]) => torch.stack([a + b, a - b])
#     torch.ones(1, 2, dtype=a.dtype) => torch.tensor([[0.25, -0.25]], dtype=a.dtype)
# Try: work out what the two features bring for z = 3 and u = 1, and for z = -3 and u = 1.
# the gates are a and -a, but the second feature has the wrong sign: together they give about the absolute value of a x, times b x.
#     torch.stack([b, -b]) => torch.stack([b, b])
# both gates are a: what the first feature brings the second takes away.
#     torch.stack([a, -a]) => torch.stack([a, a])
# the second feature brings the same as the first: SiLU(a x) times b x, twice.
#     torch.stack([a, -a]) => torch.stack([a, a])
#     torch.stack([b, -b]) => torch.stack([b, b])
# Try: the two features sum to the product as they are.
# the mean of the two features: half of the product.
#     torch.ones(1, 2 => 0.5 * torch.ones(1, 2
# the product is there twice.
#     torch.ones(1, 2 => 2 * torch.ones(1, 2
# Try: give the numbers that you write yourself the dtype of a.
# the down matrix is always float32.
#     torch.ones(1, 2, dtype=a.dtype) => torch.ones(1, 2)
# Try: one branch holds a, the other b.
# a is in both branches: that is the square of a x.
#     torch.stack([b, -b]) => torch.stack([a, -a])
# b is in both branches: that is the square of b x.
#     torch.stack([a, -a]) => torch.stack([b, -b])

# %% tags=["check"]
check("12.1", product_network)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# One feature gives $\operatorname{SiLU}(z)\, u$ with $z = a \cdot x$ and $u = b \cdot x$. Work out what is missing to $z\,u$ for $z = 3$ and for $z = -3$, with $u = 1$. Do the two have something to do with each other?
# </details>
# <details><summary>Hint 2</summary>
#
# What is $\operatorname{SiLU}(3) - \operatorname{SiLU}(-3)$? A gate with weights $-a$ gives you $\operatorname{SiLU}(-z)$.
# </details>

# %% [markdown]
# ### 12.2 · A decoder block
# 4 points · difficulty 3 of 5 · 18 minutes · core
#
# Write the `forward` of `DecoderBlock`, the layer of today's language models: causal self-attention with a residual connection around it, then the feed-forward network with another. Pre-norm: `norm_1` before the attention, `norm_2` before the network. The block makes the causal mask itself.
#
# | argument | shape |
# |---|---|
# | `x` | `(B, L, d_model)`: all positions, or with a cache the new ones |
# | `cache` | `None`, or a `KVCache` that holds `cache.length` earlier positions |
# | returns | `(B, L, d_model)` |
#
# The parts are those of the course: `self.self_attention(y, mask=..., cache=...)` attends, turns queries and keys to their positions, and appends to the cache. `causal_mask(L_q, L_k)` is the course's, and does what you wrote in lesson 05: the queries are the last `L_q` of `L_k` positions. Leave the constructor as it is. The course's ready-made layers (`DecoderOnlyLayer` and the like) and `Residual` are off limits; the parts above are not.
#
# The check feeds whole sequences, and sequences in pieces with a cache, which may hold positions already; it compares gradients too. Two examples. If all parameters of attention and network are 0, the block gives `x` back unchanged. And for `x` with five positions and a new `cache`, `block(x[:, :3], cache)` and then `block(x[:, 3:], cache)` give the rows 0 to 2 and 3 to 4 of `block(x)`. `x` itself must stay as it is; keep nothing in the block from one call to the next.

# %% tags=["exercise"]
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(
            d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary
        )
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        # BEGIN SOLUTION
        start = 0 if cache is None else cache.length
        mask = causal_mask(x.shape[1], start + x.shape[1])  # (1, 1, L, L_all)
        x = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return x + self.feed_forward(self.norm_2(x))  # (B, L, d_model)
        # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: the new queries are the last of all positions: the mask needs both numbers, of queries and of keys.
# the mask has a column for each new position only; with a cache there are earlier keys too.
#     start + x.shape[1]) => x.shape[1])
# with a cache there is no mask: of several new positions the early ones see the later.
#     start + x.shape[1]) => x.shape[1]) if cache is None else None
# once the cache holds something there is no mask: of several new positions the early ones see the later.
#     mask = causal_mask => mask = None if start else causal_mask
# the mask is aligned top-left: with a cache the new queries are at the wrong place.
#     causal_mask(x.shape[1], start + x.shape[1]) => torch.ones(x.shape[1], start + x.shape[1]).tril().bool()
# Try: hand the cache on to the attention whatever it holds; only None means that there is none.
# the cache is never used: the second piece knows nothing of the first.
#     cache=cache => cache=None
#     start + x.shape[1]) => x.shape[1])
# an empty cache is taken for none: the first piece is never kept.
#     cache=cache => cache=cache if start else None
# Try: what a sublayer returns is added to what went into its norm, in a new tensor.
# the norms come after the sums (post-norm).
#     self.self_attention(self.norm_1(x), mask=mask, cache=cache) => self.self_attention(x, mask=mask, cache=cache)
#     return x + self.feed_forward(self.norm_2(x)) => return self.norm_2((x := self.norm_1(x)) + self.feed_forward(x))
# around the network nothing is added.
#     return x + => return
# the first sum starts from the normalized x.
#     x = x + => x = self.norm_1(x) +
# Try: attention first, then the network on the sum that the attention made; its result is added to that sum.
# the second sum starts from the x of the beginning: what the attention found is lost.
#     x = x + => before, x = x, x +
#     return x + => return before +
# both sublayers read the same x, side by side.
#     x = x + => y = x + self.feed_forward(self.norm_2(x)) +
#     return x + self.feed_forward(self.norm_2(x)) => return y
# the network reads what norm_1 made of the x of the beginning, normalized again, not the attention's sum.
#     x = x + self.self_attention(self.norm_1(x) => y = self.norm_1(x)\n        x = x + self.self_attention(y
#     self.norm_2(x) => self.norm_2(y)
# Try: norm_1 belongs to the attention, norm_2 to the network.
# what the network reads has passed through both norms.
#     self.norm_2(x) => self.norm_2(self.norm_1(x))
# norm_1 is used for both sublayers.
#     self.norm_2(x) => self.norm_1(x)

# %% tags=["check"]
check("12.2", DecoderBlock)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# It is the pre-norm layer of section 9.8 with other parts. New is the mask: how many queries are there, and how many keys, once the cache has been appended to?
# </details>
# <details><summary>Hint 2</summary>
#
# Read `cache.length` before the attention is called: the call changes it. And `x += ...` writes into the caller's tensor.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. how many positions does the cache hold (none, if there is no cache)?
# 2. a causal mask for the new queries against old and new keys together
# 3. normalize by norm 1, attend under the mask with the cache, add to x
# 4. normalize the sum by norm 2, network, add to the sum
# </details>

# %% [markdown]
# ### 12.3 · Generate with a cache
# 4 points · difficulty 3 of 5 · 15 minutes · more
#
# Write `generate_greedy(model, prompt, max_new_tokens)`: continue each prompt by always taking the most probable token, and compute nothing twice.
#
# | argument | shape |
# |---|---|
# | `model(tokens, cache=cache)` | ids `(B, L_new)` to logits `(B, L_new, V)`; the tokens are those after the ones in the cache |
# | `model.start_cache(batch_size, max_len)` | an empty cache with room for `max_len` positions |
# | `prompt` | `(B, L)`, ids |
# | `max_new_tokens` | a whole number, at least 1 |
# | returns | `(B, L + max_new_tokens)`: prompt and new tokens |
#
# The first call feeds the whole prompt and thereby fills the cache (the **prefill**); each further call feeds one token for each sequence. That makes `max_new_tokens` calls in all, and the check counts them. The last new token is never fed, so room for `L + max_new_tokens - 1` positions is enough; more does no harm. No id is an end symbol: every prompt gets all its new tokens. The course's `generate` is off limits.
#
# Example: for a prompt of 4 tokens and `max_new_tokens=3` the model is fed tensors of shape `(B, 4)`, `(B, 1)`, `(B, 1)`.

# %% tags=["exercise"]
@torch.no_grad()  # a cache keeps no gradients
def generate_greedy(model, prompt, max_new_tokens):
    # BEGIN SOLUTION
    cache = model.start_cache(len(prompt), prompt.shape[1] + max_new_tokens)
    tokens, fed = prompt, prompt  # the first call fills the cache
    for _ in range(max_new_tokens):
        logits = model(fed, cache=cache)[:, -1]  # (B, V), after the last position
        fed = logits.argmax(dim=-1, keepdim=True)  # (B, 1)
        tokens = torch.cat((tokens, fed), dim=1)  # (B, L + 1, then one more each time)
    return tokens
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: max_new_tokens tokens: the prefill gives the first, and max_new_tokens - 1 further calls the rest.
# after the last token the model was called once more, for nothing.
#     return tokens => model(fed, cache=cache)\n    return tokens
# Try: greedy takes the largest of the last position's logits, for each sequence its own; keep the axis.
# the token of the first sequence was given to all sequences.
#     logits.argmax(dim=-1, keepdim=True) => logits[:1].argmax(dim=-1, keepdim=True).expand(len(logits), 1)
# the new tokens have shape (B,); cat and the model need (B, 1).
#     , keepdim=True =>
# Try: return prompt and new tokens together: (B, L + max_new_tokens).
# only the new tokens came back.
#     return tokens => return tokens[:, prompt.shape[1] :]
# Try: make one cache before the loop, for all prompts, and hand it to every call as cache=.
# a new cache was made at every step; what was kept is lost.
#     (max_new_tokens): => (max_new_tokens):\n        cache = model.start_cache(len(prompt), 99)

# %% tags=["check"]
check("12.3", generate_greedy)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Write it without a cache first: feed everything so far, take the last logits, append. Which of the positions that you feed in the second step does the cache know already?
# </details>
# <details><summary>Hint 2</summary>
#
# Keep two tensors: all tokens so far, for the result, and what is fed next. After the first call the second one holds the newest token alone.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. start a cache with room for prompt and new tokens
# 2. feed the prompt
# 3. repeat: the most probable token after the last position is new; append it; feed it alone
# 4. stop when enough are appended, before feeding once more
# </details>

# %% [markdown]
# ### 12.4 · Temperature, top-k and top-p
# 5 points · difficulty 4 of 5 · 20 minutes · more
#
# Write `next_token_distribution(logits, temperature, top_k, top_p)`: the probabilities from which the next token is drawn. In this order:
#
# 1. divide the logits by `temperature`, and take the softmax. If `temperature` is 0, all probability goes to the most probable token, and steps 2 and 3 are left out;
# 2. keep the `top_k` most probable tokens and renormalize. `None`, or more than there are: keep all;
# 3. of these keep the fewest most probable ones whose probabilities together reach `top_p`, that is, are `top_p` or more: **the token that crosses the threshold stays**, and the most probable one always does. Renormalize. `None`: keep all.
#
# Of equally probable tokens, those with lower ids come first. In the check a sum is either clearly above or below `top_p`, or equal to it without any rounding.
#
# | argument | shape |
# |---|---|
# | `logits` | `(B, V)`; leave it as it is |
# | `temperature` | a number, 0 or more |
# | `top_k` | `None`, or a whole number from 1 on |
# | `top_p` | `None`, or a number from 0 to 1 |
# | returns | probabilities `(B, V)`, in the dtype of `logits` and the order of the ids, each row summing to 1 |
#
# Two examples. The probabilities 0.5, 0.3, 0.15, 0.05 with `top_p=0.6` give 0.625, 0.375, 0, 0. And a tie: the probabilities 0.1, 0.4, 0.1, 0.4 with `top_k=3` give 0.1111, 0.4444, 0, 0.4444; who compares with the third largest would keep all four. The course's own function is off limits. It runs at every step of every sequence, so try to write it for the whole batch at once: the check accepts a loop over rows too, but generation would be slow with it.

# %% tags=["exercise"]
def next_token_distribution(logits, temperature, top_k, top_p):
    # BEGIN SOLUTION
    if temperature == 0:
        best = logits.argmax(dim=-1)  # (B,)
        return F.one_hot(best, logits.shape[-1]).to(logits.dtype)  # (B, V)
    # (B, V) each
    scores, ids = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        scores[:, top_k:] = float("-inf")
    probs = scores.softmax(dim=-1)  # (B, V), falling; renormalized after top-k
    if top_p is not None:
        # (B, V), what the more probable ones have together
        before = probs.cumsum(dim=-1) - probs
        ruled_out = before >= top_p
        ruled_out[:, 0] = False
        probs = probs.masked_fill(ruled_out, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, ids, probs)  # (B, V), by id
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: a token stays if the ones before it have not reached top_p yet: compare the sum without the token itself.
# the token that crosses top_p was dropped: what is kept has less than was asked for.
#     probs.cumsum(dim=-1) - probs => probs.cumsum(dim=-1)
#     before >= top_p => before > top_p
# each token's own probability was compared with top_p.
#     before >= top_p => probs < top_p
# the running sum runs over the tokens in the order of their ids.
#     probs.cumsum(dim=-1) - probs => probs.gather(-1, ids.argsort()).cumsum(-1).gather(-1, ids) - probs
#     ruled_out[:, 0] => ruled_out[ids == 0]
# Try: a sum that is exactly top_p has reached it: reached means >=, also in a comparison of your own.
# a sum that is exactly top_p was not enough: one token more stays.
#     before >= top_p => before > top_p
# Try: divide by the temperature, then top-k and renormalize, then the sums of top-p and renormalize again.
# top-p took its sums over probabilities that were not renormalized after top-k, or it came before top-k.
#     scores[:, top_k:] = float("-inf") => pass
#     return torch => probs[:, top_k or len(ids[0]) :] = 0.0\n    probs /= probs.sum(-1, keepdim=True)\n    return torch
# after top-k, what is left was not renormalized.
#     scores[:, top_k:] = float("-inf") => pass
#     if top_p => if top_k is not None:\n        probs[:, top_k:] = 0.0\n    if top_p
# Try: exactly top_k tokens stay, of equal ones those with the lower ids: count places after a stable sort.
# more than top_k tokens are left: all that equal the last one stay.
#     scores[:, top_k:] = float("-inf") => scores[scores < scores[:, : top_k][:, -1:]] = -torch.inf
# top-p kept all tokens that are as probable as the last one it needed.
#     masked_fill(ruled_out => masked_fill(probs < probs.masked_fill(ruled_out, 1).amin(-1, keepdim=True)
# of equally probable tokens those with the higher ids were kept.
#     (logits / temperature).sort(dim=-1, descending=True => (x.flip(-1) for x in (logits / temperature).sort(dim=-1
#     stable=True) => stable=True))
# of equally probable tokens others than those with the lowest ids were kept: topk keeps no order among them.
#     sort(dim=-1, descending=True, stable=True) => topk(logits.shape[-1])
# for top-p the tokens were sorted upwards: of equally probable ones those with the higher ids stay.
#     if top_p is not None: => if top_p is not None:\n        probs = torch.zeros_like(probs).scatter(-1, ids, probs)
#     before = => probs, ids = (x.flip(-1) for x in probs.sort(dim=-1, stable=True))\n        before =
# Try: ask whether top_k is None before you slice: [:, None:] is everything.
# with top_k = None no token is left.
#     if top_k is not None => if True
# Try: scatter puts sorted values back by the ids that sort gave: zeros.scatter(-1, ids, values).
# the probabilities came back in sorted order: they no longer belong to their ids.
#     torch.zeros_like(probs).scatter(-1, ids, probs) => probs
# gather is used where scatter should be: the probabilities are not put back, but mixed once more.
#     torch.zeros_like(probs).scatter(-1, ids, probs) => probs.gather(-1, ids)
# Try: divide the logits by the temperature, first of all; above 1 it makes the distribution flatter.
# the logits were multiplied by the temperature: hot is cold.
#     logits / temperature => logits * temperature
# Try: treat 0 on its own: all probability on the most probable token; of equal ones, on the lowest id.
# at temperature 0 several tokens with the same logit share the probability.
#     best = logits.argmax(dim=-1) => best = (logits == logits.amax(-1, keepdim=True)).to(logits.dtype)
#     F.one_hot(best, logits.shape[-1]).to(logits.dtype) => best / best.sum(-1, keepdim=True)

# %% tags=["check"]
check("12.4", next_token_distribution)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Work in sorted order, most probable first: `sort(dim=-1, descending=True, stable=True)` gives values and ids (with `stable=True` the axis needs its name, `dim`). Then top-k is a slice, and top-p a running sum.
# </details>
# <details><summary>Hint 2</summary>
#
# A token stays if the tokens *before* it have not reached `top_p` yet. `cumsum` gives the sum *with* the token; subtract the token itself.
# </details>
# <details><summary>Hint 3</summary>
#
# `torch.zeros_like(p).scatter(-1, ids, p)` puts sorted values back in their places.
# </details>
# <details><summary>Hint 4: pseudocode</summary>
#
# 1. temperature 0: one-hot of the argmax, done
# 2. divide, sort, rule out what comes after place `top_k`, softmax
# 3. sum of the tokens before each; rule out those where it has reached `top_p`, but never the first; renormalize
# 4. put everything back in the order of the ids
# </details>

# %% [markdown]
# ### 12.5 · Perplexity
# 2 points · difficulty 2 of 5 · 10 minutes · more
#
# Write `perplexity(batches, pad_id)`: `exp` of the mean negative log-likelihood over **all tokens of all batches**. Batches differ in size, and positions whose label is padding do not count; a batch may hold nothing but padding. Some probabilities are so small that they come to 0 in a computer; their logarithms do not.
#
# | argument | shape |
# |---|---|
# | `batches` | a list of pairs `(logits, labels)`, `(B, L, V)` and `(B, L)`; `B` and `L` differ from batch to batch |
# | `pad_id` | one of the ids from 0 to `V - 1`, not always 0 |
# | returns | a number |
#
# Example: two tokens whose labels got the probabilities 1/2 and 1/4 give $e^{(\ln 2 + \ln 4) / 2} = \sqrt 8 = 2.828$. `F.cross_entropy` is allowed; the course's own functions are off limits.

# %% tags=["exercise"]
def perplexity(batches, pad_id):
    # BEGIN SOLUTION
    total, number = 0.0, 0
    for logits, labels in batches:
        loss = F.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, reduction="sum"
        )
        total += loss.item()
        number += int((labels != pad_id).sum())
    return math.exp(total / number)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: add up the losses of all tokens of all batches, divide once by how many they are, and take exp once.
# the mean of the batches' mean losses: a small batch counts as much as a large one.
#     reduction="sum" => reduction="mean"
#     number += int((labels != pad_id).sum()) => number += 1
# the mean of the batches' mean losses, without those of padding: a small batch counts as much as a large one.
#     reduction="sum" => reduction="mean"
#     total += => total += 0.0 if loss.isnan() else
#     number += int((labels != pad_id).sum()) => number += int((labels != pad_id).any())
# the mean of the batches' perplexities: a small batch counts as much as a large one.
#     reduction="sum" => reduction="mean"
#     loss.item() => loss.exp().item()
#     number += int((labels != pad_id).sum()) => number += 1
#     math.exp(total / number) => total / number
# each batch's mean loss was multiplied by its number of tokens: for a batch of padding that is NaN times 0, NaN.
#     reduction="sum" => reduction="mean"
#     loss.item() => loss.item() * int((labels != pad_id).sum())
# the probabilities were multiplied: the product of many comes to 0 in a computer.
#     0.0, 0 => 1.0, 0
#     total += loss.item() => total *= (-loss).exp().item()
#     math.exp(total / number) => total ** (-1 / number) if total else math.inf
# the total loss was divided by the number of batches.
#     number += int((labels != pad_id).sum()) => number += 1
# Try: leave out the positions whose label is pad_id, both in the sum and in the number.
# padding is left out of the sum but counted in the number.
#     number += int((labels != pad_id).sum()) => number += labels.numel()
# padding counts: its losses are in the sum and its positions in the number.
#     ignore_index=pad_id, =>
#     number += int((labels != pad_id).sum()) => number += labels.numel()
# Try: hand the logits to cross_entropy as they are.
# padding was taken out of the softmax: the other symbols share its probability.
#     logits.flatten => logits.index_fill(-1, torch.tensor(pad_id), -1e9).flatten
# a softmax before cross_entropy, which takes log-softmax itself.
#     logits.flatten => logits.softmax(-1).flatten
# Try: cross_entropy uses the natural logarithm: exp of the mean loss.
# 2 to the power of the mean loss in nats: the bases are mixed.
#     math.exp(total / number) => 2 ** (total / number)
# the mean loss came back, in nats.
#     math.exp(total / number) => total / number

# %% tags=["check"]
check("12.5", perplexity)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# A mean of means weighs every batch the same, however few tokens it holds. Which two numbers must be carried from batch to batch?
# </details>
# <details><summary>Hint 2</summary>
#
# `F.cross_entropy` wants the classes on axis 1, or everything flat. Look at its arguments `ignore_index` and `reduction`.
# </details>

# %% [markdown]
# ### 12.6 · Find the bug
# 3 points · difficulty 3 of 5 · 15 minutes · more
#
# The function below is one step of attention with rotary positions and a cache. `keys` and `values` hold what earlier calls kept; `query`, `key` and `value` belong to the new tokens; `cos` and `sin` have a row for each position. It returns the output and everything kept so far. Fed a whole sequence at once, it is right. Run the cell: the same sequence in pieces gives something else.

# %%
def attend_step_broken(query, key, value, keys, values, cos, sin):
    new = query.shape[2]
    query = apply_rope(query, cos[:new], sin[:new])  # (B, H, L_new, d_head)
    key = apply_rope(key, cos[:new], sin[:new])  # (B, H, L_new, d_head)
    keys = torch.cat((keys, key), dim=2)  # (B, H, L_all, d_head)
    values = torch.cat((values, value), dim=2)  # (B, H, L_all, d_v)
    mask = causal_mask(new, keys.shape[2])  # (1, 1, L_new, L_all)
    output = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
    return output, keys, values


def in_pieces(step, pieces):
    rng = torch.Generator().manual_seed(0)
    # (B=1, H=2, L=5, d_head=4)
    q, k, v = (torch.randn(1, 2, 5, 4, generator=rng) for _ in range(3))
    angles = rotary_angles(torch.arange(5), 4).float()  # (L, d_head / 2)
    keys, values, outputs = k[:, :, :0], v[:, :, :0], []
    for parts in zip(*(t.split(pieces, dim=2) for t in (q, k, v)), strict=True):
        output, keys, values = step(*parts, keys, values, angles.cos(), angles.sin())
        outputs.append(output)
    return torch.cat(outputs, dim=2)  # (1, 2, 5, 4)


whole = in_pieces(attend_step_broken, [5])
for pieces in ([4, 1], [2, 3], [1, 1, 1, 1, 1]):
    found = in_pieces(attend_step_broken, pieces)
    difference = (found - whole).abs().amax((0, 1, 3))  # (L,)
    print(f"pieces {pieces!s:16} off by {[round(d, 2) for d in difference.tolist()]}")

# %% [markdown]
# Write `attend_step(query, key, value, keys, values, cos, sin)` so that the pieces do not matter. Shapes: `query` and `key` `(B, H, L_new, d_head)`, `value` `(B, H, L_new, d_v)`, `keys` `(B, H, L_old, d_head)`, `values` `(B, H, L_old, d_v)`, `cos` and `sin` `(max_len, d_head / 2)`. The first position is 0, and the keys that you return are turned, as those in `keys` are.

# %% tags=["exercise"]
def attend_step(query, key, value, keys, values, cos, sin):
    # BEGIN SOLUTION
    old, new = keys.shape[2], query.shape[2]
    here = slice(old, old + new)  # the positions of the new tokens
    query = apply_rope(query, cos[here], sin[here])  # (B, H, L_new, d_head)
    key = apply_rope(key, cos[here], sin[here])
    keys = torch.cat((keys, key), dim=2)  # (B, H, L_all, d_head)
    values = torch.cat((values, value), dim=2)  # (B, H, L_all, d_v)
    mask = causal_mask(new, keys.shape[2])  # (1, 1, L_new, L_all)
    output = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
    return output, keys, values
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: at which position does the first new token stand, if `keys` holds three already? Queries and keys alike.
# the positions start at 0 again in every call: that is the bug that was to be found.
#     slice(old, old + new) => slice(0, new)
# only the queries are mended: the new keys still start at position 0.
#     apply_rope(key, cos[here], sin[here]) => apply_rope(key, cos[:new], sin[:new])
# after kept keys the new positions start one too far: one position is left out.
#     here = => old += old > 0\n    here =
# the last rows of cos and sin were taken: those are for positions still to come.
#     slice(old, old + new) => slice(-new, None)
# Try: read keys.shape[2] before the new keys are joined to the kept ones.
# the queries start after the new keys, L_new positions too far.
#     apply_rope(query, cos[here], sin[here]) => apply_rope(query, cos[old + new :][:new], sin[old + new :][:new])
# queries and new keys start L_new positions too far: the new keys were counted among the kept ones.
#     slice(old, old + new) => slice(old + new, old + 2 * new)
# Try: turn the new keys alone, once, and keep them turned.
# all keys are turned in every call, though the kept ones were turned before.
#     key = apply_rope(key, cos[here], sin[here]) =>
#     mask = => keys = apply_rope(keys, cos[: old + new], sin[: old + new])\n    mask =
# the keys are handed back unturned, and all of them turned anew in each call: the outputs are right, the keys not.
#     key = apply_rope(key, cos[here], sin[here]) =>
#     (query, keys, values, attn => (query, apply_rope(keys, cos[: old + new], sin[: old + new]), values, attn
# Try: leave the mask as it was: the new queries are the last of all positions, and see all keys up to their own.
# the mask is gone: of several new positions the early ones see the later.
#     , attn_mask=mask =>
# the mask is aligned top-left: the new queries no longer see the newest keys.
#     attn_mask=mask => is_causal=True
# Try: what was kept comes first: torch.cat((keys, key), dim=2).
# the new keys and values stand in front of the kept ones.
#     (keys, key) => (key, keys)
#     (values, value) => (value, values)
# Try: divide by the root of the size of a query, query.shape[-1].
# the scores are divided by the root of d_v, the size of a value.
#     attn_mask=mask => attn_mask=mask, scale=value.shape[-1] ** -0.5

# %% tags=["check"]
check("12.6", attend_step)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# In which positions is the difference 0? Those belong to the first piece. What is different about the second?
# </details>
# <details><summary>Hint 2</summary>
#
# `cos[:new]` are the rows of positions 0 to `new - 1`. At which position does a token stand if three came before it?
# </details>

# %% [markdown]
# ### 12.7 · Windows that overlap
# 4 points · difficulty 4 of 5 · 20 minutes · more
#
# A model that has room for `length` characters judges a long text in windows. Cut side by side, the first characters of each window have little before them, and the model looks worse than it is. So let the windows overlap, and score each character once, where it has most before it. Write `text_bits(model, ids, length, stride)`.
#
# - The first window feeds the characters 0 to `length - 1`, and so predicts the characters 1 to `length`. All of them count.
# - Each further window begins `stride` characters after the one before. Of it count only the characters that no window before has scored.
# - The last window may be shorter: it goes to the end of the text. Every character but the first is scored exactly once.
#
# | argument | meaning |
# |---|---|
# | `model(tokens)` | ids `(B, L)`, with `L` at most `length`, to logits `(B, L, V)` |
# | `ids` | `(N,)`, the text, at least 2 characters |
# | `length`, `stride` | whole numbers; `stride` from 1 to `length` |
# | returns | the mean over the `N - 1` characters, **in bits**, a number |
#
# Example: for `N = 8`, `length = 4` and `stride = 2` the first window scores the characters 1, 2, 3, 4, the second 5 and 6, the third 7. If the model takes 1 bit for the first character of a window, 2 for the second, and so on, the characters cost 1, 2, 3, 4, then 3, 4, then 3 bits, and the answer is 20 / 7 = 2.857. (All of every window would give 2.364, windows side by side 2.286.) `F.cross_entropy` is allowed; the course's own functions that score texts are off limits.

# %% tags=["exercise"]
def text_bits(model, ids, length, stride):
    # BEGIN SOLUTION
    total, done = 0.0, 0  # the characters up to number `done` are scored
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        logits = model(ids[None, start : start + len(labels)])[0]  # (L, V)
        losses = F.cross_entropy(logits, labels, reduction="none")  # (L,)
        total += losses[done - start :].sum().item()
        done = start + len(labels)
        if done == len(ids) - 1:
            break
    return total / (len(ids) - 1) / math.log(2)
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: cross_entropy is in nats; how many of them are one bit?
# nats per character came back.
#     / math.log(2) =>
# the perplexity came back.
#     return total => return math.exp(total
#     / math.log(2) => )
# Try: add up all losses, and divide once by the number of characters that are predicted.
# the windows' means were averaged: one with few new characters counts as much as the first.
#     0.0, 0 => [], 0
#     total += losses[done - start :].sum().item() => total.append(losses[done - start :].mean().item())
#     total / (len(ids) - 1) => sum(total) / len(total)
# divided by len(ids), though the first character is not predicted.
#     total / (len(ids) - 1) => total / len(ids)
# Try: of a later window count only the characters that no window before has scored: its last ones.
# of an overlap the later window's losses count: the ones with least before them.
#     losses[done - start :] => losses[:stride]
#     break => pass
# of each window the first stride characters were scored: the ones with least before them.
#     losses[done - start :] => losses[:stride]
# characters in an overlap are in the sum twice, but once in the number.
#     losses[done - start :] => losses
# Try: of a later window count only the characters that no window before has scored; how many are these in the last one?
# every window was scored whole: characters in an overlap count twice.
#     total, done = 0.0, 0 => total, number, done = 0.0, 0, 0
#     total += losses[done - start :].sum().item() => losses = losses; total += losses.sum().item()
#     done = start + => number += len(losses)\n        done = start +
#     total / (len(ids) - 1) => total / max(number, 1)
# of each later window the last stride characters were scored; the last window is shorter.
#     total, done = 0.0, 0 => total, number, done = 0.0, 0, 0
#     total += losses[done - start :].sum().item() => losses = losses[-stride:] if start else losses; total += losses.sum().item()
#     done = start + => number += len(losses)\n        done = start +
#     total / (len(ids) - 1) => total / max(number, 1)
# of each later window the last stride characters were scored; in the last one some of them had been scored before, and count twice.
#     losses[done - start :] => (losses[-stride:] if start else losses)
# of each later window the first stride characters were left out, whether scored before or not.
#     total, done = 0.0, 0 => total, number, done = 0.0, 0, 0
#     total += losses[done - start :].sum().item() => losses = losses[stride:] if start else losses; total += losses.sum().item()
#     done = start + => number += len(losses)\n        done = start +
#     total / (len(ids) - 1) => total / max(number, 1)
#     break => pass
# the last character that a window has scored is scored again by the next.
#     total, done = 0.0, 0 => total, number, done = 0.0, 0, 0
#     total += losses[done - start :].sum().item() => losses = losses[max(done - start - 1, 0) :]; total += losses.sum().item()
#     done = start + => number += len(losses)\n        done = start +
#     total / (len(ids) - 1) => total / max(number, 1)
# Try: the first window has none before it: all of its characters count.
# of the first window, too, only the last stride characters were scored.
#     total, done = 0.0, 0 => total, number, done = 0.0, 0, 0
#     total += losses[done - start :].sum().item() => losses = losses[-stride:]; total += losses.sum().item()
#     done = start + => number += len(losses)\n        done = start +
#     total / (len(ids) - 1) => total / max(number, 1)
# Try: the last window may be shorter: let it go to the last character.
# a last window that is not full was left out, and the mean taken over what was scored.
#     labels = ids[start + 1 : start + 1 + length] => labels = ids[start + 1 : start + 1 + length]\n        if start and len(labels) < length:\n            break
#     total / (len(ids) - 1) => total / done
# a last window that is not full was left out, but its characters are in the number that is divided by.
#     labels = ids[start + 1 : start + 1 + length] => labels = ids[start + 1 : start + 1 + length]\n        if start and len(labels) < length:\n            break
# the end of the text, which fills no whole window, was dropped.
#     total, done = 0.0, 0 => total, number, done = 0.0, 0, 0
#     total += losses[done - start :].sum().item() => losses = losses[done - start :]; total += losses.sum().item()
#     done = start + => number += len(losses)\n        done = start +
#     total / (len(ids) - 1) => total / max(number, 1)
#     labels = ids[start + 1 : start + 1 + length] => labels = ids[start + 1 : start + 1 + length]\n        if len(labels) < length:\n            break

# %% tags=["check"]
check("12.7", text_bits)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# Keep the number of the last character that is scored. Which entry of a window's losses belongs to the character after it?
# </details>
# <details><summary>Hint 2</summary>
#
# Entry `j` of the window that begins at `start` is about character `start + 1 + j`. And look at the last window: how many of its characters are new? Not always `stride`.
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# 1. for each start 0, stride, 2 stride, ...: the labels are one further than the start, `length` of them or what is left
# 2. feed as many characters as there are labels; one loss for each
# 3. leave out those that are scored already; add up the rest
# 4. stop when the last character is scored; divide by the number of characters, and turn nats into bits
# </details>

# %% [markdown]
# ### 12.8 · The leak in an evaluation
# 3 points · difficulty 3 of 5 · 15 minutes · more
#
# Part of the test text appears word for word in the training text. There a model can get by on memory. To say how good it is on text that is really new, you must know which characters those are. Write `mark_seen(train, text, size)`: which characters of `text` lie in a stretch of `size` characters that occurs in `train`.
#
# | argument | meaning |
# |---|---|
# | `train`, `text` | strings |
# | `size` | a whole number from 1 |
# | returns | a boolean tensor with `len(text)` entries |
#
# A stretch may begin anywhere, in both. Where two of them overlap, the characters of both are marked. Capital and small letters differ.
#
# Example: `mark_seen("abcdef", "xbcdxcdefx", 3)` marks `bcd` and `cdef`, and gives 0 1 1 1 0 1 1 1 1 0. The course's `seen_before` is off limits. The texts of the check are short, so it does not measure time. But look the stretches up in a set: for half a million characters that takes seconds, and `in` on the whole string takes minutes.

# %% tags=["exercise"]
def mark_seen(train, text, size):
    # BEGIN SOLUTION
    known = {train[i : i + size] for i in range(len(train) - size + 1)}
    seen = torch.zeros(len(text), dtype=torch.bool)
    for i in range(len(text) - size + 1):
        if text[i : i + size] in known:
            seen[i : i + size] = True
    return seen
    # END SOLUTION


# %% [markdown] tags=["mistakes"]
# Try: where a stretch was seen, all of its `size` characters are.
# only the character where a seen stretch begins is marked.
#     seen[i : i + size] => seen[i]
# only the last character of a seen stretch is marked.
#     seen[i : i + size] => seen[i + size - 1]
# the last character of a seen stretch is not marked.
#     seen[i : i + size] => seen[i : i + size - 1]
# there is one entry for each stretch, not one for each character.
#     seen[i : i + size] => seen[i]
#     return seen => return seen[: max(0, len(text) - size + 1)]
# Try: start from all False, and only ever set to True.
# a stretch that was not seen unmarks characters that an earlier one had marked.
#     if text[i : i + size] in known: => if True:
#     = True => = text[i : i + size] in known
# Try: a stretch may begin at any place, in both texts; how many stretches of 3 has a text of 10?
# after a hit the search jumps a whole stretch ahead: hits that overlap are missed.
#     if text => if not seen[i] and text
# `train` was cut into pieces side by side, so most of its stretches are missing.
#     range(len(train) - size + 1) => range(0, len(train) - size + 1, size)
# the last stretch of `train` is missing.
#     len(train) - size + 1) => len(train) - size)
# the last stretch of `text` is never looked at.
#     len(text) - size + 1) => len(text) - size)
# the last stretch of each text is missing.
#     - size + 1) => - size)
# Try: a stretch has exactly `size` characters; a slice at the end of a string may be shorter.
# at the end of the text stretches shorter than `size` are looked at.
#     range(len(text) - size + 1) => range(len(text))
#     in known => in train
# Try: return the boolean tensor itself, one entry for each character.
# one number came back, the share of characters seen.
#     return seen => return seen.double().mean().item()
# Try: compare the texts as they are.
# capital and small letters were taken for the same.
#     known = => train, text = train.lower(), text.lower()\n    known =

# %% tags=["check"]
check("12.8", mark_seen)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# How many stretches of 3 characters has a text of 10? And if the stretch at place 5 was seen, which characters does that mark?
# </details>
# <details><summary>Hint 2</summary>
#
# `cdef` is seen because `cde` is and `def` is. So a hit must not make you skip the places inside it, and a miss must not unmark what a hit has marked.
# </details>

# %% [markdown]
# ### 12.9 · Experiment: how much of the past does it use?
# 3 points · difficulty 3 of 5 · 20 minutes · more
#
# The course's model was trained in windows of 512 characters. What does it lose if it sees less? There are two ways to take the past away, and they aren't the same:
#
# - **The model sees 16**: it is fed 16 characters, predicts the next one, and starts anew. Your `text_bits` with length 16 and stride 1 does that.
# - **Each layer sees 16**: it is fed everything, but in every layer a position looks at the latest 16 only, its own included. What lies further back can still come through, handed on from layer to layer. `Windowed` below does that.

# %%
class Windowed(nn.Module):
    """The same model, in which each layer sees the latest `window` positions only."""

    def __init__(self, model, window):
        super().__init__()
        self.model, self.window = model, window

    def forward(self, tokens):
        mask = sliding_window_mask(tokens.shape[1], window=self.window)
        x = self.model.embedding(tokens)  # (B, L, d_model)
        for layer in self.model.layers:
            x = layer(x, mask)
        return self.model.generator(self.model.norm(x))


model = pretrained.load("language_model").requires_grad_(False)
ids = encode_text(documentation_split().test)
print(f"{len(ids):,} characters in the test text, {len(model.layers)} layers")

# %%
widgets.predict(
    "12.I",
    "A model that sees 16 has lost something. Each layer seeing 16 brings back:",
    choices=["hardly any of it (under 10 %)", "a part of it", "most of it (over 60 %)"],
)

# %% [markdown]
# Measure on five stretches of the test text. Stretch `n`, for `n` from 0 to 4, is the 513 characters from character `8000 * n` on, `ids[8000 * n : 8000 * n + 513]`. Use length 512 and stride 512 for all but `"model 16"`. It takes about 10 seconds. Put into `context_results`:
#
# | entry | what |
# |---|---|
# | `"all"` | a list of five numbers, bits per character of the model as it is, in the order of the stretches |
# | `"layers 128"`, `"layers 16"` | the same with each layer seeing the latest 128, and the latest 16 |
# | `"model 16"` | the same with the model seeing 16 |
# | `"lost at 128"` | by how many bits the mean of `"layers 128"` is above that of `"all"` |
# | `"reach"` | how many characters can have an influence on one logit when each layer sees 16, its own position's included |
# | `"handed on"` | of the bits that `"model 16"` loses against `"all"`, in the mean, the share that `"layers 16"` brings back |
# | `"clear"` | `True` if `"layers 16"` is below `"model 16"` in every one of the five stretches, else `False` |

# %% tags=["exercise"]
context_results = {}
# BEGIN SOLUTION
stretches = [ids[8000 * n : 8000 * n + 513] for n in range(5)]
ways = {"all": model}
for window in (128, 16):
    ways[f"layers {window}"] = Windowed(model, window)
for name, way in ways.items():
    context_results[name] = [text_bits(way, some, 512, 512) for some in stretches]
context_results["model 16"] = [text_bits(model, some, 16, 1) for some in stretches]
means = {name: sum(bits) / 5 for name, bits in context_results.items()}
pairs = zip(context_results["layers 16"], context_results["model 16"], strict=True)
context_results["lost at 128"] = means["layers 128"] - means["all"]
context_results["reach"] = 4 * 15 + 1
lost, brought = means["model 16"] - means["all"], means["model 16"] - means["layers 16"]
context_results["handed on"] = brought / lost
context_results["clear"] = all(layered < cut for layered, cut in pairs)
# END SOLUTION

# %% tags=["check"]
check("12.9", context_results)

# %% [markdown] tags=["hint"]
# <details><summary>Hint 1</summary>
#
# For the reach take two layers with a window of 3 first, and draw it. The top layer's position 9 looks at 7, 8 and 9. How far back did position 7 look, one layer below?
# </details>
# <details><summary>Hint 2</summary>
#
# `"handed on"` compares three means. If `"layers 16"` were as good as `"all"` it would be 1, if it were as bad as `"model 16"` it would be 0.
# </details>

# %% [markdown] tags=["solution"]
# Each layer reaches 15 positions further back than the one above it, so with four layers 61 characters can have an influence. But hardly anything of the loss comes back, and in some stretches the layered model is worse than the one that is cut off. That is what the table shows of this model: the layers *can* hand on what lies further back, and they hardly do. (A guess why: it was trained with the whole window in every layer and never had to.) A window of 128 in each layer costs about a hundredth of a bit. That alone doesn't show that 128 characters are enough, since through four layers 509 can have an influence. But the model that *sees* 128, which is `text_bits(model, some, 128, 1)`, loses about as little. For this text and this model, 128 characters are nearly all that it uses.

# %% tags=["nbval-ignore-output"]
def how_much(share):
    if share < 0.1:
        return "hardly any of it (under 10 %)"
    return "a part of it" if share <= 0.6 else "most of it (over 60 %)"


found = context_results.get("handed on") if isinstance(context_results, dict) else None
if found is None:
    print("Solve 12.9 first.")
else:
    display(widgets.came_out("12.I", how_much(found)))

# %% [markdown]
# Your numbers, a line for each stretch:

# %% tags=["nbval-ignore-output"]
order = ["all", "layers 128", "layers 16", "model 16"]
if all(name in context_results for name in order):
    ax = plotting.new_axes(5.6, 3.0)
    for five in zip(*(context_results[name] for name in order), strict=True):
        ax.plot(order, five, "o-", color=plotting.COLORS[0], alpha=0.7)
    ax.set(xlabel="what is seen", ylabel="bits per character")
    plotting.show(ax, "Bits per character by what is seen, a line for each stretch.")

# %% [markdown]
# ### 12.10 · Temperature last
# 1 point · difficulty 3 of 5 · 4 minutes · core
#
# Four tokens have the probabilities 0.5, 0.3, 0.15 and 0.05. You ask for `temperature=2` and `top_p=0.75`. This lesson applies the temperature first. Another library cuts by top-p first, and applies the temperature to what is left. How many tokens can be drawn in each?
#
# - **a.** Two in both: temperature never changes which tokens are the most probable.
# - **b.** Three in this lesson's order, two in the other.
# - **c.** Two in this lesson's order, three in the other.
# - **d.** Four in both: at temperature 2 every token has a chance.

# %% tags=["quiz"]
quiz_12_10 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_12_10 = "b"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** the order of the tokens stays, but top-p asks how much the first ones have together, and temperature changes that.
# - **b.** at temperature 2 the probabilities are 0.38, 0.29, 0.21 and 0.12: two have 0.67 together, so the third is needed. Cut first, 0.5 and 0.3 have 0.8.
# - **c.** above 1 temperature makes the distribution flatter, so it takes more tokens to reach 0.75, not fewer.
# - **d.** temperature rules nothing out, but top-p does, before it or after it.

# %% tags=["check"]
check("12.10", quiz_12_10)

# %% [markdown]
# ### 12.11 · A text twice as long
# 1 point · difficulty 3 of 5 · 3 minutes · more
#
# A model has written $2L$ tokens and writes one more. How many scores (products of a query and a key) does this one step compute, compared with the step after the first $L$ tokens?
#
# - **a.** With the cache the same as before, without it twice as many.
# - **b.** Twice as many in both cases.
# - **c.** With the cache twice as many, without it about four times as many.
# - **d.** With the cache four times as many, without it eight times.

# %% tags=["quiz"]
quiz_12_11 = ""  # your letter between the quotes
# BEGIN SOLUTION
quiz_12_11 = "c"
# END SOLUTION

# %% [markdown] tags=["solution"]
# Why each option is right or wrong:
#
# - **a.** the cache saves the projections, not the looking: the new query still meets every kept key.
# - **b.** with the cache, yes. Without it there are twice as many queries too, each with up to twice as many keys.
# - **c.** one query meets 2 L keys instead of L; without a cache about 2 L queries meet up to 2 L keys each.
# - **d.** one step is asked for, not the whole generation: a cached step has one query.

# %% tags=["check"]
check("12.11", quiz_12_11)

# %% [markdown]
# ## Payoff: words that nobody has ever said
#
# Now your parts make a model of their own. It stacks two of your `DecoderBlock`s and learns the *spellings* of the pronouncing dictionary, letter by letter, for a few seconds. Then it invents words: your `next_token_distribution` draws the letters, and your block's cache keeps what is read. Each new word goes to the model of lesson 11, which has never seen it either, and says how it sounds; your `next_token_distribution` picks the sounds, at temperature 0.

# %%
class Speller(nn.Module):
    def __init__(self, d_model=64):
        super().__init__()
        self.embedding = nn.Embedding(len(SPELLING), d_model)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.blocks = nn.ModuleList(DecoderBlock(d_model, 4, 2, 160) for _ in range(2))
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=(None, None)):
        x = self.embedding(tokens)  # (B, L, d_model)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache)
        return self.norm(x) @ self.embedding.weight.T  # (B, L, V)


def train_speller(steps=140, batch=96):
    torch.manual_seed(0)
    speller, words = Speller(), list(split("train"))
    optimizer = torch.optim.AdamW(speller.parameters(), lr=6e-3, fused=True)
    for step in tqdm(range(steps), unit="step", file=sys.stdout):
        optimizer.param_groups[0]["lr"] = 6e-3 * min((step + 1) / 20, 1 - step / steps)
        some = [words[i] for i in torch.randint(len(words), (batch,)).tolist()]
        tokens = pad([[START_ID, *SPELLING.encode(word), END_ID] for word in some])
        logits = speller(tokens[:, :-1]).transpose(1, 2)  # (B, V, L)
        loss = F.cross_entropy(logits, tokens[:, 1:], ignore_index=PAD_ID)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return speller


# %%
@torch.no_grad()
def invent(speller, number, temperature=0.8, top_p=0.95, longest=14):
    caches = [KVCache(number, 2, longest, 16) for _ in range(2)]  # 2 heads of 16
    new, words = torch.full((number, 1), START_ID), []
    for _ in range(longest):
        logits = speller(new, caches)[:, -1]  # (B, V)
        logits[:, [PAD_ID, START_ID]] = -math.inf
        probs = next_token_distribution(logits, temperature, None, top_p)
        new = probs.multinomial(1)  # (B, 1)
        words.append(new)
    return ["".join(SPELLING.decode(row)) for row in torch.cat(words, dim=1)]


@torch.no_grad()
def say(pronouncer, word):
    state = pronouncer.start_decoding(SPELLING.batch([word]), max_len=30)
    token, sounds = torch.tensor([START_ID]), []
    for _ in range(30):
        log_probs, state = pronouncer.decode_step(state, token)  # (B=1, V)
        token = next_token_distribution(log_probs, 0, None, None).argmax(dim=-1)
        sounds.append(token)
        if token.item() == END_ID:
            break
    return " ".join(SOUNDS.decode(torch.cat(sounds)))


# %% tags=["nbval-ignore-output"]
try:
    speller = train_speller()
    torch.manual_seed(1)
    invented = [word for word in invent(speller, 40) if word]
    pronouncer, known = pretrained.load("transformer").eval(), set(split("train"))
    print(f"{sum(word not in known for word in invented)} of {len(invented)} are new")
    for word in [word for word in invented if word not in known][:14]:
        print(f"{word:16} {say(pronouncer, word)}")
except NotImplementedError:
    print("Solve 12.2 and 12.4 first: this cell needs your block and your sampling.")

# %% [markdown]
# *Read a few aloud. Which would you believe to be a name? Then call `invent` with `temperature=0.3` and with `temperature=1.5`. At which do you get more words of the dictionary, and at which more that you can't say?*

# %% [markdown]
# {{next_steps}}

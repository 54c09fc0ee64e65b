"""Attention whose query heads share key/value heads, made of steps, and what goes wrong in each."""

import torch
import torch.nn.functional as F

from ..exercise import Fault
from .parts import faults_of


def grouped(
    query, key, value, mask, *, share_k=lambda x, n: x.repeat_interleave(n, dim=1),
    share_v=lambda x, n: x.repeat_interleave(n, dim=1), divisor=lambda q, k, v: q.shape[-1] ** 0.5,
    close=lambda scores, mask: scores.masked_fill(~mask, -torch.inf), weigh=lambda scores: scores.softmax(-1),
    after=lambda weights, mask: weights,
):  # fmt: skip
    """Grouped-query attention on heads that are split already (Ainslie et al. 2023); each keyword is one step."""
    repeats = query.shape[1] // key.shape[1]
    k, v = share_k(key, repeats), share_v(value, repeats)
    scores = close(query @ k.mT / divisor(query, key, value), mask)
    return after(weigh(scores), mask) @ v  # (B, H, L_q, d_v)


def tiled(x, n):
    """The heads in the order 0 1 0 1."""
    return x.repeat(1, n, 1, 1)


def first_head(x, n):
    """Head 0 for all."""
    return x[:, :1].expand(-1, n * x.shape[1], -1, -1)


def copies_after(axis):
    """The copies on a new axis after ``axis``, then everything in the right shape: scrambled, for axis is not 1."""
    return lambda x, n: torch.stack([x] * n, dim=axis + 1).reshape(len(x), -1, *x.shape[2:])


def _shared(share):
    return {"share_k": share, "share_v": share}


_IN_A_ROW = "each key/value head comes H / H_kv times in a row, 0 0 1 1 2 2: repeat_interleave with dim=1 does that."
_ALIKE = "share keys and values in the same way, each head several times in a row."
_MINUS_INFINITY = "fill the forbidden places with minus infinity before the softmax: masked_fill(~mask, float('-inf'))."

SHARING_FAULTS = (
    Fault("repeat", "query head h meets key/value head h % H_kv, the order 0 1 0 1 that `repeat` gives.", _IN_A_ROW,
          **_shared(tiled)),
    Fault("repeat for the keys", "the keys are shared in the order 0 1 0 1, the values in the order 0 0 1 1.", _ALIKE,
          share_k=tiled),
    Fault("repeat for the values", "the values are shared in the order 0 1 0 1, the keys in the order 0 0 1 1.",
          _ALIKE, share_v=tiled),
    Fault("always twice", "each key/value head comes twice, whatever the numbers of heads are.",
          "work out how often from the sizes: query heads divided by key/value heads.",
          **_shared(lambda x, n: x.repeat_interleave(2, dim=1))),
    Fault("first head for all", "every query head meets key/value head 0: that is multi-query attention.",
          "each group of H / H_kv query heads has a key/value head of its own.", **_shared(first_head)),
    Fault("heads averaged", "the key/value heads are averaged into one.", "keep them apart, one for each group.",
          **_shared(lambda x, n: x.mean(1, keepdim=True).expand(-1, n * x.shape[1], -1, -1))),
    Fault("positions into heads", "the positions are repeated, not the heads: the shape is right, the content scrambled.",
          _IN_A_ROW, **_shared(copies_after(2))),
    Fault("heads not shared", "H query heads meet H_kv key heads: the key/value heads are not shared out.", _IN_A_ROW,
          **_shared(lambda x, n: x)),
)  # fmt: skip

MASK_FAULTS = (
    Fault("no mask", "the mask plays no part: every query sees every key.", _MINUS_INFINITY, close=lambda s, m: s),
    *(Fault(name, "the mask is read the other way round: where it is True, attention is forbidden.", "fill where ~mask.",
            close=lambda s, m, low=low: s.masked_fill(m, low))
      for name, low in (("mask inverted", -1e9), ("mask inverted, with infinity", -torch.inf))),
    Fault("mask after the softmax", "the weights are set to 0 after the softmax, so that rows no longer sum to 1.",
          _MINUS_INFINITY, close=lambda s, m: s, after=lambda w, m: w * m),
    *faults_of("close", _MINUS_INFINITY,
        ("masked scores are 0", "forbidden scores are set to 0, and still get weight: exp(0) is 1.", lambda s, m: s * m),
        ("mask added", "the mask is added to the scores: True counts as 1, False as 0; nothing is closed.", lambda s, m: s + m),
        ("infinity times the mask", "minus infinity is multiplied by the mask: 0 times infinity is NaN.",
         lambda s, m: s + ~m * -torch.inf)),
    Fault("own causal mask", "a causal mask of its own, whatever `mask` says.", "use the mask that is handed over.",
          close=lambda s, m: s.masked_fill(torch.ones_like(s).triu(1 + s.shape[-1] - s.shape[-2]) > 0, -torch.inf)),
)  # fmt: skip

WEIGHT_FAULTS = (
    *faults_of("divisor", "divide by the square root of the size of one head, query.shape[-1] ** 0.5.",
        ("no scaling", "the scores are not divided by the root of the head size.", lambda q, k, v: 1.0),
        ("divided by the head size", "the scores are divided by the head size, not by its square root.",
         lambda q, k, v: q.shape[-1])),
    Fault("over the queries", "the softmax goes over the queries (dim=-2): columns sum to 1, rows should.",
          "normalize over the keys, dim=-1.", weigh=lambda s: s.softmax(-2)),
    Fault("hard argmax", "all weight lies on the best key: a hard maximum.", "use a softmax: every open key counts.",
          weigh=lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype)),
)  # fmt: skip

"""Grouped-query attention with a mask."""

import torch

from course_utils.masks import causal_mask

from ...exercise import Case, Exercise, Fault
from ...kit.grouped import MASK_FAULTS, SHARING_FAULTS, WEIGHT_FAULTS, grouped


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, heads, kv_heads, d_head, mask, *labels, dtype=torch.float32):
        d_model = heads * d_head
        rows = {"x": batch * length, "W_q": d_model, "W_k": kv_heads * d_head, "W_v": kv_heads * d_head, "W_o": d_model}
        drawn = {name: torch.randn(n, d_model, generator=rng, dtype=dtype) for name, n in rows.items()}
        x = drawn.pop("x").view(batch, length, d_model)
        weights = {name: 1.4 * weight / d_model**0.5 for name, weight in drawn.items()}
        return Case(*labels, x=x, **weights, num_heads=heads, num_kv_heads=kv_heads, mask=mask)

    def allowed(*shape):  # no row and no column is empty
        return (torch.rand(shape, generator=rng) < 0.5) | torch.eye(shape[-1], dtype=torch.bool)

    batch, heads = "the mask differs between sequences", "the mask differs between heads"
    return [
        case(1, 3, 4, 2, 2, causal_mask(3)),
        case(2, 7, 6, 2, 5, causal_mask(7) & allowed(2, 1, 7, 7), batch),
        case(2, 4, 6, 3, 3, allowed(2, 6, 4, 4), batch, heads),
        case(3, 5, 4, 1, 3, causal_mask(5), dtype=torch.float64),
        case(2, 7, 6, 2, 5, allowed(7, 7)),  # sizes seen before, other numbers
        case(2, 4, 3, 3, 2, allowed(1, 1, 4, 4)),
    ]


def _layer(
    x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask, *,
    project=lambda x, W: x @ W.T, split=lambda x, heads: x.unflatten(-1, (heads, -1)).transpose(1, 2),
    merge=lambda heads: heads.transpose(1, 2).flatten(2), output=lambda merged, W_o: merged @ W_o.T,
    query_weight=lambda W_q: W_q, value_weight=lambda W_k, W_v: W_v, **steps,
):  # fmt: skip
    """The whole layer; ``steps`` are those of ``grouped``."""
    counts = ((query_weight(W_q), num_heads), (W_k, num_kv_heads), (value_weight(W_k, W_v), num_kv_heads))
    q, k, v = (split(project(x, W), heads) for W, heads in counts)
    return output(merge(grouped(q, k, v, mask, **steps)), W_o)


_ROOT = "a head has d_model // num_heads numbers, in the keys too: divide by the root of that."
_MASK = "use the mask as it is: it broadcasts to (B, H, L, L)."
_STORED = "a weight is stored as (out, in): x @ W.T."
_VIEW = "view as (B, L, H, d_head), then transpose(1, 2)."

EXERCISE = Exercise(
    answer="grouped_query_attention", cases=_cases, reference=_layer, returns=("output",), faults=(
        *SHARING_FAULTS, *MASK_FAULTS, *WEIGHT_FAULTS,
        Fault("one mask for all heads", "the mask of head 0 is used for all heads.", _MASK,
              close=lambda s, m: s.masked_fill(~(m if m.dim() < 4 else m[:, :1]), -torch.inf)),
        Fault("one mask for the batch", "the mask of the first sequence is used for the whole batch.", _MASK,
              close=lambda s, m: s.masked_fill(~(m if m.dim() < 4 else m[:1]), -torch.inf)),
        *(Fault(f"root of {size}", f"the scores are divided by the root of {size}.", _ROOT, divisor=divisor)
          for size, divisor in (
              ("d_model", lambda q, k, v: (q.shape[1] * q.shape[-1]) ** 0.5),
              ("d_model / num_kv_heads", lambda q, k, v: (q.shape[1] * q.shape[-1] // k.shape[1]) ** 0.5),
              ("W_k.shape[0] / num_heads", lambda q, k, v: (k.shape[1] * k.shape[-1] / q.shape[1]) ** 0.5))),
        Fault("split without a transpose", "the heads are split by a view to (B, H, L, d_head) without a transpose: "
              "positions and heads are mixed.", _VIEW, split=lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1)),
        Fault("merged without a transpose", "the heads are merged without transposing back.", "transpose(1, 2) first, "
              "then merge the last two axes.", merge=lambda heads: heads.reshape(len(heads), heads.shape[2], -1)),
        Fault("features dealt out in turn", "the features are dealt out in turn: head 0 has features 0, H, 2H and so "
              "on.", _VIEW, split=lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
              merge=lambda heads: heads.permute(0, 2, 3, 1).flatten(2)),
        Fault("heads averaged at the end", "the heads' results are averaged; they belong side by side.",
              "concatenate them: (B, L, H * d_head).", merge=lambda heads: heads.mean(1).repeat(1, 1, heads.shape[1])),
        Fault("no output projection", "the merged heads, before the output projection.",
              "multiply by W_o.T at the end.", output=lambda merged, W_o: merged),
        Fault("output projection not transposed", "W_o is used without its transpose.", _STORED,
              output=lambda merged, W_o: merged @ W_o),
        Fault("query projection not transposed", "W_q is used without its transpose.", _STORED, query_weight=lambda W_q: W_q.T),
        Fault("square weights not transposed", "the square weights are used without their transpose.", _STORED,
              project=lambda x, W: x @ (W if W.shape[0] == W.shape[1] else W.T), output=lambda x, W_o: x @ W_o),
        Fault("values from W_k", "the values are made with W_k.", "values have a projection of their own: W_v.",
              value_weight=lambda W_k, W_v: W_k),
    ), advice="compare with num_kv_heads = num_heads first: then nothing is shared and it must be lesson 06.",
)  # fmt: skip

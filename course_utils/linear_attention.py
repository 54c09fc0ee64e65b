"""Attention without a softmax: a state of fixed size in place of a cache, in three forms that give the same.

A state is a matrix ``S``, ``(d_k, d_v)``. Each position fades it, writes its value ``v`` under its key ``k``, and reads with its
query ``q``:

    S = decay * S
    u = v                      (linear attention)
    u = beta * (v - k S)       (the delta rule: what the state says of this key is taken out first)
    S = S + k^T u
    o = q S

Without ``decay`` nothing fades. The forms are equal up to rounding: one position after another (``recurrent_form``), all at
once with an ``L x L`` table (``masked_form``), and in chunks, a table within each and a state between (``chunked_form``).

Shape letters: ``*B`` leading (batch, head) dimensions, ``L`` positions, ``d_k`` size of a query or key, ``d_v`` of a value,
``C`` positions of a chunk.

Source:
    Katharopoulos et al., "Transformers are RNNs", 2020, section 3.2 (linear attention, the recurrent form); Schlag et al.,
    "Linear Transformers Are Secretly Fast Weight Programmers", 2021, section 4.2 (the delta rule); Sun et al., "Retentive
    Network", 2023, section 2 (decay, three forms); Yang et al., "Parallelizing Linear Transformers with the Delta Rule over
    Sequence Length", 2024, section 3 (the delta rule in chunks); Yang et al., "Gated Delta Networks", 2024 (both together).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from .arguments import require_same, require_shape, require_sizes

State = Float[Tensor, "*B d_k d_v"]


def feature_map(x: Float[Tensor, "*S"]) -> Float[Tensor, "*S"]:
    """``elu(x) + 1``, elementwise: positive, so that products of queries and keys can serve as weights.

    Source:
        Katharopoulos et al., 2020, section 3.3, equation 7.

    Example:
        >>> feature_map(torch.tensor([0.0, 2.0]))
        tensor([1., 3.])
    """
    return F.elu(x) + 1


def recurrent_form(
    query: Float[Tensor, "*B L d_k"],
    key: Float[Tensor, "*B L d_k"],
    value: Float[Tensor, "*B L d_v"],
    *,
    decay: Float[Tensor, "*B L"] | None = None,
    beta: Float[Tensor, "*B L"] | None = None,
    state: State | None = None,
) -> tuple[Float[Tensor, "*B L d_v"], State]:
    """One position after another: ``L`` steps of ``d_k * d_v`` multiplications, a few times over.

    Args:
        decay: Factor on the state before each position, above 0 and at most 1. None: 1, nothing fades.
        beta: How much of the old value is replaced, from 0 to 1, for keys of length 1: the delta rule. None: values are added.
        state: What earlier positions left; None: zeros.

    Returns:
        The output, and the state after the last position.

    Raises:
        ValueError: Shapes do not fit, or a decay is not above 0 and at most 1.

    Example:
        >>> k, v = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[2.0], [5.0]])
        >>> recurrent_form(k, k, v)[0].T, recurrent_form(k, k, v, beta=torch.ones(2))[0].T
        (tensor([[2., 7.]]), tensor([[2., 5.]]))
    """
    decay, state = _checked(query, key, value, decay, beta, state)
    outputs = []
    for place in range(query.shape[-2]):
        q, k, v = (x[..., place, None, :] for x in (query, key, value))  # (*B, 1, d) each
        state = decay[..., place, None, None] * state  # (*B, d_k, d_v)
        written = v if beta is None else beta[..., place, None, None] * (v - k @ state)  # (*B, 1, d_v)
        state = state + k.mT @ written
        outputs.append(q @ state)
    return torch.cat(outputs, dim=-2), state


def masked_form(
    query: Float[Tensor, "*B L d_k"],
    key: Float[Tensor, "*B L d_k"],
    value: Float[Tensor, "*B L d_v"],
    *,
    decay: Float[Tensor, "*B L"] | None = None,
    beta: Float[Tensor, "*B L"] | None = None,
) -> Float[Tensor, "*B L d_v"]:
    """All positions at once, as attention with a causal mask and no softmax: ``L * L`` products of queries and keys.

    Arguments as for ``recurrent_form``. It starts with an empty state.
    """
    decay, state = _checked(query, key, value, decay, beta, None)
    return _chunk(query, key, value, decay, beta, state)[0]


def chunked_form(
    query: Float[Tensor, "*B L d_k"],
    key: Float[Tensor, "*B L d_k"],
    value: Float[Tensor, "*B L d_v"],
    *,
    chunk_size: int = 64,
    decay: Float[Tensor, "*B L"] | None = None,
    beta: Float[Tensor, "*B L"] | None = None,
    state: State | None = None,
) -> tuple[Float[Tensor, "*B L d_v"], State]:
    """A table of ``C x C`` within each chunk of ``chunk_size`` positions, and a state from chunk to chunk.

    The last chunk may be shorter. Other arguments, result and errors as for ``recurrent_form``.
    """
    require_sizes(chunk_size=chunk_size)
    decay, state = _checked(query, key, value, decay, beta, state)
    outputs = []
    for start in range(0, query.shape[-2], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = (x[..., here, :] for x in (query, key, value))  # (*B, C, d) each
        output, state = _chunk(q, k, v, decay[..., here], None if beta is None else beta[..., here], state)
        outputs.append(output)
    return torch.cat(outputs, dim=-2), state


def _chunk(
    q: Float[Tensor, "*B C d_k"],
    k: Float[Tensor, "*B C d_k"],
    v: Float[Tensor, "*B C d_v"],
    decay: Float[Tensor, "*B C"],
    beta: Float[Tensor, "*B C"] | None,
    state: State,
) -> tuple[Float[Tensor, "*B C d_v"], State]:
    """The positions of one chunk, and the state after it."""
    faded = decay.log().cumsum(dim=-1)  # (*B, C), the logarithm of what is left of the state before the chunk
    left = faded.exp()[..., None]  # (*B, C, 1)
    # Of what position j wrote, exp(faded_i - faded_j) is left at i. As a difference of logarithms: a quotient would be 0 / 0
    # once both have faded away.
    between = (faded[..., :, None] - faded[..., None, :]).tril().exp().tril()  # (*B, C, C)
    written = v  # (*B, C, d_v)
    if beta is not None:
        # u_i = beta_i (v_i - left_i k_i S - sum over j < i of between_ij (k_i . k_j) u_j): a triangular system.
        system = beta[..., None] * ((k @ k.mT) * between).tril(-1)  # (*B, C, C)
        right = beta[..., None] * (v - left * (k @ state))  # (*B, C, d_v)
        written = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
    output = left * (q @ state) + ((q @ k.mT) * between) @ written
    remaining = between[..., -1, :, None]  # (*B, C, 1), of what each position wrote, at the end of the chunk
    return output, left[..., -1:, :] * state + (remaining * k).mT @ written


def _checked(
    query: Tensor, key: Tensor, value: Tensor, decay: Tensor | None, beta: Tensor | None, state: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The decays and the state, also where none are given."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        require_shape(name, tensor, "... L d")
    require_same(query.shape, key.shape, "query has shape {}, key {}: each position has one of each, of the same size")
    require_same(key.shape[:-1], value.shape[:-1], "key has leading dimensions {}, value {}: each key needs one value")
    for name, tensor in (("decay", decay), ("beta", beta)):
        if tensor is not None:
            require_same(tensor.shape, key.shape[:-1], name + " has shape {}; expected {}, a number for each position")
    if decay is not None and not (decay.min() > 0 and decay.max() <= 1):
        raise ValueError(f"decay runs from {decay.min():g} to {decay.max():g}; expected above 0 and at most 1")
    shape = (*key.shape[:-2], key.shape[-1], value.shape[-1])
    if state is None:
        state = value.new_zeros(shape)
    require_same(tuple(state.shape), shape, "state has shape {}; expected (*B, d_k, d_v) = {}")
    return key.new_ones(key.shape[:-1]) if decay is None else decay, state

"""Self-attention from weight matrices."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.attention import FACTOR_FAULTS_OF_THREE_AXES, LARGE, OTHER_FAULTS_OF_THREE_AXES, attend, eighths

SIZES = ((1, 2, 3, 2, 1), (2, 5, 8, 3, 6), (3, 4, 6, 9, 7), (2, 7, 4, 4, 4), (2, 6, 10, 5, 5), (2, 5, 8, 3, 6))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for place, (B, L, d_model, d_k, d_v) in enumerate(SIZES):
        dtype = torch.float64 if place == 2 else torch.float32
        x = torch.randn(B, L, d_model, generator=rng, dtype=dtype)
        W_q, W_k, W_v = (torch.randn(d_model, d, generator=rng, dtype=dtype) / d_model**0.5 for d in (d_k, d_k, d_v))
        # Scores of middling size, so that no softmax is saturated; matrices of unlike size, so that a mix-up shows.
        cases.append(Case(x=x, W_q=1.4 * W_q, W_k=1.2 * W_k, W_v=W_v))
    x, W_q, W_k = eighths(2, 5, 6, rng=rng), eighths(6, 16, rng=rng), eighths(6, 16, rng=rng)
    x[..., -1], W_q[-1], W_k[-1] = 1.0, 0.0, 0.0
    # Queries of +6, 0, -6 ... in an entry in which all keys are about 256: rows of scores far above 100 and far below.
    x[..., 0], W_q[:, 0], W_k[:, 0] = torch.tensor([2.0, 0.0, -2.0, 1.0, -1.0]), 0.0, 0.0
    W_q[0, 0], W_k[-1, 0] = 3.0, 256.0
    return [*cases, Case(LARGE, values_only=True, x=x, W_q=W_q / 2, W_k=W_k / 2, W_v=torch.randn(6, 3, generator=rng))]


def _self_attention(
    x, W_q, W_k, W_v, *, project=lambda x, W: x if W is None else x @ W, query_by=lambda W_q, W_k, W_v: W_q,
    key_by=lambda W_q, W_k, W_v: W_k, value_by=lambda W_q, W_k, W_v: W_v, finish=lambda output, x, value: output,
    **steps,
):  # fmt: skip
    query, key, value = (project(x, by(W_q, W_k, W_v)) for by in (query_by, key_by, value_by))
    output, weights = attend(query, key, value, given=(x,), **steps)
    return finish(output, x, value), weights


def _across_the_batch(x, W_q, W_k, W_v):
    rows = x.flatten(0, 1)  # (B * L, d_model)
    return tuple(part.view(*x.shape[:2], -1) for part in attend(rows @ W_q, rows @ W_k, rows @ W_v))


def _itself_hidden(scores):
    return scores.masked_fill(torch.eye(scores.shape[-1], dtype=torch.bool), -torch.inf).softmax(-1)


FAULTS = (
    Fault("root of d_model", "the scores are divided by the root of d_model, the size of x; what is multiplied has d_k "
          "entries.", "divide by the root of the last size of the projected query.",
          factor=lambda q, k, v, x: x.shape[-1] ** -0.5),
    Fault("values by the key projection", "the keys are added up: values made with W_k, or weights @ key. W_v plays no "
          "part.", "value = x @ W_v.", value_by=lambda W_q, W_k, W_v: W_k),
    Fault("values by the query projection", "the values are made with W_q, and W_v is never used.", "value = x @ W_v.",
          value_by=lambda W_q, W_k, W_v: W_q),
    Fault("values not projected", "the tokens themselves are added up: the values were not projected.",
          "value = x @ W_v.", value_by=lambda *_: None),
    Fault("nothing projected", "attention of x with itself: the three matrices are not used.", "make query, key and "
          "value with one matrix each.", query_by=lambda *_: None, key_by=lambda *_: None, value_by=lambda *_: None),
    Fault("keys by the query projection", "queries and keys are both made with W_q, so the scores are symmetric.",
          "key = x @ W_k.", key_by=lambda W_q, W_k, W_v: W_q),
    Fault("queries by the key projection", "queries and keys are both made with W_k, so the scores are symmetric.",
          "query = x @ W_q.", query_by=lambda W_q, W_k, W_v: W_k),
    Fault("matrices transposed", "the matrices were transposed. Here they are stored as (d_model, d_k), not as "
          "nn.Linear stores its own.", "x @ W_q, without .T.", project=lambda x, W: x @ W.T),
    Fault("input added", "the input is added to the output. That residual belongs to the layer around attention (lesson "
          "09).", "return the weighted sums alone.", finish=lambda output, x, value: output + x),
    Fault("value added", "each token's own value is added to its output once more, besides its share in the sum.",
          "return the weighted sums alone.", finish=lambda output, x, value: output + value),
    Fault("itself hidden", "the diagonal of the scores is hidden: no token attends to itself.",
          "leave all scores in: each token attends to all tokens, itself included.", weigh=_itself_hidden),
    Fault("across the batch", "tokens attend to the tokens of all items: the batch axis was flattened away.",
          "keep (B, L, d) throughout; matrix products work item by item.", whole=_across_the_batch),
)  # fmt: skip

EXERCISE = Exercise(
    answer="self_attention", cases=_cases, reference=_self_attention, returns=("output", "weights"),
    faults=(*FACTOR_FAULTS_OF_THREE_AXES, *FAULTS, *OTHER_FAULTS_OF_THREE_AXES),
    advice="check the pieces: x @ W_q has shape (B, L, d_k), the scores (B, L, L), the output (B, L, d_v).",
)  # fmt: skip

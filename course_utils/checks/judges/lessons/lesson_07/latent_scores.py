"""Scores of latent attention, without its keys."""

import torch

from ...exercise import Case, Exercise, Fault
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, heads, L_q, L_k, d_head, d_c, dtype=torch.float32):
        shapes = {"query": (batch, heads, L_q, d_head), "latent": (batch, L_k, d_c), "W_up": (heads * d_head, d_c)}
        return Case(**{name: torch.randn(shape, generator=rng, dtype=dtype) for name, shape in shapes.items()})

    return [  # with 40 keys d_c is below d_head: then even the latents of all heads are smaller than their keys
        case(1, 1, 1, 2, 2, 3),
        case(2, 3, 2, 40, 5, 4),
        case(1, 4, 2, 40, 6, 3, torch.float64),
        case(2, 3, 2, 7, 4, 6),
        case(2, 3, 2, 40, 5, 4),
        case(3, 2, 2, 40, 5, 2),
    ]


def latent_scores(
    query, latent, W_up, *, heads=lambda W, H: W.unflatten(0, (H, -1)), meet=lambda q, W, c: q @ W @ c[:, None].mT,
    divisor=lambda q, c: q.shape[-1] ** 0.5,
):  # fmt: skip
    """The reference: the query is carried over to the latent's side (DeepSeek-V2, 2024, section 2.1.2)."""
    return meet(query, heads(W_up, query.shape[1]), latent) / divisor(query, latent)


def _made_keys(view):
    seen = [case["value"]["value"] for case in view.cases if case["outcome"] == "returned"]
    if len(seen) < len(view.cases) or not any(large["value"] is True for _, large in seen):
        return None
    said = "with 40 keys: the keys of all heads were made, all at once or piece by piece, or as much work was done."
    return Told("symptom", "keys made", said, "multiply the queries by W_up first: (q W) c in place of q (W c).")


_ROOT = "divide by the square root of the size of a head, query.shape[-1] ** 0.5."
_ROWS = "view W_up as (H, d_head, d_c): head 0 has the first d_head rows."

EXERCISE = Exercise(
    answer="latent_scores", cases=_cases, reference=latent_scores, returns=("scores", "the keys were made"),
    faults=(
        Fault("no scaling", "the scores are not divided by the root of the head size.", _ROOT, divisor=lambda q, c: 1.0),
        Fault("divided by the head size", "the scores are divided by the head size, not by its root.", _ROOT,
              divisor=lambda q, c: q.shape[-1]),
        Fault("root of d_c", "the scores are divided by the root of the latent's size.", _ROOT,
              divisor=lambda q, c: c.shape[-1] ** 0.5),
        Fault("rows dealt out in turn", "the rows of W_up are dealt out in turn: head 0 gets rows 0, H, 2H and so on.",
              _ROWS, heads=lambda W, H: W.unflatten(0, (-1, H)).transpose(0, 1)),
        Fault("first head for all", "every head uses the rows of head 0.", _ROWS,
              heads=lambda W, H: W.unflatten(0, (H, -1))[:1].expand(H, -1, -1)),
        Fault("softmax included", "weights came back, not scores.", "leave the softmax out.",
              meet=lambda q, W, c: (q @ W @ c[:, None].mT / q.shape[-1] ** 0.5).softmax(-1) * q.shape[-1] ** 0.5),
    ), symptoms=(_made_keys,),
    advice="for one head and one key compute q W c by hand, in both orders, and compare.",
)  # fmt: skip

"""Lesson 03: what is off limits, and the small models that answers are run with."""

import torch

from ..probe import Probe


def _all_steps(answer, case):
    """The decoder, given its two functions: attend and cell."""

    def attend(state):
        scores = torch.einsum("bs,sd,bld->bl", state, case["_W_att"], case["_encoded"])
        weights = torch.softmax(scores / 2, dim=-1)
        return torch.einsum("bl,bld->bd", weights, case["_encoded"]), weights

    def cell(x, state):
        if x.shape[-1] != case["_W_ih"].shape[1]:
            width, given = case["_W_ih"].shape[1], tuple(x.shape)
            raise ValueError(f"cell reads rows of {width} numbers (d_embed + d_enc); it was given shape {given}")
        return torch.gru_cell(x, state, case["_W_ih"], case["_W_hh"], case["_bias"], torch.zeros_like(case["_bias"]))

    return answer(case["embedded"], case["state"], attend, cell)


def _loss(answer, case):
    """The loss, and the gradient that reaches the sounds' embeddings in the model (zeros where none does)."""
    weight = case["_sounds"].requires_grad_()

    def model(source, prefix):
        past = torch.cumsum(weight[prefix], dim=1) / torch.arange(1, prefix.shape[1] + 1)[:, None].sqrt()
        return (past + case["_letters"][source].mean(1, keepdim=True)) @ case["_output"]  # (B, L, V); never looks ahead

    loss = answer(model, case["source"], case["target"], case["pad_id"])
    gradient = None
    if isinstance(loss, torch.Tensor) and loss.requires_grad and loss.numel() == 1:
        (gradient,) = torch.autograd.grad(loss.sum(), weight, allow_unused=True)
    return loss, torch.zeros_like(weight) if gradient is None else gradient


def _decoded(answer, case):
    table, calls = case["_table"], []

    def step(tokens, state):
        calls.append(tokens)
        if len(calls) > (len(table) + 2) * case["max_len"]:  # enough for somebody who decodes row by row
            raise RuntimeError("step was called far more often than max_len allows; make at most max_len steps")
        scores = table[state[:, 0], state[:, 1].clamp(max=table.shape[1] - 1), tokens]  # (B, V)
        return scores, state + torch.tensor([0, 1])

    return answer(step, *(case[name] for name in ("state", "start_id", "end_id", "pad_id", "max_len")))


ATTENTION = tuple(
    f"course_utils.attention.{name}" for name in ("AdditiveAttention", "masked_softmax", "scaled_dot_product_attention")
)
SEARCHES = tuple(  # with one beam, or at temperature 0, the other two decode greedily
    f"course_utils.decoding.{name}" for name in ("search.greedy_decode", "search.beam_search", "sampling.generate")
)

PROBES = {
    "attention_step": Probe(off_limits=ATTENTION, gradients=True),
    "location_weights": Probe(off_limits=ATTENTION, gradients=True),
    "forced_loss": Probe(call=_loss,
        off_limits=("course_utils.training.teacher_forced_loss", "course_utils.training.label_smoothing_loss")),
    "greedy_decode": Probe(call=_decoded, off_limits=SEARCHES),
    "phoneme_error_rate": Probe(off_limits=("course_utils.metrics.phoneme_error_rate", "course_utils.metrics.word_error_rate")),
    "decode": Probe(call=_all_steps, off_limits=("course_utils.models.recurrent.RecurrentSeq2Seq",), gradients=True),
    "narrow_results": Probe(expects="value"),
}  # fmt: skip

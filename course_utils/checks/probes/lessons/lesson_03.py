"""Lesson 03: what is off limits, and the small models that answers are run with."""

import torch
import torch.nn.functional as F

from ..probe import Probe


def _parts(case):
    """The three functions that a decoder is given: attend, cell, output."""

    def attend(state):
        scores = torch.einsum("bs,sd,bld->bl", state, case["_W_att"], case["_encoded"])
        weights = torch.softmax(scores / 2, dim=-1)
        return torch.einsum("bl,bld->bd", weights, case["_encoded"]), weights

    def cell(x, state):
        _require("cell", x, case["_W_ih"], "d_embed + d_enc")
        return torch.gru_cell(x, state, case["_W_ih"], case["_W_hh"], case["_bias"], torch.zeros_like(case["_bias"]))

    def output(features):
        _require("output", features, case["_W_out"], "d_state + d_enc + d_embed")
        return F.linear(features, case["_W_out"], case["_b_out"])

    return attend, cell, output


def _require(name, x, weight, sizes):
    if x.shape[-1] != weight.shape[1]:
        given = tuple(x.shape)
        raise ValueError(f"{name} reads rows of {weight.shape[1]} numbers ({sizes}); it was given shape {given}")


def _one_step(answer, case):
    return answer(case["embedded"], case["state"], *_parts(case))


def _all_steps(answer, case):
    return answer(case["embedded"], case["state"], *_parts(case)[:2])


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
MODEL = ("course_utils.models.recurrent.RecurrentSeq2Seq",)
SEARCHES = tuple(  # with one beam, or at temperature 0, the other two decode greedily
    f"course_utils.decoding.{name}" for name in ("search.greedy_decode", "search.beam_search", "sampling.generate")
)

PROBES = {
    "attention_step": Probe(
        off_limits=ATTENTION, gradients=True),
    "decoder_step": Probe(call=_one_step, off_limits=MODEL, gradients=True),
    "forced_loss": Probe(call=_loss,
        off_limits=("course_utils.training.teacher_forced_loss", "course_utils.training.label_smoothing_loss")),
    "greedy_decode": Probe(call=_decoded, off_limits=SEARCHES),
    "phoneme_error_rate": Probe(
        off_limits=("course_utils.metrics.phoneme_error_rate", "course_utils.metrics.word_error_rate")),
    "decode": Probe(call=_all_steps, off_limits=MODEL, gradients=True),
}  # fmt: skip

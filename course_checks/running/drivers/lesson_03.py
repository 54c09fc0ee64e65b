"""Lesson 03: the small models that answers are run with."""

import torch

from ..counting import counted
from .lesson_10 import gradients


def drive_decode(answer, case):
    """A decoder over a whole target, given its two functions: attend and cell."""
    parts = case.driver

    def attend(state):
        scores = torch.einsum("bs,sd,bld->bl", state, parts["W_att"], parts["encoded"])
        weights = torch.softmax(scores / 2, dim=-1)
        return torch.einsum("bl,bld->bd", weights, parts["encoded"]), weights

    def cell(x, state):
        width = parts["W_ih"].shape[1]
        if x.shape[-1] != width:
            raise ValueError(
                f"cell reads rows of {width} numbers (d_embed + d_enc); it was given shape {tuple(x.shape)}"
            )
        return torch.gru_cell(x, state, parts["W_ih"], parts["W_hh"], parts["bias"], torch.zeros_like(parts["bias"]))

    most = 10 * case["embedded"].shape[1] + 10
    return answer(case["embedded"], case["state"], counted(attend, most, "attend"), counted(cell, most, "cell"))


def drive_forced_loss(answer, case):
    """The loss, and the gradient that reaches the sounds' embeddings in the model (zeros where none does)."""
    weight = case.driver["sounds"].requires_grad_()

    def model(source, prefix):
        prefix = prefix.clone()  # an answer may write into it afterwards
        past = torch.cumsum(weight[prefix], dim=1) / torch.arange(1, prefix.shape[1] + 1)[:, None].sqrt()
        letters = case.driver["letters"][source].mean(1, keepdim=True)
        return (past + letters) @ case.driver["output"]  # (B, L, V); never looks ahead

    loss = answer(counted(model, 200, "model"), case["source"], case["target"], case["pad_id"])
    return loss, gradients(loss, [weight])[0]


def drive_greedy_decode(answer, case):
    """The symbols that a step says whose scores stand in a table: by row, step, and the symbol before."""
    table = case.driver["table"]

    def step(tokens, state):
        scores = table[state[:, 0], state[:, 1].clamp(max=table.shape[1] - 1), tokens]  # (B, V)
        return scores, state + torch.tensor([0, 1])

    most = (len(table) + 2) * case["max_len"]  # enough for somebody who decodes row by row
    return answer(counted(step, most, "step"), *case.values())

"""Inputs and targets."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import same


def inputs_and_targets(
    ids, pad_id, *, inputs=lambda ids: ids[:, :-1], targets=lambda ids: ids[:, 1:], hidden=torch.eq, mark=-100,
):  # fmt: skip
    """The ids without the last column; those without the first, padding hidden."""
    found = targets(ids)
    return inputs(ids), found.masked_fill(hidden(found, pad_id), mark)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(ids=torch.tensor([[5, 7, 2], [4, 9, 0]]), pad_id=0)]
    for digits, pad in (("53", 0), ("3321", 30), ("285", -1), ("4444", 0), ("212", 7), ("16", 0)):
        lengths = torch.tensor([int(digit) for digit in digits])[:, None]
        ids = torch.randint(8, 30, (len(digits), int(max(digits))), generator=rng)
        cases.append(Case(ids=ids.masked_fill(torch.arange(ids.shape[1]) >= lengths, pad), pad_id=pad))
    return [*cases, Case("0 is an ordinary token", ids=torch.tensor([[0, 4, 0, 9], [3, 0, 8, 8]]), pad_id=8)]


EXERCISE = Exercise(
    answer="inputs_and_targets", cases=_cases, reference=inputs_and_targets, returns=("inputs", "targets"), faults=(
        Fault("not shifted", "targets equal to the inputs: a model learns to copy, and its loss goes to zero.",
              "the target at position i is the token at position i + 1.", targets=lambda ids: ids[:, :-1]),
        Fault("looks back", "inputs and targets the wrong way around: each target is the token before its input.",
              "the inputs leave the last token out, the targets the first; return the inputs first.",
              inputs=lambda ids: ids[:, 1:], targets=lambda ids: ids[:, :-1]),
        Fault("sentences shifted", "whole sentences were left out, not the last and the first token of each.",
              "keep all rows: ids[:, :-1] and ids[:, 1:].", inputs=lambda ids: ids[:-1], targets=lambda ids: ids[1:]),
        Fault("rolled around", "a shift with wrap-around: the last target is the first token of the same sequence.",
              "leave the last token out of the inputs.", inputs=same, targets=lambda ids: ids.roll(-1, 1)),
        Fault("padding left", "padding is still among the targets.", "put -100 wherever a target is pad_id.",
              hidden=lambda targets, pad_id: targets != targets),
        Fault("by the input", "a target hidden where the input is padding: the pad after the last token still counts.",
              "compare the targets with pad_id.",
              whole=lambda ids, pad_id: (ids[:, :-1], ids[:, 1:].masked_fill(ids[:, :-1] == pad_id, -100))),
        Fault("0 taken for padding", "every target 0 hidden, whatever pad_id is.", "compare with pad_id.",
              hidden=lambda targets, pad_id: targets == 0),
        Fault("100", "padding marked by 100; the loss leaves out -100.", "mind the sign.", mark=100),
    ), advice="write the ids of one sentence on a line, and under each token the one that follows it.",
)  # fmt: skip

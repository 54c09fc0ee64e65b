"""Inputs and targets."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import SQUEEZED, same


def inputs_and_targets(ids, *, inputs=lambda ids: ids[:, :-1], targets=lambda ids: ids[:, 1:], finish=same):
    """Two views of the same ids."""
    return finish(inputs(ids)), finish(targets(ids))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    shapes = ((2, 5), (4, 3), (3, 8), (4, 4), (3, 2), (3, 8))
    cases = [Case(ids=torch.tensor([[5, 7, 2]])), *(Case(ids=torch.randint(1, 1000, s, generator=rng)) for s in shapes)]
    return [*cases, Case("an id is 0", ids=torch.tensor([[0, 4, 0, 9], [3, 0, 8, 0]]))]


EXERCISE = Exercise(
    answer="inputs_and_targets", cases=_cases, reference=inputs_and_targets, returns=("inputs", "targets"), faults=(
        Fault("not shifted", "targets equal to the inputs: a model learns to copy, and its loss goes to zero.",
              "the target at position i is the token at position i + 1.", targets=lambda ids: ids[:, :-1]),
        Fault("nothing cut", "inputs and targets both equal to ids: a model learns to copy, and its loss goes to zero.",
              "the target at position i is the token at position i + 1.", inputs=same, targets=same),
        Fault("shifted over the batch", "a shift over the batch: the target of a sentence is the next sentence.",
              "slice the second axis.", inputs=lambda ids: ids[:-1], targets=lambda ids: ids[1:]),
        Fault("shifted by two", "a shift by two: each target is the token after the next.", "shift by one.",
              inputs=lambda ids: ids[:, :-2], targets=lambda ids: ids[:, 2:]),
        Fault("every second", "the ids are cut into pairs: one token is an input, the next a target, and so on.",
              "every token but the first is a target.", inputs=lambda ids: ids[:, :-1:2],
              targets=lambda ids: ids[:, 1::2]),
        Fault("rolled around", "a shift with wrap-around: the last target is the first token of the same sequence.",
              "leave the last token out of the inputs.", inputs=same, targets=lambda ids: ids.roll(-1, 1)),
        Fault("rolled the other way", "a shift with wrap-around, backwards: each target is the token before.",
              "cut the last column of one, the first of the other.", inputs=same, targets=lambda ids: ids.roll(1, 1)),
        Fault("inputs not cut", "one input too many: the last token, without a target.", "drop their last column.",
              inputs=same),
        Fault("inputs rolled", "the inputs shifted with wrap-around: the last target is the first token of the sentence.",
              "take the targets from ids, all but the first column.", targets=lambda ids: ids[:, :-1].roll(-1, 1)),
        Fault("only the last column", "one target a sentence, its last token; a model predicts at every position.",
              "keep all tokens but the first as targets: ids[:, 1:].", targets=lambda ids: ids[:, -1:]),
        Fault("only the last token", "one target a sentence, its last token; a model predicts at every position.",
              "keep all tokens but the first as targets.", targets=lambda ids: ids[:, -1]),
        SQUEEZED,
    ), advice="write the ids of one sentence on a line, and under each token the one that follows it.",
)  # fmt: skip

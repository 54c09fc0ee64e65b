"""Find the bug: a reshape for a transpose."""

import functools

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.shapes import SQUEEZED, same


def sentence_means(states, *, front=lambda states: states.transpose(0, 1), average=lambda s: s.mean(1), finish=same):
    """The batch to the front, then the average over the positions."""
    return finish(average(front(states)))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(states=torch.tensor([[[1.0], [10.0]], [[2.0], [20.0]], [[3.0], [30.0]]]))]
    for shape in ((5, 2, 3), (3, 4, 6), (4, 4, 4), (6, 1, 2), (5, 2, 3)):
        cases.append(Case(states=torch.randn(shape, generator=rng)))
    states = torch.randn(4, 3, 2, generator=rng)
    states[1, 0] = 0.0
    return [*cases, Case("a state is all zeros", states=states)]


EXERCISE = Exercise(
    answer="sentence_means", cases=_cases, reference=sentence_means, returns=("means",), faults=(
        Fault("still reshaped", "the bug is still there: a reshape or view mixes the sentences.", "swap the first two "
              "axes with a transpose.", front=lambda s: s.reshape(s.shape[1], s.shape[0], s.shape[2])),
        Fault("averaged over the batch", "the mean over the sentences, one vector for each position.",
              "average over the positions: axis 0 of (L, B, d), axis 1 of (B, L, d).", average=lambda s: s.mean(0)),
        Fault("averaged over the features", "the mean over the features of each vector.",
              "average over the positions and keep the last axis.", average=lambda s: s.mean(2)),
        Fault("summed", "the sum over the positions, not their mean.", "divide by the number of positions, L.",
              average=lambda s: s.sum(1)),
        Fault("divided by the batch", "the sum over the positions divided by the number of sentences, B.",
              "divide by the number of positions, L.", average=lambda s: s.sum(1) / len(s)),
        Fault("running mean", "the mean of the mean so far and the new state: late positions weigh more.",
              "add up all states, then divide.",
              average=lambda s: functools.reduce(lambda a, b: (a + b) / 2, s.unbind(1))),
        Fault("last state", "the last state of each sentence, not the mean of all.",
              "keep the mean; change the reshape only.", average=lambda s: s[:, -1]),
        Fault("not averaged", "the states, batch first; the mean is missing.", "average over axis 1.", average=same),
        SQUEEZED,
    ),
    advice="use states whose numbers tell where they come from: 1, 2, 3 for one sentence and 10, 20, 30 for the other.",
)  # fmt: skip

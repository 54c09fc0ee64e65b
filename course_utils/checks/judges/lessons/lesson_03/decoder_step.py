"""One step of the decoder, in Bahdanau's order."""

import itertools

import torch

from ...exercise import Exercise, Fault
from ...kit.decoder import another_width, decoder_case, side_by_side
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((1, 2, 2, 3, 4, 5), (2, 7, 5, 6, 8, 9), (3, 5, 8, 4, 6, 7), (2, 4, 6, 9, 3, 11), (2, 7, 5, 6, 8, 9))
    dtypes = (torch.float32, torch.float32, torch.float64, torch.float32, torch.float32)
    return [decoder_case(rng, (B,), *rest, dtype=dtype) for (B, *rest), dtype in zip(sizes, dtypes, strict=True)]


def _decoder_step(
    embedded, state, attend, cell, output, *, asked=lambda state: state, read=side_by_side, before=lambda state: state,
    state_out=lambda old, new: new, context_out=lambda now, late: now, features=side_by_side,
    finish=lambda logits: logits, state_back=lambda old, new: new, weights_back=lambda now, late: now,
    returned=lambda logits, state, weights: (logits, state, weights),
):  # fmt: skip
    now, weights = attend(asked(state))
    new = cell(read(embedded, now), before(state))
    late, late_weights = attend(new)
    logits = finish(output(features(state_out(state, new), context_out(now, late), embedded)))
    return returned(logits, state_back(state, new), weights_back(weights, late_weights))


def _late(now, late):
    return late


def _without_context(embedded, context):
    return side_by_side(embedded, torch.zeros_like(context))


def _in_order(order):
    names = ", ".join(("state", "context", "embedding")[place] for place in order)
    return Fault(f"features: {names}", f"the output reads its features in the order {names}.",
                 "the order is: new state, context, embedding.",
                 features=lambda *parts: side_by_side(*(parts[place] for place in order)))  # fmt: skip


_ONE = "call attend once, with the state you are given, and use its context and weights everywhere."
_JOIN = "join the parts with torch.cat along the last axis."

FAULTS = (
    Fault("context from the state after", "logits and weights use the context of the new state, one step too late.",
          _ONE, context_out=_late, weights_back=_late),
    Fault("logits from the context after", "the logits use the context of the new state, one step too late.", _ONE,
          context_out=_late),
    Fault("weights from the state after", "the weights of the new state are returned; they belong to the next step.",
          _ONE, weights_back=_late),
    Fault("cell before attention", "the cell ran before attend was asked, with zeros for the context.",
          "first attend(state), then the cell.", read=_without_context, context_out=_late, weights_back=_late),
    Fault("context in front of the embedding", "the cell is given the context first, then the embedding.",
          "the cell reads the embedding first, then the context.",
          read=lambda embedded, context: side_by_side(context, embedded)),
    *(_in_order(order) for order in list(itertools.permutations(range(3)))[1:]),
    Fault("logits from the old state", "the logits use the state before the step; it does not know yet what the cell "
          "has read.", "use the new state in the features of the output.", state_out=lambda old, new: old),
    Fault("old state returned", "the state is returned as it came: the decoder would stand still.",
          "return what the cell gave.", state_back=lambda old, new: old),
    Fault("state forgotten", "the cell starts from zeros: what happened before is forgotten.",
          "give the cell the state as its second argument.", before=torch.zeros_like),
    Fault("attended with zeros", "attend is asked with zeros in the place of the state.",
          "the query is the state before the step.", asked=torch.zeros_like),
    Fault("context left out of the cell", "the cell reads zeros in the place of the context.",
          "join the embedding with the context that attend gives.", read=_without_context),
    Fault("context left out of the output", "the logits are computed with zeros in the place of the context.",
          "the features of the output are new state, context and embedding.",
          context_out=lambda now, late: torch.zeros_like(now)),
    Fault("embedding alone into the cell", "the cell is given the embedding alone; it expects the context beside it.",
          _JOIN, read=lambda embedded, context: embedded),
    Fault("state alone into the output", "the output is given the new state alone; it expects context and embedding "
          "beside it.", _JOIN, features=lambda new, context, embedded: new),
    *faults_of("finish", "return them as output gives them; the loss, or the decoding, does the rest.",
        ("softmax", "the logits went through a softmax.", lambda logits: logits.softmax(-1)),
        ("log-softmax", "the logits went through a log-softmax.", lambda logits: logits.log_softmax(-1))),
    Fault("weights forgotten", "the weights are missing.", "return logits, new state, weights.",
          returned=lambda logits, state, weights: (logits, state)),
)  # fmt: skip

EXERCISE = Exercise(
    answer="decoder_step", cases=_cases, reference=_decoder_step, returns=("logits", "new_state", "weights"), faults=FAULTS,
    symptoms=(another_width,),
    advice="write down which state each line uses: attend and cell get the old one, output the new one.",
)  # fmt: skip

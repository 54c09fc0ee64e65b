"""A decoder over a whole target: attention before the cell."""

import torch

from ...exercise import Exercise, Fault
from ...kit.decoder import another_width, decoder_case, side_by_side
from ...kit.parts import faults_of


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((1, 2, 3, 1, 2, 3), (2, 5, 7, 4, 6, 8), (3, 4, 6, 7, 5, 3), (2, 1, 4, 3, 8, 5), (2, 5, 7, 4, 6, 8))
    dtypes = (torch.float32, torch.float32, torch.float64, torch.float32, torch.float32)
    return [decoder_case(rng, (B, L), *rest, dtype=dtype) for (B, L, *rest), dtype in zip(sizes, dtypes, strict=True)]


def _decode(
    embedded, state, attend, cell, *, symbol=lambda embedded, t: embedded[:, t], asked=lambda now, first, older: now,
    read=lambda symbol, context, last, t: side_by_side(symbol, context), before=lambda now, first: now,
    state_kept=lambda old, new: new, context_kept=lambda now, late, last: now, weights_kept=lambda now, late: now,
    join=side_by_side, stack=lambda rows: torch.stack(rows, dim=1),
):  # fmt: skip
    first = older = state
    last = attend(state)[0]
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        context, weights = attend(asked(state, first, older))
        new = cell(read(symbol(embedded, t), context, last, t), before(state, first))
        late, late_weights = attend(new)
        before_it = last if t else torch.zeros_like(last)
        features.append(join(state_kept(state, new), context_kept(context, late, before_it)))
        all_weights.append(weights_kept(weights, late_weights))
        older, state, last = state, new, context
    return stack(features), stack(all_weights)


def _late(now, late, last=None):
    return late


def _one_too_old(symbol, context, last, t):
    return side_by_side(symbol, last if t else torch.zeros_like(last))


def _zeros_first(symbol, context, last, t):
    return side_by_side(symbol, torch.zeros_like(context) if t == 0 else context)


_KEEP = "keep the context that the cell has read, and the weights that came with it."

FAULTS = (
    Fault("as it was", "the function as it was: attend is asked after the cell, so row t holds the context of step t + 1.",
        "ask attend first, with the state before the step, and give its context to the cell.", read=_zeros_first,
        context_kept=_late, weights_kept=_late),
    Fault("weights still late", "the weights handed back are those of the next step.", _KEEP, weights_kept=_late),
    Fault("context still late", "the features hold the context of the next step.", _KEEP, context_kept=_late),
    Fault("both still late", "the cell reads the right context, but attend is asked again after the cell: row t holds the "
        "context and the weights of the next step.", _KEEP, context_kept=_late, weights_kept=_late),
    Fault("one context too old", "the cell reads the context of the step before, zeros at first, and so do the features.",
        "ask attend first, then give that same context to the cell and to the features.", read=_one_too_old,
        context_kept=lambda now, late, last: last),
    *faults_of("read", "ask attend before the cell, inside the loop, and give it [embedding; context].",
        ("zeros at first", "at the first step the cell reads zeros in the place of the context.", _zeros_first),
        ("cell reads an old context", "the cell reads the context of the step before.",
         lambda symbol, context, last, t: side_by_side(symbol, last)),
        ("cell reads an old context, zeros first", "the cell reads the context of the step before, and zeros at first.",
         _one_too_old),
        ("cell without context", "the cell reads zeros in the place of the context.",
         lambda symbol, context, last, t: side_by_side(symbol, torch.zeros_like(context))),
        ("context in front of the embedding", "the cell is given the context first, then the embedding.",
         lambda symbol, context, last, t: side_by_side(context, symbol))),
    Fault("always the first state", "attend is asked with the first state at every step, so all rows of weights are alike.",
        "ask with the state before this step: move the call into the loop.", asked=lambda now, first, older: first),
    Fault("one state too old", "attend is asked with the state from one step further back.", "ask with the state right before "
        "this step.", asked=lambda now, first, older: older),
    Fault("features with the old state", "the features hold the state before the step.", "they hold the state that the cell "
        "gives.", state_kept=lambda old, new: old),
    Fault("state not carried on", "the cell starts from the first state at every step, though attend gets the new ones.",
        "give the cell the state of the step before.", before=lambda now, first: first),
    Fault("every step the first", "every step begins again from the first state: the new state is never handed on.", "put what "
        "the cell gives into state.", asked=lambda now, first, older: first, before=lambda now, first: first),
    Fault("context in front of the state", "the features hold the context first, then the state.", "leave that order as it "
        "was: state, context.", join=lambda state, context: side_by_side(context, state)),
    Fault("steps in front", "the steps stand in the first axis, (L_t, B, ...).", "stack them along dim=1.", stack=torch.stack),
    *faults_of("symbol", "step t reads embedded[:, t].",
        ("embeddings moved", "the embeddings are moved one step on, zeros first; they are those of the sounds before already.",
         lambda embedded, t: embedded[:, t - 1] if t else torch.zeros_like(embedded[:, 0])),
        ("same symbol at every step", "every step reads the first symbol.", lambda embedded, t: embedded[:, 0])),
)  # fmt: skip

EXERCISE = Exercise(
    answer="decode", cases=_cases, reference=_decode, returns=("features", "weights"), faults=FAULTS, symptoms=(another_width,),
    advice="write the index beside each line: c_t from s_{t-1}; s_t from c_t and s_{t-1}; then row t of the features.",
)  # fmt: skip

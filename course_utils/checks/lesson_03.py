"""Lesson 03, attention in sequence-to-sequence models: what is right, what is wrong, and how it is told."""

import math

import torch
import torch.nn.functional as F

from course_utils import metrics
from course_utils.metrics import edit_distance

from .exercise import Alternative, Exercise, Mistake, Option, Quiz

# 3.1 ------------------------------------------------------------------------------------------------------------------


def _attention_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for lengths, L, d_state, d_enc, d_att in (
        ((2,), 3, 1, 2, 4),
        ((5, 3), 7, 4, 6, 9),
        ((4, 1, 6), 6, 8, 5, 7),
        ((3, 5), 5, 6, 10, 3),
        ((5, 3), 7, 4, 6, 9),  # sizes seen before, other numbers
    ):
        B = len(lengths)
        cases.append(
            {
                "state": torch.randn(B, d_state, generator=rng),
                "encoded": 1.0 + torch.randn(B, L, d_enc, generator=rng),
                "W_q": torch.randn(d_att, d_state, generator=rng) / d_state**0.5,
                "W_k": torch.randn(d_att, d_enc, generator=rng) / d_enc**0.5,
                "w_v": 1.5 * torch.randn(d_att, generator=rng),
                "mask": torch.arange(L) < torch.tensor(lengths)[:, None],
            }
        )
    low = cases[-1]  # one hidden feature is always 1 and counts -60: all scores are low, so padding must be far lower
    low["state"][:, 0], low["W_q"][0], low["W_k"][0], low["w_v"][0] = 1.0, 0.0, 0.0, -60.0
    low["W_q"][0, 0] = 30.0
    return cases


def _fill(scores, mask, value=-math.inf):
    return torch.softmax(scores.masked_fill(~mask, value), dim=-1)


def _afterwards(scores, mask):
    return torch.softmax(scores, dim=-1) * mask


def _masked_minimum(scores, mask):
    return _fill(scores, mask, torch.finfo(scores.dtype).min)


def _attend(
    normalize=_fill,
    squash=torch.tanh,
    join=lambda q, k: q[:, None] + k,
    score=lambda hidden, w_v: hidden @ w_v,
    values=lambda encoded, keys, mask: encoded,
    finish=lambda context, weights: (context, weights),
):
    """Additive attention of one state, with one of its parts exchanged."""

    def answer(state, encoded, W_q, W_k, w_v, mask):
        keys = encoded @ W_k.T
        scores = score(squash(join(state @ W_q.T, keys)), w_v)
        weights = normalize(scores, mask)
        context = torch.einsum("bl,bld->bd", weights, values(encoded, keys, mask))
        return finish(context, weights)

    return answer


def _attend_loop(state, encoded, W_q, W_k, w_v, mask):
    contexts, rows = [], []
    for b in range(len(state)):
        real = [j for j in range(encoded.shape[1]) if mask[b, j]]
        scores = torch.stack([w_v @ torch.tanh(W_q @ state[b] + W_k @ encoded[b, j]) for j in real])
        row = torch.zeros(encoded.shape[1])
        row[real] = torch.softmax(scores, 0)
        rows.append(row)
        contexts.append(row @ encoded[b])
    return torch.stack(contexts), torch.stack(rows)


def _attend_matmul(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh(F.linear(state, W_q).unsqueeze(1) + F.linear(encoded, W_k))
    scores = (hidden * w_v).sum(-1)
    weights = torch.where(mask, scores, torch.tensor(-1e9)).softmax(-1)
    return (weights[:, None] @ encoded).squeeze(1), weights


def _by_library(state, encoded, W_q, W_k, w_v, mask):
    from course_utils.attention import AdditiveAttention

    layer = AdditiveAttention(W_q.shape[1], W_k.shape[1], len(w_v))
    layer.load_state_dict({"q_proj.weight": W_q, "k_proj.weight": W_k, "v_proj.weight": w_v[None]})
    context, weights = layer(state[:, None], encoded, encoded, mask[:, None])
    return context[:, 0], weights[:, 0]


ATTENTION = Exercise(
    number="3.1",
    title="One attention step with a source mask",
    points=4,
    inputs=_attention_inputs,
    reference=_attend(),
    returns=("context", "weights"),
    off_limits=(
        "course_utils.attention.AdditiveAttention",
        "course_utils.attention.masked_softmax",
        "torch.nn.functional.scaled_dot_product_attention",
    ),
    alternatives=(
        Alternative("loop", _attend_loop),
        Alternative("matrix product and where", _attend_matmul),
        Alternative("fill value -1e9", _attend(lambda s, m: _fill(s, m, -1e9))),
        Alternative("smallest number", _attend(_masked_minimum)),
        Alternative(
            "minus infinity added", _attend(lambda s, m: (s + torch.zeros(m.shape).masked_fill(~m, -1e30)).softmax(-1))
        ),
        Alternative(
            "masked after, divided by the sum",
            _attend(lambda s, m: _afterwards(s, m) / _afterwards(s, m).sum(-1, keepdim=True)),
        ),
        Alternative("exponentials by hand", _attend(lambda s, m: (s.exp() * m) / (s.exp() * m).sum(-1, keepdim=True))),
        Alternative("the course's own", _by_library, off_limits=True),
    ),
    mistakes=(
        Mistake(
            "mask after the softmax",
            _attend(_afterwards),
            "the mask applied after the softmax, without dividing again: rows with padding sum to less than 1.",
            "set the scores of the padding to minus infinity before the softmax.",
        ),
        Mistake(
            "no mask",
            _attend(lambda s, m: torch.softmax(s, -1)),
            "the mask was not used: padding gets weight.",
            "set the scores where mask is False to minus infinity before the softmax.",
        ),
        Mistake(
            "polarity inverted",
            _attend(lambda s, m: _fill(s, ~m)),
            "the mask read the other way around: the real letters are hidden and the padding is seen.",
            "mask is True at real letters; masked_fill fills where its argument is True, so give it ~mask.",
        ),
        Mistake(
            "scores of padding set to 0",
            _attend(lambda s, m: _fill(s, m, 0.0)),
            "the scores of the padding set to 0, or nearly so (1e-9?): exp(0) is 1, so the padding still gets weight.",
            "fill with minus infinity, whose exponential is 0; a large number needs its minus sign: -1e9.",
        ),
        Mistake(
            "fill value not low enough",
            _attend(lambda s, m: _fill(s, m, -20.0)),
            "padding filled with about -20, which is low for some scores only: where all are lower, it gets the weight.",
            "fill with minus infinity: float('-inf').",
        ),
        Mistake(
            "mask of the first item for all",
            _attend(lambda s, m: _fill(s, m[:1].expand_as(m))),
            "the padding of the first word used for the whole batch.",
            "mask has one row for each word: use it as it is, (B, L_s) beside scores of (B, L_s).",
        ),
        Mistake(
            "encoder states zeroed",
            _attend(lambda s, m: torch.softmax(s, -1), values=lambda e, k, m: e * m[..., None]),
            "the padding's encoder states set to 0, while it keeps its share of the weights.",
            "hide the scores before the softmax; then the weights of the padding are 0.",
        ),
        Mistake(
            "no tanh",
            _attend(squash=lambda x: x),
            "the tanh left out: then the state shifts all scores alike, and its weights do not depend on it.",
            "take the tanh of the sum before you multiply by w_v.",
        ),
        Mistake(
            "sigmoid for tanh",
            _attend(squash=torch.sigmoid),
            "a sigmoid in the place of the tanh.",
            "use torch.tanh.",
        ),
        Mistake(
            "relu for tanh",
            _attend(squash=torch.relu),
            "a ReLU in the place of the tanh.",
            "use torch.tanh.",
        ),
        Mistake(
            "product for sum",
            _attend(join=lambda q, k: q[:, None] * k),
            "the two projections multiplied where they should be added.",
            "add the projected state to every projected encoder state.",
        ),
        Mistake(
            "state left out",
            _attend(join=lambda q, k: k),
            "weights that do not depend on the decoder's state: it was left out, or added after the tanh.",
            "add the projected state to every projected encoder state, then take one tanh of the sum.",
        ),
        Mistake(
            "w_v left out",
            _attend(score=lambda hidden, w_v: hidden.sum(-1)),
            "the hidden values added up as they are, without w_v.",
            "each score is the dot product of w_v with the tanh.",
        ),
        Mistake(
            "scores divided by the root",
            _attend(score=lambda hidden, w_v: hidden @ w_v / len(w_v) ** 0.5),
            "the scores divided by the root of the hidden size: that belongs to the scaled dot product (lesson 04).",
            "take the scores as they are.",
        ),
        Mistake(
            "tanh of the scores",
            _attend(score=lambda hidden, w_v: torch.tanh(hidden @ w_v)),
            "a second tanh, of the scores themselves.",
            "one tanh, before the product with w_v.",
        ),
        Mistake(
            "softmax over the batch",
            _attend(lambda s, m: torch.softmax(s.masked_fill(~m, -1e9), dim=0)),
            "a softmax over the batch: the words compete with one another for each letter.",
            "normalize over the letters, dim=-1.",
        ),
        Mistake(
            "hard maximum",
            _attend(lambda s, m: F.one_hot(s.masked_fill(~m, -math.inf).argmax(-1), s.shape[-1]).to(s.dtype)),
            "all the weight on the best letter.",
            "a softmax gives every real letter a share.",
        ),
        Mistake(
            "not normalized",
            _attend(lambda s, m: s.exp() * m),
            "the exponentials of the scores, not divided by their sum.",
            "use torch.softmax over the letters.",
        ),
        Mistake(
            "sigmoid for softmax",
            _attend(lambda s, m: torch.sigmoid(s.masked_fill(~m, -math.inf))),
            "a sigmoid of each score: the rows do not sum to 1.",
            "use torch.softmax over the letters.",
        ),
        Mistake(
            "projected states averaged",
            _attend(values=lambda e, keys, m: keys),
            "the projected encoder states averaged (the keys): the values are the encoder states themselves.",
            "the context is the weighted sum of encoded, of shape (B, d_enc).",
        ),
        Mistake(
            "mean over the letters",
            _attend(finish=lambda c, w: (c / w.shape[-1], w)),
            "the mean over the letters of weight times state: the weights already sum to 1.",
            "use .sum over the letters, not .mean.",
        ),
        Mistake(
            "weights before context",
            _attend(finish=lambda c, w: (w, c)),
            "the weights and the context in the other order.",
            "return context first, then weights.",
        ),
        Mistake(
            "axis left over",
            _attend(finish=lambda c, w: (c[:, None], w)),
            "a context of shape (B, 1, d_enc): the axis of the one query is still there.",
            "take it away with [:, 0] or squeeze(1).",
        ),
        Mistake(
            "both axes left over",
            _attend(finish=lambda c, w: (c[:, None], w[:, None])),
            "context and weights with an axis of size 1 left over, that of the one query.",
            "take it away with [:, 0] or squeeze(1).",
        ),
        Mistake(
            "context only",
            _attend(finish=lambda c, w: c),
            "the context alone.",
            "return two things: the context, and the weights.",
        ),
    ),
    advice="print weights.sum(-1), which must be 1 for every word, and weights[~mask], which must be 0.",
)

# 3.2 ------------------------------------------------------------------------------------------------------------------


def _step_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L, d_embed, d_state, d_enc, V in (
        (1, 2, 2, 3, 4, 5),
        (2, 7, 5, 6, 8, 9),
        (3, 5, 8, 4, 6, 7),
        (2, 4, 6, 9, 3, 11),
        (2, 7, 5, 6, 8, 9),  # sizes seen before, other numbers
    ):
        d_in, d_out = d_embed + d_enc, d_state + d_enc + d_embed
        cases.append(
            {
                "embedded": torch.randn(B, d_embed, generator=rng),
                "state": torch.randn(B, d_state, generator=rng),
                "encoded": torch.randn(B, L, d_enc, generator=rng),
                "W_att": torch.randn(d_state, d_enc, generator=rng),
                "W_ih": torch.randn(3 * d_state, d_in, generator=rng) / d_in**0.5,
                "W_hh": torch.randn(3 * d_state, d_state, generator=rng) / d_state**0.5,
                "bias": 0.3 * torch.randn(3 * d_state, generator=rng),
                "W_out": torch.randn(V, d_out, generator=rng) / d_out**0.5,
                "b_out": torch.randn(V, generator=rng),
            }
        )
    return cases


def _parts_of(case):
    """The three functions that an answer is given: attend, cell, output."""

    def attend(state):
        scores = torch.einsum("bs,sd,bld->bl", state, case["W_att"], case["encoded"])
        weights = torch.softmax(scores / 2, dim=-1)
        return torch.einsum("bl,bld->bd", weights, case["encoded"]), weights

    def cell(x, state):
        return torch.gru_cell(x, state, case["W_ih"], case["W_hh"], case["bias"], torch.zeros_like(case["bias"]))

    def output(features):
        return F.linear(features, case["W_out"], case["b_out"])

    return attend, cell, output


def _call_step(answer, case):
    return answer(case["embedded"], case["state"], *_parts_of(case))


def _cat(*parts):
    return torch.cat(parts, dim=-1)


def _step(
    read=lambda e, c: _cat(e, c),
    features=lambda new, old, c, c_new, e: _cat(new, c, e),
    query=lambda state: state,
    before=lambda state: state,
    after=lambda logits: logits,
    finish=lambda logits, new, old, w, w_new: (logits, new, w),
):
    """One decoder step, with one of its parts exchanged."""

    def answer(embedded, state, attend, cell, output):
        context, weights = attend(query(state))
        new = cell(read(embedded, context), before(state))
        context_after, weights_after = attend(new)
        logits = after(output(features(new, state, context, context_after, embedded)))
        return finish(logits, new, state, weights, weights_after)

    return answer


def _context_after(embedded, state, attend, cell, output):
    nothing = torch.zeros_like(attend(state)[0])
    new = cell(_cat(embedded, nothing), state)
    context, weights = attend(new)
    return output(_cat(new, context, embedded)), new, weights


def _step_lists(embedded, state, attend, cell, output):
    context, weights = attend(state)
    new = torch.stack([cell(_cat(e, c)[None], s[None])[0] for e, c, s in zip(embedded, context, state, strict=True)])
    logits = torch.stack([output(_cat(n, c, e)) for n, c, e in zip(new, context, embedded, strict=True)])
    return logits, new, weights


STEP = Exercise(
    number="3.2",
    title="One decoder step",
    points=4,
    inputs=_step_inputs,
    reference=_step(),
    returns=("logits", "new_state", "weights"),
    off_limits=("course_utils.models.recurrent.RecurrentSeq2Seq",),
    call=_call_step,
    alternatives=(
        Alternative("row by row", _step_lists),
        Alternative("hstack", _step(lambda e, c: torch.hstack((e, c)), lambda n, o, c, a, e: torch.hstack((n, c, e)))),
        Alternative(
            "concat", _step(lambda e, c: torch.concat([e, c], 1), lambda n, o, c, a, e: torch.cat([n, c, e], 1))
        ),
        Alternative("tuple built late", _step(finish=lambda logits, new, old, w, a: [logits, new, w])),
    ),
    mistakes=(
        Mistake(
            "context from the state after",
            _step(features=lambda n, o, c, a, e: _cat(n, a, e), finish=lambda lo, n, o, w, a: (lo, n, a)),
            "attend was asked twice; logits and weights use the context of the new state, one step too late.",
            "call attend once, with the state you are given, and use its context in both places.",
        ),
        Mistake(
            "logits from the context after",
            _step(features=lambda n, o, c, a, e: _cat(n, a, e)),
            "the logits use the context of the new state, one step too late.",
            "use one context in both places: the one that attend gives for the state before the step.",
        ),
        Mistake(
            "weights from the state after",
            _step(finish=lambda lo, n, o, w, a: (lo, n, a)),
            "the weights of the new state are returned; they belong to the next step.",
            "return the weights that came with the context you used.",
        ),
        Mistake(
            "cell before attention",
            _context_after,
            "the cell ran before attend was asked, with zeros for the context.",
            "first attend(state), then the cell.",
        ),
        Mistake(
            "context in front of the embedding",
            _step(read=lambda e, c: _cat(c, e)),
            "the cell was given the context first, then the embedding.",
            "the cell reads the embedding first, then the context.",
        ),
        Mistake(
            "features in another order: context, state",
            _step(features=lambda n, o, c, a, e: _cat(c, n, e)),
            "the output's features in the order context, state, embedding.",
            "the order is: new state, context, embedding.",
        ),
        Mistake(
            "features in another order: state, embedding",
            _step(features=lambda n, o, c, a, e: _cat(n, e, c)),
            "the output's features in the order state, embedding, context.",
            "the order is: new state, context, embedding.",
        ),
        Mistake(
            "features in another order: embedding first",
            _step(features=lambda n, o, c, a, e: _cat(e, c, n)),
            "the output's features in the order embedding, context, state.",
            "the order is: new state, context, embedding.",
        ),
        Mistake(
            "features in another order: context, embedding",
            _step(features=lambda n, o, c, a, e: _cat(c, e, n)),
            "the output's features in the order context, embedding, state.",
            "the order is: new state, context, embedding.",
        ),
        Mistake(
            "features in another order: embedding, state",
            _step(features=lambda n, o, c, a, e: _cat(e, n, c)),
            "the output's features in the order embedding, state, context.",
            "the order is: new state, context, embedding.",
        ),
        Mistake(
            "logits from the old state",
            _step(features=lambda n, o, c, a, e: _cat(o, c, e)),
            "the logits use the state before the step; they do not know yet what the cell has read.",
            "use the new state in the features of the output.",
        ),
        Mistake(
            "old state returned",
            _step(finish=lambda lo, n, o, w, a: (lo, o, w)),
            "the state is returned as it came: the decoder would stand still.",
            "return what the cell gave.",
        ),
        Mistake(
            "state forgotten",
            _step(before=torch.zeros_like),
            "the cell started from zeros: what happened before is forgotten.",
            "give the cell the state as its second argument.",
        ),
        Mistake(
            "attended with zeros",
            _step(query=torch.zeros_like),
            "attend was asked with zeros in the place of the state.",
            "the query is the state before the step.",
        ),
        Mistake(
            "context left out of the cell",
            _step(read=lambda e, c: _cat(e, torch.zeros_like(c))),
            "the cell read zeros in the place of the context.",
            "join the embedding with the context that attend gives.",
        ),
        Mistake(
            "context left out of the output",
            _step(features=lambda n, o, c, a, e: _cat(n, torch.zeros_like(c), e)),
            "the logits were computed with zeros in the place of the context.",
            "the features of the output are new state, context and embedding.",
        ),
        Mistake(
            "embedding alone into the cell",
            _step(read=lambda e, c: e),
            "the cell was given the embedding alone; it expects the context beside it.",
            "join the two with torch.cat along the last axis.",
        ),
        Mistake(
            "state alone into the output",
            _step(features=lambda n, o, c, a, e: n),
            "the output was given the new state alone; it expects context and embedding beside it.",
            "join the three with torch.cat along the last axis.",
        ),
        Mistake(
            "softmax",
            _step(after=lambda logits: logits.softmax(-1)),
            "the logits went through a softmax.",
            "return them as the output layer gives them; the loss, or the decoding, does the rest.",
        ),
        Mistake(
            "log-softmax",
            _step(after=lambda logits: logits.log_softmax(-1)),
            "the logits went through a log-softmax.",
            "return them as the output layer gives them.",
        ),
        Mistake(
            "state first",
            _step(finish=lambda lo, n, o, w, a: (n, lo, w)),
            "the state and the logits in the other order.",
            "return logits, new state, weights.",
        ),
        Mistake(
            "weights forgotten",
            _step(finish=lambda lo, n, o, w, a: (lo, n)),
            "the weights are missing.",
            "return logits, new state, weights.",
        ),
    ),
    advice="write down which state each line uses: attend and cell get the old one, output the new one.",
)

# 3.3 ------------------------------------------------------------------------------------------------------------------


def _loss_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for lengths, L_s, V, pad_id in (((2,), 3, 5, 0), ((4, 2), 5, 8, 0), ((3, 6, 2), 4, 9, 7), ((1, 5), 6, 7, 4)):
        L_t = max(lengths) + 2  # between a start and an end symbol
        real = [token for token in range(V) if token != pad_id]
        start, end, symbols = real[-1], real[-2], torch.tensor(real[:-2])
        target = torch.full((len(lengths), L_t), pad_id)
        for row, length in enumerate(lengths):
            target[row, 0], target[row, length + 1] = start, end
            target[row, 1 : length + 1] = symbols[torch.randint(len(symbols), (length,), generator=rng)]
        target[0, 1] = symbols[0]  # 0 is an ordinary symbol wherever it is not the padding
        cases.append(
            {
                "source": torch.randint(1, 6, (len(lengths), L_s), generator=rng),
                "target": target,
                "pad_id": pad_id,
                "letters": torch.randn(6, 6, generator=rng),
                "sounds": torch.randn(V, 6, generator=rng),
                "output": torch.randn(6, V, generator=rng),
            }
        )
    return cases


def _call_loss(answer, case):
    """The loss, and the gradient that reaches the model's output layer."""
    output = case["output"].clone().requires_grad_()

    def model(source, prefix):
        past = torch.cumsum(case["sounds"][prefix], dim=1) / torch.arange(1, prefix.shape[1] + 1)[:, None].sqrt()
        return (past + case["letters"][source].mean(1, keepdim=True)) @ output  # (B, L, V); never looks ahead

    loss = answer(model, case["source"], case["target"], case["pad_id"])
    gradient = torch.zeros_like(output)
    if isinstance(loss, torch.Tensor) and loss.requires_grad and loss.numel() == 1:
        (found,) = torch.autograd.grad(loss.sum(), output, allow_unused=True)
        gradient = gradient if found is None else found
    return loss, gradient


def _mean(logits, target, pad_id):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad_id)


def _each(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target, reduction="none")  # (B, L)


def _mean_of_means(logits, target, pad_id):
    real = target != pad_id
    return ((_each(logits, target) * real).sum(1) / real.sum(1)).mean()


def _forced(loss=_mean, inside=lambda t: t[:, :-1], outside=lambda t: t[:, 1:], cut=lambda logits: logits):
    """The teacher-forced loss, with one of its parts exchanged."""

    def answer(model, source, target, pad_id):
        return loss(cut(model(source, inside(target))), outside(target), pad_id)

    return answer


def _own_choices(model, source, target, pad_id):
    prefix, logits = target[:, :1], []
    for _ in range(target.shape[1] - 1):
        logits.append(model(source, prefix)[:, -1])
        prefix = torch.cat((prefix, logits[-1].argmax(-1, keepdim=True)), dim=1)
    return _mean(torch.stack(logits, 1), target[:, 1:], pad_id)


def _real_inputs(model, source, target, pad_id):
    real = target[:, :-1] != pad_id
    return _each(model(source, target[:, :-1]), target[:, 1:])[real].mean()


def _start_counted(model, source, target, pad_id):
    right = target[:, 1:]
    losses = _each(model(source, target[:, :-1]), right) * (right != pad_id)
    return losses.sum() / (target != pad_id).sum()


def _forced_loop(model, source, target, pad_id):
    losses = []
    for b in range(len(target)):
        for t in range(1, target.shape[1]):
            if target[b, t] != pad_id:
                scores = model(source[b : b + 1], target[b : b + 1, :t])[0, -1]
                losses.append(-scores.log_softmax(-1)[target[b, t]])
    return torch.stack(losses).mean()


def _forced_gather(model, source, target, pad_id):
    log_probs = model(source, target[:, :-1]).log_softmax(-1)
    picked = -log_probs.gather(2, target[:, 1:, None])[..., 0]
    real = target[:, 1:] != pad_id
    return picked[real].mean()


_TWICE = (
    "a softmax before the loss: cross_entropy takes the softmax itself, so it was taken twice.",
    "give cross_entropy the logits as they are.",
)
_PADDING_COUNTS = (
    "the padding counts as if it were a symbol to be predicted.",
    "leave the positions out whose right answer is pad_id: ignore_index=pad_id.",
)

LOSS = Exercise(
    number="3.3",
    title="The teacher-forced loss",
    points=3,
    inputs=_loss_inputs,
    reference=_forced(),
    returns=("loss", "gradient"),
    off_limits=("course_utils.training.teacher_forced_loss", "course_utils.training.label_smoothing_loss"),
    call=_call_loss,
    alternatives=(
        Alternative("loop", _forced_loop),
        Alternative("gather", _forced_gather),
        Alternative(
            "flattened",
            _forced(lambda lo, t, p: F.cross_entropy(lo.flatten(0, 1), t.flatten(), ignore_index=p)),
        ),
        Alternative("whole target in, last logits cut", _forced(inside=lambda t: t, cut=lambda lo: lo[:, :-1])),
        Alternative("nll", _forced(lambda lo, t, p: F.nll_loss(lo.log_softmax(-1).transpose(1, 2), t, ignore_index=p))),
        Alternative("log-softmax twice", _forced(lambda lo, t, p: _mean(lo.log_softmax(-1), t, p))),
        Alternative("selected", _forced(lambda lo, t, p: F.cross_entropy(lo[t != p], t[t != p]))),
    ),
    mistakes=(
        Mistake(
            "not shifted",
            _forced(inside=lambda t: t, outside=lambda t: t),
            "the target goes in whole and is compared whole: each position is asked for the symbol it was given.",
            "feed target[:, :-1] and compare with target[:, 1:].",
        ),
        Mistake(
            "both without the last",
            _forced(outside=lambda t: t[:, :-1]),
            "the last symbol cut from both sides: each position is asked for the symbol it was given.",
            "compare with target[:, 1:], one symbol further.",
        ),
        Mistake(
            "both without the first",
            _forced(inside=lambda t: t[:, 1:]),
            "the first symbol cut from both sides: each position is asked for the symbol it was given.",
            "feed target[:, :-1], which begins with the start symbol.",
        ),
        Mistake(
            "shifted backwards",
            _forced(inside=lambda t: t[:, 1:], outside=lambda t: t[:, :-1]),
            "shifted the other way: each position is asked for the symbol before it.",
            "feed target[:, :-1] and compare with target[:, 1:].",
        ),
        Mistake(
            "last symbol left out",
            _forced(inside=lambda t: t[:, :-2], outside=lambda t: t[:, 1:-1]),
            "the last column is never predicted: the longest word of the batch does not learn to end.",
            "compare with target[:, 1:], end symbol included.",
        ),
        Mistake("padding counted", _forced(lambda lo, t, p: _each(lo, t).mean()), *_PADDING_COUNTS),
        Mistake(
            "padding always 0",
            _forced(lambda lo, t, p: _mean(lo, t, 0)),
            "the padding is taken to be 0, whatever pad_id says.",
            "pass ignore_index=pad_id.",
        ),
        Mistake(
            "padding zeroed, but counted",
            _forced(lambda lo, t, p: (_each(lo, t) * (t != p)).mean()),
            "the losses of the padding are 0, but the mean still divides by all positions.",
            "divide by the number of real positions, (target[:, 1:] != pad_id).sum().",
        ),
        Mistake(
            "mean of the words' means",
            _forced(_mean_of_means),
            "each word's mean first, then their mean: a symbol of a short word counts more than one of a long word.",
            "add up all losses and divide once by the number of real symbols.",
        ),
        Mistake(
            "sum",
            _forced(lambda lo, t, p: (_each(lo, t) * (t != p)).sum()),
            "the sum of all losses: it grows with the batch.",
            "divide by the number of real symbols.",
        ),
        Mistake(
            "divided by the batch size",
            _forced(lambda lo, t, p: (_each(lo, t) * (t != p)).sum() / len(t)),
            "the sum divided by the number of words.",
            "divide by the number of real symbols.",
        ),
        Mistake(
            "start symbol counted",
            _start_counted,
            "divided by the number of real symbols with the start symbols among them, which are never predicted.",
            "count the real symbols of target[:, 1:].",
        ),
        Mistake(
            "mask of the inputs",
            _real_inputs,
            "the padding looked for in what goes in: after each end symbol one padding is still predicted.",
            "look for padding in the right answers, target[:, 1:].",
        ),
        Mistake(
            "own choices fed back",
            _own_choices,
            "the model read its own choices, not the true symbols: that is decoding, not teacher forcing.",
            "give the model target[:, :-1], whatever it would have said.",
        ),
        Mistake("softmax first", _forced(lambda lo, t, p: _mean(lo.softmax(-1), t, p)), *_TWICE),
        Mistake(
            "reshape for transpose",
            _forced(lambda lo, t, p: F.cross_entropy(lo.reshape(len(t), lo.shape[-1], -1), t, ignore_index=p)),
            "the logits brought to (B, V, L) by reshape: the shape is right, the numbers stand in other places.",
            "use transpose(1, 2), or flatten both: logits.flatten(0, 1) and target[:, 1:].flatten().",
        ),
        Mistake(
            "sign lost",
            _forced(lambda lo, t, p: -_mean(lo, t, p)),
            "the loss with the wrong sign: training would make the right symbols less probable.",
            "the loss is minus the logarithm of the right symbol's probability.",
        ),
        Mistake(
            "no gradient",
            lambda model, source, target, pad_id: _forced()(model, source, target, pad_id).item(),
            "the value is right, but no gradient reaches the model (.item(), .detach() or no_grad cut it off).",
            "return the loss as a tensor with its graph; leave .item() to the line that prints.",
        ),
        Mistake(
            "one loss a position",
            _forced(lambda lo, t, p: F.cross_entropy(lo.transpose(1, 2), t, ignore_index=p, reduction="none")),
            "one loss for each position.",
            "return one number: their mean over the real positions.",
        ),
    ),
    advice="print target[:, :-1] above target[:, 1:]: in each column, the lower symbol is the answer to the upper one.",
)

# 3.4 ------------------------------------------------------------------------------------------------------------------


def _greedy_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for stops, V, special, max_len in (
        ((2,), 5, (1, 2, 0), 6),
        ((4, 2, 0), 8, (1, 2, 0), 9),
        ((1, 5, 3, 9), 9, (3, 7, 5), 6),
        ((6, 9), 7, (6, 0, 4), 5),
        ((0, 1), 7, (2, 4, 6), 8),
        ((4, 2, 0), 8, (1, 2, 0), 9),  # sizes seen before, other numbers
    ):
        start_id, end_id, pad_id = special
        B, steps = len(stops), max_len + 2
        table = torch.randn(B, steps, V, V, generator=rng)
        table[..., list(special)] -= 20.0  # nothing special, except at the chosen steps
        for row, stop in enumerate(stops):
            for again in {stop, stop + 2}:
                if again < steps:
                    table[row, again, :, end_id] += 60.0
        if B == 4:  # a model may choose padding or the start symbol: neither ends a row
            table[1, 2, :, pad_id] += 60.0
            table[3, 1, :, start_id] += 60.0
        cases.append(
            {
                "table": table,
                "state": torch.stack((torch.arange(B), torch.zeros(B, dtype=torch.long)), dim=1),  # row, steps made
                "start_id": start_id,
                "end_id": end_id,
                "pad_id": pad_id,
                "max_len": max_len,
            }
        )
    return cases


def _call_greedy(answer, case):
    table, calls = case["table"], []

    def step(tokens, state):
        calls.append(tokens)
        if len(calls) > (len(table) + 2) * case["max_len"]:  # enough for somebody who decodes row by row
            raise RuntimeError("step was called far more often than max_len allows; make at most max_len steps")
        scores = table[state[:, 0], state[:, 1].clamp(max=table.shape[1] - 1), tokens]  # (B, V)
        return scores, state + torch.tensor([0, 1])

    rest = [case[name] for name in ("start_id", "end_id", "pad_id", "max_len")]
    return answer(step, case["state"], *rest)


def _greedy(
    pick=lambda scores: scores.argmax(-1),
    first=lambda state, start_id: torch.full((len(state),), start_id),
    stop=lambda ended: ended.all(),
    pad=True,
    fill=lambda end_id, pad_id: pad_id,
    ends=lambda best, end_id, pad_id: best == end_id,
    feed=lambda first, new: new,
    advance=lambda old, new: new,
    extra=0,
    finish=lambda tokens, start_id, end_id, pad_id: tokens,
):
    """Greedy decoding, with one of its parts exchanged."""

    def answer(step, state, start_id, end_id, pad_id, max_len):
        tokens = begin = first(state, start_id)
        ended = torch.zeros(len(state), dtype=torch.bool)
        output = []
        for _ in range(max_len + extra):
            scores, after = step(tokens, state)
            state = advance(state, after)
            best = pick(scores)
            if pad:
                best = best.masked_fill(ended, fill(end_id, pad_id))
            output.append(best)
            ended = ended | ends(best, end_id, pad_id)
            tokens = feed(begin, best)
            if stop(ended):
                break
        return finish(torch.stack(output, dim=1), start_id, end_id, pad_id)

    return answer


def _greedy_row_by_row(step, state, start_id, end_id, pad_id, max_len):
    columns, tokens = [], [start_id] * len(state)
    ended = [False] * len(state)
    while len(columns) < max_len and not all(ended):
        scores, state = step(torch.tensor(tokens), state)
        tokens = [pad_id if done else row.index(max(row)) for row, done in zip(scores.tolist(), ended, strict=True)]
        ended = [done or token == end_id for done, token in zip(ended, tokens, strict=True)]
        columns.append(tokens)
    return torch.tensor(columns).T


def _greedy_trimmed(step, state, start_id, end_id, pad_id, max_len):
    """Run to the end, and cut afterwards."""
    tokens = _greedy(stop=lambda ended: False, pad=False)(step, state, start_id, end_id, pad_id, max_len)
    is_end = tokens == end_id
    after = (is_end.cumsum(1) - is_end.long()) > 0  # (B, max_len): an end stands before
    return tokens.masked_fill(after, pad_id)[:, ~after.all(0)]


def _greedy_each_alone(step, state, start_id, end_id, pad_id, max_len):
    rows = []
    for b in range(len(state)):
        tokens, own, row = torch.tensor([start_id]), state[b : b + 1], []
        while len(row) < max_len and end_id not in row:
            scores, own = step(tokens, own)
            tokens = scores.argmax(-1)
            row.append(tokens.item())
        rows.append(row)
    longest = max(map(len, rows))
    return torch.tensor([row + [pad_id] * (longest - len(row)) for row in rows])


def _greedy_shrinking(step, state, start_id, end_id, pad_id, max_len):
    """Rows that have ended are no longer asked."""
    output = torch.full((len(state), max_len), pad_id)
    alive, tokens, steps = torch.arange(len(state)), torch.full((len(state),), start_id), 0
    while steps < max_len and len(alive):
        scores, state = step(tokens, state)
        tokens = scores.argmax(-1)
        output[alive, steps] = tokens
        going = tokens != end_id
        alive, tokens, state, steps = alive[going], tokens[going], state[going], steps + 1
    return output[:, :steps]


def _special_ruled_out(step, state, start_id, end_id, pad_id, max_len):
    def without(tokens, state):
        scores, state = step(tokens, state)
        return scores.index_fill(1, torch.tensor([start_id, pad_id]), -math.inf), state

    return _greedy()(without, state, start_id, end_id, pad_id, max_len)


def _without_end(tokens, start_id, end_id, pad_id):
    return tokens.masked_fill(tokens == end_id, pad_id)


def _longest_by_count(step, state, start_id, end_id, pad_id, max_len):
    """Counts ends instead of remembering which rows have ended: a second end in one row counts for another row."""
    count, output, tokens = 0, [], torch.full((len(state),), start_id)
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(-1)
        output.append(tokens)
        count += int((tokens == end_id).sum())
        if count >= len(tokens):
            break
    return torch.stack(output, 1)


def _max_len_ignored(step, state, start_id, end_id, pad_id, max_len):
    return _greedy(extra=10_000)(step, state, start_id, end_id, pad_id, max_len)


def _not_remembered(step, state, start_id, end_id, pad_id, max_len):
    output, tokens = [], torch.full((len(state),), start_id)
    ended = torch.zeros(len(state), dtype=torch.bool)
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(-1).masked_fill(ended, pad_id)
        output.append(tokens)
        ended = tokens == end_id
        if ended.all():
            break
    return torch.stack(output, 1)


_END_IGNORED = (
    "the end symbol ignored: symbols follow behind it.",
    "remember which rows have ended, and give them pad_id from then on.",
)

GREEDY = Exercise(
    number="3.4",
    title="Greedy decoding with an end symbol",
    points=4,
    inputs=_greedy_inputs,
    reference=_greedy(),
    returns=("tokens",),
    off_limits=("course_utils.decoding.greedy_decode",),
    call=_call_greedy,
    alternatives=(
        Alternative("row by row", _greedy_row_by_row),
        Alternative("each row alone", _greedy_each_alone),
        Alternative("ended rows left out", _greedy_shrinking),
        Alternative("run to the end, cut afterwards", _greedy_trimmed),
        Alternative("argmax of the softmax", _greedy(lambda scores: scores.softmax(-1).argmax(-1))),
        Alternative("topk", _greedy(lambda scores: scores.topk(1).indices[:, 0])),
        Alternative("max", _greedy(lambda scores: scores.max(dim=-1).indices)),
    ),
    mistakes=(
        Mistake("end ignored", _greedy(stop=lambda ended: False, pad=False), *_END_IGNORED),
        Mistake(
            "not padded",
            _greedy(pad=False),
            "decoding stops when all rows have ended, but rows that ended earlier go on until then.",
            "give pad_id to rows that have ended.",
        ),
        Mistake(
            "ends counted",
            _longest_by_count,
            "the ends are counted over all rows; nothing remembers which row has ended.",
            "keep one boolean for each row, and give pad_id to rows that have ended.",
        ),
        Mistake(
            "ends not remembered",
            _not_remembered,
            "the record of which rows have ended is made anew at every step: a row gets one padding, then goes on.",
            "keep what is known: ended = ended | (tokens == end_id).",
        ),
        Mistake(
            "padding ends a row too",
            _greedy(ends=lambda best, end_id, pad_id: (best == end_id) | (best == pad_id)),
            "padding that the model itself chose was taken for the end of the row.",
            "only end_id ends a row: keep what is known, ended = ended | (tokens == end_id).",
        ),
        Mistake(
            "special symbols ruled out",
            _special_ruled_out,
            "pad_id and start_id can never be chosen: their scores are not looked at.",
            "take the symbol with the highest score, whichever it is.",
        ),
        Mistake(
            "max_len ignored",
            _max_len_ignored,
            "max_len is not looked at: a row that never ends keeps the loop running.",
            "make at most max_len steps: for _ in range(max_len).",
        ),
        Mistake(
            "never stops early",
            _greedy(stop=lambda ended: False),
            "rows that have ended get padding, but the loop always runs to max_len.",
            "stop when all rows have ended.",
        ),
        Mistake(
            "stops at the first end",
            _greedy(stop=lambda ended: ended.any()),
            "decoding stops as soon as one row has ended; the others are cut off.",
            "stop when all rows have ended: ended.all().",
        ),
        Mistake(
            "end symbol taken away",
            _greedy(finish=_without_end),
            "the end symbol is replaced by padding too.",
            "keep the end symbol; the padding begins behind it.",
        ),
        Mistake(
            "rows filled with the end symbol",
            _greedy(fill=lambda end_id, pad_id: end_id),
            "rows that have ended are filled with the end symbol.",
            "fill them with pad_id.",
        ),
        Mistake(
            "start symbol kept",
            _greedy(finish=lambda t, s, e, p: torch.cat((torch.full((len(t), 1), s), t), 1)),
            "the start symbol stands in front of the result.",
            "return what the model chose only.",
        ),
        Mistake(
            "start symbol kept, one symbol short",
            _greedy(extra=-1, finish=lambda t, s, e, p: torch.cat((torch.full((len(t), 1), s), t), 1)),
            "the start symbol stands in front of the result, and counts toward max_len.",
            "return what the model chose only, at most max_len symbols.",
        ),
        Mistake(
            "choice not fed back",
            _greedy(feed=lambda first, new: first),
            "every step was given the start symbol: the model does not know what it has said.",
            "give the chosen symbols to the next step.",
        ),
        Mistake(
            "state not kept",
            _greedy(advance=lambda old, new: old),
            "every step began from the first state.",
            "pass the state that step hands back to the next call.",
        ),
        Mistake(
            "begins with the end symbol",
            lambda step, state, s, e, p, n: _greedy(first=lambda st, _: torch.full((len(st),), e))(
                step, state, s, e, p, n
            ),
            "the first step was given the end symbol.",
            "the first step is given start_id.",
        ),
        Mistake(
            "begins with padding",
            lambda step, state, s, e, p, n: _greedy(first=lambda st, _: torch.full((len(st),), p))(
                step, state, s, e, p, n
            ),
            "the first step was given padding.",
            "the first step is given start_id.",
        ),
        Mistake(
            "one step too many",
            _greedy(extra=1),
            "a result may hold max_len + 1 symbols.",
            "make at most max_len steps.",
        ),
        Mistake(
            "one step too few",
            _greedy(extra=-1),
            "a result holds at most max_len - 1 symbols.",
            "make up to max_len steps.",
        ),
        Mistake(
            "least probable",
            _greedy(lambda scores: scores.argmin(-1)),
            "the symbol with the lowest score was taken.",
            "use argmax.",
        ),
        Mistake(
            "one row's choice for all",
            _greedy(lambda scores: scores[0].argmax(-1).expand(len(scores))),
            "the first row's choice was given to every row.",
            "take the argmax along the last axis: one choice for each row.",
        ),
        Mistake(
            "transposed",
            _greedy(finish=lambda t, s, e, p: t.T),
            "rows and columns exchanged: (L_out, B).",
            "stack the steps along dim=1.",
        ),
    ),
    advice="follow one row by hand: print the chosen symbols and your record of which rows have ended, step by step.",
)

# 3.5 ------------------------------------------------------------------------------------------------------------------

_SOUNDS = ("AA", "B", "CH", "D", "EH", "F", "G", "IY", "K", "L", "M", "N", "OW", "P")


def _error_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    example = {"hypotheses": [["R", "IY", "D"], ["AH"]], "references": [[["R", "EH", "D"], ["R", "IY", "D"]], [["EY"]]]}
    longer = {  # near in share is not near in edits; the nearest is neither first nor shortest nor longest
        "hypotheses": [["N", "EY", "SH", "AH", "N"], ["K", "AE", "T", "S"], []],
        "references": [
            [["N", "AE", "SH"], ["N", "EY", "SH", "N"], ["N", "AE", "SH", "AH", "N", "AH", "L"]],
            [["K", "AE", "T"]],
            [["AH", "V"]],
        ],
    }
    by_share = {  # 2 edits of 3 symbols; 3 edits of 8: the first is nearer, though its share is larger
        "hypotheses": [["B", "D", "F", "G", "K"], ["L", "M"]],
        "references": [[["D", "F", "G"], ["B", "D", "F", "G", "K", "L", "M", "N"]], [["L", "IY", "M"], ["P"]]],
    }
    too_long = {
        "hypotheses": [["P", "L", "M", "G", "B"], ["D", "F", "G"]],
        "references": [[["OW"]], [["D", "EH", "G"]]],
    }
    return [example, longer, by_share, too_long, _drawn(rng, 5), _drawn(rng, 7)]


def _drawn(rng, words):
    """Random words with one pronunciation that is nearer than the others, so that ties decide nothing."""
    hypotheses, references = [], []
    for _ in range(words):
        length, others, place = (int(torch.randint(*ends, (), generator=rng)) for ends in ((3, 9), (0, 3), (0, 3)))
        truth = _random_sounds(rng, length)
        hypothesis = [*truth[:-1], "ZH"] if length % 2 else [*truth, *_random_sounds(rng, 2)]
        accepted = [_far(rng, hypothesis, edit_distance(hypothesis, truth)) for _ in range(others)]
        accepted.insert(min(place, others), truth)
        hypotheses.append(hypothesis)
        references.append(accepted)
    return {"hypotheses": hypotheses, "references": references}


def _random_sounds(rng, length):
    return [_SOUNDS[i] for i in torch.randint(len(_SOUNDS), (length,), generator=rng).tolist()]


def _far(rng, hypothesis, nearest):
    while True:
        found = _random_sounds(rng, int(torch.randint(2, 8, (), generator=rng)))
        if edit_distance(hypothesis, found) > nearest:
            return found


def _nearest(hypothesis, accepted):
    return min(accepted, key=lambda reference: edit_distance(hypothesis, reference))


def _per(
    choose=_nearest,
    distance=edit_distance,
    length=lambda h, chosen, accepted: len(chosen),
    finish=lambda edits, lengths: sum(edits) / sum(lengths),
):
    """Phoneme error rate, with one of its parts exchanged."""

    def answer(hypotheses, references):
        edits, lengths = [], []
        for hypothesis, accepted in zip(hypotheses, references, strict=True):
            chosen = choose(hypothesis, accepted)
            edits.append(distance(hypothesis, chosen))
            lengths.append(length(hypothesis, chosen, accepted))
        return finish(edits, lengths)

    return answer


def _per_loop(hypotheses, references):
    edits = length = 0
    for i in range(len(hypotheses)):
        best = None
        for reference in references[i]:
            distance = edit_distance(reference, hypotheses[i])
            if best is None or distance <= best[0]:
                best = (distance, len(reference))
        edits, length = edits + best[0], length + best[1]
    return edits / length


def _by_position(hypothesis, reference):
    return sum(a != b for a, b in zip(hypothesis, reference, strict=False)) + abs(len(hypothesis) - len(reference))


def _bag(hypothesis, reference):
    return len(set(hypothesis) ^ set(reference))


def _all_accepted(hypotheses, references):
    edits = [sum(edit_distance(h, r) for r in accepted) for h, accepted in zip(hypotheses, references, strict=True)]
    return sum(edits) / sum(len(r) for accepted in references for r in accepted)


def _share(edits, length):
    return edits / length if length else float(edits)


def _per_word(edits, lengths):
    return sum(e / n for e, n in zip(edits, lengths, strict=True)) / len(edits)


def _by_hypothesis_per_word(edits, lengths):
    return sum(map(_share, edits, lengths)) / len(edits)


PER = Exercise(
    number="3.5",
    title="Phoneme error rate with several accepted pronunciations",
    points=4,
    inputs=_error_inputs,
    reference=metrics.phoneme_error_rate,
    returns=("rate",),
    off_limits=("course_utils.metrics.phoneme_error_rate", "course_utils.metrics.word_error_rate"),
    alternatives=(
        Alternative("loop", _per_loop),
        Alternative("two sums", _per()),
        Alternative("pairs", lambda h, r: math.fsum(p[0] for p in _pairs(h, r)) / sum(p[1] for p in _pairs(h, r))),
        Alternative("as a tensor", lambda h, r: torch.tensor(_per()(h, r))),
        Alternative("the course's own", lambda h, r: metrics.phoneme_error_rate(h, r), off_limits=True),
    ),
    mistakes=(
        Mistake(
            "divided by the hypothesis",
            _per(length=lambda h, chosen, a: len(h)),
            "the edits divided by the length of the hypotheses: saying more lowers the rate.",
            "divide by the length of the nearest accepted pronunciations.",
        ),
        Mistake(
            "divided by the hypothesis, word by word",
            _per(length=lambda h, chosen, a: len(h), finish=_by_hypothesis_per_word),
            "each word's edits divided by the length of its hypothesis, then averaged.",
            "add up all edits, add up the lengths of the nearest pronunciations, divide once.",
        ),
        Mistake(
            "divided by the hypothesis, word by word, unguarded",
            _per(length=lambda h, c, a: len(h), finish=_per_word),
            "each word's edits divided by the length of its hypothesis: one that says nothing divides by zero.",
            "add up all edits, add up the lengths of the nearest pronunciations, divide once.",
        ),
        Mistake(
            "averaged per word",
            _per(finish=_per_word),
            "each word's rate first, then their mean: a sound of a short word counts more than one of a long word.",
            "add up all edits, add up all lengths, divide once.",
        ),
        Mistake(
            "divided by the number of words",
            _per(finish=lambda edits, lengths: sum(edits) / len(edits)),
            "the edits divided by the number of words: edits per word.",
            "divide by the number of phonemes of the nearest pronunciations.",
        ),
        Mistake(
            "divided by the longer of the two",
            _per(length=lambda h, chosen, a: max(len(h), len(chosen))),
            "divided by the longer of hypothesis and pronunciation.",
            "divide by the length of the pronunciation alone.",
        ),
        Mistake(
            "first pronunciation only",
            _per(choose=lambda h, accepted: accepted[0]),
            "only the first accepted pronunciation was looked at.",
            "take the nearest of them, the one with the fewest edits.",
        ),
        Mistake(
            "last pronunciation only",
            _per(choose=lambda h, accepted: accepted[-1]),
            "only the last accepted pronunciation was looked at.",
            "take the nearest of them, the one with the fewest edits.",
        ),
        Mistake(
            "farthest pronunciation",
            _per(choose=lambda h, accepted: max(accepted, key=lambda r: edit_distance(h, r))),
            "the farthest pronunciation was taken.",
            "take the nearest: min, not max.",
        ),
        Mistake(
            "all pronunciations together",
            _all_accepted,
            "the edits to all accepted pronunciations were added up.",
            "one of them is enough: take the nearest.",
        ),
        Mistake(
            "length of the first",
            _per(length=lambda h, chosen, accepted: len(accepted[0])),
            "the edits to the nearest, but the length of the first pronunciation.",
            "use the length of the pronunciation whose edits you count.",
        ),
        Mistake(
            "length of the longest",
            _per(length=lambda h, chosen, accepted: max(map(len, accepted))),
            "the edits to the nearest, but the length of the longest pronunciation.",
            "use the length of the pronunciation whose edits you count.",
        ),
        Mistake(
            "length of all",
            _per(length=lambda h, chosen, accepted: sum(map(len, accepted))),
            "the edits to the nearest, but the lengths of all accepted pronunciations together.",
            "use the length of the pronunciation whose edits you count.",
        ),
        Mistake(
            "nearest by share",
            _per(choose=lambda h, accepted: min(accepted, key=lambda r: edit_distance(h, r) / len(r))),
            "the pronunciation with the lowest rate was taken; the task says: with the fewest edits.",
            "choose by edit_distance alone, then count its length.",
        ),
        Mistake(
            "shortest pronunciation",
            _per(choose=lambda h, accepted: min(accepted, key=len)),
            "the shortest pronunciation was taken.",
            "take the nearest, the one with the fewest edits.",
        ),
        Mistake(
            "position by position",
            _per(distance=_by_position),
            "symbols compared position by position: one symbol missing makes all that follow wrong.",
            "use edit_distance.",
        ),
        Mistake(
            "order ignored",
            _per(distance=_bag),
            "the sets of symbols compared; their order and number are lost.",
            "use edit_distance.",
        ),
        Mistake(
            "words instead of phonemes",
            lambda h, r: metrics.word_error_rate(h, r),
            "the share of words with an error: the word error rate.",
            "count edits, and divide by phonemes.",
        ),
        Mistake(
            "accuracy",
            lambda h, r: 1 - _per()(h, r),
            "1 minus the rate: the share that is right.",
            "return the rate of errors itself.",
        ),
        Mistake(
            "percent",
            lambda h, r: 100 * _per()(h, r),
            "the rate in percent.",
            "return a fraction; 1 means as many edits as phonemes.",
        ),
        Mistake(
            "cut at 1",
            lambda h, r: sum(min(e, n) for e, n in _pairs(h, r)) / sum(n for _, n in _pairs(h, r)),
            "the edits of a word cut off at its length.",
            "a word may need more edits than it has phonemes; count them all.",
        ),
        Mistake(
            "rounded",
            lambda h, r: sum(e for e, _ in _pairs(h, r)) // sum(n for _, n in _pairs(h, r)),
            "a whole-number division: the rest is thrown away.",
            "divide with /.",
        ),
        Mistake(
            "pair returned",
            lambda h, r: (sum(e for e, _ in _pairs(h, r)), sum(n for _, n in _pairs(h, r))),
            "the two totals, not yet divided.",
            "return edits divided by phonemes.",
        ),
    ),
    advice="work the example of the task by hand: nearest pronunciations, their edits, their lengths; then one division.",
)


def _pairs(hypotheses, references):
    chosen = [_nearest(h, accepted) for h, accepted in zip(hypotheses, references, strict=True)]
    return [(edit_distance(h, c), len(c)) for h, c in zip(hypotheses, chosen, strict=True)]


# 3.6 ------------------------------------------------------------------------------------------------------------------


def _bug_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L_t, L_s, d_embed, d_state, d_enc in (
        (1, 2, 3, 1, 2, 3),
        (2, 5, 7, 4, 6, 8),
        (3, 4, 6, 7, 5, 3),
        (2, 1, 4, 3, 8, 5),
        (2, 5, 7, 4, 6, 8),  # sizes seen before, other numbers
    ):
        d_in = d_embed + d_enc
        cases.append(
            {
                "embedded": torch.randn(B, L_t, d_embed, generator=rng),
                "state": torch.randn(B, d_state, generator=rng),
                "encoded": torch.randn(B, L_s, d_enc, generator=rng),
                "W_att": torch.randn(d_state, d_enc, generator=rng),
                "W_ih": torch.randn(3 * d_state, d_in, generator=rng) / d_in**0.5,
                "W_hh": torch.randn(3 * d_state, d_state, generator=rng) / d_state**0.5,
                "bias": 0.3 * torch.randn(3 * d_state, generator=rng),
                "W_out": torch.zeros(1, 1),
                "b_out": torch.zeros(1),
            }
        )
    return cases


def _call_bug(answer, case):
    attend, cell, _ = _parts_of(case)
    return answer(case["embedded"], case["state"], attend, cell)


def _decode(
    query=lambda before, first, older: before,
    read=lambda e, c: _cat(e, c),
    kept=lambda new, old, now, after: (new, now[0], now[1]),
    at=lambda t, length: t,
    before=lambda state, first: state,
    finish=lambda states, contexts, weights: (_cat(states, contexts), weights),
):
    """A decoder that is given its input symbols, with one of its parts exchanged."""

    def answer(embedded, state, attend, cell):
        first = older = state
        rows = []
        for t in range(embedded.shape[1]):
            now = attend(query(state, first, older))
            new = cell(read(embedded[:, at(t, embedded.shape[1])], now[0]), before(state, first))
            rows.append(kept(new, state, now, attend(new)))
            older, state = state, new
        return finish(*(torch.stack(part, dim=1) for part in zip(*rows, strict=True)))

    return answer


def _decode_as_it_was(embedded, state, attend, cell):
    context = torch.zeros_like(attend(state)[0])
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        state = cell(_cat(embedded[:, t], context), state)
        context, weights = attend(state)
        features.append(_cat(state, context))
        all_weights.append(weights)
    return torch.stack(features, 1), torch.stack(all_weights, 1)


def _decode_recursive(embedded, state, attend, cell):
    context, weights = attend(state)
    state = cell(_cat(embedded[:, 0], context), state)
    features, weights = _cat(state, context)[:, None], weights[:, None]
    if embedded.shape[1] == 1:
        return features, weights
    rest = _decode_recursive(embedded[:, 1:], state, attend, cell)
    return torch.cat((features, rest[0]), 1), torch.cat((weights, rest[1]), 1)


def _decode_carried(embedded, state, attend, cell):
    """The context is computed ahead of its step, at the end of the one before."""
    context, weights = attend(state)
    features, all_weights = [], []
    for symbol in embedded.unbind(1):
        state = cell(_cat(symbol, context), state)
        features.append(_cat(state, context))
        all_weights.append(weights)
        context, weights = attend(state)
    return torch.stack(features, 1), torch.stack(all_weights, 1)


def _stale(embedded, state, attend, cell):
    """The cell reads the context of the step before."""
    context, _ = attend(state)
    features, all_weights = [], []
    for t in range(embedded.shape[1]):
        new = cell(_cat(embedded[:, t], context), state)
        context, weights = attend(state)
        features.append(_cat(new, context))
        all_weights.append(weights)
        state = new
    return torch.stack(features, 1), torch.stack(all_weights, 1)


BUG = Exercise(
    number="3.6",
    title="Find the bug",
    points=3,
    inputs=_bug_inputs,
    reference=_decode(),
    returns=("features", "weights"),
    call=_call_bug,
    alternatives=(
        Alternative("recursive", _decode_recursive),
        Alternative("context carried over", _decode_carried),
        Alternative("loop over symbols", _decode(finish=lambda s, c, w: (torch.cat([s, c], 2), w))),
    ),
    mistakes=(
        Mistake(
            "as it was",
            _decode_as_it_was,
            "the function as it was: attend is asked after the cell, so row t holds the context of step t + 1.",
            "ask attend first, with the state before the step, and give its context to the cell.",
        ),
        Mistake(
            "first context mended only",
            _decode(kept=lambda new, old, now, after: (new, after[0], after[1])),
            "the cell now reads the right context, but features and weights still hold that of the next step.",
            "keep the context that the cell has read, and its weights.",
        ),
        Mistake(
            "weights still late",
            _decode(kept=lambda new, old, now, after: (new, now[0], after[1])),
            "the features are right, the weights are those of the next step.",
            "keep the weights that came with the context you used.",
        ),
        Mistake(
            "context still late",
            _decode(kept=lambda new, old, now, after: (new, after[0], now[1])),
            "the weights are right, but the features hold the context of the next step.",
            "keep the context that came with these weights.",
        ),
        Mistake(
            "cell reads an old context",
            _stale,
            "attend is asked with the right state, but after the cell, which reads the context of the step before.",
            "call attend before the cell, inside the loop.",
        ),
        Mistake(
            "always the first state",
            _decode(query=lambda before, first, older: first),
            "attend is asked with the first state at every step, so all rows of weights are alike.",
            "ask with the state before this step: move the call into the loop.",
        ),
        Mistake(
            "one state too old",
            _decode(query=lambda before, first, older: older),
            "attend is asked with the state from one step further back.",
            "ask with the state right before this step.",
        ),
        Mistake(
            "features with the old state",
            _decode(kept=lambda new, old, now, after: (old, now[0], now[1])),
            "the features hold the state before the step.",
            "they hold the state that the cell gives.",
        ),
        Mistake(
            "state not carried on",
            _decode(before=lambda state, first: first),
            "the cell starts from the first state at every step.",
            "give the cell the state of the step before.",
        ),
        Mistake(
            "cell without context",
            _decode(read=lambda e, c: _cat(e, torch.zeros_like(c))),
            "the cell reads zeros in the place of the context.",
            "give it the context of this step.",
        ),
        Mistake(
            "context in front of the embedding",
            _decode(read=lambda e, c: _cat(c, e)),
            "the cell is given the context first, then the embedding.",
            "leave that order as it was: embedding, context.",
        ),
        Mistake(
            "context in front of the state",
            _decode(finish=lambda s, c, w: (_cat(c, s), w)),
            "the features hold the context first, then the state.",
            "leave that order as it was: state, context.",
        ),
        Mistake(
            "same symbol at every step",
            _decode(at=lambda t, length: 0),
            "every step reads the first symbol.",
            "step t reads embedded[:, t].",
        ),
        Mistake(
            "weights shifted afterwards",
            lambda e, s, attend, cell: (
                (found := _decode_as_it_was(e, s, attend, cell))[0],
                torch.cat((attend(s)[1][:, None], found[1][:, :-1]), 1),
            ),
            "the rows of weights moved down by one; the features are as wrong as before.",
            "mend the order inside the loop: attend first, then the cell.",
        ),
        Mistake(
            "features only",
            _decode(finish=lambda s, c, w: _cat(s, c)),
            "the features alone.",
            "return two things: the features, and the weights.",
        ),
        Mistake(
            "stacked along the batch",
            _decode(finish=lambda s, c, w: (_cat(s, c).transpose(0, 1), w.transpose(0, 1))),
            "the steps stacked along the first axis: (L_t, B, ...).",
            "stack them along dim=1.",
        ),
    ),
    advice="write the index beside each line: c_t from s_{t-1}; s_t from c_t and s_{t-1}; then row t of the features.",
)

# 3.7, 3.8 -------------------------------------------------------------------------------------------------------------

ROLES = Quiz(
    number="3.7",
    title="Who asks whom",
    points=1,
    right="c",
    options={
        "a": Option(
            "The query is the embedding of the next sound, the keys and values are the letters' embeddings.",
            "the next sound is not known yet: it is what the step is to find.",
        ),
        "b": Option(
            "The query is the encoder's last state, the keys and values are the decoder's states.",
            "that is turned around: the encoder has finished reading, and it is the decoder that asks.",
        ),
        "c": Option(
            "The query is the decoder's state before the step, the keys and values are the encoder's states.",
            "the decoder asks with what it knows so far; every letter answers with a key and offers its state as value.",
        ),
        "d": Option(
            "The query is the decoder's state after the step, the keys and values are the encoder's states.",
            "in this model the state after the step is computed from the context, so it comes too late to ask for it.",
        ),
    },
)

FORCED = Quiz(
    number="3.8",
    title="Alone for the first time",
    points=1,
    right="b",
    options={
        "a": Option(
            "Its loss was not the cross-entropy.",
            "any loss that is computed under teacher forcing has this gap: it is about what the decoder reads.",
        ),
        "b": Option(
            "In training it always read the true previous sounds; now it reads its own, and has never seen its errors.",
            "after one wrong sound the decoder is in a place where training never took it.",
        ),
        "c": Option(
            "Greedy decoding takes the least probable symbol.",
            "it takes the most probable one at each step. Beam search (lesson 11) may find better ones, but that is another gap.",
        ),
        "d": Option(
            "Attention cannot be used without the true sounds.",
            "attention needs the decoder's state only, and that is there whoever chose the last sound.",
        ),
    },
)

EXERCISES = (ATTENTION, STEP, LOSS, GREEDY, PER, BUG, ROLES, FORCED)

"""Answers that the first tables of lesson 03 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import math
import torch
import torch.nn.functional as F
from course_utils import metrics
from course_utils.metrics import edit_distance
from . import Answers, Right, Wrong


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
    contexts, rows = ([], [])
    for b in range(len(state)):
        real = [j for j in range(encoded.shape[1]) if mask[b, j]]
        scores = torch.stack([w_v @ torch.tanh(W_q @ state[b] + W_k @ encoded[b, j]) for j in real])
        row = torch.zeros(encoded.shape[1], dtype=encoded.dtype)
        row[real] = torch.softmax(scores, 0)
        rows.append(row)
        contexts.append(row @ encoded[b])
    return (torch.stack(contexts), torch.stack(rows))


def _attend_matmul(state, encoded, W_q, W_k, w_v, mask):
    hidden = torch.tanh(F.linear(state, W_q).unsqueeze(1) + F.linear(encoded, W_k))
    scores = (hidden * w_v).sum(-1)
    weights = torch.where(mask, scores, torch.tensor(-1000000000.0)).softmax(-1)
    return ((weights[:, None] @ encoded).squeeze(1), weights)


def _by_library(state, encoded, W_q, W_k, w_v, mask):
    from course_utils.attention import AdditiveAttention

    layer = AdditiveAttention(W_q.shape[1], W_k.shape[1], len(w_v))
    layer.load_state_dict({"q_proj.weight": W_q, "k_proj.weight": W_k, "v_proj.weight": w_v[None]})
    context, weights = layer(state[:, None], encoded, encoded, mask[:, None])
    return (context[:, 0], weights[:, 0])


ATTENTION = Answers(
    number="3.1",
    alternatives=(
        Right("loop", _attend_loop),
        Right("matrix product and where", _attend_matmul),
        Right("fill value -1e9", _attend(lambda s, m: _fill(s, m, -1000000000.0))),
        Right("smallest number", _attend(_masked_minimum)),
        Right(
            "minus infinity added", _attend(lambda s, m: (s + torch.zeros(m.shape).masked_fill(~m, -1e30)).softmax(-1))
        ),
        Right("the course's own", _by_library, off_limits=True),
    ),
    mistakes=(
        Wrong("mask after the softmax", _attend(_afterwards)),
        Wrong(
            "masked after the softmax, divided by the sum",
            _attend(lambda s, m: _afterwards(s, m) / _afterwards(s, m).sum(-1, keepdim=True)),
        ),
        Wrong("exponentials by hand", _attend(lambda s, m: s.exp() * m / (s.exp() * m).sum(-1, keepdim=True))),
        Wrong("no mask", _attend(lambda s, m: torch.softmax(s, -1))),
        Wrong("polarity inverted", _attend(lambda s, m: _fill(s, ~m))),
        Wrong("scores of padding set to 0", _attend(lambda s, m: _fill(s, m, 0.0))),
        Wrong("fill value not low enough", _attend(lambda s, m: _fill(s, m, -20.0))),
        Wrong("mask of the first item for all", _attend(lambda s, m: _fill(s, m[:1].expand_as(m)))),
        Wrong(
            "encoder states zeroed", _attend(lambda s, m: torch.softmax(s, -1), values=lambda e, k, m: e * m[..., None])
        ),
        Wrong("no tanh", _attend(squash=lambda x: x)),
        Wrong("sigmoid for tanh", _attend(squash=torch.sigmoid)),
        Wrong("relu for tanh", _attend(squash=torch.relu)),
        Wrong("product for sum", _attend(join=lambda q, k: q[:, None] * k)),
        Wrong("state left out", _attend(join=lambda q, k: k)),
        Wrong("w_v left out", _attend(score=lambda hidden, w_v: hidden.sum(-1))),
        Wrong("scores divided by the root", _attend(score=lambda hidden, w_v: hidden @ w_v / len(w_v) ** 0.5)),
        Wrong("tanh of the scores", _attend(score=lambda hidden, w_v: torch.tanh(hidden @ w_v))),
        Wrong("softmax over the batch", _attend(lambda s, m: torch.softmax(s.masked_fill(~m, -1000000000.0), dim=0))),
        Wrong(
            "hard maximum",
            _attend(lambda s, m: F.one_hot(s.masked_fill(~m, -math.inf).argmax(-1), s.shape[-1]).to(s.dtype)),
        ),
        Wrong("not normalized", _attend(lambda s, m: s.exp() * m)),
        Wrong("sigmoid for softmax", _attend(lambda s, m: torch.sigmoid(s.masked_fill(~m, -math.inf)))),
        Wrong("projected states averaged", _attend(values=lambda e, keys, m: keys)),
        Wrong("mean over the letters", _attend(finish=lambda c, w: (c / w.shape[-1], w))),
        Wrong("weights before context", _attend(finish=lambda c, w: (w, c))),
        Wrong("axis left over", _attend(finish=lambda c, w: (c[:, None], w))),
        Wrong("both axes left over", _attend(finish=lambda c, w: (c[:, None], w[:, None]))),
        Wrong("context only", _attend(finish=lambda c, w: c)),
    ),
)


def _cat(*parts):
    return torch.cat(parts, dim=-1)


def _mean(logits, target, pad_id):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad_id)


def _each(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target, reduction="none")


def _mean_of_means(logits, target, pad_id):
    real = target != pad_id
    return ((_each(logits, target) * real).sum(1) / real.sum(1)).mean()


def _forced(loss=_mean, inside=lambda t: t[:, :-1], outside=lambda t: t[:, 1:], cut=lambda logits: logits):
    """The teacher-forced loss, with one of its parts exchanged."""

    def answer(model, source, target, pad_id):
        return loss(cut(model(source, inside(target))), outside(target), pad_id)

    return answer


def _own_choices(model, source, target, pad_id):
    prefix, logits = (target[:, :1], [])
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


LOSS = Answers(
    number="3.3",
    alternatives=(
        Right("loop", _forced_loop),
        Right("gather", _forced_gather),
        Right("flattened", _forced(lambda lo, t, p: F.cross_entropy(lo.flatten(0, 1), t.flatten(), ignore_index=p))),
        Right("whole target in, last logits cut", _forced(inside=lambda t: t, cut=lambda lo: lo[:, :-1])),
        Right("nll", _forced(lambda lo, t, p: F.nll_loss(lo.log_softmax(-1).transpose(1, 2), t, ignore_index=p))),
        Right("log-softmax twice", _forced(lambda lo, t, p: _mean(lo.log_softmax(-1), t, p))),
        Right("selected", _forced(lambda lo, t, p: F.cross_entropy(lo[t != p], t[t != p]))),
    ),
    mistakes=(
        Wrong("not shifted", _forced(inside=lambda t: t, outside=lambda t: t)),
        Wrong("both without the last", _forced(outside=lambda t: t[:, :-1])),
        Wrong("both without the first", _forced(inside=lambda t: t[:, 1:])),
        Wrong("shifted backwards", _forced(inside=lambda t: t[:, 1:], outside=lambda t: t[:, :-1])),
        Wrong("last symbol left out", _forced(inside=lambda t: t[:, :-2], outside=lambda t: t[:, 1:-1])),
        Wrong("padding counted", _forced(lambda lo, t, p: _each(lo, t).mean())),
        Wrong("padding always 0", _forced(lambda lo, t, p: _mean(lo, t, 0))),
        Wrong("padding zeroed, but counted", _forced(lambda lo, t, p: (_each(lo, t) * (t != p)).mean())),
        Wrong("mean of the words' means", _forced(_mean_of_means)),
        Wrong("sum", _forced(lambda lo, t, p: (_each(lo, t) * (t != p)).sum())),
        Wrong("divided by the batch size", _forced(lambda lo, t, p: (_each(lo, t) * (t != p)).sum() / len(t))),
        Wrong("start symbol counted", _start_counted),
        Wrong("mask of the inputs", _real_inputs),
        Wrong("own choices fed back", _own_choices),
        Wrong("softmax first", _forced(lambda lo, t, p: _mean(lo.softmax(-1), t, p))),
        Wrong(
            "reshape for transpose",
            _forced(lambda lo, t, p: F.cross_entropy(lo.reshape(len(t), lo.shape[-1], -1), t, ignore_index=p)),
        ),
        Wrong("sign lost", _forced(lambda lo, t, p: -_mean(lo, t, p))),
        Wrong("no gradient", lambda model, source, target, pad_id: _forced()(model, source, target, pad_id).item()),
        Wrong(
            "one loss a position",
            _forced(lambda lo, t, p: F.cross_entropy(lo.transpose(1, 2), t, ignore_index=p, reduction="none")),
        ),
    ),
)


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
    columns, tokens = ([], [start_id] * len(state))
    ended = [False] * len(state)
    while len(columns) < max_len and (not all(ended)):
        scores, state = step(torch.tensor(tokens), state)
        tokens = [pad_id if done else row.index(max(row)) for row, done in zip(scores.tolist(), ended, strict=True)]
        ended = [done or token == end_id for done, token in zip(ended, tokens, strict=True)]
        columns.append(tokens)
    return torch.tensor(columns).T


def _greedy_trimmed(step, state, start_id, end_id, pad_id, max_len):
    """Run to the end, and cut afterwards."""
    tokens = _greedy(stop=lambda ended: False, pad=False)(step, state, start_id, end_id, pad_id, max_len)
    is_end = tokens == end_id
    after = is_end.cumsum(1) - is_end.long() > 0
    return tokens.masked_fill(after, pad_id)[:, ~after.all(0)]


def _greedy_each_alone(step, state, start_id, end_id, pad_id, max_len):
    rows = []
    for b in range(len(state)):
        tokens, own, row = (torch.tensor([start_id]), state[b : b + 1], [])
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
    alive, tokens, steps = (torch.arange(len(state)), torch.full((len(state),), start_id), 0)
    while steps < max_len and len(alive):
        scores, state = step(tokens, state)
        tokens = scores.argmax(-1)
        output[alive, steps] = tokens
        going = tokens != end_id
        alive, tokens, state, steps = (alive[going], tokens[going], state[going], steps + 1)
    return output[:, :steps]


def _special_ruled_out(step, state, start_id, end_id, pad_id, max_len):

    def without(tokens, state):
        scores, state = step(tokens, state)
        return (scores.index_fill(1, torch.tensor([start_id, pad_id]), -math.inf), state)

    return _greedy()(without, state, start_id, end_id, pad_id, max_len)


def _without_end(tokens, start_id, end_id, pad_id):
    return tokens.masked_fill(tokens == end_id, pad_id)


def _longest_by_count(step, state, start_id, end_id, pad_id, max_len):
    """Counts ends instead of remembering which rows have ended: a second end in one row counts for another row."""
    count, output, tokens = (0, [], torch.full((len(state),), start_id))
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(-1)
        output.append(tokens)
        count += int((tokens == end_id).sum())
        if count >= len(tokens):
            break
    return torch.stack(output, 1)


def _max_len_ignored(step, state, start_id, end_id, pad_id, max_len):
    return _greedy(extra=10000)(step, state, start_id, end_id, pad_id, max_len)


def _not_remembered(step, state, start_id, end_id, pad_id, max_len):
    output, tokens = ([], torch.full((len(state),), start_id))
    ended = torch.zeros(len(state), dtype=torch.bool)
    for _ in range(max_len):
        scores, state = step(tokens, state)
        tokens = scores.argmax(-1).masked_fill(ended, pad_id)
        output.append(tokens)
        ended = tokens == end_id
        if ended.all():
            break
    return torch.stack(output, 1)


GREEDY = Answers(
    number="3.4",
    alternatives=(
        Right("row by row", _greedy_row_by_row),
        Right("each row alone", _greedy_each_alone),
        Right("ended rows left out", _greedy_shrinking),
        Right("run to the end, cut afterwards", _greedy_trimmed),
        Right("argmax of the softmax", _greedy(lambda scores: scores.softmax(-1).argmax(-1))),
        Right("topk", _greedy(lambda scores: scores.topk(1).indices[:, 0])),
        Right("max", _greedy(lambda scores: scores.max(dim=-1).indices)),
    ),
    mistakes=(
        Wrong("end ignored", _greedy(stop=lambda ended: False, pad=False)),
        Wrong("not padded", _greedy(pad=False)),
        Wrong("ends counted", _longest_by_count),
        Wrong("ends not remembered", _not_remembered),
        Wrong("padding ends a row too", _greedy(ends=lambda best, end_id, pad_id: (best == end_id) | (best == pad_id))),
        Wrong("special symbols ruled out", _special_ruled_out),
        Wrong("max_len ignored", _max_len_ignored),
        Wrong("never stops early", _greedy(stop=lambda ended: False)),
        Wrong("stops at the first end", _greedy(stop=lambda ended: ended.any())),
        Wrong("end symbol taken away", _greedy(finish=_without_end)),
        Wrong("rows filled with the end symbol", _greedy(fill=lambda end_id, pad_id: end_id)),
        Wrong("start symbol kept", _greedy(finish=lambda t, s, e, p: torch.cat((torch.full((len(t), 1), s), t), 1))),
        Wrong(
            "start symbol kept, one symbol short",
            _greedy(extra=-1, finish=lambda t, s, e, p: torch.cat((torch.full((len(t), 1), s), t), 1)),
        ),
        Wrong("choice not fed back", _greedy(feed=lambda first, new: first)),
        Wrong("state not kept", _greedy(advance=lambda old, new: old)),
        Wrong(
            "begins with the end symbol",
            lambda step, state, s, e, p, n: _greedy(first=lambda st, _: torch.full((len(st),), e))(
                step, state, s, e, p, n
            ),
        ),
        Wrong(
            "begins with padding",
            lambda step, state, s, e, p, n: _greedy(first=lambda st, _: torch.full((len(st),), p))(
                step, state, s, e, p, n
            ),
        ),
        Wrong("one step too many", _greedy(extra=1)),
        Wrong("one step too few", _greedy(extra=-1)),
        Wrong("least probable", _greedy(lambda scores: scores.argmin(-1))),
        Wrong("one row's choice for all", _greedy(lambda scores: scores[0].argmax(-1).expand(len(scores)))),
        Wrong("transposed", _greedy(finish=lambda t, s, e, p: t.T)),
    ),
)


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
        edits, lengths = ([], [])
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
        edits, length = (edits + best[0], length + best[1])
    return edits / length


def _by_position(hypothesis, reference):
    return sum((a != b for a, b in zip(hypothesis, reference, strict=False))) + abs(len(hypothesis) - len(reference))


def _bag(hypothesis, reference):
    return len(set(hypothesis) ^ set(reference))


def _all_accepted(hypotheses, references):
    edits = [sum((edit_distance(h, r) for r in accepted)) for h, accepted in zip(hypotheses, references, strict=True)]
    return sum(edits) / sum((len(r) for accepted in references for r in accepted))


def _share(edits, length):
    return edits / length if length else float(edits)


def _per_word(edits, lengths):
    return sum((e / n for e, n in zip(edits, lengths, strict=True))) / len(edits)


def _by_hypothesis_per_word(edits, lengths):
    return sum(map(_share, edits, lengths)) / len(edits)


PER = Answers(
    number="3.5",
    alternatives=(
        Right("loop", _per_loop),
        Right("two sums", _per()),
        Right("pairs", lambda h, r: math.fsum((p[0] for p in _pairs(h, r))) / sum((p[1] for p in _pairs(h, r)))),
        Right("as a tensor", lambda h, r: torch.tensor(_per()(h, r))),
        Right("the course's own", lambda h, r: metrics.phoneme_error_rate(h, r), off_limits=True),
    ),
    mistakes=(
        Wrong("divided by the hypothesis", _per(length=lambda h, chosen, a: len(h))),
        Wrong(
            "divided by the hypothesis, word by word",
            _per(length=lambda h, chosen, a: len(h), finish=_by_hypothesis_per_word),
        ),
        Wrong(
            "divided by the hypothesis, word by word, unguarded", _per(length=lambda h, c, a: len(h), finish=_per_word)
        ),
        Wrong("averaged per word", _per(finish=_per_word)),
        Wrong("divided by the number of words", _per(finish=lambda edits, lengths: sum(edits) / len(edits))),
        Wrong("divided by the longer of the two", _per(length=lambda h, chosen, a: max(len(h), len(chosen)))),
        Wrong("first pronunciation only", _per(choose=lambda h, accepted: accepted[0])),
        Wrong("last pronunciation only", _per(choose=lambda h, accepted: accepted[-1])),
        Wrong(
            "farthest pronunciation", _per(choose=lambda h, accepted: max(accepted, key=lambda r: edit_distance(h, r)))
        ),
        Wrong("all pronunciations together", _all_accepted),
        Wrong("length of the first", _per(length=lambda h, chosen, accepted: len(accepted[0]))),
        Wrong("length of the longest", _per(length=lambda h, chosen, accepted: max(map(len, accepted)))),
        Wrong("length of all", _per(length=lambda h, chosen, accepted: sum(map(len, accepted)))),
        Wrong(
            "nearest by share",
            _per(choose=lambda h, accepted: min(accepted, key=lambda r: edit_distance(h, r) / len(r))),
        ),
        Wrong("shortest pronunciation", _per(choose=lambda h, accepted: min(accepted, key=len))),
        Wrong("position by position", _per(distance=_by_position)),
        Wrong("order ignored", _per(distance=_bag)),
        Wrong("words instead of phonemes", lambda h, r: metrics.word_error_rate(h, r)),
        Wrong("accuracy", lambda h, r: 1 - _per()(h, r)),
        Wrong("percent", lambda h, r: 100 * _per()(h, r)),
        Wrong("cut at 1", lambda h, r: sum((min(e, n) for e, n in _pairs(h, r))) / sum((n for _, n in _pairs(h, r)))),
        Wrong("rounded", lambda h, r: sum((e for e, _ in _pairs(h, r))) // sum((n for _, n in _pairs(h, r)))),
        Wrong("pair returned", lambda h, r: (sum((e for e, _ in _pairs(h, r))), sum((n for _, n in _pairs(h, r))))),
    ),
)


def _pairs(hypotheses, references):
    chosen = [_nearest(h, accepted) for h, accepted in zip(hypotheses, references, strict=True)]
    return [(edit_distance(h, c), len(c)) for h, c in zip(hypotheses, chosen, strict=True)]


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
            older, state = (state, new)
        return finish(*(torch.stack(part, dim=1) for part in zip(*rows, strict=True)))

    return answer


def _decode_as_it_was(embedded, state, attend, cell):
    context = torch.zeros_like(attend(state)[0])
    features, all_weights = ([], [])
    for t in range(embedded.shape[1]):
        state = cell(_cat(embedded[:, t], context), state)
        context, weights = attend(state)
        features.append(_cat(state, context))
        all_weights.append(weights)
    return (torch.stack(features, 1), torch.stack(all_weights, 1))


def _decode_recursive(embedded, state, attend, cell):
    context, weights = attend(state)
    state = cell(_cat(embedded[:, 0], context), state)
    features, weights = (_cat(state, context)[:, None], weights[:, None])
    if embedded.shape[1] == 1:
        return (features, weights)
    rest = _decode_recursive(embedded[:, 1:], state, attend, cell)
    return (torch.cat((features, rest[0]), 1), torch.cat((weights, rest[1]), 1))


def _decode_carried(embedded, state, attend, cell):
    """The context is computed ahead of its step, at the end of the one before."""
    context, weights = attend(state)
    features, all_weights = ([], [])
    for symbol in embedded.unbind(1):
        state = cell(_cat(symbol, context), state)
        features.append(_cat(state, context))
        all_weights.append(weights)
        context, weights = attend(state)
    return (torch.stack(features, 1), torch.stack(all_weights, 1))


def _stale(embedded, state, attend, cell):
    """The cell reads the context of the step before."""
    context, _ = attend(state)
    features, all_weights = ([], [])
    for t in range(embedded.shape[1]):
        new = cell(_cat(embedded[:, t], context), state)
        context, weights = attend(state)
        features.append(_cat(new, context))
        all_weights.append(weights)
        state = new
    return (torch.stack(features, 1), torch.stack(all_weights, 1))


BUG = Answers(
    number="3.6",
    alternatives=(
        Right("recursive", _decode_recursive),
        Right("context carried over", _decode_carried),
        Right("loop over symbols", _decode(finish=lambda s, c, w: (torch.cat([s, c], 2), w))),
    ),
    mistakes=(
        Wrong("as it was", _decode_as_it_was),
        Wrong("first context mended only", _decode(kept=lambda new, old, now, after: (new, after[0], after[1]))),
        Wrong("weights still late", _decode(kept=lambda new, old, now, after: (new, now[0], after[1]))),
        Wrong("context still late", _decode(kept=lambda new, old, now, after: (new, after[0], now[1]))),
        Wrong("cell reads an old context", _stale),
        Wrong("always the first state", _decode(query=lambda before, first, older: first)),
        Wrong("one state too old", _decode(query=lambda before, first, older: older)),
        Wrong("features with the old state", _decode(kept=lambda new, old, now, after: (old, now[0], now[1]))),
        Wrong("state not carried on", _decode(before=lambda state, first: first)),
        Wrong("cell without context", _decode(read=lambda e, c: _cat(e, torch.zeros_like(c)))),
        Wrong("context in front of the embedding", _decode(read=lambda e, c: _cat(c, e))),
        Wrong("context in front of the state", _decode(finish=lambda s, c, w: (_cat(c, s), w))),
        Wrong("same symbol at every step", _decode(at=lambda t, length: 0)),
        Wrong(
            "weights shifted afterwards",
            lambda e, s, attend, cell: (
                (found := _decode_as_it_was(e, s, attend, cell))[0],
                torch.cat((attend(s)[1][:, None], found[1][:, :-1]), 1),
            ),
        ),
        Wrong("features only", _decode(finish=lambda s, c, w: _cat(s, c))),
        Wrong(
            "stacked along the batch", _decode(finish=lambda s, c, w: (_cat(s, c).transpose(0, 1), w.transpose(0, 1)))
        ),
    ),
)

EXERCISES = (
    ATTENTION,
    LOSS,
    GREEDY,
    PER,
    BUG,
)

"""Answers that the first tables of lesson 10 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import math
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks, training
from course_utils.decoding import greedy_decode
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.models import Transformer, TransformerConfig
from course_utils.positions import SinusoidalPositions
from . import Answers, Right, Wrong


def _real(tokens, pad_id):
    return (tokens != pad_id)[:, None, None, :]


def _past(length, diagonal=0):
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal)


def _masks(
    source_mask=lambda source, target, pad_id: _real(source, pad_id),
    target_mask=lambda source, target, pad_id: _real(target, pad_id) & _past(target.shape[1]),
    finish=lambda source_mask, target_mask: (source_mask, target_mask),
):
    """Both masks, one of them made another way."""

    def answer(source, target, pad_id):
        return finish(source_mask(source, target, pad_id), target_mask(source, target, pad_id))

    return answer


def _masks_loop(source, target, pad_id):
    rows = target.tolist()
    length = target.shape[1]
    allowed = [[[[row[j] != pad_id and j <= i for j in range(length)] for i in range(length)]] for row in rows]
    return (torch.tensor([[[[i != pad_id for i in row]]] for row in source.tolist()]), torch.tensor(allowed))


def _masks_course(source, target, pad_id):
    causal = masks.causal_mask(target.shape[1])
    return (masks.padding_mask(source, pad_id), masks.combine_masks(masks.padding_mask(target, pad_id), causal))


def _open_empty_rows(source_mask, target_mask):
    return (source_mask, target_mask | ~target_mask.any(-1, keepdim=True))


def _rows_too(source, target, pad_id):
    real = target != pad_id
    return real[:, None, :, None] & real[:, None, None, :] & _past(target.shape[1])


def _by_length(tokens, pad_id):
    lengths = (tokens != pad_id).sum(1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None, :]


def _before_padding(tokens, pad_id):
    return ((tokens == pad_id).cumsum(1) == 0)[:, None, None, :]


def _between_ends(tokens, pad_id):
    real = (tokens != pad_id).long()
    return ((real.cumsum(1) > 0) & (real.flip(1).cumsum(1).flip(1) > 0))[:, None, None, :]


def _masks_from(hide):
    """Both masks, with padding found by ``hide(tokens, pad_id)``."""
    return _masks(lambda s, t, p: hide(s, p), lambda s, t, p: hide(t, p) & _past(t.shape[1]))


def _additive(mask):
    return torch.zeros(mask.shape).masked_fill(~mask, -math.inf)


MASKS = Answers(
    number="10.1",
    alternatives=(
        Right("loops", _masks_loop),
        Right("positions compared", _masks(target_mask=lambda s, t, p: _real(t, p) & _by_position(t.shape[1]))),
        Right("product of the masks", _masks(target_mask=lambda s, t, p: _real(t, p) * _past(t.shape[1]))),
        Right(
            "everything but the future and padding",
            _masks(target_mask=lambda s, t, p: ~((t == p)[:, None, None] | ~_past(t.shape[1]))),
        ),
        Right("the course's own", _masks_course, off_limits=True),
    ),
    mistakes=(
        Wrong("no causal mask", _masks(target_mask=lambda s, t, p: _real(t, p).expand(-1, -1, t.shape[1], -1))),
        Wrong("padding mask alone", _masks(target_mask=lambda s, t, p: _real(t, p))),
        Wrong("target padding seen", _masks(target_mask=lambda s, t, p: _past(t.shape[1]).expand(len(t), 1, -1, -1))),
        Wrong("causal mask alone", _masks(target_mask=lambda s, t, p: _past(t.shape[1])[None, None])),
        Wrong("joined by or", _masks(target_mask=lambda s, t, p: _real(t, p) | _past(t.shape[1]))),
        Wrong(
            "polarity inverted",
            _masks(lambda s, t, p: ~_real(s, p), lambda s, t, p: ~(_real(t, p) & _past(t.shape[1]))),
        ),
        Wrong("the future instead of the past", _masks(target_mask=lambda s, t, p: _real(t, p) & _past(t.shape[1]).T)),
        Wrong("diagonal masked", _masks(target_mask=lambda s, t, p: _real(t, p) & _past(t.shape[1], -1))),
        Wrong("one step ahead", _masks(target_mask=lambda s, t, p: _real(t, p) & _past(t.shape[1], 1))),
        Wrong(
            "target padding in the rows",
            _masks(target_mask=lambda s, t, p: (t != p)[:, None, :, None] & _past(t.shape[1])),
        ),
        Wrong("padding rows closed", _masks(target_mask=_rows_too)),
        Wrong("source padding in the rows", _masks(lambda s, t, p: (s != p)[:, None, :, None])),
        Wrong("source mask causal too", _masks(lambda s, t, p: _real(s, p) & _past(s.shape[1]))),
        Wrong("source padding in the target mask", _masks(target_mask=lambda s, t, p: _real(s, p) & _past(t.shape[1]))),
        Wrong("target padding in the source mask", _masks(lambda s, t, p: _real(t, p))),
        Wrong("pad id 0 assumed", lambda source, target, pad_id: _masks()(source, target, 0)),
        Wrong(
            "first pair for all",
            _masks(
                lambda s, t, p: _real(s[:1], p).expand(len(s), -1, -1, -1),
                lambda s, t, p: (_real(t[:1], p) & _past(t.shape[1])).expand(len(t), -1, -1, -1),
            ),
        ),
        Wrong("padding by its number", _masks_from(_by_length)),
        Wrong("everything after padding", _masks_from(_before_padding)),
        Wrong("padding at the ends only", _masks_from(_between_ends)),
        Wrong(
            "rows that see nothing opened",
            lambda source, target, pad_id: _open_empty_rows(*_masks()(source, target, pad_id)),
        ),
        Wrong(
            "head axis missing",
            _masks(lambda s, t, p: _real(s, p)[:, 0], lambda s, t, p: (_real(t, p) & _past(t.shape[1]))[:, 0]),
        ),
        Wrong(
            "made for the shifted target",
            _masks(target_mask=lambda s, t, p: _real(t[:, :-1], p) & _past(t.shape[1] - 1)),
        ),
        Wrong("order exchanged", _masks(finish=lambda source_mask, target_mask: (target_mask, source_mask))),
        Wrong("zeros and ones", _masks(finish=lambda *both: tuple((mask.long() for mask in both)))),
        Wrong("additive", _masks(finish=lambda *both: tuple(map(_additive, both)))),
    ),
)


def _by_position(length):
    return torch.arange(length) <= torch.arange(length)[:, None]


def _smooth(labels, vocab, smoothing, pad_id):
    q = torch.full((*labels.shape, vocab), smoothing / (vocab - 2))
    q[..., pad_id] = 0.0
    return q.scatter(-1, labels[..., None], 1.0 - smoothing)


def _loss(
    smooth=_smooth,
    logs=lambda logits: logits.log_softmax(-1),
    join=lambda q, logs: -(q * logs).sum(-1),
    reduce=lambda each, real: each[real].mean(),
):
    """The smoothed loss with one of its parts exchanged."""

    def answer(logits, labels, smoothing, pad_id):
        each = join(smooth(labels, logits.shape[-1], smoothing, pad_id), logs(logits))
        return reduce(each, labels != pad_id)

    return answer


def _q(share, keep=lambda smoothing, other: 1.0 - smoothing, empty=True):
    """Another way to share out: ``share(smoothing, vocab)`` for each other symbol, ``keep`` for the right one."""

    def smooth(labels, vocab, smoothing, pad_id):
        other = share(smoothing, vocab)
        q = torch.full((*labels.shape, vocab), other)
        if empty:
            q[..., pad_id] = 0.0
        return q.scatter(-1, labels[..., None], keep(smoothing, other))

    return smooth


def _loss_rows(logits, labels, smoothing, pad_id):
    losses = []
    for z, label in zip(logits.flatten(0, 1), labels.flatten().tolist(), strict=True):
        if label != pad_id:
            log_probs = z - z.logsumexp(-1)
            others = [v for v in range(len(z)) if v not in (label, pad_id)]
            losses.append(-(1 - smoothing) * log_probs[label] - smoothing * log_probs[others].mean())
    return torch.stack(losses).mean()


def _loss_soft_targets(logits, labels, smoothing, pad_id):
    real = labels != pad_id
    return F.cross_entropy(logits[real], _smooth(labels, logits.shape[-1], smoothing, pad_id)[real])


def _loss_divergence(logits, labels, smoothing, pad_id):
    real = labels != pad_id
    q = _smooth(labels, logits.shape[-1], smoothing, pad_id)[real]
    divergence = F.kl_div(logits[real].log_softmax(-1), q, reduction="batchmean")
    return divergence + torch.special.entr(q).sum(-1).mean()


def _loss_entropy_gone(logits, labels, smoothing, pad_id):
    real = labels != pad_id
    q = _smooth(labels, logits.shape[-1], smoothing, pad_id)[real]
    return F.kl_div(logits[real].log_softmax(-1), q, reduction="batchmean")


def _loss_by_column(logits, labels, smoothing, pad_id):
    """Padding's column is emptied after the labels were written, and nothing else is done about padded labels."""
    q = torch.full_like(logits, smoothing / (logits.shape[-1] - 2)).scatter(-1, labels[..., None], 1.0 - smoothing)
    q[..., pad_id] = 0.0
    return -(q * logits.log_softmax(-1)).sum() / (labels != pad_id).sum()


def _loss_two_sums(logits, labels, smoothing, pad_id):
    logs, real = (logits.log_softmax(-1), labels != pad_id)
    right = logs.gather(-1, labels[..., None])[..., 0]
    others = logs.sum(-1) - right - logs[..., pad_id]
    each = -(1 - smoothing) * right - smoothing / (logits.shape[-1] - 2) * others
    return (each * real).sum() / real.sum()


def _loss_of_pytorch(logits, labels, smoothing, pad_id):
    flat = logits.flatten(0, 1)
    return F.cross_entropy(flat, labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing)


def _as_if_pad_were_0(logits, labels, smoothing, pad_id):
    return _loss()(logits, labels, smoothing, 0)


SMOOTHING = Answers(
    number="10.3",
    alternatives=(
        Right("loop over positions", _loss_rows),
        Right("cross-entropy with soft targets", _loss_soft_targets),
        Right("divergence plus entropy", _loss_divergence),
        Right("the right one and the others", _loss_two_sums),
        Right("summed and divided", _loss(reduce=lambda each, real: (each * real).sum() / real.sum())),
        Right(
            "padding removed first",
            lambda z, y, e, p: _loss(reduce=lambda each, real: each.mean())(z[y != p], y[y != p], e, p),
        ),
        Right(
            "the course's own",
            lambda z, y, e, p: training.label_smoothing_loss(z, y, smoothing=e, pad_id=p),
            off_limits=True,
        ),
    ),
    mistakes=(
        Wrong("mass on padding", _loss(_q(lambda e, v: e / (v - 1), empty=False))),
        Wrong("PyTorch's argument", _loss_of_pytorch),
        Wrong("divided by V - 1", _loss(_q(lambda e, v: e / (v - 1)))),
        Wrong("divided by V", _loss(_q(lambda e, v: e / v))),
        Wrong("right symbol shares too", _loss(_q(lambda e, v: e / (v - 2), keep=lambda e, other: 1.0 - e + other))),
        Wrong("not divided", _loss(_q(lambda e, v: e))),
        Wrong("right symbol keeps 1", _loss(_q(lambda e, v: e / (v - 2), keep=lambda e, other: 1.0))),
        Wrong("exchanged", _loss(_q(lambda e, v: (1 - e) / (v - 2), keep=lambda e, other: e))),
        Wrong("no smoothing", _loss(_q(lambda e, v: 0.0, keep=lambda e, other: 1.0))),
        Wrong("padding divides", _loss(reduce=lambda each, real: (each * real).sum() / real.numel())),
        Wrong("padding counted", _loss(reduce=lambda each, real: each.mean())),
        Wrong("only padding's column emptied", _loss_by_column),
        Wrong("sum", _loss(reduce=lambda each, real: each[real].sum())),
        Wrong("divided by the batch", _loss(reduce=lambda each, real: each[real].sum() / len(each))),
        Wrong("mean of means", _loss(reduce=lambda each, real: ((each * real).sum(1) / real.sum(1)).mean())),
        Wrong("softmax before log-softmax", _loss(logs=lambda z: z.softmax(-1).log_softmax(-1))),
        Wrong("no logarithm", _loss(logs=lambda z: z.softmax(-1))),
        Wrong("logits as they are", _loss(logs=lambda z: z)),
        Wrong("log of softmax", _loss(logs=lambda z: z.softmax(-1).log())),
        Wrong("small number added", _loss(logs=lambda z: (z.softmax(-1) + 1e-09).log())),
        Wrong("over the positions", _loss(logs=lambda z: z.log_softmax(1))),
        Wrong("sign", _loss(join=lambda q, logs: (q * logs).sum(-1))),
        Wrong("mean over the symbols", _loss(join=lambda q, logs: -(q * logs).mean(-1))),
        Wrong("entropy taken off", _loss_entropy_gone),
        Wrong("pad id 0 assumed", _as_if_pad_were_0),
        Wrong("without a gradient", lambda *given: _loss()(*given).detach()),
    ),
)


def _rate(
    step=lambda done: done + 1,
    size=lambda d_model: d_model ** (-0.5),
    rise=lambda s, w: s * w ** (-1.5),
    fall=lambda s, w: s ** (-0.5),
    join=min,
):
    """The schedule with one of its parts exchanged."""

    def answer(done, d_model, warmup):
        s = step(done)
        return size(d_model) * join(fall(s, warmup), rise(s, warmup))

    return answer


def _rate_branches(done, d_model, warmup):
    s = done + 1
    if s < warmup:
        return s / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
    return 1 / math.sqrt(d_model * s)


def _rate_tensor(done, d_model, warmup):
    s = torch.tensor(float(done + 1), dtype=torch.float64)
    return d_model ** (-0.5) * torch.minimum(s.rsqrt(), s * warmup ** (-1.5))


def _late(first):
    """Updates done taken for the number of the update, the very first step handled by itself."""
    return lambda done, d_model, warmup: first if done == 0 else _rate(step=lambda d: d)(done, d_model, warmup)


RATE = Answers(
    number="10.4",
    alternatives=(
        Right("two branches", _rate_branches),
        Right("a tensor", _rate_tensor),
        Right("one power", _rate(rise=lambda s, w: s / w**1.5, fall=lambda s, w: 1 / math.sqrt(s))),
        Right("by the peak", lambda d, m, w: (m * w) ** (-0.5) * min((d + 1) / w, (w / (d + 1)) ** 0.5)),
        Right("the course's own", lambda d, m, w: training.warmup_rate(d + 1, m, w), off_limits=True),
    ),
    mistakes=(
        Wrong("step 0", _rate(step=lambda done: done)),
        Wrong("step 0, divided", _rate(step=lambda d: d, fall=lambda s, w: 1 / s**0.5)),
        Wrong("step 0 taken for 1", _rate(step=lambda done: max(done, 1))),
        Wrong("rate 0 at first", _late(0.0)),
        Wrong(
            "counted from 0 in the rise",
            lambda done, d_model, warmup: d_model ** (-0.5) * min((done + 1) ** (-0.5), done * warmup ** (-1.5)),
        ),
        Wrong(
            "counted from 0 in the fall",
            lambda done, d_model, warmup: (
                d_model ** (-0.5) * min(max(done, 1) ** (-0.5), (done + 1) * warmup ** (-1.5))
            ),
        ),
        Wrong(
            "rises one step too long",
            lambda d, m, w: m ** (-0.5) * ((d + 1) * w ** (-1.5) if d <= w else (d + 1) ** (-0.5)),
        ),
        Wrong("max for min", _rate(join=max)),
        Wrong("no rise", _rate(join=lambda fall, rise: fall)),
        Wrong("no fall", _rate(join=lambda fall, rise: rise)),
        Wrong("constant after the warm-up", _rate(fall=lambda s, w: w ** (-0.5))),
        Wrong("falls with the step", _rate(fall=lambda s, w: 1 / s)),
        Wrong(
            "falls from the end of the warm-up",
            lambda d, m, w: m ** (-0.5) * ((d + 1) * w ** (-1.5) if d < w else w ** (-0.5) * (d + 2 - w) ** (-0.5)),
        ),
        Wrong("warm-up power -1", _rate(rise=lambda s, w: s / w)),
        Wrong("warm-up power -0.5", _rate(rise=lambda s, w: s * w ** (-0.5))),
        Wrong("size forgotten", _rate(size=lambda d_model: 1.0)),
        Wrong("root of the size", _rate(size=lambda d_model: d_model**0.5)),
        Wrong("size itself", _rate(size=lambda d_model: 1 / d_model)),
    ),
)

_SIZES = ("src_vocab", "tgt_vocab", "num_layers", "d_model", "d_ff", "num_heads", "max_len")


class _Assembled(nn.Module):
    """The whole model in the plainest form; the mistakes below change one method each."""

    def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len, dropout=(0.0, 0.0)):
        super().__init__()
        self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
        sizes = (d_model, num_heads, d_ff)
        self.encoder_layers = nn.ModuleList((EncoderLayer(*sizes, dropout=dropout[0]) for _ in range(num_layers)))
        self.decoder_layers = nn.ModuleList((DecoderLayer(*sizes, dropout=dropout[1]) for _ in range(num_layers)))
        self.encoder_norm, self.decoder_norm = (LayerNorm(d_model), LayerNorm(d_model))
        self.generator = nn.Linear(d_model, tgt_vocab)

    def source_mask(self, source, target, pad_id):
        return masks.padding_mask(source, pad_id)

    def memory_mask(self, source, target, pad_id):
        return masks.padding_mask(source, pad_id)

    def target_mask(self, source, target, pad_id):
        return masks.padding_mask(target, pad_id) & masks.causal_mask(target.shape[1])

    def embed(self, source, target):
        return (self.source_embedding(source), self.target_embedding(target))

    def encode(self, x, mask):
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x)

    def decode(self, y, memory, target_mask, memory_mask):
        for layer in self.decoder_layers:
            y = layer(y, memory, target_mask=target_mask, memory_mask=memory_mask)
        return self.decoder_norm(y)

    def finish(self, hidden):
        return self.generator(hidden)

    def forward(self, source, target, pad_id):
        given = (source, target, pad_id)
        x, y = self.embed(source, target)
        memory = self.encode(x, self.source_mask(*given))
        return self.finish(self.decode(y, memory, self.target_mask(*given), self.memory_mask(*given)))


def _model(base=_Assembled, **methods):
    return type("Model", (base,), methods)


def _after_init(change):
    """A constructor that goes on with ``change(self)``."""

    def __init__(self, *sizes):
        _Assembled.__init__(self, *sizes)
        change(self)

    return __init__


def _same_layer(self):
    for name in ("encoder_layers", "decoder_layers"):
        layers = getattr(self, name)
        setattr(self, name, nn.ModuleList([layers[0]] * len(layers)))


def _plain_lists(self):
    encoder_layers, decoder_layers = (list(self.encoder_layers), list(self.decoder_layers))
    del self.encoder_layers, self.decoder_layers
    self.encoder_layers, self.decoder_layers = (encoder_layers, decoder_layers)


def _without(*names):

    def change(self):
        for name in names:
            delattr(self, name)

    return change


def _one_layer(self):
    self.encoder_layers, self.decoder_layers = (self.encoder_layers[:1], self.decoder_layers[:1])


def _one_embedding(self):
    self.target_embedding = self.source_embedding


def _positions(self, kind=None):
    for embedding in (self.source_embedding, self.target_embedding):
        embedding.positions = kind


def _bare(self, x, mask):
    for layer in self.encoder_layers:
        x = layer(x, mask)
    return x


def _decode_bare(self, y, memory, target_mask, memory_mask):
    for layer in self.decoder_layers:
        y = layer(y, memory, target_mask=target_mask, memory_mask=memory_mask)
    return y


def _decode_restarting(self, y, memory, target_mask, memory_mask):
    for layer in self.decoder_layers:
        hidden = layer(y, memory, target_mask=target_mask, memory_mask=memory_mask)
    return self.decoder_norm(hidden)


def _encode_restarting(self, x, mask):
    for layer in self.encoder_layers:
        memory = layer(x, mask)
    return self.encoder_norm(memory)


def _memory_layer_by_layer(self, source, target, pad_id):
    given = (source, target, pad_id)
    x, y = self.embed(source, target)
    for encoder, decoder in zip(self.encoder_layers, self.decoder_layers, strict=True):
        x = encoder(x, self.source_mask(*given))
        memory = self.encoder_norm(x)
        y = decoder(y, memory, target_mask=self.target_mask(*given), memory_mask=self.memory_mask(*given))
    return self.generator(self.decoder_norm(y))


def _memory_is_the_embedding(self, x, mask):
    return x


def _norm_after_each(self, x, mask):
    for layer in self.encoder_layers:
        x = self.encoder_norm(layer(x, mask))
    return x


def _decode_norm_after_each(self, y, memory, target_mask, memory_mask):
    for layer in self.decoder_layers:
        y = self.decoder_norm(layer(y, memory, target_mask=target_mask, memory_mask=memory_mask))
    return y


def _scaled_again(self, source, target):
    factor = self.generator.in_features**0.5
    return (factor * self.source_embedding(source), factor * self.target_embedding(target))


def _dropped(encoder, decoder):
    return lambda self, *sizes: _Assembled.__init__(self, *sizes, dropout=(encoder, decoder))


def _fixed(place, value):
    """A constructor that takes no notice of one of its arguments."""
    return lambda self, *sizes: _Assembled.__init__(self, *sizes[:place], value, *sizes[place + 1 :])


def _one_position_table(self):
    self.target_embedding.positions = self.source_embedding.positions


def _generator_tied(self):
    self.generator.weight = self.target_embedding.tokens.weight


def _no_super(self, *sizes):
    self.generator = nn.Linear(sizes[3], sizes[1])


def _course_init(self, *sizes):
    Transformer.__init__(self, TransformerConfig(**dict(zip(_SIZES, sizes, strict=True)), dropout=0.0))


def _course_forward(self, source, target, pad_id):
    causal = masks.padding_mask(target, pad_id) & masks.causal_mask(target.shape[1])
    return Transformer.forward(self, source, target, source_mask=masks.padding_mask(source, pad_id), target_mask=causal)


def _pytorch_norms(self):
    size = self.generator.in_features
    self.encoder_norm, self.decoder_norm = (nn.LayerNorm(size), nn.LayerNorm(size))


def _appended(self):
    for name in ("encoder_layers", "decoder_layers"):
        layers = nn.ModuleList()
        for layer in getattr(self, name):
            layers.append(layer)
        setattr(self, name, layers)


def _other_order(self):
    parts = list(self.named_children())
    for name, _ in parts:
        delattr(self, name)
    for name, part in reversed(parts):
        setattr(self, name, part)


def _masks_by_hand(self, source, target, pad_id):
    return (target != pad_id)[:, None, None] & torch.ones(target.shape[1], target.shape[1]).tril().bool()


def _one_position_at_a_time(self, source, target, pad_id):
    forward = _Assembled.forward
    return torch.stack(
        [forward(self, source, target[:, : t + 1], pad_id)[:, -1] for t in range(target.shape[1])], dim=1
    )


MODEL = Answers(
    number="10.5",
    alternatives=(
        Right("layers appended", _model(__init__=_after_init(_appended))),
        Right("parts in another order", _model(__init__=_after_init(_other_order))),
        Right("PyTorch's LayerNorm", _model(__init__=_after_init(_pytorch_norms))),
        Right("one table of positions for both", _model(__init__=_after_init(_one_position_table))),
        Right("target mask by hand", _model(target_mask=_masks_by_hand)),
        Right("one position at a time", _model(forward=_one_position_at_a_time)),
        Right("the course's own", _model(Transformer, __init__=_course_init, forward=_course_forward), True),
    ),
    mistakes=(
        Wrong("one layer N times", _model(__init__=_after_init(_same_layer))),
        Wrong("one layer", _model(__init__=_after_init(_one_layer))),
        Wrong("plain lists", _model(__init__=_after_init(_plain_lists))),
        Wrong(
            "no final norms",
            _model(__init__=_after_init(_without("encoder_norm", "decoder_norm")), encode=_bare, decode=_decode_bare),
        ),
        Wrong("encoder norm not used", _model(encode=_bare)),
        Wrong("decoder norm not used", _model(decode=_decode_bare)),
        Wrong("final norms not used", _model(encode=_bare, decode=_decode_bare)),
        Wrong("norm after every layer", _model(encode=_norm_after_each, decode=_decode_norm_after_each)),
        Wrong(
            "norms exchanged",
            _model(
                encode=lambda self, x, mask: self.decoder_norm(_bare(self, x, mask)),
                decode=lambda self, *given: self.encoder_norm(_decode_bare(self, *given)),
            ),
        ),
        Wrong("softmax", _model(finish=lambda self, hidden: self.generator(hidden).softmax(-1))),
        Wrong("log-softmax", _model(finish=lambda self, hidden: self.generator(hidden).log_softmax(-1))),
        Wrong("hidden vectors", _model(finish=lambda self, hidden: hidden)),
        Wrong("last position only", _model(finish=lambda self, hidden: self.generator(hidden[:, -1]))),
        Wrong("no causal mask", _model(target_mask=lambda self, s, t, p: masks.padding_mask(t, p))),
        Wrong("target padding seen", _model(target_mask=lambda self, s, t, p: masks.causal_mask(t.shape[1]))),
        Wrong("no target mask", _model(target_mask=lambda self, s, t, p: None)),
        Wrong("source padding seen", _model(source_mask=lambda self, s, t, p: None)),
        Wrong("memory padding seen", _model(memory_mask=lambda self, s, t, p: None)),
        Wrong("no source mask", _model(source_mask=lambda self, s, t, p: None, memory_mask=lambda self, s, t, p: None)),
        Wrong(
            "cross-attention with the target's padding",
            _model(memory_mask=lambda self, s, t, p: masks.padding_mask(t, p)),
        ),
        Wrong("cross-attention with the target's mask", _model(memory_mask=_Assembled.target_mask)),
        Wrong("masks exchanged", _model(memory_mask=_Assembled.target_mask, target_mask=_Assembled.memory_mask)),
        Wrong(
            "pad id 0 assumed",
            _model(forward=lambda self, source, target, pad_id: _Assembled.forward(self, source, target, 0)),
        ),
        Wrong("memory is the embedding", _model(encode=_memory_is_the_embedding)),
        Wrong("encoder layers all from the embedding", _model(encode=_encode_restarting)),
        Wrong("decoder layers all from the embedding", _model(decode=_decode_restarting)),
        Wrong("all layers from the embedding", _model(encode=_encode_restarting, decode=_decode_restarting)),
        Wrong("memory of the same layer", _model(forward=_memory_layer_by_layer)),
        Wrong("one embedding for both", _model(__init__=_after_init(_one_embedding))),
        Wrong("positions forgotten", _model(__init__=_after_init(_positions))),
        Wrong("scaled again", _model(embed=_scaled_again)),
        Wrong("dropout on", _model(__init__=_dropped(0.1, 0.1))),
        Wrong("dropout in the encoder", _model(__init__=_dropped(0.1, 0.0))),
        Wrong("dropout in the decoder", _model(__init__=_dropped(0.0, 0.1))),
        Wrong("always two layers", _model(__init__=_fixed(2, 2))),
        Wrong("always two heads", _model(__init__=_fixed(5, 2))),
        Wrong("max_len ignored", _model(__init__=_fixed(6, 5000))),
        Wrong("generator tied", _model(__init__=_after_init(_generator_tied))),
        Wrong(
            "causal encoder",
            _model(source_mask=lambda self, s, t, p: masks.padding_mask(s, p) & masks.causal_mask(s.shape[1])),
        ),
        Wrong("super().__init__() forgotten", _model(__init__=_no_super)),
    ),
)


def _greedy(
    choose=lambda logits: logits[:, -1].argmax(-1),
    feed=lambda said: said,
    stop=torch.all,
    steps=lambda max_len: max_len,
    fill=lambda tokens, ended, pad_id: tokens.masked_fill(ended, pad_id),
    finish=lambda said, end_id, pad_id: said[:, 1:],
    ids=lambda start_id, end_id, pad_id: (start_id, end_id, pad_id),
):
    """Greedy decoding with one of its parts exchanged."""

    def answer(model, source, max_len, start_id, end_id, pad_id):
        start_id, end_id, pad_id = ids(start_id, end_id, pad_id)
        said = torch.full((len(source), 1), start_id)
        ended = torch.zeros(len(source), dtype=torch.bool)
        for _ in range(steps(max_len)):
            tokens = fill(choose(model(source, feed(said))), ended, pad_id)
            said = torch.cat((said, tokens[:, None]), dim=1)
            ended = ended | (tokens == end_id)
            if stop(ended):
                break
        return finish(said, end_id, pad_id)

    return answer


def _greedy_row_by_row(model, source, max_len, start_id, end_id, pad_id):
    rows = []
    for b in range(len(source)):
        said = [start_id]
        while len(said) <= max_len and (len(said) == 1 or said[-1] != end_id):
            said.append(int(model(source[b : b + 1], torch.tensor([said]))[0, -1].argmax()))
        rows.append(torch.tensor(said[1:]))
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)


def _greedy_in_place(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), max_len + 1), pad_id)
    said[:, 0] = start_id
    going = torch.ones(len(source), dtype=torch.bool)
    t = 0
    while t < max_len and going.any():
        scores = model(source, said[:, : t + 1])[:, t]
        said[going, t + 1] = scores.log_softmax(-1).max(-1).indices[going]
        going &= said[:, t + 1] != end_id
        t += 1
    return said[:, 1 : t + 1]


def _greedy_rows_removed(model, source, max_len, start_id, end_id, pad_id):
    output = torch.full((len(source), max_len), pad_id)
    going, said, t = (torch.arange(len(source)), torch.full((len(source), 1), start_id), 0)
    while t < max_len and len(going):
        tokens = model(source[going], said)[:, -1].argmax(-1)
        output[going, t] = tokens
        kept = tokens != end_id
        going, said, t = (going[kept], torch.cat((said, tokens[:, None]), dim=1)[kept], t + 1)
    return output[:, :t]


def _pad_after_end(said, end_id, pad_id):
    ends = (said[:, 1:] == end_id).long()
    return said[:, 1:].masked_fill(ends.cumsum(1) - ends > 0, pad_id)


def _greedy_looks_one_step_back(model, source, max_len, start_id, end_id, pad_id):
    said = torch.full((len(source), 1), start_id)
    for _ in range(max_len):
        tokens = model(source, said)[:, -1].argmax(-1).masked_fill(said[:, -1] == end_id, pad_id)
        said = torch.cat((said, tokens[:, None]), dim=1)
        if (said[:, 1:] == end_id).any(1).all():
            break
    return said[:, 1:]


def _end_forced(model, source, max_len, start_id, end_id, pad_id):
    output = _greedy()(model, source, max_len, start_id, end_id, pad_id)
    output[~(output == end_id).any(1), -1] = end_id
    return output


class _Steps:
    """A stand-in as ``greedy_decode`` wants it."""

    def __init__(self, model):
        self.model = model

    def start_decoding(self, source, *, max_len):
        return (source, torch.zeros(len(source), 0, dtype=torch.long))

    def decode_step(self, state, tokens):
        source, said = state
        said = torch.cat((said, tokens[:, None]), dim=1)
        return (self.model(source, said)[:, -1].log_softmax(-1), (source, said))


def _greedy_course(model, source, max_len, start_id, end_id, pad_id):
    ids = {"start_id": start_id, "end_id": end_id, "pad_id": pad_id}
    return greedy_decode(_Steps(model), source, max_len=max_len, **ids).tokens


def _end_becomes_padding(said, end_id, pad_id):
    return said[:, 1:].masked_fill(said[:, 1:] == end_id, pad_id)


def _cut_lists(said, end_id, pad_id):
    return [[i for i in row if i != pad_id] for row in said[:, 1:].tolist()]


GREEDY = Answers(
    number="10.6",
    alternatives=(
        Right("row by row", _greedy_row_by_row),
        Right("written into a full tensor", _greedy_in_place),
        Right("of the log-softmax", _greedy(choose=lambda z: z.log_softmax(-1)[:, -1].max(-1).indices)),
        Right("padded afterwards", _greedy(fill=lambda tokens, ended, pad_id: tokens, finish=_pad_after_end)),
        Right("rows taken out once they have ended", _greedy_rows_removed),
        Right("topk", _greedy(choose=lambda z: z[:, -1].topk(1).indices[:, 0])),
        Right("the course's own", _greedy_course, off_limits=True),
    ),
    mistakes=(
        Wrong("stops with the first", _greedy(stop=torch.any)),
        Wrong("never stops", _greedy(stop=lambda ended: False)),
        Wrong("ended sequences go on", _greedy(fill=lambda tokens, ended, pad_id: tokens)),
        Wrong(
            "end repeated",
            lambda model, source, max_len, start_id, end_id, pad_id: _greedy()(
                model, source, max_len, start_id, end_id, end_id
            ),
        ),
        Wrong("looks one step back", _greedy_looks_one_step_back),
        Wrong("end forced", _end_forced),
        Wrong("end becomes padding", _greedy(finish=_end_becomes_padding)),
        Wrong("start kept", _greedy(finish=lambda said, end_id, pad_id: said)),
        Wrong(
            "start kept, one step fewer",
            _greedy(finish=lambda said, end_id, pad_id: said, steps=lambda max_len: max_len - 1),
        ),
        Wrong("one step fewer", _greedy(steps=lambda max_len: max_len - 1)),
        Wrong("one step more", _greedy(steps=lambda max_len: max_len + 1)),
        Wrong("last symbol only", _greedy(feed=lambda said: said[:, -1:])),
        Wrong("first position read", _greedy(choose=lambda logits: logits[:, 0].argmax(-1))),
        Wrong("least probable", _greedy(choose=lambda logits: logits[:, -1].argmin(-1))),
        Wrong("drawn at random", _greedy(choose=lambda logits: torch.multinomial(logits[:, -1].softmax(-1), 1)[:, 0])),
        Wrong("start id 1 assumed", _greedy(ids=lambda start_id, end_id, pad_id: (1, end_id, pad_id))),
        Wrong("end id 2 assumed", _greedy(ids=lambda start_id, end_id, pad_id: (start_id, 2, pad_id))),
        Wrong("pad id 0 assumed", _greedy(ids=lambda start_id, end_id, pad_id: (start_id, end_id, 0))),
        Wrong("positions first", _greedy(finish=lambda said, end_id, pad_id: said[:, 1:].T)),
        Wrong("lists", _greedy(finish=_cut_lists)),
    ),
)


def _batch_loss(
    given=lambda target: target[:, :-1],
    labels=lambda target: target[:, 1:],
    causal=_past,
    source_mask=_real,
    target_mask=lambda given, pad_id, causal: _real(given, pad_id) & causal,
    cut=lambda logits: logits,
    loss=lambda logits, labels, pad_id: F.cross_entropy(logits, labels, ignore_index=pad_id),
):
    """The loss of a batch with one of its parts exchanged."""

    def answer(model, source, target, pad_id):
        x, y = (given(target), labels(target))
        mask = target_mask(x, pad_id, causal(x.shape[1]))
        logits = cut(model(source, x, source_mask(source, pad_id), mask))
        return loss(logits.flatten(0, 1), y.flatten(), pad_id)

    return answer


def _batch_loss_course(model, source, target, pad_id):
    x, y = (target[:, :-1], target[:, 1:])
    mask = masks.combine_masks(masks.padding_mask(x, pad_id), masks.causal_mask(x.shape[1]))
    logits = model(source, x, masks.padding_mask(source, pad_id), mask)
    return training.label_smoothing_loss(logits, y, smoothing=0.0, pad_id=pad_id)


def _batch_loss_loop(model, source, target, pad_id):
    losses = []
    for t in range(target.shape[1] - 1):
        x = target[:, : t + 1]
        mask = _real(x, pad_id) & _past(t + 1)
        logits = model(source, x, _real(source, pad_id), mask)[:, -1].log_softmax(-1)
        y = target[:, t + 1]
        losses.append(-logits.gather(1, y[:, None])[:, 0][y != pad_id])
    return torch.cat(losses).mean()


BUG = Answers(
    number="10.7",
    alternatives=(
        Right("the course's masks and loss", _batch_loss_course),
        Right("prefix by prefix", _batch_loss_loop),
        Right("whole target, last logits cut off", _batch_loss(given=lambda t: t, cut=lambda logits: logits[:, :-1])),
        Right("positions compared", _batch_loss(causal=_by_position)),
        Right(
            "padding removed first",
            _batch_loss(loss=lambda logits, labels, p: F.cross_entropy(logits[labels != p], labels[labels != p])),
        ),
    ),
    mistakes=(
        Wrong("as it was", _batch_loss(causal=lambda length: _past(length, 1))),
        Wrong("causal mask alone", _batch_loss(target_mask=lambda given, pad_id, causal: causal[None, None])),
        Wrong("no causal mask", _batch_loss(causal=lambda length: _past(length, length))),
        Wrong("diagonal masked", _batch_loss(causal=lambda length: _past(length, -1))),
        Wrong("the future instead of the past", _batch_loss(causal=lambda length: _past(length).T)),
        Wrong("not shifted, without the last", _batch_loss(labels=lambda target: target[:, :-1])),
        Wrong("not shifted, without the first", _batch_loss(given=lambda target: target[:, 1:])),
        Wrong("logits cut at the wrong end", _batch_loss(given=lambda t: t, cut=lambda logits: logits[:, 1:])),
        Wrong("backwards", _batch_loss(given=lambda t: t[:, 1:], labels=lambda t: t[:, :-1])),
        Wrong("shifted and still ahead", _batch_loss(given=lambda t: t[:, 1:], causal=lambda length: _past(length, 1))),
        Wrong("padding counted", _batch_loss(loss=lambda logits, labels, pad_id: F.cross_entropy(logits, labels))),
        Wrong(
            "source padding seen",
            _batch_loss(source_mask=lambda source, pad_id: torch.ones_like(_real(source, pad_id))),
        ),
        Wrong("without a gradient", lambda *given: _batch_loss()(*given).detach()),
        Wrong("diagonal alone", _batch_loss(causal=lambda length: torch.eye(length, dtype=torch.bool))),
        Wrong("sum", _batch_loss(loss=lambda z, y, p: F.cross_entropy(z, y, ignore_index=p, reduction="sum"))),
        Wrong("softmax first", _batch_loss(cut=lambda logits: logits.softmax(-1))),
    ),
)

EXERCISES = (
    MASKS,
    SMOOTHING,
    RATE,
    MODEL,
    GREEDY,
    BUG,
)

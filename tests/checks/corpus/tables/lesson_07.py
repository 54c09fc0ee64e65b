"""Answers that the first tables of lesson 07 knew, wrong and right, by exercise and name (generated once; see README.md)."""

import math
import torch
import torch.nn.functional as F
from course_utils import kv_cache, multi_head
from course_utils.attention import masked_softmax, scaled_dot_product_attention
from . import Answers, Right, Wrong


def _size(two=2, use_layers=True, use_batch=True, use_length=True, heads=None, size=None, per_number=None):
    """2 x layers x batch x H_kv x length x d_head x bytes, with something left out or put in another's place."""

    def answer(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
        layers = num_layers if use_layers else 1
        batch = batch_size if use_batch else 1
        positions = length if use_length else 1
        h = heads(num_heads, num_kv_heads) if heads else num_kv_heads
        d = size(num_heads, d_head) if size else d_head
        numbers = two * layers * batch * h * positions * d
        return numbers * bytes_per_number if per_number is None else per_number(numbers, bytes_per_number)

    return answer


def _size_of_tensors(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    one = torch.empty(batch_size, num_kv_heads, length, d_head, device="meta")
    return sum((one.numel() * bytes_per_number for _ in range(num_layers) for _ in ("keys", "values")))


def _size_by_course(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    cache = kv_cache.KVCache(batch_size, num_kv_heads, length, d_head, dtype=torch.float32, device="meta")
    return num_layers * cache.num_bytes * bytes_per_number // 4


SIZE = Answers(
    number="7.1",
    alternatives=(
        Right("shapes of tensors", _size_of_tensors),
        Right("math.prod", lambda n, b, h, h_kv, d, length, size: math.prod((2, n, b, h_kv, d, length, size))),
        Right("a float", lambda n, b, h, h_kv, d, length, size: 2.0 * n * b * h_kv * d * length * size),
        Right(
            "loop over layers",
            lambda n, b, h, h_kv, d, length, size: sum((2 * b * h_kv * d * length * size for _ in range(n))),
        ),
        Right("the course's own", _size_by_course),
    ),
    mistakes=(
        Wrong("without the 2", _size(two=1)),
        Wrong("without the layers", _size(use_layers=False)),
        Wrong("num_heads for num_kv_heads", _size(heads=lambda h, h_kv: h)),
        Wrong("without the 2, and num_heads", _size(two=1, heads=lambda h, h_kv: h)),
        Wrong("without the 2 and the layers", _size(two=1, use_layers=False)),
        Wrong("without the layers, and num_heads", _size(use_layers=False, heads=lambda h, h_kv: h)),
        Wrong("without the batch", _size(use_batch=False)),
        Wrong("without the length", _size(use_length=False)),
        Wrong("numbers, not bytes", _size(per_number=lambda numbers, size: numbers)),
        Wrong("bits", _size(per_number=lambda numbers, size: 8 * numbers * size)),
        Wrong("always two bytes", _size(per_number=lambda numbers, size: 2 * numbers)),
        Wrong("d_model for d_head", _size(size=lambda h, d: h * d)),
        Wrong("queries too", lambda n, b, h, h_kv, d, length, size: n * b * (2 * h_kv + h) * d * length * size),
        Wrong("three tensors", _size(two=3)),
        Wrong("values for all heads", lambda n, b, h, h_kv, d, length, size: n * b * (h + h_kv) * d * length * size),
        Wrong("heads in a group", _size(heads=lambda h, h_kv: h // h_kv)),
        Wrong("length squared", lambda n, b, h, h_kv, d, length, size: 2 * n * b * h_kv * d * length**2 * size),
        Wrong("in GiB", _size(per_number=lambda numbers, size: numbers * size / 2**30)),
    ),
)


class _Cache:
    """A cache in the plainest form; the mistakes below change one method each."""

    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len = max_len
        self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
        self.length = 0

    def require_room(self, new):
        if self.length + new > self.max_len:
            raise ValueError("no room")

    def write(self, key, value):
        self.keys[:, :, self.length : self.length + key.shape[2]] = key
        self.values[:, :, self.length : self.length + key.shape[2]] = value

    def advance(self, new):
        self.length += new

    def read(self, key, value):
        return (self.keys[:, :, : self.length], self.values[:, :, : self.length])

    def update(self, key, value):
        self.require_room(key.shape[2])
        self.write(key, value)
        self.advance(key.shape[2])
        return self.read(key, value)


def _cache(**methods):
    return type("Cache", (_Cache,), methods)


def _write_at(where, until=None):
    """Writes to another place: ``where(cache, new)`` gives the first position."""

    def write(self, key, value):
        start, new = (where(self, key.shape[2]), key.shape[2])
        self.keys[:, :, start : start + new] = key
        self.values[:, :, start : start + new] = value

    return write


class _Joined(_Cache):
    """No room set aside: everything so far is joined with what is new."""

    def write(self, key, value):
        if self.length == 0:
            self.keys, self.values = (self.keys[:, :, :0], self.values[:, :, :0])
        self.keys, self.values = (torch.cat([self.keys, key], dim=2), torch.cat([self.values, value], dim=2))


class _Full(ValueError):
    """An error of the student's own; a ValueError all the same."""


def _refuse_in_own_words(self, new):
    if self.length + new > self.max_len:
        raise _Full(f"{new} more do not fit")


def _refuse_by_assert(self, new):
    assert self.length + new <= self.max_len


def _count_then_refuse(self, key, value):
    start = self.length
    self.advance(key.shape[2])
    if self.length > self.max_len:
        raise ValueError("no room")
    self.keys[:, :, start : self.length], self.values[:, :, start : self.length] = (key, value)
    return self.read(key, value)


def _one_tensor_for_both(self, batch_size, num_kv_heads, max_len, d_head):
    _Cache.__init__(self, batch_size, num_kv_heads, max_len, d_head)
    self.keys = self.values


def _length_as_tensor(self, *sizes):
    _Cache.__init__(self, *sizes)
    self.length = torch.tensor(0)


class _OneByOne(_Cache):
    def write(self, key, value):
        for step in range(key.shape[2]):
            self.keys[:, :, self.length + step] = key[:, :, step]
            self.values[:, :, self.length + step] = value[:, :, step]


class _ListOfSteps:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.steps, self.max_len = ([], max_len)

    @property
    def length(self):
        return sum((key.shape[2] for key, _ in self.steps))

    def update(self, key, value):
        if self.length + key.shape[2] > self.max_len:
            raise ValueError(f"{self.length} of {self.max_len} positions are taken")
        self.steps.append((key.clone(), value.clone()))
        return tuple((torch.cat(parts, dim=2) for parts in zip(*self.steps, strict=True)))


class _ListOfTensors(_ListOfSteps):
    """Keeps the tensors that were handed in, not their numbers."""

    def update(self, key, value):
        super().update(key, value)
        self.steps[-1] = (key, value)
        return tuple((torch.cat(parts, dim=2) for parts in zip(*self.steps, strict=True)))


def _copy_in(self, key, value):
    positions = torch.arange(self.length, self.length + key.shape[2])
    self.keys.index_copy_(2, positions, key)
    self.values.index_copy_(2, positions, value)


def _write_keys_twice(self, key, value):
    _Cache.write(self, key, key)


def _write_first(self, key, value):
    self.keys[:, :, self.length] = key[:, :, 0]
    self.values[:, :, self.length] = value[:, :, 0]


def _write_backward(self, key, value):
    old = self.read(key, value)
    self.keys = torch.cat([key, old[0], self.keys[:, :, self.length + key.shape[2] :]], dim=2)
    self.values = torch.cat([value, old[1], self.values[:, :, self.length + key.shape[2] :]], dim=2)


def _require_one_more(self, new):
    if self.length + new >= self.max_len:
        raise ValueError("no room")


def _require_nothing(self, new):
    pass


def _advance_first(self, key, value):
    self.require_room(key.shape[2])
    self.advance(key.shape[2])
    self.write(key, value)
    return self.read(key, value)


def _no_length(self, batch_size, num_kv_heads, max_len, d_head):
    self.max_len = max_len
    self.keys = torch.zeros(batch_size, num_kv_heads, max_len, d_head)
    self.values = torch.zeros(batch_size, num_kv_heads, max_len, d_head)


def _used_too_early(self, batch_size, num_kv_heads, max_len, d_head):
    self.keys = torch.zeros(batch_size, num_kv_heads, self.max_len, d_head)


def _plus_one(self, new):
    self.length += 1


CACHE = Answers(
    number="7.2",
    alternatives=(
        Right("the course's own", kv_cache.KVCache, off_limits=True),
        Right("joined with cat", type("Cache", (_Joined,), {})),
        Right("one position at a time", type("Cache", (_OneByOne,), {})),
        Right("a list of steps", _ListOfSteps),
        Right("index_copy_", _cache(write=_copy_in)),
        Right("an error class of its own", _cache(require_room=_refuse_in_own_words)),
        Right("the length as a tensor", _cache(__init__=_length_as_tensor)),
        Right(
            "copies handed back", _cache(read=lambda self, k, v: tuple((t.clone() for t in _Cache.read(self, k, v))))
        ),
        Right("a list handed back", _cache(read=lambda self, k, v: list(_Cache.read(self, k, v)))),
    ),
    mistakes=(
        Wrong("a list of the tensors themselves", _ListOfTensors),
        Wrong("unwritten tail", _cache(read=lambda self, k, v: (self.keys, self.values))),
        Wrong(
            "unwritten tail of the values",
            _cache(read=lambda self, k, v: (self.keys[:, :, : self.length], self.values)),
        ),
        Wrong("always at the start", _cache(write=_write_at(lambda self, new: 0))),
        Wrong("one too far", _cache(write=_write_at(lambda self, new: min(self.length + 1, self.max_len - new)))),
        Wrong("length raised first", _cache(update=_advance_first)),
        Wrong("at the end of the room", _cache(write=_write_at(lambda self, new: self.max_len - new))),
        Wrong("length counts the updates", _cache(advance=_plus_one)),
        Wrong(
            "length counts the heads",
            _cache(advance=lambda self, new: setattr(self, "length", self.length + self.keys.shape[1])),
        ),
        Wrong(
            "length never raised",
            _cache(
                advance=lambda self, new: None,
                read=lambda self, k, v: tuple((t[:, :, : k.shape[2]] for t in (self.keys, self.values))),
            ),
        ),
        Wrong("length never raised, nothing handed back", _cache(advance=lambda self, new: None)),
        Wrong("only the new ones", _cache(read=lambda self, k, v: (k, v))),
        Wrong(
            "all but the new ones",
            _cache(
                read=lambda self, k, v: tuple((t[:, :, : self.length - k.shape[2]] for t in (self.keys, self.values)))
            ),
        ),
        Wrong("keys in both", _cache(write=_write_keys_twice)),
        Wrong("swapped", _cache(read=lambda self, k, v: _Cache.read(self, k, v)[::-1])),
        Wrong("one tensor for both", _cache(__init__=_one_tensor_for_both)),
        Wrong("first of several", _cache(write=_write_first)),
        Wrong("newest first", _cache(write=_write_backward)),
        Wrong("a full cache refused", _cache(require_room=_require_one_more)),
        Wrong("overflow left to PyTorch", _cache(require_room=_require_nothing)),
        Wrong("assert", _cache(require_room=_refuse_by_assert)),
        Wrong("length raised before the error", _cache(update=_count_then_refuse)),
        Wrong("overflow accepted", type("Cache", (_Joined,), {"require_room": _require_nothing})),
        Wrong("length never set", _cache(__init__=_no_length)),
        Wrong("max_len used before it is set", _cache(__init__=_used_too_early)),
        Wrong("nothing returned", _cache(read=lambda self, k, v: None)),
    ),
)


def _repeat_loop(x, num_repeats):
    return torch.stack([x[:, h // num_repeats] for h in range(x.shape[1] * num_repeats)], dim=1)


def _repeat_expand(x, num_repeats):
    batch, heads, length, size = x.shape
    return x[:, :, None].expand(batch, heads, num_repeats, length, size).reshape(batch, -1, length, size)


def _repeat_index(x, num_repeats):
    return x[:, torch.arange(x.shape[1] * num_repeats) // num_repeats]


def _order(num_heads, num_repeats):
    return torch.arange(num_heads * num_repeats).view(num_repeats, num_heads).T.flatten()


def _scrambled(x, num_repeats):
    batch, heads, length, size = x.shape
    copies = x[:, :, :, None].expand(batch, heads, length, num_repeats, size)
    return copies.reshape(batch, heads * num_repeats, length, size)


def _scrambled_last(x, num_repeats):
    batch, heads, length, size = x.shape
    return x.repeat_interleave(num_repeats, dim=-1).reshape(batch, heads * num_repeats, length, size)


def _as_many_heads(x, num_repeats):
    return x.repeat_interleave(num_repeats, dim=1)[:, : max(num_repeats, 1)]


REPEAT = Answers(
    number="7.3",
    alternatives=(
        Right("repeat_interleave", lambda x, n: x.repeat_interleave(n, dim=1)),
        Right("loop", _repeat_loop),
        Right("expand and reshape", _repeat_expand),
        Right("index", _repeat_index),
        Right("stack and flatten", lambda x, n: torch.stack([x] * n, dim=2).flatten(1, 2)),
        Right("einsum", lambda x, n: torch.einsum("bhld,g->bhgld", x, torch.ones(n)).flatten(1, 2)),
        Right("whole heads in a row", lambda x, n: x.repeat(1, 1, n, 1).view(len(x), -1, *x.shape[2:])),
        Right("repeat, then reordered", lambda x, n: x.repeat(1, n, 1, 1)[:, _order(x.shape[1], n)]),
        Right("the course's own", lambda x, n: multi_head.repeat_kv(x, n), off_limits=True),
    ),
    mistakes=(
        Wrong("repeat", lambda x, n: x.repeat(1, n, 1, 1)),
        Wrong("groups of the wrong size", lambda x, n: x[:, torch.arange(x.shape[1] * n) % n % x.shape[1]]),
        Wrong("along the batch", lambda x, n: x.repeat_interleave(n, dim=0)),
        Wrong("along the positions", lambda x, n: x.repeat_interleave(n, dim=2)),
        Wrong("along the features", lambda x, n: x.repeat_interleave(n, dim=-1)),
        Wrong("no dim", lambda x, n: x.repeat_interleave(n)),
        Wrong("positions into heads", _scrambled),
        Wrong("features into heads", _scrambled_last),
        Wrong("not repeated", lambda x, n: x),
        Wrong("new axis left", lambda x, n: x[:, :, None].expand(-1, -1, n, -1, -1)),
        Wrong("first head only", lambda x, n: x[:, :1].repeat(1, n * x.shape[1], 1, 1)),
        Wrong("only the first heads", _as_many_heads),
        Wrong("divided", lambda x, n: x.repeat_interleave(n, dim=1) / n),
    ),
)


def _interleaved(x, repeats):
    return x.repeat_interleave(repeats, dim=1)


def _tiled(x, repeats):
    return x.repeat(1, repeats, 1, 1)


def _split(x, heads):
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def _split_wrong(x, heads):
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def _merge(x):
    return x.transpose(1, 2).flatten(2)


def _merge_wrong(x):
    return x.reshape(x.shape[0], x.shape[2], -1)


def _weigh(scores, mask):
    return masked_softmax(scores, mask)


def _grouped(
    share_k=_interleaved,
    share_v=None,
    split=_split,
    merge=_merge,
    weigh=_weigh,
    scale=None,
    values_from="W_v",
    output=lambda heads, W_o: heads @ W_o.T,
    project=lambda x, W: x @ W.T,
):
    """Grouped-query attention with one part exchanged."""

    def answer(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
        repeats = num_heads // num_kv_heads
        q, k = (split(project(x, W_q), num_heads), split(project(x, W_k), num_kv_heads))
        v = split(project(x, W_v if values_from == "W_v" else W_k), num_kv_heads)
        k, v = (share_k(k, repeats), (share_v or share_k)(v, repeats))
        divisor = scale(x, q) if scale else q.shape[-1] ** 0.5
        weights = weigh(q @ k.transpose(-2, -1) / divisor, mask)
        return output(merge(weights @ v), W_o)

    return answer


def _grouped_loop(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    size, groups = (W_q.shape[0] // num_heads, num_heads // num_kv_heads)
    full = mask.expand(x.shape[0], num_heads, x.shape[1], x.shape[1])
    heads = []
    for h in range(num_heads):
        own, shared = (slice(h * size, (h + 1) * size), slice(h // groups * size, (h // groups + 1) * size))
        q, k, v = (x @ W_q[own].T, x @ W_k[shared].T, x @ W_v[shared].T)
        scores = (q @ k.mT / size**0.5).masked_fill(~full[:, h], -math.inf)
        heads.append(scores.softmax(-1) @ v)
    return torch.cat(heads, dim=-1) @ W_o.T


def _grouped_einsum(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    batch, length, _ = x.shape
    q = (x @ W_q.T).view(batch, length, num_kv_heads, num_heads // num_kv_heads, -1)
    k, v = ((x @ W.T).view(batch, length, num_kv_heads, -1) for W in (W_k, W_v))
    scores = torch.einsum("bqkgd,bmkd->bkgqm", q, k) / q.shape[-1] ** 0.5
    full = mask.expand(batch, num_heads, length, length).reshape(scores.shape)
    weights = scores.masked_fill(~full, -1000000000.0).softmax(-1)
    return torch.einsum("bkgqm,bmkd->bqkgd", weights, v).reshape(batch, length, -1) @ W_o.T


def _grouped_torch(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    q, k, v = (_split(x @ W_q.T, num_heads), _split(x @ W_k.T, num_kv_heads), _split(x @ W_v.T, num_kv_heads))
    return _merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)) @ W_o.T


def _grouped_course(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    layer = multi_head.MultiHeadAttention(x.shape[-1], num_heads, num_kv_heads=num_kv_heads, bias=False)
    own = {f"{name}_proj.weight": weight for name, weight in zip("qkvo", (W_q, W_k, W_v, W_o), strict=True)}
    return torch.func.functional_call(layer, own, (x,), {"mask": mask})


def _closed(scores, mask, fill=-math.inf):
    return scores.masked_fill(~mask, fill)


def _renormalized(scores, mask):
    weights = scores.softmax(-1) * mask
    return weights / weights.sum(-1, keepdim=True)


def _softmax_over_queries(scores, mask):
    return masked_softmax(scores, mask.expand_as(scores), dim=-2)


def _course_split(*given):
    split, merge = (lambda x, heads: multi_head.split_heads(x, heads), lambda x: multi_head.merge_heads(x))
    return _grouped(split=split, merge=merge)(*given)


def _interleaved_heads(x, heads):
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def _not_shared(x, repeats):
    return x


def _scaled_by_group(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    return _grouped(scale=lambda x, q: (x.shape[-1] // num_kv_heads) ** 0.5)(
        x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask
    )


GROUPED = Answers(
    number="7.4",
    alternatives=(
        Right("loop over heads", _grouped_loop),
        Right("einsum on groups", _grouped_einsum),
        Right("finite fill value", _grouped(weigh=lambda s, m: _closed(s, m, -1000000000.0).softmax(-1))),
        Right("expand and reshape", _grouped(share_k=_repeat_expand)),
        Right("weights renormalized", _grouped(weigh=_renormalized)),
        Right("the course's split and merge", _course_split, off_limits=True),
        Right("PyTorch's own", _grouped_torch, off_limits=True),
        Right("the course's own layer", _grouped_course, off_limits=True),
        Right("the course's repeat_kv", _grouped(share_k=lambda x, n: multi_head.repeat_kv(x, n)), off_limits=True),
    ),
    mistakes=(
        Wrong("repeat", _grouped(share_k=_tiled)),
        Wrong("repeat for the keys", _grouped(share_k=_tiled, share_v=_interleaved)),
        Wrong("repeat for the values", _grouped(share_k=_interleaved, share_v=_tiled)),
        Wrong("no mask", _grouped(weigh=lambda s, m: s.softmax(-1))),
        Wrong("no mask, and repeat", _grouped(share_k=_tiled, weigh=lambda s, m: s.softmax(-1))),
        Wrong("mask inverted", _grouped(weigh=lambda s, m: s.masked_fill(m, -1000000000.0).softmax(-1))),
        Wrong("mask inverted, minus infinity", _grouped(weigh=lambda s, m: s.masked_fill(m, -math.inf).softmax(-1))),
        Wrong("mask after the softmax", _grouped(weigh=lambda s, m: s.softmax(-1) * m)),
        Wrong("masked scores are zero", _grouped(weigh=lambda s, m: (s * m).softmax(-1))),
        Wrong("mask added", _grouped(weigh=lambda s, m: (s + m).softmax(-1))),
        Wrong("minus infinity times the mask", _grouped(weigh=lambda s, m: (s + ~m * -math.inf).softmax(-1))),
        Wrong("one mask for all heads", _grouped(weigh=lambda s, m: masked_softmax(s, m if m.dim() < 4 else m[:, :1]))),
        Wrong("one mask for the batch", _grouped(weigh=lambda s, m: masked_softmax(s, m if m.dim() < 4 else m[:1]))),
        Wrong("no scaling", _grouped(scale=lambda x, q: 1.0)),
        Wrong("division by d_head", _grouped(scale=lambda x, q: q.shape[-1])),
        Wrong("division by sqrt(d_model)", _grouped(scale=lambda x, q: x.shape[-1] ** 0.5)),
        Wrong("division by the root of d_model / H_kv", _scaled_by_group),
        Wrong("softmax over the queries", _grouped(weigh=_softmax_over_queries)),
        Wrong("hard argmax", _grouped(weigh=lambda s, m: F.one_hot(_closed(s, m).argmax(-1), s.shape[-1]).to(s.dtype))),
        Wrong("heads split without a transpose", _grouped(split=_split_wrong)),
        Wrong("heads merged without a transpose", _grouped(merge=_merge_wrong)),
        Wrong("no output projection", _grouped(output=lambda heads, W_o: heads)),
        Wrong(
            "heads interleaved", _grouped(split=_interleaved_heads, merge=lambda h: h.permute(0, 2, 3, 1).flatten(2))
        ),
        Wrong("heads not shared", _grouped(share_k=_not_shared)),
        Wrong("keys and values exchanged", lambda x, W_q, W_k, W_v, *rest: _grouped()(x, W_q, W_v, W_k, *rest)),
        Wrong("gradient cut", lambda *given: _grouped()(*given).detach()),
        Wrong("values from the key projection", _grouped(values_from="W_k")),
        Wrong(
            "first key/value head for all", _grouped(share_k=lambda x, n: x[:, :1].expand(-1, n * x.shape[1], -1, -1))
        ),
        Wrong(
            "key/value heads averaged",
            _grouped(share_k=lambda x, n: x.mean(1, keepdim=True).expand(-1, n * x.shape[1], -1, -1)),
        ),
        Wrong("output projection not transposed", _grouped(output=lambda heads, W_o: heads @ W_o)),
        Wrong(
            "query and output projections not transposed",
            _grouped(
                project=lambda x, W: x @ (W if W.shape[0] == W.shape[1] else W.T), output=lambda heads, W_o: heads @ W_o
            ),
        ),
        Wrong("heads summed", _grouped(merge=lambda h: h.mean(1).repeat(1, 1, h.shape[1]))),
    ),
)


def _grouped_heads(weight, num_heads, num_kv_heads):
    return weight.view(num_kv_heads, num_heads // num_kv_heads, -1, weight.shape[-1])


def _pool_loop(weight, num_heads, num_kv_heads):
    heads, group = (weight.chunk(num_heads), num_heads // num_kv_heads)
    return torch.cat([sum(heads[j * group : (j + 1) * group]) / group for j in range(num_kv_heads)])


def _pool_overlapping(weight, num_heads, num_kv_heads):
    heads, group = (weight.unflatten(0, (num_heads, -1)), num_heads // num_kv_heads)
    return torch.cat([heads[j : j + group].mean(0) for j in range(num_kv_heads)])


def _pool_matrix(weight, num_heads, num_kv_heads):
    group, size = (num_heads // num_kv_heads, weight.shape[0] // num_heads)
    average = torch.eye(num_kv_heads, dtype=weight.dtype).repeat_interleave(group, dim=1) / group
    return torch.kron(average, torch.eye(size, dtype=weight.dtype)) @ weight


def _pool_einsum(weight, num_heads, num_kv_heads):
    heads = _grouped_heads(weight, num_heads, num_kv_heads)
    return torch.einsum("kgdi->kdi", heads).reshape(-1, weight.shape[-1]) * num_kv_heads / num_heads


POOL = Answers(
    number="7.5",
    alternatives=(
        Right("loop", _pool_loop),
        Right("averaging matrix", _pool_matrix),
        Right("einsum", _pool_einsum),
        Right(
            "unflatten", lambda w, h, h_kv: w.unflatten(0, (h_kv, h // h_kv, w.shape[0] // h)).mean(dim=1).flatten(0, 1)
        ),
    ),
    mistakes=(
        Wrong("every H_kv-th head", lambda w, h, h_kv: w.view(h // h_kv, h_kv, -1, w.shape[-1]).mean(0).flatten(0, 1)),
        Wrong("sum", lambda w, h, h_kv: _grouped_heads(w, h, h_kv).sum(1).flatten(0, 1)),
        Wrong("divided by all heads", lambda w, h, h_kv: _grouped_heads(w, h, h_kv).sum(1).flatten(0, 1) / h),
        Wrong("divided by the groups", lambda w, h, h_kv: _grouped_heads(w, h, h_kv).sum(1).flatten(0, 1) / h_kv),
        Wrong("largest of each group", lambda w, h, h_kv: _grouped_heads(w, h, h_kv).amax(1).flatten(0, 1)),
        Wrong("overlapping groups", _pool_overlapping),
        Wrong("first head of each group", lambda w, h, h_kv: _grouped_heads(w, h, h_kv)[:, 0].flatten(0, 1)),
        Wrong("last head of each group", lambda w, h, h_kv: _grouped_heads(w, h, h_kv)[:, -1].flatten(0, 1)),
        Wrong("first heads", lambda w, h, h_kv: w[: w.shape[0] // h * h_kv].clone()),
        Wrong("neighboring rows", lambda w, h, h_kv: w.view(-1, h // h_kv, w.shape[-1]).mean(1)),
        Wrong("columns", lambda w, h, h_kv: w.view(w.shape[0], -1, 1).mean(1)),
        Wrong("all heads alike", lambda w, h, h_kv: w.view(h, -1, w.shape[-1]).mean(0).repeat(h_kv, 1)),
        Wrong(
            "repeated again",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).mean(1).repeat_interleave(h // h_kv, dim=0).flatten(0, 1),
        ),
        Wrong("heads not merged", lambda w, h, h_kv: _grouped_heads(w, h, h_kv).mean(1)),
        Wrong("one group axis for all", lambda w, h, h_kv: _grouped_heads(w, h, h_kv).mean(0).flatten(0, 1)),
        Wrong("median", lambda w, h, h_kv: _grouped_heads(w, h, h_kv).median(1).values.flatten(0, 1)),
    ),
)


def _attend(share_k=_interleaved, share_v=None, weigh=_weigh, power=0.5):

    def answer(query, key, value, mask):
        repeats = query.shape[1] // key.shape[1]
        k, v = (share_k(key, repeats), (share_v or share_k)(value, repeats))
        return weigh(query @ k.mT / query.shape[-1] ** power, mask) @ v

    return answer


def _attend_groups(query, key, value, mask):
    batch, num_heads, L_q, size = query.shape
    q = query.view(batch, key.shape[1], -1, L_q, size)
    full = mask.expand(batch, num_heads, L_q, key.shape[2]).reshape(*q.shape[:4], key.shape[2])
    weights = (q @ key[:, :, None].mT / size**0.5).masked_fill(~full, -math.inf).softmax(-1)
    return (weights @ value[:, :, None]).flatten(1, 2)


def _attend_loop(query, key, value, mask):
    group = query.shape[1] // key.shape[1]
    heads = [
        masked_softmax(query[:, h] @ key[:, h // group].mT / query.shape[-1] ** 0.5, mask[:, 0]) @ value[:, h // group]
        for h in range(query.shape[1])
    ]
    return torch.stack(heads, dim=1)


def _moved_queries(query, key, value, mask):
    """The query heads sorted to the tiled keys, and never sorted back."""
    repeats = query.shape[1] // key.shape[1]
    order = torch.arange(query.shape[1]).view(-1, repeats).T.flatten()
    return _attend(_tiled)(query[:, order], key, value, mask)


def _moved_and_back(query, key, value, mask):
    order = _order(query.shape[1] // key.shape[1], key.shape[1])
    return _moved_queries(query, key, value, mask)[:, order.argsort()]


BUG = Answers(
    number="7.6",
    alternatives=(
        Right("expand and reshape", _attend(_repeat_expand)),
        Right("index", _attend(_repeat_index)),
        Right("groups on an axis of their own", _attend_groups),
        Right("loop over heads", _attend_loop),
        Right("query heads moved, and moved back", _moved_and_back),
        Right(
            "PyTorch's own",
            lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, enable_gqa=True),
            off_limits=True,
        ),
        Right(
            "the course's own",
            lambda q, k, v, m: scaled_dot_product_attention(
                q, *(t.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for t in (k, v)), m
            )[0],
            off_limits=True,
        ),
    ),
    mistakes=(
        Wrong("still repeat", _attend(_tiled)),
        Wrong("only the keys mended", _attend(_interleaved, _tiled)),
        Wrong("only the values mended", _attend(_tiled, _interleaved)),
        Wrong("mask lost", _attend(weigh=lambda s, m: s.softmax(-1))),
        Wrong("mask inverted", _attend(weigh=lambda s, m: s.masked_fill(m, -math.inf).softmax(-1))),
        Wrong("softmax over the queries", _attend(weigh=lambda s, m: masked_softmax(s, m.expand_as(s), dim=-2))),
        Wrong("no scaling", _attend(power=0.0)),
        Wrong("division by d_k", _attend(power=1.0)),
        Wrong("first head for all", _attend(lambda x, n: x[:, :1])),
        Wrong("heads not shared", _attend(_not_shared)),
        Wrong("key/value heads averaged", _attend(lambda x, n: x.mean(1, keepdim=True))),
        Wrong("queries moved", _moved_queries),
        Wrong("positions repeated", _attend(lambda x, n: x.repeat_interleave(n, dim=2))),
        Wrong("batch repeated", _attend(lambda x, n: x.repeat_interleave(n, dim=0))),
    ),
)

EXERCISES = (
    SIZE,
    CACHE,
    REPEAT,
    GROUPED,
    POOL,
    BUG,
)

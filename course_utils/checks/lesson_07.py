"""Lesson 07, multi-query and grouped-query attention: what is right, what is wrong, and how it is told."""

import math

import torch
import torch.nn.functional as F

from course_utils import kv_cache, masks, multi_head
from course_utils.attention import masked_softmax, scaled_dot_product_attention

from .exercise import Alternative, Exercise, Mistake, Option, Quiz
from .probes.codec import type_name

# 7.1 ------------------------------------------------------------------------------------------------------------------

_SIZES = ("num_layers", "batch_size", "num_heads", "num_kv_heads", "d_head", "length", "bytes_per_number")


def _size_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    drawn = [torch.randint(low, high, (), generator=rng).item() for low, high in ((3, 60), (2, 9), (2, 9), (2, 9))]
    layers, batch, groups, kv_heads = drawn
    return [
        dict(zip(_SIZES, sizes, strict=True))
        for sizes in (
            (1, 1, 6, 3, 4, 5, 4),
            (32, 8, 32, 8, 128, 8192, 2),
            (32, 3, 71, 1, 64, 2048, 1),
            (48, 2, 25, 25, 64, 1024, 4),  # as many key/value heads as heads
            (layers, batch, groups * kv_heads, kv_heads, 24, 1000 + seed % 97, 2),
        )
    ]


def _call_with_numbers(answer, case):
    """By position, as everywhere; a call of its own because whole numbers cannot be changed in place."""
    return answer(*case.values())


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
    one = torch.empty(batch_size, num_kv_heads, length, d_head, device="meta")  # no memory behind it
    return sum(one.numel() * bytes_per_number for _ in range(num_layers) for _ in ("keys", "values"))


def _size_by_course(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    cache = kv_cache.KVCache(batch_size, num_kv_heads, length, d_head, dtype=torch.float32, device="meta")
    return num_layers * cache.num_bytes * bytes_per_number // 4


_WITHOUT_2 = (
    "the keys only: the 2 is missing.",
    "a cache keeps keys and values, two tensors of the same shape: multiply by 2.",
)
_WITHOUT_LAYERS = (
    "the cache of one layer: the layers are missing.",
    "each layer has keys and values of its own: multiply by num_layers.",
)
_ALL_HEADS = (
    "num_heads where num_kv_heads belongs: that is the cache of full multi-head attention.",
    "only keys and values are kept, so count key/value heads; the query heads play no part.",
)

SIZE = Exercise(
    number="7.1",
    title="The size of a cache",
    points=2,
    inputs=_size_inputs,
    reference=_size(),
    returns=("bytes",),
    call=_call_with_numbers,
    rtol=0.0,  # bytes are counted, not measured
    atol=0.0,
    off_limits=("course_utils.kv_cache.KVCache",),
    alternatives=(
        Alternative("shapes of tensors", _size_of_tensors),
        Alternative("math.prod", lambda n, b, h, h_kv, d, length, size: math.prod((2, n, b, h_kv, d, length, size))),
        Alternative("a float", lambda n, b, h, h_kv, d, length, size: 2.0 * n * b * h_kv * d * length * size),
        Alternative(
            "loop over layers",
            lambda n, b, h, h_kv, d, length, size: sum(2 * b * h_kv * d * length * size for _ in range(n)),
        ),
        Alternative("the course's own", _size_by_course, off_limits=True),
    ),
    mistakes=(
        Mistake("without the 2", _size(two=1), *_WITHOUT_2),
        Mistake("without the layers", _size(use_layers=False), *_WITHOUT_LAYERS),
        Mistake("num_heads for num_kv_heads", _size(heads=lambda h, h_kv: h), *_ALL_HEADS),
        Mistake(
            "without the 2, and num_heads",
            _size(two=1, heads=lambda h, h_kv: h),
            "num_heads where num_kv_heads belongs, and the 2 for keys and values is missing.",
            "count num_kv_heads heads, for the keys and once more for the values.",
        ),
        Mistake(
            "without the 2 and the layers",
            _size(two=1, use_layers=False),
            "the keys of one layer: both the 2 and the layers are missing.",
            "every layer keeps keys and values: multiply by 2 and by num_layers.",
        ),
        Mistake(
            "without the layers, and num_heads",
            _size(use_layers=False, heads=lambda h, h_kv: h),
            "num_heads where num_kv_heads belongs, and one layer only.",
            "count num_kv_heads heads, in each of num_layers layers.",
        ),
        Mistake(
            "without the batch",
            _size(use_batch=False),
            "the cache of one sequence: the batch is missing.",
            "sequences share nothing in the cache: multiply by batch_size.",
        ),
        Mistake(
            "without the length",
            _size(use_length=False),
            "the cache of one position: the length is missing.",
            "every position keeps its key and its value: multiply by length.",
        ),
        Mistake(
            "numbers, not bytes",
            _size(per_number=lambda numbers, size: numbers),
            "how many numbers are kept, not how many bytes they need.",
            "multiply by bytes_per_number.",
        ),
        Mistake(
            "bits",
            _size(per_number=lambda numbers, size: 8 * numbers * size),
            "bits: 8 times the bytes.",
            "bytes_per_number is given in bytes already; leave the 8 out.",
        ),
        Mistake(
            "always two bytes",
            _size(per_number=lambda numbers, size: 2 * numbers),
            "two bytes for each number, whatever bytes_per_number says.",
            "the 2 in the formula is for keys and values; multiply by bytes_per_number as well.",
        ),
        Mistake(
            "d_model for d_head",
            _size(size=lambda h, d: h * d),
            "d_model = num_heads * d_head where d_head belongs.",
            "one key has d_head numbers, and there are num_kv_heads of them for each position.",
        ),
        Mistake(
            "queries too",
            lambda n, b, h, h_kv, d, length, size: n * b * (2 * h_kv + h) * d * length * size,
            "a cache that also keeps the queries.",
            "an old query is never used again: count keys and values only.",
        ),
        Mistake(
            "three tensors",
            _size(two=3),
            "three tensors for each layer: the queries were counted as a third.",
            "an old query is never used again: the factor is 2, for keys and values.",
        ),
        Mistake(
            "values for all heads",
            lambda n, b, h, h_kv, d, length, size: n * b * (h + h_kv) * d * length * size,
            "num_kv_heads for one of keys and values, and num_heads for the other.",
            "keys and values have the same shape: num_kv_heads heads each.",
        ),
        Mistake(
            "heads in a group",
            _size(heads=lambda h, h_kv: h // h_kv),
            "num_heads // num_kv_heads, the size of a group, where num_kv_heads belongs.",
            "only the key/value heads are kept: count num_kv_heads of them.",
        ),
        Mistake(
            "length squared",
            lambda n, b, h, h_kv, d, length, size: 2 * n * b * h_kv * d * length**2 * size,
            "the length counted twice, as in a table of scores.",
            "each position keeps one key and one value for each key/value head: multiply by length once.",
        ),
        Mistake(
            "in GiB",
            _size(per_number=lambda numbers, size: numbers * size / 2**30),
            "the size in GiB.",
            "return bytes; divide by 2**30 only for printing.",
        ),
    ),
    advice="work the first case by hand: 2 tensors of shape (batch_size, num_kv_heads, length, d_head) for each layer.",
)

# 7.2 ------------------------------------------------------------------------------------------------------------------


def _cache_inputs(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch_size, num_kv_heads, max_len, d_head, new_positions):
        shape = (batch_size, num_kv_heads, sum(new_positions), d_head)
        return {
            "batch_size": batch_size,
            "num_kv_heads": num_kv_heads,
            "max_len": max_len,
            "d_head": d_head,
            "new_positions": new_positions,  # in each update; the last one has no room
            "keys": torch.randn(shape, generator=rng),
            "values": torch.randn(shape, generator=rng),
        }

    return [
        case(1, 1, 4, 2, [1, 1, 3]),
        case(2, 3, 9, 4, [5, 1, 1, 2, 1]),  # several at once, then one at a time, until it is full
        case(3, 2, 12, 5, [1, 4, 3, 5]),
    ]


def drive_cache(answer, case):
    """Build one cache, update it step by step, and note what each update hands back; the last update has no room."""
    cache = answer(*(case[name] for name in ("batch_size", "num_kv_heads", "max_len", "d_head")))
    steps = zip(*(case[name].split(case["new_positions"], dim=2) for name in ("keys", "values")), strict=True)
    *fitting, too_many = steps
    keys, values, lengths = [], [], []
    for key, value in fitting:
        so_far = cache.update(key, value)
        if not isinstance(so_far, tuple | list) or len(so_far) != 2:
            raise TypeError(f"update must return two tensors, keys and values; it returned a {type_name(so_far)}")
        keys.append(_copy(so_far[0]))
        values.append(_copy(so_far[1]))
        lengths.append(_copy(cache.length))
    try:
        cache.update(*too_many)
    except NotImplementedError:
        raise
    except Exception as problem:
        outcome = "ValueError" if isinstance(problem, ValueError) else type_name(problem)
    else:
        outcome = "no error"
    return keys, values, lengths, outcome, _copy(cache.length)


def _copy(value):
    return value.clone() if isinstance(value, torch.Tensor) else value


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
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

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
        start, new = where(self, key.shape[2]), key.shape[2]
        self.keys[:, :, start : start + new] = key
        self.values[:, :, start : start + new] = value

    return write


class _Joined(_Cache):
    """No room set aside: everything so far is joined with what is new."""

    def write(self, key, value):
        if self.length == 0:
            self.keys, self.values = self.keys[:, :, :0], self.values[:, :, :0]
        self.keys, self.values = torch.cat([self.keys, key], dim=2), torch.cat([self.values, value], dim=2)


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
    self.keys[:, :, start : self.length], self.values[:, :, start : self.length] = key, value
    return self.read(key, value)


def _one_tensor_for_both(self, batch_size, num_kv_heads, max_len, d_head):
    _Cache.__init__(self, batch_size, num_kv_heads, max_len, d_head)
    self.keys = self.values


def _length_as_tensor(self, *sizes):
    _Cache.__init__(self, *sizes)
    self.length = torch.tensor(0)  # += changes it in place


class _OneByOne(_Cache):
    def write(self, key, value):
        for step in range(key.shape[2]):
            self.keys[:, :, self.length + step] = key[:, :, step]
            self.values[:, :, self.length + step] = value[:, :, step]


class _ListOfSteps:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.steps, self.max_len = [], max_len

    @property
    def length(self):
        return sum(key.shape[2] for key, _ in self.steps)

    def update(self, key, value):
        if self.length + key.shape[2] > self.max_len:
            raise ValueError(f"{self.length} of {self.max_len} positions are taken")
        self.steps.append((key, value))
        return tuple(torch.cat(parts, dim=2) for parts in zip(*self.steps, strict=True))


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


_UNWRITTEN = (
    "the whole room was handed back, its unwritten tail included: those zeros would get weight.",
    "hand back positions 0 to length - 1 only: slice with [:, :, :self.length].",
)

CACHE = Exercise(
    number="7.2",
    title="A key/value cache",
    points=4,
    inputs=_cache_inputs,
    reference=_cache(),
    returns=("keys", "values", "length", "error when full", "length after the error"),
    off_limits=("course_utils.kv_cache.KVCache",),
    call=drive_cache,
    expects="class",
    alternatives=(
        Alternative("the course's own", kv_cache.KVCache, off_limits=True),
        Alternative("joined with cat", type("Cache", (_Joined,), {})),
        Alternative("one position at a time", type("Cache", (_OneByOne,), {})),
        Alternative("a list of steps", _ListOfSteps),
        Alternative("index_copy_", _cache(write=_copy_in)),
        Alternative("an error class of its own", _cache(require_room=_refuse_in_own_words)),
        Alternative("the length as a tensor", _cache(__init__=_length_as_tensor)),
        Alternative(
            "copies handed back", _cache(read=lambda self, k, v: tuple(t.clone() for t in _Cache.read(self, k, v)))
        ),
        Alternative("a list handed back", _cache(read=lambda self, k, v: list(_Cache.read(self, k, v)))),
    ),
    mistakes=(
        Mistake("unwritten tail", _cache(read=lambda self, k, v: (self.keys, self.values)), *_UNWRITTEN),
        Mistake(
            "unwritten tail of the values",
            _cache(read=lambda self, k, v: (self.keys[:, :, : self.length], self.values)),
            "the keys are cut to the length, the values are not.",
            "slice both with [:, :, :self.length]: each key needs exactly one value.",
        ),
        Mistake(
            "always at the start",
            _cache(write=_write_at(lambda self, new: 0)),
            "the cache was written at the wrong offset: every update starts at position 0 and overwrites the oldest.",
            "write to positions self.length to self.length + L_new - 1.",
        ),
        Mistake(
            "one too far",
            _cache(write=_write_at(lambda self, new: min(self.length + 1, self.max_len - new))),
            "the cache was written at the wrong offset, one position too far, so that position 0 stays zero.",
            "the next free position is self.length itself: positions count from 0.",
        ),
        Mistake(
            "length raised first",
            _cache(update=_advance_first),
            "the length was raised before the new keys were written, so they land behind their place.",
            "write first, at the old length; raise the length afterwards.",
        ),
        Mistake(
            "at the end of the room",
            _cache(write=_write_at(lambda self, new: self.max_len - new)),
            "the cache was written at the wrong offset: each update goes to the last positions of the room.",
            "fill the room from the left: start at self.length.",
        ),
        Mistake(
            "length counts the updates",
            _cache(advance=_plus_one),
            "the length grows by 1 at each update, however many positions came.",
            "add key.shape[2], the number of new positions.",
        ),
        Mistake(
            "length counts the heads",
            _cache(advance=lambda self, new: setattr(self, "length", self.length + self.keys.shape[1])),
            "the length grows by the number of heads: key.shape[1] instead of key.shape[2].",
            "positions stand on axis 2 of (B, H_kv, L_new, d_head).",
        ),
        Mistake(
            "length never raised",
            _cache(
                advance=lambda self, new: None,
                read=lambda self, k, v: tuple(t[:, :, : k.shape[2]] for t in (self.keys, self.values)),
            ),
            "self.length stays 0, so that each update overwrites the one before.",
            "add the number of new positions to self.length in every update.",
        ),
        Mistake(
            "length never raised, nothing handed back",
            _cache(advance=lambda self, new: None),
            "self.length stays 0, so nothing is handed back.",
            "add the number of new positions to self.length in every update.",
        ),
        Mistake(
            "only the new ones",
            _cache(read=lambda self, k, v: (k, v)),
            "only the new keys and values came back; the earlier ones are what a cache is for.",
            "return all positions so far: 0 to length - 1.",
        ),
        Mistake(
            "all but the new ones",
            _cache(
                read=lambda self, k, v: tuple(t[:, :, : self.length - k.shape[2]] for t in (self.keys, self.values))
            ),
            "the positions before this update came back; the new ones are missing.",
            "slice with the length after the update.",
        ),
        Mistake(
            "keys in both",
            _cache(write=_write_keys_twice),
            "the keys were written into both tensors: your values are keys.",
            "write `value` into the tensor of the values.",
        ),
        Mistake(
            "swapped",
            _cache(read=lambda self, k, v: _Cache.read(self, k, v)[::-1]),
            "values and keys came back in this order.",
            "return the keys first.",
        ),
        Mistake(
            "one tensor for both",
            _cache(__init__=_one_tensor_for_both),
            "keys and values share one tensor: the values were written over the keys.",
            "make two tensors; `self.keys = self.values = torch.zeros(...)` makes one with two names.",
        ),
        Mistake(
            "first of several",
            _cache(write=_write_first),
            "of several new positions only the first was written; the others stay zero.",
            "write a slice of L_new positions: [:, :, start:end] = key.",
        ),
        Mistake(
            "newest first",
            _cache(write=_write_backward),
            "the new positions stand before the old ones.",
            "keep them in the order in which they came: a causal mask counts on it.",
        ),
        Mistake(
            "a full cache refused",
            _cache(require_room=_require_one_more),
            "an update that fills the room exactly was refused.",
            "refuse only if length + L_new is greater than max_len.",
        ),
        Mistake(
            "overflow left to PyTorch",
            _cache(require_room=_require_nothing),
            "an update without room ended in PyTorch's RuntimeError, which says nothing of a cache.",
            "compare length + L_new with max_len first, and raise ValueError yourself.",
        ),
        Mistake(
            "assert",
            _cache(require_room=_refuse_by_assert),
            "an assert stopped the update that does not fit: that is an AssertionError, and gone under python -O.",
            "write `if ...: raise ValueError(...)`.",
        ),
        Mistake(
            "length raised before the error",
            _cache(update=_count_then_refuse),
            "the refused positions were counted: the length is too large after the error.",
            "compare length + L_new with max_len before you change anything.",
        ),
        Mistake(
            "overflow accepted",
            type("Cache", (_Joined,), {"require_room": _require_nothing}),
            "an update beyond max_len raised no error: the cache grew past its room, or something was lost.",
            "raise ValueError if length + L_new is greater than max_len.",
        ),
        Mistake(
            "length never set",
            _cache(__init__=_no_length),
            "self.length is used before it is set.",
            "set self.length = 0 in __init__.",
        ),
        Mistake(
            "max_len used before it is set",
            _cache(__init__=_used_too_early),
            "self.max_len is used before it is set.",
            "in __init__, assign self.max_len = max_len before any line that reads self.max_len.",
        ),
        Mistake(
            "nothing returned",
            _cache(read=lambda self, k, v: None),
            "update returns nothing.",
            "end update with a return of the keys and the values so far.",
        ),
    ),
    advice="after every update, print cache.length and the two shapes: their axis 2 must be the length.",
)

# 7.3 ------------------------------------------------------------------------------------------------------------------


def _repeat_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        {"x": torch.tensor([1.0, 2.0]).view(1, 2, 1, 1), "num_repeats": 2},
        {"x": torch.randn(2, 3, 5, 4, generator=rng), "num_repeats": 2},
        {"x": torch.randn(3, 2, 4, 5, generator=rng), "num_repeats": 4},
        {"x": torch.randn(2, 4, 3, 6, generator=rng), "num_repeats": 1},
        {"x": torch.randn(2, 1, 4, 3, generator=rng), "num_repeats": 5},
        {"x": torch.randn(2, 3, 5, 4, generator=rng), "num_repeats": 2},  # sizes seen before, other numbers
    ]


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


_TILED = (
    "`repeat`: 0 1 2 0 1 2. Query head h then meets key/value head h % H_kv, a stranger.",
    "each head comes num_repeats times in a row, 0 0 1 1 2 2: `repeat_interleave` does that.",
)

REPEAT = Exercise(
    number="7.3",
    title="Share the key/value heads",
    points=2,
    inputs=_repeat_inputs,
    reference=multi_head.repeat_kv,
    returns=("heads",),
    off_limits=("course_utils.multi_head.repeat_kv",),
    alternatives=(
        Alternative("repeat_interleave", lambda x, n: x.repeat_interleave(n, dim=1)),
        Alternative("loop", _repeat_loop),
        Alternative("expand and reshape", _repeat_expand),
        Alternative("index", _repeat_index),
        Alternative("stack and flatten", lambda x, n: torch.stack([x] * n, dim=2).flatten(1, 2)),
        Alternative("einsum", lambda x, n: torch.einsum("bhld,g->bhgld", x, torch.ones(n)).flatten(1, 2)),
        Alternative("whole heads in a row", lambda x, n: x.repeat(1, 1, n, 1).view(len(x), -1, *x.shape[2:])),
        Alternative("repeat, then reordered", lambda x, n: x.repeat(1, n, 1, 1)[:, _order(x.shape[1], n)]),
        Alternative("the course's own", lambda x, n: multi_head.repeat_kv(x, n), off_limits=True),
    ),
    mistakes=(
        Mistake("repeat", lambda x, n: x.repeat(1, n, 1, 1), *_TILED),
        Mistake(
            "groups of the wrong size",
            lambda x, n: x[:, torch.arange(x.shape[1] * n) % n % x.shape[1]],
            "head h % num_repeats for query head h.",
            "query head h meets key/value head h // num_repeats: a whole division, not its remainder.",
        ),
        Mistake(
            "along the batch",
            lambda x, n: x.repeat_interleave(n, dim=0),
            "the batch was repeated: dim=0.",
            "the heads stand on axis 1 of (B, H_kv, L, d_head).",
        ),
        Mistake(
            "along the positions",
            lambda x, n: x.repeat_interleave(n, dim=2),
            "the positions were repeated: dim=2.",
            "the heads stand on axis 1 of (B, H_kv, L, d_head).",
        ),
        Mistake(
            "along the features",
            lambda x, n: x.repeat_interleave(n, dim=-1),
            "the features were repeated: dim=-1.",
            "the heads stand on axis 1 of (B, H_kv, L, d_head).",
        ),
        Mistake(
            "no dim",
            lambda x, n: x.repeat_interleave(n),
            "one long vector: without dim=, repeat_interleave flattens.",
            "say along which axis: dim=1.",
        ),
        Mistake(
            "positions into heads",
            _scrambled,
            "the shape is right, the content scrambled: the new axis was put after the positions before the reshape.",
            "put the new axis right after the heads: (B, H_kv, num_repeats, L, d_head), then merge axes 1 and 2.",
        ),
        Mistake(
            "features into heads",
            _scrambled_last,
            "the shape is right, the content scrambled: features were repeated, then reshaped into heads.",
            "repeat along axis 1, and no reshape is needed.",
        ),
        Mistake(
            "not repeated",
            lambda x, n: x,
            "the heads as they were, not repeated.",
            "the result has H_kv * num_repeats heads.",
        ),
        Mistake(
            "new axis left",
            lambda x, n: x[:, :, None].expand(-1, -1, n, -1, -1),
            "an axis too many: the copies still stand on an axis of their own.",
            "merge axes 1 and 2: .flatten(1, 2), or reshape.",
        ),
        Mistake(
            "first head only",
            lambda x, n: x[:, :1].repeat(1, n * x.shape[1], 1, 1),
            "head 0 for all: that is multi-query attention.",
            "every head comes num_repeats times.",
        ),
        Mistake(
            "only the first heads",
            _as_many_heads,
            "num_repeats heads; it should be H_kv * num_repeats.",
            "num_repeats says how often each head comes, not how many heads there are in the end.",
        ),
        Mistake(
            "divided",
            lambda x, n: x.repeat_interleave(n, dim=1) / n,
            "the copies were divided by num_repeats.",
            "sharing a head changes none of its numbers.",
        ),
    ),
    advice="fill head j of x with the number j and look at result[0, :, 0, 0]: it must read 0 0 1 1 2 2.",
)

# 7.4 ------------------------------------------------------------------------------------------------------------------


def _grouped_inputs(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, num_heads, num_kv_heads, d_head, mask):
        d_model = num_heads * d_head
        sizes = {
            "W_q": (d_model, d_model),
            "W_k": (num_kv_heads * d_head, d_model),
            "W_v": (num_kv_heads * d_head, d_model),
            "W_o": (d_model, d_model),
        }
        x = torch.randn(batch, length, d_model, generator=rng)
        weights = {n: 1.4 * torch.randn(s, generator=rng) / d_model**0.5 for n, s in sizes.items()}
        return {"x": x, **weights, "num_heads": num_heads, "num_kv_heads": num_kv_heads, "mask": mask}

    padding = (torch.arange(7) < torch.tensor([[7], [4]]))[:, None, None, :]  # (2, 1, 1, 7)
    by_head = torch.rand(2, 6, 4, 4, generator=rng) < 0.5
    by_head |= torch.eye(4, dtype=torch.bool)  # no row is masked entirely
    return [
        case(1, 3, 4, 2, 2, masks.causal_mask(3)),
        case(2, 7, 6, 2, 5, masks.causal_mask(7) & padding),
        case(2, 4, 6, 3, 3, by_head),
        case(3, 5, 4, 1, 3, masks.causal_mask(5)),
        case(2, 7, 6, 2, 5, masks.causal_mask(7)[0, 0]),  # sizes seen before, other numbers
    ]


def _call_with_gradients(answer, case):
    """The output, and the gradients that reach two of the weights in a second call."""
    seen = answer(*case.values())
    learned = {name: case[name].clone().requires_grad_() for name in ("W_q", "W_v")}
    output = answer(*(case | learned).values())
    found = (None, None)
    if isinstance(output, torch.Tensor) and output.requires_grad:
        found = torch.autograd.grad(output.square().mean(), list(learned.values()), allow_unused=True)
    blank = (torch.zeros_like(tensor) for tensor in learned.values())
    return seen, *(zero if gradient is None else gradient for zero, gradient in zip(blank, found, strict=True))


def _interleaved(x, repeats):
    return x.repeat_interleave(repeats, dim=1)


def _tiled(x, repeats):
    return x.repeat(1, repeats, 1, 1)


def _split(x, heads):
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)  # (B, heads, L, d_head)


def _split_wrong(x, heads):
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def _merge(x):
    return x.transpose(1, 2).flatten(2)  # (B, L, H * d_head)


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
        q, k = split(project(x, W_q), num_heads), split(project(x, W_k), num_kv_heads)
        v = split(project(x, W_v if values_from == "W_v" else W_k), num_kv_heads)
        k, v = share_k(k, repeats), (share_v or share_k)(v, repeats)
        divisor = scale(x, q) if scale else q.shape[-1] ** 0.5
        weights = weigh(q @ k.transpose(-2, -1) / divisor, mask)
        return output(merge(weights @ v), W_o)

    return answer


def _grouped_loop(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    size, groups = W_q.shape[0] // num_heads, num_heads // num_kv_heads
    full = mask.expand(x.shape[0], num_heads, x.shape[1], x.shape[1])
    heads = []
    for h in range(num_heads):
        own, shared = slice(h * size, (h + 1) * size), slice(h // groups * size, (h // groups + 1) * size)
        q, k, v = x @ W_q[own].T, x @ W_k[shared].T, x @ W_v[shared].T  # (B, L, d_head)
        scores = (q @ k.mT / size**0.5).masked_fill(~full[:, h], -math.inf)
        heads.append(scores.softmax(-1) @ v)
    return torch.cat(heads, dim=-1) @ W_o.T


def _grouped_einsum(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    batch, length, _ = x.shape
    q = (x @ W_q.T).view(batch, length, num_kv_heads, num_heads // num_kv_heads, -1)  # (B, L, H_kv, G, d_head)
    k, v = ((x @ W.T).view(batch, length, num_kv_heads, -1) for W in (W_k, W_v))  # (B, L, H_kv, d_head)
    scores = torch.einsum("bqkgd,bmkd->bkgqm", q, k) / q.shape[-1] ** 0.5
    full = mask.expand(batch, num_heads, length, length).reshape(scores.shape)
    weights = scores.masked_fill(~full, -1e9).softmax(-1)
    return torch.einsum("bkgqm,bmkd->bqkgd", weights, v).reshape(batch, length, -1) @ W_o.T


def _grouped_torch(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    q, k, v = _split(x @ W_q.T, num_heads), _split(x @ W_k.T, num_kv_heads), _split(x @ W_v.T, num_kv_heads)
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
    split, merge = (lambda x, heads: multi_head.split_heads(x, heads)), (lambda x: multi_head.merge_heads(x))
    return _grouped(split=split, merge=merge)(*given)


def _interleaved_heads(x, heads):
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def _not_shared(x, repeats):
    return x


def _scaled_by_group(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    return _grouped(scale=lambda x, q: (x.shape[-1] // num_kv_heads) ** 0.5)(
        x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask
    )


_NO_MASK = (
    "there is no mask in the grouped version: every position sees every other one.",
    "close the forbidden places with minus infinity before the softmax; mask has True where attending is allowed.",
)
_HEADS = ("course_utils.multi_head.split_heads", "course_utils.multi_head.merge_heads")
_READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "course_utils.attention.scaled_dot_product_attention",
    "course_utils.multi_head.repeat_kv",
    "course_utils.multi_head.MultiHeadAttention",
)

GROUPED = Exercise(
    number="7.4",
    title="Grouped-query attention with a mask",
    points=5,
    inputs=_grouped_inputs,
    reference=_grouped(),
    returns=("output", "gradient of W_q", "gradient of W_v"),
    off_limits=(*_READY_MADE, *_HEADS),
    call=_call_with_gradients,
    alternatives=(
        Alternative("loop over heads", _grouped_loop),
        Alternative("einsum on groups", _grouped_einsum),
        Alternative("finite fill value", _grouped(weigh=lambda s, m: _closed(s, m, -1e9).softmax(-1))),
        Alternative("expand and reshape", _grouped(share_k=_repeat_expand)),
        Alternative("weights renormalized", _grouped(weigh=_renormalized)),
        Alternative("the course's split and merge", _course_split, off_limits=True),
        Alternative("PyTorch's own", _grouped_torch, off_limits=True),
        Alternative("the course's own layer", _grouped_course, off_limits=True),
        Alternative(
            "the course's repeat_kv", _grouped(share_k=lambda x, n: multi_head.repeat_kv(x, n)), off_limits=True
        ),
    ),
    mistakes=(
        Mistake(
            "repeat",
            _grouped(share_k=_tiled),
            "`repeat` where `repeat_interleave` belongs: query head h meets key/value head h % H_kv.",
            "query heads in a row share a head: h // (H / H_kv). The shapes are equal, the partners are not.",
        ),
        Mistake(
            "repeat for the keys",
            _grouped(share_k=_tiled, share_v=_interleaved),
            "the keys were shared with `repeat`, the values with `repeat_interleave`: they no longer belong together.",
            "share keys and values in the same way, each head several times in a row.",
        ),
        Mistake(
            "repeat for the values",
            _grouped(share_k=_interleaved, share_v=_tiled),
            "the values were shared with `repeat`, the keys with `repeat_interleave`: they no longer belong together.",
            "share keys and values in the same way, each head several times in a row.",
        ),
        Mistake("no mask", _grouped(weigh=lambda s, m: s.softmax(-1)), *_NO_MASK),
        Mistake(
            "no mask, and repeat",
            _grouped(share_k=_tiled, weigh=lambda s, m: s.softmax(-1)),
            "no mask, and `repeat` where `repeat_interleave` belongs.",
            "use the mask before the softmax, and share each head several times in a row.",
        ),
        Mistake(
            "mask inverted",
            _grouped(weigh=lambda s, m: s.masked_fill(m, -1e9).softmax(-1)),
            "the mask read the other way round: True was closed.",
            "True = may attend: fill where ~mask.",
        ),
        Mistake(
            "mask inverted, minus infinity",
            _grouped(weigh=lambda s, m: s.masked_fill(m, -math.inf).softmax(-1)),
            "the mask read the other way round: True was closed.",
            "True = may attend: fill where ~mask.",
        ),
        Mistake(
            "mask after the softmax",
            _grouped(weigh=lambda s, m: s.softmax(-1) * m),
            "the weights were zeroed after the softmax: the rows no longer sum to 1.",
            "close the scores with minus infinity before the softmax.",
        ),
        Mistake(
            "masked scores are zero",
            _grouped(weigh=lambda s, m: (s * m).softmax(-1)),
            "forbidden scores were set to 0, and a score of 0 still gets weight: exp(0) is 1.",
            "fill them with minus infinity.",
        ),
        Mistake(
            "mask added",
            _grouped(weigh=lambda s, m: (s + m).softmax(-1)),
            "the mask added to the scores: True counts as 1 and False as 0, and nothing is closed.",
            "fill the forbidden places with minus infinity.",
        ),
        Mistake(
            "minus infinity times the mask",
            _grouped(weigh=lambda s, m: (s + ~m * -math.inf).softmax(-1)),
            "minus infinity was multiplied by the mask: 0 times infinity is NaN.",
            "use masked_fill(~mask, -inf), which multiplies nothing.",
        ),
        Mistake(
            "one mask for all heads",
            _grouped(weigh=lambda s, m: masked_softmax(s, m if m.dim() < 4 else m[:, :1])),
            "the mask of head 0 was used for all heads.",
            "use the mask as it is: it broadcasts to (B, H, L, L).",
        ),
        Mistake(
            "one mask for the batch",
            _grouped(weigh=lambda s, m: masked_softmax(s, m if m.dim() < 4 else m[:1])),
            "the mask of the first sequence was used for the whole batch.",
            "use the mask as it is: it broadcasts to (B, H, L, L).",
        ),
        Mistake(
            "no scaling",
            _grouped(scale=lambda x, q: 1.0),
            "the scores were not divided by sqrt(d_head).",
            "divide by the square root of the head's size, W_q.shape[0] // num_heads.",
        ),
        Mistake(
            "division by d_head",
            _grouped(scale=lambda x, q: q.shape[-1]),
            "the scores were divided by d_head instead of its square root.",
            "divide by d_head ** 0.5.",
        ),
        Mistake(
            "division by sqrt(d_model)",
            _grouped(scale=lambda x, q: x.shape[-1] ** 0.5),
            "the scores were divided by sqrt(d_model).",
            "each head computes its dot products over d_head numbers: divide by d_head ** 0.5.",
        ),
        Mistake(
            "division by the root of d_model / H_kv",
            _scaled_by_group,
            "the scores were divided by the root of d_model // num_kv_heads.",
            "a head has d_model // num_heads numbers, in the keys too.",
        ),
        Mistake(
            "softmax over the queries",
            _grouped(weigh=_softmax_over_queries),
            "a softmax over the queries (dim=-2).",
            "normalize over the keys, dim=-1.",
        ),
        Mistake(
            "hard argmax",
            _grouped(weigh=lambda s, m: F.one_hot(_closed(s, m).argmax(-1), s.shape[-1]).to(s.dtype)),
            "all weight on the best key: a hard maximum.",
            "use a softmax.",
        ),
        Mistake(
            "heads split without a transpose",
            _grouped(split=_split_wrong),
            "the heads were split by a view to (B, H, L, d_head) without a transpose: positions and heads are mixed.",
            "view as (B, L, H, d_head), then transpose(1, 2).",
        ),
        Mistake(
            "heads merged without a transpose",
            _grouped(merge=_merge_wrong),
            "the heads were merged without transposing back.",
            "transpose(1, 2) first, then merge the last two axes.",
        ),
        Mistake(
            "no output projection",
            _grouped(output=lambda heads, W_o: heads),
            "the merged heads, before the output projection.",
            "multiply by W_o.T at the end.",
        ),
        Mistake(
            "heads interleaved",
            _grouped(split=_interleaved_heads, merge=lambda h: h.permute(0, 2, 3, 1).flatten(2)),
            "the features dealt out in turn: head 0 has features 0, H, 2H and so on.",
            "view as (B, L, H, d_head), with the heads before the features.",
        ),
        Mistake(
            "heads not shared",
            _grouped(share_k=_not_shared),
            "H query heads met H_kv key heads: the key/value heads were not shared out before the scores.",
            "repeat each key/value head num_heads // num_kv_heads times in a row (7.3).",
        ),
        Mistake(
            "keys and values exchanged",
            lambda x, W_q, W_k, W_v, *rest: _grouped()(x, W_q, W_v, W_k, *rest),
            "W_v used for the keys, and W_k for the values.",
            "what the query is compared with comes from W_k; what is averaged comes from W_v.",
        ),
        Mistake(
            "gradient cut",
            lambda *given: _grouped()(*given).detach(),
            "the numbers are right, but no gradient reaches the weights: they can never learn.",
            "compute with the given weights themselves: no .detach(), .data, no_grad() or copies into new modules.",
        ),
        Mistake(
            "values from the key projection",
            _grouped(values_from="W_k"),
            "the values were made with W_k.",
            "values have a projection of their own: W_v.",
        ),
        Mistake(
            "first key/value head for all",
            _grouped(share_k=lambda x, n: x[:, :1].expand(-1, n * x.shape[1], -1, -1)),
            "every query head used key/value head 0: that is multi-query attention.",
            "each group of num_heads // num_kv_heads query heads has a key/value head of its own.",
        ),
        Mistake(
            "key/value heads averaged",
            _grouped(share_k=lambda x, n: x.mean(1, keepdim=True).expand(-1, n * x.shape[1], -1, -1)),
            "the key/value heads were averaged into one.",
            "keep them apart and give each to its own group.",
        ),
        Mistake(
            "output projection not transposed",
            _grouped(output=lambda heads, W_o: heads @ W_o),
            "W_o was used without its transpose.",
            "a weight is stored as (out, in): x @ W.T.",
        ),
        Mistake(
            "query and output projections not transposed",
            _grouped(
                project=lambda x, W: x @ (W if W.shape[0] == W.shape[1] else W.T),
                output=lambda heads, W_o: heads @ W_o,
            ),
            "the square weights were used without their transpose.",
            "a weight is stored as (out, in): x @ W.T, for all four.",
        ),
        Mistake(
            "heads summed",
            _grouped(merge=lambda h: h.mean(1).repeat(1, 1, h.shape[1])),
            "the heads were averaged; they belong side by side.",
            "concatenate them: (B, L, H * d_head).",
        ),
    ),
    advice="compare with num_kv_heads = num_heads first: then nothing is shared and it must be lesson 06.",
)

# 7.5 ------------------------------------------------------------------------------------------------------------------


def _pool_inputs(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        {"weight": torch.tensor([[1.0], [3.0], [10.0], [20.0]]), "num_heads": 4, "num_kv_heads": 2},
        {"weight": torch.randn(12, 7, generator=rng), "num_heads": 4, "num_kv_heads": 2},  # d_head 3
        {"weight": torch.randn(24, 10, generator=rng), "num_heads": 6, "num_kv_heads": 2},  # d_head 4
        {"weight": torch.randn(18, 5, generator=rng), "num_heads": 6, "num_kv_heads": 3},
        {"weight": torch.randn(10, 6, generator=rng), "num_heads": 5, "num_kv_heads": 1},
        {"weight": torch.randn(8, 9, generator=rng), "num_heads": 4, "num_kv_heads": 4},
        {"weight": torch.randn(12, 7, generator=rng), "num_heads": 4, "num_kv_heads": 2},  # sizes seen before
    ]


def _grouped_heads(weight, num_heads, num_kv_heads):
    return weight.view(num_kv_heads, num_heads // num_kv_heads, -1, weight.shape[-1])  # (H_kv, G, d_head, d_in)


def _pool(weight, num_heads, num_kv_heads):
    return _grouped_heads(weight, num_heads, num_kv_heads).mean(1).flatten(0, 1)  # (H_kv * d_head, d_in)


def _pool_loop(weight, num_heads, num_kv_heads):
    heads, group = weight.chunk(num_heads), num_heads // num_kv_heads
    return torch.cat([sum(heads[j * group : (j + 1) * group]) / group for j in range(num_kv_heads)])


def _pool_overlapping(weight, num_heads, num_kv_heads):
    heads, group = weight.unflatten(0, (num_heads, -1)), num_heads // num_kv_heads
    return torch.cat([heads[j : j + group].mean(0) for j in range(num_kv_heads)])


def _pool_matrix(weight, num_heads, num_kv_heads):
    group, size = num_heads // num_kv_heads, weight.shape[0] // num_heads
    average = torch.eye(num_kv_heads).repeat_interleave(group, dim=1) / group  # (H_kv, H)
    return torch.kron(average, torch.eye(size)) @ weight


def _pool_einsum(weight, num_heads, num_kv_heads):
    heads = _grouped_heads(weight, num_heads, num_kv_heads)
    return torch.einsum("kgdi->kdi", heads).reshape(-1, weight.shape[-1]) * num_kv_heads / num_heads


POOL = Exercise(
    number="7.5",
    title="From multi-head to grouped-query",
    points=3,
    inputs=_pool_inputs,
    reference=_pool,
    returns=("pooled weight",),
    alternatives=(
        Alternative("loop", _pool_loop),
        Alternative("averaging matrix", _pool_matrix),
        Alternative("einsum", _pool_einsum),
        Alternative(
            "unflatten",
            lambda w, h, h_kv: w.unflatten(0, (h_kv, h // h_kv, w.shape[0] // h)).mean(dim=1).flatten(0, 1),
        ),
    ),
    mistakes=(
        Mistake(
            "every H_kv-th head",
            lambda w, h, h_kv: w.view(h // h_kv, h_kv, -1, w.shape[-1]).mean(0).flatten(0, 1),
            "heads that stand H_kv apart were averaged: the grouping of `repeat`, not of `repeat_interleave`.",
            "heads in a row form a group: view as (H_kv, H / H_kv, d_head, d_in), then the mean over axis 1.",
        ),
        Mistake(
            "sum",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).sum(1).flatten(0, 1),
            "the sum of each group: too large by the factor H / H_kv.",
            "take the mean.",
        ),
        Mistake(
            "divided by all heads",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).sum(1).flatten(0, 1) / h,
            "the sum of each group was divided by num_heads.",
            "divide by the size of a group, num_heads // num_kv_heads.",
        ),
        Mistake(
            "divided by the groups",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).sum(1).flatten(0, 1) / h_kv,
            "the sum of each group was divided by num_kv_heads, the number of groups.",
            "divide by the size of a group, num_heads // num_kv_heads.",
        ),
        Mistake(
            "largest of each group",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).amax(1).flatten(0, 1),
            "the largest number of each group.",
            "take the mean.",
        ),
        Mistake(
            "overlapping groups",
            _pool_overlapping,
            "the groups start at heads 0, 1, 2 and so on, and overlap.",
            "group j starts at head j * (H / H_kv).",
        ),
        Mistake(
            "first head of each group",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv)[:, 0].flatten(0, 1),
            "the first head of each group was kept, and the others were thrown away.",
            "take the mean of all heads of the group.",
        ),
        Mistake(
            "last head of each group",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv)[:, -1].flatten(0, 1),
            "the last head of each group was kept, and the others were thrown away.",
            "take the mean of all heads of the group.",
        ),
        Mistake(
            "first heads",
            lambda w, h, h_kv: w[: w.shape[0] // h * h_kv].clone(),
            "the first H_kv heads were kept, and the others were thrown away.",
            "take the mean of the heads of each group.",
        ),
        Mistake(
            "neighboring rows",
            lambda w, h, h_kv: w.view(-1, h // h_kv, w.shape[-1]).mean(1),
            "neighboring rows were averaged, which are features of the same head.",
            "average feature i of one head with feature i of the others: keep d_head as an axis of its own.",
        ),
        Mistake(
            "columns",
            lambda w, h, h_kv: w.view(w.shape[0], -1, 1).mean(1),
            "the columns were averaged; they are the inputs.",
            "the heads stand in the rows: a weight has the shape (out, in).",
        ),
        Mistake(
            "all heads alike",
            lambda w, h, h_kv: w.view(h, -1, w.shape[-1]).mean(0).repeat(h_kv, 1),
            "the mean of all heads, H_kv times: multi-query attention in disguise.",
            "average inside each group only.",
        ),
        Mistake(
            "repeated again",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).mean(1).repeat_interleave(h // h_kv, dim=0).flatten(0, 1),
            "the means were copied back to all H heads: nothing is saved.",
            "the result has H_kv * d_head rows.",
        ),
        Mistake(
            "heads not merged",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).mean(1),
            "an axis too many: (H_kv, d_head, d_in).",
            "merge the first two axes: .flatten(0, 1), or reshape.",
        ),
        Mistake(
            "one group axis for all",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).mean(0).flatten(0, 1),
            "the mean was taken over the groups, not inside each group.",
            "of (H_kv, H / H_kv, d_head, d_in), average axis 1.",
        ),
        Mistake(
            "median",
            lambda w, h, h_kv: _grouped_heads(w, h, h_kv).median(1).values.flatten(0, 1),
            "the median of each group.",
            "take the mean.",
        ),
    ),
    advice="pool the rows [1], [3], [10], [20] of four heads with d_head 1 into two: it must give [2] and [15].",
)

# 7.6 ------------------------------------------------------------------------------------------------------------------


def _attend_inputs(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, num_heads, num_kv_heads, L_q, L_k, d_k, d_v):
        sizes = {
            "query": (batch, num_heads, L_q, d_k),
            "key": (batch, num_kv_heads, L_k, d_k),
            "value": (batch, num_kv_heads, L_k, d_v),
        }
        tensors = {name: torch.randn(size, generator=rng) for name, size in sizes.items()}
        return {**tensors, "mask": masks.causal_mask(L_q, L_k)}

    return [
        case(1, 4, 2, 2, 3, 2, 1),
        case(2, 6, 2, 5, 7, 4, 3),
        case(2, 6, 3, 1, 6, 5, 4),
        case(3, 4, 1, 3, 5, 4, 2),
        case(2, 6, 2, 5, 7, 4, 3),
    ]


def _attend(share_k=_interleaved, share_v=None, weigh=_weigh, power=0.5):
    def answer(query, key, value, mask):
        repeats = query.shape[1] // key.shape[1]
        k, v = share_k(key, repeats), (share_v or share_k)(value, repeats)
        return weigh(query @ k.mT / query.shape[-1] ** power, mask) @ v

    return answer


def _attend_groups(query, key, value, mask):
    batch, num_heads, L_q, size = query.shape
    q = query.view(batch, key.shape[1], -1, L_q, size)  # (B, H_kv, G, L_q, d_k)
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


BUG = Exercise(
    number="7.6",
    title="Find the bug",
    points=3,
    inputs=_attend_inputs,
    reference=_attend(),
    returns=("output",),
    off_limits=_READY_MADE,
    alternatives=(
        Alternative("expand and reshape", _attend(_repeat_expand)),
        Alternative("index", _attend(_repeat_index)),
        Alternative("groups on an axis of their own", _attend_groups),
        Alternative("loop over heads", _attend_loop),
        Alternative("query heads moved, and moved back", _moved_and_back),
        Alternative(
            "PyTorch's own",
            lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, enable_gqa=True),
            off_limits=True,
        ),
        Alternative(
            "the course's own",
            lambda q, k, v, m: scaled_dot_product_attention(
                q, *(t.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for t in (k, v)), m
            )[0],
            off_limits=True,
        ),
    ),
    mistakes=(
        Mistake(
            "still repeat",
            _attend(_tiled),
            "the function as it was: `repeat` gives the key/value heads in the order 0 1 0 1.",
            "the query heads 0 and 1 must both meet key/value head 0: each head several times in a row.",
        ),
        Mistake(
            "only the keys mended",
            _attend(_interleaved, _tiled),
            "the keys are mended, the values are still repeated in the old order.",
            "mend the line of the values in the same way.",
        ),
        Mistake(
            "only the values mended",
            _attend(_tiled, _interleaved),
            "the values are mended, the keys are still repeated in the old order.",
            "mend the line of the keys in the same way.",
        ),
        Mistake(
            "mask lost",
            _attend(weigh=lambda s, m: s.softmax(-1)),
            "the mask got lost on the way: every query sees every key.",
            "keep the line that fills the closed places with minus infinity.",
        ),
        Mistake(
            "mask inverted",
            _attend(weigh=lambda s, m: s.masked_fill(m, -math.inf).softmax(-1)),
            "the mask was turned round: True = may attend.",
            "the mask of the broken function was right; leave it as it is.",
        ),
        Mistake(
            "softmax over the queries",
            _attend(weigh=lambda s, m: masked_softmax(s, m.expand_as(s), dim=-2)),
            "a softmax over the queries: dim=-2.",
            "the softmax of the broken function was right; leave it as it is.",
        ),
        Mistake(
            "no scaling",
            _attend(power=0.0),
            "the scaling by sqrt(d_k) got lost.",
            "the scores of the broken function were right; look at how the heads are shared.",
        ),
        Mistake(
            "division by d_k",
            _attend(power=1.0),
            "the scores were divided by d_k instead of its square root.",
            "the scores of the broken function were right; look at how the heads are shared.",
        ),
        Mistake(
            "first head for all",
            _attend(lambda x, n: x[:, :1]),
            "every query head met key/value head 0.",
            "each group of query heads has a key/value head of its own.",
        ),
        Mistake(
            "heads not shared",
            _attend(_not_shared),
            "H query heads met H_kv key heads: the lines that share the heads are gone.",
            "each key/value head must still come H / H_kv times, but in another order.",
        ),
        Mistake(
            "key/value heads averaged",
            _attend(lambda x, n: x.mean(1, keepdim=True)),
            "the key/value heads were averaged into one.",
            "keep them apart and give each to its own group.",
        ),
        Mistake(
            "queries moved",
            _moved_queries,
            "the query heads were moved to fit the order of `repeat`, and the output heads are now out of order.",
            "leave the queries alone, and share the key/value heads in another way.",
        ),
        Mistake(
            "positions repeated",
            _attend(lambda x, n: x.repeat_interleave(n, dim=2)),
            "dim=2 repeats the positions.",
            "the heads stand on axis 1.",
        ),
        Mistake(
            "batch repeated",
            _attend(lambda x, n: x.repeat_interleave(n, dim=0)),
            "dim=0 repeats the batch.",
            "the heads stand on axis 1.",
        ),
    ),
    advice="fill value head j with the number j: output head h must then be h // (H / H_kv).",
)

# 7.7, 7.8 -------------------------------------------------------------------------------------------------------------

QUERIES = Quiz(
    number="7.7",
    title="Why no query is kept",
    points=1,
    right="d",
    options={
        "a": Option(
            "Queries are too large to keep.",
            "a query head is exactly as large as a key head; size is not the reason.",
        ),
        "b": Option(
            "Queries change at every step, keys and values do not.",
            "with a causal mask the query of an old position would come out the same too.",
        ),
        "c": Option(
            "The queries can be computed back from the keys.",
            "they come from another projection, and nothing in attention needs them again.",
        ),
        "d": Option(
            "The query of an old position is never used again.",
            "its output was computed when it was new. New queries look back at old keys and values, never at old queries.",
        ),
    },
)

SHRINKS = Quiz(
    number="7.8",
    title="What becomes smaller",
    points=1,
    right="a",
    options={
        "a": Option(
            "The cache, `k_proj` and `v_proj`: each to a quarter.",
            "all three count key/value heads, and there are a quarter as many.",
        ),
        "b": Option(
            "Only the cache; the projections keep their sizes.",
            "`k_proj` and `v_proj` make H_kv * d_head numbers for each position, so they shrink with H_kv.",
        ),
        "c": Option(
            "The cache, all four projections and the scores: each to a quarter.",
            "there are still 32 query heads: `q_proj`, `o_proj` and the (B, H, L_q, L_k) scores stay as they are.",
        ),
        "d": Option(
            "The scores: there are only 8 maps of weights instead of 32.",
            "each of the 32 query heads still has its own weights; heads of one group share keys, not weights.",
        ),
    },
)

EXERCISES = (SIZE, CACHE, REPEAT, GROUPED, POOL, BUG, QUERIES, SHRINKS)

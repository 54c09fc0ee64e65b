"""Lesson 07: how caches and the layer with a cache are driven, and what 7.10 may not make."""

import contextlib
import gc
import types

import numpy as np
import torch
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from ..dispatch import DispatchWatch
from ..encode import type_name
from .lesson_06 import turned as turned
from .lesson_06 import with_turned_x


def drive_cache(answer, case):
    """Update one cache step by step, and note what each update hands back; step ``full`` has no room.

    ``beside``: a second cache is updated with other numbers in between. ``overwrite``: once an update is done, other
    numbers are written into the tensors that it got.
    """
    sizes = [case[name] for name in ("batch_size", "num_kv_heads", "max_len", "d_head")]
    cache, second_cache = answer(*sizes), answer(*sizes) if case.driver["beside"] else None
    keys, values, lengths, refusal = [], [], [], ""
    for number, (key, value) in enumerate(_pieces(case)):
        if number == case.driver["full"]:
            refusal = _refusal(cache, key, value)
        else:
            so_far = _update(cache, key, value, lengths, refusal)
            keys.append(so_far[0])
            values.append(so_far[1])
        if second_cache is not None:
            second_cache.update(5 - key, 7 - value)
        _overwrite(case, key, value)
        lengths.append(_copy(cache.length))
    return keys, values, lengths, refusal


def _pieces(case):
    pieces = zip(*(case[name].split(case["new_positions"], dim=2) for name in ("keys", "values")), strict=True)
    return [(key.clone(), value.clone()) for key, value in pieces]


def _overwrite(case, key, value):
    if case.driver["overwrite"]:
        key.fill_(100.0), value.fill_(200.0)


def _update(cache, key, value, lengths, refusal):
    try:
        so_far = cache.update(key, value)
    except ValueError as problem:
        sentence = (
            f"update raised {type_name(problem)}, although {key.shape[2]} more fit; length was {[0, *lengths][-1]}"
        )
        raise RuntimeError(f"{sentence}, after an update that had no room" if refusal else sentence) from None
    return _both(so_far)


def _both(so_far):
    if not isinstance(so_far, tuple | list) or len(so_far) != 2:
        raise TypeError(f"update must return two tensors, keys and values; it returned {type_name(so_far)}")
    return [_copy(tensor) for tensor in so_far]


def _refusal(cache, key, value):
    try:
        cache.update(key, value)
    except NotImplementedError:
        raise
    except ValueError as problem:
        return "a ValueError with a sentence" if str(problem).strip() else "a ValueError without a sentence"
    except Exception as problem:
        return f"{type_name(problem)}, not ValueError"
    return "no error"


def _copy(value):
    return value.clone() if isinstance(value, torch.Tensor) else value


def drive_forgetful(answer, case):
    """Update one cache piece by piece; what each update hands back, keys and values apart."""
    cache, keys, values = answer(case["num_first"], case["num_latest"]), [], []
    for key, value in _pieces(case):
        for kept, part in zip((keys, values), _both(cache.update(key, value)), strict=True):
            kept.append(part)
        _overwrite(case, key, value)
    return keys, values


def write_in_pieces(answer, case):
    """The outputs of one layer, fed piece by piece; where the case says ``counted``, whether earlier positions were
    projected again, and the outputs after half the pieces of a layer whose weights are doubled then.

    ``beside``: another layer is fed other numbers in between.
    """
    arguments = [case[name] for name in (*WEIGHTS, "num_heads", "num_kv_heads")]
    layer, second_layer = answer(*arguments), answer(*arguments) if case.driver["beside"] else None
    outputs, work = [], Work() if case.driver["counted"] else None
    with work or contextlib.nullcontext():
        for new in case["x"].split(case["pieces"], dim=1):
            outputs.append(layer.step(new))
            if second_layer is not None:
                second_layer.step(3 - new)
    if not all(isinstance(output, torch.Tensor) for output in outputs):
        raise TypeError(f"step must return one tensor; it returned {type_name(outputs[0])}")
    outputs = torch.cat(outputs, dim=1)
    if work is None:
        return outputs, False, None
    once = case["x"][..., 0].numel() * sum(case[name].numel() for name in WEIGHTS)
    return outputs, work.multiplications > 2.5 * once, _after_doubling(answer, case)


WEIGHTS = ("W_q", "W_k", "W_v", "W_o")
NOT_LOOKED_INTO = (types.ModuleType, type, types.CodeType, types.FrameType, str, bytes, int, float)


def _after_doubling(answer, case):
    """What a layer gives after half the pieces, if all its weights are doubled then, copies of them too.

    Keys and values that are kept stay as they are; those of earlier positions that are made anew are others now.
    """
    weights = [case[name].clone() for name in WEIGHTS]
    layer = answer(*weights, case["num_heads"], case["num_kv_heads"])
    known = [(numbers, _twice(numbers)) for numbers in (*weights, *_numbers_in(layer, case["x"].shape[-1]))]
    pieces = case["x"].split(case["pieces"], dim=1)
    for new in pieces[: len(pieces) // 2]:
        layer.step(new)
    unchanged = [(numbers, doubled) for numbers, doubled in known if _same(_twice(numbers), doubled)]  # the weights
    for numbers, doubled in unchanged:
        with contextlib.suppress(RuntimeError, ValueError):  # it cannot be written to
            if isinstance(numbers, torch.Tensor):
                numbers.detach().copy_(doubled)
            else:
                numbers[:] = doubled
    return torch.cat([layer.step(new) for new in pieces[len(pieces) // 2 :]], dim=1)


def _numbers_in(layer, fewest):
    """Tensors, arrays and lists of so many floats or more that a layer holds, in attributes, containers and closures."""
    waiting, seen, found = [layer], {}, []
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, NOT_LOOKED_INTO):
            continue
        seen[id(thing)] = thing
        if isinstance(thing, torch.Tensor):
            found += [thing] * (thing.is_floating_point() and thing.numel() >= fewest)
        elif isinstance(thing, np.ndarray):
            found += [thing] * (thing.dtype.kind == "f" and thing.size >= fewest)
        elif isinstance(thing, list) and len(thing) >= fewest and all(isinstance(number, float) for number in thing):
            found.append(thing)
        else:
            waiting += gc.get_referents(thing) if not isinstance(thing, types.FunctionType) else thing.__closure__ or ()
    return found


def _twice(numbers):
    if isinstance(numbers, list):
        return [2 * number for number in numbers]
    return 2 * (numbers.detach() if isinstance(numbers, torch.Tensor) else numbers)


def _same(numbers, others):
    return numbers == others if isinstance(numbers, list) else bool((numbers == others).all())


COPYING = set(
    "alias arange as_strided cat clone constant_pad_nd copy copy_ detach empty empty_like empty_strided fill_ full full_like"
    " gather index index_put_ index_select lift_fresh new_empty new_zeros ones ones_like repeat scatter select_scatter"
    " slice_scatter stack _to_copy tril tril_ triu unbind _unsafe_view zero_ zeros zeros_like".split()
)


class Work(DispatchWatch):
    """Counts multiplications, and notes how many numbers the largest tensor has that is made meanwhile; views are not made.

    Those of matrices are counted as PyTorch's ``FlopCounterMode`` does, and what it does not know is estimated by the sizes
    of what an operation gets and makes. Nothing but copying is free.
    """

    multiplications = largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        count = flop_registry.get(func.overloadpacket)
        if count is None:
            with self:  # into what is counted, where it consists of that
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        result = func(*args, **kwargs)
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        self.largest = max([self.largest, *(leaf.untyped_storage().nbytes() // leaf.itemsize for leaf in made)])
        if count is not None:  # a multiplication and an addition are two operations
            self.multiplications += count(*args, **kwargs, out_val=result) // 2
        elif not func.is_view and func.overloadpacket.__name__ not in COPYING:
            given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
            self.multiplications += _estimate(func, given, made)
        return result


def _estimate(func, given, made):
    """As many as the largest tensor has numbers; for two tensors that are not joined number by number, as for a product."""
    numbers = max((tensor.numel() for tensor in (*given, *made)), default=0)
    floats = sorted((tensor for tensor in given if tensor.is_floating_point()), key=torch.numel)[-2:]
    if len(floats) < 2 or torch.Tag.pointwise in func.tags:
        return numbers
    common = max({*floats[0].shape} & {*floats[1].shape}, default=1)
    return max(numbers, floats[0].numel() * floats[1].numel() // max(common, 1))


def without_keys(answer, case):
    """The scores, and whether the keys of all heads were made (where there are 40 of them).

    All at once: then a tensor is as large. Head by head or position by position: then there are as many multiplications.
    """
    (batch, heads, _, d_head), (_, length, d_c) = case["query"].shape, case["latent"].shape
    with Work() as work:
        scores = answer(case["query"], case["latent"], case["W_up"])
    keys = batch * heads * length * d_head
    return scores, length == 40 and (work.largest >= keys or work.multiplications >= keys * d_c)


SHOWN = {"turned": with_turned_x}

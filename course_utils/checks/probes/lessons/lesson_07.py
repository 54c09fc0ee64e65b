"""Lesson 07: how the cache of 7.2 is driven, and what is off limits."""

import torch

from ..codec import type_name
from ..probe import Probe, call_turned


def drive_cache(answer, case):
    """Update one cache step by step, and note what each update hands back; step ``_full`` has no room.

    ``_beside``: a second cache is updated with other numbers in between. ``_overwrite``: once an update is done, other
    numbers are written into the tensors that it got.
    """
    sizes = [case[name] for name in ("batch_size", "num_kv_heads", "max_len", "d_head")]
    cache, beside = answer(*sizes), answer(*sizes) if case["_beside"] else None
    keys, values, lengths, refusal = [], [], [], ""
    steps = zip(*(case[name].split(case["new_positions"], dim=2) for name in ("keys", "values")), strict=True)
    for number, (key, value) in enumerate(steps):
        key, value = key.clone(), value.clone()
        if number == case["_full"]:
            refusal = _refusal(cache, key, value)
        else:
            so_far = _update(cache, key, value, lengths, refusal)
            keys.append(so_far[0])
            values.append(so_far[1])
        if beside is not None:
            beside.update(5 - key, 7 - value)
        if case["_overwrite"]:
            key.fill_(100.0), value.fill_(200.0)
        lengths.append(_copy(cache.length))
    return keys, values, lengths, refusal


def _update(cache, key, value, lengths, refusal):
    try:
        so_far = cache.update(key, value)
    except ValueError as problem:
        said = f"update raised {type_name(problem)}, although {key.shape[2]} more fit; length was {[0, *lengths][-1]}"
        raise RuntimeError(f"{said}, after an update that was refused" if refusal else said) from None
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


READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.multi_head_attention_forward",
    "course_utils.attention.scaled_dot_product_attention", "course_utils.multi_head.repeat_kv",
    "course_utils.multi_head.MultiHeadAttention",
)  # fmt: skip
HEADS = ("course_utils.multi_head.split_heads", "course_utils.multi_head.merge_heads")

PROBES = {
    "cache_bytes": Probe(off_limits=("course_utils.widgets.cache_calculator.ModelShape",)),
    "Cache": Probe(call=drive_cache, expects="class", off_limits=("course_utils.kv_cache.KVCache",)),
    "repeat_kv": Probe(call=call_turned, off_limits=("course_utils.multi_head.repeat_kv",), gradients=True),
    "grouped_query_attention": Probe(off_limits=(*READY_MADE, *HEADS), gradients=True),
    "pool_heads": Probe(gradients=True),
    "grouped_attention": Probe(off_limits=READY_MADE, gradients=True),
}

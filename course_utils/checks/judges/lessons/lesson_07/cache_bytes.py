"""The size of a cache."""

import torch

from ...exercise import Case, Exercise, Fault
from ...symptoms.view import Told

_NAMES = ("num_layers", "batch_size", "num_heads", "num_kv_heads", "d_head", "length", "bytes_per_number")


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    layers = torch.randint(3, 60, (), generator=rng).item()
    batch, groups, kv_heads = torch.randint(2, 9, (3,), generator=rng).tolist()
    sizes = (
        (1, 1, 6, 3, 4, 5, 4), (32, 8, 32, 8, 128, 8192, 2), (32, 3, 71, 1, 64, 2048, 1),
        (48, 2, 25, 25, 64, 1024, 4),  # as many key/value heads as heads
        (layers, batch, groups * kv_heads, kv_heads, 24, 1000 + seed % 97, 2),
        (31, 7, 15, 5, 125, 8191, 2),  # more digits than a float32 holds
    )  # fmt: skip
    return [Case(**dict(zip(_NAMES, some, strict=True))) for some in sizes]


def _same(number):
    return number


def _bytes(
    num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number, *, kinds=2, layers=_same,
    batch=_same, heads=lambda h, h_kv: h_kv, size=lambda h, d: d, positions=_same, width=_same, finish=_same,
):  # fmt: skip
    """Keys and values x layers x batch x H_kv x length x d_head x bytes; each keyword is one factor."""
    numbers = kinds * layers(num_layers) * batch(batch_size) * heads(num_heads, num_kv_heads)
    return finish(numbers * positions(length) * size(num_heads, d_head) * width(bytes_per_number))


def _rounded(view):
    """Right to seven digits, no further."""
    pairs = [pair for part in view.parts() for pair in part.numbers() or () if pair[2].wrong]
    sides = [(int(want), float(have)) for want, have, _ in pairs if have.numel() == 1]
    if not sides or len(sides) < len(pairs) or any(abs(have - want) > 1e-6 * want for want, have in sides):
        return None
    said = "the result is right to about seven digits, and rounded after them, as a float32 is."
    return Told("symptom", "rounded", said, "multiply Python's whole numbers, which are never rounded.")


_TWO = "a cache keeps keys and values of the same shape, and no queries: the factor is 2."
_KV = "only keys and values are kept, so count key/value heads; the query heads play no part."
_WIDTH = "multiply by bytes_per_number, once."

EXERCISE = Exercise(
    answer="cache_bytes", cases=_cases, reference=_bytes, returns=("bytes",),
    rtol=1e-12, atol=0.0,  # bytes are counted, not measured
    faults=(
        Fault("without the 2", "keys or values are counted, not both: the 2 is missing.", _TWO, kinds=1),
        Fault("three tensors", "three tensors for each layer, as if the queries were kept too.", _TWO, kinds=3),
        Fault("without the layers", "the cache of one layer: the layers are missing.",
              "each layer has keys and values of its own: multiply by num_layers.", layers=lambda n: 1),
        Fault("without the batch", "the cache of one sequence: the batch is missing.",
              "sequences share nothing in the cache: multiply by batch_size.", batch=lambda n: 1),
        Fault("values counted once", "the keys of every layer are counted, the values of one layer only.",
              "keys and values are kept in every layer: 2 * num_layers.", layers=lambda n: (n + 1) / 2),
        Fault("num_heads for num_kv_heads", "num_heads where num_kv_heads belongs: that is the cache of full "
              "multi-head attention.", _KV, heads=lambda h, h_kv: h),
        *(Fault(name, f"{said}, where num_kv_heads belongs.", _KV, heads=heads) for name, said, heads in (
            ("heads in a group", "num_heads // num_kv_heads, the size of a group", lambda h, h_kv: h // h_kv),
            ("the other heads", "num_heads - num_kv_heads", lambda h, h_kv: h - h_kv))),
        Fault("values for all heads", "num_kv_heads for one of keys and values, and num_heads for the other.",
              "keys and values have the same shape: num_kv_heads heads each.", heads=lambda h, h_kv: (h + h_kv) / 2),
        Fault("queries too", "a cache that also keeps the queries, num_heads heads of them.", _KV,
              heads=lambda h, h_kv: h_kv + h / 2),
        Fault("without the length", "the cache of one position: the length is missing.",
              "every position keeps a key and a value: multiply by length.", positions=lambda n: 1),
        Fault("one position too few", "length - 1 positions are counted.", "every position is kept, the newest too.",
              positions=lambda n: n - 1),
        Fault("d_model for d_head", "num_heads * d_head, which is d_model, where d_head belongs.",
              "one key has d_head numbers, for each of num_kv_heads heads.", size=lambda h, d: h * d),
        Fault("numbers, not bytes", "how many numbers are kept, not how many bytes.", _WIDTH, width=lambda n: 1),
        *(Fault(f"always {name} bytes", f"{name} bytes for each number, whatever bytes_per_number says.", _WIDTH,
                width=lambda n, size=size: size) for name, size in (("two", 2), ("four", 4))),
        Fault("bits", "bits: 8 times the bytes.", "bytes_per_number is given in bytes already; leave the 8 out.",
              width=lambda n: 8 * n),
        Fault("in GiB", "the size in GiB.", "return bytes; divide by 2**30 only for printing.",
              finish=lambda total: total / 2**30),
    ), symptoms=(_rounded,),
    advice="work the first case by hand: 2 tensors of shape (batch_size, num_kv_heads, length, d_head) for each layer.",
)  # fmt: skip

"""What long contexts cost, and what a window saves: ``python -m experiments long_contexts``.

Memory and time of attention, explicit, in blocks, and in blocks with autograd's own backward pass, at lengths up to 32,768
(causal, one head of size 64, in single precision), with and without the backward pass. Each is measured in a process of its own,
which does a short one first, so that what a library loads once does not count. Then lesson 12's language model reads 11 texts of
4,096 characters, which don't overlap, with several caches: bits by position, and by text beyond the first 512. The same texts
are cut to the latest characters before the one that is asked for: bits by what is left, with the standard error of the
difference to 512. Then it writes 20,000 characters: how fast, by position. Seconds are those of one machine.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from course_utils import pretrained
from course_utils.attention import scaled_dot_product_attention
from course_utils.blockwise_attention import attention_in_blocks
from course_utils.datasets.documentation import documentation_split
from course_utils.datasets.text_windows import encode_text
from course_utils.decoding.sampling import draw_token
from course_utils.distributed.partial_attention import merge, partial_attention
from course_utils.kv_cache import KVCache
from course_utils.masks import AttentionMask, causal_mask
from course_utils.memory import peak_memory
from course_utils.models import DecoderLM

from .runs import Run

LENGTHS = (1024, 2048, 4096, 8192, 16384, 32768)
D_HEAD, SHORT, BLOCK, UNMASKED_LENGTH = 64, 256, 256, 8192
LEFT = "in blocks, left to autograd"
TEXTS, READ, PIECE = 11, 4096, 64  # texts, characters of each, characters of which the bits are averaged
TRAINED = 512  # characters of a text in lesson 12
# Characters written, in how many one row is made, and how many are timed together:
WRITTEN, EVERY, TIMED = 20_000, 1_000, 100
CACHES: dict[str, dict[str, int]] = {  # name -> what start_window is given; nothing: a cache that keeps everything
    "everything": {},
    "latest 512": {"window": 512},
    "first 4, latest 508": {"window": 508, "sinks": 4},
    "latest 64": {"window": 64},
    "first 4, latest 60": {"window": 60, "sinks": 4},
}
WRITERS = ("everything", "first 4, latest 508")
CUTS, EVERY_PLACE = (8, 16, 32, 64, 128, 256, 512), 28  # characters that are left; from one place asked for to the next
FIELDS = ("what", "kind", "length", "at", "text", "bits", "error", "megabytes", "seconds")


def explicit(q: Tensor, k: Tensor, v: Tensor, causal: bool = True) -> Tensor:
    """With a table of all weights."""
    return scaled_dot_product_attention(q, k, v, AttentionMask(is_causal=True) if causal else None)[0]


def in_blocks(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Without one."""
    return attention_in_blocks(q, k, v, AttentionMask(is_causal=True))


def left_to_autograd(q: Tensor, k: Tensor, v: Tensor, causal: bool = True) -> Tensor:
    """In blocks of the same size, but with PyTorch's own backward pass, for which it keeps what each block has made."""
    outputs = []
    for start in range(0, q.shape[2], BLOCK):
        rows = slice(start, start + BLOCK)
        on_diagonal = causal_mask(q[:, :, rows].shape[2]) if causal else None
        output, log_sums = partial_attention(q[:, :, rows], k[:, :, rows], v[:, :, rows], on_diagonal)
        for first in range(0, start if causal else q.shape[2], BLOCK):
            if first == start:
                continue  # it was the first
            keys = slice(first, first + BLOCK)
            output, log_sums = merge(output, log_sums, *partial_attention(q[:, :, rows], k[:, :, keys], v[:, :, keys]))
        outputs.append(output)
    return torch.cat(outputs, dim=2)


ATTENTION = {"explicit": explicit, "in blocks": in_blocks, LEFT: left_to_autograd}
UNMASKED = {f"{kind}, no mask": partial(ATTENTION[kind], causal=False) for kind in ("explicit", LEFT)}  # at one length
MOST = {"explicit": 16_384, LEFT: 16_384}  # the longest text of each kind; no entry: all lengths


def attend(kind: str, backward: bool, length: int, what: str = "") -> list[dict[str, object]]:
    """Peak memory and time of one attention, in a new process: by how much it grows beyond what it had before."""
    with get_context("spawn").Pool(1) as pool:
        megabytes, seconds = pool.apply(measure, (kind, backward, length))
    return [row(what or way_of(backward), kind, length, megabytes=megabytes, seconds=seconds)]


def measure(kind: str, backward: bool, length: int) -> tuple[float, float]:
    """Megabytes and seconds of one attention, in this process, after a short one."""
    torch.set_num_threads(1)
    once(kind, backward, SHORT)
    return once(kind, backward, length)


def once(kind: str, backward: bool, length: int) -> tuple[float, float]:
    """Megabytes and seconds of one attention."""
    inputs = [torch.randn(1, 1, length, D_HEAD, generator=torch.Generator().manual_seed(i)) for i in range(3)]
    for tensor in inputs:
        tensor.requires_grad_(backward)

    def work() -> None:
        output = (ATTENTION | UNMASKED)[kind](*inputs)
        if backward:
            output.sum().backward()

    started = time.perf_counter()
    measured = peak_memory(work)
    return measured.megabytes, time.perf_counter() - started


def roomy(length: int) -> DecoderLM:
    """Lesson 12's language model with room for more positions than it was trained with."""
    small = pretrained.load("language_model")
    model = DecoderLM(replace(small.config, max_len=length)).eval()
    model.load_state_dict(small.state_dict())
    return model


def start(model: DecoderLM, name: str, batch_size: int, length: int) -> list[KVCache]:
    """The cache of that name."""
    options = CACHES[name]
    return model.start_window(batch_size, **options) if options else model.start_cache(batch_size, length)


@torch.no_grad()
def read(name: str) -> list[dict[str, object]]:
    """Bits for a character by position, fed one at a time; and by text, beyond what the model was trained on."""
    model, texts = roomy(READ), texts_to_read()
    cache, bits = start(model, name, TEXTS, READ), []
    for place in range(READ):
        logits = model.next_logits(texts[:, place : place + 1], cache=cache)  # (texts, V)
        bits.append(F.cross_entropy(logits, texts[:, place + 1], reduction="none") / math.log(2))
    by_place = torch.stack(bits)  # (READ, texts)
    pieces, beyond = by_place.unflatten(0, (-1, PIECE)).mean(dim=(1, 2)), by_place[TRAINED:].mean(dim=0)
    rows = [row("reading", name, READ, at=PIECE * i, bits=value) for i, value in enumerate(pieces.tolist())]
    return rows + [row("reading", name, READ, text=i, bits=value) for i, value in enumerate(beyond.tolist())]


@torch.no_grad()
def cut() -> list[dict[str, object]]:
    """Bits for a character of which the model sees only the latest few before it, and their standard error against 512."""
    model, pieces = roomy(READ), texts_to_read().unfold(1, max(CUTS) + 1, EVERY_PLACE).flatten(0, 1)  # (n, 513)
    bits = torch.stack([bits_of_last(model, pieces[:, -left - 1 :]) for left in CUTS])  # (cuts, n)
    errors = (bits - bits[-1]).std(dim=1) / len(pieces) ** 0.5
    both = zip(CUTS, bits.mean(dim=1).tolist(), errors.tolist(), strict=True)
    return [row("cut", "all that is left", max(CUTS), at=left, bits=mean, error=error) for left, mean, error in both]


def bits_of_last(model: DecoderLM, pieces: Tensor) -> Tensor:
    """Bits for the last character of each piece, (n,)."""
    logits = torch.cat([model(some[:, :-1])[:, -1] for some in pieces.split(64)])
    return F.cross_entropy(logits, pieces[:, -1], reduction="none") / math.log(2)


def texts_to_read() -> Tensor:
    """Texts spread over the test text that don't overlap, (texts, read + 1)."""
    test = encode_text(documentation_split().test)
    starts = torch.linspace(0, len(test) - READ - 1, TEXTS).long()
    assert starts.diff().min() >= READ, "the texts overlap"
    return test[starts[:, None] + torch.arange(READ + 1)]


@torch.no_grad()
def write(name: str) -> list[dict[str, object]]:
    """Processor seconds for a hundred characters by position: the fastest hundred of each thousand."""
    torch.set_num_threads(1)
    model, rows, rng = roomy(WRITTEN + 1), [], torch.Generator().manual_seed(0)
    cache, token = start(model, name, 1, WRITTEN), encode_text("T")[None]
    for first in range(0, WRITTEN, EVERY):
        seconds = []
        for _ in range(EVERY // TIMED):
            started = time.process_time()
            for _ in range(TIMED):
                token = draw_token(model.next_logits(token, cache=cache), temperature=0.8, generator=rng)
            seconds.append(time.process_time() - started)
        rows.append(row("writing", name, WRITTEN, at=first, seconds=min(seconds)))
    return rows


def row(what: str, kind: str, length: int, **measured: float) -> dict[str, object]:
    """A row of ``FIELDS``, empty where nothing was measured."""
    found = {name: value if name in ("at", "text") else f"{value:.4g}" for name, value in measured.items()}
    return dict.fromkeys(FIELDS, "") | {"what": what, "kind": kind, "length": length} | found


def way_of(backward: bool) -> str:
    """What a row calls it."""
    return "forward and backward" if backward else "forward"


def runs(_table: Path) -> Iterator[Run]:
    """One run for each attention and length, each cache read with, two written with."""
    for backward in (False, True):
        for kind in ATTENTION:
            for length in LENGTHS:
                if length <= MOST.get(kind, length):
                    wanted = {"what": way_of(backward), "kind": kind, "length": length}
                    yield wanted, partial(attend, kind, backward, length)
    for kind in UNMASKED:
        wanted = {"what": "forward and backward, no mask", "kind": kind, "length": UNMASKED_LENGTH}
        yield wanted, partial(attend, kind, True, UNMASKED_LENGTH, wanted["what"])
    for name in CACHES:
        yield {"what": "reading", "kind": name, "length": READ}, partial(read, name)
    yield {"what": "cut", "kind": "all that is left", "length": max(CUTS)}, cut
    for name in WRITERS:
        yield {"what": "writing", "kind": name, "length": WRITTEN}, partial(write, name)

"""Lesson 10: how a model is built and called, and the small models that decoding, the loss and the scores are given."""

import functools
import zlib

import torch
from torch import nn

from ..counting import counted
from ..encode import type_name

SIZES = ("src_vocab", "tgt_vocab", "num_layers", "d_model", "d_ff", "num_heads", "max_len")


@torch.no_grad()
def settle(model: nn.Module, seed: int) -> None:
    """Give every parameter random values that depend on its name: whoever has the same names has the same weights."""
    for name, parameter in model.named_parameters(remove_duplicate=False):
        parameter.copy_(random_values(seed + zlib.crc32(name.encode()), parameter.shape))


@functools.lru_cache(maxsize=1000)
def random_values(seed: int, shape: torch.Size) -> torch.Tensor:
    """A bias or a weight."""
    size = 0.3 if len(shape) == 1 else shape[-1] ** -0.5
    return size * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def drive_model(answer, case):
    """Build it; note its parts; run it on two batches, on the second with other weights too; gradients of each part."""
    model = answer(*(case[name] for name in SIZES))
    if not isinstance(model, nn.Module):
        raise TypeError("the class is not an nn.Module: write class MyTransformer(nn.Module)")
    parts = parts_of(model)
    settle(model, case.driver["seed"])
    torch.default_generator.manual_seed(0)  # for dropout, if there is any
    logits = model(case["sources"], case["target"], case["pad_id"])
    if not case.driver["second"]:
        return parts, logits, None, None
    later, reached = [model(*case.driver["second"], case["pad_id"])], gradients_by_part(model, logits)
    settle(model, case.driver["seed"] + 1)  # what a model keeps of its last call is out of date now
    return parts, logits, [*later, model(*case.driver["second"], case["pad_id"])], reached


def parts_of(model):
    """What a model is made of, by the names of its attributes."""
    counts, owners = {}, {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        part = name.partition(".")[0]
        counts.setdefault(part, {})[parameter] = parameter.numel()
        owners.setdefault(parameter, set()).add(part)
    dropping = {name.partition(".")[0] for name, m in model.named_modules() if isinstance(m, nn.Dropout) and m.p > 0}
    buffers = model.named_buffers(remove_duplicate=False)
    return {
        "parameters": {part: sum(sizes.values()) for part, sizes in counts.items()},
        "sharing weights": sorted({part for parts in owners.values() if len(parts) > 1 for part in parts}),
        "with dropout": sorted(dropping),
        "positions": {n.partition(".")[0]: len(table) for n, table in buffers if n.endswith("positions.table")},
    }


def gradients_by_part(model, logits):
    """Part of the model -> the gradients of all its parameters in one row."""
    named = dict(sorted(model.named_parameters()))
    loss = logits.double().square().mean() if isinstance(logits, torch.Tensor) else None
    grads = gradients(loss, list(named.values()))
    by_part = {}
    for name, gradient in zip(named, grads, strict=True):
        by_part.setdefault(name.partition(".")[0], []).append(gradient.flatten())
    return {part: torch.cat(some) for part, some in by_part.items()}


def gradients(loss, watched):
    """What reaches each of ``watched`` from a loss; zeros where nothing does."""
    learned = [tensor for tensor in watched if tensor.requires_grad]  # others may have been frozen
    if not learned or not isinstance(loss, torch.Tensor) or not loss.requires_grad or loss.numel() != 1:
        return [torch.zeros_like(tensor) for tensor in watched]
    grads = iter(torch.autograd.grad(loss.reshape(()), learned, allow_unused=True, materialize_grads=True))
    return [next(grads) if tensor.requires_grad else torch.zeros_like(tensor) for tensor in watched]


def require_ids(ids, name, shape, vocab):
    """Raise with a sentence if what the answer gave the model is no batch of ids."""
    if not isinstance(ids, torch.Tensor) or ids.dim() != 2 or ids.is_floating_point():
        what = f"of shape {tuple(ids.shape)}, {ids.dtype}" if isinstance(ids, torch.Tensor) else type_name(ids)
        raise ValueError(f"the model was given a {name} {what}; it needs ids of shape {shape}, whole numbers")
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < vocab:
        raise ValueError(f"the model was given {name} ids from {ids.min()} to {ids.max()}; it knows 0 to {vocab - 1}")


def in_turn(case, learned, back):
    """A model that looks its logits up in ``learned``, a loss, and a list that tells how many pieces were back at each call."""
    tables, seen = case.driver["tables"], []
    vocab = len(learned)

    def model(source, given):
        require_ids(source, "source", "(B, L_s)", vocab)
        require_ids(given, "decoder input", "(B, L_t)", vocab)
        seen.append(len(back))
        return learned[given] + tables["source"][source].mean(1)[:, None]  # (B, L_t, V)

    def loss_of(logits, labels):
        if not isinstance(labels, torch.Tensor) or logits.dim() != 3 or logits.shape[:2] != labels.shape:
            shape = tuple(labels.shape) if isinstance(labels, torch.Tensor) else type_name(labels)
            raise ValueError(f"what loss_of is given: logits {tuple(logits.shape)} and labels {shape}")
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=case["pad_id"])

    return {"model": model, "loss_of": loss_of}, seen


def drive_pieces(answer, case):
    """The loss, what one update leaves, and how many pieces had gone back whenever the next came in."""
    learned, back = case.driver["tables"]["learned"].clone().requires_grad_(), []
    learned.register_hook(lambda gradient: back.append(1))
    functions, seen = in_turn(case, learned, back)
    most = 4 * len(case["pieces"])
    loss = answer(*(counted(function, most, name) for name, function in functions.items()), *case.values())
    update = torch.zeros_like(learned) if learned.grad is None else learned.grad
    return loss, learned.detach() - update, seen


def weighed(ids):
    """``(B, L)``: at each place a sum of the ids so far, in which every place counts differently."""
    return (2 ** torch.arange(ids.shape[1]) * ids).cumsum(1)


def speaker(case):
    """A model whose next symbol is the case's code for it plus all that it is given so far, so that it must be asked."""
    codes, noise = case.driver["codes"], case.driver["noise"]
    vocab, steps = noise.shape[1], case["max_len"]

    def model(source, target):
        require_ids(source, "source", "(B, L_s)", vocab)
        require_ids(target, "target", "(B, L_t)", vocab)
        if target.shape[1] > steps + 2:
            raise RuntimeError(
                f"the model was given {target.shape[1]} ids for max_len = {steps}: what stops your loop?"
            )
        if len(source) != len(target) or not target.shape[1]:
            shapes = f"source {tuple(source.shape)} and target {tuple(target.shape)}"
            raise ValueError(f"the model was given {shapes}; both have B rows, the target begins with the start symbol")
        rows = codes[(source[:, :1] == case["source"][:, 0]).long().argmax(1)]  # (B, steps + 2)
        says = (rows[:, : target.shape[1]] + weighed(target)) % vocab  # (B, L_t)
        return noise[says] + 4.0 * nn.functional.one_hot(says, vocab)

    return model


def drive_greedy(answer, case):
    """What such a model says."""
    most = (case["max_len"] + 2) * len(case["source"])  # one row at a time, at most
    return answer(counted(speaker(case), most, "model"), *case.values())


def drive_batch_loss(answer, case):
    """The loss with a model made from the case's tables, and the gradient that reaches a factor in it."""
    factor = _factor(case).requires_grad_()
    model = counted(looks_where_it_may(case.driver["tables"], factor), 4 * case["target"].numel(), "model")
    loss = answer(model, *case.values())
    return loss, gradients(loss, [factor])[0]


def encoder_and_decoder(case, rows):
    """An encoder that notes how many rows it is given, and a decoder that reads all that it is given so far."""
    tables = case.driver["tables"]
    vocab = len(tables["target"])

    def encode(source):
        require_ids(source, "source", "(1, L_s)", vocab)
        rows.append(len(source))
        return tables["source"][source]  # (B, L_s, d_model)

    def decode(ids, memory):
        require_ids(ids, "decoder input", "(B, L_t)", vocab)
        if not isinstance(memory, torch.Tensor) or memory.dim() != 3 or len(memory) != len(ids):
            shape = f"of shape {tuple(memory.shape)}" if isinstance(memory, torch.Tensor) else type_name(memory)
            raise ValueError(f"decode was given {len(ids)} rows and a memory {shape}; it needs (B, L_s, d_model)")
        so_far = tables["target"][ids].cumsum(1) + tables["memory"][ids]  # (B, L_t, V)
        return so_far + (memory.mean(1) @ tables["read"])[:, None]

    return {"encode": encode, "decode": decode}


def drive_candidates(answer, case):
    """The scores, and how many rows went through the encoder."""
    most, rows = 2 * case["candidates"].numel(), []  # symbol by symbol, at most
    functions = encoder_and_decoder(case, rows)
    scores = answer(*(counted(function, most, name) for name, function in functions.items()), *case.values())
    return scores, sum(rows)


def looks_where_it_may(tables, factor):
    """A model without layers: an average of the target and of the source, where the masks allow."""

    def model(source, decoder_input, source_mask, target_mask):
        vocab = len(tables["target"])
        require_ids(source, "source", "(B, L_s)", vocab)
        require_ids(decoder_input, "decoder_input", "(B, L_t)", vocab)
        (B, L_t), L_s = decoder_input.shape, source.shape[1]
        seen = allowed(target_mask, "target_mask", (B, 1, L_t, L_t)).to(tables["target"])
        read = allowed(source_mask, "source_mask", (B, 1, L_t, L_s)).to(tables["target"])
        place = tables["place"][torch.arange(L_t) % vocab]  # (L_t, V)
        so_far = seen @ (tables["target"][decoder_input] + place) / seen.sum(-1, keepdim=True).clamp(min=1)
        return factor * so_far + tables["last"][decoder_input] + read @ tables["source"][source] / L_s

    return model


def allowed(mask, name, shape):
    """A mask as ``(B, L_q, L_k)``."""
    if isinstance(mask, torch.Tensor) and mask.dtype != torch.bool:
        raise ValueError(f"the model was given a {name} of {mask.dtype}; its masks are boolean")
    try:
        return mask.expand(shape)[:, 0]
    except (AttributeError, RuntimeError):
        what = f"of shape {tuple(mask.shape)}" if isinstance(mask, torch.Tensor) else f"that is a {type_name(mask)}"
        raise ValueError(f"the model was given a {name} {what}; it needs {shape}, or 1 in place of a size") from None


def _factor(case):
    return torch.ones(len(case.driver["tables"]["target"]), dtype=case.driver["tables"]["target"].dtype)


SHOWN = {
    "drive_greedy": lambda case: {"model": speaker(case)} | case,
    "drive_batch_loss": lambda case: {"model": looks_where_it_may(case.driver["tables"], _factor(case))} | case,
    "drive_pieces": lambda case: in_turn(case, case.driver["tables"]["learned"].clone().requires_grad_(), [])[0] | case,
    "drive_candidates": lambda case: encoder_and_decoder(case, []) | case,
}

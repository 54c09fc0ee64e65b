"""Lesson 12: how a network, a block, a generation, a step of attention and windows of a text are run, on which models."""

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.kv_cache import KVCache
from course_utils.models import DecoderConfig, DecoderLM

from ..counting import counted
from .lesson_10 import gradients

NETWORK = ("gate_proj.weight", "up_proj.weight", "down_proj.weight")


def drive_network(answer, case):
    """What a SwiGLU network of the answer's three matrices gives for the vectors ``x``."""
    matrices = answer(case["a"], case["b"])
    if not isinstance(matrices, dict) or set(matrices) != set(NETWORK):
        raise ValueError(f"product_network must return a dict of three matrices: {', '.join(NETWORK)}")
    gate, up, down = (matrices[name] for name in NETWORK)
    if not all(isinstance(part, torch.Tensor) and part.dim() == 2 for part in (gate, up, down)):
        raise ValueError("each of the three matrices must be a tensor with two axes")
    (d_ff, d_model), shapes = gate.shape, [tuple(part.shape) for part in (gate, up, down)]
    if d_model != len(case["a"]) or shapes[1:] != [(d_ff, d_model), (1, d_ff)] or not 1 <= d_ff <= 4:
        wanted = "(d_ff, d_model), (d_ff, d_model) and (1, d_ff), with d_ff from 1 to 4"
        raise ValueError(f"gate, up and down have the shapes {', '.join(map(str, shapes))}; they must be {wanted}")
    if {part.dtype for part in (gate, up, down)} != {case["a"].dtype}:
        raise ValueError(f"all three matrices must have the dtype of a, {case['a'].dtype}")
    return F.linear(F.silu(F.linear(case["x"], gate)) * F.linear(case["x"], up), down)[:, 0]  # (n,)


def drive_block(answer, case):
    """Output, gradients and length of the cache: all of ``x`` at once, or in pieces with a cache.

    ``earlier``: the cache holds keys and values from elsewhere already. ``again``: another cache is used before, and
    ``x`` is fed as a whole without a cache afterwards.
    """
    x, whole, again = case["x"], case["x"].clone(), case.driver["again"]
    block = _built(answer(x.shape[-1], case["num_heads"], case["num_kv_heads"], case["d_ff"]), case).to(x.dtype)
    if case["pieces"] is None:
        with torch.no_grad():
            output = block(x)
        return output.clone() if isinstance(output, torch.Tensor) else output, _block_gradients(block, whole), 0
    with torch.no_grad():
        if again:
            _in_pieces(block, case)
        output, length = _in_pieces(block, case)
        output = torch.cat([output, block(x)], dim=1) if again else output
    return output, [], length


def _in_pieces(block, case):
    x, earlier = case["x"], case.driver["earlier"]
    cache = KVCache(len(x), case["num_kv_heads"], 4 * x.shape[1], x.shape[2] // case["num_heads"], dtype=x.dtype)
    if earlier is not None:
        cache.update(earlier, earlier.flip(-1))
    return torch.cat([block(piece, cache) for piece in x.split(case["pieces"], dim=1)], dim=1), cache.length


def _block_gradients(block, x):
    leaf = x.clone().requires_grad_()
    output, watched = block(leaf * 1), [leaf, block.norm_1.weight, block.norm_2.weight]
    if not isinstance(output, torch.Tensor):
        return gradients(None, watched)
    slopes = torch.linspace(-1.0, 1.5, output.numel(), dtype=x.dtype).view(output.shape).cos()
    return gradients((output * slopes).sum(), watched)


def _built(block, case):
    for name in ("self_attention", "feed_forward", "norm_1", "norm_2"):
        if not isinstance(getattr(block, name, None), nn.Module):
            raise ValueError(f"the block must keep its part {name}, as in the constructor that was given")
    for offset, name in enumerate(("self_attention", "feed_forward")):
        torch.default_generator.manual_seed(case.driver["seed"] + offset)
        for parameter in getattr(block, name).parameters():
            nn.init.normal_(parameter, std=1.2 * parameter.shape[-1] ** -0.5)
    with torch.no_grad():
        for name in ("norm_1", "norm_2"):
            getattr(block, name).weight.copy_(case[f"{name}.weight"])
    return block


def small_model(case):
    """A random model whose predictions are sharp, and depend on much of the text."""
    (num_heads, kv_heads, d_head), positions = case.driver["heads"], case["prompt"].shape[1] + case["max_new_tokens"]
    d_model = num_heads * d_head
    sizes = {"num_layers": 2, "d_model": d_model, "d_ff": 2 * d_model, "num_heads": num_heads, "num_kv_heads": kv_heads}
    config = DecoderConfig(case.driver["vocab"], **sizes, max_len=4 * positions, tie_embeddings=False)
    torch.default_generator.manual_seed(case.driver["seed"])
    model = DecoderLM(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=1.5 * parameter.shape[1] ** -0.5)
    nn.init.normal_(model.embedding.weight)
    return model


def _recorded(model, most_calls):
    """What an answer is given in the place of a model, and what it was fed: shapes, and whether it got a cache.

    The answer's model has no attribute by which one could get at the list, or at the model itself.
    """
    calls, answer, start_cache = [], counted(model, most_calls, "model"), model.start_cache

    def forward(tokens, *, cache=None):
        logits = answer(tokens, cache=cache)
        calls.append((list(tokens.shape), cache is not None))
        return logits

    recorder = nn.Module()
    recorder.forward, recorder.start_cache = forward, lambda *sizes, **named: start_cache(*sizes, **named)
    return recorder, calls


def drive_generation(answer, case):
    """The tokens, the shape that each call was fed, and whether it got a cache."""
    prompt, new = case["prompt"], case["max_new_tokens"]
    model, calls = _recorded(small_model(case), most_calls=2 * (prompt.shape[1] + new) + 5)
    tokens = answer(model, prompt, new)
    return tokens, [shape for shape, _ in calls], [used for _, used in calls]


def drive_steps(answer, case):
    """Piece by piece; what each call keeps is handed to the next. ``beside``: another text is begun in between."""
    query, key, value, cos, sin, pieces = case.values()
    keys, values, outputs = key[:, :, :0], value[:, :, :0], []
    for parts in zip(*(x.split(pieces, dim=2) for x in (query, key, value)), strict=True):
        result = answer(*parts, keys, values, cos, sin)
        if not isinstance(result, tuple | list) or len(result) != 3:
            raise TypeError("attend_step must return three tensors: output, keys, values")
        output, keys, values = result
        if not all(isinstance(x, torch.Tensor) and x.dim() == 4 for x in (keys, values)):
            raise TypeError("keys and values must come back as tensors with four axes, as they went in")
        outputs.append(output.detach().clone() if isinstance(output, torch.Tensor) else output)
        if case.driver["beside"]:
            answer(*(3 - x[:, :, :1] for x in (query, key, value)), key[:, :, :0], value[:, :, :0], cos, sin)
    return outputs, keys, values


class _Summing(nn.Module):
    """A causal model that goes by the sum of all that it was fed so far; it has room for ``length`` characters."""

    def __init__(self, into, out, length):
        super().__init__()
        self.into, self.out, self.length = into, out, length

    def forward(self, tokens):
        if tokens.dim() != 2:
            raise ValueError(f"the model was fed a tensor of shape {tuple(tokens.shape)}; it wants (B, L)")
        if not 1 <= tokens.shape[1] <= self.length:
            room = f"it wants from 1 to length ({self.length})"
            raise ValueError(f"the model was fed {tokens.shape[1]} characters; {room}")
        return self.into[tokens].cumsum(dim=1) @ self.out.T  # (B, L, V)


def _summing(case):
    return {"model": _Summing(case.driver["into"], case.driver["out"], case["length"])} | case


def drive_windows(answer, case):
    """The answer's number; the model may be called four times for each character."""
    arguments = _summing(case)
    model = arguments["model"]
    model.forward = counted(model.forward, 4 * len(case["ids"]), "model")
    return answer(*arguments.values())


def _generating(case):
    with torch.random.fork_rng(devices=[]):  # the student's random numbers go on as they would have
        return {"model": small_model(case)} | case


SHOWN = {"drive_generation": _generating, "drive_windows": _summing}

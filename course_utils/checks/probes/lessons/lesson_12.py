"""Lesson 12: what is off limits; how the block of 12.2, the generation of 12.3, the pieces of 12.6 and the windows of
12.7 are run."""

import torch
from torch import nn

from course_utils.kv_cache import KVCache
from course_utils.models import DecoderConfig, DecoderLM

from ..probe import Probe


def run_block(answer, case):
    """Output, gradients and length of the cache: all of ``x`` at once, or in pieces with a cache.

    ``_earlier``: the cache holds keys and values from elsewhere already. ``_again``: another cache is used before, and
    ``x`` is fed as a whole without a cache afterwards.
    """
    x, whole = case["x"], case["x"].clone()
    block = _built(answer(x.shape[-1], case["num_heads"], case["num_kv_heads"], case["d_ff"]), case).to(x.dtype)
    if case["pieces"] is None:
        with torch.no_grad():
            output = block(x)
        return output.clone() if isinstance(output, torch.Tensor) else output, _block_gradients(block, whole), 0
    with torch.no_grad():
        if case["_again"]:
            _in_pieces(block, case)
        output, length = _in_pieces(block, case)
        output = torch.cat([output, block(x)], dim=1) if case["_again"] else output
    return output, [], length


def _in_pieces(block, case):
    x, earlier = case["x"], case["_earlier"]
    cache = KVCache(len(x), case["num_kv_heads"], 4 * x.shape[1], x.shape[2] // case["num_heads"], dtype=x.dtype)
    if earlier is not None:
        cache.update(earlier, earlier.flip(-1))
    return torch.cat([block(piece, cache) for piece in x.split(case["pieces"], dim=1)], dim=1), cache.length


def _block_gradients(block, x):
    leaf = x.clone().requires_grad_()
    output, watched = block(leaf * 1), [leaf, block.norm_1.weight, block.norm_2.weight]
    if not isinstance(output, torch.Tensor) or not output.requires_grad:
        return [torch.zeros_like(tensor) for tensor in watched]
    slopes = torch.linspace(-1.0, 1.5, output.numel(), dtype=x.dtype).view(output.shape).cos()
    return list(torch.autograd.grad((output * slopes).sum(), watched, allow_unused=True, materialize_grads=True))


def _built(block, case):
    for name in ("self_attention", "feed_forward", "norm_1", "norm_2"):
        if not isinstance(getattr(block, name, None), nn.Module):
            raise ValueError(f"the block must keep its part {name}, as in the constructor that was given")
    for offset, name in enumerate(("self_attention", "feed_forward")):
        torch.default_generator.manual_seed(case["_seed"] + offset)
        for parameter in getattr(block, name).parameters():
            nn.init.normal_(parameter, std=1.2 * parameter.shape[-1] ** -0.5)
    with torch.no_grad():
        for name in ("norm_1", "norm_2"):
            getattr(block, name).weight.copy_(case[f"{name}.weight"])
    return block


def small_model(case):
    """A random model whose predictions are sharp, and depend on much of the text."""
    (num_heads, kv_heads, d_head), positions = case["_heads"], case["prompt"].shape[1] + case["max_new_tokens"]
    d_model = num_heads * d_head
    config = DecoderConfig(
        case["_vocab"], num_layers=2, d_model=d_model, d_ff=2 * d_model, num_heads=num_heads, num_kv_heads=kv_heads,
        max_len=4 * positions, tie_embeddings=False,
    )  # fmt: skip
    torch.default_generator.manual_seed(case["_seed"])
    model = DecoderLM(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=1.5 * parameter.shape[1] ** -0.5)
    nn.init.normal_(model.embedding.weight)
    return model


class _Recorder(nn.Module):
    """A model that notes how many positions each call got, and whether it got a cache; it stops an endless answer."""

    def __init__(self, model, most_calls):
        super().__init__()
        self.model, self.most_calls, self.calls = model, most_calls, []

    def start_cache(self, batch_size, max_len):
        return self.model.start_cache(batch_size, max_len)

    def forward(self, tokens, *, cache=None):
        if len(self.calls) == self.most_calls:
            raise RuntimeError(f"the model was called {self.most_calls} times, and your loop still goes on")
        self.calls.append((list(getattr(tokens, "shape", [])), cache is not None))
        return self.model(tokens, cache=cache)


def run_generation(answer, case):
    """The tokens, the shape that each call was fed, and whether it got a cache."""
    prompt, new = case["prompt"], case["max_new_tokens"]
    model = _Recorder(small_model(case), most_calls=2 * (prompt.shape[1] + new) + 5)
    said = answer(model, prompt, new)
    return said, [shape for shape, _ in model.calls], [used for _, used in model.calls]


def _attend_in_pieces(answer, arguments):
    """Piece by piece; what each call keeps is handed to the next. ``_beside``: another text is begun in between."""
    query, key, value, cos, sin, pieces, beside = arguments.values()
    keys, values, outputs = key[:, :, :0], value[:, :, :0], []
    for parts in zip(*(x.split(pieces, dim=2) for x in (query, key, value)), strict=True):
        result = answer(*parts, keys, values, cos, sin)
        if not isinstance(result, tuple | list) or len(result) != 3:
            raise TypeError("attend_step must return three tensors: output, keys, values")
        output, keys, values = result
        if not all(isinstance(x, torch.Tensor) and x.dim() == 4 for x in (keys, values)):
            raise TypeError("keys and values must come back as tensors with four axes, as they went in")
        outputs.append(output.detach().clone() if isinstance(output, torch.Tensor) else output)
        if beside:
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
            raise ValueError(
                f"the model was fed {tokens.shape[1]} characters; it wants from 1 to length ({self.length})"
            )
        return self.into[tokens].cumsum(dim=1) @ self.out.T  # (B, L, V)


def _in_windows(answer, case):
    """The answer's number: a model that sees the whole window, as in a notebook without gradients."""
    model = _Summing(case["_into"], case["_out"], case["length"])
    return answer(model, case["ids"], case["length"], case["stride"])


LAYERS = tuple(f"course_utils.{name}" for name in (
    "layers.residual.Residual", "layers.decoder_only.DecoderOnlyLayer", "layers.decoder.DecoderLayer",
    "layers.encoder.EncoderLayer", "models.decoder_lm.DecoderLM",
))  # fmt: skip
NETWORKS = ("course_utils.layers.feed_forward.SwiGLU", "course_utils.layers.feed_forward.FeedForward")
GENERATORS = (
    "course_utils.decoding.sampling.generate",
    "course_utils.decoding.search.greedy_decode",
    "course_utils.decoding.search.beam_search",
)
SCORES = (
    *(f"course_utils.metrics.{name}" for name in ("perplexity", "bits_per_symbol", "text_scores")),
    *(
        f"course_utils.training.losses.{name}"
        for name in ("label_smoothing_loss", "teacher_forced_loss", "next_symbol_loss")
    ),
)
PROBES = {
    "swiglu": Probe(off_limits=NETWORKS, gradients=True),
    "DecoderBlock": Probe(call=run_block, expects="class", off_limits=LAYERS),
    "generate_greedy": Probe(call=run_generation, off_limits=GENERATORS),
    "next_token_distribution": Probe(off_limits=("course_utils.decoding.sampling.sampling_distribution",)),
    "perplexity": Probe(off_limits=SCORES),
    "attend_step": Probe(call=_attend_in_pieces),
    "text_bits": Probe(call=_in_windows, off_limits=SCORES),
    "mark_seen": Probe(off_limits=("course_utils.datasets.text_windows.seen_before",)),
    "window_results": Probe(expects="value"),
}

"""Assemble the model."""

# Faults that are `whole` here are not tried in pairs: each try builds a model, and other sizes are seen by `other_parts`.

import functools

import torch
from torch import nn

from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

from ....probes.lessons.lesson_10 import SIZES
from ...exercise import Case, Exercise, Fault
from ...kit.padded import keys, padded, past
from ...kit.parts import faults_of
from .symptoms import keeps_the_first_batch, no_gradient, other_parts, super_forgotten


def _cases(seed):
    """The first is small and quick, as every pair of faults is tried on it; the others are followed up on."""
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for sizes, sources, targets, pad_id in (
        ((8, 9, 1, 4, 6, 2, 12), (5, 2), (3, 4), 0),
        ((9, 7, 2, 6, 10, 3, 9), (3, 5, 4), (4, 2, 3), 2),
        ((7, 7, 2, 8, 5, 4, 20), (4, 2), (4, 1), 5),
    ):
        source, target, *second = (
            padded(rng, some, max(some), vocab, pad_id, 0 if pad_id else 3)
            for some, vocab in zip((sources, targets, sources[::-1], targets[::-1]), sizes[:2] * 2, strict=True)
        )
        given = dict(zip(SIZES, sizes, strict=True), source=source, target=target, pad_id=pad_id)
        cases.append(Case(**given, _second=second if len(cases) == 1 else [], _seed=seed))
    return cases


def _chain(layers, x, norm, **masks):
    for layer in layers:
        x = layer(x, **masks)
    return norm(x)


def _norm_after_each(layers, x, norm, **masks):
    for layer in layers:
        x = norm(layer(x, **masks))
    return x


def _restarting(layers, x, norm, **masks):
    return norm([layer(x, **masks) for layer in layers][-1])


def _encoder_first(model, x, y, mask, masks, encoder, decoder, norms):
    memory = encoder(model.encoder_layers, x, norms[0], mask=mask)
    return decoder(model.decoder_layers, y, norms[1], memory=memory, **masks)


def _normalized_again(first=True, each=False):
    """The memory goes through the encoder's norm once more, for all decoder layers or before each one."""

    def order(model, x, y, mask, masks, encoder, decoder, norms):
        memory = encoder(model.encoder_layers, x, norms[0] if first else nn.Identity(), mask=mask)
        for layer in model.decoder_layers:
            again = norms[0](memory)
            memory = again if each else memory
            y = layer(y, again, **masks)
        return norms[1](y)

    return order


def _side_by_side(model, x, y, mask, masks, encoder, decoder, norms):
    for encoder_layer, decoder_layer in zip(model.encoder_layers, model.decoder_layers, strict=True):
        x = encoder_layer(x, mask)
        y = decoder_layer(y, norms[0](x), **masks)
    return norms[1](y)


def _scaled_again(model, *ids):
    return [model.generator.in_features**0.5 * x for x in _embedded(model, *ids)]


def _embedded(model, source, target):
    return model.source_embedding(source), model.target_embedding(target)


def _of_source(source, target, pad_id):
    return keys(source != pad_id)


def _of_target(source, target, pad_id):
    return keys(target != pad_id) & past(target.shape[1])


def _no_mask(source, target, pad_id):
    return None


@functools.cache
def _stacks(count, *sizes):
    """Made once, as each try fills them anew with the case's weights."""
    return [nn.ModuleList(kind(*sizes, dropout=0.0) for _ in range(count)) for kind in (EncoderLayer, DecoderLayer)]


def _model(
    *, heads=lambda num_heads: num_heads, pad=lambda pad_id: pad_id,
    source_mask=_of_source, memory_mask=_of_source, target_mask=_of_target,
    embed=_embedded, order=_encoder_first, encoder=_chain, decoder=_chain,
    encoder_norm=lambda model: model.encoder_norm, decoder_norm=lambda model: model.decoder_norm,
    finish=lambda model, hidden: model.generator(hidden),
):  # fmt: skip
    """The class (Vaswani et al. 2017, section 3, with the norms in front)."""

    class MyTransformer(nn.Module):
        def __init__(self, src_vocab, tgt_vocab, num_layers, d_model, d_ff, num_heads, max_len):
            super().__init__()
            sizes = (d_model, heads(num_heads), d_ff)
            self.source_embedding = InputEmbedding(src_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
            self.target_embedding = InputEmbedding(tgt_vocab, d_model, positions=SinusoidalPositions(d_model, max_len))
            self.encoder_layers, self.decoder_layers = _stacks(num_layers, *sizes)
            self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
            self.generator = nn.Linear(d_model, tgt_vocab)

        def forward(self, source, target, pad_id):
            given = (source, target, pad(pad_id))
            masks = {"target_mask": target_mask(*given), "memory_mask": memory_mask(*given)}
            how = (encoder, decoder, (encoder_norm(self), decoder_norm(self)))
            return finish(self, order(self, *embed(self, source, target), source_mask(*given), masks, *how))

    return MyTransformer


_NORMS = "apply encoder_norm and decoder_norm once each, after the last layer of their stack: outside the loop."
_CHAIN = "feed each layer with the output of the one before: x = layer(x, mask)."
_LOGITS = "return what the generator gives, logits of shape (B, L_t, tgt_vocab)."

_FAULTS = (
    Fault("always two heads", "two heads, whatever num_heads says.", "hand num_heads on to every layer.",
        whole=_model(heads=lambda num_heads: 2)),
    Fault("encoder norm not used", "the memory is the last layer's output without the final norm.", _NORMS,
        encoder_norm=lambda model: nn.Identity()),
    Fault("decoder norm not used", "the hidden vectors reach the generator without the final norm.", _NORMS,
        decoder_norm=lambda model: nn.Identity()),
    Fault("norms exchanged", "the two final norms are exchanged.", _NORMS,
        encoder_norm=lambda model: model.decoder_norm, decoder_norm=lambda model: model.encoder_norm),
    Fault("norm after every layer", "the final norms are applied after every layer.", _NORMS,
        encoder=_norm_after_each, decoder=_norm_after_each),
    *(Fault(f"{stack} norm after every layer", f"{stack}_norm is applied after every layer of the {stack}.", _NORMS,
        **{stack: _norm_after_each}) for stack in ("encoder", "decoder")),
    *(Fault(name, said, _NORMS, whole=_model(order=order)) for name, said, order in (
        ("memory normalized twice", "encoder_norm is applied to the memory a second time before the decoder reads it.",
         _normalized_again()),
        ("memory normalized at every layer", "encoder_norm is applied to the memory again before every decoder layer.",
         _normalized_again(each=True)),
        ("memory normalized in the decoder only", "encoder_norm is applied to the memory anew before every decoder layer.",
         _normalized_again(first=False, each=True)))),
    Fault("softmax", "probabilities: a softmax was applied. The loss would apply a log-softmax to them.", _LOGITS,
        finish=lambda model, hidden: model.generator(hidden).softmax(-1)),
    Fault("log-softmax", "log-probabilities. They train well, but asked for are logits.", _LOGITS,
        whole=_model(finish=lambda model, hidden: model.generator(hidden).log_softmax(-1))),
    Fault("hidden vectors", "the hidden vectors; the generator was not applied.", _LOGITS,
        whole=_model(finish=lambda model, hidden: hidden)),
    *faults_of("target_mask", "give it the causal mask joined with the padding mask of the target.",
        ("one step ahead", "each position of the target sees one step ahead, and there stands its label.",
         lambda s, t, p: keys(t != p) & past(t.shape[1], 1), "a position may see itself and the past: tril()."),
        ("no causal mask", "the decoder sees the future: there is no causal mask.", lambda s, t, p: keys(t != p)),
        ("target padding seen", "the decoder's self-attention sees the target's padding.", lambda s, t, p: past(t.shape[1])),
        ("no target mask", "the decoder's self-attention has no mask at all.", _no_mask)),
    *faults_of("source_mask", "give every encoder layer the padding mask of the source, and nothing else.",
        ("source padding seen", "the encoder sees the source's padding.", _no_mask),
        ("causal encoder", "the encoder has a causal mask. The source is known as a whole; nothing of it is future.",
         lambda s, t, p: keys(s != p) & past(s.shape[1]))),
    *faults_of("memory_mask", "its keys are the source: give it the padding mask of the source, and nothing else.",
        ("memory padding seen", "the cross-attention sees the source's padding.", _no_mask),
        ("target's padding over the memory", "the cross-attention was given the padding mask of the target.",
         lambda s, t, p: keys(t != p)),
        ("target's mask over the memory", "the cross-attention was given the target's mask, causal and all.", _of_target)),
    Fault("no source mask", "the source's padding is seen by the encoder and by the cross-attention: there is no source mask.",
        "one padding mask of the source serves both.", source_mask=_no_mask, memory_mask=_no_mask),
    Fault("masks exchanged", "target_mask and memory_mask are exchanged.", "target_mask is for self-attention, "
        "memory_mask (the source's padding) for cross-attention.", memory_mask=_of_target, target_mask=_of_source),
    Fault("pad id 0 assumed", "padding is taken to be 0, whatever pad_id says.", "hand pad_id to the masks.", pad=lambda p: 0),
    Fault("memory is the embedding", "the decoder looks at the embedded source; the encoder layers are not used.",
        "run it through every encoder layer and the norm.", encoder=lambda layers, x, norm, **masks: x),
    Fault("encoder layers all from the embedding", "each encoder layer gets the embedding; only the last one's is kept.",
        _CHAIN, encoder=_restarting),
    Fault("decoder layers all from the embedding", "each decoder layer gets the embedding; only the last one's is kept.",
        _CHAIN, decoder=_restarting),
    Fault("memory of the same layer", "each decoder layer looks at the output of the encoder layer beside it.",
        "finish the encoder first; every decoder layer gets the same memory.", order=_side_by_side),
    Fault("scaled again", "the embeddings are multiplied by the root of d_model a second time, positions included.",
        "InputEmbedding does that itself.", whole=_model(embed=_scaled_again)),
)  # fmt: skip

EXERCISE = Exercise(
    answer="MyTransformer", cases=_cases, reference=_model,
    returns=("parts", "logits", "logits of later calls", "gradients"), faults=_FAULTS,
    symptoms=(super_forgotten, other_parts, keeps_the_first_batch, no_gradient),
    advice="compare your parts, their names and your forward with the tables of the task: what goes where, with which mask.",
    tries=50,
)  # fmt: skip

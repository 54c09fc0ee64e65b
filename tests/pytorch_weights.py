"""Carry the weights of PyTorch's own layers over into the course's, so that both must compute the same."""

import torch


@torch.no_grad()
def copy_attention(ours, theirs):
    """``nn.MultiheadAttention`` keeps the matrices of query, key and value stacked in one, in that order."""
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    for projection, weight, bias in zip((ours.q_proj, ours.k_proj, ours.v_proj), weights, biases, strict=True):
        projection.weight.copy_(weight)
        projection.bias.copy_(bias)
    ours.o_proj.load_state_dict(theirs.out_proj.state_dict())


def copy_layer(ours, theirs):
    """``nn.TransformerEncoderLayer`` or ``nn.TransformerDecoderLayer``: their norms are numbered in the sublayers' order."""
    copy_attention(ours.self_attention, theirs.self_attn)
    norms = [ours.attention_norm, ours.feed_forward_norm]
    if hasattr(theirs, "multihead_attn"):
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        norms.insert(1, ours.cross_attention_norm)
    for number, norm in enumerate(norms, start=1):
        norm.load_state_dict(getattr(theirs, f"norm{number}").state_dict())
    ours.feed_forward.up_proj.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.down_proj.load_state_dict(theirs.linear2.state_dict())


def copy_transformer(ours, theirs):
    """``nn.Transformer``, which has neither embeddings nor a generator."""
    for name in ("encoder", "decoder"):
        stack = getattr(theirs, name)
        for layer, their_layer in zip(getattr(ours, f"{name}_layers"), stack.layers, strict=True):
            copy_layer(layer, their_layer)
        getattr(ours, f"{name}_norm").load_state_dict(stack.norm.state_dict())


@torch.no_grad()
def unsettle(module):
    """Every parameter random: biases of 0 and norms of 1, where PyTorch starts, would hide that one is missing."""
    for parameter in module.parameters():
        parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(parameter.numel())) * 0.1)
    return module

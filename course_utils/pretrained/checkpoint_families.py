"""What the course's ``DecoderLM`` knows of the checkpoints of GPT-2 and Llama: entries of ``config.json``, names of weights."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from torch import Tensor

from ..models import DecoderConfig

NO_EFFECT = {  # on the logits of a model that is only read: entries about training, other tasks, names of tokens, file formats
    *"architectures attention_dropout attn_pdrop bos_token_id dtype embd_pdrop eos_token_id initializer_range".split(),
    *"keys_to_ignore_at_inference model_type n_ctx pad_token_id pretraining_tp reorder_and_upcast_attn resid_pdrop".split(),
    *"task_specific_params torch_dtype transformers_version use_cache _name_or_path".split(),
    *(f"summary_{name}" for name in ("activation", "first_dropout", "proj_to_labels", "type", "use_proj")),
}


class Family(NamedTuple):
    """How one family's configurations and weights are read.

    ``fields`` are the entries that become a field of ``DecoderConfig``, each with what it is where it is missing, told by the
    fields before it (None: it may not be missing); ``only`` those that may have the listed values alone; ``fixed`` what all
    models of the family have; ``weights`` gives a weight of a file its names and layout in the course's model.
    """

    fields: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Any] | None]]
    only: Mapping[str, tuple[Any, ...]]
    fixed: Mapping[str, Any]
    weights: Callable[[str, Tensor], Iterator[tuple[str, Tensor]]]


def config_of(family: Family, settings: Mapping[str, Any]) -> DecoderConfig:
    """A checkpoint's configuration in the course's terms.

    Raises:
        ValueError: An entry is missing, or one is there that the course's model cannot follow or that is not known here.
    """
    values = dict(family.fixed)
    for name, (field, default) in family.fields.items():
        value = settings.get(name)
        if value is None and default is None:
            raise ValueError(f"config.json has no {name}")
        values[field] = default(values) if value is None else value
    rotary = dict(settings.get("rope_parameters") or {})  # newer files put the base and the scaling here
    if "rope_base" in values and "rope_theta" in rotary:
        values["rope_base"] = rotary.pop("rope_theta")
    for name, value in {**settings, **{f"rope_parameters.{key}": value for key, value in rotary.items()}}.items():
        if name in family.only:
            if value not in family.only[name] and not _follows(name, value, values):
                allowed = " or ".join(map(repr, family.only[name]))
                raise ValueError(f"config.json: {name} is {value!r}; the course's model can do {allowed} only")
        elif name not in NO_EFFECT and name not in family.fields and name != "rope_parameters":
            raise ValueError(
                f"config.json: {name} ({value!r}) is not known here, so the model might not be the same without it"
            )
    try:
        return DecoderConfig(**values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"config.json: {error}") from None


def _follows(name: str, value: Any, values: Mapping[str, Any]) -> bool:
    """Whether a size that is told twice says what follows from the others."""
    return name == "head_dim" and value == values["d_model"] // values["num_heads"]


def _of_gpt2(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """A weight of GPT-2 -> the course's. It stores its linear maps transposed, and those of q, k and v as one."""
    name = name.removeprefix("transformer.")
    if name.endswith((".attn.bias", ".attn.masked_bias")):
        return  # the causal mask, which old files hold as well
    for theirs, ours in GPT2_NAMES.items():
        name = name.replace(theirs, ours)
    if tensor.dim() == 2 and name.startswith("layers."):
        tensor = tensor.T
    if ".c_attn." in name:
        for part, piece in zip("qkv", tensor.chunk(3), strict=True):
            yield name.replace("c_attn", f"{part}_proj"), piece
    else:
        yield ("positions.table" if name == "positions.weight" else name), tensor


def _of_llama(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    name = name.removeprefix("model.")
    if name.endswith(".rotary_emb.inv_freq"):
        return  # follows from rope_theta; old files hold it as well
    for theirs, ours in LLAMA_NAMES.items():
        name = name.replace(theirs, ours)
    yield name, tensor


GPT2_NAMES = {
    "wte.": "embedding.",
    "wpe.": "positions.",
    "lm_head.": "generator.",
    "ln_f.": "norm.",
    "h.": "layers.",
    ".ln_1.": ".attention_norm.",
    ".ln_2.": ".feed_forward_norm.",
    ".attn.c_proj.": ".self_attention.o_proj.",
    ".attn.": ".self_attention.",
    ".mlp.c_fc.": ".feed_forward.up_proj.",
    ".mlp.c_proj.": ".feed_forward.down_proj.",
}
LLAMA_NAMES = {
    "embed_tokens.": "embedding.",
    "lm_head.": "generator.",
    ".self_attn.": ".self_attention.",
    ".input_layernorm.": ".attention_norm.",
    ".post_attention_layernorm.": ".feed_forward_norm.",
    ".mlp.": ".feed_forward.",
}
FAMILIES = {
    "gpt2": Family(
        fields={
            "vocab_size": ("vocab_size", None),
            "n_embd": ("d_model", None),
            "n_layer": ("num_layers", None),
            "n_head": ("num_heads", None),
            "n_positions": ("max_len", None),
            "n_inner": ("d_ff", lambda known: 4 * known["d_model"]),
            "layer_norm_epsilon": ("norm_eps", lambda _: 1e-5),
            "tie_word_embeddings": ("tie_embeddings", lambda _: True),
        },
        only={
            "activation_function": ("gelu_new", "gelu_pytorch_tanh"),
            "scale_attn_weights": (True,),
            "scale_attn_by_inverse_layer_idx": (False,),
            "add_cross_attention": (False,),
        },
        fixed={"positions": "learned", "norm": "layer", "feed_forward": "gelu", "bias": True},
        weights=_of_gpt2,
    ),
    "llama": Family(
        fields={
            "vocab_size": ("vocab_size", None),
            "hidden_size": ("d_model", None),
            "num_hidden_layers": ("num_layers", None),
            "num_attention_heads": ("num_heads", None),
            "num_key_value_heads": ("num_kv_heads", lambda known: known["num_heads"]),
            "intermediate_size": ("d_ff", None),
            "max_position_embeddings": ("max_len", None),
            "rms_norm_eps": ("norm_eps", lambda _: 1e-6),
            "rope_theta": ("rope_base", lambda _: 10000.0),
            "tie_word_embeddings": ("tie_embeddings", lambda _: False),
        },
        only={
            "hidden_act": ("silu", "swish"),
            "attention_bias": (False,),
            "mlp_bias": (False,),
            "rope_scaling": (None,),
            "rope_parameters.rope_type": ("default",),
            "head_dim": (None,),
        },
        fixed={},
        weights=_of_llama,
    ),
}

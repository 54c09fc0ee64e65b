"""Small trained models that come with the course: weights as safetensors, and a card (Markdown) for each.

A file holds its weights in half precision and, in its header, the model's class and the arguments it is built with.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from ..files import replacing
from ..models import DecoderConfig, DecoderLM, Transformer, TransformerConfig
from ..models.recurrent import RecurrentSeq2Seq

FOLDER = Path(__file__).resolve().parent / "data"
BUILDERS = {
    "RecurrentSeq2Seq": RecurrentSeq2Seq,
    "Transformer": lambda **config: Transformer(TransformerConfig(**config)),
    "DecoderLM": lambda **config: DecoderLM(DecoderConfig(**config)),
}


def available(folder: Path = FOLDER) -> tuple[str, ...]:
    """Names of the models that are there, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("*.safetensors")))


def save(
    name: str, model: nn.Module, config: Mapping[str, Any], training: Mapping[str, Any], folder: Path = FOLDER
) -> Path:
    """Write a model's weights in half precision, and give the file; a reader never sees a half-written one.

    Args:
        name: File name without ending.
        model: One whose class stands in ``BUILDERS``.
        config: The arguments that build the same model again; plain values.
        training: How it was trained; plain values, for the card.

    Raises:
        ValueError: The model's class is not known, or its weights are not finite in half precision.
    """
    kind = type(model).__name__
    if kind not in BUILDERS:
        raise ValueError(f"model is a {kind}; expected one of {', '.join(BUILDERS)}")
    weights = {key: tensor.detach().to("cpu", torch.float16).contiguous() for key, tensor in model.state_dict().items()}
    for key, tensor in weights.items():
        if not tensor.isfinite().all():
            raise ValueError(f"{key} holds values that are not finite in half precision")
    path = folder / f"{name}.safetensors"
    header = {"model": kind, "config": json.dumps(dict(config)), "training": json.dumps(dict(training))}
    with replacing(path) as unfinished:
        save_file(weights, unfinished, metadata=header)
    return path


def load(name: str, folder: Path = FOLDER) -> nn.Module:
    """Build a model, one of ``available()``, and give it its trained weights.

    It comes in evaluation mode and in the default dtype.

    Raises:
        ValueError: There is no such model, or its file is damaged.

    Example:
        >>> load("recurrent_attention").attention is not None
        True
    """
    path = _file(name, folder)
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            weights = {key: file.get_tensor(key).to(torch.get_default_dtype()) for key in file.keys()}  # noqa: SIM118
        model = BUILDERS[header["model"]](**json.loads(header["config"]))
        model.load_state_dict(weights)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise _damaged(path, error) from None
    return model.eval()


def training_of(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """How a model was trained, as its file says."""
    path = _file(name, folder)
    try:
        with safe_open(path, framework="pt") as file:
            return json.loads((file.metadata() or {})["training"])
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise _damaged(path, error) from None


def _file(name: str, folder: Path) -> Path:
    path = folder / f"{name}.safetensors"
    if name not in available(folder):
        raise ValueError(f"name ({name!r}) is not among the trained models: {', '.join(available(folder)) or 'none'}")
    return path


def _damaged(path: Path, error: Exception) -> ValueError:
    reason = str(error).splitlines()[0]
    return ValueError(f"{path.name} is damaged ({reason}); install the course again, or fetch the file again")

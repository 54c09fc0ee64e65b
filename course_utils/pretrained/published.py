"""Published language models, GPT-2 and Llama in the format of their authors' checkpoints, as the course's ``DecoderLM``.

A checkpoint is a folder with ``config.json`` (what the model is built from), ``model.safetensors`` (or several files and an
index) and ``tokenizer.json``. Every entry of the configuration is either followed, known not to change what comes out, or
refused by name, so that a model which loads computes what its authors' code computes.

Source:
    Radford et al., "Language Models are Unsupervised Multitask Learners" (GPT-2), 2019, section 2.3; Touvron et al., "LLaMA:
    Open and Efficient Foundation Language Models", 2023, section 2.2.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open

from ..models import DecoderLM
from .checkpoint_families import FAMILIES, Family, config_of

FILES = ("config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer.json")


class Published(NamedTuple):
    """A published model in evaluation mode, and its tokenizer (of the ``tokenizers`` package; None without a file of one)."""

    model: DecoderLM
    tokenizer: Any


def load_published(path_or_name: str | Path) -> Published:
    """Build a published model from a folder, or by its name from what ``download_published`` fetched before.

    Nothing is downloaded here. The weights come in the default dtype.

    Args:
        path_or_name: A folder with the files of a checkpoint, or a name such as ``"openai-community/gpt2"``.

    Raises:
        ValueError: There is no such model here, a file is missing or damaged, or the configuration or the weights hold something
            that the course's model does not have; the message names it.
        ImportError: ``tokenizers`` is missing.
    """
    folder = Path(path_or_name)
    if not folder.is_dir():
        folder = _fetched(str(path_or_name))
    settings = _settings(folder)
    family = FAMILIES.get(settings.get("model_type"))
    if family is None:
        known = ", ".join(map(repr, FAMILIES))
        raise ValueError(f"config.json: model_type ({settings.get('model_type')!r}) must be one of {known}")
    model = DecoderLM(config_of(family, settings)).eval()
    _fill(model, family, folder)
    return Published(model, _tokenizer(folder / "tokenizer.json"))


def download_published(name: str) -> Path:
    """Fetch a model's files once and give the folder they lie in; later calls find them there.

    It needs a network and the extra ``[pretrained]``. A download that was cut off goes on where it stopped. Every large file is
    compared with the checksum that its publisher states.

    Args:
        name: Owner and name, such as ``"openai-community/gpt2"`` (0.5 GB).

    Raises:
        ValueError: There is no network, no such model, or a file differs from its checksum; the message says what to do.
    """
    hub = _hub()
    try:
        listed = hub.HfApi().model_info(name, files_metadata=True).siblings or []
        folder = Path(hub.snapshot_download(name, allow_patterns=list(FILES)))
    except (OSError, hub.errors.HfHubHTTPError, hub.errors.HFValidationError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"name ({name!r}) could not be downloaded ({reason}). Check the name and the network and call it again: it goes on "
            "where it stopped. Or copy the files to a folder by hand and call load_published(folder)."
        ) from None
    require_checksums(folder, {file.rfilename: file.lfs.sha256 for file in listed if file.lfs is not None})
    return folder


def require_checksums(folder: Path, sha256: Mapping[str, str]) -> None:
    """Compare the files that are there with their SHA-256 sums; one that differs is removed, to be fetched anew.

    Raises:
        ValueError: A file differs.
    """
    for name, expected in sha256.items():
        path = folder / name
        if not path.exists():
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            path.resolve().unlink()
            path.unlink(missing_ok=True)
            raise ValueError(
                f"{name} is damaged (SHA-256 {found[:12]}..., expected {expected[:12]}...) and was removed; "
                "download it again"
            )


def _fetched(name: str) -> Path:
    try:
        return Path(_hub().snapshot_download(name, allow_patterns=list(FILES), local_files_only=True))
    except (OSError, ValueError):
        raise ValueError(
            f"path_or_name ({name!r}) is no folder, and no model of that name was downloaded. With a network, call "
            f"download_published({name!r}) once; or give the folder that its files lie in."
        ) from None


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise ValueError("downloads need huggingface_hub: pip install 'attention-course[pretrained]'") from None
    return huggingface_hub


def _tokenizer(path: Path) -> Any:
    if not path.exists():
        return None
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises nothing narrower
        raise ValueError(f"tokenizer.json is damaged ({error}); fetch it again") from None


def _settings(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise ValueError(f"{folder} holds no config.json: it is no checkpoint of a published model")
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"config.json is damaged ({error}); fetch it again") from None
    if not isinstance(settings, dict):
        raise ValueError(f"config.json holds a {type(settings).__name__}; expected an object")
    return settings


def _fill(model: DecoderLM, family: Family, folder: Path) -> None:
    expected, given = model.state_dict(), {}
    for file_name in _weight_files(folder):
        try:
            with safe_open(folder / file_name, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118
                    given |= {ours: (name, tensor) for ours, tensor in family.weights(name, file.get_tensor(name))}
        except (SafetensorError, OSError) as error:
            raise ValueError(f"{file_name} is damaged ({error}); fetch it again") from None
    if model.config.tie_embeddings and "embedding.weight" in given:
        given["generator.weight"] = given["embedding.weight"]
    for ours, (name, tensor) in given.items():
        if ours not in expected:
            raise ValueError(f"the weights hold {name}, which has no place in the model that config.json describes")
        if tensor.shape != expected[ours].shape:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}; config.json asks for {tuple(expected[ours].shape)}, as the course "
                "lays it out"
            )
    if missing := [name for name in expected if name not in given]:
        raise ValueError(f"the weights lack {missing[0]}" + (f" and {len(missing) - 1} more" if missing[1:] else ""))
    with torch.no_grad():
        for name, target in expected.items():
            target.copy_(given[name][1])


def _weight_files(folder: Path) -> list[str]:
    index = folder / "model.safetensors.index.json"
    if index.exists():
        try:
            names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{index.name} is damaged ({error}); fetch it again") from None
    else:
        names = ["model.safetensors"]
    for name in names:
        if Path(name).name != name or not (folder / name).is_file():
            old = " (pytorch_model.bin is not read: such files can run code)" if list(folder.glob("*.bin")) else ""
            raise ValueError(f"{folder} holds no {name}{old}")
    return names

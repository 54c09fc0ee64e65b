"""Published checkpoints: equal to the models of ``transformers`` that wrote them; what cannot be followed is refused."""

import hashlib
import json
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from course_utils.pretrained import published
from course_utils.pretrained.published import download_published, load_published, require_checksums

TOKENS = torch.tensor([[5, 3, 8, 8, 2, 17, 4], [1, 2, 3, 4, 5, 6, 7]])
SIZES = {"gpt2": (23, 24, 3, 6), "llama": (23, 24, 3, 6)}  # vocabulary, d_model, layers, heads
SILENT = {"bos_token_id": None, "eos_token_id": None}


def theirs_of(family, **changes):
    """A model of the family with random weights that are large enough for attention to choose."""
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    vocabulary, d_model, layers, heads = SIZES[family]
    if family == "gpt2":
        sizes = {"n_embd": d_model, "n_layer": layers, "n_head": heads, "n_positions": 12}
        model = GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, **sizes | SILENT | changes))
    else:
        sizes = {
            "hidden_size": d_model,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": 40,
        }
        sizes |= {"num_key_value_heads": 2, "max_position_embeddings": 12, "rms_norm_eps": 1e-5}
        model = LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, **sizes | SILENT | changes))
    torch.manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, mean=0.5 if parameter.dim() == 1 else 0.0, std=0.3)
    return model.eval()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with the checkpoint of each family, and the model that wrote it."""
    folder, models = tmp_path_factory.mktemp("published"), {}
    for family in SIZES:
        models[family] = theirs_of(family)
        models[family].save_pretrained(folder / family)
    return folder, models


@pytest.fixture
def copy_of(written, tmp_path):
    """Gives a copy of a checkpoint, some entries of its configuration changed (``...``: taken out)."""

    def copied(family, **changes):
        source, target = written[0] / family, tmp_path / family
        target.mkdir()
        settings = json.loads((source / "config.json").read_text()) | changes
        settings = {name: value for name, value in settings.items() if value is not ...}
        (target / "config.json").write_text(json.dumps(settings))
        (target / "model.safetensors").write_bytes((source / "model.safetensors").read_bytes())
        return target

    return copied


def require_equal(ours, theirs):
    with torch.no_grad():
        expected = theirs(TOKENS).logits
        assert expected.std() > 0.5  # not nothing
        torch.testing.assert_close(ours(TOKENS), expected, atol=1e-5, rtol=1e-5)
        cache = ours.start_cache(2, 7)
        pieces = [ours(piece, cache=cache) for piece in TOKENS.split((4, 1, 2), dim=1)]
        torch.testing.assert_close(torch.cat(pieces, dim=1), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("gpt2", {}),
        ("gpt2", {"n_inner": 40, "tie_word_embeddings": False, "layer_norm_epsilon": 1e-3}),
        ("llama", {}),
        ("llama", {"num_key_value_heads": 6, "tie_word_embeddings": True}),
        ("llama", {"num_key_value_heads": 1, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}),
    ],
)
@pytest.mark.parametrize("pieces", ["5GB", "8KB"])
def test_equals_the_model_that_wrote_it(family, changes, pieces, tmp_path):
    theirs = theirs_of(family, **changes)
    theirs.save_pretrained(tmp_path, max_shard_size=pieces)
    assert (tmp_path / "model.safetensors.index.json").exists() == (pieces == "8KB")
    ours = load_published(tmp_path)
    assert ours.tokenizer is None and not ours.model.training
    require_equal(ours.model, theirs)


def test_files_of_the_first_years_are_read(written, copy_of):
    """Names without a prefix, the causal mask among the weights, entries that are taken for granted missing."""
    folder = copy_of("gpt2", n_inner=..., tie_word_embeddings=..., scale_attn_weights=..., n_ctx=12)
    weights = load_file(folder / "model.safetensors")
    weights = {name.removeprefix("transformer."): tensor for name, tensor in weights.items()}
    weights["h.0.attn.bias"] = torch.ones(1, 1, 12, 12)
    save_file(weights, folder / "model.safetensors")
    require_equal(load_published(folder).model, written[1]["gpt2"])


def test_older_llama_entries_mean_the_same(written, copy_of):
    folder = copy_of("llama", rope_parameters=..., rope_theta=10000.0, rope_scaling=None, head_dim=...)
    require_equal(load_published(str(folder)).model, written[1]["llama"])
    (folder / "config.json").write_text(
        json.dumps(json.loads((folder / "config.json").read_text()) | {"num_key_value_heads": None})
    )
    with pytest.raises(ValueError, match=r"k_proj.weight has shape \(8, 24\); config.json asks for \(24, 24\)"):
        load_published(folder)  # as many as query heads


def test_half_precision_comes_in_the_default_dtype(written, copy_of):
    folder = copy_of("llama", dtype="float16")
    weights = {name: tensor.half() for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors")
    model = load_published(folder).model
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    torch.testing.assert_close(model(TOKENS), written[1]["llama"](TOKENS).logits, atol=0.05, rtol=0.05)


def test_text_goes_in_and_out(copy_of):
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"the": 0, "cat": 1, "sat": 2}, unk_token="the"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    folder = copy_of("gpt2")
    tokenizer.save(str(folder / "tokenizer.json"))
    found = load_published(folder).tokenizer
    assert found.encode("the cat sat").ids == [0, 1, 2] and found.decode([1, 2]) == "cat sat"
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(ValueError, match=r"tokenizer\.json is damaged"):
        load_published(folder)


@pytest.mark.parametrize(
    ("family", "changes", "message"),
    [
        ("gpt2", {"model_type": "bert"}, r"model_type \('bert'\) must be one of 'gpt2', 'llama'"),
        ("gpt2", {"model_type": ...}, r"model_type \(None\)"),
        ("gpt2", {"activation_function": "gelu"}, r"activation_function is 'gelu'.*'gelu_new'"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is True"),
        ("gpt2", {"n_head": 5}, r"num_heads \(5\)"),
        ("gpt2", {"n_head": "3"}, "config.json: "),
        ("gpt2", {"n_layer": 4}, "the weights lack layers.3.self_attention.q_proj.weight and 15 more"),
        ("gpt2", {"n_layer": 2}, r"hold transformer.h.2.attn.c_attn.bias, which has no place"),
        ("gpt2", {"n_positions": 13}, r"wpe.weight has shape \(12, 24\); config.json asks for \(13, 24\)"),
        ("gpt2", {"vocab_size": ...}, "config.json has no vocab_size"),
        ("gpt2", {"sliding_window": 8}, r"sliding_window \(8\) is not known"),
        ("llama", {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, r"rope_scaling is .*llama3.*None only"),
        ("llama", {"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, "rope_parameters.rope_type is 'linear'"),
        (
            "llama",
            {"rope_parameters": {"rope_theta": 1e4, "factor": 2.0}},
            r"rope_parameters.factor \(2.0\) is not known",
        ),
        ("llama", {"head_dim": 8}, "head_dim is 8"),
        ("llama", {"attention_bias": True}, "attention_bias is True"),
        ("llama", {"hidden_act": "relu"}, "hidden_act is 'relu'"),
        ("llama", {"query_pre_attn_scalar": 256}, r"query_pre_attn_scalar \(256\) is not known"),
    ],
)
def test_what_cannot_be_followed_is_refused_by_name(family, changes, message, copy_of):
    with pytest.raises(ValueError, match=message):
        load_published(copy_of(family, **changes))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "holds no config.json"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json is damaged"),
        (lambda folder: (folder / "config.json").write_text("[]"), "config.json holds a list"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"\x10" * 40), "model.safetensors is damaged"),
        (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"), "can run code"),
        (lambda folder: (folder / "model.safetensors.index.json").write_text("{}"), "index.json is damaged"),
        (
            lambda folder: (folder / "model.safetensors.index.json").write_text(
                '{"weight_map": {"x": "../x.safetensors"}}'
            ),
            r"holds no \.\./x\.safetensors",
        ),
    ],
)
def test_damaged_and_foreign_files_are_named(damage, message, copy_of):
    folder = copy_of("llama")
    damage(folder)
    with pytest.raises(ValueError, match=message):
        load_published(folder)


class Offline:
    """What the package that downloads does without a network."""

    def model_info(self, name, files_metadata):
        raise OSError("no route to host")


def hub(**functions):
    import huggingface_hub

    return SimpleNamespace(**{"errors": huggingface_hub.errors, "HfApi": Offline} | functions)


def test_without_a_network_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        ValueError, match=r"'somebody/nothing'\) is no folder.*download_published\('somebody/nothing'\)"
    ):
        load_published("somebody/nothing")
    monkeypatch.setattr(published, "_hub", hub)
    with pytest.raises(ValueError, match=r"no route to host.*goes on where it stopped.*load_published\(folder\)"):
        download_published("somebody/nothing")


def test_a_download_is_compared_with_its_checksums(monkeypatch, copy_of):
    folder = copy_of("gpt2")
    weights = (folder / "model.safetensors").read_bytes()
    large = SimpleNamespace(
        rfilename="model.safetensors", lfs=SimpleNamespace(sha256=hashlib.sha256(weights).hexdigest())
    )
    small = SimpleNamespace(rfilename="config.json", lfs=None)
    info = SimpleNamespace(siblings=[large, small])
    online = hub(
        HfApi=lambda: SimpleNamespace(model_info=lambda name, files_metadata: info),
        snapshot_download=lambda name, allow_patterns: str(folder),
    )
    monkeypatch.setattr(published, "_hub", lambda: online)
    assert download_published("somebody/gpt2") == folder
    (folder / "model.safetensors").write_bytes(weights[:-1])
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged.*was removed; download it again"):
        download_published("somebody/gpt2")
    assert not (folder / "model.safetensors").exists() and (folder / "config.json").exists()
    require_checksums(folder, {"not_there.safetensors": "0"})

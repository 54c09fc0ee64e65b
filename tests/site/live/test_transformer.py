"""The models in JavaScript, held to the same models in PyTorch: logits and every attention weight, to 1e-3."""

import shutil

import pytest
import torch
from in_live import LIVE, in_live
from some_words import some_words

from course_utils import pretrained
from course_utils.datasets.text_windows import TEXT
from course_utils.models import DecoderConfig, DecoderLM, Transformer, TransformerConfig
from course_utils.pretrained.pronunciation import SOUNDS, SPELLING
from course_utils.pretrained.shipped import FOLDER
from course_utils.recording import record_attention
from course_utils.tokenizers import START_ID

pytestmark = pytest.mark.needs("node")
TOLERANCE = 1e-3
TEXTS = (
    "If the argument is an integer, it is returned.",
    "class Point:\n    def __init__(self, x, y):",
    "The following",
    "{[(<%~$#@!",
    "e",
)
FORWARD = """
const model = transformer.load(open(file));
return inputs.map((given) => {
  const logits = model.forward(...given);
  const weights = Object.fromEntries(Object.entries(model.attentions()).map(([name, { weights }]) => [name, weights]));
  return { logits, weights };
});
"""


def word_inputs(words):
    return [(SPELLING.encode(word), [START_ID, *SOUNDS.encode(sounds)]) for word, sounds in words.items()]


@torch.no_grad()
def difference(model, inputs, found):
    """The largest between PyTorch's numbers and those found, over logits and weights."""
    most = 0.0
    for given, other in zip(inputs, found, strict=True):
        with record_attention(model) as seen:
            logits = model(*(torch.tensor([ids]) for ids in given))[0]
        assert set(other["weights"]) == set(seen)
        pairs = [(logits, other["logits"]), *((seen[name][0], other["weights"][name]) for name in seen)]
        for right, numbers in pairs:
            numbers = torch.tensor(numbers)
            assert numbers.shape == right.shape
            most = max(most, (numbers - right).abs().max().item())
    return most


def of_shipped(name, inputs, folder=LIVE):
    found = in_live(FORWARD, folder, file=str(FOLDER / f"{name}.safetensors"), inputs=inputs)
    return difference(pretrained.load(name), inputs, found)


def test_words():
    assert of_shipped("transformer", word_inputs(some_words())) < TOLERANCE


def test_texts():
    assert of_shipped("language_model", [(TEXT.encode(text),) for text in TEXTS]) < TOLERANCE


TAMPERED = {
    "no scaling": ("layers.js", "sum / Math.sqrt(this.d_head)", "sum"),
    "scaled by d_head": ("layers.js", "Math.sqrt(this.d_head)", "this.d_head"),
    "mask off by one": ("layers.js", "j <= i + L_k - L_q", "j <= i + 1 + L_k - L_q"),
    "layer norm's epsilon": ("layers.js", "eps = 1e-5", "eps = 1e-2"),
    "RMS norm's epsilon": ("transformer.js", "norm_eps: 1e-6", "norm_eps: 1e-5"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_copy_is_noticed(name, tmp_path):
    file, right, wrong = TAMPERED[name]
    folder = shutil.copytree(LIVE, tmp_path / "live")
    source = (folder / file).read_text(encoding="utf-8")
    assert source.count(right) == 1
    (folder / file).write_text(source.replace(right, wrong), encoding="utf-8")
    words, texts = word_inputs(some_words(6)), [(TEXT.encode(text),) for text in TEXTS[:2]]
    found = max(of_shipped("transformer", words, folder), of_shipped("language_model", texts, folder))
    assert found > TOLERANCE, f"the largest difference is {found}"


@pytest.mark.parametrize(
    "changes",
    [
        {"positions": "sinusoidal", "tie_embeddings": True},
        {"positions": "learned", "pre_norm": False},
        {"positions": "rotary", "final_norm": False},
        {"positions": "none", "pre_norm": False, "final_norm": False},
    ],
)
def test_other_sizes_and_kinds(changes, tmp_path):
    """Nothing of the shipped sizes stands in the JavaScript."""
    torch.manual_seed(5)
    config = {"src_vocab": 11, "tgt_vocab": 13, "num_layers": 3, "d_model": 12, "d_ff": 22, "num_heads": 2, **changes}
    path = pretrained.save("other", Transformer(TransformerConfig(**config)), config, {}, folder=tmp_path)
    inputs = [([3, 4, 5, 10], [1, 6, 7]), ([9], [1, 3, 12, 5, 4])]
    found = in_live(FORWARD, file=str(path), inputs=inputs)
    assert difference(pretrained.load("other", folder=tmp_path), inputs, found) < TOLERANCE


@pytest.mark.parametrize("num_kv_heads", [None, 1, 2])
def test_other_language_models(num_kv_heads, tmp_path):
    torch.manual_seed(6)
    config = {
        "vocab_size": 17,
        "num_layers": 2,
        "d_model": 24,
        "d_ff": 30,
        "num_heads": 4,
        "num_kv_heads": num_kv_heads,
    }
    config |= {"rope_base": 500.0, "norm_eps": 1e-3, "tie_embeddings": False}
    path = pretrained.save("other", DecoderLM(DecoderConfig(**config)), config, {}, folder=tmp_path)
    found = in_live(FORWARD, file=str(path), inputs=[([3, 4, 5, 16, 2, 0],)])
    assert difference(pretrained.load("other", folder=tmp_path), [([3, 4, 5, 16, 2, 0],)], found) < TOLERANCE


def test_a_step_with_a_cache_gives_what_the_whole_sequence_gives():
    steps = in_live(
        """
        const model = transformer.load(open(file));
        let state = model.start_decoding(source);
        const whole = model.forward(source, target).map(transformer.log_softmax);
        return target.map((token, place) => {
          let log_probs;
          [log_probs, state] = model.decode_step(state, token);
          return Math.max(...log_probs.map((x, n) => Math.abs(x - whole[place][n])));
        });""",
        file=str(FOLDER / "transformer.safetensors"),
        source=SPELLING.encode("knights"),
        target=[START_ID, *SOUNDS.encode("N AY T S".split())],
    )
    assert max(steps) < 1e-4


def test_the_language_model_goes_on_from_its_cache():
    found = in_live(
        """
        const model = transformer.load(open(file));
        const cache = model.start_cache();
        model.next_logits(ids.slice(0, 7), cache);
        const weights = model.attentions()["layers.0.self_attention"];
        const [a, b] = [model.next_logits(ids.slice(7), cache), model.next_logits(ids)];
        return [Math.max(...a.map((x, n) => Math.abs(x - b[n]))), weights.weights[0].length, cache[0].length];""",
        file=str(FOLDER / "language_model.safetensors"),
        ids=TEXT.encode(TEXTS[0]),
    )
    assert found[0] < 1e-4
    assert found[1:] == [len(TEXTS[0]), len(TEXTS[0])]


@torch.no_grad()
def test_heads_that_are_switched_off_contribute_nothing():
    model, (source, target) = pretrained.load("transformer"), word_inputs({"through": "TH R UW".split()})[0]
    name, d_head = "decoder_layers.1.cross_attention", model.config.d_model // model.config.num_heads

    def without(_module, given):
        merged = given[0].clone()
        merged[..., 2 * d_head : 3 * d_head] = 0
        return (merged,)

    model.get_submodule(name).o_proj.register_forward_pre_hook(without)
    right = model(torch.tensor([source]), torch.tensor([target]))[0]
    found = in_live(
        "const model = transformer.load(open(file)); model.attentions()[name].off.add(2); return model.forward(source, target);",
        file=str(FOLDER / "transformer.safetensors"),
        name=name,
        source=source,
        target=target,
    )
    assert (torch.tensor(found) - right).abs().max() < TOLERANCE


def test_ids_that_are_not_known_are_refused():
    said = in_live(
        """
        const model = transformer.load(open(file));
        try { model.encode([3, 29]); } catch (error) { return error.message; }""",
        file=str(FOLDER / "transformer.safetensors"),
    )
    assert "29" in said

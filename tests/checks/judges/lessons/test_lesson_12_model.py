"""The references of exercises 12.1 to 12.3 against the library (held to Hugging Face's Llama elsewhere) and by hand."""

import torch

from course_utils import decoding, layers
from course_utils.checks.engine import SEED
from course_utils.checks.judges.find import find
from course_utils.checks.probes.lessons.lesson_12 import small_model
from course_utils.masks import causal_mask
from course_utils.positions import RotaryPositions


def test_swiglu():
    exercise = find("12.1")
    one = {f"{name}_proj.weight": torch.ones(1, 1) for name in ("gate", "up", "down")}
    assert round(exercise.reference(torch.full((1, 1, 1), 2.0), one).item(), 3) == 3.523
    for case in exercise.cases(SEED):
        d_ff, d_model = case["params"]["up_proj.weight"].shape
        network = layers.SwiGLU(d_model, d_ff).to(case["x"].dtype)
        expected = torch.func.functional_call(network, case["params"], (case["x"],))
        torch.testing.assert_close(exercise.reference(case["x"], case["params"]), expected)


def test_block_is_the_librarys_layer():
    torch.manual_seed(0)
    block = find("12.2").reference()(16, 4, 2, 24)
    layer = layers.DecoderOnlyLayer(16, 4, 24, num_kv_heads=2, rotary=RotaryPositions(4))
    names = {"norm_1": "attention_norm", "norm_2": "feed_forward_norm"}
    state = {
        names.get((parts := name.split(".", 1))[0], parts[0]) + "." + parts[1]: t
        for name, t in block.state_dict().items()
    }
    layer.load_state_dict(state)
    x = torch.randn(2, 5, 16)
    torch.testing.assert_close(block(x), layer(x, causal_mask(5)))


def test_generation_is_the_librarys():
    exercise = find("12.3")
    for case in exercise.cases(SEED):
        model, prompt, new = small_model(case), case["prompt"], case["max_new_tokens"]
        expected = decoding.generate(model, prompt, max_new_tokens=new, temperature=0)
        assert torch.equal(exercise.reference(model, prompt, new), expected)

"""A text that goes on: what was drawn, what it looked at, what hinders it."""

import pytest
import torch
from in_live import in_live

from course_site.live_data import vocabulary
from course_utils import pretrained
from course_utils.datasets.documentation import plain_text
from course_utils.datasets.text_windows import TEXT, decode_text
from course_utils.decoding import generate
from course_utils.pretrained.shipped import FOLDER
from course_utils.recording import record_attention

pytestmark = pytest.mark.needs("node")
FILE = str(FOLDER / "language_model.safetensors")
PROMPT = "If the argument is "


@torch.no_grad()
def test_without_chance_it_goes_on_as_in_python():
    body = """
      const text = new text_generation.Continuation(transformer.load(open(file)), vocabulary, prompt);
      for (let n = 0; n < 30; n++) text.step({ temperature: 0 });
      return text.characters.join("");"""
    found = in_live(body, file=FILE, prompt=PROMPT, vocabulary=vocabulary())
    model = pretrained.load("language_model")
    ids = generate(model, torch.tensor([TEXT.encode(PROMPT)]), max_new_tokens=30, temperature=0.0)
    assert found == decode_text(ids[0])


@torch.no_grad()
def test_the_attention_of_the_last_characters_and_of_what_came_before():
    text = (PROMPT * 4)[:70]
    body = """
      const { groups, weights } = new text_generation.Continuation(transformer.load(open(file)), vocabulary, text).attention(60);
      return { ...groups[0], numbers: Array.from(new Uint16Array(weights.buffer), (n) => n / 65534) };"""
    found = in_live(body, file=FILE, text=text, vocabulary=vocabulary())
    model = pretrained.load("language_model")
    with record_attention(model) as seen:
        model(torch.tensor([TEXT.encode(text)]))
    right = torch.stack(seen.matching("layers.*"))[:, 0, :, 12:60, :60]  # (layers, H, 48, 60)
    right = torch.cat((right[..., :12].sum(-1, keepdim=True), right[..., 12:]), dim=-1)
    assert found["keys"] == ["(earlier)", *text[12:60]] and found["queries"] == list(text[12:60])
    assert torch.allclose(torch.tensor(found["numbers"]).reshape(right.shape), right, atol=1e-3)


def test_typographic_signs_become_plain_as_in_python_and_the_rest_is_named():
    text = "“So” – it’s…\t20 ° Ü\nx"
    found = in_live("return text_generation.plain_text(text, vocabulary);", text=text, vocabulary=vocabulary())
    assert found["text"] == plain_text(text)
    assert found["strange"] == ["°", "Ü"]


@pytest.mark.parametrize(("length", "part"), [(0, "at least one character"), (900, "900 characters"), (100, "")])
def test_what_hinders_a_text_is_said(length, part):
    said = in_live("return text_generation.text_problem(text, 160, { max_len: 1024 });", text="x" * length)
    assert (part in said) if part else said == ""

"""The induction model in JavaScript, held to PyTorch, with heads in place and taken out."""

import shutil

import pytest
import torch
from in_live import LIVE, in_live

from course_site.live_data import induction
from course_utils import pretrained
from course_utils.circuits import induction_mask, mean_weight, previous_token_mask, replaced_heads
from course_utils.datasets.written_twice import LETTERS, second_half_bits, twice
from course_utils.pretrained.shipped import FOLDER
from course_utils.recording import record_attention
from course_utils.small_models.induction import STEPS

pytestmark = pytest.mark.needs("node")
TOLERANCE = 1e-3
FILE = str(FOLDER / "induction.safetensors")
FORWARD = """
const model = transformer.load(open(file));
return given.map((ids) => {
  const logits = model.forward(ids);
  return { logits, weights: Object.values(model.attentions()).map(({ weights }) => weights) };
});
"""


def strings():
    lengths = (2, 4, 9, 16, 20, 26)
    ids = [twice(1, length, torch.Generator().manual_seed(length))[0].tolist() for length in lengths]
    return [*ids, [LETTERS.index(letter) for letter in "bananabanana"]]


@torch.no_grad()
def difference(folder=LIVE):
    """The largest between PyTorch's logits and weights and those of the JavaScript."""
    model, most = pretrained.load("induction"), 0.0
    for ids, found in zip(strings(), in_live(FORWARD, folder, file=FILE, given=strings()), strict=True):
        with record_attention(model) as seen:
            logits = model(torch.tensor([ids]))[0]
        pairs = [(logits, found["logits"]), (torch.stack(seen.matching("layers.*"))[:, 0], found["weights"])]
        for right, numbers in pairs:
            numbers = torch.tensor(numbers)
            assert numbers.shape == right.shape
            most = max(most, (numbers - right).abs().max().item())
    return most


def test_logits_and_weights():
    assert difference() < TOLERANCE


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("layers.js", "sum / Math.sqrt(this.d_head)", "sum / this.d_head"),
        ("transformer.js", "this.positions.table, start + place", "this.positions.table, start + place + 1"),
        ("transformer.js", "if (this.positions)", "if (false)"),
    ],
    ids=["scale", "positions moved", "no positions"],
)
def test_a_tampered_copy_is_noticed(file, right, wrong, tmp_path):
    folder = shutil.copytree(LIVE, tmp_path / "live")
    source = (folder / file).read_text(encoding="utf-8")
    assert source.count(right) == 1
    (folder / file).write_text(source.replace(right, wrong), encoding="utf-8")
    assert difference(folder) > TOLERANCE


@pytest.mark.parametrize("out", [[], ["0.2"], ["1.1"], ["0.0", "1.3"]], ids=str)
@pytest.mark.parametrize("instead", ["mean", "zeros"])
@torch.no_grad()
def test_bits_with_heads_taken_out(out, instead):
    model, ids = pretrained.load("induction"), strings()[2]
    what = "mean" if instead == "mean" else 0.0
    heads = {(f"layers.{name[0]}.self_attention", int(name[2])): what for name in out}
    with replaced_heads(model, heads):
        right = second_half_bits(model, torch.tensor([ids]))
    body = "return induction.continued(transformer.load(open(file)), ids, new Set(out), instead).bits;"
    assert in_live(body, file=FILE, ids=ids, out=out, instead=instead) == pytest.approx(right, abs=2e-3)


@torch.no_grad()
def test_scores_of_heads():
    model, ids = pretrained.load("induction"), strings()[-1]  # a string in which letters come twice
    tokens = torch.tensor([ids])
    with record_attention(model) as seen:
        model(tokens)
    before = previous_token_mask(tokens)
    before[:, len(ids) // 2 :] = False
    body = """
      const { weights } = induction.continued(transformer.load(open(file)), ids);
      return weights.map((heads) => heads.map((head) => [induction.before_score(head), induction.copy_score(head, ids)]));"""
    found = torch.tensor(in_live(body, file=FILE, ids=ids))  # (layers, H, 2)
    for place, mask in enumerate((before, induction_mask(tokens))):
        right = torch.stack([mean_weight(layer, mask) for layer in seen.matching("layers.*")])
        assert (found[..., place] - right).abs().max() < TOLERANCE


@pytest.mark.parametrize(
    ("text", "said"),
    [("ab1!1", "not “1”, “!”"), ("ж", "“ж”"), ("a", "these are 1"), ("a" * 27, "these are 27"), ("", "these are 0")],
)
def test_what_it_cannot_read_is_said(text, said):
    body = "try { induction.written_twice(text, letters); } catch (error) { return error.message; }"
    assert said in in_live(body, text=text, letters=LETTERS)


def test_accents_are_left_out():
    assert in_live("return induction.written_twice(text, letters);", text=" Zürich", letters=LETTERS) == [
        LETTERS.index(letter) for letter in 2 * "zurich"
    ]


def test_the_curve_is_that_of_the_shipped_model():
    """What is drawn ends where the shipped weights are."""
    curve = induction()["curve"]
    assert curve["steps"][-1] == STEPS
    model = pretrained.load("induction")
    found = [
        second_half_bits(model, twice(200, n, torch.Generator().manual_seed(10**6 + n))) for n in (4, 7, 10, 13, 16)
    ]
    assert sum(found) / len(found) == pytest.approx(curve["two_layers"][-1], abs=0.01)

"""Muon with Adam: who gets which parameter, its step by definition, a stopped training. Rates by the papers' equations."""

import pytest
import torch

from course_utils.models import DecoderConfig, DecoderLM
from course_utils.training import fit, one_cycle_rate, seed_everything, warmup_rate
from course_utils.training.optimizers import MuonWithAdam

needs_muon = pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="Muon came with PyTorch 2.9")


def small_model():
    torch.manual_seed(0)
    return DecoderLM(DecoderConfig(11, num_layers=1, d_model=8, d_ff=12, num_heads=2, tie_embeddings=False))


@needs_muon
def test_matrices_inside_the_layers_are_muons_and_the_rest_is_adams():
    model = small_model()
    optimizer = MuonWithAdam(model)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    muon, adam = (
        {names[id(p)] for group in part.param_groups for p in group["params"]}
        for part in (optimizer.muon, optimizer.adam)
    )
    assert muon | adam == set(names.values()) and not muon & adam
    assert adam == {"embedding.weight", "generator.weight"} | {name for name in adam if "norm" in name}
    assert "layers.0.feed_forward.gate_proj.weight" in muon
    model(torch.tensor([[3, 4, 5]])).pow(2).sum().backward()
    optimizer.zero_grad()
    assert all(parameter.grad is None for parameter in model.parameters())


@needs_muon
def test_a_step_of_muon_moves_in_all_directions_alike():
    """The singular values of the update are about equal, whatever the gradient's are, and its size is Adam's."""
    model = torch.nn.Sequential(torch.nn.Linear(24, 16))
    optimizer = MuonWithAdam(model)
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    before = model[0].weight.detach().clone()
    u, _, v = torch.linalg.svd(torch.randn(16, 24, generator=torch.Generator().manual_seed(1)), full_matrices=False)
    model[0].bias.grad = torch.zeros(16)
    model[0].weight.grad = u @ torch.diag(torch.logspace(0, -1, 16)) @ v  # from 1 to a tenth
    optimizer.step()
    update = (before - model[0].weight.detach()) / 0.1
    values = torch.linalg.svdvals(update)
    assert values.max() / values.min() < 2
    assert update.pow(2).mean().sqrt().item() == pytest.approx(0.2, rel=0.25)
    assert (u.T @ update @ v.T).diagonal().min() > 0  # downhill in each direction


@needs_muon
def test_a_training_that_was_stopped_ends_as_one_that_was_not(tmp_path):
    def trained(epochs, checkpoint):
        seed_everything(0)
        model = small_model()
        fit(
            model,
            lambda epoch: [torch.tensor([[3, 4, 5, 6]]), torch.tensor([[7, 8, 9, 10]])],
            lambda model, batch: torch.nn.functional.cross_entropy(model(batch[:, :-1])[0], batch[0, 1:]),
            epochs=epochs,
            rate=lambda step: 0.02,
            optimizer=MuonWithAdam(model),
            checkpoint=checkpoint,
            progress=False,
        )
        return model.state_dict()

    whole = trained(4, None)
    trained(2, tmp_path / "state.pt")
    taken_up = trained(4, tmp_path / "state.pt")
    for name, tensor in whole.items():
        torch.testing.assert_close(taken_up[name], tensor)


@needs_muon
def test_a_foreign_state_is_named():
    with pytest.raises(ValueError, match="expected muon, adam"):
        MuonWithAdam(small_model()).load_state_dict({"state": {}, "param_groups": []})


def test_an_old_pytorch_is_named(monkeypatch):
    monkeypatch.delattr(torch.optim, "Muon", raising=False)
    with pytest.raises(RuntimeError, match="2.9 or newer"):
        MuonWithAdam(small_model())


def test_warmup_is_the_papers_equation():
    rates = [warmup_rate(step, d_model=512) for step in range(1, 20_001)]
    assert max(rates) == rates[3999] == pytest.approx(512**-0.5 * 4000**-0.5)
    assert rates[0] == pytest.approx(512**-0.5 * 4000**-1.5)
    assert rates[15_999] == pytest.approx(rates[3999] / 2)  # four times the steps, half the rate
    assert rates[1999] == pytest.approx(rates[3999] / 2)  # half way up
    assert warmup_rate(10, 64, warmup=10, factor=2.0) == pytest.approx(2 / 8 / 10**0.5)


def test_one_cycle():
    rates = [one_cycle_rate(step, 100, 0.5) for step in range(1, 121)]
    assert max(rates) == rates[29] == pytest.approx(0.5)
    assert rates[99] == rates[119] == pytest.approx(0.01) and all(rate > 0 for rate in rates)
    assert rates[:30] == sorted(rates[:30]) and rates[29:] == sorted(rates[29:], reverse=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: warmup_rate(0, 512), "step .0. must be at least 1"),
        (lambda: warmup_rate(1, 0), "d_model .0."),
        (lambda: one_cycle_rate(0, 10, 1.0), "step .0."),
        (lambda: one_cycle_rate(1, 10, 1.0, rise=1.0), "rise .1.0."),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()

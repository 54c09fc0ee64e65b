"""Muon with Adam: who gets which parameter, Muon's step against its definition, and taking up a stopped training."""

import pytest
import torch

from course_utils.models import DecoderConfig, DecoderLM
from course_utils.training import fit, seed_everything
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
def test_one_rate_for_both_and_the_embedding_learns_too():
    model = small_model()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = MuonWithAdam(model)
    for group in optimizer.param_groups:
        group["lr"] = 1e-2
    model(torch.tensor([[3, 4, 5]])).pow(2).sum().backward()
    optimizer.step()
    assert all(not torch.equal(before[name], parameter) for name, parameter in model.named_parameters())
    optimizer.zero_grad()
    assert all(parameter.grad is None for parameter in model.parameters())


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

"""The recipes: one for each shipped model, with the data and the sizes that its weights were trained with."""

import json

import pytest
import torch
from safetensors import safe_open

from course_utils.datasets.pronunciations import split
from course_utils.pretrained import evaluate, shipped
from experiments import recipes


def test_every_group_has_its_recipes():
    names = {name for group in evaluate.GROUPS.values() for name in group}
    assert names - {"induction"} == set(recipes.RECIPES)  # which is trained in seconds, by its experiment


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_the_shipped_weights_were_made_by_the_recipe(name):
    recipe, facts = recipes.RECIPES[name], shipped.training_of(name)
    with safe_open(shipped.FOLDER / f"{name}.safetensors", framework="pt") as file:
        assert json.loads(file.metadata()["config"]) == recipe.config
    assert (facts["epochs"], facts["seed"]) == (recipe.epochs, recipe.seed)
    assert set(recipe.build(**recipe.config).state_dict()) == set(shipped.load(name).state_dict())


def test_batches_of_words_differ_by_epoch_and_seed_and_never_hold_a_word_for_validation(monkeypatch):
    words = dict(list(split("train").items())[:60])
    monkeypatch.setattr(recipes, "split", lambda name: words if name == "train" else {})
    options = {"epochs": 1, "peak_rate": 1e-3, "symbols_per_batch": 200}
    batches = [recipes.PronunciationRecipe(torch.nn.Linear, {}, seed=seed, **options).prepare()[0] for seed in (0, 1)]
    first, second, other = batches[0](0), batches[0](1), batches[1](0)
    assert sum(len(batch.source) for batch in first) == sum(map(len, words.values()))
    for epoch in (second, other):
        assert any(
            a.source.shape != b.source.shape or not torch.equal(a.source, b.source)
            for a, b in zip(first, epoch, strict=False)
        )

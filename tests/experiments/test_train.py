"""The training command: it finishes, it is taken up again, and only a finished model is written."""

from functools import partial

import pytest

from course_utils import pretrained
from course_utils.datasets.documentation import DocumentationSplit
from course_utils.datasets.text_windows import TEXT, encode_text
from course_utils.metrics import text_scores
from course_utils.models import DecoderConfig, DecoderLM
from course_utils.models.recurrent import RecurrentSeq2Seq
from course_utils.pretrained import shipped
from course_utils.small_models.induction import trained
from experiments import induction, recipes, train

CONFIG = {"src_vocab": 29, "tgt_vocab": 42, "attention": False, "d_embed": 4, "d_hidden": 6}
RECIPE = recipes.PronunciationRecipe(RecurrentSeq2Seq, CONFIG, epochs=2, symbols_per_batch=200, peak_rate=1e-2)


@pytest.fixture
def few_words(monkeypatch, tmp_path):
    words = {"cat": (("K", "AE", "T"),), "act": (("AE", "K", "T"),), "tact": (("T", "AE", "K", "T"),)}
    monkeypatch.setattr(recipes, "split", lambda name: words)
    monkeypatch.setattr(train, "RECIPES", {"tiny": RECIPE})
    monkeypatch.setattr(train, "GROUPS", {"tiny": ("tiny",)})
    saved = []
    save = pretrained.save
    monkeypatch.setattr(shipped, "save", lambda *a: saved.append(save(*a, folder=tmp_path)))
    monkeypatch.setattr(train, "write_card", lambda what: tmp_path / f"{what}.md")
    return saved


def test_the_command_trains_and_writes(few_words, tmp_path, capsys):
    assert train.main(["tiny", "--work", str(tmp_path / "work")]) == 0
    said = capsys.readouterr().out
    assert "epoch 2: loss" in said and "seed=0" in said and "tiny.md" in said
    facts = pretrained.training_of("tiny", folder=tmp_path)
    assert facts["epochs"] == 2 and len(facts["losses"]) == len(facts["scores"]) == len(facts["seconds"]) == 2
    assert (tmp_path / "work" / "tiny.pt").is_file()


def test_stopped_and_started_again(few_words, tmp_path, capsys, monkeypatch):
    calls = 0
    real = recipes.teacher_forced_loss

    def interrupted(model, batch, **options):
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return real(model, batch, **options)

    monkeypatch.setattr(recipes, "teacher_forced_loss", interrupted)
    assert train.main(["tiny", "--work", str(tmp_path)]) == 1
    assert "start the same command again" in capsys.readouterr().err and not few_words
    assert train.main(["tiny", "--work", str(tmp_path)]) == 0
    assert len(few_words) == 1 and calls == 3  # the first epoch was not trained again


def test_a_language_model_is_trained_on_the_first_part_and_chosen_by_the_second(monkeypatch, tmp_path):
    parts = DocumentationSplit("to be or not to be. " * 20, "or not to be, " * 10, "nobody may look here")
    monkeypatch.setattr(recipes, "documentation_split", lambda: parts)
    monkeypatch.setattr(recipes, "docstrings", lambda: "not to be is not to be. " * 4)
    monkeypatch.setattr(recipes, "WINDOW", 16)
    monkeypatch.setattr(shipped, "save", partial(pretrained.save, folder=tmp_path))
    shape = {"vocab_size": len(TEXT), "num_layers": 1, "d_model": 8, "d_ff": 12, "num_heads": 2, "max_len": 32}
    recipe = recipes.TextRecipe(
        lambda **c: DecoderLM(DecoderConfig(**c)), shape, epochs=3, peak_rate=3e-2, batch_size=4
    )
    history = train.train("words", recipe, tmp_path, progress=False)
    assert history.losses[-1] < history.losses[0] and len(history.scores) == 3
    model = pretrained.load("words", folder=tmp_path)
    valid = text_scores(model, encode_text(parts.valid), length=16)
    assert valid["loss"] == pytest.approx(min(history.scores), abs=2e-3)  # the best epoch's weights, in half precision


def test_the_model_that_is_trained_in_seconds_is_written_with_its_card(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(shipped, "save", partial(shipped.save, folder=tmp_path))
    monkeypatch.setattr(induction, "trained", lambda progress: trained(steps=1))
    monkeypatch.setattr(train, "write_card", lambda what: tmp_path / f"{what}.md")
    assert train.main(["induction"]) == 0
    model = shipped.load("induction", tmp_path)
    assert model.config.num_layers == 2 and not model.training
    assert shipped.training_of("induction", tmp_path)["seed"] == 0
    assert "induction.md" in capsys.readouterr().out

"""The training command: it finishes, it is taken up again, and only a finished model is written."""

import pytest

from course_utils import pretrained, train
from course_utils.recurrent import RecurrentSeq2Seq

CONFIG = {"src_vocab": 29, "tgt_vocab": 42, "attention": False, "d_embed": 4, "d_hidden": 6}
RECIPE = train.Recipe(RecurrentSeq2Seq, CONFIG, epochs=2, symbols_per_batch=200, peak_rate=1e-2)


@pytest.fixture
def few_words(monkeypatch, tmp_path):
    words = {"cat": (("K", "AE", "T"),), "act": (("AE", "K", "T"),), "tact": (("T", "AE", "K", "T"),)}
    monkeypatch.setattr(train, "split", lambda name: words)
    monkeypatch.setattr(train, "RECIPES", {"tiny": RECIPE})
    monkeypatch.setattr(train, "GROUPS", {"tiny": ("tiny",)})
    saved = []
    save = pretrained.save
    monkeypatch.setattr(pretrained, "save", lambda *a: saved.append(save(*a, folder=tmp_path)))
    monkeypatch.setattr(train, "write_card", lambda what: tmp_path / f"{what}.md")
    return saved


def test_the_command_trains_and_writes(few_words, tmp_path, capsys):
    assert train.main(["tiny", "--work", str(tmp_path / "work")]) == 0
    said = capsys.readouterr().out
    assert "epoch 2: loss" in said and "seed=0" in said and "tiny.md" in said
    assert pretrained.training_of("tiny", folder=tmp_path)["epochs"] == 2
    assert (tmp_path / "work" / "tiny.pt").is_file()


def test_stopped_and_started_again(few_words, tmp_path, capsys, monkeypatch):
    calls = 0
    real = train.teacher_forced_loss

    def interrupted(model, batch, **options):
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return real(model, batch, **options)

    monkeypatch.setattr(train, "teacher_forced_loss", interrupted)
    assert train.main(["tiny", "--work", str(tmp_path)]) == 1
    assert "start the same command again" in capsys.readouterr().err and not few_words
    assert train.main(["tiny", "--work", str(tmp_path)]) == 0
    assert len(few_words) == 1 and calls == 3  # the first epoch was not trained again


def test_every_group_has_its_recipes():
    assert {name for group in train.GROUPS.values() for name in group} == set(train.RECIPES)

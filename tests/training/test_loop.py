"""The loop, interrupted in every way."""

import math
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.training import fit, seed_everything


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fit(nn.Linear(1, 1), None, None, epochs=0, rate=None), "epochs .0."),
        (
            lambda: fit(nn.Linear(1, 1), lambda e: [], None, epochs=1, rate=None, progress=False),
            r"batches\(0\) is empty",
        ),
    ],
)
def test_bad_input_is_named(as_a_user, call, words):
    with pytest.raises(ValueError, match=words):
        call()


def line(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.2), nn.Linear(8, 1))


def some_batches(epoch):
    rng = torch.Generator().manual_seed(epoch)
    x = torch.randn(4, 16, 3, generator=rng)
    return [(part, part.sum(1, keepdim=True)) for part in x]


def squared(model, batch):
    return F.mse_loss(model(batch[0]), batch[1])


def run(model, **changes):
    settings = {"epochs": 5, "rate": lambda step: 0.01, "progress": False, **changes}
    return fit(model, some_batches, squared, **settings)


def test_it_learns_and_tells():
    model = line()
    history = run(model, epochs=30, validate=lambda m: squared(m, some_batches(99)[0]))
    assert history.stopped == "finished" and len(history.losses) == len(history.scores) == len(history.seconds) == 30
    assert history.losses[-1] < history.losses[0] / 3
    assert not model.training
    best = squared(model, some_batches(99)[0]).item()
    assert best == pytest.approx(min(history.scores)) and history.scores[history.best_epoch] == min(history.scores)


def test_an_epochs_loss_is_the_mean_over_its_symbols_where_batches_are_weighed():
    parts = [torch.ones(3, 1), 4 * torch.ones(1, 1)]  # three rows with a loss of 1, one with 4
    settings = {"epochs": 1, "rate": lambda step: 0.0, "progress": False}

    def losses(**more):
        model = nn.Linear(1, 1)
        return fit(model, lambda e: parts, lambda m, x: x.mean() + 0 * m(x).sum(), **settings, **more).losses

    assert losses() == [2.5] and losses(weigh=len) == [7 / 4]


def test_the_rate_of_each_update_and_the_clipping():
    seen, norms, model = [], [], line()
    optimizer = torch.optim.SGD(model.parameters(), lr=123.0)

    def look(optimizer, *_):
        seen.append(optimizer.param_groups[0]["lr"])
        norms.append(torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item())

    optimizer.register_step_pre_hook(look)
    run(model, epochs=2, rate=lambda step: 1e-3 * step, optimizer=optimizer, clip_norm=0.5)
    assert seen == pytest.approx([1e-3 * step for step in range(1, 9)])
    assert max(norms) == pytest.approx(0.5, rel=1e-4)


def test_interrupted_and_resumed_ends_as_if_nothing_had_happened(tmp_path):
    whole = line()
    expected = run(whole, validate=lambda m: squared(m, some_batches(99)[0]))
    calls = 0

    def loss(model, batch):
        nonlocal calls
        calls += 1
        if calls == 11:  # in the third epoch
            raise KeyboardInterrupt
        return squared(model, batch)

    file = tmp_path / "deep" / "line.pt"
    settings = {"epochs": 5, "rate": lambda step: 0.01, "progress": False, "checkpoint": file}
    settings["validate"] = lambda m: squared(m, some_batches(99)[0])
    first = fit(line(), some_batches, loss, **settings)
    assert first.stopped == "interrupted" and len(first.losses) == 2
    again = line(seed=7)
    second = fit(again, some_batches, squared, **settings)
    assert second.stopped == "finished" and second.losses == expected.losses and second.scores == expected.scores
    for a, b in zip(again.parameters(), whole.parameters(), strict=True):
        assert torch.equal(a, b)
    third = fit(line(seed=8), some_batches, squared, **settings)  # nothing is left to do
    assert third.losses == expected.losses
    assert [p.name for p in file.parent.iterdir()] == ["line.pt"]


KILLED = """
import sys, time, torch
from pathlib import Path
sys.path[:0] = {folders!r}
from test_loop import line, run, squared, some_batches
from course_utils.training import fit
def slow(model, batch):
    time.sleep(0.02)
    return squared(model, batch)
print("ready", flush=True)
fit(line(), some_batches, slow, epochs=1000, rate=lambda step: 0.01, progress=False, checkpoint=Path(sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL there")
def test_killed_and_resumed_loses_at_most_the_epoch_it_was_in(tmp_path, root):
    file = tmp_path / "line.pt"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(folders=[str(root), str(root / "tests" / "training")]), str(file)],
        cwd=root,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"ready\n"
    started = time.monotonic()
    while not file.exists():
        assert time.monotonic() - started < 60 and process.poll() is None
        time.sleep(0.01)
    time.sleep(0.35)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = len(torch.load(file, weights_only=True)["history"]["losses"])
    assert kept >= 2  # several epochs of 0.08 s had been written when it died
    torch.manual_seed(0)
    whole, resumed = run(line(), epochs=kept + 2), run(line(seed=5), epochs=kept + 2, checkpoint=file)
    assert resumed.losses == whole.losses and resumed.seconds == sorted(resumed.seconds)


def test_an_interrupt_without_a_checkpoint_keeps_what_was_learned():
    model = line()
    before = model[0].weight.clone()

    def loss(model, batch):
        if not torch.equal(model[0].weight, before):
            raise KeyboardInterrupt
        return squared(model, batch)

    history = fit(model, some_batches, loss, epochs=3, rate=lambda step: 0.01, progress=False)
    assert history.stopped == "interrupted" and history.losses == [] and not torch.equal(model[0].weight, before)


def test_a_loss_that_is_not_finite_is_named():
    with pytest.raises(ValueError, match=r"loss is nan.*0\.01"):
        fit(line(), some_batches, lambda m, b: squared(m, b) * math.nan, epochs=1, rate=lambda s: 0.01, progress=False)


def test_damaged_or_foreign_checkpoints_are_named(tmp_path):
    file = tmp_path / "line.pt"
    run(line(), epochs=1, checkpoint=file)
    whole = file.read_bytes()
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=r"another model.*delete"):
        fit(nn.Linear(3, 1), some_batches, squared, epochs=2, rate=lambda s: 0.01, progress=False, checkpoint=file)
    for damage in (whole[: len(whole) // 2], b"", b"PK nonsense"):
        file.write_bytes(damage)
        with pytest.raises(ValueError, match=r"cannot be read.*delete .*line\.pt"):
            run(line(), checkpoint=file)


def test_the_bar_goes_to_standard_output(capfd):
    run(line(), epochs=2, progress=True)
    said = capfd.readouterr()
    assert "8/8" in said.out and not said.err


def test_seeds():
    seed_everything(3)
    first = random.random(), torch.rand(2).tolist()
    seed_everything(3)
    assert first == (random.random(), torch.rand(2).tolist())

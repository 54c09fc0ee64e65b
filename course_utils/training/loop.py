"""The training loop: it can be interrupted, or killed, and taken up again."""

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import tqdm

from ..files import replacing
from .optimizers import MuonWithAdam


@dataclass
class History:
    """What happened in training, epoch by epoch.

    Args:
        losses: Mean training loss of each epoch.
        scores: What ``validate`` gave after each epoch; lower is better.
        seconds: Wall time since the start, after each epoch, earlier runs included.
        stopped: Why training ended: ``"finished"`` or ``"interrupted"``.
    """

    losses: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    stopped: str = ""

    @property
    def best_epoch(self) -> int:
        """The epoch (counted from 0) with the lowest score; without scores the last."""
        return min(range(len(self.scores)), key=self.scores.__getitem__) if self.scores else len(self.losses) - 1


def fit(
    model: nn.Module,
    batches: Callable[[int], Sequence[Any]],
    loss: Callable[[nn.Module, Any], Float[Tensor, ""]],
    *,
    epochs: int,
    rate: Callable[[int], float],
    optimizer: torch.optim.Optimizer | MuonWithAdam | None = None,
    clip_norm: float = 1.0,
    weigh: Callable[[Any], float] | None = None,
    validate: Callable[[nn.Module], float] | None = None,
    checkpoint: Path | None = None,
    progress: bool = True,
) -> History:
    """Train; stop cleanly at Ctrl-C; go on where an earlier run stopped. The history includes earlier runs.

    With ``checkpoint``, the whole state is written after every epoch (to a temporary name, then renamed), and a call that
    finds the file goes on after the last epoch in it: a run that was killed loses the epoch it was in, and ends with the
    same numbers as one that was not. Without it, Ctrl-C still hands back the history, and the model keeps what it learned.

    Args:
        model: What is trained; it knows nothing of this loop.
        batches: Epoch number, counted from 0, to the list of that epoch's batches.
        loss: Model and batch to the loss, a scalar.
        epochs: How many there are to be in all, earlier runs included.
        rate: Number of the update, counted from 1, to the learning rate.
        optimizer: None: Adam with the paper's ``betas=(0.9, 0.98), eps=1e-9``.
        clip_norm: Gradients are scaled down to this norm where theirs is larger.
        weigh: Batch to the number of symbols that its loss is the mean of: an epoch's loss is then the mean over all its
            symbols. None: the mean of the batches' losses, which is the same where they are of one size.
        validate: Model (in eval mode) to a score, lower is better, after every epoch. At the end the model gets the weights
            of the best epoch back.
        checkpoint: File to keep the state in.
        progress: Whether to draw a bar with the time left.

    Raises:
        ValueError: The loss is not finite, or the checkpoint is damaged or belongs to another model or optimizer.

    Source:
        Adam's settings: Vaswani et al., 2017, section 5.3. Clipping: Pascanu et al., "On the Difficulty of Training
        Recurrent Neural Networks", 2013, algorithm 1.
    """
    if epochs < 1:
        raise ValueError(f"epochs ({epochs}) must be at least 1")
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
    run = _Run(model, optimizer, checkpoint)
    if checkpoint is not None and checkpoint.exists():
        run.load()
    history, started = run.history, time.monotonic()
    earlier = history.seconds[-1] if history.seconds else 0.0
    history.stopped = "finished"
    # To standard output: a notebook paints what comes on standard error like a warning.
    bar = tqdm(disable=not progress, desc="training", unit="step", mininterval=0.5, file=sys.stdout)
    try:
        for epoch in range(len(history.losses), epochs):
            ahead = batches(epoch)
            if not len(ahead):
                raise ValueError(f"batches({epoch}) is empty; expected at least one batch in every epoch")
            bar.total, total = bar.n + len(ahead) * (epochs - epoch), 0.0
            shares = [1.0 if weigh is None else float(weigh(batch)) for batch in ahead]
            model.train()
            for batch, share in zip(ahead, shares, strict=True):
                run.step += 1
                total += share * _update(model, optimizer, loss(model, batch), rate(run.step), clip_norm)
                bar.update()
            history.losses.append(total / sum(shares))
            if validate is not None:
                model.eval()
                with torch.no_grad():
                    history.scores.append(float(validate(model)))
            history.seconds.append(earlier + time.monotonic() - started)
            run.keep()
            scores = f", score {history.scores[-1]:.4f}" if history.scores else ""
            bar.set_postfix_str(f"epoch {epoch + 1} of {epochs}: loss {history.losses[-1]:.4f}{scores}")
    except KeyboardInterrupt:
        history.stopped = "interrupted"
    finally:
        bar.close()
    if run.best is not None:
        model.load_state_dict(run.best)
    model.eval()
    return history


def _update(
    model: nn.Module, optimizer: torch.optim.Optimizer | MuonWithAdam, loss: Tensor, rate: float, clip_norm: float
) -> float:
    value = loss.item()
    if not math.isfinite(value):
        raise ValueError(
            f"the loss is {value}; lower the learning rate (now {rate:.3g}), or look for a division by zero"
        )
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return value


@dataclass
class _Run:
    """What a checkpoint holds."""

    model: nn.Module
    optimizer: torch.optim.Optimizer | MuonWithAdam
    checkpoint: Path | None
    step: int = 0
    history: History = field(default_factory=History)
    best: dict[str, Tensor] | None = None

    def keep(self) -> None:
        """After an epoch: remember the best weights, write the checkpoint."""
        if self.history.scores and self.history.best_epoch == len(self.history.losses) - 1:
            self.best = {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}
        if self.checkpoint is None:
            return
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "best": self.best}
        state |= {"step": self.step, "history": asdict(self.history), "random": torch.get_rng_state()}
        with replacing(self.checkpoint) as unfinished, open(unfinished, "wb") as file:
            torch.save(state, file)  # by name it would refuse a name that begins with a dot

    def load(self) -> None:
        """Take up what a checkpoint holds."""
        mend = f"delete {self.checkpoint} to begin anew"
        try:
            state = torch.load(self.checkpoint, weights_only=True)
            history = History(**state["history"])
        except Exception as error:  # torch reports a damaged file in many ways
            raise ValueError(f"the checkpoint cannot be read ({type(error).__name__}); {mend}") from None
        try:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError) as error:
            first = str(error).splitlines()[0]
            raise ValueError(f"the checkpoint belongs to another model or optimizer ({first}); {mend}") from None
        torch.set_rng_state(state["random"])
        self.step, self.history, self.best = state["step"], history, state["best"]

"""Training: seeds, the paper's warm-up schedule, label smoothing, and a loop that can be interrupted and taken up again."""

import math
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from tqdm import tqdm

from .arguments import require_probability
from .optimizers import MuonWithAdam


def seed_everything(seed: int) -> None:
    """Make what follows the same on every run: Python's and PyTorch's random numbers start from ``seed``."""
    random.seed(seed)
    torch.manual_seed(seed)


def warmup_rate(step: int, d_model: int, warmup: int = 4000, factor: float = 1.0) -> float:
    """The paper's learning rate: rising linearly for ``warmup`` steps, then falling with the square root of the step.

    ``factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)``; the two meet at ``step = warmup``, where it is largest.

    Args:
        step: Number of the update, counted from 1.
        d_model: Size of the model.
        warmup: Steps of the rise.
        factor: Scales the whole curve.

    Raises:
        ValueError: ``step`` is 0 (its power -0.5 is infinite) or negative, or ``d_model`` or ``warmup`` is not positive.

    Source:
        Vaswani et al., "Attention Is All You Need", 2017, section 5.3, equation 3.

    Example:
        >>> round(warmup_rate(4000, d_model=512), 6)
        0.000699
    """
    if step < 1:
        raise ValueError(f"step ({step}) must be at least 1: the first update is step 1, and 0 ** -0.5 is infinite")
    if d_model < 1 or warmup < 1:
        raise ValueError(f"d_model ({d_model}) and warmup ({warmup}) must be at least 1")
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def one_cycle_rate(step: int, num_steps: int, peak: float, *, rise: float = 0.3) -> float:
    """A learning rate that rises from near 0 to ``peak`` and falls back to near 0, each along half a cosine.

    Args:
        step: Number of the update, counted from 1.
        num_steps: Updates in all; later steps keep the last rate.
        peak: Largest rate.
        rise: Share of the steps in which it rises, between 0 and 1.

    Raises:
        ValueError: ``step`` or ``num_steps`` is below 1, or ``rise`` is not between 0 and 1.

    Source:
        Smith and Topin, "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates", 2018.
    """
    if step < 1 or num_steps < 1:
        raise ValueError(f"step ({step}) and num_steps ({num_steps}) must be at least 1")
    if not 0.0 < rise < 1.0:
        raise ValueError(f"rise ({rise}) must be between 0 and 1")
    done = min(step / num_steps, 1.0)
    height = done / rise if done < rise else (1.0 - done) / (1.0 - rise)  # 0 at both ends, 1 at the top
    return peak * (0.02 + 0.98 * 0.5 * (1.0 - math.cos(math.pi * height)))


def label_smoothing_loss(
    logits: Float[Tensor, "*B V"], target: Int[Tensor, "*B"], *, smoothing: float = 0.1, pad_id: int = 0
) -> Float[Tensor, ""]:
    """Cross-entropy against a target that is a little unsure of itself, averaged over the symbols that are not padding.

    The right symbol gets ``1 - smoothing``; the other symbols share ``smoothing`` evenly, padding gets nothing. With
    ``smoothing=0`` this is ``F.cross_entropy(..., ignore_index=pad_id)``.

    Args:
        logits: Scores before the softmax, shape ``(*B, V)``.
        target: Right ids, shape ``(*B)``. Positions that hold ``pad_id`` do not count.
        smoothing: Probability given to the wrong symbols, in ``[0, 1)``.
        pad_id: Id of padding.

    Returns:
        The mean loss per symbol in nats, a scalar; 0 if all is padding.

    Raises:
        ValueError: ``smoothing`` is outside ``[0, 1)``, shapes do not fit, or fewer than three symbols are left to share.

    Source:
        Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2016, section 7; Vaswani et al., 2017,
        section 5.4 (0.1).
    """
    require_probability(smoothing=smoothing)
    if logits.shape[:-1] != target.shape:
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}, target {tuple(target.shape)}; expected (*B, V) and (*B)"
        )
    if logits.shape[-1] < 3:
        raise ValueError(f"logits score {logits.shape[-1]} symbols; expected padding and two others at least")
    log_probs = logits.log_softmax(dim=-1)  # (*B, V)
    right = log_probs.gather(-1, target[..., None])[..., 0]  # (*B)
    wrong = log_probs.sum(-1) - right - log_probs[..., pad_id]  # (*B)
    loss = -(1.0 - smoothing) * right - smoothing / (logits.shape[-1] - 2) * wrong  # (*B)
    real = target != pad_id  # (*B)
    return loss.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)


@dataclass
class History:
    """What happened in training, epoch by epoch.

    Args:
        losses: Mean training loss of each epoch.
        scores: What ``validate`` gave after each epoch; lower is better.
        seconds: Wall time since the start, after each epoch, earlier runs included.
        stopped: Why training ended: ``"finished"``, ``"time limit"``, ``"no better"`` or ``"interrupted"``.
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
    validate: Callable[[nn.Module], float] | None = None,
    patience: int | None = None,
    time_limit: float | None = None,
    checkpoint: Path | None = None,
    progress: bool = True,
) -> History:
    """Train; stop cleanly at Ctrl-C; go on where an earlier run stopped.

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
        validate: Model (in eval mode) to a score, lower is better, after every epoch. At the end the model gets the weights
            of the best epoch back.
        patience: Stop when that many epochs in a row were no better than the best; needs ``validate``.
        time_limit: Seconds after which no further batch is begun, in this run. The epoch in progress is given up.
        checkpoint: File to keep the state in.
        progress: Whether to draw a bar with the time left.

    Returns:
        The history, earlier runs included.

    Raises:
        ValueError: ``epochs`` is not positive, ``patience`` is given without ``validate``, an epoch has no batches, the
            loss is not finite, or the checkpoint is damaged or belongs to another model.

    Source:
        Adam's settings: Vaswani et al., 2017, section 5.3. Clipping: Pascanu et al., "On the Difficulty of Training
        Recurrent Neural Networks", 2013, algorithm 1.
    """
    if epochs < 1:
        raise ValueError(f"epochs ({epochs}) must be at least 1")
    if patience is not None and validate is None:
        raise ValueError("patience is given without validate: there is no score that could stop improving")
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
            if patience is not None and epoch - history.best_epoch - 1 >= patience:
                history.stopped = "no better"
                break
            ahead = batches(epoch)
            if not len(ahead):
                raise ValueError(f"batches({epoch}) is empty; expected at least one batch in every epoch")
            bar.total, total = bar.n + len(ahead) * (epochs - epoch), 0.0
            model.train()
            for batch in ahead:
                if time_limit is not None and time.monotonic() - started > time_limit:
                    raise TimeoutError
                run.step += 1
                total += _update(model, optimizer, loss(model, batch), rate(run.step), clip_norm)
                bar.update()
            history.losses.append(total / len(ahead))
            if validate is not None:
                model.eval()
                with torch.no_grad():
                    history.scores.append(float(validate(model)))
            history.seconds.append(earlier + time.monotonic() - started)
            run.keep()
            scores = f", score {history.scores[-1]:.4f}" if history.scores else ""
            bar.set_postfix_str(f"epoch {epoch + 1} of {epochs}: loss {history.losses[-1]:.4f}{scores}")
    except (KeyboardInterrupt, TimeoutError) as reason:
        history.stopped = "interrupted" if isinstance(reason, KeyboardInterrupt) else "time limit"
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
        self.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.checkpoint.with_name(f"{self.checkpoint.name}.{os.getpid()}.part")
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "best": self.best}
        state |= {"step": self.step, "history": asdict(self.history), "random": torch.get_rng_state()}
        torch.save(state, unfinished)
        os.replace(unfinished, self.checkpoint)

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

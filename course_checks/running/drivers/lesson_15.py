"""Lesson 15: the program of a rank, run for all ranks of a ring by turns."""

import inspect

import torch

MOST = 3  # steps for each rank, before a program is taken to go on for ever


def every_rank(answer, case):
    """What each rank returns, (P, ...), and how many tensors each has handed on, (P,); each rank gets its own ``x``.

    Not by ``run_in_lockstep``: an answer might use that, so in the grader it has no body. And here more is looked at.
    """
    P = len(case["x_of_all_ranks"])
    own = [x.clone() for x in case["x_of_all_ranks"]]
    programs = [answer(rank, P, own[rank]) for rank in range(P)]
    if not inspect.isgenerator(programs[0]):
        raise TypeError(
            "calling gather_in_ring(rank, P, x) must give a generator: there has to be a yield in it, even if P is 1"
        )
    results, arriving = [None] * P, [None] * P
    for step in range(MOST * P):
        outgoing = [_next(program, arriving[rank], rank, results) for rank, program in enumerate(programs)]
        done = [rank for rank in range(P) if outgoing[rank] is None]
        if 0 < len(done) < P:
            raise RuntimeError(f"ranks {done} are done and the others still hand on: these would wait for ever")
        if done:
            break
        for rank, parts in enumerate(outgoing):
            size = sum(part.nbytes for part in parts)
            if size != own[rank].nbytes:
                raise ValueError(
                    f"in step {step} rank {rank} handed on {size} bytes, and x has {own[rank].nbytes}: "
                    "in each step hand on one tensor of the size and type of x"
                )
        arriving = [_delivery(outgoing[rank - 1]) for rank in range(P)]
    else:
        raise RuntimeError(f"after {MOST * P} steps of {P} ranks none of them is done")
    for rank, x in enumerate(own):
        if not torch.equal(x, case["x_of_all_ranks"][rank]):
            raise ValueError(f"rank {rank} has changed its x; leave it as it is")
    shapes = {tuple(result.shape) if torch.is_tensor(result) else type(result).__name__ for result in results}
    if len(shapes) > 1 or not torch.is_tensor(results[0]):
        raise ValueError(f"every rank must return one tensor, (P, *x.shape); they return {sorted(map(str, shapes))}")
    return torch.stack(results), torch.full((P,), step)


def _next(program, arriving, rank, results):
    """What a rank hands on next, copied; None once it is done, with its result put down."""
    try:
        outgoing = program.send(arriving)
    except StopIteration as end:
        results[rank] = end.value
        return None
    kind = type(outgoing).__name__
    if not isinstance(outgoing, tuple | list):
        raise TypeError(f"yield must hand on a tuple of tensors, such as (x,); it got a {kind}")
    if strange := [type(part).__name__ for part in outgoing if not torch.is_tensor(part)]:
        raise TypeError(
            f"yield must hand on a tuple of tensors, such as (x,); it got a {kind} that holds a {strange[0]}"
        )
    return tuple(part.detach().clone() for part in outgoing)


def _delivery(tensors):
    waiting = [tensors]

    def arriving():
        if not waiting:
            raise RuntimeError("arriving() was called twice in one step: real ranks would wait for ever")
        return waiting.pop()

    return arriving

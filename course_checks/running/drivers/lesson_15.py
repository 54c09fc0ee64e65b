"""Lesson 15: the program of a rank, run for all ranks of a ring by turns."""

import inspect

import torch

MOST = 3  # steps for each rank, before a program is taken to go on for ever


def every_rank(answer, case):
    """What each rank returns, (P, ...), and how many bytes each has handed on, (P,); ``x[rank]`` goes to rank ``rank``."""
    P = len(case["x"])
    own = [case["x"][rank].clone() for rank in range(P)]
    programs = [answer(rank, P, own[rank]) for rank in range(P)]
    if not inspect.isgenerator(programs[0]):
        raise TypeError(
            "calling gather_in_ring(rank, P, x) must give a generator: there has to be a yield in it, even if P is 1"
        )
    results, sent, arriving = [None] * P, [0] * P, [None] * P
    for _ in range(MOST * P):
        outgoing = [_next(program, arriving[rank], rank, results) for rank, program in enumerate(programs)]
        done = [rank for rank in range(P) if outgoing[rank] is None]
        if 0 < len(done) < P:
            raise RuntimeError(f"ranks {done} are done and the others still hand on: these would wait for ever")
        if done:
            break
        sent = [count + sum(part.nbytes for part in parts) for count, parts in zip(sent, outgoing, strict=True)]
        arriving = [_delivery(outgoing[rank - 1]) for rank in range(P)]
    else:
        raise RuntimeError(f"after {MOST * P} steps of {P} ranks none of them is done")
    for rank, x in enumerate(own):
        if not torch.equal(x, case["x"][rank]):
            raise ValueError(f"rank {rank} has changed its x; leave it as it is")
    shapes = {tuple(result.shape) if torch.is_tensor(result) else type(result).__name__ for result in results}
    if len(shapes) > 1 or not torch.is_tensor(results[0]):
        raise ValueError(f"every rank must return one tensor, (P, *x.shape); they return {sorted(map(str, shapes))}")
    return torch.stack(results), torch.tensor(sent)


def _next(program, arriving, rank, results):
    """What a rank hands on next, copied; None once it is done, with its result put down."""
    try:
        outgoing = program.send(arriving)
    except StopIteration as end:
        results[rank] = end.value
        return None
    if not isinstance(outgoing, tuple) or not all(torch.is_tensor(part) for part in outgoing):
        raise TypeError(f"yield must hand on a tuple of tensors, such as (x,); it got {type(outgoing).__name__}")
    return tuple(part.detach().clone() for part in outgoing)


def _delivery(tensors):
    return lambda: tensors

# %% setup
import torch

# %% wrong: P steps instead of P - 1 (one hand-on too many)
def gather_in_ring(rank, P, x):
    parts = [None] * P
    part, owner = x, rank
    for _ in range(P):
        parts[owner] = part
        arriving = yield (part,)
        (part,) = arriving()
        owner = (owner - 1) % P
    return torch.stack(parts)

# %% wrong: one step too few, P - 2; missing rows stay zero
def gather_in_ring(rank, P, x):
    out = torch.zeros(P, *x.shape, dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 2):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    return out

# %% wrong: hands on its own x in every step instead of what arrived
def gather_in_ring(rank, P, x):
    out = torch.empty((P,) + x.shape, dtype=x.dtype)
    out[rank] = x
    for s in range(P - 1):
        arriving = yield (x,)
        (other,) = arriving()
        out[(rank - s - 1) % P] = other
    return out

# %% wrong: order of arrival, own first, never put in order
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        (other,) = arriving()
        parts.append(other)
    return torch.stack(parts)

# %% wrong: thinks tensors come from the next rank, rank + s + 1
def gather_in_ring(rank, P, x):
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank + s + 1) % P] = part
    return out

# %% wrong: off by one, index rank - s, so overwrites own place first
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s) % P] = part
    return out

# %% wrong: hands on the whole table each step (too many bytes)
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    for s in range(P - 1):
        arriving = yield (out,)
        (other,) = arriving()
        src = (rank - s - 1) % P
        out = out.clone()
        out[src] = other[src]
    return out

# %% wrong: yields the tensor, not a tuple
def gather_in_ring(rank, P, x):
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield part
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    return out

# %% wrong: forgets to call arriving()
def gather_in_ring(rank, P, x):
    parts = [None] * P
    parts[rank] = x
    part = x
    for s in range(P - 1):
        (part,) = yield (part,)
        parts[(rank - s - 1) % P] = part
    return torch.stack(parts)

# %% wrong: does not unpack the tuple that arriving() gives
def gather_in_ring(rank, P, x):
    parts = [None] * P
    parts[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        part = arriving()
        parts[(rank - s - 1) % P] = part
    return torch.stack(parts)

# %% wrong: returns a list of tensors, not stacked
def gather_in_ring(rank, P, x):
    parts = [None] * P
    parts[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        parts[(rank - s - 1) % P] = part
    return parts

# %% wrong: torch.cat instead of torch.stack
def gather_in_ring(rank, P, x):
    parts = [None] * P
    parts[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        parts[(rank - s - 1) % P] = part
    return torch.cat(parts)

# %% wrong: table in the default dtype, dtype of x lost
def gather_in_ring(rank, P, x):
    out = torch.zeros(P, *x.shape)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    return out

# %% wrong: P = 1 returns x without the leading dimension
def gather_in_ring(rank, P, x):
    if P == 1:
        return x
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    return out

# %% wrong: P = 1 forgotten, hands on once before the loop
def gather_in_ring(rank, P, x):
    parts = [None] * P
    parts[rank] = x
    arriving = yield (x,)
    (part,) = arriving()
    for s in range(1, P):
        parts[(rank - s) % P] = part
        if s < P - 1:
            arriving = yield (part,)
            (part,) = arriving()
    return torch.stack(parts)

# %% wrong: reuses x as the receive buffer (changes x in place)
def gather_in_ring(rank, P, x):
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    for s in range(P - 1):
        arriving = yield (x.clone(),)
        (other,) = arriving()
        x.copy_(other)
        out[(rank - s - 1) % P] = x
    return out

# %% wrong: all-reduce, hands on and adds sums
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (other,) = arriving()
        part = part + other
        out[(rank - s - 1) % P] = part
    return out

# %% wrong: written out for 3 ranks only
def gather_in_ring(rank, P, x):
    arriving = yield (x,)
    (a,) = arriving()
    arriving = yield (a,)
    (b,) = arriving()
    parts = {rank: x, (rank - 1) % 3: a, (rank - 2) % 3: b}
    return torch.stack([parts[0], parts[1], parts[2]])

# %% wrong: right order for 3 ranks by luck of reversed roll: only reverses, then rolls by rank instead of rank + 1
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        (other,) = arriving()
        parts.append(other)
    return torch.stack(parts[::-1]).roll(rank, 0)

# %% wrong: roll without dims, flattens, so rolls elements not rows
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        (other,) = arriving()
        parts.append(other)
    return torch.stack(parts[::-1]).roll(rank + 1)

# %% wrong: also hands on its rank number, so more than one tensor a step
def gather_in_ring(rank, P, x):
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part, owner = x, torch.tensor(rank)
    for s in range(P - 1):
        arriving = yield (part, owner)
        part, owner = arriving()
        out[int(owner)] = part
    return out

# %% wrong: hands on x as float64, more bytes than needed
def gather_in_ring(rank, P, x):
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x.double()
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part.to(x.dtype)
    return out

# %% wrong: forgets to put own x into the table
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    return out

# %% wrong: only rank 0 gathers everything, the others return their own x
def gather_in_ring(rank, P, x):
    parts = {rank: x}
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        parts[(rank - s - 1) % P] = part
    if rank == 0:
        return torch.stack([parts[r] for r in range(P)])
    return x

# %% wrong: a plain function, no yield at all
def gather_in_ring(rank, P, x):
    return torch.stack([x] * P)

# %% wrong: the last rank does not hand on (treats the ring as a line)
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        if rank == P - 1:
            break
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    return out

# %% wrong: yields the finished table instead of returning it
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    yield out

# %% wrong: forgets the return
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part

# %% wrong: forgets %, negative index wraps only by luck but rank - s - 1 counted from rank + 1
def gather_in_ring(rank, P, x):
    parts = [None] * P
    parts[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        parts[rank + s + 1 - P] = part
    return torch.stack(parts)

# %% wrong: stacks along the last dimension
def gather_in_ring(rank, P, x):
    parts = [None] * P
    parts[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        parts[(rank - s - 1) % P] = part
    return torch.stack(parts, dim=-1)

# %% wrong: flattens x and forgets to restore its shape
def gather_in_ring(rank, P, x):
    parts = [None] * P
    part = x.flatten()
    parts[rank] = part
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        parts[(rank - s - 1) % P] = part
    return torch.stack(parts)

# %% wrong: rebuilds from numbers with torch.tensor(tolist), loses dtype (float64/float16/int32)
def gather_in_ring(rank, P, x):
    parts = [None] * P
    part = x
    parts[rank] = x.tolist()
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        parts[(rank - s - 1) % P] = part.tolist()
    return torch.tensor(parts)

# %% wrong: hands on pieces that grow, everything it has so far stacked
def gather_in_ring(rank, P, x):
    have = x[None]
    for s in range(P - 1):
        arriving = yield (have,)
        (other,) = arriving()
        have = torch.cat([other, x[None]])
    return have.roll(rank + 1, 0)

# %% wrong: fills the table by one shared buffer: rows are views of the same tensor that is overwritten
def gather_in_ring(rank, P, x):
    parts = [None] * P
    buffer = x.clone()
    parts[rank] = buffer
    for s in range(P - 1):
        arriving = yield (buffer.clone(),)
        (other,) = arriving()
        buffer.copy_(other)
        parts[(rank - s - 1) % P] = buffer
    return torch.stack(parts)

# %% wrong: P = 1 answered with x[None] too late: hands on to itself first
def gather_in_ring(rank, P, x):
    out = [x]
    while True:
        arriving = yield (out[0],)
        (other,) = arriving()
        if len(out) >= P:
            break
        out.insert(0, other)
        if len(out) == P:
            break
    return torch.stack(out).roll(rank + 1, 0)

# %% wrong: hands on in step s the part of rank s (as in a broadcast), which it may not have yet
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    for s in range(P - 1):
        arriving = yield (out[s],)
        (other,) = arriving()
        out[(rank - s - 1) % P] = other
    return out

# %% wrong: float32 buffer cast back at the end, big integers and float64 lose digits
def gather_in_ring(rank, P, x):
    out = torch.zeros(P, *x.shape)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    return out.to(x.dtype)

# %% wrong: waits for arriving() after handing on twice only at the end (collects the calls, hands on x each time)
def gather_in_ring(rank, P, x):
    calls = []
    for s in range(P - 1):
        calls.append((yield (x,)))
    parts = {rank: x}
    for s, call in enumerate(calls):
        (parts[(rank - s - 1) % P],) = call()
    return torch.stack([parts[r] for r in range(P)])

# %% right: dict by rank, sorted at the end
def gather_in_ring(rank, P, x):
    have = {rank: x}
    held = rank
    for _ in range(1, P):
        arriving = yield (have[held],)
        held = (held + P - 1) % P
        (have[held],) = arriving()
    return torch.stack([have[key] for key in sorted(have)])

# %% right: collects in order of arrival, flips and rolls at the end
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        parts.extend(arriving())
    return torch.stack(parts).flip(0).roll(rank + 1, dims=0)

# %% right: x.new_empty and index assignment; hands on rows of the table (views)
def gather_in_ring(rank, P, x):
    out = x.new_empty((P, *x.shape))
    out[rank] = x
    for s in range(P - 1):
        arriving = yield (out[(rank - s) % P],)
        (out[(rank - s - 1) % P],) = arriving()
    return out

# %% right: list rotation with insert at 0
def gather_in_ring(rank, P, x):
    parts = [x]
    while len(parts) < P:
        arriving = yield (parts[0],)
        (other,) = arriving()
        parts.insert(0, other)
    cut = P - 1 - rank
    return torch.stack(parts[cut:] + parts[:cut])

# %% right: while loop with negative index and no modulo
def gather_in_ring(rank, P, x):
    parts = [x] * P
    part, place = x, rank - 1
    while place > rank - P:
        arriving = yield (part,)
        part = arriving()[0]
        parts[place] = part
        place -= 1
    return torch.stack(parts)

# %% right: helper generator with yield from
def gather_in_ring(rank, P, x):
    def hop(part):
        arriving = yield (part,)
        (other,) = arriving()
        return other

    def collect(part, left):
        if left == 0:
            return [part]
        other = yield from hop(part)
        rest = yield from collect(other, left - 1)
        return [part] + rest

    parts = yield from collect(x, P - 1)
    return torch.stack([parts[(rank - r) % P] for r in range(P)])

# %% right: yields a list with one tensor, cat of x[None] and argsort of the owners
def gather_in_ring(rank, P, x):
    owners, parts = [rank], [x[None]]
    for s in range(P - 1):
        arriving = yield [parts[-1][0]]
        [other] = arriving()
        owners.append((rank - s - 1) % P)
        parts.append(other[None])
    return torch.cat(parts)[torch.tensor(owners).argsort()]

# %% right: P = 1 early, deque rotation
def gather_in_ring(rank, P, x):
    from collections import deque
    if P == 1:
        return x.unsqueeze(0)
    d = deque([x])
    for _ in range(P - 1):
        (other,) = (yield (d[0],))()
        d.appendleft(other)
    d.rotate(rank + 1)
    return torch.stack(list(d))

# %% right: hands on x[None], with a leading dimension (same bytes)
def gather_in_ring(rank, P, x):
    parts = [None] * P
    part = x[None]
    parts[rank] = part
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        parts[(rank - s - 1) % P] = part
    return torch.cat(parts)

# %% right: flattens, restores shape at the end, clones everything
def gather_in_ring(rank, P, x):
    part = x.detach().clone().reshape(-1)
    table = torch.empty(P * part.numel(), dtype=x.dtype).view(P, -1) if part.numel() else torch.empty(P, 0, dtype=x.dtype)
    table[rank] = part
    for s in range(1, P):
        arriving = yield (part,)
        part = arriving()[0]
        table[(rank - s) % P] = part
    return table.reshape(P, *x.shape)

# %% right: asks arriving() late, just before it is needed
def gather_in_ring(rank, P, x):
    get, parts = (lambda: (x,)), {}
    for s in range(P):
        (part,) = get()
        parts[(rank - s) % P] = part
        if s < P - 1:
            get = yield (part,)
    return torch.stack([parts[r] for r in range(P)])

# %% right: one receive buffer of its own, overwritten in place after arriving() (handed-on tensor changes later)
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    buffer = x.clone()
    out[rank] = buffer
    for s in range(P - 1):
        arriving = yield (buffer,)
        (other,) = arriving()
        buffer.copy_(other)
        out[(rank - s - 1) % P] = buffer
    return out

# %% wrong: writes what arrived into x's storage without noticing (part = x, part[...] = other)
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (other,) = arriving()
        part[...] = other
        out[(rank - s - 1) % P] = part
    return out

# %% wrong: adds into a zero table, handing on masked tables summed (right values for 0 + x, too many bytes)
def gather_in_ring(rank, P, x):
    table = torch.zeros((P, *x.shape), dtype=x.dtype)
    table[rank] = x
    total = table.clone()
    for s in range(P - 1):
        arriving = yield (table,)
        (table,) = arriving()
        total = total + table
    return total

# %% wrong: loses precision: hands on x.float() and casts back (fewer bytes than needed for float64)
def gather_in_ring(rank, P, x):
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x.float()
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part.to(x.dtype)
    return out

# %% wrong: hands on nothing in the last needed step but an empty tuple in the first (idle step)
def gather_in_ring(rank, P, x):
    arriving = yield ()
    arriving()
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for s in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - s - 1) % P] = part
    return out


# %% setup
from collections import deque

import torch

# %% wrong: hands on its own x in every step, so all arriving tensors are those of the rank before
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    for step in range(P - 1):
        arriving = yield (x,)
        (other,) = arriving()
        out[(rank - step - 1) % P] = other
    return torch.stack(out)

# %% wrong: stacks in the order of arrival, the own tensor first
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        (other,) = arriving()
        parts.append(other)
    return torch.stack(parts)

# %% wrong: P steps instead of P - 1, each rank's own tensor comes home; the result is right
def gather_in_ring(rank, P, x):
    out = [None] * P
    part = x
    for step in range(P):
        out[(rank - step) % P] = part
        arriving = yield (part,)
        (part,) = arriving()
    return torch.stack(out)

# %% wrong: one step too few, the tensor of the next rank stays 0
def gather_in_ring(rank, P, x):
    out = x.new_zeros((P, *x.shape))
    out[rank] = x
    part = x
    for step in range(1, P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step) % P] = part
    return out

# %% wrong: puts what arrives in step s, counted from 0, at rank - s, so one place too high; overwrites its own and leaves the place of the next rank 0
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step) % P] = part
    return out

# %% wrong: counts the wrong way round the ring, places rank + s + 1; right for up to 2 ranks
def gather_in_ring(rank, P, x):
    out = [x] * P
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank + step + 1) % P] = part
    return torch.stack(out)

# %% wrong: yields the tensor itself, not a tuple of it
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield part
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return torch.stack(out)

# %% wrong: takes what yield gives for the tensors, never calls arriving(); fails when it unpacks
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        (part,) = yield (part,)
        out[(rank - step - 1) % P] = part
    return torch.stack(out)

# %% wrong: doesn't unpack what arriving() gives, so it hands on a tuple in a tuple from step 1 on, and stack fails
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        part = arriving()
        out[(rank - step - 1) % P] = part
    return torch.stack(out)

# %% wrong: returns a list of the tensors
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return out

# %% wrong: collects in a float32 table whatever the type of x
def gather_in_ring(rank, P, x):
    out = torch.zeros(P, *x.shape)
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return out

# %% wrong: concatenates instead of stacking, so the shape is (P * n, ...), and a tensor of no dimension fails
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return torch.cat(out)

# %% wrong: adds up the tensors of all ranks as an all_reduce does
def gather_in_ring(rank, P, x):
    total = x.clone()
    part = x
    for _ in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        total = total + part
    return total

# %% wrong: keeps what travels in x itself, written in place, so x is changed
def gather_in_ring(rank, P, x):
    out = torch.empty((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    for step in range(P - 1):
        arriving = yield (x.clone(),)
        (other,) = arriving()
        x.copy_(other)
        out[(rank - step - 1) % P] = x
    return out

# %% wrong: tests at the end of the loop, so with P = 1 it hands on once; otherwise right
def gather_in_ring(rank, P, x):
    out = {rank: x}
    part, owner = x, rank
    while True:
        arriving = yield (part,)
        (part,) = arriving()
        owner = (owner - 1) % P
        out[owner] = part
        if len(out) == P:
            break
    return torch.stack([out[r] for r in range(P)])

# %% wrong: with P = 1 returns x without the dimension for the ranks
def gather_in_ring(rank, P, x):
    if P == 1:
        return x
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return torch.stack(out)

# %% wrong: sorts the collected numbers instead of putting each in its rank's place; right for the example
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        (other,) = arriving()
        parts.append(other)
    return torch.stack(parts).sort(dim=0).values

# %% wrong: hands on everything that it has so far, a tensor more in each step; the result is right
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield tuple(parts)
        parts = [x, *arriving()]
    return torch.stack([parts[(rank - r) % P] for r in range(P)])

# %% wrong: hands on the whole table (P, ...) in each step; the result is right
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    for step in range(P - 1):
        arriving = yield (out.clone(),)
        (other,) = arriving()
        place = (rank - step - 1) % P
        out[place] = other[place]
    return out

# %% wrong: the last rank hands nothing on, as if the ranks were a line and not a ring; it only returns its own in all places
def gather_in_ring(rank, P, x):
    out = [x] * P
    part = x
    if rank < P - 1:
        for step in range(P - 1):
            arriving = yield (part,)
            (part,) = arriving()
            out[(rank - step - 1) % P] = part
    return torch.stack(out)

# %% wrong: rank r takes only r steps, those that bring the tensors of lower ranks, and leaves the others 0
def gather_in_ring(rank, P, x):
    out = torch.zeros_like(x).expand(P, *x.shape).clone()
    out[rank] = x
    part = x
    for step in range(rank):
        arriving = yield (part,)
        (part,) = arriving()
        out[rank - step - 1] = part
    return out

# %% wrong: flips and rolls at the end by rank and not by rank + 1, so everything is one place too low
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        (other,) = arriving()
        parts.append(other)
    return torch.stack(parts[::-1]).roll(rank, 0)

# %% wrong: rolls without flipping, so its own is in place and the others go the wrong way round; right for up to 2 ranks
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        (other,) = arriving()
        parts.append(other)
    return torch.stack(parts).roll(rank, 0)

# %% wrong: two steps written out, right for 3 ranks only; with 1 and 2 ranks it hands on too often, with 4 or more it repeats
def gather_in_ring(rank, P, x):
    arriving = yield (x,)
    (one,) = arriving()
    arriving = yield (one,)
    (two,) = arriving()
    have = {(rank - 2) % P: two, (rank - 1) % P: one, rank % P: x}
    return torch.stack([have.get(r, x) for r in range(P)])

# %% wrong: hands on what arrived a step earlier, not what has just arrived
def gather_in_ring(rank, P, x):
    parts = [x]
    for step in range(P - 1):
        arriving = yield (parts[max(step - 1, 0)],)
        (other,) = arriving()
        parts.append(other)
    return torch.stack([parts[(rank - r) % P] for r in range(P)])

# %% wrong: calls a helper generator without yield from, so it yields the helper generator itself in place of tensors
def gather_in_ring(rank, P, x):
    def steps(part):
        parts = [part]
        for _ in range(P - 1):
            arriving = yield (parts[-1],)
            parts.append(arriving()[0])
        return parts

    parts = yield steps(x)
    return torch.stack([parts[(rank - r) % P] for r in range(P)])

# %% wrong: recursion over P, counts the ring as one of P - 1 ranks, and so places wrongly
def gather_in_ring(rank, P, x):
    if P == 1:
        return x.unsqueeze(0)
    arriving = yield (x,)
    (other,) = arriving()
    rest = yield from gather_in_ring(rank, P - 1, other)
    return torch.cat([x.unsqueeze(0), rest])

# %% wrong: no yield at all, returns its own tensor P times
def gather_in_ring(rank, P, x):
    parts = [x for _ in range(P)]
    return torch.stack(parts)

# %% wrong: forgets to return, the result is None
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    out = torch.stack(out)

# %% wrong: yields the result at the end instead of returning it
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    yield torch.stack(out)

# %% wrong: flattens x, hands on and returns rows, so the shape is lost
def gather_in_ring(rank, P, x):
    part = x.reshape(-1)
    out = torch.zeros((P, x.numel()), dtype=x.dtype)
    out[rank] = part
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return out

# %% wrong: hands on x.float(), and makes the type right again only at the end, so large whole numbers and float64 are rounded
def gather_in_ring(rank, P, x):
    part = x.float()
    out = [None] * P
    out[rank] = part
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return torch.stack(out).to(x.dtype)

# %% wrong: takes the size of the first dimension for the whole shape, so only vectors work
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, x.shape[0]), dtype=x.dtype)
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return out

# %% wrong: believes that tensors come from the next rank, so places from rank + 1 upward, with an index that isn't taken modulo P and fails
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[rank + step + 1] = part
    return torch.stack(out)

# %% wrong: hands on a number of the rank along with the tensor; the result is right
def gather_in_ring(rank, P, x):
    have = {rank: x}
    owner, part = torch.tensor(rank), x
    for _ in range(P - 1):
        arriving = yield (part, owner)
        part, owner = arriving()
        have[int(owner)] = part
    return torch.stack([have[r] for r in range(P)])

# %% wrong: loops over ranks, and in step s hands on what place s of the table has, 0 for ranks whose tensor it doesn't have yet
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    for r in range(P - 1):
        arriving = yield (out[r],)
        (other,) = arriving()
        out[r] = torch.where(torch.tensor(r == rank), out[r], other)
    return out

# %% wrong: adds what arrives to a table in place of putting it there, a table that begins with x in every row
def gather_in_ring(rank, P, x):
    out = [x.clone() for _ in range(P)]
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        place = (rank - step - 1) % P
        out[place] = out[place] + part
    return torch.stack(out)

# %% wrong: each rank forwards the running sum as in ring_sum and stores it, so places hold partial sums
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (other,) = arriving()
        part = x + other
        out[(rank - step - 1) % P] = part
    return torch.stack(out)

# %% wrong: takes 2 (P - 1) steps as the ring sum of the page does, the result is right
def gather_in_ring(rank, P, x):
    parts = [None] * P
    parts[rank] = x
    part = x
    for step in range(2 * (P - 1)):
        arriving = yield (part,)
        (part,) = arriving()
        parts[(rank - step - 1) % P] = part
    return torch.stack(parts)

# %% wrong: cuts x into P parts as ring_sum of the page does, and hands on parts
def gather_in_ring(rank, P, x):
    parts = list(x.chunk(P))
    for step in range(P - 1):
        arriving = yield (parts[(rank - step) % P],)
        (part,) = arriving()
        parts[(rank - step - 1) % P] = part
    return torch.cat(parts)

# %% wrong: rebuilds the result from lists of numbers, so float64 becomes float32 and int32 becomes int64
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x.tolist()
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part.tolist()
    return torch.tensor(out)

# %% wrong: stacks along the last axis, right only for x of no dimension
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return torch.stack(out, dim=-1)

# %% wrong: makes room with x.repeat(P, 1), which is right for vectors only
def gather_in_ring(rank, P, x):
    out = x.repeat(P, 1)
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    return out

# %% wrong: wraps a negative place to P - 1 always, so places below -1 are wrong; right for up to 2 ranks
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        place = rank - step - 1
        if place < 0:
            place = P - 1
        out[place] = part
    return out

# %% wrong: counts around a ring of 3 whatever P is
def gather_in_ring(rank, P, x):
    out = [x] * P
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % 3] = part
    return torch.stack(out)

# %% wrong: only rank 0 returns the result, the others return None
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
    if rank == 0:
        return torch.stack(out)

# %% wrong: receives at the beginning of the next step, so it hands on P - 1 times but never takes in the last tensor, whose place stays 0
def gather_in_ring(rank, P, x):
    out = torch.zeros((P, *x.shape), dtype=x.dtype)
    out[rank] = x
    part, arriving = x, None
    for step in range(P - 1):
        if arriving is not None:
            (part,) = arriving()
            out[(rank - step) % P] = part
        arriving = yield (part,)
    return out

# %% wrong: adds into what has arrived in place to build the result, so its neighbors' tensors are changed where no copy is made, and the sums are wrong anywhere
def gather_in_ring(rank, P, x):
    out = [x] * P
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        (other,) = arriving()
        other += part
        part = other
        out[(rank - step - 1) % P] = part
    return torch.stack(out)

# %% wrong: returns the tensors as a tuple, stacked nowhere, and in the order of arrival
def gather_in_ring(rank, P, x):
    parts = (x,)
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        parts += arriving()
    return parts

# %% wrong: a test for P = 1 that comes after the first handing on; otherwise right
def gather_in_ring(rank, P, x):
    arriving = yield (x,)
    if P == 1:
        return x[None]
    out = [None] * P
    out[rank] = x
    for step in range(P - 1):
        (part,) = arriving()
        out[(rank - step - 1) % P] = part
        if step < P - 2:
            arriving = yield (part,)
    return torch.stack(out)

# %% wrong: calls arriving() twice in a step, once for the table and once for what is handed on next; no error where one process takes all ranks in turn, but on real ranks the second call waits for ever
def gather_in_ring(rank, P, x):
    out = [None] * P
    out[rank] = x
    part = x
    for step in range(P - 1):
        arriving = yield (part,)
        out[(rank - step - 1) % P] = arriving()[0]
        part = arriving()[0]
    return torch.stack(out)

# %% two mistakes: stacks in the order of arrival, and takes P steps, keeping only what arrives, so its own comes home last
def gather_in_ring(rank, P, x):
    parts, part = [], x
    for _ in range(P):
        arriving = yield (part,)
        (part,) = arriving()
        parts.append(part)
    return torch.stack(parts)

# %% two mistakes: the wrong way round the ring, into a float32 table
def gather_in_ring(rank, P, x):
    out = torch.zeros(P, *x.shape)
    out[rank] = x
    part = x
    for step in range(1, P):
        arriving = yield (part,)
        (part,) = arriving()
        out[(rank + step) % P] = part
    return out

# %% right: a dict by rank, an owner that counts down
def gather_in_ring(rank, P, x):
    have, owner = {rank: x}, rank
    while len(have) < P:
        arriving = yield (have[owner],)
        owner = (owner - 1) % P
        (have[owner],) = arriving()
    return torch.stack([have[r] for r in sorted(have)])

# %% right: in the order of arrival, flipped and rolled at the end
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(P - 1):
        arriving = yield (parts[-1],)
        parts += arriving()
    return torch.stack(parts).flip(0).roll(rank + 1, 0)

# %% right: in the order of arrival, put in place by one index_put at the end
def gather_in_ring(rank, P, x):
    parts = [x]
    for _ in range(1, P):
        arriving = yield (parts[-1],)
        parts.append(arriving()[0])
    places = (rank - torch.arange(P)) % P
    return torch.empty((P, *x.shape), dtype=x.dtype).index_put((places,), torch.stack(parts))

# %% right: a deque that grows to the left and is rotated
def gather_in_ring(rank, P, x):
    line = deque([x])
    while len(line) != P:
        arriving = yield (line[0],)
        (other,) = arriving()
        line.appendleft(other)
    line.rotate(rank + 1)
    return torch.stack(tuple(line))

# %% right: a preallocated tensor, whose rows (views) are handed on
def gather_in_ring(rank, P, x):
    out = x.new_empty((P,) + tuple(x.shape))
    out[rank] = x
    for owner in range(rank, rank - P + 1, -1):
        arriving = yield (out[owner % P],)
        out[(owner - 1) % P] = arriving()[0]
    return out

# %% right: a helper that is a recursive generator, with yield from
def gather_in_ring(rank, P, x):
    def before(part, count):
        if count == 0:
            return [part]
        arriving = yield (part,)
        (other,) = arriving()
        rest = yield from before(other, count - 1)
        return rest + [part]

    in_order = yield from before(x, P - 1)  # rank + 1, ..., rank
    start = P - 1 - rank
    return torch.stack(in_order[start:] + in_order[:start])

# %% right: negative list indices instead of %, an early return for P = 1, and clones of all that arrives
def gather_in_ring(rank, P, x):
    if P == 1:
        return x[None].clone()
    places = [None] * P
    places[rank] = x.clone()
    for s in range(P - 1):
        arriving = yield (places[rank - s].clone(),)
        places[rank - s - 1] = arriving()[0].clone()
    return torch.cat([part.unsqueeze(0) for part in places])

# %% right: pairs of owner and tensor, sorted by owner
def gather_in_ring(rank, P, x):
    pairs, current = [(rank, x)], x
    for s in range(1, P):
        wait = yield (current,)
        current, = wait()
        pairs.append(((rank + P - s) % P, current))
    pairs.sort(key=lambda pair: pair[0])
    return torch.stack([tensor for _, tensor in pairs], dim=0)

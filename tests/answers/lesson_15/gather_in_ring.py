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

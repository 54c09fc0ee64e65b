# %% setup
import math
import torch


# %% wrong: each rank sends in all P steps, the last one included
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    sent = P * N
    fewest = flops * num_bytes / (bandwidth * g)
    return sent, 3 * N, fewest


# %% wrong: forgets the factor 2, so counts keys only and no values, in sent and kept
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    block = L // P * num_kv_heads * d_head * num_bytes
    sent = (P - 1) * block
    kept = 3 * block
    fewest = num_kv_heads * num_bytes * flops / (num_heads * bandwidth)
    return sent, kept, fewest


# %% wrong: lets keys and values have as many heads as the queries, in all three numbers
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L / P
    numbers = 2 * n * num_heads * d_head
    block = numbers * num_bytes
    # operations 2 n^2 d H, bytes 2 n d H num_bytes
    fewest = flops * num_bytes / bandwidth
    return (P - 1) * block, 3 * block, fewest


# %% wrong: gives what all ranks together send, not each rank
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    sent = P * (P - 1) * N
    kept = 3 * N
    fewest = flops * num_bytes / (g * bandwidth)
    return sent, kept, fewest


# %% wrong: lets a rank give up its own block, so keeps only the one in hand and the one arriving
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes

    sent = N * (P - 1)
    kept = 2 * N  # forward only, so nothing has to stay
    group = num_heads / num_kv_heads
    fewest = (flops / bandwidth) * num_bytes / group
    return sent, kept, fewest


# %% wrong: lets every block that came by stay, so that a rank ends with the whole text, P blocks
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes

    sent = (P - 1) * N
    kept = sent + N  # what came in, and its own
    fewest = flops * num_kv_heads * num_bytes / (bandwidth * num_heads)
    return sent, kept, fewest


# %% wrong: takes the row for gathering, its own block and those of the whole text
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    sent = (P - 1) * N
    kept = N + P * N
    fewest = flops * num_bytes / (g * bandwidth)
    return sent, kept, fewest


# %% wrong: leaves the mask out of the bound, with all four squares in each step
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes

    compute = 4 * n**2 * d_head * num_heads / flops
    send = N / bandwidth
    fewest = n * send / compute
    return (P - 1) * N, 3 * N, fewest


# %% wrong: takes the bound from step 0 alone, where three of four squares are computed
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes

    # step 0: 3/4 * 4 n^2 d H operations
    fewest = 2 * num_kv_heads * num_bytes * flops / (3 * num_heads * bandwidth)
    return (P - 1) * N, 3 * N, fewest


# %% wrong: uses the average work of all steps, 1/2 + 1/(4P), and not the least of any step
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    share = 0.5 + 1 / (4 * P)
    without_mask = flops * num_bytes / (2 * g * bandwidth)
    fewest = without_mask / share
    return (P - 1) * N, 3 * N, fewest


# %% wrong: halves the bound for the mask, as if less work made sending easier to hide
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    without_mask = flops * num_bytes / (2 * g * bandwidth)
    return (P - 1) * N, 3 * N, without_mask / 2


# %% wrong: takes the page's F / (g S), which is for numbers of 2 bytes, and doubles it for the mask
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    fewest = 2 * flops / (g * bandwidth)
    return (P - 1) * N, 3 * N, fewest


# %% wrong: multiplies the bound by the query heads in a group and doesn't divide
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    fewest = g * flops * num_bytes / bandwidth
    return (P - 1) * N, 3 * N, fewest


# %% wrong: leaves shared keys out of the bound, though sent and kept have them
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes

    fewest = num_bytes * flops / bandwidth
    return (P - 1) * N, 3 * N, fewest


# %% wrong: divides by the key/value heads and not by the query heads that share one
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes

    fewest = num_bytes * flops / (num_kv_heads * bandwidth)
    return (P - 1) * N, 3 * N, fewest


# %% wrong: rounds the bound up to a whole token
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    fewest = math.ceil(flops * num_bytes / (g * bandwidth))
    return (P - 1) * N, 3 * N, fewest


# %% wrong: gives the tokens that the whole text needs, not a rank
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    fewest = P * flops * num_bytes / (g * bandwidth)
    return (P - 1) * N, 3 * N, fewest


# %% wrong: swaps operations and bytes a second in the bound
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    fewest = bandwidth * num_bytes / (g * flops)
    return (P - 1) * N, 3 * N, fewest


# %% wrong: lets blocks that the causal mask hides stay at home, so sends only half, on average
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    pairs = P * (P - 1) // 2  # a rank's keys only go to ranks after it
    sent = pairs * N / P
    fewest = flops * num_bytes / (g * bandwidth)
    return sent, 3 * N, fewest


# %% wrong: counts numbers and not bytes in sent and kept
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head
    g = num_heads / num_kv_heads
    fewest = flops * num_bytes / (g * bandwidth)
    return (P - 1) * N, 3 * N, fewest


# %% wrong: adds what the backward pass sends
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    forward = (P - 1) * N
    backward = (2 * P - 1) * N
    fewest = flops * num_bytes / (g * bandwidth)
    return forward + backward, 3 * N, fewest


# %% wrong: counts multiplications only, half of the page's operations
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes

    # two products, half the pairs: n^2 d multiplications for each head
    # n^2 d H / F >= 2 n d H_kv b / S
    fewest = 2 * num_kv_heads * num_bytes * flops / (num_heads * bandwidth)
    return (P - 1) * N, 3 * N, fewest


# %% wrong: takes one of zigzag's 2P chunks for a rank's block, in sent and kept
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    chunk = L // (2 * P)
    N = 2 * chunk * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads
    fewest = flops * num_bytes / (g * bandwidth)
    return (P - 1) * N, 3 * N, fewest


# %% wrong: sends with an all-reduce's 2 (P - 1) / P times the whole text's keys and values
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    whole = 2 * L * num_kv_heads * d_head * num_bytes
    sent = 2 * (P - 1) * whole // P
    kept = 3 * whole // P
    g = num_heads // num_kv_heads
    fewest = flops * num_bytes / (g * bandwidth)
    return sent, kept, fewest


# %% wrong: takes the page's F / S as it is, so without mask, shared keys or num_bytes
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    N = 2 * (L // P) * num_kv_heads * d_head * num_bytes
    return (P - 1) * N, 3 * N, flops / bandwidth


# %% two mistakes: the bound has neither the mask nor the shared keys
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes

    compute = 4 * n * n * d_head * num_kv_heads / flops
    send = N / bandwidth
    return (P - 1) * N, 3 * N, n * send / compute


# %% two mistakes: the page's bound F / (g S) as it is, so without the mask and for 2 bytes only
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    return (P - 1) * N, 3 * N, flops / (g * bandwidth)


# %% two mistakes: sends in the last step too, and doesn't keep its own block
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    sent = sum(N for step in range(P))
    kept = N + N  # in hand and arriving
    fewest = flops * num_bytes / (g * bandwidth)
    return sent, kept, fewest


# %% two mistakes: a block has keys only and as many heads as the queries (g = 2 hides it in sent and kept)
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    block = n * num_heads * d_head * num_bytes
    fewest = flops * num_bytes * num_kv_heads / (bandwidth * num_heads)
    return (P - 1) * block, 3 * block, fewest


# %% two mistakes: averages the work over the steps that send, and rounds up
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    N = 2 * n * num_kv_heads * d_head * num_bytes
    g = num_heads // num_kv_heads

    squares = [3] + [2] * (P - 2)
    share = sum(squares) / len(squares) / 4
    fewest = math.ceil(flops * num_bytes / (2 * g * bandwidth) / share)
    return (P - 1) * N, 3 * N, fewest


# %% right: goes through the steps, counts the blocks in memory and takes the largest bound of any step
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = L // P
    block = 2 * n * num_kv_heads * d_head * num_bytes
    sent, kept, fewest = 0, 0, 0.0
    for step in range(P):
        here = 1 if step == 0 else 2  # its own, and the one in hand
        if step < P - 1:
            sent += block
            here += 1
            squares = 3 if step == 0 else 2
            operations = squares * d_head * num_heads  # times n^2
            num_sent = 2 * num_kv_heads * d_head * num_bytes  # times n
            fewest = max(fewest, num_sent / bandwidth * flops / operations)
        kept = max(kept, here * block)
    return sent, kept, fewest


# %% right: exact fractions, returned as such
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    from fractions import Fraction

    n = Fraction(L, P)
    N = 2 * n * num_kv_heads * d_head * num_bytes
    rate = Fraction(flops) / Fraction(bandwidth)
    fewest = rate * num_bytes * Fraction(num_kv_heads, num_heads)
    return (P - 1) * N, 3 * N, fewest


# %% right: returns a list of three tensors without dimensions
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    n = torch.tensor(L // P)
    N = 2 * n * num_kv_heads * d_head * num_bytes
    rates = torch.tensor([flops, bandwidth], dtype=torch.float64)
    fewest = rates[0] / rates[1] * num_bytes * num_kv_heads / num_heads
    return [N * (P - 1), N * 3, fewest]


# %% right: finds the bound by bisection
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    def waits(n):
        computing = 2 * n**2 * d_head * num_heads / flops
        sending = 2 * n * num_kv_heads * d_head * num_bytes / bandwidth
        return sending > computing

    low, high = 0.0, 1.0
    while waits(high):
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if waits(middle):
            low = middle
        else:
            high = middle
    N = 2 * (L // P) * num_kv_heads * d_head * num_bytes
    return (P - 1) * N, 3 * N, high


# %% right: floats everywhere, from the whole text's keys and values
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    whole = 2.0 * L * num_kv_heads * d_head * num_bytes
    sent = whole - whole / P
    kept = whole * 3 / P
    shared = num_heads / num_kv_heads
    without_mask = flops / bandwidth / shared * (num_bytes / 2)
    return sent, kept, 2 * without_mask


# %% right: builds zigzag's chunks and counts the squares that aren't hidden, for each rank and step
def ring_costs(L, P, num_heads, num_kv_heads, d_head, num_bytes, flops, bandwidth):
    chunks = [(r, 2 * P - 1 - r) for r in range(P)]
    least = 4
    for rank in range(P):
        for step in range(P - 1):  # the steps that send
            keys = chunks[(rank - step) % P]
            squares = sum(k <= q for q in chunks[rank] for k in keys)
            least = min(least, squares)
    operations = least / 4 * 4 * d_head * num_heads
    token = 2 * num_kv_heads * d_head * num_bytes
    N = L // P * token
    return (P - 1) * N, 3 * N, token * flops / (bandwidth * operations)

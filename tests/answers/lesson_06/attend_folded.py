# %% setup
import torch
import torch.nn.functional as F
from course_utils.attention import masked_softmax


def attend_folded_broken(q, k, v, mask):
    num_heads = len(q) // len(mask)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B * H, L_q, L_k)
    weights = masked_softmax(scores, mask.repeat(num_heads, 1, 1))
    return weights @ v  # (B * H, L_q, d_head)

# %% wrong: the output is right, but misled mixes up the number of heads and of sequences (r // B and r % H)
def attend_folded(q, k, v, mask):
    B = len(mask)
    H = len(q) // B
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask.repeat_interleave(H, dim=0))
    rows = torch.arange(B * H)
    return weights @ v, rows // B != rows % H

# %% wrong: misled is the opposite: True where the broken function takes the right mask
def attend_folded(q, k, v, mask):
    B = len(mask)
    H = len(q) // B
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask.repeat_interleave(H, dim=0))
    rows = torch.arange(B * H)
    return weights @ v, rows // H == rows % B

# %% wrong: calls every row misled that doesn't belong to the first sequence
def attend_folded(q, k, v, mask):
    B = len(mask)
    H = len(q) // B
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask.repeat_interleave(H, dim=0))
    return weights @ v, torch.arange(B * H) >= H

# %% wrong: unfolds the rows as (H, B), heads outermost, so it attends with the same wrong masks as the broken function
def attend_folded(q, k, v, mask):
    B = len(mask)
    H = len(q) // B
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    scores = scores.view(H, B, *scores.shape[1:])
    weights = masked_softmax(scores, mask[None].expand(H, -1, -1, -1)).flatten(0, 1)
    rows = torch.arange(B * H)
    return weights @ v, rows // H != rows % B

# %% wrong: gives misled per sequence, (B,), not per row
def attend_folded(q, k, v, mask):
    B = len(mask)
    H = len(q) // B
    full = mask.repeat_interleave(H, dim=0)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    output = masked_softmax(scores, full) @ v
    misled = (full != mask.repeat(H, 1, 1)).view(B, -1).any(dim=1)
    return output, misled

# %% wrong: gives the numbers of the misled rows in place of a boolean for each
def attend_folded(q, k, v, mask):
    B = len(mask)
    H = len(q) // B
    full = mask.repeat_interleave(H, dim=0)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    rows = torch.arange(B * H)
    return masked_softmax(scores, full) @ v, (rows // H != rows % B).nonzero().flatten()

# %% wrong: repeats each mask B times instead of H times when it looks for misled rows, taking the first B * H of them
def attend_folded(q, k, v, mask):
    B = len(mask)
    H = len(q) // B
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    output = masked_softmax(scores, mask.repeat_interleave(H, dim=0)) @ v
    rows = torch.arange(B * H)
    return output, (rows // B) % B != rows % B

# %% wrong: forgets to divide the scores by the root of d_head
def attend_folded(q, k, v, mask):
    H = len(q) // len(mask)
    weights = masked_softmax(q @ k.transpose(-2, -1), mask.repeat_interleave(H, dim=0))
    rows = torch.arange(len(q))
    return weights @ v, rows // H != rows % len(mask)

# %% wrong: zeroes hidden weights after the softmax without making them sum to 1 again
def attend_folded(q, k, v, mask):
    H = len(q) // len(mask)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1) * mask.repeat_interleave(H, dim=0)
    rows = torch.arange(len(q))
    return weights @ v, rows // H != rows % len(mask)

# %% wrong: uses PyTorch's ready-made attention
def attend_folded(q, k, v, mask):
    H = len(q) // len(mask)
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.repeat_interleave(H, dim=0))
    rows = torch.arange(len(q))
    return output, rows // H != rows % len(mask)

# %% wrong: says that all rows are misled as soon as there is more than one sequence
def attend_folded(q, k, v, mask):
    B, H = len(mask), len(q) // len(mask)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask.repeat_interleave(H, dim=0))
    return weights @ v, torch.full((B * H,), B > 1)

# %% wrong: marks by single numbers of the masks where they differ, (B * H, L_q, L_k), without any() over queries and keys
def attend_folded(q, k, v, mask):
    H = len(q) // len(mask)
    right, used = mask.repeat_interleave(H, dim=0), mask.repeat(H, 1, 1)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return masked_softmax(scores, right) @ v, right != used

# %% wrong: a row is misled only if all numbers of the two masks differ
def attend_folded(q, k, v, mask):
    H = len(q) // len(mask)
    right, used = mask.repeat_interleave(H, dim=0), mask.repeat(H, 1, 1)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return masked_softmax(scores, right) @ v, (right != used).flatten(1).all(dim=1)

# %% two mistakes: doesn't divide by the root of d_head; and misled is the opposite
def attend_folded(q, k, v, mask):
    H = len(q) // len(mask)
    weights = masked_softmax(q @ k.transpose(-2, -1), mask.repeat_interleave(H, dim=0))
    rows = torch.arange(len(q))
    return weights @ v, rows // H == rows % len(mask)

# %% two mistakes: keeps the wrong order of masks; and calls no row misled
def attend_folded(q, k, v, mask):
    H = len(q) // len(mask)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    full = mask[None].expand(H, *mask.shape).reshape(-1, *mask.shape[1:])
    return masked_softmax(scores, full) @ v, torch.zeros(len(q), dtype=torch.bool)

# %% right: unfolds B and H, broadcasts the mask over the heads, and finds misled rows by comparing masks
def attend_folded(q, k, v, mask):
    B = len(mask)
    q, k, v = (t.unflatten(0, (B, -1)) for t in (q, k, v))
    H = q.shape[1]
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
    output = masked_softmax(scores, mask[:, None].expand_as(scores)) @ v
    full = mask[:, None].expand_as(scores).flatten(0, 1)
    misled = (full != mask.repeat(H, 1, 1)).flatten(1).any(dim=1)
    return output.flatten(0, 1), misled

# %% right: a loop over the rows, with its own softmax
def attend_folded(q, k, v, mask):
    B = len(mask)
    H = len(q) // B
    outputs, misled = [], []
    for row in range(len(q)):
        scores = q[row] @ k[row].T / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~mask[row // H], float("-inf"))
        outputs.append(scores.softmax(dim=-1) @ v[row])
        misled.append(row % B != row // H)
    return torch.stack(outputs), torch.tensor(misled)

# %% right: repeats the mask along the queries and views it as rows; numbers the sequences for misled
def attend_folded(q, k, v, mask):
    B, L_q, L_k = mask.shape
    H = q.shape[0] // B
    scores = torch.bmm(q, k.mT) * q.shape[-1] ** -0.5
    weights = masked_softmax(scores, mask.repeat(1, H, 1).view(B * H, L_q, L_k))
    number = torch.arange(B)
    return torch.bmm(weights, v), number.repeat_interleave(H).ne(number.repeat(H))

# %% right: one sequence at a time through the broken function, which is right for one; misled by comparing the outputs
def attend_folded(q, k, v, mask):
    B = len(mask)
    parts = zip(q.chunk(B), k.chunk(B), v.chunk(B), mask.chunk(B))
    output = torch.cat([attend_folded_broken(*part) for part in parts])
    broken = attend_folded_broken(q, k, v, mask)
    return output, ((output - broken).abs() > 1e-5).flatten(1).any(dim=1)

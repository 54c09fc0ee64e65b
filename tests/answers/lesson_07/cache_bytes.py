# %% setup
import torch

from course_utils.masks import causal_mask

# %% wrong: counts only the keys and forgets that the values take the same room again
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    return num_layers * batch_size * num_kv_heads * d_head * length * bytes_per_number

# %% wrong: takes num_heads in place of twice num_kv_heads, which agrees with the example only because there are twice as many query heads there
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    return num_layers * batch_size * num_heads * d_head * length * bytes_per_number

# %% wrong: multiplies in float32 before turning to a whole number, so large caches are rounded to about seven digits
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    factors = torch.tensor([2, num_layers, batch_size, num_kv_heads, d_head, length, bytes_per_number], dtype=torch.float32)
    return int(factors.prod().item())

# %% two mistakes: always takes 4 bytes per number; and forgets the number of layers
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    return 2 * batch_size * num_kv_heads * d_head * length * 4

# %% right: multiplies with math.prod over a tuple
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    import math

    return math.prod((2, num_layers, batch_size, num_kv_heads, length, d_head, bytes_per_number))

# %% right: starts from the multi-head cache and divides by the group size at the end, exact in whole numbers
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    multi_head = 2 * num_layers * batch_size * num_heads * d_head * length * bytes_per_number
    return multi_head * num_kv_heads // num_heads

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask

# %% right: asks the numel of meta tensors of the cache's shape
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    cache = torch.empty(2, num_layers, batch_size, num_kv_heads, length, d_head, device="meta")
    return cache.numel() * bytes_per_number

# %% setup
import math

# %% wrong: keeps the queries as well, num_heads of them beside twice num_kv_heads
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    heads = num_heads + 2 * num_kv_heads
    return num_layers * batch_size * heads * d_head * length * bytes_per_number

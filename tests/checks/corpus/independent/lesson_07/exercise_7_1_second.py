# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask


# %% wrong: counts the query heads once instead of twice the key/value heads, which is the same number only when there are two query heads per key/value head
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    return num_layers * batch_size * num_heads * d_head * length * bytes_per_number


# %% wrong: forgets the number of layers, so it gives the cache of one layer
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    per_position = 2 * num_kv_heads * d_head * bytes_per_number
    return batch_size * length * per_position


# %% wrong: counts keys only, without the factor 2 for the values
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    numbers = num_layers * batch_size * num_kv_heads * length * d_head
    return numbers * bytes_per_number


# %% wrong: multiplies in float32, so the count is rounded once it is above about 16 million
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    sizes = torch.tensor([2, num_layers, batch_size, num_kv_heads, d_head, length, bytes_per_number], dtype=torch.float32)
    return int(sizes.prod().item())


# %% two mistakes: uses the query heads instead of the key/value heads; and forgets the batch size
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    return 2 * num_layers * num_heads * d_head * length * bytes_per_number


# %% right: adds up layer by layer in a loop, keys and values apart
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    total = 0
    for _ in range(num_layers):
        keys = batch_size * num_kv_heads * length * d_head
        values = keys
        total += (keys + values) * bytes_per_number
    return total


# %% right: asks the numel of meta tensors of the cache's shape
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    cache = torch.empty(2, num_layers, batch_size, num_kv_heads, length, d_head, device="meta")
    return cache.numel() * bytes_per_number

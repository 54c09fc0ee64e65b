# %% setup
import math
from functools import reduce
from operator import mul

import torch
from course_utils.masks import causal_mask


# %% wrong: counts the keys of every layer but the values only once for the whole model (num_layers + 1 tensors), right for one layer
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    one_tensor = batch_size * num_kv_heads * length * d_head
    keys = num_layers * one_tensor
    values = one_tensor
    return (keys + values) * bytes_per_number


# %% wrong: always takes 4 bytes per number (float32) instead of the argument bytes_per_number
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    numbers = 2 * num_layers * batch_size * num_kv_heads * length * d_head
    return numbers * 4


# %% wrong: takes the heads that are not key/value heads, num_heads - num_kv_heads, as the number of heads kept, right when that is half of the heads
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    kept_heads = num_heads - num_kv_heads
    return 2 * num_layers * batch_size * kept_heads * length * d_head * bytes_per_number


# %% wrong: forgets that every sequence of the batch has a cache of its own, so it gives the bytes for one sequence
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    per_token = 2 * num_layers * num_kv_heads * d_head * bytes_per_number
    return per_token * length


# %% two mistakes: counts the values only once for the whole model instead of in every layer; and always takes 4 bytes per number
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    one_tensor = batch_size * num_kv_heads * length * d_head
    return (num_layers * one_tensor + one_tensor) * 4


# %% right: lets the cache grow token by token and layer by layer, adding the bytes of one new key and one new value each time
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    new_key = new_value = batch_size * num_kv_heads * d_head * bytes_per_number
    return sum(new_key + new_value for _layer in range(num_layers) for _position in range(length))


# %% right: folds the sizes of the cache with a multiplication, bytes doubled by a shift instead of a factor 2
def cache_bytes(num_layers, batch_size, num_heads, num_kv_heads, d_head, length, bytes_per_number):
    one_layer = (batch_size, num_kv_heads, length, d_head)
    return reduce(mul, one_layer, num_layers * bytes_per_number) << 1

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: one layer in all places (list times number), so all share the same parameters
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList([make_layer()] * num_layers)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


# %% wrong: keeps the layers in a plain Python list, so an optimizer does not find their parameters
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = [make_layer() for _ in range(num_layers)]
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


# %% wrong: the norm acts after every layer, not only after the last; right only with one layer
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList(make_layer() for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = self.norm(layer(x, mask))
        return x


# %% wrong: makes one layer and copies it with deepcopy, so all start from the same numbers
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        from copy import deepcopy
        layer = make_layer()
        self.layers = nn.ModuleList([deepcopy(layer) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


# %% two mistakes: every layer gets the first input x instead of what the layer before gave (only the last one counts); and the mask reaches no layer but is replaced by an all-True one
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList([make_layer() for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        everything = torch.ones_like(mask)
        for layer in self.layers:
            out = layer(x, everything)
        return self.norm(out)


# %% right: layers as numbered modules with add_module, fetched with getattr
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.num_layers = num_layers
        for i in range(num_layers):
            self.add_module(f"layer_{i}", make_layer())
        self.last_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for i in range(self.num_layers):
            x = getattr(self, f"layer_{i}")(x, mask)
        return self.last_norm(x)


# %% right: a ModuleDict and functools.reduce
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleDict({str(i): make_layer() for i in range(num_layers)})
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        from functools import reduce
        return self.norm(reduce(lambda y, layer: layer(y, mask), self.layers.values(), x))

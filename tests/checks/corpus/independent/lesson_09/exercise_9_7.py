# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: keeps the layers in a plain Python list, so their parameters are not found
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = [make_layer() for _ in range(num_layers)]
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


# %% wrong: makes one layer and uses it num_layers times, so all places share their parameters
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList([make_layer()] * num_layers)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


# %% wrong: applies the last norm after every layer instead of once after the last
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList([make_layer() for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = self.norm(layer(x, mask))
        return x


# %% wrong: gives every layer the original x, so only the last layer has a say
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(make_layer())
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            out = layer(x, mask)
        return self.norm(out)


# %% wrong: detaches x before each layer, so only the last layer gets a gradient
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList([make_layer() for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x.detach(), mask)
        return self.norm(x)


# %% wrong: calls make_layer in forward, so every call works with new layers and none is registered
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.make_layer = make_layer
        self.num_layers = num_layers
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for _ in range(self.num_layers):
            x = self.make_layer()(x, mask)
        return self.norm(x)


# %% two mistakes: makes one layer too few (range from 1); and norms the input before the first layer instead of the output after the last
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList([make_layer() for _ in range(1, num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask)
        return x


# %% right: registers each layer under a name of its own with add_module
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.names = []
        for number in range(num_layers):
            self.add_module(f"layer_{number}", make_layer())
            self.names.append(f"layer_{number}")
        self.final = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for name in self.names:
            x = getattr(self, name)(x, mask)
        return self.final(x)


# %% right: nn.Sequential used only as a container, folded with reduce
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.body = nn.Sequential(*(make_layer() for _ in range(num_layers)))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        from functools import reduce

        return self.norm(reduce(lambda y, layer: layer(y, mask), self.body, x))


# %% right: recursion, the first layer and a rest that is a chain of the same kind, the norm at the outer end
class Chain(nn.Module):
    def __init__(self, make_layer, length):
        super().__init__()
        self.first = make_layer()
        self.rest = Chain(make_layer, length - 1) if length > 1 else None

    def forward(self, x, mask):
        x = self.first(x, mask)
        return x if self.rest is None else self.rest(x, mask)


class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.chain = Chain(make_layer, num_layers)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        return self.norm(self.chain(x, mask))


# %% wrong: named in the review: makes the layers in forward
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.make_layer, self.num_layers = make_layer, num_layers
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in [self.make_layer() for _ in range(self.num_layers)]:
            x = layer(x, mask)
        return self.norm(x)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: applies the norm after every layer instead of only after the last, right for one layer
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList(make_layer() for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = self.norm(layer(x, mask))
        return x


# %% wrong: registers every layer under the same attribute name and keeps the order in a Python list, so all layers run but only the parameters of the last are found; right for one layer
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.order = []
        for _ in range(num_layers):
            self.layer = make_layer()
            self.order.append(self.layer)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.order:
            x = layer(x, mask)
        return self.norm(x)


# %% wrong: makes the norm without parameters (elementwise_affine=False), so scale and shift of the norm are missing from parameters()
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList([make_layer() for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model, elementwise_affine=False)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


# %% wrong: puts one more residual connection around every layer, x + layer(x, mask)
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = nn.ModuleList([make_layer() for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = x + layer(x, mask)
        return self.norm(x)


# %% two mistakes: keeps the layers in a Python list, where their parameters are not found; and applies the norm after every layer
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.layers = [make_layer() for _ in range(num_layers)]
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for layer in self.layers:
            x = self.norm(layer(x, mask))
        return x


# %% right: registers the layers by add_module under numbered names and folds them with functools.reduce
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.num_layers = num_layers
        for i in range(num_layers):
            self.add_module(f"layer_{i}", make_layer())
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        from functools import reduce

        places = (getattr(self, f"layer_{i}") for i in range(self.num_layers))
        return self.norm(reduce(lambda y, layer: layer(y, mask), places, x))


# %% right: a ModuleDict for the layers and the norm together, walked through by recursion
class Stack(nn.Module):
    def __init__(self, make_layer, num_layers, d_model):
        super().__init__()
        self.parts = nn.ModuleDict()
        while len(self.parts) < num_layers:
            self.parts[str(len(self.parts))] = make_layer()
        self.parts["norm"] = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        def up_to(i):
            return x if i < 0 else self.parts[str(i)](up_to(i - 1), mask)

        return self.parts["norm"](up_to(len(self.parts) - 2))

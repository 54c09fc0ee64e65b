"""The widget of lesson 07: how large the key/value cache of a published model is, and what sharing heads saves."""

from dataclasses import dataclass

import ipywidgets
from matplotlib.figure import Figure

from course_utils import plotting

from .live_figure import WIDE, LiveFigure

GIB = 2**30


@dataclass(frozen=True)
class ModelShape:
    """What the size of a cache depends on, and where it was published."""

    name: str
    num_layers: int
    num_heads: int
    num_kv_heads: int
    d_head: int
    source: str

    def cache_bytes(self, batch_size: int, length: int, bytes_per_number: int, num_kv_heads: int | None = None) -> int:
        """Bytes of all keys and values; ``num_kv_heads`` None: as published."""
        heads = self.num_kv_heads if num_kv_heads is None else num_kv_heads
        return 2 * self.num_layers * batch_size * heads * length * self.d_head * bytes_per_number


MODELS = (
    ModelShape("GPT-2 XL", 48, 25, 25, 64, "model card openai-community/gpt2-xl, config.json (n_embd 1600)"),
    ModelShape("Falcon 7B", 32, 71, 1, 64, "model card tiiuae/falcon-7b, config.json (hidden_size 4544, multi_query)"),
    ModelShape("Llama 2 7B", 32, 32, 32, 128, "model card meta-llama/Llama-2-7b-hf, config.json"),
    ModelShape("Llama 2 70B", 80, 64, 8, 128, "model card meta-llama/Llama-2-70b-hf, config.json"),
    ModelShape("Mistral 7B", 32, 32, 8, 128, "Jiang et al., Mistral 7B, 2023, table 1"),
    ModelShape("Llama 3 8B", 32, 32, 8, 128, "Llama Team, The Llama 3 Herd of Models, 2024, table 3"),
    ModelShape("Llama 3.1 405B", 126, 128, 8, 128, "Llama Team, The Llama 3 Herd of Models, 2024, table 3"),
)


def cache_calculator() -> LiveFigure:
    """The cache of a published model as it is, with a key/value head for every head, and with only one. For lesson 07."""
    shapes = {shape.name: shape for shape in MODELS}

    def draw(figure: Figure, model: str, batch_size: int, length: int, bytes_per_number: int) -> None:
        shape = shapes[model]
        heads = {"MHA": shape.num_heads, "as published": shape.num_kv_heads, "MQA": 1}
        sizes = [shape.cache_bytes(batch_size, length, bytes_per_number, h) / GIB for h in heads.values()]
        ax = figure.add_axes((0.32, 0.2, 0.64, 0.6))
        labels = [f"{name}: {h} key/value head{'s' * (h > 1)}" for name, h in heads.items()]
        ax.barh(labels, sizes, color=plotting.COLORS[:3], height=0.6)
        for row, size in enumerate(sizes):
            ax.text(size + 0.01 * max(sizes), row, f"{size:.3g} GiB" if size < 1000 else f"{size:.0f} GiB", va="center")
        ax.set(xlabel="keys and values of all layers (GiB)", xlim=(0, 1.2 * max(sizes)))
        ax.invert_yaxis()
        figure.text(
            0.02,
            0.9,
            f"{model}: {shape.num_layers} layers, {shape.num_heads} heads of size {shape.d_head}; "
            f"{batch_size} sequence{'s' * (batch_size > 1)} of {length:,} tokens, {bytes_per_number} bytes per number",
            fontsize=10,
        )

    controls = {
        "model": ipywidgets.Dropdown(options=list(shapes), value="Llama 3 8B", description="model", **WIDE),
        "batch_size": ipywidgets.IntSlider(8, min=1, max=64, description="sequences (batch)", **WIDE),
        "length": ipywidgets.SelectionSlider(
            options=[(f"{2**n:,}", 2**n) for n in range(8, 18)], value=8192, description="tokens in each", **WIDE
        ),
        "bytes_per_number": ipywidgets.SelectionSlider(
            options=[1, 2, 4], value=2, description="bytes per number", **WIDE
        ),
    }
    return LiveFigure("size of the key/value cache of published models", draw, controls, (8.6, 2.8))

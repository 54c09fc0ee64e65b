"""The decoder-only model against Hugging Face's Llama on the CPU: time and peak memory as ratios in one run.

Both have the same sizes, the same weights and PyTorch's fused attention. A ratio below 1: ours is faster, or takes less.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.decoding import generate
from course_utils.models import DecoderConfig, DecoderLM, count_parameters

from .measure import in_turn, peak_bytes, ratio, threads

SIZES = {"vocab_size": 512, "num_layers": 4, "d_model": 256, "d_ff": 688, "num_heads": 8, "num_kv_heads": 2}
CONFIG = DecoderConfig(**SIZES, max_len=1024, tie_embeddings=True)
TRAINING = ((32, 64), (8, 256), (2, 1024))  # (B, L)
NEW = 128  # tokens generated
PROMPTS = (16, 512)
RENAMED = {  # ours: theirs, of what has another name in Hugging Face's model
    "self_attention.": "self_attn.",
    "attention_norm.": "input_layernorm.",
    "feed_forward_norm.": "post_attention_layernorm.",
    "feed_forward.": "mlp.",
    "embedding.": "embed_tokens.",
    "generator.": "lm_head.",
}


def hugging_face(ours: DecoderLM) -> nn.Module:
    """Their model with our weights.

    Raises:
        RuntimeError: A weight is left over or missing.
    """
    from transformers.models.llama import modeling_llama as llama

    c = ours.config
    config = llama.LlamaConfig(
        vocab_size=c.vocab_size,
        hidden_size=c.d_model,
        intermediate_size=c.d_ff,
        num_hidden_layers=c.num_layers,
        num_attention_heads=c.num_heads,
        num_key_value_heads=c.num_kv_heads or c.num_heads,
        rms_norm_eps=c.norm_eps,
        rope_theta=c.rope_base,
        max_position_embeddings=c.max_len,
        tie_word_embeddings=c.tie_embeddings,
        attn_implementation="sdpa",
        bos_token_id=None,
        eos_token_id=None,
    )
    theirs, weights = llama.LlamaForCausalLM(config), {}
    for name, value in ours.state_dict().items():
        for old, new in RENAMED.items():
            name = name.replace(old, new)
        weights[name if name.startswith("lm_head.") else f"model.{name}"] = value
    theirs.load_state_dict(weights)
    return theirs


def step(model: nn.Module, scores: Callable[[Tensor], Tensor], tokens: Tensor) -> Callable[[], None]:
    """One training step: forward, cross-entropy of the next token, backward, Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def action() -> None:
        logits = scores(tokens[:, :-1])  # (B, L, V)
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return action


def compared(name: str, ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> None:
    """Print one line: ours in milliseconds, the ratio of times and its spread, the ratio of peak memory."""
    times = in_turn({"ours": ours, "theirs": theirs}, repeats)
    memory = peak_bytes(ours) / peak_bytes(theirs)
    ratios = sorted(a / b for a, b in zip(times["ours"], times["theirs"], strict=True))
    spread = f"{ratios[repeats // 4]:.2f} to {ratios[-1 - repeats // 4]:.2f}"
    middle = 1000 * sorted(times["ours"])[repeats // 2]
    print(f"{name:34}{middle:10.1f}{ratio(times, 'ours', 'theirs'):8.2f}   {spread:14}{memory:8.2f}", flush=True)


def main(repeats: int = 15) -> None:
    """Print the table."""
    torch.manual_seed(0)
    ours = DecoderLM(CONFIG)
    theirs = hugging_face(ours)
    print(f"{threads()}; {count_parameters(ours):,} parameters")
    print(f"{'':34}{'ours (ms)':>10}{'time':>8}   {'middle half':14}{'memory':>8}")
    rng = torch.Generator().manual_seed(0)
    for batch, length in TRAINING:
        tokens = torch.randint(CONFIG.vocab_size, (batch, length + 1), generator=rng)
        actions = step(ours, ours, tokens), step(theirs, lambda x: theirs(x, use_cache=False).logits, tokens)
        compared(f"training step ({batch}, {length})", *actions, repeats)
    ours.eval(), theirs.eval()
    with torch.no_grad():
        tokens = torch.randint(CONFIG.vocab_size, (1, 1024), generator=rng)
        compared("forward (1, 1024)", lambda: ours(tokens), lambda: theirs(tokens, use_cache=False).logits, repeats)
        for length in PROMPTS:
            prompt = tokens[:, :length]
            options = {"max_new_tokens": NEW, "do_sample": False, "pad_token_id": 0}
            compared(
                f"{NEW} tokens generated after {length}",
                lambda prompt=prompt: generate(ours, prompt, max_new_tokens=NEW, temperature=0.0),
                lambda prompt=prompt, options=options: theirs.generate(prompt, **options),
                max(5, repeats // 3),
            )


if __name__ == "__main__":
    main()

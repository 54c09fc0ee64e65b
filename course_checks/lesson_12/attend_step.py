"""12.6 · Find the bug."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for B, H, d_head, d_v, pieces, dtype, *labels in (
        (1, 1, 2, 5, [3, 1], torch.float32),
        (2, 3, 4, 5, [6, 1, 1, 2], torch.float32),
        (3, 2, 6, 4, [1, 5, 2], torch.float64),
        (2, 4, 6, 5, [7, 3], torch.float32),
        (2, 3, 6, 5, [4, 1, 3], torch.float32, "another text is begun in between"),
    ):
        L, frequency = sum(pieces), 100.0 ** (-torch.arange(0, d_head, 2).double() / d_head)
        angle = torch.arange(L + 3)[:, None] * frequency
        query, key = (1.5 * torch.randn(B, H, L, d_head, generator=rng).to(dtype) for _ in range(2))
        value = torch.randn(B, H, L, d_v, generator=rng).to(dtype)
        tables = {"cos": angle.cos().to(dtype), "sin": angle.sin().to(dtype)}
        arguments = {"query": query, "key": key, "value": value, **tables, "pieces": pieces}
        made.append(Case(*labels, **arguments, driver={"beside": bool(labels)}))
    return made


EXERCISE = Exercise(
    cases,
    returns=("outputs", "keys", "values"),
    driver="drive_steps",
    advice="which position does the first new token have (cos and sin), and which keys may it see (the mask)? Print both.",
)

"""12.3 · Generate with a cache."""

import re

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import DECODING
from ..deciding.wrong_answer import symptom
from ..running.drivers.lesson_12 import small_model
from ..running.encode import decode


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        drawn(rng, 1, 3, 2, 5, [2, 1, 4]),
        drawn(rng, 2, 4, 6, 11, [4, 2, 6]),
        drawn(rng, 3, 5, 4, 13, [2, 2, 8]),
        drawn(rng, 1, 2, 6, 3, [2, 1, 6]),  # every id comes before the end: none of them is an end symbol
        drawn(rng, 2, 11, 1, 7, [2, 1, 4], "one new token is asked for"),
    ]


def drawn(rng, batch, length, new, vocab, heads, *labels):
    """Drawn until every choice is clear, whatever the rounding, and the tokens vary: of three ids, all before the end."""
    while True:
        prompt = torch.randint(0, vocab, (batch, length), generator=rng)
        model = {"vocab": vocab, "heads": heads, "seed": int(torch.randint(10**6, (), generator=rng))}
        case = Case(*labels, driver=model, prompt=prompt, max_new_tokens=new)
        model, tokens = small_model(case), prompt
        with torch.no_grad():
            for _ in range(new):
                tokens = torch.cat((tokens, model(tokens)[:, -1:].argmax(-1)), dim=1)
            best = model(tokens)[:, length - 1 : -1].topk(2, dim=-1).values
        tails = {tuple(row) for row in tokens[:, length:].tolist()}
        varied = all(len(set(tail)) >= min(3, new) and (vocab > 3 or len(set(tail[:-1])) == vocab) for tail in tails)
        if (best[..., 0] - best[..., 1]).min() > 0.02 and varied and len(tails) == batch:
            return case


def calls_of_the_model(answer):
    """What the cache has no room for; what was fed again; too many calls or too few."""
    case, seen = answer.cases[answer.first], answer.observed[answer.first]
    if seen["outcome"] == "raised":
        return overflow(seen["message"])
    value = decode(seen["value"]) if seen["outcome"] == "returned" else ()
    shapes, used = value[1:] if isinstance(value, tuple) and len(value) == 3 else ([], [])
    if not shapes or not all(len(shape) == 2 for shape in shapes):
        return None
    (B, L), new, calls = case["prompt"].shape, case["max_new_tokens"], len(shapes)
    longest = max((size for _, size in shapes[1:]), default=0)
    if longest > shapes[0][1] and all(used):
        return symptom(f"after the prefill a call was fed {longest} positions: the text so far was fed again.", NEWEST)
    if calls > new and all(size == 1 for _, size in shapes[:L]) and L > 1:
        return symptom("the prompt was fed one token at a time, one call each.", "feed it whole, in the first call.")
    if calls > new and B > 1 and all(batch == 1 for batch, _ in shapes):
        return symptom("each prompt was continued by itself, with calls of its own.", "feed all prompts at once.")
    return (
        symptom(f"the model was called {calls} time{'s' * (calls != 1)}, for {new} new tokens.", COUNT)
        if calls != new
        else None
    )


def overflow(message):
    if "was called more than" in message:
        return symptom("your loop does not end when the last token is there.", COUNT)
    match = re.match(r"cache overflow: (\d+) of (\d+) positions are written and (\d+) more", message)
    written, room, more = map(int, match.groups()) if match else (0, 0, 0)
    if written and more > 1:
        return symptom(f"after the prefill a call was fed {more} positions: the text so far was fed again.", NEWEST)
    looks_like = f"the cache was started with room for {room} positions: number {written + more} has no place there."
    return symptom(looks_like, "the cache holds prompt and new tokens: start it with room for both.") if match else None


NEWEST = "after the prefill feed only the newest token, shape (B, 1)."
COUNT = "max_new_tokens tokens: the prefill gives the first, and max_new_tokens - 1 further calls the rest."

EXERCISE = Exercise(
    cases,
    returns=("tokens", "shapes fed to the model", "calls with a cache"),
    driver="drive_generation",
    off_limits=DECODING,
    symptoms=(calls_of_the_model,),
    pairs=30,
    advice="compare with a loop without a cache: the tokens must be the same; then print the shape of what you feed.",
)

"""Generate with a cache."""

import re

import torch

from ....probes.codec import decode
from ....probes.lessons.lesson_12 import small_model
from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    return [
        _drawn(rng, 1, 3, 2, 5, [2, 1, 4]),
        _drawn(rng, 2, 4, 6, 11, [4, 2, 6]),
        _drawn(rng, 3, 5, 4, 13, [2, 2, 8]),
        _drawn(rng, 1, 2, 6, 3, [2, 1, 6]),  # every id comes before the end: none of them is an end symbol
    ]


def _drawn(rng, batch, length, new, vocab, heads):
    """Drawn until every choice is clear, whatever the rounding, and the tokens vary: of three ids, all before the end."""
    while True:
        prompt = torch.randint(0, vocab, (batch, length), generator=rng)
        sizes = {"_vocab": vocab, "_heads": heads, "_seed": int(torch.randint(10**6, (), generator=rng))}
        case = Case(prompt=prompt, max_new_tokens=new, **sizes)
        model = small_model(case)
        with torch.no_grad():
            said = _uncached(model, prompt, new)
            best = model(said)[:, length - 1 : -1].topk(2, dim=-1).values
        tails = {tuple(row) for row in said[:, length:].tolist()}
        varied = all(len(set(tail)) >= min(3, new) and (vocab > 3 or len(set(tail[:-1])) == vocab) for tail in tails)
        if (best[..., 0] - best[..., 1]).min() > 0.02 and varied and len(tails) == batch:
            return case


def _uncached(model, prompt, new):
    for _ in range(new):
        prompt = torch.cat((prompt, model(prompt)[:, -1:].argmax(-1)), dim=1)
    return prompt


def _generate(
    model, prompt, new, *, prefill=lambda prompt: [prompt], prefilled=lambda cache: cache,
    tail=lambda token, tokens: token, pick=lambda logits: logits[:, -1:].argmax(-1), steps=lambda new: new,
    renew=lambda cache, start: cache, stop=lambda token: False, last=lambda model, token, cache: None,
    finish=lambda tokens, length: tokens,
):  # fmt: skip
    """Greedy generation through a cache; each keyword is one step."""

    def start():
        return model.start_cache(len(prompt), 4 * (prompt.shape[1] + new))

    cache, tokens, token = start(), prompt, None
    for step in range(steps(new)):
        cache = renew(cache, start) if step else cache
        pieces, used = ([tail(token, tokens)], cache) if step else (prefill(prompt), prefilled(cache))
        token = pick([model(piece, cache=used) for piece in pieces][-1])
        tokens = torch.cat((tokens, token), dim=1)
        if stop(token):
            break
    last(model, token, cache)
    return finish(tokens, prompt.shape[1])


def _fed_too_much(view):
    """What a cache has no room for, or what a later call was fed, says that old positions were fed again."""
    seen = view.cases[view.first]
    if seen["outcome"] == "raised":
        if "your loop still goes on" in seen["message"]:
            return Told("symptom", "endless", "your loop does not end when the last token is there.", _COUNT)
        found = re.match(r"cache overflow: (\d+) of (\d+) positions are written and (\d+) more", seen["message"])
        written, room, more = map(int, found.groups()) if found else (0, 0, 0)
        if written and more > 1:
            return _again(more)
        said = f"the cache was started with room for {room} positions: number {written + more} has no place there."
        advice = "the cache holds prompt and new tokens: start it with room for both."
        return Told("symptom", "too little room", said, advice) if found else None
    calls = decode(seen["value"])[1:] if seen["outcome"] == "returned" else ()
    if len(calls) != 2 or not calls[0] or not all(calls[1]):
        return None
    sizes = [shape[1] for shape in calls[0] if len(shape) == 2]
    return next((_again(size) for size in sizes[1:] if size > sizes[0]), None)


def _again(size):
    said = f"after the prefill a call was fed {size} positions: the text so far was fed again."
    return Told("symptom", "text fed again", said, _NEWEST)


_LAST = "greedy takes the largest of the last position's logits: model(...)[:, -1].argmax(dim=-1)."
_COUNT = "max_new_tokens tokens: the prefill gives the first, and max_new_tokens - 1 further calls the rest."
_PREFILL = "feed the whole prompt in the first call, with the cache: its last logits give the first new token."
_NEWEST = "after the prefill feed only the newest token, shape (B, 1)."

EXERCISE = Exercise(
    answer="generate_greedy", cases=_cases, reference=_generate,
    returns=("tokens", "shapes fed to the model", "calls with a cache"),
    faults=(
        Fault("whole text fed", "the whole text was fed again at each step, though the cache holds it already.", _NEWEST,
            tail=lambda token, tokens: tokens),
        *faults_of("prefill", _PREFILL,
            ("last prompt token fed twice", "the last token of the prompt was fed twice: in the prefill, and once more.",
             lambda prompt: (prompt, prompt[:, -1:])),
            ("prefill in two calls", "the prompt was fed in two calls, its last token apart.",
             lambda prompt: (prompt[:, :-1], prompt[:, -1:])),
            ("not prefilled", "the first call got the last token of the prompt alone: the cache knows nothing of the rest.",
             lambda prompt: [prompt[:, -1:]]),
            ("prompt one token at a time", "the prompt was fed one token at a time, one call each.",
             lambda prompt: prompt.split(1, dim=1))),
        Fault("prefill without the cache", "the prompt was fed without the cache; the later steps know nothing of it.",
            _PREFILL, prefilled=lambda cache: None),
        Fault("no cache", "the cache was not used: every step computes the whole text again (the tokens are right).",
            "make a cache with model.start_cache and hand it to every call as cache=.", whole=_uncached),
        Fault("each prompt by itself", "each prompt was continued by itself: that is a call for each of them at every step.",
            "feed all prompts at once: one cache, one call with (B, L), then calls with (B, 1).",
            whole=lambda model, prompt, new: torch.cat([_generate(model, row, new) for row in prompt.split(1)])),
        Fault("a new cache each step", "a new cache was made at every step; what was kept is lost.",
            "call start_cache once, before the loop.", renew=lambda cache, start: start()),
        Fault("one call too many", "after the last token the model was called once more, for nothing.", _COUNT,
            last=lambda model, token, cache: model(token, cache=cache)),
        Fault("one too few", "one new token is missing.", _COUNT, steps=lambda new: new - 1),
        Fault("one too many", "one token too many.", _COUNT, steps=lambda new: new + 1),
        *faults_of("pick", _LAST,
            ("first logits", "the logits of the first position that was fed were taken: after the prefill they belong to "
             "the first token of the prompt.", lambda logits: logits[:, :1].argmax(-1)),
            ("argmin", "the least probable token was taken.", lambda logits: logits[:, -1:].argmin(-1)),
            ("drawn", "tokens were drawn at random.", lambda logits: torch.multinomial(logits[:, -1].softmax(-1), 1)),
            ("first row's token for all", "the token of the first sequence was given to all sequences.",
             lambda logits: logits[:1, -1:].argmax(-1).expand(len(logits), 1)),
            ("argmax over the batch", "the maximum was taken over the batch, not over the vocabulary.",
             lambda logits: logits[:, -1].argmax(0, keepdim=True).T[: len(logits)]),
            ("axis lost", "the new tokens have shape (B,); cat and the model need (B, 1).",
             lambda logits: logits[:, -1].argmax(-1), "keep the axis: argmax(dim=-1, keepdim=True).")),
        *faults_of("stop", "no id is an end symbol here: every prompt gets max_new_tokens new tokens.", *(
            (f"stops at id {end}", f"generation stopped when the id {end} came up.",
             lambda token, end=end: bool((token == end).all())) for end in range(3))),
        *faults_of("finish", "return prompt and new tokens together: (B, L + max_new_tokens).",
            ("new tokens only", "only the new tokens came back.", lambda tokens, length: tokens[:, length:]),
            ("last token only", "only the last token came back.", lambda tokens, length: tokens[:, -1:])),
    ),
    symptoms=(_fed_too_much,),
    advice="compare with a loop without a cache: the tokens must be the same; then print the shape of what you feed.",
    tries=60,
)  # fmt: skip

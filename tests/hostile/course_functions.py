"""Ways to come by the course's own functions, and exercises in which they would be worth points were their bodies there.

``test_course_functions.py`` holds two things: with the whole library and no guard every one of these answers is right, and in the
grader none of them earns anything.
"""

from handed_in import ROOT, as_bytes, blank, position

from course_checks.catalogue import catalogue_entry

STEMS = {path.name[:2]: path.stem for path in sorted((ROOT / "exercises").glob("*.ipynb"))}

# A way binds {f} to {module}.{name}; every one but the first hides it from a reader.
WAYS = {
    "an import": "from {module} import {name} as {f}",
    "a default argument": "import {module} as m\ndef {f}(*a, own=m.{name}, **k):\n    return own(*a, **k)",
    "getattr by another name": "import {module} as m\ng = getattr\n{f} = g(m, '{name}')",
    "a written file": (
        "import sys\nopen('/tmp/own_{f}.py', 'w').write('from {module} import {name} as own')\n"
        "sys.path.append('/tmp')\nfrom own_{f} import own as {f}"
    ),
    "pydoc.locate": "import pydoc\n{f} = pydoc.locate('{module}.{name}')",
    "a dead method of its name": (
        "import {module} as m\nclass Dead:\n    def {name}(self):\n        pass\n{f} = getattr(m, Dead.{name}.__name__)"
    ),
    "sys.modules": "import sys, {module}\nfrom sys import modules\n{f} = modules['{module}'].__dict__['{name}']",
    "exec": "exec('from {module} import ' + '{name} as {f}')",
    "importlib": "import importlib\n{f} = vars(importlib.import_module('{module}'))['{name}']",
    "a pickle": "import pickle\n{f} = pickle.loads(b'c{module}\\n{name}\\n.')",
    "the garbage collector": (
        "import gc, {module}\n{f} = [o for o in gc.get_objects() if type(o).__name__ in ('function', 'type')\n"
        "    and o.__name__ == '{name}' and o.__module__.startswith('course_utils')][0]"
    ),
    "its source": (
        "import inspect, sys, {module} as m\nspace = dict(vars(sys.modules[m.{name}.__module__]))\n"
        "exec(inspect.getsource(m.{name}), space)\n{f} = space['{name}']"
    ),
    "its file": (
        "import sys, {module} as m\nspace = dict(vars(sys.modules[m.{name}.__module__]))\n"
        "exec(open(space['__file__']).read(), space)\n{f} = space['{name}']"
    ),
    "runpy": "import runpy\n{f} = runpy.run_module('{module}')['{name}']",
    "import *": "from {module} import *\n{f} = {name}",
    "a thread": (
        "import threading, {module} as m\nfound = []\none = threading.Thread(target=lambda: found.append(m.{name}))\n"
        "one.start(); one.join()\n{f} = found[0]"
    ),
    "a data class": (
        "import dataclasses, {module} as m\n@dataclasses.dataclass\nclass Held:\n"
        "    own: object = dataclasses.field(default_factory=lambda: m.{name})\n{f} = Held().own"
    ),
}

F = "{f}"
SIMILARITY, ATTENTION = "course_utils.similarity", "course_utils.attention"
MASKS, HEADS, POSITIONS = "course_utils.masks", "course_utils.multi_head", "course_utils.positions"
SEARCH = "course_utils.decoding.search"
ROWS = "q[:, :, None].expand(-1, -1, k.shape[1], -1), k[:, None].expand(-1, q.shape[1], -1, -1)"
STEPS = """
class S:
    def __init__(self, s): self.s = s
    def reorder(self, rows): return S(self.s[rows])
class M:
    def __init__(self, step, state): self.step, self.state = step, state
    def start_decoding(self, source, max_len): return S(self.state)
    def decode_step(self, state, tokens):
        scores, new = self.step(tokens, state.s)
        return scores.log_softmax(-1), S(new)
def greedy_decode(step, state, start_id, end_id, pad_id, max_len):
    source = torch.zeros(len(state), 1, dtype=torch.long)
    return {f}(M(step, state), source, max_len=max_len, start_id=start_id, end_id=end_id, pad_id=pad_id).tokens
"""
# Exercise -> where the course's function is, and an answer made of it.
WORTH = {
    "0.2": ("course_utils.tokenizers", "pad", "lambda s, p: (lambda t: torch.where(t < 0, p, t))({f}([[i + 1 for i in x] for x in s]) - 1)"),
    "0.6": (HEADS, "split_heads", F),
    "1.1": (SIMILARITY, "similarity_matrix", "lambda a, b: {f}(a.reshape(1, -1), b.reshape(1, -1))[0, 0]"),
    "1.2": (SIMILARITY, "normalize", "lambda a, b: ({f}(a) * {f}(b)).sum(-1)"),
    "1.4": (SIMILARITY, "dot_product", f"lambda q, k: {{f}}({ROWS})"),
    "1.5": (SIMILARITY, "nearest_neighbors", "lambda q, keys, k: {f}(q, keys, k)[1]"),
    "1.6": ("course_utils.datasets.word_vectors", "cooccurrence_counts",
        "lambda words, known, window, r: (lambda c: (lambda U, s, _: U[:, :r] * s[:r].sqrt())(*torch.linalg.svd("
        "(c * c.sum() / c.sum(0) / c.sum(1, keepdim=True)).log().clamp(min=0))))({f}(words, known, window))"),
    "2.1": (ATTENTION, "masked_softmax", F),
    "3.1": (ATTENTION, "scaled_dot_product_attention",
        "lambda s, h, W_q, W_k, w_v, m: tuple(x[:, 0] for x in {f}(s[:, None, :1] * 0, h[..., :1] * 0, h, m[:, None], "
        "score_bias=(torch.tanh((s @ W_q.T)[:, None] + h @ W_k.T) @ w_v)[:, None]))"),
    "3.4": (SEARCH, "greedy_decode", STEPS),
    "4.1": (ATTENTION, "scaled_dot_product_attention", F),
    "5.1": (MASKS, "padding_mask", F),
    "5.2": ("course_utils.widgets.mask_composer", "compose_mask", "lambda L_q, L_k: {f}(L_q, L_k, True, 0, 0, True)"),
    "5.5": (ATTENTION, "masked_softmax", F),
    "6.1": (HEADS, "split_heads",
        "lambda x, H: tuple({f}(part.flatten(2), H) for part in x.unflatten(-1, (H, 3, -1)).unbind(3))"),
    "6.2": (HEADS, "split_heads", "lambda x: {f}(x.reshape(x.shape[0], x.shape[2], -1), x.shape[1])"),
    "7.2": ("course_utils.kv_cache", "KVCache",
        "type('Cache', (), {{'__new__': lambda cls, *sizes, **named: {f}(*sizes, **named)}})"),
    "8.1": (POSITIONS, "SinusoidalPositions", "lambda x, n: (x @ {f}(x.shape[1], n).table.to(x).T).argmax(-1)"),
    "8.2": (POSITIONS, "shift_matrix", F),
    "10.1": (MASKS, "sliding_window_mask",
        "lambda s, t, p: ((s != p)[:, None, None], (t != p)[:, None, None] & {f}(t.shape[1], window=t.shape[1]))"),
    "12.4": ("course_utils.decoding.sampling", "sampling_distribution",
        "lambda logits, temperature, k, p: {f}(logits, temperature=temperature, top_k=k, top_p=p)"),
    "14.6": ("course_utils.linear_attention", "chunked_form",
        "lambda q, k, v, decay, size, state: {f}(q, k, v, chunk_size=size, decay=decay, state=state)"),
    "15.2": ("course_utils.distributed.partial_attention", "merge", F),
    "15.6": ("course_utils.distributed.layouts", "zigzag_order",
        "lambda L, P: (lambda order: (order.view(P, -1), order.argsort()))({f}(L, P))"),
}  # fmt: skip


def borrowed(number: str, way: str) -> str:
    """The text of an answer cell."""
    module, name, made = WORTH[number]
    f = "own_" + number.replace(".", "_")
    text = WAYS[way].format(module=module, name=name, f=f)
    made = made.format(f=f)
    return f"{text}\n{made}" if made.startswith("\n") else f"{text}\n{catalogue_entry(number).answer} = {made}"


def shared_out() -> dict[str, str]:
    """Exercise -> a way; every way is used."""
    ways, fixed = list(WAYS), ("5.2",)  # there the module's name stands for a function in its package
    free = [number for number in WORTH if number not in fixed]
    return dict.fromkeys(fixed, ways[0]) | {number: ways[place % len(ways)] for place, number in enumerate(free)}


def notebooks() -> dict[str, tuple[str, bytes]]:
    """Name -> lesson and file: each lesson's exercises, each answered by another way of borrowing."""
    files, chosen = {}, shared_out()
    for lesson, stem in STEMS.items():
        numbers = [number for number in chosen if int(number.split(".")[0]) == int(lesson)]
        notebook = blank(stem)
        for number in numbers:
            cell = notebook["cells"][position(notebook, "answer-" + number.replace(".", "-"))]
            cell["source"] = borrowed(number, chosen[number])
        files[f"{lesson}: {', '.join(chosen[number] for number in numbers)}"] = (lesson, as_bytes(notebook))
    return files

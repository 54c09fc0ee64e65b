"""Multi-head attention."""

import torch

from ....probes.observe import observe_case
from ...exercise import Case, Exercise, Fault
from ...kit.heads import FACTOR_FAULTS, MERGE_FAULTS, SPLIT_FAULTS, WEIGHING_FAULTS, merge, split, untransposed
from ...kit.masked import HIDING_FAULTS
from ...kit.parts import faults_of
from ...symptoms.view import Told, View


def _hidden(scores, mask):
    return scores.masked_fill(~mask, -torch.inf)


def multi_head_attention(
    query, memory, params, num_heads, mask, *, project=lambda x, weight, bias: x @ weight.T + bias,
    sources=("query", "memory", "memory"), names=("q_proj", "k_proj", "v_proj"), split=split,
    factor=lambda q, k, query: q.shape[-1] ** -0.5, read=lambda mask: mask, hide=_hidden,
    weigh=lambda scores: scores.softmax(-1), after=lambda weights, mask: weights, merge=merge,
    last=lambda merged, weight, bias, num_heads: merged @ weight.T + bias,
):  # fmt: skip
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2); each keyword is one step. Returns output and weights."""
    given = {"query": query, "memory": memory}
    q, k, v = (
        split(project(given[source], params[f"{name}.weight"], params[f"{name}.bias"]), num_heads)
        for source, name in zip(sources, names, strict=True)
    )
    scores = q @ k.transpose(-2, -1) * factor(q, k, query)
    mask = None if mask is None else read(mask)
    weights = weigh(scores if mask is None else hide(scores, mask))
    weights = weights if mask is None else after(weights, mask)
    merged = merge(weights @ v)
    return last(merged, params["o_proj.weight"], params["o_proj.bias"], num_heads), weights


def _parameters(d_in, d_model, rng, dtype):
    params = {}
    for name in ("q_proj", "k_proj", "v_proj"):
        params[f"{name}.weight"] = 1.3 * torch.randn(d_model, d_in, generator=rng, dtype=dtype) / d_in**0.5
        params[f"{name}.bias"] = 0.5 * torch.randn(d_model, generator=rng, dtype=dtype)
    params["o_proj.weight"] = torch.randn(d_in, d_model, generator=rng, dtype=dtype) / d_model**0.5
    return params | {"o_proj.bias": torch.randn(d_in, generator=rng, dtype=dtype)}


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = []
    for B, L_q, L_k, d_in, H, d_head, shape, dtype in (
        (1, 2, 3, 3, 2, 2, None, torch.float32),
        (2, 5, 7, 10, 4, 3, "B11k", torch.float32),
        (3, 6, 4, 9, 2, 7, "BHqk", torch.float64),
        (2, 5, 7, 10, 4, 3, "qk", torch.float32),  # sizes seen before, other numbers
        (3, 4, 6, 7, 3, 5, "Hqk", torch.float32),  # B equals H
    ):
        mask = None
        if shape:
            sizes = {"B": B, "H": H, "q": L_q, "k": L_k, "1": 1}
            mask = torch.rand([sizes[letter] for letter in shape], generator=rng) < 0.6
            mask[..., 0], mask[..., -1] = True, False  # every query sees something, and never everything
        query, memory = (torch.randn(B, L, d_in, generator=rng, dtype=dtype) for L in (L_q, L_k))
        params = _parameters(d_in, H * d_head, rng, dtype)
        cases.append(Case(query=query, memory=memory, params=params, num_heads=H, mask=mask))
    return cases


_TURNED = "the matrices have shape (out, in): x @ W.T, or F.linear(x, W, b)."
_MEMORY = "project keys and values from memory."
_CHOSEN = ("straight view", "interleaved")
_MERGES = ("no transpose back", "view", "merged interleaved", "wrong axes exchanged", "heads averaged")
_NOT_HIDING = ("renormalized afterwards", "no shift", "zero times infinity", "not low enough", "sign lost")


def _without_nan(fault):
    """The same fault by masked_softmax, which gives 0 where a plain softmax gives NaN."""
    weigh = fault.parts["weigh"]
    return Fault(f"{fault.name}, no NaN", fault.looks_like, fault.advice, weigh=lambda s: weigh(s).nan_to_num())


_SOURCES = faults_of("sources", _MEMORY,
    ("keys from query", "the keys are made from query.", ("query", "query", "memory")),
    ("memory not used", "keys and values are made from query: memory plays no part.", ("query", "query", "query")),
    ("query and memory exchanged", "queries are made from memory, keys and values from query.", ("memory", "query", "query"),
     "queries come from query, keys and values from memory."),
)  # fmt: skip


def stops_with_mask(view: View) -> Told | None:
    """It works where there is no mask, and stops with any, or with all but one of them."""
    stopped = sum(view.cases[index]["outcome"] == "raised" for index in view.wrong)
    if stopped < 3 or view.wrong != [index for index, case in enumerate(view.inputs) if case["mask"] is not None]:
        return None
    said = "without a mask all is well; with one your code stops, or goes wrong."
    advice = "the mask broadcasts to (B, H, L_q, L_k) as it comes: add no axis, leave none out."
    return Told("symptom", "stops with a mask", said, advice)


def other_source(view: View) -> Told | None:
    """Where there is no mask it is a fault of the sources exactly; where there is one, it does not fit and stops the code."""
    if view.first != 0 or any(view.cases[index]["outcome"] != "raised" for index in view.wrong[1:]):
        return None
    for fault in _SOURCES:
        known, have = observe_case(view.exercise.with_faults(fault), view.inputs[0], view.exercise.probe), view.cases[0]
        if known["outcome"] == have["outcome"] == "returned":
            same = not view.against([known]).differs(0)
        else:
            same = known.get("message") == have.get("message")
        if same:
            return Told("symptom", fault.name, fault.looks_like, fault.advice)
    return None


EXERCISE = Exercise(
    answer="multi_head_attention", cases=_cases, reference=multi_head_attention, returns=("output", "weights"),
    faults=(
        *(fault for fault in SPLIT_FAULTS if fault.name in _CHOSEN),
        *(fault for fault in MERGE_FAULTS if fault.name in _MERGES),
        *(fault for fault in FACTOR_FAULTS if fault.name != "root of H"),
        *(fault for fault in WEIGHING_FAULTS if fault.name != "over queries and keys"),
        *(_without_nan(fault) for fault in WEIGHING_FAULTS[:2]),
        *(fault for fault in HIDING_FAULTS if fault.name not in _NOT_HIDING),
        Fault("dealt out and gathered", "the features are dealt out to the heads in turn, and gathered so again.",
            "a head has neighbors: cut to (B, L, H, d_head), the heads before the features.",
            split=lambda x, n: x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2),
            merge=lambda x: x.permute(0, 2, 3, 1).flatten(2)),
        Fault("one mask for the batch", "the mask of the first sequence was used for the whole batch.",
            "use the mask as it is.", read=lambda m: m if m.dim() < 4 else m[:1]),
        Fault("mask of three axes for the batch", "a mask of three axes was laid on the batch; it is (H, L_q, L_k).",
            "add no axis: counted from the end, axes meet as they should.", read=lambda m: m[:, None] if m.dim() == 3 else m),
        Fault("one mask for all heads", "the mask of head 0 was used for all heads.", "use the mask as it is.",
            read=lambda m: m if m.dim() < 4 else m[:, :1]),
        Fault("no output projection", "the merged heads without the output projection.",
            "finish with params['o_proj.weight'] and its bias.", last=lambda merged, W, b, n: merged),
        Fault("no output bias", "the bias of the output projection is missing.",
            "add params['o_proj.bias'] at the end.", last=lambda merged, W, b, n: merged @ W.T),
        Fault("bias for each head", "the bias of the output projection is added once for each head.",
            "the heads' shares are added up; the bias comes on top once.",
            last=lambda merged, W, b, n: merged @ W.T + n * b),
        Fault("output matrix not transposed", "the output matrix as it is: right only where d_in equals d_model.",
            _TURNED, last=lambda merged, W, b, n: merged @ W + b),
        Fault("no biases", "the biases were left out.", "add the bias after each of the four projections.",
            project=lambda x, W, b: x @ W.T, last=lambda merged, W, b, n: merged @ W.T),
        Fault("scaled after the softmax", "the scale is applied after the softmax, to the result.",
            "divide the scores, before the softmax.", factor=lambda q, k, query: 1.0,
            merge=lambda x: merge(x) / x.shape[-1] ** 0.5),
        Fault("values by the key projection", "the values are made with the key projection.",
            "the values have a projection of their own, v_proj.", names=("q_proj", "k_proj", "k_proj")),
        Fault("keys by the query projection", "the keys are made with the query projection.",
            "the keys have a projection of their own, k_proj.", names=("q_proj", "q_proj", "v_proj")),
        Fault("k and v exchanged", "the value projection is used for the keys, and the key projection for the values.",
            "what the query is compared with comes from k_proj; what is averaged comes from v_proj.",
            names=("q_proj", "v_proj", "k_proj")),
        Fault("q and k exchanged", "the key projection is used for the queries, and the query projection for the keys.",
            "q_proj belongs to query, k_proj to memory.", names=("k_proj", "q_proj", "v_proj")),
        *_SOURCES,
    ),
    symptoms=(stops_with_mask, other_source, untransposed),
    advice="do one step at a time and print its shape; the comments in section 6.8 of the lesson say what it must be.",
)  # fmt: skip

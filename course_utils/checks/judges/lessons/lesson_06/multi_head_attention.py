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
    sources=("query", "memory", "memory"), names=("q_proj", "k_proj", "v_proj"), biases=None, split=split,
    factor=lambda q, k, query: q.shape[-1] ** -0.5, read=lambda mask: mask, hide=_hidden,
    weigh=lambda scores: scores.softmax(-1), after=lambda weights, mask: weights, merge=merge,
    last=lambda merged, weight, bias, num_heads: merged @ weight.T + bias,
):  # fmt: skip
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2); each keyword is one step. Returns output and weights."""
    given = {"query": query, "memory": memory}
    q, k, v = (
        split(project(given[source], params[f"{name}.weight"], params[f"{bias}.bias"]), num_heads)
        for source, name, bias in zip(sources, names, biases or names, strict=True)
    )
    scores = q @ k.transpose(-2, -1) * factor(q, k, query)
    mask = None if mask is None else read(mask)
    weights = weigh(scores if mask is None else hide(scores, mask))
    weights = weights if mask is None else after(weights, mask)
    merged = merge(weights @ v)
    return last(merged, params["o_proj.weight"], params["o_proj.bias"], num_heads), weights


def _parameters(d_in, d_model, rng, dtype):
    params = {}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        outer, inner = (d_in, d_model) if name == "o_proj" else (d_model, d_in)
        params[f"{name}.weight"] = 1.3 * torch.randn(outer, inner, generator=rng, dtype=dtype) / inner**0.5
        params[f"{name}.bias"] = 0.5 * torch.randn(outer, generator=rng, dtype=dtype)
    return params


def _cases(seed):
    rng, cases = torch.Generator().manual_seed(seed), []
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
    query, memory = (torch.randn(2, L, 6, generator=rng, dtype=torch.float64) for L in (5, 7))
    params = _parameters(6, 8, rng, torch.float64)
    params["q_proj.bias"] -= 15
    params["k_proj.bias"] += 15  # their products: about -450
    mask = torch.rand(2, 1, 5, 7, generator=rng) < 0.6
    mask[..., 0], mask[..., -1] = True, False
    low = {"query": query, "memory": memory, "params": params, "num_heads": 2, "mask": mask}
    return [*cases, Case("all scores are low", values_only=True, **low)]


_TURNED = "the matrices have shape (out, in): x @ W.T, or F.linear(x, W, b)."
_MEMORY = "project keys and values from memory."
_CHOSEN = ("straight view", "interleaved")
_MERGES = ("no transpose back", "view", "merged interleaved", "wrong axes exchanged", "heads averaged")
_NOT_HIDING = ("renormalized afterwards", "no shift", "zero times infinity", "not low enough", "sign lost")
_NO_NAN = faults_of("weigh", WEIGHING_FAULTS[0].advice,  # by masked_softmax: 0 where a plain softmax gives NaN
    *((f"{fault.name}, no NaN", fault.looks_like, lambda s, weigh=fault.parts["weigh"]: weigh(s).nan_to_num())
      for fault in WEIGHING_FAULTS[:2]))  # fmt: skip
_SOURCES = faults_of("sources", _MEMORY,
    ("keys from query", "the keys are made from query.", ("query", "query", "memory")),
    ("values from query", "the values are made from query.", ("query", "memory", "query")),
    ("memory not used", "keys and values are made from query: memory plays no part.", ("query", "query", "query")),
    ("query and memory exchanged", "queries are made from memory, keys and values from query.", ("memory", "query", "query"),
     "queries come from query, keys and values from memory."),
)  # fmt: skip


def stops_with_mask(view: View) -> Told | None:
    """It works where there is no mask, and stops with any, or with all but one of them."""
    stopped = sum(view.cases[index]["outcome"] == "raised" for index in view.wrong)
    if stopped < 3 or view.wrong != [index for index, case in enumerate(view.inputs) if case["mask"] is not None]:
        return None
    return Told("symptom", "stops with a mask", "without a mask all is well; with one your code stops, or goes wrong.",
        "the mask broadcasts to (B, H, L_q, L_k) as it comes: add no axis, leave none out.")  # fmt: skip


def other_source(view: View) -> Told | None:
    """Where there is no mask it is a fault of the sources exactly; where there is one, it does not fit and stops the code."""
    if view.first != 0 or any(view.cases[index]["outcome"] != "raised" for index in view.wrong[1:]):
        return None
    for fault in _SOURCES:
        known = observe_case(view.exercise.with_faults(fault), view.inputs[0], view.exercise.probe)
        returned, messages = known["outcome"] == "returned", {case.get("message") for case in (known, view.cases[0])}
        if len(messages) == 1 and not (returned and view.against([known]).differs(0)):
            return Told("symptom", fault.name, fault.looks_like, fault.advice)
    return None


EXERCISE = Exercise(
    answer="multi_head_attention", cases=_cases, reference=multi_head_attention, returns=("output", "weights"),
    faults=(
        *(fault for fault in SPLIT_FAULTS if fault.name in _CHOSEN),
        *(fault for fault in MERGE_FAULTS if fault.name in _MERGES),
        *FACTOR_FAULTS,
        *(fault for fault in WEIGHING_FAULTS if fault.name != "over queries and keys"),
        *_NO_NAN,
        *(fault for fault in HIDING_FAULTS if fault.name not in _NOT_HIDING),
        Fault("dealt out and gathered", "the features are dealt out to the heads in turn, and gathered so again.",
            "a head has neighbors: cut to (B, L, H, d_head), the heads before the features.",
            split=lambda x, n: x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2),
            merge=lambda x: x.permute(0, 2, 3, 1).flatten(2)),
        *faults_of("read", "use the mask as it is: counted from the end, axes meet as they should.",
            ("one mask for the batch", "the mask of the first sequence was used for the whole batch.",
             lambda m: m if m.dim() < 4 else m[:1]),
            ("mask of three axes for the batch", "a mask of three axes was laid on the batch; it is (H, L_q, L_k).",
             lambda m: m[:, None] if m.dim() == 3 else m),
            ("one mask for all heads", "the mask of head 0 was used for all heads.", lambda m: m if m.dim() < 4 else m[:, :1])),
        *faults_of("last", "finish with merged @ params['o_proj.weight'].T + params['o_proj.bias'], once.",
            ("no output projection", "the merged heads without the output projection.", lambda merged, W, b, n: merged),
            ("no output bias", "the bias of the output projection is missing.", lambda merged, W, b, n: merged @ W.T),
            ("bias for each head", "the bias of the output projection is added once for each head.",
             lambda merged, W, b, n: merged @ W.T + n * b),
            ("output matrix not transposed", "the output matrix as it is: right only where d_in equals d_model.",
             lambda merged, W, b, n: merged @ W + b, _TURNED)),
        Fault("no biases", "the biases were left out.", "add the bias after each of the four projections.",
            project=lambda x, W, b: x @ W.T, last=lambda merged, W, b, n: merged @ W.T),
        Fault("no biases before the heads", "the biases of q_proj, k_proj and v_proj were left out; that of o_proj is there.",
            "add the bias after each of the four projections.", project=lambda x, W, b: x @ W.T),
        *(Fault(f"{what} of k and v exchanged", f"the {what} of k_proj and v_proj are exchanged, their {other} are not.",
            "each projection has a weight and a bias of the same name: k_proj for the keys, v_proj for the values.",
            names=("q_proj", *names), biases=("q_proj", *reversed(names)))
          for what, other, names in (("weights", "biases", ("v_proj", "k_proj")), ("biases", "weights", ("k_proj", "v_proj")))),
        Fault("scaled after the softmax", "the scale is applied after the softmax, to the result.",
            "divide the scores, before the softmax.", factor=lambda q, k, query: 1.0,
            merge=lambda x: merge(x) / x.shape[-1] ** 0.5),
        *faults_of("names", "queries, keys and values have a projection each: q_proj, k_proj and v_proj.",
            ("values by the key projection", "the values are made with the key projection.", ("q_proj", "k_proj", "k_proj")),
            ("keys by the query projection", "the keys are made with the query projection.", ("q_proj", "q_proj", "v_proj")),
            ("k and v exchanged", "the value projection is used for the keys, and the key projection for the values.",
             ("q_proj", "v_proj", "k_proj")),
            ("q and k exchanged", "the key projection is used for the queries, and the query projection for the keys.",
             ("k_proj", "q_proj", "v_proj"))),
        *_SOURCES,
    ),
    symptoms=(stops_with_mask, other_source, untransposed),
    advice="do one step at a time and print its shape; the table of section 6.4 says what it must be.",
)  # fmt: skip

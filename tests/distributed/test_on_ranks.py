"""The same results from real processes as from one: heads divided, tokens divided, and bytes counted."""

import pytest
import torch

from course_utils.distributed.communication import Communicator, all_reduce_bytes, num_bytes
from course_utils.distributed.gathered_attention import gathered_attention, gathered_bytes
from course_utils.distributed.layouts import layout
from course_utils.distributed.processes import run_on_ranks
from course_utils.distributed.ring_attention import Ring, ring_attention, ring_bytes
from course_utils.distributed.simulation import simulate_ring
from course_utils.distributed.tensor_parallel import HeadParallelAttention
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention

B, H, H_KV, L, D_K, D_V = 2, 4, 2, 24, 6, 10
CASES = [
    (torch.float64, "zigzag", True, 22),
    (torch.float32, "contiguous", False, None),
    (torch.float64, "striped", True, None),
]


def random(*shape, seed, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def whole(dtype):
    shapes = ((H, D_K), (H_KV, D_K), (H_KV, D_V), (H, D_V))
    return [random(B, heads, L, size, seed=i, dtype=dtype) for i, (heads, size) in enumerate(shapes)]


@pytest.mark.parametrize("P", [2, 4])
def test_ring_and_gathered_attention_are_what_the_simulation_says(runs_in, P):
    def work(rank, P, cases):
        import time

        results = []
        for (name, causal, length), tensors in cases:
            ring = Ring(layout(name, tensors[0].shape[2], P), causal, length=length)
            for attend in (ring_attention, gathered_attention):
                query, key, value, d_output = (ring.layout.shard(x, rank) for x in tensors)
                for x in (query, key, value):
                    x.requires_grad_()
                communicator = Communicator()
                time.sleep(0.01 * rank)  # nobody is in step
                output = attend(query, key, value, communicator, ring)
                forward = communicator.bytes_sent
                output.backward(d_output)
                gradients = [x.grad for x in (query, key, value)]
                results.append((output, gradients, forward, communicator.bytes_sent - forward))
        return results

    cases = [(case[1:], whole(case[0])) for case in CASES]
    ranks = run_on_ranks(work, P, cases).values
    for number, ((name, causal, length), tensors) in enumerate(cases):
        ring = Ring(layout(name, L, P), causal, length=length)
        simulated = simulate_ring(*tensors[:3], ring, tensors[3])
        tolerance = {"rtol": 0, "atol": 1e-12 if tensors[0].dtype == torch.float64 else 1e-6}
        own_bytes = num_bytes(tensors[1]) // P, num_bytes(tensors[2]) // P
        for way, formula in enumerate((ring_bytes, gathered_bytes)):
            outputs, gradients, forward, backward = zip(*(rank[2 * number + way] for rank in ranks), strict=True)
            torch.testing.assert_close(ring.layout.unshard(outputs), simulated.output, **tolerance)
            ours = tuple(ring.layout.unshard(x) for x in zip(*gradients, strict=True))
            torch.testing.assert_close(ours, simulated.gradients, **tolerance)
            assert list(zip(forward, backward, strict=True)) == [formula(*own_bytes, P)] * P


@pytest.mark.parametrize(("P", "kv_heads"), [(2, 2), (4, 4)])
def test_heads_on_ranks_are_the_whole_layer(runs_in, P, kv_heads):
    def work(rank, P, sizes, cases):
        results = []
        for state, x, d_output in cases:
            whole = MultiHeadAttention(**sizes).to(x.dtype)
            whole.load_state_dict(state)
            layer, communicator = HeadParallelAttention(whole, rank, P), Communicator()
            x.requires_grad_()
            output = layer(x, communicator, mask=causal_mask(x.shape[1]))
            forward = communicator.bytes_sent
            output.backward(d_output)
            gradients = {name: parameter.grad for name, parameter in layer.named_parameters()}
            results.append((output, x.grad, gradients, forward, communicator.bytes_sent - forward))
        return results

    sizes, cases, layers = {"d_model": 12, "num_heads": H, "num_kv_heads": kv_heads}, [], []
    for dtype in (torch.float64, torch.float32):
        torch.manual_seed(0)
        layers.append(MultiHeadAttention(**sizes).to(dtype))
        x, d_output = random(B, 5, 12, seed=1, dtype=dtype), random(B, 5, 12, seed=2, dtype=dtype)
        cases.append((layers[-1].state_dict(), x, d_output))
    ranks = run_on_ranks(work, P, sizes, cases).values
    for number, (layer, (_, x, d_output), atol) in enumerate(zip(layers, cases, (1e-12, 1e-6), strict=True)):
        x.requires_grad_()
        output = layer(x, mask=causal_mask(5))
        output.backward(d_output)
        results = [rank[number] for rank in ranks]
        for out, d_x, gradients, forward, backward in results:
            torch.testing.assert_close(out, output.detach(), rtol=0, atol=atol)
            torch.testing.assert_close(d_x, x.grad, rtol=0, atol=atol)
            torch.testing.assert_close(gradients["o_bias"], layer.o_proj.bias.grad, rtol=0, atol=atol)
            assert forward == backward == all_reduce_bytes(num_bytes(x), P)
        for name, parameter in layer.named_parameters():
            if name != "o_proj.bias":
                parts = [gradients[name] for _, _, gradients, _, _ in results]
                whole = torch.cat(parts, dim=int(name == "o_proj.weight"))
                torch.testing.assert_close(whole, parameter.grad, rtol=0, atol=atol)


def test_what_the_heads_of_each_rank_add_is_the_output():
    """The same without processes: the parts of W_o add up."""
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, H, num_kv_heads=H_KV).double()
    x = random(B, 5, 12, seed=1)
    parts = sum(HeadParallelAttention(layer, rank, 2).part(x) for rank in range(2))
    torch.testing.assert_close(parts + layer.o_proj.bias, layer(x), rtol=0, atol=1e-12)


def test_heads_that_do_not_divide_are_refused(as_a_user):
    with pytest.raises(ValueError, match=r"P \(3\) must divide H \(4\)"):
        HeadParallelAttention(MultiHeadAttention(12, 4), 0, 3)
    with pytest.raises(ValueError, match=r"P \(4\) must divide H_kv \(2\).*use fewer ranks"):
        HeadParallelAttention(MultiHeadAttention(12, 4, num_kv_heads=2), 0, 4)
    with pytest.raises(ValueError, match=r"rank \(2\) must be from 0 to 1"):
        HeadParallelAttention(MultiHeadAttention(12, 4), 2, 2)
    with pytest.raises(ValueError, match=r"dropout \(0.1\) must be 0"):
        HeadParallelAttention(MultiHeadAttention(12, 4, dropout=0.1), 0, 2)
    with pytest.raises(RuntimeError, match="there is no process group here: run_on_ranks"):
        Communicator()

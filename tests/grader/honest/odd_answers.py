"""Answers as students write them: in all the Python and all of Jupyter's additions that there are."""

from .honest_notebook import add, dedented, find, honest

QUICK = {"letters_of_the_world", "compared_with_pytorch_below", "compared_with_the_course_below"}
ANSWERS = {  # name -> lesson, cell, text
    "letters_of_the_world": ("01", "answer-1-1", """
        # 点积：逐元素相乘再求和
        def dot(a, b):
            '''حاصل الضرب النقطي'''
            乘积 = a * b  # اضرب
            名称 = f"结果：{乘积.shape} 😀"
            مجموع = 乘积.sum()
            return مجموع
        """),
    "type_hints": ("02", "answer-2-1", """
        from __future__ import annotations
        from typing import Final
        from jaxtyping import Float
        from torch import Tensor
        CHECKED: Final = True

        def softmax(scores: Float[Tensor, "... L_k"]) -> Tensor:
            out: Tensor = (scores - scores.amax(-1, keepdim=True)).exp()
            return out / out.sum(-1, keepdim=True)
        """),
    "dataclass_and_tuple": ("01", "answer-1-1", """
        from collections import namedtuple
        from dataclasses import dataclass, field
        Pair = namedtuple("Pair", "a b")

        @dataclass(frozen=True)
        class Products:
            pair: Pair
            notes: list = field(default_factory=list)

            @property
            def total(self):
                return (self.pair.a * self.pair.b).sum()

        def dot(a, b):
            return Products(Pair(a, b)).total
        """),
    "a_lambda": ("01", "answer-1-1", "dot = lambda a, b: (a * b).sum()"),
    "functions_in_functions": ("01", "answer-1-3", """
        def all_pairs(queries, keys):
            def one(q, k):
                def row(x):
                    return (x * k).sum(-1)
                return torch.stack([row(x) for x in q])
            return torch.stack([one(q, k) for q, k in zip(queries, keys)])
        """),
    "a_partial": ("01", "answer-1-1", """
        import functools
        def weighted(factor, a, b):
            return factor * (a * b).sum()
        dot = functools.partial(weighted, 1)
        """),
    "an_object_that_is_called": ("01", "answer-1-3", """
        class AllPairs:
            def __call__(self, queries, keys):
                return queries @ keys.mT
        all_pairs = AllPairs()
        """),
    "a_modules_method": ("02", "answer-2-1", """
        class Shares(torch.nn.Module):
            def forward(self, scores):
                raised = (scores - scores.amax(-1, keepdim=True)).exp()
                return raised / raised.sum(-1, keepdim=True)
        softmax = Shares().forward
        """),
    "classes": ("07", "answer-7-2", """
        class Base:
            def __init__(self, batch_size, num_kv_heads, max_len, d_head):
                sizes = batch_size, num_kv_heads, max_len, d_head
                self.__dict__.update(keys=self.empty(*sizes), values=self.empty(*sizes), length=0, max_len=max_len)
            @staticmethod
            def empty(*sizes):
                return torch.zeros(*sizes)
            @property
            def free(self):
                return self.max_len - self.length
        class Cache(Base):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
            def __repr__(self):
                return f"{type(self).__name__}({self.length})"
            def __len__(self):
                return self.length
            def update(self, key, value):
                if key.shape[2] > self.free:
                    raise ValueError(f"no room for {key.shape[2]}")
                start, self.length = self.length, self.length + key.shape[2]
                for name, new in (("keys", key), ("values", value)):
                    getattr(self, name)[:, :, start : self.length] = new
                return self.keys[:, :, : len(self)], self.values[:, :, : len(self)]
        """),
    "walrus_and_match": ("01", "answer-1-1", """
        def dot(a, b):
            if (n := a.shape[0]) != b.shape[0]:
                raise ValueError(f"{n} is not {f'{b.shape[0]}'}")
            match (a * b).shape:
                case (0,):
                    return torch.zeros(())
                case (int(), *rest):
                    return (a * b).sum()
        """),
    "decorators": ("01", "answer-1-1", """
        import functools, time
        def timed(function):
            @functools.wraps(function)
            def inner(*args, **kwargs):
                start = time.perf_counter()
                try:
                    return function(*args, **kwargs)
                finally:
                    inner.seconds = time.perf_counter() - start
            return inner
        @functools.cache
        def factor(n):
            return n / n
        @timed
        @torch.no_grad()
        def dot(a, b):
            return factor(3) * (a * b).sum()
        """),
    "imports_in_the_answer": ("01", "answer-1-5", """
        import math, sys, os
        def nearest(query, keys, k):
            from torch.nn import functional as fn
            assert 1 <= k <= len(keys) < math.inf, "k"
            return (fn.normalize(keys, dim=-1) @ query).topk(k).indices
        """),
    "numpy_inside": ("08", "answer-8-1", """
        import numpy as np
        def sinusoidal_table(num_positions, d_model):
            if d_model % 2:
                raise ValueError(f"d_model ({d_model}) must be even")
            angle = np.arange(num_positions)[:, None] * 10000 ** (-np.arange(0, d_model, 2) / d_model)
            table = np.zeros((num_positions, d_model), dtype=np.float32)
            table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
            return torch.from_numpy(table)
        """),
    "a_number_by_numpy": ("01", "answer-1-1", """
        import numpy as np
        def dot(a, b):
            return float(np.dot(a.detach().numpy(), b.detach().numpy()))
        """),
    "print_in_the_answer": ("01", "answer-1-1", """
        import logging, warnings
        def dot(a, b):
            print("a is", a, "and locals are", locals())
            warnings.warn("slow")
            logging.info("called")
            return (a * b).sum()
        """),
    "timed": ("01", "answer-1-1", "%%time\ndef dot(a, b):\n    return (a * b).sum()"),
    "captured": ("01", "answer-1-1", "%%capture said\ndef dot(a, b):\n    return (a * b).sum()\nprint('quiet')"),
    "magics_below": ("01", "answer-1-4", """
        %matplotlib inline
        def all_pairs_einsum(queries, keys):
            return torch.einsum("bid,bjd->bij", queries, keys)
        x = torch.randn(2, 3, 4)
        %timeit -n 2 -r 2 all_pairs_einsum(x, x)
        !echo done; \\
          echo again
        files = !ls
        ?all_pairs_einsum
        """),
    "percent_at_the_start_of_a_line": ("01", "answer-1-1", """
        def dot(a, b):
            return (a * b).sum()
        print(
            "%s and %d"
            % ("dot", 14)
        )
        remainder = (
            17
            % 5
        )
        """),
    "wait_at_the_top": ("01", "answer-1-1", """
        import asyncio
        async def later(value):
            await asyncio.sleep(0)
            return value
        factor = await later(1)
        def dot(a, b):
            return factor * (a * b).sum()
        """),
    "compared_with_pytorch_below": ("01", "answer-1-2", """
        def cosine(a, b):
            lengths = a.norm(dim=-1) * b.norm(dim=-1)
            return (a * b).sum(dim=-1) / lengths.masked_fill(lengths == 0, 1.0)
        a, b = torch.randn(4, 3), torch.randn(4, 3)
        assert torch.allclose(cosine(a, b), F.cosine_similarity(a, b, dim=-1), atol=1e-6)
        print((cosine(a, b) - torch.cosine_similarity(a, b)).abs().max())
        """),
    "compared_with_the_course_above": ("05", "answer-5-2", """
        from course_utils.masks import causal_mask as theirs
        wanted = theirs(3, 5)
        def causal_mask(L_q, L_k):
            return torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q)
        assert (causal_mask(3, 5) == wanted).all()
        """),
    "the_courses_function_where_it_is_allowed": ("04", "answer-4-2", """
        from course_utils.attention import scaled_dot_product_attention
        def roles(layer, L, d):
            x, memory = torch.randn(2, L, d, dtype=torch.float64)
            scaled_dot_product_attention(x, memory, memory)
            by_x, by_memory = torch.autograd.functional.jacobian(layer, (x, memory))
            values, other, table = ("memory", "x", by_x) if layer(0 * x, memory).any() else ("x", "memory", by_memory)
            keys = other if (table[0, :, 1].abs() > 1e-9).any() else values
            double = layer(2 * x, memory) if values == "x" else layer(x, 2 * memory)
            moved = torch.allclose(double, 2 * layer(x, memory), rtol=1e-9) if keys == other else table[0, :, 0].any()
            return [other if moved else values, keys, values]
        """),
    "compared_with_the_course_below": ("05", "answer-5-2", """
        def causal_mask(L_q, L_k):
            return torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q)
        from course_utils.masks import causal_mask as theirs
        assert (causal_mask(3, 5) == theirs(3, 5)).all()
        """),
}  # fmt: skip

for name, (lesson, cell, text) in ANSWERS.items():

    def make(notebook, cell=cell, text=text):
        find(notebook, cell)["source"] = dedented(text)

    add(name, lesson, make, quick=name in QUICK)


@honest(quick=True)
def pasted_with_indent(notebook):
    """IPython takes the common indent away."""
    text = find(notebook, "answer-1-2")["source"]
    find(notebook, "answer-1-2")["source"] = "\n".join("    " + line for line in text.split("\n"))


@honest()
def pasted_with_prompts(notebook):
    """IPython takes prompts away, Python's and its own."""
    for name, first, then in (("answer-1-1", ">>> ", "... "), ("answer-1-2", "In [5]: ", "   ...: ")):
        head, *rest = find(notebook, name)["source"].split("\n")
        find(notebook, name)["source"] = "\n".join([first + head, *(then + line for line in rest)])


@honest()
def quiz_in_capitals(notebook):
    cell = find(notebook, "quiz-1-7")
    name, letter = cell["source"].strip().split("\n")[-1].split(" = ")
    cell["source"] = f"# {name}: I first thought 'a', then counted\n{name} = {letter.upper()};"

"""Cells that forge what a probe sends, or look for the answers, in notebooks that are otherwise blank: nothing is earned."""

from borrowing import STEMS
from handed_in import as_bytes, blank, with_cell

# Each defines forged(number, value, inputs, guarded); {install} puts it in the place of the probe.
INSTALL = """
from sys import modules
import course_utils.checks.probes as probes
true_observe, true_find = probes.observe_answer, probes.probe_of
{forged}
probes.observe_answer = probes.find.observe_answer = forged
modules["course_grader.inside.kernel_side"].observe_answer = forged
"""
TREE = """
import copy, torch
from course_utils.checks.probes.codec import encode
def tree(number, inputs, make, **more):
    from course_utils.checks.catalogue import listed
    if listed(number).is_quiz:
        return {"answer": "value", "value": encode(make({}))}
    cases = [{"outcome": "returned", "changed": [], "drew": False, "value": encode(make(case)), **more} for case in inputs]
    return {"answer": "called", "type": "function", "name": "x", "cases": cases}
def tensors(case):
    return [v for v in case.values() if isinstance(v, torch.Tensor)]
"""
OBSERVATIONS = {
    "the first argument": "tree(number, inputs, lambda case: next(iter(case.values()), None))",
    "zeros": "tree(number, inputs, lambda case: torch.zeros_like(tensors(case)[0]) if tensors(case) else 0)",
    "not a number": "tree(number, inputs, lambda case: torch.full_like(tensors(case)[0].float(), torch.nan) if tensors(case) else float('nan'))",
    "infinite": "tree(number, inputs, lambda case: float('inf'))",
    "nothing": "tree(number, inputs, lambda case: None)",
    "all arguments": "tree(number, inputs, lambda case: tuple(case.values()))",
    "no cases": "{'answer': 'called', 'type': 'function', 'name': '', 'cases': []}",
    "a case less": "{**(t := tree(number, inputs, lambda case: 0)), 'cases': t.get('cases', [])[1:]}",
    "a thousand cases": "{**(t := tree(number, inputs, lambda case: 0)), 'cases': t.get('cases', [])[:1] * 1000}",
    "a quiz's tree": "{'answer': 'value', 'value': encode('all')}",
    "a verdict": "{**tree(number, inputs, lambda case: 0), 'passed': True, 'earned': 99, 'points': 99, 'outcome': 'right'}",
    "a verdict in each case": "tree(number, inputs, lambda case: 0, passed=True, wrong=False, expected=None)",
    "every letter": "tree(number, inputs, lambda case: ['a', 'b', 'c', 'd'])",
    "letters in one text": "tree(number, inputs, lambda case: 'a, b, c, d')",
    "the reference": "true_observe(number, __import__('course_utils.checks.judges.find', fromlist=['find']).find(number).reference, inputs, guarded=False)",
    "raises in every case": "{'answer': 'called', 'type': 'x', 'name': '', 'cases': [{'outcome': 'raised', 'changed': [], 'type': 'ValueError', 'message': ''} for _ in inputs]}",
    "gradients of a wrong kind": "tree(number, inputs, lambda case: 0, gradients={'kind': 'none'})",
    "a second call of a wrong kind": "tree(number, inputs, lambda case: 0, again={'kind': 'tensor'})",
    "a shape without values": "tree(number, inputs, lambda case: torch.empty(7, 10**9, device='meta'))",
    "a shape that lies": "(lambda t: [c['value'].update(shape=[1] * 50) for c in t.get('cases', [])] and t or t)(tree(number, inputs, lambda case: torch.zeros(1)))",
    "numbers of 3,000 digits": "tree(number, inputs, lambda case: 10**3000)",
    "texts of a million letters": "tree(number, inputs, lambda case: ['x' * 20_000] * 50)",
    "lists as deep as may be": "tree(number, inputs, lambda case: [[[[[[[0]]]]]]])",
    "rules kept": "tree(number, inputs, lambda case: ('words and their sounds', '10 or more', *['all of them'] * 4, '5 or more', 'differ', 'most'))",
    "batches as they should be": "tree(number, inputs, lambda case: ('lists of places', 'none', 'none', 'none', 'none', 'alike', 'not asked', 'about as few as fit', 'mixed', 'other batches', 'other pairs together'))",
    "words found": "tree(number, inputs, lambda case: 'words and their sounds')",
    "integers as tensors": "tree(number, inputs, lambda case: torch.tensor(7))",
    "another exercise's value": "true_observe(number, lambda *a: a[0], inputs, guarded=False)",
    "the probe without its guard": "true_observe(number, value, inputs, guarded=False)",
}  # fmt: skip
LOOKING = {
    "the judges by import": "import course_utils.checks.judges.find as j\nfound = [j.find(n) for n in NUMBERS]",
    "the quizzes' letters": "from course_utils.checks.judges.find import find\nfor n in NUMBERS:\n    if listed(n).is_quiz:\n        globals()[listed(n).answer] = find(n).right",
    "a letter in the catalogue": "for n in NUMBERS:\n    if listed(n).is_quiz:\n        globals()[listed(n).answer] = getattr(listed(n), 'right', None) or vars(listed(n)).get('right')",
    "judges on the disk": "import sys\nfor path in [p for p in everything() if '/judges/' in p and p.endswith('.py')]:\n    exec(open(path).read())\n    for n in NUMBERS:\n        globals()[listed(n).answer] = EXERCISE.reference",
    "solutions on the disk": "import json\nfor path in [p for p in everything() if p.endswith('.ipynb')]:\n    for cell in json.load(open(path))['cells']:\n        if cell['cell_type'] == 'code':\n            exec(''.join(cell['source']))",
    "the library's other copy": "import importlib.util\nfor root in [p for p in everything() if p.endswith('/similarity.py')]:\n    spec = importlib.util.spec_from_file_location('other', root)\n    m = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(m)\n    dot, cosine, all_pairs = m.dot_product, m.cosine_similarity, m.similarity_matrix",
    "compiled files": "import marshal\nfor path in [p for p in everything() if p.endswith('.pyc') and '/similarity' in p]:\n    space = {}\n    exec(marshal.loads(open(path, 'rb').read()[16:]), space)\n    dot = space.get('dot_product')\n    all_pairs = all_pairs_einsum = space.get('similarity_matrix')\n    cosine = space.get('cosine_similarity')",
    "the fork server's memory": "import gc\nfor o in gc.get_objects():\n    if type(o).__name__ in ('Exercise', 'Quiz', 'Judge', 'Master', 'Terms') and 'torch' not in type(o).__module__:\n        for n in NUMBERS:\n            globals()[listed(n).answer] = getattr(o, 'reference', None) or getattr(o, 'right', None)",
    "the frames above": "import sys\nframe = sys._getframe()\nwhile frame:\n    for v in list(frame.f_locals.values()):\n        if hasattr(v, 'reference') or hasattr(v, 'right'):\n            for n in NUMBERS:\n                globals()[listed(n).answer] = getattr(v, 'reference', getattr(v, 'right', None))\n    frame = frame.f_back",
    "a check that would tell": "from course_utils.checks import check\nimport course_utils.checks.engine as e\nfor n in NUMBERS:\n    if listed(n).is_quiz:\n        for letter in listed(n).options:\n            try:\n                check(n, letter)\n                e.run(n, letter)\n                globals()[listed(n).answer] = letter\n            except BaseException:\n                pass",
    "the text of the cell that probes": "def before(info):\n    if 'kernel_side' in info.raw_cell:\n        globals()['cell'] = info.raw_cell\n        for n in NUMBERS:\n            globals()[listed(n).answer] = lambda *a: a[0] if a else None\nget_ipython().events.register('pre_run_cell', before)",
    "what is displayed": "import IPython.display as d\ntrue = d.display\ndef display(data, **k):\n    for v in data.values():\n        v.update(passed=True, outcome='right', earned=99)\n    true(data, **k)\nd.display = display",
    "what is sent": "s = get_ipython().kernel.session\ntrue = s.send\ndef send(stream, kind, content=None, *a, **k):\n    if kind == 'display_data':\n        for v in content['data'].values():\n            if isinstance(v, dict):\n                v.update(hidden=[], undefined='', earned=99)\n    return true(stream, kind, content, *a, **k)\ns.send = send",
    "a pack of its own": "import course_utils.checks.probes.codec as c\nc.pack = lambda tree: ('{\"answer\": \"called\", \"type\": \"x\", \"cases\": []}', c.safetensors.torch.save({}))",
    "an encoder of its own": "import course_utils.checks.probes.observe as o\ntrue = o.encode\no.encode = lambda value: {'kind': 'bool', 'value': True}",
    "a guard of its own, and hidden bodies": "import course_utils.checks.probes.guard as g\ng.hidden = lambda name: Exception(name)\ng.hidden_called.update(f'course_utils.x{i}' for i in range(1000))",
    "a probe without what is off limits": "import course_utils.checks.probes.find as f, course_utils.checks.probes.observe as o\nimport dataclasses\ntrue = f.probe_of\nf.probe_of = lambda n: dataclasses.replace(true(n), off_limits=(), again=False)",
    "a probe that calls another function": "import course_utils.checks.probes.probe as p, course_utils.checks.probes.find as f, dataclasses\ntrue = f.probe_of\nf.probe_of = lambda n: dataclasses.replace(true(n), call=lambda answer, case: list(p.visible(case).values())[0])",
}  # fmt: skip
PREAMBLE = """
import os
def everything():
    for folder, folders, files in os.walk("/"):
        folders[:] = [n for n in folders if n not in ("proc", "sys", "usr", "dev", "torch", "sympy", "scipy", "sklearn")]
        yield from (os.path.join(folder, name) for name in files)
from course_utils.checks.catalogue import catalogue, listed
NUMBERS = [n for n, e in catalogue().items() if e.lesson == {lesson}]
"""
EVERYWHERE = ("the reference", "the quizzes' letters")  # in every lesson; the others in one lesson each


def notebooks() -> dict[str, tuple[str, bytes]]:
    """Name -> lesson and file."""
    cells = {
        name: TREE + INSTALL.format(forged=f"def forged(number, value, inputs, guarded=True):\n    return {said}")
        for name, said in OBSERVATIONS.items()
    } | LOOKING
    found, lessons = {}, list(STEMS)
    for place, (name, text) in enumerate(cells.items()):
        for lesson in lessons if name in EVERYWHERE else [lessons[place % len(lessons)]]:
            notebook = with_cell(blank(STEMS[lesson]), PREAMBLE.format(lesson=int(lesson)) + text)
            found[f"{lesson}: {name}"] = (lesson, as_bytes(notebook))
    for name, lesson in (("rules kept", "11"), ("batches as they should be", "11"), ("words found", "11")):
        text = PREAMBLE.format(lesson=11) + cells[name]
        found[f"{lesson}: {name}"] = (lesson, as_bytes(with_cell(blank(STEMS[lesson]), text)))
    for name in ("the library's other copy", "compiled files"):
        text = PREAMBLE.format(lesson=1) + cells[name]
        found[f"01: {name}"] = ("01", as_bytes(with_cell(blank(STEMS["01"]), text)))
    return found

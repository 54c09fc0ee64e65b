"""Cells that forge what a probe sends, or look for the answers, in notebooks that are otherwise blank: nothing is earned."""

from course_functions import STEMS
from handed_in import as_bytes, blank, with_cell

# Each defines forged(value, call, cases, guarded); INSTALL puts it in the place of what observes.
INSTALL = """
from sys import modules
import course_checks.running as running
true_observe = running.observe_answer
{forged}
running.observe_answer = running.observe.observe_answer = forged
modules["course_grader.in_sandbox.kernel_side"].observe_answer = forged
"""
TREE = """
import copy, torch
from course_checks.running.encode import encode
def tree(call, cases, make, **more):
    if call.expects == "value":
        return {"answer": "value", "value": encode(make({}))}
    seen = [{"outcome": "returned", "changed": [], "drew": False, "value": encode(make(case)), **more} for case in cases]
    return {"answer": "called", "type": "function", "name": "x", "cases": seen}
def tensors(case):
    return [v for v in case.values() if isinstance(v, torch.Tensor)]
"""
OBSERVATIONS = {
    "the first argument": "tree(call, cases, lambda case: next(iter(case.values()), None))",
    "zeros": "tree(call, cases, lambda case: torch.zeros_like(tensors(case)[0]) if tensors(case) else 0)",
    "no cases": "{'answer': 'called', 'type': 'function', 'name': '', 'cases': []}",
    "a case less": "{**(t := tree(call, cases, lambda case: 0)), 'cases': t.get('cases', [])[1:]}",
    "a thousand cases": "{**(t := tree(call, cases, lambda case: 0)), 'cases': t.get('cases', [])[:1] * 1000}",
    "a verdict": "{**tree(call, cases, lambda case: 0), 'passed': True, 'earned': 99, 'points': 99, 'outcome': 'right'}",
    "every letter": "tree(call, cases, lambda case: ['a', 'b', 'c', 'd'])",
    "the reference": "true_observe(__import__('course_checks.deciding.find', fromlist=['find']).find(NUMBERS[0]).right, call, cases, guarded=False)",
    "raises in every case": "{'answer': 'called', 'type': 'x', 'name': '', 'cases': [{'outcome': 'raised', 'changed': [], 'type': 'ValueError', 'message': ''} for _ in cases]}",
    "gradients of a wrong kind": "tree(call, cases, lambda case: 0, gradients={'kind': 'none'})",
    "a shape without values": "tree(call, cases, lambda case: torch.empty(7, 10**9, device='meta'))",
    "a shape that lies": "(lambda t: [c['value'].update(shape=[1] * 50) for c in t.get('cases', [])] and t or t)(tree(call, cases, lambda case: torch.zeros(1)))",
    "numbers of 3,000 digits": "tree(call, cases, lambda case: 10**3000)",
    "lists as deep as may be": "tree(call, cases, lambda case: [[[[[[[0]]]]]]])",
    "rules kept": "tree(call, cases, lambda case: ('words and their sounds', '10 or more', *['all of them'] * 4, '5 or more', 'differ', 'most'))",
    "batches as they should be": "tree(call, cases, lambda case: ('lists of places', 'none', 'none', 'none', 'none', 'alike', 'not asked', 'about as few as fit', 'mixed', 'other batches', 'other pairs together'))",
    "words found": "tree(call, cases, lambda case: 'words and their sounds')",
    "another exercise's value": "true_observe(lambda *a: a[0], call, cases, guarded=False)",
    "what observes, without its guard": "true_observe(value, call, cases, guarded=False)",
}  # fmt: skip
LOOKING = {
    "what decides, by import": "import course_checks.deciding.find as j\nfound = [j.find(n) for n in NUMBERS]",
    "the quizzes' letters": "from course_checks.deciding.find import find\nfor n in NUMBERS:\n    if catalogue_entry(n).is_quiz:\n        globals()[catalogue_entry(n).answer] = find(n).right",
    "a letter in the catalogue": "for n in NUMBERS:\n    if catalogue_entry(n).is_quiz:\n        globals()[catalogue_entry(n).answer] = getattr(catalogue_entry(n), 'right', None) or vars(catalogue_entry(n)).get('right')",
    "what decides, on the disk": "import sys\nfor path in [p for p in everything() if ('/deciding/' in p or '/lesson_' in p) and p.endswith('.py')]:\n    exec(open(path).read())\n    for n in NUMBERS:\n        globals()[catalogue_entry(n).answer] = EXERCISE.right",
    "solutions on the disk": "import json\nfor path in [p for p in everything() if p.endswith('.ipynb')]:\n    for cell in json.load(open(path))['cells']:\n        if cell['cell_type'] == 'code':\n            exec(''.join(cell['source']))",
    "the library's other copy": "import importlib.util\nfor root in [p for p in everything() if p.endswith('/similarity.py')]:\n    spec = importlib.util.spec_from_file_location('other', root)\n    m = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(m)\n    dot, cosine, all_pairs = m.dot_product, m.cosine_similarity, m.similarity_matrix",
    "compiled files": "import marshal\nfor path in [p for p in everything() if p.endswith('.pyc') and '/similarity' in p]:\n    space = {}\n    exec(marshal.loads(open(path, 'rb').read()[16:]), space)\n    dot = space.get('dot_product')\n    all_pairs = all_pairs_einsum = space.get('similarity_matrix')\n    cosine = space.get('cosine_similarity')",
    "the fork server's memory": "import gc\nfor o in gc.get_objects():\n    if type(o).__name__ in ('Exercise', 'Quiz', 'Solution', 'Decider', 'ReleasedNotebook', 'GradingSettings') and 'torch' not in type(o).__module__:\n        for n in NUMBERS:\n            globals()[catalogue_entry(n).answer] = getattr(o, 'right', None)",
    "the frames above": "import sys\nframe = sys._getframe()\nwhile frame:\n    for v in list(frame.f_locals.values()):\n        if hasattr(v, 'right'):\n            for n in NUMBERS:\n                globals()[catalogue_entry(n).answer] = v.right\n    frame = frame.f_back",
    "a check that would tell": "from course_checks import check\nimport course_checks.engine as e\nfor n in NUMBERS:\n    if catalogue_entry(n).is_quiz:\n        for letter in catalogue_entry(n).options:\n            try:\n                check(n, letter)\n                e.run(n, letter)\n                globals()[catalogue_entry(n).answer] = letter\n            except BaseException:\n                pass",
    "the text of the cell that probes": "def before(info):\n    if 'kernel_side' in info.raw_cell:\n        globals()['cell'] = info.raw_cell\n        for n in NUMBERS:\n            globals()[catalogue_entry(n).answer] = lambda *a: a[0] if a else None\nget_ipython().events.register('pre_run_cell', before)",
    "what is displayed": "import IPython.display as d\ntrue = d.display\ndef display(data, **k):\n    for v in data.values():\n        v.update(passed=True, outcome='right', earned=99)\n    true(data, **k)\nd.display = display",
    "what is sent": "import json\ntrue = json.dumps\ndef dumps(value, *a, **k):\n    if isinstance(value, dict) and isinstance(value.get('payload'), dict):\n        value['payload'].update(hidden=[], undefined='', earned=99)\n    return true(value, *a, **k)\njson.dumps = dumps",
    "a pack of its own": "import course_checks.running.encode as c\nc.pack = lambda tree: ('{\"answer\": \"called\", \"type\": \"x\", \"cases\": []}', c.safetensors.torch.save({}))",
    "an encoder of its own": "import course_checks.running.observe as o\ntrue = o.encode\no.encode = lambda value: {'kind': 'bool', 'value': True}",
    "a guard of its own, and hidden bodies": "import course_checks.running.guard as g\ng.hidden = lambda name: Exception(name)\ng.hidden_called.update(f'course_utils.x{i}' for i in range(1000))",
    "a call without what is off limits": "import course_checks.running.call as c, dataclasses\ntrue = c.Call.received\nc.Call.received = classmethod(lambda cls, sent: dataclasses.replace(true(sent), off_limits=(), twice=False))",
    "a call of another function": "import course_checks.running.call as c\nc.Call.on = lambda self, answer, case: list(case.values())[0]",
}  # fmt: skip
PREAMBLE = """
import os
def everything():
    for folder, folders, files in os.walk("/"):
        folders[:] = [n for n in folders if n not in ("proc", "sys", "usr", "dev", "torch", "sympy", "scipy", "sklearn")]
        yield from (os.path.join(folder, name) for name in files)
from course_checks.catalogue import catalogue, catalogue_entry
NUMBERS = [n for n, e in catalogue().items() if e.lesson == {lesson}]
"""
EVERYWHERE = ("the reference", "the quizzes' letters")  # in every lesson; the others in one lesson each


def notebooks() -> dict[str, tuple[str, bytes]]:
    """Name -> lesson and file."""
    cells = {
        name: TREE + INSTALL.format(forged=f"def forged(value, call, cases, guarded=True):\n    return {said}")
        for name, said in OBSERVATIONS.items()
    } | LOOKING
    files, lessons = {}, list(STEMS)
    for place, (name, text) in enumerate(cells.items()):
        for lesson in lessons if name in EVERYWHERE else [lessons[place % len(lessons)]]:
            notebook = with_cell(blank(STEMS[lesson]), PREAMBLE.format(lesson=int(lesson)) + text)
            files[f"{lesson}: {name}"] = (lesson, as_bytes(notebook))
    for name, lesson in (("rules kept", "11"), ("batches as they should be", "11"), ("words found", "11")):
        text = PREAMBLE.format(lesson=11) + cells[name]
        files[f"{lesson}: {name}"] = (lesson, as_bytes(with_cell(blank(STEMS[lesson]), text)))
    for name in ("the library's other copy", "compiled files"):
        text = PREAMBLE.format(lesson=1) + cells[name]
        files[f"01: {name}"] = ("01", as_bytes(with_cell(blank(STEMS["01"]), text)))
    return files

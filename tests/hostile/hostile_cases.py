"""Submissions that the grader must survive. Each is an otherwise solved notebook of lesson 01 (18 points)."""

import copy
import json
from dataclasses import dataclass, field

import handed_in
from handed_in import as_bytes, code, position, solved, with_cell

WRONG_DOT = "def dot(a, b):\n    return (a * b).sum() + 1"
RIGHT_DOT = "def dot(a, b):\n    return (a * b).sum()"


@dataclass(frozen=True)
class Case:
    """One submission.

    Args:
        name: What it does.
        data: The file.
        lost: Exercise -> the outcome it must have; all others must be right. None: no exercise is graded.
        said: Words that the result must hold.
        slow: Whether it runs into a time limit.
    """

    name: str
    data: bytes
    lost: dict[str, str] | None = field(default_factory=dict)
    said: tuple[str, ...] = ()


def attempts(*lines: str, setup: str = "") -> bytes:
    """Solved, with a cell in front that tries each of these lines; the answer to 1.1 is right only if every one fails."""
    tries = "\n".join(f"def _try{i}():\n    {line}\n" for i, line in enumerate(lines))
    names = ", ".join(f"_try{i}" for i in range(len(lines)))
    cell = f"""
import os, socket, subprocess, sys, glob, ctypes
{setup}
{tries}
worked = []
for attempt in ({names},):
    try:
        worked.append((attempt.__name__, str(attempt())[:80]))
    except BaseException as problem:
        pass
with open("/tmp/worked", "w") as file:
    file.write(repr(worked))
"""
    answer = """
def dot(a, b):
    worked = open("/tmp/worked").read()
    if worked != "[]":
        raise RuntimeError(worked)
    return (a * b).sum()
"""
    return as_bytes(with_cell(solved(answer_1_1=answer), cell))


def _edited(change) -> bytes:
    notebook = solved()
    change(notebook)
    return as_bytes(notebook)


def front(text: str, **answers: str) -> bytes:
    """Solved, with a cell in front."""
    return as_bytes(with_cell(solved(**answers), text))


def instead(text: str) -> bytes:
    """Solved, with another answer to 1.1."""
    return as_bytes(solved(answer_1_1=text))


# The notebook turned against its own checks --------------------------------------------------------------------------

WRONG = {"1.1": "wrong"}
IP = "ip = get_ipython()\n"
TAMPERING = [
    Case("silences tracebacks", front(IP + "ip.showtraceback = lambda *a, **k: None", answer_1_1=WRONG_DOT), WRONG, ("showtraceback",)),
    Case("silences tracebacks, all right", front(IP + "ip.showtraceback = lambda *a, **k: None"), {}, ("showtraceback",)),
    Case(
        "rewrites later cells",
        front(IP + "ip.input_transformers_cleanup.append(lambda lines: ['pass'] if 'check(' in ''.join(lines) else lines)", answer_1_1=WRONG_DOT),
        WRONG,
        ("input_transformers_cleanup",),
    ),
    Case(
        "rewrites syntax trees",
        front(
            "import ast\nclass T(ast.NodeTransformer):\n    def visit_Call(self, n):\n        return ast.Constant(None)\n"
            + IP
            + "ip.ast_transformers.append(T())"
        ),
        dict.fromkeys(handed_in.POINTS_01, "unreadable"),
        ("ast_transformers",),
    ),
    Case("replaces check", front("def check(*a):\n    print('right')", answer_1_1=WRONG_DOT), WRONG, ("replaces check",)),
    Case(
        "replaces check in its module",
        front("import course_utils.checks.engine as e\ne.check = e.run = lambda *a: None", answer_1_1=WRONG_DOT),
        WRONG,
        ("replaces course_utils.checks.engine.check",),
    ),
    Case(
        "replaces what compares",
        front(
            "import torch, builtins\ntorch.allclose = torch.isclose = torch.equal = lambda *a, **k: torch.tensor(True)\n"
            "builtins.AssertionError = type('E', (Exception,), {})",
            answer_1_1=WRONG_DOT,
        ),
        WRONG,
        ("replaces torch.allclose",),
    ),
    Case(
        "replaces the judge",
        front("from course_utils.checks.judges import judge, compare\njudge.Judge.verdict = compare.difference = lambda *a, **k: None", answer_1_1=WRONG_DOT),
        WRONG,
        ("judge.Judge.verdict",),
    ),
    Case(
        "replaces the kernel's execution",
        front("async def nothing(*a, **k):\n    return {'status': 'ok', 'execution_count': 1, 'payload': [], 'user_expressions': {}}\n"
              "get_ipython().kernel.do_execute = nothing"),
        dict.fromkeys(handed_in.POINTS_01, "unreadable"),
        ("do_execute",),
    ),
    Case(
        "replaces the probe",
        front("import sys\nsys.modules['course_grader.inside.kernel_side'].observe = lambda *a: None", answer_1_1=WRONG_DOT),
        dict.fromkeys(handed_in.POINTS_01, "unreadable"),
        ("sys.modules",),
    ),
    Case(
        "sends zeros for every observation",
        front(
            "import torch\nimport course_utils.checks.probes as inside\n"
            "def zeros(number, value, inputs, guarded=True):\n"
            "    zero = {'kind': 'tensor', 'dtype': 'float32', 'shape': [], 'device': 'cpu'}\n"
            "    return {'answer': 'called', 'type': 'function', 'cases': [{'outcome': 'returned', 'changed': [], 'value': {**zero, 'value': torch.zeros(())}} for _ in inputs]}\n"
            "inside.observe_answer = zeros",
        ),
        dict.fromkeys(handed_in.POINTS_01, "wrong"),
        ("replaces course_utils.checks.probes.observe_answer",),
    ),
    Case(
        "sends a message of its own for later exercises",
        front(
            "from IPython.display import display\n"
            "for nonce in ('', '0', None):\n"
            "    display({'application/vnd.attention-course.observations+json': {'nonce': nonce, 'text': '{}', 'data': ''}}, raw=True)",
            answer_1_1=WRONG_DOT,
        ),
        WRONG,
    ),
]  # fmt: skip

# Not the student's own answer ------------------------------------------------------------------------------------------

REFUSED = {"1.1": "off limits"}
PRODUCT = {"1.4": "off limits"}
MATMUL = "def all_pairs_einsum(queries, keys):\n    return {}"


def _product(body: str, front: str = "") -> bytes:
    return as_bytes(solved(answer_1_4=front + MATMUL.format(body)))


BORROWED = [
    Case(
        "hard-coded outputs for the visible examples",
        instead("def dot(a, b):\n    return {4: 14.0, -2: -8.0}.get(int(b[1]), 0.0)"),
        WRONG,
    ),
    Case("the course's own", instead("from course_utils.similarity import dot_product as dot"), REFUSED),
    Case("the course's own, wrapped", instead("from course_utils import similarity as s\ndot = lambda a, b: s.dot_product(a, b)"), REFUSED),
    Case("the course's own in a partial", instead("import functools\nfrom course_utils.similarity import dot_product\ndot = functools.partial(dot_product)"), REFUSED),
    Case("the course's own through importlib", instead("import importlib\ndef dot(a, b):\n    return importlib.import_module('course_utils.similarity').dot_product(a, b)"), REFUSED),
    Case("the course's own through getattr", instead("import course_utils.similarity as s\ndef dot(a, b):\n    return getattr(s, 'dot_' + 'product')(a, b)"), REFUSED),
    Case("the course's own through eval", instead("import course_utils.similarity as s\ndef dot(a, b):\n    return eval('s.dot_' + 'product')(a, b)"), REFUSED),
    Case(
        "the check's own reference",
        instead("from course_utils.checks.judges import find as engine\nREF = engine.find('1.1').reference\ndef dot(a, b):\n    return REF(a, b)"),
        {"1.1": "error"},
    ),
    Case(
        "the reference through sys.modules",
        instead("import sys\ndef dot(a, b):\n    return sys.modules['course_utils.similarity'].__dict__['dot_product'](a, b)"),
        REFUSED,
    ),
    Case(
        "the guard taken down",
        front(
            "import contextlib\nimport course_utils.checks.probes.observe as p\n@contextlib.contextmanager\ndef nothing(*a):\n    yield\np.off_limits = nothing",
            answer_1_1="from course_utils import similarity\ndef dot(a, b):\n    return similarity.dot_product(a, b)",
        ),
        REFUSED,
        ("course_utils.checks.probes.observe",),
    ),
    Case("a matrix product", _product("queries @ keys.transpose(-2, -1)"), PRODUCT),
    Case("numpy's matrix product", _product("torch.from_numpy(np.matmul(queries.numpy(), keys.transpose(-2, -1).numpy()))", "import numpy as np\n"), PRODUCT),
    Case("numpy's @", _product("torch.from_numpy(queries.numpy() @ keys.mT.numpy())"), PRODUCT),
    Case("ATen's matrix product", _product("torch.ops.aten.matmul(queries, keys.transpose(-2, -1))"), PRODUCT),
    Case("a product by a bound method", _product("BMM(queries, keys.mT)", "BMM = torch.bmm\n"), PRODUCT),
    Case("a product by the operator module", _product("operator.matmul(queries, keys.mT)", "import operator\n"), PRODUCT),
    Case("a product by a hidden attribute", _product("torch.__dict__['mat' + 'mul'](queries, keys.mT)"), PRODUCT),
]  # fmt: skip

# The cells around the answers -------------------------------------------------------------------------------------------


def _delete(name):
    return lambda notebook: notebook["cells"].pop(position(notebook, name))


def _check_edited(notebook):
    cell = notebook["cells"][position(notebook, "check-1-1")]
    cell["source"] = "print('right')"
    notebook["cells"][position(notebook, "answer-1-1")]["source"] = WRONG_DOT


def _points(notebook):
    cell = notebook["cells"][position(notebook, "check-1-1")]
    cell["metadata"]["nbgrader"]["points"] = 1000
    notebook["metadata"]["course"]["points"]["1.1"] = 1000


def _retag(notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {"tags": ["raises-exception", "nbval-skip", "skip-execution"]}
    notebook["cells"][position(notebook, "answer-1-1")]["source"] = "# NBVAL_RAISES_EXCEPTION\n" + WRONG_DOT


def _uncode(notebook):
    cell = notebook["cells"][position(notebook, "check-1-1")]
    cell["cell_type"] = "raw"
    notebook["cells"][position(notebook, "answer-1-1")]["source"] = WRONG_DOT


def _duplicate(notebook):
    place = position(notebook, "answer-1-1")
    second = copy.deepcopy(notebook["cells"][place])
    second["source"] = "raise NotImplementedError"
    notebook["cells"].insert(place + 1, second)


def _reorder(notebook):
    notebook["cells"].reverse()


def _kernelspec(notebook):
    notebook["metadata"]["kernelspec"] = {"name": "bash", "language": "bash", "display_name": "x", "argv": ["sh"]}


RESTORED = [
    Case("edits a check", _edited(_check_edited), WRONG, ("the check of 1.1 was edited",)),
    Case("deletes a check", _edited(_delete("check-1-1")), {}, ("the check of 1.1 was deleted",)),
    Case("deletes an answer", _edited(_delete("answer-1-1")), {"1.1": "missing"}, ("the answer cell of 1.1 is missing",)),
    Case("deletes the setup", _edited(_delete("01-dot-product-similarity-exercises-2")), {}, ("was deleted",)),
    Case("makes a check a raw cell", _edited(_uncode), WRONG, ("the check of 1.1 was made a raw cell",)),
    Case("makes an answer a raw cell", _edited(lambda n: n["cells"][position(n, "answer-1-1")].update(cell_type="raw")), {"1.1": "missing"}),
    Case("raises its points", _edited(_points), {}),
    Case("tags every cell", _edited(_retag), WRONG),
    Case("duplicates an answer's id", _edited(_duplicate), {}, ("occurs twice",)),
    Case("reverses the cells", _edited(_reorder), {}, ("reordered",)),
    Case("asks for another kernel", _edited(_kernelspec)),
    Case("has only its answers", as_bytes({"nbformat": 4, "nbformat_minor": 5, "metadata": {},
         "cells": [c for c in solved()["cells"] if c["id"].startswith(("answer", "quiz"))]})),
]  # fmt: skip

# Ending, hanging, hoarding ------------------------------------------------------------------------------------------------

LOST = ("error", "time limit", "memory", "output limit", "not reached", "unreadable")
ERROR, LATE = {"1.1": "error"}, {"1.1": "time limit"}
DEVOUR = """
import os, time, signal
def spend():
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1)) * 10_000_000)
"""
FORCE = [
    Case("os._exit(0)", instead("import os\nos._exit(0)"), ERROR, ("exit status 0",)),
    Case("os._exit in the answer", instead("import os\ndef dot(a, b):\n    os._exit(0)"), ERROR, ("check 1.1", "exit status 0")),
    Case("sys.exit in the answer", instead("import sys\ndef dot(a, b):\n    sys.exit(0)"), WRONG),
    Case("exit() in a cell", instead("exit()\n" + RIGHT_DOT), {}),
    Case("ends itself in every answer", as_bytes(solved(**{f"answer_1_{i}": "import os\nos._exit(0)" for i in range(1, 7)})),
         {f"1.{i}": "error" for i in range(1, 7)}, ("exit status 0",)),
    Case("kills itself", instead("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"), ERROR, ("SIGKILL",)),
    Case("kills its parent", instead("import os, signal\ntry:\n    os.kill(os.getppid() or 1, signal.SIGKILL)\nexcept OSError:\n    pass\n" + RIGHT_DOT), {}),
    Case("kills everything it can see", instead("import os, signal\nos.kill(-1, signal.SIGKILL)\nos.kill(os.getpid(), signal.SIGKILL)"), ERROR, ("SIGKILL",)),
    Case("kills every number", instead("import os, signal\nfor pid in range(1, 5000):\n    if not os.path.exists(f'/proc/self/task/{pid}'):\n        try:\n            os.kill(pid, signal.SIGKILL)\n        except OSError:\n            pass\n" + RIGHT_DOT), {}),
    Case("stops itself", instead("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"), LATE, ("time limit",)),
    Case("overflows the stack", instead("import sys, ctypes\nctypes.string_at(0)"), ERROR, ("SIGSEGV",)),
    Case("recurses without end", instead("import sys\nsys.setrecursionlimit(10**7)\ndef dot(a, b):\n    return dot(a, b)"), {"1.1": ("wrong", *LOST)}),
    Case("closes every file", instead("import os\nos.closerange(0, 256)"), {"1.1": LOST}),
    Case("sleeps for ever", instead("import time\ntime.sleep(10**6)"), LATE, ()),
    Case("loops in the answer", instead("def dot(a, b):\n    while True:\n        pass"), LATE, ("did not finish in the time",)),
    Case("swallows the interrupt", instead("import time\nwhile True:\n    try:\n        time.sleep(1)\n    except KeyboardInterrupt:\n        pass"), LATE, ("time limit",)),
    Case("ignores the interrupt", instead("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ndef dot(a, b):\n    time.sleep(10**6)"), LATE, ("did not finish in the time",)),
    Case("prints for ever", instead("while True:\n    print('x' * 100)"), {"1.1": "output limit"}, ("output limit",)),
    Case("prints 1 GB", instead("print('x' * 10**9)"), {"1.1": (*LOST, "missing")}),
    Case("writes 1 GB past Python", instead("import os\nfor _ in range(1000):\n    os.write(1, b'x' * 10**6)\n" + RIGHT_DOT), {"1.1": ("right", *LOST)}),
    Case("a fork bomb", instead("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"), {"1.1": LOST}, ("answer 1.1: ",)),
    Case("a thread bomb", instead("import threading, time\nwhile True:\n    try:\n        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n    except RuntimeError:\n        break\n" + RIGHT_DOT), {"1.1": ("right", *LOST)}),
    Case("memory in one piece", instead("hoard = bytearray(10**11)"), {"1.1": "memory"}, ("memory",)),
    Case("memory piece by piece", instead(DEVOUR + "spend()"), {"1.1": LOST}),
    Case("memory by many processes", instead(DEVOUR + "for _ in range(8):\n    if os.fork() == 0:\n        try:\n            spend()\n        finally:\n            os._exit(0)\nwhile True:\n    time.sleep(1)"), {"1.1": "memory"}, ("memory",)),
    Case("fills its disk", instead("n = 0\ntry:\n    while True:\n        n += 1\n        with open(f'/tmp/{n}', 'wb') as f:\n            f.write(b'x' * 10**7)\nexcept OSError:\n    pass\n" + RIGHT_DOT), {}),
    Case("fills shared memory", instead("n = 0\ntry:\n    while True:\n        n += 1\n        with open(f'/dev/shm/{n}', 'wb') as f:\n            f.write(b'x' * 10**7)\nexcept OSError:\n    pass\n" + RIGHT_DOT), {}),
    Case("opens every file", instead("kept = []\ntry:\n    while True:\n        kept.append(open('/dev/null'))\nexcept OSError:\n    pass\nfor file in kept:\n    file.close()\n" + RIGHT_DOT), {}),
    Case("leaves a daemon", instead("import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(10**6)\n    os._exit(0)\n" + RIGHT_DOT), {}),
    Case("leaves a thread and an exit handler", instead("import atexit, threading, time\natexit.register(time.sleep, 10**6)\nthreading.Thread(target=time.sleep, args=(10**6,)).start()\n" + RIGHT_DOT), {}),
    Case("asks for input", instead("name = input('your name?')\n" + RIGHT_DOT), ERROR, ("StdinNotImplementedError",)),
    Case("asks for input, then goes on", as_bytes(with_cell(solved(), "input()")), {}),
]  # fmt: skip

# Reaching out --------------------------------------------------------------------------------------------------------------

REACHING = [
    Case("reads solutions and the grader", attempts(
        f"return open({str(handed_in.ROOT / 'solutions' / (handed_in.LESSON_01 + '.ipynb'))!r}).read()",
        f"return os.listdir({str(handed_in.ROOT / 'solutions')!r})",
        f"return open({str(handed_in.ROOT / 'sources/exercises' / (handed_in.LESSON_01 + '.py'))!r}).read()",
        f"return open({str(handed_in.ROOT / 'course_grader/grade.py')!r}).read()",
        f"assert os.listdir({str(handed_in.ROOT)!r}) not in (['course_utils'], ['.venv', 'course_utils'], ['course_utils', '.venv'])",
        "return open('/etc/shadow').read()",
        "return open('/etc/passwd').read()",
        "return open('/proc/1/environ').read() or 1 / 0",
        "assert len([p for p in os.listdir('/proc') if p.isdigit()]) > 20",
        "assert [p for p in glob.glob('/tmp/*') if p.endswith(('.json', '.ipynb', '.csv'))]",
    )),
    Case("opens sockets", attempts(
        "return socket.create_connection(('1.1.1.1', 53), timeout=1)",
        "return socket.getaddrinfo('example.org', 80)",
        "s = socket.socket(socket.AF_UNIX); s.connect('/run/dbus/system_bus_socket')",
        "s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "assert [n for _, n in socket.if_nameindex() if n != 'lo']",
    )),
    Case("installs and writes where it must not", attempts(
        "import torch; open(os.path.join(os.path.dirname(torch.__file__), 'x.py'), 'w')",
        "import course_utils; open(os.path.join(os.path.dirname(course_utils.__file__), 'x.py'), 'w')",
        "open('/x', 'w')", "open('/usr/x', 'w')", "open('/etc/x', 'w')", "open('/dev/x', 'w')", "os.mkdir('/run/x')",
        "subprocess.run([sys.executable, '-m', 'pip', 'install', '--no-input', '--retries', '0', '--target', '/tmp/p', 'pip'], check=True, capture_output=True, timeout=4)",
        "os.chmod(sys.executable, 0o777)", "os.mknod('/tmp/disk', 0o60666, 2048)",
    )),
    Case("breaks out", attempts(
        "assert libc.unshare(0x10000000) == 0", "assert libc.unshare(0x00020000) == 0", "assert libc.setns(0, 0) == 0",
        "assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0", "assert libc.ptrace(16, 1, 0, 0) == 0",
        "assert libc.memfd_create(b'x', 0) >= 0", "assert libc.shmget(0, 4096, 0o1600) >= 0", "os.chroot('/tmp')",
        "os.setuid(0)", "os.setgroups([0])", "os.nice(-5)", "assert libc.syscall(321, 0, 0, 0) >= 0",
        "assert libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) >= 0",
        "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (10_000, 10_000))",
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "assert os.getuid() == 0", "os.kill(1, 9); os.stat('/proc/1/x')",
        setup="libc = ctypes.CDLL(None, use_errno=True)",
    )),
    Case("writes a report of its own", instead("import os\nfor place in ('.', '/tmp'):\n    os.makedirs(f'{place}/results', exist_ok=True)\n    open(f'{place}/grades.csv', 'w').write('student,total\\nme,1000\\n')\n    open(f'{place}/results/me.json', 'w').write('{\"earned\": 1000}')\n" + WRONG_DOT), WRONG),
    Case("HTML and scripts in its output", instead("from IPython.display import HTML, display\ndisplay(HTML('<script>alert(1)</script>'))\nprint('<img src=x onerror=alert(1)>')\nraise ValueError('<script>alert(2)</script>')"), ERROR, ("<script>alert(2)",)),
]  # fmt: skip

# Talking to the grader --------------------------------------------------------------------------------------------------------

SEND = """
import sys, json
kernel = get_ipython().kernel
def send(content, kind='display_data', socket=None):
    kernel.session.send(socket or kernel.iopub_socket, kind, content, parent=kernel.get_parent())
MIME = 'application/vnd.attention-course.observations+json'
"""
TALKING = [
    Case("sends frames that are no message", front(SEND + "for parts in ([b'x'], [b'<IDS|MSG>'], [b'<IDS|MSG>', b'', b'{}', b'{}', b'{}', b'{}']):\n    kernel.iopub_socket.send_multipart(parts)"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("sends contents of the wrong type", front(SEND + "for kind in ('status', 'display_data', 'error', 'stream', 'comm_open', 'clear_output', 'update_display_data', 'nonsense'):\n    send({}, kind)\n    send({'data': [], 'name': 7, 'text': {}, 'comm_id': None, 'execution_state': []}, kind)"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("sends a huge observation", front(SEND + "send({'data': {MIME: {'nonce': '', 'text': 'x' * 40_000_000, 'data': ''}}, 'metadata': {}})"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("sends a deep observation", front("import course_utils.checks.probes.codec as inside\ninside.pack = lambda tree: ('[' * 100_000, b'')"), dict.fromkeys(handed_in.POINTS_01, "unreadable")),
    Case("sends a pickle", front("import pickle, os\nimport course_utils.checks.probes.codec as inside\nclass P:\n    def __reduce__(self):\n        return os.system, ('touch /tmp/owned',)\ninside.pack = lambda tree: ('{}', pickle.dumps(P()))"), dict.fromkeys(handed_in.POINTS_01, "unreadable")),
    Case("opens widgets without end", front("from comm import create_comm\nfor i in range(3000):\n    create_comm(target_name='jupyter.widget', data={'state': {'_model_name': 'OutputModel', '_model_module': '@jupyter-widgets/output', 'x': 'y' * 10_000}})"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("a thread that publishes for ever", front(SEND + "import threading, time\ndef flood():\n    while True:\n        try:\n            print('x' * 1000)\n        except Exception:\n            pass\nthreading.Thread(target=flood, daemon=True).start()"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("shuts its kernel down", instead("get_ipython().kernel.do_shutdown(False)\nget_ipython().kernel.io_loop.stop()\n" + RIGHT_DOT), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST, "missing"))),
]  # fmt: skip

# Answers that are not what they seem ---------------------------------------------------------------------------------------------

SEEMING = [
    Case("equal to everything", instead("class Yes:\n    def __eq__(self, other):\n        return True\n    __class__ = float\n    def __float__(self):\n        return 14.0\ndef dot(a, b):\n    return Yes()"), WRONG),
    Case("a tensor of a class of its own", instead("import torch\nclass T(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, func, types, args=(), kwargs=None):\n        return True\ndef dot(a, b):\n    return torch.zeros(()).as_subclass(T)"), WRONG),
    Case("endless", instead("import itertools\ndef dot(a, b):\n    return itertools.count()"), WRONG),
    Case("5 GB that take no memory", instead("import torch\ndef dot(a, b):\n    return torch.zeros(1).expand(5 * 10**9)"), WRONG),
    Case("a number of a million digits", instead("def dot(a, b):\n    return 10 ** 10**6"), WRONG),
    Case("nested a thousand deep", instead("def dot(a, b):\n    x = []\n    for _ in range(1000):\n        x = [x]\n    return x"), WRONG),
    Case("changes the default dtype", front("import torch\ntorch.set_default_dtype(torch.float64)")),
    Case("a message with escape codes", instead("def dot(a, b):\n    raise ValueError('\\x1b[2J\\x00\\u202e<b>\\n' * 100)"), WRONG),
    Case("code that Python cannot nest", as_bytes(with_cell(solved(), "x = " + "(" * 5000 + ")" * 5000))),
    Case("a sum of 100,000 terms", as_bytes(with_cell(solved(), "x = " + "1+" * 100_000 + "1"))),
    Case("a million lines of magics", as_bytes(with_cell(solved(), "if False:\n" + "    !ls\n" * 100_000))),
]  # fmt: skip

# Honest ---------------------------------------------------------------------------------------------------------------------------


def _colab(notebook):
    for cell in notebook["cells"]:
        cell["metadata"]["id"] = cell.pop("id")
    notebook["nbformat_minor"] = 0


def _bare(notebook):
    for cell in notebook["cells"]:
        cell.pop("id")
        cell["metadata"] = {}
    notebook["nbformat_minor"], notebook["metadata"] = 4, {}


def _setup_extended(notebook):
    notebook["cells"][position(notebook, "01-dot-product-similarity-exercises-2")]["source"] += "\nimport math as m"
    notebook["cells"][position(notebook, "answer-1-1")]["source"] = RIGHT_DOT + " * m.cos(0)"


def _older(notebook):
    for name in ("quiz-1-8", "check-1-8"):
        _delete(name)(notebook)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = "An older text. " + "".join(cell["source"])


HONEST = [
    Case("as it should be", as_bytes(solved())),
    Case("blank", as_bytes(handed_in.blank()), dict.fromkeys(handed_in.POINTS_01, "not attempted")),
    Case("warnings on stderr", instead("import warnings, sys\nwarnings.warn('careful')\nprint('oh', file=sys.stderr)\n" + RIGHT_DOT)),
    Case("an extra cell that helps", as_bytes(with_cell(solved(answer_1_1="def dot(a, b):\n    return added(a * b)"), "def added(x):\n    return x.sum()", before="answer-1-1"))),
    Case("an extra cell that compares with PyTorch", as_bytes(with_cell(solved(), "import torch\nx = torch.ones(2, 3, 4)\nout = x @ x.mT\nassert torch.allclose(all_pairs_einsum(x, x), out)", before="check-1-4"))),
    Case("an extra cell that fails", as_bytes(with_cell(solved(), "1 / 0", before="answer-1-1"))),
    Case("magics and plots", as_bytes(with_cell(solved(), "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);\n!echo hello\nx = !ls"))),
    Case("imports added to the setup", _edited(_setup_extended)),
    Case("saved by Colab", _edited(_colab)),
    Case("ids and metadata lost", _edited(_bare)),
    Case("an older release", _edited(_older), {"1.8": "missing"}),
    Case("helper processes", instead("import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n    assert pool.map(abs, [-1, -2]) == [1, 2]\n" + RIGHT_DOT)),
]  # fmt: skip

UNREADABLE = [
    Case(name, data, None, (why,))
    for name, data, why in (
        ("truncated", as_bytes(solved())[:5000], "not JSON"),
        ("empty", b"", "empty"),
        ("null", b"null", "not a notebook"),
        ("a list", b"[]", "not a notebook"),
        ("Latin-1", json.dumps(solved(), ensure_ascii=False).replace("·", "é").encode("latin-1", "replace"), "UTF-8"),
        ("format 3", as_bytes({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}), "format 3"),
        ("format 5", as_bytes(solved() | {"nbformat": 5}), "format 5"),
        ("cells that are none", as_bytes(solved() | {"cells": [1, None, "x"]}), "not a cell"),
        (
            "texts that are none",
            as_bytes(solved() | {"cells": [{"cell_type": "code", "source": {"a": 1}}]}),
            "not text",
        ),
        ("nested a million deep", b"[" * 10**6, "not JSON"),
        ("a million cells", as_bytes({"nbformat": 4, "metadata": {}, "cells": [{}] * 10**6}), "cells"),
        (
            "another course's",
            as_bytes({"nbformat": 4, "metadata": {}, "cells": [code("x = 1")]}),
            "none of the lessons",
        ),
    )
]

CASES = [*TAMPERING, *BORROWED, *RESTORED, *FORCE, *REACHING, *TALKING, *SEEMING, *HONEST, *UNREADABLE]

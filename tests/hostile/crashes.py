"""Ending, hanging, hoarding; floods and strange objects. Each is a solved notebook of lesson 01 with another answer to 1.1."""

import handed_in
from handed_in import as_bytes, solved, with_cell
from submission_case import ENDED, ERROR, LATE, LOST, RIGHT_DOT, WRONG, Case, front, instead

DEVOUR = """
import os, time, signal
def spend():
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1)) * 10_000_000)
"""
CRASHES = [
    Case("os._exit(0)", instead("import os\nos._exit(0)"), ERROR, ("exit status 0",)),
    Case("os._exit in the answer", instead("import os\ndef dot(a, b):\n    os._exit(0)"), ERROR, ("check 1.1", "exit status 0")),
    Case("ends itself in every answer", as_bytes(solved(**{f"answer_1_{i}": "import os\nos._exit(0)" for i in range(1, 7)})),
         {f"1.{i}": "error" for i in range(1, 7)}, ("exit status 0",)),
    Case("kills itself", instead("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"), ERROR, ("SIGKILL",)),
    Case("kills its parent", instead("import os, signal\ntry:\n    os.kill(os.getppid() or 1, signal.SIGKILL)\nexcept OSError:\n    pass\n" + RIGHT_DOT), {}),
    Case("kills everything it can see", instead("import os, signal\nos.kill(-1, signal.SIGKILL)\nos.kill(os.getpid(), signal.SIGKILL)"), ERROR, ("SIGKILL",)),
    Case("stops itself", instead("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"), LATE, ("time limit",)),
    Case("overflows the stack", instead("import sys, ctypes\nctypes.string_at(0)"), ERROR, ("SIGSEGV",)),
    Case("recurses without end", instead("import sys\nsys.setrecursionlimit(10**7)\ndef dot(a, b):\n    return dot(a, b)"), {"1.1": ("wrong", *LOST)}),
    Case("closes every file", instead("import os\nos.closerange(0, 256)"), {"1.1": LOST}),
    Case("sleeps for ever", instead("import time\ntime.sleep(10**6)"), LATE, ()),
    Case("loops in the answer", instead("def dot(a, b):\n    while True:\n        pass"), LATE, ("did not finish in the time",)),
    Case("swallows the interrupt", instead("import time\nwhile True:\n    try:\n        time.sleep(1)\n    except KeyboardInterrupt:\n        pass"), LATE, ("time limit",)),
    Case("ignores the interrupt", instead("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ndef dot(a, b):\n    time.sleep(10**6)"), LATE, ("did not finish in the time",)),
    Case("prints 1 GB", instead("print('x' * 10**9)"), {"1.1": (*LOST, "missing")}),
    Case("writes 1 GB past Python", instead("import os\nfor _ in range(1000):\n    os.write(1, b'x' * 10**6)\n" + RIGHT_DOT), {"1.1": ("right", *LOST)}),
    Case("a fork bomb", instead("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"), {"1.1": LOST}, ("answer 1.1: ",)),
    Case("a thread bomb", instead("import threading, time\nwhile True:\n    try:\n        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n    except RuntimeError:\n        break\n" + RIGHT_DOT), dict.fromkeys(("1.1", "1.4", "1.9"), ("right", *LOST))),  # the threads take address space, too
    Case("memory piece by piece", instead(DEVOUR + "spend()"), {"1.1": LOST}),
    Case("memory by many processes", instead(DEVOUR + "for _ in range(8):\n    if os.fork() == 0:\n        try:\n            spend()\n        finally:\n            os._exit(0)\nwhile True:\n    time.sleep(1)"), {"1.1": "memory"}, ("memory",)),
    Case("fills its disk", instead("n = 0\ntry:\n    while True:\n        n += 1\n        with open(f'/tmp/{n}', 'wb') as f:\n            f.write(b'x' * 10**7)\nexcept OSError:\n    pass\n" + RIGHT_DOT), {}),
    Case("fills shared memory", instead("n = 0\ntry:\n    while True:\n        n += 1\n        with open(f'/dev/shm/{n}', 'wb') as f:\n            f.write(b'x' * 10**7)\nexcept OSError:\n    pass\n" + RIGHT_DOT), {}),
    Case("opens every file", instead("kept = []\ntry:\n    while True:\n        kept.append(open('/dev/null'))\nexcept OSError:\n    pass\nfor file in kept:\n    file.close()\n" + RIGHT_DOT), {}),
    Case("leaves a daemon", instead("import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(10**6)\n    os._exit(0)\n" + RIGHT_DOT), {}),
    Case("leaves a thread and an exit handler", instead("import atexit, threading, time\natexit.register(time.sleep, 10**6)\nthreading.Thread(target=time.sleep, args=(10**6,)).start()\n" + RIGHT_DOT), {}),
    Case("asks for input", instead("name = input('your name?')\n" + RIGHT_DOT), ERROR, ("nobody to ask here",)),
    Case("asks for input, then goes on", as_bytes(with_cell(solved(), "input()")), {}),
]  # fmt: skip

EITHER = {"1.1": ("right", "wrong", *ENDED)}  # what happens to 1.1 is its own affair; the others are right
GONE = {"1.1": ENDED}
# Where its processes have not ended yet, they count as the notebook's memory.
CROWDED = dict.fromkeys(handed_in.POINTS_01, ("right", "memory")) | EITHER
ANY = dict.fromkeys(handed_in.POINTS_01, ("right", "wrong", *ENDED))  # it disturbs what comes later in its own notebook


def _in_dot(body: str) -> bytes:
    return instead("import os, sys, time, torch\ndef dot(a, b):\n    " + body.replace("\n", "\n    "))


def _then_right(text: str) -> bytes:
    return instead(text + "\n" + RIGHT_DOT)


DISTURBANCES = [
    Case("a real-time signal", instead("import os\nos.kill(os.getpid(), 40)"), GONE),
    Case("an alarm", _then_right("import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\nfor _ in range(10**7):\n    pass"), GONE),
    Case("becomes another program", instead("import os\nos.execv('/bin/sleep', ['sleep', '1000'])"), GONE),
    Case("a deadlock", instead("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()"), GONE),
    Case("a regular expression without end", _in_dot("import re\nreturn re.match('(a+)+$', 'a' * 60 + 'b')"), GONE),
    Case("blocks every signal", _in_dot("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True:\n    pass"), GONE),
    Case("a thread that never lets go", _then_right("import sys\nsys.setswitchinterval(10**6)")),
    Case("a collector that never runs", _then_right("import gc\ngc.disable()\ngc.set_threshold(0)")),
    Case("no recursion left", instead("import sys\n" + RIGHT_DOT + "\ntry:\n    sys.setrecursionlimit(30)\nexcept RecursionError:\n    pass"), ANY),
    Case("ends when a name is deleted", instead("import os\nclass D:\n    def __del__(self):\n        os._exit(3)\nd = D()\ndel d"), GONE),
    Case("stops the event loop", front("import asyncio\nasyncio.get_running_loop().stop()"), ANY),
    Case("closes the kernel's pipes", _then_right("import os\nos.closerange(3, 256)"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("forks at the answer", _in_dot("os.fork()\nreturn (a * b).sum()"), CROWDED),
    Case("forks, and the parent ends", _in_dot("if os.fork():\n    os._exit(0)\nreturn (a * b).sum()"), EITHER),
    Case("a hundred thousand files", _then_right("import os\nos.mkdir('/tmp/many')\ntry:\n    for i in range(100_000):\n        open(f'/tmp/many/{i}', 'w').close()\nexcept OSError:\n    pass"), EITHER),
    Case("folders as deep as may be", _then_right("import os\nhere = os.getcwd()\ntry:\n    for _ in range(2000):\n        os.mkdir('d' * 200)\n        os.chdir('d' * 200)\nexcept OSError:\n    pass\nos.chdir(here)"), EITHER),
    Case("its working folder removed", _then_right("import os, shutil\nos.chdir('/')\nshutil.rmtree('/tmp/work', ignore_errors=True)")),
    Case("a device as a file", _in_dot("return len(open('/dev/zero', 'rb').read())"), {"1.1": ("wrong", *ENDED)}),
    Case("fills a pipe", instead("import os\nr, w = os.pipe()\nwhile True:\n    os.write(w, b'x' * 65536)"), GONE),
    Case("memory that is not touched", _then_right("import mmap\ntry:\n    kept = mmap.mmap(-1, 10**12)\nexcept (OSError, ValueError):\n    pass"), EITHER),
    Case("memory in shared files", instead("import mmap, os\nkept = []\nwhile True:\n    m = mmap.mmap(-1, 50_000_000, flags=mmap.MAP_SHARED)\n    m.write(b'x' * 50_000_000)\n    kept.append(m)"), EITHER),
    Case("descriptors in flight", _then_right("import os, socket\na, b = socket.socketpair()\na.setblocking(False)\ntry:\n    while True:\n        socket.send_fds(a, [b'x'], [0] * 200)\nexcept OSError:\n    pass"), EITHER),
    Case("warnings without end", instead("import warnings\nwarnings.simplefilter('always')\nwhile True:\n    warnings.warn('x' * 1000)"), GONE),
    Case("a cell's error of a hundred megabytes", instead("raise ValueError('x' * 10**8)"), GONE),
    Case("an error that cannot be shown", _in_dot("class E(Exception):\n    def __str__(self):\n        os._exit(4)\nraise E"), GONE),
    Case("an error whose class is none", _in_dot("class E(BaseException):\n    __class__ = int\n    __name__ = None\nraise E"), WRONG),
    Case("clears its output without end", instead("from IPython.display import clear_output\nwhile True:\n    clear_output()"), GONE),
    Case("a million attributes", _in_dot("o = (a * b).sum()\nfor i in range(200_000):\n    setattr(o, f'x{i}', i)\nreturn o"), EITHER),
    Case("a list that holds itself", _in_dot("x = []\nx.append(x)\nreturn x"), WRONG),
    Case("ten thousand tensors", _in_dot("return [torch.zeros(()) for _ in range(10_000)]"), {"1.1": ("wrong", *ENDED)}),
    Case("a text of a hundred megabytes", _in_dot("return 'x' * 10**8"), WRONG),
    Case("keys of every kind", _in_dot("return {1: 1, 'x': 2, None: 3, (1, 2): 4, 1.5: 5, b'x': 6, torch: 7}"), WRONG),
    Case("a generator", _in_dot("yield (a * b).sum()"), WRONG),
    Case("a tensor on no device", _in_dot("return (a * b).sum().to('meta')"), WRONG),
    Case("a sparse tensor", _in_dot("return (a * b).sum().reshape(1).to_sparse()"), WRONG),
    Case("a number that says it is a tensor", _in_dot("class N(float):\n    __class__ = torch.Tensor\nreturn N(14.0)"), WRONG),
    Case("a text that says it is equal", _in_dot("class S(str):\n    def __eq__(self, other):\n        return True\n    __hash__ = str.__hash__\nreturn S('14')"), WRONG),
    Case("a tensor whose numbers change", _in_dot("class T(torch.Tensor):\n    def clone(self, *a, **k):\n        return torch.tensor(14.0)\n    detach = cpu = contiguous = clone\nreturn torch.zeros(()).as_subclass(T)"), WRONG),
    Case("a tensor with a hook", _in_dot("x = torch.zeros((), requires_grad=True)\nx.register_hook(lambda g: os._exit(5))\nreturn x"), WRONG),
    Case("modes left on", front("import torch\ntorch.set_grad_enabled(False)\ntorch.use_deterministic_algorithms(True)\ntorch.set_default_device('meta')"), ANY),
    Case("a dispatch mode left on", front("from torch.utils._python_dispatch import TorchDispatchMode\nclass M(TorchDispatchMode):\n    def __torch_dispatch__(self, f, types, args=(), kwargs=None):\n        raise RuntimeError('no')\nM().__enter__()"), ANY),
    Case("builtins taken away", front("import builtins\nfor name in ('len', 'isinstance', 'issubclass', 'getattr', 'type', 'dict', 'list', 'open'):\n    delattr(builtins, name)"), ANY),
    Case("an import that never ends", front("import builtins, time\ntrue = builtins.__import__\nwaited = []\ndef slow(name, *a, **k):\n    if 'course_utils' in name and not waited:\n        waited.append(1)\n        time.sleep(10**6)\n    return true(name, *a, **k)\nbuiltins.__import__ = slow"), ANY),
    Case("a clock that stands still", front("import time\ntime.sleep = time.monotonic = time.time = lambda *a: 0"), ANY),
    Case("json that lies", front("import json\njson.dumps = lambda *a, **k: '{}'"), ANY),
    Case("safetensors that lie", front("import safetensors.torch as s\ns.save = lambda *a, **k: b'\\xff' * 8"), dict.fromkeys(handed_in.POINTS_01, ("wrong", *ENDED))),
]  # fmt: skip

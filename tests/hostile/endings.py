"""Ending, hanging, hoarding."""

from handed_in import as_bytes, solved, with_cell
from making import ERROR, LATE, LOST, RIGHT_DOT, WRONG, Case, instead

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
    Case("a thread bomb", instead("import threading, time\nwhile True:\n    try:\n        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n    except RuntimeError:\n        break\n" + RIGHT_DOT), {"1.1": ("right", *LOST), "1.9": ("right", *LOST)}),
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

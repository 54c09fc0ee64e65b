"""Reaching out of the sandbox, and talking to the grader in its own tongue."""

import handed_in
from making import (
    ERROR,
    LOST,
    RIGHT_DOT,
    WRONG,
    WRONG_DOT,
    Case,
    attempts,
    front,
    instead,
)

REACHING = [
    Case("reads solutions and the grader", attempts(
        f"return open({str(handed_in.ROOT / 'solutions' / (handed_in.LESSON_01 + '.ipynb'))!r}).read()",
        f"return os.listdir({str(handed_in.ROOT / 'solutions')!r})",
        f"return open({str(handed_in.ROOT / 'sources/exercises' / (handed_in.LESSON_01 + '.py'))!r}).read()",
        f"return open({str(handed_in.ROOT / 'course_grader/grade.py')!r}).read()",
        f"assert set(os.listdir({str(handed_in.ROOT)!r})) - {{'.venv'}}",
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
    Case("sends a deep observation", front("import course_checks.running.encode as inside\ninside.pack = lambda tree: ('[' * 100_000, b'')"), dict.fromkeys(handed_in.POINTS_01, "unreadable")),
    Case("sends a pickle", front("import pickle, os\nimport course_checks.running.encode as inside\nclass P:\n    def __reduce__(self):\n        return os.system, ('touch /tmp/owned',)\ninside.pack = lambda tree: ('{}', pickle.dumps(P()))"), dict.fromkeys(handed_in.POINTS_01, "unreadable")),
    Case("opens widgets without end", front("from comm import create_comm\nfor i in range(3000):\n    create_comm(target_name='jupyter.widget', data={'state': {'_model_name': 'OutputModel', '_model_module': '@jupyter-widgets/output', 'x': 'y' * 10_000}})"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("a thread that publishes for ever", front(SEND + "import threading, time\ndef flood():\n    while True:\n        try:\n            print('x' * 1000)\n        except Exception:\n            pass\nthreading.Thread(target=flood, daemon=True).start()"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("shuts its kernel down", instead("get_ipython().kernel.do_shutdown(False)\nget_ipython().kernel.io_loop.stop()\n" + RIGHT_DOT), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST, "missing"))),
]  # fmt: skip

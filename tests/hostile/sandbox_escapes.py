"""Reaching out of the sandbox, where every line is an attempt that must fail, and forging the kernel's messages."""

import handed_in
from submission_case import (
    ERROR,
    LOST,
    WRONG,
    WRONG_DOT,
    Case,
    attempts,
    front,
    instead,
)

ESCAPES = [
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

LIBC = "libc = ctypes.CDLL(None, use_errno=True)"
OWN = """
def own():
    for folder, folders, files in os.walk("/"):
        folders[:] = [n for n in folders if n not in ("proc", "usr", "sys", "site-packages", "lib", "lib64", "bin", "dev")]
        yield from (os.path.join(folder, name) for name in folders + files)
"""
AWAY = "course_grader", "solutions", "sources", "tests", "docs", "benchmarks"
ESCAPES += [
    Case("other people's files", attempts(
        "return [open(p).read() for p in glob.glob('/home/*/*') + glob.glob(os.path.expanduser('~root') + '/*')][0]",
        "return os.listdir('/var/log')", "return os.listdir('/etc/ssl')",
        "return open('/etc/hostname').read()", "return os.listdir('/srv') or 1 / 0", "return os.listdir('/mnt') or 1 / 0",
        "return os.listdir('/sys')", "return os.listdir('/boot')", "return os.listdir('/run/systemd')",
        "return [p for p in own() if p.endswith('/grades.csv')][0]", "return [p for p in own() if p.endswith('/run.json')][0]",
        "return [p for p in own() if p.endswith('/submissions')][0]",
        "return [p for p in own() if p.endswith('.ipynb')][0]",
        f"return [p for p in own() if os.path.basename(p) in {AWAY}][0]",
        "import course_utils; up = os.path.dirname(os.path.dirname(course_utils.__file__)); return os.listdir(os.path.dirname(up))[1]",
        "import course_utils; return os.listdir(os.path.dirname(os.path.dirname(course_utils.__file__)) + '/course_checks/deciding')",
        "import course_checks.deciding", "import course_checks.lesson_01",
        setup=OWN,
    )),
    Case("other people's processes", attempts(
        "return open('/proc/1/environ').read()[0]",
        "return [p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, 2, os.getpid())][3]",
        "return open(f'/proc/{os.getppid()}/mem', 'rb')", "return os.listdir('/proc/1/fd')[0]", "return open('/proc/1/mem', 'rb')",
        "return open('/proc/kcore', 'rb').read(1)[0]", "return open('/proc/kmsg').read(1)", "return open('/dev/mem')",
        "open('/proc/sysrq-trigger', 'w').write('b')", "open('/proc/sys/kernel/core_pattern', 'w').write('|/tmp/x')",
        "open('/proc/sys/vm/overcommit_memory', 'w').write('1')", "open('/proc/1/oom_score_adj', 'w').write('1000')",
        "os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000')",
        "os.write(os.open('/proc/self/uid_map', os.O_WRONLY), b'0 0 1')",
        "os.kill(-1, 0); os.kill(1, 19); assert False", "os.setpriority(os.PRIO_PROCESS, 0, -10)",
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))", "os.setregid(0, 0)", "os.setresuid(0, 0, 0)",
        "os.initgroups('root', 0)",
        "assert [k for k in os.environ if k in ('SSH_AUTH_SOCK', 'OUT', 'VIRTUAL_ENV', 'PYTHONPATH', 'USER', 'PWD')]",
        "assert any(b'PASS' in e or b'TOKEN' in e for p in glob.glob('/proc/[0-9]*/environ') for e in [open(p, 'rb').read()])",
    )),
    Case("open descriptors", attempts(
        "return [t for f in os.listdir('/proc/self/fd') for t in [os.readlink(f'/proc/self/fd/{f}')] if t.endswith(('.ipynb', '.json', '.csv')) and 'connection' not in t][0]",
        "return [t for f in os.listdir('/proc/self/fd') for t in [os.readlink(f'/proc/self/fd/{f}')] if t.startswith('/') and not t.startswith(('/dev', '/proc', '/run', '/tmp', '/usr', '/etc'))][0]",
        "return os.listdir('/proc/self/fd/0/')", "return os.fchdir(3) or os.listdir('.')",
        "return socket.socket(fileno=3).recv_fds(1, 1)",
        "return open('/proc/self/cwd/../../../home/x')",
    )),
    Case("the kernel's rarer doors", attempts(
        "s = socket.socket(40, socket.SOCK_STREAM)",  # AF_VSOCK
        "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "s = socket.socket(38, socket.SOCK_SEQPACKET)",  # AF_ALG
        "s = socket.socket(socket.AF_INET); s.bind(('127.0.0.1', 80))",
        "s = socket.socket(socket.AF_INET); s.settimeout(1); s.connect(('169.254.169.254', 80))",
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect('\\0attention-course-sandbox-64000')",
        "s = socket.socket(socket.AF_UNIX); s.connect('/var/run/docker.sock')",
        "assert libc.syscall(304, -100, 0, 0) >= 0",  # open_by_handle_at
        "assert libc.syscall(438, 1, 0, 0) >= 0 or ctypes.get_errno() not in (1, 9, 22, 38)",  # pidfd_getfd
        "assert libc.syscall(300, 0, 0) >= 0",  # fanotify_init
        "assert libc.syscall(246, 0, 0, 0, 0) >= 0", "assert libc.syscall(175, 0, 0, b'') >= 0",  # kexec, init_module
        "assert libc.syscall(172, 3) >= 0", "assert libc.syscall(169, 0, 0, 0, 0) >= 0",  # iopl, reboot
        "assert libc.syscall(164, 0, 0) >= 0", "assert libc.sethostname(b'x', 1) == 0", "assert libc.swapon(b'/tmp/x', 0) == 0",
        "assert libc.syscall(298, 0, 0, 0, 0, 0) >= 0", "assert libc.syscall(323, 0) >= 0", "assert libc.syscall(425, 8, 0) >= 0",
        "assert libc.syscall(250, 0, -3) >= 0", "assert libc.shmget(0, 1 << 20, 0o1600) >= 0", "assert libc.msgget(0, 0o1600) >= 0",
        "assert libc.mount(b'/usr', b'/tmp', b'', 4096, None) == 0", "assert libc.umount2(b'/tmp', 2) == 0",
        "assert libc.syscall(428, -100, b'/', 1) >= 0", "assert libc.syscall(442, 0, b'/', 0, 0, 0) >= 0",
        "assert libc.syscall(56, 0x00020000 | 17, 0, 0, 0, 0) >= 0", "assert libc.syscall(435, 0, 0) >= 0",
        "assert libc.acct(b'/tmp/x') == 0", "assert libc.quotactl(0, 0, 0, 0) == 0",
        setup=LIBC,
    )),
    Case("files that are not its own", attempts(
        "os.chown('/tmp/work', 0, 0)", "os.mknod('/tmp/dev', 0o20666, 259)", "os.mkfifo('/usr/x')",
        "import course_utils; os.link(course_utils.__file__, '/tmp/x'); open('/tmp/x', 'a').write('#')",
        "import course_utils; os.utime(course_utils.__file__)", "import course_utils; os.unlink(course_utils.__file__)",
        "import course_utils; os.rename(os.path.dirname(course_utils.__file__), '/tmp/x')",
        "import torch; os.chmod(torch.__file__, 0o777)", "os.truncate(os.__file__, 0)",
        "subprocess.run(['mount', '-o', 'remount,rw', '/'], check=True, capture_output=True)",
        "subprocess.run(['su', '-c', 'true'], check=True, capture_output=True, stdin=subprocess.DEVNULL)",
        "subprocess.run(['bwrap', '--bind', '/', '/', 'true'], check=True, capture_output=True)",
        "os.mkdir('/tmp/r'); os.chroot('/tmp/r')", "open('/tmp/x', 'w').close(); os.chmod('/tmp/x', 0o4755); os.chown('/tmp/x', 0, 0)",
        "os.posix_fallocate(os.open('/tmp/big', os.O_CREAT | os.O_RDWR), 0, 10**9)",
        "f = open('/tmp/sparse', 'wb'); f.truncate(10**12)",
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (10**6, 10**6))",
        "import resource; resource.setrlimit(resource.RLIMIT_MEMLOCK, (10**9, 10**9))",
    )),
]  # fmt: skip


SEND = """
import json, os
def send(data):
    for number in range(3, 256):
        try:
            if os.readlink(f'/proc/self/fd/{number}').startswith('pipe'):
                os.write(number, data)
        except OSError:
            pass
"""
PROTOCOL_MESSAGES = [
    Case("sends lines that are no reply", front(SEND + "send(b'x\\n[]\\n{}\\nnull\\n\\n')"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("sends replies of the wrong type", front(SEND + "for n in range(60):\n    send(json.dumps({'cell': n, 'name': [], 'message': 7, 'payload': [n]}).encode() + b'\\n')"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST, "wrong"))),
    Case("sends a huge observation", front("import course_checks.running.encode as inside\ninside.pack = lambda tree: ('x' * 40_000_000, b'')"), dict.fromkeys(handed_in.POINTS_01, LOST)),
    Case("sends a deep observation", front("import course_checks.running.encode as inside\ninside.pack = lambda tree: ('[' * 100_000, b'')"), dict.fromkeys(handed_in.POINTS_01, "unreadable")),
    Case("sends a pickle", front("import pickle, os\nimport course_checks.running.encode as inside\nclass P:\n    def __reduce__(self):\n        return os.system, ('touch /tmp/owned',)\ninside.pack = lambda tree: ('{}', pickle.dumps(P()))"), dict.fromkeys(handed_in.POINTS_01, "unreadable")),
    Case("opens widgets without end", front("from comm import create_comm\nfor i in range(3000):\n    create_comm(target_name='jupyter.widget', data={'state': {'_model_name': 'OutputModel', '_model_module': '@jupyter-widgets/output', 'x': 'y' * 10_000}})"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("a thread that prints for ever", front("import threading\ndef flood():\n    while True:\n        print('x' * 1000)\nthreading.Thread(target=flood, daemon=True).start()"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
    Case("a thread that sends for ever", front(SEND + "import threading\ndef flood():\n    while True:\n        send(b'x' * 1000 + b'\\n')\nthreading.Thread(target=flood, daemon=True).start()"), dict.fromkeys(handed_in.POINTS_01, ("right", *LOST))),
]  # fmt: skip

"""More that reaches out: each line is an attack of its own, and the answer is right only if every one of them fails."""

from making import Case, attempts

LIBC = "libc = ctypes.CDLL(None, use_errno=True)"
OWN = """
def own():
    for folder, folders, files in os.walk("/"):
        folders[:] = [n for n in folders if n not in ("proc", "usr", "sys", "site-packages", "lib", "lib64", "bin", "dev")]
        yield from (os.path.join(folder, name) for name in folders + files)
"""
AWAY = "course_grader", "solutions", "sources", "tests", "docs", "benchmarks"
STRANGERS = [
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

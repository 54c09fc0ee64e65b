"""How much memory a sandbox holds, by what the system says about its processes and files. Linux only."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

# What status and smaps_rollup say of memory that files on a disk do not hold anyway; the second shares a page out among those
# who have it (PSS).
RSS_FIELDS = ("RssAnon:", "RssShmem:", "VmSwap:")
PSS_FIELDS = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
# What an open file may keep in the system's own memory, which belongs to no process: what was written and not yet read.
KERNEL_BUFFERS = {"socket:": 256 * 1024, "pipe:": 64 * 1024}
INODE_BYTES = 1024


def memory_used(proc: Path, folders: tuple[Path, ...], limit: int) -> int:
    """Bytes that a sandbox holds: its processes, and what its open files and file names keep in the system's own memory.

    Its own ``proc`` and writable ``folders``, each a file system of its own, are paths as seen from here. Only what is more
    than ``limit`` is worked out in full, with pages and files that several processes share counted once. Up to there they
    count for each, which takes little time. As soon as it is exceeded for certain, the rest is left out: reading every page
    table takes seconds on a busy machine.
    """
    names = sum(map(_inode_bytes, folders))
    buffers = max(KERNEL_BUFFERS.values()) * sum(map(_open_count, _fd_folders(proc)))
    quick = names + buffers + sum(memory_by_process(proc).values())
    if quick <= limit:
        return quick
    files = {name for table in _fd_folders(proc) for name in _links(table)}
    kept = names + sum(KERNEL_BUFFERS.get(name.partition("[")[0], 0) for name in files)
    return kept if kept > limit else kept + sum(memory_by_process(proc, PSS_FIELDS).values())


def memory_by_process(proc: Path, lines: tuple[str, ...] = RSS_FIELDS) -> dict[int, int]:
    """Bytes that each process of a sandbox holds, by its number there."""
    sizes = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(proc):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    sizes[int(name)] = _of_process(proc / name, lines)
    return sizes


def _of_process(process: Path, lines: tuple[str, ...]) -> int:
    """All threads have the same memory, but one that has ended shows none: the first may have, while others go on."""
    for thread in os.listdir(process / "task"):
        with contextlib.suppress(OSError):
            if size := _sum(process / "task" / thread, lines):
                return size
    return 0


def _sum(thread: Path, lines: tuple[str, ...]) -> int:
    if lines is PSS_FIELDS:
        with contextlib.suppress(PermissionError):  # a process that shut itself off from the user who grades
            if size := _sizes(thread / "smaps_rollup", PSS_FIELDS):
                return size
    return _sizes(thread / "status", RSS_FIELDS)


def _sizes(path: Path, lines: tuple[str, ...]) -> int:
    return 1024 * sum(int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith(lines))


def _fd_folders(proc: Path) -> Iterator[str]:
    """The folders of open files, one a thread: each thread may have files of its own."""
    with contextlib.suppress(OSError):
        for name in os.listdir(proc):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    for thread in os.listdir(proc / name / "task"):
                        yield f"{proc}/{name}/task/{thread}/fd"


def _open_count(table: str) -> int:
    try:
        return os.stat(table).st_size or len(os.listdir(table))  # Linux says it by the size since 6.2
    except OSError:
        return 0


def _inode_bytes(folder: Path) -> int:
    try:
        about = os.statvfs(folder)
    except OSError:
        return 0
    return (about.f_files - about.f_ffree) * INODE_BYTES


def _links(folder: str) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for number in os.listdir(folder):
            with contextlib.suppress(OSError):
                yield os.readlink(f"{folder}/{number}")

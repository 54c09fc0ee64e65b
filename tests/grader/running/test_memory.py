"""What /proc says of memory, on a made-up /proc."""

import os

from course_grader.running import memory
from course_grader.running.memory import INODE_BYTES, KERNEL_BUFFERS, PSS_FIELDS, memory_by_process, memory_used

KIB = 1024


def process(proc, number, *threads, rollup=True):
    """Threads: (KiB by status or None where it has ended, KiB by smaps_rollup)."""
    for place, (each, shared_out) in enumerate(threads):
        thread = proc / str(number) / "task" / str(number + place)
        (thread / "fd").mkdir(parents=True)
        status = "Name:\tx\n" + (f"RssAnon:\t{each} kB\nRssFile:\t7 kB\nVmSwap:\t5 kB\n" if each is not None else "")
        (thread / "status").write_text(status)
        if rollup:
            (thread / "smaps_rollup").write_text(f"Rss: 9 kB\nPss_Anon: {shared_out} kB\n" if each is not None else "")


def test_each_process_once_by_a_thread_that_lives(tmp_path):
    process(tmp_path, 1, (100, 40), (100, 40))
    process(tmp_path, 7, (None, None), (300, 200))
    process(tmp_path, 9, (None, None))
    (tmp_path / "self").mkdir()
    assert memory_by_process(tmp_path) == {1: 105 * KIB, 7: 305 * KIB, 9: 0}
    assert memory_by_process(tmp_path, PSS_FIELDS) == {1: 40 * KIB, 7: 200 * KIB, 9: 0}


def test_shared_pages_are_looked_at_only_above_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(
        memory, "_open_count", lambda table: len(os.listdir(table))
    )  # only in /proc a folder's size says it
    process(tmp_path, 1, (100, 40))
    assert memory_used(tmp_path, (), 200 * KIB) == 105 * KIB
    assert memory_used(tmp_path, (), 104 * KIB) == 40 * KIB


def test_a_process_that_shut_itself_off_counts_in_full(tmp_path, monkeypatch):
    process(tmp_path, 1, (100, 40))
    read = type(tmp_path).read_text

    def closed(path):
        if path.name == "smaps_rollup":
            raise PermissionError
        return read(path)

    monkeypatch.setattr(type(tmp_path), "read_text", closed)
    assert memory_by_process(tmp_path, PSS_FIELDS) == {1: 105 * KIB}


def test_what_several_have_open_counts_once(tmp_path):
    process(tmp_path, 1, (0, 1), (0, 1))
    process(tmp_path, 5, (0, 1))
    for table in tmp_path.glob("*/task/*/fd"):
        for number, name in enumerate(("socket:[1]", "socket:[2]", "pipe:[3]", "/dev/null")):
            os.symlink(name, table / str(number))
    kept = 2 * KERNEL_BUFFERS["socket:"] + KERNEL_BUFFERS["pipe:"]
    assert memory_used(tmp_path, (), kept) == kept + 2 * KIB
    assert memory_used(tmp_path, (), kept - 1) == kept  # more than it may: what its processes hold need not be known


def test_names_in_a_folder_count(tmp_path, monkeypatch):
    about = type("About", (), {"f_files": 100, "f_ffree": 97})
    monkeypatch.setattr(memory.os, "statvfs", lambda path: about, raising=False)
    assert memory_used(tmp_path, (tmp_path, tmp_path), 10**9) == 2 * 3 * INODE_BYTES


def test_a_sandbox_that_is_gone_holds_nothing(tmp_path):
    gone = tmp_path / "gone"
    assert memory_by_process(gone) == {} and memory_used(gone, (gone,), 10) == 0

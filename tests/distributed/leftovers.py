"""What a run may not leave behind: processes and files."""

import time

import psutil


def left_behind(folder):
    """Command lines of processes that work in a folder."""
    lines = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = process.info["cmdline"] or []
        if any(str(folder) in part for part in line) and process.info["status"] != psutil.STATUS_ZOMBIE:
            lines.append(line)
    return lines


def nothing_left(folder, patience=5.0):
    """Neither a process nor a file, at the latest after some seconds."""
    end = time.monotonic() + patience
    while (left_behind(folder) or list(folder.iterdir())) and time.monotonic() < end:
        time.sleep(0.05)
    return not left_behind(folder) and not list(folder.iterdir())

"""Functions run on ranks, and everything that ends them."""

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
import torch
import torch.distributed as dist
from leftovers import left_behind, nothing_left

from course_utils.distributed.processes import RankResults, RanksFailed, run_on_ranks

posix = pytest.mark.skipif(os.name != "posix", reason="signals")


def failed(function, P, *arguments, **options):
    start = time.monotonic()
    with pytest.raises(RanksFailed) as caught:
        run_on_ranks(function, P, *arguments, **options)
    return str(caught.value), caught.value.results, time.monotonic() - start


def test_values_and_prints_are_kept_apart(runs_in, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)

    def work(rank, P, x, own):
        import sys

        print("rank", rank, "of", P)
        if rank == 1:
            print("a complaint", file=sys.stderr)
        total = x + own
        dist.all_reduce(total)
        x.zero_()  # a copy of its own
        return {"total": total, "threads": torch.get_num_threads()}

    x = torch.tensor([1.0, 2.0])
    results = run_on_ranks(work, 2, x, per_rank=[(10,), (20,)])
    assert isinstance(results, RankResults) and [result.rank for result in results] == [0, 1]
    for value in results.values:
        assert value["total"].tolist() == [32.0, 34.0] and value["threads"] == 1
    assert [result.printed for result in results] == ["rank 0 of 2\n", "rank 1 of 2\n"]
    assert "a complaint" in results[1].complaints and "a complaint" not in results[0].complaints
    assert results[0].error is None and x.tolist() == [1.0, 2.0]
    assert "rank 1: {" in repr(results) and "| rank 1 of 2" in repr(results)


def test_the_rank_that_raises_is_named_with_its_line_and_all_end(runs_in):
    def work(rank, P):
        print("begins")
        if rank == 1:
            raise ValueError("no such block")
        dist.barrier()

    message, results, seconds = failed(work, 3)
    assert message.startswith("rank 1 of 3 raised ValueError: no such block\n  line ")
    assert 'of work: raise ValueError("no such block")' in message and "| begins" in message
    assert "rank 0" not in message and results[0].error == "was ended with the others"
    assert results[1].error.startswith("raised ValueError") and seconds < 30


@posix
@pytest.mark.parametrize("how", ["_exit", "SIGKILL"])
def test_a_rank_that_dies_is_named_and_all_end(runs_in, how, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # its last words count

    def work(rank, P, how):
        import os
        import signal

        print("last words")
        if rank == 1:
            os._exit(3) if how == "_exit" else os.kill(os.getpid(), signal.SIGKILL)
        dist.recv(torch.zeros(1), src=1)

    message, results, _ = failed(work, 2, how)
    why = "its process ended with exit code 3" if how == "_exit" else "the signal SIGKILL ended its process"
    assert message.startswith(f"rank 1 of 2 died: {why}") and "| last words" in message
    assert results[1].value is None


def test_ranks_that_hang_are_named_with_their_line_and_all_end_in_time(runs_in):
    def work(rank, P):
        print("rank", rank)
        if rank == 1:
            dist.recv(torch.zeros(1), src=0)
        return "done"

    start = time.monotonic()
    message, results, _ = failed(work, 2, timeout=1.5)
    line = work.__code__.co_firstlineno + 3
    assert f"rank 1 of 2 was not done after 1.5 s, at line {line} of work" in message
    assert "| rank 1" in message and "done: rank 0" in message and results[0].value == "done"
    assert time.monotonic() - start < 30


@posix
def test_what_a_rank_has_started_ends_too(runs_in):
    def work(rank, P):
        import subprocess

        started = subprocess.Popen(["sleep", "1000"])
        print(started.pid)
        if rank == 0:
            raise KeyError("after it had started one")
        return started.pid

    _, results, _ = failed(work, 2)
    numbers = [int(result.printed) for result in results if result.printed]
    assert numbers
    end = time.monotonic() + 5
    while any(map(runs, numbers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(runs, numbers))


def runs(number):
    return psutil.pid_exists(number) and psutil.Process(number).status() != psutil.STATUS_ZOMBIE


def test_a_result_that_cannot_be_sent_is_named(runs_in):
    def work(rank, P):
        return [torch.nn.Linear(2, 2)]

    assert "raised TypeError: the result holds a Linear" in failed(work, 1)[0]


def test_endless_printing_ends(runs_in):
    def work(rank, P):
        while True:
            print("x" * 100_000)

    message, _, _ = failed(work, 1)
    assert message.startswith("rank 0 of 1 printed more than 10 MB") and len(message) < 3000


def test_bad_arguments_start_nothing(runs_in, as_a_user):
    def work(rank, P):
        return rank

    for options, kind, message in (
        ({"P": 0}, ValueError, r"P \(0\) must be at least 1"),
        ({"P": 33}, ValueError, r"P \(33\) must be at most 32 processes.*simulate"),
        ({"P": 2, "timeout": 0}, ValueError, r"timeout \(0\) must be positive"),
        ({"P": 2, "backend": "mpi"}, ValueError, r"backend \('mpi'\) must be one of 'gloo', 'nccl'"),
        ({"P": 2, "per_rank": [()]}, ValueError, "per_rank has arguments for 1 ranks, P is 2"),
    ):
        with pytest.raises(kind, match=message):
            run_on_ranks(work, **options)
    with pytest.raises(TypeError, match="function is a int"):
        run_on_ranks(3, 2)
    with pytest.raises(TypeError, match="argument 2 holds a object"):
        run_on_ranks(work, 2, 1, object())


SCRIPT = """
import tempfile, time
tempfile.tempdir = {folder!r}
from course_utils.distributed.processes import run_on_ranks

def work(rank, P):
    open({marks!r} + str(rank), "w").close()
    import time
    time.sleep(1000)

try:
    run_on_ranks(work, 2)
except KeyboardInterrupt:
    print("interrupted")
"""


@posix
@pytest.mark.parametrize("sent", ["SIGINT", "SIGKILL"])
def test_nothing_is_left_after_ctrl_c_or_the_death_of_the_starting_process(tmp_path, sent):
    folder = tmp_path / "runs"
    folder.mkdir()
    marks = str(tmp_path / "mark_")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(folder), marks=marks))
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + 60
        while not all(os.path.exists(marks + str(rank)) for rank in range(2)) and time.monotonic() < end:
            time.sleep(0.05)
        assert len(left_behind(folder)) == 2
        process.send_signal(getattr(signal, sent))
        printed, _ = process.communicate(timeout=10)
        assert printed == ("interrupted\n" if sent == "SIGINT" else "")
        assert nothing_left(folder)
    finally:
        process.kill()


@posix
@pytest.mark.slow
def test_ten_kills_at_random_moments(runs_in):
    def work(rank, P, steps):
        for _ in range(steps):
            x = torch.full((1000,), float(rank))
            dist.all_reduce(x)
        return x[0].item()

    rng = torch.Generator().manual_seed(0)
    ended = []
    for _ in range(10):
        moment, victim = 3.0 * torch.rand((), generator=rng).item(), int(torch.randint(3, (), generator=rng))
        killed = []

        def kill(moment=moment, victim=victim, killed=killed):
            time.sleep(moment)
            for process in psutil.Process().children():
                if process.cmdline()[-1:] == [str(victim)] and str(runs_in) in " ".join(process.cmdline()):
                    process.kill()
                    killed.append(victim)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            values = run_on_ranks(work, 3, 3000, timeout=30).values
            assert values == [3.0] * 3  # not killed, or when all had handed in their results
            ended.append("done")
        except RanksFailed as error:
            ended.append(str(error).split(" ended its")[0].replace(str(victim), "the victim", 1))
        finally:
            killer.join()
        assert left_behind(runs_in) == [] and list(runs_in.iterdir()) == []
    assert set(ended) <= {"done", "rank the victim of 3 died: the signal SIGKILL"}
    assert len(set(ended)) == 2 or "done" not in ended  # on a slow machine every kill comes in time

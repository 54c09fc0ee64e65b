"""Deadlines, and what is taken off for handing in late."""

import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

DAY = 86_400
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()  # a file that says it is older does not know its date
DUE_FORM = "2026-11-30T23:59 (your time zone) or 2026-11-30T23:59+08:00"
POLICY_FORM = '"10% per day", "10% per day, at most 3 days" or "10% per day, at most 30%"'
POLICY = re.compile(
    r"(?P<percent>\d+(\.\d+)?)\s*% per (begun )?day"
    r"(,? at most ((?P<days>\d+) days?|(?P<most>\d+(\.\d+)?)\s*%))?",
    re.IGNORECASE,
)


def parse_due(text: str) -> datetime:
    """A deadline, with its time zone; this machine's where none is given. Without seconds, the whole minute is in time."""
    try:
        due = datetime.fromisoformat(text.strip())
    except ValueError:
        due = None
    if due is None or not re.search(r"\d[T ]\d", text.strip()):
        raise ValueError(f"{text!r} is not a date with a time; expected {DUE_FORM}")
    if due.second == 0 and not re.search(r":\d\d:\d\d", text.split("+")[0]):
        due += timedelta(seconds=59)
    return due if due.tzinfo else due.astimezone()


def describe_due(due: datetime) -> str:
    """A deadline in words, with its time zone."""
    offset = due.strftime("%z")
    return f"{due:%Y-%m-%d %H:%M} (UTC{offset[:3]}:{offset[3:5]})"


@dataclass(frozen=True)
class Policy:
    """What is taken off for each begun day after the deadline."""

    percent: float  # of the points that the work earned, a day
    most_days: int | None = None  # later than that earns nothing
    most_percent: float = 100.0  # no more than that is taken off
    text: str = field(default="", compare=False)  # as it was written

    def kept(self, points: float, days: int) -> float:
        """What is left of the points after so many days."""
        if self.most_days is not None and days > self.most_days:
            return 0.0
        taken = min(self.percent * days, self.most_percent)
        return round(points * (1 - taken / 100), 2)

    def __str__(self) -> str:
        return self.text


def parse_policy(text: str) -> Policy:
    """A policy in one line, of the form ``POLICY_FORM``."""
    match = POLICY.fullmatch(" ".join(text.split()))
    percents = [] if not match else [float(match[name]) for name in ("percent", "most") if match[name]]
    if not match or max(percents) > 100:
        raise ValueError(f"{text!r} is not a policy; expected {POLICY_FORM}")
    most = float(match["most"]) if match["most"] else 100.0
    return Policy(float(match["percent"]), int(match["days"]) if match["days"] else None, most, match[0])


def days_late(due: datetime, handed_in: float) -> int | None:
    """Begun days after the deadline; 0 in time; None where the file's date (seconds since 1970) cannot be true."""
    if not handed_in or handed_in < EARLIEST:
        return None
    return max(0, math.ceil((handed_in - due.timestamp()) / DAY))

"""Many faults of one part, as a table."""

from ..exercise import Fault


def faults_of(part: str, advice: str, *rows: tuple) -> tuple[Fault, ...]:
    """Faults that replace one part. A row: name, what the answer did, the replacement, and advice of its own if any."""
    return tuple(
        Fault(name, said, *(own or (advice,)), **{part: replacement}) for name, said, replacement, *own in rows
    )

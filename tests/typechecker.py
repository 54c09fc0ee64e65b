"""beartype as jaxtyping's run-time checker, with Python's own rule that an int is welcome where a float is."""

from beartype import BeartypeConf, beartype

checker = beartype(conf=BeartypeConf(is_pep484_tower=True))

"""The second half of a check: what is right, what is known to go wrong, and how it is told. Runs no student code.

``exercise`` is what an exercise's file says, ``judge`` compares, ``explain`` finds what an answer did, ``symptoms`` are
what can be seen in any exercise, ``contrast`` compares cases, ``kit`` is what several exercises need.
"""

"""The second half of a check: what is right, and what a wrong answer looks like. Runs no student code.

``exercise`` is what an exercise's file says, ``solution`` the worked solution and its edits, ``decide`` compares,
``diagnose`` finds what an answer did, ``symptoms`` are what can be seen in any exercise, ``contrast`` compares cases.
"""

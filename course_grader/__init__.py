"""The class grader: ``python -m course_grader SUBMISSIONS --output GRADES``.

It trusts no submission. The line of trust is a folder line: ``in_sandbox`` is what runs beside a student's code, and knows no
answer; everything else stays outside. ``submissions`` reads what was handed in, ``reading`` reads what a student wrote,
``running`` runs it in a sandbox with a library without answers (``running.library_copy``), ``judging`` judges what was
observed there, ``grade`` does all that for one submission and ``batch`` for a class, ``reports`` writes it down.
docs/teaching.md tells how to use it and what it protects.
"""

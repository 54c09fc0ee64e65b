"""The class grader: ``python -m course_grader SUBMISSIONS --output GRADES``.

It trusts no submission. ``submissions`` reads files, ``rebuild`` puts the student's answers into the master notebook, ``run``
runs that in a kernel inside a sandbox (``sandbox``, ``confine``, ``fork_server``), ``judging`` judges outside what the kernel
observed, ``batch`` does it for a class, ``report`` and ``feedback`` write it down. docs/teaching.md tells how to use it and
what it protects.
"""

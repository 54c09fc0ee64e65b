"""Attention on several machines: processes to try it with, heads and tokens divided among ranks, and a simulation of many.

Import from the module that holds the concept: ``from course_utils.distributed.processes import run_on_ranks``.
"""

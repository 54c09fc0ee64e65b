"""Lesson 06, multi-head attention."""

"""Lesson 14, Long contexts."""

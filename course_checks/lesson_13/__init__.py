"""Lesson 13, Looking inside."""

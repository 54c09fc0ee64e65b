"""Lesson 11, learning to pronounce."""

"""Lesson 12, the decoder-only language model."""

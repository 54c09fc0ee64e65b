"""Lesson 09, Transformer layers."""

"""Compiled functions: arrays in, arrays out; no validation and no strings.

Every function is serial and releases the interpreter lock; callers run it in threads, over
trees or blocks of rows. Tests compare each function with a slow, simple implementation.
"""

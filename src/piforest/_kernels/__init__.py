"""Compiled code: arrays in, arrays out; no validation, no None, no strings.

Every kernel is serial and releases the interpreter lock; threads are made by
the callers, over trees or row blocks. Each is tested against a slow twin.
"""

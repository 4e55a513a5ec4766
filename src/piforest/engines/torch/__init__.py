"""The same steps on another device, through PyTorch: what a block of rows prefers, its products
with the pool, look-ups; and for fitting, bands and trees. Imported only where a device other than
the CPU is asked for.

The random decisions are those of `piforest._random`, the trees those of `piforest.forest`; given
equal fixed-point preferences, trees and path lengths are equal to the last bit.
"""

"""The torch engine: preferences, distances, bands and trees on another device, through PyTorch.

Imported only if `device` names a device other than the CPU. Random decisions are those of
`piforest._random`, trees those of `piforest.forest`: given equal fixed-point preferences, trees
and path lengths are equal to the last bit.
"""

"""What computes: compiled code on the CPU, PyTorch on another device, or a Dask cluster."""

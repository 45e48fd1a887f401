"""Tunes CUDA kernels from Python."""

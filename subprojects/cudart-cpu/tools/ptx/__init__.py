"""Translates PTX, as nvcc writes it, into C++ for the CPU runtime."""

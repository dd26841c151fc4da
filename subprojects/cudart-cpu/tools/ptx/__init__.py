"""A translator of nvcc's PTX into C++ for the CPU runtime."""

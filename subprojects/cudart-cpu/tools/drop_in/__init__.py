"""The compiler in nvcc's place: its command line, links, and a toolkit with this runtime's library."""

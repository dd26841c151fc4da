// Not part of any program: compile_checks.py compiles with the flags that the build gives this file.

"""The command line: it speaks to people, and holds no privacy logic.

``main`` listens to signals and starts ``runner``, which finds the command, runs it, and turns what goes wrong
into a sentence and an exit code. ``commands`` has a file for each command. Nothing here imports NumPy,
DuckDB or rich at the top: ``dpselect --help`` must not wait for them.
"""

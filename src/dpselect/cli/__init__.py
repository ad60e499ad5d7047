"""The command line: it speaks to people, and holds no privacy logic.

``entry`` runs a command and turns what goes wrong into a sentence and an exit code. Each file of verbs has
one subject. Nothing here imports NumPy, DuckDB or rich at the top: ``dpselect --help`` must not wait for
them.
"""

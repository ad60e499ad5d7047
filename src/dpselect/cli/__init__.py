"""The command line: it speaks to people, and holds no privacy logic."""

"""How fast selection is, beside ``scores.max()``, NumPy and two other libraries; `python3 run.py bench`."""

"""Hypothesis tries the same examples in every run: a failure here is a failure everywhere."""

from hypothesis import settings

settings.register_profile("the same everywhere", derandomize=True, deadline=None)
settings.load_profile("the same everywhere")

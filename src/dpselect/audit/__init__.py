"""Checks that anybody can run again: exhaustive enumeration, and proofs bound to the code they prove."""

from dpselect.audit.enumeration import Law, enumerate_law

__all__ = ["Law", "enumerate_law"]

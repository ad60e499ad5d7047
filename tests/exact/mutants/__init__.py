"""Samplers that are wrong in ways that samplers have been wrong before.

Some stand beside what they should have been, so that a test can show that the one is accepted and the other
rejected, by the same check at the same depth.
"""

"""Golden traces: what governance says, event by event, for one small situation a file.

``scenarios/*.yaml`` hold the situations and the whole trace that each must give, on every store. ``test_golden.py`` runs
them, ``test_coverage.py`` says what they have to cover, and ``python -m tests.golden.regenerate`` shows (and with
``--write`` accepts) what a change of behaviour makes of them.
"""

"""The examples in docstrings say what really happens."""

import doctest
import importlib
import pkgutil

import recollect.formats
import recollect.model
import recollect.rules

PURE = (recollect.model, recollect.rules, recollect.formats)


def test_the_examples_of_pure_modules_are_true() -> None:
    names = [one.name for room in PURE for one in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
    results = {name: doctest.testmod(importlib.import_module(name)) for name in names}
    assert not [name for name, result in results.items() if result.failed]
    assert sum(result.attempted for result in results.values()) > 50

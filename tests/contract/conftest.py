import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What a store is not asked to do is not run, rather than run and skipped."""
    from recollect.testing.stores import leave_out

    left_out = leave_out(items)
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)

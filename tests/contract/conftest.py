"""Failures inside the shipped suite should say as much as failures in a test file."""

import pytest

pytest.register_assert_rewrite("recollect.testing")

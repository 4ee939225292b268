"""A random user against the simple model, on SQLite. ``RECOLLECT_TORTURE=1`` lets it go on twenty times longer."""

import os

from hypothesis import HealthCheck, Phase, settings

from recollect.testing.machine import SqlitePlace, machine_for

LONGER = 20 if os.environ.get("RECOLLECT_TORTURE") else 1

TestMachineOnSqlite = machine_for(SqlitePlace).TestCase
TestMachineOnSqlite.settings = settings(
    max_examples=40 * LONGER,
    stateful_step_count=30,
    deadline=None,
    print_blob=True,
    phases=list(Phase) if LONGER > 1 else [Phase.explicit, Phase.generate],  # shrinking a long story takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)

"""How the tests draw their examples: the same ones every time, so that a red run means a change and not bad luck.

``RECOLLECT_TORTURE=1`` draws new ones, and many more.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("torture", deadline=None, max_examples=2_000, suppress_health_check=list(HealthCheck))
settings.load_profile("torture" if os.environ.get("RECOLLECT_TORTURE") else "steady")

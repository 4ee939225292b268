"""Requests that schemathesis makes up from the OpenAPI document: no server error, and every answer as its schema says.

``RECOLLECT_TORTURE=1`` tries many more of them, and requests that break the schema too.
"""

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from recollect import Recollect
from recollect.interfaces.rest import Settings, create_app

TORTURE = bool(os.environ.get("RECOLLECT_TORTURE"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
HERE = "http://127.0.0.1"
ENDLESS = "/v1/changes"
"""What never ends by itself is tried elsewhere."""


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if TORTURE else [])])
def test_whatever_is_asked_is_answered_as_described(memory: Recollect, mode: GenerationMode) -> None:
    memory.turn(session="s1", user="I live in Oslo and I like tea.", owner="default")
    memory.checkpoint()
    ids = [one.id for one in memory.list_all(status=None)]
    app = create_app(memory, Settings(key_required=False, rate_per_s=1e9, burst=10**9))
    examples = settings(
        max_examples=60 if TORTURE else 2,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
    )
    answered = 0
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
        for found in schemathesis.openapi.from_dict(app.openapi()).get_all_operations():
            operation = found.ok()
            if operation.path == ENDLESS or (mode is GenerationMode.NEGATIVE and not _can_be_wrong(operation)):
                continue

            @examples
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                nonlocal answered
                answered += 1
                if answered % 2:  # else most requests would name a memory that there is not
                    case.path_parameters |= {name: ids[answered % len(ids)] for name in case.path_parameters}
                request = case.as_transport_kwargs(base_url=HERE)
                request.pop("cookies", None)
                if "data" in request:
                    request["content"] = request.pop("data")
                answer = client.request(**request)
                case.validate_response(schemathesis.Response.from_any(answer), checks=CHECKS)

            ask()
    assert answered > 60
    assert memory.verify().ok


def _can_be_wrong(operation: Any) -> bool:
    """Return whether a request can break the schema of an operation: any text may stand for an id."""
    return bool(operation.body or operation.query)

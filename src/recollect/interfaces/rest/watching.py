"""What a server's keeper watches: whether it lives, whether it is ready, and how it does."""

import time
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from recollect.interfaces.rest.access import Server
from recollect.model.caller import Right
from recollect.model.errors import NotAllowed

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Watch:
    """Counts and times of requests, by operation and status. Nothing in them names anybody."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("operation", "status")
        self.requests = Counter("recollect_requests", "Requests that were answered.", labels, registry=self.registry)
        self.seconds = Histogram(
            "recollect_request_seconds",
            "How long answers took.",
            ("operation",),
            buckets=BUCKETS_S,
            registry=self.registry,
        )
        self.working = Gauge("recollect_requests_now", "Requests that are being answered.", registry=self.registry)
        self.feeds = Gauge("recollect_change_feeds_now", "Change feeds that are open.", registry=self.registry)


class Watched:
    """Count and time every request. What no route answers counts as ``other``, so that labels stay few."""

    def __init__(self, app: Any, watch: Watch) -> None:
        self._app, self._watch = app, watch

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, begun = 500, time.perf_counter()

        async def noting_send(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        self._watch.working.inc()
        try:
            await self._app(scope, receive, noting_send)
        finally:
            self._watch.working.dec()
            operation = getattr(scope.get("route"), "operation_id", None) or "other"
            self._watch.requests.labels(operation, str(status)).inc()
            self._watch.seconds.labels(operation).observe(time.perf_counter() - begun)


def add_to(app: FastAPI, server: Server) -> Watch:
    """Add the endpoints for keepers; return what the counts are kept in."""
    watch = Watch()

    @app.get("/healthz", operation_id="healthz", summary="Whether the process answers.", tags=["watching"])
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", operation_id="readyz", summary="Whether the store answers.", tags=["watching"])
    async def readyz() -> dict[str, str]:
        await server.in_thread(server.memory.access_keys, 5.0)
        return {"status": "ready"}

    @app.get(
        "/metrics",
        operation_id="metrics",
        summary="Counts and times for Prometheus; it takes the right to operate.",
        tags=["watching"],
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics(request: Request) -> Response:
        def check(memory: Any) -> None:
            if not memory.caller.may(Right.OPERATE):
                raise NotAllowed("this key may not read metrics.", hint="It takes the right 'operate'.")

        await server.call(request, check)
        watch.feeds.set(server.open_feeds)
        return Response(generate_latest(watch.registry), media_type=CONTENT_TYPE_LATEST)

    return watch

"""Memory for any client of the Model Context Protocol: tools, resources and prompts, over stdio or HTTP.

A thin door like the others: it parses a request, calls one method of :class:`recollect.Recollect`, and renders the answer.
``recollect mcp`` starts it; an application that hosts MCP itself takes :func:`build_server`.
"""

from recollect.interfaces.mcp.catalogue import choose_tools
from recollect.interfaces.mcp.server import build_server
from recollect.interfaces.mcp.transports import listen, serve_http, serve_stdio

__all__ = ["build_server", "choose_tools", "listen", "serve_http", "serve_stdio"]

"""The address of the HTTP API, for commands that pages show."""

from mailqueue.console.frame.context import PageContext


def api_origin(context: PageContext) -> str:
    """Return the configured public URL, else the address by which the browser reaches us."""
    public = context.console.settings.tracking.public_url
    return public or str(context.request.base_url).rstrip("/")

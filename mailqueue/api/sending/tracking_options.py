"""What callers ask to be put into mail. Values only."""

from pydantic import Field, StrictBool

from mailqueue.api.http.schema_base import StrictlyGiven


class Tracked(StrictlyGiven):
    """What is put into a mail before it goes."""

    track_opens: StrictBool | None = Field(default=None)
    """Tell when it is opened; as the project has it if left out."""
    track_clicks: StrictBool | None = Field(default=None)
    """Count which of its links are followed; as the project has it if left out."""
    unsubscribe: StrictBool | None = Field(default=None)
    """Have a way to unsubscribe; marketing has one if left out, other mail has none."""

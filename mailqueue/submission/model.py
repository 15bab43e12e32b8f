"""Authenticated submission clients. Values only, except for the count of retries."""

from dataclasses import dataclass

from mailqueue.projects.model import Caller


@dataclass(slots=True)
class SubmissionClient:
    """A client that has logged in with an API key."""

    caller: Caller
    address: str
    told_to_wait: int = 0

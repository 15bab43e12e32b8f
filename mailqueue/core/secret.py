"""A value that must not be shown: a password, key or connection string. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A secret text; printing, formatting or logging it shows `***`."""

    _value: str

    def reveal(self) -> str:
        """Return the plain text of the secret."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    def __str__(self) -> str:
        return "***"

    def __bool__(self) -> bool:
        return bool(self._value)

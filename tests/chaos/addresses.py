"""The address of each mail of a scenario, and its number back. Pure."""

DOMAIN = "@example.com"


def recipient(number: int) -> str:
    """Return the address of a mail: each has one of its own."""
    return f"m{number}{DOMAIN}"


def number_of(address: str) -> int:
    """Return the number back.

    Raises:
        ValueError: the address is of no mail of ours.
    """
    if not (address.startswith("m") and address.endswith(DOMAIN)):
        raise ValueError(f"{address} was never written to")
    return int(address[1 : -len(DOMAIN)])

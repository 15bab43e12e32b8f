"""The address of each mail of a scenario, and the number of an address. Pure."""

DOMAIN = "@example.com"


def recipient(number: int) -> str:
    """Return the address of a mail; each mail has its own."""
    return f"m{number}{DOMAIN}"


def number_of(address: str) -> int:
    """Return the number of the mail with an address.

    Raises:
        ValueError: the address is of no mail of ours.
    """
    if not (address.startswith("m") and address.endswith(DOMAIN)):
        raise ValueError(f"{address} was never written to")
    return int(address[1 : -len(DOMAIN)])

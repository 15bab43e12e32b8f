"""Files of networks in MaxMind's format, which another program writes."""

from ipaddress import ip_network
from pathlib import Path
from typing import Any

from mmdb_writer import MMDBWriter
from netaddr import IPSet


def network_file(
    folder: Path, kind: str, records: dict[str, dict[str, Any]], *, ip_version: int = 6
) -> Path:
    """Write a file with the record of each network; `kind` is the type of the database.

    With `ip_version` 4 it is one that has no networks of IPv6.
    """
    writer = MMDBWriter(ip_version=ip_version, ipv4_compatible=ip_version == 6, database_type=kind)
    for network, record in records.items():
        assert ip_network(network)
        writer.insert_network(IPSet([network]), record)
    made = folder / f"{kind}.mmdb"
    writer.to_db_file(str(made))
    return made

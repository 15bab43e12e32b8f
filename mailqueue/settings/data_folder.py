"""The default data folder."""

import os
from pathlib import Path


def default_data() -> Path:
    """Return the data folder that is used if none is configured."""
    if os.geteuid() == 0:
        return Path("/var/lib/mailqueue")
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "mailqueue"

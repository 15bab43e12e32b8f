"""Revoke expired API keys, and list those that expire soon: `mailqueue maintain keys`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "keys", *sys.argv[1:]], prog_name="mailqueue")

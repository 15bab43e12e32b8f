"""Seal the audit log, and delete its rows past their retention: `mailqueue maintain audit`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "audit", *sys.argv[1:]], prog_name="mailqueue")

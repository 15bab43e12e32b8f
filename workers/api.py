"""Serve the HTTP API: the process of `mailqueue api`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["api", *sys.argv[1:]], prog_name="mailqueue")

"""Serve the web console: the process of `mailqueue console`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["console", *sys.argv[1:]], prog_name="mailqueue")

"""Receive bounce mail: the process of `mailqueue worker bounces`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["worker", "bounces", *sys.argv[1:]], prog_name="mailqueue")

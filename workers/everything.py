"""Run all parts on one host: the process of `mailqueue up`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["up", *sys.argv[1:]], prog_name="mailqueue")

"""Deliver events to webhooks: the process of `mailqueue worker webhooks`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["worker", "webhooks", *sys.argv[1:]], prog_name="mailqueue")

"""Send queued mail: the process of `mailqueue worker send`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["worker", "send", *sys.argv[1:]], prog_name="mailqueue")

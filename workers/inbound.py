"""Process provider requests and bounce mail: the process of `mailqueue worker inbound`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["worker", "inbound", *sys.argv[1:]], prog_name="mailqueue")

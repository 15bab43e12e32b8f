"""Delete records past their retention that have no archive: `mailqueue maintain retention`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "retention", *sys.argv[1:]], prog_name="mailqueue")

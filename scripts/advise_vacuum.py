"""Report what keeps dead rows, and which tables need a vacuum: `mailqueue maintain vacuum`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "vacuum", *sys.argv[1:]], prog_name="mailqueue")

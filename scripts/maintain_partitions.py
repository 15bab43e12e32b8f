"""Create partitions of coming months, and drop empty ones: `mailqueue maintain partitions`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "partitions", *sys.argv[1:]], prog_name="mailqueue")

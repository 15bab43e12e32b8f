"""Start counters of a new day, and count accepted mail: `mailqueue maintain counters`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "counters", *sys.argv[1:]], prog_name="mailqueue")

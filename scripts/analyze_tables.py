"""Update the planner's statistics of changed tables: `mailqueue maintain analyze`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "analyze", *sys.argv[1:]], prog_name="mailqueue")

"""Write old months to files and delete them from their tables: `mailqueue maintain archive`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "archive", *sys.argv[1:]], prog_name="mailqueue")

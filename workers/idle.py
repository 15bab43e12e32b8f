"""Wait for new mail of watched inboxes: the process of `mailqueue worker idle`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["worker", "idle", *sys.argv[1:]], prog_name="mailqueue")

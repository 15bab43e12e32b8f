"""Export traces of emails: the process of `mailqueue worker traces`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["worker", "traces", *sys.argv[1:]], prog_name="mailqueue")

"""Accept mail from programs by SMTP: the process of `mailqueue worker submission`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["worker", "submission", *sys.argv[1:]], prog_name="mailqueue")

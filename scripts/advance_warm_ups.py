"""End finished warm-ups, and report accounts whose warm-up has problems: `mailqueue maintain
warm-up`.
"""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["maintain", "warm-up", *sys.argv[1:]], prog_name="mailqueue")

"""Run the command line as `python -m mailqueue`."""

from mailqueue.cli.main import main

if __name__ == "__main__":
    main()

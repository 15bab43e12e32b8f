"""Take events from queues of RabbitMQ: the process of `mailqueue worker rabbitmq`."""

import sys

from mailqueue.cli.main import main

if __name__ == "__main__":
    main(["worker", "rabbitmq", *sys.argv[1:]], prog_name="mailqueue")

"""Messages of a broker that become events of the inbox: docs/rabbitmq.md."""

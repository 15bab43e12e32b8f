"""The API of queues of RabbitMQ and dead letters."""

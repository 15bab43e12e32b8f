"""`mailqueue bridge`: queues of RabbitMQ and dead letters."""

"""RabbitMQ, by aio-pika: the consumer of queues, and the publisher of outboxes."""

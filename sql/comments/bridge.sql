-- Columns of tables of the bridge to RabbitMQ.

SELECT mailqueue.describe_columns('broker_queues', ARRAY[
    ['name', 'Name of the queue in RabbitMQ.'],
    ['project_id', 'Project in which its messages are events.'],
    ['state',
     'consuming; waiting: its project takes no events now; unavailable: the broker or the queue cannot be used; '
     'stopped: by a signal.'],
    ['reason', 'Why it is not consumed.'],
    ['received_messages', 'Number of messages that were received and handled, repeated deliveries included.'],
    ['received_at', 'Time of the last message; NULL: none.'],
    ['seen_at', 'Time at which its consumer last reported.']
]);

SELECT mailqueue.describe_columns('dead_letters', ARRAY[
    ['id', 'Id of the dead letter.'],
    ['queue', 'Name of the queue in RabbitMQ from which it came.'],
    ['digest', 'SHA-256 of headers and body, by which a second delivery is recognized.'],
    ['message_id', 'Id of the message, if it could be read.'],
    ['type', 'Type of the message, if it could be read.'],
    ['content_type', 'Media type that the message named.'],
    ['headers', 'Properties and headers of the message.'],
    ['body', 'Body of the message as text; NULL: it was larger than 1 MiB.'],
    ['reason', 'Why the message could not be handled.'],
    ['deliveries', 'Number of deliveries by the broker when it was given up.'],
    ['status', 'waiting: it can be replayed; replayed: it became an event of the inbox.'],
    ['replayed_at', 'Time at which it became an event of the inbox.']
]);

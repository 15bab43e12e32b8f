-- Columns of tables of the inbox.

SELECT mailqueue.describe_columns('event_rules', ARRAY[
    ['id', 'Id of the rule.'],
    ['name', 'Name of the rule, unique in its project.'],
    ['event_type', 'Type of the events that it is about, as consume() is told.'],
    ['condition', 'jsonpath that the payload must satisfy; NULL: every event of the type.'],
    ['action', 'mail: enqueue mail; cancel: cancel unfinished mail that rules made under the key; enroll, leave, '
               'record: about contacts in sequences.'],
    ['template', 'Template of the mail: slug, or slug@version.'],
    ['recipient', 'Address, or the jsonpath of one, which begins with $.'],
    ['recipient_name', 'Name of the recipient, or its jsonpath; NULL: none.'],
    ['language', 'Language of the mail, or its jsonpath; NULL: that of the template.'],
    ['variables', 'Variables of the template by name: a jsonpath, which begins with $, or the value itself.'],
    ['priority', 'Priority of the mail: critical, high, normal or low; NULL: normal.'],
    ['tags', 'Tags of the mail.'],
    ['delay_seconds', 'Time after the event before which the mail is not sent, in seconds.'],
    ['key', 'Key under which the mail is made or cancelled, or its jsonpath; NULL: none.'],
    ['sequence', 'Sequence that it enrolls in or ends enrollments of; NULL: none, or every one.'],
    ['is_enabled', 'Whether consume() applies the rule.'],
    ['version', 'Number of the version: 1, and one more with each change. The audit log has all of them.'],
    ['created_by', 'Who added the rule.']
]);

SELECT mailqueue.describe_columns('inbox_state', ARRAY[
    ['id', 'Number of the event, in the order of arrival.'],
    ['message_id', 'Id of the message, chosen by its sender.'],
    ['consumer_id', 'Id of the consumer that the message was delivered to.'],
    ['lock_id', 'Id of the delivery or replay that wrote the row last.'],
    ['row_version', 'Token that changes with each write of the row.'],
    ['received', 'Time of the first delivery.'],
    ['receive_count', 'Number of deliveries.'],
    ['expiration_time', 'Time after which the message means nothing, from its headers; NULL: never.'],
    ['consumed', 'Time at which the rules were applied.'],
    ['delivered', 'Time at which the rules were applied and none failed; NULL: one failed.'],
    ['last_sequence_number', 'Number of the last message that the event published; NULL: none.'],
    ['is_test', 'Whether the event came by a test key; its mail reaches the trap only.'],
    ['type', 'Type of the event.'],
    ['payload', 'Payload, an object; NULL: it could not be read.'],
    ['headers', 'Headers of the message.'],
    ['conversation_id', 'Conversation of the message, from its headers.'],
    ['correlation_id', 'Correlation id of the message, from its headers.'],
    ['traceparent', 'W3C trace context of the message, from its headers.'],
    ['status',
     'handled: rules acted on it; ignored: none applied; expired; failed: the message cannot be read, or a rule '
     'failed.'],
    ['reason', 'Why the message as a whole was not handled; of an event that manages mail, what it did.'],
    ['is_management', 'Whether the event manages mail: it archives some, or sends some again.']
]);

SELECT mailqueue.describe_columns('inbox_actions', ARRAY[
    ['id', 'Id of the row.'],
    ['inbox_id', 'Number of the event in inbox_state.'],
    ['is_test', 'Whether the event came by a test key.'],
    ['rule', 'Name of the rule.'],
    ['rule_version', 'Version of the rule when it acted.'],
    ['result', 'mail: it made mail; cancelled: it cancelled mail, or found none; failed: with the reason.'],
    ['email_id', 'Id of the email that it made.'],
    ['cancelled', 'Ids of the emails that it cancelled.'],
    ['key', 'Key under which mail was made or cancelled.'],
    ['enrollment_ids', 'Ids of enrollments that it made, ended or recorded the event for.'],
    ['reason', 'Why the rule failed.']
]);

SELECT mailqueue.describe_columns('outbox_state', ARRAY[
    ['outbox_id', 'Id of the outbox.'],
    ['lock_id', 'Id of the last look for messages.'],
    ['row_version', 'Token that changes with each look for messages.'],
    ['created', 'Time at which the outbox was added.'],
    ['delivered', 'Time at which messages were last published; NULL: never.'],
    ['last_sequence_number', 'Number up to which all messages are published; NULL: none was.'],
    ['id', 'Id of the outbox, for the queue kernel.'],
    ['name', 'Name of the outbox in its project.'],
    ['transport', 'How messages are published: webhook or rabbitmq.'],
    ['target',
     'Where messages are published: the id of a webhook of the project; of RabbitMQ, the format and, after a colon, '
     'the exchange.'],
    ['horizon', 'Number up to which messages may be published once no open_writers are left.'],
    ['open_writers', 'Virtual ids of transactions that may still commit a number below the horizon.'],
    ['events', 'Types of events of mail that it publishes; empty: all; NULL: none.'],
    ['subscribed_after', 'Number of event_stream after which it publishes each type of event; *: other types.']
]);

SELECT mailqueue.describe_columns('outbox_message', ARRAY[
    ['sequence_number', 'Number of the message; those of an outbox are published in this order.'],
    ['message_id', 'Id of the message; receivers recognize a repeated one by it.'],
    ['message_type', 'Type of the message.'],
    ['body', 'Content of the message.'],
    ['content_type', 'Media type of the content.'],
    ['enqueue_time', 'Time at which the message was written.'],
    ['sent_time', 'Time at which the message was published or left out; infinity: it was not yet.'],
    ['conversation_id', 'Id of the conversation.'],
    ['correlation_id', 'Id of what the message is about.'],
    ['initiator_id', 'Id of the message that caused this one.'],
    ['request_id', 'Id of the request that this message belongs to.'],
    ['source_address', 'Address of the sender.'],
    ['destination_address', 'Address of the receiver.'],
    ['response_address', 'Address for the response.'],
    ['fault_address', 'Address for faults.'],
    ['expiration_time', 'Time after which the message is not published; NULL: never.'],
    ['headers', 'Headers, a JSON object.'],
    ['properties', 'Properties, a JSON object.'],
    ['inbox_message_id', 'Id of the message in inbox_state that caused this one.'],
    ['inbox_consumer_id', 'Id of the consumer in inbox_state that caused this one.'],
    ['outbox_id', 'Id of the outbox.'],
    ['status', 'pending, published, expired or skipped.']
]);

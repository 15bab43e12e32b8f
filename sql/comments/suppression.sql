-- Columns of tables and views of suppression, preferences and erasure.

SELECT mailqueue.describe_columns('suppressions', ARRAY[
    ['id', 'Id of the suppression.'],
    ['project_id', 'Id of the project.'],
    ['address', 'Address in lower case.'],
    ['category', 'Category of emails; empty: all mail of the project.'],
    ['reason', 'hard_bounce, soft_bounce_threshold, complaint, unsubscribed, paused or manual.'],
    ['detail', 'Details of the reason.'],
    ['created_at', 'Time at which the row was created.'],
    ['expires_at', 'End of the suppression; infinity: no end.'],
    ['address_hash', 'HMAC-SHA-256 of the address under the key of the project in address_keys.'],
    ['email_id', 'Id of the email that caused the suppression.'],
    ['source', 'Origin of the suppression.']
]);

SELECT mailqueue.describe_columns('suppression_history', ARRAY[
    ['id', 'Id of the entry.'],
    ['project_id', 'Id of the project.'],
    ['address_hash', 'HMAC-SHA-256 of the address under the key of the project in address_keys.'],
    ['address', 'Address in lower case; NULL: erased.'],
    ['category', 'Category of emails; empty: all mail of the project.'],
    ['reason', 'hard_bounce, soft_bounce_threshold, complaint, unsubscribed, paused or manual.'],
    ['detail', 'Details of the reason.'],
    ['email_id', 'Id of the email that caused the suppression.'],
    ['source', 'Origin of the suppression.'],
    ['created_at', 'Time at which the suppression began.'],
    ['expires_at', 'End of the suppression; infinity: no end.'],
    ['ended_at', 'Time at which it ended.'],
    ['ended_by', 'Who ended it.'],
    ['ended_why', 'Reason of the end; NULL: none was given; replaced: another suppression took its place.']
]);

SELECT mailqueue.describe_columns('suppression_lines', ARRAY[
    ['import_id', 'Id of the import.'],
    ['line', 'Number of the line in the file, from 1.'],
    ['address', 'Address in lower case.'],
    ['category', 'Category of emails; empty: all mail of the project.'],
    ['reason', 'hard_bounce, soft_bounce_threshold, complaint, unsubscribed, paused or manual.'],
    ['detail', 'Details of the reason.'],
    ['expires_at', 'End of the suppression; infinity: no end.']
]);

SELECT mailqueue.describe_columns('address_keys', ARRAY[
    ['project_id', 'Id of the project.'],
    ['inner_pad', 'The key XOR 0x36, with which HMAC (RFC 2104) begins.'],
    ['outer_pad', 'The key XOR 0x5c, with which HMAC (RFC 2104) ends.'],
    ['created_at', 'Time at which the row was created.']
]);

SELECT mailqueue.describe_columns('unsubscribe_list', ARRAY[
    ['id', 'Id of the entry.'],
    ['project_id', 'Id of the project.'],
    ['project', 'Name of the project, for INSERT; NULL in stored rows.'],
    ['email', 'Address of the person.'],
    ['category', 'Category that the person unsubscribed from; empty: all mail.'],
    ['unsubscribe_reason', 'Reason that the person gave.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['user_agent', 'User agent, as the client sent it.'],
    ['ip_address', 'Network of the client: /24, or /48 for IPv6. NULL if it asked not to be tracked.'],
    ['unsubscribed_at', 'Time at which the person unsubscribed.'],
    ['email_id', 'Id of the email whose link was followed.'],
    ['source', 'one-click, page, preference centre or operator.']
]);

SELECT mailqueue.describe_columns('subscription_categories', ARRAY[
    ['id', 'Id of the category.'],
    ['project_id', 'Id of the project.'],
    ['slug', 'Category of emails.'],
    ['name', 'Name that recipients see.'],
    ['description', 'Description that recipients see.'],
    ['translations', 'Names and descriptions by language: {"de": {"name": …, "description": …}}.'],
    ['is_required', 'Whether recipients cannot unsubscribe from it.'],
    ['place', 'Order of display; lower is shown first.'],
    ['created_by', 'Author: API key, administrator or operating system user.'],
    ['created_at', 'Time at which the row was created.'],
    ['updated_at', 'Time of the last change.'],
    ['removed_at', 'Time at which it was removed from the preference centre; NULL: it is shown.']
]);

SELECT mailqueue.describe_columns('subscription_preferences', ARRAY[
    ['project_id', 'Id of the project.'],
    ['address_hash', 'HMAC-SHA-256 of the address under the key of the project in address_keys.'],
    ['category', 'Category; *: all that recipients can unsubscribe from.'],
    ['address', 'Address in lower case; NULL: erased.'],
    ['is_subscribed', 'Whether the recipient wants the category.'],
    ['paused_until', 'End of a pause that the recipient chose; NULL: not paused.'],
    ['source', 'one-click, page, preference centre or operator.'],
    ['email_id', 'Id of the email whose link was followed.'],
    ['user_agent', 'User agent, as the client sent it.'],
    ['changed_at', 'Time of the choice.']
]);

SELECT mailqueue.describe_columns('erasures', ARRAY[
    ['id', 'Id of the erasure.'],
    ['project_id', 'Id of the project.'],
    ['address_hash', 'HMAC-SHA-256 of the address under the key of the project in address_keys.'],
    ['spellings', 'Forms of the address; NULL once the erasure is complete.'],
    ['stage', 'Stage that is being worked on: mail, tables, files, or done.'],
    ['place', 'Progress within the stage.'],
    ['found', 'Rows that were changed or deleted, by table.'],
    ['requested_at', 'Time of the request.'],
    ['requested_by', 'Who requested the erasure.'],
    ['finished_at', 'Time at which the erasure was complete; NULL: it is not.'],
    ['status', 'State in the queue of erasures; done: the erasure is complete.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['run_at', 'Earliest time of the next attempt.'],
    ['attempts', 'Number of attempts so far.'],
    ['max_attempts', 'Always the largest number: an erasure is never given up.'],
    ['claim_no', 'Number of the claim that holds the row. Writes that name another number change nothing.'],
    ['worker_id', 'Id of the worker that holds the row; NULL: none.'],
    ['assigned_at', 'Time at which a worker claimed the row.'],
    ['lease_until', 'End of the lease; afterwards the row returns to its queue.'],
    ['last_error', 'Error of the last attempt.'],
    ['created_at', 'Time at which the row was created.'],
    ['crashes',
     'Above 0: its worker died while the row was handled, so it is handled alone; each further death then counts.']
]);

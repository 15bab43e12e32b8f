-- Columns that many tables have, those of the queue kernel among them; the other files say more where a table differs.

SELECT mailqueue.describe_shared_columns(ARRAY[
    ['status', 'State: pending, assigned, or an outcome.'],
    ['project_id', 'Id of the project.'],
    ['created_at', 'Time at which the row was created.'],
    ['updated_at', 'Time of the last change.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['run_at', 'Earliest time of the next attempt.'],
    ['attempts', 'Number of attempts so far.'],
    ['max_attempts', 'Number of attempts after which the row fails.'],
    ['claim_no', 'Number of the claim that holds the row. Writes that name another number change nothing.'],
    ['worker_id', 'Id of the worker that holds the row; NULL: none.'],
    ['assigned_at', 'Time at which a worker claimed the row.'],
    ['lease_until', 'End of the lease; afterwards the row returns to its queue.'],
    ['last_error', 'Error of the last attempt.'],
    ['finished_at', 'Time at which the row was finished; NULL: it is not.'],
    ['crashes',
     'Above 0: its worker died while the row was handled, so it is handled alone; each further death then '
     'counts.']
]);

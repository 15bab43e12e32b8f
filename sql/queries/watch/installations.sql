-- Installations of the Slack app.

-- name: begin_slack_installation :value
-- Time by which an installation has to end.
SELECT mailqueue.begin_slack_installation(%(project_id)s, %(user_id)s, %(state)s, %(by)s);

-- name: take_slack_installation :maybe
-- Whose installation a state is of, used once.
SELECT i.project_id, i.user_id, i.channel_id, i.begun_by
FROM mailqueue.take_slack_installation(%(state)s) AS i;

-- name: end_slack_installation :value
-- Whether the person is connected.
SELECT mailqueue.end_slack_installation(%(project_id)s, %(user_id)s, %(id)s, %(sealed)s, %(person)s, %(workspace)s,
                                        %(by)s);

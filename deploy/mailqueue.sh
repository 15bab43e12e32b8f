#!/bin/sh
# mailqueue's commands for root: they run as the user mailqueue, with the login `migrate`. Secrets pass through the environment of
# that process alone, never through arguments. Copy it to /usr/local/sbin/mailqueue.
set -eu
set -a
. /etc/mailqueue.env
. /etc/mailqueue-migrate.env
PGPASSWORD=$(cat /etc/mailqueue/migrate.password)
MAILQUEUE_MASTER_KEY=$(cat /etc/mailqueue/master.key)
HOME=/var/lib/mailqueue
exec setpriv --reuid mailqueue --regid mailqueue --init-groups --no-new-privs /opt/mailqueue/.venv/bin/mailqueue "$@"

#!/bin/sh
# mailqueue's commands for root: they run as the user mailqueue, with the login `migrate`. Secrets pass through the environment of
# that process alone, never through arguments. Copy it to /usr/local/sbin/mailqueue.
set -eu

# The settings are read as systemd reads them for the units; as a script they would run, and end at the `&` of an address.
settings() {
    while IFS= read -r line || [ -n "$line" ]; do
        value=${line#*=}
        case $value in
            \"*\") value=${value#\"} value=${value%\"} ;;
            \'*\') value=${value#\'} value=${value%\'} ;;
        esac
        case $line in
            '' | '#'* | ';'*) ;;
            *=*) export "${line%%=*}=$value" ;;
        esac
    done <"$1"
}

settings /etc/mailqueue.env
settings /etc/mailqueue-migrate.env
PGPASSWORD=$(cat /etc/mailqueue/migrate.password)
MAILQUEUE_MASTER_KEY=$(cat /etc/mailqueue/master.key)
HOME=/var/lib/mailqueue
export PGPASSWORD MAILQUEUE_MASTER_KEY HOME
exec setpriv --reuid mailqueue --regid mailqueue --init-groups --no-new-privs /opt/mailqueue/.venv/bin/mailqueue "$@"

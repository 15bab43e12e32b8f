#!/bin/sh
# Makes the stanza once, then takes a backup each night at the hour of BACKUP_HOUR (UTC); one at once where there is none yet. What fails
# is in the log of the container, and the alert MailqueueBackupLate follows.
set -eu

hour=${BACKUP_HOUR:-1}
hour=$(( ${hour#0} + 0 )) # 08 is no number of sh
trap 'exit 0' TERM INT
until pgbackrest --stanza=mailqueue stanza-create; do sleep 10 & wait $!; done
[ -e /var/lib/mailqueue-metrics/mailqueue_backup.prom ] || sh /stack/backup.sh || true
while :; do
    now=$(date -u +%s)
    next=$(( (now - hour * 3600) / 86400 * 86400 + 86400 + hour * 3600 ))
    sleep $(( next - now )) & wait $!
    sh /stack/backup.sh || true
done

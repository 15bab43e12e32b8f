#!/bin/sh
# Writes when the certificate of each host name ends, as the server on this host shows it, to a file for the textfile collector of
# Prometheus's node exporter. From cron, as a user that may write to the folder; never as root.
#   certificates.sh NAME...
set -eu
umask 022
[ "$(id -u)" != 0 ] || { echo "run this as the user postgres, not as root" >&2; exit 2; }

folder=${MAILQUEUE_METRICS_FOLDER:-/var/lib/mailqueue-metrics}
at=${MAILQUEUE_TLS_ADDRESS:-127.0.0.1:443}
file=$(mktemp "$folder/.certificates.XXXXXX")
trap 'rm -f -- "$file"' EXIT
{
    echo '# HELP mailqueue_certificate_expiry_timestamp_seconds When the certificate of a host name ends.'
    echo '# TYPE mailqueue_certificate_expiry_timestamp_seconds gauge'
    for name in "$@"; do
        # Without a certificate it ended in 1970: the alert says so.
        end=$(openssl s_client -connect "$at" -servername "$name" </dev/null 2>/dev/null | openssl x509 -noout -enddate 2>/dev/null) || end=
        seconds=0
        [ -z "$end" ] || seconds=$(date --date="${end#notAfter=}" +%s)
        printf 'mailqueue_certificate_expiry_timestamp_seconds{name="%s"} %s\n' "$name" "$seconds"
    done
} >"$file"
chmod 644 "$file"
mv -- "$file" "$folder/mailqueue_certificates.prom"

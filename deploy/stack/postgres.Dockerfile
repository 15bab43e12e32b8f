# Not built: no container engine is where this project is tested.
# PostgreSQL with pgBackRest, which archives the log and takes backups; python3 reads its report in backup.sh.
FROM postgres:18
RUN apt-get update \
    && apt-get install --yes --no-install-recommends pgbackrest python3-minimal \
    && rm -rf /var/lib/apt/lists/* \
    && install --directory --owner=postgres --group=postgres --mode=750 /var/lib/pgbackrest /var/log/pgbackrest \
    && install --directory --owner=postgres --group=postgres --mode=755 /var/lib/mailqueue-metrics /etc/pgbackrest/conf.d \
    && ln -s /run/secrets/backup_passphrase /etc/pgbackrest/conf.d/passphrase.conf \
    && groupadd --gid 10001 secrets \
    && usermod --append --groups secrets postgres

-- Columns of tables and views of keys of projects and domains.

SELECT mailqueue.describe_columns('data_keys', ARRAY[
    ['id', 'Id of the data key.'],
    ['project_id', 'Id of the project.'],
    ['master_key_id', 'Id of the key that encrypts this one.'],
    ['wrapped', 'The key, encrypted by the key in master_key_id; NULL: destroyed.'],
    ['state', 'active, decrypt_only, retired or destroyed.'],
    ['created_at', 'Time at which the row was created.'],
    ['wrapped_by',
     'platform: encrypted by the master key in master_key_id; own: by a key that only the project has, whose id is '
     'there too.'],
    ['made_under',
     'Id of the master key under which this key was created; a rotation replaces keys of earlier master keys.'],
    ['retired_at', 'Time since which nothing is encrypted with the key; NULL: it is in use.']
]);

SELECT mailqueue.describe_columns('key_grants', ARRAY[
    ['data_key_id', 'Id of the data key.'],
    ['project_id', 'Id of the project.'],
    ['master_key_id', 'Id of the key that encrypts this one.'],
    ['wrapped', 'The key, encrypted by the key in master_key_id and bound to expires_at.'],
    ['expires_at', 'Time at which the project is locked again.'],
    ['granted_at', 'Time at which the project was unlocked.'],
    ['granted_by', 'Who unlocked the project.']
]);

SELECT mailqueue.describe_columns('dkim_keys', ARRAY[
    ['id', 'Id of the key.'],
    ['project_id', 'Id of the project.'],
    ['domain', 'Domain of the From address, in A-label form.'],
    ['selector', 'Selector; the record is at SELECTOR._domainkey.DOMAIN.'],
    ['algorithm', 'rsa-sha256 or ed25519-sha256.'],
    ['public_key', 'Public key, the value of p= in the record.'],
    ['private_key', 'Private key, encrypted by a key in data_keys; NULL: revoked.'],
    ['status', 'pending, active, retired or revoked.'],
    ['created_at', 'Time at which the row was created.'],
    ['seen_at', 'Time at which the record was last found in DNS as it should be.'],
    ['active_at', 'Time since which the key signs.'],
    ['retired_at', 'Time since which the key no longer signs.'],
    ['needed_until', 'Time until which the record of a retired key must stay in DNS.'],
    ['revoked_at', 'Time at which the private key was deleted.']
]);

SELECT mailqueue.describe_columns('domain_checks', ARRAY[
    ['id', 'Id of the check.'],
    ['project_id', 'Id of the project.'],
    ['domain', 'Checked domain.'],
    ['checked_at', 'Time of the check.'],
    ['is_good', 'Whether no part of the check failed.'],
    ['findings', 'Results, one object for each part: what, status, found, advice.']
]);

SELECT mailqueue.describe_columns('domain_rechecks', ARRAY[
    ['id', 'Id of the row.'],
    ['project_id', 'Id of the project.'],
    ['domain', 'Domain that keys of the project sign for.'],
    ['checked_at', 'Time of the newest check; NULL: not yet, or no key signs for it.'],
    ['dkim', 'DKIM in the newest check: pass, warn, fail, or unknown: no name server answered.'],
    ['spf', 'The same for SPF.'],
    ['dmarc', 'The same for DMARC.']
]);

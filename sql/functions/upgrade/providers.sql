-- The providers of sender accounts: the rows of PROVIDERS in mailqueue/core/providers.py, filled in at the marker. Rows
-- of an older version are kept: its accounts may refer to them.

INSERT INTO mailqueue.providers AS p (name, label, has_api, sends_events)
SELECT r.name, r.label, r.has_api, r.sends_events
  FROM jsonb_to_recordset('[[PROVIDERS]]') AS r (name text, label text, has_api boolean, sends_events boolean)
    ON CONFLICT (name)
    DO UPDATE SET label = excluded.label, has_api = excluded.has_api, sends_events = excluded.sends_events
 WHERE (p.label, p.has_api, p.sends_events) IS DISTINCT FROM (excluded.label, excluded.has_api, excluded.sends_events);

-- Settings of the installation with their default values.

INSERT INTO mailqueue.system_settings (name, value, kind, meaning) VALUES
    ('oldest_due_warning', '5 min', 'interval', 'health warns when mail that may go has been due for longer'),
    ('oldest_due_alarm', '1 h', 'interval', 'health alarms when mail that may go has been due for longer'),
    ('not_moving_mails', '1000', 'count',
     'health alarms when more mails of a lane are due and none has been claimed for not_moving_after'),
    ('not_moving_after', '5 min', 'interval', 'see not_moving_mails'),
    ('nothing_sent_alarm', '15 min', 'interval',
     'health alarms when there is due mail and none has been sent for as long'),
    ('held_alarm', '1000', 'count',
     'health alarms when more mails wait for a person than this; it warns of one that no person held'),
    ('dead_rows_warning', '200000', 'count',
     'health warns when a table has more dead rows, and more than live ones; it alarms at ten times as many'),
    ('transaction_warning', '5 min', 'interval', 'health warns of a transaction that is open for longer'),
    ('lock_alarm', '5 s', 'interval', 'health alarms for a row of lane_gather or lock_rows that is locked for longer'),
    ('transaction_alarm', '30 min', 'interval', 'health alarms for a transaction that is open for longer'),
    ('slot_warning', '1 GB', 'bytes',
     'health warns when a replication slot keeps more WAL; it alarms at ten times as much'),
    ('partitions_warning', '14 days', 'interval',
     'health warns when a table has no partition for mail so far ahead; it alarms at half'),
    ('xid_age_warning', '500000000', 'count',
     'health warns when transaction ids are older; it alarms at twice the age'),
    ('connections_warning', '80', 'count', 'health warns when so many percent of max_connections are used'),
    ('books_warning', '7 days', 'interval', 'health warns when the books have not been compared for as long'),
    ('free_space_warning', '5 GB', 'bytes', 'health warns when a disk of the server has less room'),
    ('free_space_refuse', '1 GB', 'bytes',
     'no mail is accepted when a disk of the server has less room; 0: never refuse for this'),
    ('free_space_accept', '2 GB', 'bytes', 'mail is accepted again when there is so much room'),
    ('count_exactly', '300000', 'count',
     'mailqueue status counts so many mails, and estimates above by what statistics know'),
    ('rates_window', '7 days', 'interval', 'bounces and complaints of sender accounts are counted for so long'),
    ('min_sent_for_rates', '100', 'count',
     'accounts that sent less within rates_window are not warned of or paused for bounces and complaints'),
    ('database_size_limit', '0', 'bytes',
     'no mail is accepted when the database is larger, until it is 5 percent smaller; 0: no limit')
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, meaning = excluded.meaning
   WHERE (system_settings.kind, system_settings.meaning) <> (excluded.kind, excluded.meaning);

CREATE OR REPLACE FUNCTION mailqueue.system_number(p_name text) RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE s.kind WHEN 'bytes' THEN pg_size_bytes(s.value) WHEN 'count' THEN s.value::bigint END
      FROM mailqueue.system_settings AS s WHERE s.name = p_name
$$;
COMMENT ON FUNCTION mailqueue.system_number(text) IS 'A count or size in bytes from system_settings.';

CREATE OR REPLACE FUNCTION mailqueue.system_interval(p_name text) RETURNS interval
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT s.value::interval FROM mailqueue.system_settings AS s WHERE s.name = p_name AND s.kind = 'interval' $$;
COMMENT ON FUNCTION mailqueue.system_interval(text) IS 'An interval from system_settings.';

CREATE OR REPLACE FUNCTION mailqueue.system_settings_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF NEW.name <> OLD.name OR NEW.kind <> OLD.kind AND NEW.value <> OLD.value THEN
        RAISE EXCEPTION 'name and kind of a setting cannot be changed: change its value' USING ERRCODE = '22023';
    END IF;
    IF NEW.value <> OLD.value THEN
        NEW.changed_at := now();
        INSERT INTO mailqueue.audit_events (action, subject, detail)
        VALUES ('setting.changed', 'setting ' || NEW.name, jsonb_build_object('from', OLD.value, 'to', NEW.value));
    END IF;
    -- Read for every mail, so it is stored with the other reasons for refusal.
    IF NEW.name = 'accept_mail' AND NEW.value = 'off' THEN
        INSERT INTO mailqueue.refusals AS r (reason, message)
        VALUES ('accept_mail', 'the flag accept_mail is off') ON CONFLICT DO NOTHING;
    ELSIF NEW.name = 'accept_mail' THEN
        DELETE FROM mailqueue.refusals AS r WHERE r.reason = 'accept_mail';
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.system_settings_changed() IS
    'BEFORE UPDATE of a setting: writes an audit row; the flag accept_mail writes a row of refusals.';

CREATE OR REPLACE TRIGGER system_settings_changed BEFORE UPDATE ON mailqueue.system_settings
    FOR EACH ROW EXECUTE FUNCTION mailqueue.system_settings_changed();

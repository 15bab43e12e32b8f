-- 0082_plain_names.sql
-- Adds:    refusals.message, in place of told; settings max_attachment_bytes, attachment_types and min_sent_for_rates,
--          in place of attachment_bytes_most, attachment_types_most and rates_sent_least
-- Running workers: go on; until the next release the old names are read and kept
-- Locks:   refusals for a moment

ALTER TABLE mailqueue.refusals ADD COLUMN message text;
UPDATE mailqueue.refusals SET message = told;
-- squawk-ignore adding-not-nullable-field
ALTER TABLE mailqueue.refusals ALTER COLUMN message SET NOT NULL;  -- a few rows at most
-- squawk-ignore ban-drop-not-null
ALTER TABLE mailqueue.refusals ALTER COLUMN told DROP NOT NULL;
COMMENT ON COLUMN mailqueue.refusals.message IS
    'Shown to senders and in health after "mail is not accepted now: ", such as "the database moves until 06:00 UTC".';
COMMENT ON COLUMN mailqueue.refusals.told IS 'Deprecated, will be dropped: the former name of message.';

-- Here, not among the functions: those of the release before write told until they are replaced.
CREATE FUNCTION mailqueue.refusals_message() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_old mailqueue.refusals;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        v_old := OLD;
    END IF;
    IF NEW.told IS DISTINCT FROM v_old.told AND NEW.message IS NOT DISTINCT FROM v_old.message THEN
        RAISE WARNING 'column told of mailqueue.refusals is deprecated' USING HINT = 'Write column message instead.';
        NEW.message := NEW.told;
    END IF;
    NEW.told := NEW.message;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.refusals_message() IS
    'BEFORE INSERT or UPDATE on refusals: message and its former name told have one value.';
CREATE TRIGGER refusals_message BEFORE INSERT OR UPDATE ON mailqueue.refusals
    FOR EACH ROW EXECUTE FUNCTION mailqueue.refusals_message();

-- The rows by their former names stay; system_settings_changed() gives both the same value.
INSERT INTO mailqueue.system_settings (name, value, kind, meaning, changed_at)
SELECT n.name, s.value, s.kind, s.meaning, s.changed_at
  FROM mailqueue.system_settings AS s
  JOIN (VALUES ('attachment_bytes_most', 'max_attachment_bytes'), ('attachment_types_most', 'attachment_types'),
               ('rates_sent_least', 'min_sent_for_rates')) AS n(former, name) ON n.former = s.name;
UPDATE mailqueue.system_settings SET meaning = 'deprecated, will be dropped: the setting has another name'
 WHERE name IN ('attachment_bytes_most', 'attachment_types_most', 'rates_sent_least');

-- Workers read DKIM settings together with a sender account: a change increments the revision of the project's
-- accounts.

CREATE OR REPLACE FUNCTION mailqueue.renew_sender_accounts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := CASE TG_TABLE_NAME WHEN 'projects' THEN (to_jsonb(NEW) ->> 'id')::uuid
                                         ELSE (to_jsonb(NEW) ->> 'project_id')::uuid END;
BEGIN
    PERFORM mailqueue.lock_senders(v_project);
    UPDATE mailqueue.sender_accounts AS a SET updated_at = now() WHERE a.project_id = v_project;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.renew_sender_accounts() IS
    'AFTER change of DKIM settings: workers read the sender accounts of the project again.';

CREATE OR REPLACE TRIGGER dkim_keys_renew AFTER UPDATE OF status ON mailqueue.dkim_keys
    FOR EACH ROW WHEN (NEW.status = 'active' OR OLD.status = 'active')
    EXECUTE FUNCTION mailqueue.renew_sender_accounts();

CREATE OR REPLACE TRIGGER projects_dkim AFTER UPDATE OF is_dkim_required ON mailqueue.projects
    FOR EACH ROW WHEN (NEW.is_dkim_required <> OLD.is_dkim_required) EXECUTE FUNCTION mailqueue.renew_sender_accounts();

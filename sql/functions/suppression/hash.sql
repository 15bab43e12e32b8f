-- Identifying an address that must not be stored: by a hash that only its project can compute (RFC 2104).

CREATE OR REPLACE FUNCTION mailqueue.keep_address_key(p_project uuid) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.address_keys (project_id, inner_pad, outer_pad)
    SELECT p_project,
           string_agg(set_byte('\x00'::bytea, 0, get_byte(k.octets, i.n) # 54), ''::bytea ORDER BY i.n)
           || decode(repeat('36', 32), 'hex'),
           string_agg(set_byte('\x00'::bytea, 0, get_byte(k.octets, i.n) # 92), ''::bytea ORDER BY i.n)
           || decode(repeat('5c', 32), 'hex')
      -- Two random uuids have 244 random bits.
      FROM (SELECT sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
                          || uuid_send(gen_random_uuid())) AS octets) AS k,
           generate_series(0, 31) AS i(n)
    ON CONFLICT (project_id) DO NOTHING
$$;
COMMENT ON FUNCTION mailqueue.keep_address_key(uuid) IS
    'Create the key by which a project hashes addresses, if it has none.';

CREATE OR REPLACE FUNCTION mailqueue.projects_address_key() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.keep_address_key(NEW.id);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.projects_address_key() IS
    'AFTER INSERT on projects: creates the key for hashes of addresses.';

CREATE OR REPLACE TRIGGER projects_address_key AFTER INSERT ON mailqueue.projects
    FOR EACH ROW EXECUTE FUNCTION mailqueue.projects_address_key();

CREATE OR REPLACE FUNCTION mailqueue.address_hash(p_project uuid, p_address text) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.check_tenant(p_project);
    SELECT sha256(k.outer_pad || sha256(k.inner_pad || convert_to(mailqueue.address_key(p_address), 'UTF8')))
      FROM mailqueue.address_keys AS k WHERE k.project_id = p_project
$$;
COMMENT ON FUNCTION mailqueue.address_hash(uuid, text) IS
    'HMAC-SHA-256 of an address in its canonical form, by the key of the project; NULL once the key is deleted.';

CREATE OR REPLACE FUNCTION mailqueue.suppressions_hash() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.address_hash := mailqueue.address_hash(NEW.project_id, NEW.address);
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.suppressions_hash() IS
    'BEFORE INSERT of a suppression without its hash, and UPDATE of the address: stores the hash.';

-- Imported lists bring their hashes.
CREATE OR REPLACE TRIGGER suppressions_hash BEFORE INSERT ON mailqueue.suppressions
    FOR EACH ROW WHEN (NEW.address_hash IS NULL) EXECUTE FUNCTION mailqueue.suppressions_hash();
CREATE OR REPLACE TRIGGER suppressions_hash_again BEFORE UPDATE OF address, project_id ON mailqueue.suppressions
    FOR EACH ROW WHEN (NEW.address IS NOT NULL) EXECUTE FUNCTION mailqueue.suppressions_hash();

-- Projects and suppressions that are older than their triggers.
SELECT mailqueue.keep_address_key(p.id) FROM mailqueue.projects AS p
 WHERE NOT EXISTS (SELECT FROM mailqueue.address_keys AS k WHERE k.project_id = p.id);
UPDATE mailqueue.suppressions AS s SET address_hash = mailqueue.address_hash(s.project_id, s.address)
 WHERE s.address_hash IS NULL;

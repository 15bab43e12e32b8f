-- 0122_time_zones.sql
-- Adds:    time_zones, time_zone_offsets, time_zone_releases: the rules by which local times become instants
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.time_zone_releases (
    release      text        NOT NULL PRIMARY KEY,           -- such as 2026b
    until        timestamptz NOT NULL,                       -- there are no rules from here on
    installed_at timestamptz NOT NULL DEFAULT now()
);
-- There is one.
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX time_zone_releases_single_idx ON mailqueue.time_zone_releases ((true));
COMMENT ON TABLE mailqueue.time_zone_releases IS
    'The release of the IANA time zone database whose rules this database uses: one row.';

CREATE TABLE mailqueue.time_zones (
    name   text NOT NULL PRIMARY KEY,
    rules  text NOT NULL                                     -- the zone in time_zone_offsets; aliases share one
);
COMMENT ON TABLE mailqueue.time_zones IS
    'Names of time zones.';

CREATE TABLE mailqueue.time_zone_offsets (
    zone        text        NOT NULL,
    from_at     timestamptz NOT NULL,
    utc_offset  interval    NOT NULL,                        -- from then on

    PRIMARY KEY (zone, from_at)
);
COMMENT ON TABLE mailqueue.time_zone_offsets IS
    'Offsets of time zones from UTC, a row for each change.';

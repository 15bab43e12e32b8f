"""Schedules: mail that is made at a time, once, by a cron expression or by recipients' clocks."""

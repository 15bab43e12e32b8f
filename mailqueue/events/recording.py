"""Record what happens to mail; every source of events calls this."""

from mailqueue.events import store

record = store.record_events

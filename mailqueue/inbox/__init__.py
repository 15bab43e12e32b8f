"""Events of other services: handled once each, by the event rules of their project."""

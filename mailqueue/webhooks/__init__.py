"""Webhooks: deliver events of mail to the endpoints of projects."""

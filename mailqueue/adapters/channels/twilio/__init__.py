"""Twilio: messages to WhatsApp, what its errors mean, and its signed requests."""

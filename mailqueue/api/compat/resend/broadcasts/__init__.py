"""Resend's API: broadcasts, which are mail to a list that a schedule sends."""

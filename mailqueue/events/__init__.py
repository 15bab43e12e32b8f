"""Events of mail that was sent: deliveries, bounces, complaints, opens, clicks."""

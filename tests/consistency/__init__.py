"""What many clients see at once: transfers that keep a total, and appends that happen one after another."""

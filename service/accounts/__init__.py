"""Accounts: roles, keys, what each key may do, and the log of what was changed by whom."""

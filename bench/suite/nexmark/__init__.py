"""Nexmark: persons, auctions and bids, its queries q0 to q22 as views, and events to insert and delete."""

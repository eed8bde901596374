"""The PostgreSQL door: PostgreSQL's wire protocol, version 3.0, over the door of statements."""

"""Evidence: queries for the rows from which a row follows."""

"""Values to words and back: JSON rows (`json`), Arrow tables (`arrow`), single values (`values`)."""

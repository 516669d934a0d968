"""Where ledgers and originals lie, each looked up by name (`trimtab.parts`)."""

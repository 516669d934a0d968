"""Tools for testing trimtab and what is built on it."""

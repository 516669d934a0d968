"""Wire formats: parse, render, repair, validate and cost facts of each, one package per provider API."""

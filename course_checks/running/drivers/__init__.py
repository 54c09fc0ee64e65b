"""How answers are called where that is not the ordinary way: ``PROBES`` by the answer's name in the notebook."""

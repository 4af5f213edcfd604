"""How a run is made: the pytest plugin, the fabric and its endpoint workers."""

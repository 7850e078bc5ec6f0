"""Motion in time: force laws, simulation, its record."""

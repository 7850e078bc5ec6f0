"""Functions of one mechanism as expression graphs, machine code and C."""

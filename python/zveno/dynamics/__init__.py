"""Linear models of chains: small motions about a state, modes, equilibria."""

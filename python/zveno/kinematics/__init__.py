"""Questions of geometry that the compiled core does not answer alone."""

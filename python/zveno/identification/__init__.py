"""What can be known of a mechanism from measured motion."""

"""Other engines and random mechanisms for them: seen by tests and benchmarks."""

"""What ``zveno bench`` measures, and the tools that the benchmarks in ``bench/`` share."""

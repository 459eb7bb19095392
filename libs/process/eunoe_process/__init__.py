"""What a service needs to run as a process of its own: settings, stores, probes, calls between processes, a graceful stop."""

"""The subcommands of `rdma-conformance`, one module each: `add` declares it, `run` does it."""

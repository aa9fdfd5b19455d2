//! What to run and how: scenarios, and the runner that starts, watches and collects JVMs

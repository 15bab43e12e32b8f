"""The one place where adapters meet capabilities; a module for each kind of process."""

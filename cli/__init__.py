"""The `causeway` command."""

"""The wire contract (`causeway.proto`) and the Python code that is generated from it."""

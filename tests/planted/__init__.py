"""Faults to plant in the engine, one at a time: how many of them the tests catch.

The faults are data (`faults/*.toml`, a file for each area) and were chosen before anybody looked
at what the tests catch. `python -m tests.planted` plants each in a copy of the repository.
"""

"""Mutation testing of the core: small faults are put into the source, and tests must fail.

`make mutants` runs it. Tools that exist change files or put every function behind a switch, so
that all compiled code is compiled again for each fault. Here a process that has imported
everything forks a child for each fault; the child replaces the code of one function, compiles
what depends on it, and runs the tests of that part.
"""

"""Inputs that are nearly right, for every reader, the model files and the command line.

    make fuzz N=2000 SEED=0

An input is a valid file, or command, with a few changes that know its structure. It must be read,
or refused in one line that names it: no other exception, no crash, no hang, no gigabytes, no file
left behind. Inputs are numbered, and one number and seed give one input. They run in a child
process; the parent starts another where it dies or hangs, and keeps the input.
"""

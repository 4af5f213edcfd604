"""The lab: boots a virtual machine with two rxe devices and runs a command in it.

Standard library only: it must run on a fresh machine before anything is installed.
"""

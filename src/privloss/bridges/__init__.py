"""Bridges to other libraries: one module or package for each, named as the library is.

A bridge imports its library when it is used, and says which extra to install where the library is missing.
"""

"""Bridges to other libraries, one module each, importing that library inside its functions."""

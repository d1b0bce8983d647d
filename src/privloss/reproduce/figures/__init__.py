"""One file a figure, each with its ``FIGURE``. A new file here is a new figure: nothing else names it."""

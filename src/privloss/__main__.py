"""`python -m privloss` is the `privloss` command."""

import sys

from privloss._cli import main

sys.exit(main())

#!/usr/bin/env python3
"""sql.py FILE STATEMENT...: changes a SQLite file behind Clew's back."""

import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
for statement in sys.argv[2:]:
    before = database.total_changes
    database.execute(statement)
    print("changed" if database.total_changes > before else "nothing changed")
database.commit()

-- Edits that were not sent yet, by the branch and step that they are of. Kept again: replaced. Sent: gone.

CREATE TABLE draft (
    branch   INTEGER NOT NULL REFERENCES branch,
    step     INTEGER NOT NULL,
    text     TEXT NOT NULL,
    operator TEXT NOT NULL,
    created  TEXT NOT NULL,
    PRIMARY KEY (branch, step)
) STRICT, WITHOUT ROWID;

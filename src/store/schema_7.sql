-- Marks and notes on steps, by the branch that owns the step. No text: a mark.

CREATE TABLE note (
    branch   INTEGER NOT NULL REFERENCES branch,
    step     INTEGER NOT NULL,
    text     TEXT NOT NULL,
    operator TEXT NOT NULL,
    created  TEXT NOT NULL,
    PRIMARY KEY (branch, step)
) STRICT, WITHOUT ROWID;

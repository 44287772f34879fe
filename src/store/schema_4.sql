-- Schema 4. Hypotheses, the loop over them, and what the model calls of a run took.

CREATE TABLE hypothesis (
    session INTEGER NOT NULL REFERENCES session,
    number  INTEGER NOT NULL,
    body    TEXT NOT NULL, -- JSON
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

-- How the last loop over a session was asked for, so that a stopped one can go on.
CREATE TABLE debugging (
    session INTEGER PRIMARY KEY REFERENCES session,
    body    TEXT NOT NULL -- JSON
) STRICT;

ALTER TABLE branch ADD COLUMN usage TEXT; -- JSON; NULL: no model was called

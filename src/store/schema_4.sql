-- Schema 4. Hypotheses, and what the model calls of a run took.

CREATE TABLE hypothesis (
    session INTEGER NOT NULL REFERENCES session,
    number  INTEGER NOT NULL,
    body    TEXT NOT NULL, -- JSON
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

ALTER TABLE branch ADD COLUMN usage TEXT; -- JSON; NULL: no model was called

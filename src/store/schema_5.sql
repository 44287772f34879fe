-- Schema 5: receipts that came with a session from another store, whose chain they belong to.

CREATE TABLE carried (
    session INTEGER NOT NULL REFERENCES session,
    number  INTEGER NOT NULL,
    body    TEXT NOT NULL, -- JSON, its own digest included
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER carried_update BEFORE UPDATE ON carried
BEGIN SELECT RAISE(ABORT, 'a receipt is never edited'); END;
CREATE TRIGGER carried_delete BEFORE DELETE ON carried
BEGIN SELECT RAISE(ABORT, 'a receipt is never deleted'); END;

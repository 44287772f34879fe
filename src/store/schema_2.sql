-- Schema 2. One chain of receipts per store; the head anchors its end.

CREATE TABLE receipt (
    seq  INTEGER PRIMARY KEY, -- from 1, without gaps
    body TEXT NOT NULL        -- canonical JSON, its own digest included
) STRICT;

CREATE TABLE receipt_head (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    count INTEGER NOT NULL,
    last  BLOB NOT NULL -- digest of the last receipt
) STRICT;
INSERT INTO receipt_head (only, count, last) VALUES (1, 0, zeroblob(32));

CREATE TRIGGER receipt_update BEFORE UPDATE ON receipt
BEGIN SELECT RAISE(ABORT, 'a receipt is never edited'); END;
CREATE TRIGGER receipt_delete BEFORE DELETE ON receipt
BEGIN SELECT RAISE(ABORT, 'a receipt is never deleted'); END;
CREATE TRIGGER receipt_head_delete BEFORE DELETE ON receipt_head
BEGIN SELECT RAISE(ABORT, 'the head of the receipts is never deleted'); END;

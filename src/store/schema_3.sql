-- Schema 3. Approvals, and the configuration that a branch ran with.

CREATE TABLE approval (
    id           INTEGER PRIMARY KEY,
    session      INTEGER NOT NULL REFERENCES session,
    intervention INTEGER NOT NULL,
    digest       BLOB NOT NULL, -- of the body
    body         TEXT NOT NULL, -- canonical JSON: what was signed, and the signature
    used         INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, intervention, digest)
) STRICT;
CREATE TRIGGER approval_delete BEFORE DELETE ON approval
BEGIN SELECT RAISE(ABORT, 'an approval is never deleted'); END;
CREATE TRIGGER approval_body BEFORE UPDATE OF id, session, intervention, digest, body ON approval
BEGIN SELECT RAISE(ABORT, 'an approval is never edited'); END;
CREATE TRIGGER approval_used BEFORE UPDATE OF used ON approval WHEN old.used
BEGIN SELECT RAISE(ABORT, 'an approval is used once'); END;

ALTER TABLE branch ADD COLUMN config TEXT; -- JSON, a manifest; NULL: not recorded
ALTER TABLE branch ADD COLUMN operator TEXT;

-- Schema 1. A session, its branches, and what each branch owns; the prefix of a fork is its parent's.

CREATE TABLE session (
    id            INTEGER PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    header        TEXT NOT NULL,              -- JSON
    source_digest BLOB,
    created       TEXT NOT NULL,
    trials        INTEGER NOT NULL,           -- of main
    reached       INTEGER NOT NULL,           -- milestones of main
    forks         INTEGER NOT NULL DEFAULT 0, -- branches beside main; the next is b(forks + 1)
    interventions INTEGER NOT NULL DEFAULT 0  -- the next is i(interventions + 1)
) STRICT;
CREATE INDEX session_source ON session (source_digest);

CREATE TABLE intervention (
    session INTEGER NOT NULL REFERENCES session,
    number  INTEGER NOT NULL,
    body    TEXT NOT NULL, -- JSON
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE branch (
    id           INTEGER PRIMARY KEY,
    session      INTEGER NOT NULL REFERENCES session,
    name         TEXT NOT NULL,
    parent       INTEGER REFERENCES branch,
    fork_step    INTEGER,
    prefix       BLOB,    -- digest of the parent's steps before fork_step
    intervention INTEGER,
    run_index    INTEGER NOT NULL,
    seed         INTEGER NOT NULL, -- the 64 bits, signed
    runtime      TEXT,
    gate         TEXT,
    run          TEXT NOT NULL,
    diagnostic   INTEGER NOT NULL,
    fulfilled    INTEGER,
    success      INTEGER,
    answer       TEXT,
    milestones   TEXT,    -- JSON
    reason       TEXT,
    created      TEXT NOT NULL,
    steps        INTEGER NOT NULL, -- inherited ones included
    owner        TEXT,    -- lock file of the process that plans or runs it
    UNIQUE (session, name),
    FOREIGN KEY (session, intervention) REFERENCES intervention,
    -- A parent is older than its children, so the graph has no cycle.
    CHECK (parent IS NULL OR parent < id),
    CHECK ((parent IS NULL) = (fork_step IS NULL) AND (parent IS NULL) = (prefix IS NULL))
) STRICT;
CREATE INDEX branch_owner ON branch (owner) WHERE owner IS NOT NULL;

CREATE TABLE content (
    digest BLOB PRIMARY KEY,
    text   TEXT NOT NULL
) STRICT;

CREATE TABLE step (
    branch    INTEGER NOT NULL REFERENCES branch,
    idx       INTEGER NOT NULL,
    agent     TEXT NOT NULL,
    kind      TEXT NOT NULL,
    recipient TEXT,
    content   BLOB NOT NULL REFERENCES content,
    head      TEXT NOT NULL,    -- what a list shows of the content
    len       INTEGER NOT NULL, -- of the content, in bytes
    error     INTEGER NOT NULL,
    meta      TEXT,             -- JSON
    chain     BLOB NOT NULL,    -- digest of the branch's prefix up to and with this step
    PRIMARY KEY (branch, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX step_plan ON step (branch, idx) WHERE kind = 'plan';

CREATE TABLE checkpoint (
    branch INTEGER NOT NULL REFERENCES branch,
    step   INTEGER NOT NULL,
    keys   TEXT NOT NULL, -- JSON; a saved value stands here by its content's digest
    PRIMARY KEY (branch, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE effect (
    branch        INTEGER NOT NULL REFERENCES branch,
    seq           INTEGER NOT NULL,
    step          INTEGER NOT NULL,
    operation_key TEXT NOT NULL,
    body          TEXT NOT NULL, -- JSON
    PRIMARY KEY (branch, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE mark (
    branch    INTEGER NOT NULL REFERENCES branch,
    milestone TEXT NOT NULL, -- its title, so that a changed list does not move the mark
    step      INTEGER NOT NULL,
    PRIMARY KEY (branch, milestone)
) STRICT, WITHOUT ROWID;

-- Reset is fork: the database itself refuses to edit or delete what a branch has made, or to move a fork point.
CREATE TRIGGER step_update BEFORE UPDATE ON step
BEGIN SELECT RAISE(ABORT, 'a step is never edited'); END;
CREATE TRIGGER step_delete BEFORE DELETE ON step
BEGIN SELECT RAISE(ABORT, 'a step is never deleted'); END;
CREATE TRIGGER content_update BEFORE UPDATE ON content
BEGIN SELECT RAISE(ABORT, 'a content is never edited'); END;
CREATE TRIGGER content_delete BEFORE DELETE ON content
BEGIN SELECT RAISE(ABORT, 'a content is never deleted'); END;
CREATE TRIGGER checkpoint_update BEFORE UPDATE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'a checkpoint is never edited'); END;
CREATE TRIGGER checkpoint_delete BEFORE DELETE ON checkpoint
BEGIN SELECT RAISE(ABORT, 'a checkpoint is never deleted'); END;
CREATE TRIGGER branch_delete BEFORE DELETE ON branch
BEGIN SELECT RAISE(ABORT, 'a branch is never deleted'); END;
CREATE TRIGGER branch_lineage
BEFORE UPDATE OF id, session, name, parent, fork_step, prefix, intervention, run_index, seed ON branch
BEGIN SELECT RAISE(ABORT, 'a fork point never moves'); END;

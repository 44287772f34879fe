-- Schema 6. What learners did in lessons.

CREATE TABLE attempt (
    session INTEGER PRIMARY KEY REFERENCES session,
    body    TEXT NOT NULL, -- JSON
    started TEXT NOT NULL,
    updated TEXT NOT NULL
) STRICT;

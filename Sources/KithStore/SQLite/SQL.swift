/// Every statement that is kept prepared, by name.
enum SQL: Int, CaseIterable {
    case begin, beginWriting, commit, rollback, savepoint, release, rollbackToSavepoint

    case loadDocument, insertDocument, moveDocument, dropDocument
    case readDocument, readTree, readRevision, feed, feedWithBodies, feedOfConflicts, winners
    case documentsById, deletedToo, everyTree, everyBody, readWhole
    case expired

    case liveBodies, insertBody, dropBody, keepBody, dropBodies, dropExpired, keptBodies, bodyOfRevision

    case readState, writeState, insertTimeline, endTimeline, forgetTimeline, timelineById, timelineAt
    case readCheckpoint, readCheckpoints, writeCheckpoint, dropCheckpoint, dropCheckpoints, dropOtherCheckpoints

    case readPurged, writePurged, dropPurged, allPurged
    case readRefused, writeRefused, dropRefused, dropOldestRefused, allRefused
    case readLocal, writeLocal, dropLocal
    case readSetting, writeSetting, dropSetting

    var text: String {
        switch self {
        case .begin: "BEGIN"
        case .beginWriting: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .savepoint: "SAVEPOINT one"
        case .release: "RELEASE one"
        case .rollbackToSavepoint: "ROLLBACK TO one"

        case .loadDocument: "SELECT sequence, flags, revision, tree, body, number FROM documents WHERE id = ?1"
        case .insertDocument:
            "INSERT INTO documents(sequence, id, flags, revision, tree, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        case .moveDocument:
            "UPDATE documents SET sequence = ?1, flags = ?3, revision = ?4, tree = ?5, body = ?6 WHERE number = ?2"
        case .dropDocument: "DELETE FROM documents WHERE number = ?1"
        case .readDocument: "SELECT sequence, flags, revision, body, tree, id FROM documents WHERE id = ?1"
        case .readTree: "SELECT flags, revision, tree FROM documents WHERE id = ?1"
        case .readRevision: "SELECT sequence, flags, revision FROM documents WHERE id = ?1"
        case .feed:
            """
            SELECT sequence, id, flags, revision, tree FROM documents
            WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence LIMIT ?3
            """
        case .feedWithBodies:
            """
            SELECT sequence, id, flags, revision, tree, body FROM documents
            WHERE sequence > ?1 AND sequence <= ?2 ORDER BY sequence LIMIT ?3
            """
        case .feedOfConflicts:
            """
            SELECT sequence, id, revision FROM documents
            WHERE flags & 2 AND sequence > ?1 AND sequence <= ?2 ORDER BY sequence LIMIT ?3
            """
        case .winners:
            "SELECT sequence, id, flags, revision FROM documents WHERE sequence > ?1 ORDER BY sequence LIMIT ?2"
        case .documentsById:
            """
            SELECT sequence, flags, revision, body, tree, id FROM documents
            WHERE id > ?1 AND NOT flags & 1 ORDER BY id LIMIT ?2
            """
        case .deletedToo:
            "SELECT sequence, flags, revision, body, tree, id FROM documents WHERE id > ?1 ORDER BY id LIMIT ?2"
        case .everyTree: "SELECT sequence, id, flags, revision, tree FROM documents"
        case .everyBody: "SELECT sequence, id, flags, revision, tree, body FROM documents"
        case .readWhole: "SELECT sequence, id, flags, revision, tree, body FROM documents WHERE id = ?1"

        case .expired:
            """
            SELECT id FROM documents WHERE flags & 16 AND json_extract(body, '$._expires') <= ?1
            ORDER BY json_extract(body, '$._expires') LIMIT ?2
            """

        case .liveBodies: "SELECT revision, body FROM bodies WHERE id = ?1 AND kept_until IS NULL"
        case .insertBody: "INSERT OR REPLACE INTO bodies(id, revision, body, kept_until) VALUES (?1, ?2, ?3, ?4)"
        case .dropBody: "DELETE FROM bodies WHERE id = ?1 AND revision = ?2"
        case .keepBody: "UPDATE bodies SET kept_until = ?3 WHERE id = ?1 AND revision = ?2"
        case .dropBodies: "DELETE FROM bodies WHERE id = ?1"
        case .dropExpired:
            """
            DELETE FROM bodies WHERE rowid IN
            (SELECT rowid FROM bodies WHERE kept_until IS NOT NULL AND kept_until <= ?1 ORDER BY kept_until LIMIT ?2)
            RETURNING 1
            """
        case .keptBodies:
            "SELECT revision, kept_until FROM bodies WHERE id = ?1 AND kept_until IS NOT NULL ORDER BY revision"
        case .bodyOfRevision: "SELECT body FROM bodies WHERE id = ?1 AND revision = ?2"

        case .readState:
            """
            SELECT sequence, digest, documents, deleted, conflicts, purged, refused, timeline, database FROM state
            """
        case .writeState:
            """
            UPDATE state SET sequence = ?1, digest = ?2, documents = ?3, deleted = ?4, conflicts = ?5, purged = ?6,
            refused = ?7, timeline = ?8
            """
        case .insertTimeline: "INSERT INTO timelines(first, id, last) VALUES (?1, ?2, NULL)"
        case .endTimeline: "UPDATE timelines SET last = ?1 WHERE last IS NULL"
        case .forgetTimeline: "DELETE FROM timelines WHERE id = ?1"
        case .timelineById: "SELECT last FROM timelines WHERE id = ?1"
        case .timelineAt: "SELECT id, last FROM timelines WHERE first <= ?1 ORDER BY first DESC LIMIT 1"
        case .readCheckpoint: "SELECT timeline, sequence FROM checkpoints WHERE source = ?1"
        case .readCheckpoints: "SELECT source, timeline, sequence FROM checkpoints"
        case .writeCheckpoint:
            "INSERT OR REPLACE INTO checkpoints(source, timeline, sequence) VALUES (?1, ?2, ?3)"
        case .dropCheckpoint: "DELETE FROM checkpoints WHERE substr(source, 1, 32) = ?1"
        case .dropCheckpoints: "DELETE FROM checkpoints"
        case .dropOtherCheckpoints: "DELETE FROM checkpoints WHERE hex(substr(source, 33)) <> hex(?1)"

        case .readPurged: "SELECT leaves, timeline FROM purged WHERE id = ?1"
        case .writePurged: "INSERT OR REPLACE INTO purged(id, leaves, timeline) VALUES (?1, ?2, ?3)"
        case .dropPurged: "DELETE FROM purged WHERE id = ?1"
        case .allPurged: "SELECT id FROM purged WHERE length(leaves) > 0 ORDER BY id"
        case .readRefused: "SELECT leaves, rules FROM refused WHERE id = ?1"
        case .writeRefused: "INSERT OR REPLACE INTO refused(id, leaves, reason, rules) VALUES (?1, ?2, ?3, ?4)"
        case .dropRefused: "DELETE FROM refused WHERE id = ?1"
        case .dropOldestRefused:
            "DELETE FROM refused WHERE number IN (SELECT number FROM refused ORDER BY number LIMIT 1)"
        case .allRefused: "SELECT id, leaves, reason FROM refused WHERE rules = ?1 ORDER BY id"
        case .readLocal: "SELECT body FROM local WHERE id = ?1"
        case .writeLocal: "INSERT OR REPLACE INTO local(id, body) VALUES (?1, ?2)"
        case .dropLocal: "DELETE FROM local WHERE id = ?1 RETURNING 1"
        case .readSetting: "SELECT value FROM settings WHERE key = ?1"
        case .writeSetting: "INSERT OR REPLACE INTO settings(key, value) VALUES (?1, ?2)"
        case .dropSetting: "DELETE FROM settings WHERE key = ?1"
        }
    }
}

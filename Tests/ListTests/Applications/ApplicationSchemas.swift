import TestSupport

/// Small forms of the schemas of known applications: names of tables and columns, keys, collations, indexes and
/// triggers are the applications' own, from their documentation. Tables that need the applications' collations are in
/// `ForeignPartsTests`.
struct ApplicationSchema: Sendable {
  let name: String
  let schema: RandomSchema
  /// The sources of lists: `from`, its key, and columns.
  let sources: [(from: String, keys: [String], columns: [String])]
  /// Typical transactions of the application; `#` stands for a number.
  let bursts: [String]

  private init(
    _ name: String, _ sql: String, _ tables: [(name: String, columns: [String])],
    _ sources: [(from: String, keys: [String], columns: [String])], _ bursts: [String]
  ) {
    self.name = name
    schema = RandomSchema(description: name, sql: sql, tables: tables)
    self.sources = sources
    self.bursts = bursts
  }

  private static let series = "WITH RECURSIVE s(i) AS (SELECT # UNION ALL SELECT i + 1 FROM s WHERE i < # + 12)"

  static let all = [anki, calibre, homeAssistant, coreData, messages, firefox, plex, piHole, zotero, uptimeKuma]

  private static let anki = ApplicationSchema(
    "Anki",
    """
    CREATE TABLE notes(id integer primary key, guid text not null, mid integer not null, mod integer not null, usn integer not null,
      tags text not null, flds text not null, sfld integer not null, csum integer not null);
    CREATE TABLE cards(id integer primary key, nid integer not null, did integer not null, ord integer not null, mod integer not null,
      queue integer not null, due integer not null, ivl integer not null, reps integer not null);
    CREATE TABLE revlog(id integer primary key, cid integer not null, ease integer not null, ivl integer not null, time integer not null);
    CREATE TABLE graves(usn integer not null, oid integer not null, type integer not null);
    CREATE INDEX ix_cards_nid ON cards(nid); CREATE INDEX ix_cards_sched ON cards(did, queue, due); CREATE INDEX ix_revlog_cid ON revlog(cid);
    """,
    [
      ("notes", ["id", "guid", "mid", "mod", "usn", "tags", "flds", "sfld", "csum"]),
      ("cards", ["id", "nid", "did", "ord", "mod", "queue", "due", "ivl", "reps"]),
      ("revlog", ["id", "cid", "ease", "ivl", "time"]),
    ],
    [
      ("cards", ["id"], ["nid", "did", "queue", "due"]), ("notes", ["id"], ["guid", "tags", "sfld"]),
      ("cards c JOIN notes n ON n.id = c.nid", ["c.id"], ["n.flds", "c.due", "n.mid"]),
      ("notes n LEFT JOIN cards c ON c.nid = n.id", ["n.id", "c.id AS cid"], ["c.queue", "n.tags"]),
      ("revlog r, cards c", ["r.id"], ["r.ease", "c.did"]), ("graves", ["rowid"], ["oid", "type"]),
    ],
    [
      "UPDATE cards SET queue = 2, due = due + #, reps = reps + 1 WHERE id = #; INSERT INTO revlog VALUES (abs(random() % 90000), #, 3, #, 9);",
      "\(series) INSERT OR IGNORE INTO notes SELECT i, 'g' || i, 1, 2, -1, 't' || (i % 3), 'f', i, i FROM s;",
      "\(series) INSERT OR IGNORE INTO cards SELECT i, i / 2, i % 3, 0, 1, i % 4 - 1, i, 1, 0 FROM s;",
      "DELETE FROM notes WHERE id = #; DELETE FROM cards WHERE nid = #; INSERT INTO graves VALUES (-1, #, 1);",
    ])

  private static let calibre = ApplicationSchema(
    "Calibre",
    """
    CREATE TABLE books(id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT 'Unknown' COLLATE NOCASE, sort TEXT COLLATE NOCASE,
      timestamp TIMESTAMP, series_index REAL NOT NULL DEFAULT 1.0, author_sort TEXT COLLATE NOCASE, has_cover BOOL DEFAULT 0);
    CREATE TABLE authors(id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, sort TEXT COLLATE NOCASE, UNIQUE(name));
    CREATE TABLE books_authors_link(id INTEGER PRIMARY KEY, book INTEGER NOT NULL, author INTEGER NOT NULL, UNIQUE(book, author));
    CREATE TABLE data(id INTEGER PRIMARY KEY, book INTEGER NOT NULL, format TEXT NOT NULL COLLATE NOCASE, name TEXT, UNIQUE(book, format));
    CREATE INDEX books_idx ON books(sort COLLATE NOCASE); CREATE INDEX books_authors_link_aidx ON books_authors_link(author);
    CREATE TRIGGER books_delete_trg AFTER DELETE ON books BEGIN DELETE FROM books_authors_link WHERE book = OLD.id; DELETE FROM data WHERE book = OLD.id; END;
    CREATE VIEW listed AS SELECT b.id, b.title, a.name AS author FROM books b JOIN books_authors_link l ON l.book = b.id JOIN authors a ON a.id = l.author;
    """,
    [
      ("books", ["id", "title", "sort", "timestamp", "series_index", "author_sort"]),
      ("authors", ["id", "name", "sort"]),
      ("books_authors_link", ["id", "book", "author"]), ("data", ["id", "book", "format", "name"]),
    ],
    [
      ("books", ["id"], ["title", "sort", "series_index"]), ("authors", ["id"], ["name", "sort"]),
      ("data", ["id"], ["book", "format"]),
      (
        "books b JOIN books_authors_link l ON l.book = b.id JOIN authors a ON a.id = l.author",
        ["b.id", "a.id AS aid"],
        ["b.title", "a.name"]
      ),
      ("books b, data d", ["b.id", "d.id AS did"], ["b.sort", "d.format"]),
    ],
    [
      "INSERT OR IGNORE INTO books(id, title, sort) VALUES (#, 'The B', 'b, the'); INSERT OR IGNORE INTO books_authors_link(book, author) VALUES (#, #);",
      "UPDATE books SET title = title || 'x', sort = lower(title) WHERE id < #;", "DELETE FROM books WHERE id = #;",
      "INSERT OR REPLACE INTO data(book, format, name) VALUES (#, 'EPUB', 'n'), (#, 'epub', 'm');",
    ])

  private static let homeAssistant = ApplicationSchema(
    "Home Assistant",
    """
    CREATE TABLE states_meta(metadata_id INTEGER NOT NULL PRIMARY KEY, entity_id VARCHAR(255));
    CREATE TABLE state_attributes(attributes_id INTEGER NOT NULL PRIMARY KEY, hash BIGINT, shared_attrs TEXT);
    CREATE TABLE states(state_id INTEGER NOT NULL PRIMARY KEY, entity_id CHAR(0), state VARCHAR(255), attributes_id INTEGER, last_updated_ts FLOAT,
      old_state_id INTEGER, metadata_id INTEGER, context_id_bin BLOB);
    CREATE TABLE statistics(id INTEGER NOT NULL PRIMARY KEY, metadata_id INTEGER, start_ts FLOAT, mean FLOAT, min FLOAT, max FLOAT);
    CREATE INDEX ix_states_metadata_id_last_updated_ts ON states(metadata_id, last_updated_ts); CREATE INDEX ix_states_old_state_id ON states(old_state_id);
    CREATE UNIQUE INDEX ix_statistics_statistic_id_start_ts ON statistics(metadata_id, start_ts);
    CREATE UNIQUE INDEX ix_states_meta_entity_id ON states_meta(entity_id);
    """,
    [
      ("states_meta", ["metadata_id", "entity_id"]), ("state_attributes", ["attributes_id", "hash", "shared_attrs"]),
      ("states", ["state_id", "state", "attributes_id", "last_updated_ts", "old_state_id", "metadata_id"]),
      ("statistics", ["id", "metadata_id", "start_ts", "mean"]),
    ],
    [
      ("states", ["state_id"], ["state", "metadata_id", "last_updated_ts"]),
      ("statistics", ["id"], ["metadata_id", "mean"]),
      (
        "states s JOIN states_meta m ON m.metadata_id = s.metadata_id LEFT JOIN state_attributes a ON a.attributes_id = s.attributes_id",
        ["s.state_id"], ["m.entity_id", "s.state", "a.hash"]
      ), ("states_meta m, states s", ["s.state_id"], ["m.entity_id", "s.state"]),
      ("states s LEFT JOIN states o ON o.state_id = s.old_state_id", ["s.state_id"], ["s.state", "o.state AS before"]),
    ],
    [
      "\(series) INSERT OR REPLACE INTO states(state_id, state, last_updated_ts, metadata_id, old_state_id) SELECT i, 'on', i + 0.5, i % 4, i - 4 FROM s;",
      "DELETE FROM states WHERE last_updated_ts < #;", "UPDATE states SET old_state_id = NULL WHERE state_id < #;",
      "INSERT OR REPLACE INTO statistics(metadata_id, start_ts, mean) VALUES (#, #, 2.25);",
    ])

  private static let coreData = ApplicationSchema(
    "Core Data",
    """
    CREATE TABLE ZPERSON(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDEPARTMENT INTEGER, ZNAME VARCHAR, ZBORN TIMESTAMP);
    CREATE TABLE ZDEPARTMENT(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR);
    CREATE TABLE Z_1TAGS(Z_1PEOPLE INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1PEOPLE, Z_2TAGS));
    CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
    CREATE INDEX ZPERSON_ZDEPARTMENT_INDEX ON ZPERSON(ZDEPARTMENT); CREATE INDEX Z_1TAGS_INDEX ON Z_1TAGS(Z_2TAGS, Z_1PEOPLE);
    """,
    [
      ("ZPERSON", ["Z_PK", "Z_OPT", "ZDEPARTMENT", "ZNAME", "ZBORN"]), ("ZDEPARTMENT", ["Z_PK", "Z_OPT", "ZTITLE"]),
      ("Z_1TAGS", ["Z_1PEOPLE", "Z_2TAGS"]),
    ],
    [
      ("ZPERSON", ["Z_PK"], ["ZNAME", "ZDEPARTMENT", "ZBORN"]), ("Z_1TAGS", ["rowid"], ["Z_1PEOPLE", "Z_2TAGS"]),
      ("ZPERSON p LEFT JOIN ZDEPARTMENT d ON d.Z_PK = p.ZDEPARTMENT", ["p.Z_PK"], ["p.ZNAME", "d.ZTITLE"]),
      ("ZDEPARTMENT d, ZPERSON p", ["p.Z_PK AS p"], ["d.ZTITLE", "p.ZNAME"]),
    ],
    [
      "UPDATE ZPERSON SET Z_OPT = Z_OPT + 1, ZNAME = 'n#' WHERE Z_PK = #;",
      "\(series) INSERT OR REPLACE INTO ZPERSON SELECT i, 1, 1, i % 5, 'p' || i, i FROM s;",
      "INSERT OR IGNORE INTO Z_1TAGS VALUES (#, #), (#, 1), (NULL, #);", "DELETE FROM ZDEPARTMENT WHERE Z_PK = #;",
    ])

  private static let messages = ApplicationSchema(
    "Messages",
    """
    CREATE TABLE handle(ROWID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, id TEXT NOT NULL, service TEXT NOT NULL, UNIQUE (id, service));
    CREATE TABLE message(ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT UNIQUE NOT NULL, text TEXT, handle_id INTEGER DEFAULT 0, date INTEGER,
      is_from_me INTEGER DEFAULT 0);
    CREATE TABLE chat(ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT UNIQUE NOT NULL, display_name TEXT);
    CREATE TABLE chat_message_join(chat_id INTEGER REFERENCES chat(ROWID) ON DELETE CASCADE, message_id INTEGER REFERENCES message(ROWID) ON DELETE CASCADE,
      message_date INTEGER DEFAULT 0, PRIMARY KEY (chat_id, message_id));
    CREATE INDEX message_idx_handle ON message(handle_id, date); CREATE INDEX chat_message_join_idx ON chat_message_join(message_id);
    """,
    [
      ("handle", ["ROWID", "id", "service"]),
      ("message", ["ROWID", "guid", "text", "handle_id", "date", "is_from_me"]),
      ("chat", ["ROWID", "guid", "display_name"]), ("chat_message_join", ["chat_id", "message_id", "message_date"]),
    ],
    [
      ("message", ["ROWID"], ["text", "date", "is_from_me"]), ("handle", ["ROWID"], ["id", "service"]),
      (
        "message m JOIN chat_message_join j ON j.message_id = m.ROWID JOIN chat c ON c.ROWID = j.chat_id",
        ["m.ROWID AS m", "c.ROWID AS c"],
        ["c.guid", "m.text"]
      ), ("message m LEFT JOIN handle h ON h.ROWID = m.handle_id", ["m.ROWID"], ["h.id", "m.text"]),
      ("chat c, message m", ["m.ROWID AS r", "c.ROWID AS c"], ["c.display_name", "m.date"]),
    ],
    [
      "INSERT OR IGNORE INTO message(ROWID, guid, text, handle_id, date) VALUES (#, 'g#', 'hi', #, #); INSERT OR IGNORE INTO chat_message_join VALUES (#, #, #);",
      "UPDATE message SET text = 'read', is_from_me = 1 - is_from_me WHERE handle_id = #;",
      "DELETE FROM message WHERE ROWID = #;",
      "INSERT OR IGNORE INTO chat VALUES (#, 'c#', 'd'); INSERT OR IGNORE INTO handle VALUES (#, '+#', 'SMS');",
    ])

  private static let firefox = ApplicationSchema(
    "Firefox",
    """
    CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR, visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL,
      frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER, foreign_count INTEGER DEFAULT 0 NOT NULL);
    CREATE TABLE moz_historyvisits(id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER, visit_date INTEGER, visit_type INTEGER);
    CREATE TABLE moz_bookmarks(id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER DEFAULT NULL, parent INTEGER, position INTEGER, title LONGVARCHAR);
    CREATE INDEX moz_places_frecencyindex ON moz_places(frecency); CREATE INDEX moz_historyvisits_placedateindex ON moz_historyvisits(place_id, visit_date);
    CREATE INDEX moz_bookmarks_itemindex ON moz_bookmarks(fk, type); CREATE INDEX moz_bookmarks_parentindex ON moz_bookmarks(parent, position);
    CREATE TRIGGER moz_historyvisits_afterinsert_v2_trigger AFTER INSERT ON moz_historyvisits BEGIN UPDATE moz_places SET visit_count = visit_count + 1, last_visit_date = max(ifnull(last_visit_date, 0), NEW.visit_date) WHERE id = NEW.place_id; END;
    CREATE TRIGGER moz_bookmarks_foreign_count_afterinsert_trigger AFTER INSERT ON moz_bookmarks BEGIN UPDATE moz_places SET foreign_count = foreign_count + 1 WHERE id = NEW.fk; END;
    CREATE TRIGGER moz_bookmarks_foreign_count_afterdelete_trigger AFTER DELETE ON moz_bookmarks BEGIN UPDATE moz_places SET foreign_count = foreign_count - 1 WHERE id = OLD.fk; END;
    """,
    [
      ("moz_places", ["id", "url", "title", "visit_count", "hidden", "frecency", "last_visit_date"]),
      ("moz_historyvisits", ["id", "from_visit", "place_id", "visit_date", "visit_type"]),
      ("moz_bookmarks", ["id", "type", "fk", "parent", "position", "title"]),
    ],
    [
      ("moz_places", ["id"], ["url", "visit_count", "frecency", "foreign_count"]),
      ("moz_bookmarks", ["id"], ["parent", "position", "title"]),
      ("moz_bookmarks b LEFT JOIN moz_places p ON p.id = b.fk", ["b.id"], ["b.title", "p.url"]),
      ("moz_places p, moz_historyvisits v", ["v.id"], ["p.title", "v.visit_type"]),
      ("moz_bookmarks b JOIN moz_bookmarks f ON f.id = b.parent", ["b.id"], ["f.title", "b.position"]),
    ],
    [
      "INSERT OR IGNORE INTO moz_places(id, url, title) VALUES (#, 'http://#', 't'); INSERT INTO moz_historyvisits(place_id, visit_date, visit_type) VALUES (#, #, 1);",
      "UPDATE moz_places SET frecency = frecency * 0.975 WHERE frecency > 0;",
      "DELETE FROM moz_historyvisits WHERE visit_date < #;",
      "UPDATE moz_bookmarks SET position = position + 1 WHERE parent = # AND position >= #; INSERT OR IGNORE INTO moz_bookmarks(id, type, fk, parent, position) VALUES (#, 1, #, #, #);",
    ])

  private static let plex = ApplicationSchema(
    "Plex",
    """
    CREATE TABLE metadata_items(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, library_section_id integer, parent_id integer, metadata_type integer,
      title varchar(255), title_sort varchar(255), "index" integer, rating float, duration integer);
    CREATE TABLE tags(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, tag varchar(255), tag_type integer);
    CREATE TABLE taggings(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, metadata_item_id integer, tag_id integer, "index" integer);
    CREATE VIRTUAL TABLE fts4_metadata_titles USING fts4(content='metadata_items', title, title_sort);
    CREATE INDEX index_metadata_items_on_parent_id ON metadata_items(parent_id); CREATE INDEX index_taggings_on_metadata_item_id ON taggings(metadata_item_id);
    CREATE TRIGGER fts4_titles_before_update BEFORE UPDATE ON metadata_items BEGIN DELETE FROM fts4_metadata_titles WHERE docid = OLD.rowid; END;
    CREATE TRIGGER fts4_titles_before_delete BEFORE DELETE ON metadata_items BEGIN DELETE FROM fts4_metadata_titles WHERE docid = OLD.rowid; END;
    CREATE TRIGGER fts4_titles_after_update AFTER UPDATE ON metadata_items BEGIN INSERT INTO fts4_metadata_titles(docid, title, title_sort) VALUES (NEW.rowid, NEW.title, NEW.title_sort); END;
    CREATE TRIGGER fts4_titles_after_insert AFTER INSERT ON metadata_items BEGIN INSERT INTO fts4_metadata_titles(docid, title, title_sort) VALUES (NEW.rowid, NEW.title, NEW.title_sort); END;
    """,
    [("tags", ["id", "tag", "tag_type"]), ("taggings", ["id", "metadata_item_id", "tag_id"])],
    [
      ("metadata_items", ["id"], ["title", "rating", "parent_id"]), ("tags", ["id"], ["tag", "tag_type"]),
      (
        "metadata_items m LEFT JOIN metadata_items p ON p.id = m.parent_id", ["m.id"], ["m.title", "p.title AS parent"]
      ),
      ("taggings t, tags g", ["t.id"], ["g.tag", "t.metadata_item_id"]),
      (
        "metadata_items m JOIN taggings t ON t.metadata_item_id = m.id", ["m.id", "t.id AS tid"],
        ["m.title", "t.tag_id"]
      ),
    ],
    [
      "UPDATE metadata_items SET title = 'star #', rating = # / 2.0 WHERE id = #;",
      "DELETE FROM metadata_items WHERE id = #;",
      "\(series) INSERT INTO metadata_items(library_section_id, parent_id, title, title_sort, rating) SELECT 1, i / 3, 'star ' || i, 's' || i, i FROM s;",
      "UPDATE metadata_items SET \"index\" = #, parent_id = # WHERE parent_id = #;",
    ])

  private static let piHole = ApplicationSchema(
    "Pi-hole",
    """
    CREATE TABLE query_storage(id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp INTEGER NOT NULL, type INTEGER NOT NULL, status INTEGER NOT NULL,
      domain INTEGER NOT NULL, client INTEGER NOT NULL, forward INTEGER);
    CREATE TABLE domain_by_id(id INTEGER PRIMARY KEY, domain TEXT NOT NULL); CREATE TABLE client_by_id(id INTEGER PRIMARY KEY, ip TEXT NOT NULL, name TEXT);
    CREATE TABLE counters(id INTEGER PRIMARY KEY NOT NULL, value INTEGER NOT NULL); INSERT INTO counters VALUES (0, 0), (1, 0);
    CREATE INDEX idx_queries_timestamps ON query_storage(timestamp); CREATE UNIQUE INDEX domain_by_id_domain_idx ON domain_by_id(domain);
    CREATE VIEW queries AS SELECT id, timestamp, type, status, CASE typeof(domain) WHEN 'integer' THEN (SELECT domain FROM domain_by_id d WHERE d.id = q.domain) ELSE domain END domain, CASE typeof(client) WHEN 'integer' THEN (SELECT ip FROM client_by_id c WHERE c.id = q.client) ELSE client END client FROM query_storage q;
    """,
    [
      ("query_storage", ["id", "timestamp", "type", "status", "domain", "client"]), ("domain_by_id", ["id", "domain"]),
      ("client_by_id", ["id", "ip", "name"]),
    ],
    [
      ("query_storage", ["id"], ["timestamp", "status", "domain"]),
      ("queries", ["id"], ["domain", "client", "status"]),
      ("query_storage q JOIN domain_by_id d ON d.id = q.domain", ["q.id"], ["d.domain", "q.status"]),
      ("client_by_id c, query_storage q", ["q.id"], ["c.name", "q.type"]),
    ],
    [
      "\(series) INSERT INTO query_storage(timestamp, type, status, domain, client) SELECT i, 1, i % 4, i % 6, i % 3 FROM s; UPDATE counters SET value = value + 12 WHERE id = 0;",
      "INSERT OR IGNORE INTO domain_by_id VALUES (#, 'd#.org'); INSERT OR IGNORE INTO client_by_id VALUES (#, '10.0.0.#', NULL);",
      "DELETE FROM query_storage WHERE timestamp <= #;", "UPDATE client_by_id SET name = 'c#' WHERE id = #;",
    ])

  private static let zotero = ApplicationSchema(
    "Zotero",
    """
    CREATE TABLE items(itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL, UNIQUE (libraryID, key));
    CREATE TABLE itemDataValues(valueID INTEGER PRIMARY KEY, value UNIQUE);
    CREATE TABLE itemData(itemID INT, fieldID INT, valueID INT, PRIMARY KEY (itemID, fieldID), FOREIGN KEY (itemID) REFERENCES items(itemID) ON DELETE CASCADE,
      FOREIGN KEY (valueID) REFERENCES itemDataValues(valueID));
    CREATE TABLE collections(collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL, parentCollectionID INT DEFAULT NULL);
    CREATE TABLE collectionItems(collectionID INT NOT NULL, itemID INT NOT NULL, orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (collectionID, itemID));
    CREATE INDEX itemData_fieldID ON itemData(fieldID); CREATE INDEX itemData_valueID ON itemData(valueID); CREATE INDEX collectionItems_itemID ON collectionItems(itemID);
    """,
    [
      ("items", ["itemID", "itemTypeID", "dateAdded", "libraryID", "key"]), ("itemDataValues", ["valueID", "value"]),
      ("itemData", ["itemID", "fieldID", "valueID"]), ("collectionItems", ["collectionID", "itemID", "orderIndex"]),
    ],
    [
      ("items", ["itemID"], ["key", "dateAdded", "libraryID"]),
      ("itemData", ["rowid"], ["itemID", "fieldID", "valueID"]),
      (
        "items i JOIN itemData d ON d.itemID = i.itemID JOIN itemDataValues v ON v.valueID = d.valueID",
        ["i.itemID", "d.fieldID"], ["v.value", "i.key"]
      ),
      ("collectionItems c, items i", ["c.collectionID", "i.itemID"], ["c.orderIndex", "i.key"]),
      ("items i LEFT JOIN itemData d ON d.itemID = i.itemID AND d.fieldID = 1", ["i.itemID"], ["d.valueID", "i.key"]),
    ],
    [
      "INSERT OR REPLACE INTO itemData VALUES (#, 1, #), (#, 2, #);", "DELETE FROM items WHERE itemID = #;",
      "\(series) INSERT OR IGNORE INTO items SELECT i, 2, i, 1, 'K' || i FROM s;",
      "UPDATE collectionItems SET orderIndex = orderIndex + 1 WHERE collectionID = #; INSERT OR IGNORE INTO collectionItems VALUES (#, #, 0);",
    ])

  private static let uptimeKuma = ApplicationSchema(
    "Uptime Kuma",
    """
    CREATE TABLE monitor(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(150), active BOOLEAN DEFAULT 1 NOT NULL, interval INTEGER DEFAULT 20 NOT NULL,
      url TEXT, type VARCHAR(20), weight INTEGER DEFAULT 2000);
    CREATE TABLE heartbeat(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, important BOOLEAN DEFAULT 0 NOT NULL, monitor_id INTEGER NOT NULL
      REFERENCES monitor(id) ON DELETE CASCADE ON UPDATE CASCADE, status SMALLINT NOT NULL, msg TEXT, time DATETIME NOT NULL, ping INTEGER);
    CREATE TABLE tag(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(255) NOT NULL, color VARCHAR(255) NOT NULL);
    CREATE TABLE monitor_tag(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL REFERENCES monitor(id) ON DELETE CASCADE,
      tag_id INTEGER NOT NULL REFERENCES tag(id) ON DELETE CASCADE, value TEXT);
    CREATE INDEX important ON heartbeat(important); CREATE INDEX monitor_id ON heartbeat(monitor_id); CREATE INDEX monitor_time_index ON heartbeat(monitor_id, time);
    """,
    [
      ("monitor", ["id", "name", "active", "interval", "url", "type", "weight"]),
      ("heartbeat", ["id", "important", "monitor_id", "status", "msg", "time", "ping"]),
      ("tag", ["id", "name", "color"]),
      ("monitor_tag", ["id", "monitor_id", "tag_id", "value"]),
    ],
    [
      ("monitor", ["id"], ["name", "active", "weight"]), ("heartbeat", ["id"], ["monitor_id", "status", "ping"]),
      (
        "monitor m LEFT JOIN heartbeat h ON h.monitor_id = m.id AND h.important", ["m.id", "h.id AS hid"],
        ["m.name", "h.msg"]
      ),
      ("heartbeat h, monitor m", ["h.id"], ["m.name", "h.status"]),
      (
        "monitor m JOIN monitor_tag x ON x.monitor_id = m.id JOIN tag t ON t.id = x.tag_id", ["m.id", "x.id AS xid"],
        ["m.name", "t.name AS tag"]
      ),
    ],
    [
      "\(series) INSERT INTO heartbeat(monitor_id, status, time, ping, important) SELECT i % 4 + 1, i % 3, '2024-01-0' || (i % 9), i, i % 5 = 0 FROM s;",
      "INSERT OR IGNORE INTO monitor(id, name) VALUES (#, 'm#'), (1, 'one');",
      "DELETE FROM heartbeat WHERE time < '2024-01-03';",
      "UPDATE monitor SET active = 1 - active WHERE id = #; DELETE FROM monitor WHERE id = #;",
    ])
}

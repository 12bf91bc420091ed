/// What an application writes and its clients follow, after the profiles of the same names in Zero's
/// `apps/zero-throughput`: every commit concerns lists that all clients have open. Nested queries there are joins here.
enum ThroughputProfile: String, CaseIterable {
  case feed = "feed-append"
  case email
  case forum
  case relational

  /// `at` is when the commit began.
  var schema: String {
    switch self {
    case .feed:
      """
      CREATE TABLE event(id TEXT PRIMARY KEY, bucket INT NOT NULL, seq INT NOT NULL, at INT NOT NULL, payload TEXT NOT NULL);
      CREATE INDEX event_bucket ON event(bucket, seq);
      """
    case .email:
      """
      CREATE TABLE thread(id TEXT PRIMARY KEY, owner TEXT, mailbox TEXT, subject TEXT, seq INT, at INT);
      CREATE TABLE message(
        id TEXT PRIMARY KEY, thread TEXT, owner TEXT, mailbox TEXT, sender TEXT, unread INT, body TEXT, seq INT, at INT);
      CREATE INDEX message_thread ON message(thread, seq);
      \(Self.numbers(128)) INSERT INTO thread SELECT 'thread-' || i, 'me', 'inbox', 'Subject ' || i, -i, 0 FROM n;
      """
    case .forum:
      """
      CREATE TABLE category(id TEXT PRIMARY KEY, name TEXT, seq INT);
      CREATE TABLE author(id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE thread(id TEXT PRIMARY KEY, category TEXT, author TEXT, title TEXT, seq INT, at INT);
      CREATE TABLE post(id TEXT PRIMARY KEY, thread TEXT, category TEXT, author TEXT, body TEXT, seq INT, at INT);
      CREATE INDEX thread_category ON thread(category);
      CREATE INDEX thread_author ON thread(author);
      CREATE INDEX post_thread ON post(thread);
      CREATE INDEX post_author ON post(author);
      INSERT INTO category VALUES ('general', 'General', 0);
      \(Self.numbers(24)) INSERT INTO author SELECT 'author-' || i, 'Author ' || i FROM n;
      \(Self.numbers(128)) INSERT INTO thread SELECT 'thread-' || i, 'general', 'author-' || (i % 24), 'Title ' || i, -i, 0 FROM n;
      """
    case .relational:
      """
      CREATE TABLE org(id TEXT PRIMARY KEY, name TEXT, seq INT);
      CREATE TABLE account(id TEXT PRIMARY KEY, org TEXT, name TEXT, seq INT, at INT);
      CREATE TABLE contact(id TEXT PRIMARY KEY, account TEXT, name TEXT);
      CREATE TABLE activity(id TEXT PRIMARY KEY, org TEXT, account TEXT, contact TEXT, body TEXT, seq INT, at INT);
      CREATE INDEX account_org ON account(org);
      CREATE INDEX contact_account ON contact(account);
      CREATE INDEX activity_account ON activity(account);
      CREATE INDEX activity_contact ON activity(contact);
      INSERT INTO org VALUES ('org', 'Org', 0);
      \(Self.numbers(64)) INSERT INTO account SELECT 'account-' || i, 'org', 'Account ' || i, -i, 0 FROM n;
      \(Self.numbers(256)) INSERT INTO contact SELECT 'contact-' || (i % 64) || '-' || (i / 64), 'account-' || (i % 64), 'Contact ' || i FROM n;
      """
    }
  }

  private static func numbers(_ count: Int) -> String {
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT \(count))"
  }

  /// The statements of a commit, with its number ?1 and the time ?2. Bodies are of 200 bytes.
  var statements: [String] {
    let body = "'\(String(repeating: "x", count: 200))'"
    switch self {
    case .feed: return ["INSERT INTO event VALUES ('event-' || ?1, 0, ?1, ?2, \(body))"]
    case .email:
      return [
        """
        INSERT INTO message
        VALUES ('message-' || ?1, 'thread-' || (?1 % 128), 'me', 'inbox', 'sender-' || (?1 % 16), 1, \(body), ?1, ?2)
        """,
        "UPDATE thread SET seq = ?1, at = ?2 WHERE id = 'thread-' || (?1 % 128)",
      ]
    case .forum:
      return [
        """
        INSERT INTO post
        VALUES ('post-' || ?1, 'thread-' || (?1 % 128), 'general', 'author-' || (?1 % 24), \(body), ?1, ?2)
        """,
        "UPDATE thread SET seq = ?1, at = ?2 WHERE id = 'thread-' || (?1 % 128)",
        "UPDATE category SET seq = ?1 WHERE id = 'general' AND ?2",
      ]
    case .relational:
      return [
        """
        INSERT INTO activity VALUES (
          'activity-' || ?1, 'org', 'account-' || (?1 % 64), 'contact-' || (?1 % 64) || '-' || (?1 % 4), \(body), ?1, ?2)
        """,
        "UPDATE account SET seq = ?1, at = ?2 WHERE id = 'account-' || (?1 % 64)",
        "UPDATE org SET seq = ?1 WHERE id = 'org' AND ?2",
      ]
    }
  }

  /// The lists of the clients, in turns.
  var queries: [String] {
    switch self {
    case .feed: [#"{"from":"event","where":"bucket = 0","orderBy":["seq DESC"]}"#]
    case .email:
      [
        #"{"from":"thread","where":"owner = 'me' AND mailbox = 'inbox'","orderBy":["seq DESC"]}"#,
        """
        {"from":"message m JOIN thread t ON t.id = m.thread","select":["m.sender","m.body","m.at","t.subject"],
        "where":"m.owner = 'me' AND m.mailbox = 'inbox'","orderBy":["m.seq DESC"]}
        """,
        #"{"from":"message","where":"owner = 'me' AND mailbox = 'inbox' AND unread","orderBy":["seq DESC"]}"#,
      ]
    case .forum:
      [
        """
        {"from":"thread t JOIN author a ON a.id = t.author","select":["t.title","t.seq","t.at","a.name"],
        "where":"t.category = 'general'","orderBy":["t.seq DESC"]}
        """,
        """
        {"from":"thread t JOIN author a ON a.id = t.author JOIN category c ON c.id = t.category",
        "select":["t.title","t.seq","t.at","a.name","c.name AS category"],"orderBy":["t.seq DESC"]}
        """,
        """
        {"from":"post p JOIN thread t ON t.id = p.thread JOIN author a ON a.id = p.author",
        "select":["p.body","p.at","t.title","a.name"],"where":"p.category = 'general'","orderBy":["p.seq DESC"]}
        """,
      ]
    case .relational:
      [
        #"{"from":"account","where":"org = 'org'","orderBy":["seq DESC"]}"#,
        """
        {"from":"account a JOIN org o ON o.id = a.org","select":["a.name","a.seq","a.at","o.name AS org"],
        "orderBy":["a.seq DESC"]}
        """,
        """
        {"from":"activity v JOIN account a ON a.id = v.account JOIN contact c ON c.id = v.contact",
        "select":["v.body","v.at","a.name","c.name AS contact"],"where":"v.org = 'org'","orderBy":["v.seq DESC"]}
        """,
      ]
    }
  }
}

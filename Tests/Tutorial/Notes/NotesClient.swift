import Dunlin

struct Note: Codable, Equatable, Sendable {
    var id: Int
    var title: String
    var text: String
}

/// A note that the service has not got yet.
struct Draft: Codable, Equatable, Sendable {
    var title: String
    var text: String
}

/// What the service answers to a login.
struct Login: Codable, Sendable {
    var token: String
    /// For how many seconds the token is valid.
    var lifetime: Int
}

enum NotesError: Error, Equatable {
    case noNote(id: Int)
}

/// A client of a service that keeps notes.
struct NotesClient: Sendable {
    private let session: HTTPSession

    /// `change` is for settings that differ, as in tests.
    init(
        url: String, user: String, password: String,
        change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws {
        session = try HTTPSession(baseURL: url) {
            $0.fields["User-Agent"] = "Notes/1.0"
            $0.authentication = .bearer { session in
                let login = try await session.post(
                    "login", json: ["user": user, "password": password],
                    as: Login.self)
                return .init(
                    login.token, lifetime: .seconds(login.lifetime))
            }
            $0.timeouts.total = .seconds(20)
            $0.timeouts.firstByte = .seconds(5)
            $0.retry = .exponential(attempts: 3)
            try change(&$0)
        }
    }

    func note(_ id: Int) async throws -> Note {
        do {
            return try await session.get("notes/\(id)", as: Note.self)
        } catch let error as NetworkError
            where error.response?.status == .notFound
        {
            throw NotesError.noNote(id: id)
        }
    }

    /// One page of the notes that have a word in them.
    func notes(with word: String, page: Int = 1) async throws -> [Note] {
        try await session.get(
            "notes", query: ["q": word, "page": page],
            as: [Note].self)
    }

    /// Adds a note once, however often the request is sent: the service
    /// knows it again by `key`.
    func add(_ draft: Draft, key: String) async throws -> Note {
        try await session.post(
            "notes", fields: ["Idempotency-Key": key], json: draft,
            as: Note.self)
    }

    func remove(_ id: Int) async throws {
        try await session.delete("notes/\(id)")
    }

    /// Gives running requests five seconds to end.
    func close() async {
        await session.shutdown(grace: .seconds(5))
    }
}

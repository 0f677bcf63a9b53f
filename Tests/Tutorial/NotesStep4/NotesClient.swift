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

    init(url: String, user: String, password: String) throws {
        session = try HTTPSession(baseURL: url) {
            $0.fields["User-Agent"] = "Notes/1.0"
            $0.authentication = .bearer { session in
                let login = try await session.post(
                    "login", json: ["user": user, "password": password],
                    as: Login.self)
                return .init(
                    login.token, lifetime: .seconds(login.lifetime))
            }
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

    func add(_ draft: Draft) async throws -> Note {
        try await session.post("notes", json: draft, as: Note.self)
    }

    func remove(_ id: Int) async throws {
        try await session.delete("notes/\(id)")
    }
}

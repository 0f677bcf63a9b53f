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

enum NotesError: Error, Equatable {
    case noNote(id: Int)
}

/// A client of a service that keeps notes.
struct NotesClient: Sendable {
    private let session: HTTPSession

    init(url: String) throws {
        session = try HTTPSession(baseURL: url) {
            $0.fields["User-Agent"] = "Notes/1.0"
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

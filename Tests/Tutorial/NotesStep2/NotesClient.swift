import Dunlin

struct Note: Codable, Equatable, Sendable {
    var id: Int
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
        session = try HTTPSession(baseURL: url)
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
}

import Dunlin

/// A client of a service that keeps notes.
struct NotesClient: Sendable {
    private let session: HTTPSession

    init(url: String) throws {
        session = try HTTPSession(baseURL: url)
    }

    /// A note, as the service sends it.
    func note(_ id: Int) async throws -> String {
        try await session.get("notes/\(id)", as: .string).value
    }
}

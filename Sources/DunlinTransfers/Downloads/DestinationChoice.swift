internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Chooses where a file goes: by the request's hook, then the session's, then the download's own destination.
struct DestinationChoice {
    private let sending: Sending
    private let head: ResponseHead
    private let suggestedName: String

    init(_ sending: Sending, _ head: ResponseHead) {
        self.sending = sending
        self.head = head
        suggestedName = FileName.suggested(head.fields, path: sending.request.head.target)
    }

    func placement(_ destination: HTTPSession.Destination) async throws -> Placement {
        let (head, snapshot) = (head, sending.snapshot)
        let hooked = try await sending.ask(\.destination) { await $0(snapshot, head) }
        return try await placement(of: (hooked ?? destination).file)
    }

    private func placement(of destination: FileDestination) async throws -> Placement {
        switch destination {
        case .file(let path):
            let absolute = try absolute(path)
            if let placement = Placement(path: absolute, suggestedName: suggestedName) { return placement }
            throw failure(path, .isDirectory)
        case .folder(let path):
            return Placement(folder: try absolute(path), suggestedName: suggestedName)
        case .temporary:
            var random = SystemRandomNumberGenerator()
            return .temporary(random.next(), suggestedName: suggestedName)
        case .named(let folder, let name):
            let (head, suggestedName) = (head, suggestedName)
            let chosen = try await sending.withinLimits(in: .receive) { await name(suggestedName, head) }
            return Placement(folder: try absolute(folder), name: chosen, suggestedName: suggestedName)
        case .resolved(let decide):
            let url = sending.request.head.url(after: sending.callHistory)
            let head = head
            let decided = try await sending.withinLimits(in: .receive) { await decide(head, url) }
            return try await placement(of: (decided ?? .temporary).file)
        }
    }

    private func absolute(_ path: String) throws -> String {
        do throws(Errno) { return try FileSystem.absolute(path) } catch { throw failure(path, error) }
    }

    private func failure(_ path: String, _ errno: Errno) -> NetworkError {
        HTTPSession.FileFailure(path, errno).error(.fileNotCreated, "the destination of the file cannot be used", head)
    }
}

extension HTTPSession.Destination {
    /// The choice with absolute paths, so that a change of the working directory has no effect. A path that cannot be
    /// made absolute is reported when it is used.
    var anchored: Self {
        do throws(Errno) {
            switch file {
            case .file(let path): return .file(try FileSystem.absolute(path))
            case .folder(let path): return .folder(try FileSystem.absolute(path))
            case .named(let folder, let name): return .folder(try FileSystem.absolute(folder), named: name)
            case .temporary, .resolved: return self
            }
        } catch {
            return self
        }
    }
}

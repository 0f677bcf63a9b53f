package import DunlinTypes

/// The `NetworkError` that `work` throws, if it throws; an error of another kind goes through.
package func networkError(_ work: () async throws -> Void) async throws -> NetworkError? {
    do { try await work() } catch let error as NetworkError { return error }
    return nil
}

extension NetworkError {
    /// The `NetworkError` that `work` throws; anything else fails the test, and so does nothing.
    package static func thrown(_ work: () async throws -> Void) async throws -> NetworkError {
        guard let error = try await networkError(work) else { throw NothingThrown() }
        return error
    }

    package struct NothingThrown: Error {}
}

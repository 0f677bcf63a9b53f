package import DunlinTypes

/// The `NetworkError` that `work` throws; nil if it throws nothing. Other errors are rethrown.
package func networkError(_ work: () async throws -> Void) async throws -> NetworkError? {
    do { try await work() } catch let error as NetworkError { return error }
    return nil
}

extension NetworkError {
    /// The `NetworkError` that `work` throws. Any other error, or none, fails the test.
    package static func thrown(_ work: () async throws -> Void) async throws -> NetworkError {
        guard let error = try await networkError(work) else { throw NothingThrown() }
        return error
    }

    package struct NothingThrown: Error {}
}

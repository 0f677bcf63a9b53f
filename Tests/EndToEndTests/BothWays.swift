import Testing

/// Runs each test of a suite twice: in clear text, and with TLS between server and session.
struct BothWays: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    /// What a test threw the second time.
    struct OverTLS: Error {
        let error: any Error
    }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> BothWays? {
        testCase == nil ? nil : self
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        do {
            try await Stage.$isSecure.withValue(true) { try await function() }
        } catch {
            throw OverTLS(error: error)
        }
    }
}

extension Trait where Self == BothWays {
    static var inClearAndOverTLS: Self { BothWays() }
}

public import Dunlin
internal import DunlinTesting
public import Testing

/// Gives each test a loop of its own and fails it when something is still open there at its end.
///
/// Only sessions whose configuration says `useLoopOfTest()` live on that loop.
public struct LeakChecked: TestTrait, SuiteTrait, TestScoping {
    @TaskLocal static var loop: PrivateLoop?

    /// How long connections may take to close after the test.
    public var limit: Duration = .seconds(120)

    public init() {}

    public var isRecursive: Bool { true }

    public func scopeProvider(for test: Test, testCase: Test.Case?) -> LeakChecked? {
        testCase == nil ? nil : self
    }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let loop = try PrivateLoop()
        try await Self.$loop.withValue(loop) { try await function() }
        do {
            try await loop.verifyNothingLeft(within: limit)
        } catch let leak as PrivateLoop.Leak {
            Issue.record("\(leak)", sourceLocation: test.sourceLocation)
        }
    }
}

extension Trait where Self == LeakChecked {
    public static var leakChecked: LeakChecked { LeakChecked() }
}

extension HTTPSession.Configuration {
    /// Sessions with this configuration run on the loop that the test's `.leakChecked` trait observes.
    public mutating func useLoopOfTest() {
        guard let loop = LeakChecked.loop else {
            Issue.record("the test has no .leakChecked trait")
            return
        }
        use(loop)
    }
}

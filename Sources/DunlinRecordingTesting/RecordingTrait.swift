public import Dunlin
public import DunlinRecording
internal import FoundationEssentials
public import Testing

/// Has a test run with an archive: its requests are answered with what was recorded.
///
/// ```swift
/// @Test(.recording("users")) func `a user has a name`() async throws {
///     let client = try HTTPSession(.init(baseURL: "https://api.example.com", transport: .recorded))
///     #expect(try await client.get("users/42", as: User.self).name == "Ada")
/// }
/// ```
///
/// The archive is `Recordings/users.har` beside the test's file. The test fails if it asks for something that was not
/// recorded, if something that was recorded is not asked for, and if the archive has something in it that looks like a
/// secret.
///
/// With `DUNLIN_RECORDING=missing` in the environment, what is missing is recorded; with `anew`, everything. Where `CI`
/// is set, nothing is recorded.
public struct RecordingTrait: TestTrait, TestScoping {
    let path: String
    let matching: RecordedTransport.Matching
    let secretFields: HTTP.SecretFields
    let configure: @Sendable (inout HTTPSession.Configuration) -> Void
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard !test.isParameterized else {
            throw HAR.Problem(path: path, reason: "a test with several cases cannot share one archive")
        }
        let mode = try Self.mode(in: ProcessInfo.processInfo.environment)
        let transport = try RecordedTransport(
            path, mode, matching: matching, secretFields: secretFields, recordingWith: configure)
        do {
            try await RecordedTransport.$current.withValue(transport) { try await function() }
        } catch {
            await transport.giveUp()
            throw error
        }
        try await transport.finish()
    }

    static func mode(in environment: [String: String]) throws -> RecordedTransport.Mode {
        if environment["CI"] != nil { return .replay }
        switch environment["DUNLIN_RECORDING"] {
        case nil, "": return .replay
        case "missing": return .recordMissing
        case "anew": return .recordAnew
        case let other?:
            throw HAR.Problem(reason: "DUNLIN_RECORDING is \(other), and can be `missing` or `anew`")
        }
    }
}

extension Trait where Self == RecordingTrait {
    /// The archive `Recordings/NAME.har` beside the test's file, or that at a path of its own.
    ///
    /// `secretFields` are names whose values are left out when it is recorded, besides the usual ones and those of the
    /// session. `configure` sets the guard, the proxy and the trust of the session that sends what is recorded.
    public static func recording(
        _ name: String, matching: RecordedTransport.Matching = .init(), secretFields: HTTP.SecretFields = .usual,
        recordingWith configure: @escaping @Sendable (inout HTTPSession.Configuration) -> Void = { _ in },
        sourceFile: String = #filePath
    ) -> RecordingTrait {
        let folder = sourceFile.split(separator: "/").dropLast().joined(separator: "/")
        let path = name.hasPrefix("/") ? name : "/\(folder)/Recordings/\(name).har"
        return RecordingTrait(path: path, matching: matching, secretFields: secretFields, configure: configure)
    }
}

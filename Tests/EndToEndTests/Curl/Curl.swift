import Children
import Dunlin
import Foundation
import Testing

/// The `curl` of this machine.
enum Curl {
    static let isInstalled = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/curl") }

    static var absence: Comment { "there is no curl (.ci/install test brings it): NOTHING was tried" }

    /// What a command for `curl` prints. No setting of whoever runs the tests matters to it.
    static func run(_ command: String, input: Bytes = .empty) async throws -> String {
        let own = "unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY; export CURL_HOME=/nowhere\n"
        let (text, end) = try await Child.output(of: "sh", ["-c", own + command], input: Data(Array(input)))
        guard end.status == 0 else { throw Child.Failure(description: "\(command)\n\(text)") }
        return text
    }
}

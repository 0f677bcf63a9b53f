import Dunlin
import Foundation

/// The process that is killed: downloads one file, and goes on with what another like it has left.
///
///     Storm fetch SOCKET TARGET PATH
struct Fetch {
    private let socket: String
    private let target: String
    private let path: String

    init?(_ words: [String]) {
        guard words.count == 4, words[0] == "fetch" else { return nil }
        (socket, target, path) = (words[1], words[2], words[3])
    }

    /// Ends the process.
    func run() async -> Never {
        do {
            var configuration = HTTPSession.Configuration(baseURL: "http://localhost")
            configuration.socketPath = socket
            let session = try HTTPSession(configuration)
            let transfer = HTTPSession.DownloadOptions(overwrites: true, resuming: .ifValidatorMatches)
            _ = try await session.download(HTTPSession.Target(target), to: .file(path), transfer: transfer)
            exit(0)
        } catch {
            print("the download failed: \(error)")
            exit(1)
        }
    }
}

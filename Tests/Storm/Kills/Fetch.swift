import Dunlin
import Foundation

/// The process that is killed: downloads one file, and goes on with what another like it has left.
///
///     Storm fetch SOCKET TARGET SEGMENTS PATH
struct Fetch {
    private let socket: String
    private let target: String
    private let segments: Int
    private let path: String

    init?(_ words: [String]) {
        guard words.count == 5, words[0] == "fetch", let segments = Int(words[3]) else { return nil }
        (socket, target, path) = (words[1], words[2], words[4])
        self.segments = segments
    }

    /// Ends the process.
    func run() async -> Never {
        do {
            var configuration = HTTPSession.Configuration(baseURL: "http://localhost")
            configuration.socketPath = socket
            let session = try HTTPSession(configuration)
            var transfer = HTTPSession.DownloadOptions(overwrites: true, resuming: .ifValidatorMatches)
            if segments > 1 { transfer.segments = .init(segments, minimumLength: 1 << 20) }
            _ = try await session.download(HTTP.Target(target), to: .file(path), transfer: transfer)
            exit(0)
        } catch {
            print("the download failed: \(error)")
            exit(1)
        }
    }
}

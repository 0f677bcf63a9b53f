import Dunlin
import DunlinTesting
import Foundation

/// The process that carries one long body, and says whether its memory stayed as it was.
///
///     Storm carry KIND URL FOLDER LENGTH [ROOT]
///
/// The root is the file of the one authority to believe.
struct Carry {
    enum Kind: String, CaseIterable {
        case download
        case recordedDownload
        case uploadedFile
        case uploadedStream
    }

    /// Over what there is after a few small bodies.
    private static let allowedGrowth = 16 << 20

    private let kind: Kind
    private let url: String
    private let folder: String
    private let length: Int
    private let root: String?

    init?(_ words: [String]) {
        guard 5...6 ~= words.count, words[0] == "carry", let kind = Kind(rawValue: words[1]),
            let length = Int(words[4])
        else { return nil }
        self.kind = kind
        root = words.count > 5 ? words[5] : nil
        (url, folder, self.length) = (words[2], words[3], length)
    }

    /// Ends the process.
    func run() async -> Never {
        do {
            var configuration = HTTPSession.Configuration(baseURL: url)
            if let root { configuration.tls.roots = .only([.file(root)]) }
            let session = try HTTPSession(configuration)
            // What a process makes once and keeps is there after this.
            for _ in 0..<3 { _ = try await session.put("taken", body: .bytes("small"), as: .bytes) }
            let start = Self.resident("VmRSS:")
            try await carry(session)
            let growth = Self.resident("VmHWM:") - start
            print("\(kind): at most \(growth >> 10) KiB over \(start >> 10) KiB")
            exit(start > 0 && growth <= Self.allowedGrowth ? 0 : 1)
        } catch {
            print("\(kind) failed: \(error)")
            exit(1)
        }
    }

    private func carry(_ session: HTTPSession) async throws {
        switch kind {
        case .download: try await download(session, .never)
        case .recordedDownload: try await download(session, .ifValidatorMatches)
        case .uploadedFile:
            let path = folder + "/hole"
            guard FileManager.default.createFile(atPath: path, contents: nil),
                let file = FileHandle(forWritingAtPath: path)
            else { throw CocoaError(.fileNoSuchFile) }
            try file.truncate(atOffset: UInt64(length))
            try file.close()
            _ = try await session.put("taken", body: .file(path), as: .bytes)
            try FileManager.default.removeItem(atPath: path)
        case .uploadedStream:
            let body = RequestBody.replayable(length: length) { [length] in Pieces(left: length) }
            _ = try await session.put("taken", body: body, as: .bytes)
        }
    }

    private func download(_ session: HTTPSession, _ resuming: HTTPSession.Resuming) async throws {
        let path = folder + "/whole"
        _ = try await session.download("bulk", to: .file(path), resuming: resuming)
        let difference = try LoopbackServer.GeneratedBody.difference(ofFileAt: path, from: 0..<length)
        if let difference { throw NetworkError(.invalidResponse, "wrong at \(difference)") }
        try FileManager.default.removeItem(atPath: path)
    }

    /// Bytes of memory, by the kernel's own account.
    private static func resident(_ name: String) -> Int {
        do {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
            return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) << 10
        } catch {
            return 0
        }
    }
}

/// Zeros, a quarter of a megabyte at a time.
private struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
    var left: Int

    mutating func next() async throws -> Bytes? {
        guard left > 0 else { return nil }
        let piece = Bytes([UInt8](repeating: 0, count: Swift.min(left, 1 << 18)))
        left -= piece.count
        return piece
    }

    func makeAsyncIterator() -> Pieces { self }
}

internal import DunlinReactor
internal import DunlinSecure

extension ContentDigest {
    /// The digest of a file's content, which is read on a disk thread. Throws a `FileFailure` if it cannot be read.
    package static func ofFile(_ path: String, _ algorithm: ContentDigest.Algorithm) async throws -> ContentDigest {
        try await DiskThreads.shared.run { Result { try read(path, algorithm) } }.get()
    }

    private static func read(_ path: String, _ algorithm: ContentDigest.Algorithm) throws -> ContentDigest {
        do {
            var digester = try Digester(algorithm)
            let file = try OpenFile(path)
            var offset = 0
            while offset < file.length {
                let piece = try file.read(at: offset, upTo: 1 << 20)
                if piece.isEmpty { break }
                piece.withUnsafeBytes { digester.update($0) }
                offset += piece.count
            }
            return try digester.finish()
        } catch let error as Errno {
            throw HTTPSession.FileFailure(path, error)
        }
    }
}

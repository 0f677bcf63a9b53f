internal import DunlinReactor

extension RequestBody {
    /// Writes the body to a file and returns a body that is read from there. This helps if a body can be made only
    /// once, if a server needs the length beforehand, or to send the body later.
    ///
    /// Returns when the whole file would survive a power loss. The file replaces an existing one in one step; on
    /// failure, the existing file stays and nothing is left behind. The caller removes the file.
    public func spooled(to path: String) async throws -> RequestBody {
        let pieces = try pieces()
        let file = try await Self.onDisk(path) { () throws(Errno) in
            try PartFile(creating: "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).part")
        }
        do {
            if let make = pieces.make { try await Self.write(make(), to: file, path) }
            try await Self.onDisk(path) { () throws(Errno) in
                try file.sync()
                try FileSystem.move(file.path, to: path, overwriting: true)
            }
        } catch {
            await DiskThreads.shared.run { _ = Result { () throws(Errno) in try file.remove() } }
            throw error
        }
        return with(.file(File(path)))
    }

    /// Writes at least 64 KiB at a time, so that many small chunks do not each cost a disk write.
    private static func write(_ chunks: some Chunks, to file: PartFile, _ path: String) async throws {
        var (offset, joined) = (0, [UInt8]())
        for try await chunk in chunks {
            joined.append(contentsOf: chunk)
            if joined.count < 64 * 1024 { continue }
            offset += try await write(Bytes(joined), at: offset, file, path)
            joined.removeAll()
        }
        _ = try await write(Bytes(joined), at: offset, file, path)
        try Task.checkCancellation()
    }

    private static func write(_ bytes: Bytes, at offset: Int, _ file: PartFile, _ path: String) async throws -> Int {
        try await onDisk(path) { () throws(Errno) in
            try bytes.withUnsafeBytes { (buffer) throws(Errno) in try file.write(buffer, at: offset) }
            return bytes.count
        }
    }

    private static func onDisk<Value: Sendable>(
        _ path: String, _ work: @escaping @Sendable () throws(Errno) -> Value
    ) async throws -> Value {
        do throws(Errno) {
            return try await DiskThreads.shared.run(work)
        } catch {
            throw NetworkError(.fileNotWritten, "the body cannot be written to \(path)", underlying: error)
        }
    }
}

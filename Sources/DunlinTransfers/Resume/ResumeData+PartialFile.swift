internal import DunlinReactor
internal import DunlinSecure
internal import DunlinSemantics

extension ResumeData {
    /// Creates data for continuing a file whose beginning another program has fetched.
    ///
    /// ```swift
    /// let data = try await ResumeData(
    ///     partialFile: "/data/disk.img.part", of: "https://example.test/disk.img", entityTag: "\"v1\"")
    /// let file = try await client.download(resumeData: data, to: .file("/data/disk.img"))
    /// ```
    ///
    /// The server is asked whether the file is unchanged. If not, all of it is downloaded, and nothing of the partial
    /// file is used. The partial file must be the file's beginning in that state, which cannot be checked here. It is
    /// read once now, and must not change before the download begins. From then on it belongs to the download, which
    /// writes to it and finally moves it to the destination.
    ///
    /// Throws a `NetworkError` with code `invalidResumeData` for a validator that is weak or malformed, a URL that is
    /// not absolute, and a file that is missing, empty or longer than the complete one. Throws a `FileFailure` for a
    /// file that cannot be read or does not belong to this user alone (for instance, its group may write to it).
    public init(
        partialFile path: String, of url: String, entityTag tag: String, fields: Fields = [:],
        completeLength: Int? = nil
    ) async throws {
        guard let validator = Validator(["ETag": tag]) else {
            throw NetworkError.invalidResumeData(
                "the entity tag \(VisibleText.of(tag, upTo: 100)) is not strong; give it with quotes, as the server "
                    + "sent it, such as \"v1\""
            )
        }
        try await self.init(path, of: url, validator, fields, completeLength)
    }

    /// Creates data for a file whose server sent no `ETag`.
    ///
    /// - Parameters:
    ///   - modified: The `Last-Modified` field that the server sent with the beginning.
    ///   - date: The `Date` field of the same response. A file that had changed less than a minute before is refused:
    ///     it may have changed again within the same second.
    public init(
        partialFile path: String, of url: String, lastModified modified: String, date: String, fields: Fields = [:],
        completeLength: Int? = nil
    ) async throws {
        guard let validator = Validator(["Last-Modified": modified, "Date": date]) else {
            let (modified, date) = (VisibleText.of(modified, upTo: 100), VisibleText.of(date, upTo: 100))
            throw NetworkError.invalidResumeData(
                "`lastModified` must be at least a minute before `date`, and they are \"\(modified)\" and \"\(date)\"")
        }
        try await self.init(path, of: url, validator, fields, completeLength)
    }

    private init(
        _ path: String, of url: String, _ validator: Validator, _ fields: Fields, _ completeLength: Int?
    ) async throws {
        let absolute = try Self.absolute(path)
        let piece = try await HTTPSession.FileFailure.onDisk { () throws(HTTPSession.FileFailure) in
            try Self.beginning(absolute)
        }
        guard let piece else {
            throw NetworkError.invalidResumeData("the part file \(absolute) is missing or empty")
        }
        try self.init(
            checking: url, .get, fields, validator: validator.description, completeLength: completeLength,
            partPath: absolute, pieces: [piece])
    }

    private static func absolute(_ path: String) throws(HTTPSession.FileFailure) -> String {
        do throws(Errno) { return try FileSystem.absolute(path) } catch { throw HTTPSession.FileFailure(path, error) }
    }

    /// Reads the partial file, on a disk thread; nil if there is nothing to resume from.
    private static func beginning(_ path: String) throws(HTTPSession.FileFailure) -> Piece? {
        let found: Result<PartFile, FileOwnership.Fault>
        do throws(Errno) {
            found = try PartFile.found(at: path)
        } catch {
            if error.meansNoSuchFile { return nil }
            throw HTTPSession.FileFailure(path, error)
        }
        switch found {
        case .failure(let fault): throw HTTPSession.FileFailure(path, fault)
        case .success(let file):
            do throws(Errno) { return try piece(of: file) } catch { throw HTTPSession.FileFailure(path, error) }
        }
    }

    private static func piece(of file: PartFile) throws(Errno) -> Piece? {
        var checksum = Checksum()
        while true {
            let bytes = Bytes(try file.read(at: checksum.count, upTo: 1 << 20))
            if bytes.isEmpty { break }
            bytes.withUnsafeBytes { checksum.update($0) }
        }
        return checksum.count == 0 ? nil : Piece(range: 0..<checksum.count, checksum: checksum.value)
    }
}

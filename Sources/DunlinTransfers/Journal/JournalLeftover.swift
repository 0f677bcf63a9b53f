internal import DunlinReactor
internal import DunlinSemantics

/// What earlier attempts of a journal's download left beside its destination. Every call may wait for a disk.
struct JournalLeftover: Sendable {
    /// Where it may lie: in a folder a file is named after where it comes from.
    private let partPaths: [String]
    /// Where it may have come from, as an entry says it: perhaps without secrets.
    private let urls: [String]
    private let secret: HTTP.SecretFields

    /// Nil for what leaves nothing.
    init?(_ entry: JournalEntry, _ secret: HTTP.SecretFields) {
        guard case .download(let download) = entry.work else { return nil }
        urls = [entry.request.url] + entry.request.formerURLs
        self.secret = secret
        partPaths = urls.compactMap { url in
            let name = FileName.suggested([:], path: url)
            if download.isFolder { return Placement(folder: download.path, suggestedName: name).partPath }
            return Placement(path: download.path, suggestedName: name)?.partPath
        }
    }

    /// What to go on with from `url`, which is another than it came from; nil if there is nothing, and for what a
    /// download finds by itself.
    func elsewhere(than url: String) -> ResumeData? {
        partPaths.lazy.compactMap { record(of: $0) }.first { $0.url != url }
    }

    /// Removes it, unless somebody else works at it. What cannot be removed is swept later.
    func remove() {
        for path in partPaths where record(of: path) != nil {
            do throws(Errno) { try Self.remove(path, Placement.recordPath(ofPart: path)) } catch {}
        }
    }

    private static func remove(_ partPath: String, _ recordPath: String) throws(Errno) {
        let part: PartFile
        do throws(Errno) {
            part = try PartFile(opening: partPath)
        } catch {
            guard error.meansNoSuchFile else { throw error }
            // It has become the file, and its process ended before the record was gone.
            return try FileSystem.remove(recordPath)
        }
        try FileSystem.remove(recordPath)
        try part.remove()
    }

    private func isOurs(_ url: String) -> Bool {
        urls.contains(url) || urls.contains(StoredURL(url, hiding: secret).text)
    }

    /// Nil for one of another download, and for one that is damaged: a download begins anew by itself then.
    private func record(of partPath: String) -> ResumeData? {
        do {
            let record = try RecordFile.read(Placement.recordPath(ofPart: partPath))
            guard let record, isOurs(record.data.url) else { return nil }
            return record.resumeData(in: Placement.folder(of: partPath)).hiding(secret)
        } catch {
            return nil
        }
    }
}

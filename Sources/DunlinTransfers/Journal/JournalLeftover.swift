internal import DunlinReactor
internal import DunlinSemantics

/// What earlier attempts of a journal's download left beside its destination. Every call may wait for a disk.
struct JournalLeftover: Sendable {
    /// Where it may lie: in a folder a file is named after where it comes from.
    private let partPaths: [String]
    private let url: String
    /// Where it may have come from.
    private let urls: [String]

    /// Nil for what leaves nothing.
    init?(_ entry: JournalEntry) {
        guard case .download(let download) = entry.work else { return nil }
        url = entry.request.url
        urls = [url] + entry.request.formerURLs
        partPaths = urls.compactMap { url in
            let name = FileName.suggested([:], path: url)
            if download.isFolder { return Placement(folder: download.path, suggestedName: name).partPath }
            return Placement(path: download.path, suggestedName: name)?.partPath
        }
    }

    /// What to go on with from another URL than it came from; nil if there is nothing, and for what a download finds by
    /// itself.
    func elsewhere() -> ResumeData? {
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

    /// Nil for one of another download, and for one that is damaged: a download begins anew by itself then.
    private func record(of partPath: String) -> ResumeData? {
        do {
            let record = try RecordFile.read(Placement.recordPath(ofPart: partPath))
            guard let record, urls.contains(record.data.url) else { return nil }
            return record.resumeData(in: Placement.folder(of: partPath))
        } catch {
            return nil
        }
    }
}

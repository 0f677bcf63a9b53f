internal import DunlinReactor
internal import DunlinSemantics

/// What earlier attempts of a journal's download left beside its destination. Every call may wait for the disk.
struct JournalLeftover: Sendable {
    /// The paths where it may be: in a folder, a file is named after its URL.
    private let partPaths: [String]
    /// The folder of a file whose name the server chooses; nil for a file that has one.
    private let folder: String?
    /// The URLs that it may have come from, as an entry saves them: perhaps without secrets.
    private let urls: [String]
    private let secret: HTTP.SecretFields

    /// Creates the leftover of an entry; nil for a transfer that leaves nothing.
    init?(_ entry: JournalEntry, _ secret: HTTP.SecretFields) {
        guard case .download(let download) = entry.work else { return nil }
        urls = [entry.request.url] + entry.request.formerURLs
        self.secret = secret
        folder = download.isFolder ? download.path : nil
        partPaths = urls.compactMap { url in
            let name = FileName.suggested([:], path: url)
            if download.isFolder { return Placement(folder: download.path, suggestedName: name).partPath }
            return Placement(path: download.path, suggestedName: name)?.partPath
        }
    }

    /// The resume data for `url`, if it differs from the URL that the bytes came from; nil if there are none, or if a
    /// download finds them by itself.
    func elsewhere(than url: String) -> ResumeData? {
        partPaths.lazy.compactMap { record(of: $0) }.first { $0.url != url }
    }

    /// Removes it, unless somebody else uses it. What cannot be removed is swept later.
    func remove() {
        for path in Set(partPaths + found) where record(of: path) != nil {
            do throws(Errno) { try Self.remove(path, Placement.recordPath(ofPart: path)) } catch {}
        }
    }

    /// The parts in the folder: the server may have given the file another name.
    private var found: [String] {
        guard let folder else { return [] }
        do throws(Errno) {
            return try FileSystem.names(in: folder).filter { $0.hasSuffix(Placement.recordSuffix) }.map {
                Placement.joined(folder, Placement.part(ofRecord: $0))
            }
        } catch {
            return []
        }
    }

    private static func remove(_ partPath: String, _ recordPath: String) throws(Errno) {
        let part: PartFile
        do throws(Errno) {
            part = try PartFile(opening: partPath)
        } catch {
            guard error.meansNoSuchFile else { throw error }
            // The part became the file, and its process ended before the record was removed.
            return try FileSystem.remove(recordPath)
        }
        try FileSystem.remove(recordPath)
        try part.remove()
    }

    private func isOurs(_ url: String) -> Bool {
        urls.contains(url) || urls.contains(StoredURL(url, hiding: secret).text)
    }

    /// The record of a part; nil if it is damaged or of another download: the download then starts over by itself.
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

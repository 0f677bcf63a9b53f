internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// Finds what an earlier download left to continue from, by resume data or beside the destination.
struct PartFinder {
    let download: Download
    let request: TransportRequest
    /// Whether a hook chooses the destination, which is then unknown before the response.
    let hasHook: Bool

    private enum Found: Sendable {
        case nothing
        case part(PartFile, ResumeData)
        case damaged(NetworkError)
        case failed(HTTPSession.FileFailure)
    }

    /// Finds a part; nil if there is nothing to continue from.
    func find(_ sending: Sending) async throws -> (DownloadPart, ResumeData)? {
        let (data, address) = (download.data, address)
        var known = data?.partPath ?? placement?.partPath
        if known == nil, let folder { known = await DiskThreads.shared.run { Self.partPath(of: address, in: folder) } }
        guard let partPath = known else { return nil }
        let found = await DiskThreads.shared.run { Self.look(partPath, data, address) }
        switch found {
        case .nothing:
            if data == nil { return nil }
            return try damaged(.invalidResumeData("there is no part file \(partPath)"))
        case .damaged(let error): return try damaged(error)
        case .failed(let failure): throw failure.error(.fileNotCreated, "the part file cannot be used", nil)
        case .part(let file, let data):
            let part = try DownloadPart(
                file, isFindable: download.data == nil, digest: download.options.digest?.algorithm,
                pieces: download.pieces, on: sending.loop)
            return try await takeUp(part, data.hiding(sending.session.secretFields), sending)
        }
    }

    private func takeUp(
        _ part: DownloadPart, _ data: ResumeData, _ sending: Sending
    ) async throws -> (DownloadPart, ResumeData)? {
        let isOver = sending.isOver
        let outcome: Result<Bool, Errno> = await DiskThreads.shared.run {
            do throws(Errno) {
                return .success(try part.takeUp(data, unless: isOver))
            } catch {
                return .failure(error)
            }
        }
        do throws(Errno) {
            if try outcome.get() { return (part, data) }
            part.file.unlock()
        } catch {
            part.file.unlock()
            try await sending.pass(isUnsent: true)
            if sending.loop.now() >= sending.request.deadline {
                throw NetworkError(
                    .timedOut, "timed out reading the part file again", isSafeToRetry: true,
                    exceeding: .total, limit: sending.request.timeouts.total)
            }
            throw HTTPSession.FileFailure(part.file.path, error)
                .error(.fileNotCreated, "the part file cannot be read", nil)
        }
        return try damaged(.invalidResumeData("the part file \(part.file.path) has changed"))
    }

    /// Handles a damaged file: throws, or returns nil so that the download starts over and empties it.
    private func damaged(_ error: NetworkError) throws -> (DownloadPart, ResumeData)? {
        if download.options.startsOverIfDamaged ?? (download.data == nil) { return nil }
        throw error
    }

    /// Where the file will go, if that can be known without a response.
    private var placement: Placement? {
        if hasHook { return nil }
        let name = FileName.suggested([:], path: request.head.target)
        switch download.destination.file {
        case .file(let path): return Placement(path: path, suggestedName: name)
        case .folder(let path): return Placement(folder: path, suggestedName: name)
        case .temporary, .resolved, .named: return nil
        }
    }

    /// The folder in which the file will be under a name that is not known yet.
    private var folder: String? {
        if !hasHook, case .named(let folder, _) = download.destination.file { folder } else { nil }
    }

    /// The part file in a folder that an earlier download of the URL left with a record; nil if there is none. What
    /// cannot be read is no such record.
    private static func partPath(of address: String, in folder: String) -> String? {
        let names: [String]
        do throws(Errno) { names = try FileSystem.names(in: folder) } catch { return nil }
        for name in names where name.hasPrefix(".") && name.hasSuffix(Placement.recordSuffix) {
            let path = folder + "/" + Placement.part(ofRecord: name)
            do {
                let record = try RecordFile.read(Placement.recordPath(ofPart: path))
                if record?.resumeData(in: folder).url == address { return path }
            } catch { continue }
        }
        return nil
    }

    private var address: String {
        WebAddress(origin: request.head.origin, target: request.head.target, fragment: nil).description
    }

    /// Looks for a part file, on a disk thread. One from a download of another URL does not count unless resume data
    /// say so, nor one that another user put there.
    private static func look(_ path: String, _ data: ResumeData?, _ address: String) -> Found {
        let isFoundByName = data == nil
        do {
            var data = data
            if isFoundByName {
                data = try RecordFile.read(Placement.recordPath(ofPart: path))?.resumeData(
                    in: Placement.folder(of: path))
                if data?.url != address { return .nothing }
            }
            guard let data else { return .nothing }
            // Resume data belong to one caller. A file found beside the destination may be in use by another.
            switch try PartFile.found(at: path, needsLock: isFoundByName) {
            case .success(let file): return .part(file, data)
            case .failure where isFoundByName: return .nothing
            case .failure(let fault):
                return .damaged(.invalidResumeData("\(HTTPSession.FileFailure(path, fault))"))
            }
        } catch let error as NetworkError {
            return .damaged(error)
        } catch let error as Errno {
            if error.meansNoSuchFile { return .nothing }
            if isFoundByName, error.meansNoLocks || error.meansNotOurs { return .nothing }
            if error.meansNotOurs { return .damaged(.invalidResumeData("\(HTTPSession.FileFailure(path, error))")) }
            return .failed(HTTPSession.FileFailure(path, error))
        } catch {
            return .nothing
        }
    }
}

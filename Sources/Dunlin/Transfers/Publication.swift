internal import DunlinReactor

/// What is done with names and files before and after a body is written, on a disk thread, each step in one go.
struct Publication: Sendable {
    let placement: Placement
    let options: HTTPSession.DownloadOptions

    /// A new part file with room for `length` bytes. Whatever would keep it from getting its name later, and can be
    /// seen now, is found now.
    func makePart(_ token: UInt64, length: Int?) throws(HTTPSession.FileFailure) -> PartFile {
        try checkTarget()
        let path = placement.partPath(token)
        do throws(Errno) {
            let file = try PartFile(creating: path)
            if options.preallocates, let length, length > 0 { try allocate(length, of: file) }
            return file
        } catch {
            throw HTTPSession.FileFailure(path, error)
        }
    }

    func checkTarget() throws(HTTPSession.FileFailure) {
        do throws(Errno) {
            if options.createsFolders { try FileSystem.makeFolders(placement.folder) }
        } catch {
            throw HTTPSession.FileFailure(placement.folder, error)
        }
        do throws(Errno) {
            guard let status = try FileSystem.status(of: placement.path) else { return }
            if status.kind == .folder { throw .isDirectory }
            if !options.overwrites { throw .exists }
        } catch {
            throw HTTPSession.FileFailure(placement.path, error)
        }
    }

    private func allocate(_ length: Int, of file: PartFile) throws(Errno) {
        do throws(Errno) {
            try file.allocate(length)
        } catch {
            try file.remove()
            throw error
        }
    }

    /// Gives a complete part file its name. If that cannot be done the file stays where it is.
    func publish(_ file: PartFile) throws(HTTPSession.FileFailure) {
        do throws(Errno) {
            if options.isDurable { try file.sync() }
            // What lies at the path may be another's file by now, or nothing.
            guard try file.isInPlace() else { throw .noSuchFile }
            try move(file)
        } catch {
            throw HTTPSession.FileFailure(placement.path, error, keptAt: Self.place(of: file))
        }
        do throws(Errno) {
            if options.isDurable { try FileSystem.syncFolder(placement.folder) }
        } catch {
            throw HTTPSession.FileFailure(placement.folder, error, keptAt: placement.path)
        }
    }

    /// What is gone on with may have lain on another file system.
    private func move(_ file: PartFile) throws(Errno) {
        do throws(Errno) {
            try FileSystem.move(file.path, to: placement.path, overwriting: options.overwrites)
        } catch  where error.meansOtherFileSystem {
            var random = SystemRandomNumberGenerator()
            let copy = try PartFile(creating: placement.partPath(random.next()))
            do throws(Errno) {
                try copy.fill(from: file)
                if options.isDurable { try copy.sync() }
                try FileSystem.move(copy.path, to: placement.path, overwriting: options.overwrites)
            } catch {
                Self.discard(copy)
                throw error
            }
            Self.discard(file)
        }
    }

    private static func place(of file: PartFile) -> String? {
        do throws(Errno) { return try file.isInPlace() ? file.path : nil } catch { return nil }
    }

    /// Removes what nobody will want.
    static func discard(_ file: PartFile) {
        // The caller is told why there is no file; that its rest cannot be removed, as in a folder that has become
        // read-only, would say less. A later sweep finds it.
        do throws(Errno) { try file.remove() } catch {}
    }
}

internal import DunlinReactor

/// What is done with names and files before and after a body is written. For disk threads.
struct Publication: Sendable {
    let placement: Placement
    let options: HTTPSession.DownloadOptions

    func checkTarget() throws(HTTPSession.FileFailure) {
        do throws(Errno) {
            if options.createsFolders { try FileSystem.makeFolders(placement.folder) }
            guard try FileSystem.status(of: placement.folder) != nil else { throw .noSuchFile }
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

    /// Moves a complete part file to its name. If that fails, the file stays where it is. `noted` is its status as
    /// somebody has noted it, after it was trimmed.
    func publish(_ content: PartContent, noted: FileStatus? = nil) throws(HTTPSession.FileFailure) {
        let file = content.file
        do throws(Errno) {
            // Somebody else may have written to it. Otherwise what was noted stays true: trimming changes its time.
            let length = try file.status().length
            if noted?.length != length { try content.trim() }
            if options.isDurable { try file.sync() }
            // The path may belong to another file by now, or to none.
            guard try file.isInPlace() else { throw .noSuchFile }
            let mask = try closed()
            openUp(try move(file), within: mask)
        } catch {
            throw HTTPSession.FileFailure(placement.path, error, keptAt: Self.path(of: file))
        }
        do throws(Errno) {
            if options.isDurable { try FileSystem.syncFolder(placement.folder) }
        } catch {
            throw HTTPSession.FileFailure(placement.folder, error, keptAt: placement.path)
        }
    }

    /// Gives the file the permissions that any new file there would have: those of its folder and of the current
    /// process, which may not be the one that began it. A part file that somebody closed to readers stays closed to
    /// them. The file that takes the place of one that was closed to others stays within its permissions, `mask`.
    private func openUp(_ file: PartFile, within mask: UInt32) {
        do throws(Errno) {
            if let permissions = file.newPermissions { return try file.setPermissions(permissions & mask) }
            let own = try file.status().ownership.permissions
            guard let new = try newPermissions() else { return }
            let isOpen = FileOwnership.closed(new) & ~own == 0
            try file.setPermissions((isOpen ? new : own) & mask)
        } catch {
            // The file is complete and has its name. Too few permissions are no reason to fail.
        }
    }

    private func newPermissions() throws(Errno) -> UInt32? {
        if let permissions = try PartFile.newPermissions(in: placement.folder) { return permissions }
        var random = SystemRandomNumberGenerator()
        let file = try PartFile(creating: placement.partPath(random.next()))
        defer { Self.discard(file) }
        return file.newPermissions
    }

    /// The permissions that a file may have here, if it takes the place of another: the owner's, and what that has.
    private func closed() throws(Errno) -> UInt32 {
        guard options.overwrites, let old = try FileSystem.status(of: placement.path), old.kind == .file else {
            return .max
        }
        return old.ownership.permissions | 0o700
    }

    /// Moves the file, which may have been resumed from another file system. Returns the file that has the name
    /// afterwards.
    private func move(_ file: PartFile) throws(Errno) -> PartFile {
        do throws(Errno) {
            try FileSystem.move(file.path, to: placement.path, overwriting: options.overwrites)
            return file
        } catch  where error.meansOtherFileSystem {
            let copy = try makeCopy()
            do throws(Errno) {
                try copy.fill(from: file)
                if options.isDurable { try copy.sync() }
                try FileSystem.move(copy.path, to: placement.path, overwriting: options.overwrites)
            } catch {
                Self.discard(copy)
                throw error
            }
            Self.discard(file)
            return copy
        }
    }

    private func makeCopy() throws(Errno) -> PartFile {
        do throws(HTTPSession.FileFailure) {
            return try DownloadPart.make(in: placement)
        } catch {
            throw Errno(rawValue: error.errno)
        }
    }

    private static func path(of file: PartFile) -> String? {
        do throws(Errno) { return try file.isInPlace() ? file.path : nil } catch { return nil }
    }

    /// Removes a file that is no longer wanted.
    static func discard(_ file: PartFile) {
        // The caller learns why there is no file, which matters more than that it cannot be removed, as in a folder
        // that has become read-only. A later sweep finds it.
        do throws(Errno) { try file.remove() } catch {}
    }
}

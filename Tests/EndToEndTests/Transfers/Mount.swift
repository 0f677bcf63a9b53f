import Folders
import Foundation
import Glibc

/// A small file system of its own, for as long as it is held; takes root.
final class Mount {
    private let folder: Folder
    var path: String { folder.path }

    static let isPossible: Bool = {
        do { _ = try Mount(size: 1 << 20) } catch { return false }
        return true
    }()

    init(size: Int) throws {
        folder = try Folder()
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
        }
    }

    func grow(to size: Int) throws {
        guard mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(size)") == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
        }
    }

    func makeReadOnly() throws {
        guard mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
        }
    }

    func names() throws -> [String] { try folder.names() }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}

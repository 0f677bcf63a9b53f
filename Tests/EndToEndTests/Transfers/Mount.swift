import Foundation
import Glibc

/// A small file system of its own, for as long as it is held; takes root.
final class Mount {
    let path: String

    static let isPossible: Bool = {
        do { _ = try Mount(size: 1 << 20) } catch { return false }
        return true
    }()

    init(size: Int) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "dunlin-mount-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else {
            let failure = errno
            try FileManager.default.removeItem(atPath: path)
            throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EPERM)
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

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }
}

import Foundation
import Glibc

/// The folders of processes that were killed. A folder's name says which process made it, so that the next one knows
/// whose folders nobody will remove.
package enum Leftovers {
    /// A path for a folder of this process. Before the first one the leftovers go.
    static func newPath() -> String {
        _ = swept
        return "\(parent)/\(name(of: getpid()))"
    }

    private static let parent = FileManager.default.temporaryDirectory.path
    private static let swept: Void = sweep(parent)

    /// A new name for a folder of this process.
    package static func name(of process: Int32) -> String { "\(prefix)\(process)-\(UUID())" }

    /// Another container may share the folder above: its processes have other numbers, and so are told apart.
    private static let prefix: String = {
        let link = "/proc/self/ns/pid"
        let namespace = (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? ""
        return "dunlin-test-\(namespace.filter(\.isNumber))-"
    }()

    /// Unmounts and removes what processes that are no more have left here. What is another user's stays.
    package static func sweep(_ parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where isLeft(name) {
            let path = "\(parent)/\(name)"
            while umount2(path, Int32(MNT_DETACH | UMOUNT_NOFOLLOW)) == 0 {}
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    private static func isLeft(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), let process = Int32(name.dropFirst(prefix.count).prefix { $0 != "-" }) else {
            return false
        }
        return process > 0 && kill(process, 0) != 0 && errno == ESRCH
    }
}

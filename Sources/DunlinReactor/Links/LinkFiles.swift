internal import CNetlink
package import DunlinTypes
internal import Glibc

/// Finds the kind of a link: from what the kernel says of it, and from /sys, which knows of radios and modems.
///
/// /sys is memory, not a disk, but some of it asks drivers, and they may be slow: read it on a thread that may wait.
package struct LinkFiles: Sendable {
    private let folder: String

    package init(folder: String = "/sys/class/net") {
        self.folder = folder
    }

    package func kind(of link: LinkReport) -> NetworkInterface.Kind {
        if link.flags & dunlin_iff_loopback != 0 { return .loopback }
        if let type = deviceType(of: link.name) {
            if type == "wwan" { return .wwan }
            if type == "wlan" { return .wifi }
        }
        if isWireless(link.name) { return .wifi }
        if link.hardware == dunlin_arphrd_rawip || link.maker == "wwan" { return .wwan }
        if Self.isTunnel(link) { return .tunnel }
        return isThere("") ? .wired : Self.kind(ofName: link.name)
    }

    /// Returns the kind by the names that systemd gives (`wlan0`, `wlp2s0`, `wwan0`), without /sys.
    package static func kind(ofName name: String) -> NetworkInterface.Kind {
        if name == "lo" { return .loopback }
        if name.hasPrefix("wl") { return .wifi }
        if name.hasPrefix("ww") { return .wwan }
        return ["tun", "tap", "ppp", "wg"].contains { name.hasPrefix($0) } ? .tunnel : .wired
    }

    private static func isTunnel(_ link: LinkReport) -> Bool {
        let hardware = [
            dunlin_arphrd_none, dunlin_arphrd_ppp, dunlin_arphrd_tunnel, dunlin_arphrd_tunnel6, dunlin_arphrd_sit,
            dunlin_arphrd_ipgre, dunlin_arphrd_ip6gre,
        ]
        return hardware.contains(link.hardware) || ["tun", "wireguard", "xfrm", "vti", "vti6"].contains(link.maker)
    }
}

extension LinkFiles {
    private func isWireless(_ name: String) -> Bool { isThere("\(name)/wireless") || isThere("\(name)/phy80211") }

    /// The line DEVTYPE of a device's `uevent`.
    private func deviceType(of name: String) -> String? {
        guard let text = content(of: "\(name)/uevent") else { return nil }
        let key = "DEVTYPE="
        return text.split(separator: "\n").first { $0.hasPrefix(key) }.map { String($0.dropFirst(key.count)) }
    }

    /// Returns whether a link can carry something now; nil if /sys does not say.
    package func isUp(_ name: String) -> Bool? {
        guard let state = content(of: "\(name)/operstate") else { return nil }
        return state.hasPrefix("up") || state.hasPrefix("unknown")
    }

    /// The state of every link by its name.
    func states() -> [String: String] {
        let directory: OpaquePointer
        do throws(Errno) { directory = try Descriptor.folder(folder) } catch { return [:] }
        defer { closedir(directory) }
        var states: [String: String] = [:]
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { states[name] = content(of: "\(name)/operstate") }
        }
        return states
    }

    private func isThere(_ path: String) -> Bool {
        guard let path = whole(path) else { return false }
        return access(path, F_OK) == 0
    }

    private func content(of path: String) -> String? {
        guard let path = whole(path) else { return nil }
        return Self.text(of: path)
    }

    /// The contents of a small file; nil if it cannot be read.
    static func text(of path: String) -> String? {
        let descriptor: Int32
        do throws(Errno) { descriptor = try Descriptor.raised(open(path, O_RDONLY | O_CLOEXEC)) } catch { return nil }
        defer { close(descriptor) }
        return text(from: descriptor)
    }

    /// Reads a file below /sys. No name of a link leads out of the folder: a slash cannot be in one, and no link is
    /// called `..`.
    private func whole(_ path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.first != "..", parts.first != "." else { return nil }
        return "\(folder)/\(path)"
    }

    /// Reads at most `limit` bytes, because a table of routes may be of any size.
    static func text(from descriptor: Int32, upTo limit: Int = 1 << 20) -> String? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

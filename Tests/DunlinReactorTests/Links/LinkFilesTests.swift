import DunlinTypes
import Folders
import LedgerRows
import Testing

@testable import DunlinReactor

/// A folder like /sys/class/net; gone with its last holder.
final class LinkFolder: Sendable {
    private let folder: Folder

    /// Files by link and name; a name that ends in a slash is a folder.
    init(_ links: [String: [String: String]]) throws {
        folder = try Folder()
        for (link, files) in links {
            try folder.make(link)
            for (name, text) in files {
                if name.hasSuffix("/") {
                    try folder.make("\(link)/\(name)")
                } else {
                    try folder.write(text, as: "\(link)/\(name)")
                }
            }
        }
    }

    var files: LinkFiles { LinkFiles(folder: folder.path) }
}

@Suite struct `Links` {
    private static let known: [(LinkReport, [String: String], NetworkInterface.Kind)] = [
        (.init(index: 1, flags: 0x8, hardware: 772, name: "lo"), [:], .loopback),
        (.init(index: 2, flags: 0x1, hardware: 1, name: "enp0s3"), ["uevent": "INTERFACE=enp0s3\n"], .wired),
        (.init(index: 3, flags: 0x1, hardware: 1, name: "anything"), ["wireless/": ""], .wifi),
        (.init(index: 3, flags: 0x1, hardware: 1, name: "radio"), ["phy80211/": ""], .wifi),
        (.init(index: 3, flags: 0x1, hardware: 1, name: "radio"), ["uevent": "DEVTYPE=wlan\nIFINDEX=3\n"], .wifi),
        (.init(index: 4, flags: 0x1, hardware: 1, name: "usb0"), ["uevent": "INTERFACE=usb0\nDEVTYPE=wwan"], .wwan),
        (.init(index: 4, flags: 0x1, hardware: 519, name: "rmnet0"), [:], .wwan),
        (.init(index: 4, flags: 0x1, hardware: 1, name: "m0", maker: "wwan"), [:], .wwan),
        (.init(index: 5, flags: 0x1, hardware: 0xFFFE, name: "wg0", maker: "wireguard"), [:], .tunnel),
        (.init(index: 5, flags: 0x1, hardware: 1, name: "tap0", maker: "tun"), ["uevent": ""], .tunnel),
        (.init(index: 5, flags: 0x1, hardware: 512, name: "ppp0"), ["uevent": "DEVTYPE=ppp"], .tunnel),
        (.init(index: 6, flags: 0x1, hardware: 1, name: "br0", maker: "bridge"), ["uevent": "DEVTYPE=bridge"], .wired),
        (.init(index: 6, flags: 0x1, hardware: 1, name: "veth1", maker: "veth"), [:], .wired),
    ]

    @Test(.rows("RE-15"), arguments: known)
    func `a link is of the kind that the system knows it by`(
        link: LinkReport, files: [String: String], kind: NetworkInterface.Kind
    ) throws {
        let folder = try LinkFolder([link.name: files])
        #expect(folder.files.kind(of: link) == kind)
    }

    @Test(
        arguments: [
            ("lo", .loopback), ("wlp2s0", .wifi), ("wlan0", .wifi), ("wwan0", .wwan), ("wwp0s20", .wwan),
            ("tun0", .tunnel),
            ("ppp0", .tunnel), ("wg0", .tunnel), ("eth0", .wired), ("enp0s3", .wired), ("", .wired),
        ] as [(String, NetworkInterface.Kind)])
    func `a link is known by its name where there is no sys`(name: String, kind: NetworkInterface.Kind) {
        let link = LinkReport(index: 7, flags: 1, hardware: 1, name: name)
        if name != "lo" { #expect(LinkFiles(folder: "/nowhere").kind(of: link) == kind) }
        #expect(LinkFiles.kind(ofName: name) == kind)
    }

    @Test(arguments: ["..", ".", "../eth0", "a/b/c"])
    func `a link has no name that leads out of the folder`(name: String) throws {
        let folder = try LinkFolder(["eth0": ["operstate": "up"]])
        #expect(folder.files.isUp(name) == nil)
        #expect(folder.files.isUp("eth0") == true)
    }
}

import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinReactor

@Suite struct `Tables of routes in /proc` {
    private static let four = """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
        wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
        eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
        wg0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0
        *\t0000010A\t00000000\t0201\t0\t0\t0\t0000FFFF\t0\t0\t0
        down0\t0000020A\t00000000\t0000\t0\t0\t0\t0000FFFF\t0\t0\t0
        bad0\tzz\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0
        bad1\t00000000
        """
    /// Destination, its length, metric, flags and interface.
    private static let six =
        [
            ("fd000000000000000000000000000000", "40", "00000100", "00000001", "eth0"),
            ("00000000000000000000000000000000", "00", "00000400", "00000003", "eth0"),
            ("00000000000000000000000000000000", "00", "ffffffff", "00200200", "lo"),
            ("20010db8000000010000000000000000", "30", "00000001", "00200200", "lo"),
            ("20010db80000000100000000000000ff", "80", "00000001", "00000001", "wwan0"),
            ("00000000000000000000000000000000", "ff", "00000000", "00000003", "bad0"),
            ("20010db8", "80", "00000000", "00000003", "bad1"),
        ].map { network, bits, metric, flags, name in
            let none = String(repeating: "0", count: 32)
            return "\(network) \(bits) \(none) 00 \(none) \(metric) 00000001 00000000 \(flags) \(name)\n"
        }.joined() + "20010db8 80 short\n"

    @Test(
        arguments: [
            (.v4(0x0808_0808, port: 0), "eth0"), (.v4(0xC000_0209, port: 0), "eth0"),
            (.v4(0x0A09_0909, port: 0), "wg0"),
            (.v4(0x0A01_0101, port: 0), nil), (.v4(0x0A02_0101, port: 0), "wg0"),
            (.v6(0xFD00_0000_0000_0000, 9, port: 0), "eth0"), (.v6(0x2001_0DB9_0000_0000, 0, port: 0), "eth0"),
            (.v6(0x2001_0DB8_0000_0001, 1, port: 0), nil), (.v6(0x2001_0DB8_0000_0001, 0xFF, port: 0), "wwan0"),
        ] as [(HTTP.SocketAddress, String?)])
    func `a table of routes says where the narrowest and cheapest route leads`(
        address: HTTP.SocketAddress, interface: String?
    ) {
        let way = ProcRoutes(four: Self.four, six: Self.six).way(to: address)
        #expect(way.flatMap { $0.leadsSomewhere ? $0.interface : nil } == interface)
    }

    @Test func `a table without routes leads nowhere`() {
        let routes = ProcRoutes(four: "", six: "")
        for address in RouteFinder.world { #expect(routes.way(to: address) == nil) }
        #expect(routes.way(to: .unix("/x")) == nil)
    }

    @Test(.rows("RE-15")) func `tables of routes count where the kernel answers no questions`() throws {
        let folder = try LinkFolder([
            "eth0": ["operstate": "up\n"], "wlan0": ["operstate": "down\n", "uevent": "DEVTYPE=wlan\n"],
        ])
        let states = { (four: String) in
            let tables = ProcRoutes(four: "Iface\n\(four)\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\n", six: "")
            return RouteFinder(files: folder.files, tables: { tables }, opensSocket: false).finding(for: nil)
        }
        let wired = states("eth0")
        #expect(wired.way == .outward && wired.isUp && wired.interface?.kind == .wired)
        let wireless = states("wlan0")
        #expect(wireless.way == .outward && !wireless.isUp && wireless.interface?.kind == .wifi)
        let none = RouteFinder(files: folder.files, tables: { nil }, opensSocket: false)
        #expect(none.finding(for: nil).way == .unknown)
        #expect(none.finding(for: .v4(0x7F00_0001, port: 80)).way == .local)
    }
}

import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Socket address` {
    /// RFC 5952 §4: leading zeros go, the longest run of zero groups is cut, the first of equals, never a single one.
    static let texts: [(UInt64, UInt64, String)] = [
        (0, 0, "::"),
        (0, 1, "::1"),
        (0x2001_0db8_0000_0000, 0x0000_0000_0000_0001, "2001:db8::1"),
        (0x2001_0db8_0000_0001, 0x0001_0001_0001_0001, "2001:db8:0:1:1:1:1:1"),
        (0x2001_0000_0000_0001, 0x0000_0000_0000_0001, "2001:0:0:1::1"),
        (0x2001_0db8_0000_0000, 0x0001_0000_0000_0001, "2001:db8::1:0:0:1"),
        (0x0001_0002_0003_0004, 0x0005_0006_0007_0000, "1:2:3:4:5:6:7:0"),
        (0x0001_0002_0003_0004, 0x0005_0006_0000_0000, "1:2:3:4:5:6::"),
        (0x0000_0002_0003_0004, 0x0005_0006_0007_0008, "0:2:3:4:5:6:7:8"),
        (0x0000_0000_0003_0004, 0x0005_0006_0007_0008, "::3:4:5:6:7:8"),
        (0xfe80_0000_0000_0000, 0, "fe80::"),
        (0x2001_0db8_aaaa_bbbb, 0xcccc_dddd_eeee_ABCD, "2001:db8:aaaa:bbbb:cccc:dddd:eeee:abcd"),
        (0, 0x0000_ffff_c0a8_0101, "::ffff:c0a8:101"),
    ]

    @Test(arguments: texts)
    func `a socket address spells IPv6 one way`(high: UInt64, low: UInt64, expected: String) {
        let address = HTTP.SocketAddress.v6(high, low, port: 443)
        #expect(address.host == expected)
        #expect("\(address)" == "[\(expected)]:443")
    }

    @Test(arguments: [
        (HTTP.SocketAddress.v4(0x7F00_0001, port: 80), "127.0.0.1", "127.0.0.1:80"),
        (.v4(0, port: 0), "0.0.0.0", "0.0.0.0:0"),
        (.v4(0xFFFE_FDFC, port: 65535), "255.254.253.252", "255.254.253.252:65535"),
        (.v6(0xfe80 << 48, 1, port: 8, scope: 3), "fe80::1", "[fe80::1%3]:8"),
        (.unix("/run/s.sock"), "/run/s.sock", "unix:/run/s.sock"),
        (.unix("\0name"), "\0name", "unix:@name"),
    ])
    func `a socket address shows the other families`(address: HTTP.SocketAddress, host: String, description: String) {
        #expect(address.host == host)
        #expect("\(address)" == description)
    }
}

@Suite struct `Origins` {
    @Test(
        .rules("9110-4.2.3-1"),
        arguments: [
            (HTTP.Origin(scheme: .http, host: "example.com"), "http://example.com", UInt16(80)),
            (HTTP.Origin(scheme: .https, host: "example.com"), "https://example.com", 443),
            (HTTP.Origin(scheme: .http, host: "example.com", port: 443), "http://example.com:443", 443),
            (HTTP.Origin(scheme: .https, host: "example.com", port: 443), "https://example.com", 443),
            (HTTP.Origin(scheme: .http, host: "::1"), "http://[::1]", 80),
            (HTTP.Origin(scheme: .http, host: "::1", port: 8080), "http://[::1]:8080", 8080),
        ])
    func `an origin leaves the default port out of its authority`(
        origin: HTTP.Origin, description: String, port: UInt16
    ) {
        #expect("\(origin)" == description)
        #expect(origin.port == port)
    }

    @Test(arguments: [
        HTTP.Origin(scheme: .https, host: "a", port: 80), HTTP.Origin(scheme: .http, host: "b"),
        HTTP.Origin(scheme: .http, host: "a", port: 81), HTTP.Origin(scheme: .http, host: "a", socketPath: "/s"),
    ])
    func `an origin differs by scheme, host, port and socket`(other: HTTP.Origin) {
        let origin = HTTP.Origin(scheme: .http, host: "a")
        #expect(origin != other)
        let same = HTTP.Origin(scheme: .http, host: "a", port: 80)
        #expect(origin == same)
        #expect(origin.hashValue == same.hashValue)
    }
}

@Suite struct `Methods` {
    @Test(
        .rules("9110-9.1-1", "9110-9.2.1-1", "9110-9.2.1-2", "9110-9.2.2-1"),
        arguments: [
            (HTTP.Method.get, true, true), (.head, true, true), (.options, true, true), (.trace, true, true),
            (.query, true, true), ("query", false, false),
            (.put, false, true), (.delete, false, true), (.post, false, false), (.patch, false, false),
            (.connect, false, false), ("get", false, false), ("PURGE", false, false),
        ])
    func `a method knows whether it may be sent twice`(method: HTTP.Method, isSafe: Bool, isIdempotent: Bool) {
        #expect(method.isSafe == isSafe)
        #expect(method.isIdempotent == isIdempotent)
    }
}

@Suite struct `Status codes` {
    @Test(
        .rules("9110-15-1"),
        arguments: [
            (HTTP.Status(99), "-----"), (100, "i----"), (199, "i----"), (200, "-s---"), (299, "-s---"), (304, "--r--"),
            (404, "---c-"), (499, "---c-"), (503, "----e"), (600, "-----"),
        ])
    func `a status code falls into one class`(status: HTTP.Status, classes: String) {
        let flags = [
            (status.isInformational, "i"), (status.isSuccess, "s"), (status.isRedirection, "r"),
            (status.isClientError, "c"), (status.isServerError, "e"),
        ]
        #expect(flags.map { $0.0 ? $0.1 : "-" }.joined() == classes)
    }
}

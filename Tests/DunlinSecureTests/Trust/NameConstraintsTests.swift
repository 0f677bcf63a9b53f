import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `What authorities may vouch for` {
    struct Row: Sendable, CustomTestStringConvertible {
        var host: String
        var permitted: [NameConstraints.Tree] = []
        var excluded: [NameConstraints.Tree] = []
        var isPermitted: Bool

        var testDescription: String { "\(host), permitted \(permitted), excluded \(excluded)" }
    }

    private static func network(_ bytes: UInt8...) -> NameConstraints.Tree { .network(Bytes(bytes)) }

    static let rows = [
        Row(host: "bar.test", isPermitted: true),
        Row(host: "bar.test", excluded: [.domain("bar.test")], isPermitted: false),
        Row(host: "bar.test.", excluded: [.domain("bar.test")], isPermitted: false),
        Row(host: "a.bar.test", excluded: [.domain("BAR.test")], isPermitted: false),
        Row(host: "xbar.test", excluded: [.domain("bar.test")], isPermitted: true),
        Row(host: "test", excluded: [.domain("bar.test")], isPermitted: true),
        Row(host: "bar.test", excluded: [.domain("")], isPermitted: false),
        Row(host: "bar.test", excluded: [.domain(".bar.test")], isPermitted: true),
        Row(host: "a.bar.test", excluded: [.domain(".bar.test")], isPermitted: false),
        Row(host: "bar.test", permitted: [.domain("foo.test"), .domain("bar.test")], isPermitted: true),
        Row(host: "bar.test", permitted: [.domain("foo.test")], isPermitted: false),
        Row(host: "bar.test", permitted: [.domain("")], isPermitted: true),
        Row(host: "bar.test", permitted: [network(10, 0, 0, 0, 255, 0, 0, 0)], isPermitted: true),
        Row(host: "bar.test", permitted: [.domain("test")], excluded: [.domain("bar.test")], isPermitted: false),
        Row(host: "10.1.2.3", permitted: [.domain("foo.test")], isPermitted: true),
        Row(host: "10.1.2.3", excluded: [.domain("")], isPermitted: true),
        Row(host: "10.1.2.3", permitted: [network(10, 0, 0, 0, 255, 0, 0, 0)], isPermitted: true),
        Row(host: "11.1.2.3", permitted: [network(10, 0, 0, 0, 255, 0, 0, 0)], isPermitted: false),
        Row(host: "10.1.2.3", excluded: [network(10, 9, 9, 9, 255, 0, 0, 0)], isPermitted: false),
        Row(host: "::1", permitted: [network(10, 0, 0, 0, 255, 0, 0, 0)], isPermitted: false),
        Row(host: "::1", excluded: [network(0, 0, 0, 0, 0, 0, 0, 0)], isPermitted: true),
        Row(host: "::1", excluded: [.network(Bytes([UInt8](repeating: 0, count: 32)))], isPermitted: false),
        // What can be compared with nothing permits nothing and excludes all.
        Row(host: "10.1.2.3", permitted: [network(10, 0, 0, 0, 255)], isPermitted: false),
        Row(host: "10.1.2.3", excluded: [network(11, 0, 0, 0, 255)], isPermitted: false),
        Row(host: "10.1.2.3", excluded: [.network(.empty)], isPermitted: false),
    ]

    @Test(arguments: rows)
    func `an authority vouches for permitted hosts that are not excluded, of each kind`(row: Row) {
        let constraints = NameConstraints(permitted: row.permitted, excluded: row.excluded)
        #expect(constraints.permits(HostIdentity(row.host)) == row.isPermitted)
    }
}

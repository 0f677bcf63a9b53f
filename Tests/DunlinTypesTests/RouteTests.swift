import DunlinTypes
import Testing

@Suite struct `Routes of an origin` {
    @Test func `the routes of origins tell them apart where they agree in all else`() {
        var sockets = HTTP.SocketOptions()
        sockets.priority = 3
        let routes: [HTTP.Route?] = [
            nil, HTTP.Route(address: .v4(1, port: 1)), HTTP.Route(address: .v4(1, port: 2)),
            HTTP.Route(address: .unix("/s")),
            HTTP.Route(sockets: HTTP.SocketOptions()), HTTP.Route(sockets: sockets),
            HTTP.Route(address: .v4(1, port: 1), sockets: sockets),
        ]
        let origins = routes.map { HTTP.Origin(scheme: .http, host: "a", route: $0) }
        #expect(Set(origins).count == routes.count)
        #expect(origins.allSatisfy { $0.authority == "a" && $0.description == "http://a" })
        #expect(origins == routes.map { HTTP.Origin(scheme: .http, host: "a", route: $0) })
        #expect(origins.map(\.socketPath) == [nil, nil, nil, "/s", nil, nil, nil])
    }
}

@Suite struct `Problems with socket options` {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isFine: Bool
        let set: @Sendable (inout HTTP.SocketOptions) -> Void

        init(
            _ description: String, fine isFine: Bool = false,
            _ set: @escaping @Sendable (inout HTTP.SocketOptions) -> Void
        ) {
            testDescription = description
            self.isFine = isFine
            self.set = set
        }
    }

    static let cases = [
        Case("defaults", fine: true) { _ in },
        Case("localAddress", fine: true) { $0.localAddress = .v6(0, 1, port: 0) },
        Case("localAddress") { $0.localAddress = .unix("/s") },
        Case("interface", fine: true) { $0.interface = "wireguard-0.100" },
        Case("interface") { $0.interface = "" },
        Case("interface") { $0.interface = "sixteen-letters." },
        Case("interface") { $0.interface = "eth0\0" },
        Case("interface") { $0.interface = "a/b" },
        Case("keepAlive", fine: true) {
            $0.keepAlive = .init(idle: .seconds(32767), interval: .seconds(1), count: 127)
        },
        Case("keepAlive.idle") { $0.keepAlive = .init(idle: .milliseconds(999)) },
        Case("keepAlive.interval") { $0.keepAlive = .init(interval: .seconds(32768)) },
        Case("keepAlive.count") { $0.keepAlive = .init(count: 0) },
        Case("keepAlive.count") { $0.keepAlive = .init(count: 128) },
        Case("userTimeout", fine: true) { $0.userTimeout = .milliseconds(1) },
        Case("userTimeout") { $0.userTimeout = .microseconds(999) },
        Case("userTimeout") { $0.userTimeout = .seconds(1 << 40) },
        Case("differentiatedServices", fine: true) { $0.differentiatedServices = 63 },
        Case("differentiatedServices") { $0.differentiatedServices = 64 },
        Case("priority", fine: true) { $0.priority = 6 },
        Case("priority") { $0.priority = 7 },
    ]

    @Test(arguments: cases)
    func `a problem with socket options is named after what is wrong`(each: Case) {
        var options = HTTP.SocketOptions()
        each.set(&options)
        #expect((options.problem == nil) == each.isFine)
        if let problem = options.problem { #expect(problem.hasPrefix("\(each.testDescription) must be ")) }
    }
}

import Dunlin
import DunlinTesting
import LeakChecking
import Testing

@Suite(.needsDanted, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Through danted` {
    @Test(arguments: SOCKSStage.Way.all) func `requests go over one tunnel, whatever the address`(
        way: SOCKSStage.Way
    ) async throws {
        try await Danted.with { danted in
            try await SOCKSStage.with(way) { (stage: SOCKSStage) async throws in
                for index in 0..<3 {
                    let response = try await stage.get(danted.url(way.scheme))
                    #expect(response.value == "from the origin")
                    #expect(response.metrics.hops.map(\.isConnectionReused) == [index > 0])
                    #expect(response.metrics.hops.map(\.proxy) == [danted.url(way.scheme)])
                }
                #expect(stage.session.connections.open == 1)
                #expect(danted.log.contains("tcp/connect"))
            }
        }
    }

    @Test func `danted is asked by IPv6 too`() async throws {
        try await Danted.with { danted in
            try await SOCKSStage.with(.all[0]) { (stage: SOCKSStage) async throws in
                for scheme in ["socks5", "socks5h"] {
                    #expect(try await stage.get(danted.url(scheme, at: "[::1]")).value == "from the origin")
                }
            }
        }
    }

    @Test(arguments: ["socks5", "socks5h"]) func `a connection that danted refuses is its failure, with the reason`(
        scheme: String
    ) async throws {
        try await Danted.with { danted in
            try await SOCKSStage.with(.all[0], configure: { $0.retry = .never }) { (stage: SOCKSStage) async throws in
                for (port, reason) in [
                    (danted.forbidden, "do not allow"), (try LocalPort.free(1)[0], "refused"),
                ] {
                    let options = HTTPSession.Options(proxy: .url(danted.url(scheme)))
                    let error = try await NetworkError.thrown {
                        _ = try await stage.session.get(
                            .url("http://127.0.0.1:\(port)/?token=hush"), options: options, as: .string)
                    }
                    #expect(error.code == .proxyFailed && error.phase == .tunnel, "\(error)")
                    #expect(error.reason.contains(reason) && !"\(error)".contains("hush"), "\(error)")
                    #expect(!error.requestMayHaveBeenSent && "\(error)".contains(danted.url(scheme)))
                }
            }
        }
    }
}

@Suite(.needsMicrosocks, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Through microsocks` {
    @Test(arguments: SOCKSStage.Way.all) func `a password gets in, whatever the address`(
        way: SOCKSStage.Way
    ) async throws {
        try await Microsocks.with { microsocks in
            try await SOCKSStage.with(way) { (stage: SOCKSStage) async throws in
                let url = microsocks.url(way.scheme, password: Microsocks.password)
                for index in 0..<3 {
                    let response = try await stage.get(url)
                    #expect(response.value == "from the origin")
                    #expect(response.metrics.hops.map(\.isConnectionReused) == [index > 0])
                }
                #expect(stage.session.connections.open == 1)
            }
        }
    }

    @Test(arguments: ["socks5", "socks5h"], ["falsch", nil]) func `a wrong or missing password is a separate error`(
        scheme: String, password: String?
    ) async throws {
        try await Microsocks.with { microsocks in
            try await SOCKSStage.with(.all[0]) { (stage: SOCKSStage) async throws in
                let error = try await stage.failure(microsocks.url(scheme, password: password))
                #expect(error.code == .proxyAuthenticationFailed && error.phase == .tunnel, "\(error)")
                #expect(!"\(error)".contains("falsch") && stage.server.requests.isEmpty)
                let right = microsocks.url(scheme, password: Microsocks.password)
                #expect(try await stage.get(right).value == "from the origin")
            }
        }
    }

    @Test(arguments: ["http", "https"]) func `thirty-two MiB go up and come down as they are`(
        origin: String
    ) async throws {
        let way = SOCKSStage.Way(scheme: "socks5h", origin: origin, endpoint: .ipv4, host: "localhost")
        try await Microsocks.with { microsocks in
            let url = microsocks.url(way.scheme, password: Microsocks.password)
            try await SOCKSStage.with(way, configure: { $0.proxy = .url(url) }) { (stage: SOCKSStage) async throws in
                let file = Noise.bytes(32 << 20)
                let response = try await stage.session.post("echo", body: .bytes(Bytes(file)), as: .bytes)
                #expect(Noise.isEqual(response.value.array, file))
            }
        }
    }

    @Test(arguments: ["http", "https"]) func `a session goes on when microsocks was killed and is there again`(
        origin: String
    ) async throws {
        let way = SOCKSStage.Way(scheme: "socks5", origin: origin, endpoint: .ipv4, host: "127.0.0.1")
        try await Microsocks.with { microsocks in
            let url = microsocks.url(way.scheme, password: Microsocks.password)
            try await SOCKSStage.with(way) { (stage: SOCKSStage) async throws in
                let load = Load(stage.session, HTTPSession.Options(proxy: .url(url)), isProxied: true)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 { group.addTask { try await load.run("hello") } }
                    for _ in 0..<3 {
                        try await load.more(100)
                        microsocks.kill()
                        try await microsocks.start()
                    }
                    try await load.more(100)
                    load.end()
                    try await group.waitForAll()
                }
                #expect(load.surprises.isEmpty)
                for _ in 0..<20 { #expect(try await stage.get(url).value == "from the origin") }
                #expect(stage.session.connections.waiting == 0)
            }
        }
    }
}

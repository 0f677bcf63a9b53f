import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// How squid says no, how it breaks off, and how requests are given up.
@Suite(.needsSquid, .needsNginx, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `What squid refuses` {
    typealias Way = SquidStage.Way

    // MARK: Refusals

    @Test(arguments: Way.all) func `a host that nobody may ask for is refused, and squid says why`(
        way: Way
    ) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get(stage.url("hello?token=hush", at: Squid.denied), as: .string)
            }
            expect(error, 403, "ERR_ACCESS_DENIED", way)
        }
    }

    @Test(arguments: Way.all) func `an origin where nobody listens is squid's error`(way: Way) async throws {
        try await SquidStage.with(way, configure: { $0.retry = .never }) { (stage: SquidStage) async throws in
            stage.nginx.stop()
            let port = try LocalPort.free(1)[0]
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get(.url("\(way.origin)://127.0.0.1:\(port)/?token=hush"), as: .string)
            }
            expect(error, 503, "ERR_CONNECT_FAIL", way)
        }
    }

    /// To CONNECT the answer is no response of the origin's; in clear text nobody can tell.
    private func expect(_ error: NetworkError, _ status: Int, _ name: String, _ way: Way) {
        #expect(error.response?.status.code == Int(status), "\(error)")
        #expect(error.response?.fields["X-Squid-Error"]?.hasPrefix(name) == true)
        guard way.isTunnel else {
            #expect(error.code == .unacceptableStatus)
            return
        }
        #expect(error.code == .proxyFailed && error.phase == .tunnel && !error.requestMayHaveBeenSent)
        let page = error.body.map { String(decoding: $0.array, as: UTF8.self) }
        #expect(page?.hasPrefix("<!DOCTYPE html") == true)
        #expect("\(error)".contains("the proxy answered CONNECT with \(status)") && !"\(error)".contains("hush"))
    }

    @Test(arguments: Way.all) func `a long body that squid does not want spoils nothing for the next request`(
        way: Way
    ) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            let body = RequestBody.bytes(Bytes(Noise.bytes(3 << 20)))
            for _ in 0..<3 {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.put(stage.url("dav/x", at: Squid.denied), body: body, as: .bytes)
                }
                #expect(error.response?.status == 403, "\(error)")
                #expect(try await stage.session.get("hello", as: .string).value == "hello")
            }
        }
    }

    // MARK: Squid's own certificate

    @Test(arguments: ["http", "https"]) func `squid's certificate is judged by the proxy's policy, before all else`(
        origin: String
    ) async throws {
        let way = Way(proxy: "https", origin: origin)
        let stranger = try CertificateAuthority()
        try await SquidStage.with(
            way, .basic, sending: Squid.password,
            configure: { $0.proxyTLS.roots = .only([.bytes(stranger.certificate.der)]) }
        ) { (stage: SquidStage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("hello", as: .string) }
            #expect(error.code == .serverTrustFailed && error.phase == .proxyTLS, "\(error)")
            #expect(!error.requestMayHaveBeenSent && "\(error)".contains("the proxy"))
            #expect(stage.session.connections.open == 0)
        }
    }

    @Test(arguments: ["http", "https"]) func `a port that speaks the other protocol is an error`(
        proxy: String
    ) async throws {
        try await SquidStage.with(Way(proxy: "http", origin: "https")) { (stage: SquidStage) async throws in
            // The port in clear text is asked for TLS, and the other way round.
            let wrong = stage.squid.url(proxy == "http" ? "https" : "http")
            let options = HTTPSession.Options(
                proxy: .url(proxy + wrong.dropFirst(wrong.firstIndex(of: ":")!.utf16Offset(in: wrong))))
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get("hello", options: options, as: .string)
            }
            let expected: [NetworkError.Code] =
                proxy == "https" ? [.secureConnectionFailed] : [.proxyFailed, .connectionClosed]
            #expect(expected.contains(error.code), "\(error)")
            #expect(try await stage.session.get("hello", as: .string).value == "hello")
        }
    }

    // MARK: Giving up

    @Test(arguments: Way.all) func `a request is cancelled in the middle of a body, and its connection closed`(
        way: Way
    ) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            try stage.nginx.publish(Noise.bytes(4 << 20), as: "file")
            let download = Task { [session = stage.session] in
                try await session.withResponse(from: "slow/file") { response in
                    for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: CancellationError.self) { try await download.value }
            try await eventually("it is closed") { stage.session.connections.open == 0 }
            #expect(try await stage.session.get("hello", as: .string).value == "hello")
        }
    }

    @Test(arguments: Way.all) func `sixteen requests at once, half of them cancelled, leave nothing behind`(
        way: Way
    ) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            try stage.nginx.publish(Noise.bytes(100_000), as: "file")
            let session = stage.session
            for round in 0..<4 {
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<16 {
                        group.addTask {
                            let request = Task { try await session.get("file", as: .bytes).value.count }
                            for _ in 0..<(index * round) { await Task.yield() }
                            if index.isMultiple(of: 2) { request.cancel() }
                            switch await request.result {
                            case .success(let count): #expect(count == 100_000)
                            case .failure(let error): #expect(error is CancellationError && index.isMultiple(of: 2))
                            }
                        }
                    }
                }
            }
            #expect(stage.session.connections.waiting == 0)
            #expect(try await stage.session.get("hello", as: .string).value == "hello")
        }
    }

    // MARK: Restarts

    @Test(arguments: Way.all) func `a session goes on when squid was killed and is there again`(
        way: Way
    ) async throws {
        try await SquidStage.with(way) { (stage: SquidStage) async throws in
            let load = Load(stage.session, HTTPSession.Options(validatesResponse: false), isProxied: true)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await load.run("hello") } }
                for _ in 0..<3 {
                    try await load.more(100)
                    stage.squid.kill()
                    try await stage.squid.start()
                }
                try await load.more(100)
                load.end()
                try await group.waitForAll()
            }
            #expect(load.surprises.isEmpty)
            for _ in 0..<20 { #expect(try await stage.session.get("hello", as: .string).value == "hello") }
            #expect(stage.session.connections.waiting == 0)
        }
    }

    @Test(arguments: Way.all) func `while squid is away every request fails with an error that names it`(
        way: Way
    ) async throws {
        try await SquidStage.with(way, configure: { $0.retry = .never }) { (stage: SquidStage) async throws in
            #expect(try await stage.session.get("hello", as: .string).value == "hello")
            stage.squid.kill()
            try await eventually("its end is noticed") { stage.session.connections.open == 0 }
            for _ in 0..<3 {
                let error = try await NetworkError.thrown { _ = try await stage.session.get("hello", as: .string) }
                #expect(error.code == .connectionFailed && error.phase == .connect, "\(error)")
                #expect("\(error)".contains(stage.squid.url(way.proxy)))
            }
            try await stage.squid.start()
            #expect(try await stage.session.get("hello", as: .string).value == "hello")
        }
    }
}

import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Testing

@testable import DunlinCLI

/// Which way the command's requests take.
@Suite(.timeLimit(.minutes(10))) struct RouteOptionsTests {
    private static func configuration(_ arguments: String...) throws -> HTTPSession.Configuration {
        guard case .get(_, let options) = try Command(arguments: ["get", "http://a.test"] + arguments) else {
            throw UsageError(description: "no request")
        }
        var configuration = HTTPSession.Configuration()
        options.route.apply(to: &configuration)
        return configuration
    }

    @Test func `the way is what the arguments say, and the environment's if they say nothing`() throws {
        #expect("\(try Self.configuration().proxy)" == "the environment's proxy")
        #expect("\(try Self.configuration("--noproxy", "*").proxy)" == "no proxy")
        #expect("\(try Self.configuration("--proxy", "").proxy)" == "no proxy")
        #expect("\(try Self.configuration("-x", "socks5h://u:hush@p.test").proxy)" == "socks5h://p.test:1080")
        #expect(try Self.configuration("--guard", "public").guard == .publicInternet)
        #expect(try Self.configuration("--proxy-ca", "ca.pem").proxyTLS.roots == .systemAnd([.file("ca.pem")]))
        #expect(try Self.configuration().guard == nil)
    }

    @Test func `a proxy that is not believed is named, with the option to believe it`() async throws {
        let stranger = try CertificateAuthority(.authority("Somebody else")).issue(.server("127.0.0.1"))
        let proxy = try LoopbackProxy(tls: .init(stranger))
        defer { proxy.stop() }
        let paper = try Paper()
        let arguments = ["get", "http://api.test/a", "-x", proxy.url("https")]
        #expect(await DunlinCommand.run(try Command(arguments: arguments), paper.output) != .success)
        let remarks = try paper.remarked
        #expect(remarks.contains("[the proxy https://127.0.0.1:\(proxy.port)"), "\(remarks)")
        #expect(remarks.contains("to trust the proxy's own certificate authority, add --proxy-ca FILE"), "\(remarks)")
        #expect(!remarks.contains("--ca FILE"), "\(remarks)")
    }

    @Test(arguments: [nil, "127.0.0.1"]) func `requests go through the proxy but for the exceptions`(
        exceptions: String?
    ) async throws {
        let (proxy, server) = (try LoopbackProxy(), try LoopbackServer())
        defer {
            proxy.stop()
            server.stop()
        }
        server.respond { _ in .response(body: "from the origin") }
        let paper = try Paper()
        let arguments =
            ["get", "\(server.baseURL)/a", "-x", proxy.url()] + (exceptions.map { ["--noproxy", $0] } ?? [])
        let code = await DunlinCommand.run(try Command(arguments: arguments), paper.output)
        #expect(try code == .success && paper.said == "from the origin")
        #expect(proxy.visits.count == (exceptions == nil ? 1 : 0))
    }

    @Test func `a guarded command refuses this machine`() async throws {
        let paper = try Paper()
        let command = try Command(arguments: ["get", "http://127.0.0.1:9/", "--guard", "public"])
        #expect(await DunlinCommand.run(command, paper.output) == .failure)
        #expect(try paper.remarked.contains("loopback"))
    }

    @Test func `what is stored is listed and cleared`() async throws {
        let unmade = Folder.unmade()
        let folder = unmade.path
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(fields: ["Cache-Control": "max-age=1000"], body: "abc") }
        let paper = try Paper()
        for _ in 1...2 {
            var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
            configuration.cache = StoreCommand.cache(warning: paper.output, in: folder)
            // However slow the disk is, nobody gives up waiting for it.
            try configuration.use(ManualClock())
            let session = try HTTPSession(configuration)
            _ = try await session.get("/a", as: .bytes)
            await session.shutdown()
            await configuration.cache?.close()
        }
        #expect(server.requests.count == 1)
        _ = await StoreCommand(operation: .list, output: paper.output).run(in: folder)
        #expect(try paper.said.contains("200 3 B, fresh for ") && paper.said.contains("\(server.baseURL)/a"))
        _ = await StoreCommand(operation: .clear, output: paper.output).run(in: folder)
        let empty = try Paper()
        _ = await StoreCommand(operation: .list, output: empty.output).run(in: folder)
        #expect(try empty.said.isEmpty && paper.remarked.isEmpty)
    }
}

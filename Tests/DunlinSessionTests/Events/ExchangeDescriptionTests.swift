import Dunlin
import DunlinTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The description of an exchange` {
    /// Keeps what is shown of each exchange.
    private final class Shown: HTTPSession.Observer, HTTPSession.RequestObserver {
        let exchanges = Mutex<[(url: String, texts: [String])]>([])

        func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? { self }

        func exchangeBegan(
            _ exchange: HTTPSession.Exchange, adding fields: inout Fields
        ) -> (any HTTPSession.ExchangeObserver)? {
            var dumped = ""
            dump(exchange, to: &dumped)
            exchanges.withLock {
                $0.append((exchange.shownURL, ["\(exchange)", String(reflecting: exchange), dumped]))
            }
            return nil
        }

        let steps = Mutex<[String]>([])

        func noted(_ step: HTTPSession.RequestStep) {
            var dumped = ""
            dump(step, to: &dumped)
            steps.withLock { $0 += ["\(step)", String(reflecting: step), dumped] }
        }
    }

    @Test func `it has no secrets, also none whose names the session knows alone`() async throws {
        let (shown, transport) = (Shown(), MockTransport())
        transport.otherwise { _ in .respond() }
        var configuration = HTTPSession.Configuration(transport: transport)
        configuration.observers = [shown]
        configuration.secretFields = ["ticket", "X-Seat"]
        configuration.fields["X-Seat"] = "s3cr3t"
        try await HTTPSession(configuration).get(
            "http://ada:s3cr3t@a.test/b?ticket=s3cr3t&token=s3cr3t&next=%2Fc%3Fticket%3Ds3cr3t&page=2")
        let exchange = try #require(shown.exchanges.withLock { $0.first })
        #expect(exchange.url == "http://a.test/b?ticket=***&token=***&next=***&page=2")
        for text in exchange.texts { #expect(!text.contains("s3cr3t") && text.contains("page=2"), "\(text)") }
        #expect(exchange.texts[0].hasSuffix(" exchange 1: GET \(exchange.url)"))
    }

    @Test func `a step has no secrets either`() async throws {
        let (shown, transport) = (Shown(), MockTransport())
        transport.on(.get, "/a").respond(302, fields: ["Location": "/b?ticket=s3cr3t&token=s3cr3t&page=2"])
        transport.otherwise { _ in .respond() }
        var configuration = HTTPSession.Configuration(transport: transport)
        configuration.observers = [shown]
        configuration.secretFields = ["ticket"]
        try await HTTPSession(configuration).get("http://a.test/a?token=s3cr3t")
        let steps = shown.steps.withLock { $0 }
        #expect(steps.first == "redirected: GET http://a.test/a?token=***: 302")
        #expect(!steps.joined().contains("s3cr3t"), "\(steps)")
    }
}

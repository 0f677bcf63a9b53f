import Dunlin
import DunlinTesting
import Synchronization
import Testing

@Suite struct `The description of an exchange` {
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
}

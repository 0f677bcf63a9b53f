import Dunlin
import DunlinResilience
import DunlinTesting
import Testing

private nonisolated struct Quote: Codable, Equatable {
    var price: Int
}

/// The snippets of the articles about servers that are slow.
@Suite(.timeLimit(.minutes(10))) struct `Guide to slow servers` {
    @Test func `one line makes a session resilient`() throws {
        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.example.com")
        configuration.resilience = .standard
        let client = try HTTPSession(configuration)
        #expect(client.configuration.retry.attempts == 3)
    }

    @Test func `limits of rate are set as written`() throws {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com")
        var resilience = Resilience.standard
        resilience.rates = [
            .init(100, per: .seconds(60), burst: 10),
            .init(5, key: { $0.fields["X-Tenant"] ?? "" }),
        ]
        configuration.resilience = resilience
        #expect(try HTTPSession(configuration).configuration.resilience?.rates.count == 2)
    }

    @Test func `thirty servers are asked at once, in less than forty lines`() async throws {
        let transport = MockTransport()
        transport.otherwise { request in
            switch request.origin.host {
            case "3.test": .never
            case "7.test": .respond(.serviceUnavailable)
            default: .respond(json: Quote(price: 1))
            }
        }
        let urls = (0..<30).map { "http://\($0).test/quote" }
        var (shown, reported): ([Quote], [String]) = ([], [])
        func show(_ quote: Quote) { shown.append(quote) }
        func report(_ text: String) { reported.append(text) }
        do {
            var configuration = HTTPSession.Configuration(transport: transport)
            configuration.timeouts.attempt = .milliseconds(500)
            configuration.queue.runningPerOrigin = 8
            var resilience = Resilience.standard
            resilience.rates = [.init(20)]
            configuration.resilience = resilience
            let client = try HTTPSession(configuration)

            let answers = await client.withTimeout(.seconds(2)) {
                await withTaskGroup(
                    of: (String, Result<Quote, any Error>).self
                ) { group in
                    for url in urls {
                        group.addTask {
                            do {
                                let quote = try await client.get(
                                    url: url, as: Quote.self)
                                return (url, .success(quote))
                            } catch {
                                return (url, .failure(error))
                            }
                        }
                    }
                    var answers: [String: Result<Quote, any Error>] = [:]
                    for await (url, answer) in group { answers[url] = answer }
                    return answers
                }
            }
            for (url, answer) in answers {
                switch answer {
                case .success(let quote): show(quote)
                case .failure(let error): report("\(url): \(error)")
                }
            }
        }
        #expect(shown.count + reported.count == 30 && shown.count >= 20)
        #expect(reported.contains { $0.contains("7.test") && $0.contains("503") })
    }
}

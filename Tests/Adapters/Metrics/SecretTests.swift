import Dunlin
import DunlinMetrics
import DunlinTesting
import MetricsTestKit
import Testing

@Suite("Secrets and metrics")
struct SecretTests {
    static let secret = "hunter2"

    @Test func `No label contains what a request has of secrets`() async throws {
        let secret = Self.secret
        let measured = try Measured(
            at: "http://user:\(secret)@api.test",
            measuring: { $0.includesDevelopment = true },
            configuring: { configuration in
                configuration.retry = .constant(attempts: 2, every: .zero)
                configuration.fields = ["Authorization": "Bearer \(secret)", "X-Api-Key": "\(secret)"]
                configuration.cookies = CookieJar()
            })
        measured.transport.otherwise { request in
            switch request.path {
            case "/fail": throw NetworkError(.connectionClosed, "failed with \(secret)")
            case "/move": .respond(.found, fields: ["Location": "/there?token=\(secret)"])
            default: .respond(.ok, fields: ["Set-Cookie": "session=\(secret)"], body: "\(secret)")
            }
        }
        var options = HTTPSession.Options()
        options.tags = ["tag-\(secret)"]
        options.label = "label-\(secret)"
        let text = "http://user:\(secret)@api.test/\(secret)?token=\(secret)"
        let targets: [HTTP.Target] = [
            "users/\(secret)?token=\(secret)#\(secret)", "fail", "move", HTTP.Target(text),
            "http://user:hunter2@api.test/plain?token=hunter2#hunter2", "//hunter2@api.test/plain",
            "plain?api_key=hunter2", "a;jsessionid=hunter2/b;x=hunter2;y",
        ]
        for target in targets {
            _ = try? await measured.client.request(
                target, method: .post, query: ["password": "\(secret)"],
                body: .string("password=\(secret)"), options: options, as: .string)
        }
        let series = measured.metrics.series
        #expect(series.count > 10)
        for series in series {
            #expect(!series.name.contains(secret))
            for (name, value) in series.labels { #expect(!value.contains(secret), "\(name)") }
        }
        let templates = Set(series.compactMap { $0["url.template"] })
        #expect(
            templates == ["/users/{}", "/fail", "/move", "/plain", "/a;jsessionid=REDACTED/b;x=REDACTED;y"])
    }

    @Test(arguments: [
        ("https://host.test/users/{}", "/users/{}"), ("https://host.test", "/"), ("https://host.test?x=1", "/"),
        ("//user@host.test/a", "/a"), ("users//{}", "/users//{}"), ("/a:b//c", "/a:b//c"),
        ("a b\"\\\n", "/a%20b%22%5C%0A"),
        ("gr\u{F6}\u{DF}e/{}", "/gr%C3%B6%C3%9Fe/{}"), ("{}", "/{}"), ("", "/"),
        ("a;b/;c=/{};d={}", "/a;b/;c=REDACTED/{};d=REDACTED"),
    ])
    func `A template is reported as its path, in visible characters`(template: String, label: String) async throws {
        let measured = try Measured(measuring: { $0.includesDevelopment = true })
        measured.transport.otherwise { _ in .respond() }
        _ = try? await measured.client.get(
            HTTP.Target(template: template, template.contains("{}") ? ["": 1] : [:]), as: .bytes)
        let found = Set(measured.metrics.series("dunlin.client.request.duration").compactMap { $0["url.template"] })
        #expect(found.isSubset(of: [label]))
    }

    @Test func `A long template is cut`() async throws {
        let measured = try Measured(measuring: { $0.includesDevelopment = true })
        measured.transport.otherwise { _ in .respond() }
        let long = String(repeating: "a", count: 5000)
        _ = try await measured.client.get(HTTP.Target(template: "\(long)/{id}", ["id": 1]), as: .bytes)
        let template = try #require(try measured.metrics.only("http.client.request.duration")["url.template"])
        #expect(template.utf8.count < 210)
    }
}

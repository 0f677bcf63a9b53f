import Dunlin
import DunlinTesting
import FoundationEssentials
import Mocking
import Testing

/// The table "Who a request asks as" of the article on authentication: each way against each other, on the wire.
@Suite(.timeLimit(.minutes(10))) struct `Who a request asks as` {
    /// Each sends its own name.
    enum Way: String, CaseIterable, Sendable {
        case exchangeInterceptor, callInterceptor, headers, optionsToken, optionsPassword, requestURL, handler
        case originFields, fields, sessionToken, sessionPassword, authenticationToken, baseURL

        /// As the article says it.
        var setting: String {
            switch self {
            case .exchangeInterceptor, .callInterceptor: "`interceptors`"
            case .headers: "`fields:`, `options.fields`"
            case .optionsToken, .optionsPassword: "`options.credentials`"
            case .requestURL: "user info in the request's URL"
            case .handler: "`authenticationHandler`"
            case .originFields: "`originFields`"
            case .fields: "`fields`"
            case .sessionToken, .sessionPassword: "`credentials`"
            case .authenticationToken: "`authentication`"
            case .baseURL: "user info in `baseURL`"
            }
        }

        /// Those of a session, for each of its requests.
        static let ofSession: [Way] = [
            .originFields, .fields, .sessionToken, .sessionPassword, .authenticationToken,
            .baseURL,
        ]

        func set(_ configuration: inout HTTPSession.Configuration) {
            let name = rawValue
            switch self {
            case .exchangeInterceptor:
                configuration.interceptors.append(
                    .exchange { request, next in
                        try await next(request) { $0.head.fields["Authorization"] = "Own \(name)" }
                    })
            case .callInterceptor:
                configuration.interceptors.append(
                    .call { request, next in
                        try await next(request) { $0.head.fields["Authorization"] = "Own \(name)" }
                    })
            case .handler:
                configuration.authenticationHandler = { _ in .useCredential(.password(user: name, password: "pw")) }
            case .originFields: configuration.originFields["Authorization"] = "Own \(name)"
            case .fields: configuration.fields["Authorization"] = "Own \(name)"
            case .sessionToken: configuration.credentials = .bearer(token: name)
            case .sessionPassword: configuration.credentials = .password(user: name, password: "pw")
            case .authenticationToken: configuration.authentication = .bearer(.init(name)) { _ in .init(name) }
            case .baseURL: configuration.baseURL = "http://\(name):pw@api.test"
            case .headers, .optionsToken, .optionsPassword, .requestURL: break
            }
        }
    }

    /// Who is named at a host in the end; nil for nobody.
    private func asked(_ ways: [Way], _ path: String = "x", at host: String = "api.test") async throws -> Way? {
        let mock = try Mocked { configuration in
            for way in ways { way.set(&configuration) }
        }
        mock.transport.on("back", where: { $0.path == "/back" })
            .respond(302, fields: ["Location": "http://api.test/x"]).always()
        mock.transport.otherwise { request in
            if !request.fields.contains("authorization") {
                return .respond(401, fields: ["WWW-Authenticate": "Digest realm=d, nonce=n, qop=auth"])
            }
            return request.path.hasPrefix("/away")
                ? .respond(302, fields: ["Location": "http://other.test\(request.path.dropFirst(5))"]) : .respond()
        }
        var options = HTTPSession.Options(validatesResponse: false)
        if ways.contains(.headers) { options.fields["Authorization"] = "Own headers" }
        if ways.contains(.optionsToken) { options.credentials = .bearer(token: "optionsToken") }
        if ways.contains(.optionsPassword) { options.credentials = .password(user: "optionsPassword", password: "pw") }
        let userInfo = ways.contains(.requestURL) ? "requestURL:pw@" : ""
        _ = try await mock.session.get(url: "http://\(userInfo)api.test/\(path)", options: options)
        let sent = try #require(mock.transport.requests.last)
        #expect(sent.origin.host == host)
        return Way.allCases.first { way in
            let names = [" \(way)", "\"\(way)\""]
            return names.contains { sent.fields["authorization"]?.contains($0) == true }
        }
    }

    /// Which ways a way wins over; two of which neither wins are refused together.
    private static let wins: [(Way, over: [Way])] = [
        (.exchangeInterceptor, Way.allCases),
        (.callInterceptor, Way.allCases),
        (.headers, Way.allCases),
        (.optionsToken, [.requestURL, .handler] + Way.ofSession),
        (.handler, [.optionsPassword, .requestURL, .sessionPassword, .baseURL]),
        (.optionsPassword, [.requestURL] + Way.ofSession),
        (.requestURL, Way.ofSession),
        (.originFields, [.handler, .fields, .baseURL]),
        (.fields, [.handler, .baseURL]),
        (.sessionToken, [.handler, .baseURL]),
        (.sessionPassword, [.baseURL]),
        (.authenticationToken, [.handler]),
    ]

    private static let pairs = Way.allCases.enumerated().flatMap { index, first in
        Way.allCases.dropFirst(index + 1).filter { $0.setting != first.setting }.map { (first, $0) }
    }

    @Test(arguments: pairs) func `of two credentials that are given together, one is sent or both are refused`(
        first: Way, second: Way
    ) async throws {
        let winner = Self.wins.first { way, others in
            way == first && others.contains(second) || way == second && others.contains(first)
        }
        if let winner {
            #expect(try await asked([first, second]) == winner.0)
        } else {
            #expect(Way.ofSession.contains(first) && Way.ofSession.contains(second))
            let error = #expect(throws: NetworkError.self) {
                try Mocked { configuration in
                    for way in [first, second] { way.set(&configuration) }
                }
            }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test(arguments: Way.allCases) func `only interceptors around exchanges and handlers cross an origin`(
        way: Way
    ) async throws {
        #expect(try await asked([way]) == way)
        let crosses = way == .exchangeInterceptor || way == .handler
        #expect(try await asked([way], "away", at: "other.test") == (crosses ? way : nil))
        // A field is gone for good, and what is added hop by hop is added again.
        let isField = [.callInterceptor, .headers, .optionsToken, .originFields, .fields, .sessionToken].contains(way)
        #expect(try await asked([way], "away/back") == (isField ? nil : way))
    }

    @Test func `the article on tokens and passwords names each way to give credentials`() throws {
        let package = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let article = package.appending(path: "Sources/Dunlin/Dunlin.docc/Authentication.md")
        let text = String(decoding: try Data(contentsOf: article), as: UTF8.self)
        let section = text.split(separator: "### Who a request asks as").dropFirst().first?.split(separator: "\n### ")
        let rows = try #require(section?.first).split(separator: "\n").filter { $0.hasPrefix("| ") }
        for way in Way.allCases { #expect(rows.contains { $0.hasPrefix("| \(way.setting) |") }, "\(way)") }
    }
}

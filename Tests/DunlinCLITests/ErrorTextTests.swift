import Dunlin
import Testing

@testable import DunlinCLI

/// What a person reads of a request that failed.
@Suite struct ErrorTextTests {
    @Test(
        arguments: [
            (.send, .total, .seconds(5), .seconds(6), "slow (in phase send after 6.0 s, total limit 5.0 s)"),
            (.receive, .readIdle, .seconds(5), nil, "slow (in phase receive, readIdle limit 5.0 s)"),
            (nil, .total, nil, .zero, "slow (after 0 µs, total limit)"),
            (.connect, nil, nil, nil, "slow (in phase connect)"),
            (nil, nil, nil, nil, "slow"),
        ] as [(HTTP.Phase?, Timeouts.Limit?, Duration?, Duration?, String)])
    func `a complaint says where the request was, and by which limit it ended`(
        phase: HTTP.Phase?, exceeded: Timeouts.Limit?, limit: Duration?, elapsed: Duration?, expected: String
    ) {
        let error = NetworkError(.timedOut, "slow", phase: phase, exceeding: exceeded, limit: limit, elapsed: elapsed)
        #expect(ErrorText.lines(of: error) == [expected])
    }

    @Test(
        arguments: [
            (.insecureRedirect, "it leads to http://a.test/b;c; set `x` to follow it", "it leads to http://a.test/b;c"),
            (.tooManyRedirects, "more than 20; `redirects.limit` allows no more", "more than 20"),
            (.secureConnectionFailed, "it got none; set `tls.identity`", "it got none"),
            (.unsupportedScheme, "one; two", "one; two"),
        ] as [(NetworkError.Code, String, String)])
    func `settings that the command has not are not advised`(code: NetworkError.Code, reason: String, expected: String)
    {
        #expect(ErrorText.lines(of: NetworkError(code, reason)) == [expected])
    }

    @Test func `nothing is advised for a certificate that cannot be read`() {
        let refusal = NetworkError.TrustRefusal(.malformed, host: "a.test", depth: 0, detail: "it cannot be read")
        let error = NetworkError(.serverTrustFailed, "\(refusal)", underlying: refusal)
        #expect(ErrorText.lines(of: error) == ["\(refusal)"])
    }
}

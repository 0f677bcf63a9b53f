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
            (
                .tooManyRedirects, "more than 20; `redirects.limit` allows no more",
                "more than 20; --max-redirs can allow more"
            ),
            (.unsupportedScheme, "one; two", "one; two"),
            (.limitExceeded, "it exceeds `configuration.limits.headBytes`", "it exceeds a limit of this command"),
            (.proxyFailed, "denied; `allowedAddresses` can allow it", "denied; without --guard it is allowed"),
            (.bodyConsumed, "no; the hook `replacementBody` can give another; `x", "no; `x"),
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

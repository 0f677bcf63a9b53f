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
}

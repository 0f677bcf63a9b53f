import DunlinReactor
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `The errors of an exchange` {
    /// The time that the phase has four seconds after the exchange began.
    @Test(arguments: [(.pool, .seconds(4)), (.send, .seconds(4)), (.connect, nil)] as [(HTTP.Phase, Duration?)])
    func `an error of opening a connection has the time that no phase has yet where it has ended`(
        phase: HTTP.Phase, time: Duration?
    ) throws {
        let pair = try ChannelPair()
        let context = pair.context()
        pair.time.advance(by: 4_000_000_000)
        let failure = context.error(.timedOut, "late", in: phase, context.hop)
        #expect(failure.hop?.duration(of: phase) == time)
        let told = try #require(context.explained(failure, context.hop) as? NetworkError)
        #expect(told.hop?.duration(of: phase) == time)
        #expect(told.hop?.total == .seconds(4) && told.hop == failure.hop)
    }

    @Test func `what opening a connection took stays with its error, and is counted once`() throws {
        let pair = try ChannelPair()
        let context = pair.context()
        pair.time.advance(by: 4_000_000_000)
        var hop = context.hop
        (hop[.pool], hop[.resolve]) = (1_000_000_000, 2_000_000_000)
        let failure = context.error(.invalidResponse, "unasked", in: .send, context.hop)
        let told = try #require(context.explained(failure, hop) as? NetworkError)
        #expect(told.hop?.duration(of: .pool) == .seconds(1) && told.hop?.duration(of: .resolve) == .seconds(2))
        #expect(told.hop?.duration(of: .send) == .seconds(1))
    }
}

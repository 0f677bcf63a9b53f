import Dunlin
import LedgerRows
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Options` {
    @Test(.rows("RQ-50")) func `options that say nothing leave every limit to the session`() {
        let options = HTTPSession.Options()
        #expect(options.timeouts == HTTPSession.RequestTimeouts())
        for limit in Timeouts.Limit.allCases { #expect(options.timeouts[limit] == .session) }
        #expect(options.continueTimeout == .seconds(1))
    }

    @Test(.rows("RQ-52")) func `options keep one limit when another is set`() {
        var options = HTTPSession.Options(timeouts: .init(firstByte: .seconds(3)))
        options.continueTimeout = .seconds(5)
        #expect(options.timeouts == .init(firstByte: .seconds(3)))
        #expect(options.continueTimeout == .seconds(5))
        options.timeouts.total = .none
        #expect(options.timeouts == .init(firstByte: .seconds(3), total: .none))
        options.timeouts = .init()
        #expect(options.timeouts.total == .session)
        #expect(options.continueTimeout == .seconds(5))
    }

    @Test(arguments: Timeouts.Limit.allCases)
    func `a limit that a request does not name is the session's`(limit: Timeouts.Limit) async throws {
        var configuration = HTTPSession.Configuration()
        for limit in Timeouts.Limit.allCases { configuration.timeouts[limit] = .seconds(40) }
        let session = try HTTPSession(configuration)
        for (own, expected) in [(HTTPSession.PerRequest<Duration>.none, nil), (.seconds(7), Duration.seconds(7))] {
            var options = HTTPSession.Options()
            options.timeouts[limit] = own
            let timeouts = try session.core.call(.get, "http://h/", options: options, isObserved: false).timeouts
            for each in Timeouts.Limit.allCases { #expect(timeouts[each] == (each == limit ? expected : .seconds(40))) }
        }
        await session.shutdown()
    }

    @Test func `a request's setting is none, its own, or the session's`() {
        let never = HTTPSession.Options(
            bodyLimit: .none, retry: .none, redirects: .none, credentials: .none, errorBodyLimit: .none)
        #expect(never.retry.resolved(.exponential(attempts: 3)) == nil)
        #expect(never.redirects.resolved(HTTPSession.RedirectPolicy()) == nil)
        #expect(never.bodyLimit.resolved(5) == nil && never.errorBodyLimit.resolved(5) == nil)
        #expect(never.rare != nil)
        let own = HTTPSession.Options(
            bodyLimit: 7, retry: .constant(attempts: 2, every: .zero), redirects: .follow(limit: 1),
            credentials: .basic(user: "u", password: "p"), errorBodyLimit: .bytes(0))
        #expect(own.retry.own == .constant(attempts: 2, every: .zero))
        #expect(own.redirects.own == HTTPSession.RedirectPolicy(limit: 1))
        #expect(own.credentials.own == .basic(user: "u", password: "p"))
        #expect(own.bodyLimit.resolved(5) == 7 && own.errorBodyLimit.resolved(5) == 0)
        let left = HTTPSession.Options()
        #expect(left.retry == .session && left.redirects == .session && left.credentials == .session)
        #expect(left.errorBodyLimit.resolved(5) == 5 && left.rare == nil)
        var changed = own
        changed.retry = .session
        #expect(changed.retry.resolved(.never) == .never)
    }

    @Test func `a whole set of limits replaces the session's`() {
        let all = HTTPSession.RequestTimeouts(Timeouts(pool: nil, firstByte: .seconds(1)))
        #expect(all.pool == .none && all.firstByte == .seconds(1) && all.send == .value(.seconds(30)))
    }

    @Test func `a copy of options has limits of its own`() {
        let options = HTTPSession.Options(timeouts: .init(readIdle: .seconds(1)))
        var copy = options
        copy.timeouts.readIdle = .seconds(2)
        #expect(options.timeouts.readIdle == .seconds(1))
        #expect(copy.timeouts.readIdle == .seconds(2))
    }

    /// They are handed over with every call, in memory that a request keeps while it waits.
    @Test func `options take at most 64 bytes`() {
        #expect(MemoryLayout<HTTPSession.Options>.size <= 64)
    }
}

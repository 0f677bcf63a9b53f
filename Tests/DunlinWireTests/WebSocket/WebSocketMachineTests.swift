import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `The life of a WebSocket connection` {
    typealias Action = WebSocketMachine.Action

    private static func at(_ seconds: Double) -> HTTP.Instant {
        HTTP.Instant(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    private static func times(ping: Int? = nil, pong: Int = 20, close: Int = 10) -> WebSocketTimes {
        var times = WebSocketTimes()
        times.pingInterval = ping.map { .seconds($0) }
        times.pongLimit = .seconds(pong)
        times.closeLimit = .seconds(close)
        return times
    }

    private static func machine(_ times: WebSocketTimes = times()) -> WebSocketMachine {
        WebSocketMachine(times: times, at: at(0))
    }

    private static func pingBytes(_ number: UInt8) -> Bytes { [0, 0, 0, 0, 0, 0, 0, number] }

    /// All that is to be done now: what is to be written, and then the wait or the end.
    private static func actions(_ machine: inout WebSocketMachine, at seconds: Double) -> [Action] {
        var actions: [Action] = []
        while actions.count < 10 {
            let action = machine.next(at: at(seconds))
            actions.append(action)
            guard case .write = action else { break }
        }
        return actions
    }

    // MARK: - Pings

    @Test(.rules("6455-5.5.2-1", "6455-5.5.3-1")) func `a ping is answered with its own bytes`() {
        var machine = Self.machine()
        #expect(Self.actions(&machine, at: 0) == [.wait(until: nil)])
        machine.receive(.ping("a"), at: Self.at(1))
        #expect(Self.actions(&machine, at: 1) == [.write(.pong("a")), .wait(until: nil)])
    }

    @Test(.rules("6455-5.5.3-2")) func `only the latest of several pings is answered`() {
        var machine = Self.machine()
        for text: Bytes in ["a", "b", "c"] { machine.receive(.ping(text), at: Self.at(1)) }
        #expect(Self.actions(&machine, at: 1) == [.write(.pong("c")), .wait(until: nil)])
    }

    @Test func `a ping is sent when nothing has arrived for the interval`() {
        var machine = Self.machine(Self.times(ping: 30))
        #expect(Self.actions(&machine, at: 0) == [.wait(until: Self.at(30))])
        machine.receivedBytes(at: Self.at(10))
        #expect(Self.actions(&machine, at: 30) == [.wait(until: Self.at(40))])
        #expect(Self.actions(&machine, at: 40) == [.write(.ping(Self.pingBytes(1))), .wait(until: Self.at(60))])
        #expect(Self.actions(&machine, at: 59) == [.wait(until: Self.at(60))])
    }

    @Test func `a connection from which nothing arrives after a ping has failed`() {
        var machine = Self.machine(Self.times(ping: 30))
        _ = Self.actions(&machine, at: 30)
        #expect(machine.outcome(at: Self.at(49)) == nil)
        #expect(machine.outcome(at: Self.at(50)) == .failed(.noPong))
        #expect(Self.actions(&machine, at: 50) == [.end(.failed(.noPong))])
        #expect(Self.actions(&machine, at: 51) == [.end(.failed(.noPong))])
    }

    @Test func `the limit of a ping begins when it has been written`() {
        var machine = Self.machine(Self.times(ping: 30))
        #expect(machine.next(at: Self.at(30)) == .write(.ping(Self.pingBytes(1))))
        #expect(machine.unwrittenPing == 1)
        #expect(machine.next(at: Self.at(45)) == .wait(until: Self.at(65)))
        #expect(machine.unwrittenPing == nil)
        machine = Self.machine(Self.times(ping: 30))
        _ = machine.next(at: Self.at(30))
        // The answer was faster than the news that it was written.
        machine.receivedBytes(at: Self.at(31))
        machine.receive(.pong(Self.pingBytes(1)), at: Self.at(31))
        #expect(machine.next(at: Self.at(32)) == .wait(until: Self.at(61)))
    }

    @Test func `a control frame that cannot be written has that limit too, and progress of writing is life`() {
        var machine = Self.machine(Self.times(ping: 30))
        _ = machine.next(at: Self.at(30))
        machine.wroteAfterWaiting(at: Self.at(45))
        #expect(machine.outcome(at: Self.at(64)) == nil && machine.deadline == Self.at(65))
        #expect(machine.outcome(at: Self.at(65)) == .failed(.noPong))
        machine = Self.machine(Self.times(ping: 30))
        machine.receive(.ping("a"), at: Self.at(15))
        #expect(machine.next(at: Self.at(15)) == .write(.pong("a")))
        // No ping is due before.
        #expect(machine.deadline == Self.at(35))
        #expect(machine.outcome(at: Self.at(35)) == .failed(.noPong))
        machine = Self.machine()
        machine.receive(.ping("a"), at: Self.at(15))
        _ = machine.next(at: Self.at(15))
        #expect(machine.deadline == nil)
    }

    @Test func `any byte shows that the peer is alive, not only a pong`() {
        var machine = Self.machine(Self.times(ping: 30))
        _ = Self.actions(&machine, at: 30)
        machine.receivedBytes(at: Self.at(45))
        #expect(machine.answeredPing == 0)
        #expect(Self.actions(&machine, at: 55) == [.wait(until: Self.at(75))])
    }

    @Test func `a ping that was asked for has the same limit without an interval`() {
        var machine = Self.machine()
        #expect(machine.sendPing() == 1)
        #expect(Self.actions(&machine, at: 5) == [.write(.ping(Self.pingBytes(1))), .wait(until: Self.at(25))])
        // The second does not give the peer more time.
        #expect(machine.sendPing() == 2)
        #expect(Self.actions(&machine, at: 10) == [.write(.ping(Self.pingBytes(2))), .wait(until: Self.at(25))])
        #expect(Self.actions(&machine, at: 25) == [.end(.failed(.noPong))])
    }

    @Test func `pings that have not been written become one, and a pong answers all up to its number`() {
        var machine = Self.machine()
        #expect(machine.sendPing() == 1)
        #expect(machine.sendPing() == 2)
        #expect(machine.next(at: Self.at(0)) == .write(.ping(Self.pingBytes(2))))
        machine.receive(.pong(Self.pingBytes(2)), at: Self.at(1))
        #expect(machine.answeredPing == 2)
    }

    @Test(
        .rules("6455-5.5.3-3"),
        arguments: [
            Bytes(""), "x", [0, 0, 0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 1],
            [0, 0, 0, 0, 0, 0, 0, 0, 1],
        ])
    func `a pong that answers no ping of ours is ignored`(pong: Bytes) {
        var machine = Self.machine()
        _ = machine.sendPing()
        _ = Self.actions(&machine, at: 0)
        machine.receive(.pong(pong), at: Self.at(1))
        #expect(machine.answeredPing == 0)
        #expect(machine.isOpen)
    }

    @Test func `nothing is expected of the peer while it is not read`() {
        var machine = Self.machine(Self.times(ping: 30))
        _ = Self.actions(&machine, at: 30)
        machine.stopReading()
        #expect(Self.actions(&machine, at: 500) == [.wait(until: nil)])
        machine.resumeReading(at: Self.at(500))
        #expect(Self.actions(&machine, at: 500) == [.wait(until: Self.at(530))])
    }

    // MARK: - Closing

    private static let bye: WebSocketClosing = closing(.normal, "bye")

    private static func closing(_ code: WebSocketCloseCode, _ reason: String = "") -> WebSocketClosing {
        do throws(WebSocketError) { return try WebSocketClosing(code, reason: reason) } catch { return .silent }
    }

    @Test(.rules("6455-5.5.1-6", "6455-5.5.1-7")) func `we close, the peer answers, and then ends the stream`() {
        var machine = Self.machine()
        machine.close(Self.bye, at: Self.at(1))
        #expect(!machine.isOpen)
        #expect(Self.actions(&machine, at: 1) == [.write(.close(Self.bye)), .wait(until: Self.at(11))])
        machine.receive(.close(Self.bye.answer), at: Self.at(2))
        #expect(Self.actions(&machine, at: 2) == [.wait(until: Self.at(11))])
        machine.streamEnded()
        #expect(Self.actions(&machine, at: 3) == [.end(.closed(Self.bye, byPeer: false))])
    }

    @Test(.rules("6455-5.5.1-4", "6455-5.5.1-6"))
    func `the peer closes, we answer with its code, and it ends the stream`() {
        var machine = Self.machine()
        let theirs = Self.closing(.goingAway, "restart")
        machine.receive(.close(theirs), at: Self.at(1))
        #expect(!machine.isOpen)
        let answer = Self.closing(.goingAway)
        #expect(Self.actions(&machine, at: 1) == [.write(.close(answer)), .wait(until: Self.at(11))])
        machine.streamEnded()
        #expect(Self.actions(&machine, at: 2) == [.end(.closed(theirs, byPeer: true))])
    }

    @Test func `a close frame is answered though the peer has ended the stream, within the limit`() {
        var machine = Self.machine()
        machine.receive(.close(Self.bye), at: Self.at(1))
        machine.streamEnded()
        #expect(machine.outcome(at: Self.at(1)) == nil)
        let end = Action.end(.closed(Self.bye, byPeer: true))
        #expect(Self.actions(&machine, at: 1) == [.write(.close(Self.bye.answer)), end])
        machine = Self.machine()
        machine.receive(.close(Self.bye), at: Self.at(1))
        #expect(machine.next(at: Self.at(1)) == .write(.close(Self.bye.answer)))
        machine.streamEnded()
        #expect(machine.outcome(at: Self.at(10)) == nil)
        #expect(machine.outcome(at: Self.at(11)) == .closed(Self.bye, byPeer: true))
    }

    @Test(.rules("6455-5.5.1-8")) func `close frames that cross each other are a closing handshake`() {
        var machine = Self.machine()
        machine.close(Self.bye, at: Self.at(1))
        machine.receive(.close(Self.closing(.goingAway)), at: Self.at(2))
        #expect(Self.actions(&machine, at: 2) == [.write(.close(Self.bye)), .wait(until: Self.at(11))])
        machine.streamEnded()
        #expect(Self.actions(&machine, at: 2) == [.end(.closed(Self.bye, byPeer: false))])
    }

    @Test(.rules("6455-5.5.1-5")) func `an empty close frame is answered by an empty one`() {
        var machine = Self.machine()
        machine.receive(.close(.silent), at: Self.at(1))
        #expect(machine.next(at: Self.at(1)) == .write(.close(.silent)))
    }

    @Test(.rules("6455-5.5.1-3"))
    func `a pong and a ping that wait are written before our close frame, and none after it`() {
        var machine = Self.machine()
        machine.receive(.ping("a"), at: Self.at(1))
        _ = machine.sendPing()
        machine.close(Self.bye, at: Self.at(1))
        let written: [Action] = [.write(.pong("a")), .write(.ping(Self.pingBytes(1))), .write(.close(Self.bye))]
        #expect(Self.actions(&machine, at: 1) == written + [.wait(until: Self.at(11))])
        machine.receive(.ping("b"), at: Self.at(2))
        #expect(machine.sendPing() == nil)
        #expect(Self.actions(&machine, at: 2) == [.wait(until: Self.at(11))])
    }

    @Test func `a second close changes nothing`() {
        var machine = Self.machine()
        machine.close(Self.bye, at: Self.at(1))
        _ = Self.actions(&machine, at: 1)
        machine.close(Self.closing(.goingAway), at: Self.at(5))
        #expect(Self.actions(&machine, at: 5) == [.wait(until: Self.at(11))])
    }

    @Test func `a peer that does not answer our close frame in time has failed`() {
        var machine = Self.machine()
        machine.close(Self.bye, at: Self.at(1))
        _ = Self.actions(&machine, at: 1)
        #expect(machine.outcome(at: Self.at(10)) == nil)
        #expect(machine.outcome(at: Self.at(11)) == .failed(.noClose))
        #expect(Self.actions(&machine, at: 11) == [.end(.failed(.noClose))])
    }

    @Test(.rules("6455-5.5.1-7", "6455-7.1.1-1"))
    func `a peer that answered and does not end the stream in time was closed properly`() {
        var machine = Self.machine()
        machine.close(Self.bye, at: Self.at(1))
        machine.receive(.close(Self.bye.answer), at: Self.at(2))
        _ = Self.actions(&machine, at: 2)
        #expect(Self.actions(&machine, at: 11) == [.end(.closed(Self.bye, byPeer: false))])
    }

    @Test(arguments: [false, true])
    func `a stream that ends without the peer's close frame has failed`(haveClosed: Bool) {
        var machine = Self.machine()
        if haveClosed { machine.close(Self.bye, at: Self.at(1)) }
        machine.streamEnded()
        #expect(Self.actions(&machine, at: 2) == [.end(.failed(.endedWithoutClose))])
    }

    // MARK: - When nothing can be written

    @Test func `when writing fails, what the peer sent before is delivered, and its close frame is the end`() {
        var machine = Self.machine(Self.times(ping: 30))
        machine.receive(.ping("a"), at: Self.at(1))
        machine.writingFailed(at: Self.at(1))
        #expect(!machine.isOpen && machine.delivers && machine.sendPing() == nil)
        #expect(Self.actions(&machine, at: 1) == [.wait(until: Self.at(2))])
        machine.receive(.close(Self.bye), at: Self.at(1))
        #expect(machine.outcome(at: Self.at(1)) == .closed(Self.bye, byPeer: true))
    }

    @Test(arguments: [false, true])
    func `a peer that says nothing after a write has failed has not closed`(endsStream: Bool) {
        var machine = Self.machine()
        machine.writingFailed(at: Self.at(1))
        // A full backlog is read when there is room, however late.
        machine.stopReading()
        #expect(machine.deadline == nil)
        machine.resumeReading(at: Self.at(50))
        #expect(machine.deadline == Self.at(51))
        if endsStream { machine.streamEnded() }
        #expect(machine.outcome(at: Self.at(endsStream ? 50 : 51)) == .failed(.endedWithoutClose))
    }

    @Test func `closing after a write has failed writes nothing, and awaits what the peer has said`() {
        var machine = Self.machine()
        machine.writingFailed(at: Self.at(1))
        machine.close(Self.bye, at: Self.at(1))
        #expect(!machine.delivers)
        #expect(Self.actions(&machine, at: 1) == [.wait(until: Self.at(2))])
        let theirs = Self.closing(.goingAway)
        machine.receive(.close(theirs), at: Self.at(1))
        #expect(machine.outcome(at: Self.at(1)) == .closed(theirs, byPeer: true))
    }

    @Test func `a close frame that cannot be written does not make the peer's wait, nor does an error`() {
        var machine = Self.machine()
        machine.close(Self.bye, at: Self.at(1))
        _ = machine.next(at: Self.at(1))
        machine.writingFailed(at: Self.at(1))
        #expect(machine.deadline == Self.at(2))
        machine = Self.machine()
        machine.fail(.maskedFrame, at: Self.at(1))
        _ = machine.next(at: Self.at(1))
        machine.writingFailed(at: Self.at(1))
        #expect(machine.outcome(at: Self.at(1)) == .failed(.maskedFrame))
        machine = Self.machine()
        machine.writingFailed(at: Self.at(1))
        machine.fail(.maskedFrame, at: Self.at(1))
        #expect(machine.outcome(at: Self.at(1)) == .failed(.maskedFrame))
    }

    // MARK: - Errors

    @Test(.rules("6455-7.1.7-1"))
    func `after an error its code is sent, the outcome is known, and what comes is discarded`() {
        var machine = Self.machine()
        machine.receive(.ping("a"), at: Self.at(1))
        _ = machine.sendPing()
        machine.fail(.maskedFrame, at: Self.at(1))
        #expect(
            Self.actions(&machine, at: 1)
                == [.write(.close(Self.closing(.protocolError))), .discard(.failed(.maskedFrame))])
        machine.receive(.close(Self.bye), at: Self.at(1))
        machine.discarded(1 << 20)
        #expect(machine.discards && !machine.delivers && machine.outcome(at: Self.at(1)) == nil)
        machine.streamEnded()
        #expect(machine.outcome(at: Self.at(1)) == .failed(.maskedFrame))
    }

    @Test(.rules("6455-7.1.7-3"), arguments: [(10, 2.0), (1, 2), (0, 1)])
    func `what comes after an error is discarded for a second, or for the limit of closing if that is shorter`(
        limit: Int, end: Double
    ) {
        var machine = Self.machine(Self.times(close: limit))
        machine.fail(.maskedFrame, at: Self.at(1))
        if limit > 0 { #expect(Self.actions(&machine, at: 1).last == .discard(.failed(.maskedFrame))) }
        #expect(machine.deadline == Self.at(end))
        #expect(machine.outcome(at: Self.at(end)) == .failed(.maskedFrame))
    }

    @Test(.rules("6455-7.1.1-2")) func `only so many bytes are discarded`() {
        var machine = Self.machine()
        machine.fail(.maskedFrame, at: Self.at(1))
        _ = Self.actions(&machine, at: 1)
        machine.discarded(16 * 1024 * 1024 - 1)
        #expect(machine.outcome(at: Self.at(1)) == nil)
        machine.discarded(1)
        #expect(machine.outcome(at: Self.at(1)) == .failed(.maskedFrame))
    }

    @Test func `the limit of what is discarded holds also while the close frame cannot be written`() {
        var machine = Self.machine()
        machine.fail(.maskedFrame, at: Self.at(1))
        #expect(machine.next(at: Self.at(1)) == .write(.close(Self.closing(.protocolError))))
        machine.discarded(16 * 1024 * 1024)
        #expect(!machine.discards && machine.outcome(at: Self.at(1)) == nil)
        #expect(Self.actions(&machine, at: 2) == [.end(.failed(.maskedFrame))])
    }

    @Test func `after an error the end of the stream leaves time for the close frame that is being written`() {
        var machine = Self.machine()
        machine.fail(.maskedFrame, at: Self.at(1))
        #expect(machine.next(at: Self.at(1)) == .write(.close(Self.closing(.protocolError))))
        machine.streamEnded()
        #expect(!machine.discards && machine.outcome(at: Self.at(1)) == nil)
        #expect(Self.actions(&machine, at: 2) == [.end(.failed(.maskedFrame))])
    }

    @Test func `an error during the closing handshake does not prolong it`() {
        var machine = Self.machine()
        machine.close(Self.bye, at: Self.at(1))
        #expect(machine.next(at: Self.at(1)) == .write(.close(Self.bye)))
        machine.fail(.maskedFrame, at: Self.at(9))
        #expect(machine.deadline == Self.at(11))
        #expect(machine.outcome(at: Self.at(11)) == .failed(.maskedFrame))
    }

    @Test func `after an error that cannot be answered the connection ends at once`() {
        var machine = Self.machine()
        machine.fail(.endedWithoutClose, at: Self.at(1))
        #expect(Self.actions(&machine, at: 1) == [.end(.failed(.endedWithoutClose))])
    }

    @Test func `a close frame after an error that cannot be written in time is given up`() {
        var machine = Self.machine()
        machine.fail(.invalidText, at: Self.at(1))
        #expect(machine.next(at: Self.at(1)) == .write(.close(Self.closing(.invalidContent))))
        #expect(machine.deadline == Self.at(11))
        #expect(machine.outcome(at: Self.at(11)) == .failed(.invalidText))
    }

    @Test func `an error after our close frame ends the connection without a second one`() {
        var machine = Self.machine()
        machine.close(Self.bye, at: Self.at(1))
        _ = Self.actions(&machine, at: 1)
        machine.fail(.invalidText, at: Self.at(2))
        #expect(Self.actions(&machine, at: 2) == [.discard(.failed(.invalidText))])
    }

    @Test func `the first error counts, and none after both have said close`() {
        var machine = Self.machine()
        machine.fail(.invalidText, at: Self.at(1))
        machine.fail(.maskedFrame, at: Self.at(1))
        machine.streamEnded()
        #expect(
            Self.actions(&machine, at: 1)
                == [.write(.close(Self.closing(.invalidContent))), .end(.failed(.invalidText))])
        machine = Self.machine()
        machine.receive(.close(Self.bye), at: Self.at(1))
        machine.fail(.maskedFrame, at: Self.at(1))
        _ = Self.actions(&machine, at: 1)
        machine.streamEnded()
        #expect(Self.actions(&machine, at: 1) == [.end(.closed(Self.bye, byPeer: true))])
    }
}

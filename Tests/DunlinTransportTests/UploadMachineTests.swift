import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Upload machine` {
    enum Event: Sendable {
        case begin
        case wrote(Int)
        case wroteAll
        case complete
        case cut
        case reset
        case fail
        case leave
        case wait
        /// The wait that began then is asked about again.
        case waitAgain(Int64)
        case answer(HTTP.Status)
        case awaitEnd
        case stop
        case noteCut
    }

    private struct Broken: Error {}

    /// Each event, ten nanoseconds after the one before, and what the machine says: an action, or what a wait is for.
    struct Script: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [(Event, String)]
        /// The outcome, and whether the connection may serve another request.
        let end: String

        init(_ description: String, _ steps: [(Event, String)], _ end: String) {
            testDescription = description
            self.steps = steps
            self.end = end
        }
    }

    private static let sent: [(Event, String)] = [(.begin, "send"), (.wrote(5), ""), (.wait, "send since 30")]

    static let scripts = [
        Script(
            "sent, then answered",
            sent + [
                (.complete, "wake"), (.leave, "tell both"), (.wait, "firstByte since 40"), (.answer(200), ""),
                (.wait, "receive since 80"),
            ], "complete, again"),
        Script(
            "answered when it is complete, before it is over",
            sent + [(.complete, "wake"), (.answer(200), ""), (.wait, "receive since 60"), (.leave, "tell both")],
            "complete, again"),
        Script(
            "the end comes while nobody waits",
            [(.begin, "send"), (.complete, "none"), (.leave, "tell both"), (.wait, "firstByte since 20")],
            "complete, again"),
        Script(
            "answered early, read while there is more to send",
            sent + [
                (.answer(200), ""), (.wait, "send since 50"), (.complete, "wake"), (.waitAgain(50), "receive since 60"),
                (.wait, "receive since 80"), (.leave, "tell both"),
            ], "complete, again"),
        Script(
            "answered early, and all of the response before the end",
            sent + [(.answer(200), ""), (.awaitEnd, "wait"), (.complete, "wake"), (.awaitEnd, "go on")],
            "complete, not again"),
        Script(
            "all of the response came after the end",
            sent + [(.answer(200), ""), (.complete, "none"), (.awaitEnd, "go on"), (.leave, "tell both")],
            "complete, again"),
        Script(
            "the peer was gone before it had everything",
            sent + [(.cut, "none"), (.leave, "tell both"), (.wait, "send since 60")], "cut, not again"),
        Script("the peer reset the connection", sent + [(.reset, "none"), (.leave, "tell both")], "reset, not again"),
        Script(
            "the peer was gone while only the end was awaited",
            sent + [(.answer(200), ""), (.awaitEnd, "wait"), (.cut, "wake"), (.leave, "tell both")],
            "cut, not again"),
        Script(
            "the peer ended the connection after an early success",
            sent + [
                (.answer(200), ""), (.awaitEnd, "wait"), (.complete, "wake"), (.leave, "tell both"), (.noteCut, ""),
            ], "cut, not again"),
        Script("the producer fails", sent + [(.fail, "close"), (.leave, "tell both")], "failed, not again"),
        Script(
            "the producer fails while only the end is awaited",
            sent + [(.answer(200), ""), (.awaitEnd, "wait"), (.fail, "close"), (.leave, "tell both")],
            "failed, not again"),
        Script(
            "refused",
            sent + [
                (.answer(413), ""), (.stop, "cancel"), (.wait, "receive since 60"), (.fail, "none"),
                (.leave, "tell reader"),
            ], "cut, not again"),
        Script(
            "refused while the peer resets the connection",
            sent + [(.answer(413), ""), (.stop, "cancel"), (.reset, "none"), (.leave, "tell reader")],
            "reset, not again"),
        Script(
            "stopped when only the producer's end is missing",
            sent + [(.wroteAll, ""), (.stop, "cancel"), (.fail, "none"), (.leave, "tell reader")],
            "complete, not again"),
        Script(
            "stopped between its end and its last step",
            sent + [(.complete, "wake"), (.stop, "cancel"), (.leave, "tell reader")], "complete, not again"),
        Script(
            "stopped after it was over", sent + [(.complete, "wake"), (.leave, "tell both"), (.stop, "none")],
            "complete, not again"),
        Script(
            "stopped twice",
            sent + [(.stop, "cancel"), (.stop, "none"), (.fail, "none"), (.leave, "tell reader"), (.stop, "none")],
            "cut, not again"),
        Script(
            "stopped before it has begun",
            [(.stop, "cancel"), (.begin, "none"), (.complete, "none"), (.leave, "tell reader")], "cut, not again"),
        Script(
            "no end is taken twice",
            sent + [(.cut, "none"), (.complete, "none"), (.fail, "none"), (.leave, "tell both"), (.leave, "none")],
            "cut, not again"),
    ]

    @Test(arguments: scripts)
    func `the upload machine says what each event is followed by`(script: Script) {
        var machine = UploadMachine(after: 0)
        for (number, (event, expected)) in script.steps.enumerated() {
            let now = HTTP.Instant(nanoseconds: Int64(number + 1) * 10)
            #expect(Self.tell(&machine, event, at: now) == expected, "step \(number)")
        }
        #expect(Self.end(of: machine) == script.end)
    }

    @Test(arguments: [0, 30], [true, false])
    func `the upload machine says that nothing was sent only if no body will ever be taken`(
        ahead: Int, isStoppedFirst: Bool
    ) {
        var machine = UploadMachine(after: ahead)
        #expect(machine.mayHaveSent == (ahead > 0) && !machine.mayWrite)
        if isStoppedFirst {
            #expect(machine.stop() == .cancel)
            #expect(machine.mayHaveSent == (ahead > 0))
        }
        #expect(machine.begin() == (isStoppedFirst ? .none : .send))
        #expect(machine.mayHaveSent == (ahead > 0 || !isStoppedFirst))
        if !isStoppedFirst { #expect(machine.stop() == .cancel) }
        #expect(!machine.mayWrite)
        #expect(machine.mayHaveSent == (ahead > 0 || !isStoppedFirst))
    }

    @Test func `the producer keeps the sender waiting but while that writes, and as it did when it was stopped`() {
        var machine = UploadMachine(after: 0)
        #expect(!machine.lacksBody && !machine.mayBeginWriting(), "it has not begun")
        _ = machine.begin()
        #expect(machine.lacksBody)
        for stopsWriting in [true, false] {
            var stopped = machine
            #expect(stopped.mayBeginWriting() && !stopped.lacksBody)
            if !stopsWriting { stopped.wrote(upTo: 5) }
            #expect(stopped.lacksBody == !stopsWriting)
            _ = stopped.stop()
            stopped.wrote(upTo: 5)
            #expect(stopped.lacksBody == !stopsWriting && !stopped.mayBeginWriting())
            _ = stopped.end(.failed(Broken()), at: HTTP.Instant(nanoseconds: 1))
            #expect(stopped.lacksBody == !stopsWriting)
        }
        _ = machine.end(.complete, at: HTTP.Instant(nanoseconds: 1))
        #expect(!machine.lacksBody)
    }

    /// How an early and a late response may end, by how the connection does.
    @Test(arguments: [true, false], [true, false])
    func `a response is settled once its request is, unless the connection may yet tell otherwise`(
        isEarly: Bool, endsConnection: Bool
    ) {
        var machine = UploadMachine(after: 0)
        _ = machine.begin()
        if isEarly { machine.answered(ResponseHead(status: .ok)) }
        #expect(!machine.isSettled(endingConnection: endsConnection))
        _ = machine.end(.complete, at: HTTP.Instant(nanoseconds: 1))
        if !isEarly { machine.answered(ResponseHead(status: .ok)) }
        #expect(!machine.isSettled(endingConnection: endsConnection), "it may still act on the connection")
        _ = machine.leave()
        #expect(machine.isSettled(endingConnection: endsConnection) == !(isEarly && endsConnection))
        _ = machine.stop()
        #expect(machine.isSettled(endingConnection: endsConnection))
    }

    private static func tell(_ machine: inout UploadMachine, _ event: Event, at now: HTTP.Instant) -> String {
        switch event {
        case .begin: return machine.begin().text
        case .wrote(let count): machine.wrote(upTo: count)
        case .wroteAll: machine.wroteAll()
        case .complete: return machine.end(.complete, at: now).text
        case .cut: return machine.end(.cut(byReset: false), at: now).text
        case .reset: return machine.end(.cut(byReset: true), at: now).text
        case .fail: return machine.end(.failed(Broken()), at: now).text
        case .leave: return machine.leave().text
        case .wait: return text(machine.wait(from: now))
        case .waitAgain(let start): return text(machine.wait(from: HTTP.Instant(nanoseconds: start)))
        case .answer(let status): machine.answered(ResponseHead(status: status))
        case .awaitEnd: return machine.awaitEnd() ? "wait" : "go on"
        case .stop: return machine.stop().text
        case .noteCut: machine.noteCut()
        }
        return ""
    }

    private static func text(_ wait: UploadMachine.Wait) -> String {
        "\(wait.phase) since \(wait.since.nanoseconds)"
    }

    private static func end(of machine: UploadMachine) -> String {
        let outcome =
            switch machine.outcome {
            case .complete?: "complete"
            case .cut(let byReset)?: byReset ? "reset" : "cut"
            case .failed?: "failed"
            case nil: "underway"
            }
        return outcome + (machine.mayReuse ? ", again" : ", not again")
    }
}

extension UploadMachine.Action {
    var text: String {
        switch self {
        case .none: "none"
        case .send: "send"
        case .wakeReader: "wake"
        case .close: "close"
        case .cancel: "cancel"
        case .tellEnd(let scopeToo): scopeToo ? "tell both" : "tell reader"
        }
    }
}

import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `The two directions of an upgraded connection` {
    @Test func `each direction has one user at a time, and neither is in the way of the other`() {
        var machine = DuplexMachine()
        #expect(machine.beginReading() == .proceed)
        #expect(machine.beginReading() == .busy)
        #expect(machine.beginWriting() == .proceed)
        #expect(machine.beginWriting() == .busy)
        #expect(machine.endReading() == .none)
        #expect(machine.beginReading() == .proceed)
        #expect(machine.endWriting() == .none)
        #expect(machine.beginWriting() == .proceed)
    }

    @Test(arguments: [true, false])
    func `the connection is closed once both directions are over, whichever is the first`(readingIsFirst: Bool) {
        var machine = DuplexMachine()
        #expect(machine.beginReading() == .proceed && machine.beginWriting() == .proceed)
        let first = readingIsFirst ? machine.endReading(isOver: true) : machine.endWriting(isOver: true)
        #expect(first == .none && !machine.isClosed)
        #expect((readingIsFirst ? machine.beginReading() : machine.beginWriting()) == .over)
        let last = readingIsFirst ? machine.endWriting(isOver: true) : machine.endReading(isOver: true)
        #expect(last == .close && machine.isClosed)
        #expect(machine.beginReading() == .over && machine.beginWriting() == .over)
        #expect(machine.close() == .none)
    }

    @Test func `a close ends what is in use and what is not, and is done once`() {
        var machine = DuplexMachine()
        #expect(machine.beginReading() == .proceed)
        #expect(machine.close() == .close && machine.close() == .none)
        #expect(machine.beginReading() == .closed && machine.beginWriting() == .closed)
        #expect(machine.endReading() == .none)
        #expect(machine.beginReading() == .closed)
    }

    @Test(arguments: [true, false])
    func `when writing fails, reading goes on to its end, and then the connection is closed`(readingIsOver: Bool) {
        var machine = DuplexMachine()
        if readingIsOver { #expect(machine.beginReading() == .proceed && machine.endReading(isOver: true) == .none) }
        #expect(machine.beginWriting() == .proceed)
        #expect(machine.failWriting() == (readingIsOver ? .close : .none))
        #expect(machine.beginWriting() == .closed && machine.isClosed == readingIsOver)
        if readingIsOver { return }
        #expect(machine.beginReading() == .proceed && machine.endReading() == .none)
        #expect(machine.beginReading() == .proceed && machine.endReading(isOver: true) == .close)
        #expect(machine.failWriting() == .none)
    }

    @Test func `a direction that was over before the close stays over`() {
        var machine = DuplexMachine()
        #expect(machine.beginReading() == .proceed && machine.endReading(isOver: true) == .none)
        #expect(machine.close() == .close)
        #expect(machine.beginReading() == .over && machine.beginWriting() == .closed)
    }
}

import Dunlin
import Testing

@testable import DunlinTransfers

@Suite struct `The transfers of a journal` {
    typealias List = TransferList<Int, String>

    static func list(_ ids: String...) -> List {
        var list = List()
        for (number, id) in ids.enumerated() { _ = list.add(number, id) }
        return list
    }

    @Test func `a journal is drained when its last transfer ends, and its waiting callers are told`() {
        var list = Self.list("a", "b")
        #expect(list.transfers == [0, 1] && list.has("a") && !list.has("c"))
        _ = list.wait("w")
        var (isDrained, waiters) = list.remove("a", isForgotten: true)
        #expect(!isDrained && waiters.isEmpty)
        (isDrained, waiters) = list.remove("b", isForgotten: true)
        #expect(isDrained && waiters == ["w"])
        let number = list.wait("v")
        #expect(number == nil)
        (isDrained, waiters) = list.remove("b", isForgotten: true)
        #expect(!isDrained && waiters.isEmpty)
    }

    @Test func `a journal is not drained by a transfer that is left to others`() {
        var list = Self.list("a")
        _ = list.wait("w")
        let (isDrained, waiters) = list.remove("a", isForgotten: false)
        #expect(!isDrained && waiters == ["w"])
    }

    @Test func `a closed journal accepts no transfer and is not drained when its last one ends`() {
        var list = Self.list("a", "b")
        let closed = list.close()
        #expect(closed == [0, 1])
        let takesMore = list.add(2, "c")
        #expect(!takesMore)
        _ = list.remove("a", isForgotten: true)
        let (isDrained, _) = list.remove("b", isForgotten: true)
        #expect(!isDrained)
    }

    @Test func `a caller that no longer waits is not told that the journal is drained`() throws {
        var list = Self.list("a")
        let number = list.wait("w")
        list.leave(try #require(number))
        let (_, waiters) = list.remove("a", isForgotten: true)
        #expect(waiters.isEmpty)
    }

    @Test func `a journal keeps one trouble a file, the newest`() {
        var list = List()
        for (path, reason) in [("x", "old"), ("y", "own"), ("x", "new")] {
            list.note(HTTPSession.JournalIssue(path: path, error: JournalEntry.Damage(reason)))
        }
        #expect(list.issues.map(\.description) == ["y: own", "x: new"])
    }
}

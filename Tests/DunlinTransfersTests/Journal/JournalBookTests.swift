import Dunlin
import Testing

@testable import DunlinTransfers

@Suite struct `The book of a journal` {
    typealias Book = JournalBook<Int, String>

    static func book(_ ids: String...) -> Book {
        var book = Book()
        for (number, id) in ids.enumerated() { _ = book.add(number, id) }
        return book
    }

    @Test func `a journal is drained when its last transfer ends, and its waiting callers are told`() {
        var book = Self.book("a", "b")
        #expect(book.transfers == [0, 1] && book.has("a") && !book.has("c"))
        _ = book.wait("w")
        var (isDrained, waiters) = book.remove("a", isForgotten: true)
        #expect(!isDrained && waiters.isEmpty)
        (isDrained, waiters) = book.remove("b", isForgotten: true)
        #expect(isDrained && waiters == ["w"])
        let number = book.wait("v")
        #expect(number == nil)
        (isDrained, waiters) = book.remove("b", isForgotten: true)
        #expect(!isDrained && waiters.isEmpty)
    }

    @Test func `a journal is not drained by a transfer that is left to others`() {
        var book = Self.book("a")
        _ = book.wait("w")
        let (isDrained, waiters) = book.remove("a", isForgotten: false)
        #expect(!isDrained && waiters == ["w"])
    }

    @Test func `a closed journal accepts no transfer and is not drained when its last one ends`() {
        var book = Self.book("a", "b")
        let closed = book.close()
        #expect(closed == [0, 1])
        let takesMore = book.add(2, "c")
        #expect(!takesMore)
        _ = book.remove("a", isForgotten: true)
        let (isDrained, _) = book.remove("b", isForgotten: true)
        #expect(!isDrained)
    }

    @Test func `a caller that no longer waits is not told that the journal is drained`() throws {
        var book = Self.book("a")
        let number = book.wait("w")
        book.leave(try #require(number))
        let (_, waiters) = book.remove("a", isForgotten: true)
        #expect(waiters.isEmpty)
    }

    @Test func `a journal keeps one trouble a file, the newest`() {
        var book = Book()
        for (path, reason) in [("x", "old"), ("y", "own"), ("x", "new")] {
            book.note(HTTPSession.JournalIssue(path: path, error: JournalEntry.Damage(reason)))
        }
        #expect(book.issues.map(\.description) == ["y: own", "x: new"])
    }
}

import Dunlin
import Testing

@testable import DunlinImages

@Suite struct `The body of an image` {
    @Test(arguments: [(["abc"], "abc"), (["abc", "de", "f"], "abcdef"), ([], ""), (["", "a", "", "b"], "ab")])
    func `a body is its pieces, one after the other`(pieces: [String], whole: String) {
        var body = ImageBody(expecting: nil)
        for piece in pieces { body.append(Bytes(piece)) }
        #expect(String(body.bytes) == whole)
        #expect(body.count == whole.utf8.count)
    }
}

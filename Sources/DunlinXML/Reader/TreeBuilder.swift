internal import DunlinTypes

/// Builds a tree from events. Text in several pieces is collected before it becomes a node, so that each byte is copied
/// only once.
struct TreeBuilder {
    /// The root; nil until it has ended.
    private(set) var root: XML.Element?
    /// The number of bytes of text that became nodes.
    private(set) var copied = 0
    private var open: [XML.Element] = []
    private var text = ""
    /// The marks with which the text before ended, whatever stands between.
    private var marks = ""
    /// Whether texts that are joined have more marks in a row than one may have.
    private(set) var hasTooManyMarks = false

    mutating func take(_ event: XML.Event) {
        switch event {
        case .start(let name, let attributes):
            endText()
            open.append(XML.Element(name, attributes: attributes))
        case .end:
            endText()
            let element = open.removeLast()
            if open.isEmpty { root = element } else { append(.element(element)) }
        case .text(let piece):
            noteMarks(piece)
            text += piece
        case .comment, .instruction: break
        }
    }

    private mutating func noteMarks(_ piece: String) {
        let isContinued = piece.unicodeScalars.first.map(MarkRun.isMark) ?? false
        let joined = isContinued ? marks + piece : piece
        if isContinued, MarkRun.isTooLong(in: joined.utf8) { hasTooManyMarks = true }
        marks = String(String.UnicodeScalarView(joined.unicodeScalars.reversed().prefix(while: MarkRun.isMark)))
    }

    private mutating func endText() {
        if text.isEmpty { return }
        copied += text.utf8.count
        append(.text(text))
        text = ""
    }

    private mutating func append(_ node: XML.Node) {
        open[open.count - 1].children.append(node)
    }
}

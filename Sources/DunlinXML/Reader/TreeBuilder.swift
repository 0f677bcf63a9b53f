/// Builds a tree from events. Text in several pieces is collected before it becomes a node, so that each byte is copied
/// only once.
struct TreeBuilder {
    /// The root; nil until it has ended.
    private(set) var root: XML.Element?
    /// The number of bytes of text that became nodes.
    private(set) var copied = 0
    private var open: [XML.Element] = []
    private var text = ""

    mutating func take(_ event: XML.Event) {
        switch event {
        case .start(let name, let attributes):
            endText()
            open.append(XML.Element(name, attributes: attributes))
        case .end:
            endText()
            let element = open.removeLast()
            if open.isEmpty { root = element } else { append(.element(element)) }
        case .text(let piece): text += piece
        case .comment, .instruction: break
        }
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

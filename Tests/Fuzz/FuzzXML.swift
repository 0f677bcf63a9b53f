import Dunlin
import DunlinXML

/// Documents: whatever comes, it is refused, or its elements are properly within each other, and the tree says the same
/// when it is written and read again.
enum FuzzXML {
    static func violation(of input: [UInt8]) -> String? {
        do throws(XML.Error) {
            var reader = try XML.Reader(Bytes(input))
            var open: [XML.Name] = []
            while let event = try reader.next() {
                switch event {
                case .start(let name, let attributes):
                    if Set(attributes.map(\.name)).count != attributes.count { return "an attribute twice" }
                    open.append(name)
                case .end(let name):
                    if open.popLast() != name { return "an end without its start" }
                case .text(let text):
                    if open.isEmpty || text.isEmpty { return "text outside the root, or none" }
                case .comment, .instruction: break
                }
            }
            if !open.isEmpty { return "a document that ends within an element" }
            return violation(of: try XML.Document(Bytes(input)))
        } catch {
            return error.line < 1 || error.column < 1 ? "an error outside the document" : nil
        }
    }

    private static func violation(of document: XML.Document) -> String? {
        do throws(XML.Error) {
            let again = try XML.Document(Bytes(written(document.root)))
            return again == document ? nil : "another document when it is read again"
        } catch {
            return "a document that cannot be read again: \(error)"
        }
    }

    private static func written(_ element: XML.Element) -> String {
        var tag = "<" + element.name.local + " xmlns=\"\(escaped(element.name.namespace ?? ""))\""
        for (index, attribute) in element.attributes.enumerated() {
            if attribute.name.namespace == "http://www.w3.org/XML/1998/namespace" {
                tag += " xml:\(attribute.name.local)=\"\(escaped(attribute.value))\""
            } else if let namespace = attribute.name.namespace {
                tag += " xmlns:n\(index)=\"\(escaped(namespace))\" n\(index):"
                tag += "\(attribute.name.local)=\"\(escaped(attribute.value))\""
            } else {
                tag += " \(attribute.name.local)=\"\(escaped(attribute.value))\""
            }
        }
        if element.name.namespace == "http://www.w3.org/XML/1998/namespace" {
            tag = tag.replacing("<" + element.name.local + " xmlns=\"\(element.name.namespace ?? "")\"", with: "")
            return "<xml:\(element.name.local)\(tag)>" + content(element) + "</xml:\(element.name.local)>"
        }
        return tag + ">" + content(element) + "</\(element.name.local)>"
    }

    private static func content(_ element: XML.Element) -> String {
        element.children.map { child in
            switch child {
            case .text(let text): escaped(text)
            case .element(let element): written(element)
            }
        }.joined()
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "<", ">", "&", "\"", "\r", "\n", "\t": "&#\(scalar.value);"
            default: String(scalar)
            }
        }.joined()
    }
}

import Dunlin
import FoundationEssentials

/// Property lists in either form: whatever comes, it is refused, or it holds no more values than it has bytes and no
/// more text and data than was promised; and in XML it is the same once it is written by Foundation and read again.
enum FuzzPropertyLists {
    static func violation(of input: [UInt8]) -> String? {
        do {
            let list = try read(Node.self, Bytes(input))
            if list.count > input.count { return "more values than bytes" }
            if list.content > max(1 << 20, 16 * input.count) { return "more content than was promised" }
            if list.depth > 513 { return "values nested too deep" }
        } catch {
            if !(error is NetworkError || error is DecodingError) { return "failed with \(error)" }
        }
        return textViolation(input)
    }

    /// Text that comes through is what went in, whatever is around it.
    private static func textViolation(_ input: [UInt8]) -> String? {
        guard let text = String(validating: input, as: UTF8.self), !text.contains("\0") else { return nil }
        let escaped = replacing([("&", "&amp;"), ("<", "&lt;")], in: text)
        let section = replacing([(">", "]]><![CDATA[>")], in: text)
        for form in [escaped, "<!--x-->\(escaped)<!-->-->", "<![CDATA[\(section)]]>"] {
            do {
                let found = try read([String].self, Bytes("<plist><array><string>\(form)</string></array></plist>"))
                if found.count != 1 || !found[0].utf8.elementsEqual(text.utf8) { return "another text" }
            } catch {
                return "a text refused: \(error)"
            }
        }
        return nil
    }

    /// By scalars: a `<` with a mark on it is another character, and markup all the same.
    private static func replacing(_ pairs: [(scalar: Unicode.Scalar, text: String)], in text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if let pair = pairs.first(where: { $0.scalar == scalar }) {
                result += pair.text
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func read<Value: Decodable>(_ type: Value.Type, _ body: Bytes) throws -> Value {
        let response = HTTP.WholeResponse(
            head: ResponseHead(version: .http11, status: 200, fields: [:]), body: body)
        // An empty body is no content, which a list may not be.
        if body.isEmpty { throw NetworkError(.noContent, "empty") }
        return try PropertyListSerializer(type).serialize(response)
    }
}

/// Any property list: how many values it has, how many bytes they bring, and how deep they lie.
private struct Node: Decodable {
    private(set) var count = 1
    private(set) var content = 0
    private(set) var depth = 1

    init(from decoder: any Decoder) throws {
        do {
            let container = try decoder.container(keyedBy: AnyKey.self)
            for key in container.allKeys {
                content += key.stringValue.utf8.count
                add(try container.decode(Node.self, forKey: key))
            }
        } catch DecodingError.typeMismatch {
            try readElements(decoder)
        }
    }

    private mutating func readElements(_ decoder: any Decoder) throws {
        do {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd { add(try container.decode(Node.self)) }
        } catch DecodingError.typeMismatch {
            try readLeaf(try decoder.singleValueContainer())
        }
    }

    private mutating func readLeaf(_ container: any SingleValueDecodingContainer) throws {
        do {
            content = try container.decode(String.self).utf8.count
        } catch DecodingError.typeMismatch {
            do {
                content = try container.decode(Data.self).count
            } catch DecodingError.typeMismatch {
                // A number, a date or a truth.
            }
        }
    }

    private mutating func add(_ node: Node) {
        count += node.count
        content += node.content
        depth = max(depth, node.depth + 1)
    }
}

import Dunlin
import FoundationEssentials

/// Text in any charset and property lists: whatever comes, it is refused or read, and reading a list never makes more
/// of it than it has bytes.
///
/// The input is a Content-Type field and a body, parted by a line end.
enum FuzzContent {
    static func violation(of input: [UInt8]) -> String? {
        let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let type = String(decoding: parts[0], as: UTF8.self)
        let body = Bytes(parts[1])
        let response = HTTP.WholeResponse(
            head: ResponseHead(version: .http11, status: 200, fields: ["Content-Type": type]), body: body)
        do {
            let text = try StringSerializer().serialize(response)
            if text.utf8.count > 4 * body.count + 4 { return "text that grew" }
        } catch {
            if !(error is NetworkError) { return "text failed with \(error)" }
        }
        do {
            let list = try PropertyListSerializer(Node.self).serialize(response)
            if list.count > body.count { return "a list with more in it than it has bytes" }
        } catch {
            if !(error is NetworkError || error is DecodingError) { return "a list failed with \(error)" }
        }
        return nil
    }
}

/// Any property list, counted.
private struct Node: Decodable {
    let count: Int

    init(from decoder: any Decoder) throws {
        var count = 1
        do {
            let container = try decoder.container(keyedBy: AnyKey.self)
            for key in container.allKeys { count += try container.decode(Node.self, forKey: key).count }
        } catch DecodingError.typeMismatch {
            do {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd { count += try container.decode(Node.self).count }
            } catch DecodingError.typeMismatch {
                // A leaf.
            }
        }
        self.count = count
    }
}

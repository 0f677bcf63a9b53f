import Dunlin

@testable import DunlinContent

/// Responses that nobody fetched.
enum Replies {
    static func made(
        _ body: Bytes = "{\"x\":1}", _ status: HTTP.Status = 200, type: String? = nil
    ) -> HTTP.WholeResponse {
        let fields: Fields = type.map { ["Content-Type": $0] } ?? [:]
        return HTTP.WholeResponse(
            head: ResponseHead(version: .http11, status: status, fields: fields), body: body)
    }

    /// What `work` fails with, if it does.
    static func failure(_ work: () throws -> Void) -> NetworkError? {
        do {
            try work()
            return nil
        } catch {
            return error as? NetworkError
        }
    }
}

enum CharsetSamples {
    /// A text in every form of Unicode, with the name of each.
    static func unicode(_ text: String) -> [(Bytes, String)] {
        let units16 = Array(text.utf16)
        let units32 = text.unicodeScalars.map(\.value)
        return [
            (Bytes(text), "utf-8"), (Bytes([0xEF, 0xBB, 0xBF] + Array(text.utf8)), "utf-8"),
            (bytes(units16, isBig: true), "utf-16be"), (bytes(units16, isBig: false), "utf-16le"),
            (bytes([0xFEFF] + units16, isBig: true), "utf-16"), (bytes([0xFEFF] + units16, isBig: false), "utf-16"),
            (bytes(units32, isBig: true), "utf-32be"), (bytes(units32, isBig: false), "utf-32le"),
        ]
    }

    private static func bytes<Unit: FixedWidthInteger>(_ units: [Unit], isBig: Bool) -> Bytes {
        Bytes(units.flatMap { unit in withUnsafeBytes(of: isBig ? unit.bigEndian : unit.littleEndian, Array.init) })
    }
}

public import Dunlin
internal import DunlinReactor
internal import FoundationEssentials

extension HAR {
    /// Why a file is no HTTP archive that can be used.
    public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        /// The file; nil for bytes.
        public var path: String?
        /// The line with the problem, from 1; nil if it is of no line.
        public var line: Int?
        public var reason: String

        public init(path: String? = nil, line: Int? = nil, reason: String) {
            (self.path, self.line, self.reason) = (path, line, reason)
        }

        public var description: String {
            [path, line.map { "line \($0)" }, reason].compactMap(\.self).joined(separator: ": ")
        }
    }

    /// The longest file that is read: its bytes and its entries are in memory at the same time.
    public static let longestFile = 1 << 30

    /// Reads a file of this or another program. A torn end, as a kill leaves it, is left out (`wasTorn`).
    public init(contentsOf path: String) throws(Problem) {
        let bytes: Bytes
        do {
            let file = try OpenFile(path)
            guard file.length <= Self.longestFile else {
                throw Problem(
                    path: path, reason: "it has \(file.length) bytes, and at most \(Self.longestFile) are read")
            }
            bytes = Bytes(try file.read(at: 0, upTo: file.length))
        } catch let problem as Problem {
            throw problem
        } catch let error as Errno where error.meansNoFile {
            throw Problem(path: path, reason: "it is no regular file; write what a pipe brings to one first")
        } catch {
            throw Problem(path: path, reason: "it cannot be read: \(error)")
        }
        do throws(Problem) {
            try self.init(bytes)
        } catch {
            throw Problem(path: path, line: error.line, reason: error.reason)
        }
    }

    /// Reads the text of a file.
    public init(_ text: Bytes) throws(Problem) {
        do {
            self = try Self.decode(text)
        } catch DecodingError.dataCorrupted(let context) where context.underlyingError is HTTP.JSON.SyntaxError {
            let error = context.underlyingError as? HTTP.JSON.SyntaxError
            let problem = Problem(line: error?.line, reason: error.map { "\($0)" } ?? context.debugDescription)
            guard let error, let whole = TornArchive.wholePart(of: text, after: error) else { throw problem }
            do { self = try Self.decode(whole) } catch { throw problem }
            wasTorn = true
        } catch {
            throw Problem(reason: "it is no HTTP archive: \(error)")
        }
    }

    private static func decode(_ text: Bytes) throws -> HAR {
        let log = try json.decode(File.self, from: text).log
        var har = HAR(log.entries, creator: log.creator ?? Creator(name: "", version: ""))
        (har.lost, har.secretNames) = (log.lost, log.secretNames)
        return har
    }

    /// The text of the file.
    public var text: Bytes {
        get throws {
            let log = Log(creator: creator, secretNames: secretNames, entries: entries, lost: lost)
            return try Self.json.encode(File(log: log))
        }
    }

    static let json: HTTP.JSON = {
        var json = HTTP.JSON.standard
        json.dates = .iso8601WithFractions
        // A million entries.
        json.limits.values = 1 << 28
        return json
    }()

    private struct File: Codable {
        let log: Log
    }

    private struct Log: Codable {
        var version: String? = "1.2"
        var creator: Creator?
        var secretNames: [String]?
        /// Firefox opens no archive without this member.
        var pages: DynamicValue? = []
        var entries: [Entry]
        var lost: Int?

        /// In the order in which they are written. Only `_lost` follows the entries, so that more can be appended.
        enum CodingKeys: String, CodingKey {
            case version, creator
            case secretNames = "_secretNames"
            case pages, entries
            case lost = "_lost"
        }
    }
}

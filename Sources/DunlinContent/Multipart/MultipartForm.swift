internal import DunlinReactor
internal import DunlinWire

/// A form of parts: the text around them, and the length of the whole.
struct MultipartForm: Sendable {
    let parts: [MultipartPart]
    let runs: [MultipartMachine.Run]
    /// The length of each part's file when it was checked, by index.
    let fileLengths: [Int: Int]
    /// The length of the form; nil if a part does not know its own.
    let length: Int?

    /// Creates a form and checks each file once. Throws for a part that cannot be sent.
    init(_ parts: [MultipartPart], boundary: String) throws {
        var runs = Runs()
        for (index, part) in parts.enumerated() {
            runs.append("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n")
            try runs.append(part.fields, of: part)
            try runs.append(part, at: index)
        }
        runs.append("\r\n--\(boundary)--\r\n")
        runs.flush()
        self.parts = parts
        self.runs = runs.runs
        fileLengths = runs.fileLengths
        length = runs.length
    }

    /// Whether the form can be sent any number of times.
    var isReplayable: Bool {
        parts.allSatisfy { part in
            if case .stream(_, let isReplayable, _) = part.source { isReplayable } else { true }
        }
    }

    /// The whole form, if it is in memory and small enough to be copied.
    var bytes: Bytes? {
        guard runs.count == 1, case .bytes(let bytes) = runs[0] else { return nil }
        return bytes
    }

    /// Joins small runs of bytes and leaves large ones where they are.
    private struct Runs {
        private(set) var runs: [MultipartMachine.Run] = []
        private(set) var length: Int? = 0
        private(set) var fileLengths: [Int: Int] = [:]
        private var joined: [UInt8] = []

        private static let small = 64 * 1024

        mutating func append(_ text: String) {
            joined.append(contentsOf: text.utf8)
            grow(by: text.utf8.count)
        }

        mutating func append(_ fields: Fields, of part: MultipartPart) throws {
            do throws(WireError) {
                _ = try RequestEncoder.prepare(fields)
            } catch {
                throw NetworkError(
                    .invalidPart, "a field of the part \"\(VisibleText.of(part.name, upTo: 100))\" cannot be sent",
                    underlying: error)
            }
            for field in fields { append("\(field.name): \(field.value)\r\n") }
            append("\r\n")
        }

        mutating func append(_ part: MultipartPart, at index: Int) throws {
            switch part.source {
            case .refused(let error): throw error
            case .bytes(let bytes): append(bytes)
            case .file(let path):
                let length = try Self.length(of: path, part)
                fileLengths[index] = length
                append(.part(index, length: length))
            case .stream(let length, _, _):
                if let length, length < 0 {
                    throw NetworkError(.invalidPart, "the part \"\(part.name)\" has the negative length \(length)")
                }
                append(.part(index, length: length))
            }
        }

        private mutating func append(_ bytes: Bytes) {
            grow(by: bytes.count)
            if bytes.count <= Self.small {
                bytes.withUnsafeBytes { joined.append(contentsOf: $0) }
            } else {
                flush()
                runs.append(.bytes(bytes))
            }
        }

        private mutating func append(_ run: MultipartMachine.Run) {
            flush()
            runs.append(run)
            if case .part(_, let own) = run { grow(by: own) }
        }

        /// Adds to the length; a length that overflows becomes nil.
        private mutating func grow(by more: Int?) {
            let sum = more.flatMap { length?.addingReportingOverflow($0) }
            length = sum.flatMap { $0.overflow ? nil : $0.partialValue }
        }

        mutating func flush() {
            if joined.isEmpty { return }
            runs.append(.bytes(Bytes(joined)))
            joined = []
        }

        private static func length(of path: String, _ part: MultipartPart) throws -> Int {
            do throws(Errno) {
                return try OpenFile(path).length
            } catch {
                let reason = "File URL not reachable."
                throw NetworkError(
                    .invalidPart, reason,
                    underlying: NetworkError(
                        .fileUnreadable, "the file of the part \"\(part.name)\", \(path), cannot be read",
                        underlying: error))
            }
        }
    }
}

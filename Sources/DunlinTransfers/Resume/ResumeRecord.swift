internal import DunlinSecure

/// The file beside a part file that records the part file's contents.
///
/// It consists of a constant head and two slots. Each slot holds the pieces that have arrived and a growing number; the
/// slot with the higher number counts. Head and slots each end with a checksum.
///
/// Rules for writing it, so that a process killed at any moment leaves a correct record:
/// 1. A piece is in the part file before a slot lists it: first the bytes, then `advance`, then one write of the slot
///    it gives, over the older of the two. A slot that was not written completely does not count, and the other is
///    correct.
/// 2. If the part file is to hold less than a record lists, the record comes first: when a download starts over, a new
///    record is written under another name and renamed over the old one, and the part file is cut or written to only
///    then.
/// 3. The part file is removed only after its record, unless it becomes the download's result.
///
/// A loss of power may break this order, which the pieces' checksums reveal: a download that resumes reads the part
/// file up to where it goes on. The record names the part file by its name in the same folder, so that both may be
/// moved.
///
/// It must not know files or clocks.
struct ResumeRecord: Sendable, Equatable {
    /// The data of the download. Here `partPath` is only the part file's name.
    private(set) var data: ResumeData
    /// The number of pieces for which a slot has room.
    let capacity: Int
    /// How often a slot has been written.
    private(set) var sequence: UInt64
    private let headLength: Int
    private let headCheck: UInt64

    /// A slot to be written.
    struct Update: Equatable {
        let offset: Int
        let bytes: [UInt8]
    }

    /// The greatest length of a record.
    static let longest = 1 << 20
    static let capacities = 1...1024
    /// The number of pieces for a file that several exchanges bring.
    static let manyPieces = 256

    /// Creates a record in its first state, to be written as a whole.
    init(_ data: ResumeData, capacity: Int = 1) {
        let capacity = min(max(capacity, Self.capacities.lowerBound), Self.capacities.upperBound)
        var own = data
        own.partPath = Self.name(of: data.partPath)
        let head = Self.head(of: own, capacity)
        headLength = head.count
        headCheck = Self.check(head)
        self.capacity = capacity
        sequence = 1
        self.data = own.with(pieces: data.pieces.prefix(capacity))
    }

    /// The bytes of the whole file as it is first written.
    var bytes: [UInt8] {
        let slot = slot()
        let empty = [UInt8](repeating: 0, count: slot.count)
        let slots = Self.isFirst(sequence) ? slot + empty : empty + slot
        return Self.head(of: data, capacity) + slots
    }

    /// Records these pieces: in order, without overlaps, at most `capacity`. Returns the slot to write.
    mutating func advance(to pieces: [ResumeData.Piece]) -> Update {
        sequence += 1
        data = data.with(pieces: pieces.prefix(capacity))
        let bytes = slot()
        return Update(offset: headLength + (Self.isFirst(sequence) ? 0 : bytes.count), bytes: bytes)
    }

    /// The resume data for a caller, who does not know where the record is: `folder` is the record's.
    func resumeData(in folder: String) -> ResumeData {
        var data = data
        data.partPath = folder.isEmpty || folder.hasSuffix("/") ? folder + data.partPath : folder + "/" + data.partPath
        return data
    }

    private static func name(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    private static func isFirst(_ sequence: UInt64) -> Bool { sequence % 2 == 1 }
}

// MARK: - Writing

extension ResumeRecord {
    /// The first bytes of the file, which include its version.
    private static let magic = Array("dunlinR4".utf8)
    private static let slotFrame = 24

    private static func head(of data: ResumeData, _ capacity: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.put(data.url)
        writer.put(data.method.rawValue)
        writer.put(data.validator ?? "")
        writer.put(UInt64(bitPattern: Int64(data.completeLength ?? -1)))
        writer.put(data.partPath)
        writer.put(UInt32(data.source == nil ? 0 : 1))
        if let source = data.source { writer.put(source.salt + source.hash) }
        writer.put(UInt32(data.fields.count))
        for field in data.fields {
            writer.put(field.name)
            writer.put(field.value)
        }
        var head = ByteWriter()
        head.put(magic)
        head.put(UInt32(magic.count + 8 + writer.bytes.count + 8))
        head.put(UInt32(capacity))
        head.put(writer.bytes)
        head.put(check(head.bytes))
        return head.bytes
    }

    private func slot() -> [UInt8] {
        var writer = ByteWriter()
        writer.put(sequence)
        writer.put(UInt64(data.pieces.count))
        for piece in data.pieces {
            writer.put(UInt64(piece.range.lowerBound))
            writer.put(UInt64(piece.range.upperBound))
            writer.put(piece.checksum)
        }
        let missing = capacity - data.pieces.count
        writer.put([UInt8](repeating: 0, count: 24 * missing))
        writer.put(Self.check(writer.bytes, headCheck))
        return writer.bytes
    }

    /// The checksum of a slot, which begins with the head's so that the slot belongs to one head.
    private static func check(_ bytes: [UInt8], _ head: UInt64 = 0) -> UInt64 {
        var checksum = Checksum()
        withUnsafeBytes(of: head.littleEndian) { checksum.update($0) }
        bytes.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }
}

// MARK: - Reading

extension ResumeRecord {
    static func tooLong(_ length: Int, _ path: String) -> NetworkError {
        .invalidResumeData("the record file \(path) has \(length) bytes, and the limit is \(longest)")
    }

    /// Reads a record file, which errors name by its path. Throws `invalidResumeData` for anything that was not written
    /// as a record.
    init(_ bytes: [UInt8], at path: String) throws(NetworkError) {
        guard bytes.count <= Self.longest else { throw Self.tooLong(bytes.count, path) }
        var reader = ByteReader(bytes)
        guard reader.take(Self.magic.count) == Self.magic[...] else {
            throw .invalidResumeData("the record file \(path) is invalid, or of another version")
        }
        guard let length = reader.word32(), let capacity = reader.word32(), Self.capacities.contains(capacity),
            length > Self.magic.count + 16,
            bytes.count == length + 2 * (Self.slotFrame + 24 * capacity)
        else { throw .invalidResumeData("the record file \(path) is cut short or damaged") }
        let head = Array(bytes[..<length])
        var ending = ByteReader(Array(head[(length - 8)...]))
        guard ending.word64() == Self.check(Array(head.dropLast(8))),
            let data = Self.data(&reader, upTo: length - 8)
        else { throw .invalidResumeData("the record file \(path) is damaged") }
        headLength = length
        headCheck = Self.check(head)
        self.capacity = capacity
        let slotLength = Self.slotFrame + 24 * capacity
        let check = headCheck
        let slots = [0, 1].compactMap { index in
            let start = length + index * slotLength
            return Slot(Array(bytes[start..<start + slotLength]), capacity, check, isFirst: index == 0)
        }
        guard let slot = slots.max(by: { $0.sequence < $1.sequence }), let current = data.checked(slot.pieces) else {
            throw .invalidResumeData("the record file \(path) is damaged")
        }
        sequence = slot.sequence
        self.data = current
    }

    private struct Slot {
        let sequence: UInt64
        let pieces: [ResumeData.Piece]

        init?(_ bytes: [UInt8], _ capacity: Int, _ headCheck: UInt64, isFirst: Bool) {
            var reader = ByteReader(bytes)
            var ending = ByteReader(Array(bytes.suffix(8)))
            guard ending.word64() == ResumeRecord.check(Array(bytes.dropLast(8)), headCheck),
                let sequence = reader.word64(), ResumeRecord.isFirst(sequence) == isFirst, sequence < 1 << 63,
                let count = reader.word64(), count <= UInt64(capacity)
            else { return nil }
            self.sequence = sequence
            var pieces: [ResumeData.Piece] = []
            for _ in 0..<count {
                guard let start = reader.position(), let end = reader.position(), let checksum = reader.word64(),
                    start < end
                else { return nil }
                pieces.append(ResumeData.Piece(range: start..<end, checksum: checksum))
            }
            self.pieces = pieces
        }
    }

    private static func data(_ reader: inout ByteReader, upTo end: Int) -> ResumeData? {
        guard let url = reader.text(), let method = reader.text(), let validator = reader.text(),
            let complete = reader.word64(), let name = reader.text(), let source = source(&reader),
            let count = reader.word32(),
            complete == .max || complete <= UInt64(Int.max), !name.utf8.contains(UInt8(ascii: "/")),
            name != ".", name != ".."
        else { return nil }
        var fields = Fields()
        for _ in 0..<count {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            fields.append(name: name, value: value)
        }
        guard reader.offset == end else { return nil }
        return ResumeData(
            url: url, method: HTTP.Method(method), fields: fields, validator: validator.isEmpty ? nil : validator,
            completeLength: complete == .max ? nil : Int(complete), partPath: name, pieces: [], source: source)
    }

    /// Reads a source: nil if it is malformed, an inner nil if the record names none.
    private static func source(_ reader: inout ByteReader) -> ResumeSource?? {
        switch reader.word32() {
        case 0: return .some(nil)
        case 1:
            guard let salt = reader.take(ResumeSource.saltLength), let hash = reader.take(ResumeSource.hashLength)
            else { return nil }
            return ResumeSource(salt: Array(salt), hash: Array(hash)).map { .some($0) }
        default: return nil
        }
    }
}

extension ResumeData {
    fileprivate func checked(_ pieces: [Piece]) -> ResumeData? {
        ResumeData(
            url: url, method: method, fields: fields, validator: validator, completeLength: completeLength,
            partPath: partPath, pieces: pieces, source: source)
    }
}

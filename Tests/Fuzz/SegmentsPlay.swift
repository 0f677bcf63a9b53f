import Dunlin
import DunlinSemantics
import DunlinTypes

/// One file that a few workers bring, as a driver would play it, beside a list of who wrote what.
struct SegmentsPlay {
    private enum State {
        case idle
        case asked(Range<Int>)
        /// What is still to come of an answer.
        case flowing(Range<Int>)
    }

    private let length: Int
    private let gaps: [Range<Int>]
    private let validator: Validator
    private var machine: SegmentMachine<Int>
    private var states: [State]
    /// In the order in which it came.
    private var written: [Range<Int>] = []
    /// The file has changed, and nobody goes on.
    private(set) var isOver = false

    /// The first three bytes say how long the file is, what of it is there, and who fetches it.
    init?(_ setting: ArraySlice<UInt8>) {
        guard setting.count == 3, let validator = Validator(Self.tag) else { return nil }
        let numbers = Array(setting)
        self.validator = validator
        let length = [1, 1000, 1 << 20, .max][Int(numbers[0] % 4)]
        let pieces = min(length, 1 + Int(numbers[0] / 4) % 4)
        let step = length / pieces
        // What touches is one gap to whoever brings it.
        let gaps = (0..<pieces).map { index in
            let start = index * step
            return start..<(index == pieces - 1 ? length : start + max(1, step - 1 - Int(numbers[0] / 16) % step))
        }
        var rules = SegmentMachine<Int>.Rules()
        rules.minimum = [1, 100, 64 << 10, .max][Int(numbers[1] % 4)]
        rules.cuts = Int(numbers[1] / 4)
        let count = 1 + Int(numbers[2] % 5)
        let first = gaps[0]
        let lead = first.lowerBound..<(numbers[2] > 127 ? first.lowerBound + 1 : first.upperBound)
        (self.length, self.gaps) = (length, gaps)
        machine = SegmentMachine(rules, workers: count, gaps: gaps, lead: lead)
        states = [.flowing(lead)] + Array(repeating: .idle, count: count - 1)
    }

    static let tag = #""v1""#

    /// What one line does to one worker, and what it violates. The first byte says whose turn it is and how it goes,
    /// the others are a Content-Range field, or a number of bytes.
    mutating func take(_ line: ArraySlice<UInt8>) -> String? {
        guard let first = line.first else { return nil }
        let worker = Int(first) % states.count
        let rest = Array(line.dropFirst())
        let violation =
            switch states[worker] {
            case .idle: ask(worker, isHasty: first > 127)
            case .asked(let range): answer(worker, range, how: Int(first) / 16, rest)
            case .flowing(let range): receive(worker, range, how: Int(first) / 16, rest)
            }
        return violation ?? self.violation
    }

    private mutating func ask(_ worker: Int, isHasty: Bool) -> String? {
        switch machine.next(for: worker, worker) {
        case .ask(let range): states[worker] = .asked(range)
        case .hesitate:
            if isHasty, let range = machine.overtake(for: worker) { states[worker] = .asked(range) }
        case .wait, .leave: break
        }
        guard case .asked(let range) = states[worker] else { return nil }
        if range.isEmpty { return "asks for nothing" }
        return range.upperBound <= length ? nil : "asks beyond the end: \(range)"
    }

    private mutating func answer(_ worker: Int, _ range: Range<Int>, how: Int, _ field: [UInt8]) -> String? {
        states[worker] = .idle
        var fields: Fields = ["ETag": how == 1 ? #""v2""# : Self.tag]
        let honest = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
        fields.append(name: "Content-Range", value: field.isEmpty ? honest : String(decoding: field, as: UTF8.self))
        let statuses: [HTTP.Status] = [206, 206, 206, 206, 206, 206, 206, 206, 200, 416, 503, 404, 206, 206, 206, 203]
        let head = ResponseHead(status: statuses[how], fields: fields)
        switch SegmentAnswer(head, isElsewhere: how == 12, to: range, validator, of: length) {
        case .part(let brought):
            if how == 12 || how == 1 { return "a stranger's part is taken" }
            if brought.isEmpty || brought.lowerBound != range.lowerBound || brought.upperBound > range.upperBound {
                return "asked for \(range), took \(brought)"
            }
            if machine.isTooSmall(brought, of: range) {
                _ = machine.refused(worker)
            } else if machine.answered(brought, to: worker).isWanted {
                states[worker] = .flowing(brought)
            } else {
                _ = machine.ended(worker)
            }
        case .changed: isOver = true
        case .busy: _ = machine.broke(worker, mayPass: true)
        case .useless: _ = machine.refused(worker)
        }
        return nil
    }

    private mutating func receive(_ worker: Int, _ range: Range<Int>, how: Int, _ number: [UInt8]) -> String? {
        if how == 15 {
            states[worker] = .idle
            _ = machine.broke(worker, mayPass: number.isEmpty)
            return nil
        }
        let said = number.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let count = min(range.count, max(1, Int(clamping: said)))
        let taken = machine.received(count, by: worker)
        let (skipped, passed) = (taken.skipped, taken.skipped + taken.count)
        if skipped < 0 || taken.count < 0 || passed > count { return "took \(taken) of \(count)" }
        if passed == 0, !taken.isEnd { return "takes nothing, and is not at its end" }
        let start = range.lowerBound + skipped
        if taken.count > 0 { written.append(start..<start + taken.count) }
        states[worker] = .flowing(start + taken.count..<range.upperBound)
        if taken.isEnd || passed == range.count {
            states[worker] = .idle
            _ = machine.ended(worker)
        }
        return nil
    }

    /// Whatever came, no byte is written twice or where none is missing, and none is forgotten.
    private var violation: String? {
        let sorted = written.sorted { $0.lowerBound < $1.lowerBound }
        for (left, right) in zip(sorted, sorted.dropFirst()) where left.upperBound > right.lowerBound {
            return "written twice: \(left) and \(right)"
        }
        let stray = sorted.first { piece in
            !gaps.contains { $0.contains(piece.lowerBound) && piece.upperBound <= $0.upperBound }
        }
        if let stray { return "written where nothing was missing: \(stray)" }
        let rest = (gaps.reduce(0) { $0 + $1.count }) - sorted.reduce(0) { $0 + $1.count }
        if machine.missing != rest { return "\(rest) are missing, and \(machine.missing) are said to be" }
        return machine.isComplete == (rest == 0) ? nil : "an end that is none"
    }
}
